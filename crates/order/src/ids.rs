//! Typed ids of the problem: an op and a storage are never mixed up, and never a bare number.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id!(
    /// An op: its place in [`crate::Spec::ops`], which is its place in the input's order.
    OpId, "op"
);
id!(
    /// A storage: its place in [`crate::Spec::storages`].
    StorageId, "s"
);
id!(
    /// An exclusive class: its place in [`crate::Spec::classes`].
    ClassId, "class"
);
id!(
    /// A group of ops that stay adjacent: its place in [`crate::Spec::groups`].
    GroupId, "group"
);
