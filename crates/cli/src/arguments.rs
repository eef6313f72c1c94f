//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use chronoseal_console::Format;
use chronoseal_console::input::ScenarioFile;
use chronoseal_console::study::StudyRun;
use chronoseal_testbed::ClockStep;

use crate::commands::run::WindowArgument;

/// What security costs a real-time network, and what it stops: bounded on paper, simulated, and measured on real
/// sockets, from one scenario file.
#[derive(Parser, Debug)]
#[command(
    name = "chronoseal",
    version,
    max_term_width = 100,
    after_help = "\
First steps:
  chronoseal check scenarios/first.toml                does every deadline hold on paper?
  chronoseal run scenarios/first.toml                  and in the simulator?
  chronoseal run scenarios/first.toml --engine live    and with real frames between processes?
  chronoseal study run tte-hmac                        a published work, reproduced

Exit status: 0 all that was checked holds, 1 something failed, is broken or worse, 2 could not run,
3 nothing failed, but something is not proven or not checked (0 with --allow-unchecked)."
)]
pub(crate) struct Arguments {
    /// Say nothing on standard error but errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Exit with 0 instead of 3 where nothing failed, but something is not proven or not checked
    #[arg(long, global = true)]
    pub(crate) allow_unchecked: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Validate a scenario, bound it, and weigh its candidate protections
    Check(Check),
    /// Run a scenario, simulated or live, and write its results and report
    Run(Run),
    /// List and run reproductions of published works
    Study(Study),
    /// Make the report of a stored run again
    Report(Report),
    /// Compare two sets of runs, run by run
    Compare(Compare),
    /// Find the highest rate of a stream that the network carries without loss
    Saturate(crate::commands::saturate::Saturate),
    /// Make a scenario from a table of streams or a capture, or bring an old one up to date
    Scenario(Scenario),
    /// Make and replay windows and gate control lists for streams on a network of bridges
    Schedule(crate::commands::schedule::Schedule),
    /// Bound networks of other tools, and write a scenario's for them
    Bounds(crate::commands::bounds::Bounds),
    /// Measure what authentication costs on this processor
    Bench(Bench),
    /// Run robot middleware of others, plain and secured, over an emulated network
    Middleware(crate::commands::middleware::Middleware),
    /// Look at V2X certificates, messages, trust lists and captures
    V2x(crate::commands::v2x::V2x),
    /// Run a scenario over several hosts, on each of which an agent waits (by the program chronoseal-testbed)
    #[command(disable_help_flag = true)]
    Controller(Words),
    /// Make the certificates of agents and controllers (by the program chronoseal-testbed)
    #[command(disable_help_flag = true)]
    Ca(Words),
    /// Serve a V2X station's security services (by the program chronoseal-v2x)
    #[command(disable_help_flag = true)]
    Vss(Words),
    /// Run authorities for V2X stations, or be a station at those of any vendor (by the program chronoseal-v2x)
    #[command(disable_help_flag = true)]
    Pki(Words),
    /// Say what this host can do
    Doctor(Doctor),
    /// Print the JSON Schema of scenario files, or of what `check` writes
    #[command(after_help = "\
Examples:
  chronoseal schema > scenario.schema.json     then point your editor at it
  chronoseal schema check                      the shape of `check --format json`")]
    Schema(Schema),
    /// Take part in runs over several hosts (by the program chronoseal-testbed)
    ///
    /// With nothing behind it: one end system of a live run, which the program starts by itself.
    #[command(disable_help_flag = true)]
    Agent(Words),
}

#[derive(Args, Debug)]
pub(crate) struct Schema {
    /// Of what
    #[arg(value_enum, default_value = "scenario")]
    pub(crate) of: SchemaOf,
}

/// What a schema describes.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SchemaOf {
    /// Scenario files
    Scenario,
    /// What `check --format json` writes
    Check,
}

/// What another program reads.
#[derive(Args, Debug)]
pub(crate) struct Words {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    pub(crate) words: Vec<std::ffi::OsString>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal check scenarios/brake-by-wire.toml
  chronoseal check scenarios/brake-by-wire.toml --set segments.network.ethernet.rate=10Mbit/s

Exit status: 0 if the word is HELD, 1 if it is BROKEN, 3 if it is NOT PROVEN or NOT CHECKED: read why, and simulate.

Next: `chronoseal run FILE`. The file format is in docs/guide/scenario-file.md.")]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) scenario: ScenarioFile,
    /// How to print
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

/// What carries the frames of a run.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EngineName {
    /// Virtual time: deterministic, needs no privileges
    Sim,
    /// The wall clock: a process and a network namespace for each node, real frames
    Live,
    /// Simulated and then live, with one report of both; the results are in the folders `sim` and `live` of --out
    Both,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal run scenarios/first.toml
  chronoseal run scenarios/first.toml --engine live --set duration=5s
  chronoseal run scenarios/first.toml --engine both --out both
  chronoseal run scenarios/forger.toml --engine sim --seed 7 --format json
  chronoseal run scenarios/first.toml --repeat 10 --out before
  chronoseal run scenarios/first.toml --trace first.pftrace --trace-window 100ms..120ms

Ctrl-C ends a run early and keeps what there is. Next: open the report it names, or
`chronoseal compare`. What the host allows for live runs: `chronoseal doctor`.")]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) scenario: ScenarioFile,
    /// What carries the frames
    #[arg(long, value_enum, default_value = "sim")]
    pub(crate) engine: EngineName,
    /// Seed of all chance, instead of the scenario's
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// How often to run; simulated runs count the seed up
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeat: u32,
    /// Folder for the results [default: results/NAME-ENGINE-sSEED, with a number behind it if that exists]
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// Store nothing
    #[arg(long, conflicts_with = "out")]
    pub(crate) no_store: bool,
    /// Simulated: count frames and keep nothing of single ones, for speed and for very long runs
    ///
    /// No deadline is judged, so it ends with status 3, not checked. Latencies are those on the wire, from the first bit at the
    /// sender to the last bit at the receiver, of streams that cross one segment; those of other streams are left out.
    #[arg(long, conflicts_with_all = ["out", "capture"])]
    pub(crate) count: bool,
    /// Keep every frame's bytes in capture.pcapng
    #[arg(long)]
    pub(crate) capture: bool,
    /// Simulated: draw the run over time, as a trace for the viewer of the Perfetto project
    ///
    /// Tracks for each station, port, queue, gate and processor; arrows follow each frame over its hops.
    #[arg(long, value_name = "FILE", conflicts_with = "count")]
    pub(crate) trace: Option<PathBuf>,
    /// Draw only this part of the run, such as 100ms..120ms
    #[arg(long, value_name = "FROM..TO", requires = "trace")]
    pub(crate) trace_window: Option<WindowArgument>,
    /// Live: do without SCHED_FIFO even where it is granted
    #[arg(long)]
    pub(crate) no_fifo: bool,
    /// Live: do without /dev/net/tun even where it can be opened, as a run does where it cannot; slower, and for tests
    #[arg(long, hide = true)]
    pub(crate) no_tun: bool,
    /// Live: run the programs that the scenario's nodes have
    ///
    /// Each in a network of its own, as whoever runs this. Look at a scenario from elsewhere before.
    #[arg(long)]
    pub(crate) programs: bool,
    /// Live: folder of the adapters of robot middleware, for streams that go `over` one
    #[arg(long, value_name = "FOLDER", default_value = crate::commands::middleware::ADAPTERS)]
    pub(crate) adapters: PathBuf,
    /// Live, CAN: use this CAN interface of the kernel, such as vcan0, instead of our own bus
    #[arg(long, value_name = "INTERFACE")]
    pub(crate) can_interface: Option<String>,
    /// Live, CAN: let a python-can client join our bus at this port of 239.74.163.2; may be repeated
    #[arg(long, value_name = "PORT", conflicts_with = "can_interface")]
    pub(crate) can_guest: Vec<u16>,
    /// Live: let the clock of a node jump, such as robot=2s+3ms: so long after the start by so much; may be repeated
    ///
    /// It is the clock that the node goes by. Times in the results are those of the host, which nobody sets, so that latencies stay right. A
    /// clock that jumps back, as in robot=2s+-3ms, stands still until it has caught up.
    #[arg(long, value_name = "NODE=AFTER+BY", value_parser = clock_step)]
    pub(crate) clock_step: Vec<(String, ClockStep)>,
    /// Live: on which processors emulator and stations run
    #[arg(long, value_enum)]
    pub(crate) placement: Option<PlacementName>,
    /// How to print
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

/// A node, and how its clock jumps.
fn clock_step(text: &str) -> Result<(String, ClockStep), String> {
    let (node, step) = text.split_once('=').ok_or("write NODE=AFTER+BY, for example robot=2s+3ms")?;
    Ok((node.trim().to_owned(), step.parse()?))
}

/// Where a live run's threads are kept.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PlacementName {
    /// All on one processor: the shortest wake-ups, but stations and emulator wait for each other
    One,
    /// The emulator on a processor of its own
    Apart,
    /// Wherever the kernel likes
    Free,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal study list
  chronoseal study run tte-hmac")]
pub(crate) struct Study {
    #[command(subcommand)]
    pub(crate) action: StudyAction,
}

#[derive(Subcommand, Debug)]
pub(crate) enum StudyAction {
    /// List the studies
    #[command(after_help = "\
Next:
  chronoseal study run tte-hmac")]
    List,
    /// Reproduce one: printed, recomputed, simulated, measured, in one report
    Run(StudyRun),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal report results/first-sim-s1
  chronoseal report results/first-sim-s1 --format csv --quiet

A folder of `run --engine both` gives the report of both runs.")]
pub(crate) struct Report {
    /// Folder of a stored run
    pub(crate) run: PathBuf,
    /// Where to write the page [default: report.html in the folder]
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Runs are compared, not packets: in pairs where the seeds of both sides match. Verdicts, accepted forgeries and bounds are \
compared with any number of runs; losses, latencies, the time until keys are there, load and processor time need at least 10 of each side.

Examples:
  chronoseal run scenarios/first.toml --repeat 10 --out before
  chronoseal run scenarios/first.toml --repeat 10 --out after --set duration=2s
  chronoseal compare before after

Exit status: 0 if the runs of the second side hold and nothing is worse; 1 if something is worse or one of them failed; 3 if \
neither is so but not everything was checked, as with fewer than 10 runs.")]
pub(crate) struct Compare {
    /// Folder that holds stored runs, or one run
    pub(crate) a: PathBuf,
    /// Folder to compare with it
    pub(crate) b: PathBuf,
    /// How to print
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal scenario from streams.csv --out mine.toml
  chronoseal scenario upgrade old.toml")]
pub(crate) struct Scenario {
    #[command(subcommand)]
    pub(crate) action: ScenarioAction,
}

#[derive(Subcommand, Debug)]
pub(crate) enum ScenarioAction {
    /// From a CSV table of streams, a pcap/pcapng capture, a CAN log, an ARXML, or one or several DBC databases
    From(ScenarioFrom),
    /// Rewrite a scenario of an earlier version of the format in the current one, with its comments
    Upgrade(ScenarioUpgrade),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal scenario upgrade mine.toml
  chronoseal scenario upgrade mine.toml --out new.toml

Comments and the order of everything stay. A scenario of the current version is left as it is.
Next: `chronoseal check mine.toml`.")]
pub(crate) struct ScenarioUpgrade {
    /// The scenario, TOML or JSON
    pub(crate) file: PathBuf,
    /// Where to write the new one, `-` for standard output [default: in place of the old one]
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal scenario from streams.csv --out mine.toml
  chronoseal scenario from capture.pcapng --out mine.toml
  chronoseal scenario from candump.log --out bus.toml
  chronoseal scenario from system.arxml --out car.toml
  chronoseal scenario from front.dbc rear.dbc --routes routes.csv --out vehicle.toml

Next: `chronoseal check mine.toml`. The tables' columns are in docs/guide/scenario-file.md.")]
pub(crate) struct ScenarioFrom {
    /// The table, capture, log, database or system description; with `--routes` a database for each bus
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// A CSV with the messages that gateways carry from bus to bus; a bus has the name of its database's file
    #[arg(long, value_name = "CSV")]
    pub(crate) routes: Option<PathBuf>,
    /// Where to write the scenario, `-` for standard output [default: standard output]
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal bench
  chronoseal bench --platform >> mine.toml     then write platform = \"this-host\" at a node")]
pub(crate) struct Bench {
    /// Calls for each hash, side and length
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) calls: u32,
    /// Print a platform to put into a scenario instead
    #[arg(long)]
    pub(crate) platform: bool,
    /// How to print
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal doctor
  chronoseal doctor --format json

Exit status 1 if live runs are refused; simulated ones need nothing.")]
pub(crate) struct Doctor {
    /// How to print
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
}
