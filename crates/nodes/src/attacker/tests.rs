//! What an attacker does with what comes by, and when it sends.

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
        datagram: None,
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
    let mut node = Attacker::new(AttackerConfig {
        node: NodeId(9),
        on_link,
        attacks: vec![attack(kind)],
        on_clocks: vec![],
        follows: None,
        seed: 1,
    });
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
        let mut node = Attacker::new(AttackerConfig {
            node: NodeId(9),
            on_link: true,
            attacks,
            on_clocks: vec![],
            follows: None,
            seed: 1,
        });
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
    let mut node = Attacker::new(AttackerConfig {
        node: NodeId(9),
        on_link: true,
        attacks,
        on_clocks: vec![],
        follows: None,
        seed: 1,
    });
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
    let mut node = Attacker::new(AttackerConfig {
        node: NodeId(9),
        on_link: true,
        attacks,
        on_clocks: vec![],
        follows: None,
        seed: 1,
    });
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

#[test]
fn what_it_makes_up_of_a_stream_of_long_messages_is_a_first_fragment_of_no_message() {
    use crate::end_system::DatagramConfig;
    use crate::reassembly::ReassemblyConfig;
    use chronoseal_wire::ethernet::Frame;
    use chronoseal_wire::ipv4::{Cut, ETHERTYPE_IPV4, Packet};
    let ends = udp::Ends { source: [10, 0, 0, 0], destination: [239, 192, 0, 1] };
    let reassembly =
        ReassemblyConfig { cut: Cut { datagram_len: 100, fragment_len: 40 }, timeout: Duration::from_ms(1) };
    let datagram = Some(DatagramConfig { ends, reassembly, sub_link: None });
    let frame_len = HEADER_LEN + ipv4::HEADER_LEN + 40;
    let attack = Attack { datagram, frame_len, ether_type: Some(ETHERTYPE_IPV4), ..attack(AttackKind::Spoof) };
    let made_up = forge(&attack, &mut random::stream(2, Purpose::Payload, 0));
    let frame = Frame::new_checked(&made_up).unwrap();
    let packet = Packet::parse(frame.payload()).expect("its header is right");
    assert_eq!((packet.source, packet.destination, packet.offset), (ends.source, ends.destination, 0));
    assert!(packet.more_fragments && packet.data.len() == 40);
    let header = TestBedHeader::parse(&packet.data[udp::HEADER_LEN..]).expect("a header");
    assert_eq!(header.stream, StreamId(0));
}
