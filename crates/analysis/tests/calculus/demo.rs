//! Saihu's demo network, of which six other analyses say something: never looser than its xTFA and its SFA.

use std::collections::BTreeMap;

use chronoseal_analysis::calculus::saihu::{OtherBounds, SaihuNetwork, read_network, read_results};
use chronoseal_analysis::calculus::{
    Analysis, CrossTraffic, Delayed, LeftOver, Multiplexing, Rational, Settings, Through, best, ratio,
};
use serde_json::Value;

const NETWORK: &str = include_str!("../vectors/saihu_demo.json");
const BOUNDS: &str = include_str!("../vectors/saihu_demo_bounds.json");

/// The network of the report, which leaves the second way of `f0` out.
fn network() -> SaihuNetwork {
    let mut value: Value = serde_json::from_str(NETWORK).unwrap();
    value["flows"][0].as_object_mut().unwrap().remove("multicast").unwrap();
    read_network("demo.json", value.to_string().as_bytes()).unwrap()
}

fn others() -> OtherBounds {
    read_results("demo_data.json", BOUNDS.as_bytes()).unwrap()
}

fn delays<'a>(traffic: &mut impl CrossTraffic<'a>, analysis: Analysis) -> Vec<Rational> {
    let flows = traffic.network().flows().iter().enumerate();
    flows.map(|(index, flow)| analysis.bound(traffic, index, flow.hops.len() - 1).delay.unwrap()).collect()
}

#[test]
fn no_bound_is_looser_than_that_of_the_same_analysis_elsewhere() {
    let network = network().network;
    let settings = || Settings { uses_links: true, grid: None };
    let mut by_delay = Delayed::new(&network, Multiplexing::Fifo, settings()).unwrap();
    let mut fifo = LeftOver::new(&network, Multiplexing::Fifo, Through::Least).unwrap();
    let mut any_order = LeftOver::new(&network, Multiplexing::Arbitrary, Through::Least).unwrap();
    let least = best(&network, Multiplexing::Fifo, settings(), 100).unwrap();
    let least: Vec<Rational> = least.into_iter().map(|one| one.delay.unwrap().0).collect();
    let total = delays(&mut by_delay, Analysis::TotalFlow);
    let separate = delays(&mut fifo, Analysis::SeparateFlow);
    let once = delays(&mut any_order, Analysis::PayMultiplexingOnce);
    // Computed by them in floating point, in microseconds: the last of 16 digits may differ.
    let rounding = ratio(1, 1_000_000_000_000_000_000);
    let others = others();
    for (index, flow) in network.flows().iter().enumerate() {
        let of = |tool: &str| others.flows[tool][&flow.name].clone().unwrap();
        let (xtfa, sfa, pmoo) = (of("xTFA_TFA"), of("DNC_SFA"), of("DNC_PMOO"));
        assert!(total[index] <= &xtfa + &rounding, "{}: {} {xtfa}", flow.name, total[index]);
        assert!(separate[index] <= &sfa + &rounding, "{}: {} {sfa}", flow.name, separate[index]);
        assert!(once[index] <= &pmoo + &rounding, "{}: {} {pmoo}", flow.name, once[index]);
        assert!(least[index] <= xtfa.min(sfa) + &rounding);
        // And none is better than the best of six analyses by more than rounding, or one of them would be wrong: two of
        // them solve the same problem by linear programs.
        let six = others.flows.values().filter_map(|flows| flows[&flow.name].clone()).min().unwrap();
        assert!(least[index] >= &six - &rounding, "{}: {} {six}", flow.name, least[index]);
    }
    let servers: BTreeMap<&str, Rational> = network
        .servers()
        .iter()
        .enumerate()
        .map(|(index, server)| (server.name.as_str(), by_delay.server(index).delay.unwrap()))
        .collect();
    for (server, delay) in &others.servers["xTFA_TFA"] {
        let delay = delay.clone().unwrap();
        assert!(servers[server.as_str()] <= &delay + &rounding, "{server}: {} {delay}", servers[server.as_str()]);
    }
}
