use proptest::prelude::*;

use super::*;

const STREAM: StreamId = StreamId(3);
const SENDER: NodeId = NodeId(0);
const LEN: usize = 4000;

fn cut() -> Cut {
    Cut::new(udp::HEADER_LEN + LEN, 1500)
}

fn at(ms: i64) -> LocalTime {
    LocalTime::ZERO + Duration::from_ms(ms)
}

fn sender() -> UdpStation {
    let talker = UdpTalker {
        stream: STREAM,
        phase: Duration::ZERO,
        pace: PaceConfig::Period(Duration::from_ms(10)),
        framing: Framing::Datagram(cut()),
        fill: vec![0x5a; LEN],
    };
    UdpStation::new(UdpStationConfig { node: SENDER, talkers: vec![talker], listeners: Vec::new() })
}

fn receiver() -> UdpStation {
    let listener = UdpListener {
        stream: STREAM,
        sender: SENDER,
        framing: Framing::Datagram(cut()),
        timeout: Duration::from_ms(50),
    };
    let mut station =
        UdpStation::new(UdpStationConfig { node: NodeId(1), talkers: Vec::new(), listeners: vec![listener] });
    station.handle_input(at(0), Input::Command(Command::Start)).unwrap();
    station
}

/// The packets of so many messages, one list each.
fn messages(count: usize) -> Vec<Vec<Vec<u8>>> {
    let mut sender = sender();
    sender.handle_input(at(0), Input::Command(Command::Start)).unwrap();
    let mut messages = vec![Vec::new(); count];
    for (number, packets) in messages.iter_mut().enumerate() {
        let now = at(10 * number as i64);
        let mut buffer = [0; 1536];
        loop {
            match sender.poll_output(now, &mut buffer) {
                Output::Transmit(transmit) => packets.push(buffer[..transmit.len].to_vec()),
                Output::Event(_) => {}
                _ => break,
            }
        }
    }
    messages
}

fn told(station: &mut UdpStation, now: LocalTime, packets: &[&Vec<u8>]) -> Vec<(EventKind, u64)> {
    let mut events = Vec::new();
    let mut poll = |station: &mut UdpStation| {
        while let Output::Event(event) = station.poll_output(now, &mut [0; 1536]) {
            events.push((event.kind, event.sequence));
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
        pace: PaceConfig::Period(Duration::from_ms(10)),
        framing,
        fill: vec![0x5a; 100_000],
    };
    let listener = UdpListener { stream: STREAM, sender: SENDER, framing, timeout: Duration::ZERO };
    let station = |node, talkers, listeners| UdpStation::new(UdpStationConfig { node, talkers, listeners });
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
