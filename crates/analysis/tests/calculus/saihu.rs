//! Files of Saihu: what they mean, what is written is read again with the same meaning, and what is wrong is named.

use chronoseal_analysis::calculus::saihu::{WriteError, read_network, read_results, write_network};
use chronoseal_analysis::calculus::{
    ArrivalCurve, Bucket, Flow, Hop, Multiplexing, Network, RateLatency, Rational, Server, ServiceCurve, best, ratio,
    whole,
};
use serde_json::{Value, json};

use super::simulated::{Kind, case};
use super::simulation::Chance;

const NETWORK: &str = include_str!("../vectors/saihu_demo.json");
const BOUNDS: &str = include_str!("../vectors/saihu_demo_bounds.json");

#[test]
fn every_number_of_the_demo_is_taken_in_its_own_unit() {
    let read = read_network("demo.json", NETWORK.as_bytes()).unwrap();
    assert_eq!((read.name.as_str(), read.multiplexing), ("demo", Multiplexing::Fifo));
    let bucket = |rate: Rational, burst: i64| Bucket { rate, burst: whole(burst) };
    let flows = read.network.flows();
    assert_eq!(
        flows[0].arrival,
        ArrivalCurve::least_of([bucket(whole(10_000), 80), bucket(whole(500), 16_000)]).unwrap()
    );
    // The ways of f0 part behind the first server.
    let hop = |server, after| Hop { server, after };
    assert_eq!(flows[0].hops, [hop(0, None), hop(1, Some(0)), hop(2, Some(0))]);
    let ends: Vec<_> = read.ends.iter().map(|end| (end.flow, end.hop, end.names.join(" "))).collect();
    assert_eq!(ends, [(0, 1, "f0 f0_p0".to_owned()), (0, 2, "f0_p1".into()), (1, 1, "f1".into()), (2, 0, "f2".into())]);
    // The packetizer is off, so packets count for nothing.
    assert!(flows.iter().all(|flow| flow.longest_frame == whole(0)));
    let piece = |rate: i64, latency: Rational| RateLatency { rate: whole(rate * 1_000_000), latency };
    let server = &read.network.servers()[0];
    let two = ServiceCurve::most_of([piece(4, ratio(1, 100_000)), piece(50, ratio(1, 1000))]).unwrap();
    assert_eq!((&server.service, &server.link_rate), (&two, &Some(whole(100_000_000))));
    let packets = NETWORK.replace("\"packetizer\": false", "\"packetizer\": true");
    let read = read_network("demo.json", packets.as_bytes()).unwrap();
    assert!(read.network.flows().iter().all(|flow| flow.longest_frame == whole(400)));
}

#[test]
fn what_is_written_is_read_again_with_the_same_meaning() {
    for seed in 0..200 {
        let mut chance = Chance(seed);
        let kind = Kind { longest: 4, is_constant: false, is_varying: false, is_ring: seed % 5 == 0, classes: 1 };
        let drawn = case(&mut chance, kind).network(false);
        let written = write_network("drawn", Multiplexing::Fifo, &drawn).unwrap();
        let read = read_network("drawn.json", written.as_bytes()).unwrap();
        assert_eq!(read.multiplexing, Multiplexing::Fifo);
        // A rate that is no whole number of millibits a second is rounded; once it is written, nothing is.
        let again = write_network("drawn", Multiplexing::Fifo, &read.network).unwrap();
        assert_eq!(written, again, "seed {seed}");
        let paths = |network: &Network| -> Vec<Vec<Vec<usize>>> {
            let flows = network.flows().iter().enumerate();
            flows.map(|(index, flow)| flow.ends().map(|end| network.path(index, end)).collect()).collect()
        };
        assert_eq!(paths(&read.network), paths(&drawn), "seed {seed}");
        // What is written is no lighter than what was meant.
        for (written, meant) in read.network.flows().iter().zip(drawn.flows()) {
            assert!(written.arrival.rate() >= meant.arrival.rate() && written.arrival.burst() >= meant.arrival.burst());
        }
        for (written, meant) in read.network.servers().iter().zip(drawn.servers()) {
            assert!(written.service.rate() <= meant.service.rate());
            assert!(written.service.latency() >= meant.service.latency());
        }
    }
}

#[test]
fn what_the_format_has_no_place_for_is_not_written() {
    let server = |name: &str| Server::new(name, ServiceCurve::rate_latency(whole(10), whole(1)).unwrap());
    let flow = |name: &str| Flow::along(name, ArrivalCurve::bucket(whole(1), whole(1)).unwrap(), &[0]);
    let write = |servers: Vec<Server>, flows: Vec<Flow>| {
        write_network("n", Multiplexing::Arbitrary, &Network::new(servers, flows).unwrap())
    };
    assert!(write(vec![server("s")], vec![flow("f")]).unwrap().contains("ARBITRARY"));
    let twice = write(vec![server("s"), server("s")], vec![flow("f")]);
    assert_eq!(twice, Err(WriteError::NameTwice { what: "servers", name: "s".into() }));
    let twice = write(vec![server("s")], vec![flow("f"), flow("f")]);
    assert_eq!(twice, Err(WriteError::NameTwice { what: "flows", name: "f".into() }));
    let varying = Server { varying: whole(1), ..server("s") };
    assert_eq!(write(vec![varying], vec![flow("f")]), Err(WriteError::Varying { server: "s".into() }));
    let nothing = Server { service: ServiceCurve::rate_latency(whole(0), whole(1)).unwrap(), ..server("s") };
    assert_eq!(write(vec![nothing], vec![flow("f")]), Err(WriteError::Nothing { server: "s".into() }));
    let because = best(
        &Network::new(
            vec![Server { service: ServiceCurve::rate_latency(whole(0), whole(1)).unwrap(), ..server("s") }],
            vec![flow("f")],
        )
        .unwrap(),
        Multiplexing::Fifo,
        Default::default(),
        1,
    )
    .unwrap()[0]
        .delay
        .clone()
        .unwrap_err();
    let refused = write(vec![Server::refused("s", because)], vec![flow("f")]);
    assert!(matches!(refused, Err(WriteError::Refused { .. })), "{refused:?}");
}

/// The demo with one value changed.
fn changed(pointer: &str, value: Value) -> String {
    let mut file: Value = serde_json::from_str(NETWORK).unwrap();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match file.pointer_mut(parent).unwrap() {
        Value::Object(members) if value == "nothing" => drop(members.remove(name).unwrap()),
        Value::Object(members) => drop(members.insert(name.to_owned(), value)),
        Value::Array(items) => items[name.parse::<usize>().unwrap()] = value,
        _ => panic!("{pointer}"),
    }
    file.to_string()
}

#[test]
fn a_network_that_is_wrong_is_refused_with_its_place_and_a_remedy() {
    for (pointer, value, said) in [
        ("/flows", json!("nothing"), "`flows` is missing\nhelp: write a list of flows"),
        ("/flows", json!({}), "`flows` is an object\nhelp: write a list of flows"),
        ("/flow", json!([]), "`flow` is no attribute of this format"),
        ("/network/name", json!("nothing"), "`network.name` is missing"),
        (
            "/network/multiplexing",
            json!("LIFO"),
            "`network.multiplexing` is \"LIFO\"\nhelp: write \"FIFO\" or \"ARBITRARY\"",
        ),
        ("/network/packetizer", json!("yes"), "`network.packetizer` is \"yes\"\nhelp: write true or false"),
        ("/network/rate_unit", json!("Mb"), "`network.rate_unit` is \"Mb\"\nhelp: write a unit such as \"Mbps\""),
        ("/network/max_packet_lenght", json!(1), "`network.max_packet_lenght` is no attribute"),
        ("/flows/1/name", json!("f0"), "`flows[1]` has the name `f0` again"),
        ("/flows/1", json!(3), "`flows[1]` is 3\nhelp: write a flow"),
        ("/flows/1/path", json!([]), "`flows[1].path` names 0 servers"),
        ("/flows/1/path/1", json!("s9"), "`flows[1].path[1]` is \"s9\"\nhelp: write the name of one of the `servers`"),
        ("/flows/1/path/1", json!("s0-o0"), "`flows[1].path[1]` leads to server \"s0-o0\" a second time"),
        ("/flows/0/multicast/0/path", json!(["s0-o0"]), "`flows[0].multicast` way 1 is part of another one"),
        (
            "/flows/0/multicast/0/path",
            json!(["s1-o0"]),
            "`flows[0].multicast[0].path[0]` leads to server \"s1-o0\" a second",
        ),
        ("/flows/1/arrival_curve", json!("nothing"), "`flows[1].arrival_curve` is missing"),
        (
            "/flows/1/arrival_curve/rates",
            json!([]),
            "`flows[1].arrival_curve.rates` has 0 entries beside 1 in `bursts`",
        ),
        (
            "/flows/0/arrival_curve/rates/1",
            json!("10kb"),
            "`flows[0].arrival_curve.rates[1]` is \"10kb\"\nhelp: write a rate",
        ),
        (
            "/flows/0/arrival_curve/bursts/0",
            json!(-1),
            "`flows[0].arrival_curve.bursts[0]` is -1\nhelp: write an amount",
        ),
        ("/flows/2/max_packet_length", json!("3B"), "`flows[2].max_packet_length` is 24b, and `min_packet_length` 32b"),
        ("/servers/2/name", json!("s0-o0"), "`servers[2]` has the name `s0-o0` again"),
        ("/servers/0/capacity", json!(0), "`servers[0].capacity` is 0\nhelp: write a rate above 0"),
        ("/servers/2/service_curve/rates/0", json!(0), "`servers[2].service_curve.rates` are all 0"),
        (
            "/servers/2/service_curve/latencies/0",
            json!("1e99s"),
            "`servers[2].service_curve.latencies[0]` is \"1e99s\"",
        ),
    ] {
        let refused = read_network("net.json", changed(pointer, value).as_bytes()).unwrap_err().to_string();
        assert!(refused.contains(said) && refused.starts_with("net.json: "), "{pointer}: {refused}");
    }
    for (text, said) in [
        ("", "net.json:1: this is no JSON"),
        ("[1]", "net.json: the file holds a list and no object"),
        ("{\n\"network\": Infinity}", "net.json:2: this is no JSON"),
    ] {
        let refused = read_network("net.json", text.as_bytes()).unwrap_err().to_string();
        assert!(refused.contains(said), "{refused}");
    }
    let packets = changed("/network/packetizer", json!(true)).replace("\"max_packet_length\":50,", "");
    let refused = read_network("net.json", packets.as_bytes()).unwrap_err().to_string();
    assert!(refused.contains("max_packet_length` is missing"), "{refused}");
}

#[test]
fn bounds_that_are_wrong_are_refused_with_their_place_and_a_remedy() {
    let read = read_results("data.json", BOUNDS.as_bytes()).unwrap();
    assert_eq!(read.flows["Panco_PLP"]["f0"], Some(ratio(8005, 100_000_000)));
    assert_eq!(read.flows.len(), 6);
    let none = BOUNDS.replace("79.27000000000001", "null");
    assert_eq!(read_results("data.json", none.as_bytes()).unwrap().flows["Panco_PLP"]["f1"], None);
    for (old, new, said) in [
        ("49.28,", "-49.28,", "`flow_e2e_delay.f2.Panco_ELP` is -49.28\nhelp: write a number from 0, or null"),
        ("49.28,", "\"49.28us\",", "`flow_e2e_delay.f2.Panco_ELP` is \"49.28us\""),
        ("49.28,", "Infinity,", "this is no JSON"),
        ("\"flow_delay\": \"us\"", "\"flow_delay\": \"\"", "`units.flow_delay` is no unit of time"),
        ("\"flow_delay\": \"us\",", "", "`units.flow_delay` is no unit of time"),
        ("\"units\":", "\"unit\":", "`unit` is no attribute"),
        ("\"name\": \"demo\",", "", "`name` is missing"),
        (
            "{ \"xTFA_TFA\": 50.0 }",
            "50.0",
            "`server_delay.s0-o0` is 50.0\nhelp: write an object with a bound for each tool",
        ),
    ] {
        assert!(BOUNDS.contains(old), "{old}");
        let refused = read_results("data.json", BOUNDS.replace(old, new).as_bytes()).unwrap_err().to_string();
        assert!(refused.contains(said), "{refused}");
    }
}
