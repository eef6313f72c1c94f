//! Virtual links of ARINC 664 part 7: what a stream may ask for, and what an end system has room for.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::{Bytes, Duration, NodeId};
use chronoseal_plan::{EthernetHop, EthernetSegment, HopPlan, LinkParameters, VirtualLink};

use super::Memo;
use super::spec::{RateConstrainedSpec, VirtualLinkPrioritySpec};
use crate::kinds::{Context, HopRequest, OnSegment, Place, Segment};
use crate::limits::*;
use crate::problem::Code;
use crate::shape::shortened;

/// Shortest bandwidth allocation gap. The others are twice as long each (ARINC 664 part 7).
pub(super) const BAG_MIN: Duration = Duration::from_ms(1);
/// Longest bandwidth allocation gap.
const BAG_MAX: Duration = Duration::from_ms(128);
/// The most that the output of an end system may be late (ARINC 664 part 7).
const OUTPUT_JITTER_MAX: Duration = Duration::from_us(500);
/// What of that is for the end system itself; the rest is for frames of all its virtual links at once.
const OUTPUT_JITTER_OWN: Duration = Duration::from_us(40);
/// Preamble, delimiter and gap around a frame with its checksum `[byte]`.
const AROUND_FRAME: u64 = 20;
/// Checksum `[byte]`.
const FCS_LEN: u32 = chronoseal_wire::ethernet::FCS_LEN as u32;

/// The longest bandwidth allocation gap of the standard that is not above a period; the shortest one if none is.
pub(super) fn bag_within(period: Duration) -> Duration {
    let mut bag = BAG_MIN;
    while bag < BAG_MAX && bag * 2 <= period {
        bag = bag * 2;
    }
    bag
}

/// The frames of a message, with protection and without checksums.
#[derive(Clone, Copy)]
pub(super) struct FrameLens {
    /// How many there are.
    pub(super) frames: u32,
    /// `[byte]`
    pub(super) longest: u32,
    /// `[byte]`
    pub(super) shortest: u32,
}

/// The virtual link of a stream whose messages have these frames, still without its identifier.
pub(super) fn resolve(
    request: &HopRequest<'_>,
    (spec, written_at): (RateConstrainedSpec, Place<'_>),
    lens: FrameLens,
    context: &mut Context<'_>,
) -> VirtualLink {
    let at = |key: &'static str| written_at.clone().key("rate_constrained").key(key);
    let is_standard = request.segment.memo().is_none_or(|memo: &Memo| memo.is_standard);
    let bag = bag(request, (spec.bag.map(|bag| bag.0), &at("bag")), (lens.frames, is_standard), context);
    let (own, least) = (lens.longest + FCS_LEN, lens.shortest + FCS_LEN);
    let name = shortened(&request.stream.spec.name);
    let (shortest, longest) = (FRAME_LEN_MIN + FCS_LEN, FRAME_LEN_MAX + FCS_LEN);
    let mut length = |key: &'static str, what: &str, written: Option<Bytes>, default: u32| {
        let [least, most] = [shortest, longest].map(|len| Bytes(u64::from(len)));
        written.map_or(default, |len| context.within(&at(key), what, len, least, most).0 as u32)
    };
    let lmax = length("lmax", "the longest frame", spec.lmax.map(|len| len.0), own);
    let lmin = length("lmin", "the shortest frame", spec.lmin.map(|len| len.0), shortest);
    if lmax < own {
        context.report(
            Code::BadVirtualLink,
            &at("lmax"),
            format!(
                "a frame of stream `{name}` has {own}B with its protection and checksum, and its `lmax` is {lmax}B"
            ),
            "shorter than its frames",
            format!("write `lmax = \"{own}B\"`, or leave it out"),
        );
    }
    if lmin > least {
        context.report(
            Code::BadVirtualLink,
            &at("lmin"),
            format!(
                "a frame of stream `{name}` has {least}B with its protection and checksum, and its `lmin` is {lmin}B"
            ),
            "longer than its frames",
            format!("write at most `lmin = \"{least}B\"`, or leave it out"),
        );
    }
    let jitter = spec.jitter.map_or(OUTPUT_JITTER_MAX, |jitter| {
        context.within(&at("jitter"), "the jitter", jitter.0, Duration::ZERO, DELAY_MAX)
    });
    let is_high = spec.priority == VirtualLinkPrioritySpec::High;
    VirtualLink { ct_id: 0, bag, is_high, lmin: lmin.min(least), lmax: lmax.max(own), jitter, sub_links: 1 }
}

/// The bandwidth allocation gap, written at `at` or found for the stream's period, in which so many frames have to go.
fn bag(
    request: &HopRequest<'_>,
    (written, at): (Option<Duration>, &Place<'_>),
    (frames, is_standard): (u32, bool),
    context: &mut Context<'_>,
) -> Duration {
    // For each frame.
    let period = request.collected_every.unwrap_or(request.stream.period / i64::from(frames));
    let name = shortened(&request.stream.spec.name);
    let (sends, longer) = match (request.collected_every, frames) {
        (Some(_), _) => {
            let sends = format!("the frame in which stream `{name}` is collected leaves every {period} on average");
            (sends, "a longer `within`, a larger `length` or longer periods of what is collected")
        }
        (None, 1) => (format!("stream `{name}` sends every {period}"), "a longer period"),
        (None, _) => {
            (format!("stream `{name}` sends {frames} frames every {}", request.stream.period), "a longer period")
        }
    };
    let Some(bag) = written else {
        if is_standard && period < BAG_MIN {
            let message = format!("{sends}, and the shortest bandwidth allocation gap is 1ms");
            if request.collected_every.is_some() {
                let help = format!("write {longer}, or `virtual_links = {{ standard = false }}` for the segment");
                context.report(Code::BadVirtualLink, &request.table.at("class"), message, "below 1ms", help);
                return BAG_MIN;
            }
            let help = if frames > 1 {
                "write a longer period or a shorter `length`, `class = { vlan = { pcp = 5 } }`, which sends them one after the other, or \
                 `virtual_links = { standard = false }` for the segment"
            } else {
                "write a period of at least `\"1ms\"`, or `virtual_links = { standard = false }` for the segment"
            };
            context.report(Code::BadVirtualLink, &request.stream.at("period"), message, "below 1ms", help);
        }
        // What a gateway passes on comes by another clock than the regulator's: room for both.
        let room = if request.is_first { period } else { period - period / 100 };
        return if is_standard { bag_within(room) } else { room.max(PERIOD_MIN).min(CLUSTER_CYCLE_MAX) };
    };
    let is_one = (0..8).any(|power| bag == BAG_MIN * (1 << power));
    if is_standard && !is_one {
        let shorter = bag_within(bag);
        let nearest = match bag {
            bag if bag < BAG_MIN => format!("the nearest is {BAG_MIN}"),
            bag if bag > BAG_MAX => format!("the nearest is {BAG_MAX}"),
            _ => format!("the nearest are {shorter} and {}", shorter * 2),
        };
        context.report(
            Code::BadVirtualLink,
            at,
            format!(
                "a bandwidth allocation gap of {bag} is none of 1, 2, 4, 8, 16, 32, 64 and 128ms (ARINC 664 part 7)"
            ),
            "not a power of two in milliseconds",
            format!("{nearest}; or write `virtual_links = {{ standard = false }}` for the segment"),
        );
        return bag_within(period);
    }
    let bag = context.within(at, "the bandwidth allocation gap", bag, PERIOD_MIN, CLUSTER_CYCLE_MAX);
    if bag > period {
        let nearest = if is_standard { bag_within(period) } else { period };
        context.report(
            Code::BadVirtualLink,
            at,
            format!(
                "{sends}, more often than its bandwidth allocation gap of {bag} lets it, so ever more \
                 of its frames would wait"
            ),
            "above its period",
            format!("write `bag = \"{nearest}\"`, or {longer}"),
        );
        return nearest;
    }
    bag
}

/// Whether each end system can send all its virtual links with no more output jitter than the standard allows.
pub(super) fn check(
    segment: &Segment<'_>,
    network: &EthernetSegment,
    streams: &[OnSegment<'_>],
    context: &mut Context<'_>,
) {
    let at = |node: NodeId| Place::new("nodes").entry(node.index()).key("name");
    check_output(segment, network, streams.iter().map(|stream| &*stream.hop), at, context);
}

/// [`check`] for the end systems that send these frames; `at` says where a problem of one is shown.
pub(super) fn check_output<'a>(
    segment: &Segment<'_>,
    network: &EthernetSegment,
    hops: impl Iterator<Item = &'a HopPlan>,
    at: impl Fn(NodeId) -> Place<'a>,
    context: &mut Context<'_>,
) {
    // By end system: its virtual links, and how long their longest frames take one after the other.
    let mut sent: BTreeMap<NodeId, (usize, Duration)> = BTreeMap::new();
    // Sub-virtual links have one longest frame together.
    let mut counted = BTreeSet::new();
    for hop in hops {
        let Some(EthernetHop { class, .. }) = hop.facet.get() else { continue };
        let Some(link) = class.virtual_link().filter(|link| counted.insert(link.ct_id)) else { continue };
        let from = hop.from;
        let second = network.wiring.second.iter().find(|link| link.node == from).map(|link| link.parameters);
        let time_over = |over: LinkParameters| {
            over.rate.time_of(u64::from(link.lmax) + over.protection().added_bytes + AROUND_FRAME)
        };
        let (count, time) = sent.entry(from).or_default();
        *count += 1;
        let first = time_over(network.link_of(from).parameters);
        *time += second.map_or(first, |second| first.max(time_over(second)));
    }
    let is_standard = segment.memo().is_none_or(|memo: &Memo| memo.is_standard);
    for (node, (count, time)) in sent {
        let jitter = OUTPUT_JITTER_OWN + time;
        if jitter <= OUTPUT_JITTER_MAX {
            continue;
        }
        let (spec, on) = (context.spec(), segment.name);
        let name = spec.nodes.get(node.index()).map_or("a node", |node| node.name.as_str());
        let message = format!(
            "`{}` sends {count} virtual {} on `{on}`, and its output jitter can be {jitter:.3}: 40us, and their longest frames one \
             after the other",
            shortened(name),
            if count == 1 { "link" } else { "links" }
        );
        if is_standard {
            context.report(
                Code::BadVirtualLink,
                &at(node),
                format!("{message}; ARINC 664 part 7 allows 500us"),
                "more than 500us",
                format!(
                    "send fewer or shorter frames from there, write a higher rate for its link, or `virtual_links = {{ standard = false \
                     }}` for `{on}`"
                ),
            );
        } else {
            context.note(format!("{message}; ARINC 664 part 7 would allow 500us"));
        }
    }
}
