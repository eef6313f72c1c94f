//! What a plan was made from.

/// Everything that a plan was made from, each part with a hash of its own.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Inputs {
    /// XXH3-128 of the scenario's text before any override, hexadecimal.
    pub text_hash: String,
    /// The overrides, path and value, in the order in which they were applied.
    pub overrides: Vec<(String, String)>,
    /// The files that the scenario refers to, by name, each once.
    pub files: Vec<InputFile>,
}

/// A file that a scenario refers to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputFile {
    /// As the scenario refers to it, never where it was found.
    pub name: String,
    /// Its length `[byte]`.
    pub len: u64,
    /// XXH3-128 of its bytes, hexadecimal.
    pub hash: String,
}
