use chronoseal_core::{AttackKind, DiscardReason, Duration, Event, EventKind, NodeId, SimTime, StreamId};
use chronoseal_report::{Block, Document, Held, html, run_report};
use chronoseal_results::{
    Engine, EventRow, FrameRow, NodeMeta, NodeRole, Outcome, RunMeta, RunRows, SlotMeta, StreamMeta, summarise,
};

fn us(us: i64) -> SimTime {
    SimTime::ZERO + Duration::from_us(us)
}

fn meta(engine: Engine) -> RunMeta {
    let node = |name: &str, role| NodeMeta { name: name.into(), role };
    RunMeta {
        nodes: vec![node("a", NodeRole::Station), node("b", NodeRole::Station), node("attacker", NodeRole::Attacker)],
        streams: vec![StreamMeta {
            name: "speed".into(),
            sender: 0,
            receivers: vec![1],
            class: "time-triggered".into(),
            period_ns: 10_000_000,
            frame_len: 60,
            secured_len: 80,
            protection: "hmac".into(),
            replayable: true,
            authenticated: true,
            deadline_ns: None,
            bound: None,
            unbounded: None,
        }],
        cluster_cycle_ns: 10_000_000,
        integration_cycle_ns: 10_000_000,
        slots: vec![SlotMeta {
            stream: 0,
            start_ns: 1_000_000,
            frame_time_ns: 6_400,
            dispatch_ns: 1_010_000,
            end_ns: 1_206_400,
        }],
        ..RunMeta::new("made-up", engine, 1)
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
        outcome: Outcome::Delivered,
        stalled: false,
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
    assert_eq!(document.verdict.held, Held::Yes);
    assert!(document.verdict.text.contains("Every deadline held; nothing attacked"), "{}", document.verdict.text);
}

#[test]
fn one_corrupted_tag_fails_the_run() {
    let mut rows = rows();
    rows.frames[200].outcome = Outcome::Discarded(DiscardReason::TagMismatch);
    let document = report(Engine::Sim, &rows);
    assert_eq!(document.verdict.held, Held::No);
    assert!(document.verdict.text.contains("1 of 400"), "{}", document.verdict.text);
    assert!(html(&document).contains("tag-mismatch"));
}

#[test]
fn an_accepted_replay_is_told_with_its_reason() {
    let mut rows = rows();
    rows.frames.push(FrameRow { attack: Some(AttackKind::Replay), sender: NodeId(2), ..rows.frames[5] });
    let document = report(Engine::Live, &rows);
    assert_eq!(document.verdict.held, Held::Mixed);
    assert!(document.verdict.points.iter().any(|point| point.contains("carries no freshness value")), "{document:?}");
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
    assert_ne!(document.verdict.held, Held::Yes);
    assert!(document.verdict.points[0].contains("interrupted"));
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
    assert_eq!(document.verdict.held, Held::No);
    assert!(html(&document).contains("not every clock joined"));
    let nothing = RunMeta::new("nothing", Engine::Sim, 0);
    html(&run_report(&nothing, &summarise(&nothing, &RunRows::default()), &RunRows::default()));
}

#[test]
fn two_thousand_streams_make_a_page_people_can_open() {
    let mut meta = meta(Engine::Sim);
    let mut rows = rows();
    let (stream, slot) = (meta.streams[0].clone(), meta.slots[0]);
    meta.streams = (0..2_000).map(|i| StreamMeta { name: format!("speed.{i}"), ..stream.clone() }).collect();
    meta.slots = (0..2_000).map(|i| SlotMeta { stream: i, start_ns: i64::from(i) * 5_000, ..slot }).collect();
    let frame = rows.frames[7];
    rows.frames = (0..2_000).map(|i| FrameRow { stream: StreamId(i), ..frame }).collect();
    rows.frames[1_999].outcome = Outcome::Late;
    let page = html(&run_report(&meta, &summarise(&meta, &rows), &rows));
    assert!(page.len() < 500_000, "{}", page.len());
    assert!(page.contains("speed.1999") && page.contains("40 of 2000 streams are shown"), "trouble is never cut");
}

#[test]
fn a_denied_frame_is_told_and_leaves_the_verdict_mixed() {
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
    assert_eq!(document.verdict.held, Held::Mixed);
    assert!(document.verdict.points.iter().any(|point| point.contains("kept 1 genuine frames")));
}

#[test]
fn a_run_without_slots_has_no_deadline_to_break() {
    let mut meta = meta(Engine::Sim);
    meta.streams[0].class = "best-effort".into();
    let document = run_report(&meta, &summarise(&meta, &rows()), &rows());
    assert!(document.verdict.text.starts_with("No stream of this run has a slot"), "{}", document.verdict.text);
}
