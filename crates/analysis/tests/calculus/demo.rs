//! Saihu's demo network, whose report shows what six other analyses say: never looser than its xTFA and its SFA.

use chronoseal_analysis::calculus::{
    Analysis, ArrivalCurve, Bucket, CrossTraffic, Delayed, Flow, LeftOver, Multiplexing, Network, Rational, Server,
    Settings, Through, best, ratio,
};
use serde_json::Value;

use super::{number, server};

const VECTORS: &str = include_str!("../vectors/saihu_demo.json");

fn pieces(value: &Value) -> Vec<(Rational, Rational)> {
    value["pieces"].as_array().unwrap().iter().map(|piece| (number(&piece[0]), number(&piece[1]))).collect()
}

fn network(vectors: &Value) -> Network {
    let servers = vectors["servers"].as_array().unwrap().iter().map(|one| Server {
        link_rate: Some(number(&one["link"])),
        ..Server::new(one["name"].as_str().unwrap(), server(&pieces(one)))
    });
    let flows = vectors["flows"].as_array().unwrap().iter().map(|flow| {
        let path: Vec<usize> =
            flow["path"].as_array().unwrap().iter().map(|hop| hop.as_u64().unwrap() as usize).collect();
        let sent = pieces(flow).into_iter().map(|(rate, burst)| Bucket { rate, burst });
        Flow::along(flow["name"].as_str().unwrap(), ArrivalCurve::least_of(sent).unwrap(), &path)
    });
    Network::new(servers.collect(), flows.collect()).unwrap()
}

fn delays<'a>(traffic: &mut impl CrossTraffic<'a>, analysis: Analysis) -> Vec<Rational> {
    let flows = traffic.network().flows().iter().enumerate();
    flows.map(|(index, flow)| analysis.bound(traffic, index, flow.hops.len() - 1).delay.unwrap()).collect()
}

#[test]
fn no_bound_is_looser_than_that_of_the_same_analysis_elsewhere() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let network = network(&vectors);
    let settings = || Settings { uses_links: true, grid: None };
    let mut by_delay = Delayed::new(&network, Multiplexing::Fifo, settings()).unwrap();
    let mut fifo = LeftOver::new(&network, Multiplexing::Fifo, Through::Least).unwrap();
    let mut any_order = LeftOver::new(&network, Multiplexing::Arbitrary, Through::Least).unwrap();
    let least = best(&network, Multiplexing::Fifo, settings(), 100).unwrap();
    let least: Vec<Rational> = least.into_iter().map(|one| one.delay.unwrap().0).collect();
    let total = delays(&mut by_delay, Analysis::TotalFlow);
    let separate = delays(&mut fifo, Analysis::SeparateFlow);
    let once = delays(&mut any_order, Analysis::PayMultiplexingOnce);
    // Printed with three decimals.
    let rounding = ratio(1, 2000);
    for (index, flow) in vectors["flows"].as_array().unwrap().iter().enumerate() {
        let (xtfa, sfa, pmoo) = (number(&flow["xtfa_us"]), number(&flow["sfa_us"]), number(&flow["pmoo_us"]));
        assert!(total[index] <= &xtfa + &rounding, "{}: {} {xtfa}", flow["name"], total[index]);
        assert!(separate[index] <= &sfa + &rounding, "{}: {} {sfa}", flow["name"], separate[index]);
        assert!(once[index] <= &pmoo + &rounding, "{}: {} {pmoo}", flow["name"], once[index]);
        assert!(least[index] <= xtfa.min(sfa) + &rounding);
        // And none is better than the best of six analyses by more than rounding, or one of them would be wrong: two of
        // them solve the same problem by linear programs.
        let others = number(&flow["least_of_six_us"]);
        assert!(least[index] >= &others - &rounding, "{}: {} {others}", flow["name"], least[index]);
    }
}
