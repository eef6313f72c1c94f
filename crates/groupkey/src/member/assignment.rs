//! Direct assignments: the secret of a single child becomes its parent's.

use chronoseal_core::{AbortReason, EventKind};
use chronoseal_crypto::suite::Suite;

use super::Member;
use crate::identifier::{Address, ExchangeId};
use crate::manager::sequence_of;

/// Levels of the deepest tree, each of which has one direct assignment at most.
pub(super) const ASSIGNMENTS_MAX: usize = 8;

/// An assignment that waits for the secret it hands on.
#[derive(Clone, Copy)]
pub(super) struct Assignment {
    id: ExchangeId,
    epoch: u32,
}

impl<S: Suite> Member<S> {
    /// A single child's secret becomes its parent's. An ECU that has none yet draws one. Whoever is slow may still be at the
    /// exchange that gives the child its secret, and does this when it has ended.
    pub(super) fn assign(&mut self, id: ExchangeId, epoch: u32) {
        let Self { manager, assignments, .. } = self;
        for waiting in assignments.iter_mut() {
            if waiting.is_some_and(|waiting| waiting.id.result == id.result) {
                *waiting = None;
            }
        }
        let is_awaited = |address| {
            manager.is_in_exchange(address) || assignments.iter().flatten().any(|waiting| waiting.id.result == address)
        };
        let secret = if id.first == manager.own {
            Some(manager.crypto.draw())
        } else if is_awaited(id.first) {
            if let Some(free) = assignments.iter_mut().find(|waiting| waiting.is_none()) {
                *free = Some(Assignment { id, epoch });
                return;
            }
            None
        } else {
            manager.secret(id.first).cloned()
        };
        match secret {
            Some(secret) => {
                manager.set_secret(id.result, secret);
                manager.tell(EventKind::ExchangeDone, sequence_of(id), i64::from(epoch));
            }
            None => self.refuse_request(id, AbortReason::SecretMissing),
        }
    }

    /// A logical ECU has its secret, agreed on under this epoch: what waited for it is done. An assignment of an earlier epoch
    /// was for the secret of before, and its result is asked for again.
    pub(super) fn resume_assignments(&mut self, result: Address, epoch: u32) {
        let mut next = Some(result);
        while let Some(done) = next.take() {
            let is_its = |waiting: &Option<Assignment>| waiting.is_some_and(|waiting| waiting.id.first == done);
            let Some(place) = self.assignments.iter().position(is_its) else { return };
            let Some(Assignment { id, epoch: asked }) = self.assignments[place].take() else { return };
            if asked >= epoch {
                self.assign(id, asked);
                next = Some(id.result);
            }
        }
    }
}
