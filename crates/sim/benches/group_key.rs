//! How long the simulator takes for 32 members to agree on a group key over CAN FD, with every share, signature and
//! cipher really computed. The goal is less than 50 ms.
//!
//! One untimed run first, which must end with a key at every member. Prints processor time of the thread, so that others
//! on the machine matter less.

#![allow(clippy::print_stdout, reason = "a bench prints what it saw")]

use chronoseal_catalog::Prepared;
use chronoseal_core::statistics::median;
use chronoseal_core::{Event, EventKind, NodeId, SimTime};
use chronoseal_plan::Plan;
use chronoseal_scenario::{NoFiles, load};
use chronoseal_sim::{FrameContext, Observer};
use nix::time::{ClockId, clock_gettime};

const MEMBERS: usize = 32;
const RUNS: usize = 31;

/// What shows that the exchange took place.
#[derive(Default)]
struct Outcome {
    frames: usize,
    exchanges_done: usize,
    keys_installed: usize,
    keys_refused: usize,
}

impl Observer for Outcome {
    fn event(&mut self, _: SimTime, _: NodeId, event: &Event, _: Option<FrameContext<'_>>) {
        match event.kind {
            EventKind::ExchangeDone => self.exchanges_done += 1,
            EventKind::KeyInstalled => self.keys_installed += 1,
            EventKind::KeyRefused(_) => self.keys_refused += 1,
            _ => {}
        }
    }

    fn transmit(&mut self, _: SimTime, _: NodeId, _: FrameContext<'_>) {
        self.frames += 1;
    }
}

fn plan(scheme: &str, suite: &str, profile: &str) -> Plan {
    let mut text = format!(
        "schema_version = 2\nname = \"group\"\nduration = \"20s\"\n\n\
         [segments.bus.can]\nbit_rate = \"1Mbit/s\"\ndata_bit_rate = \"2Mbit/s\"\n\n\
         [keys.bus.group]\norchestrator = \"soecu\"\nsuite = \"{suite}\"\nscheme = \"{scheme}\"\nprofile = \"{profile}\"\n\
         start = \"0s\"\n\n[[platforms]]\nname = \"tc297\"\nbuiltin = \"tc297\"\ncosts = [{{ operation = \"cmac-aes-128\", base = \"0s\" }}]\n"
    );
    let members = (1..=MEMBERS).map(|number| format!("ecu{number}"));
    for name in std::iter::once("soecu".to_owned()).chain(members) {
        text += &format!("\n[[nodes]]\nname = \"{name}\"\nplatform = \"tc297\"\nclock = \"ideal\"\n");
    }
    load("group", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|problems| panic!("{}", problems.render()))
}

/// Processor time of this thread `[ms]`.
fn processor_time_ms() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("the clock can be read");
    time.tv_sec() as f64 * 1e3 + time.tv_nsec() as f64 / 1e6
}

/// One run, and its processor time `[ms]`.
fn run(plan: &Plan) -> (Outcome, f64) {
    let start = processor_time_ms();
    let prepared = Prepared::new(plan).expect("a bus needs no schedule");
    let finished =
        chronoseal_sim::run(&prepared, Outcome::default(), &mut |_| true).expect("every station can be made");
    let elapsed = processor_time_ms() - start;
    assert!(finished.is_whole, "nobody stops it");
    (finished.observer, elapsed)
}

fn main() {
    println!("| suite | scheme | profile | frames | exchanges | median ms | fastest ms |");
    println!("|---|---|---|---|---|---|---|");
    for suite in ["fourq", "p-256"] {
        for scheme in ["full-tree", "without-orchestrator", "symmetric"] {
            for profile in ["as-published", "hardened"] {
                let plan = plan(scheme, suite, profile);
                let (outcome, _) = run(&plan);
                assert!(outcome.keys_installed >= MEMBERS && outcome.keys_refused == 0, "every member has the key");
                assert!(outcome.exchanges_done >= MEMBERS, "members computed");
                let mut times: Vec<f64> = (0..RUNS).map(|_| run(&plan).1).collect();
                times.sort_by(f64::total_cmp);
                let (frames, exchanges) = (outcome.frames, outcome.exchanges_done);
                let (median, fastest) = (median(&times).unwrap_or(f64::NAN), times[0]);
                println!("| {suite} | {scheme} | {profile} | {frames} | {exchanges} | {median:.1} | {fastest:.1} |");
            }
        }
    }
}
