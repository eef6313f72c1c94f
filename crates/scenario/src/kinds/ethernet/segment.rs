//! What is written of an Ethernet segment, to what will be run.

use chronoseal_core::{Bytes, Duration, NodeId, Ppm};

use super::classes::Classes;
use super::spec::{
    AccessSpec, AccountingSpec, ChargeSpec, ClassSpec, DispatchSpec, EthernetSegmentSpec, SyncSpec, VirtualLinksSpec,
    VlanSpec,
};
use super::stream_filters;
use super::{Memo, clocks, failures, integration, links, macsec, networks, time_aware};
use crate::kinds::{Context, Cycle, SegmentParts, SegmentRequest, Step, Table};
use crate::limits::*;
use crate::problem::Code;
use chronoseal_plan::{
    Access, Accounting, Dispatch, EthernetSegment, Facet, LinkParameters, Ports, StationLink, StreamFilters, Sync,
    VirtualLinkRules, Wiring,
};
use chronoseal_wire::ethernet::VlanTag;

/// Checksum 4, preamble and delimiter 8, gap 12 (IEEE 802.3) `[byte]`.
const WIRE_OVERHEAD: u64 = 24;
/// The key that says after what the schedule repeats.
pub(super) const CYCLE: &str = "cluster_cycle";
/// What repeats where nothing goes by the time, and no cycle is written.
const CYCLE_OF_NOTHING: Duration = Duration::from_ms(10);

/// The VLAN tag of frames of a class.
pub(super) fn tag_of(spec: ClassSpec) -> Option<VlanTag> {
    match spec {
        ClassSpec::Vlan(VlanSpec { pcp, vid }) => Some(VlanTag { pcp, drop_eligible: false, vid }),
        ClassSpec::TimeTriggered | ClassSpec::RateConstrained(_) | ClassSpec::BestEffort(_) => None,
    }
}

/// A segment with its defaults filled in.
pub(super) fn resolve(request: &SegmentRequest<'_>, context: &mut Context<'_>) -> Option<SegmentParts> {
    let spec: EthernetSegmentSpec = request.table.read(context)?;
    let (mut segment, is_certain) = segment(&request.table, &spec, context);
    let switches = links::switches(request, &spec, context);
    segment.wiring.switches_of_b = networks::of_switches(request, &spec, &switches, context);
    segment.wiring = links::wiring(request, &spec, &switches, &segment, context);
    macsec::keeps_order(request, &segment, context);
    segment.ports = links::ports(request, &spec, &switches, &segment, context);
    segment.stream_filters = stream_filters::resolve(request, &spec, &switches, context);
    segment.failures = failures::resolve(request, &spec, &switches, &segment.wiring, context);
    segment.frame_losses = failures::frame_losses(request, &spec, &switches, &segment.wiring, context);
    if spec.max_transmission_delay.is_none() && segment.sync != Sync::As6802 {
        segment.max_transmission_delay = transmission_delay(&segment, request);
    }
    if let Some(SyncSpec::As6802(cluster)) = &spec.sync {
        let is_given = spec.max_transmission_delay.is_some();
        segment.cluster = clocks::resolve(request, cluster, &switches, (&mut segment, is_given), context);
    }
    if let Some(SyncSpec::Gptp(clocks)) = &spec.sync {
        let clocks = time_aware::resolve(request, (&spec, clocks), &switches, &segment, context);
        segment.time_aware = Some(Box::new(clocks));
    }
    networks::check(request, &segment, context);
    let cycle = Cycle { length: segment.cluster_cycle, key: CYCLE, is_certain };
    Some(SegmentParts {
        cycle: Some(cycle),
        memo: Some(Facet::new(Memo {
            class: spec.class,
            classes: Classes::new(spec.classes),
            is_standard: spec.virtual_links.standard,
            switches: switches.clone(),
        })),
        own_nodes: switches,
        ..SegmentParts::new(Facet::new(segment))
    })
}

/// The segment but for its largest transmission delay, and whether its cycle is the one that was meant.
fn segment(table: &Table<'_>, spec: &EthernetSegmentSpec, context: &mut Context<'_>) -> (EthernetSegment, bool) {
    let path = |key: &'static str| table.at(key);
    let rate = context.within(&path("rate"), "the rate", spec.rate.0, RATE_MIN, RATE_MAX);
    let written = spec.cluster_cycle.map(|cycle| cycle.0);
    let cluster_cycle =
        written.map(|cycle| context.within(&path(CYCLE), "the cluster cycle", cycle, PERIOD_MIN, CLUSTER_CYCLE_MAX));
    let is_certain = cluster_cycle.is_some() && cluster_cycle == written;
    // Whatever is written elsewhere is not to be judged by a cycle that was not meant.
    let cluster_cycle = match cluster_cycle {
        None => CYCLE_OF_NOTHING,
        Some(cycle) if is_certain => cycle,
        Some(_) => CLUSTER_CYCLE_MAX,
    };
    let integration_cycle = match spec.integration_cycle {
        None => cluster_cycle,
        Some(cycle) => {
            let written = Cycle { length: cluster_cycle, key: CYCLE, is_certain };
            integration_cycle(table, cycle.0, written, context)
        }
    };
    let mut up_to = |key, what, value, max| context.within(&path(key), what, value, Duration::ZERO, max);
    let guard_period = up_to("guard_period", "the guard period", spec.guard_period.0, cluster_cycle);
    let precision = up_to("precision", "the precision", spec.precision.0, DELAY_MAX);
    let propagation_delay = up_to("propagation_delay", "the propagation delay", spec.propagation_delay.0, DELAY_MAX);
    let forwarding_delay = up_to("forwarding_delay", "the forwarding delay", spec.forwarding_delay.0, DELAY_MAX);
    let max_transmission_delay = match spec.max_transmission_delay {
        None => Duration::ZERO,
        Some(delay) => up_to("max_transmission_delay", "the largest transmission delay", delay.0, DELAY_MAX),
    };
    let queue_len_max = context.within(
        &path("queue_len_max"),
        "the length of a queue",
        spec.queue_len_max.0,
        Bytes(u64::from(FRAME_LEN_MAX)),
        Bytes(QUEUE_LEN_MAX),
    );
    let segment = EthernetSegment {
        rate,
        cluster_cycle,
        cluster: None,
        time_aware: None,
        sync: match spec.sync {
            None => Sync::None,
            Some(SyncSpec::Beacon) => Sync::Beacon,
            Some(SyncSpec::Ideal) => Sync::Ideal,
            Some(SyncSpec::As6802(_)) => Sync::As6802,
            Some(SyncSpec::Gptp(_)) => Sync::Gptp,
        },
        integration_cycle,
        guard_period,
        accounting: match spec.accounting {
            AccountingSpec::OnWire => Accounting::OnWire,
            AccountingSpec::AsPublished => Accounting::AsPublished,
        },
        access: match spec.access {
            AccessSpec::SharedSlots => Access::SharedSlots,
            AccessSpec::PerLink => Access::PerLink,
        },
        precision,
        max_transmission_delay,
        sync_id: spec.sync_id,
        ct_marker: marker(&spec.ct_marker, &path("ct_marker"), context),
        propagation_delay,
        macsec: macsec::resolve(table, spec, context),
        dispatch: match spec.dispatch {
            DispatchSpec::Scheduled => Dispatch::Scheduled,
            DispatchSpec::Immediate => Dispatch::Immediate,
        },
        integration: integration::resolve(table, spec, context),
        forwarding_delay,
        forwarding_jitter: context.jitter(&path("forwarding_jitter"), "the forwarding jitter", spec.forwarding_jitter),
        queue_len_max: queue_len_max.0,
        shares_queues: spec.shared_queues,
        sniffing_switch: spec.sniffing_switch,
        wiring: Wiring::default(),
        ports: Ports::default(),
        stream_filters: StreamFilters::default(),
        virtual_links: virtual_links(table, &spec.virtual_links, context),
        failures: Vec::new(),
        frame_losses: Vec::new(),
    };
    (segment, is_certain)
}

/// What holds for all virtual links.
fn virtual_links(table: &Table<'_>, spec: &VirtualLinksSpec, context: &mut Context<'_>) -> VirtualLinkRules {
    let at = table.at("virtual_links").key("clock_tolerance");
    let tolerance = context.within(&at, "the clock tolerance", spec.clock_tolerance.0, Ppm(0), DRIFT_MAX);
    VirtualLinkRules { charges_longest: spec.policing == ChargeSpec::Frames, clock_tolerance: tolerance }
}

/// How long a frame keeps a link, whatever the segment counts.
pub(super) fn wire_time(link: LinkParameters, len: u32) -> Duration {
    link.rate.time_of(u64::from(len) + link.protection().added_bytes + WIRE_OVERHEAD)
}

/// The largest transmission delay of a beacon: it waits for one longest frame in front of each link on its way and takes its
/// own time there, and its driver and the slowest link of all come on top.
fn transmission_delay(segment: &EthernetSegment, request: &SegmentRequest<'_>) -> Duration {
    let longest_driver = request.nodes_on_it().map(|(_, node)| node.driver.max).max().unwrap_or(Duration::ZERO);
    let over = |link: LinkParameters| {
        let wire_time = |len: u32| wire_time(link, len);
        wire_time(FRAME_LEN_MAX) + wire_time(FRAME_LEN_MIN) + link.delay(FRAME_LEN_MIN)
    };
    let in_switch = segment.forwarding_delay + segment.forwarding_jitter.max;
    let wiring = &segment.wiring;
    let between = |switch: u16| -> Duration {
        let way = wiring.way_between(0, switch);
        way.iter().map(|trunk| over(wiring.trunks[*trunk].parameters) + in_switch).sum()
    };
    let to_switch: Vec<Duration> = (0..wiring.switches).map(between).collect();
    let link_of = |(number, _)| segment.link_of(NodeId(number as u16));
    let stations: Vec<StationLink> = request.nodes_on_it().map(link_of).collect();
    let ways = stations.iter().map(|link| to_switch[usize::from(link.switch)] + over(link.parameters));
    let longest = ways.max().unwrap_or_else(|| over(segment.default_link()));
    let links = stations.iter().map(|link| link.parameters).chain(wiring.trunks.iter().map(|trunk| trunk.parameters));
    let slowest = links.map(over).max().unwrap_or_else(|| over(segment.default_link()));
    longest + slowest + in_switch + longest_driver
}

fn integration_cycle(table: &Table<'_>, cycle: Duration, cluster: Cycle, context: &mut Context<'_>) -> Duration {
    let path = table.at("integration_cycle");
    let cluster_cycle = cluster.length;
    let cycle = context.within(&path, "the integration cycle", cycle, PERIOD_MIN, CLUSTER_CYCLE_MAX);
    if !cluster.is_certain || cluster_cycle.rem_floor(cycle) == Duration::ZERO {
        return cycle;
    }
    context.report_both(
        Code::IntegrationCycleNotDividing,
        (&path, "does not divide it"),
        (&table.at(CYCLE), "the cluster cycle"),
        format!("the integration cycle {cycle} does not divide the cluster cycle {cluster_cycle}"),
        divisors_help(cycle, cluster_cycle),
    );
    cluster_cycle
}

fn marker(text: &str, path: &[Step<'_>], context: &mut Context<'_>) -> [u8; 4] {
    let fallback = [3, 4, 5, 6];
    let parts: Vec<&str> = text.split(':').collect();
    let bytes: Option<Vec<u8>> = parts
        .iter()
        .map(|part| u8::from_str_radix(part, 16).ok().filter(|_| part.len() == 2 && !part.starts_with('+')))
        .collect();
    let Some(Ok(marker)) = bytes.map(<[u8; 4]>::try_from) else {
        context.report(
            Code::BadMarker,
            path,
            "the critical-traffic marker is not four bytes",
            "not four bytes",
            "write four bytes in hexadecimal, such as `\"03:04:05:06\"`",
        );
        return fallback;
    };
    if marker[0] & 1 == 0 {
        let group = format!("{:02x}", marker[0] | 1);
        context.report(
            Code::BadMarker,
            path,
            "the critical-traffic marker is no group address, so a switch could not send it to several",
            "the first byte is even",
            format!("make the first byte odd, such as `{group}`"),
        );
        return fallback;
    }
    marker
}

/// Which periods nearest to `period` divide `cycle`, as a sentence; both have to be positive.
pub fn divisors_help(period: Duration, cycle: Duration) -> String {
    /// Further away than this nobody would look.
    const TRIES: i64 = 10_000;
    if period >= cycle {
        return format!("the largest that does is {cycle}");
    }
    let divides = |count: &i64| *count > 0 && cycle.as_ps() % count == 0;
    let count = cycle.div_floor(period);
    let longer = (1..=count).rev().take(TRIES as usize).find(divides).map(|count| cycle / count);
    let shorter = (count + 1..).take(TRIES as usize).find(divides).map(|count| cycle / count);
    match (shorter, longer) {
        (Some(shorter), Some(longer)) => format!("the nearest that do are {shorter} and {longer}"),
        (Some(one), None) | (None, Some(one)) => format!("the nearest that does is {one}"),
        (None, None) => format!("write a whole fraction of {cycle}"),
    }
}
