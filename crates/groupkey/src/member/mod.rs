//! An ECU of the network.

mod assignment;
mod request;

use chronoseal_core::{AbortReason, Command, DiscardReason, EventKind, HandleError, Input, LocalTime, Node, Output};
use chronoseal_crypto::suite::{SIGNATURE_LEN, Suite};

use crate::crypto_stack::{JobPriority, Owner, Request, Response};
use crate::distribution::Incoming;
use crate::frame_count::message_len;
use crate::identifier::{Address, Identifier, Step};
use crate::keys::Secret;
use crate::manager::{Manager, NodeConfig, Progress};
use crate::membership::Persisted;
use crate::profile::{Installation, Profile};
use crate::roster::{Roster, RosterError};
use crate::signed::{self, About};
use crate::station_to_station::{Failure, Stage};
use crate::text::{Stamp, Text};
use crate::transport::protocol_frame;
use crate::tree::Tree;
use assignment::{ASSIGNMENTS_MAX, Assignment};

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
    /// When it gives the key in use up, if there is no new one by then.
    closes_at: Option<LocalTime>,
    /// Direct assignments of secrets that are still being agreed on.
    assignments: [Option<Assignment>; ASSIGNMENTS_MAX],
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
            closes_at: None,
            assignments: [None; ASSIGNMENTS_MAX],
            incoming: None,
            deliveries: 0,
            delivered: Text::EMPTY,
        }
    }

    /// Goes on where a member was that a loss of power ended: nothing up to the epoch it had then counts again, and who
    /// was in the group is in it. Secrets and keys are gone.
    ///
    /// Without this a member takes requests that are no older than [`Settings::age_max`](crate::Settings::age_max), as
    /// published than three granules, for new.
    #[must_use]
    pub fn restored(mut self, persisted: &Persisted) -> Self {
        self.epoch = persisted.epoch.saturating_add(1);
        self.manager.agreed = persisted.epoch;
        let Manager { roster, tree, .. } = &mut self.manager;
        persisted.present.apply(roster, tree, |_| {});
        self
    }

    /// What has to be kept through a loss of power.
    pub fn persisted(&self) -> Persisted {
        let epoch = self.epoch.max(self.manager.agreed);
        Persisted { epoch, present: self.manager.membership(), ..Persisted::default() }
    }

    crate::manager::state_accessors!();

    /// The secret of a logical ECU it belongs to, from which [`Secret::traffic_key`] makes the subgroup's key.
    pub fn logical_secret(&self, address: Address) -> Option<&Secret> {
        self.manager.secret(address)
    }

    /// The key of its private channel to the orchestrator; there is none in [`WithoutOrchestrator`](crate::Scheme::WithoutOrchestrator).
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
            Step::Orchestration | Step::Start | Step::DirectAssignment | Step::Withdrawal => {
                self.on_request_frame(identifier, data, rx_at);
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

    // ---- the group key

    /// A new key: shows the orchestrator that it is there.
    pub(crate) fn on_agreed(&mut self, secret: Secret, epoch: u32) {
        let key = secret.ready_key();
        self.manager.agree(secret, epoch);
        if self.manager.settings.installation == Installation::Unconfirmed {
            self.closes_at = None;
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

    /// Nothing is sent or believed under a group key until there is a new one.
    pub(super) fn close(&mut self) {
        (self.closes_at, self.waiting) = (None, Waiting::Nothing);
        self.manager.withdraw();
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
        let Some(signature) = signature_of(profile, Step::Commit, message) else { return };
        let about = About::Key(candidate.secret.key_check());
        if stamp.epoch != candidate.epoch || !is_timely {
            return self.refuse_commit();
        }
        let text = signed::orchestrator_text(profile, S::NAME, self.manager.commit_identifier(), stamp, about);
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
                    (self.waiting, self.closes_at) = (Waiting::Nothing, None);
                }
            }
            (Owner::Distribution(number), response) => self.on_distribution_response(number, response),
            _ => {}
        }
    }

    fn on_timeout(&mut self, now: LocalTime) {
        while self.manager.time_out(now).is_some() {}
        if self.closes_at.is_some_and(|at| at <= now) {
            self.close();
        }
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
        self.manager.next_deadline().into_iter().chain(commit).chain(self.closes_at).min()
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

/// The signature in a message of the orchestrator: its end.
fn signature_of(profile: Profile, step: Step, message: &Text) -> Option<[u8; SIGNATURE_LEN]> {
    let len = message_len(step, profile, 0);
    message.array(len - SIGNATURE_LEN)
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
                self.assignments = [None; ASSIGNMENTS_MAX];
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
                Progress::Done(id, epoch) => {
                    self.resume_assignments(id.result, epoch);
                    self.resume_distribution();
                }
                Progress::Failed(_) | Progress::Again => {}
                Progress::Idle => return Output::Timeout(self.next_wake()),
            }
        }
    }
}
