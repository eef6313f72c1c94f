//! Messages of several frames in slots: each frame has one.

use super::*;

/// Two messages of three frames in a cycle, each frame in a slot of its own.
fn in_slots() -> TalkerConfig {
    let slots = (0..2 * FRAGMENTS as i64).map(|instance| {
        let start = slot_start(instance);
        SendSlot { release: if instance % 3 == 0 { start - Duration::from_us(100) } else { start }, start }
    });
    TalkerConfig {
        timing: TalkerTiming::Slots {
            ct_id: CT_ID,
            slots: slots.collect(),
            is_numbered: false,
            samples: false,
            application: None,
        },
        protection: hmac(Freshness::Full, 1),
        ..image()
    }
}

/// Slots are 200 us apart, and messages half a cycle.
fn slot_start(instance: i64) -> Duration {
    START + CYCLE / 2 * (instance / 3) + Duration::from_us(200) * (instance % 3)
}

fn fusion_in_slots() -> Bench {
    let windows = (0..2 * FRAGMENTS as i64).map(|instance| {
        let slot_start = slot_start(instance);
        ReceiveWindow { slot_start, opens: slot_start, closes: slot_start + Duration::from_us(50) }
    });
    let listener = ListenerConfig {
        datagram: datagram(1_500),
        ..ListenerConfig::new(STREAM, Some(CT_ID), windows.collect(), hmac(Freshness::Full, 1))
    };
    Bench::started(EndSystemConfig { listeners: vec![listener], ..config(1) })
}

/// The frames of the first cycle, by the slot they are sent in.
fn sent_in_slots() -> Vec<Vec<u8>> {
    let mut camera = Bench::started(EndSystemConfig { talkers: vec![in_slots()], ..config(0) });
    let mut frames = Vec::new();
    for instance in 0..6 {
        let release = slot_start(instance) - if instance % 3 == 0 { Duration::from_us(100) } else { Duration::ZERO };
        let sent = camera.wake(at(release)).sent;
        assert_eq!(sent.len(), 1, "one frame in each slot");
        assert_eq!(sent[0].0, at(slot_start(instance)));
        frames.extend(sent.into_iter().map(|(.., bytes)| bytes));
    }
    frames
}

/// What a receiver says of frames that come in these slots, and of the windows that close meanwhile.
fn told_in_slots(fusion: &mut Bench, frames: &[(i64, &Vec<u8>)]) -> Vec<(EventKind, u64)> {
    let mut events = Vec::new();
    for (instance, bytes) in frames {
        let now = at(slot_start(*instance) + Duration::from_us(20));
        events.extend(fusion.wake(now - Duration::from_ps(1)).events);
        events.extend(fusion.input(now, Input::Frame { rx_at: now, port: PortId(0), bytes }).events);
    }
    events
}

#[test]
fn a_message_in_slots_has_one_for_each_of_its_frames_and_counts_from_the_first() {
    let (mut fusion, frames) = (fusion_in_slots(), sent_in_slots());
    let in_their_slots: Vec<_> = (0..).zip(&frames).collect();
    assert_eq!(told_in_slots(&mut fusion, &in_their_slots), [BEGAN(0), DELIVERED(0), BEGAN(1), DELIVERED(1)]);
}

#[test]
fn a_slot_that_stays_empty_ends_its_message_and_none_but_its_own() {
    let frames = sent_in_slots();
    let without = |lost: usize| -> Vec<_> { (0..).zip(&frames).filter(|(at, _)| *at != lost as i64).collect() };
    let gone = discarded(DiscardReason::Interrupted, 0);
    let told = |lost| told_in_slots(&mut fusion_in_slots(), &without(lost));
    let missing = (EventKind::Missing, 0);
    // Without a beginning the rest is nobody's.
    assert_eq!(told(0), [missing, NOTHING, NOTHING, BEGAN(1), DELIVERED(1)]);
    assert_eq!(told(1), [BEGAN(0), discarded(DiscardReason::WrongSequence, 0), BEGAN(1), DELIVERED(1)]);
    assert_eq!(told(2), [BEGAN(0), gone, BEGAN(1), DELIVERED(1)]);
}

#[test]
fn a_frame_of_a_message_counts_in_its_own_slot_alone() {
    let frames = sent_in_slots();
    // The second frame comes in the slot of the third, and the other way round.
    let swapped = [(0, &frames[0]), (1, &frames[2]), (2, &frames[1]), (3, &frames[3])];
    let mut fusion = fusion_in_slots();
    assert_eq!(told_in_slots(&mut fusion, &swapped)[..2], [BEGAN(0), NOTHING]);
    // Nor does it go on with a message that began in slots of another.
    let mut fusion = fusion_in_slots();
    let told = told_in_slots(&mut fusion, &[(0, &frames[0]), (4, &frames[1])]);
    assert_eq!(told, [BEGAN(0), (EventKind::Missing, 3), NOTHING]);
}

/// The frames of the first cycle over both networks, and a receiver with a window of each that is `later` in the second.
fn over_both(later: Duration, real_bytes: bool) -> (Bench, Vec<Vec<u8>>) {
    let numbered = TalkerConfig { datagram: datagram(1_499), ..in_slots() };
    let TalkerTiming::Slots { ct_id, slots, samples, application, .. } = numbered.timing.clone() else {
        panic!("slots")
    };
    let timing = TalkerTiming::Slots { ct_id, slots, is_numbered: true, samples, application };
    let talkers = vec![TalkerConfig { timing, ..numbered }];
    let mut camera = Bench::started(EndSystemConfig { talkers, has_second_port: true, real_bytes, ..config(0) });
    let mut frames = Vec::new();
    for instance in 0..6 {
        let release = slot_start(instance) - if instance % 3 == 0 { Duration::from_us(100) } else { Duration::ZERO };
        frames.extend(camera.wake(at(release)).sent.into_iter().map(|(.., bytes)| bytes));
    }
    let listener = fusion_in_slots().0.listeners[0].config.clone();
    let behind = |window: &ReceiveWindow| ReceiveWindow {
        opens: window.opens + later,
        closes: window.closes + later,
        ..*window
    };
    let listeners = vec![ListenerConfig {
        second_windows: listener.windows.iter().map(behind).collect(),
        replication: Some(Replication::Networks { skew_max: CYCLE / 2 }),
        datagram: datagram(1_499),
        ..listener
    }];
    (Bench::started(EndSystemConfig { listeners, has_second_port: true, real_bytes, ..config(1) }), frames)
}

/// What a receiver says of copies: the network, the slot, so long after its start, and the frame.
fn told_of_copies(fusion: &mut Bench, copies: &[(u16, i64, i64, &Vec<u8>)]) -> Vec<(EventKind, u64)> {
    let step = |(port, instance, us, bytes): &(u16, i64, i64, &Vec<u8>)| {
        let now = at(slot_start(*instance) + Duration::from_us(*us));
        fusion.input(now, Input::Frame { rx_at: now, port: PortId(*port), bytes }).events
    };
    copies.iter().flat_map(step).collect()
}

#[test]
fn each_frame_of_a_message_in_slots_has_a_number_and_is_taken_once_of_two_networks() {
    for real_bytes in [true, false] {
        let (mut fusion, frames) = over_both(Duration::from_us(60), real_bytes);
        let numbers: Vec<u8> = frames.iter().filter_map(|frame| frame.last().copied()).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
        let both = |instance: i64| {
            [(0, instance, 20, &frames[instance as usize]), (1, instance, 80, &frames[instance as usize])]
        };
        let copies: Vec<_> = (0..6).flat_map(both).collect();
        let copy = |number| discarded(DiscardReason::CopyEliminated, number);
        let told = told_of_copies(&mut fusion, &copies);
        let expected = [BEGAN(0), copy(0), copy(0), DELIVERED(0), copy(0)];
        assert_eq!(told[..5], expected, "{real_bytes}");
        assert_eq!(told[5..], [BEGAN(1), copy(1), copy(0), DELIVERED(1), copy(0)], "{real_bytes}");
    }
}

#[test]
fn a_network_that_fails_amid_a_message_in_slots_loses_none_nor_does_one_that_loses_single_frames() {
    let whole = |kept: &[(u16, i64)]| {
        let (mut fusion, frames) = over_both(Duration::from_us(60), true);
        let frame =
            |&(port, instance): &(u16, i64)| (port, instance, 20 + 60 * i64::from(port), &frames[instance as usize]);
        let copies: Vec<_> = kept.iter().map(frame).collect();
        let told = told_of_copies(&mut fusion, &copies);
        told.into_iter().filter(|(kind, _)| *kind == EventKind::Delivered).map(|(_, number)| number).collect::<Vec<_>>()
    };
    // The first network fails behind the first frame, whose copy comes in time as well.
    assert_eq!(whole(&[(0, 0), (1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (1, 5)]), [0, 1]);
    // One frame is lost over each, another one each time.
    assert_eq!(whole(&[(0, 0), (1, 0), (1, 1), (0, 2), (0, 3), (1, 3), (0, 4), (1, 4), (0, 5), (1, 5)]), [0, 1]);
    // A frame of which no copy comes takes its message along, and none but that.
    assert_eq!(whole(&[(0, 0), (1, 0), (0, 2), (1, 2), (0, 3), (1, 3), (0, 4), (1, 4), (0, 5)]), [1]);
}

#[test]
fn a_slot_of_a_message_is_taken_once_though_its_copy_has_another_number() {
    let (mut fusion, frames) = over_both(Duration::from_us(60), true);
    let mut other = frames[0].clone();
    *other.last_mut().unwrap() = 1;
    let copies = [(0, 0, 20, &frames[0]), (1, 0, 80, &other), (0, 1, 20, &frames[1]), (0, 2, 20, &frames[2])];
    let told = told_of_copies(&mut fusion, &copies);
    assert_eq!(told, [BEGAN(0), discarded(DiscardReason::DuplicateInWindow, 0), DELIVERED(0)]);
}
