use chronoseal_core::{AttackKind, DiscardReason, Duration, Event, EventKind, NodeId, SimTime, StreamId};
use chronoseal_report::{
    Block, Document, Evidence, Mark, RangePart, Ranges, RunView, Word, html, pair_report, run_report,
};
use chronoseal_results::{
    Allowance, BoundMeta, ClockDomainMeta, Engine, EventRow, FrameRow, HopRow, NodeMeta, NodeRole, Outcome,
    ProgramMeta, RunMeta, RunRows, ScheduleMeta, SegmentMeta, SegmentSeries, SlotMeta, StreamMeta, summarise,
};

fn us(us: i64) -> SimTime {
    SimTime::ZERO + Duration::from_us(us)
}

fn meta(engine: Engine) -> RunMeta {
    let node = |name: &str, role| NodeMeta { name: name.into(), role, on_link_of: None };
    RunMeta {
        nodes: vec![node("a", NodeRole::Station), node("b", NodeRole::Station), node("attacker", NodeRole::Attacker)],
        streams: vec![StreamMeta {
            name: "speed".into(),
            sender: 0,
            senders: None,
            receivers: vec![1],
            segments: vec![0],
            class: "time-triggered".into(),
            is_judged: true,
            is_numbered: true,
            is_due_each_period: false,
            is_replicated: false,
            is_lossy: false,
            counters: None,
            allowances: Vec::new(),
            trigger: None,
            period_ns: 10_000_000,
            frame_len: 60,
            secured_len: 80,
            protection: "hmac".into(),
            replayable: true,
            authenticated: true,
            is_opened_on_way: false,
            ends: Vec::new(),
            deadline_ns: None,
            bound: None,
            unbounded: None,
        }],
        segments: vec![backbone()],
        ..RunMeta::new("made-up", engine, 1)
    }
}

fn backbone() -> SegmentMeta {
    SegmentMeta {
        name: "backbone".into(),
        kind: "ethernet".into(),
        link_type: 1,
        links: Vec::new(),
        members: Vec::new(),
        properties: vec![("rate".into(), "100 Mbit/s".into())],
        clocks: Some(ClockDomainMeta {
            cycle_ns: 10_000_000,
            nodes: vec![0, 1],
            dependents: Vec::new(),
            startup_cycles: None,
            precision_ns: None,
            spared: Vec::new(),
        }),
        schedule: Some(ScheduleMeta {
            cycle_ns: 10_000_000,
            deliveries: Vec::new(),
            slots: vec![SlotMeta {
                stream: 0,
                start_ns: 1_000_000,
                frame_time_ns: 6_400,
                dispatch_ns: 1_010_000,
                end_ns: 1_206_400,
            }],
            tasks: Vec::new(),
        }),
    }
}

fn rows() -> RunRows {
    let joined = |node| EventRow {
        time: us(0),
        node: NodeId(node),
        event: Event::of(EventKind::SyncAcquired, StreamId::NONE, 0),
    };
    let frame = |k: i64| FrameRow {
        stream: StreamId(0),
        sequence: k as u64,
        sender: NodeId(0),
        at: NodeId(1),
        attack: None,
        len: 80,
        cycle_start: us(k * 10_000),
        slot_start: Some(us(k * 10_000 + 1_000)),
        sent_at: Some(us(k * 10_000 + 1_000)),
        arrived_at: Some(us(k * 10_000 + 1_007)),
        departed_at: Some(us(k * 10_000 + 1_010)),
        received_at: Some(us(k * 10_000 + 1_020 + k % 7)),
        due_at: Some(us(k * 10_000 + 1_000)),
        accepted_at: Some(us(k * 10_000 + 1_020 + k % 7)),
        outcome: Outcome::Delivered,
        stalled: false,
        lost_for: None,
    };
    RunRows { frames: (0..400).map(frame).collect(), events: vec![joined(0), joined(1)], ..RunRows::default() }
}

fn report(engine: Engine, rows: &RunRows) -> Document {
    let meta = meta(engine);
    run_report(&meta, &summarise(&meta, rows), rows)
}

#[test]
fn a_run_without_trouble_held() {
    let document = report(Engine::Sim, &rows());
    assert_eq!(document.verdict.word, Word::Held);
    assert!(document.verdict.text.contains("Every deadline held; nothing attacked"), "{}", document.verdict.text);
}

#[test]
fn a_run_that_the_host_held_up_all_the_time_is_unfit() {
    let says = |stalled: usize| {
        let mut rows = rows();
        rows.frames[..stalled].iter_mut().for_each(|row| row.stalled = true);
        let points = report(Engine::Live, &rows).verdict.points;
        points.iter().any(|point| point.contains("unfit for saying how long") && point.contains("50 %"))
    };
    assert!(says(200) && !says(20));
}

#[test]
fn a_run_of_which_only_the_host_is_to_blame_is_not_checked() {
    let of = |stalled: bool, attack: Option<AttackKind>| {
        let mut rows = rows();
        (rows.frames[200].outcome, rows.frames[200].stalled) = (Outcome::Late, stalled);
        let forged = FrameRow { attack, sender: NodeId(2), ..rows.frames[100] };
        rows.frames.extend(attack.map(|_| forged));
        report(Engine::Live, &rows).verdict
    };
    let held_up = of(true, None);
    assert_eq!(held_up.word, Word::NotChecked);
    let says = "Not checked, because this host was stalled while the 1 of 400 frames that was late or lost was due or on its way";
    assert!(held_up.text.starts_with(says), "{}", held_up.text);
    let forged = of(true, Some(AttackKind::Spoof));
    assert_eq!((of(false, None).word, forged.word), (Word::Failed, Word::Failed));
    assert!(forged.text.starts_with("Deadlines did not hold: 1 of 400 frames was late or lost"), "{}", forged.text);
}

#[test]
fn an_unfit_run_is_not_checked_if_it_failed_by_time_alone() {
    let of = |stalled: usize, outcome: Outcome| {
        let mut rows = rows();
        rows.frames[..stalled].iter_mut().for_each(|row| row.stalled = true);
        rows.frames[300].outcome = outcome;
        report(Engine::Live, &rows).verdict
    };
    let unfit = of(200, Outcome::Late);
    assert_eq!(unfit.word, Word::NotChecked);
    assert!(
        unfit.text.starts_with("Not checked, because this host was stalled while 50 % of all frames"),
        "{}",
        unfit.text
    );
    assert!(unfit.text.contains("too much to say why 1 of 400 frames was late or lost"), "{}", unfit.text);
    assert_eq!(of(20, Outcome::Late).word, Word::Failed, "so many others tell what the network does");
    assert_eq!(of(200, Outcome::Discarded(DiscardReason::TagMismatch)).word, Word::Failed, "no stall changes a tag");
}

#[test]
fn a_stream_of_which_nothing_could_be_judged_is_not_checked() {
    let (rows, meta) = (rows(), meta(Engine::Sim));
    let held = |delivered: u64| {
        let mut summary = summarise(&meta, &rows);
        summary.streams[0].delivered = delivered;
        let document = run_report(&meta, &summary, &rows);
        let blocks: Vec<&Block> = document.sections.iter().flat_map(|section| &section.blocks).collect();
        let table = blocks.iter().find_map(|block| match block {
            Block::Table(table) if table.columns.iter().any(|column| column.name == "held") => Some(table),
            _ => None,
        });
        table.unwrap().rows[0][1].text.clone()
    };
    assert_eq!([held(400), held(0)], ["yes", "not checked"]);
}

/// What a program says of its messages can contradict itself; what chronoseal counts cannot, and is then a fault of its own.
#[test]
fn more_messages_than_were_sent_are_laid_to_who_says_so() {
    let (rows, meta) = (rows(), meta(Engine::Live));
    let told = |class: &str| {
        let mut summary = summarise(&meta, &rows);
        summary.streams[0].class = class.into();
        summary.streams[0].receivers[0].due -= 2;
        let document = run_report(&meta, &summary, &rows);
        assert_eq!(document.verdict.word, Word::Failed);
        document.verdict.text
    };
    let (program, own) = (told("program"), told("time-triggered"));
    assert!(program.contains("the program of b reports 2 messages of stream speed more than were sent"), "{program}");
    assert!(!program.contains("please report"), "{program}");
    assert!(own.contains("please report this with the scenario and the seed"), "{own}");
}

#[test]
fn one_corrupted_tag_fails_the_run() {
    let mut rows = rows();
    rows.frames[200].outcome = Outcome::Discarded(DiscardReason::TagMismatch);
    let document = report(Engine::Sim, &rows);
    assert_eq!(document.verdict.word, Word::Failed);
    assert!(document.verdict.text.contains("1 of 400"), "{}", document.verdict.text);
    assert!(html(&document).contains("tag-mismatch"));
}

#[test]
fn an_accepted_replay_is_told_with_its_reason() {
    let mut rows = rows();
    rows.frames.push(FrameRow { attack: Some(AttackKind::Replay), sender: NodeId(2), ..rows.frames[5] });
    let document = report(Engine::Live, &rows);
    assert_eq!(document.verdict.word, Word::Failed);
    assert!(document.verdict.points.iter().any(|point| point.contains("carries no freshness value")), "{document:?}");
}

#[test]
fn who_stopped_an_attack_and_what_was_lost_meanwhile_is_told_by_place_and_reason() {
    let mut rows = rows();
    let red = Outcome::Discarded(DiscardReason::MeteredRed);
    let made_up = FrameRow { attack: Some(AttackKind::Babble), sender: NodeId(2), outcome: red, ..rows.frames[5] };
    rows.frames.extend([made_up, made_up]);
    for lost in [2, 7] {
        rows.frames[lost].outcome = Outcome::Discarded(DiscardReason::QueueFull);
    }
    let document = report(Engine::Sim, &rows);
    let tables = document.sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    });
    let texts = |caption: &str| -> Vec<Vec<String>> {
        let table = tables.clone().find(|table| table.caption == caption).expect("it has this table");
        table.rows.iter().map(|row| row.iter().map(|cell| cell.text.clone()).collect()).collect()
    };
    assert_eq!(texts("Who stopped what"), [["babble", "attacker", "speed", "b", "metered-red", "2"]]);
    let under = texts("What genuine frames came to under attack");
    let [row] = &under[..] else { panic!("{under:?}") };
    assert_eq!((row[0].as_str(), row[4].as_str(), row[5].as_str()), ("speed", "2", "b, queue-full: 2"));
}

#[test]
fn simulated_numbers_are_never_shown_as_measured() {
    assert!(!html(&report(Engine::Sim, &rows())).contains("<sup>M</sup>"));
    assert!(!html(&report(Engine::Live, &rows())).contains("<sup>S</sup>"));
}

#[test]
fn an_interrupted_run_says_so_and_does_not_hold() {
    let rows = RunRows { interrupted: true, ..rows() };
    let document = report(Engine::Sim, &rows);
    assert_eq!(document.verdict.word, Word::NotChecked);
    assert!(document.verdict.text.starts_with("Not checked, because the run was interrupted; until then: every"));
    assert!(document.verdict.points[0].contains("interrupted"));
}

#[test]
fn a_run_that_lost_a_process_is_not_checked_and_says_which() {
    let lost = Some("the process of b was lost in the middle of the run (signal: 9)".to_owned());
    let meta = RunMeta { lost, ..meta(Engine::Live) };
    let rows = RunRows { interrupted: true, ..rows() };
    let document = run_report(&meta, &summarise(&meta, &rows), &rows);
    assert_eq!(document.verdict.word, Word::NotChecked);
    assert!(
        document.verdict.text.starts_with("Not checked, because the process of b was lost"),
        "{}",
        document.verdict.text
    );
}

#[test]
fn a_program_that_failed_fails_the_run_and_one_that_did_not_changes_nothing() {
    let program = |is_well, how: &str| ProgramMeta {
        node: 1,
        command: vec!["serve".into(), "10.0.0.2".into()],
        ended_ns: None,
        how: how.into(),
        is_well,
        printed: "one\n\u{1b}[31mtwo\n".into(),
        processor_ns: Some(1_500_000_000),
        memory: None,
        serialized: Vec::new(),
    };
    let of = |program| {
        let meta = RunMeta { programs: vec![program], ..meta(Engine::Live) };
        run_report(&meta, &summarise(&meta, &rows()), &rows())
    };
    assert_eq!(of(program(true, "it ran until the end of the run")).verdict.word, Word::Held);
    let failed = of(program(false, "exit status 3"));
    assert_eq!(failed.verdict.word, Word::Failed);
    assert!(failed.verdict.text.contains("program of b failed (exit status 3)"), "{}", failed.verdict.text);
    let page = html(&failed);
    assert!(page.contains("serve 10.0.0.2") && page.contains("two") && !page.contains('\u{1b}'));
}

#[test]
fn the_schedule_is_drawn_as_planned_and_as_seen() {
    let document = report(Engine::Sim, &rows());
    let timelines: Vec<_> = document
        .sections
        .iter()
        .flat_map(|section| &section.blocks)
        .filter_map(|block| match block {
            Block::Timeline(timeline) => Some(timeline),
            _ => None,
        })
        .collect();
    assert_eq!(timelines.len(), 2);
    let names = |i: usize| timelines[i].lanes.iter().map(|lane| lane.name.as_str()).collect::<Vec<_>>();
    assert_eq!((names(0), names(1)), (vec!["from a", "to b"], vec!["from a", "to b"]));
    let seen = &timelines[1].lanes[0].bars[0];
    assert_eq!((seen.start_ns, seen.end_ns), (1_007_000 - 6_400, 1_007_000));
}

#[test]
fn an_empty_run_still_has_a_report() {
    let document = report(Engine::Live, &RunRows::default());
    assert_eq!(document.verdict.word, Word::Failed);
    assert!(html(&document).contains("the clock of a never joined on segment backbone, and another clock failed"));
    let nothing = RunMeta::new("nothing", Engine::Sim, 0);
    html(&run_report(&nothing, &summarise(&nothing, &RunRows::default()), &RunRows::default()));
}

#[test]
fn two_thousand_streams_make_a_page_people_can_open() {
    let mut meta = meta(Engine::Sim);
    let mut rows = rows();
    let schedule = meta.segments[0].schedule.as_mut().unwrap();
    let (stream, slot) = (meta.streams[0].clone(), schedule.slots[0]);
    meta.streams = (0..2_000).map(|i| StreamMeta { name: format!("speed.{i}"), ..stream.clone() }).collect();
    schedule.slots = (0..2_000).map(|i| SlotMeta { stream: i, start_ns: i64::from(i) * 5_000, ..slot }).collect();
    let frame = rows.frames[7];
    rows.frames = (0..2_000).map(|i| FrameRow { stream: StreamId(i), ..frame }).collect();
    rows.frames[1_999].outcome = Outcome::Late;
    let page = html(&run_report(&meta, &summarise(&meta, &rows), &rows));
    assert!(page.len() < 500_000, "{}", page.len());
    assert!(page.contains("speed.1999") && page.contains("40 of 2000 streams are shown"), "trouble is never cut");
}

#[test]
fn a_replaced_frame_is_told_and_fails_the_run_unless_the_scenario_allows_it() {
    let mut rows = rows();
    let spoof = FrameRow {
        attack: Some(AttackKind::Spoof),
        sender: NodeId(2),
        outcome: Outcome::Discarded(DiscardReason::TagMismatch),
        ..rows.frames[5]
    };
    rows.frames.push(spoof);
    rows.frames[5].outcome = Outcome::Discarded(DiscardReason::DuplicateInWindow);
    let document = report(Engine::Sim, &rows);
    assert_eq!(document.verdict.word, Word::Failed);
    assert!(document.verdict.text.contains("late or lost, or replaced by an attack"), "{}", document.verdict.text);
    assert!(document.verdict.points.iter().any(|point| point.contains("kept 1 genuine frames")));
    let mut allowing = meta(Engine::Sim);
    allowing.streams[0].allowances = vec![Allowance { reason: "replaced".into(), copies: 1 }];
    let document = run_report(&allowing, &summarise(&allowing, &rows), &rows);
    assert_eq!(document.verdict.word, Word::Held);
    assert!(document.verdict.text.contains("replaced: 1 of 1"), "{}", document.verdict.text);
}

#[test]
fn a_run_of_streams_that_are_not_judged_has_no_deadline_to_break() {
    let mut meta = meta(Engine::Sim);
    meta.streams[0].is_judged = false;
    let document = run_report(&meta, &summarise(&meta, &rows()), &rows());
    assert!(document.verdict.text.starts_with("No stream of this run has a deadline"), "{}", document.verdict.text);
}

/// The picture that opens a report.
fn picture(document: &Document) -> &Ranges {
    match &document.sections[0].blocks[0] {
        Block::Ranges(ranges) => ranges,
        other => panic!("a report opens with its picture, not with {other:?}"),
    }
}

#[test]
fn every_report_opens_with_one_picture_of_all_streams() {
    let document = report(Engine::Sim, &rows());
    let ranges = picture(&document);
    let row = &ranges.rows[0];
    assert_eq!((row.name.as_str(), row.note.as_str(), ranges.unit.as_str()), ("speed", "a \u{2192} b", "\u{b5}s"));
    assert_eq!((row.spreads[0].evidence, row.spreads[0].min, row.spreads[0].max), (Evidence::Simulated, 20.0, 26.0));
    assert!(row.deadline.is_none() && row.no_deadline.contains("its slot") && !row.unbounded.is_empty());
    let mut recording = meta(Engine::Sim);
    recording.segments[0].schedule = None;
    let document = run_report(&recording, &summarise(&recording, &rows()), &rows());
    assert_eq!(
        picture(&document).rows[0].no_deadline,
        "each identifier has its own, the median distance of its frames"
    );
    let measured = report(Engine::Live, &rows());
    assert_eq!(picture(&measured).rows[0].spreads[0].evidence, Evidence::Measured);
}

/// The titles of a report.
fn titles(document: &Document) -> Vec<&str> {
    document.sections.iter().map(|section| section.title.as_str()).collect()
}

#[test]
fn each_segment_has_a_section_whatever_its_kind() {
    let mut meta = meta(Engine::Sim);
    meta.duration_ns = 4_000_000_000;
    let bus = SegmentMeta { name: "body".into(), kind: "toy".into(), clocks: None, schedule: None, ..backbone() };
    meta.segments.push(bus);
    let series = |segment, name: &str, unit: &str, values: Vec<i64>| SegmentSeries {
        segment,
        name: name.into(),
        unit: unit.into(),
        window: Some(Duration::from_ms(10)),
        values,
    };
    // More windows than a page draws: the highest of some stands for them.
    let mut busy = vec![1_000_000; 1_024];
    busy[701] = 6_000_000;
    let segments = vec![
        series(1, "busy", "ns", busy),
        series(1, "dropped", "frames", vec![0, 3]),
        series(1, "carried", "frames", vec![7, 8]),
    ];
    let rows = RunRows { segments, ..rows() };
    let document = run_report(&meta, &summarise(&meta, &rows), &rows);
    assert!(titles(&document).contains(&"Segment backbone") && titles(&document).contains(&"Segment body"));
    let section = document.sections.iter().find(|section| section.title == "Segment body").unwrap();
    let charts: Vec<_> = section
        .blocks
        .iter()
        .filter_map(|block| if let Block::Chart(chart) = block { Some(chart) } else { None })
        .collect();
    let [load, counts] = charts[..] else { panic!("a chart for each unit: {charts:?}") };
    assert_eq!((load.series.len(), load.series[0].points.len(), load.y.unit.as_str()), (1, 513, "%"));
    assert_eq!(load.series[0].points[350], (7.0, 60.0));
    assert!(load.caption.contains("the highest of 2 windows"), "{}", load.caption);
    assert_eq!(counts.series.iter().map(|series| series.name.as_str()).collect::<Vec<_>>(), ["dropped", "carried"]);
    assert_eq!(counts.series[0].points, [(0.0, 0.0), (0.01, 3.0), (0.02, 3.0)]);
    let Block::Table(totals) = &section.blocks[1] else { panic!("{section:?}") };
    assert_eq!((totals.rows.len(), totals.rows[0][5].text.as_str()), (3, "60.00"));
    assert!(
        document
            .verdict
            .points
            .iter()
            .any(|point| point.contains("body (busy) 25.7 % of the time, 60.0 % in its busiest 10 ms"))
    );
    // The picture and its rows are the first segment's; the second has no schedule and no clocks.
    assert_eq!(titles(&document).iter().filter(|title| **title == "Schedule").count(), 1);
}

#[test]
fn the_verdict_names_the_segment_whose_clock_was_lost() {
    let mut meta = meta(Engine::Sim);
    meta.segments.push(SegmentMeta { name: "body".into(), clocks: None, schedule: None, ..backbone() });
    meta.streams[0].segments = vec![1];
    let mut rows = rows();
    let lost = Event::of(EventKind::SyncLost, StreamId::NONE, 0);
    rows.events.push(EventRow { time: us(3_000_000), node: NodeId(1), event: lost });
    let document = run_report(&meta, &summarise(&meta, &rows), &rows);
    assert_eq!(document.verdict.word, Word::Failed, "every frame on the healthy segment was in time");
    assert!(document.verdict.text.contains("the clock of b was lost on segment backbone"), "{}", document.verdict.text);
}

#[test]
fn what_a_way_over_several_segments_takes_is_drawn_by_hop() {
    let mut meta = meta(Engine::Sim);
    meta.segments.push(SegmentMeta { name: "body".into(), clocks: None, schedule: None, ..backbone() });
    let hop = |k: i64, segment, from, to, sent_us: i64, received_us: i64| HopRow {
        stream: StreamId(0),
        sequence: k as u64,
        segment,
        from: NodeId(from),
        to: NodeId(to),
        sent_at: Some(us(k * 10_000 + sent_us)),
        arrived_at: None,
        departed_at: None,
        received_at: Some(us(k * 10_000 + received_us)),
        frame: k as u64 * 2 + u64::from(segment == 0),
        origins: if segment == 0 { vec![k as u64 * 2] } else { Vec::new() },
    };
    let mut rows = rows();
    rows.hops = (0..400).flat_map(|k| [hop(k, 1, 0, 2, 1_000, 1_005), hop(k, 0, 2, 1, 1_007, 1_020)]).collect();
    let document = run_report(&meta, &summarise(&meta, &rows), &rows);
    let ranges = picture(&document);
    assert_eq!(ranges.hops, ["body", "attacker", "backbone", "b"]);
    let values: Vec<f64> = ranges.rows[0].spreads[0].parts.iter().map(|part| part.value).collect();
    assert_eq!(values, [5.0, 2.0, 13.0, 3.0]);
}

#[test]
fn the_picture_shows_deadline_and_bound_by_hop() {
    let mut meta = meta(Engine::Sim);
    meta.streams[0].deadline_ns = Some(25_000);
    let parts = vec![("front".into(), 10_000), ("switch".into(), 5_000), ("front".into(), 15_000)];
    meta.streams[0].bound = Some(BoundMeta { total_ns: 30_000, parts });
    let document = run_report(&meta, &summarise(&meta, &rows()), &rows());
    let ranges = picture(&document);
    assert_eq!(ranges.hops, ["front", "switch"]);
    let bound = ranges.rows[0].bound.as_ref().expect("it has one");
    assert_eq!((bound.total, bound.parts[2]), (30.0, RangePart { hop: 0, value: 15.0 }));
    assert!(ranges.rows[0].missed(), "26 us are beyond 25 us");
    meta.streams[0].bound = None;
    meta.streams[0].unbounded = Some("best effort".into());
    let document = run_report(&meta, &summarise(&meta, &rows()), &rows());
    assert_eq!(picture(&document).rows[0].unbounded, "best effort");
}

#[test]
fn frames_that_were_lost_mark_the_row_of_their_stream() {
    let mut rows = rows();
    rows.frames[7].outcome = Outcome::Late;
    rows.frames[9].outcome = Outcome::Missing;
    let document = report(Engine::Sim, &rows);
    let row = &picture(&document).rows[0];
    assert_eq!((row.mark, row.remark.as_str()), (Mark::Bad, "simulated: 1 late, 1 missing"));
}

#[test]
fn a_simulated_and_a_live_run_share_a_picture_by_name() {
    let (simulated, mut live) = (meta(Engine::Sim), meta(Engine::Live));
    live.streams.insert(0, StreamMeta { name: "only-live".into(), ..live.streams[0].clone() });
    let mut live_rows = rows();
    live_rows.frames.iter_mut().for_each(|row| row.stream = StreamId(1));
    live.scenario_hash = "1".into();
    let (summary, live_summary) = (summarise(&simulated, &rows()), summarise(&live, &live_rows));
    let first = RunView { meta: &simulated, summary: &summary, rows: &rows() };
    let document = pair_report(first, RunView { meta: &live, summary: &live_summary, rows: &live_rows });
    let ranges = picture(&document);
    let names: Vec<&str> = ranges.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["speed", "only-live"]);
    let kinds: Vec<Evidence> = ranges.rows[0].spreads.iter().map(|spread| spread.evidence).collect();
    assert_eq!(kinds, [Evidence::Simulated, Evidence::Measured]);
    assert!(ranges.rows[0].absent.is_empty());
    let absent: Vec<Evidence> = ranges.rows[1].absent.iter().map(|(source, _)| *source).collect();
    assert_eq!(absent, [Evidence::Simulated, Evidence::Measured], "no such stream, and nothing seen");
    assert!(ranges.footnotes[0].contains("the measured run of made-up with seed 1"));
    assert_eq!(document.title, "made-up: simulated and measured");
    let titles = titles(&document);
    assert!(titles.contains(&"Streams, simulated") && titles.contains(&"Streams, measured"), "{titles:?}");
    assert!(titles.contains(&"Emulator, measured") && !titles.contains(&"Emulator, simulated"), "{titles:?}");
    let anchors: std::collections::BTreeSet<&str> =
        document.sections.iter().map(|section| section.id.as_str()).collect();
    assert_eq!(anchors.len(), document.sections.len());
    let facts = |name: &str| document.environment.iter().filter(|(fact, _)| fact.starts_with(name)).count();
    assert_eq!((facts("seed"), facts("engine, ")), (1, 2), "{:?}", document.environment);
    let page = html(&document);
    assert!(page.contains("rg-simulated") && page.contains("rg-measured"));
}

#[test]
fn two_runs_hold_if_both_hold() {
    let (simulated, live) = (meta(Engine::Sim), meta(Engine::Live));
    let mut late = rows();
    late.frames[200].outcome = Outcome::Late;
    let of = |simulated_rows: &RunRows, live_rows: &RunRows| {
        let (a, b) = (summarise(&simulated, simulated_rows), summarise(&live, live_rows));
        let first = RunView { meta: &simulated, summary: &a, rows: simulated_rows };
        pair_report(first, RunView { meta: &live, summary: &b, rows: live_rows }).verdict
    };
    assert_eq!(of(&rows(), &rows()).word, Word::Held);
    assert_eq!((of(&late, &rows()).word, of(&rows(), &late).word), (Word::Failed, Word::Failed));
    let interrupted = RunRows { interrupted: true, ..rows() };
    assert_eq!((of(&interrupted, &rows()).word, of(&interrupted, &late).word), (Word::NotChecked, Word::Failed));
    let verdict = of(&rows(), &late);
    assert!(verdict.text.starts_with("Simulated: Every deadline held"), "{}", verdict.text);
    assert!(verdict.text.contains("Measured: Deadlines did not hold: 1 of 400"), "{}", verdict.text);
    assert!(verdict.points.iter().any(|point| point.starts_with("Measured: 399 frames")), "{:?}", verdict.points);
}

#[test]
fn two_runs_of_one_engine_are_told_apart() {
    let (first, second) = (meta(Engine::Sim), meta(Engine::Sim));
    let summary = summarise(&first, &rows());
    let rows = rows();
    let view = |meta| RunView { meta, summary: &summary, rows: &rows };
    let document = pair_report(view(&first), view(&second));
    let notes: Vec<&str> = picture(&document).rows[0].spreads.iter().map(|spread| spread.note.as_str()).collect();
    assert_eq!(notes, ["this run", "the other run"]);
}

#[test]
fn streams_of_one_name_stay_two_rows() {
    let mut meta = meta(Engine::Sim);
    meta.streams.push(meta.streams[0].clone());
    let document = run_report(&meta, &summarise(&meta, &rows()), &rows());
    assert_eq!(picture(&document).rows.len(), 2);
}
