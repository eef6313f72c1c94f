//! The time by which requests, answers and certificates are made and judged.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use chronoseal_v2x::types::Time64;

/// A clock: the system's, or one that a test sets.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Time64 + Send + Sync>);

impl Clock {
    /// A clock that says what `read` says.
    #[must_use]
    pub fn new(read: impl Fn() -> Time64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Time64 {
        (self.0)()
    }
}

impl Default for Clock {
    /// The system's.
    fn default() -> Self {
        Self::new(now)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// The time by the system's clock.
#[must_use]
pub fn now() -> Time64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time64::from_unix_us(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}
