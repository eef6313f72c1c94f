//! Messages longer than a frame: how they are sent, and what becomes of those of which frames are lost, changed or made up.

mod in_slots;
mod sharing;

use chronoseal_core::TransferFault;
use chronoseal_wire::ethernet::FRAME_LEN_MAX;
use chronoseal_wire::ipv4::{self, Cut, ETHERTYPE_IPV4, Packet};
use chronoseal_wire::{ethernet::TypeOrLength, udp};

use super::*;
use crate::reassembly::ReassemblyConfig;

const PERIOD: Duration = Duration::from_ms(33);
/// Of the first message.
const PHASE: Duration = Duration::from_ms(1);
const PAYLOAD_LEN: usize = 4_000;
const TIMEOUT: Duration = Duration::from_ms(50);
/// Of `hmac`, with all of its freshness value.
const OVERHEAD: usize = 24;
const FRAGMENTS: usize = 3;
const BAG: Duration = Duration::from_ms(8);

fn datagram(mtu: usize) -> Option<DatagramConfig> {
    let ends = udp::Ends { source: virtual_link::station_ip(NodeId(0)), destination: virtual_link::stream_ip(STREAM) };
    let cut = Cut::new(udp::HEADER_LEN + PAYLOAD_LEN + OVERHEAD, mtu);
    Some(DatagramConfig { ends, reassembly: ReassemblyConfig { cut, timeout: TIMEOUT }, sub_link: None })
}

fn image() -> TalkerConfig {
    TalkerConfig {
        timing: TalkerTiming::Periodic { priority: 2, phase: PHASE, pace: PERIOD.into() },
        frame_len: HEADER_LEN + PAYLOAD_LEN,
        fill: (0..PAYLOAD_LEN).map(|at| at as u8).collect(),
        datagram: datagram(1_500),
        ..talker(hmac(Freshness::Full, 1))
    }
}

fn camera(config_of: impl FnOnce(EndSystemConfig) -> EndSystemConfig) -> Bench {
    Bench::started(config_of(EndSystemConfig { talkers: vec![image()], ..config(0) }))
}

/// A receiver of frames that come one after the other, 10 us apart.
struct Hearing {
    bench: Bench,
    now: LocalTime,
}

impl From<Bench> for Hearing {
    fn from(bench: Bench) -> Self {
        Self { bench, now: at(PHASE) }
    }
}

fn fusion() -> Hearing {
    let listener = ListenerConfig {
        datagram: datagram(1_500),
        ..ListenerConfig::new(STREAM, None, Vec::new(), hmac(Freshness::Full, 1))
    };
    Bench::started(EndSystemConfig { listeners: vec![listener], ..config(1) }).into()
}

/// The frames of some messages, each by itself.
fn messages(count: i64) -> Vec<Vec<Vec<u8>>> {
    let mut camera = camera(|config| config);
    let of = |number: i64| camera.wake(at(PHASE + PERIOD * number)).sent.into_iter().map(|(.., bytes)| bytes).collect();
    (0..count).map(of).collect()
}

/// What a receiver tells of frames.
fn told(receiver: &mut Hearing, frames: &[Vec<u8>]) -> Vec<(EventKind, u64)> {
    let mut step = |frame: &Vec<u8>| {
        receiver.now += Duration::from_us(10);
        receiver.bench.receive(receiver.now, frame).events
    };
    frames.iter().flat_map(&mut step).collect()
}

const BEGAN: fn(u64) -> (EventKind, u64) = |number| (EventKind::TransferBegan, number);
const DELIVERED: fn(u64) -> (EventKind, u64) = |number| (EventKind::Delivered, number);
const NOTHING: (EventKind, u64) = (EventKind::TransferFault(TransferFault::UnexpectedFrame), 0);

fn discarded(reason: DiscardReason, number: u64) -> (EventKind, u64) {
    (EventKind::Discarded(reason), number)
}

#[test]
fn a_message_leaves_in_fragments_one_behind_the_other_and_is_told_once() {
    let told = camera(|config| config).wake(at(PHASE));
    assert_eq!(told.events, [(EventKind::Sent, 0)]);
    assert_eq!(told.work.len(), 1, "it is sealed once");
    assert_eq!(told.wake, Some(at(PHASE + PERIOD)));
    assert_eq!(told.sent.len(), FRAGMENTS);
    let mut datagram = Vec::new();
    for (launch_at, priority, bytes) in &told.sent {
        assert_eq!((*launch_at, *priority), (at(PHASE), Priority(2)));
        let frame = Frame::new_checked(bytes).unwrap();
        assert_eq!(frame.type_or_length(), TypeOrLength::EtherType(ETHERTYPE_IPV4));
        assert_eq!(virtual_link::stream(frame.destination()), Some(STREAM));
        let packet = Packet::parse(frame.payload()).unwrap();
        assert_eq!((packet.offset, packet.identification), (datagram.len(), 0));
        datagram.extend_from_slice(packet.data);
    }
    assert_eq!(told.sent[0].2.len(), FRAME_LEN_MAX);
    let ends = udp::Ends { source: [10, 0, 0, 1], destination: [239, 192, 0, 3] };
    let data = udp::parse(&datagram, ends, true).expect("its checksum fits");
    assert_eq!(data.len(), PAYLOAD_LEN + OVERHEAD);
    assert_eq!(TestBedHeader::parse(data), Ok(TestBedHeader { stream: STREAM, sequence: 0 }));
}

#[test]
fn a_message_is_taken_when_its_last_frame_is_there_and_opened_once() {
    let mut fusion = fusion();
    let sent = messages(2);
    assert_eq!(told(&mut fusion, &sent[0][..2]), [BEGAN(0)]);
    let now = fusion.now;
    let whole = fusion.bench.receive(now, &sent[0][2]);
    assert_eq!((whole.events, whole.work.len()), (vec![DELIVERED(0)], 1));
    assert_eq!(whole.wake, None, "nothing is waited for");
    assert_eq!(told(&mut fusion, &sent[1]), [BEGAN(1), DELIVERED(1)]);
}

#[test]
fn a_message_that_lost_a_frame_is_lost_and_says_why() {
    let sent = messages(3);
    let [first, second] = [&sent[0], &sent[1]];
    // The first, one in the middle, the last.
    let [mut none, mut middle, mut last] = [fusion(), fusion(), fusion()];
    assert_eq!(told(&mut none, &[&first[1..], second].concat()), [NOTHING, NOTHING, BEGAN(1), DELIVERED(1)]);
    let without = [first[0].clone(), first[2].clone()];
    let lost = discarded(DiscardReason::WrongSequence, 0);
    assert_eq!(told(&mut middle, &[&without, &second[..]].concat()), [BEGAN(0), lost, BEGAN(1), DELIVERED(1)]);
    let interrupted = discarded(DiscardReason::Interrupted, 0);
    assert_eq!(told(&mut last, &[&first[..2], second].concat()), [BEGAN(0), interrupted, BEGAN(1), DELIVERED(1)]);
}

#[test]
fn what_is_half_there_is_given_up_when_its_time_is_over() {
    let sent = messages(1);
    let mut fusion = fusion();
    let began = fusion.bench.receive(at(Duration::ZERO), &sent[0][0]);
    assert_eq!(began.wake, Some(at(TIMEOUT)));
    assert_eq!(fusion.bench.wake(at(TIMEOUT - Duration::from_ps(1))).events, []);
    assert_eq!(fusion.bench.wake(at(TIMEOUT)).events, [discarded(DiscardReason::FrameMissing, 0)]);
    assert_eq!(fusion.bench.receive(at(TIMEOUT), &sent[0][1]).events, [NOTHING]);
}

#[test]
fn a_changed_message_is_refused_by_its_tag_and_a_changed_datagram_before_that() {
    let sent = messages(1);
    let mut changed = sent[0].clone();
    *changed[1].last_mut().unwrap() ^= 1;
    assert_eq!(told(&mut fusion(), &changed), [BEGAN(0), discarded(DiscardReason::Malformed, 0)], "its checksum");
    // Whoever makes the checksum fit still has no key.
    let header = HEADER_LEN + ipv4::HEADER_LEN;
    let mut forged = sent[0].clone();
    forged[0][header + 6..header + 8].fill(0);
    *forged[1].last_mut().unwrap() ^= 1;
    assert_eq!(told(&mut fusion(), &forged), [BEGAN(0), discarded(DiscardReason::TagMismatch, 0)]);
}

#[test]
fn a_replayed_message_is_refused_whole() {
    let sent = messages(1);
    let mut fusion = fusion();
    told(&mut fusion, &sent[0]);
    assert_eq!(told(&mut fusion, &sent[0]), [BEGAN(0), discarded(DiscardReason::Replayed, 0)]);
}

#[test]
fn frames_that_are_no_packets_of_the_stream_are_refused_and_change_nothing() {
    let sent = messages(1);
    let mut plain = sent[0][1].clone();
    plain[12..14].copy_from_slice(&0x88b5u16.to_be_bytes());
    let mut other_source = sent[0][1].clone();
    other_source[HEADER_LEN + 15] ^= 1;
    let mut bad_sum = sent[0][1].clone();
    bad_sum[HEADER_LEN + 10] ^= 1;
    let mut fusion = fusion();
    told(&mut fusion, &sent[0][..1]);
    let malformed = discarded(DiscardReason::Malformed, 0);
    assert_eq!(told(&mut fusion, &[plain, other_source, bad_sum]), [malformed; 3]);
    assert_eq!(told(&mut fusion, &sent[0][1..]), [DELIVERED(0)]);
}

#[test]
fn without_real_bytes_a_message_has_the_same_frames_and_is_taken_all_the_same() {
    let real = camera(|config| config).wake(at(PHASE));
    let timing = |config| EndSystemConfig { real_bytes: false, ..config };
    let sent = camera(timing).wake(at(PHASE));
    let lens = |told: &Told| told.sent.iter().map(|(at, _, bytes)| (*at, bytes.len())).collect::<Vec<_>>();
    assert_eq!((lens(&sent), sent.work.len()), (lens(&real), 0));
    let mut listening = fusion();
    listening.bench.0.config.real_bytes = false;
    let frames: Vec<Vec<u8>> = sent.sent.into_iter().map(|(.., bytes)| bytes).collect();
    assert_eq!(told(&mut listening, &frames), [BEGAN(0), DELIVERED(0)]);
}

fn linked() -> (Bench, Hearing) {
    let link =
        VirtualLinkConfig { ct_id: CT_ID, bag: BAG, priority: Priority::RATE_CONSTRAINED_LOW, is_replicated: false };
    let ends = udp::Ends { destination: virtual_link::critical_traffic_ip(CT_ID), ..datagram(1_499).unwrap().ends };
    let datagram = datagram(1_499).map(|datagram| DatagramConfig { ends, ..datagram });
    let talker = TalkerConfig { virtual_link: Some(link), datagram, ..image() };
    let listener = ListenerConfig {
        datagram,
        is_virtual_link: true,
        ..ListenerConfig::new(STREAM, Some(CT_ID), Vec::new(), hmac(Freshness::Full, 1))
    };
    let camera = Bench::started(EndSystemConfig { talkers: vec![talker], ..config(0) });
    (camera, Bench::started(EndSystemConfig { listeners: vec![listener], ..config(1) }).into())
}

#[test]
fn a_virtual_link_lets_one_fragment_go_in_each_gap_and_numbers_it() {
    let (mut camera, mut fusion) = linked();
    for message in 0..3 {
        let sent = camera.wake(at(PHASE + PERIOD * message)).sent;
        let launched: Vec<Duration> = sent.iter().map(|(launch_at, ..)| *launch_at - LocalTime::ZERO).collect();
        assert_eq!(launched, [0, 1, 2].map(|fragment| PHASE + PERIOD * message + BAG * fragment));
        let frames: Vec<Vec<u8>> = sent.into_iter().map(|(.., bytes)| bytes).collect();
        let numbers: Vec<u8> = frames.iter().filter_map(|frame| frame.last().copied()).collect();
        assert_eq!(numbers, [0, 1, 2].map(|fragment| (3 * message + fragment) as u8));
        // The second is lost, and the third is taken.
        if message == 1 {
            assert_eq!(told(&mut fusion, &frames[..2]), [BEGAN(1)]);
        } else {
            let ended = (message == 2).then_some(discarded(DiscardReason::Interrupted, 1));
            let expected: Vec<_> =
                ended.into_iter().chain([BEGAN(message as u64), DELIVERED(message as u64)]).collect();
            assert_eq!(told(&mut fusion, &frames), expected);
        }
    }
}

#[test]
fn the_number_of_a_forged_fragment_counts_for_nothing() {
    let (mut camera, mut fusion) = linked();
    let mut frames =
        |number| camera.wake(at(PHASE + PERIOD * number)).sent.into_iter().map(|(.., bytes)| bytes).collect();
    let [first, second]: [Vec<Vec<u8>>; 2] = [frames(0), frames(1)];
    let mut forged = first.clone();
    for (number, frame) in forged.iter_mut().enumerate() {
        let last = frame.len() - 1;
        frame[last] = 200 + number as u8;
        // No checksum, and another pixel.
        frame[HEADER_LEN + ipv4::HEADER_LEN + 6..][..2].fill(0);
    }
    let refused = discarded(DiscardReason::TagMismatch, 0);
    assert_eq!(told(&mut fusion, &forged), [BEGAN(0), refused]);
    assert_eq!(told(&mut fusion, &first), [BEGAN(0), DELIVERED(0)]);
    // One whose numbers do not follow each other.
    let mut mixed = second.clone();
    *mixed[1].last_mut().unwrap() = 77;
    assert_eq!(told(&mut fusion, &mixed)[..2], [BEGAN(1), discarded(DiscardReason::OutOfSequence, 1)]);
    assert_eq!(told(&mut fusion, &second), [BEGAN(1), DELIVERED(1)]);
}

#[test]
fn a_message_of_an_unprotected_virtual_link_from_before_is_out_of_sequence() {
    let (mut camera, mut fusion) = linked();
    let frames = camera.wake(at(PHASE)).sent.into_iter().map(|(.., bytes)| bytes).collect::<Vec<_>>();
    assert_eq!(told(&mut fusion, &frames), [BEGAN(0), DELIVERED(0)]);
    // The tag speaks first where there is one.
    assert_eq!(told(&mut fusion, &frames), [BEGAN(0), discarded(DiscardReason::Replayed, 0)]);
    let mut check = super::super::virtual_link::IntegrityCheck::default();
    use chronoseal_wire::virtual_link::SequenceNumber as Number;
    assert!(check.admits_message(Number(5), Number(9)) && check.admits_message(Number(30), Number(34)));
    assert!(!check.admits_message(Number(5), Number(9)), "it was sent before");
    assert!(check.admits_message(Number::RESET, Number(4)), "its sender was reset");
}

#[test]
fn the_number_of_another_streams_frame_is_none_of_a_message() {
    let numbered = Numbered { number: 9, network: 0, came_at: LocalTime::ZERO };
    let (mut fusion, sent) = (fusion(), messages(2));
    assert_eq!(told(&mut fusion, &sent[0][..1]), [BEGAN(0)]);
    for frame in [1, 2] {
        fusion.bench.0.numbered = Some(numbered);
        let expected = if frame == 2 { vec![DELIVERED(0)] } else { Vec::new() };
        assert_eq!(told(&mut fusion, &sent[0][frame..=frame]), expected);
    }
    fusion.bench.0.numbered = Some(numbered);
    assert_eq!(told(&mut fusion, &sent[1]), [BEGAN(1), DELIVERED(1)]);
}

#[test]
fn a_stopped_station_sends_no_more_of_a_message() {
    let mut camera = camera(|config| config);
    camera.0.handle_input(at(PHASE), Input::Timeout).unwrap();
    let mut frame = [0; chronoseal_core::node::FRAME_LEN_MAX];
    let is_sent = |output: &Output| matches!(output, Output::Transmit(_));
    assert!((0..4).map(|_| camera.0.poll_output(at(PHASE), &mut frame)).any(|output| is_sent(&output)));
    assert!(camera.input(at(PHASE), Input::Command(Command::Stop)).sent.is_empty());
}

/// A receiver of messages on a virtual link over both networks, and three frames of one message after the other.
fn over_both() -> (Hearing, Vec<Vec<u8>>) {
    let (mut camera, fusion) = linked();
    let replication = Some(Replication::Networks { skew_max: Duration::from_ms(1) });
    let listeners = vec![ListenerConfig { replication, ..fusion.bench.0.listeners[0].config.clone() }];
    let config = EndSystemConfig { listeners, has_second_port: true, ..config(1) };
    let frames = (0..2).flat_map(|number| camera.wake(at(PHASE + PERIOD * number)).sent).map(|(.., bytes)| bytes);
    (Bench::started(config).into(), frames.collect())
}

#[test]
fn copies_of_fragments_end_no_message_and_say_of_which_they_are() {
    let (mut fusion, frames) = over_both();
    let twice: Vec<Vec<u8>> = frames[..3].iter().flat_map(|frame| [frame.clone(), frame.clone()]).collect();
    let copy = discarded(DiscardReason::CopyEliminated, 0);
    assert_eq!(told(&mut fusion, &twice), [BEGAN(0), copy, copy, DELIVERED(0), copy]);
    // The next message begins before the last copies of the one before.
    let (mut fusion, frames) = over_both();
    told(&mut fusion, &frames[..3]);
    assert_eq!(told(&mut fusion, &[frames[3].clone(), frames[2].clone()]), [BEGAN(1), copy]);
    assert_eq!(told(&mut fusion, &frames[4..]), [DELIVERED(1)]);
}

#[test]
fn a_fragment_that_was_overtaken_is_none_and_its_message_is_lost_once() {
    let (mut fusion, frames) = over_both();
    let overtaken = [0, 2, 1].map(|place: usize| frames[place].clone());
    let lost = discarded(DiscardReason::WrongSequence, 0);
    assert_eq!(told(&mut fusion, &overtaken), [BEGAN(0), lost, NOTHING]);
    assert_eq!(told(&mut fusion, &frames[3..]), [BEGAN(1), DELIVERED(1)]);
    // Of a first frame it is said of which message it is.
    let (mut fusion, frames) = over_both();
    let expected = [NOTHING, discarded(DiscardReason::OutOfSequence, 1)];
    assert_eq!(told(&mut fusion, &[frames[4].clone(), frames[3].clone()]), expected);
}
