//! A trace as bytes.

use super::lanes::{Step, lay_out};
use super::schema::{
    CounterDescriptor, DebugAnnotation, EventType, Interned, InternedData, NEEDS_STATE, PACKET, STATE_CLEARED,
    TracePacket, TrackDescriptor, TrackEvent,
};
use super::{Category, Frame, NameId, Trace};

/// All packets share one table of names.
const SEQUENCE: u32 = 1;
/// Of the annotation with the number of a frame.
const FRAME_NUMBER: u64 = 1;
/// Children of a track stand in the order in which they were added.
const BY_RANK: i32 = 3;

pub(super) fn encode(trace: &Trace) -> Vec<u8> {
    let mut out = Out(Vec::new());
    out.packet(&names(trace));
    for number in 0..trace.tracks.len() as u32 {
        out.packet(&descriptor(trace, number, 0));
    }
    let mut by_track: Vec<Vec<usize>> = vec![Vec::new(); trace.tracks.len()];
    for (index, slice) in trace.slices.iter().enumerate() {
        by_track[slice.track as usize].push(index);
    }
    for (number, slices) in (0..).zip(&by_track) {
        let lanes = lay_out(slices.iter().map(|index| &trace.slices[*index]));
        for (lane, line) in (0..).zip(&lanes) {
            if lane > 0 {
                out.packet(&descriptor(trace, number, lane));
            }
            line.walk(|step| match step {
                Step::Open(slice) => {
                    let begin = event(EventType::SliceBegin, uuid(number, lane));
                    out.event(slice.from, about(begin, slice.name, slice.category, slice.frame.as_ref()));
                }
                Step::Close(at) => out.event(at, event(EventType::SliceEnd, uuid(number, lane))),
            });
        }
    }
    for mark in &trace.marks {
        let instant = event(EventType::Instant, uuid(mark.track, 0));
        out.event(mark.at, about(instant, mark.name, mark.category, mark.frame.as_ref()));
    }
    let mut changes: Vec<_> = trace.changes.iter().collect();
    changes.sort_by_key(|change| (change.track, change.at));
    for of_track in changes.chunk_by(|one, next| one.track == next.track) {
        let mut value = 0;
        for together in of_track.chunk_by(|one, next| one.at == next.at) {
            value += together.iter().map(|change| change.by).sum::<i64>();
            let counter = event(EventType::Counter, uuid(together[0].track, 0));
            out.event(together[0].at, TrackEvent { counter_value: Some(value), ..counter });
        }
    }
    out.0
}

struct Out(Vec<u8>);

impl Out {
    fn packet(&mut self, packet: &TracePacket) {
        prost::encoding::message::encode(PACKET, packet, &mut self.0);
    }

    fn event(&mut self, at: i64, event: TrackEvent) {
        self.packet(&TracePacket {
            // Nothing happens before the start of a run; a clock that says so is held there.
            timestamp: Some(u64::try_from(at).unwrap_or(0)),
            trusted_packet_sequence_id: Some(SEQUENCE),
            sequence_flags: Some(NEEDS_STATE),
            track_event: Some(event),
            ..TracePacket::default()
        });
    }
}

/// Every name that packets refer to, by number from 1.
fn names(trace: &Trace) -> TracePacket {
    let interned = |number: u64, name: &str| Interned { iid: Some(number), name: Some(name.to_owned()) };
    TracePacket {
        trusted_packet_sequence_id: Some(SEQUENCE),
        sequence_flags: Some(STATE_CLEARED),
        interned_data: Some(InternedData {
            event_categories: (1..).zip(Category::ALL).map(|(number, one)| interned(number, one.name())).collect(),
            event_names: (1..).zip(&trace.names).map(|(number, name)| interned(number, name)).collect(),
            debug_annotation_names: vec![interned(FRAME_NUMBER, "frame")],
        }),
        ..TracePacket::default()
    }
}

/// The number of a line of a track: 0 would mean none.
fn uuid(track: u32, lane: u64) -> u64 {
    lane << 32 | (u64::from(track) + 1)
}

fn descriptor(trace: &Trace, number: u32, lane: u64) -> TracePacket {
    let track = &trace.tracks[number as usize];
    TracePacket {
        trusted_packet_sequence_id: Some(SEQUENCE),
        track_descriptor: Some(TrackDescriptor {
            uuid: Some(uuid(number, lane)),
            name: Some(track.name.clone()),
            parent_uuid: track.parent.map(|parent| uuid(parent, 0)),
            counter: track.unit.map(|unit| CounterDescriptor { unit_name: Some(unit.to_owned()) }),
            child_ordering: Some(BY_RANK),
            sibling_order_rank: i32::try_from(number).ok(),
        }),
        ..TracePacket::default()
    }
}

fn event(kind: EventType, track: u64) -> TrackEvent {
    TrackEvent { r#type: Some(kind.into()), track_uuid: Some(track), ..TrackEvent::default() }
}

/// The event with what it is about.
fn about(event: TrackEvent, name: NameId, category: Category, frame: Option<&Frame>) -> TrackEvent {
    let number = |frame: &Frame| DebugAnnotation { name_iid: Some(FRAME_NUMBER), uint_value: Some(frame.sequence) };
    TrackEvent {
        category_iids: vec![category as u64 + 1],
        name_iid: Some(u64::from(name.0) + 1),
        debug_annotations: frame.map(number).into_iter().collect(),
        flow_ids: frame.map(|frame| frame.ways.numbers().to_vec()).unwrap_or_default(),
        ..event
    }
}
