//! Random feed-forward networks: what theory says of the analyses, and frames that are really sent.

use std::collections::BTreeMap;

use chronoseal_analysis::calculus::{
    Analysis, ArrivalCurve, CrossTraffic, Delayed, Flow, Grid, LeftOver, Multiplexing, Network, Rational, Server,
    ServiceCurve, Settings, Through, Unbounded, best, flow, ratio, whole,
};
use proptest::prelude::*;

use super::{bucket, server};

/// Servers with the time they take for a unit of data and their latency; flows with the time between two units, their
/// burst and their path. All fit: no server is asked for more than two thirds of what it has.
#[derive(Clone, Debug)]
struct Case {
    servers: Vec<(i64, i64)>,
    flows: Vec<(i64, i64, Vec<usize>)>,
}

/// Time between two units of the fastest flow.
const SPACED: i64 = 60;

fn case(longest_path: usize) -> impl Strategy<Value = Case> {
    let servers = prop::collection::vec((1..=6_i64, 0..40_i64), 2..6);
    servers.prop_flat_map(move |servers| {
        let count = servers.len();
        let longest = longest_path.min(count);
        let path = prop::sample::subsequence((0..count).collect::<Vec<_>>(), 1..=longest);
        let flows = prop::collection::vec((SPACED..4 * SPACED, 1..12_i64, path), 1..7);
        flows.prop_map(move |flows| Case { servers: servers.clone(), flows })
    })
}

impl Case {
    /// Rates and bursts `data` times as great, times `time` times as long, flows in this order, frames handed on whole or not.
    fn network(&self, data: i64, time: i64, order: &[usize], frame: i64) -> Network {
        let make = |(index, (unit, latency)): (usize, &(i64, i64))| Server {
            link_rate: Some(ratio(data, *unit * time)),
            ..Server::new(format!("s{index}"), server(&[(ratio(data, *unit * time), whole(*latency * time))]))
        };
        let flows = order.iter().map(|index| {
            let (spaced, burst, path) = &self.flows[*index];
            let sent = bucket(ratio(data, spaced * time), whole(*burst * data));
            Flow { longest_frame: whole(frame * data), ..Flow::along(format!("f{index}"), sent, path) }
        });
        Network::new(self.servers.iter().enumerate().map(make).collect(), flows.collect()).unwrap()
    }

    fn in_order(&self) -> Vec<usize> {
        (0..self.flows.len()).collect()
    }
}

fn end(network: &Network, flow: usize) -> usize {
    network.flows()[flow].hops.len() - 1
}

/// Delay and backlog of every flow, by its name and the way it was found.
type Found = BTreeMap<(String, String), (Result<Rational, Unbounded>, Result<Rational, Unbounded>)>;

fn all_bounds(network: &Network) -> Found {
    let mut found = Found::new();
    let mut add = |name: String, traffic: &mut dyn CrossTraffic<'_>| {
        for (index, flow) in network.flows().iter().enumerate() {
            for analysis in Analysis::ALL {
                let bound = analysis.bound(traffic, index, end(network, index));
                found.insert((flow.name.clone(), format!("{analysis:?} {name}")), (bound.delay, bound.backlog));
            }
        }
    };
    for order in [Multiplexing::Fifo, Multiplexing::Arbitrary] {
        for through in [Through::EachServer, Through::SharedServers, Through::Least] {
            add(format!("{order:?} {through:?}"), &mut LeftOver::new(network, order, through).unwrap());
        }
        for uses_links in [false, true] {
            let settings = Settings { uses_links, grid: None };
            add(format!("{order:?} {uses_links}"), &mut Delayed::new(network, order, settings).unwrap());
        }
    }
    found
}

/// True if the first is no greater than the second, or the second is none.
fn is_no_looser(a: &Result<Rational, Unbounded>, b: &Result<Rational, Unbounded>) -> bool {
    match (a, b) {
        (Ok(a), Ok(b)) => a <= b,
        (_, Err(_)) => true,
        (Err(_), Ok(_)) => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn removing_a_flow_never_raises_a_bound(case in case(4), removed in any::<prop::sample::Index>(), frame in 0..2_i64) {
        let before = all_bounds(&case.network(1, 1, &case.in_order(), frame));
        let mut order = case.in_order();
        order.remove(removed.index(order.len()));
        for (key, (delay, backlog)) in all_bounds(&case.network(1, 1, &order, frame)) {
            let (more_delay, more_backlog) = &before[&key];
            prop_assert!(is_no_looser(&delay, more_delay), "{key:?}: {delay:?} {more_delay:?}");
            prop_assert!(is_no_looser(&backlog, more_backlog), "{key:?}: {backlog:?} {more_backlog:?}");
        }
    }

    #[test]
    fn the_order_of_flows_changes_nothing(case in case(4), turn in 1..6_usize, frame in 0..2_i64) {
        let mut order = case.in_order();
        order.reverse();
        let len = order.len();
        order.rotate_left(turn % len);
        let here = all_bounds(&case.network(1, 1, &case.in_order(), frame));
        prop_assert_eq!(here, all_bounds(&case.network(1, 1, &order, frame)));
    }

    #[test]
    fn the_order_of_servers_changes_nothing(case in case(4)) {
        let last = case.servers.len() - 1;
        let mut turned = case.clone();
        turned.servers.reverse();
        for (_, _, path) in &mut turned.flows {
            for one in path {
                *one = last - *one;
            }
        }
        let here = all_bounds(&case.network(1, 1, &case.in_order(), 1));
        let there = all_bounds(&turned.network(1, 1, &case.in_order(), 1));
        // Names of servers are in reasons, and differ.
        for (key, (delay, backlog)) in here {
            let (other_delay, other_backlog) = &there[&key];
            prop_assert_eq!(delay.ok(), other_delay.clone().ok());
            prop_assert_eq!(backlog.ok(), other_backlog.clone().ok());
        }
    }

    #[test]
    fn bounds_scale_with_data_and_time(case in case(4), data in 2..9_i64, time in 2..9_i64) {
        let here = all_bounds(&case.network(1, 1, &case.in_order(), 1));
        for (key, (delay, backlog)) in all_bounds(&case.network(data, time, &case.in_order(), 1)) {
            let (one_delay, one_backlog) = &here[&key];
            prop_assert_eq!(delay.ok(), one_delay.as_ref().ok().map(|one| one * whole(time)));
            prop_assert_eq!(backlog.ok(), one_backlog.as_ref().ok().map(|one| one * whole(data)));
        }
    }

    /// On two servers at most: there all that meets the flow twice comes along with it, and in any order of service a server's
    /// busy period is longer than what is left over starts late.
    #[test]
    fn separate_flow_is_no_looser_than_total_flow(case in case(2)) {
        let network = case.network(1, 1, &case.in_order(), 0);
        let mut traffic = LeftOver::new(&network, Multiplexing::Arbitrary, Through::EachServer).unwrap();
        for index in case.in_order() {
            let (total, separate) = (
                flow::total_flow(&mut traffic, index, end(&network, index)).delay,
                flow::separate_flow(&mut traffic, index, end(&network, index)).delay,
            );
            prop_assert!(is_no_looser(&separate, &total), "{separate:?} {total:?}");
            if case.flows[index].2.len() == 1 {
                let once = flow::pay_multiplexing_once(&mut traffic, index, 0).delay;
                prop_assert_eq!(separate.ok(), once.ok());
            }
        }
    }

    #[test]
    fn a_grid_loosens_bounds_by_little_and_never_tightens_them(case in case(4), uses_links in any::<bool>()) {
        let network = case.network(1, 1, &case.in_order(), 1);
        let exact = Settings { uses_links, grid: None };
        let coarse = Settings { uses_links, grid: Grid::new(ratio(1, 100), ratio(1, 100)) };
        let mut exact = Delayed::new(&network, Multiplexing::Fifo, exact).unwrap();
        let mut coarse = Delayed::new(&network, Multiplexing::Fifo, coarse).unwrap();
        for index in case.in_order() {
            let at = end(&network, index);
            let (exact, coarse) = (
                flow::total_flow(&mut exact, index, at).delay.unwrap(),
                flow::total_flow(&mut coarse, index, at).delay.unwrap(),
            );
            prop_assert!(exact <= coarse && coarse <= &exact + whole(10), "{exact} {coarse}");
        }
    }

    #[test]
    fn what_crosses_a_flow_is_what_all_others_bring(case in case(4), uses_links in any::<bool>()) {
        let network = case.network(1, 1, &case.in_order(), 1);
        let mut traffic = Delayed::new(&network, Multiplexing::Fifo, Settings { uses_links, grid: None }).unwrap();
        for (index, (_, _, path)) in case.flows.iter().enumerate() {
            for server in path {
                let passes = |flow: &usize| *flow != index && case.flows[*flow].2.contains(server);
                let others: Vec<usize> = case.in_order().into_iter().filter(passes).collect();
                prop_assert_eq!(traffic.crossing(*server, index, None), traffic.at(&others, *server));
            }
        }
    }

    #[test]
    fn frames_are_never_later_than_their_bounds(case in case(4), starts in prop::collection::vec(0..400_i64, 7)) {
        let network = case.network(1, 1, &case.in_order(), 1);
        let settings = Settings { uses_links: true, grid: None };
        let bounds = best(&network, Multiplexing::Fifo, settings, 100).unwrap();
        let latest = sent(&case, &starts, None);
        for (index, bound) in bounds.iter().enumerate() {
            let (delay, _) = bound.delay.clone().unwrap();
            prop_assert!(whole(latest[index]) <= delay, "f{index}: {} {delay}", latest[index]);
        }
    }

    #[test]
    fn frames_that_others_overtake_are_never_later_than_their_bounds(
        case in case(4),
        starts in prop::collection::vec(0..400_i64, 7),
        last in any::<prop::sample::Index>(),
    ) {
        let network = case.network(1, 1, &case.in_order(), 1);
        let settings = Settings { uses_links: true, grid: None };
        let bounds = best(&network, Multiplexing::Arbitrary, settings, 100).unwrap();
        let last = last.index(case.flows.len());
        let latest = sent(&case, &starts, Some(last));
        if let Ok((delay, _)) = &bounds[last].delay {
            prop_assert!(whole(latest[last]) <= *delay, "f{last}: {} {delay}", latest[last]);
        }
    }
}

/// Frames of one unit that are sent as early as each flow may, from its start on: the longest time one of them takes. Servers
/// let a busy period begin as late as their latency allows. They serve in the order of arrival, the last flow first where
/// frames come at once; or, if one is `last`, all others before it.
fn sent(case: &Case, starts: &[i64], last: Option<usize>) -> Vec<i64> {
    const UNITS: i64 = 60;
    // By server: when a frame is there, its flow, its number, and when it was sent.
    let mut waiting: Vec<Vec<(i64, usize, i64, i64)>> = vec![Vec::new(); case.servers.len()];
    for (index, (spaced, burst, path)) in case.flows.iter().enumerate() {
        for unit in 0..UNITS {
            let at = starts[index] + (unit + 1 - burst).max(0) * spaced;
            waiting[path[0]].push((at, index, unit, at));
        }
    }
    let mut latest = vec![0; case.flows.len()];
    for (index, (unit_time, latency)) in case.servers.iter().enumerate() {
        let mut frames = std::mem::take(&mut waiting[index]);
        frames.sort_by_key(|(at, flow, unit, _)| (*at, std::cmp::Reverse(*flow), *unit));
        let mut free = i64::MIN;
        while !frames.is_empty() {
            let first = frames[0].0;
            let start = if first > free { first + latency } else { free };
            let next = match last {
                None => 0,
                Some(last) => frames.iter().position(|frame| frame.0 <= start && frame.1 != last).unwrap_or(0),
            };
            let (_, flow, unit, sent) = frames.remove(next);
            free = start + unit_time;
            let path = &case.flows[flow].2;
            match path.iter().skip_while(|one| **one != index).nth(1) {
                Some(next) => waiting[*next].push((free, flow, unit, sent)),
                None => latest[flow] = latest[flow].max(free - sent),
            }
        }
    }
    latest
}

#[test]
fn a_flow_alone_is_as_late_as_its_bound_says() {
    let case = Case { servers: vec![(2, 10), (3, 5)], flows: vec![(60, 4, vec![0, 1])] };
    let network = case.network(1, 1, &[0], 1);
    let settings = Settings { uses_links: true, grid: None };
    let bound = best(&network, Multiplexing::Fifo, settings, 100).unwrap().remove(0).delay.unwrap().0;
    // Latencies, the burst over the slower server, and one frame over the faster.
    assert_eq!(bound, whole(10 + 5 + 4 * 3 + 2));
    assert_eq!(sent(&case, &[0], None), [10 + 2 + 5 + 4 * 3]);
}

#[test]
fn a_flow_that_branches_has_a_bound_to_each_end() {
    let line = || ServiceCurve::rate_latency(whole(1), whole(1)).unwrap();
    let servers = ["a", "b", "c"].map(|name| Server::new(name, line())).to_vec();
    let mut tree = Flow::along("tree", bucket(ratio(1, 10), whole(2)), &[0, 1]);
    tree.hops.push(chronoseal_analysis::calculus::Hop { server: 2, after: Some(0) });
    let other = Flow::along("other", bucket(ratio(1, 10), whole(2)), &[0, 2]);
    let network = Network::new(servers, vec![tree, other]).unwrap();
    let found = best(&network, Multiplexing::Fifo, Settings::default(), 10).unwrap();
    let ends: Vec<(usize, usize)> = found.iter().map(|one| (one.flow, one.end)).collect();
    assert_eq!(ends, [(0, 1), (0, 2), (1, 1)]);
    let delay = |index: usize| found[index].delay.clone().unwrap().0;
    // To the end where the other flow goes too, it takes longer.
    assert!(delay(0) < delay(1));
}

#[test]
fn networks_that_are_none_are_refused() {
    let refused = |servers: usize, hops: &[(usize, Option<usize>)]| {
        let one = |index| Server::new(format!("s{index}"), server(&[(whole(1), whole(0))]));
        let mut flow = Flow::along("f", ArrivalCurve::zero(), &[]);
        flow.hops = hops
            .iter()
            .map(|(server, after)| chronoseal_analysis::calculus::Hop { server: *server, after: *after })
            .collect();
        Network::new((0..servers).map(one).collect(), vec![flow]).unwrap_err().to_string()
    };
    assert_eq!(refused(1, &[]), "flow `f` passes no server; give it at least one");
    assert_eq!(refused(2, &[(2, None)]), "flow `f`, hop 0: there is no server 2, there are 2, counted from 0");
    assert_eq!(
        refused(2, &[(0, Some(0))]),
        "flow `f`, hop 0: it follows hop 0, which has to come before it in the list"
    );
    let twice = refused(2, &[(0, None), (1, Some(0)), (0, Some(1))]);
    assert_eq!(twice, "flow `f` passes server `s0` twice; a flow that returns is two flows here");
}

#[test]
fn too_much_is_refused_with_the_server_and_what_comes_after_it_with_the_reason() {
    let servers = ["a", "b"].map(|name| Server::new(name, server(&[(whole(1), whole(0))]))).to_vec();
    let flows = ["f", "g"].map(|name| Flow::along(name, bucket(ratio(3, 5), whole(1)), &[0, 1])).to_vec();
    let network = Network::new(servers, flows).unwrap();
    let reason = "server `a` is asked for 6/5 for each unit of time in the long run and has 1; take flows off it, lower their rates or make it faster";
    let mut traffic = Delayed::new(&network, Multiplexing::Fifo, Settings::default()).unwrap();
    for analysis in Analysis::ALL {
        assert_eq!(analysis.bound(&mut traffic, 0, 0).delay.unwrap_err().to_string(), reason);
    }
    let after = traffic.server(1).delay.unwrap_err().to_string();
    assert_eq!(after, format!("what comes to server `b` has no bound: {reason}"));
}

#[test]
fn a_shapers_curve_bounds_no_service_in_any_order() {
    let mut shaped = Server::new("s", server(&[(whole(1), whole(0))]));
    shaped.is_strict = false;
    let flows = ["f", "g"].map(|name| Flow::along(name, bucket(ratio(1, 5), whole(1)), &[0])).to_vec();
    let network = Network::new(vec![shaped], flows).unwrap();
    let reason = Err(Unbounded::NotStrict { server: "s".to_owned() });
    let mut any_order = LeftOver::new(&network, Multiplexing::Arbitrary, Through::Least).unwrap();
    for analysis in Analysis::ALL {
        assert_eq!(analysis.bound(&mut any_order, 0, 0).delay, reason, "{analysis:?}");
    }
    let mut in_order = LeftOver::new(&network, Multiplexing::Fifo, Through::Least).unwrap();
    assert!(flow::total_flow(&mut in_order, 0, 0).delay.is_ok());
    assert_eq!(flow::pay_multiplexing_once(&mut in_order, 0, 0).delay, reason);
}
