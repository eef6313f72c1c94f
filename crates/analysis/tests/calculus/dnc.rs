//! The networks of NetCal/DNC's functional tests: every bound equal, as a fraction.

use std::collections::BTreeMap;

use chronoseal_analysis::calculus::{
    Analysis, Bound, CrossTraffic, Flow, LeftOver, Multiplexing, Network, Server, Through, Unbounded, ratio, whole,
};
use serde_json::Value;

use super::{bucket, number, server};

const VECTORS: &str = include_str!("../vectors/dnc_bounds.json");

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap()
}

fn network(value: &Value) -> (Network, BTreeMap<String, usize>) {
    let servers: Vec<Server> = list(value, "servers")
        .iter()
        .map(|one| Server::new(one["name"].as_str().unwrap(), server(&[(number(&one["R"]), number(&one["T"]))])))
        .collect();
    let place = |name: &Value| servers.iter().position(|server| server.name == name.as_str().unwrap()).unwrap();
    let flows: Vec<Flow> = list(value, "flows")
        .iter()
        .map(|flow| {
            let path: Vec<usize> = list(flow, "path").iter().map(place).collect();
            Flow::along(flow["name"].as_str().unwrap(), bucket(number(&flow["r"]), number(&flow["b"])), &path)
        })
        .collect();
    let names = flows.iter().enumerate().map(|(index, flow)| (flow.name.clone(), index)).collect();
    (Network::new(servers, flows).unwrap(), names)
}

/// The ways to bound arrivals that a name of the vectors stands for.
fn ways(name: &str) -> Vec<Through> {
    match name {
        "all" => vec![Through::EachServer, Through::SharedServers, Through::Least],
        _ => {
            let mut ways: Vec<Through> = name
                .split('+')
                .map(|part| match part {
                    "single_1" | "single_2" | "pair_1" => Through::EachServer,
                    "single_3" => Through::SharedServers,
                    "pair_2" | "pair_3" | "triplet" => Through::Least,
                    other => panic!("unknown way to bound arrivals: {other}"),
                })
                .collect();
            ways.dedup();
            ways
        }
    }
}

fn is_equal<T: std::fmt::Debug + PartialEq + std::str::FromStr>(found: &Result<T, Unbounded>, expected: &str) -> bool {
    match expected {
        "inf" => matches!(found, Err(Unbounded::Overload { .. })),
        _ => found.as_ref().ok() == expected.parse().ok().as_ref(),
    }
}

#[test]
fn every_bound_of_the_reference_is_met_exactly() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let (mut compared, mut wrong) = (0, Vec::new());
    for value in list(&vectors, "networks") {
        let (network, names) = network(value);
        for expected in list(value, "expected") {
            let text = |key: &str| expected[key].as_str().unwrap();
            if text("arrival_bounding") == "sinktree" {
                continue;
            }
            let multiplexing = match text("mux") {
                "FIFO" => Multiplexing::Fifo,
                _ => Multiplexing::Arbitrary,
            };
            let analysis = match text("analysis") {
                "TFA" => Analysis::TotalFlow,
                "SFA" => Analysis::SeparateFlow,
                _ => Analysis::PayMultiplexingOnce,
            };
            let index = names[text("flow")];
            let end = network.flows()[index].ends().next().unwrap();
            for through in ways(text("arrival_bounding")) {
                let mut traffic = LeftOver::new(&network, multiplexing, through).unwrap();
                let Bound { delay, backlog } = analysis.bound(&mut traffic, index, end);
                if !is_equal(&delay, text("delay")) || !is_equal(&backlog, text("backlog")) {
                    wrong.push(format!("{} {through:?} {expected}: {delay:?} {backlog:?}", value["name"]));
                }
            }
            compared += 1;
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(compared, 145);
}

/// All flows that pass a server in front of the root go on to the root.
fn is_sink_tree(network: &Network, root: usize) -> bool {
    let place = |flow: &Flow, server: usize| flow.hops.iter().position(|hop| hop.server == server);
    let leads =
        |flow: &Flow, server: usize| place(flow, server).zip(place(flow, root)).is_some_and(|(at, end)| at < end);
    let mut before = (0..network.servers().len()).filter(|one| network.flows().iter().any(|flow| leads(flow, *one)));
    before.all(|one| network.flows().iter().all(|flow| place(flow, one).is_none() || leads(flow, one)))
}

#[test]
fn backlogs_at_the_root_of_a_sink_tree_are_met_exactly() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let (mut compared, mut others) = (0, Vec::new());
    for value in list(&vectors, "networks") {
        let (network, names) = network(value);
        for expected in list(value, "expected").iter().filter(|row| row["arrival_bounding"] == "sinktree") {
            let index = names[expected["flow"].as_str().unwrap()];
            let root = network.flows()[index].hops.last().unwrap().server;
            let mut traffic = LeftOver::new(&network, Multiplexing::Arbitrary, Through::EachServer).unwrap();
            let backlog = traffic.server(root).backlog.unwrap();
            let given = number(&expected["backlog"]);
            if is_sink_tree(&network, root) {
                assert_eq!(backlog, given, "{}: {expected}", value["name"]);
                compared += 1;
            } else {
                others.push((value["name"].as_str().unwrap(), index, backlog, given));
            }
        }
    }
    // Two of the 161 values are not ours. They are of the one network in which a flow (f0) ends before the root, which so is no
    // root of a sink tree, and the formula that the reference names does not apply: it says 1375 there. By hand f2 is left
    // 15 a second after (25 + 20 * 20) / 15 = 85/3 beside f0 at s0, and after (25 + 5 * 85/3 + 20 * 20) / 15 = 340/9 at s1. So it
    // comes to s2 with a burst of 25 + 5 (85/3 + 340/9) = 3200/9; with f1 there wait 3200/9 + 25 + (5 + 5) * 20 at most.
    let tree = "TA_3S_1SC_3F_1AC_3P";
    let ours = ratio(3200, 9) + whole(25 + 200);
    assert_eq!(others, [(tree, 1, ours.clone(), whole(1375)), (tree, 2, ours, whole(1375))]);
    assert_eq!(compared, 14);
}
