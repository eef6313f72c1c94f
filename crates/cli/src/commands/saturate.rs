//! `chronoseal saturate`

use std::sync::atomic::{AtomicBool, Ordering};

use chronoseal_console::{Format, Printer, Status, Trouble, files};
use chronoseal_core::{Duration, Percent};
use chronoseal_report::{Block, Cell, Document, Evidence, Mark, Section, Table, Verdict, Word, html};
use chronoseal_results::RunSummary;
use chronoseal_runner::{Bracket, Carried, LiveOptions, Span, capacity, measure, saturate, simulate_folded, versions};
use chronoseal_scenario::Scenario;
use chronoseal_testbed::{Placement, interrupt};
use clap::{Args, ValueEnum};

use chronoseal_console::input::{self, ScenarioFile};

/// A live trial that fails while the host stalls is made again up to so often.
const TRIES: u32 = 3;
/// Above what the network carries on paper, the search begins at so many times that.
const ABOVE_PAPER: f64 = 1.25;
/// The lowest rate that is tried is this share of the highest, unless one is given.
const LOWEST: f64 = 1.0 / 64.0;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal saturate shaped.toml --stream image
  chronoseal saturate shaped.toml --stream image --engine live
  chronoseal saturate mine.toml --stream load --losses 1% --within 2%

This is the throughput of RFC 2544, section 26.1, of one stream beside all others of the scenario: each trial runs the whole scenario, for its
`duration`, with another `period` of that stream. A queue hides an overload for as long as it has room: choose a duration that is long against it.

Exit status: 0 if the limit was found, 1 if not even the lowest rate was carried, 3 if the host or the range ended the search.")]
pub(crate) struct Saturate {
    #[command(flatten)]
    scenario: ScenarioFile,
    /// The stream whose rate is raised
    #[arg(long)]
    stream: String,
    /// What carries the frames
    #[arg(long, value_enum, default_value = "sim")]
    engine: EngineName,
    /// Highest rate to try, in messages a second [default: 1.25 times what the network carries on paper]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    to: Option<f64>,
    /// Lowest rate to try, in messages a second [default: a 64th of the highest]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    from: Option<f64>,
    /// How near the rate has to be found
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = percent)]
    within: Percent,
    /// The share of the messages that may be lost, of any stream
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = percent)]
    losses: Percent,
    /// Write the report to this file as a page
    #[arg(long, value_name = "FILE")]
    out: Option<std::path::PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// What carries the frames of a trial.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum EngineName {
    /// Virtual time
    Sim,
    /// The wall clock, real frames
    Live,
}

fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| "write a number of messages a second, such as 16000".to_owned())?;
    if rate.is_finite() && (0.001..=1e9).contains(&rate) { Ok(rate) } else { Err("write 0.001 to 1000000000".into()) }
}

fn percent(text: &str) -> Result<Percent, String> {
    text.parse().map_err(|error| format!("{error}, such as 1%"))
}

/// One trial.
struct Trial {
    rate: f64,
    /// Of the stream itself: due, received, under way at the end.
    due: u64,
    received: u64,
    under_way: u64,
    /// Of the stream itself: due, and never sent.
    not_sent: u64,
    /// Of all streams.
    lost: u64,
    due_of_all: u64,
    /// The stream that lost most.
    loser: Option<String>,
    p50_ns: Option<i64>,
    max_ns: Option<i64>,
    stalls: u64,
    tries: u32,
    carried: Carried,
}

pub(crate) fn run(options: &Saturate, printer: &Printer) -> Result<Status, Trouble> {
    let stop = interrupt::flag();
    let first = input::scenario(&options.scenario, &[], options.format)?;
    let Some(place) = first.plan.streams.iter().position(|stream| stream.name == options.stream) else {
        let known: Vec<&str> = first.plan.streams.iter().map(|stream| stream.name.as_str()).collect();
        let text =
            format!("error: there is no stream named {}\nhelp: write one of {}", options.stream, known.join(", "));
        return Err(Trouble(text));
    };
    let paper = on_paper(options, &first, place)?;
    let high = options.to.or(paper.as_ref().map(|(rate, _)| rate * ABOVE_PAPER)).ok_or_else(|| {
        Trouble(format!(
            "error: nothing in the scenario says how many messages of {} its network carries\nhelp: write the highest rate to try, such as --to 20000",
            options.stream
        ))
    })?;
    let low = options.from.unwrap_or(high * LOWEST);
    if low >= high {
        return Err(Trouble(format!(
            "error: the search goes from {low:.3} up to {high:.3} messages a second, which is no range\nhelp: write --from below --to"
        )));
    }
    let mut trials = Vec::new();
    let bar = printer.progress(0, "");
    let bracket = saturate([low, high], share(options.within), |rate| {
        bar.set_message(format!("{rate:.0} messages/s"));
        let trial = try_rate(options, place, paper.as_ref().map(|(limit, _)| *limit), rate, stop)?;
        let carried = trial.as_ref().map(|trial| trial.carried);
        trials.extend(trial);
        Ok::<_, Trouble>(carried)
    });
    bar.finish_and_clear();
    let bracket = bracket?;
    let document = document(options, &first, &trials, bracket, paper, stop.load(Ordering::Relaxed));
    if let Some(file) = &options.out {
        files::write(file, &html(&document))?;
    }
    printer.document(&document, options.format);
    Ok(document.verdict.word.status())
}

fn share(percent: Percent) -> f64 {
    percent.0 as f64 / 1e4
}

/// The scenario with another rate of the stream.
fn at_rate(options: &Saturate, rate: f64) -> Result<Scenario, Trouble> {
    let period = Duration::from_ns((1e9 / rate).round().max(1.0) as i64);
    let set = (format!("streams.{}.period", options.stream), period.to_string());
    input::scenario(&options.scenario, &[set], options.format)
}

/// The rate at which the stream would ask for all that a link or bus has, and which that is.
fn on_paper(options: &Saturate, first: &Scenario, place: usize) -> Result<Option<(f64, String)>, Trouble> {
    let period = first.plan.streams[place].period;
    let rate = 1.0 / period.as_secs_f64();
    let (once, twice) = (at_rate(options, rate)?, at_rate(options, 2.0 * rate)?);
    Ok(capacity(&once.plan, &twice.plan, rate))
}

/// Runs a trial; `None` if it was stopped.
fn try_rate(
    options: &Saturate,
    place: usize,
    paper: Option<f64>,
    rate: f64,
    stop: &AtomicBool,
) -> Result<Option<Trial>, Trouble> {
    let scenario = at_rate(options, rate)?;
    let prepared = input::prepare(&scenario, &options.scenario.file, options.format)?;
    let mut tries = 0;
    loop {
        tries += 1;
        let ran = match options.engine {
            EngineName::Sim => {
                let mut go_on = |_| !stop.load(Ordering::Relaxed);
                simulate_folded(&prepared, Span::of(&scenario.plan), false, &mut (), &mut go_on)?
            }
            EngineName::Live => {
                // The kernel takes 50 ms of each second from a real-time process that never sleeps, as a sender of so many messages.
                let placement = Some(Placement::Apart);
                let live = LiveOptions { no_fifo: true, placement, ..LiveOptions::default() };
                measure(&prepared, scenario.texts(), &live, stop)?
            }
        };
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let trial = judge(options, place, paper, rate, tries, &ran.summary);
        // What the host did is no property of the network.
        if trial.carried == Carried::Yes || trial.stalls == 0 || tries == TRIES {
            return Ok(Some(trial));
        }
    }
}

fn judge(options: &Saturate, place: usize, paper: Option<f64>, rate: f64, tries: u32, summary: &RunSummary) -> Trial {
    let lost_of = |stream: &chronoseal_results::StreamSummary| {
        stream.missing + stream.unaccounted + stream.replaced + stream.discarded_total()
    };
    let stream = &summary.streams[place];
    let lost: u64 = summary.streams.iter().map(lost_of).sum();
    let due_of_all: u64 = summary.streams.iter().map(|stream| stream.due).sum();
    let loser = summary.streams.iter().filter(|stream| lost_of(stream) > 0).max_by_key(|stream| lost_of(stream));
    let under_way = stream.in_flight + stream.overdue;
    let within = share(options.within);
    let allowed = share(options.losses) * due_of_all as f64;
    let carried = if stream.not_sent as f64 > within * stream.due as f64 {
        Carried::NotOffered
    } else if lost as f64 <= allowed && under_way as f64 <= within * stream.due as f64 + 1.0 {
        Carried::Yes
    } else if summary.stalls.count > 0 && paper.is_none_or(|limit| rate <= limit) {
        // What a stalled host loses is no property of the network; beyond what it carries on paper a loss is certain.
        Carried::Stalled
    } else {
        Carried::No
    };
    Trial {
        rate,
        due: stream.due,
        received: stream.delivered + stream.late,
        under_way,
        not_sent: stream.not_sent,
        lost,
        due_of_all,
        loser: loser.map(|stream| stream.name.clone()),
        p50_ns: stream.end_to_end.all.and_then(|latency| latency.p50_ns),
        max_ns: stream.end_to_end.all.map(|latency| latency.max_ns),
        stalls: summary.stalls.count,
        tries,
        carried,
    }
}

fn document(
    options: &Saturate,
    first: &Scenario,
    trials: &[Trial],
    bracket: Bracket,
    paper: Option<(f64, String)>,
    is_stopped: bool,
) -> Document {
    let stream = &options.stream;
    let evidence = if options.engine == EngineName::Live { Evidence::Measured } else { Evidence::Simulated };
    let engine = if options.engine == EngineName::Live { "measured live" } else { "simulated" };
    let losses =
        if options.losses.0 == 0 { "without loss".to_owned() } else { format!("with at most {} lost", options.losses) };
    let (word, text) = match (bracket.carried, bracket.above) {
        _ if is_stopped => {
            (Word::NotChecked, "The search was interrupted; what it had found until then is below.".to_owned())
        }
        (None, _) => (
            Word::Failed,
            format!(
                "Not even {} messages/s of {stream} are carried {losses}.",
                shown(trials.iter().map(|trial| trial.rate).fold(f64::INFINITY, f64::min))
            ),
        ),
        (Some(carried), Some((above, Carried::No))) => (
            Word::Held,
            format!("{} messages/s of {stream} are carried {losses}, and {} are not.", shown(carried), shown(above)),
        ),
        (Some(carried), Some((above, Carried::Stalled))) => (
            Word::NotChecked,
            format!(
                "{} messages/s of {stream} are carried {losses}. The limit of the network is not known, because at {} messages were lost while this host was stalled, in each of {TRIES} tries.",
                shown(carried),
                shown(above)
            ),
        ),
        (Some(carried), Some((above, _))) => (
            Word::NotChecked,
            format!(
                "{} messages/s of {stream} are carried {losses}. The limit of the network is not known, because the sender did not get to {} on this host.",
                shown(carried),
                shown(above)
            ),
        ),
        (Some(carried), None) => (
            Word::NotChecked,
            format!(
                "{} messages/s of {stream} are carried {losses}, the highest rate that was tried: write a higher one with --to.",
                shown(carried)
            ),
        ),
    };
    let mut points = Vec::new();
    if let Some((rate, place)) = &paper {
        points.push(format!("On paper {} messages/s are all that {place}.", shown(*rate)));
    }
    let mut table = Table::new("Trials in the order in which they were made")
        .numbers("offered", "messages/s")
        .numbers("due", "")
        .numbers("received", "")
        .numbers("under way at the end", "")
        .numbers("not sent", "")
        .numbers("lost, of all streams", "")
        .numbers("latency p50", "us")
        .numbers("latency max", "us");
    if options.engine == EngineName::Live {
        table = table.numbers("stalls of the host", "").numbers("tries", "");
    }
    table = table.words("carried");
    for trial in trials {
        let us = |ns: Option<i64>| {
            ns.map_or_else(|| Cell::na("too few were received"), |ns| Cell::number(ns as f64 / 1e3, 1).from(evidence))
        };
        let count = |count: u64| Cell::count(count).from(evidence);
        let mut row = vec![
            Cell::number(trial.rate, 1),
            Cell::count(trial.due),
            count(trial.received),
            count(trial.under_way),
            count(trial.not_sent),
            count(trial.lost).titled(format!("of {} that were due", trial.due_of_all)),
            us(trial.p50_ns),
            us(trial.max_ns),
        ];
        if options.engine == EngineName::Live {
            row.extend([count(trial.stalls), Cell::count(u64::from(trial.tries))]);
        }
        row.push(match (trial.carried, &trial.loser) {
            (Carried::Yes, _) => Cell::text("yes").marked(Mark::Good),
            (Carried::NotOffered, _) => Cell::text("not known: the sender did not offer it"),
            (Carried::Stalled, _) => Cell::text("not known: the host was stalled"),
            (Carried::No, Some(loser)) => Cell::text(format!("no: {loser} lost messages")).marked(Mark::Bad),
            (Carried::No, None) => Cell::text("no: messages were left over").marked(Mark::Bad),
        });
        table.push(row);
    }
    let table = table.footnote(format!(
        "Carried: of all streams no more was lost than {}, and no more than {} of {stream} was under way when the trial was over after {}.",
        options.losses, options.within, first.plan.duration
    ));
    Document {
        title: format!("Saturation: {stream}"),
        subtitle: format!("{}: the highest rate that is carried, {engine}.", first.plan.name),
        verdict: Verdict { word, text, points },
        sections: vec![Section::new("Trials").with(Block::Table(table))],
        environment: versions(),
    }
}

fn shown(rate: f64) -> String {
    Cell::number(rate, if rate < 100.0 { 2 } else { 0 }).text
}
