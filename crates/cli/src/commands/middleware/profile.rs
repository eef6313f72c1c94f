//! `chronoseal middleware profile`

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use chronoseal_console::{Format, Printer, Status, Trouble, files};
use chronoseal_core::{Bytes, Duration};
use chronoseal_middleware::{Answer, Cache, Data, Host, NETWORKS, Packets, Profile, Question, adapters};
use chronoseal_report::{Block, Cell, Document, Evidence, Section, Table, Verdict, Word};
use chronoseal_runner::{LiveOptions, Run};
use chronoseal_testbed::interrupt;
use clap::Args;

use super::{ADAPTERS, chosen};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal middleware profile fast-dds-reliable --out measured.toml
  chronoseal middleware profile ros-1 zenoh-tls --length 200B --length 9kB --out measured.toml

A lossy link of a scenario then has `measured = \"measured.toml\"`, and its streams that go `over` one of these are simulated too: each message is
charged what such messages took here. A length between two that were measured is charged what lies between.

Exit status: 3 if something could not be measured, 2 if nothing could.")]
pub(super) struct Options {
    /// Configurations, as `middleware list` shows them
    #[arg(required = true)]
    names: Vec<String>,
    /// Lengths of messages [default: 100B, 1kB, 10kB, 100kB and 1MB]
    #[arg(long = "length", value_name = "LENGTH")]
    lengths: Vec<Bytes>,
    /// The file to write
    #[arg(long, default_value = "measured.toml")]
    out: PathBuf,
    /// For how long each length runs, finding each other included
    #[arg(long, default_value = "9s")]
    duration: Duration,
    /// Folder of the adapters
    #[arg(long, default_value = ADAPTERS)]
    adapters: PathBuf,
    /// Do without SCHED_FIFO even where it is granted
    #[arg(long)]
    no_fifo: bool,
    /// How to print
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// What is measured unless lengths are given `[byte]`.
const LENGTHS: [u32; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];

pub(super) fn run(options: &Options, printer: &Printer) -> Result<Status, Trouble> {
    let all = adapters(&options.adapters)?;
    let chosen = chosen(&all, &options.names)?;
    let lengths = lengths(&options.lengths)?;
    let stop = interrupt::flag();
    let live = LiveOptions { no_fifo: options.no_fifo, ..LiveOptions::default() };
    let mut host = Host::new(Cache::of_user()?, None);
    let bar = printer.progress((chosen.len() * lengths.len()) as u64, "middleware");
    let mut profiles = Vec::new();
    for (adapter, configuration) in chosen {
        let title = format!("{} {}", adapter.title, adapter.version().unwrap_or_default());
        let mut profile = Profile { configuration, source: title.trim().to_owned(), lengths: Vec::new() };
        for length in &lengths {
            bar.set_message(configuration.name.clone());
            let data = Data::of_length(*length);
            let question = Question {
                data: &data,
                network: NETWORKS[0],
                packets: Packets::Real,
                duration: options.duration,
                seed: 1,
                attack: None,
            };
            let answer = match stop.load(Ordering::Relaxed) {
                true => Answer::Not("it was stopped".into()),
                false => {
                    let (answer, ran) = host.answer(adapter, configuration, question, &live, stop);
                    if let Some((_, run)) = ran.filter(|_| profile.lengths.is_empty()) {
                        profile.source = format!("{} on {}", profile.source, host_of(&run));
                    }
                    answer
                }
            };
            profile.lengths.push((*length, answer));
            bar.inc(1);
        }
        profiles.push(profile);
    }
    bar.finish_and_clear();
    let document = document(&profiles);
    let entries: Vec<String> = profiles.iter().filter_map(Profile::entry).collect();
    if entries.is_empty() {
        printer.document(&document, options.format);
        return Err(Trouble("error: nothing could be measured, and no file was written".into()));
    }
    let head = "# What robot middleware takes of messages, by `chronoseal middleware profile`: times from when a message was due to when its subscriber\n\
                # had it, over a link without delay: the least, each percentile and the longest; and all bytes of its frames.\n";
    files::write(&options.out, &(head.to_owned() + &entries.concat()))?;
    printer.document(&document, options.format);
    printer.hint(&format!(
        "written to {0}: name it as `measured = \"{0}\"` for a segment of kind `link`",
        options.out.display()
    ));
    Ok(document.verdict.word.status())
}

/// Lengths as numbers, rising, each once.
fn lengths(written: &[Bytes]) -> Result<Vec<u32>, Trouble> {
    if written.is_empty() {
        return Ok(LENGTHS.into());
    }
    let one = |length: &Bytes| match u32::try_from(length.0).ok().filter(|len| (8..=10_000_000).contains(len)) {
        Some(len) => Ok(len),
        None => Err(Trouble(format!("error: a message cannot have {length}\nhelp: write 8B to 10MB"))),
    };
    let mut lengths = written.iter().map(one).collect::<Result<Vec<_>, _>>()?;
    lengths.sort_unstable();
    lengths.dedup();
    Ok(lengths)
}

/// The host of a run, in a few words.
fn host_of(run: &Run) -> String {
    let of = |name: &str| run.meta.host.iter().find(|(known, _)| known == name).map(|(_, fact)| fact.as_str());
    let known: Vec<&str> = ["processor", "kernel"].iter().filter_map(|name| of(name)).collect();
    if known.is_empty() { "an unknown host".into() } else { known.join(", ") }
}

fn document(profiles: &[Profile<'_>]) -> Document {
    let mut table = Table::new("Measured over a link without delay")
        .words("configuration")
        .numbers("message", "B")
        .numbers("messages", "")
        .numbers("p50", "us")
        .numbers("p99", "us")
        .numbers("on the wire", "B")
        .footnote("From when a message was due to when its subscriber had it. On the wire: all frames in both directions, for each message.");
    let (mut points, mut stalls) = (Vec::new(), Vec::new());
    let mut measured_all = 0;
    for profile in profiles {
        for (length, answer) in &profile.lengths {
            let unfit = Profile::unfit(answer);
            let mut row = vec![profile.configuration.cell(), Cell::count(u64::from(*length))];
            match (answer, &unfit) {
                (Answer::Measured(measured), None) => {
                    measured_all += 1;
                    if measured.stalled > 0 {
                        stalls.push(format!(
                            "{} with {length} B: the host was away during {} of {} messages, whose times are among the others; measure again on a quiet host",
                            profile.configuration.name, measured.stalled, measured.came
                        ));
                    }
                    let us = |ns: Option<i64>| match ns {
                        Some(ns) => Cell::number(ns as f64 / 1e3, 1).from(Evidence::Measured),
                        None => Cell::na("too few messages"),
                    };
                    row.push(Cell::count(measured.came).from(Evidence::Measured));
                    row.push(us(measured.latency.and_then(|latency| latency.p50_ns)));
                    row.push(us(measured.latency.and_then(|latency| latency.p99_ns)));
                    row.push(match measured.wire {
                        Some(wire) => Cell::number(wire * f64::from(*length), 0).from(Evidence::Measured),
                        None => Cell::na("no message came"),
                    });
                }
                (_, why) => {
                    let why = why.clone().unwrap_or_default();
                    points.push(format!("{} with {length} B: not measured, because {why}", profile.configuration.name));
                    row.extend((0..4).map(|_| Cell::na("not measured")));
                }
            }
            table.push(row);
        }
    }
    let asked = measured_all + points.len();
    let word = if points.is_empty() { Word::Held } else { Word::NotChecked };
    let text = format!("Of {asked} lengths asked for, {measured_all} could be measured.");
    points.extend(stalls);
    Document {
        title: "What robot middleware takes".into(),
        subtitle: "A publisher and a subscriber on this host".into(),
        verdict: Verdict { word, text, points },
        sections: vec![Section::new("Times and bytes").with(Block::Table(table))],
        environment: Vec::new(),
    }
}
