//! A run: which exchanges, in which order, and what is done when one fails.

use chronoseal_core::{AbortReason, EventKind, LocalTime};
use chronoseal_crypto::suite::{Signature, Suite};

use super::{Distributing, Orchestrator, Phase, Progression};
use crate::crypto_stack::{JobPriority, Owner, Request};
use crate::identifier::{Address, ExchangeId, Identifier, Side, Step};
use crate::manager::sequence_of;
use crate::profile::{Monitoring, OrchestrationSigning, Profile};
use crate::settings::time_ms;
use crate::signed::{self, About};
use crate::station_to_station::{Exchange, Failure, Stage};
use crate::text::{Stamp, Text};

/// Requests being signed at once: enough that the next is ready when one is sent.
const SIGNING_MAX: usize = 2;
/// Slots kept free for its own path when it follows everything.
const SLOTS_RESERVED: usize = 10;

impl<S: Suite> Orchestrator<S> {
    /// Does the next thing a run needs; false if there is none now.
    pub(super) fn advance(&mut self, now: LocalTime) -> bool {
        if now < self.resume_at {
            return false;
        }
        match self.phase {
            Phase::Idle => !self.advance_withdrawal(now) && self.begin_operation(now),
            Phase::Starting { is_asked } => !is_asked && self.ask_start(now),
            Phase::Exchanging => self.advance_exchanges(now),
            Phase::Distributing(step) => self.advance_distribution(now, step),
            Phase::Confirming => self.advance_confirmation(now),
            Phase::Committing => false,
        }
    }

    /// A new epoch, higher than all before. As published it is a timestamp, which must not lie in the future by more
    /// than a receiver tolerates; false if it has to wait for that.
    pub(super) fn begin_epoch(&mut self, now: LocalTime) -> bool {
        let settings = &self.manager.settings;
        let granule = settings.granule_of(now);
        let epoch = granule.max(self.epoch + 1);
        let is_implicit = settings.profile == Profile::AsPublished;
        if is_implicit && epoch > granule + 1 {
            // The granule before this epoch's begins then.
            let begins = settings.granule.saturating_mul(i64::from(epoch) - 2);
            self.resume_at = LocalTime::ZERO + begins;
            return false;
        }
        self.epoch = epoch;
        true
    }

    pub(super) const fn stamp(&self, now: LocalTime) -> Stamp {
        Stamp { epoch: self.epoch, time_ms: time_ms(now) }
    }

    // ---- requests

    pub(super) fn progression(&self, result: Address) -> Progression {
        self.supervision[result.index()].progression
    }

    fn count(&self, progression: Progression) -> usize {
        self.manager.tree.results().filter(|result| self.progression(*result) == progression).count()
    }

    fn advance_exchanges(&mut self, now: LocalTime) -> bool {
        self.notice_completed();
        if self.count(Progression::Signing) < SIGNING_MAX && self.manager.outbox.has_room() {
            let unsigned =
                self.manager.tree.results().find(|result| self.progression(*result) == Progression::Unsigned);
            if let Some(result) = unsigned {
                return self.ask_signature(now, result);
            }
            if self.count(Progression::Unsigned) == 0
                && let Some(result) = self.manager.tree.clone().results().find(|result| self.is_due(*result))
            {
                return self.begin_exchange(now, result);
            }
        }
        let is_open = |progression| self.count(progression) > 0;
        let is_under_way = [Progression::Unsigned, Progression::Pending, Progression::Signing, Progression::InFlight]
            .into_iter()
            .any(is_open);
        if is_under_way {
            return false;
        }
        match self.manager.tree.root() {
            None => {
                self.phase = Phase::Distributing(Distributing::Draw);
                true
            }
            // It follows the last exchange and may need longer than those who take part; if it has lost that, nobody else
            // will tell it.
            Some(root) => self.repeat_unless_followed(now, root),
        }
    }

    /// True if the turn of `result` has come: those it is formed of are settled, and there is room.
    fn is_due(&self, result: Address) -> bool {
        let settled = |child: Address| matches!(self.progression(child), Progression::Idle | Progression::Done);
        let Some((left, right)) = self.manager.tree.children(result) else { return false };
        if self.progression(result) != Progression::Pending || !settled(left) || !settled(right) {
            return false;
        }
        // A direct assignment hands on a secret, which it may still be computing where it only listened.
        if self.manager.tree.is_single(result) && self.manager.is_in_exchange(left) {
            return false;
        }
        let tree = &self.manager.tree;
        if tree.is_pair(result) {
            let is_open = |pair: &Address| {
                tree.is_pair(*pair) && matches!(self.progression(*pair), Progression::Signing | Progression::InFlight)
            };
            return tree.results().filter(is_open).count() < usize::from(self.manager.settings.pairs_at_once);
        }
        let follows_all = self.manager.settings.monitoring == Monitoring::All;
        !follows_all || self.manager.free_slots() > SLOTS_RESERVED
    }

    fn begin_exchange(&mut self, now: LocalTime, result: Address) -> bool {
        if self.manager.tree.exchange(result).is_none() {
            // The orchestrator alone: it draws a key when it is needed.
            self.supervision[result.index()].progression = Progression::Done;
            return true;
        }
        if self.is_along_tree {
            let Some(id) = self.manager.tree.exchange(result) else { return false };
            let supervision = &mut self.supervision[result.index()];
            supervision.progression = Progression::InFlight;
            let (stamp, deadline) = (supervision.stamp, supervision.deadline);
            self.take_part(id, stamp, deadline);
            return true;
        }
        match self.signatures[result.index()].take() {
            Some(signature) => {
                self.request(now, result, &signature);
                true
            }
            None => self.ask_signature(now, result),
        }
    }

    fn ask_signature(&mut self, now: LocalTime, result: Address) -> bool {
        let was = self.progression(result);
        let Some(identifier) = self.request_identifier(result) else {
            self.supervision[result.index()].progression = Progression::Done;
            return true;
        };
        let stamp = self.stamp(now);
        let about = About::Group(self.manager.membership());
        let text = signed::orchestrator_text(self.manager.settings.profile, S::NAME, identifier, stamp, about);
        let generate = Request::SignatureGenerate { text };
        let supervision = &mut self.supervision[result.index()];
        supervision.stamp = stamp;
        supervision.progression = Progression::Signing;
        let is_asked = self.manager.submit(Owner::Orchestration(result), JobPriority::Orchestration, generate);
        if !is_asked {
            self.supervision[result.index()].progression = was;
        }
        is_asked
    }

    fn request_identifier(&self, result: Address) -> Option<Identifier> {
        let id = self.manager.tree.exchange(result)?;
        let is_single = self.manager.tree.is_single(result);
        Some(id.message(if is_single { Step::DirectAssignment } else { Step::Orchestration }))
    }

    pub(super) fn on_signed(&mut self, now: LocalTime, result: Address, signature: Signature) {
        if let Phase::Starting { .. } = self.phase {
            return self.start(now, &signature);
        }
        if self.phase != Phase::Exchanging || self.progression(result) != Progression::Signing {
            return;
        }
        let is_ahead = self.manager.settings.signing == OrchestrationSigning::Ahead;
        if is_ahead && self.supervision[result.index()].attempts == 0 {
            self.signatures[result.index()] = Some(signature);
            self.supervision[result.index()].progression = Progression::Pending;
        } else {
            self.request(now, result, &signature);
        }
    }

    /// The message of a request's signature and its stamp.
    pub(super) fn request_message(&self, stamp: Stamp, signature: &Signature) -> Text {
        match self.manager.settings.profile {
            Profile::AsPublished => Text::of(&[signature]),
            Profile::Hardened => Text::of(&[&stamp.to_bytes(), &self.manager.membership().to_bytes(), signature]),
        }
    }

    /// Sends the request for an exchange and takes part in it.
    fn request(&mut self, now: LocalTime, result: Address, signature: &Signature) {
        let Some((identifier, id)) = self.request_identifier(result).zip(self.manager.tree.exchange(result)) else {
            return;
        };
        let timeout = self.manager.settings.exchange_timeout;
        let supervision = &mut self.supervision[result.index()];
        let stamp = supervision.stamp;
        (supervision.heard, supervision.deadline) = ([0; 4], now + timeout);
        (supervision.failed, supervision.reported) = (None, None);
        let message = self.request_message(stamp, signature);
        self.send(identifier, message);
        self.manager.tell(EventKind::ExchangeStarted, sequence_of(id), i64::from(stamp.epoch));
        self.manager.invalidate(result);
        if identifier.step == Step::DirectAssignment {
            if let Some(secret) = self.manager.secret(id.first).cloned() {
                self.manager.set_secret(result, secret);
            }
            self.supervision[result.index()].progression = Progression::Done;
            return;
        }
        self.manager.inbox.forget_exchange(result);
        self.manager.forget_early_share(result);
        self.supervision[result.index()].progression = Progression::InFlight;
        self.take_part(id, stamp, now + timeout);
    }

    /// Opens its own side of an exchange, if it has one that it acts for or follows.
    fn take_part(&mut self, id: ExchangeId, stamp: Stamp, deadline: LocalTime) {
        let Some(side) = self.own_side(id) else { return };
        let mut exchange = Exchange::new(self.manager.setup(id, side, stamp));
        if let Some(early) = self.manager.take_early_share(id.result) {
            exchange.on_share(side.other(), early.as_bytes());
        }
        if self.manager.open(exchange, None, deadline).is_none() {
            let (stage, peer) = (Stage::Shares, self.manager.own);
            self.fail_run(Failure { exchange: id, stage, peer, reason: AbortReason::Overloaded });
        }
    }

    /// The side on which it acts, or else on which it knows or will know the secret, of exchanges it follows.
    fn own_side(&self, id: ExchangeId) -> Option<Side> {
        let (tree, own) = (&self.manager.tree, self.manager.own);
        let sides = [Side::First, Side::Second];
        if let Some(acts) = sides.into_iter().find(|side| tree.active_of(id, *side) == own) {
            return Some(acts);
        }
        // Where it has a leaf of its own, what is renewed above that is its own business in every run.
        let starts = [tree.pair_of(self.followed).unwrap_or(self.followed), own];
        let is_above = |start: &Address, address| address == *start || tree.path(*start).any(|above| above == address);
        let is_on_path = |address: Address| starts.iter().any(|start| is_above(start, address));
        if self.manager.settings.monitoring == Monitoring::Path && !is_on_path(id.result) {
            return None;
        }
        let knows = |side: &Side| tree.contains(id.operand(*side), own) && self.will_know(id.operand(*side));
        let is_renewed = |side: &Side| is_on_path(id.operand(*side)) && knows(side);
        sides.into_iter().find(is_renewed).or_else(|| sides.into_iter().find(knows))
    }

    /// True if it has the secret of a logical ECU, or will have it from an exchange of this run.
    fn will_know(&self, address: Address) -> bool {
        match self.progression(address) {
            Progression::Idle => self.manager.secret(address).is_some(),
            _ => self.manager.tree.exchange(address).is_some_and(|id| self.own_side(id).is_some()),
        }
    }

    // ---- runs along the fixed tree

    fn ask_start(&mut self, now: LocalTime) -> bool {
        let stamp = self.stamp(now);
        let identifier = self.manager.start_identifier();
        let about = About::Group(self.manager.membership());
        let text = signed::orchestrator_text(self.manager.settings.profile, S::NAME, identifier, stamp, about);
        let result = identifier.result;
        self.commit_stamp = stamp;
        let generate = Request::SignatureGenerate { text };
        if self.manager.submit(Owner::Orchestration(result), JobPriority::Orchestration, generate) {
            self.phase = Phase::Starting { is_asked: true };
        }
        self.phase == Phase::Starting { is_asked: true }
    }

    fn start(&mut self, now: LocalTime, signature: &Signature) {
        let stamp = self.commit_stamp;
        let message = self.request_message(stamp, signature);
        self.send(self.manager.start_identifier(), message);
        self.phase = Phase::Exchanging;
        let deadline = now + self.manager.settings.run_timeout;
        let tree = self.manager.tree.clone();
        for result in tree.results() {
            let Some(id) = tree.exchange(result) else {
                self.supervision[result.index()].progression = Progression::Done;
                continue;
            };
            let supervision = &mut self.supervision[result.index()];
            (supervision.stamp, supervision.deadline) = (stamp, deadline);
            self.manager.forget_early_share(result);
            // Pairs are formed one after the other, when their turn comes.
            if !tree.is_pair(result) {
                self.supervision[result.index()].progression = Progression::InFlight;
                self.take_part(id, stamp, deadline);
            }
        }
    }
}
