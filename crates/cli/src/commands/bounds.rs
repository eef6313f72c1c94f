//! `chronoseal bounds`

use chronoseal_console::{Format, Printer, Status, Trouble, files};
use std::collections::BTreeMap;
use std::path::PathBuf;

use chronoseal_analysis::calculus::saihu::{OtherBounds, SaihuNetwork, read_network, read_results, write_network};
use chronoseal_analysis::calculus::{
    Analysis, CrossTraffic, Delayed, Grid, Multiplexing, Rational, Settings, Unbounded, best, float, ratio,
};
use chronoseal_analysis::segment::{ClassNetwork, QueueClass, class_network, with_classes};
use chronoseal_catalog::Kinds;
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_report::{Block, Cell, Document, Evidence, Mark, Section, Table, Verdict, Word};
use clap::{Args, Subcommand};

use chronoseal_console::input;
use chronoseal_console::input::ScenarioFile;

/// Up to so many flows the analyses that take long are used too.
const SMALL: usize = 100;
/// A delay that is longer by this is longer: the other tools compute in floating point.
const ROUNDING: (i64, i64) = (1, 1_000_000_000);

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal bounds network demo.json
  chronoseal bounds network demo.json --others demo_data.json
  chronoseal bounds export scenarios/star.toml --class 0 --out net.json

The files are those of Saihu, which runs xTFA, DiscoDNC and Panco; docs/guide/bounds.md says what is taken of them.")]
pub(crate) struct Bounds {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Bound the flows of an output-port network of Saihu, beside what other tools say of it
    Network(Network),
    /// Write one class of a scenario's Ethernet segment as an output-port network of Saihu
    Export(Export),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal bounds network demo.json --others demo_data.json
  chronoseal bounds network demo.json --format csv --quiet

Ends with 0 if every flow has a bound, and with 1 if not.")]
struct Network {
    /// The network, JSON
    file: PathBuf,
    /// Bounds of other tools, the data that Saihu exports beside its report; may be repeated
    #[arg(long, value_name = "JSON")]
    others: Vec<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal bounds export scenarios/star.toml --class 0 --out net.json
  chronoseal bounds export mine.toml --segment backbone --class 5 --out net.json

Next: give the file to Saihu, then `chronoseal bounds network net.json --others net_data.json`.")]
struct Export {
    #[command(flatten)]
    scenario: ScenarioFile,
    /// The segment [default: the only one of Ethernet]
    #[arg(long, value_name = "NAME")]
    segment: Option<String>,
    /// The traffic class 0 to 7, `virtual-links` or `virtual-links-high` [default: the only one that streams are of]
    #[arg(long, value_name = "CLASS", value_parser = class)]
    class: Option<QueueClass>,
    /// Where to write the network
    #[arg(long, value_name = "JSON")]
    out: PathBuf,
}

fn class(text: &str) -> Result<QueueClass, String> {
    let help = "write a traffic class from 0 to 7, `virtual-links` or `virtual-links-high`";
    QueueClass::from_name(text).ok_or_else(|| help.to_owned())
}

pub(crate) fn run(options: &Bounds, printer: &Printer) -> Result<Status, Trouble> {
    match &options.action {
        Action::Network(options) => network(options, printer),
        Action::Export(options) => export(options, printer),
    }
}

fn export(options: &Export, printer: &Printer) -> Result<Status, Trouble> {
    let scenario = input::scenario(&options.scenario, &[], Format::Human)?;
    let prepared = input::prepare(&scenario, &options.scenario.file, Format::Human)?;
    let plan = &scenario.plan;
    let candidates = with_classes(plan);
    let listed: Vec<&str> = candidates.iter().map(|id| plan.segments[id.index()].name.as_str()).collect();
    let segment = match &options.segment {
        Some(name) => plan.segment_ids().find(|segment| plan.segments[segment.index()].name == *name),
        None => candidates.first().copied().filter(|_| candidates.len() == 1),
    };
    let Some(segment) = segment else {
        let found = match &options.segment {
            Some(name) => format!("the scenario has no segment `{name}`"),
            None => format!("the scenario has {} Ethernet segments, and one is written", candidates.len()),
        };
        return Err(Trouble(format!("error: {found}\nhelp: name one with --segment, of {}", listed.join(", "))));
    };
    let tables: Vec<Option<ScheduleTable>> =
        plan.segment_ids().map(|segment| prepared.schedule(segment).cloned()).collect();
    let ClassNetwork { class, network } =
        class_network(plan, &tables, Kinds::BUILT_IN.bounds(), segment, options.class)?;
    let name = format!("{} {} {class}", plan.name, plan.segments[segment.index()].name);
    files::write(&options.out, &write_network(&name, Multiplexing::Fifo, &network)?)?;
    printer.data(&format!(
        "{} flows of class {class} over {} servers, without the constant times of wires and switches\n",
        network.flows().len(),
        network.servers().len()
    ));
    printer.hint(&format!("network: {}", options.out.display()));
    Ok(Status::Held)
}

fn network(options: &Network, printer: &Printer) -> Result<Status, Trouble> {
    let name = options.file.display().to_string();
    let read = read_network(&name, &files::read(&options.file)?)?;
    let mut others: BTreeMap<String, OtherTool> = BTreeMap::new();
    for path in &options.others {
        let source = path.display().to_string();
        let found = read_results(&source, &files::read(path)?)?;
        add(&read, &source, found, &mut others)?;
    }
    let rows = flows(&read, &others)?;
    let document = document(&read, &rows, &others)?;
    printer.document(&document, options.format);
    Ok(if rows.iter().all(|row| row.own.is_ok()) { Status::Held } else { Status::Unproven })
}

/// What a tool says, by flow and by server `[s]`.
#[derive(Default)]
struct OtherTool {
    flows: BTreeMap<String, Option<Rational>>,
    servers: BTreeMap<String, Option<Rational>>,
}

/// Adds bounds of other tools, all of them about what is in the network.
fn add(
    read: &SaihuNetwork,
    source: &str,
    found: OtherBounds,
    others: &mut BTreeMap<String, OtherTool>,
) -> Result<(), Trouble> {
    let refuse = |message: String, help: &str| Err(Trouble(format!("error: {source}: {message}\nhelp: {help}")));
    let is_flow = |name: &String| read.ends.iter().any(|end| end.names.contains(name));
    let is_server = |name: &String| read.network.servers().iter().any(|server| server.name == *name);
    if found.network != read.name {
        let message = format!("it is about the network `{}`, and this is `{}`", found.network, read.name);
        return refuse(message, "give the results of this network, or the network of these results");
    }
    let tools = found.flows.keys().chain(found.servers.keys());
    if let Some(tool) = tools.clone().find(|tool| others.contains_key(*tool)) {
        return refuse(format!("`{tool}` is in two files"), "leave one of them out");
    }
    for tool in tools.cloned().collect::<Vec<_>>() {
        let flows = found.flows.get(&tool).cloned().unwrap_or_default();
        let servers = found.servers.get(&tool).cloned().unwrap_or_default();
        if let Some(name) = flows.keys().find(|name| !is_flow(name)) {
            let message = format!("`flow_e2e_delay.{name}`: the network has no flow of this name");
            return refuse(
                message,
                "write the names of the network's flows, with `_` and the name of the way after it",
            );
        }
        if let Some(name) = servers.keys().find(|name| !is_server(name)) {
            let message = format!("`server_delay.{name}`: the network has no server of this name");
            return refuse(message, "write the names of the network's servers");
        }
        others.insert(tool, OtherTool { flows, servers });
    }
    Ok(())
}

/// A flow to one of its ends.
struct Row {
    name: String,
    path: String,
    own: Result<(Rational, Analysis), Unbounded>,
    /// By tool.
    others: Vec<Option<Option<Rational>>>,
}

impl Row {
    /// The least that another tool says.
    fn least_other(&self) -> Option<&Rational> {
        self.others.iter().flatten().flatten().min()
    }

    /// True if another tool says less than we do.
    fn is_beaten(&self) -> bool {
        let own = self.own.as_ref().ok().map(|(delay, _)| delay);
        let less =
            |other: &Rational| own.is_none_or(|own| other * (ratio(1, 1) + ratio(ROUNDING.0, ROUNDING.1)) < *own);
        self.least_other().is_some_and(less)
    }
}

/// A picosecond and a millibit, which circles of flows need.
fn settings() -> Settings {
    Settings { uses_links: true, grid: Grid::new(ratio(1, 1_000_000_000_000), ratio(1, 1_000)) }
}

fn flows(read: &SaihuNetwork, others: &BTreeMap<String, OtherTool>) -> Result<Vec<Row>, Trouble> {
    let network = &read.network;
    let found = best(network, read.multiplexing, settings(), SMALL)?;
    let row = |end: &chronoseal_analysis::calculus::saihu::SaihuEnd| {
        let own = found.iter().find(|bound| (bound.flow, bound.end) == (end.flow, end.hop))?;
        let path: Vec<&str> =
            network.path(end.flow, end.hop).into_iter().map(|one| network.servers()[one].name.as_str()).collect();
        let said = |tool: &OtherTool| end.names.iter().find_map(|name| tool.flows.get(name).cloned());
        Some(Row {
            name: end.names.last().cloned().unwrap_or_default(),
            path: path.join(" "),
            own: own.delay.clone(),
            others: others.values().map(said).collect(),
        })
    };
    Ok(read.ends.iter().filter_map(row).collect())
}

fn document(read: &SaihuNetwork, rows: &[Row], others: &BTreeMap<String, OtherTool>) -> Result<Document, Trouble> {
    let unbounded: Vec<&Row> = rows.iter().filter(|row| row.own.is_err()).collect();
    let beaten = rows.iter().filter(|row| row.is_beaten()).count();
    let compared = rows.iter().filter(|row| row.least_other().is_some()).count();
    let mut points: Vec<String> =
        unbounded.iter().filter_map(|row| Some(format!("{}: {}", row.name, row.own.as_ref().err()?))).collect();
    if compared > 0 {
        points.push(format!(
            "Other tools bound {compared} of them, and for {beaten} of these one of them says less than we do."
        ));
    }
    let (word, text) = match unbounded.len() {
        0 => (Word::Held, format!("Every one of {} flows has a bound.", rows.len())),
        none => (Word::NotProven, format!("{none} of {} flows have no bound.", rows.len())),
    };
    Ok(Document {
        title: format!("Bounds of {}", read.name),
        subtitle: "Bounded by network calculus; nothing was run.".into(),
        verdict: Verdict { word, text, points },
        sections: vec![
            Section::new("Flows").with(Block::Table(flow_table(rows, others))),
            Section::new("Servers").with(Block::Table(server_table(read, others)?)),
        ],
        environment: Vec::new(),
    })
}

fn flow_table(rows: &[Row], others: &BTreeMap<String, OtherTool>) -> Table {
    let mut table =
        Table::new("How long the data of a flow takes at most").words("flow").numbers("bound", "us").words("found by");
    for tool in others.keys() {
        table = table.numbers(tool, "us");
    }
    table = table.words("servers");
    if !others.is_empty() {
        table = table.footnote(
            "Columns of other tools hold what their files say. All are upper bounds, so the least of a row holds; a mark shows \
             where another tool says less than we do.",
        );
    }
    for row in rows {
        let least = row.is_beaten().then(|| row.least_other()).flatten();
        let (own, by) = match &row.own {
            Ok((delay, analysis)) => (us(delay).from(Evidence::Bounded), Cell::text(analysis_name(*analysis))),
            Err(why) => (Cell::na(why.to_string()), Cell::text("")),
        };
        let other = |said: &Option<Option<Rational>>| match said {
            Some(Some(delay)) if Some(delay) == least => us(delay).from(Evidence::Printed).marked(Mark::Warn),
            Some(Some(delay)) => us(delay).from(Evidence::Printed),
            Some(None) => Cell::na("it found no bound"),
            None => Cell::na("its file says nothing of this flow"),
        };
        let cells = [Cell::text(&row.name), own, by].into_iter().chain(row.others.iter().map(other));
        table.push(cells.chain([Cell::text(&row.path)]).collect());
    }
    table
}

fn server_table(read: &SaihuNetwork, others: &BTreeMap<String, OtherTool>) -> Result<Table, Trouble> {
    let tools: Vec<(&String, &OtherTool)> = others.iter().filter(|(_, tool)| !tool.servers.is_empty()).collect();
    let mut table =
        Table::new("What waits at a server at most").words("server").numbers("delay", "us").numbers("backlog", "bit");
    for (tool, _) in &tools {
        table = table.numbers(*tool, "us");
    }
    let mut traffic = Delayed::new(&read.network, read.multiplexing, settings())?;
    for (index, server) in read.network.servers().iter().enumerate() {
        let bound = traffic.server(index);
        let own = |bound: Result<Cell, &Unbounded>| bound.unwrap_or_else(|why| Cell::na(why.to_string()));
        let delay = own(bound.delay.as_ref().map(|delay| us(delay).from(Evidence::Bounded)));
        let backlog = own(bound.backlog.as_ref().map(|bits| Cell::number(float(bits), 3).from(Evidence::Bounded)));
        let other = |(_, tool): &(&String, &OtherTool)| match tool.servers.get(&server.name) {
            Some(Some(delay)) => us(delay).from(Evidence::Printed),
            Some(None) => Cell::na("it found no bound"),
            None => Cell::na("its file says nothing of this server"),
        };
        let cells = [Cell::text(&server.name), delay, backlog].into_iter();
        table.push(cells.chain(tools.iter().map(other)).collect());
    }
    Ok(table)
}

const fn analysis_name(analysis: Analysis) -> &'static str {
    match analysis {
        Analysis::TotalFlow => "total flow (TFA)",
        Analysis::SeparateFlow => "separate flow (SFA)",
        Analysis::PayMultiplexingOnce => "multiplexing paid once (PMOO)",
        _ => "another analysis",
    }
}

/// In microseconds, rounded up to the last digit that is shown.
fn us(seconds: &Rational) -> Cell {
    Cell::number(float(&((seconds * ratio(1_000_000_000, 1)).ceil() / ratio(1_000, 1))), 3)
}
