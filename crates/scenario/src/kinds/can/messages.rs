//! Streams on a CAN segment: periodic messages, and the one that announces counters.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::Duration;
use chronoseal_nodes::Protection;
use chronoseal_plan::{CanHop, CanSegment, Facet, SYNCHRONISATION, SegmentedPlan};
use chronoseal_wire::can::bits::FrameBits;
use chronoseal_wire::can::frame::{CLASSICAL_DATA_LEN_MAX, Dlc, FD_DATA_LEN_MAX};
use chronoseal_wire::can::{CanFrame, CanId, FrameKind, StandardId};

use super::segmented;
use super::spec::{CanFormatSpec, CanStreamSpec};
use crate::kinds::{
    CollectRequest, Context, HopParts, HopRequest, OnSegment, Place, Room, Segment, Step, SynchronisationRequest,
};
use crate::limits::MESSAGES_MAX;
use crate::problem::Code;
use crate::shape::shortened;

/// Data of the synchronisation message at most: one classical frame `[byte]`.
const SYNC_LEN_MAX: usize = 8;
/// Urgent, and out of the way of identifiers that a bus has for its most urgent messages.
const SYNC_ID_DEFAULT: &str = "0x010";

/// A stream's way over the segment; of several alike, all with the identifier of the first.
pub(super) fn hop(request: &HopRequest<'_>, context: &mut Context<'_>) -> Option<HopParts> {
    let spec: CanStreamSpec = request.table.read(context)?;
    let segment: &CanSegment = request.segment.facet()?;
    let kind = frame_kind(&request.table.at("format"), spec.format, segment, context);
    let id = can_id(&request.table.at("id"), &spec.id, spec.extended, context);
    request.judge_protection(Protection::check_on_can, context);
    let overhead = request.protection.overhead_bytes();
    let segmented = match &spec.segmented {
        Some(written) => Some(segmented::resolve(request, &spec, written, context)?),
        None => None,
    };
    let room = match segmented {
        Some(_) => segmented::room(),
        None => frame_room(kind, overhead),
    };
    let data_len = request.stream.payload_len.min(room.bytes.saturating_sub(overhead));
    let wire_time = match &segmented {
        Some(plan) => segmented::wire_time(segment, id, kind, plan, data_len + overhead),
        None => wire_time(segment, id, kind, (data_len + overhead) as usize),
    };
    Some(HopParts {
        frame_len: data_len,
        class: if segmented.is_some() { "segmented message" } else { "message" },
        facet: Facet::new(CanHop::Message { id, kind, segmented }),
        has_slots: false,
        room,
        wire_time,
    })
}

/// What one frame has room for.
fn frame_room(kind: FrameKind, overhead: u32) -> Room {
    const SEVERAL: &str = ", or `segmented = { flow_control = \"0x…\" }` for several frames";
    let (bytes, frame) = match kind.is_fd() {
        true => (FD_DATA_LEN_MAX as u32, "a CAN-FD frame"),
        false => (CLASSICAL_DATA_LEN_MAX as u32, "a classical CAN frame"),
    };
    let in_fd = match kind.is_fd() {
        true => String::new(),
        false => format!(", or `format = \"fd\"` for up to {}B", (FD_DATA_LEN_MAX as u32).saturating_sub(overhead)),
    };
    Room { bytes, frame, other_way: in_fd + SEVERAL }
}

/// What a frame without stuff bits takes.
pub(super) fn wire_time(segment: &CanSegment, id: CanId, kind: FrameKind, data_len: usize) -> Duration {
    let data = [0x55; FD_DATA_LEN_MAX];
    Dlc::holding(data_len).map_or(Duration::ZERO, |dlc| {
        let len = if kind.is_fd() { dlc.fd_len() } else { dlc.classical_len() };
        segment.timing.time_of(FrameBits::of(&CanFrame::new(id, kind, dlc, &data[..len])))
    })
}

/// An identifier as written, with `0x` in front.
pub(super) fn can_id(at: &[Step<'_>], text: &str, extended: bool, context: &mut Context<'_>) -> CanId {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let raw = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+')));
    let (bits, largest) = if extended { (29, "0x1FFFFFFF") } else { (11, "0x7FF") };
    raw.and_then(|raw| id_of(raw, extended)).unwrap_or_else(|| {
        let help = if raw.is_some() && !extended {
            "write at most 0x7FF, or `extended = true` for an identifier of 29 bits".to_owned()
        } else {
            format!("write it in hexadecimal, at most {largest}, such as `\"0x123\"`")
        };
        context.report(
            Code::BadCanId,
            at,
            format!("`{}` is no identifier of {bits} bits", shortened(text)),
            "no identifier",
            help,
        );
        CanId::Standard(StandardId::ZERO)
    })
}

fn id_of(raw: u32, extended: bool) -> Option<CanId> {
    match extended {
        true => CanId::extended(raw).ok(),
        false => u16::try_from(raw).ok().and_then(|raw| CanId::standard(raw).ok()),
    }
}

/// The kind of a frame format; switching the bit rate needs a second one.
fn frame_kind(at: &[Step<'_>], format: CanFormatSpec, segment: &CanSegment, context: &mut Context<'_>) -> FrameKind {
    match format {
        CanFormatSpec::Classical => FrameKind::Classical,
        CanFormatSpec::Fd => FrameKind::Fd { brs: false, esi: false },
        CanFormatSpec::FdBrs => {
            if !segment.has_data_phase {
                context.report(
                    Code::BadBitTiming,
                    at,
                    "a frame with bit-rate switch needs a second bit rate",
                    "nothing to switch to",
                    "add `data_bit_rate = \"2Mbit/s\"` to the segment, or write `format = \"fd\"`",
                );
            }
            FrameKind::Fd { brs: true, esi: false }
        }
    }
}

/// Counts the identifiers of streams alike on, and refuses those that two have.
pub(super) fn check(segment: &Segment<'_>, streams: &mut [OnSegment<'_>], context: &mut Context<'_>) {
    if streams.len() > MESSAGES_MAX as usize {
        context.report(
            Code::TooMany,
            &streams[MESSAGES_MAX as usize].at(segment, "id"),
            format!("`{}` has {} streams", segment.name, streams.len()),
            "too many",
            format!("a CAN segment has at most {MESSAGES_MAX}"),
        );
    }
    let mut taken: BTreeMap<CanId, (usize, &'static str)> = BTreeMap::new();
    let mut wrong: BTreeSet<usize> = BTreeSet::new();
    for stream in streams {
        let Some(CanHop::Message { id, kind, segmented }) = stream.hop.facet.get() else { continue };
        let (kind, segmented) = (*kind, *segmented);
        let Some(id) = counted_on(segment, stream, "id", *id, &mut wrong, context) else { continue };
        let segmented = match segmented {
            Some(plan) => {
                let answer = counted_on(segment, stream, segmented::KEY, plan.flow_control, &mut wrong, context);
                let Some(flow_control) = answer else { continue };
                Some(SegmentedPlan { flow_control, ..plan })
            }
            None => None,
        };
        stream.hop.facet = Facet::new(CanHop::Message { id, kind, segmented });
        if stream.protection.is_authenticated() && stream.protection.is_replayable() {
            context.note(format!("Message {} is protected without freshness: it can be replayed.", stream.name));
        }
        if segmented.is_some() && stream.hop.to.len() > 1 && wrong.insert(stream.entry) {
            segmented::several_receivers(segment, stream, context);
        }
        let answers = segmented.map(|plan| (plan.flow_control, segmented::KEY));
        for (id, key) in [(id, "id")].into_iter().chain(answers) {
            match taken.get(&id) {
                Some(&(earlier, earlier_key)) if wrong.insert(stream.entry) => context.report_both(
                    Code::BadCanId,
                    (&place_of(segment, stream.entry, key), "again here"),
                    (&place_of(segment, earlier, earlier_key), "first here"),
                    match earlier == stream.entry {
                        true => {
                            format!("its sender and its receiver both send frames with the identifier {:#x}", id.raw())
                        }
                        false => format!("two streams have the identifier {:#x}", id.raw()),
                    },
                    "two senders of one identifier destroy each other's frames: give each stream its own",
                ),
                Some(_) => {}
                None => drop(taken.insert(id, (stream.entry, key))),
            }
        }
    }
}

/// Where an identifier of an entry stands.
fn place_of<'k>(segment: &Segment<'k>, entry: usize, key: &'k str) -> Place<'k> {
    let table = Place::new("streams").entry(entry).key(segment.name);
    if key == segmented::KEY { table.key("segmented").key(key) } else { table.key(key) }
}

/// The identifier of one of several streams alike.
fn counted_on(
    segment: &Segment<'_>,
    stream: &OnSegment<'_>,
    key: &'static str,
    first: CanId,
    wrong: &mut BTreeSet<usize>,
    context: &mut Context<'_>,
) -> Option<CanId> {
    let id = id_of(first.raw() + stream.number, first.is_extended());
    if id.is_none() && wrong.insert(stream.entry) {
        context.report(
            Code::BadCanId,
            &place_of(segment, stream.entry, key),
            format!("{} identifiers from here on end above the largest there is", stream.count),
            "too large",
            "begin with a smaller one",
        );
    }
    id
}

/// Whether the frame in which a gateway collects has an identifier of its own.
pub(super) fn collect(request: &CollectRequest<'_>, context: &mut Context<'_>) {
    let id_of = |facet: &Facet| match facet.get() {
        Some(CanHop::Message { id, .. } | CanHop::Synchronisation { id }) => Some(*id),
        Some(CanHop::Recording(_)) | None => None,
    };
    let Some(id) = id_of(&request.hop.facet) else { return };
    let answers = |facet: &Facet| match facet.get() {
        Some(CanHop::Message { segmented: Some(segmented), .. }) => Some(segmented.flow_control),
        _ => None,
    };
    let is_taken = |facet: &Facet| id_of(facet) == Some(id) || answers(facet) == Some(id);
    if let Some(other) = request.others.iter().find(|other| is_taken(&other.hop.facet)) {
        context.report_both(
            Code::BadCanId,
            (&request.table.at("id"), "again here"),
            (&other.place, "first here"),
            format!("the frame collected on `{}` has the identifier {:#x} of another", request.segment.name, id.raw()),
            "two senders of one identifier destroy each other's frames: give it one of its own",
        );
    }
}

/// The message that announces trip and reset counters: a classical frame.
pub(super) fn synchronisation(
    request: &SynchronisationRequest<'_>,
    context: &mut Context<'_>,
) -> Option<(CanId, HopParts)> {
    let segment: &CanSegment = request.segment.facet()?;
    let id = can_id(&Place::new("freshness").key("id"), request.id.unwrap_or(SYNC_ID_DEFAULT), false, context);
    let has_id = |hop: &&(usize, &chronoseal_plan::HopPlan)| {
        hop.1.facet.get().is_some_and(|hop| match hop {
            CanHop::Message { id: known, segmented, .. } => {
                *known == id || segmented.is_some_and(|segmented| segmented.flow_control == id)
            }
            _ => false,
        })
    };
    if let Some((entry, _)) = request.hops.iter().find(has_id) {
        context.report(
            Code::BadCanId,
            &Place::new("streams").entry(*entry).key(request.segment.name).key("id"),
            "the synchronisation message of `[freshness]` has this identifier",
            "taken",
            "give one of them another: `id` of `[freshness]`, or of the stream",
        );
    }
    let len = request.len.min(SYNC_LEN_MAX);
    if request.len > SYNC_LEN_MAX {
        context.report(
            Code::BadFreshness,
            &Place::new("freshness"),
            format!("the synchronisation message has {}B, and a classical CAN frame {SYNC_LEN_MAX}B", request.len),
            "too long",
            "write shorter `counters` or a shorter `authenticator`: 64 bits of trip and reset counter and authenticator",
        );
    }
    let parts = HopParts {
        frame_len: len as u32,
        class: SYNCHRONISATION,
        facet: Facet::new(CanHop::Synchronisation { id }),
        has_slots: false,
        room: Room { bytes: len as u32, frame: "a classical CAN frame", other_way: String::new() },
        wire_time: wire_time(segment, id, FrameKind::Classical, len),
    };
    Some((id, parts))
}
