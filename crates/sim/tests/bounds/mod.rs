//! No frame of any network is simulated later than its bound: two hundred networks of one to three segments, from seeds.
//!
//! `BOUNDS_SEED=17` tries that network alone, and takes streams away from it as long as it fails. `BOUNDS_NETWORKS=5000`
//! tries more of them.

mod boxes;
mod changed;
mod clusters;
mod collected;
mod gated;
mod gated_clusters;
mod integration;
mod links;
mod network_clusters;
mod order;
mod ports;
mod redundant;
mod replaced;
mod scheduled;
mod sealed;
mod secured;
mod shared;
mod switched;
mod time_aware;
mod watch;

use std::collections::BTreeSet;

use chronoseal_analysis::segment::{BOUNDS, Bounds, Cause, Place, Risk, Span, StreamBounds, bounds};
use chronoseal_analysis::{synthesize, verify};
use chronoseal_catalog::Prepared;
use chronoseal_core::{DiscardReason, Duration, StreamId, statistics};
use chronoseal_plan::{Ethernet, Plan, SegmentId};
use chronoseal_random_networks::{Network, Scope};
use chronoseal_scenario::{NoFiles, load};

use watch::{Latest, Watch};

/// So many networks are tried.
const NETWORKS: u64 = 100;

/// What came of one network.
#[derive(Default)]
struct Outcome {
    /// Bound over simulated maximum, for every stream and receiver of which frames came.
    ratios: Vec<f64>,
    /// Those of streams that are sent in several frames on a bus.
    segmented: Vec<f64>,
    /// Those of streams whose messages are longer than a frame on Ethernet.
    cut: Vec<f64>,
    /// Ends without a bound, with the reason.
    unbounded: Vec<String>,
    /// Ends at which a frame came later than its bound, or earlier than it can.
    wrong: Vec<String>,
    /// Streams of which a queue threw a frame away although no risk says that this can be.
    lost: Vec<String>,
    /// Something can lose a frame, or spoil a clock.
    has_risk: bool,
    /// A queue may have no room for a frame.
    is_at_risk: bool,
    /// A switch may take a frame of a virtual link for one too many.
    can_be_policed: bool,
    /// Streams of which a stream filter, gate or meter can take frames.
    filtered: BTreeSet<StreamId>,
    /// Something can spoil clocks, or lose frames that keep them together.
    are_clocks_at_risk: bool,
    /// Stations that have never joined a cluster, and stations and switches that have left it.
    strayed: Vec<String>,
    /// How far clocks of a cluster were apart.
    spread: Duration,
    /// By how much one of them was corrected that had joined.
    corrected: Duration,
    /// Frames absent from slots two cycles after all clocks had joined or later, of streams of which no risk tells.
    absent: Vec<String>,
}

/// Bounds and simulates a plan; `None` if its frames do not fit its slots.
fn outcome(plan: &Plan) -> Option<Outcome> {
    let prepared = Prepared::new(plan).ok()?;
    let tables: Vec<_> = plan
        .segment_ids()
        .map(|segment| Ethernet::of(plan, segment).map(|view| synthesize(view).expect("it was prepared")))
        .collect();
    for (segment, table) in plan.segment_ids().zip(&tables) {
        let wrong = Ethernet::of(plan, segment).zip(table.as_ref()).map(|(view, table)| verify(view, table));
        assert_eq!(wrong.unwrap_or_default(), [], "a schedule is wrong");
    }
    let Bounds { streams, risks } = bounds(plan, &tables, BOUNDS);
    let watch = Watch::new(&prepared);
    let finished = chronoseal_sim::run(&prepared, watch, &mut |_| true).expect("every part can be built");
    assert!(finished.is_whole);
    let mut outcome = compare(plan, &streams, &finished.observer);
    let is_full = |risk: &Risk| {
        matches!(risk.cause, Cause::QueueFull { .. } | Cause::LinkFull { .. } | Cause::HostBufferFull { .. })
    };
    let is_policed = |risk: &Risk| matches!(risk.cause, Cause::Policed { .. });
    let name = |stream: StreamId| {
        plan.streams.get(stream.index()).map_or_else(|| "the beacon".to_owned(), |stream| stream.name.clone())
    };
    // A beacon is of no stream, and what can make it late or lost is told of the clocks.
    let is_beacon_at_risk =
        risks.iter().any(|risk| matches!(risk.cause, Cause::Beacon { .. } | Cause::LinkFull { .. }));
    let is_told = |stream: StreamId, reason: DiscardReason| {
        let is_its = |risk: &Risk| match risk.cause {
            Cause::Threat(_) => true,
            _ if reason == DiscardReason::Policed => is_policed(risk),
            _ => is_full(risk),
        };
        match stream {
            StreamId::NONE => is_beacon_at_risk,
            stream => risks.iter().any(|risk| risk.stream == Some(stream) && is_its(risk)),
        }
    };
    let lost = finished.observer.lost().filter(|(stream, reason)| !is_told(*stream, *reason));
    outcome.lost = lost.map(|(stream, reason)| format!("{}: {}", name(stream), reason.name())).collect();
    outcome.has_risk = !risks.is_empty();
    outcome.is_at_risk = risks.iter().any(is_full);
    outcome.can_be_policed = risks.iter().any(is_policed);
    let by_filter = risks.iter().filter(|risk| matches!(risk.cause, Cause::StreamFilter(_)));
    outcome.filtered = by_filter.filter_map(|risk| risk.stream).collect();
    outcome.are_clocks_at_risk = risks.iter().any(|risk| risk.stream.is_none());
    let nodes = (0..plan.nodes.len()).map(|node| chronoseal_core::NodeId(node as u16));
    let own = |id: SegmentId| (0..plan.segments[id.index()].own_nodes.len()).map(move |index| plan.own_node(id, index));
    let switches = plan.segment_ids().flat_map(own).filter(|node| finished.observer.has_left(*node));
    let strayed = nodes.filter(|node| !finished.observer.kept_time(*node)).chain(switches);
    outcome.strayed = strayed.map(|node| plan.node_name(node)).collect();
    outcome.spread = finished.observer.spread();
    outcome.corrected = finished.observer.corrected();
    let cycle = Ethernet::first(plan).map_or(Duration::ZERO, |view| view.segment.cluster_cycle);
    let is_at_risk = |stream| risks.iter().any(|risk| risk.stream.is_none_or(|own| own == stream));
    let absent = finished.observer.absent(cycle * 2).filter(|(_, stream, _)| !is_at_risk(*stream));
    outcome.absent = absent.map(|(at, stream, kind)| format!("{}: {} at {at:?}", name(stream), kind.name())).collect();
    Some(outcome)
}

/// What a network becomes.
fn plan_of(network: &Network) -> Plan {
    let text = network.text();
    load("any.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}\n{text}", problems.render()))
}

fn compare(plan: &Plan, bounds: &[StreamBounds], watch: &Watch) -> Outcome {
    let mut outcome = Outcome::default();
    for stream in bounds {
        let name = &plan.streams[stream.stream.index()].name;
        for end in &stream.ends {
            let who = format!("{name} to {}", plan.nodes[end.receiver.index()].name);
            let seen = watch.seen(stream.stream, end.receiver);
            match (end.latency, seen) {
                (Err(missing), _) => {
                    let seen = seen.map_or("never seen".into(), |seen| format!("seen after {} at most", seen.max));
                    outcome.unbounded.push(format!(
                        "{who}: {}: {}; {seen}",
                        missing.place.name(plan),
                        missing.why.text(plan)
                    ));
                }
                (Ok(_), None) => {}
                (Ok(bound), Some(Latest { min, max, sequence })) => {
                    let parts: Vec<String> = end
                        .parts
                        .iter()
                        .map(|part| {
                            let seen = match part.place {
                                Place::Gateway(node) => watch.seen(stream.stream, node),
                                _ => None,
                            };
                            let seen = seen.map_or(String::new(), |seen| format!(" (seen until {})", seen.max));
                            format!("{} {}..{}{seen}", part.place.name(plan), part.min, part.max)
                        })
                        .collect();
                    let at_gateways = end.parts.iter().scan(Span::DUE, |at, part| {
                        *at = at.later(part.min, part.max);
                        Some((part.place, *at))
                    });
                    let is_wrong = |(place, at): (Place, Span)| match place {
                        Place::Gateway(node) => watch.seen(stream.stream, node).is_some_and(|seen| seen.max > at.max),
                        _ => false,
                    };
                    let is_wrong_on_its_way = at_gateways.into_iter().any(is_wrong);
                    if max > bound.max || min < bound.min || is_wrong_on_its_way {
                        outcome.wrong.push(format!(
                            "{who}: {min}..{max} (frame {sequence}), bound {}..{} ({})",
                            bound.min,
                            bound.max,
                            parts.join(", ")
                        ));
                    }
                    if max > Duration::ZERO {
                        let ratio = bound.max.as_us_f64() / max.as_us_f64();
                        outcome.ratios.push(ratio);
                        let hops = &plan.streams[stream.stream.index()].hops;
                        if hops.iter().any(|hop| hop.class == "segmented message") {
                            outcome.segmented.push(ratio);
                        }
                        let is_cut = |view: Ethernet<'_>| view.stream(stream.stream)?.datagram;
                        if hops.iter().any(|hop| Ethernet::of(plan, hop.segment).and_then(is_cut).is_some()) {
                            outcome.cut.push(ratio);
                        }
                    }
                }
            }
        }
    }
    outcome
}

/// The smallest network that still fails, made by leaving out streams.
fn smallest(mut network: Network) -> Network {
    let fails = |network: &Network| outcome(&plan_of(network)).is_some_and(|outcome| !outcome.wrong.is_empty());
    let mut place = 0;
    while place < network.streams.len() {
        let mut smaller = network.clone();
        smaller.streams.remove(place);
        if fails(&smaller) {
            network = smaller;
        } else {
            place += 1;
        }
    }
    network
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a whole number"))
}

#[test]
fn no_frame_of_any_network_is_later_than_its_bound() {
    let only = from_environment("BOUNDS_SEED");
    let wanted = from_environment("BOUNDS_NETWORKS").unwrap_or(NETWORKS);
    let mut seeds = only.map_or(0..u64::MAX, |seed| seed..seed + 1);
    let (mut ratios, mut unbounded, mut tried, mut several, mut collecting) = (Vec::new(), Vec::new(), 0, 0, 0);
    let (mut segmented, mut cut) = (Vec::new(), Vec::new());
    while let Some(seed) = seeds.next().filter(|_| tried < wanted) {
        let network = Network::of(seed, Scope::Lossless);
        let Some(outcome) = outcome(&plan_of(&network)) else { continue };
        tried += 1;
        several += u64::from(network.segments.len() > 1);
        collecting += u64::from(network.collects());
        if !outcome.wrong.is_empty() {
            let network = if only.is_some() { smallest(network) } else { network };
            panic!("seed {seed}:\n{}\n{}", outcome.wrong.join("\n"), network.text());
        }
        ratios.extend(outcome.ratios);
        segmented.extend(outcome.segmented);
        cut.extend(outcome.cut);
        unbounded.extend(outcome.unbounded.into_iter().map(|end| format!("seed {seed}: {end}")));
    }
    ratios.sort_by(f64::total_cmp);
    let median = statistics::median(&ratios).expect("frames came");
    let worst = ratios.last().copied().unwrap_or_default();
    println!(
        "{tried} networks, {several} of several segments, {collecting} with frames of several PDUs: {} ends, bound over simulated maximum: median {median:.2}, \
         worst {worst:.2}; {} ends without a bound",
        ratios.len(),
        unbounded.len()
    );
    for (ratios, of) in [(&mut segmented, "in several frames on a bus"), (&mut cut, "longer than a frame on Ethernet")]
    {
        ratios.sort_by(f64::total_cmp);
        println!(
            "{} of these ends {of}: median {:.2}, worst {:.2}",
            ratios.len(),
            statistics::median(ratios).unwrap_or_default(),
            ratios.last().copied().unwrap_or_default()
        );
    }
    if only.is_none() {
        assert!(segmented.len() as u64 * 5 >= tried, "too few in several frames to tell: {}", segmented.len());
        assert!(cut.len() as u64 * 5 >= tried, "too few longer than a frame to tell: {}", cut.len());
        assert!(several * 3 >= tried, "too few of several segments to tell");
        assert!(collecting * 8 >= tried, "too few with frames of several PDUs to tell");
        // What is not bounded is overloaded, near to it, or of a kind that says why, which few networks are.
        assert!(unbounded.len() * 6 <= ratios.len(), "{}", unbounded.join("\n"));
    } else {
        unbounded.iter().for_each(|end| println!("{end}"));
    }
}
