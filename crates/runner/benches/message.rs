//! What an agent of a live run does for a message of 1472 B besides the system calls of its socket, with the nodes of a scenario, over
//! the loopback interface; and what no agent can do without, in the same place: two readings of the clock, CRC-32, a copy, a record.
//!
//! `cargo bench -p chronoseal-runner --bench message`
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench with a main of its own")]

use std::hint::black_box;
use std::process::ExitCode;

use chronoseal_catalog::{BuildOptions, Prepared};
use chronoseal_core::{NodeId, StreamId};
use chronoseal_scenario::{NoFiles, load};
use chronoseal_testbed::cost::PinnedCore;
use chronoseal_testbed::{OwnCost, OwnStream, own_cost};
use chronoseal_wire::{udp, virtual_link};

const ROUNDS: usize = 9;
const MESSAGES: usize = 20_000;
const LEN: usize = 1472;

fn main() -> ExitCode {
    // `cargo test --benches` only wants to know that it starts.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let pinned = PinnedCore::new();
    println!("{LEN} B, {ROUNDS} rounds of {MESSAGES} messages on processor {:?}, medians [ns]:", pinned.cpu());
    let text = format!(
        "schema_version = 2\nname = \"cost\"\nduration = \"1s\"\n[segments.air.link]\n[[nodes]]\nname = \"a\"\n[[nodes]]\nname = \"b\"\n\
         [[streams]]\nname = \"image\"\nfrom = \"a\"\nto = [\"b\"]\nperiod = \"50us\"\nlength = \"{LEN}B\"\n"
    );
    let plan = load("cost.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|all| panic!("{}", all.render()));
    let prepared = Prepared::new(&plan).unwrap();
    let options = BuildOptions { whole_messages: true, ..BuildOptions::default() };
    let stream = OwnStream {
        number: 0,
        group: virtual_link::stream_ip(StreamId(0)),
        station: virtual_link::station_ip(NodeId(0)),
        port: udp::PORT_TEST_BED,
        len: LEN,
    };
    let mut frame = [0; LEN];
    let mut needed = |message: &[u8]| {
        black_box(crc32fast::hash(message));
        frame.copy_from_slice(message);
        black_box(&frame);
    };
    let (mut own, mut least): (Vec<[i64; 2]>, Vec<[i64; 2]>) = Default::default();
    for _ in 0..ROUNDS {
        let nodes = [0, 1].map(|node| prepared.node(NodeId(node), options).unwrap());
        match own_cost(stream, nodes, MESSAGES, &mut needed) {
            Ok(cost) => {
                let OwnCost { sender, receiver } = cost;
                println!("  sender {sender:?}, receiver {receiver:?}: own {:?}, least {:?}", cost.own(), cost.needed());
                own.push(cost.own());
                least.push(cost.needed());
            }
            Err(error) => {
                println!("{error}");
                return ExitCode::FAILURE;
            }
        }
    }
    for (place, name) in ["sender", "receiver"].into_iter().enumerate() {
        let [own, needed] = [&own, &least].map(|rounds| {
            let mut all: Vec<i64> = rounds.iter().map(|round| round[place]).collect();
            all.sort_unstable();
            format!("{} ns, {} to {}", all[ROUNDS / 2], all[0], all[ROUNDS - 1])
        });
        println!("{name}: its own {own}; what no agent can do without {needed}");
    }
    ExitCode::SUCCESS
}
