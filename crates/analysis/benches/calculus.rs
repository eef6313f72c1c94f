//! How long bounds take: 250 to 2,000 virtual links on a line of eight switches, every one with a bound.
#![allow(missing_docs, reason = "criterion_group makes a public function without docs")]

use std::hint::black_box;

use chronoseal_analysis::calculus::ethernet::VirtualLink;
use chronoseal_analysis::calculus::{
    Analysis, Delayed, Flow, Grid, Hop, Multiplexing, Network, Rational, Server, ServiceCurve, Settings, best, ratio,
    whole,
};
use criterion::{Criterion, criterion_group, criterion_main};

const SWITCHES: usize = 8;
/// End systems at each switch.
const SYSTEMS: usize = 12;

/// A full-duplex port of 100 Mbit/s behind 16 us of a switch; times in us, data in bits.
fn port(name: String) -> Server {
    Server {
        link_rate: Some(whole(100)),
        constant: whole(16),
        ..Server::new(name, ServiceCurve::rate_latency(whole(100), whole(0)).unwrap_or_else(|error| panic!("{error}")))
    }
}

/// Virtual links from every end system to two others each, with BAGs of 32 to 128 ms and frames of 84 to 683 bytes.
fn network(links: usize) -> Network {
    let systems = SWITCHES * SYSTEMS;
    // First the end systems' ports, then those of switches to them, then along the line, up and down.
    let mut servers: Vec<Server> = (0..systems).map(|one| port(format!("e{one}"))).collect();
    servers.extend((0..systems).map(|one| port(format!("to e{one}"))));
    servers.extend((0..SWITCHES).map(|one| port(format!("up {one}"))));
    servers.extend((0..SWITCHES).map(|one| port(format!("down {one}"))));
    let link = |index: usize| -> Flow {
        let from = index % systems;
        let mut hops = vec![Hop { server: from, after: None }];
        for receiver in [from + 1 + index * 7 % (systems - 1), from + 1 + (index * 13 + 5) % (systems - 1)] {
            let (to, mut at, mut last) = (receiver % systems, from / SYSTEMS, 0);
            let mut pass = |server: usize| {
                let known = hops.iter().position(|hop| hop.server == server);
                last = known.unwrap_or_else(|| {
                    hops.push(Hop { server, after: Some(last) });
                    hops.len() - 1
                });
            };
            while at != to / SYSTEMS {
                let is_up = at < to / SYSTEMS;
                pass(2 * systems + if is_up { at } else { SWITCHES + at });
                at = if is_up { at + 1 } else { at - 1 };
            }
            pass(systems + to);
        }
        let longest = whole(8 * (84 + (index * 37 % 600) as i64));
        let link = VirtualLink {
            name: format!("v{index}"),
            bag: whole(1000 << (5 + index * 5 % 3)),
            longest,
            jitter: whole(0),
            hops,
        };
        link.flow().unwrap_or_else(|error| panic!("{error}"))
    };
    Network::new(servers, (0..links).map(link).collect()).unwrap_or_else(|error| panic!("{error}"))
}

/// The greatest bound, by total flow analysis of grouped links.
fn grouped(network: &Network, grid: Option<Grid>) -> Rational {
    let settings = Settings { uses_links: true, grid };
    let mut traffic = Delayed::new(network, Multiplexing::Fifo, settings).unwrap_or_else(|error| panic!("{error}"));
    let mut most = whole(0);
    for (index, flow) in network.flows().iter().enumerate() {
        for end in flow.ends() {
            let bound = Analysis::TotalFlow.bound(&mut traffic, index, end);
            most = most.max(bound.delay.unwrap_or_else(|error| panic!("{error}")));
        }
    }
    most
}

fn calculus(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("calculus");
    group.sample_size(10);
    // 1 ps and a thousandth of a bit.
    let grid = || Grid::new(ratio(1, 1_000_000), ratio(1, 1_000));
    for links in [250, 1_000, 2_000] {
        let network = network(links);
        let exact = grouped(&network, grid());
        assert!(exact > whole(0));
        group.bench_function(format!("grouped/{links}"), |bencher| {
            bencher.iter(|| grouped(black_box(&network), grid()));
        });
    }
    let network = network(1_000);
    group.bench_function("grouped-exact/1000", |bencher| bencher.iter(|| grouped(black_box(&network), None)));
    group.bench_function("best/1000", |bencher| {
        let settings = || Settings { uses_links: true, grid: grid() };
        bencher.iter(|| best(black_box(&network), Multiplexing::Fifo, settings(), 0).map(|found| found.len()));
    });
    group.finish();
}

criterion_group!(benches, calculus);
criterion_main!(benches);
