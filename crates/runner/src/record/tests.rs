//! Both limits of a frame, to the picosecond; who has it when; and what never came to its receiver.

use chronoseal_core::Duration;
use chronoseal_media::medium::FrameLabel;
use chronoseal_results::Engine;
use chronoseal_scenario::{NoFiles, load};

use super::*;

mod told;

const SCHEDULED: &str = r#"
[segments.network.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
guard_period = "200us"
precision = "10us"
"#;

const BUS: &str = r#"
[segments.network.can]
bit_rate = "500kbit/s"
"#;

/// A frame that a receiver had.
struct Seen {
    at: SimTime,
    node: NodeId,
    event: Event,
    bytes: Vec<u8>,
    label: FrameLabel,
    departed_at: Option<SimTime>,
    received_at: Option<SimTime>,
}

/// Keeps the frame of the last event of a kind.
struct Last(EventKind, Option<Seen>);

impl Observer for Last {
    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        if let Some(frame) = frame.filter(|_| event.kind == self.0) {
            let FrameContext { bytes, label, departed_at, received_at } = frame;
            let (bytes, label) = (bytes.to_vec(), *label);
            self.1 = Some(Seen { at, node, event: *event, bytes, label, departed_at, received_at });
        }
    }
}

/// A new recorder that keeps all.
fn recorder<'p>(prepared: &Prepared<'p>, capture: bool) -> Recorder<'p, 'p> {
    Recorder::new(prepared, &crate::describe(prepared, Engine::Sim), Keep::All, capture, ())
}

/// What a recorder has when the run is over.
fn finished(recorder: Recorder<'_, '_>, plan: &Plan) -> RunRows {
    recorder.finish(plan, &Topology::new(), true).1
}

/// Runs `check` with the plan of a scenario, and with the last frame that an event of a kind tells of.
fn with_last(text: &str, kind: EventKind, check: impl Fn(&Plan, &Prepared<'_>, &Seen)) {
    let plan = load("test.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|bad| panic!("{}", bad.render()));
    let prepared = Prepared::new(&plan).expect("its frames fit");
    let finished = chronoseal_sim::run(&prepared, Last(kind, None), &mut |_| true).expect("every part can be built");
    check(&plan, &prepared, &finished.observer.1.expect("there was such an event"));
}

/// Runs `check` with the plan of a pair on a segment, and with the last frame that is delivered there.
fn with_pair(segment: &str, check: impl Fn(&Plan, &Prepared<'_>, &Seen)) {
    let text = format!(
        "schema_version = 2\nname = \"pair\"\nduration = \"100ms\"\n{segment}\n\
         [[nodes]]\nname = \"a\"\n[[nodes]]\nname = \"b\"\n\
         [[streams]]\nname = \"speed\"\nfrom = \"a\"\nto = [\"b\"]\nperiod = \"10ms\"\nlength = \"8B\"\ndeadline = \"5ms\"\n{}",
        if segment == BUS { "network = { id = \"0x123\" }\n" } else { "" }
    );
    with_last(&text, EventKind::Delivered, check);
}

impl Seen {
    fn frame(&self) -> FrameContext<'_> {
        let Self { bytes, label, departed_at, received_at, .. } = self;
        FrameContext { bytes, label, departed_at: *departed_at, received_at: *received_at }
    }

    /// The row that a new recorder makes of it.
    fn row(&self, prepared: &Prepared<'_>) -> FrameRow {
        let mut recorder = recorder(prepared, false);
        recorder.event(self.at, self.node, &self.event, Some(self.frame()));
        let rows = finished(recorder, prepared.plan()).frames;
        let [row] = &rows[..] else { panic!("one event, one row") };
        *row
    }
}

/// Runs `check` with the last frame that is delivered on a segment, and with the recorder's answer to any such frame.
fn on(segment: &str, check: impl Fn(&Seen, &dyn Describe, &dyn Fn(&Seen) -> Outcome)) {
    with_pair(segment, |_, prepared, seen| {
        check(seen, &*prepared.describers()[0], &|seen| seen.row(prepared).outcome);
    });
}

const PS: Duration = Duration::from_ps(1);

#[test]
fn a_frame_may_leave_at_the_end_of_its_slot_and_no_later() {
    on(SCHEDULED, |seen, describer, outcome| {
        let limit = describer.describe(&seen.bytes, seen.label.sent_at).leaves_by.expect("it has a slot");
        let leaving = |at| Seen { departed_at: Some(at), bytes: seen.bytes.clone(), ..*seen };
        assert_eq!(outcome(&leaving(limit)), Outcome::Delivered);
        assert_eq!(outcome(&leaving(limit + PS)), Outcome::Late);
    });
}

#[test]
fn a_frame_may_take_all_of_its_deadline_and_no_longer() {
    on(BUS, |seen, _, outcome| {
        let limit = seen.label.sent_at + Duration::from_ms(5);
        let checked = |at| Seen { at, bytes: seen.bytes.clone(), ..*seen };
        assert_eq!(outcome(&checked(limit)), Outcome::Delivered);
        assert_eq!(outcome(&checked(limit + PS)), Outcome::Late);
    });
}

#[test]
fn a_station_has_a_frame_when_it_says_so_and_a_switch_has_none_for_itself() {
    with_pair(SCHEDULED, |plan, prepared, seen| {
        let at = |node| Seen { node, received_at: None, bytes: seen.bytes.clone(), ..*seen };
        assert_eq!(at(seen.node).row(prepared).received_at, Some(seen.at));
        // The segment's own nodes come behind those of the scenario.
        let switch = NodeId(plan.nodes.len() as u16);
        let event = Event::of(EventKind::Discarded(DiscardReason::QueueFull), seen.event.stream, 0);
        assert_eq!(Seen { event, ..at(switch) }.row(prepared).received_at, None);
    });
}

#[test]
fn what_was_handed_to_a_bus_and_never_seen_again_is_unaccounted_for() {
    with_pair(BUS, |plan, prepared, seen| {
        let open = |told: &[&Seen]| {
            let mut recorder = recorder(prepared, false);
            for k in 0..3 {
                recorder.transmit(SimTime::ZERO + Duration::from_ms(10) * k, NodeId(0), seen.frame());
            }
            told.iter().for_each(|seen| recorder.event(seen.at, seen.node, &seen.event, Some(seen.frame())));
            let rows = finished(recorder, plan);
            let lost = rows.frames.iter().filter(|row| row.outcome == Outcome::Unaccounted);
            lost.map(|row| (row.at, row.sequence, row.sent_at)).collect::<Vec<_>>()
        };
        let lost = |k: i64| (seen.node, k as u64, Some(SimTime::ZERO + Duration::from_ms(10) * k));
        assert_eq!(open(&[]), [lost(0), lost(1), lost(2)]);
        assert_eq!(open(&[seen, seen]), [lost(2)], "frames of one sender keep their order");
        // A frame of an attack is none of those.
        let attack = Some(AttackKind::Spoof);
        let forged = Seen { label: FrameLabel { attack, ..seen.label }, bytes: seen.bytes.clone(), ..*seen };
        assert_eq!(open(&[seen, &forged]), [lost(1), lost(2)]);
    });
}

#[test]
fn a_receiver_waits_for_a_stream_on_the_segment_that_brings_it() {
    let text = "schema_version = 2\nname = \"two\"\nduration = \"100ms\"\n\
         [segments.left.can]\nbit_rate = \"500kbit/s\"\n[segments.right.can]\nbit_rate = \"500kbit/s\"\n\
         [[nodes]]\nname = \"a\"\non = [\"left\", \"right\"]\n\
         [[nodes]]\nname = \"b\"\non = [\"right\"]\n[[nodes]]\nname = \"c\"\non = [\"left\"]\n\
         [[streams]]\nname = \"one\"\nfrom = \"a\"\nto = [\"b\"]\nperiod = \"10ms\"\nlength = \"8B\"\nright = { id = \"0x1\" }\n\
         [[streams]]\nname = \"two\"\nfrom = \"a\"\nto = [\"c\"]\nperiod = \"10ms\"\nlength = \"8B\"\nleft = { id = \"0x2\" }\n";
    let plan = load("two.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|bad| panic!("{}", bad.render()));
    let waits = Waits::of(&plan);
    let (one, two, b, c) = (StreamId(0), StreamId(1), NodeId(1), NodeId(2));
    assert_eq!((waits.segment(one, b), waits.segment(two, c)), (Some(1), Some(0)));
    assert_eq!((waits.segment(one, c), waits.segment(two, b), waits.segment(StreamId(2), b)), (None, None, None));
}

#[test]
fn a_frame_whose_sender_lost_count_of_it_is_judged_all_the_same() {
    let text = format!(
        "schema_version = 2\nname = \"pair\"\nduration = \"100ms\"\n{SCHEDULED}\n\
         [[nodes]]\nname = \"a\"\n[[nodes]]\nname = \"b\"\n\
         [[streams]]\nname = \"speed\"\nfrom = \"a\"\nto = [\"b\"]\nperiod = \"10ms\"\nlength = \"8B\"\ndeadline = \"5ms\"\n"
    );
    let plan = load("pair.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|bad| panic!("{}", bad.render()));
    let prepared = Prepared::new(&plan).expect("one frame fits");
    let start = SimTime::ZERO + Duration::from_ms(10);
    for (takes, outcome) in [(Duration::from_ms(5), Outcome::Delivered), (Duration::from_ms(5) + PS, Outcome::Late)] {
        let row = FrameRow {
            slot_start: Some(start),
            accepted_at: Some(start + takes),
            ..FrameRow::open(StreamId(0), 0, NodeId(0), NodeId(1), start, Outcome::Delivered)
        };
        let mut rows = RunRows { frames: vec![row], ..RunRows::default() };
        Open::new(&prepared).settle_all(&mut rows);
        assert_eq!((rows.frames[0].due_at, rows.frames[0].outcome), (Some(start), outcome));
    }
}
