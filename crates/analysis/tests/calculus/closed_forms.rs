//! Single frames through switches and gates, a shaped port, a time-triggered link, an end system: bounds by hand, measured, or
//! of others.

use chronoseal_analysis::calculus::ethernet::{Class, Frames, Gates, Port, VirtualLink, Window, output_jitter};
use chronoseal_analysis::calculus::{
    Delayed, Flow, Hop, Multiplexing, Network, Rational, Server, Settings, Unbounded, flow, operations, ratio, whole,
};
use serde_json::Value;

use super::{bucket, number, server};

fn vectors(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// On the wire, with preamble and without a gap behind it: that of the last frame is none of its latency.
fn last_frame(bytes: &Rational) -> Rational {
    (bytes + whole(8)) * whole(8)
}

#[test]
fn single_frames_take_what_the_arithmetic_says() {
    let vectors = vectors(include_str!("../vectors/closed_form.json"));
    let case = |id: &str| {
        let cases = vectors["cases"].as_array().unwrap().iter();
        cases.into_iter().find(|case| case["id"] == id).unwrap().clone()
    };
    // Times in ns, data in bits.
    for id in ["SF1", "SF2"] {
        let case = case(id);
        let links = case["links"].as_u64().unwrap() as usize;
        let rate = number(&case["rate_mbps"]) / whole(1000);
        let port = |index: usize| Server {
            // A switch's own time comes between two links.
            constant: number(&case["prop_ns"]) + if index + 1 < links { number(&case["proc_ns"]) } else { whole(0) },
            ..Server::new(format!("link {index}"), server(&[(rate.clone(), whole(0))]))
        };
        let frame = last_frame(&number(&case["L"]));
        let way: Vec<usize> = (0..links).collect();
        let alone = Flow { longest_frame: frame.clone(), ..Flow::along("f", bucket(whole(0), frame), &way) };
        let network = Network::new((0..links).map(port).collect(), vec![alone]).unwrap();
        let mut traffic = Delayed::new(&network, Multiplexing::Fifo, Settings::default()).unwrap();
        let expected = Ok(number(&case["latency_ns"]));
        assert_eq!(flow::total_flow(&mut traffic, 0, links - 1).delay, expected, "{id}");
        // With frames handed on whole the other analyses say the same of a flow alone.
        assert_eq!(flow::separate_flow(&mut traffic, 0, links - 1).delay, expected, "{id}");
        assert_eq!(flow::pay_multiplexing_once(&mut traffic, 0, links - 1).delay, expected, "{id}");
    }
    let gates = |from: i64, length: i64| {
        Gates::new(whole(500_000), vec![Window { from: whole(from), length: whole(length) }]).unwrap()
    };
    let delay = |gates: &Gates, bytes: i64| {
        let frame = last_frame(&whole(bytes));
        let frames = Frames { longest: frame.clone(), shortest: frame.clone() };
        gates.delay(&bucket(whole(0), frame), &whole(1), &frames).unwrap()
    };
    // A frame that comes when it is just too late to start waits for the next cycle; the case itself is not the worst.
    let (gate, window) = (case("GATE1"), gates(250_000, 10_000));
    assert_eq!(delay(&window, 128), whole(750_000 + 1_088 - (260_000 - 1_088)));
    assert!(number(&gate["receive_ns"]) - number(&gate["arrive_queue_ns"]) <= delay(&window, 128));
    let (starts, waits) = (number(&case("GUARD1")["start_ns"]), number(&case("GUARD2")["start_ns"]));
    assert_eq!(delay(&gates(0, 100_000), 1_522), waits + whole(12_240) - starts);
    // Two frames at once: the first with its gap, the second without.
    let two = last_frame(&whole(1518)) * whole(2) + whole(96);
    let line = server(&[(ratio(1, 10), whole(0))]);
    let second_end = number(&case("FIFO1")["second_end_ns"]);
    assert_eq!(operations::delay(&bucket(whole(0), two), &line), Some(second_end));
}

#[test]
fn rate_constrained_frames_between_time_triggered_ones_are_over_before_the_published_bound() {
    let vectors = vectors(include_str!("../vectors/tte_rc_link.json"));
    for case in vectors["cases"].as_array().unwrap() {
        let taken: Vec<(Rational, Rational)> = case["tt_windows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|window| (number(&window[0]), number(&window[1])))
            .collect();
        let windows = taken.iter().map(|(from, until)| Window { from: from.clone(), length: until - from });
        let lengths: Vec<Rational> = case["rc_frames"].as_object().unwrap().values().map(number).collect();
        let all: Rational = lengths.iter().sum();
        let frames =
            Frames { longest: lengths.iter().max().unwrap().clone(), shortest: lengths.iter().min().unwrap().clone() };
        // The case has no cycle: one that is long enough adds no window before the frames are over.
        let free = Gates::new(whole(20), windows.collect()).unwrap().complement().unwrap();
        let over = free.delay(&bucket(whole(0), all), &whole(1), &frames).unwrap();
        assert!(over <= number(&case["busy_period_bound"]), "{over}");
        // In whatever order and whenever they are released: none takes longer, and some take nearly as long.
        let mut most = whole(0);
        for release in (0..80).map(|quarter| ratio(quarter, 4)) {
            for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                let mut now = release.clone();
                for frame in order {
                    let ends = |now: &Rational| now + &lengths[frame];
                    for turn in [whole(0), whole(20)] {
                        for (from, until) in &taken {
                            if now < until + &turn && ends(&now) > from + &turn {
                                now = until + &turn;
                            }
                        }
                    }
                    now = ends(&now);
                }
                most = most.max(now - &release);
            }
        }
        assert!(most <= over && most >= &over - whole(2), "{most} {over}");
    }
}

#[test]
fn what_was_measured_behind_a_shaper_is_below_its_bounds() {
    let vectors = vectors(include_str!("../vectors/credit_based_shaper.json"));
    // Times in us, data in bits.
    let rate = number(&vectors["rate_mbps"]);
    let flows = vectors["flows"].as_array().unwrap();
    let wire = |flow: &Value| last_frame(&number(&flow["l2_bytes"])) + whole(96);
    let class = |flow: &Value| {
        let frame = wire(flow);
        Class {
            name: flow["name"].as_str().unwrap().to_owned(),
            arrival: bucket(&frame / number(&flow["interval_us"]), frame.clone()),
            frames: Frames { longest: frame.clone(), shortest: frame },
            idle_slope: flow.get("cbs_idleslope_bps").map(|slope| number(slope) / whole(1_000_000)),
            gates: None,
            is_preemptable: false,
        }
    };
    let mut by_priority: Vec<&Value> = flows.iter().collect();
    by_priority.sort_by_key(|flow| std::cmp::Reverse(flow["pcp"].as_u64()));
    let classes: Vec<Class> = by_priority.iter().map(|flow| class(flow)).collect();
    let port = Port::new("to R", rate.clone(), None, classes.clone()).unwrap();
    let mut compared = 0;
    for (index, sent) in by_priority.iter().enumerate() {
        let name = sent["name"].as_str().unwrap();
        let Some(measured) = vectors["expected_us"].get(name) else {
            // The flood is more than what is left to it.
            assert!(matches!(port.service(index), Err(Unbounded::Overload { .. })));
            continue;
        };
        let waits = operations::delay(&classes[index].arrival, &port.service(index).unwrap()).unwrap();
        // First link and switch before the port, one propagation each; no gap behind the last frame.
        let before = last_frame(&number(&sent["l2_bytes"])) / &rate + number(&vectors["switch_proc_us"]) + ratio(1, 10);
        let bound = before + waits - whole(96) / &rate;
        let most = number(&measured["max"]);
        assert!(bound >= most, "{name}: bound {bound}, measured {most}");
        assert!(bound <= &most * whole(2), "{name}: bound {bound}, measured {most}");
        if name == "Critical" {
            // Strict priority: one lower frame in front, which the run met nearly.
            assert!(bound <= most + ratio(1, 5), "{bound}");
        }
        compared += 1;
    }
    assert_eq!(compared, 3);
}

#[test]
fn end_systems_and_policing_follow_the_standard() {
    let vectors = vectors(include_str!("../vectors/arinc664.json"));
    for case in vectors["jitter"]["cases"].as_array().unwrap() {
        let lengths = case["lmax"].as_array().unwrap().iter().map(|length| length.as_u64().unwrap() as u32);
        let expected = (number(&case["jitter_us"]), case["ok"].as_bool().unwrap());
        assert_eq!(output_jitter(lengths, &whole(100)), expected);
    }
    for case in vectors["policing"].as_array().unwrap() {
        let link = VirtualLink {
            name: "v".to_owned(),
            bag: number(&case["bag_us"]),
            longest: number(&case["lmax"]),
            jitter: number(&case["jitter_us"]),
            hops: vec![Hop { server: 0, after: None }],
        };
        let arrival = link.flow().unwrap().arrival;
        assert_eq!(*arrival.burst(), number(&case["initial_credit"]));
        // What policing lets pass keeps to the curve, and one frame that it dropped would not have.
        let sent: Vec<(Rational, Rational, bool)> = case["arrivals"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (number(&one["t_us"]), number(&one["bytes"]), one["verdict"] == "pass"))
            .collect();
        let most = |passes: &dyn Fn(usize) -> bool| {
            let excess = (0..sent.len()).flat_map(|first| (first..sent.len()).map(move |last| (first, last))).map(
                |(first, last)| {
                    let data: Rational = (first..=last).filter(|one| passes(*one)).map(|one| &sent[one].1).sum();
                    data - arrival.at(&(&sent[last].0 - &sent[first].0))
                },
            );
            excess.max().unwrap()
        };
        assert!(most(&|one| sent[one].2) <= whole(0));
        assert!(most(&|one| sent[one].2 || one == 2) > whole(0));
    }
}
