//! An attacker: forges, changes, repeats, delays and withholds frames of one or more streams, or sends without a pause.
//!
//! It knows the schedule and true time, but no key. On a port of its own it hears what a mirror port of the switch
//! would show it; on a station's link it holds every frame in its hands before the switch does.

use std::collections::{BTreeMap, VecDeque};

use chronoseal_core::random::{self, ChaCha8Rng, Purpose, Rng};
use chronoseal_core::{
    AttackKind, Command, Duration, Event, EventKind, HandleError, Input, LocalTime, Node, NodeBase, NodeId, Output,
    PortId, Priority, Queued, StreamId,
};
use chronoseal_wire::ethernet::{
    HEADER_LEN, Header, MacAddress, REPLICATED_HEADER_LEN, TAGGED_HEADER_LEN, TypeOrLength, VlanTag,
};
use chronoseal_wire::r_tag::RTag;
use chronoseal_wire::test_bed_header::TestBedHeader;

/// What an attacker is built from.
#[derive(Clone, Debug)]
pub struct AttackerConfig {
    /// Itself.
    pub node: NodeId,
    /// True if it sits on a station's link: frames come in at port 0 and go on at port 1. Else it has port 0 alone.
    pub on_link: bool,
    /// What it does.
    pub attacks: Vec<Attack>,
    /// Seeds what it makes up.
    pub seed: u64,
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
    /// Where in a frame the value begins that a controller acts on `[byte]`.
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

/// State of one attack.
struct Campaign {
    attack: Attack,
    attempts: u32,
    /// The first frame heard, for replaying.
    recorded: Option<Vec<u8>>,
}

impl Campaign {
    /// When the next attempt may be made; `None` when all are.
    fn next_at(&self) -> Option<LocalTime> {
        let attack = &self.attack;
        (self.attempts < attack.count)
            .then(|| LocalTime::ZERO + attack.first + attack.every.saturating_mul(i64::from(self.attempts)))
    }

    /// The same, moved to the stream's next slot if it has slots, for an attacker that has to keep time by itself.
    fn next_slot_at(&self) -> Option<LocalTime> {
        let attack = &self.attack;
        if attack.is_timed {
            return self.next_at();
        }
        let earliest = self.next_at()?.since_zero() - attack.slot_start;
        let slot = -(-earliest).div_floor(attack.period);
        Some(LocalTime::ZERO + attack.slot_start + attack.period * slot + attack.at_slot_offset)
    }

    fn is_due(&self, now: LocalTime) -> bool {
        self.next_at().is_some_and(|at| at <= now)
    }

    /// True if it makes up frames by itself, and not as one comes by.
    fn keeps_time(&self, on_link: bool) -> bool {
        !on_link || self.attack.is_timed && matches!(self.attack.kind, AttackKind::Spoof | AttackKind::Babble)
    }
}

/// The attacker of [`AttackerConfig`]. Its clock is true time: the strongest attacker needs no beacon.
pub struct Attacker {
    config: AttackerConfig,
    campaigns: Vec<Campaign>,
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
            .map(|attack| Campaign { attack: attack.clone(), attempts: 0, recorded: None })
            .collect();
        let rng = random::stream(config.seed, Purpose::Attack, u64::from(config.node.0));
        Self { base: NodeBase::new(0..1), held: BTreeMap::new(), came: 0, config, campaigns, rng, running: false }
    }

    /// A frame goes on at the other end of a link, or leaves at the one port there is.
    fn send(&mut self, frame: Vec<u8>) {
        let port = PortId(u16::from(self.config.on_link));
        self.base.push(Queued::Send { port, priority: Priority::TIME_TRIGGERED, frame });
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
            let is_first_heard = campaign.recorded.is_none();
            campaign.recorded.get_or_insert_with(|| bytes.to_vec());
            if !self.running || campaign.keeps_time(true) || !campaign.is_due(now) {
                continue;
            }
            let Attack { kind, stream, delay, .. } = campaign.attack;
            let attempt = u64::from(campaign.attempts);
            let mut forged = None;
            match kind {
                AttackKind::Spoof => forged = Some(forge(&campaign.attack, &mut self.rng)),
                AttackKind::Tamper => tamper(passing.as_deref_mut().unwrap_or_default(), campaign.attack.value_at),
                AttackKind::Replay if is_first_heard => continue,
                AttackKind::Replay => passing = campaign.recorded.clone(),
                AttackKind::Withhold => passing = None,
                AttackKind::Delay => {
                    let Some(frame) = passing.take() else { continue };
                    self.held.insert((now + delay, self.came), frame);
                    self.came += 1;
                }
                _ => continue,
            }
            campaign.attempts += 1;
            self.report(kind, stream, attempt);
            forged.into_iter().for_each(|frame| self.send(frame));
        }
        passing.into_iter().for_each(|frame| self.send(frame));
    }

    /// Lets go what it has kept long enough.
    fn let_go(&mut self, now: LocalTime) {
        while let Some(entry) = self.held.first_entry().filter(|entry| entry.key().0 <= now) {
            let frame = entry.remove();
            self.send(frame);
        }
    }

    /// A copy came from the mirror port: remembered, nothing more.
    fn overhear(&mut self, bytes: &[u8]) {
        for campaign in &mut self.campaigns {
            if bytes.get(..6) == Some(&campaign.attack.destination.0[..]) {
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
            if !campaign.keeps_time(on_link) || campaign.next_slot_at().is_none_or(|at| at > now) {
                continue;
            }
            let attempt = u64::from(campaign.attempts);
            campaign.attempts += 1;
            let attack = &campaign.attack;
            let (kind, stream) = (attack.kind, attack.stream);
            let frame = match attack.kind {
                AttackKind::Replay => campaign.recorded.clone(),
                // Nothing passes an own port, so there is nothing to tamper with or to withhold; it can only forge.
                _ => Some(forge(attack, &mut self.rng)),
            };
            if let Some(frame) = frame {
                self.report(kind, stream, attempt);
                self.send(frame);
            }
        }
    }

    fn next_wake(&self) -> Option<LocalTime> {
        let keeps_time = |campaign: &&Campaign| self.running && campaign.keeps_time(self.config.on_link);
        let attempts = self.campaigns.iter().filter(keeps_time).filter_map(Campaign::next_slot_at);
        attempts.chain(self.held.keys().map(|(at, _)| *at).take(1)).min()
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
    TestBedHeader { stream: attack.stream, sequence: rng.next_u32() }.emit(&mut frame[header_len..]);
    frame
}

/// Inverts the first byte of the value. Numbers before it stay, so that receivers take the frame for the one they wait for.
fn tamper(frame: &mut [u8], value_at: usize) {
    if let Some(byte) = frame.get_mut(value_at) {
        *byte = !*byte;
    }
}

impl Node for Attacker {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.base.admit(now, &input)?;
        self.let_go(now);
        match input {
            Input::Frame { bytes, .. } if self.config.on_link => self.intercept(now, bytes),
            Input::Frame { bytes, .. } => self.overhear(bytes),
            Input::Command(command) => self.running = command == Command::Start,
            _ => {}
        }
        self.attempt_due(now);
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        self.base.next(now, frame).unwrap_or_else(|| Output::Timeout(self.next_wake()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoseal_wire::virtual_link;

    fn attack(kind: AttackKind) -> Attack {
        Attack {
            kind,
            stream: StreamId(0),
            destination: virtual_link::critical_traffic_address([3, 4, 5, 6], 1),
            source: virtual_link::station_address(NodeId(0)),
            frame_len: 76,
            tag: None,
            has_r_tag: false,
            ether_type: None,
            value_at: HEADER_LEN + TestBedHeader::LEN,
            slot_start: Duration::from_us(100),
            period: Duration::from_ms(10),
            first: Duration::from_ms(15),
            every: Duration::from_ms(10),
            count: 2,
            at_slot_offset: Duration::ZERO,
            is_timed: false,
            delay: Duration::from_ms(3),
        }
    }

    fn attacker(kind: AttackKind, on_link: bool) -> Attacker {
        let mut node = Attacker::new(AttackerConfig { node: NodeId(9), on_link, attacks: vec![attack(kind)], seed: 1 });
        node.handle_input(LocalTime::ZERO, Input::Command(Command::Start)).unwrap();
        node
    }

    fn genuine(payload: u8) -> Vec<u8> {
        let mut frame = forge(&attack(AttackKind::Spoof), &mut random::stream(2, Purpose::Payload, 0));
        frame[HEADER_LEN + TestBedHeader::LEN..].fill(payload);
        frame
    }

    fn pass(node: &mut Attacker, at: LocalTime, bytes: &[u8]) -> (Vec<EventKind>, Vec<Vec<u8>>) {
        node.handle_input(at, Input::Frame { port: PortId(0), rx_at: at, bytes }).unwrap();
        drain(node, at)
    }

    fn drain(node: &mut Attacker, at: LocalTime) -> (Vec<EventKind>, Vec<Vec<u8>>) {
        let (mut events, mut sent, mut buffer) = (Vec::new(), Vec::new(), [0; 1536]);
        loop {
            match node.poll_output(at, &mut buffer) {
                Output::Event(event) => events.push(event.kind),
                Output::Transmit(transmit) => sent.push(buffer[..transmit.len].to_vec()),
                _ => return (events, sent),
            }
        }
    }

    #[test]
    fn lets_frames_pass_until_its_first_attempt_is_due_then_changes_one_byte() {
        let mut node = attacker(AttackKind::Tamper, true);
        let at = |ms| LocalTime::ZERO + Duration::from_ms(ms);
        assert_eq!(pass(&mut node, at(5), &genuine(7)), (vec![], vec![genuine(7)]));
        let (events, sent) = pass(&mut node, at(15), &genuine(7));
        assert_eq!(events, [EventKind::Attacked(AttackKind::Tamper)]);
        let changed = sent[0].iter().zip(genuine(7)).filter(|(a, b)| **a != *b).count();
        assert_eq!((sent.len(), changed), (1, 1));
        pass(&mut node, at(25), &genuine(7));
        assert_eq!(pass(&mut node, at(35), &genuine(7)).0, [], "its attempts are used up");
    }

    #[test]
    fn what_it_changes_and_makes_up_looks_like_the_streams_own_frames() {
        let relayed = HEADER_LEN + TestBedHeader::LEN + 4;
        let kinds = [AttackKind::Tamper, AttackKind::Spoof];
        let [changed, made_up] = kinds.map(|kind| {
            let attacks = vec![Attack { value_at: relayed, ether_type: Some(0x88b5), ..attack(kind) }];
            let mut node = Attacker::new(AttackerConfig { node: NodeId(9), on_link: true, attacks, seed: 1 });
            node.handle_input(LocalTime::ZERO, Input::Command(Command::Start)).unwrap();
            pass(&mut node, LocalTime::ZERO + Duration::from_ms(15), &genuine(7)).1.remove(0)
        });
        let differs: Vec<usize> = (0..changed.len()).filter(|at| changed[*at] != genuine(7)[*at]).collect();
        assert_eq!(differs, [relayed], "the number of the PDU stays");
        assert_eq!(made_up[12..14], [0x88, 0xb5]);
    }

    #[test]
    fn replays_the_first_frame_it_heard_in_place_of_a_later_one() {
        let mut node = attacker(AttackKind::Replay, true);
        let at = |ms| LocalTime::ZERO + Duration::from_ms(ms);
        pass(&mut node, at(5), &genuine(1));
        let (events, sent) = pass(&mut node, at(15), &genuine(2));
        assert_eq!((events, sent), (vec![EventKind::Attacked(AttackKind::Replay)], vec![genuine(1)]));
    }

    #[test]
    fn withholds_what_comes_by_when_an_attempt_is_due_and_nothing_else() {
        let mut node = attacker(AttackKind::Withhold, true);
        let at = |ms| LocalTime::ZERO + Duration::from_ms(ms);
        assert_eq!(pass(&mut node, at(5), &genuine(1)), (vec![], vec![genuine(1)]), "no attempt is due");
        let mut other = genuine(1);
        other[5] ^= 1;
        assert_eq!(pass(&mut node, at(15), &other), (vec![], vec![other.clone()]), "another stream's frame");
        for ms in [15, 25] {
            let withheld = pass(&mut node, at(ms), &genuine(2));
            assert_eq!(withheld, (vec![EventKind::Attacked(AttackKind::Withhold)], vec![]));
        }
        assert_eq!(pass(&mut node, at(35), &genuine(3)), (vec![], vec![genuine(3)]), "its attempts are used up");
    }

    #[test]
    fn what_it_delays_goes_on_unchanged_when_its_time_has_come_and_others_pass_meanwhile() {
        let mut node = attacker(AttackKind::Delay, true);
        let at = |ms| LocalTime::ZERO + Duration::from_ms(ms);
        assert_eq!(pass(&mut node, at(5), &genuine(1)), (vec![], vec![genuine(1)]), "no attempt is due");
        let delayed = vec![EventKind::Attacked(AttackKind::Delay)];
        assert_eq!(pass(&mut node, at(15), &genuine(2)), (delayed.clone(), vec![]));
        assert_eq!(pass(&mut node, at(16), &genuine(3)), (vec![], vec![genuine(3)]), "the next attempt is due later");
        let Output::Timeout(Some(wake)) = node.poll_output(at(16), &mut [0; 1536]) else { panic!() };
        assert_eq!(wake, at(18));
        node.handle_input(wake, Input::Timeout).unwrap();
        assert_eq!(drain(&mut node, wake), (vec![], vec![genuine(2)]));
        // What is held when the run ends for it still goes on.
        assert_eq!(pass(&mut node, at(25), &genuine(4)), (delayed, vec![]));
        node.handle_input(at(26), Input::Command(Command::Stop)).unwrap();
        node.handle_input(at(28), Input::Timeout).unwrap();
        assert_eq!(drain(&mut node, at(28)).1, [genuine(4)]);
    }

    #[test]
    fn a_babbling_station_sends_at_its_times_whether_frames_come_by_or_not_and_lets_these_pass() {
        let attacks = vec![Attack { is_timed: true, every: Duration::from_ms(1), ..attack(AttackKind::Babble) }];
        let mut node = Attacker::new(AttackerConfig { node: NodeId(9), on_link: true, attacks, seed: 1 });
        let at = |ms| LocalTime::ZERO + Duration::from_ms(ms);
        node.handle_input(LocalTime::ZERO, Input::Command(Command::Start)).unwrap();
        let Output::Timeout(Some(wake)) = node.poll_output(LocalTime::ZERO, &mut [0; 1536]) else { panic!() };
        assert_eq!(wake, at(15));
        node.handle_input(wake, Input::Timeout).unwrap();
        let (events, sent) = drain(&mut node, wake);
        assert_eq!((events, sent.len()), (vec![EventKind::Attacked(AttackKind::Babble)], 1));
        let (events, sent) = pass(&mut node, at(16), &genuine(1));
        assert_eq!((events.len(), sent.len(), &sent[0]), (1, 2, &genuine(1)));
        assert_eq!(pass(&mut node, at(17), &genuine(2)), (vec![], vec![genuine(2)]), "its attempts are used up");
    }

    #[test]
    fn two_attacks_on_one_frame_come_in_their_order() {
        let attacks = vec![attack(AttackKind::Spoof), attack(AttackKind::Withhold)];
        let mut node = Attacker::new(AttackerConfig { node: NodeId(9), on_link: true, attacks, seed: 1 });
        node.handle_input(LocalTime::ZERO, Input::Command(Command::Start)).unwrap();
        let (events, sent) = pass(&mut node, LocalTime::ZERO + Duration::from_ms(15), &genuine(2));
        assert_eq!(events, [AttackKind::Spoof, AttackKind::Withhold].map(EventKind::Attacked));
        assert!(sent.len() == 1 && sent[0] != genuine(2), "the forged frame stands in for the genuine one");
    }

    #[test]
    fn puts_a_forged_frame_before_the_genuine_one_on_the_link() {
        let mut node = attacker(AttackKind::Spoof, true);
        let at = LocalTime::ZERO + Duration::from_ms(15);
        let (events, sent) = pass(&mut node, at, &genuine(2));
        assert_eq!(events, [EventKind::Attacked(AttackKind::Spoof)]);
        assert_eq!((sent.len(), &sent[1]), (2, &genuine(2)));
        assert_eq!(sent[0][..14], genuine(2)[..14], "same addresses and length");
    }

    #[test]
    fn keeps_the_slots_of_its_target_on_a_port_of_its_own() {
        let mut node = attacker(AttackKind::Spoof, false);
        let Output::Timeout(Some(wake)) = node.poll_output(LocalTime::ZERO, &mut [0; 1536]) else { panic!() };
        assert_eq!(wake, LocalTime::ZERO + Duration::from_us(20_100));
        node.handle_input(wake, Input::Timeout).unwrap();
        assert_eq!(drain(&mut node, wake).1.len(), 1);
    }
}
