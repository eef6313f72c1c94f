//! Cost is data: a node reports what it is about to compute, a platform profile says how long that takes there.

/// The name of one kind of computation, such as `hmac-sha-256`. Providers name theirs; nothing lists them all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Operation(pub &'static str);

/// A computation that the effect polled next has to wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// What is computed.
    pub operation: Operation,
    /// Over how much [byte].
    pub len: u32,
}
