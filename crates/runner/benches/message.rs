//! What an agent of a live run does for a message of 1472 B besides the system calls of its socket, with the nodes of a scenario, over
//! the loopback interface.
//!
//! `cargo bench -p chronoseal-runner --bench message`
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench with a main of its own")]

use std::process::ExitCode;

use chronoseal_catalog::{BuildOptions, Prepared};
use chronoseal_core::{NodeId, StreamId};
use chronoseal_scenario::{NoFiles, load};
use chronoseal_testbed::cost::PinnedCore;
use chronoseal_testbed::{OwnStream, own_cost};
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
    let mut own: Vec<[i64; 2]> = Vec::new();
    for _ in 0..ROUNDS {
        let nodes = [0, 1].map(|node| prepared.node(NodeId(node), options).unwrap());
        match own_cost(stream, nodes, MESSAGES) {
            Ok(cost) => {
                println!("  sender {:?}, receiver {:?}: own {:?}", cost.sender, cost.receiver, cost.own());
                own.push(cost.own());
            }
            Err(error) => {
                println!("{error}");
                return ExitCode::FAILURE;
            }
        }
    }
    for (place, name) in ["sender", "receiver"].into_iter().enumerate() {
        let mut all: Vec<i64> = own.iter().map(|own| own[place]).collect();
        all.sort_unstable();
        println!("{name}: {} ns of its own, {} to {}", all[ROUNDS / 2], all[0], all[ROUNDS - 1]);
    }
    ExitCode::SUCCESS
}
