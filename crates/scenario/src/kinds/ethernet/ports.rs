//! Ports of switches and stations: what was written of them, checked.

use chronoseal_core::{Bytes, Rate};
use chronoseal_media::port::{ClassConfig, PortConfig, RECOMMENDED_CLASS, Selection, TRAFFIC_CLASSES, priority_of};
use chronoseal_plan::{Accounting, Committed, EthernetSegment};

use super::gate_lists;
use super::port_spec::{ClassPortSpec, CommittedSpec, PortSpec, ShaperSpec};
use crate::kinds::{Context, HopRequest, Place, Table};
use crate::limits::*;
use crate::problem::Code;
use crate::shape::shortened;

/// Table 8-5 of IEEE 802.1Q-2022: the traffic class of each priority code point, by the number of classes.
const RECOMMENDED: [[u8; 8]; TRAFFIC_CLASSES] = [
    [0, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 1, 1, 1, 1],
    [0, 0, 0, 0, 1, 1, 2, 2],
    [0, 0, 1, 1, 2, 2, 3, 3],
    [0, 0, 1, 1, 2, 2, 3, 4],
    [1, 0, 2, 2, 3, 3, 4, 5],
    [1, 0, 2, 3, 4, 4, 5, 6],
    RECOMMENDED_CLASS,
];

/// A port as it was written at a place. `rate` is that of its link; the slowest, where it is for several.
pub(super) fn port(
    place: &Place<'_>,
    spec: &PortSpec,
    rate: Rate,
    segment: &EthernetSegment,
    context: &mut Context<'_>,
) -> PortConfig {
    let count = usize::from(spec.traffic_classes.unwrap_or(TRAFFIC_CLASSES as u8)).clamp(1, TRAFFIC_CLASSES);
    let mut config = PortConfig::default();
    for (code_point, recommended) in (0u8..).zip(RECOMMENDED[count - 1]) {
        let written = spec.priorities.as_ref().and_then(|all| all.get(usize::from(code_point)));
        let class = written.map_or(recommended, |class| {
            let at = place.clone().key("priorities").entry(code_point.into());
            known(&at, *class, count, context).unwrap_or(0)
        });
        config.class_of[usize::from(priority_of(code_point).0)] = class;
    }
    let mut seen: [Option<usize>; TRAFFIC_CLASSES] = [None; TRAFFIC_CLASSES];
    for (i, class) in spec.classes.iter().enumerate() {
        let at = place.clone().key("classes").entry(i);
        let Some(number) = known(&at.clone().key("class"), class.class, count, context) else { continue };
        let number = usize::from(number);
        if let Some(earlier) = seen[number].replace(i) {
            context.report_both(
                Code::BadPort,
                (&at.key("class"), "again here"),
                (&place.clone().key("classes").entry(earlier).key("class"), "first here"),
                format!("traffic class {number} is described twice"),
                "put all that it has into one of the entries",
            );
            continue;
        }
        config.classes[number] = self::class(&at, class, segment, context);
    }
    reserved(place, spec, rate, context);
    config.gates = spec.gates.as_ref().map(|gates| {
        let at = place.clone().key("gates");
        let mut list = gate_lists::list(&at, gates, (count, &config), rate.time_of(HOLD_ADVANCE), context);
        if let Some(admin) = &gates.admin {
            let longest = rate.time_of(LONGEST_FRAME);
            let change = gate_lists::change(&at, gates, admin, (count, &config), (&list, longest), context);
            list.change = Some(Box::new(change));
        }
        list
    });
    config
}

/// Preamble, the longest part of a frame that cannot be interrupted, and gap, IEEE 802.3-2022 clause 99 `[byte]`.
const HOLD_ADVANCE: u64 = 8 + 123 + 12;

/// The longest frame with preamble, all that protections add, and checksum, rounded up `[byte]`.
const LONGEST_FRAME: u64 = 1600;

pub(super) fn known(at: &Place<'_>, class: u8, count: usize, context: &mut Context<'_>) -> Option<u8> {
    if usize::from(class) < count {
        return Some(class);
    }
    context.report(
        Code::BadPort,
        at,
        format!("there is no traffic class {class} at a port that has {count}"),
        "no such class",
        format!("write a class from 0 to {}, or more `traffic_classes`", count - 1),
    );
    None
}

fn class(at: &Place<'_>, spec: &ClassPortSpec, segment: &EthernetSegment, context: &mut Context<'_>) -> ClassConfig {
    let selection = match spec.shaper {
        None => Selection::Strict,
        Some(ShaperSpec::Asynchronous) => Selection::Asynchronous,
        Some(ShaperSpec::CreditBased(shaper)) => {
            let at = at.clone().key("shaper").key("credit_based").key("idle_slope");
            let idle_slope = context.within(&at, "the idle slope", shaper.idle_slope.0, RATE_MIN, RATE_MAX);
            Selection::CreditBased { idle_slope, changed: None }
        }
    };
    if spec.preemptable && segment.accounting == Accounting::AsPublished {
        context.report(
            Code::BadPort,
            &at.clone().key("preemptable"),
            "frames are interrupted between their bytes on the wire, which `accounting = \"as-published\"` does not count \
             (IEEE 802.3-2022 clause 99)",
            "needs the bytes on the wire",
            "write `accounting = \"on-wire\"` for the segment, or leave `preemptable` out",
        );
    }
    let room = spec.queue_len_max.map(|room| {
        let (min, max) = (Bytes(u64::from(FRAME_LEN_MAX)), Bytes(QUEUE_LEN_MAX));
        context.within(&at.clone().key("queue_len_max"), "the length of a queue", room.0, min, max).0
    });
    ClassConfig { selection, is_preemptable: spec.preemptable, room }
}

/// Whether the shapers leave something of the link.
fn reserved(place: &Place<'_>, spec: &PortSpec, rate: Rate, context: &mut Context<'_>) {
    let slope = |class: &ClassPortSpec| match class.shaper {
        Some(ShaperSpec::CreditBased(shaper)) => shaper.idle_slope.0.0,
        _ => 0,
    };
    let mut sum = 0u64;
    for (i, class) in spec.classes.iter().enumerate() {
        sum = sum.saturating_add(slope(class));
        if slope(class) > 0 && sum > rate.0 {
            context.report(
                Code::BadPort,
                &place.clone().key("classes").entry(i).key("shaper").key("credit_based").key("idle_slope"),
                format!(
                    "the idle slopes up to this one add up to {} on a link of {rate} (IEEE 802.1Q-2022 §34.3)",
                    Rate(sum)
                ),
                "more than the link carries",
                "write lower idle slopes, or a higher `rate` for the link",
            );
            return;
        }
    }
}

/// The bucket of a stream as it was written.
pub(super) fn committed(table: &Table<'_>, spec: CommittedSpec, context: &mut Context<'_>) -> Committed {
    let at = table.at("committed");
    let rate = context.within(&at.clone().key("rate"), "the committed rate", spec.rate.0, RATE_MIN, RATE_MAX);
    let (min, max) = (Bytes(u64::from(FRAME_LEN_MIN)), Bytes(QUEUE_LEN_MAX));
    let burst = context.within(&at.key("burst"), "the committed burst", spec.burst.0, min, max);
    Committed { rate, burst: burst.0 }
}

/// Whether the ports of a segment are known to carry a stream in slots.
pub(super) fn in_slots(request: &HopRequest<'_>, segment: &EthernetSegment, context: &mut Context<'_>) {
    if segment.ports.is_plain() {
        return;
    }
    let (name, on) = (shortened(&request.stream.spec.name), request.segment.name);
    context.report(
        Code::BadPort,
        &request.stream.at(on),
        format!(
            "stream `{name}` has slots of SAE AS6802, and the ports of `{on}` have traffic classes of IEEE 802.1Q: no standard \
             says which of the two a port serves first"
        ),
        "needs slots",
        format!("write `{on} = {{ class = {{ vlan = {{ pcp = 7 }} }} }}` and give its class windows with `gates`"),
    );
}
