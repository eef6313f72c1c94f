//! The live part: real frames between real processes, one run after the other.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use chronoseal_report::{Document, html, run_report};
use chronoseal_results::{RunSummary, store};
use chronoseal_runner::{LiveOptions, MeasureError, Run, measure};

use super::scenarios;
use crate::{Progress, StudyError, StudyOptions};

/// Frame sizes of the switch measurement: the source's smallest, the same with a SHA-1 tag, the source's largest.
pub(super) const SWITCH_LENGTHS: [u32; 3] = [60, 80, 1514];

/// Rates tried for the highest the emulator carries, with the period of one frame `[frames/s]`.
const RATES: [(u32, &str); 9] = [
    (5_000, "200us"),
    (10_000, "100us"),
    (20_000, "50us"),
    (25_000, "40us"),
    (40_000, "25us"),
    (50_000, "20us"),
    (80_000, "12.5us"),
    (100_000, "10us"),
    (125_000, "8us"),
];

/// Of the frames sent, at least this share has to arrive for a rate to count as carried.
pub(super) const CARRIED_SHARE: f64 = 0.999;

/// What was measured live.
#[derive(Default)]
pub(super) struct Live {
    /// Table II and III: by frame length on the wire.
    pub(super) switch: Vec<(u32, Measured)>,
    /// Table I and III: (nodes, frame length on the wire).
    pub(super) full: Vec<(usize, u32, Measured)>,
    /// Every rate tried: offered, sent and delivered `[frames/s]`.
    pub(super) rates: Vec<Rate>,
    /// By protection.
    pub(super) forger: Vec<(&'static str, Measured)>,
    /// Facts about host and emulator, from the last run.
    pub(super) host: Vec<(String, String)>,
    /// Why there is nothing, or not everything.
    pub(super) refused: Option<String>,
    /// What to know of them, with the names of the runs it is about.
    pub(super) warnings: Vec<(String, Vec<String>)>,
    /// The report of each run, and where it belongs.
    pub(super) pages: Vec<(PathBuf, String)>,
}

/// One live run.
pub(super) struct Measured {
    pub(super) summary: RunSummary,
    /// Its own report.
    pub(super) document: Document,
    pub(super) interrupted: bool,
}

/// One rate.
pub(super) struct Rate {
    pub(super) offered: u32,
    pub(super) sent: u64,
    pub(super) delivered: u64,
}

impl Rate {
    pub(super) fn is_carried(&self) -> bool {
        // A sender that cannot keep up has not offered the rate.
        let asked = f64::from(self.offered);
        self.delivered as f64 >= CARRIED_SHARE * self.sent as f64 && self.sent as f64 >= 0.98 * asked
    }
}

impl Live {
    /// Frames that kept their slots with every slot used by two nodes, and how many there were.
    pub(super) fn slots_kept(&self) -> Option<(u64, u64)> {
        let (_, _, run) = self.full.iter().find(|(nodes, len, _)| (*nodes, *len) == (2, 60))?;
        let streams = &run.summary.streams;
        let kept: u64 = streams.iter().map(|stream| stream.delivered).sum();
        let rest: u64 = streams
            .iter()
            .map(|stream| stream.late + stream.missing + stream.unaccounted + stream.discarded_total())
            .sum();
        Some((kept, kept + rest))
    }
}

/// Runs everything, or nothing if the host refuses.
pub(super) fn measure_all(
    options: &StudyOptions,
    stop: &AtomicBool,
    progress: &mut Progress<'_>,
) -> Result<Live, StudyError> {
    let mut live = Live::default();
    if !options.live {
        live.refused = Some("left out on request".into());
        return Ok(live);
    }
    match everything(&mut live, options, stop, progress) {
        Err(StudyError::Measure(MeasureError::Live(error))) if error.is_refusal() => {
            live.refused = Some(error.to_string());
        }
        other => other?,
    }
    Ok(live)
}

fn everything(
    live: &mut Live,
    options: &StudyOptions,
    stop: &AtomicBool,
    progress: &mut Progress<'_>,
) -> Result<(), StudyError> {
    let long = if options.full { "300s" } else { "20s" };
    for (index, len) in SWITCH_LENGTHS.into_iter().enumerate() {
        progress(0.25 + 0.15 * index as f64, &format!("live: Table II, {len} bytes, {long}"));
        let length = scenarios::length(if len == 80 { 60 } else { len });
        let protection = if len == 80 { "sha1-20" } else { "none" };
        let sets =
            [("duration", long), ("streams.frame.length", length.as_str()), ("streams.frame.protection", protection)];
        let name = format!("switch-{len}B");
        if let Some(run) = one(live, options, stop, scenarios::SWITCH, &sets, &name)? {
            live.switch.push((len, run));
        }
    }
    for (index, (nodes, len)) in [(2, 60), (2, 80), (4, 60), (4, 80)].into_iter().enumerate() {
        progress(0.7 + 0.03 * index as f64, &format!("live: 48 slots, {nodes} nodes, {len} bytes"));
        let protection = if len == 80 { "sha1-20" } else { "none" };
        let sets = [("streams.forth.protection", protection), ("streams.back.protection", protection)];
        let scenario = if nodes == 2 { scenarios::FULL } else { scenarios::FULL_4 };
        let name = format!("full-{nodes}-nodes-{len}B");
        if let Some(run) = one(live, options, stop, scenario, &sets, &name)? {
            live.full.push((nodes, len, run));
        }
    }
    for (index, (offered, period)) in RATES.into_iter().enumerate() {
        progress(0.82 + 0.01 * index as f64, &format!("live: {offered} frames a second"));
        let sets = [("streams.load.period", period)];
        let name = format!("rate-{offered}");
        let Some(run) = one(live, options, stop, scenarios::RATE, &sets, &name)? else { continue };
        let stream = &run.summary.streams[0];
        live.rates.push(Rate { offered, sent: stream.sent, delivered: stream.delivered + stream.late });
    }
    for (index, protection) in super::forger::PROTECTIONS.into_iter().enumerate() {
        progress(0.9 + 0.02 * index as f64, &format!("live: forger against {protection}"));
        let sets = super::forger::sets(protection);
        let sets: Vec<(&str, &str)> = sets.iter().map(|(path, value)| (path.as_str(), *value)).collect();
        if let Some(run) = one(live, options, stop, scenarios::FORGER, &sets, &format!("forger-{protection}"))? {
            live.forger.push((protection, run));
        }
    }
    Ok(())
}

/// One run, stored; `None` once the user wants to stop.
fn one(
    live: &mut Live,
    options: &StudyOptions,
    stop: &AtomicBool,
    scenario: (&str, &str),
    sets: &[(&str, &str)],
    name: &str,
) -> Result<Option<Measured>, StudyError> {
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let seed = options.seed.to_string();
    let sets = [sets, &[("seed", seed.as_str())]].concat();
    let scenario = scenarios::load(scenario, &sets)?;
    let live_options = LiveOptions {
        capture: true,
        no_fifo: options.no_fifo,
        agent_command: options.agent_command.clone(),
        ..Default::default()
    };
    let Run { meta, summary, rows } = measure(&scenario, &live_options, stop)?;
    let folder = options.folder.join("live").join(name);
    store::write(&folder, &meta, &summary, &rows)?;
    let document = run_report(&meta, &summary, &rows);
    live.pages.push((folder.join("report.html"), html(&document)));
    live.host.clone_from(&meta.host);
    for warning in &meta.warnings {
        match live.warnings.iter_mut().find(|(known, _)| known == warning) {
            Some((_, runs)) => runs.push(name.to_owned()),
            None => live.warnings.push((warning.clone(), vec![name.to_owned()])),
        }
    }
    let interrupted = meta.interrupted;
    Ok(Some(Measured { summary, document, interrupted }))
}
