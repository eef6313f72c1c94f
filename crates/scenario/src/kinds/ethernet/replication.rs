//! Streams whose frames are sent over several ways of one network, and of which receivers take one copy (IEEE 802.1CB).

use std::collections::BTreeSet;

use chronoseal_core::Duration;
use chronoseal_media::port::Selection;
use chronoseal_media::recovery::{HISTORY_MAX, LatentErrors, RecoveryAlgorithm, RecoveryConfig};
use chronoseal_plan::{Copies, EthernetHop, EthernetSegment, HopPlan, SwitchHop};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::spec::{ClassSpec, EthernetStreamSpec};
use super::{Memo, eliminations, routes};
use crate::kinds::{Context, HopRequest, OnSegment, Place, Segment};
use crate::limits::*;
use crate::problem::Code;
use crate::quantity::Quantity;
use crate::shape::shortened;

/// Shortest history of the vector recovery algorithm: IEEE 802.1CB-2017 §10.4.1.6.
const HISTORY_MIN: u8 = 2;
/// Most ways of one stream.
const WAYS_MAX: usize = 8;

/// Copies of a stream's frames over ways of their own, told apart by a redundancy tag (IEEE 802.1CB).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplicationSpec {
    /// For each copy the switches that it may pass between those of its ends. No two of these ways share a link between switches.
    /// With `eliminate_at` the switches that it passes, all of them and in their order, and ways may share links.
    #[schemars(length(max = WAYS_MAX))]
    pub ways: Vec<Vec<String>>,
    /// Switches where copies of a frame become one again, which goes on over every way from there; the receivers are at one switch
    /// then. Default: none, and receivers alone eliminate copies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = SWITCHES_MAX))]
    pub eliminate_at: Vec<String>,
    /// How receivers tell copies from new frames.
    #[serde(default)]
    pub recovery: RecoverySpec,
    /// With vector recovery: so many of the last numbers a receiver keeps, 2 to 64. Default: 8.
    #[serde(default = "default_history")]
    #[schemars(range(min = 2, max = 64))]
    pub history: u8,
    /// Without an accepted frame for so long a receiver takes any number again, 1ms to 24h. Default: 1s.
    #[serde(default = "default_reset_timeout")]
    pub reset_timeout: Quantity<Duration>,
    /// When copies that stay away are an error. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latent_errors: Option<LatentErrorsSpec>,
}

fn default_history() -> u8 {
    8
}
fn default_reset_timeout() -> Quantity<Duration> {
    Quantity(Duration::from_s(1))
}

/// How receivers tell copies from new frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum RecoverySpec {
    /// By the numbers of the last frames (IEEE 802.1CB-2017 §7.4.3.4).
    #[default]
    #[serde(rename = "vector")]
    Vector,
    /// By the number of the last frame alone (IEEE 802.1CB-2017 §7.4.3.5).
    #[serde(rename = "match")]
    Match,
}

/// When copies that stay away are an error (IEEE 802.1CB-2017 §7.4.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatentErrorsSpec {
    /// So many copies may be missing, or too many, since the count began.
    pub difference: u32,
    /// Distance of two tests. Default: 2s.
    #[serde(default = "default_test_period")]
    pub period: Quantity<Duration>,
    /// After so long the count begins anew. Default: 30s.
    #[serde(default = "default_count_period")]
    pub reset: Quantity<Duration>,
}

fn default_test_period() -> Quantity<Duration> {
    Quantity(Duration::from_s(2))
}
fn default_count_period() -> Quantity<Duration> {
    Quantity(Duration::from_s(30))
}

/// The copies of a stream that says it has several.
pub(super) fn copies(
    request: &HopRequest<'_>,
    (spec, written): (&EthernetStreamSpec, ClassSpec),
    replication: &ReplicationSpec,
    context: &mut Context<'_>,
) -> Option<Copies> {
    let (table, on) = (request.table.at("replication"), request.segment.name);
    let name = shortened(&request.stream.spec.name);
    let memo: &Memo = request.segment.memo()?;
    if !matches!(written, ClassSpec::Vlan(_)) {
        context.report(
            Code::BadReplication,
            &table,
            format!("frames of stream `{name}` have no VLAN tag, behind which a redundancy tag stands (IEEE 802.1CB-2017 §7.8)"),
            "without a VLAN tag",
            format!("write `{on} = {{ class = {{ vlan = {{ pcp = 6 }} }}, replication = … }}`"),
        );
    }
    if spec.switches.is_some() {
        context.report(
            Code::BadReplication,
            &request.table.at("switches"),
            format!("stream `{name}` says in `replication` which switches each copy may pass"),
            "for no copy",
            "leave `switches` out",
        );
    }
    if replication.ways.len() < 2 {
        context.report(
            Code::BadReplication,
            &table.key("ways"),
            format!("copies of stream `{name}` need two ways or more, and it has {}", replication.ways.len()),
            "not several",
            "add a list of the switches on another way, or leave `replication` out",
        );
    }
    let table = || request.table.at("replication");
    let way = |(i, names): (usize, &Vec<String>)| routes::named(&table().key("ways").entry(i), names, memo, context);
    let ways: Vec<Vec<u16>> = replication.ways.iter().enumerate().map(way).collect();
    let history = context.within(
        &table().key("history"),
        "the length of the history",
        replication.history,
        HISTORY_MIN,
        HISTORY_MAX,
    );
    let mut time = |at: Place<'_>, what: &str, written: Duration| {
        context.within(&at, what, written, Duration::from_ms(1), DURATION_MAX)
    };
    let reset = time(table().key("reset_timeout"), "the reset timeout", replication.reset_timeout.0);
    let latent = replication.latent_errors.map(|latent| {
        let at = |key: &'static str| table().key("latent_errors").key(key);
        LatentErrors {
            period: time(at("period"), "the distance of two tests", latent.period.0),
            reset: time(at("reset"), "the length of the count", latent.reset.0),
            difference: latent.difference,
        }
    });
    let algorithm = match replication.recovery {
        RecoverySpec::Vector => RecoveryAlgorithm::Vector { history },
        RecoverySpec::Match => RecoveryAlgorithm::Match,
    };
    let recovery = RecoveryConfig { algorithm, reset, ways: ways.len() as u16, latent };
    let recovering = eliminations::named(replication, &table(), memo, context);
    Some(Copies::Ways { ways, recovering, recovery })
}

/// Whether the copies of each stream have ways of their own.
pub(super) fn check(
    segment: &Segment<'_>,
    network: &EthernetSegment,
    streams: &[OnSegment<'_>],
    context: &mut Context<'_>,
) {
    let mut judged = BTreeSet::new();
    for stream in streams.iter().filter(|stream| judged.insert(stream.entry)) {
        let at = Place::new("streams").entry(stream.entry).key(segment.name).key("replication");
        judge((segment, network), (stream.name, stream.hop), &at, context);
    }
}

/// [`check`] for one stream, or for the frame in which a gateway collects, whose key stands at `at`.
pub(super) fn judge(
    (segment, network): (&Segment<'_>, &EthernetSegment),
    (stream, hop): (&str, &HopPlan),
    at: &Place<'_>,
    context: &mut Context<'_>,
) {
    let Some(EthernetHop { copies, over, .. }) = hop.facet.get() else { return };
    let Copies::Ways { recovering, recovery, .. } = copies else { return };
    shaped_behind(segment, network, (stream, at), context);
    let ways = copies.routes(&network.wiring, over.as_deref(), hop.from, &hop.to);
    // A way that there is not is a problem of its own.
    let Ok(ways) = ways else { return };
    if !recovering.is_empty() {
        eliminations::check((segment, stream), at, (&ways, recovering, recovery), &network.wiring, context);
        return;
    }
    let mut taken: Vec<(usize, usize)> = Vec::new();
    for (number, way) in ways.iter().enumerate() {
        let shared = way.hops.iter().flat_map(|hop: &SwitchHop| &hop.onward).find_map(|trunk| {
            let earlier = taken.iter().find(|(other, _)| other == trunk)?.1;
            Some((*trunk, earlier))
        });
        if let Some((trunk, earlier)) = shared {
            let memo = segment.memo::<Memo>();
            let name =
                |switch: u16| memo.and_then(|memo| memo.switches.get(usize::from(switch))).map_or("", |name| name);
            let [one, other] = network.wiring.trunks[trunk].ends.map(name);
            context.report_both(
                Code::BadReplication,
                (&at.clone().key("ways").entry(number), "this way"),
                (&at.clone().key("ways").entry(earlier), "and this one"),
                format!(
                    "two copies of stream `{}` pass the link between `{one}` and `{other}`, so that both are lost if it fails",
                    shortened(stream)
                ),
                "name other switches for one of the two ways",
            );
            break;
        }
        taken.extend(way.hops.iter().flat_map(|hop| &hop.onward).map(|trunk| (*trunk, number)));
    }
}

/// Asynchronous shapers hold back what is out of order, and copies are: behind replication nothing bounds their delay.
fn shaped_behind(
    segment: &Segment<'_>,
    network: &EthernetSegment,
    (stream, at): (&str, &Place<'_>),
    context: &mut Context<'_>,
) {
    let is_shaped =
        network.ports.all().any(|port| port.classes.iter().any(|class| class.selection == Selection::Asynchronous));
    if is_shaped {
        context.report(
            Code::BadReplication,
            at,
            format!(
                "stream `{}` is replicated, and ports of `{}` shape asynchronously: behind copies that come out of order nothing bounds \
                 how long such shapers hold frames back (Luebeck et al., arXiv 2504.01946)",
                shortened(stream),
                segment.name
            ),
            "out of order",
            "leave asynchronous shaping out of the ports, or `replication` out of the stream",
        );
    }
}
