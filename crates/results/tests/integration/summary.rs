use chronoseal_core::{AttackKind, DiscardReason, Duration, Event, EventKind, NodeId, StreamId};
use chronoseal_results::{EventRow, FrameRow, Outcome, RunRows, summarise};

use crate::sample::{acquired, delivered, meta, rows, spoofed, us};

#[test]
fn counts_a_run_where_every_deadline_held() {
    let summary = summarise(&meta(), &rows(400));
    let stream = &summary.streams[0];
    assert_eq!((stream.sent, stream.delivered, stream.late, stream.missing), (400, 400, 0, 0));
    let latency = stream.end_to_end.all.unwrap();
    assert_eq!((latency.n, latency.min_ns, latency.p99_ns, latency.max_ns), (400, 20_000, Some(20_000), 20_000));
    assert_eq!(latency.p999_ns, None, "400 samples do not carry a 99.9th percentile");
    assert_eq!(stream.residence.all.unwrap().max_ns, 3_000);
    assert_eq!(stream.tx.all.unwrap().max_ns, 7_000);
    assert_eq!(stream.rx.all.unwrap().max_ns, 10_000);
    assert!(summary.deadlines_held());
    assert_eq!(summary.forged_accepted(), 0);
}

#[test]
fn one_late_missing_or_corrupted_frame_breaks_the_verdict() {
    for outcome in [
        Outcome::Late,
        Outcome::Missing,
        Outcome::Discarded(DiscardReason::TagMismatch),
        Outcome::Discarded(DiscardReason::QueueFull),
    ] {
        let mut rows = rows(400);
        rows.frames[200].outcome = outcome;
        assert!(!summarise(&meta(), &rows).deadlines_held(), "{outcome:?}");
    }
    assert!(!summarise(&meta(), &RunRows::default()).deadlines_held(), "nothing delivered is nothing held");
}

#[test]
fn what_was_on_its_way_at_the_end_is_not_lost() {
    let mut rows = rows(400);
    rows.frames[399].outcome = Outcome::Unaccounted;
    let summary = summarise(&meta(), &rows);
    assert_eq!((summary.streams[0].in_flight, summary.streams[0].unaccounted), (1, 0));
    assert!(summary.deadlines_held());
    rows.frames[200].outcome = Outcome::Unaccounted;
    let summary = summarise(&meta(), &rows);
    assert_eq!((summary.streams[0].in_flight, summary.streams[0].unaccounted), (1, 1));
    assert!(!summary.deadlines_held());
}

#[test]
fn start_up_ends_when_every_clock_has_joined() {
    let mut rows = rows(400);
    rows.events[1] = acquired(1, 25_000);
    for row in &mut rows.frames[..3] {
        row.outcome = Outcome::Discarded(DiscardReason::NotSynchronised);
    }
    let summary = summarise(&meta(), &rows);
    assert_eq!(summary.ready_ns, 25_000_000);
    assert_eq!(summary.clocks[1].acquired_cycles, Some(3));
    assert_eq!(summary.streams[0].startup, 3);
    assert!(summary.deadlines_held());
    rows.frames[3].outcome = Outcome::Discarded(DiscardReason::NotSynchronised);
    assert!(!summarise(&meta(), &rows).deadlines_held(), "after start-up nothing is excused");
}

#[test]
fn a_clock_that_never_joins_breaks_the_verdict() {
    let mut rows = rows(400);
    rows.events.remove(1);
    assert!(!summarise(&meta(), &rows).deadlines_held());
}

#[test]
fn corrections_count_only_after_the_clock_joined() {
    let corrected = |at: i64, correction: Duration| EventRow {
        time: us(at),
        node: NodeId(0),
        event: Event { value: correction.as_ps(), ..Event::of(EventKind::ClockCorrected, StreamId::NONE, 1) },
    };
    let mut rows = rows(3);
    // The first beacon's correction comes with the acquisition itself; rows need not be in order.
    rows.events.push(corrected(20_000, Duration::from_ns(-700)));
    rows.events.push(corrected(0, Duration::from_ms(5)));
    rows.events.push(corrected(10_000, Duration::from_ns(300)));
    let clock = &summarise(&meta(), &rows).clocks[0];
    assert_eq!((clock.corrections, clock.correction_max_ns), (2, Some(700)));
    assert_eq!(clock.first_correction_ns, Some(5_000_000));
}

#[test]
fn attacks_are_told_apart_by_what_stopped_them() {
    let mut rows = rows(3);
    rows.frames.push(spoofed(1, Outcome::Discarded(DiscardReason::TagMismatch)));
    rows.frames.push(spoofed(1, Outcome::Delivered));
    rows.frames.push(FrameRow {
        attack: Some(AttackKind::Replay),
        outcome: Outcome::Discarded(DiscardReason::Replayed),
        ..spoofed(2, Outcome::Delivered)
    });
    let summary = summarise(&meta(), &rows);
    let spoof = &summary.attacks[0];
    assert_eq!((spoof.attack.as_str(), spoof.attacker.as_str(), spoof.stream.as_str()), ("spoof", "attacker", "speed"));
    assert_eq!((spoof.attempts, spoof.stopped_by_schedule, spoof.stopped_by_tag, spoof.accepted), (1, 1, 1, 1));
    let replay = &summary.attacks[1];
    assert_eq!((replay.attempts, replay.stopped_by_freshness, replay.accepted), (1, 1, 0));
    assert_eq!(summary.forged_accepted(), 1);
    assert_eq!(summary.streams[0].delivered, 3, "an attacker's frames are no frames of the stream");
}

#[test]
fn stalled_frames_are_shown_and_told_apart() {
    let mut rows = rows(400);
    rows.frames[5].stalled = true;
    rows.frames[5].received_at = Some(us(5 * 10_000 + 9_000));
    let summary = summarise(&meta(), &rows);
    let spread = summary.streams[0].end_to_end;
    assert_eq!((spread.all.unwrap().n, spread.all.unwrap().max_ns), (400, 8_000_000));
    assert_eq!((spread.stall_free.unwrap().n, spread.stall_free.unwrap().max_ns), (399, 20_000));
    assert_eq!((summary.stalls.count, summary.stalls.total_ns, summary.stalls.frames), (1, 700_000, 1));
}

#[test]
fn frames_of_no_known_stream_or_node_do_no_harm() {
    let mut rows = rows(3);
    rows.frames.push(FrameRow { stream: StreamId::NONE, at: NodeId(900), ..delivered(1) });
    rows.frames.push(FrameRow {
        stream: StreamId::NONE,
        outcome: Outcome::Discarded(DiscardReason::UnknownStream),
        ..delivered(1)
    });
    rows.frames.push(FrameRow { stream: StreamId(77), ..delivered(1) });
    assert_eq!(summarise(&meta(), &rows).strangers, 1);
}

#[test]
fn a_frame_whose_slot_an_attacker_took_is_denied_not_missing() {
    let mut rows = rows(400);
    // The spoof of the sample hits cycle 1.
    rows.frames[1].outcome = Outcome::Discarded(DiscardReason::DuplicateInWindow);
    let summary = summarise(&meta(), &rows);
    assert_eq!((summary.streams[0].denied, summary.streams[0].discarded_total()), (1, 0));
    assert!(summary.deadlines_held());
    rows.frames[2].outcome = Outcome::Discarded(DiscardReason::DuplicateInWindow);
    let summary = summarise(&meta(), &rows);
    assert_eq!((summary.streams[0].denied, summary.streams[0].discarded_total()), (1, 1));
    assert!(!summary.deadlines_held(), "no attack excuses another cycle");
}

#[test]
fn a_sender_s_own_word_counts_even_if_its_frame_was_replaced_on_the_wire() {
    let mut rows = rows(3);
    for k in 0..4 {
        let event = Event::of(EventKind::Sent, StreamId(0), k);
        rows.events.push(EventRow { time: us(k as i64 * 10_000), node: NodeId(0), event });
        // An attacker's frames are not the stream's.
        rows.events.push(EventRow { time: us(k as i64 * 10_000), node: NodeId(2), event });
    }
    assert_eq!(summarise(&meta(), &rows).streams[0].sent, 4);
}
