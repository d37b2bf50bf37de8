//! Contents that a module does not carry: bytes of constants, options that only the file can read.
//!
//! A module read from a file tells constants apart by what they are called, which is enough to plan. To compare two files it is not: there, whoever
//! reads them names contents by what they are, and equal names mean equal contents.

/// Names contents.
pub trait Naming {
    /// The name of these bytes.
    fn bytes(&mut self, bytes: &[u8]) -> String;

    /// The name of bytes of another file: where that is, as the model says it, the first byte, and how many; to its end where the model does not
    /// say.
    fn external(&mut self, location: &str, offset: u64, length: Option<u64>) -> String;
}

/// The attribute that holds such a name; the hash that it is called after is the caller's to compute.
pub const CONTENT: &str = "content_sha256";
