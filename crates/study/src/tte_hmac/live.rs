//! The live part: real frames between real processes, one run after the other.

use std::sync::atomic::AtomicBool;

use chronoseal_core::Duration;
use chronoseal_report::Document;
use chronoseal_results::{FrameRow, Outcome, RunRows, RunSummary, StallSummary};
use chronoseal_runner::Run;

use super::scenarios;
use crate::live::{LiveRuns, refusal};
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
    /// Why there is nothing, or not everything.
    pub(super) refused: Option<String>,
    /// What the runs left behind beside.
    pub(super) runs: LiveRuns,
}

/// One live run.
pub(super) struct Measured {
    pub(super) summary: RunSummary,
    /// Its own report.
    pub(super) document: Document,
    pub(super) interrupted: bool,
    pub(super) lost: Lost,
}

/// Frames that did not keep their slots, and how many of them fall into a cycle in which the host stalled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Lost {
    pub(super) frames: u64,
    pub(super) in_stalls: u64,
}

impl Lost {
    /// Of the rows of a run whose schedule has this cycle.
    fn of(rows: &RunRows, cycle: Duration) -> Self {
        let is_lost = |row: &&FrameRow| row.attack.is_none() && row.outcome != Outcome::Delivered;
        let is_stalled = |row: &&FrameRow| {
            let (begin, end) = (row.cycle_start, row.cycle_start + cycle);
            row.stalled || rows.stalls.iter().any(|stall| stall.time < end && stall.time + stall.duration > begin)
        };
        let lost = rows.frames.iter().filter(is_lost);
        Self { frames: lost.clone().count() as u64, in_stalls: lost.filter(is_stalled).count() as u64 }
    }

    /// Which limit of the host was hit, one sentence; nothing if every frame kept its slot.
    fn host_limit(self, stalls: &StallSummary, late_ns: Option<i64>, has_fifo: bool) -> Option<String> {
        let Self { frames, in_stalls } = self;
        if frames == 0 {
            return None;
        }
        let ms = |ns: i64| ns as f64 / 1e6;
        let mut reasons = Vec::new();
        if in_stalls > 0 {
            reasons.push(format!(
                "{in_stalls} fall into base periods in which the host kept a process from its processor ({} stalls, the longest of {:.1} ms)",
                stalls.count,
                ms(stalls.max_ns)
            ));
        }
        if frames > in_stalls {
            let late = late_ns
                .map_or_else(String::new, |ns| format!("; the emulator's own writes were up to {:.3} ms late", ms(ns)));
            reasons.push(format!(
                "{} fall into others, where a wake-up of the host took longer than the guard period leaves room for{late}",
                frames - in_stalls
            ));
        }
        if !has_fifo {
            reasons.push("SCHED_FIFO was not granted, so whatever else runs comes first".into());
        }
        Some(format!("The host's limit: of the {frames} that did not keep them, {}.", reasons.join(", and ")))
    }
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

    /// Which limit of the host kept frames of that run from their slots; nothing if none was hit.
    pub(super) fn host_limit(&self) -> Option<String> {
        let (_, _, run) = self.full.iter().find(|(nodes, len, _)| (*nodes, *len) == (2, 60))?;
        let late_ns = run.summary.release_error.as_ref().map(|error| error.max_ns);
        let has_fifo = !self.runs.host.iter().any(|(_, fact)| fact.contains("SCHED_OTHER"));
        run.lost.host_limit(&run.summary.stalls, late_ns, has_fifo)
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
    live.refused = refusal(everything(&mut live, options, stop, progress))?;
    Ok(live)
}

fn everything(
    live: &mut Live,
    options: &StudyOptions,
    stop: &AtomicBool,
    progress: &mut Progress<'_>,
) -> Result<(), StudyError> {
    let long = if options.full { "300s" } else { "10s" };
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
    let seed = options.seed.to_string();
    let sets = [sets, &[("seed", seed.as_str())]].concat();
    let scenario = scenarios::load(scenario, &sets)?;
    let Some((run, document)) = live.runs.run(options, stop, &scenario, name)? else { return Ok(None) };
    let Run { meta, summary, rows } = run;
    let interrupted = meta.interrupted;
    let schedule = meta.segments.iter().find_map(|segment| segment.schedule.as_ref());
    let cycle = schedule.map_or(Duration::ZERO, |schedule| Duration::from_ns(schedule.cycle_ns));
    let lost = Lost::of(&rows, cycle);
    Ok(Some(Measured { summary, document, interrupted, lost }))
}

#[cfg(test)]
mod tests {
    use chronoseal_core::{NodeId, SimTime, StreamId};
    use chronoseal_results::StallRow;

    use super::*;

    fn frame(cycle_ms: i64, outcome: Outcome) -> FrameRow {
        let cycle_start = SimTime::ZERO + Duration::from_ms(cycle_ms);
        FrameRow {
            stream: StreamId(0),
            sequence: 0,
            sender: NodeId(0),
            at: NodeId(1),
            attack: None,
            len: 60,
            cycle_start,
            slot_start: Some(cycle_start),
            sent_at: None,
            arrived_at: None,
            departed_at: None,
            received_at: None,
            due_at: None,
            accepted_at: None,
            outcome,
            stalled: false,
            lost_for: None,
        }
    }

    #[test]
    fn what_kept_frames_from_their_slots_is_named() {
        let stall = StallRow { time: SimTime::ZERO + Duration::from_ms(19), duration: Duration::from_ms(3) };
        let mut rows = RunRows {
            frames: vec![frame(0, Outcome::Delivered), frame(10, Outcome::Missing), frame(20, Outcome::Late)],
            stalls: vec![stall],
            ..RunRows::default()
        };
        let cycle = Duration::from_ms(10);
        assert_eq!(Lost::of(&rows, cycle), Lost { frames: 2, in_stalls: 2 });
        rows.frames.push(frame(30, Outcome::Missing));
        let lost = Lost::of(&rows, cycle);
        assert_eq!(lost, Lost { frames: 3, in_stalls: 2 });

        let stalls = StallSummary { count: 1, total_ns: 3_000_000, max_ns: 3_000_000, frames: 0 };
        let said = lost.host_limit(&stalls, Some(250_000), true).unwrap();
        for part in [
            "of the 3",
            "2 fall into base periods",
            "1 stalls, the longest of 3.0 ms",
            "1 fall into others",
            "0.250 ms late",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(!said.contains("SCHED_FIFO"));
        assert!(lost.host_limit(&stalls, None, false).unwrap().contains("SCHED_FIFO was not granted"));
        assert_eq!(Lost::default().host_limit(&stalls, None, false), None, "a host that kept every slot hit no limit");
    }
}
