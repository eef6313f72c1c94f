//! Chores of the project, run as `cargo xtask <task>`. One file a task.
//!
//! This crate is no part of chronoseal: nothing depends on it, and of the workspace's crates it depends on `random-networks` alone,
//! which depends on nothing. So it builds in seconds and works while another crate does not compile. What it needs from the others
//! it asks their binary.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool for developers")]

mod adapters;
mod bench;
mod built;
mod ci;
mod contradictions;
mod corpus;
mod docs;
mod executables;
mod finding;
mod generate;
mod licences;
mod process;
mod rtl;
mod socketcan;
mod test;
mod tidy;
mod yang;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <task>

  tidy                 check the rules of the house that the compiler does not check
  generate [--check]   write generated documents; with --check only compare them
  docs [--quick] [--binary FILE] [PAGE…]
                       run the commands of README, guides and studies, compare what they print with what the page says, and check
                       every whole scenario; --quick leaves out blocks that are marked slow, --binary takes another program
                       than that of this tree
  licences             check the licences of every dependency
  bench star [ROUNDS]  the star on our simulator, ns-3 and nexosim, pinned and interleaved (default 5 rounds)
  bench star|group-key|fleet --before BINARY [--pairs PAIRS]
                       this tree's build of profile `dist` against an earlier one, in interleaved pairs of runs (default 31);
                       fails if it has become slower than the limit of the workload allows
  bench scenario FILE [--runs RUNS] [--goal FACTOR]
                       how many times faster than real time FILE is simulated on one processor (default 11 runs), and
                       how many events a second; fails below FACTOR
  contradictions N [--binary FILE] [--seed SEED] [--seconds LIMIT]
                       draws N scenarios and looks for one that holds on paper and fails in the simulator; shrinks what it
                       finds into target/contradictions
  corpus DIR [--kept FILE] [--binary FILE]
                       gives every file below DIR, checked-out repositories of others, to `chronoseal scenario from`: what is refused
                       has to be on the kept list (docs/dev/corpus.tsv), and nothing may crash or take too much memory or time; what
                       is imported has the rates that were seen, and is broken by nothing that was assumed
  adapters [NAME…]     robot middleware over our links: what each adapter has to keep (default: all that are installed)
  socketcan [FOLDER]   the live CAN bus in user-mode Linux, whose kernel has CAN, against candump; FOLDER is where the
                       Debian packages user-mode-linux, busybox-static and can-utils are unpacked, if not installed
  yang FOLDER          gate control lists that are written, against the public YANG modules in FOLDER, by Debian's yanglint
                       (libyang2-tools)
  rtl build            the simulator of the P-256 engine, by Verilator; prints where it is
  rtl test             builds it and tests it
  rtl calls            200 messages signed and verified, and the cycles that takes
  rtl area             cells of the engine in a 7-series FPGA, by Yosys
  lint                 format, tidy, licences, clippy, documentation, generated documents, quick commands of pages
  test                 all tests: of every crate, fuzz corpora, no-std link, and tshark where it is installed
  ci                   lint and test";

/// How a task ended, if it did not succeed.
#[derive(Debug)]
enum Failure {
    /// Something checked does not hold; it was printed.
    CheckFailed,
    /// The task could not run.
    CouldNotRun(String),
}

type TaskResult = Result<(), Failure>;

impl Failure {
    fn because(reason: impl Into<String>) -> Self {
        Self::CouldNotRun(reason.into())
    }
}

/// The folder of the workspace's manifest.
fn workspace_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("this crate lies in crates/xtask").to_path_buf()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = workspace_root();
    let result = match words[..] {
        ["tidy"] => tidy::run(&root),
        ["generate"] => generate::run(&root, generate::Mode::Write),
        ["generate", "--check"] => generate::run(&root, generate::Mode::Check),
        ["docs", ref words @ ..] => docs::run(&root, words),
        ["licences"] => licences::run(&root),
        ["bench", ref words @ ..] => bench::run(&root, words),
        ["contradictions", ref words @ ..] => contradictions::run(&root, words),
        ["corpus", ref words @ ..] => corpus::run(&root, words),
        ["adapters", ref names @ ..] => adapters::run(&root, names),
        ["socketcan"] => socketcan::run(&root, Path::new("/")),
        ["socketcan", packages] => socketcan::run(&root, Path::new(packages)),
        ["yang", modules] => yang::run(&root, Path::new(modules)),
        ["rtl", "build"] => rtl::build(&root).map(drop),
        ["rtl", "test"] => rtl::test(&root),
        ["rtl", "calls"] => rtl::calls(&root),
        ["rtl", "area"] => rtl::area(&root),
        ["lint"] => ci::lint(&root),
        ["test"] => test::run(&root, &[]),
        ["ci"] => ci::run(&root),
        _ => Err(Failure::because(USAGE)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::CheckFailed) => ExitCode::from(1),
        Err(Failure::CouldNotRun(reason)) => {
            eprintln!("{reason}");
            ExitCode::from(2)
        }
    }
}
