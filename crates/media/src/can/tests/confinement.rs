//! Error active, error passive, bus-off, and back: each state reached from frames.

use chronoseal_core::DiscardReason;
use chronoseal_wire::can::FrameKind;

use super::*;

/// Node 0's first `attempts` attempts fail because it sees one of its bits wrong.
fn failing(stations: u16, attempts: u64) -> CanBusConfig {
    let mut config = bus(stations);
    config.faults = (0..attempts).map(|attempt| Fault { attempt, bit: 30, seen_by: Some(port(0)) }).collect();
    config
}

fn frame() -> CanFrame {
    base(0x2aa, &[0x55; 4])
}

fn time_of(clockwork: &Clockwork, kind: EventKind) -> Option<SimTime> {
    clockwork.events.iter().find(|(_, node, told)| node.0 == 0 && *told == kind).map(|(at, ..)| *at)
}

fn run_until_told(clockwork: &mut Clockwork, kind: EventKind) {
    for _ in 0..10_000 {
        if time_of(clockwork, kind).is_some() {
            return;
        }
        clockwork.run_for(Duration::from_us(1));
    }
    panic!("{kind:?} was not told within 10 ms");
}

#[test]
fn sixteen_errors_make_a_sender_passive_and_successes_bring_it_back() {
    let mut clockwork = Clockwork::of_bus(failing(2, 16));
    clockwork.send(port(0), &frame());
    clockwork.run_for(Duration::from_ms(10));
    // 16 * 8 - 1: the frame that went through brought it below the limit at once.
    assert_eq!(clockwork.counters(0).0, 127);
    let told = clockwork.told();
    let states: Vec<_> = told.iter().filter(|(node, kind)| *node == 0 && *kind != EventKind::BitError).collect();
    assert_eq!(states, [&(0, EventKind::ErrorPassive), &(0, EventKind::ErrorActive)]);
    let mut clockwork = Clockwork::of_bus(failing(2, 15));
    clockwork.send(port(0), &frame());
    clockwork.run_for(Duration::from_ms(10));
    assert_eq!(time_of(&clockwork, EventKind::ErrorPassive), None);
}

#[test]
fn nobody_to_acknowledge_makes_a_sender_passive_but_never_off() {
    let mut clockwork = Clockwork::of_bus(bus(1));
    clockwork.send(port(0), &frame());
    clockwork.run_for(Duration::from_ms(100));
    assert_eq!(clockwork.counters(0), (128, 0));
    let told = clockwork.told();
    assert!(told.iter().filter(|(_, kind)| *kind == EventKind::AckError).count() > 100);
    assert_eq!(told.iter().filter(|(_, kind)| *kind != EventKind::AckError).count(), 1);
    assert!(time_of(&clockwork, EventKind::ErrorPassive).is_some());
    // ACK slot missed, 6 bits of flag, 8 of delimiter, 3 of intermission, and when passive 8 more that are not busy.
    let statistics = clockwork.statistics();
    let one = timing().frame(&frame()) - NOMINAL_BIT * 8 + NOMINAL_BIT * (6 + 8 + 3);
    assert_eq!(statistics.failed, one * statistics.failed_attempts as i64);
}

#[test]
fn thirty_two_errors_put_a_sender_off_the_bus_and_1408_recessive_bits_bring_it_back() {
    let mut clockwork = Clockwork::of_bus(failing(2, 32));
    clockwork.send(port(0), &frame());
    clockwork.run_for(Duration::from_ms(50));
    let off = time_of(&clockwork, EventKind::BusOff).unwrap();
    let back = time_of(&clockwork, EventKind::ErrorActive).unwrap();
    assert_eq!(
        clockwork.events.iter().filter(|(_, node, kind)| node.0 == 0 && *kind == EventKind::BitError).count(),
        32
    );
    // Bus-off is told when the delimiter of 8 recessive bits is over, which belong to the first sequence.
    assert_eq!(back - off, NOMINAL_BIT * (128 * 11 - 8));
    assert_eq!(clockwork.delivered_to(port(1)), [frame()]);
    let departed_at = clockwork.deliveries[0].departed_at;
    assert_eq!(departed_at, back);
    assert_eq!(clockwork.counters(0), (0, 0));
}

#[test]
fn on_a_full_bus_recovery_takes_128_frames() {
    let mut config = failing(3, 100);
    let babble = base(0x555, &[0x55; 2]);
    let (from, until) = (at(Duration::from_ms(10)), at(Duration::from_ms(60)));
    config.babblers = vec![Babbler { attachment: port(1), frame: babble, from, until }];
    let mut clockwork = Clockwork::of_bus(config);
    clockwork.run_until(at(Duration::from_ms(8)));
    clockwork.send(port(0), &frame());
    clockwork.run_until(at(Duration::from_ms(80)));
    let off = time_of(&clockwork, EventKind::BusOff).unwrap();
    let back = time_of(&clockwork, EventKind::ErrorActive).unwrap();
    assert!(off > from && back < until, "{off} {back}");
    let between = clockwork.deliveries.iter().filter(|one| one.to == port(2) && one.at > off && one.at < back).count();
    // The sequence that ends the error frame is the first of 128.
    assert_eq!(between, 127);
}

#[test]
fn without_recovery_frames_are_discarded_with_the_reason() {
    let mut config = failing(2, 32);
    config.controllers[0].recovers_from_bus_off = false;
    let mut clockwork = Clockwork::of_bus(config);
    clockwork.send(port(0), &frame());
    clockwork.send(port(0), &base(0x700, &[]));
    clockwork.run_for(Duration::from_ms(50));
    clockwork.send(port(0), &frame());
    clockwork.run_for(Duration::from_ms(50));
    let lost = (0, EventKind::Discarded(DiscardReason::BusOff));
    assert_eq!(clockwork.told().iter().filter(|told| **told == lost).count(), 3);
    assert_eq!(time_of(&clockwork, EventKind::ErrorActive), None);
    assert!(clockwork.deliveries.is_empty() && clockwork.through.is_empty());
    assert_eq!(clockwork.frames.in_flight(), 0);
}

#[test]
fn a_node_in_bus_off_neither_hears_nor_acknowledges() {
    let mut clockwork = Clockwork::of_bus(failing(2, 32));
    clockwork.send(port(0), &frame());
    run_until_told(&mut clockwork, EventKind::BusOff);
    clockwork.send(port(1), &base(0x100, &[]));
    clockwork.run_for(Duration::from_us(500));
    assert!(clockwork.deliveries.is_empty());
    assert!(clockwork.told().contains(&(1, EventKind::AckError)));
}

#[test]
fn a_passive_sender_waits_eight_bits_more_and_lets_others_go_first() {
    let mut config = failing(3, 18);
    // The attempt of node 1 is undisturbed.
    config.faults.remove(16);
    let mut clockwork = Clockwork::of_bus(config);
    for n in 0..3 {
        clockwork.send(port(0), &base(0x2a0 + n, &[0x55; 4]));
    }
    run_until_told(&mut clockwork, EventKind::ErrorPassive);
    clockwork.send(port(1), &base(0x7ff, &[]));
    clockwork.run_for(Duration::from_ms(5));
    let ids: Vec<_> = clockwork.delivered_to(port(2)).iter().map(|frame| frame.id().raw()).collect();
    assert_eq!(ids[0], 0x7ff);
    assert_eq!(ids[1..], [0x2a0, 0x2a1, 0x2a2]);
    // The 17th failure left 136: after its first frame the sender is passive still.
    let heard: Vec<_> = clockwork.deliveries.iter().filter(|one| one.to == port(2)).collect();
    assert_eq!(heard[2].departed_at - heard[1].at, NOMINAL_BIT * (3 + 8));
}

#[test]
fn a_passive_sender_says_so_in_its_fd_frames() {
    let mut clockwork = Clockwork::of_bus(failing(2, 17));
    clockwork.send(port(0), &CanFrame::fd(CanId::standard(0x2aa).unwrap(), &[0x55; 8], false).unwrap());
    clockwork.run_for(Duration::from_ms(20));
    let heard = clockwork.delivered_to(port(1));
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0].kind(), FrameKind::Fd { brs: false, esi: true });
}

#[test]
fn receive_errors_make_a_receiver_passive_which_then_disturbs_nobody() {
    // Node 1 alone sees a wrong bit in every attempt: while active it destroys each frame, 9 up each time.
    let mut config = bus(3);
    config.faults = (0..40).map(|attempt| Fault { attempt, bit: 20, seen_by: Some(port(1)) }).collect();
    let mut clockwork = Clockwork::of_bus(config);
    for n in 0..10 {
        clockwork.send(port(0), &base(0x2aa, &[n, 0x00, 0x00]));
    }
    clockwork.run_for(Duration::from_ms(40));
    assert!(clockwork.told().contains(&(1, EventKind::ErrorPassive)));
    // Node 2 got every frame, once.
    let data: Vec<_> = clockwork.delivered_to(port(2)).iter().map(|frame| frame.data()[0]).collect();
    assert_eq!(data, (0..10).collect::<Vec<_>>());
    assert!(clockwork.delivered_to(port(1)).len() < 10);
    assert_eq!(clockwork.frames.in_flight(), 0);
}
