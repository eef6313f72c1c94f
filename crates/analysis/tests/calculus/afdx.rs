//! Two ARINC 664 networks with exact worst cases from an exhaustive search, and bounds with and without grouping.

use std::collections::BTreeMap;

use chronoseal_analysis::calculus::{
    Analysis, Delayed, Flow, Multiplexing, Network, Rational, Server, Settings, best, ratio, whole,
};
use serde_json::Value;

use super::{bucket, number, server};

const VECTORS: &str = include_str!("../vectors/afdx.json");

/// Times in us, data in bits.
fn network(value: &Value) -> Network {
    let rate = number(&value["rate_mbps"]);
    let names: Vec<&str> = value["ports"].as_array().unwrap().iter().map(|port| port.as_str().unwrap()).collect();
    let port = |name: &&str| Server {
        link_rate: Some(rate.clone()),
        // A switch takes its time before its port.
        constant: if name.contains("->") { number(&value["switching_latency_us"]) } else { whole(0) },
        ..Server::new(*name, server(&[(rate.clone(), whole(0))]))
    };
    let links = value["vls"].as_array().unwrap().iter().map(|link| {
        let longest = number(&link["lmax_bytes_on_wire"]) * whole(8);
        let path: Vec<usize> = link["path_ports"]
            .as_array()
            .unwrap()
            .iter()
            .map(|port| names.iter().position(|name| *name == port.as_str().unwrap()).unwrap())
            .collect();
        let sent = bucket(&longest / number(&value["bag_us"]), longest.clone());
        Flow { longest_frame: longest, ..Flow::along(link["id"].as_str().unwrap(), sent, &path) }
    });
    Network::new(names.iter().map(port).collect(), links.collect()).unwrap()
}

fn delays(network: &Network, uses_links: bool) -> Vec<Rational> {
    let settings = Settings { uses_links, grid: None };
    let mut traffic = Delayed::new(network, Multiplexing::Fifo, settings).unwrap();
    let mut found = Vec::new();
    for (index, flow) in network.flows().iter().enumerate() {
        let end = flow.ends().next().unwrap();
        found.push(Analysis::TotalFlow.bound(&mut traffic, index, end).delay.unwrap());
    }
    found
}

/// True if a number that was rounded to these decimals is this one.
fn rounds_to(exact: &Rational, printed: &Value) -> bool {
    let digits = printed.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len() as u32);
    let apart = exact - number(printed);
    apart.clone().max(-apart) * whole(2 * 10_i64.pow(digits)) <= whole(1)
}

#[test]
fn bounds_are_those_of_the_reference_and_above_the_exact_worst_case() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let mut seen = BTreeMap::new();
    for value in vectors["networks"].as_array().unwrap() {
        let network = network(value);
        let (grouped, ungrouped) = (delays(&network, true), delays(&network, false));
        let settings = Settings { uses_links: true, grid: None };
        let least = best(&network, Multiplexing::Fifo, settings, 100).unwrap();
        for (index, link) in value["vls"].as_array().unwrap().iter().enumerate() {
            let printed = |digits: &Rational, key: &str| {
                assert!(
                    rounds_to(digits, &link[key]),
                    "{} {}: {digits}, {key} {}",
                    value["name"],
                    link["id"],
                    link[key]
                );
            };
            printed(&grouped[index], "wcnc_grouped_us");
            printed(&ungrouped[index], "wcnc_ungrouped_us");
            let exact = number(&link["exact_worst_us"]);
            let (delay, _) = least[index].delay.clone().unwrap();
            assert!(exact <= delay && delay <= grouped[index], "{}: {exact} {delay}", link["id"]);
            assert!(grouped[index] <= &exact * ratio(51, 50), "within 2 % of the exact worst case");
            *seen.entry(value["name"].as_str().unwrap()).or_insert(0) += 1;
        }
    }
    assert_eq!(seen, BTreeMap::from([("afdx_m4", 4), ("afdx_y4", 4)]));
}
