//! A removal has failed, and the key in use is given up.

use chronoseal_core::LocalTime;
use chronoseal_crypto::suite::{Signature, Suite};

use super::Orchestrator;
use crate::crypto_stack::{JobPriority, Owner, Request};
use crate::profile::FailedRemoval;
use crate::signed::{self, About};
use crate::text::Stamp;

/// How far the orchestrator has come with giving the key in use up.
pub(super) enum Withdrawal {
    /// There is nothing to give up.
    Nothing,
    /// It is to be signed.
    Due,
    /// It is being signed.
    Signing(Stamp),
    /// It was sent, and is signed and sent anew then: whoever missed it goes on with the key.
    Sent { again_at: LocalTime },
}

impl<S: Suite> Orchestrator<S> {
    /// A run has failed. If somebody who has the key in use was to lose it, the key is given up where that is asked for.
    pub(super) fn close_if_exposed(&mut self) {
        let is_closed = self.manager.settings.failed_removal == FailedRemoval::Closed;
        if is_closed && self.is_exposed && self.manager.key.is_some() {
            self.manager.withdraw();
            self.withdrawal = Withdrawal::Due;
        }
    }

    /// Between two runs: what has to be done of a withdrawal now. True while the next run has to wait for it.
    pub(super) fn advance_withdrawal(&mut self, now: LocalTime) -> bool {
        match self.withdrawal {
            Withdrawal::Nothing => false,
            Withdrawal::Signing(_) => true,
            // A change that waits goes before: as published both need an epoch, and there is one a second.
            Withdrawal::Sent { again_at } if again_at > now || self.is_operation_due(now) => false,
            Withdrawal::Sent { .. } | Withdrawal::Due => {
                if self.begin_epoch(now) {
                    self.ask_withdrawal(now);
                }
                true
            }
        }
    }

    fn ask_withdrawal(&mut self, now: LocalTime) {
        let stamp = self.stamp(now);
        let (profile, identifier) = (self.manager.settings.profile, self.manager.withdrawal_identifier());
        let about = About::Group(self.manager.membership());
        let text = signed::orchestrator_text(profile, S::NAME, identifier, stamp, about);
        let generate = Request::SignatureGenerate { text };
        if self.manager.submit(Owner::Withdrawal, JobPriority::Orchestration, generate) {
            self.withdrawal = Withdrawal::Signing(stamp);
        }
    }

    pub(super) fn on_withdrawal_signed(&mut self, now: LocalTime, signature: &Signature) {
        let Withdrawal::Signing(stamp) = self.withdrawal else { return };
        let message = self.request_message(stamp, signature);
        self.withdrawal = Withdrawal::Sent { again_at: now + self.manager.settings.exchange_timeout };
        self.send(self.manager.withdrawal_identifier(), message);
    }

    /// When it says so again, until there is a new key.
    pub(super) const fn next_withdrawal(&self) -> Option<LocalTime> {
        match self.withdrawal {
            Withdrawal::Sent { again_at } => Some(again_at),
            _ => None,
        }
    }
}
