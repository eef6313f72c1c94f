//! Disturbed frames: who finds which error where, and how long the bus is lost.

use chronoseal_core::DiscardReason;
use chronoseal_wire::can::plain::{self, Field};

use super::*;

/// Alternating levels, so that every run before a fault is one bit long.
fn alternating() -> CanFrame {
    base(0x2aa, &[0x55; 8])
}

/// Index of a data bit of that level behind a single bit of the other one, stuff bits counted.
fn data_bit(frame: &CanFrame, recessive: bool) -> u32 {
    let bits = plain::encode(frame);
    let levels = [recessive, !recessive, recessive];
    let found = bits
        .windows(3)
        .position(|three| three[2].field == Field::Data && three.iter().map(|bit| bit.recessive).eq(levels));
    found.unwrap() as u32 + 2
}

fn with_fault(stations: u16, bit: u32, seen_by: Option<u16>) -> CanBusConfig {
    let mut config = bus(stations);
    config.faults = vec![Fault { attempt: 0, bit, seen_by: seen_by.map(port) }];
    config
}

/// The first attempt failed, the second went through; how many bits the first one took, intermission included.
fn one_retransmission(clockwork: &Clockwork, frame: &CanFrame) -> i64 {
    let statistics = clockwork.statistics();
    assert_eq!((statistics.frames, statistics.failed_attempts), (1, 1));
    assert_eq!(statistics.busy - statistics.failed, timing().frame(frame) + timing().intermission());
    assert_eq!(statistics.failed.rem_floor(NOMINAL_BIT), Duration::ZERO);
    assert_eq!(clockwork.frames.in_flight(), 0);
    statistics.failed.div_floor(NOMINAL_BIT)
}

#[test]
fn flags_of_sender_and_receivers_superpose_to_between_6_and_12_bits() {
    let frame = alternating();
    // A recessive bit seen dominant by all joins the dominant bit before it: with the fourth bit of the sender's flag
    // the receivers have seen six, and add six of their own. Dominant seen as recessive: with the sixth.
    for (recessive, flags) in [(true, 4 + 6), (false, 6 + 6)] {
        let bit = data_bit(&frame, recessive);
        let mut clockwork = Clockwork::of_bus(with_fault(3, bit, None));
        clockwork.send(port(0), &frame);
        clockwork.run_for(Duration::from_ms(2));
        assert_eq!(clockwork.told(), [(0, EventKind::BitError)]);
        let until_fault = i64::from(bit) + 1;
        assert_eq!(one_retransmission(&clockwork, &frame), until_fault + flags + 8 + 3);
        assert_eq!(clockwork.delivered_to(port(1)), [frame]);
        assert_eq!(clockwork.delivered_to(port(2)), [frame]);
        let heard_at = clockwork.deliveries[0].at;
        assert_eq!(
            clockwork.through.iter().map(|one| one.0).collect::<Vec<_>>(),
            [heard_at],
            "not of the first attempt"
        );
        // 8 up, then 1 down for the frame that was sent; 1 up, then 1 down.
        assert_eq!([0, 1, 2].map(|node| clockwork.counters(node)), [(7, 0), (0, 0), (0, 0)]);
    }
}

#[test]
fn a_fault_in_the_data_phase_goes_back_to_the_nominal_rate_at_the_sample_point() {
    let frame = CanFrame::fd(CanId::standard(0x2aa).unwrap(), &[0x55; 16], true).unwrap();
    let bit = data_bit(&frame, true);
    let mut clockwork = Clockwork::of_bus(with_fault(2, bit, None));
    clockwork.send(port(0), &frame);
    clockwork.run_for(Duration::from_ms(2));
    let bits = plain::encode(&frame);
    let before: Duration = (0..bit as usize)
        .map(|index| timing().bit(index > 0 && bits[index - 1].ends_fast, bits[index].ends_fast))
        .sum();
    let error = timing().bit(true, false) + NOMINAL_BIT * (4 + 6 + 8 + 3);
    assert_eq!(clockwork.statistics().failed, before + error);
    assert_eq!(clockwork.delivered_to(port(1)), [frame]);
}

#[test]
fn the_receiver_that_flags_first_pays_eight_more() {
    // Node 1 alone sees a stuff bit like the five bits before it.
    let frame = base(0x2aa, &[0x00; 4]);
    let bits = plain::encode(&frame);
    let stuff = bits.iter().position(|bit| bit.stuffed == plain::Stuffed::Dynamic).unwrap() as u32;
    let mut clockwork = Clockwork::of_bus(with_fault(3, stuff, Some(1)));
    clockwork.send(port(0), &frame);
    clockwork.run_for(Duration::from_ms(2));
    assert_eq!(clockwork.told(), [(1, EventKind::StuffError)]);
    one_retransmission(&clockwork, &frame);
    // Node 1: 1 for the error, 8 because the others' flags begin later and outlast its own, less 1 for the good frame.
    assert_eq!([0, 1, 2].map(|node| clockwork.counters(node)), [(7, 0), (0, 8), (0, 0)]);
    assert_eq!(clockwork.delivered_to(port(1)), [frame]);
}

#[test]
fn a_crc_error_is_flagged_behind_the_ack_delimiter() {
    let frame = base(0x2aa, &[0x55, 0x12, 0x34]);
    let bits = plain::encode(&frame);
    let mut crc_errors = 0;
    for bit in (0..bits.len()).filter(|bit| bits[*bit].field == Field::Crc) {
        let mut clockwork = Clockwork::of_bus(with_fault(3, bit as u32, Some(1)));
        clockwork.send(port(0), &frame);
        clockwork.run_for(Duration::from_ms(2));
        if clockwork.told() != [(1, EventKind::CrcError)] {
            // The wrong bit made a sixth equal one, or a stuff bit.
            continue;
        }
        crc_errors += 1;
        // Node 1 flags from the first bit of EOF on, the others one bit later: 7 dominant bits.
        let until_eof = bits.len() as i64 - 7;
        assert_eq!(one_retransmission(&clockwork, &frame), until_eof + 7 + 8 + 3);
        assert_eq!([0, 1, 2].map(|node| clockwork.counters(node)), [(7, 0), (0, 8), (0, 0)]);
    }
    assert!(crc_errors >= 5, "{crc_errors}");
}

#[test]
fn an_error_the_sender_alone_sees_in_the_last_bit_makes_receivers_take_the_frame_twice() {
    let frame = alternating();
    let last = plain::encode(&frame).len() as u32 - 1;
    let mut clockwork = Clockwork::of_bus(with_fault(2, last, Some(0)));
    clockwork.send(port(0), &frame);
    clockwork.run_for(Duration::from_ms(2));
    assert_eq!(clockwork.delivered_to(port(1)), [frame, frame]);
    assert_eq!(clockwork.told(), [(0, EventKind::BitError)]);
    // The flag falls into the receiver's intermission: an overload condition, which does not count.
    assert_eq!([0, 1].map(|node| clockwork.counters(node)), [(7, 0), (0, 0)]);
}

#[test]
fn an_error_a_receiver_alone_sees_in_the_last_bit_is_an_overload() {
    let frame = alternating();
    let last = plain::encode(&frame).len() as u32 - 1;
    let mut clockwork = Clockwork::of_bus(with_fault(2, last, Some(1)));
    clockwork.send(port(0), &frame);
    clockwork.run_for(Duration::from_ms(2));
    assert_eq!(clockwork.delivered_to(port(1)), [frame]);
    assert!(clockwork.told().is_empty());
    // The receiver's flag, seen one bit later by the sender, delays the next frame: 7 + 8 + 3 bits after EOF.
    assert_eq!(clockwork.statistics().busy, timing().frame(&frame) + NOMINAL_BIT * (7 + 8 + 3));
}

#[test]
fn the_same_identifier_twice_is_a_bit_error_where_the_frames_differ() {
    let (one, other) = (base(0x123, &[0x0f]), base(0x123, &[0xf0]));
    let mut clockwork = Clockwork::of_bus(bus(3));
    clockwork.send(port(0), &one);
    clockwork.send(port(1), &other);
    clockwork.run_for(Duration::from_us(100));
    // Node 1 sends the first recessive bit of the data.
    assert_eq!(clockwork.told(), [(1, EventKind::BitError)]);
    assert_eq!(clockwork.statistics().failed_attempts, 1);
    assert_eq!([0, 1].map(|node| clockwork.counters(node)), [(8, 0), (8, 0)]);
    assert!(clockwork.deliveries.is_empty());
    // In step they collide again and again, until both are error passive and one flag is no longer seen.
    clockwork.run_for(Duration::from_ms(20));
    let heard = clockwork.delivered_to(port(2));
    assert!(heard.contains(&one) && heard.contains(&other), "{heard:?}");
    assert!(clockwork.told().contains(&(1, EventKind::ErrorPassive)));
    assert_eq!(clockwork.frames.in_flight(), 0);
}

#[test]
fn the_same_frame_from_two_nodes_is_sent_once() {
    let frame = base(0x123, &[1, 2, 3]);
    let mut clockwork = Clockwork::of_bus(bus(3));
    clockwork.send(port(0), &frame);
    clockwork.send(port(1), &frame);
    clockwork.run_for(Duration::from_ms(1));
    assert_eq!(clockwork.delivered_to(port(2)), [frame]);
    assert_eq!(clockwork.statistics().busy, timing().frame(&frame) + timing().intermission());
    assert!(clockwork.told().is_empty());
    assert_eq!(clockwork.frames.in_flight(), 0);
}

#[test]
fn a_classical_and_an_fd_frame_of_one_identifier_part_at_fdf() {
    let classical = base(0x2aa, &[0x55]);
    let fd = CanFrame::fd(classical.id(), &[0x55], true).unwrap();
    let mut clockwork = Clockwork::of_bus(bus(3));
    clockwork.send(port(0), &classical);
    clockwork.send(port(1), &fd);
    clockwork.run_for(Duration::from_us(80));
    // FDF is no part of the arbitration field: its sender sees a bit error.
    assert_eq!(clockwork.told(), [(1, EventKind::BitError)]);
    let fdf = plain::encode(&fd).iter().position(|bit| bit.field == Field::Fdf).unwrap() as i64;
    let failed = clockwork.statistics().failed.div_floor(NOMINAL_BIT);
    assert!((fdf + 1 + 6 + 8 + 3..=fdf + 1 + 12 + 8 + 3).contains(&failed), "{fdf} {failed}");
}

#[test]
fn a_stuff_error_during_arbitration_does_not_count() {
    // Five dominant bits after SOF; the stuff bit behind them is recessive and seen dominant by its sender.
    let frame = base(0x001, &[]);
    let stuff = plain::encode(&frame).iter().position(|bit| bit.stuffed == plain::Stuffed::Dynamic).unwrap() as u32;
    let mut clockwork = Clockwork::of_bus(with_fault(2, stuff, Some(0)));
    clockwork.send(port(0), &frame);
    clockwork.run_for(Duration::from_ms(1));
    assert_eq!(clockwork.told(), [(0, EventKind::StuffError)]);
    assert_eq!(clockwork.counters(0), (0, 0));
    assert_eq!(clockwork.delivered_to(port(1)), [frame]);
}

#[test]
fn a_sender_gives_up_after_the_attempts_it_may_make() {
    let mut config = bus(2);
    config.controllers[0].attempts_max = Some(2);
    config.faults = (0..2).map(|attempt| Fault { attempt, bit: 30, seen_by: Some(port(0)) }).collect();
    let mut clockwork = Clockwork::of_bus(config);
    clockwork.send(port(0), &base(0x2aa, &[0x55; 4]));
    clockwork.run_for(Duration::from_ms(2));
    let gave_up = EventKind::Discarded(DiscardReason::AttemptsExhausted);
    assert_eq!(clockwork.told(), [(0, EventKind::BitError), (0, EventKind::BitError), (0, gave_up)]);
    assert!(clockwork.deliveries.is_empty());
    assert_eq!(clockwork.frames.in_flight(), 0);
}

#[test]
fn both_ways_of_running_a_frame_agree_on_undisturbed_ones() {
    let frames = [
        alternating(),
        base(0, &[0; 8]),
        CanFrame::classical(CanId::extended(0x1fff_ffff).unwrap(), &[0xff; 8]).unwrap(),
        CanFrame::fd(CanId::standard(0x7ff).unwrap(), &[0; 64], true).unwrap(),
        CanFrame::fd(CanId::extended(0).unwrap(), &[0xf8; 12], false).unwrap(),
    ];
    for frame in frames {
        let run = |config| {
            let mut clockwork = Clockwork::of_bus(config);
            clockwork.send(port(0), &frame);
            clockwork.run_for(Duration::from_ms(5));
            (clockwork.deliveries.clone(), clockwork.statistics().clone())
        };
        // A fault far behind the frame makes the bus run bit by bit, and disturbs nothing.
        assert_eq!(run(bus(3)), run(with_fault(3, 10_000, None)), "{frame:?}");
    }
}
