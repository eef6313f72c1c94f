//! What a check found: where, what, and what to do about it.

use std::fmt;

/// One breach of a rule.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Finding {
    /// From the root of the workspace.
    pub(crate) path: String,
    /// From 1.
    pub(crate) line: usize,
    /// What is wrong.
    pub(crate) what: String,
    /// What to do.
    pub(crate) remedy: String,
}

impl Finding {
    pub(crate) fn new(path: &str, line: usize, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { path: path.into(), line, what: what.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}\n    {}", self.path, self.line, self.what, self.remedy)
    }
}
