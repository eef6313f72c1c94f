//! `chronoseal schedule`

mod altered;
mod export;
mod from_scenario;

use chronoseal_console::{Printer, Status, Trouble, files};
use std::path::{Path, PathBuf};

use chronoseal_core::Duration;
use chronoseal_recordings::content::Purpose;
use chronoseal_schedule::exchange::qcw::{self, Place};
use chronoseal_schedule::exchange::taprio::RECOMMENDED;
use chronoseal_schedule::exchange::{scenario, tsnkit};
use chronoseal_schedule::gates::{GateList, SCHEDULED_CLASS};
use chronoseal_schedule::network::WIRE_OVERHEAD;
use chronoseal_schedule::replay::{PortLists, Told, Violation, replay};
use chronoseal_schedule::{Fault, Network, Options, Problem, Schedule as Plan, Security, Stream, synthesize};
use clap::{Args, Subcommand, ValueEnum};

use super::foreign;
use chronoseal_console::input::path_and_value;

/// The queue of scheduled frames in tsnkit's tables, which its own methods use.
const TSNKIT_QUEUE: u8 = 0;
/// Cycles that a schedule is replayed for.
const CYCLES: i64 = 3;
/// The most that a processor may take for a frame: beyond it, no period is left.
const PROCESSOR_TIME_MAX: Duration = Duration::from_s(1);
/// Violations that are shown one by one.
const SHOWN_MAX: usize = 20;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal schedule make mine.toml --out scheduled
  chronoseal schedule add scheduled/scenario.toml --stream horn --out with-horn
  chronoseal schedule make --network topo.csv --streams task.csv --out schedule
  chronoseal schedule make --network topo.csv --streams task.csv --tag 16 --gates yang-xml --out secured
  chronoseal schedule replay --network topo.csv --streams task.csv --from schedule
  chronoseal schedule export scheduled/scenario.toml --gates taprio --out lines

The tables are those of tsnkit; docs/guide/schedules.md has their columns.")]
pub(crate) struct Schedule {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Make windows and gate control lists for streams on a network of bridges, and replay them
    Make(Make),
    /// Put one more stream of a scenario into the schedule that the scenario has, and leave all others where they are
    Add(Alter),
    /// Take a stream out of a scenario and of the schedule that it has, and leave all others where they are
    Remove(Alter),
    /// Replay a schedule that any tool made, and say what goes wrong
    Replay(Replay),
    /// Write the gates of a scenario for Linux (tc taprio) or as IEEE 802.1Qcw has them
    Export(Export),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal schedule make mine.toml --out scheduled
  chronoseal schedule export scheduled/scenario.toml --gates taprio --out lines
  chronoseal schedule export scheduled/scenario.toml --gates yang-json --out modules")]
struct Export {
    /// Scenario whose ports have gates, written by hand or by `make`
    scenario: PathBuf,
    /// Set one value of the scenario, as in `run`
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = path_and_value)]
    sets: Vec<(String, String)>,
    /// The segment of the scenario, if it has several
    #[arg(long, value_name = "NAME")]
    segment: Option<String>,
    /// How to write the gate control lists: yang-json or yang-xml for the modules of IEEE 802.1Qcw, taprio for `tc` of Linux
    #[arg(long, value_enum, hide_possible_values = true)]
    gates: Lists,
    /// Folder for them
    #[arg(long)]
    out: PathBuf,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal schedule add scheduled/scenario.toml --stream horn --out with-horn
  chronoseal schedule remove scheduled/scenario.toml --stream horn --out without-horn

Ends with 1 if the stream finds no place among the others.")]
struct Alter {
    /// Scenario whose streams of one traffic class have offsets and its ports the gates of their schedule, as `make` writes them
    scenario: PathBuf,
    /// The stream; to be added, it has an entry of its own in the scenario
    #[arg(long, value_name = "NAME")]
    stream: String,
    /// The segment of the scenario that is scheduled, if it has several
    #[arg(long, value_name = "NAME")]
    segment: Option<String>,
    /// The traffic class that is scheduled
    #[arg(long, value_name = "CLASS", default_value_t = SCHEDULED_CLASS, value_parser = clap::value_parser!(u8).range(0..8))]
    class: u8,
    /// Folder for the scenario
    #[arg(long)]
    out: PathBuf,
}

#[derive(Args, Debug)]
struct Inputs {
    /// The links, a CSV with the columns link,q_num,rate,t_proc,t_prop
    #[arg(long, value_name = "CSV")]
    network: Option<PathBuf>,
    /// The streams, a CSV with the columns stream,src,dst,size,period,deadline,jitter
    #[arg(long, value_name = "CSV")]
    streams: Option<PathBuf>,
    /// Bytes that authentication adds to every frame: a tag with its freshness value, or header and check value of MACsec
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    tag: u32,
    /// Time in every bridge, where each hop is protected for itself, as by MACsec
    #[arg(long, value_name = "TIME", default_value = "0s")]
    per_hop: Duration,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal schedule make mine.toml --class 7 --out scheduled
  chronoseal schedule make --network topo.csv --streams task.csv --out schedule
  chronoseal schedule make --network topo.csv --streams task.csv --tag 16 --seal 4us --open 6us --out secured
  chronoseal schedule make --network topo.csv --streams task.csv --gates scenario --out schedule

Ends with 0 if every stream has its windows and the replay finds nothing, and with 1 if not.")]
struct Make {
    /// Scenario whose streams of one traffic class get offsets, and its ports gates, instead of tables
    #[arg(conflicts_with_all = ["network", "streams", "tag", "per_hop", "seal", "open", "gates"])]
    scenario: Option<PathBuf>,
    /// Set one value of the scenario, as in `run`
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = path_and_value, requires = "scenario")]
    sets: Vec<(String, String)>,
    /// The segment of the scenario that is scheduled, if it has several
    #[arg(long, value_name = "NAME", requires = "scenario")]
    segment: Option<String>,
    /// The traffic class of the scenario that is scheduled
    #[arg(long, value_name = "CLASS", default_value_t = SCHEDULED_CLASS, value_parser = clap::value_parser!(u8).range(0..8), requires = "scenario")]
    class: u8,
    #[command(flatten)]
    inputs: Inputs,
    /// Processor time of the talker for a frame, before it is sent, such as 4us
    #[arg(long, value_name = "TIME", default_value = "0s")]
    seal: Duration,
    /// Processor time of each listener for a frame, after it has arrived
    #[arg(long, value_name = "TIME", default_value = "0s")]
    open: Duration,
    /// Entries that the gate control list of a port holds [default: no limit]
    #[arg(long, value_name = "COUNT")]
    gate_entries: Option<usize>,
    /// Routes that are tried for a stream
    #[arg(long, value_name = "COUNT", default_value_t = Options::default().routes)]
    routes: usize,
    /// How often the search may ask whether a link is free
    #[arg(long, value_name = "COUNT", default_value_t = Options::default().steps)]
    steps: u64,
    /// Seed of what the search chooses by chance
    #[arg(long, default_value_t = Options::default().seed)]
    seed: u64,
    /// How to write the gate control lists, besides tsnkit's tables: yang-json or yang-xml for the modules of IEEE 802.1Qcw, taprio for
    /// `tc` of Linux; or scenario for one to run, which is written instead of the tables
    #[arg(long, value_enum, hide_possible_values = true)]
    gates: Option<Gates>,
    /// Folder for GCL.csv, OFFSET.csv, ROUTE.csv, QUEUE.csv, DELAY.csv and the gate control lists
    #[arg(long)]
    out: PathBuf,
}

/// A form of gate control lists that other programs read.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum Lists {
    /// JSON of the YANG modules of IEEE 802.1Qcw
    YangJson,
    /// XML of the YANG modules of IEEE 802.1Qcw
    YangXml,
    /// A script with a line of `tc` for each port, for Linux
    Taprio,
}

/// A form of gate control lists.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum Gates {
    /// JSON of the YANG modules of IEEE 802.1Qcw
    YangJson,
    /// XML of the YANG modules of IEEE 802.1Qcw
    YangXml,
    /// A script with a line of `tc` for each port, for Linux
    Taprio,
    /// A scenario with the network, the streams in a traffic class of IEEE 802.1Q, and the gates of all ports
    Scenario,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal schedule replay --network topo.csv --streams task.csv --from schedule")]
struct Replay {
    #[command(flatten)]
    inputs: Inputs,
    /// Folder with GCL.csv, OFFSET.csv, ROUTE.csv and QUEUE.csv, or the beginning of their names such as `results/1-`
    #[arg(long, value_name = "PATH")]
    from: PathBuf,
    /// Gate control lists of the YANG modules of IEEE 802.1Qcw, JSON or XML, instead of GCL.csv
    #[arg(long, value_name = "FILE")]
    gates: Option<PathBuf>,
}

pub(crate) fn run(options: &Schedule, printer: &Printer) -> Result<Status, Trouble> {
    match &options.action {
        Action::Make(options) => make(options, printer),
        Action::Add(options) => altered::add(options, printer),
        Action::Remove(options) => altered::remove(options, printer),
        Action::Replay(options) => replay_files(options, printer),
        Action::Export(options) => export::run(options, printer),
    }
}

fn read(inputs: &Inputs) -> Result<(Network, Vec<Stream>), Trouble> {
    let (Some(network), Some(streams)) = (&inputs.network, &inputs.streams) else {
        return Err(Trouble(
            "error: there is nothing to schedule\nhelp: give --network and --streams with tables of tsnkit, or to `make` a scenario".into(),
        ));
    };
    let network = tsnkit::read_network(&network.display().to_string(), &foreign::read(network, Purpose::Network)?)?;
    let (name, bytes) = (streams.display().to_string(), foreign::read(streams, Purpose::Streams)?);
    let mut streams = tsnkit::read_streams(&name, &bytes, &network)?;
    let per_hop = processor_time("--per-hop", inputs.per_hop)?;
    let security = Security { bytes: inputs.tag, per_hop, ..Security::default() };
    streams.iter_mut().for_each(|stream| stream.security = security);
    Ok((network, streams))
}

fn processor_time(name: &str, time: Duration) -> Result<Duration, Trouble> {
    if !time.is_negative() && time <= PROCESSOR_TIME_MAX {
        return Ok(time);
    }
    Err(Trouble(format!("error: {name} is {time} and has to be from 0s to {PROCESSOR_TIME_MAX}")))
}

fn make(options: &Make, printer: &Printer) -> Result<Status, Trouble> {
    if let Some(file) = &options.scenario {
        return from_scenario::make(options, file, printer);
    }
    let (mut network, mut streams) = read(&options.inputs)?;
    let is_scenario = matches!(options.gates, Some(Gates::Scenario));
    if is_scenario && streams.iter().all(|stream| stream.len > WIRE_OVERHEAD) {
        // A size of the tables is all that a frame takes on the wire, and of that Ethernet counts a part by itself.
        streams.iter_mut().for_each(|stream| stream.len -= WIRE_OVERHEAD);
        network.overhead = WIRE_OVERHEAD;
    }
    if let Some(entries_max) = options.gate_entries {
        network = network.with_gate_entries(entries_max);
    }
    let (seal, open) = (processor_time("--seal", options.seal)?, processor_time("--open", options.open)?);
    for stream in &mut streams {
        stream.security = Security { seal, open, ..stream.security };
    }
    let schedule = match synthesized(network, streams, options, printer)? {
        Ok(schedule) => schedule,
        Err(status) => return Ok(status),
    };
    let lists = schedule.gates(SCHEDULED_CLASS);
    let mut files = Vec::new();
    if !is_scenario {
        let tables = tsnkit::write(&schedule, TSNKIT_QUEUE)?;
        files.extend([
            ("GCL.csv", tables.gates),
            ("OFFSET.csv", tables.offsets),
            ("ROUTE.csv", tables.routes),
            ("QUEUE.csv", tables.queues),
            ("DELAY.csv", tables.delays),
        ]);
    }
    let form = match options.gates {
        None => None,
        Some(Gates::YangJson) => Some(Lists::YangJson),
        Some(Gates::YangXml) => Some(Lists::YangXml),
        Some(Gates::Taprio) => Some(Lists::Taprio),
        Some(Gates::Scenario) => {
            files.push(("scenario.toml", scenario::write(&schedule, SCHEDULED_CLASS)?));
            None
        }
    };
    if let Some(form) = form {
        let port = |list| export::Port { list, place: Place::BridgePort, class_of: RECOMMENDED };
        files.push(export::file(form, schedule.network(), &lists.iter().map(port).collect::<Vec<_>>())?);
    }
    files::claim(&options.out)?;
    for (name, text) in files {
        files::write(&options.out.join(name), &text)?;
    }
    made(&schedule, &lists, &options.out, printer);
    printer.hint(&format!("seed: {}", options.seed));
    Ok(Status::Held)
}

/// A schedule that was replayed; or how the command ends if there is none, which was reported.
fn synthesized(
    network: Network,
    streams: Vec<Stream>,
    options: &Make,
    printer: &Printer,
) -> Result<Result<Plan, Status>, Trouble> {
    let problem = Problem::new(network, streams).map_err(|faults| troubles(&faults))?;
    let search = Options { routes: options.routes, steps: options.steps, seed: options.seed };
    let schedule = match synthesize(&problem, search) {
        Ok(schedule) => schedule,
        Err(infeasible) => {
            printer.note(&format!("INFEASIBLE\n{infeasible}"));
            return Ok(Err(Status::Failed));
        }
    };
    let violations = schedule.replay(SCHEDULED_CLASS);
    Ok(if violations.is_empty() { Ok(schedule) } else { Err(report(&violations, printer)) })
}

/// Says what was made.
fn made(schedule: &Plan, lists: &[GateList], out: &Path, printer: &Printer) {
    printer.data(&format!(
        "{} streams on {} ports, a cycle of {}, at most {} entries in a gate control list; replayed without a violation\n",
        schedule.streams().count(),
        lists.len(),
        schedule.cycle(),
        lists.iter().map(|list| list.entries.len()).max().unwrap_or(0),
    ));
    printer.hint(&format!("schedule: {}", out.display()));
}

fn replay_files(options: &Replay, printer: &Printer) -> Result<Status, Trouble> {
    let (network, streams) = read(&options.inputs)?;
    let path = |name: &str| {
        if options.from.is_dir() {
            options.from.join(name)
        } else {
            PathBuf::from(format!("{}{name}", options.from.display()))
        }
    };
    let file = |path: &Path| Ok::<_, Trouble>((path.display().to_string(), files::read(path)?));
    let [gates, offsets, routes] = [file(&path("GCL.csv"))?, file(&path("OFFSET.csv"))?, file(&path("ROUTE.csv"))?];
    let files = [&gates, &offsets, &routes].map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    let queues = path("QUEUE.csv");
    let queues = queues.exists().then(|| file(&queues)).transpose()?;
    let queues = queues.as_ref().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    let (mut told, mut lists): (Vec<Told>, PortLists) =
        tsnkit::read_schedule(&network, &streams, files, queues, CYCLES)?;
    if let Some(path) = &options.gates {
        let (name, bytes) = (path.display().to_string(), foreign::read(path, Purpose::Gates)?);
        let read = qcw::read(&name, &bytes, &network)?.into_iter();
        lists = read.map(|list| (list.link, vec![(Duration::ZERO, list)])).collect();
        // They are lists for one traffic class, whatever the queues of tsnkit's tables are called.
        told.iter_mut().for_each(|told| told.queues.clear());
    }
    let violations = replay(&network, &told, &lists, SCHEDULED_CLASS);
    if violations.is_empty() {
        let frames: usize = told.iter().map(|told| told.sends.len()).sum();
        printer.data(&format!("{frames} frames of {} streams replayed without a violation\n", streams.len()));
        return Ok(Status::Held);
    }
    Ok(report(&violations, printer))
}

fn report(violations: &[Violation], printer: &Printer) -> Status {
    printer.note(&format!("BROKEN\n{} violations in the replay", violations.len()));
    violations.iter().take(SHOWN_MAX).for_each(|violation| printer.note(&format!("  {violation}")));
    if violations.len() > SHOWN_MAX {
        printer.note(&format!("  and {} more", violations.len() - SHOWN_MAX));
    }
    Status::Failed
}

fn troubles(faults: &[Fault]) -> Trouble {
    let lines: Vec<String> = faults.iter().map(|fault| format!("error: {fault}")).collect();
    Trouble(lines.join("\n"))
}
