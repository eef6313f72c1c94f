//! What a bus says of itself to its driver.

use core::num::NonZeroU64;

use chronoseal_wire::can::plain;

use super::*;

#[test]
fn the_frame_that_is_being_sent_counts_among_those_that_wait() {
    let mut clockwork = Clockwork::of_bus(bus(2));
    for id in 1..=3 {
        clockwork.send(port(0), &base(id, &[]));
    }
    clockwork.run_for(NOMINAL_BIT * 10);
    assert_eq!([0, 1, 2].map(|node| clockwork.bus.queue_len(port(node))), [Some(3), Some(0), None]);
    clockwork.run_for(Duration::from_ms(1));
    assert_eq!(clockwork.bus.queue_len(port(0)), Some(0));
}

#[test]
fn a_sender_learns_of_each_frame_that_is_through() {
    let clockwork = Clockwork::of_bus(bus(2));
    assert!(clockwork.bus.tells_transmitted(port(0)));
}

/// A bus that has made other plans since does nothing at the time of the old ones.
#[test]
fn a_turn_that_was_taken_is_void() {
    let mut frames = FrameStore::new();
    let mut can = CanBus::new(bus(2), 1).expect("it is a bus");
    let mut out = Vec::new();
    can.start(SimTime::ZERO, &mut frames, &mut out);
    let mut bytes = [0; 72];
    let len = base(1, &[1, 2, 3]).emit(&mut bytes);
    let frame = frames.allocate(FrameLabel::default());
    frames.buffer(frame)[..len].copy_from_slice(&bytes[..len]);
    frames.set_len(frame, len);
    can.handle_frame(SimTime::ZERO, port(0), Priority(0), frame, &mut frames, &mut out);
    let mut turns = Vec::new();
    while let Some(MediumOutput::Timer { at, timer }) = out.pop() {
        assert!(!turns.contains(&timer), "a turn has a number of its own");
        can.handle_timer(at, timer, &mut frames, &mut out);
        turns.push(timer);
        out.retain(|output| matches!(output, MediumOutput::Timer { .. }));
        let waiting = out.len();
        can.handle_timer(at, timer, &mut frames, &mut out);
        assert_eq!(out.len(), waiting, "nothing is done twice");
    }
    assert!(turns.len() > 1);
    assert_eq!(can.statistics().frames, 1);
}

#[test]
fn the_series_hold_what_was_counted() {
    let window = Duration::from_us(200);
    let mut config = bus(3);
    config.load_window = Some(window);
    config.faults = vec![Fault { attempt: 0, bit: 30, seen_by: None }];
    let mut clockwork = Clockwork::of_bus(config);
    let (first, second) = (base(0x100, &[0x55; 8]), base(0x200, &[0x55; 8]));
    clockwork.send(port(0), &first);
    clockwork.send(port(1), &second);
    clockwork.run_for(Duration::from_ms(3));
    let series = clockwork.bus.series();
    let of = |name, window| {
        let found = series.iter().find(|one| one.name == name && one.window == window);
        found.unwrap_or_else(|| panic!("no series {name}")).values.clone()
    };
    assert_eq!(of("frames", None), [2]);
    assert_eq!(of("failed attempts", None), [1]);
    assert_eq!(of("lost arbitrations", None), [2], "at the failed attempt and at the next one");
    let busy = clockwork.statistics().busy;
    assert!(busy > timing().frame(&first) + timing().frame(&second));
    assert_eq!(of("busy", None), [busy.as_ns()]);
    let by_window = of("busy", Some(window));
    assert_eq!((by_window[0], by_window.iter().sum::<i64>()), (window.as_ns(), busy.as_ns()));
}

#[test]
fn bits_are_inverted_as_often_as_configured() {
    let frame = base(0x2aa, &[0x55; 8]);
    let bits = plain::encode(&frame).len() as f64;
    let mut config = bus(3);
    let mean = 1_000;
    config.bits_between_errors = NonZeroU64::new(mean);
    let mut clockwork = Clockwork::of_bus(config);
    for _ in 0..2_000 {
        clockwork.send(port(0), &frame);
        clockwork.run_for(Duration::from_ms(2));
    }
    let statistics = clockwork.statistics();
    let failed = statistics.failed_attempts as f64 / (statistics.failed_attempts + statistics.frames) as f64;
    // Independent errors: a frame comes through if none falls on one of its bits.
    let expected = 1.0 - (-bits / mean as f64).exp();
    assert!((failed - expected).abs() < 0.02, "{failed:.3} of the attempts failed, {expected:.3} were expected");
}
