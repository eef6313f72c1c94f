//! Prints the report of a made-up run, to look at the page: `cargo run --example sample > sample.html`. With `study` it
//! prints a made-up study, with `text`, `json` or `csv` the run in that form. Every number in it is invented.

use chronoseal_core::random::{Purpose, Rng, stream};
use chronoseal_core::{AttackKind, DiscardReason, Duration, Event, EventKind, NodeId, SimTime, StreamId};
use chronoseal_report::{
    Axis, Block, Cell, Chart, Document, Evidence, Mark, Section, Series, SeriesKind, Table, TerminalStyle, Verdict,
    Word, csv, html, json, run_report, terminal,
};
use chronoseal_results::{
    ClockDomainMeta, Engine, EventRow, FrameRow, NodeMeta, NodeRole, Outcome, ReleaseRow, RunMeta, RunRows,
    ScheduleMeta, SegmentMeta, SlotMeta, StallRow, StreamMeta, TaskMeta, WorkRow, summarise,
};

const CYCLE_NS: i64 = 10_000_000;
const STREAMS: i64 = 6;

#[allow(clippy::print_stdout)] // An example's output is its point.
fn main() {
    let form = std::env::args().nth(1).unwrap_or_default();
    let document = if form == "study" { study() } else { run() };
    print!(
        "{}",
        match form.as_str() {
            "text" => terminal(&document, TerminalStyle::default()),
            "json" => json(&document),
            "csv" => csv(&document),
            _ => html(&document),
        }
    );
}

fn at(ns: i64) -> SimTime {
    SimTime::ZERO + Duration::from_ns(ns)
}

fn run() -> Document {
    let (meta, rows) = (meta(), rows());
    run_report(&meta, &summarise(&meta, &rows), &rows)
}

fn meta() -> RunMeta {
    let node = |name: &str, role| NodeMeta { name: name.into(), role, on_link_of: None };
    let streams = (0..STREAMS)
        .map(|i| StreamMeta {
            name: ["engine-speed", "wheel-speed", "steering-angle", "brake-pressure", "yaw-rate", "diagnostics"]
                [i as usize]
                .into(),
            sender: (i % 3) as u16,
            senders: None,
            receivers: vec![((i + 1) % 3) as u16],
            segments: vec![0],
            class: "time-triggered".into(),
            is_judged: true,
            is_numbered: true,
            is_due_each_period: true,
            is_replicated: false,
            is_lossy: false,
            counters: None,
            allowances: Vec::new(),
            trigger: None,
            period_ns: CYCLE_NS,
            frame_len: 60 + 200 * i as u32,
            secured_len: 88 + 200 * i as u32,
            protection: if i == 5 { "none" } else { "hmac-sha-256, 20 B" }.into(),
            replayable: i == 5,
            authenticated: i != 5,
            is_opened_on_way: false,
            ends: Vec::new(),
            deadline_ns: None,
            bound: None,
            unbounded: None,
        })
        .collect();
    let slots = (0..STREAMS)
        .map(|i| SlotMeta {
            stream: i as u16,
            start_ns: slot_ns(i),
            frame_time_ns: frame_ns(i),
            dispatch_ns: slot_ns(i) + frame_ns(i) + 20_000,
            end_ns: slot_ns(i) + 2 * frame_ns(i) + 220_000,
        })
        .collect();
    RunMeta {
        description: "A made-up run that shows what a report looks like. Every number in it is invented.".into(),
        scenario_hash: "0123456789abcdef0123456789abcdef".into(),
        duration_ns: 5_000_000_000,
        host: vec![
            ("processor".into(), "a made-up processor, 2 cores".into()),
            ("kernel".into(), "Linux 6.x, PREEMPT_NONE".into()),
        ],
        clock_source: "CLOCK_MONOTONIC".into(),
        versions: vec![("chronoseal".into(), "0.1.0".into())],
        warnings: vec!["the governor of the processor could not be read".into()],
        nodes: vec![
            node("front-zone-controller", NodeRole::Station),
            node("rear-zone-controller", NodeRole::Station),
            node("central-computer", NodeRole::Station),
            node("attacker", NodeRole::Attacker),
            node("switch", NodeRole::Switch),
        ],
        streams,
        segments: vec![SegmentMeta {
            name: "backbone".into(),
            kind: "ethernet".into(),
            link_type: 1,
            links: Vec::new(),
            members: Vec::new(),
            properties: vec![("rate".into(), "100 Mbit/s".into()), ("guard period".into(), "0.200 ms".into())],
            clocks: Some(ClockDomainMeta {
                cycle_ns: CYCLE_NS,
                nodes: vec![0, 1, 2],
                dependents: Vec::new(),
                startup_cycles: None,
                precision_ns: None,
                spared: Vec::new(),
            }),
            schedule: Some(ScheduleMeta {
                cycle_ns: CYCLE_NS,
                deliveries: Vec::new(),
                slots,
                tasks: vec![TaskMeta { node: 2, name: "control".into(), start_ns: 6_500_000, length_ns: 1_200_000 }],
            }),
        }],
        ..RunMeta::new("sample", Engine::Live, 42)
    }
}

fn slot_ns(i: i64) -> i64 {
    500_000 + i * 900_000
}
fn frame_ns(i: i64) -> i64 {
    (88 + 200 * i + 24) * 80
}

fn rows() -> RunRows {
    let mut rng = stream(42, Purpose::Medium, 0);
    let mut share = || rng.next_u64() as f64 / 2f64.powi(64);
    let mut rows = RunRows::default();
    for node in 0..3 {
        let event = Event { value: 5_000_000_000, ..Event::of(EventKind::SyncAcquired, StreamId::NONE, 0) };
        rows.events.push(EventRow { time: at(20_000_000 + i64::from(node) * 4_000), node: NodeId(node), event });
    }
    for k in 2..500i64 {
        for node in 0..3 {
            let event = Event {
                value: (share() * 4e6) as i64 - 2_000_000,
                ..Event::of(EventKind::ClockCorrected, StreamId::NONE, k as u64)
            };
            rows.events.push(EventRow { time: at((k + 1) * CYCLE_NS), node: NodeId(node), event });
        }
        for i in 0..STREAMS {
            let slot = k * CYCLE_NS + slot_ns(i);
            let stalled = share() < 0.004;
            let late = if stalled { (share() * 3e6) as i64 } else { 0 };
            let sent = slot + (-share().ln() * 6e3) as i64;
            let arrived = sent + frame_ns(i) + 3_000 + (-share().ln() * 2e3) as i64;
            let departed = (slot + frame_ns(i) + 20_000).max(arrived + 4_000) + late;
            let received = departed + frame_ns(i) + (-share().ln() * 5e3) as i64;
            let mut row = FrameRow {
                stream: StreamId(i as u16),
                sequence: k as u64,
                sender: NodeId((i % 3) as u16),
                at: NodeId(((i + 1) % 3) as u16),
                attack: None,
                len: 88 + 200 * i as u32,
                cycle_start: at(k * CYCLE_NS),
                slot_start: Some(at(slot)),
                sent_at: Some(at(sent)),
                arrived_at: Some(at(arrived)),
                departed_at: Some(at(departed)),
                received_at: Some(at(received)),
                due_at: Some(at(slot)),
                accepted_at: Some(at(received)),
                outcome: if late > 1_000_000 { Outcome::Late } else { Outcome::Delivered },
                stalled,
                lost_for: None,
            };
            rows.frames.push(row);
            rows.releases
                .push(ReleaseRow { planned: at(departed), error: Duration::from_ns(late + (300.0 * share()) as i64) });
            if stalled {
                rows.stalls.push(StallRow { time: at(slot), duration: Duration::from_ns(late) });
            }
            rows.work.push(WorkRow {
                time: at(slot),
                node: row.sender,
                operation: "hmac-sha-256",
                len: row.len,
                duration: Duration::from_ns(900 + i64::from(row.len) * 2 + (share() * 300.0) as i64),
            });
            if k % 25 == 0 {
                let attack = if k % 50 == 0 { AttackKind::Spoof } else { AttackKind::Replay };
                row.attack = Some(attack);
                row.sender = NodeId(3);
                row.arrived_at = Some(at(arrived + 200_000));
                row.departed_at = None;
                row.received_at = None;
                row.outcome = match (i, attack) {
                    (5, _) => Outcome::Delivered,
                    (_, AttackKind::Spoof) if share() < 0.5 => Outcome::Discarded(DiscardReason::TagMismatch),
                    (_, AttackKind::Replay) => Outcome::Discarded(DiscardReason::Replayed),
                    _ => Outcome::Discarded(DiscardReason::WrongPort),
                };
                rows.frames.push(row);
                rows.events.push(EventRow {
                    time: at(slot),
                    node: NodeId(3),
                    event: Event::of(EventKind::Attacked(attack), row.stream, k as u64),
                });
            }
        }
    }
    rows
}

fn study() -> Document {
    let mut table = Table::new("Frames per period at 100 Mbit/s, base period 10 ms, guard period 0.2 ms (invented)")
        .words("protection")
        .numbers("frame", "B")
        .numbers("printed", "frames")
        .numbers("recomputed", "frames")
        .numbers("simulated", "frames")
        .numbers("live", "frames")
        .numbers("deviation", "%")
        .footnote("An invented footnote: the printed value rounds the other way, so the deviation is its rounding.");
    for (i, protection) in
        ["none", "HMAC-SHA-1, 20 B", "HMAC-SHA-256, 32 B", "HMAC-SHA-256, 16 B", "HMAC-SHA3-256, 32 B"]
            .into_iter()
            .enumerate()
    {
        for frame in [60.0, 576.0, 1514.0] {
            let frames = (10_000.0f64 / (200.0 + (frame + 16.0 * i as f64) * 0.08)).floor();
            let live = if frame > 1000.0 {
                Cell::na("the emulator carries less than this rate; the highest it carried was 41 frames")
            } else {
                Cell::number(frames - 1.0, 0).from(Evidence::Measured)
            };
            table.push(vec![
                Cell::text(protection),
                Cell::number(frame, 0),
                Cell::number(frames + if i == 2 { 1.0 } else { 0.0 }, 0).from(Evidence::Printed),
                Cell::number(frames, 0).from(Evidence::Recomputed),
                Cell::number(frames, 0).from(Evidence::Simulated).marked(if i == 2 { Mark::Warn } else { Mark::Good }),
                live,
                Cell::number(if i == 2 { -2.1 } else { 0.0 }, 1),
            ]);
        }
    }
    let curve = |tag: f64| {
        (0..60)
            .map(|i| 60.0 + 25.0 * f64::from(i))
            .map(|len| (len, (10_000.0 / (200.0 + (len + tag) * 0.08)).floor()))
            .collect()
    };
    let series = |name: &str, tag| Series { name: name.into(), kind: SeriesKind::Step, points: curve(tag) };
    let published = Series {
        name: "published".into(),
        kind: SeriesKind::Points,
        points: vec![(60.0, 48.0), (576.0, 40.0), (1514.0, 31.0)],
    };
    let chart = Chart {
        caption: "Frames per period over the unsecured frame size (invented)".into(),
        x: Axis::linear("unsecured frame size", "B"),
        y: Axis::linear("frames per period", ""),
        series: vec![
            series("no tag", 0.0),
            series("20 B tag", 20.0),
            series("32 B tag with a freshness value of 8 B, counted on the wire in full", 40.0),
            published,
        ],
    };
    Document {
        title: "A sample study".into(),
        subtitle: "Made up to show what a study looks like. Every number in it is invented.".into(),
        verdict: Verdict {
            word: Word::NotChecked,
            text: "Authentication fits the invented network, at a cost of up to 12 % of its frames; one printed value does not follow from its own formula.".into(),
            points: vec!["14 of 15 rows agree with the publication.".into(), "Live, 5 rows are n/a: the emulator does not carry their rate.".into()],
        },
        sections: vec![
            Section::new("Table I: frames per period")
                .with(Block::Text("Printed, recomputed, simulated and measured stand side by side. A mark says what to think of a value; the letter says where it comes from.".into()))
                .with(Block::Table(table)),
            Section::new("Curves").with(Block::Chart(chart)),
            Section::new("Not there yet").with(Block::Notes(vec!["The control loop with vehicle dynamics.".into(), "<script>alert('text is text')</script>".into()])),
        ],
        environment: vec![("seed".into(), "42".into()), ("host".into(), "made up".into())],
    }
}
