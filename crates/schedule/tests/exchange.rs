//! What is written is read again with the same meaning, what others made replays, and what is wrong is named.

use std::collections::BTreeMap;

use chronoseal_core::Duration;
use chronoseal_core::random::{Purpose, stream, uniform_i64};
use chronoseal_schedule::exchange::qcw::{self, Place};
use chronoseal_schedule::exchange::tsnkit;
use chronoseal_schedule::gates::SCHEDULED_CLASS;
use chronoseal_schedule::replay::{Violation, replay};
use chronoseal_schedule::{Network, Options, Problem, Schedule, Stream, synthesize};

macro_rules! vector {
    ($name:literal) => {
        ($name, &include_bytes!(concat!("vectors/tsnkit/", $name))[..])
    };
}

fn load(task: (&str, &[u8]), topology: (&str, &[u8])) -> (Network, Vec<Stream>) {
    let network = tsnkit::read_network(topology.0, topology.1).expect("a network");
    let streams = tsnkit::read_streams(task.0, task.1, &network).expect("streams");
    (network, streams)
}

fn schedule(network: &Network, streams: &[Stream]) -> Schedule {
    let problem = Problem::new(network.clone(), streams.to_vec()).expect("a problem");
    synthesize(&problem, Options::default()).unwrap_or_else(|infeasible| panic!("{infeasible}"))
}

#[test]
fn all_streams_of_the_ring_are_scheduled_and_replay() {
    for (task, topology, count) in [
        (vector!("1_task.csv"), vector!("1_topo.csv"), 10),
        (vector!("2_task.csv"), vector!("2_topo.csv"), 30),
        (vector!("3_task.csv"), vector!("3_topo.csv"), 60),
        (vector!("4_task.csv"), vector!("4_topo.csv"), 100),
        (vector!("5_task.csv"), vector!("5_topo.csv"), 200),
    ] {
        let (network, streams) = load(task, topology);
        assert_eq!(streams.len(), count);
        assert_eq!(schedule(&network, &streams).replay(SCHEDULED_CLASS), []);
    }
}

#[test]
fn a_schedule_of_tsnkit_replays_with_the_delays_that_it_printed() {
    let (network, streams) = load(vector!("1_task.csv"), vector!("1_topo.csv"));
    let files = [vector!("1-GCL.csv"), vector!("1-OFFSET.csv"), vector!("1-ROUTE.csv")];
    let queues = Some(vector!("1-QUEUE.csv"));
    let (told, lists) = tsnkit::read_schedule(&network, &streams, files, queues, 3).unwrap();
    assert_eq!(replay(&network, &told, &lists, SCHEDULED_CLASS), []);
    // Its delays are what a deadline has to allow, less the frame on the first link.
    let delays = String::from_utf8(vector!("1-DELAY.csv").1.to_vec()).unwrap();
    for line in delays.lines().skip(1) {
        let fields: Vec<i64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        let at = told.iter().position(|told| told.stream.name == fields[0].to_string()).unwrap();
        let mut told = told.clone();
        let first = Duration::from_ns(i64::from(told[at].stream.len) * 8);
        told[at].stream.deadline = Duration::from_ns(fields[2]) + first;
        let late = |told: &[_]| {
            replay(&network, told, &lists, SCHEDULED_CLASS).iter().any(|found| matches!(found, Violation::Late { .. }))
        };
        assert!(!late(&told), "{line}");
        told[at].stream.deadline -= Duration::from_ps(1);
        assert!(late(&told), "{line}");
    }
}

#[test]
fn a_frame_waits_in_the_queue_of_its_table_and_leaves_by_the_gate_of_that_queue() {
    let (network, streams) = load(vector!("1_task.csv"), vector!("1_topo.csv"));
    let text = |(_, bytes): (&str, &[u8])| String::from_utf8(bytes.to_vec()).unwrap();
    let (gates, queues) = (text(vector!("1-GCL.csv")), text(vector!("1-QUEUE.csv")));
    let replayed = |gates: &str, queues: Option<&str>| {
        let files = [("g.csv", gates.as_bytes()), vector!("1-OFFSET.csv"), vector!("1-ROUTE.csv")];
        let queues = queues.map(|queues| ("q.csv", queues.as_bytes()));
        let (told, lists) =
            tsnkit::read_schedule(&network, &streams, files, queues, 3).map_err(|error| error.to_string())?;
        Ok::<_, String>(replay(&network, &told, &lists, SCHEDULED_CLASS))
    };
    let is_lost = |found: &Result<Vec<Violation>, String>| {
        found.as_ref().unwrap().iter().any(|found| matches!(found, Violation::Lost { .. }))
    };
    assert_eq!(replayed(&gates, Some(&queues)), Ok(Vec::new()));
    assert_eq!(replayed(&gates, None), Ok(Vec::new()), "each port has windows of one queue");
    // One frame waits where no gate ever opens.
    let other_queue = queues.replacen("0,0,\"(10, 2)\",0", "0,0,\"(10, 2)\",3", 1);
    assert!(is_lost(&replayed(&gates, Some(&other_queue))));
    // All windows of one port are those of another queue.
    let other_gate = gates.replace("\"(0, 7)\",0,", "\"(0, 7)\",5,");
    assert!(is_lost(&replayed(&other_gate, Some(&queues))));
    assert_eq!(replayed(&other_gate, None), Ok(Vec::new()));
    let refused = |gates: &str, queues: Option<&str>, expected: &str| {
        let found = replayed(gates, queues).unwrap_err();
        assert!(found.contains(expected), "{found}");
    };
    refused(&gates, Some("stream,frame,link,queue\n"), "stream 0 has no queue at 10->2");
    refused(&gates, Some(&queues.replacen(",0\n", ",8\n", 1)), "q.csv:2: `queue` is `8`");
    let twice = format!("{queues}0,0,\"(10, 2)\",4\n");
    refused(&gates, Some(&twice), "is in queue 4 at 10->2 here, and in queue 0 above");
    let two = gates.replacen("\"(0, 7)\",0,", "\"(0, 7)\",5,", 1);
    refused(&two, None, "windows of several queues at 0->7");
}

#[test]
fn a_schedule_written_for_tsnkit_is_read_again_and_replays() {
    let (network, streams) = load(vector!("3_task.csv"), vector!("3_topo.csv"));
    let tables = tsnkit::write(&schedule(&network, &streams), 0).unwrap();
    let files = [
        ("gates", tables.gates.as_bytes()),
        ("offsets", tables.offsets.as_bytes()),
        ("routes", tables.routes.as_bytes()),
    ];
    let queues = Some(("queues", tables.queues.as_bytes()));
    let (told, lists) = tsnkit::read_schedule(&network, &streams, files, queues, 2).unwrap();
    assert_eq!(replay(&network, &told, &lists, SCHEDULED_CLASS), []);
    assert_eq!(tables.delays.lines().count(), 61);
    let (network, streams) = load(vector!("1_task.csv"), vector!("1_topo.csv"));
    let delays = tsnkit::write(&schedule(&network, &streams), 0).unwrap().delays;
    let mut sorted: Vec<_> = delays.lines().collect();
    sorted.sort_unstable();
    let theirs = String::from_utf8(vector!("1-DELAY.csv").1.to_vec()).unwrap();
    let mut lines: Vec<_> = theirs.lines().collect();
    lines.sort_unstable();
    assert_eq!(sorted, lines);
    assert_eq!(tables.queues.lines().count(), tables.routes.lines().count());
}

#[test]
fn tables_that_are_wrong_are_refused_with_line_and_reason() {
    let network = |text: &str| tsnkit::read_network("t.csv", text.as_bytes()).map(|_| ()).unwrap_err().to_string();
    for (text, expected) in [
        ("", "t.csv:1: the table is empty"),
        ("link,rate\n", "t.csv:1: there is no column `q_num`"),
        ("link,q_num,rate,t_proc,t_prop\n(0 1),8,1,0,0\n", "t.csv:2: the link is `(0 1)`"),
        ("link,q_num,rate,t_proc,t_prop\n\"(0, 1)\",8,0,0,0\n", "t.csv:2: the link (0, 1) has the rate 0"),
        ("link,q_num,rate,t_proc,t_prop\n\"(0, 1)\",8,1,-1,0\n", "t.csv:2: `t_proc` is `-1`"),
        ("link,q_num,rate,t_proc,t_prop\n\"(0, 1)\",8,1,0,0\n\"(0, 1)\",8,1,0,0\n", "the link 0->1 is there twice"),
    ] {
        assert!(network(text).contains(expected), "{}", network(text));
    }
    let (net, streams) = load(vector!("1_task.csv"), vector!("1_topo.csv"));
    let refused = |text: &str| tsnkit::read_streams("s.csv", text.as_bytes(), &net).unwrap_err().to_string();
    let header = "stream,src,dst,size,period,deadline,jitter\n";
    for (row, expected) in [
        ("0,10,8,200,1000,1000,0\n", "s.csv:2: `dst` is `8` and has to be a list"),
        ("0,10,[99],200,1000,1000,0\n", "s.csv:2: the network has no node 99"),
        ("0,10,[10],200,1000,1000,0\n", "s.csv:2: stream `0` needs a talker"),
        ("0,10,[8],200,0,1000,0\n", "s.csv:2: stream `0`: the period is 0s"),
        ("0,10,[8],many,1000,1000,0\n", "s.csv:2: `size` is `many`"),
    ] {
        let found = refused(&format!("{header}{row}"));
        assert!(found.contains(expected), "{found}");
    }
    let overlapping = "link,queue,start,end,cycle\n\"(0, 7)\",0,0,10,4000000\n\"(0, 7)\",0,9,20,4000000\n";
    let files = [("g.csv", overlapping.as_bytes()), vector!("1-OFFSET.csv"), vector!("1-ROUTE.csv")];
    let found = tsnkit::read_schedule(&net, &streams, files, None, 1).unwrap_err().to_string();
    assert!(found.contains("g.csv:3: this window of 0->7 begins"), "{found}");
}

#[test]
fn gate_lists_are_written_and_read_as_json_and_xml_with_the_same_meaning() {
    let (network, streams) = load(vector!("2_task.csv"), vector!("2_topo.csv"));
    let schedule = schedule(&network, &streams);
    let lists = schedule.gates(SCHEDULED_CLASS);
    for place in [Place::BridgePort, Place::Interface] {
        for text in
            [qcw::write_json(&network, &lists, place).unwrap(), qcw::write_xml(&network, &lists, place).unwrap()]
        {
            let read = qcw::read("gates", text.as_bytes(), &network).unwrap();
            assert_eq!(read, lists);
            let ports =
                read.into_iter().map(|list| (list.link, vec![(Duration::ZERO, list)])).collect::<BTreeMap<_, _>>();
            assert_eq!(replay(&network, &schedule.told(2), &ports, SCHEDULED_CLASS), []);
        }
    }
}

#[test]
fn gate_lists_that_are_wrong_are_refused_with_port_and_entry() {
    let (network, _) = load(vector!("1_task.csv"), vector!("1_topo.csv"));
    let list = |name: &str, table: &str| {
        format!(
            "<interfaces><interface><name>{name}</name>\n<gate-parameter-table><gate-enabled>true</gate-enabled>\n{table}</gate-parameter-table></interface></interfaces>"
        )
    };
    let cycle = "<admin-cycle-time><numerator>1</numerator><denominator>1000</denominator></admin-cycle-time>";
    let entry = |interval: &str| {
        format!(
            "<admin-control-list>\n<gate-control-entry><index>3</index><time-interval-value>{interval}</time-interval-value><gate-states-value>255</gate-states-value></gate-control-entry></admin-control-list>"
        )
    };
    for (text, expected) in [
        ("{".to_owned(), "gates:1: this is no JSON"),
        ("{}".to_owned(), "there is no `interfaces`"),
        ("<interfaces>".to_owned(), "the file ends within an element"),
        (list("0-&gt;99", ""), "gates:1: the network has no port `0->99`"),
        (list("0-&gt;7", ""), "gates:2: port 0->7: `admin-cycle-time/numerator` is missing"),
        (list("0-&gt;7", cycle), "port 0->7 has 0 entries"),
        (list("0-&gt;7", &format!("{cycle}{}", entry("x"))), "gates:4: port 0->7: `time-interval-value` is `x`"),
        (
            list("0-&gt;7", &format!("{cycle}{}", entry("1000001"))),
            "gates:4: port 0->7, entry 3: it has no length, or ends 1ns after the cycle of 1ms",
        ),
        (
            list("0-&gt;7", &format!("<supported-list-max>0</supported-list-max>{cycle}{}", entry("5"))),
            "port 0->7 has 1 entries and supports from 1 to 0",
        ),
    ] {
        let found = qcw::read("gates", text.as_bytes(), &network).unwrap_err().to_string();
        assert!(found.contains(expected), "{found}");
    }
    // What is shorter than the cycle holds until its end.
    let short = list("0-&gt;7", &format!("{cycle}{}", entry("5")));
    assert_eq!(qcw::read("gates", short.as_bytes(), &network).unwrap()[0].entries[0].interval, Duration::from_ms(1));
}

/// Bytes of `seed` with some of them changed, taken out or doubled.
fn damaged(seed: &[u8], number: u64) -> Vec<u8> {
    let mut rng = stream(number, Purpose::Phase, 2);
    let mut bytes = seed.to_vec();
    for _ in 0..uniform_i64(&mut rng, 1, 4) {
        let at = uniform_i64(&mut rng, 0, bytes.len() as i64 - 1) as usize;
        match uniform_i64(&mut rng, 0, 3) {
            0 => bytes[at] = uniform_i64(&mut rng, 0, 255) as u8,
            1 => drop(bytes.drain(at..bytes.len().min(at + 9))),
            2 => bytes[at] = b"0123456789-,()[]<>{}\"&\n"[uniform_i64(&mut rng, 0, 22) as usize],
            _ => {
                let again = bytes[at..bytes.len().min(at + 40)].to_vec();
                bytes.splice(at..at, again);
            }
        }
        bytes.push(b'\n');
    }
    bytes
}

#[test]
fn damaged_files_are_refused_or_mean_something_and_nothing_panics() {
    let (network, streams) = load(vector!("1_task.csv"), vector!("1_topo.csv"));
    let lists = schedule(&network, &streams).gates(SCHEDULED_CLASS);
    let json = qcw::write_json(&network, &lists, Place::Interface).unwrap();
    let xml = qcw::write_xml(&network, &lists, Place::BridgePort).unwrap();
    let (mut taken, mut refused) = (0, 0);
    let mut count = |ok: bool| if ok { taken += 1 } else { refused += 1 };
    for number in 0..60 {
        let topology = tsnkit::read_network("t", &damaged(vector!("1_topo.csv").1, number));
        count(topology.is_ok());
        let network = topology.unwrap_or_else(|_| network.clone());
        let tasks = tsnkit::read_streams("s", &damaged(vector!("1_task.csv").1, number), &network);
        count(tasks.is_ok());
        let streams = tasks.unwrap_or_else(|_| streams.clone());
        let gates = damaged(vector!("1-GCL.csv").1, number);
        let files = [("g", gates.as_slice()), vector!("1-OFFSET.csv"), vector!("1-ROUTE.csv")];
        if let Ok((told, lists)) = tsnkit::read_schedule(&network, &streams, files, None, 1)
            && told.iter().map(|told| told.sends.len()).sum::<usize>() < 2_000
        {
            replay(&network, &told, &lists, SCHEDULED_CLASS);
        }
        for text in [&json, &xml] {
            let read = qcw::read("q", &damaged(text.as_bytes(), number), &network);
            count(read.is_ok());
            for list in read.into_iter().flatten() {
                assert_eq!(list.entries.iter().map(|entry| entry.interval).sum::<Duration>(), list.cycle);
            }
        }
    }
    assert!(taken > 10 && refused > 100, "{taken} taken, {refused} refused");
}
