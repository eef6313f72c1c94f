//! Cost is data: a node reports what it is about to compute, a platform profile says how long that takes there.

use crate::Duration;

/// The name of one kind of computation, such as `hmac-sha-256`. Providers name theirs; nothing lists them all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Operation(pub &'static str);

/// A computation that the effect polled next has to wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// What is computed.
    pub operation: Operation,
    /// Over how much `[byte]`.
    pub len: u32,
    /// What the scenario says it takes, for work that has no code of its own (a node's task). `None`: ask the profile.
    pub declared: Option<Duration>,
}

impl Work {
    /// `operation` over `len` bytes, at the platform's price.
    pub const fn of(operation: Operation, len: u32) -> Self {
        Self { operation, len, declared: None }
    }

    /// Work of a declared length.
    pub const fn declared(operation: Operation, length: Duration) -> Self {
        Self { operation, len: 0, declared: Some(length) }
    }
}
