//! An ECU of the network.

use chronoseal_core::{AbortReason, Command, DiscardReason, EventKind, HandleError, Input, LocalTime, Node, Output};
use chronoseal_crypto::suite::{SIGNATURE_LEN, Suite};

use crate::crypto_stack::{JobPriority, Owner, Request, Response};
use crate::distribution::Incoming;
use crate::frame_count::FRESHNESS_LEN;
use crate::identifier::{Address, ExchangeId, Identifier, Side, Step};
use crate::keys::Secret;
use crate::manager::{Manager, NodeConfig, PendingRequest, Progress, sequence_of};
use crate::profile::{Installation, Profile};
use crate::roster::{Roster, RosterError};
use crate::settings::Candidates;
use crate::station_to_station::{Exchange, ExchangeSetup, Failure, Part, Stage};
use crate::text::{self, Stamp, Text};
use crate::transport::protocol_frame;
use crate::tree::{MembershipChange, Tree};

/// What a member still waits for when it holds a new key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Waiting {
    /// Nothing: it holds no new key, or has installed it.
    Nothing,
    /// Its tag is being computed.
    Tag,
    /// The orchestrator's word; it repeats its own then, so many times yet.
    Commit { until: LocalTime, retries_left: u8 },
}

/// An ECU: verifies requests, takes part in exchanges as active or passive member, and holds keys.
///
/// It answers a bad message with an event and a reason ([`EventKind::ExchangeAborted`]); the key in use stays until the
/// next one is confirmed.
pub struct Member<S: Suite> {
    pub(crate) manager: Manager<S>,
    /// The epoch last accepted for each result: none is accepted twice.
    accepted: [u32; 256],
    /// The latest epoch accepted for any.
    epoch: u32,
    waiting: Waiting,
    ready: Text,
    /// A commit being verified.
    commit: Option<Stamp>,
    pub(crate) incoming: Option<Incoming>,
    /// Master secrets that came, counted.
    pub(crate) deliveries: u32,
    /// The last master secret it has accepted, as it came.
    pub(crate) delivered: Text,
}

impl<S: Suite> Member<S> {
    /// A member that waits for [`Command::Start`].
    ///
    /// # Errors
    /// [`RosterError::UnknownAddress`] or [`RosterError::MismatchedKey`].
    pub fn new(config: NodeConfig<S>) -> Result<Self, RosterError> {
        Ok(Self::of(Manager::new(config)?))
    }

    pub(crate) const fn of(manager: Manager<S>) -> Self {
        Self {
            manager,
            accepted: [0; 256],
            epoch: 0,
            waiting: Waiting::Nothing,
            ready: Text::EMPTY,
            commit: None,
            incoming: None,
            deliveries: 0,
            delivered: Text::EMPTY,
        }
    }

    crate::manager::state_accessors!();

    /// The secret of a logical ECU it belongs to, from which [`Secret::traffic_key`] makes the subgroup's key.
    pub fn logical_secret(&self, address: Address) -> Option<&Secret> {
        self.manager.secret(address)
    }

    /// The key of its private channel to the orchestrator; there is none in [`Scheme::WithoutOrchestrator`].
    pub fn channel_key(&self) -> Option<&chronoseal_crypto::symmetric::Key128> {
        self.manager.channel(self.manager.tree.pair_of(self.manager.own)?)
    }

    /// The tree as it knows it.
    pub const fn tree(&self) -> &Tree {
        &self.manager.tree
    }

    /// Goes over to the network that this one and another become; see [`Roster::merged_with`] and
    /// [`Tree::merged_with`]. Secrets and keys stay.
    pub fn merge_into(&mut self, roster: Roster<S>, tree: Tree) {
        (self.manager.roster, self.manager.tree) = (roster, tree);
    }

    // ---- frames

    fn on_frame(&mut self, rx_at: LocalTime, bytes: &[u8]) {
        // Other traffic of the bus is none of its business, and no event either.
        let Some((identifier, data)) = protocol_frame(bytes, self.manager.settings.transport) else { return };
        match identifier.step {
            Step::Orchestration | Step::Start | Step::DirectAssignment => {
                self.on_request_frame(identifier, data, rx_at)
            }
            Step::ShareFirst | Step::ShareSecond | Step::ConfirmationFirst | Step::ConfirmationSecond => {
                self.manager.on_exchange_frame(identifier, data, rx_at);
            }
            Step::Distribution if identifier.first == self.manager.own => {
                if let Some(message) = self.assemble(identifier, data, rx_at) {
                    self.on_distribution(message, rx_at);
                }
            }
            Step::Commit if identifier == self.manager.commit_identifier() => {
                if let Some(message) = self.assemble(identifier, data, rx_at) {
                    self.on_commit(&message, rx_at);
                }
            }
            Step::Distribution => self.manager.pair_shares.on_delivery(),
            Step::Commit | Step::Ready | Step::Abort => {}
        }
    }

    /// The whole message, once it is there.
    fn assemble(&mut self, identifier: Identifier, data: &[u8], rx_at: LocalTime) -> Option<Text> {
        let len = self.manager.message_len(identifier.step);
        let message = self.manager.inbox.push(identifier, data, len, rx_at);
        if message.is_err() {
            let sequence = u64::from(identifier.can_id().raw());
            self.manager.tell(EventKind::Discarded(DiscardReason::Malformed), sequence, 0);
        }
        message.ok().flatten()
    }

    // ---- requests

    /// What a request changes and on which side this node takes part; `None` if it is no concern of its.
    #[allow(clippy::type_complexity, reason = "a pair of two small things")]
    fn concern(
        &self,
        identifier: Identifier,
    ) -> Result<Option<([Option<MembershipChange>; 2], Option<Side>)>, crate::tree::NotInTree> {
        let manager = &self.manager;
        if identifier.step == Step::Start {
            let is_right = identifier == manager.start_identifier();
            return if is_right { Ok(Some(([None; 2], None))) } else { Err(crate::tree::NotInTree) };
        }
        let id = identifier.exchange();
        let changes = manager.tree.changes(id)?;
        let mut after;
        let tree = if changes == [None; 2] {
            &manager.tree
        } else {
            after = manager.tree.clone();
            changes.iter().flatten().for_each(|change| after.apply(*change));
            &after
        };
        let side = tree.side(id, manager.own);
        Ok((side.is_some() || changes != [None; 2]).then_some((changes, side)))
    }

    fn on_request_frame(&mut self, identifier: Identifier, data: &[u8], rx_at: LocalTime) {
        let id = identifier.exchange();
        let concern = self.concern(identifier);
        if concern == Ok(None) {
            return;
        }
        let Some(message) = self.assemble(identifier, data, rx_at) else { return };
        if concern.is_err() {
            return self.refuse_request(id, AbortReason::WrongAddresses);
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
            Profile::AsPublished => {
                Ok(settings.candidates(rx_at, self.epoch, accepted.max(self.manager.agreed)))
            }
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
    fn verify_request(&mut self, index: usize) {
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
        let text = text::orchestrator_text(profile, S::NAME, request.identifier, stamp);
        let owner = Owner::Exchange { slot: index as u8, number: slot.number };
        let Some(signature) = signature_of(profile, &request.message) else { return };
        let verify = Request::SignatureVerify { signer: lead, text, signature };
        if !self.manager.submit(owner, JobPriority::Exchange, verify) {
            self.manager.slots[index] = None;
            self.refuse_request(id, AbortReason::Overloaded);
        }
    }

    fn refuse_request(&mut self, exchange: ExchangeId, reason: AbortReason) {
        let peer = self.manager.tree.lead();
        let failure = Failure { exchange, stage: Stage::Orchestration, peer, reason };
        self.manager.tell_failure(EventKind::ExchangeAborted, failure);
    }

    /// The orchestrator has asked for this, now.
    fn accept_request(&mut self, index: usize, now: LocalTime) {
        let Some(mut slot) = self.manager.slots[index].take() else { return };
        let Some(request) = slot.request.take() else { return };
        let (identifier, epoch) = (request.identifier, request.trying);
        let stamp = stamp_of(self.manager.settings.profile, &request.message, epoch);
        self.accepted[identifier.result.index()] = epoch;
        self.epoch = epoch;
        // A new run, or the repetition of a part of the last one.
        self.manager.candidate = None;
        self.waiting = Waiting::Nothing;
        if identifier.step == Step::Start {
            return self.start_run(stamp, now);
        }
        let id = identifier.exchange();
        let Ok(changes) = self.manager.tree.changes(id) else {
            return self.refuse_request(id, AbortReason::WrongAddresses);
        };
        let was_present = self.manager.tree.is_present(self.manager.own);
        changes.iter().flatten().for_each(|change| self.manager.tree.apply(*change));
        if was_present && !self.manager.tree.is_present(self.manager.own) {
            self.forget_everything();
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

    /// A single child's secret becomes its parent's. An ECU that has none yet draws one.
    fn assign(&mut self, id: ExchangeId, epoch: u32) {
        let secret = if id.first == self.manager.own {
            Some(self.manager.crypto.draw())
        } else {
            self.manager.secret(id.first).cloned()
        };
        match secret {
            Some(secret) => {
                self.manager.set_secret(id.result, secret);
                self.manager.tell(EventKind::ExchangeDone, sequence_of(id), i64::from(epoch));
            }
            None => self.refuse_request(id, AbortReason::SecretMissing),
        }
    }

    /// It has been removed: what it still holds is of no use to it, and of some to a thief.
    fn forget_everything(&mut self) {
        if let Some(first) = self.manager.tree.parent(self.manager.own) {
            self.manager.invalidate(first);
        }
    }

    // ---- the group key

    /// A new key: shows the orchestrator that it is there.
    pub(crate) fn on_agreed(&mut self, secret: Secret, epoch: u32) {
        let key = secret.ready_key();
        self.manager.agree(secret, epoch);
        if self.manager.settings.installation == Installation::Unconfirmed {
            return;
        }
        let own = self.manager.own;
        let generate = Request::MacGenerate { key, text: self.manager.ready_text(own, epoch) };
        if self.manager.submit(Owner::Ready(own), JobPriority::Confirmation, generate) {
            self.waiting = Waiting::Tag;
        } else {
            self.manager.refuse(Stage::Installation, own, AbortReason::Overloaded);
        }
    }

    fn send_ready(&mut self, now: LocalTime, retries_left: u8) {
        let identifier = self.manager.ready_identifier(self.manager.own);
        self.manager.outbox.push(identifier, self.ready.clone(), false);
        self.waiting = Waiting::Commit { until: now + self.manager.settings.exchange_timeout, retries_left };
    }

    fn on_commit(&mut self, message: &Text, rx_at: LocalTime) {
        let (profile, lead) = (self.manager.settings.profile, self.manager.tree.lead());
        let (Waiting::Commit { .. }, Some(candidate)) = (self.waiting, &self.manager.candidate) else { return };
        let stamp = stamp_of(profile, message, candidate.epoch);
        let is_timely = profile == Profile::AsPublished || self.manager.settings.is_timely(stamp, rx_at);
        let Some(signature) = signature_of(profile, message) else { return };
        if stamp.epoch != candidate.epoch || !is_timely {
            return self.refuse_commit();
        }
        let text = text::orchestrator_text(profile, S::NAME, self.manager.commit_identifier(), stamp);
        let verify = Request::SignatureVerify { signer: lead, text, signature };
        if self.commit.is_none() && self.manager.submit(Owner::Commit, JobPriority::Confirmation, verify) {
            self.commit = Some(stamp);
        }
    }

    /// A commit that is not the orchestrator's is told; the true one may still come.
    fn refuse_commit(&mut self) {
        let exchange = self.manager.commit_identifier().exchange();
        let (stage, peer) = (Stage::Installation, self.manager.tree.lead());
        let failure = Failure { exchange, stage, peer, reason: AbortReason::CommitRefused };
        self.manager.tell_failure(EventKind::ExchangeAborted, failure);
    }

    fn on_response(&mut self, now: LocalTime, owner: Owner, response: Response) {
        match (owner, response) {
            (Owner::Exchange { slot, number }, Response::SignatureVerified(fits)) => {
                let index = usize::from(slot);
                let is_pending = |slot: &crate::manager::Slot| slot.number == number && slot.request.is_some();
                if self.manager.slots[index].as_ref().is_some_and(is_pending) {
                    if fits { self.accept_request(index, now) } else { self.verify_request(index) }
                }
            }
            (Owner::Ready(_), Response::Tag(tag)) if self.waiting == Waiting::Tag => {
                self.ready = Text::of(&[&tag]);
                self.send_ready(now, self.manager.settings.retries_max);
            }
            (Owner::Commit, Response::SignatureVerified(fits)) => {
                let is_current = |stamp: Stamp| {
                    self.manager.candidate.as_ref().is_some_and(|candidate| candidate.epoch == stamp.epoch)
                };
                let stamp = self.commit.take();
                if !fits {
                    self.refuse_commit();
                } else if stamp.is_some_and(is_current) {
                    self.manager.install();
                    self.waiting = Waiting::Nothing;
                }
            }
            (Owner::Distribution(number), response) => self.on_distribution_response(number, response),
            _ => {}
        }
    }

    fn on_timeout(&mut self, now: LocalTime) {
        while self.manager.time_out(now).is_some() {}
        if let Waiting::Commit { until, retries_left } = self.waiting
            && until <= now
        {
            if retries_left > 0 {
                self.send_ready(now, retries_left - 1);
            } else {
                self.waiting = Waiting::Nothing;
                let lead = self.manager.tree.lead();
                self.manager.refuse(Stage::Installation, lead, AbortReason::CommitMissing);
            }
        }
    }

    fn next_wake(&self) -> Option<LocalTime> {
        let commit = match self.waiting {
            Waiting::Commit { until, .. } => Some(until),
            _ => None,
        };
        self.manager.next_deadline().into_iter().chain(commit).min()
    }

    /// The epoch of the latest request it has accepted.
    pub(crate) const fn epoch(&self) -> u32 {
        self.epoch
    }

    /// A master secret that it has accepted says as much as a request of its epoch.
    pub(crate) fn pass_epoch(&mut self, epoch: u32) {
        self.epoch = self.epoch.max(epoch);
    }
}

/// The stamp a message bears: as published it is not sent, and `epoch` is being tried.
pub(crate) fn stamp_of(profile: Profile, message: &Text, epoch: u32) -> Stamp {
    match (profile, message.array(0)) {
        (Profile::Hardened, Some(bytes)) => Stamp::from_bytes(bytes),
        _ => Stamp { epoch, time_ms: 0 },
    }
}

/// The signature in a message of the orchestrator.
pub(crate) fn signature_of(profile: Profile, message: &Text) -> Option<[u8; SIGNATURE_LEN]> {
    message.array(match profile {
        Profile::AsPublished => 0,
        Profile::Hardened => FRESHNESS_LEN,
    })
}

impl<S: Suite> Node for Member<S> {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.manager.base.admit(now, &input)?;
        match input {
            Input::Command(Command::Start) => self.manager.is_running = true,
            Input::Command(Command::Stop) => {
                self.manager.stop();
                self.waiting = Waiting::Nothing;
                (self.commit, self.incoming) = (None, None);
            }
            Input::Frame { rx_at, bytes, .. } if self.manager.is_running => self.on_frame(rx_at, bytes),
            Input::Transmitted { token, .. } => self.manager.on_transmitted(token.id()),
            Input::Timeout if self.manager.is_running => self.on_timeout(now),
            _ => {}
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        loop {
            match self.manager.poll(now, frame) {
                Progress::Output(output) => return output,
                Progress::Response(owner, response) => self.on_response(now, owner, response),
                Progress::Done(id, epoch) if self.manager.tree.root() == Some(id.result) => {
                    let secret = self.manager.secret(id.result).cloned();
                    if let Some(secret) = secret {
                        self.on_agreed(secret, epoch);
                    }
                }
                Progress::Done(..) => self.resume_distribution(),
                Progress::Failed(_) | Progress::Again => {}
                Progress::Idle => return Output::Timeout(self.next_wake()),
            }
        }
    }
}
