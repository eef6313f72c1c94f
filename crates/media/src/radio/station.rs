//! One station: its four queues, whose turn it is, and what its receiver hears.

use std::collections::VecDeque;

use chronoseal_core::random::{self, ChaCha8Rng};
use chronoseal_core::{Duration, SimTime};

use super::access::AccessParameters;
use super::propagation::{Heard, Position};
use super::statistics::StationStatistics;
use super::timing::{DETECTION, SLOT};
use crate::medium::{Attachment, FrameId};

/// A frame that waits for its turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) frame: FrameId,
    pub(super) psdu_len: u64,
    pub(super) offered_at: SimTime,
}

/// The access function of one category (EDCAF).
#[derive(Debug)]
struct AccessFunction {
    parameters: AccessParameters,
    queue: VecDeque<Waiting>,
    /// Draws come from `0..=window`.
    window: u32,
    /// Turns to let pass, as of `first_turn` while the channel is idle.
    backoff: u32,
    /// While the channel is idle: the first moment at which a frame may start. `None`: the channel is busy.
    first_turn: Option<SimTime>,
    /// When its first frame starts, unless the channel becomes busy before.
    start_at: Option<SimTime>,
}

impl AccessFunction {
    /// [IEEE 802.11-2020 §10.23.2.4] At each turn exactly one thing happens: a start, if the backoff is zero, or one off
    /// the backoff. So the turn at which another station starts counts as well.
    fn freeze(&mut self, busy_from: SimTime) {
        let Some(first_turn) = self.first_turn.take() else { return };
        if busy_from >= first_turn {
            let turns = (busy_from - first_turn).div_floor(SLOT) + 1;
            self.backoff = self.backoff.saturating_sub(u32::try_from(turns).unwrap_or(u32::MAX));
        }
        self.start_at = None;
    }

    /// Plans the start of the first frame, if there is one and the channel is idle.
    fn plan(&mut self, now: SimTime) {
        self.start_at = match self.first_turn {
            Some(first_turn) if !self.queue.is_empty() => Some(now.max(first_turn + SLOT * i64::from(self.backoff))),
            _ => None,
        };
    }

    fn draw_backoff(&mut self, rng: &mut ChaCha8Rng) {
        self.backoff = random::uniform_i64(rng, 0, i64::from(self.window)) as u32;
    }
}

/// A frame on its way into a receiver.
#[derive(Clone, Copy, Debug)]
struct Signal {
    transmission: u32,
    heard: Heard,
    /// Most power of all others together at any time so far `[mW]`.
    interference_mw: f64,
    /// True if the station sent while it came in.
    is_deaf: bool,
}

/// What became of a frame at a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reception {
    Whole,
    Lost,
}

/// A station.
#[derive(Debug)]
pub(super) struct Station {
    pub(super) attachment: Attachment,
    pub(super) position: Position,
    pub(super) statistics: StationStatistics,
    /// Chances of its backoff.
    backoff_rng: ChaCha8Rng,
    /// Chances of what it hears.
    pub(super) fading_rng: ChaCha8Rng,
    functions: [AccessFunction; 4],
    signals: Vec<Signal>,
    is_sending: bool,
    busy_since: SimTime,
    /// The earliest access timer on its way.
    pub(super) armed_for: Option<SimTime>,
}

impl Station {
    pub(super) fn new(
        attachment: Attachment,
        position: Position,
        access: &[AccessParameters; 4],
        backoff_rng: ChaCha8Rng,
        fading_rng: ChaCha8Rng,
    ) -> Self {
        let functions = access.map(|parameters| AccessFunction {
            parameters,
            queue: VecDeque::new(),
            window: parameters.cw_min,
            backoff: 0,
            first_turn: None,
            start_at: None,
        });
        Self {
            attachment,
            position,
            statistics: StationStatistics::default(),
            backoff_rng,
            fading_rng,
            functions,
            signals: Vec::new(),
            is_sending: false,
            busy_since: SimTime::ZERO,
            armed_for: None,
        }
    }

    /// The run begins; the channel has been idle for long.
    pub(super) fn start(&mut self, now: SimTime) {
        for function in &mut self.functions {
            function.first_turn = Some(now);
        }
    }

    fn is_busy(&self) -> bool {
        self.is_sending || !self.signals.is_empty()
    }

    /// Takes a frame into the queue of a category.
    ///
    /// # Errors
    /// The frame again if `queue_len_max` wait already.
    pub(super) fn offer(
        &mut self,
        now: SimTime,
        category: usize,
        waiting: Waiting,
        queue_len_max: usize,
    ) -> Result<(), Waiting> {
        let is_busy = self.is_busy();
        let function = &mut self.functions[category];
        if function.queue.len() >= queue_len_max {
            self.statistics.refused += 1;
            return Err(waiting);
        }
        function.queue.push_back(waiting);
        if function.queue.len() > 1 {
            return Ok(());
        }
        if is_busy && function.backoff == 0 {
            function.draw_backoff(&mut self.backoff_rng);
        }
        function.plan(now);
        Ok(())
    }

    /// Frames that wait in all categories.
    pub(super) fn queue_len(&self) -> usize {
        self.functions.iter().map(|function| function.queue.len()).sum()
    }

    /// When its next frame starts, unless the channel becomes busy before.
    pub(super) fn next_start(&self) -> Option<SimTime> {
        self.functions.iter().filter_map(|function| function.start_at).min()
    }

    /// Takes the frame that starts now, if one does. The station is sending from here on.
    pub(super) fn begin_sending(&mut self, now: SimTime) -> Option<Waiting> {
        let is_due = |function: &AccessFunction| function.start_at.is_some_and(|at| at <= now);
        let winner = self.functions.iter().rposition(is_due)?;
        for (index, function) in self.functions.iter_mut().enumerate() {
            let was_due = is_due(function);
            function.freeze(now);
            function.start_at = None;
            if index == winner {
                function.window = function.parameters.cw_min;
                function.draw_backoff(&mut self.backoff_rng);
            } else if was_due {
                // [IEEE 802.11-2020 §10.23.2.4] As after a collision on the air, but nothing was sent.
                self.statistics.internal_collisions += 1;
                function.window = (2 * function.window + 1).min(function.parameters.cw_max);
                function.draw_backoff(&mut self.backoff_rng);
            }
        }
        if !self.is_busy() {
            self.busy_since = now;
        }
        self.is_sending = true;
        for signal in &mut self.signals {
            signal.is_deaf = true;
        }
        let waiting = self.functions[winner].queue.pop_front()?;
        let delay = now - waiting.offered_at;
        let statistics = &mut self.statistics;
        statistics.sent += 1;
        statistics.sent_bytes += waiting.psdu_len;
        statistics.access_delay += delay;
        statistics.access_delay_max = statistics.access_delay_max.max(delay);
        Some(waiting)
    }

    /// Its own frame is over.
    pub(super) fn end_sending(&mut self, now: SimTime, airtime: Duration) {
        self.statistics.sent_airtime += airtime;
        self.is_sending = false;
        self.become_idle(now);
    }

    /// The first bit of somebody's frame arrives.
    pub(super) fn begin_hearing(&mut self, now: SimTime, transmission: u32, heard: Heard) {
        if !self.is_busy() {
            self.busy_since = now;
        }
        for function in &mut self.functions {
            // A turn before the signal is detected is taken; see `timing::DETECTION`.
            if function.start_at.is_none_or(|at| at >= now + DETECTION) {
                function.freeze(now);
            }
        }
        self.signals.push(Signal { transmission, heard, interference_mw: 0.0, is_deaf: self.is_sending });
        let total_mw: f64 = self.signals.iter().map(|signal| signal.heard.power_mw).sum();
        if self.signals.len() > 1 {
            for signal in &mut self.signals {
                signal.interference_mw = signal.interference_mw.max(total_mw - signal.heard.power_mw);
            }
        }
    }

    /// The last bit of somebody's frame has arrived. `capture_ratio` is the power it needs over all others, as a factor.
    pub(super) fn end_hearing(
        &mut self,
        now: SimTime,
        transmission: u32,
        capture_ratio: Option<f64>,
    ) -> Option<Reception> {
        let index = self.signals.iter().position(|signal| signal.transmission == transmission)?;
        let signal = self.signals.remove(index);
        self.become_idle(now);
        let is_overlapped = signal.interference_mw > 0.0
            && capture_ratio.is_none_or(|ratio| signal.heard.power_mw < ratio * signal.interference_mw);
        let statistics = &mut self.statistics;
        let counter = if signal.is_deaf {
            &mut statistics.lost_to_own_transmission
        } else if is_overlapped {
            &mut statistics.lost_to_overlap
        } else if !signal.heard.is_decodable {
            &mut statistics.too_weak
        } else {
            statistics.received += 1;
            return Some(Reception::Whole);
        };
        *counter += 1;
        Some(Reception::Lost)
    }

    /// Starts the next turns, if nothing keeps the channel busy any more.
    fn become_idle(&mut self, now: SimTime) {
        if self.is_busy() {
            return;
        }
        self.statistics.busy += now - self.busy_since;
        for function in &mut self.functions {
            function.first_turn = Some(now + function.parameters.aifs());
            function.plan(now);
        }
    }
}
