//! What a row says of a frame, and which events have no row of their own.

use chronoseal_core::{AttackKind, DiscardReason};
use chronoseal_plan::{CanHop, CanRecording, Facet};
use chronoseal_results::rows::{STRANGER_BYTES, STRANGER_FRAMES};
use chronoseal_wire::can::{CanFrame, CanId};

use super::*;

const ONE: StreamId = StreamId(0);
const TWO: StreamId = StreamId(1);
const PEDAL: NodeId = NodeId(0);
const BRAKE: NodeId = NodeId(1);
const ZONE: NodeId = NodeId(2);
const TAG: EventKind = EventKind::Discarded(DiscardReason::TagMismatch);
const FULL: EventKind = EventKind::Discarded(DiscardReason::QueueFull);

const BACK_BUS: &str = "[segments.back.can]\nbit_rate = \"500kbit/s\"\ndata_bit_rate = \"2Mbit/s\"\n";
const BACK_SWITCH: &str =
    "[segments.back.ethernet]\nrate = \"100Mbit/s\"\ncluster_cycle = \"10ms\"\nguard_period = \"100us\"\n";
const BEST_EFFORT: &str = "class = { best_effort = { priority = 5 } }\n";

/// Two streams from a bus over a gateway to another segment, as `collect` and `alone` say.
fn zones(back: &str, collect: &str, alone: [&str; 2]) -> String {
    let stream = |name: &str, id: &str, alone: &str| {
        format!(
            "[[streams]]\nname = \"{name}\"\nfrom = \"pedal\"\nto = [\"brake\"]\nperiod = \"10ms\"\nlength = \"8B\"\n\
             front = {{ id = \"{id}\", format = \"fd-brs\" }}\n{alone}\n"
        )
    };
    format!(
        "schema_version = 2\nname = \"zones\"\nduration = \"200ms\"\n\
         [segments.front.can]\nbit_rate = \"500kbit/s\"\ndata_bit_rate = \"2Mbit/s\"\n{back}\
         [[nodes]]\nname = \"pedal\"\non = [\"front\"]\n[[nodes]]\nname = \"brake\"\non = [\"back\"]\n\
         [[nodes]]\nname = \"zone\"\non = [\"front\", \"back\"]\n[nodes.gateway]\ndelay = \"40us\"\n{collect}\n{}{}",
        stream("one", "0x0A0", alone[0]),
        stream("two", "0x0B0", alone[1])
    )
}

/// Both streams share frames on the bus, or behind the switch, where it is known when a frame arrived.
fn shared() -> [(String, bool); 2] {
    let collect =
        |id: &str| format!("collect = [{{ streams = [\"one\", \"two\"], on = \"back\", within = \"2ms\"{id} }}]");
    let on_bus = collect(", back = { id = \"0x090\", format = \"fd-brs\" }");
    let behind_switch = zones(&(BACK_SWITCH.to_owned() + BEST_EFFORT), &collect(""), [""; 2]);
    [(zones(BACK_BUS, &on_bus, [""; 2]), true), (behind_switch, false)]
}

#[test]
fn each_pdu_of_a_shared_frame_has_a_row_and_a_way_of_its_own() {
    for (text, is_bus) in shared() {
        with_last(&text, EventKind::Delivered, |_, prepared, seen| {
            let arrived_at = Some(seen.label.sent_at + PS);
            let label = FrameLabel { serial: Some(77), arrived_at, ..seen.label };
            let part = |stream, origin, attack| FramePart { stream, origin: Some(origin), attack };
            let mut recorder = recorder(prepared, false);
            let tamper = Some(AttackKind::Tamper);
            recorder.contains(77, &[part(ONE, 7, None), part(TWO, 8, None), part(ONE, 9, tamper)]);
            for (kind, stream, sequence) in
                [(EventKind::Delivered, ONE, 4), (TAG, TWO, 5), (EventKind::Delivered, ONE, 6)]
            {
                let event = Event::of(kind, stream, sequence);
                recorder.event(seen.at, BRAKE, &event, Some(FrameContext { label: &label, ..seen.frame() }));
            }
            let (frames, hops) = (recorder.open.frames(), recorder.open.hops.rows);
            let ways: Vec<_> = hops.into_iter().map(|hop| (hop.stream, hop.sequence, hop.origins)).collect();
            assert_eq!(ways, [(ONE, 4, vec![7]), (TWO, 5, vec![8]), (ONE, 6, vec![9])]);
            let told: Vec<_> =
                frames.iter().map(|row| (row.stream, row.sequence, row.sender, row.attack, row.outcome)).collect();
            let refused = Outcome::Discarded(DiscardReason::TagMismatch);
            let expected = [
                (ONE, 4, PEDAL, None, Outcome::Delivered),
                (TWO, 5, PEDAL, None, refused),
                (ONE, 6, label.sender, tamper, Outcome::Delivered),
            ];
            assert_eq!(told, expected);
            for row in frames {
                assert_eq!((row.at, row.len as usize, row.sent_at), (BRAKE, seen.bytes.len(), Some(label.sent_at)));
                assert_eq!((row.arrived_at, row.departed_at), (arrived_at.filter(|_| !is_bus), seen.departed_at));
                assert!(row.received_at.is_some_and(|at| at <= seen.at));
                assert_eq!(row.accepted_at, (row.outcome == Outcome::Delivered).then_some(seen.at));
            }
        });
    }
}

#[test]
fn only_a_switch_knows_when_a_frame_arrived_there() {
    for (segment, is_bus) in [(SCHEDULED, false), (BUS, true)] {
        with_pair(segment, |_, prepared, seen| {
            let arrived_at = Some(seen.label.sent_at + PS);
            let label = FrameLabel { arrived_at, ..seen.label };
            let row = Seen { label, bytes: seen.bytes.clone(), ..*seen }.row(prepared);
            assert_eq!(row.arrived_at, arrived_at.filter(|_| !is_bus));
        });
    }
}

#[test]
fn a_frame_of_a_recording_is_late_behind_the_usual_distance_of_its_identifier() {
    with_pair(BUS, |plan, _, seen| {
        let frame = CanFrame::classical(CanId::standard(0x300).expect("it has 11 bits"), &[1; 8]).expect("8 bytes");
        let frames = (0..4).map(|k| (Duration::from_ms(10) * k, frame)).collect();
        let (length, start) = (Duration::from_ms(40), Duration::ZERO);
        let recording = CanRecording { source: "test".into(), frames, length, start };
        let mut plan = plan.clone();
        let mut stream = plan.streams[0].clone();
        stream.hops[0].facet = Facet::new(CanHop::Recording(recording));
        plan.streams.push(stream);
        let prepared = Prepared::new(&plan).expect("a recording has no schedule");
        let mut bytes = [0; 72];
        let len = frame.emit(&mut bytes);
        let outcome = |at| {
            let mut recorder = recorder(&prepared, false);
            let event = Event::of(EventKind::Delivered, TWO, 0);
            recorder.event(at, seen.node, &event, Some(FrameContext { bytes: &bytes[..len], ..seen.frame() }));
            recorder.open.frames()[0].outcome
        };
        let limit = seen.label.sent_at + Duration::from_ms(10);
        assert_eq!((outcome(limit), outcome(limit + PS)), (Outcome::Delivered, Outcome::Late));
    });
}

#[test]
fn a_capture_says_what_became_of_a_frame() {
    with_pair(SCHEDULED, |_, prepared, seen| {
        let comments = |kind, attack| {
            let mut recorder = recorder(prepared, true);
            let label = FrameLabel { attack, arrived_at: Some(seen.label.sent_at), ..seen.label };
            let event = Event { kind, ..seen.event };
            recorder.event(seen.at, seen.node, &event, Some(FrameContext { label: &label, ..seen.frame() }));
            recorder.rows.captures.into_iter().map(|row| (row.direction, row.comment)).collect::<Vec<_>>()
        };
        let own = "stream speed sequence 8";
        let both = |arrived: String, left: String| vec![(Direction::Arrival, arrived), (Direction::Departure, left)];
        assert_eq!(comments(EventKind::Delivered, None), both(own.into(), format!("{own}, delivered")));
        assert_eq!(comments(FULL, None), both(own.into(), format!("{own}, discarded: queue-full")));
        let spoofed = format!("spoof: {own}");
        let spoof = Some(AttackKind::Spoof);
        assert_eq!(comments(EventKind::Delivered, spoof), both(spoofed.clone(), format!("{spoofed}, delivered")));
    });
}

/// The rows that one event makes.
fn rows(prepared: &Prepared<'_>, node: NodeId, event: Event, seen: Option<&Seen>) -> Vec<FrameRow> {
    let mut recorder = recorder(prepared, false);
    recorder.event(SimTime::ZERO + Duration::from_ms(31), node, &event, seen.map(Seen::frame));
    recorder.open.frames()
}

#[test]
fn what_a_gateway_loses_of_a_stream_is_told_with_the_whole_way_and_of_no_stream_at_once() {
    let (text, _) = &shared()[0];
    with_last(text, EventKind::Relayed, |_, prepared, seen| {
        assert_eq!((seen.node, rows(prepared, ZONE, seen.event, Some(seen)).len()), (ZONE, 1));
        let mut recorder = recorder(prepared, false);
        recorder.came_from(seen.label.serial.expect("it was sent"), &[3, 4]);
        recorder.event(seen.at, ZONE, &seen.event, Some(seen.frame()));
        assert_eq!(recorder.open.hops.rows[0].origins, [3, 4], "of what it was made");
        assert_eq!(rows(prepared, ZONE, Event { kind: FULL, ..seen.event }, Some(seen)), []);
        let unknown = Event::of(EventKind::Discarded(DiscardReason::UnknownStream), StreamId::NONE, 3);
        let [row] = &rows(prepared, ZONE, unknown, None)[..] else { panic!("one row") };
        assert_eq!((row.at, row.outcome), (ZONE, Outcome::Discarded(DiscardReason::UnknownStream)));
    });
}

#[test]
fn what_a_sender_has_no_room_for_was_never_sent() {
    for segment in [SCHEDULED, BUS] {
        with_pair(segment, |_, prepared, seen| {
            let full = Event { kind: FULL, ..seen.event };
            assert_eq!(rows(prepared, NodeId(0), full, Some(seen)), []);
            let [row] = &rows(prepared, seen.node, full, Some(seen))[..] else {
                panic!("its receiver had none for it")
            };
            assert_eq!(row.outcome, Outcome::Discarded(DiscardReason::QueueFull));
        });
    }
}

#[test]
fn an_empty_slot_is_told_by_receivers_and_over_gateways_with_the_whole_way() {
    with_pair(SCHEDULED, |plan, prepared, seen| {
        let missing = Event::of(EventKind::Missing, seen.event.stream, 3);
        let [row] = &rows(prepared, seen.node, missing, None)[..] else { panic!("one row") };
        assert_eq!((row.at, row.outcome), (seen.node, Outcome::Missing));
        assert_eq!(rows(prepared, NodeId(plan.nodes.len() as u16), missing, None), [], "the switch's own word");
    });
    with_last(&zones(BACK_SWITCH, "", [""; 2]), EventKind::Delivered, |_, prepared, _| {
        assert_eq!(rows(prepared, BRAKE, Event::of(EventKind::Missing, ONE, 3), None), []);
    });
}

#[test]
fn a_way_begins_where_its_sender_puts_a_frame_of_its_own_on_a_segment() {
    let (text, _) = &shared()[0];
    with_last(text, EventKind::Relayed, |plan, prepared, seen| {
        let open = |node, attack| {
            let mut recorder = recorder(prepared, false);
            let label = FrameLabel { attack, ..seen.label };
            recorder.event(seen.label.sent_at, PEDAL, &Event::of(EventKind::Sent, seen.event.stream, 3), None);
            recorder.transmit(seen.label.sent_at, node, FrameContext { label: &label, ..seen.frame() });
            finished(recorder, plan).frames.len()
        };
        assert_eq!(open(PEDAL, None), 1, "its receiver never had it");
        assert_eq!(open(ZONE, None), 0, "a gateway carries on what others began");
        assert_eq!(open(PEDAL, Some(AttackKind::Tamper)), 0);
    });
}

#[test]
fn frames_of_no_stream_are_counted_with_what_they_carry() {
    with_pair(BUS, |plan, prepared, seen| {
        let mut recorder = recorder(prepared, false);
        let mut bytes = [0; 72];
        for (id, len) in [(0x7f0, 3), (0x7f1, 8), (0x123, 8)] {
            let id = CanId::standard(id).expect("it has 11 bits");
            let len = CanFrame::classical(id, &[1; 8][..len]).expect("it fits").emit(&mut bytes);
            recorder.transmit(seen.label.sent_at, NodeId(0), FrameContext { bytes: &bytes[..len], ..seen.frame() });
        }
        let series = finished(recorder, plan).segments;
        let found: Vec<_> = series.iter().map(|one| (one.name.as_str(), &one.values[..])).collect();
        assert_eq!(found, [(STRANGER_FRAMES, &[2][..]), (STRANGER_BYTES, &[11][..])]);
    });
}

#[test]
fn a_message_in_several_frames_is_sent_with_its_first() {
    let text = "schema_version = 2\nname = \"block\"\nduration = \"100ms\"\n[segments.bus.can]\nbit_rate = \"500kbit/s\"\n\
         [[nodes]]\nname = \"a\"\n[[nodes]]\nname = \"b\"\n\
         [[streams]]\nname = \"block\"\nfrom = \"a\"\nto = [\"b\"]\nperiod = \"50ms\"\nlength = \"40B\"\n\
         bus = { id = \"0x6A0\", segmented = { flow_control = \"0x6A8\" } }\n";
    let plan = load("block.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|bad| panic!("{}", bad.render()));
    let prepared = Prepared::new(&plan).expect("its frames fit");
    let recorder = recorder(&prepared, false);
    let run = chronoseal_sim::run(&prepared, recorder, &mut |_| true).expect("every part can be built");
    let rows = finished(run.observer, &plan);
    let begun: Vec<_> = rows.events.iter().filter(|row| row.event.kind == EventKind::TransferBegan).collect();
    assert_eq!((begun.len(), rows.frames.len()), (2, 2));
    for (begun, row) in begun.iter().zip(&rows.frames) {
        let received_at = row.received_at.expect("it was delivered");
        assert!(row.sent_at.is_some_and(|at| at < begun.time) && begun.time < received_at, "{row:?}");
    }
}

#[test]
fn a_frame_of_an_attack_is_the_attackers() {
    with_pair(BUS, |_, prepared, seen| {
        let from = |attack| {
            let label = FrameLabel { attack, sender: BRAKE, ..seen.label };
            Seen { label, bytes: seen.bytes.clone(), ..*seen }.row(prepared).sender
        };
        assert_eq!((from(Some(AttackKind::Spoof)), from(None)), (BRAKE, PEDAL));
    });
}

#[test]
fn what_a_bus_carries_and_what_a_node_computes_is_kept() {
    with_pair(BUS, |_, prepared, seen| {
        let carried = |capture, attack| {
            let mut recorder = recorder(prepared, capture);
            let label = FrameLabel { attack, ..seen.label };
            recorder.carried(seen.at, PEDAL, FrameContext { label: &label, ..seen.frame() });
            recorder.rows.captures.into_iter().map(|row| (row.direction, row.comment)).collect::<Vec<_>>()
        };
        let what = format!("stream {}", prepared.plan().streams[0].name);
        assert_eq!(carried(true, None), [(Direction::Carried, what.clone())]);
        assert_eq!(carried(true, Some(AttackKind::Spoof)), [(Direction::Carried, format!("spoof: {what}"))]);
        assert_eq!(carried(false, None), [], "nobody asked for a capture");

        let mut recorder = recorder(prepared, false);
        let operation = chronoseal_core::Operation("cmac-aes-128");
        recorder.work(seen.at, PEDAL, &Work::of(operation, 12), Duration::from_us(3));
        let [row] = &recorder.rows.work[..] else { panic!("one row") };
        let expected = (seen.at, PEDAL, operation.0, 12, Duration::from_us(3));
        assert_eq!((row.time, row.node, row.operation, row.len, row.duration), expected);
    });
}
