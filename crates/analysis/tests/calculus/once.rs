//! Paying multiplexing only once: when it is tried, what it saves, and whom it blames.

use chronoseal_analysis::calculus::{
    Analysis, ArrivalCurve, Bucket, Delayed, Flow, Multiplexing, Network, Server, Settings, Unbounded, best, flow,
    whole,
};

use super::{bucket, server};

/// Two flows over the same two servers, each server with a rate and a latency of 1, in any order of service.
fn shared(rates: [i64; 2], flows: [(i64, i64); 2]) -> Network {
    let servers = rates.map(|rate| Server::new(format!("of {rate}"), server(&[(whole(rate), whole(1))])));
    let along = |(rate, burst): (i64, i64)| Flow::along("f", bucket(whole(rate), whole(burst)), &[0, 1]);
    Network::new(servers.to_vec(), flows.map(along).to_vec()).unwrap()
}

#[test]
fn the_analyses_that_take_long_are_used_for_so_many_flows_and_no_more() {
    let network = shared([10, 10], [(1, 1), (1, 20)]);
    let least = |small: usize| {
        let found = best(&network, Multiplexing::Arbitrary, Settings::default(), small).unwrap();
        found[0].delay.clone().unwrap()
    };
    let (once, analysis) = least(2);
    assert_eq!(analysis, Analysis::PayMultiplexingOnce);
    let (more, analysis) = least(1);
    assert_ne!(analysis, Analysis::PayMultiplexingOnce);
    assert!(once < more, "the burst of the other flow is paid for at each server: {more}, and once: {once}");
}

#[test]
fn the_server_that_lacks_most_is_named() {
    // The flow meets another at each server: one server is asked for 12 and lacks 2, one is asked for 2 and lacks 1.
    let servers = [10, 1].map(|rate| Server::new(format!("of {rate}"), server(&[(whole(rate), whole(1))])));
    let along = |rate, path: &[usize]| Flow::along("f", bucket(whole(rate), whole(1)), path);
    let network = Network::new(servers.to_vec(), vec![along(0, &[0, 1]), along(12, &[0]), along(2, &[1])]).unwrap();
    let mut traffic = Delayed::new(&network, Multiplexing::Arbitrary, Settings::default()).unwrap();
    let error = flow::pay_multiplexing_once(&mut traffic, 0, 1).delay.unwrap_err();
    assert!(matches!(&error, Unbounded::Overload { server, .. } if server == "of 10"), "{error}");
}

#[test]
fn a_bucket_that_is_nowhere_the_least_alone_is_no_piece_of_a_curve() {
    let bucket = |rate, burst| Bucket { rate: whole(rate), burst: whole(burst) };
    // All three meet after a time of 1.
    let curve = ArrivalCurve::least_of([bucket(4, 0), bucket(2, 2), bucket(1, 3)]).unwrap();
    assert_eq!(curve.pieces(), [bucket(4, 0), bucket(1, 3)]);
    // A little lower, it is one.
    let curve = ArrivalCurve::least_of([bucket(8, 0), bucket(4, 3), bucket(2, 6)]).unwrap();
    assert_eq!(curve.pieces(), [bucket(8, 0), bucket(4, 3), bucket(2, 6)]);
}
