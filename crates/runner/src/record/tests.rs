//! Both limits of a frame, to the picosecond.

use chronoseal_core::Duration;
use chronoseal_media::medium::FrameLabel;
use chronoseal_scenario::{NoFiles, load};

use super::*;

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

/// Keeps the last frame delivered.
#[derive(Default)]
struct Last(Option<Seen>);

impl Observer for Last {
    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, frame: Option<FrameContext<'_>>) {
        if let (EventKind::Delivered, Some(frame)) = (event.kind, frame) {
            let FrameContext { bytes, label, departed_at, received_at } = frame;
            let (bytes, label) = (bytes.to_vec(), *label);
            self.0 = Some(Seen { at, node, event: *event, bytes, label, departed_at, received_at });
        }
    }
}

/// Runs `check` with the last frame that is delivered on a segment, and with the recorder's answer to any such frame.
fn on(segment: &str, check: impl Fn(&Seen, &dyn Describe, &dyn Fn(&Seen) -> Outcome)) {
    let text = format!(
        "schema_version = 2\nname = \"pair\"\nduration = \"100ms\"\n{segment}\n\
         [[nodes]]\nname = \"a\"\n[[nodes]]\nname = \"b\"\n\
         [[streams]]\nname = \"speed\"\nfrom = \"a\"\nto = [\"b\"]\nperiod = \"10ms\"\nlength = \"8B\"\ndeadline = \"5ms\"\n{}",
        if segment == BUS { "network = { id = \"0x123\" }\n" } else { "" }
    );
    let plan = load("pair.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|bad| panic!("{}", bad.render()));
    let prepared = Prepared::new(&plan).expect("one frame fits");
    let finished = chronoseal_sim::run(&prepared, Last::default(), &mut |_| true).expect("every part can be built");
    let seen = finished.observer.0.expect("a frame was delivered");
    let outcome = |seen: &Seen| {
        let mut recorder = Recorder::new(&prepared, false);
        let Seen { bytes, label, departed_at, received_at, .. } = seen;
        let (departed_at, received_at) = (*departed_at, *received_at);
        recorder.event(seen.at, seen.node, &seen.event, Some(FrameContext { bytes, label, departed_at, received_at }));
        recorder.ways.settle(&plan, Dues::default(), &mut recorder.rows);
        let [row] = &recorder.rows.frames[..] else { panic!("one event, one row") };
        row.outcome
    };
    check(&seen, &*prepared.describers()[0], &outcome);
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
