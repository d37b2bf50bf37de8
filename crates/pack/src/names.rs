//! Methods and orders by name, as command lines and pass options spell them.
//!
//! `first-fit`, `best-fit` and `skyline` take an order behind a dash: `best-fit-temporal`. What is printed is what is read.

use std::fmt;

use crate::outcome::{Method, Order};

impl Method {
    /// The names that [`Method::named`] reads, as a message lists them.
    pub const NAMES: &str = "search, portfolio, first-fit, best-fit, skyline (these three also with -start, -size, -area, -life, -load, \
                             -temporal, -spatial or -listed), hill-climb, litert or tflm";

    /// The method called `name`. Fits go by size, skylines by lifetime, unless the name says otherwise.
    pub fn named(name: &str) -> Option<Method> {
        let ordered = |prefix: &str, usual: Order| match name.strip_prefix(prefix)? {
            "" => Some(usual),
            rest => Order::named(rest.strip_prefix('-')?),
        };
        Some(match name {
            "search" => Method::Search,
            "portfolio" => Method::Portfolio,
            "hill-climb" => Method::HillClimb,
            "litert" => Method::LiteRt,
            "tflm" => Method::Tflm,
            _ => {
                let first = ordered("first-fit", Order::Size).map(Method::FirstFit);
                let best = ordered("best-fit", Order::Size).map(Method::BestFit);
                return first.or(best).or_else(|| ordered("skyline", Order::Life).map(Method::Skyline));
            }
        })
    }

    /// Whether the method only stops when nothing better exists, or at a limit.
    pub fn is_exact(self) -> bool {
        self == Method::Search
    }
}

impl Order {
    fn named(name: &str) -> Option<Order> {
        Order::ALL.into_iter().find(|order| order.to_string() == name)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ordered = |f: &mut fmt::Formatter<'_>, kind: &str, order: Order, usual: Order| match order == usual {
            true => f.write_str(kind),
            false => write!(f, "{kind}-{order}"),
        };
        match *self {
            Method::Search => f.write_str("search"),
            Method::Portfolio => f.write_str("portfolio"),
            Method::FirstFit(order) => ordered(f, "first-fit", order, Order::Size),
            Method::BestFit(order) => ordered(f, "best-fit", order, Order::Size),
            Method::Skyline(order) => ordered(f, "skyline", order, Order::Life),
            Method::LiteRt => f.write_str("litert"),
            Method::Tflm => f.write_str("tflm"),
            Method::HillClimb => f.write_str("hill-climb"),
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Order::Start => "start",
            Order::Size => "size",
            Order::Area => "area",
            Order::Life => "life",
            Order::Load => "load",
            Order::Temporal => "temporal",
            Order::Spatial => "spatial",
            Order::Listed => "listed",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_what_is_read() {
        let ordered = [Method::FirstFit, Method::BestFit, Method::Skyline];
        let plain = [Method::Search, Method::Portfolio, Method::LiteRt, Method::Tflm, Method::HillClimb];
        let with_orders = ordered.iter().flat_map(|method| Order::ALL.map(method));
        for method in with_orders.chain(plain) {
            assert_eq!(Method::named(&method.to_string()), Some(method));
        }
        assert_eq!(Method::named("best-fit-temporal"), Some(Method::BestFit(Order::Temporal)));
        for bad in ["", "best", "best-fit-", "best-fit-no", "search-size", "skylines"] {
            assert_eq!(Method::named(bad), None, "{bad}");
        }
    }
}
