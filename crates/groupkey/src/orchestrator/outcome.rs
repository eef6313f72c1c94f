//! What becomes of the exchanges of a run: when one counts as done, and when it is asked for again.
//!
//! Whatever goes wrong with an exchange, it is asked for again when the time of its request is over and not before. A slow
//! member may still send frames of an earlier request, and they would fall into the next exchange, where the first share
//! counts. What others report is authenticated by nobody and changes nothing: it says why the exchange did not end in time.

use chronoseal_core::{AbortReason, EventKind, LocalTime};
use chronoseal_crypto::suite::Suite;

use super::withdrawal::Withdrawal;
use super::{NOT_SUPERVISED, Orchestrator, Phase, Progression, Readiness};
use crate::frame_count::frames_of;
use crate::identifier::{Address, ExchangeId, Side, Step};
use crate::station_to_station::{Failure, Stage};

impl<S: Suite> Orchestrator<S> {
    /// A participant gave up an exchange. Nothing authenticates this, so all it does is to name a reason.
    pub(super) fn on_abort(&mut self, exchange: ExchangeId, data: &[u8]) {
        let &[reason, stage, reporter] = data else { return };
        let reason = AbortReason::ALL.into_iter().find(|known| *known as u8 == reason);
        let stages = [Stage::Orchestration, Stage::Shares, Stage::Confirmations, Stage::Validation];
        let stage = stages.into_iter().find(|known| *known as u8 == stage);
        let (Some(reason), Some(stage)) = (reason, stage) else { return };
        let peer = Address(reporter);
        let is_current = self.manager.tree.exchange(exchange.result) == Some(exchange);
        if is_current && self.manager.tree.contains(exchange.result, peer) {
            self.supervision[exchange.result.index()].reported = Some(Failure { exchange, stage, peer, reason });
        }
    }

    /// An exchange has failed here. One request for a whole run is not repeated, so that ends it.
    pub(super) fn on_failed(&mut self, now: LocalTime, failure: Failure) {
        let supervision = &mut self.supervision[failure.exchange.result.index()];
        if self.phase != Phase::Exchanging || self.is_along_tree {
            return self.repeat(now, failure.exchange.result, failure);
        }
        supervision.failed = Some(failure);
        if supervision.progression == Progression::Done {
            supervision.progression = Progression::InFlight;
        }
    }

    /// Frames of each message of an exchange.
    fn frames_due(&self) -> [u8; 4] {
        let steps = [Step::ShareFirst, Step::ShareSecond, Step::ConfirmationFirst, Step::ConfirmationSecond];
        steps.map(|step| frames_of(self.manager.message_len(step), self.manager.settings.transport) as u8)
    }

    /// Why an exchange that should have ended has not, if somebody has said so of it or of one below it.
    pub(super) fn told(&self, result: Address) -> Option<Failure> {
        let tree = &self.manager.tree;
        let is_below = |address: &Address| tree.path(*address).any(|above| above == result);
        let below = tree.results().filter(is_below);
        let why = |address: Address| {
            let supervision = &self.supervision[address.index()];
            supervision.failed.or(supervision.reported)
        };
        [result].into_iter().chain(below).find_map(why)
    }

    /// Why a member has not said that it holds the key, if it is known.
    pub(super) fn told_of(&self, member: Address) -> Option<Failure> {
        let tree = &self.manager.tree;
        tree.path(member).find_map(|result| self.supervision[result.index()].reported)
    }

    /// What is missing of an exchange that should have ended.
    fn missing(&self, exchange: ExchangeId) -> Failure {
        let (heard, due) = (self.supervision[exchange.result.index()].heard, self.frames_due());
        let message = (0..4).find(|index| heard[*index] < due[*index]);
        let side = if message.is_some_and(|message| message % 2 == 1) { Side::Second } else { Side::First };
        let (stage, reason) = match message {
            Some(0 | 1) => (Stage::Shares, AbortReason::ShareMissing),
            Some(_) => (Stage::Confirmations, AbortReason::ConfirmationMissing),
            None => (Stage::Validation, AbortReason::ConfirmationMissing),
        };
        Failure { exchange, stage, peer: self.manager.tree.active_of(exchange, side), reason }
    }

    /// Exchanges it does not act in are over when both confirmations have been on the bus.
    pub(super) fn notice_completed(&mut self) {
        let (own, due) = (self.manager.own, self.frames_due());
        for place in 0..self.manager.tree.results().count() {
            let Some(result) = self.manager.tree.results().nth(place) else { continue };
            let supervision = &self.supervision[result.index()];
            let is_heard = supervision.heard.iter().zip(due).all(|(heard, due)| *heard >= due);
            if supervision.progression != Progression::InFlight || supervision.failed.is_some() || !is_heard {
                continue;
            }
            let Some(id) = self.manager.tree.exchange(result) else { continue };
            let acts = [Side::First, Side::Second].into_iter().any(|side| self.manager.tree.active_of(id, side) == own);
            if !acts {
                self.supervision[result.index()].progression = Progression::Done;
            }
        }
    }

    /// An exchange it took part in succeeded.
    pub(super) fn on_done(&mut self, now: LocalTime, id: ExchangeId, epoch: u32) {
        if self.phase != Phase::Exchanging {
            return;
        }
        self.supervision[id.result.index()].progression = Progression::Done;
        if self.manager.tree.root() == Some(id.result)
            && let Some(secret) = self.manager.secret(id.result).cloned()
        {
            self.on_agreed(now, secret, epoch);
        }
    }

    /// All have what they need, as far as can be heard. True if it does not follow the last exchange any more, which is
    /// repeated then.
    pub(super) fn repeat_unless_followed(&mut self, now: LocalTime, root: Address) -> bool {
        let is_followed = self.manager.is_in_exchange(root);
        let Some(exchange) = self.manager.tree.exchange(root).filter(|_| !is_followed) else { return false };
        let (stage, peer, reason) = (Stage::Validation, self.manager.own, AbortReason::SecretMissing);
        self.repeat(now, root, Failure { exchange, stage, peer, reason });
        true
    }

    /// Requests whose exchanges have not ended in time.
    pub(super) fn repeat_overdue(&mut self, now: LocalTime) {
        for index in 0..self.supervision.len() {
            let supervision = &self.supervision[index];
            if supervision.progression != Progression::InFlight || supervision.deadline > now {
                continue;
            }
            if let Some(id) = self.manager.tree.exchange(Address(index as u8)) {
                let failure = self.told(id.result).unwrap_or_else(|| self.missing(id));
                self.repeat(now, id.result, failure);
            }
        }
    }

    /// The exchange of `result` has to be repeated with all above it, if that has not been done too often. All below it is
    /// renewed too when somebody reports a failure there, and the second time anyway: somebody may have missed it, or
    /// have lost what it held.
    pub(super) fn repeat(&mut self, now: LocalTime, result: Address, failure: Failure) {
        let is_live = matches!(self.phase, Phase::Exchanging | Phase::Confirming)
            && matches!(self.progression(result), Progression::InFlight | Progression::Done);
        if !is_live {
            return;
        }
        let supervision = &mut self.supervision[result.index()];
        supervision.attempts += 1;
        let attempts = supervision.attempts;
        if attempts > self.manager.settings.retries_max || self.is_along_tree {
            return self.fail_run(failure);
        }
        let tree = self.manager.tree.clone();
        let is_wide = attempts > 1 || failure.exchange.result != result;
        let is_below = |address: &Address| is_wide && tree.path(*address).any(|above| above == result);
        let is_above = |address: &Address| *address == result || tree.path(result).any(|above| above == *address);
        self.renew(now, tree.results().filter(|address| is_above(address) || is_below(address)));
    }

    /// Goes back to the exchanges, of which these are to be done, under a new epoch.
    pub(super) fn renew(&mut self, now: LocalTime, results: impl Iterator<Item = Address>) {
        self.manager.candidate = None;
        for result in results {
            self.supervision[result.index()].progression = Progression::Pending;
            self.signatures[result.index()] = None;
            self.manager.forget(result);
        }
        self.phase = Phase::Exchanging;
        self.readiness = [Readiness::Missing; 256];
        // Whoever had a master secret needs the new one.
        self.is_served = [false; 256];
        if !self.begin_epoch(now) {
            // The epoch is begun when its time has come.
            self.epoch += 1;
        }
    }

    /// The run has failed; the key in use stays, and the next run renews everything: who has missed what is in doubt.
    pub(super) fn fail_run(&mut self, failure: Failure) {
        self.phase = Phase::Idle;
        let Self { is_stale, manager, .. } = self;
        manager.tree.results().for_each(|result| is_stale[result.index()] = true);
        self.supervision = [NOT_SUPERVISED; 256];
        self.manager.slots = [const { None }; crate::manager::SLOTS];
        self.manager.candidate = None;
        self.master = None;
        self.manager.tell_failure(EventKind::KeyRefused, failure);
        self.close_if_exposed();
    }

    /// The run has succeeded.
    pub(super) fn conclude(&mut self) {
        self.phase = Phase::Idle;
        self.supervision = [NOT_SUPERVISED; 256];
        self.is_stale = [false; 256];
        self.master = None;
        (self.is_exposed, self.withdrawal) = (false, Withdrawal::Nothing);
    }
}
