//! What a recording says about its bus: identifiers with lengths and periods, and how busy the bus was.

use std::collections::BTreeMap;

use chronoseal_core::Duration;
use chronoseal_core::statistics::median;
use chronoseal_wire::can::{BitTiming, CanId, FrameKind};

use crate::recording::{RecordedFrame, Recording};

/// Windows of a load curve; a longer recording wants a longer window.
pub const WINDOWS_MAX: u64 = 1_000_000;

/// What was seen of one identifier on one channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdentifierStatistics {
    /// Index into [`Recording::channels`].
    pub channel: u16,
    /// The identifier.
    pub id: CanId,
    /// Data and remote frames with it.
    pub count: u64,
    /// Remote frames among them.
    pub remote_count: u64,
    /// Median distance of neighbours in time `[ns]`; the mean where most share a time, because the recorder's clock is
    /// coarse. `None` with fewer than two frames, or if all share one time.
    pub period_ns: Option<u64>,
    /// Shortest data field `[byte]`; of remote frames the length they ask for.
    pub len_min: usize,
    /// Longest data field `[byte]`.
    pub len_max: usize,
    /// Kind of the first data frame; `None` if there are only remote frames.
    pub kind: Option<FrameKind>,
}

/// Statistics of every identifier, by channel and identifier.
pub fn identifiers(recording: &Recording) -> Vec<IdentifierStatistics> {
    let mut by_id: BTreeMap<(u16, CanId), Vec<&RecordedFrame>> = BTreeMap::new();
    for recorded in &recording.frames {
        by_id.entry((recorded.channel, recorded.frame.id())).or_default().push(recorded);
    }
    by_id
        .into_iter()
        .map(|((channel, id), frames)| {
            let lengths = frames.iter().map(|recorded| match recorded.frame.kind() {
                FrameKind::Remote => recorded.frame.dlc().classical_len(),
                _ => recorded.frame.data().len(),
            });
            let kinds = frames.iter().map(|recorded| recorded.frame.kind());
            IdentifierStatistics {
                channel,
                id,
                count: frames.len() as u64,
                remote_count: kinds.clone().filter(|kind| kind.is_remote()).count() as u64,
                period_ns: period_ns(&frames),
                len_min: lengths.clone().min().unwrap_or(0),
                len_max: lengths.max().unwrap_or(0),
                kind: kinds.into_iter().find(|kind| !kind.is_remote()),
            }
        })
        .collect()
}

fn period_ns(frames: &[&RecordedFrame]) -> Option<u64> {
    let mut gaps: Vec<u64> = frames.windows(2).map(|pair| pair[1].at_ns - pair[0].at_ns).collect();
    let total: u64 = gaps.iter().sum();
    gaps.sort_unstable();
    let median = median(&gaps)?;
    let period = if median > 0 { median } else { total / gaps.len() as u64 };
    (period > 0).then_some(period)
}

/// How busy a bus was in one window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoadSample {
    /// Start of the window since the recording begins `[ns]`.
    pub start_ns: u64,
    /// Length of the window `[ns]`; the last one ends with the recording.
    pub length_ns: u64,
    /// Time that the frames stamped in the window take on the wire, by their exact bits, stuffing and interframe space
    /// included. It can exceed the window where the recorder stamped late.
    pub busy: Duration,
}

impl LoadSample {
    /// Share of the window `[1]`; for people.
    pub fn load(&self) -> f64 {
        if self.length_ns == 0 { 0.0 } else { self.busy.as_ps() as f64 / (self.length_ns as f64 * 1000.0) }
    }
}

/// Why there is no load curve.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A window of no time.
    #[error("the window is 0 ns long; give at least 1 ns")]
    NoWindow,
    /// More windows than [`WINDOWS_MAX`].
    #[error("{length_ns} ns in windows of {window_ns} ns are more than {WINDOWS_MAX} windows; give a longer window")]
    TooManyWindows {
        /// Of the recording.
        length_ns: u64,
        /// As asked for.
        window_ns: u64,
    },
}

/// Busy time of `channel` in windows of `window_ns`, on a bus with these bits.
///
/// # Errors
/// [`LoadError`] if the window is too short.
pub fn bus_load(
    recording: &Recording,
    channel: u16,
    timing: &BitTiming,
    window_ns: u64,
) -> Result<Vec<LoadSample>, LoadError> {
    let end_ns = recording.frames.last().map_or(0, |frame| frame.at_ns);
    let windows = end_ns.checked_div(window_ns).ok_or(LoadError::NoWindow)? + 1;
    if windows > WINDOWS_MAX {
        return Err(LoadError::TooManyWindows { length_ns: end_ns, window_ns });
    }
    let sample = |window: u64| {
        let start_ns = window * window_ns;
        LoadSample { start_ns, length_ns: window_ns.min(end_ns - start_ns), busy: Duration::ZERO }
    };
    let mut samples: Vec<LoadSample> = (0..windows).map(sample).collect();
    for recorded in recording.frames.iter().filter(|recorded| recorded.channel == channel) {
        samples[(recorded.at_ns / window_ns) as usize].busy += timing.frame(&recorded.frame) + timing.intermission();
    }
    Ok(samples)
}
