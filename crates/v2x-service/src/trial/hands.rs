//! The one clock that stations and authorities of a trial go by.

use std::sync::{Arc, Mutex, PoisonError};

use chronoseal_v2x::types::Time64;

use crate::pki::Clock;

/// A clock that goes as another one does until it is set; then it stands where it was set last.
#[derive(Clone, Debug)]
pub(super) struct Hands {
    clock: Clock,
    stands_at: Arc<Mutex<Option<Time64>>>,
}

impl Hands {
    /// Goes as `by` does.
    pub(super) fn new(by: &Clock) -> Self {
        let stands_at: Arc<Mutex<Option<Time64>>> = Arc::default();
        let (by, standing) = (by.clone(), Arc::clone(&stands_at));
        let clock = Clock::new(move || {
            let at = *standing.lock().unwrap_or_else(PoisonError::into_inner);
            at.unwrap_or_else(|| by.now())
        });
        Self { clock, stands_at }
    }

    /// What shows the time.
    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Sets the time.
    pub(super) fn set(&self, at: Time64) {
        *self.stands_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
    }
}
