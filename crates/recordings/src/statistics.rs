//! What a recording says about its bus: identifiers with lengths and periods, and how busy the bus was.

use std::collections::BTreeMap;

use chronoseal_core::Duration;
use chronoseal_core::statistics::median;
use chronoseal_wire::can::{BitTiming, CanId, FrameKind};

use crate::recording::{RecordedFrame, Recording};

/// Windows of a load curve; a longer recording wants a longer window.
pub const WINDOWS_MAX: u64 = 1_000_000;

/// A frame that is so much before the curve of a burst is no further one `[1]`.
const BURST_TOLERANCE: f64 = 0.1;

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
    /// The data of all data frames together `[byte]`.
    pub data_len: u64,
    /// From the first data frame to the last `[ns]`.
    pub span_ns: u64,
    /// When the first data frame came, since the recording begins `[ns]`.
    pub begin_ns: u64,
    /// Data frames that came at once at most: with as many, a curve of their mean rate is nowhere below what came, but for a tenth of a
    /// frame.
    pub burst: u64,
}

impl IdentifierStatistics {
    /// Data frames.
    pub const fn data_count(&self) -> u64 {
        self.count - self.remote_count
    }
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
            let data = || frames.iter().filter(|recorded| !recorded.frame.kind().is_remote());
            let (begin_ns, end_ns) = (data().next(), data().next_back());
            let (begin_ns, end_ns) = (begin_ns.map_or(0, |it| it.at_ns), end_ns.map_or(0, |it| it.at_ns));
            IdentifierStatistics {
                channel,
                id,
                count: frames.len() as u64,
                remote_count: kinds.clone().filter(|kind| kind.is_remote()).count() as u64,
                period_ns: period_ns(&frames),
                len_min: lengths.clone().min().unwrap_or(0),
                len_max: lengths.max().unwrap_or(0),
                kind: kinds.into_iter().find(|kind| !kind.is_remote()),
                data_len: data().map(|recorded| recorded.frame.data().len() as u64).sum(),
                span_ns: end_ns - begin_ns,
                begin_ns,
                burst: burst(data().map(|recorded| recorded.at_ns - begin_ns), end_ns - begin_ns),
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

/// The smallest burst with which a curve of the mean rate bounds frames that came at these times, the last of them at `span_ns`.
fn burst(times_ns: impl Iterator<Item = u64> + Clone, span_ns: u64) -> u64 {
    let last = times_ns.clone().count().saturating_sub(1);
    let (mut lowest, mut most) = (f64::INFINITY, 0f64);
    for (before, at_ns) in times_ns.enumerate() {
        let above = before as f64 - if span_ns > 0 { last as f64 * (at_ns as f64 / span_ns as f64) } else { 0.0 };
        lowest = lowest.min(above);
        most = most.max(above + 1.0 - lowest);
    }
    (most - BURST_TOLERANCE).ceil().max(0.0) as u64
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
