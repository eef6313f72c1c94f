//! Networks and streams for tests and benches, drawn from a seed.
#![allow(unreachable_pub, dead_code, reason = "tests and benches include this file as well, and use a part of it")]

use chronoseal_core::random::{ChaCha8Rng, Purpose, stream, uniform_i64};
use chronoseal_core::{Duration, Rate};

use chronoseal_schedule::{Link, LinkProtection, Network, Node, Problem, Security, Stream};

/// Chance.
pub struct Draw(ChaCha8Rng);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(stream(seed, Purpose::Phase, 1))
    }
    pub fn below(&mut self, count: usize) -> usize {
        uniform_i64(&mut self.0, 0, count as i64 - 1) as usize
    }
    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// Bridges `s0`, `s1`, ... joined as `pairs` says, each with a station `e0`, `e1`, ..., both directions at 1 Gbit/s.
pub fn network(bridges: usize, pairs: &[(usize, usize)]) -> Network {
    let mut nodes: Vec<Node> = (0..bridges).map(|n| Node { name: format!("s{n:03}"), is_bridge: true }).collect();
    nodes.extend((0..bridges).map(|n| Node { name: format!("e{n:03}"), is_bridge: false }));
    let link = |from, to| Link {
        from,
        to,
        rate: Rate(1_000_000_000),
        propagation: Duration::from_ns(50),
        processing: Duration::from_us(2),
        protection: LinkProtection::default(),
        gate_entries_max: None,
    };
    let mut links = Vec::new();
    for &(one, other) in pairs {
        links.extend([link(one, other), link(other, one)]);
    }
    links.extend((0..bridges).flat_map(|n| [link(n, bridges + n), link(bridges + n, n)]));
    Network::new(nodes, links).expect("the network is sound")
}

/// A ring of bridges.
pub fn ring(bridges: usize) -> Network {
    let pairs: Vec<_> = (0..bridges).map(|n| (n, (n + 1) % bridges)).collect();
    network(bridges, &pairs)
}

/// A square of bridges, each joined to its neighbours.
pub fn grid(side: usize) -> Network {
    let right = (0..side * side).filter(|n| n % side + 1 < side).map(|n| (n, n + 1));
    let down = (0..side * (side - 1)).map(|n| (n, n + side));
    network(side * side, &right.chain(down).collect::<Vec<_>>())
}

/// A stream between two stations, every `period`.
pub fn unicast(network: &Network, name: String, from: usize, to: &[usize], len: u32, period: Duration) -> Stream {
    let station = |n: usize| network.node(&format!("e{n:03}")).expect("it is there");
    Stream {
        name,
        from: station(from),
        to: to.iter().map(|n| station(*n)).collect(),
        len,
        period,
        deadline: period,
        jitter: Duration::ZERO,
        offset: None,
        route: None,
        security: Security::default(),
    }
}

/// As many streams as wanted between stations drawn by chance.
pub fn streams(network: &Network, count: usize, lens: &[u32], periods: &[Duration], seed: u64) -> Vec<Stream> {
    let (mut draw, stations) = (Draw::new(seed), network.nodes().len() / 2);
    (0..count)
        .map(|number| {
            let from = draw.below(stations);
            let to = (from + 1 + draw.below(stations - 1)) % stations;
            let (len, period) = (draw.of(lens), draw.of(periods));
            unicast(network, format!("f{number:05}"), from, &[to], len, period)
        })
        .collect()
}

/// The streams on their network.
pub fn problem(network: Network, streams: Vec<Stream>) -> Problem {
    Problem::new(network, streams).expect("the problem is sound")
}
