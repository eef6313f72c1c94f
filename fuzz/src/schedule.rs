//! Readers of schedules: tables of tsnkit and gate control lists of IEEE 802.1Qcw.

use chronoseal_core::Duration;
use chronoseal_schedule::exchange::qcw::{self, Place};
use chronoseal_schedule::exchange::tsnkit;
use chronoseal_schedule::gates::SCHEDULED_CLASS;
use chronoseal_schedule::replay::replay;
use chronoseal_schedule::{Network, Options, Problem, synthesize};

/// Stations 0 and 1 at bridge 2, which is joined to station 3.
const NETWORK: &str = "link,q_num,rate,t_proc,t_prop\n\"(0, 2)\",8,1,2000,0\n\"(2, 0)\",8,1,2000,0\n\"(1, 2)\",8,1,2000,0\n\
                       \"(2, 1)\",8,1,2000,0\n\"(2, 3)\",8,1,2000,0\n\"(3, 2)\",8,1,2000,0\n";
/// Steps of a search: a refusal is an answer too.
const STEPS_MAX: u64 = 20_000;
/// Streams that are scheduled; more are only read.
const STREAMS_MAX: usize = 8;
/// The longest cycle that is replayed.
const CYCLE_MAX: Duration = Duration::from_ms(100);

fn network() -> Network {
    tsnkit::read_network("fuzz.csv", NETWORK.as_bytes()).expect("a network")
}

/// Gate control lists: refused with a reason, or lists that fill their cycles and are read again as they are written.
pub fn gate_control_list(data: &[u8]) {
    let network = network();
    let lists = match qcw::read("fuzz", data, &network) {
        Ok(lists) => lists,
        Err(refusal) => return assert!(!refusal.to_string().is_empty(), "a refusal says why"),
    };
    for list in &lists {
        let sum: Duration = list.entries.iter().map(|entry| entry.interval).sum();
        assert_eq!(sum, list.cycle, "the last states hold until the cycle is over");
        assert!(list.link < network.links().len());
    }
    // A cycle may be no whole number of nanoseconds, which is refused then.
    for place in [Place::BridgePort, Place::Interface] {
        let Ok(json) = qcw::write_json(&network, &lists, place) else { return };
        let xml = qcw::write_xml(&network, &lists, place).expect("what is written as JSON is written as XML");
        for text in [json, xml] {
            assert_eq!(qcw::read("again", text.as_bytes(), &network).expect("it was written here"), lists);
        }
    }
}

/// A table of streams: refused with a reason, or streams whose schedule replays without a violation.
pub fn stream_table(data: &[u8]) {
    let network = network();
    let streams = match tsnkit::read_streams("fuzz.csv", data, &network) {
        Ok(streams) => streams,
        Err(refusal) => return assert!(!refusal.to_string().is_empty(), "a refusal says why"),
    };
    if streams.len() > STREAMS_MAX {
        return;
    }
    let Ok(problem) = Problem::new(network, streams) else { return };
    if problem.hyperperiod() > CYCLE_MAX {
        return;
    }
    let options = Options { steps: STEPS_MAX, ..Options::default() };
    let Ok(schedule) = synthesize(&problem, options) else { return };
    assert_eq!(schedule.replay(SCHEDULED_CLASS), []);
}

/// A table of links: refused with a reason, or a network; and the tables of a schedule, which are refused or replayed.
pub fn schedule_table(data: &[u8]) {
    if let Ok(network) = tsnkit::read_network("fuzz.csv", data) {
        assert!(
            network.links().iter().all(|link| link.from < network.nodes().len() && link.to < network.nodes().len())
        );
    }
    let network = network();
    let streams = "stream,src,dst,size,period,deadline,jitter\n0,0,[3],500,400000,400000,0\n";
    let streams = tsnkit::read_streams("streams.csv", streams.as_bytes(), &network).expect("a stream");
    let offsets = "stream,frame,offset\n0,0,0\n";
    let routes = "stream,link\n0,\"(0, 2)\"\n0,\"(2, 3)\"\n";
    let files = [("gates.csv", data), ("offsets.csv", offsets.as_bytes()), ("routes.csv", routes.as_bytes())];
    if let Ok((told, lists)) = tsnkit::read_schedule(&network, &streams, files, None, 3) {
        // Whatever it says, it is replayed.
        let _ = replay(&network, &told, &lists, SCHEDULED_CLASS);
    }
}
