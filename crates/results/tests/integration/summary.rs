use chronoseal_core::{AttackKind, DiscardReason, Duration, Event, EventKind, NodeId, StreamId};
use chronoseal_results::{
    ClockDomainMeta, EventRow, FrameRow, HopRow, NodeMeta, NodeRole, Outcome, RunRows, SegmentMeta, StallRow,
    StreamMeta, summarise,
};

use crate::sample::{acquired, backbone, delivered, meta, rows, series, spoofed, us};

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
fn start_up_ends_when_every_clock_has_joined() {
    let mut rows = rows(400);
    rows.events[1] = acquired(1, 25_000);
    for row in &mut rows.frames[..3] {
        row.outcome = Outcome::Discarded(DiscardReason::NotSynchronised);
    }
    let summary = summarise(&meta(), &rows);
    assert_eq!(summary.streams[0].ready_ns, 25_000_000);
    assert_eq!(summary.clocks[1].acquired_cycles, Some(3));
    assert_eq!(summary.streams[0].startup, 3);
    assert!(summary.deadlines_held());
    rows.frames[3].outcome = Outcome::Discarded(DiscardReason::NotSynchronised);
    assert!(!summarise(&meta(), &rows).deadlines_held(), "after start-up nothing is excused");
}

#[test]
fn start_up_ends_when_counters_have_come_and_lasts_one_period_of_theirs_at_most() {
    let told_at = |at_us: i64| {
        let mut meta = meta();
        let master = StreamMeta {
            name: "freshness".into(),
            class: "synchronisation".into(),
            period_ns: 40_000_000,
            ..meta.streams[0].clone()
        };
        meta.streams[0].counters = Some(1);
        meta.streams.push(master);
        let mut rows = rows(400);
        for row in &mut rows.frames[..6] {
            row.outcome = Outcome::Discarded(DiscardReason::NotSynchronised);
        }
        let told = FrameRow { stream: StreamId(1), accepted_at: Some(us(at_us)), ..delivered(0) };
        rows.frames.push(told);
        let summary = summarise(&meta, &rows);
        (summary.streams[0].ready_ns, summary.streams[0].startup, summary.streams[0].discarded.values().sum::<u64>())
    };
    assert_eq!(told_at(25_000), (25_000_000, 3, 3));
    assert_eq!(told_at(90_000), (40_000_000, 4, 2));
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
fn without_events_every_copy_of_an_attack_is_an_attempt() {
    let copies = [
        (2, Outcome::Discarded(DiscardReason::Malformed)),
        (3, Outcome::Discarded(DiscardReason::WrongPort)),
        (5, Outcome::Discarded(DiscardReason::TagMismatch)),
        (7, Outcome::Discarded(DiscardReason::Replayed)),
        (11, Outcome::Discarded(DiscardReason::QueueFull)),
        (13, Outcome::Unaccounted),
        (17, Outcome::Late),
    ];
    let frames = copies.iter().flat_map(|(count, outcome)| (0..*count).map(|k| spoofed(k, *outcome))).collect();
    let summary = summarise(&meta(), &RunRows { frames, ..RunRows::default() });
    let [ref spoof] = summary.attacks[..] else { panic!("{:?}", summary.attacks) };
    assert_eq!((spoof.stopped_by_format, spoof.stopped_by_schedule, spoof.stopped_by_tag), (2, 3, 5));
    assert_eq!((spoof.stopped_by_freshness, spoof.stopped_by_capacity), (7, 11));
    assert_eq!((spoof.stopped(), spoof.in_flight, spoof.accepted), (28, 13, 17));
    assert_eq!((spoof.attempts, summary.attack_attempts()), (58, 58));
}

#[test]
fn tasks_are_summed_up_by_node() {
    let event = |at: i64, node: u16, kind, response: Duration| EventRow {
        time: us(at),
        node: NodeId(node),
        event: Event { value: response.as_ps(), ..Event::of(kind, StreamId::NONE, 0) },
    };
    let mut rows = rows(3);
    rows.events.push(event(100, 1, EventKind::TaskDone, Duration::from_us(30)));
    rows.events.push(event(200, 1, EventKind::TaskDone, Duration::from_us(50)));
    rows.events.push(event(300, 1, EventKind::TaskOverrun, Duration::ZERO));
    rows.events.push(event(300, 0, EventKind::TaskOverrun, Duration::ZERO));
    let summary = summarise(&meta(), &rows);
    let told: Vec<_> = (summary.tasks.iter())
        .map(|one| {
            (one.node.as_str(), one.done, one.overruns, one.response.map(|spread| (spread.min_ns, spread.max_ns)))
        })
        .collect();
    assert_eq!(told, [("ecu1", 0, 1, None), ("ecu2", 2, 1, Some((30_000, 50_000)))]);
}

#[test]
fn the_figures_of_a_segment_by_windows_are_found_by_segment_and_name() {
    let window = Some(Duration::from_ms(10));
    let mut rows = rows(3);
    rows.segments = vec![
        series(0, "busy", "ns", None, &[1]),
        series(1, "busy", "ns", window, &[2]),
        series(0, "frames", "frames", window, &[3]),
        series(0, "busy", "ns", window, &[4]),
        series(1, "frames", "frames", None, &[5]),
    ];
    let values = |segment, name| rows.by_window(segment, name).map(|series| series.values.clone());
    assert_eq!((values(0, "busy"), values(1, "busy")), (Some(vec![4]), Some(vec![2])));
    assert_eq!((values(0, "frames"), values(1, "frames"), values(2, "busy")), (Some(vec![3]), None, None));
}

#[test]
fn stalled_frames_are_shown_and_told_apart() {
    let mut rows = rows(400);
    rows.frames[5].stalled = true;
    rows.frames[5].accepted_at = Some(us(5 * 10_000 + 9_000));
    let summary = summarise(&meta(), &rows);
    let spread = summary.streams[0].end_to_end;
    assert_eq!((spread.all.unwrap().n, spread.all.unwrap().max_ns), (400, 8_000_000));
    assert_eq!((spread.stall_free.unwrap().n, spread.stall_free.unwrap().max_ns), (399, 20_000));
    assert_eq!((summary.stalls.count, summary.stalls.total_ns, summary.stalls.frames), (1, 700_000, 1));
    let unfit = |stalled: usize| {
        let mut rows = self::rows(400);
        rows.frames[..stalled].iter_mut().for_each(|row| row.stalled = true);
        summarise(&meta(), &rows).unfit()
    };
    assert_eq!([0, 43, 44, 400].map(unfit), [None, None, Some(11), Some(100)]);
}

#[test]
fn a_frame_that_the_host_held_up_is_told_from_one_that_failed_by_itself() {
    let of = |outcomes: &[(usize, Outcome, bool)]| {
        let mut rows = rows(400);
        for (place, outcome, stalled) in outcomes {
            (rows.frames[*place].outcome, rows.frames[*place].stalled) = (*outcome, *stalled);
        }
        let summary = summarise(&meta(), &rows);
        (summary.streams[0].failed(), summary.streams[0].held_up, summary.failed_in_stalls())
    };
    let outside = Outcome::Discarded(DiscardReason::OutsideWindow);
    assert_eq!(of(&[]), (0, 0, false));
    assert_eq!(of(&[(200, Outcome::Late, true), (210, outside, true)]), (2, 2, true));
    assert_eq!(of(&[(200, Outcome::Late, true), (210, outside, false)]), (2, 1, false));
    // The host does not change tags.
    assert_eq!(of(&[(200, Outcome::Discarded(DiscardReason::TagMismatch), true)]), (1, 0, false));
    // A slot in which nothing came says nothing of a stall itself: its time does.
    let missing = |stall_ms: i64| {
        let mut rows = rows(400);
        rows.stalls = vec![StallRow { time: us(stall_ms * 1_000), duration: Duration::from_us(700) }];
        let frame = &mut rows.frames[200];
        *frame = FrameRow {
            outcome: Outcome::Missing,
            sent_at: None,
            arrived_at: None,
            departed_at: None,
            received_at: None,
            accepted_at: None,
            due_at: None,
            ..*frame
        };
        let summary = summarise(&meta(), &rows);
        (summary.streams[0].failed(), summary.failed_in_stalls())
    };
    assert_eq!([missing(2_005), missing(2_055)], [(1, true), (1, false)]);
    let clock_lost = |stall_ms: i64| {
        let mut rows = rows(400);
        rows.stalls = vec![StallRow { time: us(stall_ms * 1_000), duration: Duration::from_us(700) }];
        let event = Event::of(EventKind::SyncLost, StreamId::NONE, 0);
        rows.events.push(EventRow { time: us(2_005_000), ..acquired(1, 0) });
        rows.events.last_mut().unwrap().event = event;
        let summary = summarise(&meta(), &rows);
        (summary.deadlines_held(), summary.failed_in_stalls())
    };
    assert_eq!([clock_lost(2_000), clock_lost(2_006)], [(false, true), (false, false)]);
}

#[test]
fn what_fails_while_a_clock_is_gone_that_a_stall_has_lost_is_laid_to_the_host() {
    // The clock is lost at 2.005 s, another one in its wake, and both are back at 2.2 s; this frame has nobody to take it.
    let of = |stall_ms: i64, frame: usize| {
        let mut rows = rows(400);
        rows.stalls = vec![StallRow { time: us(stall_ms * 1_000), duration: Duration::from_us(700) }];
        for (node, lost_ms) in [(1, 2_005), (0, 2_090)] {
            let lost = Event::of(EventKind::SyncLost, StreamId::NONE, 0);
            rows.events.push(EventRow { event: lost, ..acquired(node, lost_ms * 1_000) });
            rows.events.push(acquired(node, 2_200_000));
        }
        rows.frames[frame].outcome = Outcome::Discarded(DiscardReason::NotSynchronised);
        let summary = summarise(&meta(), &rows);
        let held_up = summary.clocks.iter().map(|clock| clock.held_up).sum::<u64>();
        (summary.streams[0].held_up, held_up, summary.failed_in_stalls())
    };
    assert_eq!(of(2_000, 215), (1, 2, true));
    assert_eq!(of(2_000, 225), (0, 2, false), "the clocks were back");
    assert_eq!(of(1_980, 215), (0, 0, false), "no stall took the first of them");
}

#[test]
fn a_clock_that_joins_late_is_laid_to_a_stall_before_that() {
    let of = |stall_ms: i64| {
        let mut rows = rows(400);
        rows.events[1] = acquired(1, 3_000_000);
        rows.stalls = vec![StallRow { time: us(stall_ms * 1_000), duration: Duration::from_us(700) }];
        let summary = summarise(&meta(), &rows);
        (summary.clocks[1].joined_late(), summary.clocks[1].failed_in_stalls())
    };
    assert_eq!([of(5), of(3_001)], [(true, true), (true, false)]);
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

#[test]
fn a_lost_clock_breaks_the_verdict_of_a_run_in_which_every_frame_was_in_time() {
    let mut rows = rows(400);
    rows.events.push(EventRow { event: Event::of(EventKind::SyncLost, StreamId::NONE, 0), ..acquired(1, 3_990_000) });
    let summary = summarise(&meta(), &rows);
    assert!(summary.streams[0].held() && !summary.deadlines_held());
    assert_eq!((summary.clocks[0].held(), summary.clocks[1].held()), (true, false));
}

#[test]
fn each_segment_keeps_its_own_clocks() {
    let mut meta = meta();
    let body = SegmentMeta { name: "body".into(), clocks: None, schedule: None, ..backbone() };
    let chassis = ClockDomainMeta {
        cycle_ns: 20_000_000,
        nodes: vec![1],
        dependents: Vec::new(),
        startup_cycles: None,
        precision_ns: None,
        spared: Vec::new(),
    };
    let chassis = SegmentMeta { name: "chassis".into(), clocks: Some(chassis), schedule: None, ..backbone() };
    meta.segments.extend([body, chassis]);
    meta.streams.push(StreamMeta { name: "on-body".into(), segments: vec![1], ..meta.streams[0].clone() });
    let mut rows = rows(400);
    rows.events[1] = acquired(1, 25_000);
    rows.frames[0].outcome = Outcome::Discarded(DiscardReason::NotSynchronised);
    let on_body = |k| FrameRow { stream: StreamId(1), ..delivered(k) };
    rows.frames.extend([FrameRow { outcome: Outcome::Late, ..on_body(0) }, on_body(1)]);
    let summary = summarise(&meta, &rows);
    let clocks: Vec<_> =
        summary.clocks.iter().map(|c| (c.segment.as_str(), c.node.as_str(), c.acquired_cycles)).collect();
    let expected = [("backbone", "ecu1", Some(0)), ("backbone", "ecu2", Some(3)), ("chassis", "ecu2", Some(2))];
    assert_eq!(clocks, expected);
    assert_eq!((summary.streams[0].startup, summary.streams[0].late), (1, 0));
    // Nobody on the bus waits for the clocks of another segment.
    assert_eq!((summary.streams[1].startup, summary.streams[1].late), (0, 1));
}

#[test]
fn what_a_segment_counted_is_summed_up_by_name() {
    let mut meta = meta();
    meta.duration_ns = 40_000_000;
    let window = Some(Duration::from_ms(10));
    let mut rows = rows(3);
    rows.segments = vec![
        series(0, "busy", "ns", None, &[12_000_000]),
        series(0, "busy", "ns", window, &[2_000_000, 9_000_000, 1_000_000]),
        series(0, "dropped", "frames", window, &[0, 5, 1]),
        series(7, "busy", "ns", None, &[1]),
    ];
    let summary = summarise(&meta, &rows);
    let [ref backbone] = summary.segments[..] else { panic!("{:?}", summary.segments) };
    let busy = backbone.series("busy").unwrap();
    assert_eq!((busy.total, busy.window_max, busy.window_ns), (12_000_000, Some(9_000_000), Some(10_000_000)));
    assert_eq!((busy.share, busy.share_max), (Some(0.3), Some(0.9)));
    let dropped = backbone.series("dropped").unwrap();
    assert_eq!((dropped.total, dropped.window_max, dropped.share), (6, Some(5), None));
    assert_eq!(backbone.load(), Some(busy));
}

/// Frames 0 and 1 from `ecu1` to a gateway, and from there, with one more that the gateway had, to `ecu2`.
fn way(sequence: i64) -> Vec<HopRow> {
    let frame = sequence as u64 * 10;
    let at = |offset_us: i64| Some(us(sequence * 1_000 + offset_us));
    let hop = |segment, from, to, frame, origins, sent_at, received_at| HopRow {
        stream: StreamId(0),
        sequence: sequence as u64,
        segment,
        from: NodeId(from),
        to: NodeId(to),
        sent_at,
        arrived_at: None,
        departed_at: None,
        received_at,
        frame,
        origins,
    };
    vec![
        hop(1, 0, 4, frame, vec![], at(0), at(100)),
        HopRow { stream: StreamId::NONE, ..hop(1, 1, 4, frame + 1, vec![], at(0), at(250)) },
        hop(0, 4, 1, frame + 2, vec![frame, frame + 1], at(300), at(330)),
        // Somebody else hears it there.
        hop(0, 4, 3, frame + 2, vec![frame, frame + 1], at(300), at(999)),
    ]
}

#[test]
fn time_on_a_way_over_several_segments_is_divided_among_them_and_the_nodes_between() {
    let mut meta = meta();
    meta.segments.push(SegmentMeta { name: "body".into(), clocks: None, schedule: None, ..backbone() });
    meta.nodes.push(NodeMeta { name: "gateway".into(), role: NodeRole::Station, on_link_of: None });
    let rows = RunRows { hops: (0..20).flat_map(way).collect(), ..RunRows::default() };
    let summary = summarise(&meta, &rows);
    let parts: Vec<_> =
        summary.streams[0].way.iter().map(|part| (part.name.as_str(), part.time.n, part.time.max_ns)).collect();
    assert_eq!(parts, [("body", 20, 100_000), ("gateway", 20, 200_000), ("backbone", 20, 30_000)]);

    let mut unknown = rows.clone();
    unknown.hops.retain(|hop| hop.segment == 0);
    assert!(summarise(&meta, &unknown).streams[0].way.is_empty(), "a way of which a part is not known has no parts");
    let mut circle = rows;
    circle.hops.iter_mut().for_each(|hop| {
        if hop.segment == 1 {
            (hop.from, hop.origins) = (NodeId(4), vec![hop.frame]);
        }
    });
    assert!(summarise(&meta, &circle).streams[0].way.is_empty(), "origins that lead in a circle end");
}
