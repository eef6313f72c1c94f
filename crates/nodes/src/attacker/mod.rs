//! An attacker: forges, changes, repeats, delays and withholds frames of one or more streams, or sends without a pause.
//!
//! It knows the schedule and true time, but no key. On a port of its own it hears what a mirror port of the switch
//! would show it; on a station's link it holds every frame in its hands before the switch does. Where stations and switches make the
//! time of slots themselves, it learns that from the messages that come to its port.

mod by_clock;
mod clocks;
mod datagrams;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use chronoseal_core::random::{self, ChaCha8Rng, Purpose, Rng};
use chronoseal_core::{
    AttackKind, Command, Duration, Event, EventKind, HandleError, Input, LocalTime, Node, NodeBase, NodeId, Output,
    PortId, Priority, Queued, StreamId, TxToken,
};
use chronoseal_wire::ethernet::{
    HEADER_LEN, Header, MacAddress, REPLICATED_HEADER_LEN, TAGGED_HEADER_LEN, TypeOrLength, VlanTag,
};
use chronoseal_wire::r_tag::RTag;
use chronoseal_wire::test_bed_header::TestBedHeader;
use chronoseal_wire::{ipv4, udp};

use self::by_clock::{Followed, Slot};
use self::clocks::ClockCampaign;
pub use self::clocks::{ClockAttack, ClockAttackKind, ForgedGrandmaster, ForgedMaster};
use self::datagrams::Beginnings;
use crate::clock::ClusterConfig;
use crate::end_system::DatagramConfig;
use crate::time_aware::TimeAwareConfig;

/// What an attacker is built from.
#[derive(Clone, Debug)]
pub struct AttackerConfig {
    /// Itself.
    pub node: NodeId,
    /// True if it sits on a station's link: frames come in at port 0 and go on at port 1. Else it has port 0 alone.
    pub on_link: bool,
    /// What it does to streams.
    pub attacks: Vec<Attack>,
    /// What it does to clocks, and to all frames alike.
    pub on_clocks: Vec<ClockAttack>,
    /// The clocks by which slots go, if that is not true time; only on a port of its own.
    pub follows: Option<FollowedConfig>,
    /// Seeds what it makes up.
    pub seed: u64,
}

/// The clocks of a segment that an attacker follows, to know when slots are.
#[derive(Clone, Debug)]
pub struct FollowedConfig {
    /// Its part among them.
    pub part: FollowedPart,
    /// A clock that moves by more shows another time than before.
    pub precision: Duration,
}

/// The part of an attacker among the clocks of its segment.
#[derive(Clone, Debug)]
pub enum FollowedPart {
    /// A client of a cluster of SAE AS6802.
    Client(Box<ClusterConfig>),
    /// An end station of IEEE 802.1AS.
    EndStation(TimeAwareConfig),
}

/// One kind of attack on one stream.
#[derive(Clone, Debug)]
pub struct Attack {
    /// What.
    pub kind: AttackKind,
    /// On which stream.
    pub stream: StreamId,
    /// Where its frames go.
    pub destination: MacAddress,
    /// Who it pretends to be.
    pub source: MacAddress,
    /// Frames as the stream's own, protection included `[byte]`.
    pub frame_len: usize,
    /// Their VLAN tag.
    pub tag: Option<VlanTag>,
    /// True if a redundancy tag follows it, whose number is guessed as all else is.
    pub has_r_tag: bool,
    /// The type that the stream's frames carry; `None` if it is their length.
    pub ether_type: Option<u16>,
    /// How messages of the stream are cut that are longer than a frame: what it makes up looks like the first frame of one.
    pub datagram: Option<DatagramConfig>,
    /// Where in a frame, of a message in several in its first one, the value begins that a controller acts on `[byte]`.
    pub value_at: usize,
    /// Start of the stream's first slot in the cluster cycle.
    pub slot_start: Duration,
    /// Distance of two slots.
    pub period: Duration,
    /// The first attempt, not before.
    pub first: Duration,
    /// Distance of two attempts.
    pub every: Duration,
    /// Attempts in all.
    pub count: u32,
    /// On its own port: where in the slot its frame leaves.
    pub at_slot_offset: Duration,
    /// True if it makes up frames at the times of its attempts, wherever it sits: of a stream without slots, of which a link
    /// may be made to carry more than its sender has.
    pub is_timed: bool,
    /// How much later it passes frames on that it delays.
    pub delay: Duration,
}

impl Attack {
    /// When the first slot of the stream begins from a time of its segment on.
    fn slot_from(&self, earliest: Duration) -> Duration {
        let slot = -(-(earliest - self.slot_start)).div_floor(self.period);
        self.slot_start + self.period * slot
    }
}

/// When the attempt of a number is due; `None` if there are no more.
fn attempt_at(first: Duration, every: Duration, number: u32, count: u32) -> Option<LocalTime> {
    (number < count).then(|| LocalTime::ZERO + first + every.saturating_mul(i64::from(number)))
}

/// State of one attack.
struct Campaign {
    attack: Attack,
    attempts: u32,
    /// The first frame heard, for replaying.
    recorded: Option<Vec<u8>>,
    /// The slot of the last attempt, by the clocks that are followed.
    taken: Option<Slot>,
    beginnings: Beginnings,
}

impl Campaign {
    /// When the next attempt may be made; `None` when all are.
    fn next_at(&self) -> Option<LocalTime> {
        let Attack { first, every, count, .. } = self.attack;
        attempt_at(first, every, self.attempts, count)
    }

    /// The same, moved to the stream's next slot if it has slots, for an attacker that has to keep time by itself.
    fn next_slot_at(&self, followed: Option<&Followed>) -> Option<LocalTime> {
        let due = self.next_at()?;
        match followed {
            _ if self.attack.is_timed => Some(due),
            Some(followed) => Some(followed.leaves_at(&self.attack, followed.slot(self, due)?)),
            None => Some(LocalTime::ZERO + self.attack.slot_from(due.since_zero()) + self.attack.at_slot_offset),
        }
    }

    fn is_due(&self, now: LocalTime) -> bool {
        self.next_at().is_some_and(|at| at <= now)
    }

    /// True if it makes up frames by itself, and not as one comes by.
    fn keeps_time(&self, on_link: bool) -> bool {
        !on_link || self.attack.is_timed && matches!(self.attack.kind, AttackKind::Spoof | AttackKind::Babble)
    }
}

/// The attacker of [`AttackerConfig`]. Its oscillator shows true time: the strongest attacker needs no beacon.
pub struct Attacker {
    config: AttackerConfig,
    campaigns: Vec<Campaign>,
    on_clocks: Vec<ClockCampaign>,
    followed: Option<Followed>,
    base: NodeBase<VecDeque<Queued<Vec<u8>>>>,
    /// Frames that it delays, by when they go on and in what order they came.
    held: BTreeMap<(LocalTime, u64), Vec<u8>>,
    came: u64,
    rng: ChaCha8Rng,
    running: bool,
}

impl Attacker {
    /// An attacker that waits for [`Command::Start`].
    pub fn new(config: AttackerConfig) -> Self {
        let campaigns = config
            .attacks
            .iter()
            .map(|attack| Campaign {
                attempts: 0,
                recorded: None,
                taken: None,
                beginnings: Beginnings::of(attack),
                attack: attack.clone(),
            })
            .collect();
        let on_clocks = config.on_clocks.iter().map(ClockCampaign::new).collect();
        let rng = random::stream(config.seed, Purpose::Attack, u64::from(config.node.0));
        let followed = config.follows.as_ref().map(|follows| Followed::new(config.node, follows));
        let base = NodeBase::new(0..1);
        let gives_tokens = followed.as_ref().is_some_and(Followed::gives_tokens);
        let base = if gives_tokens { base.giving_tokens() } else { base };
        Self { base, held: BTreeMap::new(), came: 0, config, campaigns, on_clocks, followed, rng, running: false }
    }

    /// A frame goes on at the other end of a link, or leaves at the one port there is.
    fn send(&mut self, frame: Vec<u8>) {
        let port = PortId(u16::from(self.config.on_link));
        let priority = if clocks::is_control(&frame) { Priority::PROTOCOL_CONTROL } else { Priority::TIME_TRIGGERED };
        self.base.push(Queued::Send { port, priority, frame });
    }

    /// Keeps a frame for a time.
    fn hold(&mut self, until: LocalTime, frame: Vec<u8>) {
        self.held.insert((until, self.came), frame);
        self.came += 1;
    }

    fn report(&mut self, kind: AttackKind, stream: StreamId, attempt: u64) {
        self.base.push(Queued::Event(Event::of(EventKind::Attacked(kind), stream, attempt)));
    }

    /// A frame came along the wire: lets it pass, changes it, drops it, or puts another before it.
    fn intercept(&mut self, now: LocalTime, bytes: &[u8]) {
        let mut passing = Some(bytes.to_vec());
        for index in 0..self.campaigns.len() {
            let campaign = &mut self.campaigns[index];
            if bytes.get(..6) != Some(&campaign.attack.destination.0[..]) {
                continue;
            }
            if !campaign.beginnings.takes(bytes) {
                continue;
            }
            let is_first_heard = campaign.recorded.is_none();
            campaign.recorded.get_or_insert_with(|| bytes.to_vec());
            if !self.running || campaign.keeps_time(true) || !campaign.is_due(now) {
                continue;
            }
            let Attack { kind, stream, delay, .. } = campaign.attack;
            let attempt = u64::from(campaign.attempts);
            let (mut forged, mut held) = (None, None);
            match kind {
                AttackKind::Spoof => forged = Some(forge(&campaign.attack, &mut self.rng)),
                AttackKind::Tamper => tamper(passing.as_deref_mut().unwrap_or_default(), &campaign.attack),
                AttackKind::Replay if is_first_heard => continue,
                AttackKind::Replay => passing = campaign.recorded.clone(),
                AttackKind::Withhold => passing = None,
                AttackKind::Delay => {
                    let Some(frame) = passing.take() else { continue };
                    held = Some(frame);
                }
                _ => continue,
            }
            campaign.attempts += 1;
            self.report(kind, stream, attempt);
            held.into_iter().for_each(|frame| self.hold(now + delay, frame));
            forged.into_iter().for_each(|frame| self.send(frame));
        }
        let passing = passing.and_then(|frame| self.attack_clocks(now, frame));
        passing.into_iter().for_each(|frame| self.send(frame));
    }

    /// Lets go what it has kept long enough.
    fn let_go(&mut self, now: LocalTime) {
        while let Some(entry) = self.held.first_entry().filter(|entry| entry.key().0 <= now) {
            let frame = entry.remove();
            self.send(frame);
        }
    }

    fn obey(&mut self, now: LocalTime, command: Command) {
        self.running = command == Command::Start;
        if self.running {
            self.followed.iter_mut().for_each(|followed| followed.start(now));
        }
    }

    fn departed(&mut self, now: LocalTime, token: &TxToken, sent: Option<LocalTime>) -> Result<(), HandleError> {
        self.followed.as_mut().map_or(Ok(()), |followed| followed.departed(now, token, sent))
    }

    /// A copy came from the mirror port: remembered, nothing more.
    fn overhear(&mut self, bytes: &[u8]) {
        for campaign in &mut self.campaigns {
            if bytes.get(..6) == Some(&campaign.attack.destination.0[..]) && campaign.beginnings.takes(bytes) {
                campaign.recorded.get_or_insert_with(|| bytes.to_vec());
            }
        }
    }

    /// Makes the attempts that are due and wait for no frame to come by.
    fn attempt_due(&mut self, now: LocalTime) {
        if !self.running {
            return;
        }
        let on_link = self.config.on_link;
        for index in 0..self.campaigns.len() {
            let campaign = &mut self.campaigns[index];
            let followed = self.followed.as_ref();
            if !campaign.keeps_time(on_link) || campaign.next_slot_at(followed).is_none_or(|at| at > now) {
                continue;
            }
            campaign.taken = campaign.next_at().and_then(|due| followed?.slot(campaign, due));
            let attempt = u64::from(campaign.attempts);
            campaign.attempts += 1;
            let attack = &campaign.attack;
            let (kind, stream) = (attack.kind, attack.stream);
            let frame = match attack.kind {
                AttackKind::Replay => campaign.recorded.clone().filter(|_| campaign.beginnings.is_first_over()),
                // Nothing passes an own port, so there is nothing to tamper with or to withhold; it can only forge.
                _ => Some(forge(attack, &mut self.rng)),
            };
            if let Some(frame) = frame {
                self.report(kind, stream, attempt);
                self.send(frame);
            }
        }
        self.tell_time(now);
    }

    fn next_wake(&self) -> Option<LocalTime> {
        let keeps_time = |campaign: &&Campaign| self.running && campaign.keeps_time(self.config.on_link);
        let next_slot_at = |campaign: &Campaign| campaign.next_slot_at(self.followed.as_ref());
        let attempts = self.campaigns.iter().filter(keeps_time).filter_map(next_slot_at);
        let on_clocks = self.on_clocks.iter().filter(|_| self.running).filter_map(ClockCampaign::wakes_at);
        let held = self.held.keys().map(|(at, _)| *at).take(1);
        let followed = self.followed.as_ref().filter(|_| self.running).and_then(Followed::wake_at);
        attempts.chain(on_clocks).chain(held).chain(followed).min()
    }
}

/// A frame as the stream's sender would make it, with a guessed payload and tag.
fn forge(attack: &Attack, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut frame = vec![0; attack.frame_len];
    let header_len = match attack.tag {
        None => HEADER_LEN,
        Some(_) if attack.has_r_tag => REPLICATED_HEADER_LEN,
        Some(_) => TAGGED_HEADER_LEN,
    };
    rng.fill_bytes(&mut frame[header_len..]);
    let length = TypeOrLength::Length((attack.frame_len - header_len) as u16);
    let type_or_length = attack.ether_type.map_or(length, TypeOrLength::EtherType);
    let header = Header { destination: attack.destination, source: attack.source, type_or_length };
    match attack.tag {
        Some(tag) if attack.has_r_tag => {
            header.emit_replicated(tag, RTag { sequence: rng.next_u32() as u16 }, &mut frame);
        }
        Some(tag) => header.emit_tagged(tag, &mut frame),
        None => header.emit(&mut frame),
    }
    let header = TestBedHeader { stream: attack.stream, sequence: rng.next_u32() };
    let Some(DatagramConfig { ends, reassembly, .. }) = attack.datagram else {
        header.emit(&mut frame[header_len..]);
        return frame;
    };
    let identification = rng.next_u32() as u16;
    let packet = ipv4::Header {
        source: ends.source,
        destination: ends.destination,
        identification,
        protocol: ipv4::PROTOCOL_UDP,
    };
    packet.emit((0, reassembly.cut.fragment_len), true, &mut frame[header_len..]);
    header.emit(&mut frame[header_len + ipv4::HEADER_LEN + udp::HEADER_LEN..]);
    frame
}

/// Inverts the first byte of the value. Numbers before it stay, so that receivers take the frame for the one they wait for.
fn tamper(frame: &mut [u8], attack: &Attack) {
    if let Some(byte) = frame.get_mut(attack.value_at) {
        *byte = !*byte;
        datagrams::mend_checksum(frame, attack);
    }
}

impl Node for Attacker {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.base.admit(now, &input)?;
        self.let_go(now);
        match input {
            Input::Frame { bytes, .. } if self.config.on_link => self.intercept(now, bytes),
            Input::Frame { port, rx_at, bytes } => {
                self.overhear(bytes);
                self.followed.iter_mut().for_each(|followed| followed.receive(now, port, rx_at, bytes));
            }
            Input::Command(command) => self.obey(now, command),
            Input::Transmitted { token, tx_at } => self.departed(now, &token, Some(tx_at))?,
            Input::Dropped { token } => self.departed(now, &token, None)?,
            _ => {}
        }
        self.attempt_due(now);
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        let next = self.base.next(now, frame);
        let keeps_time = self.followed.as_mut().filter(|_| self.running);
        let next = next.or_else(|| keeps_time?.next_output(now, frame));
        next.unwrap_or_else(|| Output::Timeout(self.next_wake()))
    }
}
