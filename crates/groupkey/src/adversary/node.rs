//! A node that does not follow the protocol.

use std::collections::VecDeque;
use std::vec::Vec;

use chronoseal_core::{
    AttackKind, Command, Duration, Event, EventKind, HandleError, Input, LocalTime, Node, NodeBase, Output, StreamId,
    Transmit,
};
use chronoseal_crypto::suite::{SIGNATURE_LEN, Share, Suite};
use chronoseal_wire::can::CanFrame;

use crate::frame_count::{TAG_LEN, confirmation_len, frames_of, message_len};
use crate::identifier::{Address, ExchangeId, Identifier, Step};
use crate::membership::MEMBERSHIP_LEN;
use crate::profile::{Profile, Transport};
use crate::settings::{Settings, time_ms};
use crate::text::{Stamp, Text};
use crate::transport::{Outbox, protocol_frame};

/// What an adversary tries. On a bus it hears everything and can say anything, but cannot take back what others said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attack {
    /// Records the first message with this step and sends it again so much later.
    Replay {
        /// Of the message.
        step: Step,
        /// Later than its first frame.
        after: Duration,
    },
    /// Sends the orchestrator's requests again with first and second operand exchanged.
    SwappedAddresses,
    /// Answers each first operand's share with that same share in the second operand's name.
    ReflectedShare,
    /// Answers each request with this share in the second operand's name: one of small order, or no point at all.
    ForgedShare(Share),
    /// Answers each second operand's share with half a confirmation in its name.
    TruncatedConfirmation,
    /// Answers each second operand's share with an invented confirmation in its name.
    ForgedConfirmation,
    /// Requests an exchange in the orchestrator's name with an invented signature, at its start.
    ImpersonatedOrchestrator(ExchangeId),
    /// Says in the orchestrator's name that all hold the key, as soon as one member says that it does.
    ForgedCommit,
    /// Says in a member's name that it holds the key, when the exchange of the root is confirmed.
    ForgedReady(Address),
}

/// A node that makes one [`Attack`], again and again up to a number of attempts.
pub struct Adversary {
    base: NodeBase<VecDeque<Event>>,
    settings: Settings,
    attack: Attack,
    share_len: usize,
    attempts_left: u32,
    attempts: u64,
    outbox: Outbox,
    /// Frames recorded for a replay, when to send them, and how many have been told.
    recorded: Vec<CanFrame>,
    replay_at: Option<LocalTime>,
    is_running: bool,
}

impl Adversary {
    /// An adversary on the bus of nodes with these settings.
    pub fn new<S: Suite>(settings: Settings, attack: Attack, attempts_max: u32) -> Self {
        Self {
            base: NodeBase::new(settings.port.0..settings.port.0.saturating_add(1)),
            settings,
            attack,
            share_len: S::SHARE_LEN,
            attempts_left: attempts_max,
            attempts: 0,
            outbox: Outbox::new(settings.transport),
            recorded: Vec::new(),
            replay_at: None,
            is_running: false,
        }
    }

    fn say(&mut self, kind: AttackKind, identifier: Identifier, message: &[u8]) {
        if self.attempts_left == 0 || !self.outbox.push(identifier, Text::of(&[message]), false) {
            return;
        }
        self.tell(kind);
    }

    fn tell(&mut self, kind: AttackKind) {
        self.attempts_left -= 1;
        self.base.push(Event::of(EventKind::Attacked(kind), StreamId::NONE, self.attempts));
        self.attempts += 1;
    }

    /// As the orchestrator's message would look, but for the signature. A request says that everybody is in the group.
    fn forged(&self, now: LocalTime, step: Step) -> Vec<u8> {
        let stamp = Stamp { epoch: self.settings.granule_of(now), time_ms: time_ms(now) };
        let mut message = Vec::new();
        if self.settings.profile == Profile::Hardened {
            message.extend(stamp.to_bytes());
            if step != Step::Commit {
                message.extend([0xff; MEMBERSHIP_LEN]);
            }
        }
        message.extend([0x5a; SIGNATURE_LEN]);
        message
    }

    fn on_frame(&mut self, now: LocalTime, bytes: &[u8]) {
        let Some((identifier, data)) = protocol_frame(bytes, self.settings.transport) else { return };
        let data = data.to_vec();
        let id = identifier.exchange();
        match (self.attack, identifier.step) {
            (Attack::Replay { step, after }, heard) if step == heard => self.record(now, after, step, bytes),
            (Attack::SwappedAddresses, Step::Orchestration) => {
                let swapped = Identifier { first: id.second, second: id.first, ..identifier };
                self.say(AttackKind::Spoof, swapped, &data);
            }
            (Attack::ReflectedShare, Step::ShareFirst) => {
                self.say(AttackKind::Spoof, id.message(Step::ShareSecond), &data);
            }
            (Attack::ForgedShare(share), Step::Orchestration) => {
                self.say(AttackKind::Spoof, id.message(Step::ShareSecond), share.as_bytes());
            }
            (Attack::TruncatedConfirmation, Step::ShareSecond) => {
                // Half of it on FD; on classical CAN its first frame, cut.
                let len = if self.settings.transport == Transport::Fd { 32 } else { 4 };
                self.say(AttackKind::Spoof, id.message(Step::ConfirmationSecond), &[0x5a; 32][..len]);
            }
            (Attack::ForgedConfirmation, Step::ShareSecond) => {
                let len = confirmation_len(self.settings.profile);
                self.say(AttackKind::Spoof, id.message(Step::ConfirmationSecond), &[0x5a; 96][..len]);
            }
            (Attack::ForgedCommit, Step::Ready) => {
                let commit = Identifier {
                    step: Step::Commit,
                    first: identifier.second,
                    second: Address::RESERVED,
                    result: identifier.result,
                };
                let message = self.forged(now, Step::Commit);
                self.say(AttackKind::Spoof, commit, &message);
            }
            (Attack::ForgedReady(member), Step::Ready) if identifier.first != member => {
                let ready = Identifier { first: member, ..identifier };
                self.say(AttackKind::Spoof, ready, &[0x5a; TAG_LEN]);
            }
            _ => {}
        }
    }

    /// Keeps a message's frames.
    fn record(&mut self, now: LocalTime, after: Duration, step: Step, bytes: &[u8]) {
        let Ok(frame) = CanFrame::parse(bytes) else { return };
        let is_next = self.recorded.first().is_none_or(|first| first.id() == frame.id());
        let len = message_len(step, self.settings.profile, self.share_len);
        let is_whole = self.recorded.len() >= frames_of(len, self.settings.transport) as usize;
        if is_next && !is_whole {
            self.recorded.push(frame);
            self.replay_at = self.replay_at.or(Some(now + after));
        }
    }

    fn replay_due(&mut self, now: LocalTime) {
        if self.replay_at.is_none_or(|at| at > now) {
            return;
        }
        self.replay_at = None;
        let mut message = Vec::new();
        self.recorded.iter().for_each(|frame| message.extend_from_slice(frame.data()));
        let identifier = self.recorded.first().and_then(|frame| match frame.id() {
            chronoseal_wire::can::CanId::Extended(id) => Identifier::from_can_id(id),
            chronoseal_wire::can::CanId::Standard(_) => None,
        });
        if let Some(identifier) = identifier {
            self.say(AttackKind::Replay, identifier, &message);
        }
    }
}

impl Node for Adversary {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.base.admit(now, &input)?;
        match input {
            Input::Command(Command::Start) => {
                self.is_running = true;
                if let Attack::ImpersonatedOrchestrator(id) = self.attack {
                    let message = self.forged(now, Step::Orchestration);
                    self.say(AttackKind::Spoof, id.message(Step::Orchestration), &message);
                }
            }
            Input::Command(Command::Stop) => {
                (self.is_running, self.replay_at) = (false, None);
                self.outbox.clear();
            }
            Input::Frame { bytes, .. } if self.is_running => self.on_frame(now, bytes),
            Input::Timeout if self.is_running => self.replay_due(now),
            _ => {}
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        if let Some(output) = self.base.next(now, frame) {
            return output;
        }
        match self.outbox.poll(now, self.settings.port, frame) {
            Some(transmit) => Output::Transmit(Transmit { token: None, ..transmit }),
            None => Output::Timeout(self.replay_at),
        }
    }
}
