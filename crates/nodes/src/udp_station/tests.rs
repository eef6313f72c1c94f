use chronoseal_frameauth::{DataId, Freshness, MacAlgorithm, Profile, SymmetricKey};
use proptest::prelude::*;

use super::collect::Seen;
use super::*;
use crate::pace::PaceConfig;

const STREAM: StreamId = StreamId(3);
const SENDER: NodeId = NodeId(0);
const LEN: usize = 4000;

fn cut() -> Cut {
    Cut::new(udp::HEADER_LEN + LEN, 1500)
}

fn at(ms: i64) -> LocalTime {
    LocalTime::ZERO + Duration::from_ms(ms)
}

fn sender_of(framing: Framing, protection: Protection) -> UdpStation {
    let talker = UdpTalker {
        stream: STREAM,
        phase: Duration::ZERO,
        trigger: PaceConfig::Period(Duration::from_ms(10)).into(),
        framing,
        fill: vec![0x5a; LEN],
        payload: Payload::Same,
        signal: None,
        protection,
        leaves_checksum_out: false,
    };
    let config = UdpStationConfig { node: SENDER, talkers: vec![talker], listeners: Vec::new() };
    UdpStation::new(config).expect("it can be protected so")
}

fn sender() -> UdpStation {
    sender_of(Framing::Datagram(cut()), Protection::NONE)
}

fn receiver_of(framing: Framing, protection: Protection) -> UdpStation {
    let timeout = Duration::from_ms(50);
    let listener = UdpListener { stream: STREAM, sender: SENDER, framing, timeout, protection, takes: None };
    let config = UdpStationConfig { node: NodeId(1), talkers: Vec::new(), listeners: vec![listener] };
    let mut station = UdpStation::new(config).expect("it can be protected so");
    station.handle_input(at(0), Input::Command(Command::Start)).unwrap();
    station
}

fn receiver() -> UdpStation {
    receiver_of(Framing::Datagram(cut()), Protection::NONE)
}

/// The packets of so many messages, one list each.
fn messages(count: usize) -> Vec<Vec<Vec<u8>>> {
    messages_of(sender(), count)
}

fn messages_of(mut sender: UdpStation, count: usize) -> Vec<Vec<Vec<u8>>> {
    sender.handle_input(at(0), Input::Command(Command::Start)).unwrap();
    let mut messages = vec![Vec::new(); count];
    for (number, packets) in messages.iter_mut().enumerate() {
        let now = at(10 * number as i64);
        let mut buffer = [0; 1536];
        loop {
            match sender.poll_output(now, &mut buffer) {
                Output::Transmit(transmit) => packets.push(buffer[..transmit.len].to_vec()),
                Output::Event(_) | Output::Work(_) => {}
                _ => break,
            }
        }
    }
    messages
}

fn told(station: &mut UdpStation, now: LocalTime, packets: &[&Vec<u8>]) -> Vec<(EventKind, u64)> {
    let mut events = Vec::new();
    let mut poll = |station: &mut UdpStation| {
        loop {
            match station.poll_output(now, &mut [0; 1536]) {
                Output::Event(event) => events.push((event.kind, event.sequence)),
                Output::Work(_) => {}
                _ => break,
            }
        }
    };
    for bytes in packets {
        station.handle_input(now, Input::Frame { port: PORT, rx_at: now, bytes }).unwrap();
        poll(station);
    }
    poll(station);
    events
}

#[test]
fn a_message_is_delivered_whatever_the_order_of_its_packets() {
    let sent = messages(2);
    assert_eq!(sent[0].len(), 3);
    let mut station = receiver();
    let order = [&sent[1][2], &sent[0][1], &sent[1][0], &sent[0][0], &sent[1][1], &sent[0][2]];
    let expected = [
        (EventKind::TransferBegan, 1),
        (EventKind::TransferBegan, 0),
        (EventKind::Delivered, 1),
        (EventKind::Delivered, 0),
    ];
    assert_eq!(told(&mut station, at(1), &order), expected);
}

#[test]
fn a_copy_of_a_message_and_of_its_packets_is_told_apart() {
    let sent = messages(1);
    let mut station = receiver();
    let all: Vec<&Vec<u8>> = sent[0].iter().chain(&sent[0]).collect();
    assert_eq!(told(&mut station, at(1), &all), [(EventKind::TransferBegan, 0), (EventKind::Delivered, 0)]);
    assert!(Seen::default().take(0));
    let mut seen = Seen::default();
    assert_eq!(
        [5, 3, 5, 3, 20_000, 4, 19_999].map(|number| seen.take(number)),
        [true, true, false, false, true, false, true]
    );
}

#[test]
fn a_message_of_which_the_rest_never_comes_is_given_up() {
    let sent = messages(2);
    let mut station = receiver();
    told(&mut station, at(1), &[&sent[0][0], &sent[0][1]]);
    // Of this one nobody knows which it is.
    told(&mut station, at(2), &[&sent[1][1]]);
    let next = |station: &mut UdpStation, now| match station.poll_output(now, &mut [0; 1536]) {
        Output::Timeout(next) => next,
        other => panic!("{other:?}"),
    };
    assert_eq!(next(&mut station, at(2)), Some(at(51)));
    assert_eq!(told(&mut station, at(52), &[]), [(EventKind::Discarded(DiscardReason::FrameMissing), 0)]);
    assert_eq!(next(&mut station, at(52)), None);
}

#[test]
fn an_altered_message_is_discarded_with_its_reason() {
    let sent = messages(1);
    let mut station = receiver();
    let mut packets = sent[0].clone();
    packets[2][100] ^= 4;
    let packets: Vec<&Vec<u8>> = packets.iter().collect();
    let expected = [(EventKind::TransferBegan, 0), (EventKind::Discarded(DiscardReason::Malformed), 0)];
    assert_eq!(told(&mut station, at(1), &packets), expected);
}

#[test]
fn what_is_due_and_not_sent_is_owed() {
    let mut sender = sender();
    sender.handle_input(at(0), Input::Command(Command::Start)).unwrap();
    let owed: Vec<_> = std::iter::from_fn(|| sender.owed(at(25))).collect();
    assert_eq!(owed, [0, 10, 20].map(|ms| (STREAM, at(ms))));
}

proptest! {
    /// Whatever comes, nothing panics, and no message is delivered twice.
    #[test]
    fn any_packets_in_any_order_deliver_each_message_at_most_once(
        chosen in proptest::collection::vec((0usize..4, 0usize..3, proptest::option::of((0usize..1500, 0u8..8)), 0usize..1536), 0..60),
    ) {
        let sent = messages(4);
        let mut station = receiver();
        let mut delivered = Vec::new();
        for (message, packet, flip, len) in chosen {
            let mut bytes = sent[message][packet].clone();
            if let Some((place, bit)) = flip {
                let place = place % bytes.len();
                bytes[place] ^= 1 << bit;
                bytes.truncate(len.max(1));
            }
            let events = told(&mut station, at(1), &[&bytes]);
            delivered.extend(events.iter().filter(|(kind, _)| *kind == EventKind::Delivered).map(|(_, number)| *number));
        }
        let mut once = delivered.clone();
        once.sort_unstable();
        once.dedup();
        prop_assert_eq!(once.len(), delivered.len());
    }
}

#[test]
fn a_message_over_a_connection_is_one_frame_and_is_delivered_once() {
    let framing = Framing::Message;
    let talker = UdpTalker {
        stream: STREAM,
        phase: Duration::ZERO,
        trigger: PaceConfig::Period(Duration::from_ms(10)).into(),
        framing,
        fill: vec![0x5a; 100_000],
        payload: Payload::Same,
        signal: None,
        protection: Protection::NONE,
        leaves_checksum_out: false,
    };
    let (timeout, protection) = (Duration::ZERO, Protection::NONE);
    let listener = UdpListener { stream: STREAM, sender: SENDER, framing, timeout, protection, takes: None };
    let station = |node, talkers, listeners| {
        UdpStation::new(UdpStationConfig { node, talkers, listeners }).expect("nothing is protected")
    };
    let mut sender = station(SENDER, vec![talker], Vec::new());
    let mut receiver = station(NodeId(1), Vec::new(), vec![listener]);
    for station in [&mut sender, &mut receiver] {
        station.handle_input(at(0), Input::Command(Command::Start)).unwrap();
    }
    let mut buffer = vec![0; 100_100];
    let sent = loop {
        match sender.poll_output(at(0), &mut buffer) {
            Output::Transmit(transmit) => break buffer[..transmit.len].to_vec(),
            Output::Event(_) => {}
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(sent.len(), HEADER_LEN + 100_000);
    while let Output::Event(event) = sender.poll_output(at(0), &mut buffer) {
        assert_eq!((event.kind, event.sequence), (EventKind::Sent, 0));
    }
    assert!(matches!(sender.poll_output(at(0), &mut buffer), Output::Timeout(Some(_))), "one frame is all of it");
    let copy = EventKind::Discarded(DiscardReason::CopyEliminated);
    assert_eq!(told(&mut receiver, at(1), &[&sent, &sent]), [(EventKind::Delivered, 0), (copy, 0)]);
    // Nobody is meant by a message of another stream, or by what is too short for one.
    let mut strange = sent.clone();
    strange[HEADER_LEN..HEADER_LEN + 2].copy_from_slice(&7u16.to_be_bytes());
    let none = (EventKind::Discarded(DiscardReason::UnknownStream), 0);
    let short = (EventKind::Discarded(DiscardReason::TooShort), 0);
    assert_eq!(told(&mut receiver, at(1), &[&strange, &sent[..HEADER_LEN + 4].to_vec()]), [none, short]);
}

#[test]
fn a_message_that_was_altered_on_its_way_is_discarded_and_the_genuine_one_is_not() {
    for protection in [Protection::NONE, sealed(MacAlgorithm::Blake3, Freshness::Full)] {
        let framing = Framing::Message;
        let sent = whole_message(sender_of(framing, protection.clone()));
        let mut station = receiver_of(framing, protection.clone());
        let mut altered = sent.clone();
        altered[HEADER_LEN + 1_000] ^= 4;
        // Who seals a message learns from the seal that it was altered.
        let reason = match protection {
            Protection::None { .. } => DiscardReason::ChecksumMismatch,
            Protection::Secured { .. } => DiscardReason::TagMismatch,
        };
        let expected = [(EventKind::Discarded(reason), 0), (EventKind::Delivered, 0)];
        assert_eq!(told(&mut station, at(1), &[&altered, &sent]), expected);
    }
}

#[test]
fn without_the_checksum_of_udp_that_of_the_message_finds_what_was_altered() {
    for framing in [Framing::Datagram(cut()), Framing::Parts(parts())] {
        let mut sender = sender_of(framing, Protection::NONE);
        sender.talkers[0].config.leaves_checksum_out = true;
        let mut sent = messages_of(sender, 2);
        sent[0][2][100] ^= 4;
        let packets: Vec<&Vec<u8>> = sent.iter().flatten().collect();
        let altered = (EventKind::Discarded(DiscardReason::ChecksumMismatch), 0);
        let (began, delivered) = (|number| (EventKind::TransferBegan, number), (EventKind::Delivered, 1));
        let told = told(&mut receiver_of(framing, Protection::NONE), at(1), &packets);
        assert_eq!(told, [began(0), altered, began(1), delivered], "{framing:?}");
    }
}

#[test]
fn a_message_says_when_it_was_due() {
    let sent = whole_message(sender_of(Framing::Message, Protection::NONE));
    let mut station = receiver_of(Framing::Message, Protection::NONE);
    station.handle_input(at(7), Input::Frame { port: PORT, rx_at: at(7), bytes: &sent }).unwrap();
    let Output::Event(event) = station.poll_output(at(7), &mut [0; 1536]) else { panic!("it is delivered") };
    assert_eq!((event.kind, event.value), (EventKind::Delivered, Duration::from_ms(7).as_ps()));
}

#[test]
fn what_a_message_carries_may_change_with_its_number() {
    let of = |payload| {
        let mut sender = sender_of(Framing::Message, Protection::NONE);
        sender.talkers[0].config.payload = payload;
        sender.handle_input(at(0), Input::Command(Command::Start)).unwrap();
        let mut buffer = vec![0; 5_000];
        let mut message = |now| loop {
            match sender.poll_output(now, &mut buffer) {
                Output::Transmit(transmit) => break buffer[HEADER_LEN + 20..transmit.len].to_vec(),
                Output::Event(_) | Output::Timeout(_) => {}
                other => panic!("{other:?}"),
            }
        };
        [message(at(0)), message(at(10))]
    };
    let [first, second] = of(Payload::Same);
    assert_eq!((first.len(), &first), (LEN - 20, &second));
    let [first, second] = of(Payload::Sequential);
    assert_eq!((&first[..3], &second[..3]), (&[0, 1, 2][..], &[1, 2, 3][..]));
    assert_eq!(first[255..258], [255, 0, 1]);
    let [first, second] = of(Payload::Random(1));
    assert_eq!(of(Payload::Random(1)), [first.clone(), second.clone()], "the same seed, the same bytes");
    let equal = |one: &[u8], other: &[u8]| one.iter().zip(other).filter(|(one, other)| one == other).count();
    // Of 3,980 bytes 1 in 256 is the same by chance: 15.5, with a deviation of 3.9.
    assert!(equal(&first, &second) < 40 && equal(&first, &of(Payload::Random(2))[0]) < 40);
}

/// The first message of a station that gives it as one frame.
fn whole_message(mut sender: UdpStation) -> Vec<u8> {
    sender.handle_input(at(0), Input::Command(Command::Start)).unwrap();
    let mut buffer = vec![0; 5_000];
    loop {
        match sender.poll_output(at(0), &mut buffer) {
            Output::Transmit(transmit) => break buffer[..transmit.len].to_vec(),
            Output::Work(_) | Output::Event(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// What is behind the test-bed header, in parts of 1,000 bytes.
fn parts() -> Cut {
    Cut { datagram_len: LEN - TestBedHeader::LEN, fragment_len: 1_000 }
}

fn sealed(mac: MacAlgorithm, freshness: Freshness) -> Protection {
    let profile = Profile::new(mac, mac.tag_bits_max().min(128), freshness, 8).expect("a legal profile");
    let len = if mac.takes_key_len(32) { 32 } else { 16 };
    let key = SymmetricKey::from_slice(&vec![7; len]);
    Protection::Secured { profile, key, data_id: DataId::number(3) }
}

/// As the link does it, which carries what is sealed in messages that are longer.
fn longer(cut: Cut, protection: &Protection) -> Cut {
    Cut { datagram_len: cut.datagram_len + protection.overhead(), ..cut }
}

#[test]
fn a_message_longer_than_a_datagram_is_delivered_whatever_the_order_of_its_parts() {
    let framing = Framing::Parts(parts());
    let sent = messages_of(sender_of(framing, Protection::NONE), 2);
    assert_eq!((sent[0].len(), sent[1].len()), (4, 4));
    let mut station = receiver_of(framing, Protection::NONE);
    let order =
        [&sent[1][3], &sent[0][1], &sent[1][0], &sent[0][0], &sent[1][1], &sent[0][2], &sent[0][3], &sent[1][2]];
    let expected = [
        (EventKind::TransferBegan, 1),
        (EventKind::TransferBegan, 0),
        (EventKind::Delivered, 0),
        (EventKind::Delivered, 1),
    ];
    assert_eq!(told(&mut station, at(1), &order), expected);
    // What comes late of one that was there begins nothing, and what is cut in another way is none of its parts.
    assert_eq!(told(&mut station, at(2), &[&sent[0][0]]), []);
    let mut short = sent[0][3].clone();
    short.pop();
    let too_short = (EventKind::Discarded(DiscardReason::TooShort), 0);
    assert_eq!(told(&mut station, at(2), &[&short]), [too_short]);
}

#[test]
fn a_part_that_was_altered_or_lost_costs_its_message_once() {
    let framing = Framing::Parts(parts());
    let sent = messages_of(sender_of(framing, Protection::NONE), 2);
    let mut station = receiver_of(framing, Protection::NONE);
    let mut packets = sent[0].clone();
    packets[1][500] ^= 4;
    let packets: Vec<&Vec<u8>> = packets.iter().collect();
    let malformed = (EventKind::Discarded(DiscardReason::Malformed), 0);
    assert_eq!(told(&mut station, at(1), &packets), [(EventKind::TransferBegan, 0), malformed]);
    assert_eq!(told(&mut station, at(2), &[&sent[1][0], &sent[1][1], &sent[1][3]]), [(EventKind::TransferBegan, 1)]);
    assert_eq!(told(&mut station, at(60), &[]), [(EventKind::Discarded(DiscardReason::FrameMissing), 1)]);
}

#[test]
fn memory_for_parts_has_a_limit() {
    // 40 MB each: two of them are put together at once, and the first is given up for a third.
    let cut = Cut { datagram_len: 40_000_000, fragment_len: 32_000 };
    let mut collector = collect::Collector::new(cut, TestBedHeader::LEN, Duration::from_s(1));
    for number in 0..3 {
        let (front, data) = (&[number as u8; 8], &[0; 32_000]);
        let piece = collect::Piece { number, offset: 0, more: true, data, front, is_intact: true };
        assert_eq!(collector.give_up(at(0)), None);
        assert_eq!(collector.take(at(0), &piece), Ok(collect::Collected::Waits));
    }
    let given_up = collector.give_up(at(0)).flatten().expect("there are three");
    assert_eq!(given_up[..8], [0; 8]);
    assert_eq!(collector.give_up(at(0)), None);
}

#[test]
fn a_message_is_sealed_as_a_whole_in_whatever_it_travels() {
    for mac in MacAlgorithm::ALL {
        for freshness in
            [Freshness::Full, Freshness::Truncated { bits: 16 }, Freshness::Rising { bits: 64, sent_bits: 8 }]
        {
            let protection = sealed(mac, freshness);
            let whole = Cut::new(udp::HEADER_LEN + LEN + protection.overhead(), 1500);
            for framing in [Framing::Datagram(whole), Framing::Parts(longer(parts(), &protection))] {
                let sent = messages_of(sender_of(framing, protection.clone()), 2);
                let mut station = receiver_of(framing, protection.clone());
                let packets: Vec<&Vec<u8>> = sent.iter().flatten().collect();
                let began = |number| (EventKind::TransferBegan, number);
                let delivered = |number| (EventKind::Delivered, number);
                let expected = [began(0), delivered(0), began(1), delivered(1)];
                assert_eq!(told(&mut station, at(1), &packets), expected, "{mac} {freshness} {framing:?}");
                // Under another key nothing fits.
                let Protection::Secured { profile, data_id, .. } = protection.clone() else { continue };
                let key = SymmetricKey::from_slice(&vec![8; if mac.takes_key_len(32) { 32 } else { 16 }]);
                let mut stranger = receiver_of(framing, Protection::Secured { profile, key, data_id });
                let refused = (EventKind::Discarded(DiscardReason::TagMismatch), 0);
                assert_eq!(told(&mut stranger, at(1), &packets)[..2], [began(0), refused]);
            }
        }
    }
}

#[test]
fn a_message_that_was_there_is_not_opened_again() {
    let protection = sealed(MacAlgorithm::Blake3, Freshness::Full);
    let framing = Framing::Message;
    let mut sender = sender_of(framing, protection.clone());
    sender.handle_input(at(0), Input::Command(Command::Start)).unwrap();
    let mut buffer = vec![0; 5_000];
    let mut works = Vec::new();
    let frame = loop {
        match sender.poll_output(at(0), &mut buffer) {
            Output::Transmit(transmit) => break buffer[..transmit.len].to_vec(),
            Output::Work(work) => works.push((work.operation.0, work.len)),
            Output::Event(_) => {}
            other => panic!("{other:?}"),
        }
    };
    // What the tag covers: two bytes of identity, the message, and the freshness value.
    assert_eq!(works, [("blake3", 2 + LEN as u32 + 8)]);
    let mut station = receiver_of(framing, protection);
    let delivered = (EventKind::Delivered, 0);
    let copy = (EventKind::Discarded(DiscardReason::CopyEliminated), 0);
    assert_eq!(told(&mut station, at(1), &[&frame, &frame]), [delivered, copy]);
}

#[test]
fn a_station_on_a_link_refuses_what_it_lacks() {
    let protection = sealed(MacAlgorithm::HmacSha256, Freshness::CycleCounter);
    let listener = UdpListener {
        stream: STREAM,
        sender: SENDER,
        framing: Framing::Message,
        timeout: Duration::ZERO,
        protection,
        takes: None,
    };
    let config = UdpStationConfig { node: NodeId(1), talkers: Vec::new(), listeners: vec![listener] };
    assert_eq!(UdpStation::new(config).err(), Some(ProtectionError::CycleCounterOnLink));
}

proptest! {
    /// In parts or in one datagram: the same messages are delivered of the same packets lost, and each at most once.
    #[test]
    fn parts_deliver_what_fragments_deliver(lost in proptest::collection::vec(any::<bool>(), 12), order in any::<u64>()) {
        // As many pieces either way.
        let fragments = Cut { datagram_len: udp::HEADER_LEN + LEN, fragment_len: 1_008 };
        let delivered = |framing| {
            let sent = messages_of(sender_of(framing, Protection::NONE), 3);
            let pieces: Vec<&Vec<u8>> = sent.iter().flatten().collect();
            assert_eq!(pieces.len(), 12);
            let mut kept: Vec<(usize, &Vec<u8>)> = pieces.into_iter().enumerate().filter(|(at, _)| !lost[*at]).collect();
            kept.sort_by_key(|(at, _)| (*at as u64 + 1).wrapping_mul(order | 1));
            let kept: Vec<&Vec<u8>> = kept.into_iter().map(|(_, piece)| piece).collect();
            let mut station = receiver_of(framing, Protection::NONE);
            let mut events = told(&mut station, at(1), &kept);
            events.extend(told(&mut station, at(100), &[]));
            events
        };
        let (by_fragments, by_parts) = (delivered(Framing::Datagram(fragments)), delivered(Framing::Parts(parts())));
        prop_assert_eq!(by_fragments, by_parts);
    }
}
