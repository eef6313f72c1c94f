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
