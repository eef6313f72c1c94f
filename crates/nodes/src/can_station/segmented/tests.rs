//! Two stations, and the frames between them in the hands of a test.

use chronoseal_core::{Command, Duration, Input, Node, NodeId, PortId};
use chronoseal_frameauth::{Freshness, KeyBytes, MacAlgorithm, Profile};
use chronoseal_wire::can::CanFrameView;
use chronoseal_wire::can::iso_tp::SeparationTime;

use super::*;
use crate::can_station::{CanStation, ListenerConfig, SegmentedTimeouts, StationConfig, TalkerConfig};
use crate::protection::Protection;

const STREAM: StreamId = StreamId(7);
const LEN: usize = 60;
const KIND: FrameKind = FrameKind::Classical;

fn id(raw: u16) -> CanId {
    CanId::standard(raw).expect("11 bits")
}

fn at_ms(ms: i64) -> LocalTime {
    LocalTime::ZERO + Duration::from_ms(ms)
}

fn protection() -> Protection {
    let profile = Profile::new(MacAlgorithm::HmacSha256, 64, Freshness::Full, 8).expect("a legal profile");
    let key = KeyBytes::from_array([9; KeyBytes::LEN]);
    Protection::Secured { profile, key: Some((&key).into()), data_id: STREAM.0.into() }
}

fn segmented(block_size: u8, separation: SeparationTime) -> SegmentedConfig {
    let [n_as, n_bs, n_cr] = [100, 50, 20].map(Duration::from_ms);
    let timeouts = SegmentedTimeouts { n_as, n_bs, n_cr };
    SegmentedConfig::new(STREAM, [id(0x6a0), id(0x6a8)], KIND, block_size, separation, timeouts)
        .expect("every span is above zero")
}

/// A station and everything it did.
struct Bench {
    node: CanStation,
    frames: Vec<Vec<u8>>,
    tokens: Vec<TxToken>,
    events: Vec<EventKind>,
    wakes_at: Option<LocalTime>,
}

impl Bench {
    fn started(config: StationConfig) -> Self {
        let node = CanStation::new(config, None).expect("a station of a bus is able to");
        let mut bench = Self { node, frames: vec![], tokens: vec![], events: vec![], wakes_at: None };
        bench.put(0, Input::Command(Command::Start));
        bench
    }

    /// Sends a message every second, the first at once.
    fn sender(config: SegmentedConfig) -> Self {
        let talker = TalkerConfig {
            stream: STREAM,
            id: id(0x6a0),
            kind: KIND,
            len: LEN,
            pace: Duration::from_s(1).into(),
            offset: Duration::ZERO,
            fill: vec![0xaa; LEN],
            signal: None,
            protection: protection(),
        };
        Self::started(StationConfig { talkers: vec![talker], segmented: vec![config], ..StationConfig::default() })
    }

    fn receiver(config: SegmentedConfig) -> Self {
        let listener = ListenerConfig::new(STREAM, id(0x6a0), LEN, protection());
        let (node, listeners) = (NodeId(1), vec![listener]);
        Self::started(StationConfig { node, listeners, segmented: vec![config], ..StationConfig::default() })
    }

    fn put(&mut self, ms: i64, input: Input<'_>) {
        let now = at_ms(ms);
        self.node.handle_input(now, input).expect("the contract is kept");
        let mut buffer = [0; 1536];
        loop {
            match self.node.poll_output(now, &mut buffer) {
                Output::Transmit(transmit) => {
                    self.frames.push(buffer[..transmit.len].to_vec());
                    self.tokens.extend(transmit.token);
                }
                Output::Event(event) => self.events.push(event.kind),
                Output::Timeout(at) => {
                    self.wakes_at = at;
                    return;
                }
                _ => {}
            }
        }
    }

    fn hear(&mut self, ms: i64, bytes: &[u8]) {
        self.put(ms, Input::Frame { port: PortId(0), rx_at: at_ms(ms), bytes });
    }

    fn hear_all(&mut self, ms: i64, frames: &[Vec<u8>]) {
        frames.iter().for_each(|frame| self.hear(ms, frame));
    }

    /// Lets the frames leave that were handed over, and gives them.
    fn leave(&mut self, ms: i64) -> Vec<Vec<u8>> {
        let mut left = Vec::new();
        while !self.frames.is_empty() {
            left.append(&mut self.frames);
            for token in std::mem::take(&mut self.tokens) {
                self.put(ms, Input::Transmitted { token, tx_at: at_ms(ms) });
            }
        }
        left
    }

    fn kinds(&mut self) -> Vec<EventKind> {
        std::mem::take(&mut self.events)
    }
}

/// The frames of the first message of a sender: `answered` by leave to go on with all of them.
fn message() -> Vec<Vec<u8>> {
    let config = segmented(0, SeparationTime::ZERO);
    let (mut sender, mut receiver) = (Bench::sender(config), Bench::receiver(config));
    let mut frames = sender.leave(0);
    receiver.hear_all(0, &frames);
    sender.hear_all(0, &receiver.leave(0));
    frames.extend(sender.leave(0));
    assert_eq!(sender.kinds(), [EventKind::Sent]);
    frames
}

const DELIVERED: EventKind = EventKind::Delivered;
const BEGAN: EventKind = EventKind::TransferBegan;

const fn discarded(reason: DiscardReason) -> EventKind {
    EventKind::Discarded(reason)
}

#[test]
fn one_tag_covers_all_frames_of_a_message() {
    let frames = message();
    // 60 bytes, 8 of freshness and 8 of tag: 6 in the first frame and 7 in each that follows.
    assert_eq!(frames.len(), 11);
    let mut receiver = Bench::receiver(segmented(0, SeparationTime::ZERO));
    receiver.hear_all(1, &frames);
    assert_eq!(receiver.kinds(), [BEGAN, DELIVERED]);
    let answers: Vec<_> = receiver.frames.iter().map(|bytes| CanFrameView::new_checked(bytes).unwrap().id()).collect();
    assert_eq!(answers, [id(0x6a8)]);

    // The message again is a replay, and with one changed byte a forgery.
    receiver.hear_all(2, &frames);
    assert_eq!(receiver.kinds(), [BEGAN, discarded(DiscardReason::Replayed)]);
    let mut receiver = Bench::receiver(segmented(0, SeparationTime::ZERO));
    let mut changed = frames.clone();
    *changed[5].last_mut().expect("it has data") ^= 1;
    receiver.hear_all(1, &changed);
    assert_eq!(receiver.kinds(), [BEGAN, discarded(DiscardReason::TagMismatch)]);
    receiver.hear_all(2, &frames);
    assert_eq!(receiver.kinds(), [BEGAN, DELIVERED], "what is not authentic moves nothing");
}

#[test]
fn blocks_and_separations_are_kept() {
    let config = segmented(4, SeparationTime::at_least(Duration::from_ms(2)).expect("2 ms"));
    let (mut sender, mut receiver) = (Bench::sender(config), Bench::receiver(config));
    let mut counts = Vec::new();
    let mut ms = 0;
    while !receiver.events.contains(&DELIVERED) {
        assert!(ms < 100, "{counts:?}");
        let frames = sender.leave(ms);
        counts.push(frames.len());
        receiver.hear_all(ms, &frames);
        let answers = receiver.leave(ms);
        if answers.is_empty() && !receiver.events.contains(&DELIVERED) {
            ms = (sender.wakes_at.expect("it waits for STmin") - LocalTime::ZERO).as_ps() / 1_000_000_000;
            sender.put(ms, Input::Timeout);
        }
        sender.hear_all(ms, &answers);
    }
    // The first frame, and ten in blocks of four, four and two, each 2 ms after the one before in its block.
    assert_eq!((counts, ms), (vec![1; 11], 2 * (3 + 3 + 1)));
}

#[test]
fn a_frame_that_is_lost_costs_its_message_and_no_other() {
    let frames = message();
    let mut receiver = Bench::receiver(segmented(0, SeparationTime::ZERO));
    receiver.hear_all(1, &[&frames[..4], &frames[5..]].concat());
    let fault = EventKind::TransferFault(TransferFault::UnexpectedFrame);
    let kinds = receiver.kinds();
    assert_eq!(kinds[..3], [BEGAN, discarded(DiscardReason::WrongSequence), fault]);
    assert!(kinds[3..].iter().all(|kind| *kind == fault) && kinds.len() == 2 + 5, "{kinds:?}");
    receiver.hear_all(2, &frames);
    assert_eq!(receiver.kinds(), [BEGAN, DELIVERED]);
}

#[test]
fn what_begins_anew_interrupts() {
    let frames = message();
    let mut receiver = Bench::receiver(segmented(0, SeparationTime::ZERO));
    receiver.hear_all(1, &frames[..3]);
    receiver.hear_all(1, &frames);
    assert_eq!(receiver.kinds(), [BEGAN, discarded(DiscardReason::Interrupted), BEGAN, DELIVERED]);
}

#[test]
fn both_ends_give_up_in_time() {
    let config = segmented(0, SeparationTime::ZERO);
    let mut receiver = Bench::receiver(config);
    receiver.hear_all(1, &message()[..3]);
    assert_eq!(receiver.wakes_at, Some(at_ms(1 + 20)), "N_Cr");
    receiver.put(21, Input::Timeout);
    assert_eq!(receiver.kinds(), [BEGAN, discarded(DiscardReason::FrameMissing)]);

    let mut sender = Bench::sender(config);
    sender.leave(1);
    assert_eq!(sender.wakes_at, Some(at_ms(1 + 50)), "N_Bs");
    sender.put(51, Input::Timeout);
    let missing = EventKind::TransferFault(TransferFault::FlowControlMissing);
    assert_eq!(sender.kinds(), [EventKind::Sent, missing]);
    // Its controller does not get the frame out.
    let mut sender = Bench::sender(config);
    let token = sender.tokens.remove(0);
    sender.put(1, Input::Dropped { token });
    let lost = EventKind::TransferFault(TransferFault::NotTransmitted);
    assert_eq!((sender.kinds(), sender.wakes_at), (vec![EventKind::Sent, lost], Some(at_ms(1000))));
}

#[test]
fn an_answer_to_nothing_changes_nothing() {
    let config = segmented(0, SeparationTime::ZERO);
    let (mut sender, mut receiver) = (Bench::sender(config), Bench::receiver(config));
    let first = sender.leave(0);
    receiver.hear_all(0, &first);
    let answer = receiver.leave(0);
    sender.hear_all(0, &answer);
    sender.hear_all(0, &answer);
    assert_eq!(sender.kinds(), [EventKind::Sent, EventKind::TransferFault(TransferFault::UnexpectedFlowControl)]);
    receiver.hear_all(1, &sender.leave(1));
    assert_eq!(receiver.kinds(), [BEGAN, DELIVERED]);
}

#[test]
fn a_station_that_stops_forgets_what_is_on_its_way() {
    let config = segmented(0, SeparationTime::ZERO);
    let mut sender = Bench::sender(config);
    let token = sender.tokens.remove(0);
    sender.put(1, Input::Command(Command::Stop));
    sender.put(1, Input::Transmitted { token, tx_at: at_ms(1) });
    assert_eq!((sender.frames.len(), sender.wakes_at), (1, None));
    let mut receiver = Bench::receiver(config);
    receiver.hear_all(1, &message()[..3]);
    receiver.put(2, Input::Command(Command::Stop));
    assert_eq!((receiver.kinds(), receiver.wakes_at), (vec![BEGAN], None));
}

#[test]
fn messages_that_wait_too_long_are_thrown_away() {
    let config = segmented(0, SeparationTime::ZERO);
    // Its first frame does not leave, and messages come faster than it is given up.
    let mut full = 0;
    let mut node = Segmented::new(vec![config], |_| None);
    node.start();
    for sequence in 0..30 {
        node.send(0, Message { sequence, origin: Origin::Own(at_ms(0)) }, vec![1; 20]);
        let mut buffer = [0; 1536];
        while let Some(Next::Output(output, _)) = node.poll(at_ms(0), &mut buffer) {
            let is_full = |event: Event| event.kind == discarded(DiscardReason::QueueFull);
            full += usize::from(matches!(output, Output::Event(event) if is_full(event)));
        }
    }
    assert_eq!(full, 30 - 1 - WAITING_MAX);
}
