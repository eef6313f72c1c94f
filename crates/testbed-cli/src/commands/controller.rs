//! `chronoseal controller`

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use chronoseal_console::input::{self, ScenarioFile};
use chronoseal_console::{Format, PAGE, Printer, Status, Trouble, files, run_json};
use chronoseal_core::Duration;
use chronoseal_remote::{Agents, Identity, Options, control};
use chronoseal_report::{RunView, html, run_report};
use chronoseal_results::store;
use chronoseal_runner::{Run, overloads};
use chronoseal_testbed::{PTP_SOCKET, cost, interrupt};
use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal controller two.toml --identity bench --agents agents.toml
  chronoseal controller two.toml --identity bench --agents agents.toml --set duration=5s --out two-hosts

The table of agents has a line for each node of the scenario:

  robot = \"10.0.0.1:7600\"
  station = { control = \"10.0.0.2:7600\", agent = \"bench-2\", data = \"10.9.0.2\" }

where `agent` is the name it was enrolled with, if not that of the node, and `data` the address for messages, if not
its --data. The network between the agents is the real one: what the scenario says of rate, delay and loss is not
emulated. Ctrl-C ends a run early and keeps what there is.

Next: open the report it names; docs/guide/testbed.md.")]
pub(crate) struct Controller {
    #[command(flatten)]
    scenario: ScenarioFile,
    /// Folder that `chronoseal ca enroll … --controller` wrote
    #[arg(long, value_name = "FOLDER")]
    identity: PathBuf,
    /// Table of agents, TOML
    #[arg(long, value_name = "FILE")]
    agents: PathBuf,
    /// Seed of all chance, instead of the scenario's
    #[arg(long)]
    seed: Option<u64>,
    /// Show no one-way latency between two agents whose clocks may be further apart, such as 100us [default: a tenth of
    /// each stream's deadline]
    #[arg(long, value_name = "TIME")]
    clock_uncertainty: Option<Duration>,
    /// Socket of ptp4l on this host (uds_address), by which clocks are compared too where it answers here and at agents
    #[arg(long, value_name = "SOCKET", default_value = PTP_SOCKET)]
    ptp: PathBuf,
    /// Folder for the results [default: results/NAME-hosts-sSEED, with a number behind it if that exists]
    #[arg(long)]
    out: Option<PathBuf>,
    /// Store nothing
    #[arg(long, conflicts_with = "out")]
    no_store: bool,
    /// Do without SCHED_FIFO even where it is granted
    #[arg(long)]
    no_fifo: bool,
    /// How to print
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub(crate) fn run(options: &Controller, printer: &Printer) -> Result<Status, Trouble> {
    let stop = interrupt::flag();
    let seed: Vec<_> = options.seed.map(|seed| ("seed".to_owned(), seed.to_string())).into_iter().collect();
    let scenario = input::scenario(&options.scenario, &seed, options.format)?;
    let prepared = input::prepare(&scenario, &options.scenario.file, options.format)?;
    let identity = Identity::read(&options.identity)?;
    let asked = Options {
        agents: Agents::read(&options.agents)?,
        no_fifo: options.no_fifo,
        clock_uncertainty: options.clock_uncertainty,
        ptp: options.ptp.clone(),
    };
    // Before the run: nobody wants to hear after five minutes that there is no room for the results.
    let folder = place(options, &scenario.plan.name, scenario.plan.seed);
    folder.as_deref().map(files::claim).transpose()?;
    overloads(&scenario.plan).iter().for_each(|text| printer.note(&format!("warning: {text}")));
    let cpu_before = cost::process_cpu_ns();
    let run = control(&scenario, &prepared, &identity, &asked, &|line| printer.hint(line), stop).inspect_err(|_| {
        folder.as_deref().into_iter().for_each(files::release);
    })?;
    let cpu_s = (cost::process_cpu_ns() - cpu_before) as f64 * 1e-9;
    let status = show(&run, cpu_s, folder.as_deref(), options.format, printer)?;
    if stop.load(Ordering::Relaxed) {
        let kept = if folder.is_some() { "kept" } else { "shown" };
        printer.note(&format!("interrupted: what there was is {kept} and marked as such"));
        return Ok(status.max(Status::Unproven));
    }
    Ok(status)
}

fn place(options: &Controller, name: &str, seed: u64) -> Option<PathBuf> {
    let fresh = || files::fresh_folder(&format!("{name}-hosts-s{seed}"));
    (!options.no_store).then(|| options.out.clone().unwrap_or_else(fresh))
}

fn show(run: &Run, cpu_s: f64, folder: Option<&Path>, format: Format, printer: &Printer) -> Result<Status, Trouble> {
    let Run { meta, summary, rows } = run;
    let document = run_report(meta, summary, rows);
    if let Some(folder) = folder {
        store::write(folder, meta, summary, rows)?;
        files::write(&folder.join(PAGE), &html(&document))?;
    }
    match format {
        Format::Json => {
            let run = run_json(&RunView { meta, summary, rows }, &document, cpu_s, folder);
            printer.data(&serde_json::to_string_pretty(&run)?);
        }
        _ => printer.document(&document, format),
    }
    if let Some(folder) = folder {
        let page = folder.join(PAGE);
        printer.hint(&format!("results: {}  report: {}  seed: {}", folder.display(), page.display(), meta.seed));
    }
    Ok(document.verdict.word.status())
}
