//! `chronoseal v2x fleet`

mod text;

use chronoseal_console::{Format, Printer, Status, Trouble, files};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use chronoseal_core::Duration;
use chronoseal_plan::Radio;
use chronoseal_recordings::content::Purpose;
use chronoseal_report::html;
use chronoseal_runner::drive_plan;
use chronoseal_scenario::Scenario;
use chronoseal_study::{FleetRow, fleet_document};
use chronoseal_testbed::interrupt;
use chronoseal_v2x::vss::Spread;
use chronoseal_v2x_fleet::eavesdropper::Coverage;
use chronoseal_v2x_fleet::evaluation::{Evaluation, Trial};
use chronoseal_v2x_fleet::policy::Policy;
use chronoseal_v2x_fleet::road::Origin;
use chronoseal_v2x_fleet::road::sumo::{self, Coordinates};
use chronoseal_v2x_fleet::simulation::WatchConfig;
use clap::Args;

use super::foreign;
use text::{Common, Road};

#[derive(Args, Debug)]
#[command(after_help = "\
Vehicles send CAMs by the rules of EN 302 637-2 and change their pseudonyms by a policy. An eavesdropper that knows the
policy predicts where each vehicle goes on and pairs the pseudonyms. Beside what it links stands what the policy costs:
pairs of vehicles that do not know of each other.

Examples:
  chronoseal v2x fleet                                              every policy, built-in highway
  chronoseal v2x fleet --policy at-once --silence 0,1,3,5,10,13     how long must a silence be?
  chronoseal v2x fleet --policy segments --silence 3-13 --heard 40  who hears 40 % of the road
  sumo -c town.sumocfg --fcd-output town.xml                        traffic of your own
  chronoseal v2x fleet --fcd town.xml --policy silent --zone 250,100,60 --policy mix-zone
  chronoseal v2x fleet --fcd town.xml --html town.html              with a chart
  chronoseal v2x fleet --policy silent --scenario > mine.toml       a scenario to go on with")]
pub(crate) struct Fleet {
    /// Trace of SUMO (`--fcd-output`); without it vehicles drive on the built-in highway
    #[arg(long, value_name = "FILE")]
    fcd: Option<PathBuf>,
    /// The trace has longitude and latitude (`--fcd-output.geo`): a place near its middle, in degrees
    #[arg(long, value_name = "LATITUDE,LONGITUDE", value_parser = numbers::<2>, allow_hyphen_values = true, requires = "fcd")]
    geo: Option<[f64; 2]>,
    /// Policies, by name; all if none is named
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    policy: Vec<String>,
    /// Silence after a change, in seconds: each policy with each of these, such as 5 or 3-13, instead of its own
    #[arg(long, value_name = "SECONDS", value_delimiter = ',', value_parser = silence)]
    silence: Vec<Spread>,
    /// A mix zone, for the policy mix-zone: centre, east and north, and radius, in metres
    #[arg(long, value_name = "X,Y,RADIUS", value_parser = numbers::<3>, allow_hyphen_values = true)]
    zone: Vec<[f64; 3]>,
    /// Percentage of the road that the eavesdropper hears, in squares of 500 m
    #[arg(long, value_name = "PERCENT", default_value_t = 100, value_parser = clap::value_parser!(u8).range(1..=100))]
    heard: u8,
    /// Shortest time between two CAMs of a vehicle, T_GenCam_DCC, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 100, value_parser = clap::value_parser!(i64).range(100..=1_000))]
    cam_interval: i64,
    /// CAMs tell the sizes of vehicles, which the eavesdropper compares
    #[arg(long)]
    sizes: bool,
    /// Runs of each policy; on the highway each has traffic of its own
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    runs: u64,
    /// Seed of the first run; each further one has the next
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Of the highway, length in metres
    #[arg(long, value_name = "METRES", default_value_t = 2_500.0, conflicts_with = "fcd")]
    length: f64,
    /// Of the highway, vehicles an hour and lane
    #[arg(long, value_name = "VEHICLES", default_value_t = 1_000.0, conflicts_with = "fcd")]
    flow: f64,
    /// Of the highway, how long it is watched, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120, conflicts_with = "fcd", value_parser = clap::value_parser!(i64).range(1..=86_400))]
    duration: i64,
    /// Print the scenario of the first run with the first policy, and run nothing
    #[arg(long)]
    scenario: bool,
    /// How the table is written
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Write the report with its chart, too
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub(crate) fn run(options: &Fleet, printer: &Printer) -> Result<Status, Trouble> {
    let policies = policies(options)?;
    let road = road(options)?;
    let common =
        Common { road: &road, zones: &options.zone, cam_interval_ms: options.cam_interval, tells_sizes: options.sizes };
    if let (true, Some(first)) = (options.scenario, policies.first()) {
        printer.data(common.scenario(&first.name, first.silence, options.seed).trim_end());
        return Ok(Status::Held);
    }
    let coverage = (options.heard < 100).then(|| Coverage::of(f64::from(options.heard) / 100.0));
    let stop = interrupt::flag();
    let bar = printer.progress(policies.len() as u64 * options.runs, "fleet");
    let mut rows: Vec<FleetRow> =
        policies.iter().map(|policy| FleetRow::new(policy.policy.name.clone(), Evaluation::default())).collect();
    'runs: for seed in (options.seed..).take(options.runs as usize) {
        // All policies on one road: it takes as long to drive as some of them.
        let Some(first) = policies.first() else { break };
        let text = common.scenario(&first.name, first.silence, seed);
        let scenario = Scenario::load("the scenario of these options", text.as_bytes(), &[], &road);
        let of_first = scenario.map_err(|problems| Trouble(problems.render()))?.plan;
        for (policy, row) in policies.iter().zip(&mut rows) {
            if stop.load(Ordering::Relaxed) {
                break 'runs;
            }
            bar.set_message(row.name.clone());
            let plan = of_first.with_policy(&policy.policy);
            let (outcome, ()) = drive_plan(&plan, &WatchConfig::default(), ())?;
            let fleet = Radio::first(&plan).map(|view| &view.segment.fleet);
            row.evaluation.trials.extend(fleet.map(|fleet| Trial::of(fleet, &outcome, coverage)));
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let vehicles = rows.first().map_or(0, |row| row.evaluation.trips());
    let subtitle = format!(
        "{}; {} runs, {vehicles} trips altogether. The eavesdropper hears {} % of the road.",
        describe(&road),
        options.runs,
        options.heard
    );
    let document = fleet_document(subtitle, &rows);
    if let Some(path) = &options.html {
        files::write(path, &html(&document))?;
    }
    printer.document(&document, options.format);
    let interrupted = stop.load(Ordering::Relaxed);
    if interrupted {
        printer.note("interrupted: the table holds the runs that were finished");
    }
    Ok(if interrupted { Status::Unproven } else { Status::Held })
}

/// Where the vehicles come from. A trace is read here as well, for how long it is and what is wrong with it.
fn road(options: &Fleet) -> Result<Road, Trouble> {
    let Some(path) = &options.fcd else {
        return Ok(Road::Highway {
            length_m: options.length,
            flow_per_h: options.flow,
            duration: Duration::from_s(options.duration),
        });
    };
    let failed = |error: &dyn std::fmt::Display| Trouble(format!("error: cannot read {}: {error}", path.display()));
    let bytes = foreign::read(path, Purpose::Trace)?;
    let text = std::str::from_utf8(&bytes).map_err(|error| failed(&error))?;
    let coordinates = options.geo.map_or(Coordinates::Plane, |[latitude_deg, longitude_deg]| {
        Coordinates::Geographic(Origin { latitude_deg, longitude_deg })
    });
    let trips = sumo::read(text, coordinates).map_err(|error| bad_trace(path, &error))?;
    let ends_after = trips.ends_at.since_zero();
    Ok(Road::Trace { path: path.clone(), bytes, origin: options.geo, ends_after })
}

fn bad_trace(path: &Path, error: &sumo::TraceError) -> Trouble {
    let help = match &error.kind {
        sumo::TraceErrorKind::Degrees { place } => format!("say where they drive: `--geo {place}`"),
        sumo::TraceErrorKind::Metres => "leave `--geo` out".into(),
        _ => "a trace is what `sumo --fcd-output FILE` writes; with `--fcd-output.geo` say `--geo LATITUDE,LONGITUDE`"
            .to_owned(),
    };
    Trouble(format!("error: {}:{}: {}\nhelp: {help}", path.display(), error.line, error.kind))
}

fn describe(road: &Road) -> String {
    match road {
        Road::Highway { length_m, flow_per_h, duration } => format!(
            "Built-in highway, {length_m:.0} m, two lanes one way, {flow_per_h:.0} vehicles an hour and lane, {duration}"
        ),
        Road::Trace { path, ends_after, .. } => format!("{}: {ends_after}", path.display()),
    }
}

/// A policy as options name it, and what that is.
struct Named {
    name: String,
    /// `None`: what the policy itself says.
    silence: Option<Spread>,
    policy: Policy,
}

/// Those named, each with each silence.
fn policies(options: &Fleet) -> Result<Vec<Named>, Trouble> {
    let all = Policy::presets(&options.zone);
    let mut chosen: Vec<Policy> = Vec::new();
    for name in &options.policy {
        let Some(policy) = all.iter().find(|policy| policy.name == *name) else {
            let names: Vec<_> = all.iter().map(|policy| policy.name.as_str()).collect();
            return Err(Trouble(format!(
                "error: there is no policy named {name}\nhelp: write one of {}",
                names.join(", ")
            )));
        };
        chosen.push(policy.clone());
    }
    if options.policy.iter().any(|name| name == "mix-zone") && options.zone.is_empty() {
        return Err(Trouble(
            "error: policy mix-zone needs a zone\nhelp: say where, such as `--zone 1250,0,200`".into(),
        ));
    }
    if chosen.is_empty() {
        chosen = all.into_iter().filter(|policy| policy.name != "mix-zone" || !options.zone.is_empty()).collect();
    }
    let silences = || match &options.silence[..] {
        [] => vec![None],
        silences => silences.iter().copied().map(Some).collect(),
    };
    let each = |policy: Policy| {
        silences().into_iter().map(move |silence| {
            let name = policy.name.clone();
            let policy = silence.map_or(policy.clone(), |silence| policy.clone().with_silence(silence));
            Named { name, silence, policy }
        })
    };
    Ok(chosen.into_iter().flat_map(each).collect())
}

/// "5" or "3-13", in seconds, as milliseconds.
fn silence(text: &str) -> Result<Spread, String> {
    let seconds = |text: &str| {
        let value = text.trim().parse::<f64>().ok().filter(|value| (0.0..=3_600.0).contains(value));
        value.map(|value| (value * 1_000.0).round() as u64)
    };
    let (min, max) = text.split_once('-').unwrap_or((text, text));
    match (seconds(min), seconds(max)) {
        (Some(min), Some(max)) if min <= max => Ok(Spread::between(min, max)),
        _ => Err("write seconds from 0 to 3600, such as 5, or the least and the greatest, such as 3-13".into()),
    }
}

/// `N` numbers with commas between them.
fn numbers<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let values: Option<Vec<f64>> = text.split(',').map(|value| value.trim().parse().ok()).collect();
    let values = values.filter(|values| values.iter().all(|value| value.is_finite()));
    values
        .and_then(|values| values.try_into().ok())
        .ok_or_else(|| format!("write {N} numbers with commas between them"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silences_are_seconds_or_spreads() {
        assert_eq!(silence("5"), Ok(Spread::exactly(5_000)));
        assert_eq!(silence("3-13"), Ok(Spread::between(3_000, 13_000)));
        assert_eq!(silence("0.5"), Ok(Spread::exactly(500)));
        for bad in ["", "long", "13-3", "-1", "3-", "NaN", "1e9"] {
            assert!(silence(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn places_are_numbers_with_commas() {
        assert_eq!(numbers::<3>("250,-100,60"), Ok([250.0, -100.0, 60.0]));
        for bad in ["250,100", "250,100,60,1", "a,b,c", "1,2,inf"] {
            assert!(numbers::<3>(bad).is_err(), "{bad}");
        }
    }
}
