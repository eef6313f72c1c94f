//! The security orchestrator (SoECU): requests exchanges, takes part in them, and confirms the group key.

mod confirmation;
mod operations;
mod outcome;
mod run;
mod withdrawal;

use chronoseal_core::{AbortReason, Command, Duration, EventKind, HandleError, Input, LocalTime, Node, Output};
use chronoseal_crypto::suite::{Signature, Suite};
use chronoseal_crypto::symmetric::Key128;

use crate::crypto_stack::{Owner, Response};
use crate::identifier::{Address, Identifier, Step};
use crate::keys::Secret;
use crate::manager::{Manager, NodeConfig, Progress};
use crate::member::Member;
use crate::membership::{Membership, Persisted};
use crate::profile::{OrchestrationSigning, SpareNode};
use crate::roster::{Roster, RosterError};
use crate::station_to_station::{Failure, Stage};
use crate::text::{Stamp, Text};
use crate::transport::protocol_frame;
use crate::tree::Tree;
pub use operations::{OPERATIONS_MAX, Operation, OperationError};
use withdrawal::Withdrawal;

/// How far a result has come in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Progression {
    /// Not part of the run.
    Idle,
    /// Its request has to be signed before the run's first is sent.
    Unsigned,
    /// Its turn has not come.
    Pending,
    /// Its request is being signed.
    Signing,
    /// Requested.
    InFlight,
    /// Its exchange has ended well, as far as can be heard.
    Done,
}

/// What the orchestrator knows of one exchange.
#[derive(Clone, Copy)]
struct Supervision {
    progression: Progression,
    attempts: u8,
    deadline: LocalTime,
    /// Of the last request.
    stamp: Stamp,
    /// Frames heard of shares and confirmations, first and second.
    heard: [u8; 4],
    /// Why it has failed here.
    failed: Option<Failure>,
    /// Why somebody says that it has failed there.
    reported: Option<Failure>,
}

const NOT_SUPERVISED: Supervision = Supervision {
    progression: Progression::Idle,
    attempts: 0,
    deadline: LocalTime::ZERO,
    stamp: Stamp { epoch: 0, time_ms: 0 },
    heard: [0; 4],
    failed: None,
    reported: None,
};

/// What the orchestrator is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Idle,
    /// The one request of a run along the fixed tree is to be signed, or is being signed.
    Starting {
        is_asked: bool,
    },
    Exchanging,
    /// The master secret is to be drawn and signed, or goes to one node after the other.
    Distributing(Distributing),
    Confirming,
    Committing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Distributing {
    Draw,
    Signing,
    Next,
    Sealing(Address),
}

/// A member's word that it holds the key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Readiness {
    Missing,
    Heard([u8; 16]),
    Checking,
    Ready,
}

/// The orchestrator of a network.
pub struct Orchestrator<S: Suite> {
    manager: Manager<S>,
    phase: Phase,
    supervision: [Supervision; 256],
    /// Results whose secrets may differ among members because a run failed.
    is_stale: [bool; 256],
    /// Requests signed ahead.
    signatures: [Option<Signature>; 256],
    /// Whose path to the root it follows.
    followed: Address,
    epoch: u32,
    /// No request before: the timestamp would lie in the future.
    resume_at: LocalTime,
    deadline: LocalTime,
    operations: [Option<(LocalTime, Operation)>; OPERATIONS_MAX],
    /// Somebody who was removed has the key in use.
    is_exposed: bool,
    withdrawal: Withdrawal,
    is_revoked: [bool; 256],
    can_merge: bool,
    /// The run has one request for all.
    is_along_tree: bool,
    // Symmetric scheme.
    master: Option<Secret>,
    master_stamp: Stamp,
    master_signature: Text,
    sealed: Text,
    /// To whom the master secret has been sent.
    is_served: [bool; 256],
    // Installation.
    readiness: [Readiness; 256],
    rounds_left: u8,
    /// What missing members need may still be renewed in this run.
    can_renew: bool,
    commit: Text,
    commit_stamp: Stamp,
    commit_repeats_left: u8,
}

impl<S: Suite> Orchestrator<S> {
    /// An orchestrator that establishes a key at [`Command::Start`].
    ///
    /// # Errors
    /// [`RosterError`] if its key is not the one stored, or if a run along the fixed tree is asked for in a tree with
    /// direct assignments, whose messages are requests.
    pub fn new(config: NodeConfig<S>) -> Result<Self, RosterError> {
        let manager = Manager::new(config)?;
        let has_singles = manager.tree.results().any(|result| manager.tree.is_single(result));
        if manager.settings.signing == OrchestrationSigning::Once && has_singles {
            return Err(RosterError::NeedsRequests(SpareNode::DirectAssignment));
        }
        if manager.own != manager.tree.lead() {
            return Err(RosterError::NotTheOrchestrator(manager.own));
        }
        let mut operations = [None; OPERATIONS_MAX];
        operations[0] = Some((LocalTime::ZERO, Operation::Establish));
        Ok(Self {
            manager,
            phase: Phase::Idle,
            supervision: [NOT_SUPERVISED; 256],
            is_stale: [false; 256],
            signatures: [None; 256],
            followed: Address::RESERVED,
            epoch: 0,
            resume_at: LocalTime::ZERO,
            deadline: LocalTime::ZERO,
            operations,
            is_exposed: false,
            withdrawal: Withdrawal::Nothing,
            is_revoked: [false; 256],
            can_merge: false,
            is_along_tree: false,
            master: None,
            master_stamp: Stamp::default(),
            master_signature: Text::EMPTY,
            sealed: Text::EMPTY,
            is_served: [false; 256],
            readiness: [Readiness::Missing; 256],
            rounds_left: 0,
            can_renew: false,
            commit: Text::EMPTY,
            commit_stamp: Stamp::default(),
            commit_repeats_left: 0,
        })
    }

    /// Puts off the first operation, the key for everybody, from [`Command::Start`] to `at`.
    #[must_use]
    pub const fn establishing_at(mut self, at: LocalTime) -> Self {
        self.operations[0] = Some((at, Operation::Establish));
        self
    }

    /// Goes on where an orchestrator was that a loss of power ended. It begins with the key for everybody.
    #[must_use]
    pub fn restored(mut self, persisted: &Persisted) -> Self {
        self.epoch = persisted.epoch;
        let Self { manager, is_revoked, .. } = &mut self;
        for (position, entry) in manager.roster.members().enumerate() {
            is_revoked[entry.address.index()] = persisted.revoked.contains(position);
        }
        let Manager { roster, tree, .. } = manager;
        persisted.present.apply(roster, tree, |_| {});
        self
    }

    /// What has to be kept through a loss of power.
    pub fn persisted(&self) -> Persisted {
        let mut revoked = Membership::NONE;
        for (position, entry) in self.manager.roster.members().enumerate() {
            revoked.set(position, self.is_revoked[entry.address.index()]);
        }
        Persisted { epoch: self.epoch, present: self.manager.membership(), revoked }
    }

    crate::manager::state_accessors!();

    /// The secret of a logical ECU, if it followed the exchange it came of.
    pub fn logical_secret(&self, address: Address) -> Option<&Secret> {
        self.manager.secret(address)
    }

    /// The key of its private channel to a member.
    pub fn channel_key(&self, member: Address) -> Option<&Key128> {
        self.manager.channel(self.manager.tree.pair_of(member)?)
    }

    /// The tree as it is now.
    pub const fn tree(&self) -> &Tree {
        &self.manager.tree
    }

    /// Who belongs to the network.
    pub const fn roster(&self) -> &Roster<S> {
        &self.manager.roster
    }

    /// True while a run is under way.
    pub fn is_busy(&self) -> bool {
        self.phase != Phase::Idle
    }

    /// Takes over the network that this one and another become; [`Operation::Merge`] then joins their roots.
    pub fn merge_into(&mut self, roster: Roster<S>, tree: Tree) {
        (self.manager.roster, self.manager.tree) = (roster, tree);
        self.can_merge = true;
    }

    /// Becomes a member of the network that another orchestrator leads from now on. Secrets and keys stay.
    pub fn retire(mut self, roster: Roster<S>, tree: Tree) -> Member<S> {
        (self.manager.roster, self.manager.tree) = (roster, tree);
        Member::of(self.manager)
    }

    fn on_frame(&mut self, rx_at: LocalTime, bytes: &[u8]) {
        let Some((identifier, data)) = protocol_frame(bytes, self.manager.settings.transport) else { return };
        match identifier.step {
            Step::ShareFirst | Step::ShareSecond | Step::ConfirmationFirst | Step::ConfirmationSecond => {
                let supervision = &mut self.supervision[identifier.result.index()];
                let message = identifier.step as usize - Step::ShareFirst as usize;
                supervision.heard[message] = supervision.heard[message].saturating_add(1);
                self.manager.on_exchange_frame(identifier, data, rx_at);
            }
            Step::Abort => self.on_abort(identifier.exchange(), data),
            Step::Ready if identifier == self.manager.ready_identifier(identifier.first) => {
                self.on_ready(identifier, data, rx_at);
            }
            Step::Ready => {}
            // Only the orchestrator sends these: somebody speaks in its name.
            Step::Orchestration
            | Step::Start
            | Step::Commit
            | Step::Distribution
            | Step::DirectAssignment
            | Step::Withdrawal => {
                let len = self.manager.message_len(identifier.step);
                if self.manager.inbox.push(identifier, data, len, rx_at) == Ok(None) {
                    return;
                }
                let (exchange, peer) = (identifier.exchange(), self.manager.own);
                let reason = AbortReason::OrchestrationRefused;
                let failure = Failure { exchange, stage: Stage::Orchestration, peer, reason };
                self.manager.tell_failure(EventKind::ExchangeAborted, failure);
            }
        }
    }

    fn on_response(&mut self, now: LocalTime, owner: Owner, response: Response) {
        match (owner, response) {
            (Owner::Orchestration(result), Response::Signature(signature)) => self.on_signed(now, result, signature),
            (Owner::Distribution(_), response) => self.on_distribution_response(response),
            (Owner::Ready(member), Response::TagVerified(fits)) => self.on_ready_checked(member, fits),
            (Owner::Commit, Response::Signature(signature)) => self.on_commit_signed(signature),
            (Owner::Withdrawal, Response::Signature(signature)) => self.on_withdrawal_signed(now, &signature),
            _ => {}
        }
    }

    fn on_timeout(&mut self, now: LocalTime) {
        while let Some(failure) = self.manager.time_out(now) {
            let result = failure.exchange.result;
            self.repeat(now, result, self.told(result).unwrap_or(failure));
        }
        self.repeat_overdue(now);
        if self.phase == Phase::Confirming && self.deadline <= now {
            self.on_confirmation_overdue(now);
        }
    }

    fn next_wake(&self, now: LocalTime) -> Option<LocalTime> {
        if !self.manager.is_running {
            return None;
        }
        let own = self.manager.next_deadline();
        match self.phase {
            Phase::Idle => {
                let operation = self.operations.iter().flatten().map(|(at, _)| (*at).max(self.resume_at)).next();
                let is_due = matches!(self.withdrawal, Withdrawal::Due);
                let due = is_due.then_some(self.resume_at).filter(|at| *at > now);
                let again = self.next_withdrawal().map(|at| at.max(self.resume_at));
                operation.into_iter().chain(again).chain(due).min()
            }
            Phase::Confirming => Some(self.deadline),
            _ => {
                let in_flight = |supervision: &&Supervision| supervision.progression == Progression::InFlight;
                let overdue = self.supervision.iter().filter(in_flight).map(|supervision| supervision.deadline).min();
                let resume_at = Some(self.resume_at).filter(|at| *at > now);
                overdue.into_iter().chain(own).chain(resume_at).min()
            }
        }
    }

    /// How long it waits for all to be ready.
    fn confirmation_time(&self) -> Duration {
        self.manager.settings.exchange_timeout
    }

    /// Messages under an identifier.
    fn send(&mut self, identifier: Identifier, message: Text) {
        self.manager.outbox.push(identifier, message, false);
    }
}

impl<S: Suite> Node for Orchestrator<S> {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.manager.base.admit(now, &input)?;
        match input {
            Input::Command(Command::Start) => self.manager.is_running = true,
            Input::Command(Command::Stop) => {
                self.manager.stop();
                self.phase = Phase::Idle;
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
            // Requests go into the queue before own work does, for others wait for them.
            while self.manager.is_running && self.advance(now) {}
            match self.manager.poll(now, frame) {
                Progress::Output(output) => return output,
                Progress::Response(owner, response) => self.on_response(now, owner, response),
                Progress::Done(id, epoch) => self.on_done(now, id, epoch),
                Progress::Failed(failure) => self.on_failed(now, failure),
                Progress::Again => {}
                Progress::Idle => return Output::Timeout(self.next_wake(now)),
            }
        }
    }
}
