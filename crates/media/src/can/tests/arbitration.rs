//! Who goes first, and when.

use chronoseal_core::DiscardReason;
use chronoseal_wire::can::{Dlc, IdFilter};

use super::*;

#[test]
fn a_frame_on_an_idle_bus_takes_exactly_its_bits() {
    let mut clockwork = Clockwork::of_bus(bus(3));
    clockwork.run_until(at(Duration::from_us(100)));
    let frame = CanFrame::fd(CanId::extended(0x0301_0281).unwrap(), &[0x5a; 64], true).unwrap();
    clockwork.send(port(1), &frame);
    clockwork.run_for(Duration::from_ms(1));
    let end = at(Duration::from_us(100)) + timing().frame(&frame);
    let heard: Vec<_> = clockwork.deliveries.iter().map(|one| (one.at, one.to, one.departed_at)).collect();
    let began = at(Duration::from_us(100));
    assert_eq!(heard, [(end, port(0), began), (end, port(2), began)]);
    assert_eq!(clockwork.through, [(end, port(1), began)], "its sender hears of it when it is over");
    assert_eq!(clockwork.statistics().busy, timing().frame(&frame) + timing().intermission());
    assert_eq!(clockwork.frames.in_flight(), 0);
}

#[test]
fn the_lowest_identifier_wins_and_the_others_follow_in_order() {
    let mut clockwork = Clockwork::of_bus(bus(4));
    // The first frame keeps the bus while the others come.
    clockwork.send(port(3), &base(0x7ff, &[]));
    clockwork.run_for(Duration::from_us(10));
    for (node, id) in [(0, 0x300), (1, 0x100), (2, 0x200)] {
        clockwork.send(port(node), &base(id, &[node as u8]));
    }
    clockwork.run_for(Duration::from_ms(2));
    let ids: Vec<_> = clockwork.deliveries.iter().map(|one| one.frame.id().raw()).collect();
    assert_eq!(ids, [[0x7ff; 3], [0x100; 3], [0x200; 3], [0x300; 3]].concat());
    // Two lose against 0x100, one against 0x200.
    assert_eq!(clockwork.statistics().lost_arbitrations, 3);
    // The bus is never free between them but for the intermission.
    let starts: Vec<_> = clockwork.deliveries.iter().step_by(3).map(|one| (one.departed_at, one.at)).collect();
    for pair in starts.windows(2) {
        assert_eq!(pair[1].0, pair[0].1 + timing().intermission());
    }
}

#[test]
fn base_beats_extended_and_data_beats_remote() {
    let base_id = CanId::standard(0x123).unwrap();
    let extended = CanId::extended(0x123 << 18).unwrap();
    let frames = [
        CanFrame::classical(base_id, &[1]).unwrap(),
        CanFrame::remote(base_id, Dlc::new(1).unwrap()),
        CanFrame::classical(extended, &[1]).unwrap(),
        CanFrame::remote(extended, Dlc::new(1).unwrap()),
    ];
    let mut clockwork = Clockwork::of_bus(bus(5));
    for (node, frame) in frames.iter().enumerate().rev() {
        clockwork.send(port(node as u16), frame);
    }
    clockwork.run_for(Duration::from_ms(5));
    assert_eq!(clockwork.delivered_to(port(4)), frames);
}

#[test]
fn whoever_wants_to_send_before_the_sample_point_of_sof_joins() {
    let sample = timing().nominal_sample();
    for (late, first) in [(sample - Duration::from_ps(1), 0x100), (sample, 0x200)] {
        let mut clockwork = Clockwork::of_bus(bus(3));
        clockwork.send(port(0), &base(0x200, &[]));
        clockwork.run_for(late);
        clockwork.send(port(1), &base(0x100, &[]));
        clockwork.run_for(Duration::from_ms(1));
        let heard = clockwork.delivered_to(port(2));
        assert_eq!(heard[0].id().raw(), first, "{late}");
        assert_eq!(heard.len(), 2);
    }
}

#[test]
fn a_frame_is_never_interrupted() {
    let mut clockwork = Clockwork::of_bus(bus(3));
    let long = CanFrame::fd(CanId::standard(0x7ff).unwrap(), &[0; 64], false).unwrap();
    clockwork.send(port(0), &long);
    clockwork.run_for(Duration::from_us(20));
    clockwork.send(port(1), &base(0, &[]));
    clockwork.run_for(Duration::from_ms(3));
    assert_eq!(clockwork.delivered_to(port(2)), [long, base(0, &[])]);
}

#[test]
fn a_queue_is_ordered_by_identifier_or_by_age() {
    for (order, expected) in
        [(QueueOrder::ByIdentifier, [0x300, 0x100, 0x200]), (QueueOrder::Fifo, [0x300, 0x200, 0x100])]
    {
        let mut config = bus(2);
        config.controllers[0].queue_order = order;
        let mut clockwork = Clockwork::of_bus(config);
        clockwork.send(port(0), &base(0x300, &[]));
        clockwork.run_for(Duration::from_us(10));
        clockwork.send(port(0), &base(0x200, &[]));
        clockwork.send(port(0), &base(0x100, &[]));
        clockwork.run_for(Duration::from_ms(1));
        let ids: Vec<_> = clockwork.delivered_to(port(1)).iter().map(|frame| frame.id().raw()).collect();
        assert_eq!(ids, expected);
    }
}

#[test]
fn equal_identifiers_of_one_node_keep_their_order() {
    let mut clockwork = Clockwork::of_bus(bus(2));
    for n in 0..10 {
        clockwork.send(port(0), &base(0x100, &[n]));
    }
    clockwork.run_for(Duration::from_ms(5));
    let data: Vec<_> = clockwork.delivered_to(port(1)).iter().map(|frame| frame.data()[0]).collect();
    assert_eq!(data, (0..10).collect::<Vec<_>>());
}

#[test]
fn a_full_queue_says_so() {
    let mut config = bus(2);
    config.controllers[0].queue_len_max = 3;
    let mut clockwork = Clockwork::of_bus(config);
    for n in 0..5 {
        clockwork.send(port(0), &base(0x100 + n, &[]));
    }
    assert_eq!(clockwork.told(), [(0, EventKind::Discarded(DiscardReason::QueueFull)); 2]);
    assert_eq!(clockwork.bus.queue_len(port(0)), Some(3));
    clockwork.run_for(Duration::from_ms(1));
    assert_eq!(clockwork.delivered_to(port(1)).len(), 3);
    assert_eq!(clockwork.frames.in_flight(), 0);
}

#[test]
fn what_is_no_frame_of_this_bus_is_discarded_with_the_reason() {
    let mut config = bus(2);
    config.carries_fd = false;
    let mut clockwork = Clockwork::of_bus(config);
    clockwork.send_bytes(port(0), &[0; 3]);
    clockwork.send_bytes(port(0), &[0xff; 16]);
    clockwork.send(port(0), &CanFrame::fd(CanId::standard(1).unwrap(), &[], true).unwrap());
    clockwork.send(port(7), &base(1, &[]));
    let reasons = [
        (0, DiscardReason::TooShort),
        (0, DiscardReason::Malformed),
        (0, DiscardReason::UnsupportedFormat),
        (7, DiscardReason::WrongPort),
    ];
    assert_eq!(clockwork.told(), reasons.map(|(node, reason)| (node, EventKind::Discarded(reason))));
    assert_eq!(clockwork.frames.in_flight(), 0);
}

#[test]
fn a_controller_hands_over_only_what_its_filters_pass() {
    let mut config = bus(3);
    config.controllers[1].acceptance = vec![IdFilter { id: CanId::standard(0x100).unwrap(), mask: 0x700 }];
    let mut clockwork = Clockwork::of_bus(config);
    for id in [0x0ff, 0x100, 0x1ff, 0x200] {
        clockwork.send(port(0), &base(id, &[]));
    }
    clockwork.run_for(Duration::from_ms(2));
    let ids: Vec<_> = clockwork.delivered_to(port(1)).iter().map(|frame| frame.id().raw()).collect();
    assert_eq!(ids, [0x100, 0x1ff]);
    assert_eq!(clockwork.delivered_to(port(2)).len(), 4);
}

#[test]
fn a_babbler_takes_what_lower_identifiers_leave() {
    let mut config = bus(3);
    let frame = base(0x080, &[0xba; 8]);
    let (from, until) = (at(Duration::from_ms(1)), at(Duration::from_ms(6)));
    config.babblers = vec![Babbler { attachment: port(0), frame, from, until }];
    let mut clockwork = Clockwork::of_bus(config);
    clockwork.run_until(at(Duration::from_ms(2)));
    clockwork.send(port(1), &base(0x100, &[]));
    clockwork.send(port(1), &base(0x010, &[]));
    clockwork.run_until(at(Duration::from_ms(10)));
    let heard: Vec<_> = clockwork.deliveries.iter().filter(|one| one.to == port(2)).collect();
    let when = |id| heard.iter().find(|one| one.frame.id().raw() == id).unwrap().at;
    assert!(when(0x010) < at(Duration::from_us(2_600)));
    assert!(when(0x100) >= until);
    assert!(
        heard.iter().filter(|one| one.frame == frame).all(|one| one.departed_at >= from && one.departed_at < until)
    );
    // Back to back: the bus is used from the first frame to the last.
    assert!(clockwork.statistics().busy > Duration::from_ms(5));
}
