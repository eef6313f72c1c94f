//! `chronoseal saturate`

use std::sync::atomic::{AtomicBool, Ordering};

use chronoseal_console::input::{self, ScenarioFile};
use chronoseal_console::{Format, Printer, Status, Trouble, files};
use chronoseal_core::{DiscardReason, Duration, Percent};
use chronoseal_report::{Block, Cell, Document, Evidence, Mark, Section, Table, Verdict, Word, html};
use chronoseal_results::{RunSummary, StreamSummary};
use chronoseal_runner::{Bracket, Carried, LiveOptions, Span, capacity, measure, saturate, simulate_folded, versions};
use chronoseal_scenario::Scenario;
use chronoseal_testbed::{Placement, interrupt};
use clap::{Args, ValueEnum};

use crate::other_program;

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
A rate is judged by what was lost and left over alone, not by deadlines or attacks.

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
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = nearness)]
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

fn nearness(text: &str) -> Result<Percent, String> {
    let within = percent(text)?;
    if (10..=5_000).contains(&within.0) { Ok(within) } else { Err("write 0.1% to 50%".into()) }
}

/// One trial.
struct Trial {
    rate: f64,
    /// Of the stream itself: due, received, and due and never sent.
    due: u64,
    received: u64,
    not_sent: u64,
    /// Of all streams.
    lost: u64,
    late: u64,
    under_way: u64,
    due_of_all: u64,
    /// The stream that lost most, and the first that had too much left over.
    loser: Option<String>,
    left: Option<String>,
    /// A link lost messages by its own laws.
    is_lossy: bool,
    p50_ns: Option<i64>,
    max_ns: Option<i64>,
    stalls: u64,
    tries: u32,
    carried: Carried,
}

impl Trial {
    /// What another stream has to do with a rate that is not carried, as the end of a sentence.
    fn others(&self, stream: &str) -> String {
        let other = |name: &Option<String>| name.clone().filter(|name| name != stream);
        match (other(&self.loser), other(&self.left)) {
            (Some(loser), _) => format!(": messages of {loser} are lost beside them"),
            (None, Some(left)) => format!(": messages of {left} are left over beside them"),
            (None, None) => String::new(),
        }
    }
}

pub(crate) fn run(options: &Saturate, printer: &Printer) -> Result<Status, Trouble> {
    let stop = interrupt::flag();
    let first = input::scenario(&options.scenario, &[], options.format)?;
    options.out.as_deref().map(files::spare).transpose()?;
    if first.plan.streams.iter().any(|stream| stream.name == options.stream && stream.recorded().is_some()) {
        return Err(Trouble(format!(
            "error: {} is a recording, which is sent as it was recorded\nhelp: write a stream with a period, whose rate can be raised",
            options.stream
        )));
    }
    // Those that an entry makes several of have one period.
    let entry_of = |name: &str| {
        let entry = name.rsplit_once('.').filter(|(_, number)| number.bytes().all(|digit| digit.is_ascii_digit()));
        entry.map(|(entry, _)| entry.to_owned())
    };
    let is_of_several = |name: &str| entry_of(name).is_some();
    let mut entries = first.plan.streams.iter().filter_map(|stream| entry_of(&stream.name));
    let has_several = entries.any(|entry| entry == options.stream);
    if has_several || is_of_several(&options.stream) {
        return Err(Trouble(format!(
            "error: {} is of an entry with a `count`, whose streams have one period\nhelp: give the stream whose rate is to be raised an \
             entry of its own",
            options.stream
        )));
    }
    let Some(place) = first.plan.streams.iter().position(|stream| stream.name == options.stream) else {
        let names = first.plan.streams.iter().map(|stream| stream.name.as_str());
        let known: Vec<&str> = names.filter(|name| !is_of_several(name)).collect();
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
                let agent_command = other_program::stations(&prepared)?;
                let live = LiveOptions { no_fifo: true, placement, agent_command, ..LiveOptions::default() };
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
    let is_live = options.engine == EngineName::Live;
    let stream = &summary.streams[place];
    let within = share(options.within);
    // What the host's process of the sender did not get to is no loss. In virtual time, and of other streams, the network kept them from it.
    let is_not_offered = is_live && stream.not_sent as f64 > within * stream.due as f64;
    let lost_of = |one: &StreamSummary| {
        let not_sent = if is_live && one.name == stream.name { 0 } else { one.not_sent };
        one.missing + one.unaccounted + one.replaced + one.discarded_total() + not_sent
    };
    let under_way_of = |one: &StreamSummary| one.in_flight + one.overdue;
    let is_left =
        |one: &&StreamSummary| under_way_of(one) as f64 > within * one.due as f64 + one.receivers.len().max(1) as f64;
    let all = || summary.streams.iter();
    let lost: u64 = all().map(lost_of).sum();
    let due_of_all: u64 = all().map(|one| one.due).sum();
    let loser = all().filter(|one| lost_of(one) > 0).max_by_key(|one| lost_of(one));
    let left = all().find(is_left);
    let carried = if is_not_offered {
        Carried::NotOffered
    } else if lost as f64 <= share(options.losses) * due_of_all as f64 && left.is_none() {
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
        not_sent: stream.not_sent,
        lost,
        late: all().map(|one| one.late + one.overdue).sum(),
        under_way: all().map(under_way_of).sum(),
        due_of_all,
        loser: loser.map(|one| one.name.clone()),
        left: left.map(|one| one.name.clone()),
        is_lossy: all().any(|one| one.discarded.contains_key(DiscardReason::LostOnLink.name())),
        p50_ns: stream.end_to_end.all.and_then(|latency| latency.p50_ns),
        max_ns: stream.end_to_end.all.map(|latency| latency.max_ns),
        stalls: summary.stalls.count,
        tries,
        carried,
    }
}

/// What was found, of a search that was not stopped; the lowest rate that was tried, and what it did to others.
fn found(stream: &str, losses: &str, bracket: Bracket, (lowest, others): (f64, String)) -> (Word, String) {
    let Some(carried) = bracket.carried.map(shown) else {
        return match bracket.above {
            Some((_, Carried::No)) => {
                let rate = shown(lowest);
                (Word::Failed, format!("Not even {rate} messages/s of {stream} are carried {losses}{others}."))
            }
            _ => (
                Word::NotChecked,
                format!(
                    "Nothing is known of what the network carries: this host did not manage even {} messages/s of {stream}.",
                    shown(lowest)
                ),
            ),
        };
    };
    let limit = match bracket.above {
        Some((above, Carried::No)) => {
            return (
                Word::Held,
                format!("{carried} messages/s of {stream} are carried {losses}, and {} are not.", shown(above)),
            );
        }
        Some((above, Carried::Stalled)) => format!(
            "The limit of the network is not known, because at {} messages were lost or left over while this host was stalled, in each of {TRIES} tries.",
            shown(above)
        ),
        Some((above, _)) => format!(
            "The limit of the network is not known, because the sender did not get to {} on this host.",
            shown(above)
        ),
        None => "It is the highest rate that was tried: write a higher one with --to.".to_owned(),
    };
    (Word::NotChecked, format!("{carried} messages/s of {stream} are carried {losses}. {limit}"))
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
    let lowest = trials.iter().min_by(|one, other| one.rate.total_cmp(&other.rate));
    let (word, text) = match lowest.filter(|_| !is_stopped) {
        None => (Word::NotChecked, "The search was interrupted; what it had found until then is below.".to_owned()),
        Some(lowest) => found(stream, &losses, bracket, (lowest.rate, lowest.others(stream))),
    };
    let mut points = Vec::new();
    if let Some((rate, place)) = &paper {
        points.push(format!("On paper {} messages/s are all that {place}.", shown(*rate)));
    }
    let highest = trials
        .iter()
        .filter(|trial| trial.carried == Carried::Yes)
        .max_by(|one, other| one.rate.total_cmp(&other.rate));
    if let Some(Trial { under_way, due_of_all, rate, .. }) = highest.filter(|trial| trial.under_way > 0) {
        points.push(format!(
            "At {} messages/s {under_way} of {due_of_all} messages were still under way when the trial was over: what can be carried for ever \
             may be less by that share.",
            shown(*rate)
        ));
    }
    if let Some(Trial { late, rate, .. }) = highest.filter(|trial| trial.late > 0) {
        points
            .push(format!("Deadlines are not part of this: at {} messages/s {late} messages came late.", shown(*rate)));
    }
    if word == Word::Failed && options.losses.0 == 0 && trials.iter().any(|trial| trial.is_lossy) {
        points.push("A link loses messages by its own laws, whatever the rate: allow for that with --losses.".into());
    }
    let mut table = Table::new("Trials in the order in which they were made")
        .numbers("rate", "messages/s")
        .numbers("due", "")
        .numbers("received", "")
        .numbers("not sent", "")
        .numbers("lost, of all streams", "")
        .numbers("under way at the end, of all", "")
        .numbers("late, of all", "")
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
            count(trial.not_sent),
            count(trial.lost).titled(format!("of {} that were due", trial.due_of_all)),
            count(trial.under_way),
            count(trial.late),
            us(trial.p50_ns),
            us(trial.max_ns),
        ];
        if options.engine == EngineName::Live {
            row.extend([count(trial.stalls), Cell::count(u64::from(trial.tries))]);
        }
        row.push(match (trial.carried, &trial.loser, &trial.left) {
            (Carried::Yes, ..) => Cell::text("yes").marked(Mark::Good),
            (Carried::NotOffered, ..) => Cell::text("not known: the sender did not offer it"),
            (Carried::Stalled, ..) => Cell::text("not known: the host was stalled"),
            (Carried::No, Some(loser), _) => Cell::text(format!("no: {loser} lost messages")).marked(Mark::Bad),
            (Carried::No, None, left) => {
                let left = left.as_ref().map_or("", String::as_str);
                Cell::text(format!("no: messages of {left} were left over")).marked(Mark::Bad)
            }
        });
        table.push(row);
    }
    let table = table.footnote(format!(
        "Carried: of all streams together no more was lost than {}, and of each no more than {} was under way when the trial was over after {}.",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_host_did_is_never_said_of_the_network() {
        let word = |carried, above| {
            let (word, text) = found("image", "without loss", Bracket { carried, above }, (10.0, String::new()));
            let says_limit = text.contains("are not.") || text.starts_with("Not even");
            (word, says_limit)
        };
        assert_eq!(word(Some(100.0), Some((101.0, Carried::No))), (Word::Held, true));
        assert_eq!(word(None, Some((10.0, Carried::No))), (Word::Failed, true));
        for reason in [Carried::Stalled, Carried::NotOffered] {
            assert_eq!(word(Some(100.0), Some((101.0, reason))), (Word::NotChecked, false));
            assert_eq!(word(None, Some((10.0, reason))), (Word::NotChecked, false));
        }
        assert_eq!(word(Some(100.0), None), (Word::NotChecked, false));
    }
}
