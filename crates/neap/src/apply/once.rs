//! What flags say of one thing, said once: two names may mean the same value.

use crate::exit::Failure;

/// What was said of which thing, by which flag.
pub(super) struct Once<T>(Vec<(T, String)>);

impl<T> Default for Once<T> {
    fn default() -> Once<T> {
        Once(Vec::new())
    }
}

impl<T: PartialEq> Once<T> {
    /// Notes a flag about a thing.
    ///
    /// # Errors
    /// Another one is about the same.
    pub(super) fn take(&mut self, thing: T, flag: String) -> Result<(), Failure> {
        self.free(&thing, &flag)?;
        self.0.push((thing, flag));
        Ok(())
    }

    /// Refuses a flag about a thing of which something was said.
    ///
    /// # Errors
    /// The two flags.
    pub(super) fn free(&self, thing: &T, flag: &str) -> Result<(), Failure> {
        match self.0.iter().find(|(other, _)| other == thing) {
            Some((_, before)) => Err(Failure::usage(format!("`{before}` and `{flag}` contradict each other"))
                .note("both are about the same")
                .help("give one of them")),
            None => Ok(()),
        }
    }
}
