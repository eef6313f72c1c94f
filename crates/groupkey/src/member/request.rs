//! What the orchestrator asks of a member, believed only when its signature fits.

use chronoseal_core::{AbortReason, EventKind, LocalTime};
use chronoseal_crypto::suite::Suite;

use super::{Member, Waiting, signature_of, stamp_of};
use crate::crypto_stack::{JobPriority, Owner, Request};
use crate::identifier::{Address, ExchangeId, Identifier, Side, Step};
use crate::manager::{Manager, PendingRequest, sequence_of};
use crate::membership::Membership;
use crate::profile::{FailedRemoval, MEMBERS_MAX, Profile};
use crate::settings::Candidates;
use crate::signed::{self, About};
use crate::station_to_station::{Exchange, ExchangeSetup, Failure, Part, Stage};
use crate::text::{self, Stamp, Text};
use crate::tree::{MembershipChange, NotInTree};

impl<S: Suite> Member<S> {
    /// True if a request, were it the orchestrator's, would change anything here: this node takes part, or who is in the
    /// group changes. Hardened, the request says who is; as published, its addresses say who is not.
    fn is_concerned(&self, identifier: Identifier, says: Option<Membership>) -> Result<bool, NotInTree> {
        let Manager { roster, tree, own, .. } = &self.manager;
        if let Step::Start | Step::Withdrawal = identifier.step {
            let known = Identifier { step: identifier.step, ..self.manager.start_identifier() };
            // What is withdrawn already is not withdrawn again.
            let has_use = identifier.step == Step::Start || self.manager.key.is_some();
            return if identifier == known { Ok(has_use) } else { Err(NotInTree) };
        }
        let id = identifier.exchange();
        let mut is_changed = false;
        let mut after = tree.clone();
        match says {
            Some(says) => says.apply(roster, &mut after, |_| is_changed = true),
            None => tree.changes(id)?.into_iter().flatten().for_each(|change| {
                is_changed = true;
                after.apply(change);
            }),
        }
        if says.is_some() && !after.has(id, identifier.step == Step::DirectAssignment) {
            return Err(NotInTree);
        }
        Ok(is_changed || after.side(id, *own).is_some())
    }

    pub(super) fn on_request_frame(&mut self, identifier: Identifier, data: &[u8], rx_at: LocalTime) {
        let (id, profile) = (identifier.exchange(), self.manager.settings.profile);
        // As published the identifier says enough to leave what is meant for others.
        if profile == Profile::AsPublished && self.is_concerned(identifier, None) == Ok(false) {
            return;
        }
        let Some(message) = self.assemble(identifier, data, rx_at) else { return };
        match self.is_concerned(identifier, text::membership_of(profile, &message)) {
            Ok(true) => {}
            Ok(false) => return,
            Err(NotInTree) => return self.refuse_request(id, AbortReason::WrongAddresses),
        }
        // The pieces of messages that came before it are worth nothing; now, for the peer's share may come while the
        // request is still being verified. Whoever can send a false request can as well send false pieces.
        self.manager.inbox.forget_exchange(id.result);
        self.on_request(identifier, message, rx_at);
    }

    fn on_request(&mut self, identifier: Identifier, message: Text, rx_at: LocalTime) {
        let id = identifier.exchange();
        let candidates = match self.candidates(id.result, &message, rx_at) {
            Ok(candidates) => candidates,
            Err(reason) => return self.refuse_request(id, reason),
        };
        let setup = ExchangeSetup {
            id,
            side: Side::First,
            part: Part::Passive,
            acting: [self.manager.tree.lead(); 2],
            stamp: Stamp::default(),
            profile: self.manager.settings.profile,
        };
        let request = PendingRequest { identifier, message, candidates, trying: 0 };
        let deadline = rx_at + self.manager.settings.exchange_timeout * 2;
        match self.manager.open(Exchange::new(setup), Some(request), deadline) {
            Some(slot) => self.verify_request(slot),
            None => self.refuse_request(id, AbortReason::Overloaded),
        }
    }

    /// Epochs the request may bear.
    fn candidates(&self, result: Address, message: &Text, rx_at: LocalTime) -> Result<Candidates, AbortReason> {
        let (settings, accepted) = (&self.manager.settings, self.accepted[result.index()]);
        match settings.profile {
            Profile::AsPublished => Ok(settings.candidates(rx_at, self.epoch, accepted.max(self.manager.agreed))),
            Profile::Hardened => {
                let stamp = message.array(0).map(Stamp::from_bytes).ok_or(AbortReason::WrongLength)?;
                if accepted != 0 && stamp.epoch == accepted {
                    Err(AbortReason::OrchestrationReplayed)
                } else if stamp.epoch < self.epoch.max(1) || !settings.is_timely(stamp, rx_at) {
                    Err(AbortReason::OrchestrationStale)
                } else {
                    Ok(Candidates::only(stamp.epoch))
                }
            }
        }
    }

    /// Asks for the check of the next epoch a request may bear.
    pub(super) fn verify_request(&mut self, index: usize) {
        let (profile, lead) = (self.manager.settings.profile, self.manager.tree.lead());
        let Some(slot) = self.manager.slots[index].as_mut() else { return };
        let id = slot.exchange.setup().id;
        let Some(request) = slot.request.as_mut() else { return };
        let Some(epoch) = request.candidates.next() else {
            self.manager.slots[index] = None;
            return self.refuse_request(id, AbortReason::OrchestrationRefused);
        };
        request.trying = epoch;
        let stamp = stamp_of(profile, &request.message, epoch);
        let about = About::Group(text::membership_of(profile, &request.message).unwrap_or_default());
        let text = signed::orchestrator_text(profile, S::NAME, request.identifier, stamp, about);
        let owner = Owner::Exchange { slot: index as u8, number: slot.number };
        let Some(signature) = signature_of(profile, request.identifier.step, &request.message) else { return };
        let verify = Request::SignatureVerify { signer: lead, text, signature };
        if !self.manager.submit(owner, JobPriority::Exchange, verify) {
            self.manager.slots[index] = None;
            self.refuse_request(id, AbortReason::Overloaded);
        }
    }

    pub(super) fn refuse_request(&mut self, exchange: ExchangeId, reason: AbortReason) {
        let peer = self.manager.tree.lead();
        let failure = Failure { exchange, stage: Stage::Orchestration, peer, reason };
        self.manager.tell_failure(EventKind::ExchangeAborted, failure);
    }

    /// The orchestrator has asked for this, now.
    pub(super) fn accept_request(&mut self, index: usize, now: LocalTime) {
        let Some(mut slot) = self.manager.slots[index].take() else { return };
        let Some(request) = slot.request.take() else { return };
        let (identifier, epoch) = (request.identifier, request.trying);
        let profile = self.manager.settings.profile;
        let stamp = stamp_of(profile, &request.message, epoch);
        self.accepted[identifier.result.index()] = epoch;
        self.epoch = epoch;
        // A new run, or the repetition of a part of the last one.
        self.manager.candidate = None;
        self.waiting = Waiting::Nothing;
        let id = identifier.exchange();
        let was_present = self.manager.tree.is_present(self.manager.own);
        match text::membership_of(profile, &request.message) {
            Some(says) => {
                let leaves = self.learn(says, epoch);
                self.on_removal(leaves, now);
            }
            None if matches!(identifier.step, Step::Start | Step::Withdrawal) => {}
            None => {
                let Ok(changes) = self.manager.tree.changes(id) else {
                    return self.refuse_request(id, AbortReason::WrongAddresses);
                };
                changes.iter().flatten().for_each(|change| self.manager.tree.apply(*change));
                let leaves = |change: &MembershipChange| matches!(change, MembershipChange::Vacated(_));
                self.on_removal(changes.iter().flatten().any(leaves), now);
            }
        }
        if was_present && !self.manager.tree.is_present(self.manager.own) {
            self.forget_everything();
        }
        match identifier.step {
            Step::Start => return self.start_run(stamp, now),
            Step::Withdrawal => return self.close(),
            _ => {}
        }
        self.manager.invalidate(id.result);
        let Some(side) = self.manager.tree.side(id, self.manager.own) else { return };
        self.manager.tell(EventKind::ExchangeStarted, sequence_of(id), i64::from(epoch));
        if identifier.step == Step::DirectAssignment {
            return self.assign(id, epoch);
        }
        let setup = self.manager.setup(id, side, stamp);
        let deadline = now + self.manager.settings.exchange_timeout * 2;
        if self.manager.open(slot.exchange.authorised(setup), None, deadline).is_none() {
            self.refuse_request(id, AbortReason::Overloaded);
        }
    }

    /// Somebody who has the key in use is being removed: the time within which a new key has to be there begins.
    fn on_removal(&mut self, leaves: bool, now: LocalTime) {
        let settings = &self.manager.settings;
        if leaves && settings.failed_removal == FailedRemoval::Closed && self.manager.key.is_some() {
            self.closes_at = self.closes_at.or(Some(now + settings.run_timeout));
        }
    }

    /// Takes over who is in the group, and says whether somebody has left. What it holds of the logical ECUs above one who
    /// has come or gone was agreed on with others than are in there now, unless it was asked for in this epoch.
    fn learn(&mut self, says: Membership, epoch: u32) -> bool {
        let Manager { roster, tree, .. } = &mut self.manager;
        let mut changed = [None; MEMBERS_MAX];
        let (mut len, mut leaves) = (0, false);
        says.apply(roster, tree, |change| {
            leaves |= matches!(change, MembershipChange::Vacated(_));
            let (MembershipChange::Vacated(who) | MembershipChange::Occupied(who)) = change;
            changed[len] = Some(who);
            len += 1;
        });
        for who in changed.into_iter().flatten() {
            let mut next = self.manager.tree.parent(who);
            while let Some(result) = next {
                if self.accepted[result.index()] < epoch {
                    self.manager.forget(result);
                }
                next = self.manager.tree.parent(result);
            }
        }
        leaves
    }

    /// One request for a whole run: every exchange on the way to the root.
    fn start_run(&mut self, stamp: Stamp, now: LocalTime) {
        let own = self.manager.own;
        let deadline = now + self.manager.settings.run_timeout;
        if let Some(first) = self.manager.tree.parent(own) {
            self.manager.invalidate(first);
        }
        let path = self.manager.tree.clone();
        for result in path.path(own) {
            let Some(id) = path.exchange(result) else { continue };
            let Some(side) = path.side(id, own) else { continue };
            self.manager.tell(EventKind::ExchangeStarted, sequence_of(id), i64::from(stamp.epoch));
            let setup = self.manager.setup(id, side, stamp);
            if self.manager.open(Exchange::new(setup), None, deadline).is_none() {
                self.refuse_request(id, AbortReason::Overloaded);
            }
        }
    }

    /// It has been removed: what it still holds is of no use to it, and of some to a thief.
    fn forget_everything(&mut self) {
        if let Some(first) = self.manager.tree.parent(self.manager.own) {
            self.manager.invalidate(first);
        }
    }
}
