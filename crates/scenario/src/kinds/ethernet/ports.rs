//! Ports of switches and stations: what was written of them, checked.

use chronoseal_core::{Bytes, Duration, NodeId, Rate};
use chronoseal_media::port::{ClassConfig, GateControlList, GateEntry, PortConfig, Selection, TRAFFIC_CLASSES};

use super::plan::{Accounting, Committed, EthernetSegment};
use super::port_spec::{ClassPortSpec, CommittedSpec, GatesSpec, PortSpec, ShaperSpec};
use crate::kinds::{Context, HopRequest, Place, Table};
use crate::limits::*;
use crate::problem::Code;
use crate::shape::shortened;

/// Which port: the end of a link by which frames leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PortEnd {
    /// Of a station, to its switch.
    Station(NodeId),
    /// Of a switch, to a station.
    ToStation(NodeId),
    /// Of the first switch, to the second.
    Between(u16, u16),
}

/// The ports of a segment that do more than send by strict priority, each as [`PortConfig`] has it but for the schedulers of
/// streams.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ports {
    /// Of switches, where nothing else is said.
    pub bridges: Option<PortConfig>,
    /// Of stations, where nothing else is said.
    pub stations: Option<PortConfig>,
    /// Of single link ends.
    pub own: Vec<(PortEnd, PortConfig)>,
}

impl Ports {
    /// True if every port sends by strict priority, each priority by itself.
    pub fn is_plain(&self) -> bool {
        self.bridges.is_none() && self.stations.is_none() && self.own.is_empty()
    }

    /// Every port of which something is said.
    pub fn all(&self) -> impl Iterator<Item = &PortConfig> {
        self.bridges.iter().chain(&self.stations).chain(self.own.iter().map(|(_, port)| port))
    }

    /// A port; `None` if it sends by strict priority, each priority by itself.
    pub fn of(&self, end: PortEnd) -> Option<&PortConfig> {
        let own = self.own.iter().find(|(own, _)| *own == end).map(|(_, port)| port);
        own.or(match end {
            PortEnd::Station(_) => self.stations.as_ref(),
            PortEnd::ToStation(_) | PortEnd::Between(..) => self.bridges.as_ref(),
        })
    }
}

/// Table 8-5 of IEEE 802.1Q-2022: the traffic class of each priority, by the number of classes.
const RECOMMENDED: [[u8; 8]; TRAFFIC_CLASSES] = [
    [0, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 1, 1, 1, 1],
    [0, 0, 0, 0, 1, 1, 2, 2],
    [0, 0, 1, 1, 2, 2, 3, 3],
    [0, 0, 1, 1, 2, 2, 3, 4],
    [1, 0, 2, 2, 3, 3, 4, 5],
    [1, 0, 2, 3, 4, 4, 5, 6],
    [1, 0, 2, 3, 4, 5, 6, 7],
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
    let mut config = PortConfig { class_of: RECOMMENDED[count - 1], ..PortConfig::default() };
    if let Some(priorities) = &spec.priorities {
        for (priority, class) in priorities.iter().enumerate().take(TRAFFIC_CLASSES) {
            let at = place.clone().key("priorities").entry(priority);
            config.class_of[priority] = known(&at, *class, count, context).unwrap_or(0);
        }
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
        let hold_advance = rate.time_of(HOLD_ADVANCE);
        list(&at, gates, (count, &config), hold_advance, context)
    });
    config
}

/// Preamble, the longest part of a frame that cannot be interrupted, and gap, IEEE 802.3-2022 clause 99 `[byte]`.
const HOLD_ADVANCE: u64 = 8 + 123 + 12;

fn known(at: &Place<'_>, class: u8, count: usize, context: &mut Context<'_>) -> Option<u8> {
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
            Selection::CreditBased { idle_slope }
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

/// A gate control list of a port with so many classes.
fn list(
    place: &Place<'_>,
    spec: &GatesSpec,
    (count, port): (usize, &PortConfig),
    hold_advance: Duration,
    context: &mut Context<'_>,
) -> GateControlList {
    let at_cycle = place.clone().key("cycle");
    let cycle = context.within(&at_cycle, "the cycle of the gates", spec.cycle.0, PERIOD_MIN, CLUSTER_CYCLE_MAX);
    let at_base = place.clone().key("base_time");
    let base_time = context.within(&at_base, "the base time", spec.base_time.0, Duration::ZERO, CLUSTER_CYCLE_MAX);
    let room = spec.list_len_max.unwrap_or(GATE_ENTRIES_MAX);
    if spec.entries.len() > room as usize {
        context.report(
            Code::BadPort,
            &place.clone().key("entries"),
            format!(
                "the list has {} entries, and the port has room for {room} (IEEE 802.1Q-2022 §12.29.1, SupportedListMax)",
                spec.entries.len()
            ),
            "too long",
            format!("join entries until there are {room}, or write a larger `list_len_max`"),
        );
    }
    let grain = spec.granularity.map_or(Duration::from_ps(1), |grain| {
        let at = place.clone().key("granularity");
        context.within(&at, "the granularity", grain.0, Duration::from_ps(1), cycle)
    });
    let on_grain = |at: &Place<'_>, what: &str, time: Duration, context: &mut Context<'_>| {
        if time.rem_floor(grain) != Duration::ZERO {
            let near = grain * time.div_floor(grain);
            context.report(
                Code::BadPort,
                at,
                format!("{what} {time} is no whole multiple of the granularity {grain}"),
                "between two ticks",
                format!("write {near} or {}", near + grain),
            );
        }
    };
    on_grain(&at_cycle, "the cycle", cycle, context);
    on_grain(&at_base, "the base time", base_time, context);
    let has_preemptable = port.classes.iter().any(|class| class.is_preemptable);
    let (mut total, mut entries) = (Duration::ZERO, Vec::new());
    for (i, entry) in spec.entries.iter().enumerate() {
        let at = place.clone().key("entries").entry(i);
        let at_lasts = at.clone().key("lasts");
        let lasts = context.within(&at_lasts, "the entry", entry.lasts.0, Duration::from_ps(1), CLUSTER_CYCLE_MAX);
        on_grain(&at_lasts, "the entry", lasts, context);
        if total <= cycle && total + lasts > cycle {
            context.report_both(
                Code::BadPort,
                (&at_lasts, "ends after the cycle"),
                (&at_cycle, "the cycle"),
                format!(
                    "the entries up to this one last {}, and the cycle is {cycle} (IEEE 802.1Q-2022 §8.6.9.1)",
                    total + lasts
                ),
                format!("shorten the entries by {}, or write a longer cycle", total + lasts - cycle),
            );
        }
        total += lasts;
        if entry.hold && !has_preemptable {
            context.report(
                Code::BadPort,
                &at.clone().key("hold"),
                "nothing is held where no traffic class is preemptable (IEEE 802.1Q-2022 §8.6.8.4)",
                "holds nothing",
                "leave `hold` out, or write `preemptable = true` for a class",
            );
        }
        let mut open = 0;
        for (k, class) in entry.open.iter().enumerate() {
            let at = at.clone().key("open").entry(k);
            open |= known(&at, *class, count, context).map_or(0, |class| 1 << class);
        }
        entries.push(GateEntry { open, hold: entry.hold, lasts });
    }
    GateControlList { base_time, cycle, entries, hold_advance }
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
        Code::NotYet,
        &request.stream.at(on),
        format!(
            "stream `{name}` has slots of AS6802, and the ports of `{on}` have traffic classes of IEEE 802.1Q: no analysis has both"
        ),
        "needs slots",
        format!("write `{on} = {{ class = {{ vlan = {{ pcp = 7 }} }} }}` and give its class windows with `gates`"),
    );
}

/// The longest time for which the gate of a class is open at a stretch; `None`: always.
pub(super) fn longest_window(port: &PortConfig, class: u8) -> Option<Duration> {
    let list = port.gates.as_ref()?;
    let is_open = |entry: &GateEntry| entry.open >> class & 1 == 1;
    if list.entries.iter().all(is_open) {
        return None;
    }
    let (mut longest, mut window, mut rest) = (Duration::ZERO, Duration::ZERO, list.cycle);
    // Twice, since a window may go on into the next cycle.
    for turn in 0..2 {
        if turn == 1 {
            rest = list.cycle;
        }
        for (i, entry) in list.entries.iter().enumerate() {
            let lasts = if i + 1 == list.entries.len() { rest } else { entry.lasts.min(rest) };
            rest -= lasts;
            window = if is_open(entry) { window + lasts } else { Duration::ZERO };
            longest = longest.max(window);
        }
    }
    Some(longest)
}
