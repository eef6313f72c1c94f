//! What of a capture no stream describes, and why; and whether it becomes a recording.

use super::dissect::Key;
use super::observation::{Observation, Seen};
use super::rate::{Rate, shown};
use super::show_key;
use crate::limits::{PERIOD_MIN, RECORDINGS_MAX};

/// A flow that was there for a smaller share of the capture is no stream, for a stream goes on all the time `[1]`.
const SHARE_MIN: f64 = 0.05;
/// One that was there for a smaller share is a stream by an assumption `[1]`.
const SHARE_WHOLE: f64 = 0.9;
/// Flows that were there for a short time and are named one by one.
const BRIEF_MAX: u64 = 20;

/// What becomes of a flow.
pub(super) enum Fate {
    Stream,
    /// No stream, since this is so, but a recording of its frames.
    Recording(String),
    LeftOut,
}

/// What is not in the scenario.
#[derive(Default)]
pub(super) struct LeftOut {
    warnings: Vec<String>,
    /// So many more flows may become recordings.
    recordings: usize,
    /// Flows that were there for a short time.
    brief: u64,
    /// Frames and bytes of those that are not named.
    unnamed: (u64, u64),
    /// Of flows with one frame.
    single: Lengths,
    /// Of flows whose frames all came at once.
    at_once: Lengths,
}

/// Frames of which there is nothing but their lengths.
#[derive(Clone, Copy, Default)]
struct Lengths {
    frames: u64,
    bytes: u64,
    longest: u64,
}

impl LeftOut {
    /// Nothing yet. Flows become recordings if these are written.
    pub(super) fn new(writes_recordings: bool) -> Self {
        Self { recordings: if writes_recordings { RECORDINGS_MAX as usize } else { 0 }, ..Self::default() }
    }

    pub(super) fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// Takes a flow that has no distance of two frames.
    pub(super) fn take_unmeasured(&mut self, flow: &Seen) {
        let lengths = if flow.frames.len() > 1 { &mut self.at_once } else { &mut self.single };
        for frame in &flow.frames {
            lengths.frames += 1;
            lengths.bytes += frame.len;
            lengths.longest = lengths.longest.max(frame.len);
        }
    }

    /// What helps if no stream is left.
    pub(super) const fn help(&self) -> &'static str {
        if self.single.frames > 1 {
            "requests that each come from a port of their own have no period however long the capture is: put those of one kind \
             together by hand, as one stream; other streams need a capture of a few periods of the slowest"
        } else if self.warnings.is_empty() {
            "capture for a few periods of the slowest stream"
        } else if self.brief > 0 {
            "keep the part of the capture in which they come all the time, or write streams for them by hand"
        } else {
            "write streams for them by hand"
        }
    }

    /// What becomes of a flow whose first frame came `begin_ns` behind the first of the capture.
    pub(super) fn fate(&mut self, key: &Key, rate: &Rate, begin_ns: u64, capture_ns: u64) -> Fate {
        let counted = format!("{} frames, {}", rate.frames, show_rate(rate.bytes_per_s));
        let (why, remedy) = if share(rate, capture_ns) < SHARE_MIN {
            self.brief += 1;
            if self.brief > BRIEF_MAX {
                self.unnamed.0 += rate.frames as u64;
                self.unnamed.1 += rate.bytes;
                return Fate::LeftOut;
            }
            let why = format!(
                "it was seen for {} of {} only, from {} on: {} frames, {}B",
                shown(rate.span_ns),
                shown(capture_ns),
                shown(begin_ns),
                rate.frames,
                rate.bytes,
            );
            let remedy = format!(
                "A stream goes on all the time and would have {} instead of {}. If it does go on, keep the part of the \
                 capture that it is in, or write a stream for it",
                show_rate(rate.bytes_per_s),
                show_rate(over_all(rate, capture_ns)),
            );
            (why, remedy)
        } else if rate.is_undescribed() {
            let why = format!(
                "its {} frames have a rate of {}, and up to {:.0} kB more at once, which no period and burst describes",
                rate.frames,
                show_rate(rate.bytes_per_s),
                rate.burst / 1e3,
            );
            (why, "Nothing counts it. Write streams for it".to_owned())
        } else if shown(rate.period_ns) < PERIOD_MIN {
            let why = format!(
                "its {} frames come every {}, and no period is below {PERIOD_MIN}",
                rate.frames,
                shown(rate.period_ns)
            );
            let remedy = "Write a stream of longer messages for it, or take a capture whose clock is right";
            (why, format!("Nothing counts its {}. {remedy}", show_rate(rate.bytes_per_s)))
        } else if key.virtual_link == Some(0) {
            let why = format!("a scenario has virtual links 1 to {}", u16::MAX);
            (why, format!("Nothing counts its {counted}. Give it a free identifier and write a stream for it"))
        } else {
            return Fate::Stream;
        };
        if self.recordings > 0 {
            self.recordings -= 1;
            return Fate::Recording(why);
        }
        self.warnings.push(format!("{} is not in the scenario: {why}. {remedy}", show_key(key)));
        Fate::LeftOut
    }

    pub(super) fn into_warnings(mut self, capture_ns: u64) -> Vec<String> {
        if let (more @ 1.., (frames, bytes)) = (self.brief.saturating_sub(BRIEF_MAX), self.unnamed) {
            self.warnings.push(format!(
                "{more} more flows are not in the scenario: each was seen for less than {:.0} % of the capture; together \
                 {frames} frames, {bytes}B",
                SHARE_MIN * 100.0
            ));
        }
        let Lengths { frames, bytes, longest } = self.single;
        match frames {
            0 => {}
            1 => self.warnings.push(format!("1 frame of {bytes}B is not in the scenario: a single frame has no period")),
            _ => self.warnings.push(format!(
                "{frames} frames are not in the scenario: each is the only one of its flow, as requests from ever new ports are, \
                 and a single frame has no period. Together they are {bytes}B, {} over the capture, one every {}, none longer than \
                 {longest}B. Put those of one kind together by hand, as one stream",
                show_rate(bytes as f64 / (capture_ns.max(1) as f64 * 1e-9)),
                shown(capture_ns / frames),
            )),
        }
        let Lengths { frames, bytes, .. } = self.at_once;
        if frames > 0 {
            self.warnings.push(format!(
                "{frames} frames, {bytes}B, are not in the scenario: all frames of their flow have the same time, which gives no \
                 period"
            ));
        }
        self.warnings
    }
}

/// For how much of the capture a flow was there, up to when its next frame would have come `[1]`.
fn share(rate: &Rate, capture_ns: u64) -> f64 {
    (rate.span_ns as f64 + rate.period_ns as f64) / capture_ns.max(1) as f64
}

/// Its rate if it is spread over the whole capture `[byte/s]`.
fn over_all(rate: &Rate, capture_ns: u64) -> f64 {
    rate.bytes as f64 / (capture_ns.max(1) as f64 * 1e-9)
}

/// What is assumed of a flow that was there for a part of the capture. The rate of few frames is over the whole of it anyway.
pub(super) fn assumed(rate: &Rate, begin_ns: u64, capture_ns: u64) -> Option<String> {
    (!rate.is_few && share(rate, capture_ns) < SHARE_WHOLE).then(|| {
        format!(
            "assumed: it goes on all the time, though it was seen for {} of {} only, from {} on. Over the whole capture its rate \
             is {}.",
            shown(rate.span_ns),
            shown(capture_ns),
            shown(begin_ns),
            show_rate(over_all(rate, capture_ns)),
        )
    })
}

/// When the first frame of a flow came, from the first of the capture `[ns]`.
pub(super) fn begin_ns(seen: &Observation, key: &Key) -> u64 {
    let first = seen.flows.get(key).and_then(|flow| flow.frames.first());
    first.map_or(0, |frame| seen.since_begin_ns(frame.at_ns))
}

pub(super) fn show_rate(bytes_per_s: f64) -> String {
    if bytes_per_s >= 1e5 { format!("{:.1} kB/s", bytes_per_s / 1e3) } else { format!("{bytes_per_s:.1} B/s") }
}
