//! What members and orchestrator have in common: exchanges, secrets, jobs, messages and the group key.

mod exchanges;

use chronoseal_core::{AbortReason, Event, EventKind, LocalTime, NodeBase, Output, Ring, StreamId};
use chronoseal_crypto::suite::{SECRET_LEN, Share, Suite};
use chronoseal_crypto::symmetric::Key128;

use crate::crypto_stack::{CryptoInterface, CryptoServiceManager, Job, JobPriority, Owner, Request, Response};
use crate::frame_count::message_len;
use crate::identifier::{Address, ExchangeId, Identifier, Step};
use crate::keys::Secret;
use crate::membership::Membership;
use crate::pair_shares::PairShares;
use crate::profile::{Installation, MEMBERS_MAX};
use crate::roster::{Roster, RosterError};
use crate::settings::{Candidates, Settings};
use crate::signed;
use crate::station_to_station::{Effect, Exchange, Failure, Need, Stage};
use crate::text::Text;
use crate::transport::{Inbox, Outbox};
use crate::tree::Tree;

/// What members and the orchestrator show of their state alike.
macro_rules! state_accessors {
    () => {
        /// Its address.
        pub const fn address(&self) -> $crate::Address {
            self.manager.own
        }

        /// The group key in use.
        pub const fn group_key(&self) -> Option<&$crate::GroupKey> {
            self.manager.key.as_ref()
        }

        /// The driver objects behind its crypto stack.
        pub const fn crypto(&self) -> &$crate::crypto_stack::CryptoInterface<S> {
            &self.manager.crypto
        }

        /// The last thing that went wrong.
        pub const fn last_failure(&self) -> Option<$crate::Failure> {
            self.manager.last_failure
        }
    };
}
pub(crate) use state_accessors;

/// Exchanges a node can have open: one for each level of the deepest tree, and requests being verified.
pub(crate) const SLOTS: usize = 16;
/// Events that can wait; if a driver has not listened for long, the oldest are lost.
const EVENTS_LEN: usize = 64;

/// A group key in use.
#[derive(Clone, Debug)]
pub struct GroupKey {
    /// The key.
    pub key: Key128,
    /// Which one it is: it grows with each key.
    pub epoch: u32,
}

/// A group key that not all have confirmed.
pub(crate) struct Candidate {
    pub(crate) secret: Secret,
    pub(crate) epoch: u32,
}

/// What a logical ECU's members share.
struct LogicalSecret {
    secret: Secret,
    /// Of a pair: the private channel.
    channel: Option<Key128>,
}

/// A request whose signature is being checked.
pub(crate) struct PendingRequest {
    pub(crate) identifier: Identifier,
    pub(crate) message: Text,
    pub(crate) candidates: Candidates,
    /// The epoch being tried.
    pub(crate) trying: u32,
}

pub(crate) struct Slot {
    /// Tells one exchange from the next in the same slot.
    pub(crate) number: u32,
    pub(crate) exchange: Exchange,
    /// `None` once it is authorised.
    pub(crate) request: Option<PendingRequest>,
    pub(crate) deadline: LocalTime,
}

/// What the manager did.
pub(crate) enum Progress {
    Output(Output),
    /// A job of the node's own ended.
    Response(Owner, Response),
    /// An exchange of this epoch succeeded; its secret is stored.
    Done(ExchangeId, u32),
    /// An exchange was given up; the event is told.
    Failed(Failure),
    /// A step that nobody else needs to know of.
    Again,
    /// Nothing to do until the next input or deadline.
    Idle,
}

/// Everything a node is made from.
pub struct NodeConfig<S: Suite> {
    /// Settings.
    pub settings: Settings,
    /// Its own address.
    pub address: Address,
    /// Its signature key.
    pub signing_key: S::SigningKey,
    /// Who belongs to the network.
    pub roster: Roster<S>,
    /// Their tree.
    pub tree: Tree,
    /// Seeds its private keys: 32 bytes no one can guess, different for every node and start.
    pub seed: [u8; SECRET_LEN],
}

pub(crate) struct Manager<S: Suite> {
    pub(crate) base: NodeBase<Ring<Event, EVENTS_LEN>>,
    pub(crate) settings: Settings,
    pub(crate) own: Address,
    pub(crate) roster: Roster<S>,
    pub(crate) tree: Tree,
    pub(crate) crypto: CryptoInterface<S>,
    csm: CryptoServiceManager,
    /// The job whose work was told and which the next poll computes.
    current: Option<Job>,
    secrets: [Option<LogicalSecret>; 256],
    pub(crate) slots: [Option<Slot>; SLOTS],
    numbers: u32,
    pub(crate) inbox: Inbox,
    pub(crate) outbox: Outbox,
    /// As published: the shares that the symmetric scheme's next key is derived from.
    pub(crate) pair_shares: PairShares,
    /// For the orchestrator of a run along the tree: shares of members that came before their pair's turn.
    early_shares: [Option<Share>; MEMBERS_MAX],
    pub(crate) key: Option<GroupKey>,
    pub(crate) candidate: Option<Candidate>,
    /// The highest epoch of a key that it has agreed on, whether in use, waiting or given up.
    pub(crate) agreed: u32,
    pub(crate) last_failure: Option<Failure>,
    pub(crate) is_running: bool,
}

impl<S: Suite> Manager<S> {
    pub(crate) fn new(config: NodeConfig<S>) -> Result<Self, RosterError> {
        let NodeConfig { settings, address, signing_key, roster, tree, seed } = config;
        roster.check_own_key(address, &signing_key)?;
        Ok(Self {
            base: NodeBase::new(settings.port.0..settings.port.0.saturating_add(1)).giving_tokens(),
            settings,
            own: address,
            roster,
            tree,
            crypto: CryptoInterface::new(signing_key, seed),
            csm: CryptoServiceManager::default(),
            current: None,
            secrets: [const { None }; 256],
            slots: [const { None }; SLOTS],
            numbers: 0,
            inbox: Inbox::new(settings.transport),
            outbox: Outbox::new(settings.transport),
            pair_shares: PairShares::new(),
            early_shares: [None; MEMBERS_MAX],
            key: None,
            candidate: None,
            agreed: 0,
            last_failure: None,
            is_running: false,
        })
    }

    // ---- events

    /// Reports an event.
    pub(crate) fn tell(&mut self, kind: EventKind, sequence: u64, value: i64) {
        self.base.push(Event { kind, stream: StreamId::NONE, sequence, value });
    }

    pub(crate) fn tell_failure(&mut self, kind: fn(AbortReason) -> EventKind, failure: Failure) {
        let value = i64::from(failure.stage as u8) << 8 | i64::from(failure.peer.0);
        self.tell(kind(failure.reason), sequence_of(failure.exchange), value);
        self.last_failure = Some(failure);
    }

    // ---- secrets

    /// Who is in the group, as far as it knows.
    pub(crate) fn membership(&self) -> Membership {
        Membership::of(&self.roster, &self.tree)
    }

    /// Forgets the secret of one logical ECU and gives up its exchanges.
    pub(crate) fn forget(&mut self, result: Address) {
        self.secrets[result.index()] = None;
        for slot in &mut self.slots {
            let is_its = |slot: &Slot| slot.request.is_none() && slot.exchange.setup().id.result == result;
            if slot.as_ref().is_some_and(is_its) {
                *slot = None;
            }
        }
    }

    pub(crate) fn secret(&self, address: Address) -> Option<&Secret> {
        self.secrets[address.index()].as_ref().map(|logical| &logical.secret)
    }

    pub(crate) fn channel(&self, pair: Address) -> Option<&Key128> {
        self.secrets[pair.index()].as_ref()?.channel.as_ref()
    }

    /// Everything it holds.
    #[cfg(not(any(target_os = "none", without_std)))]
    pub(crate) fn all_secrets(&self) -> impl Iterator<Item = (&Secret, Option<&Key128>)> {
        self.secrets.iter().flatten().map(|logical| (&logical.secret, logical.channel.as_ref()))
    }

    pub(crate) fn set_secret(&mut self, address: Address, secret: Secret) {
        self.secrets[address.index()] = Some(LogicalSecret { secret, channel: None });
    }

    /// Forgets the secrets of `result` and of all above it, and gives up their authorised exchanges.
    pub(crate) fn invalidate(&mut self, result: Address) {
        let mut next = Some(result);
        while let Some(address) = next {
            self.forget(address);
            next = self.tree.parent(address);
        }
    }

    // ---- jobs

    /// Puts a job into the queue; false if that is full.
    pub(crate) fn submit(&mut self, owner: Owner, priority: JobPriority, request: Request) -> bool {
        self.csm.submit(Job { owner, priority, request }).is_ok()
    }

    /// Lets every exchange ask for what it needs.
    fn schedule(&mut self) -> Option<Failure> {
        for index in 0..SLOTS {
            let Self { slots, secrets, csm, own, .. } = self;
            let Some(slot) = slots[index].as_mut().filter(|slot| slot.request.is_none()) else { continue };
            let setup = slot.exchange.setup();
            let operand = setup.id.operand(setup.side);
            let secret = secrets[operand.index()].as_ref().filter(|_| operand != *own).map(|logical| &logical.secret);
            match slot.exchange.need(secret) {
                Ok(Need::Job(request)) => {
                    let owner = Owner::Exchange { slot: index as u8, number: slot.number };
                    if csm.submit(Job { owner, priority: JobPriority::Exchange, request }).is_err() {
                        slot.exchange.job_refused();
                    }
                }
                Ok(_) => {}
                Err(reason) => return self.give_up(index, reason),
            }
        }
        None
    }

    /// The next thing to do or tell. A frame to send is written to `frame`.
    pub(crate) fn poll(&mut self, now: LocalTime, frame: &mut [u8]) -> Progress {
        if let Some(job) = self.current.take() {
            let response = self.crypto.process_job(&self.roster, job.request);
            return self.on_response(job.owner, response);
        }
        if let Some(output) = self.base.next(now, frame) {
            return Progress::Output(output);
        }
        if let Some(transmit) = self.outbox.poll(now, self.settings.port, frame) {
            return Progress::Output(Output::Transmit(transmit));
        }
        if !self.is_running {
            return Progress::Idle;
        }
        if let Some(failure) = self.schedule() {
            return Progress::Failed(failure);
        }
        match self.csm.main_function() {
            None => Progress::Idle,
            Some(job) => match job.request.work::<S>() {
                Some(work) => {
                    self.current = Some(job);
                    Progress::Output(Output::Work(work))
                }
                None => {
                    let response = self.crypto.process_job(&self.roster, job.request);
                    self.on_response(job.owner, response)
                }
            },
        }
    }

    fn on_response(&mut self, owner: Owner, response: Response) -> Progress {
        let Owner::Exchange { slot: index, number } = owner else { return Progress::Response(owner, response) };
        let index = usize::from(index);
        let Some(slot) = self.slots[index].as_mut().filter(|slot| slot.number == number) else {
            // The exchange has been given up or begun anew while this was computed.
            return Progress::Response(owner, response);
        };
        if slot.request.is_some() {
            return Progress::Response(owner, response);
        }
        let id = slot.exchange.setup().id;
        match slot.exchange.on_response::<S>(response) {
            Err(reason) => self.give_up(index, reason).map_or(Progress::Again, Progress::Failed),
            Ok(Effect::Nothing) => Progress::Again,
            Ok(Effect::Send(step, message)) => {
                let side = slot.exchange.setup().side;
                if matches!(step, Step::ShareFirst | Step::ShareSecond) && self.tree.is_pair(id.result) {
                    self.note_pair_share(id.result, side, message.as_bytes());
                }
                if self.outbox.push(id.message(step), message, true) {
                    Progress::Again
                } else {
                    self.give_up(index, AbortReason::Overloaded).map_or(Progress::Again, Progress::Failed)
                }
            }
            Ok(Effect::Done) => {
                let epoch = slot.exchange.setup().stamp.epoch;
                let keys = self.slots[index].take().and_then(|slot| slot.exchange.into_keys());
                let Some(keys) = keys else { return Progress::Again };
                let channel = self.tree.is_pair(id.result).then(|| keys.channel.clone());
                self.secrets[id.result.index()] = Some(LogicalSecret { secret: keys.logical.clone(), channel });
                self.tell(EventKind::ExchangeDone, sequence_of(id), i64::from(epoch));
                Progress::Done(id, epoch)
            }
        }
    }

    // ---- the group key

    /// A new key that this node holds, and all others should.
    pub(crate) fn agree(&mut self, secret: Secret, epoch: u32) {
        self.tell(EventKind::KeyAgreed, u64::from(epoch), i64::from(epoch));
        self.candidate = Some(Candidate { secret, epoch });
        self.agreed = self.agreed.max(epoch);
        if self.settings.installation == Installation::Unconfirmed {
            self.install();
        }
    }

    /// Takes the new key into use; the old one is gone.
    pub(crate) fn install(&mut self) {
        let Some(candidate) = self.candidate.take() else { return };
        let epoch = candidate.epoch;
        self.key = Some(GroupKey { key: candidate.secret.traffic_key(), epoch });
        self.tell(EventKind::KeyInstalled, u64::from(epoch), i64::from(epoch));
    }

    /// Gives up the key in use, and one that waits.
    pub(crate) fn withdraw(&mut self) {
        self.candidate = None;
        if let Some(key) = self.key.take() {
            self.tell(EventKind::KeyWithdrawn, u64::from(key.epoch), i64::from(key.epoch));
        }
    }

    /// Gives up the new key; the old one stays.
    pub(crate) fn refuse(&mut self, stage: Stage, peer: Address, reason: AbortReason) {
        self.candidate = None;
        let exchange = ExchangeId { first: self.tree.lead(), second: Address::RESERVED, result: self.tree.group() };
        self.tell_failure(EventKind::KeyRefused, Failure { exchange, stage, peer, reason });
    }

    /// What a member's word that it holds a key is computed over.
    pub(crate) fn ready_text(&self, member: Address, epoch: u32) -> Text {
        signed::ready_text(self.settings.profile, self.ready_identifier(member), epoch)
    }

    pub(crate) fn ready_identifier(&self, member: Address) -> Identifier {
        Identifier { step: Step::Ready, first: member, second: self.tree.lead(), result: self.tree.group() }
    }

    pub(crate) fn commit_identifier(&self) -> Identifier {
        let (first, result) = (self.tree.lead(), self.tree.group());
        Identifier { step: Step::Commit, first, second: Address::RESERVED, result }
    }

    pub(crate) fn start_identifier(&self) -> Identifier {
        Identifier { step: Step::Start, ..self.commit_identifier() }
    }

    pub(crate) fn withdrawal_identifier(&self) -> Identifier {
        Identifier { step: Step::Withdrawal, ..self.commit_identifier() }
    }

    /// Length of a message by its step `[byte]`.
    pub(crate) fn message_len(&self, step: Step) -> usize {
        message_len(step, self.settings.profile, S::SHARE_LEN)
    }

    /// Stops at once and forgets what is under way; keys stay.
    pub(crate) fn stop(&mut self) {
        self.is_running = false;
        self.csm.cancel_all();
        self.current = None;
        self.outbox.clear();
        self.slots = [const { None }; SLOTS];
        self.candidate = None;
    }
}

/// How events name an exchange: the identifier of its request.
pub(crate) fn sequence_of(id: ExchangeId) -> u64 {
    u64::from(id.message(Step::Orchestration).can_id().raw())
}
