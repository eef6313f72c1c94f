//! One direction of a full-duplex Ethernet link, with the egress queues in front of it.

use std::collections::VecDeque;

use chronoseal_core::{Duration, Priority, SimTime};

pub use self::reserved::ReservedStarts;
pub use self::speed::{LineProtection, LineSpeed};
use crate::medium::{FrameId, FrameStore};
use crate::port::TRAFFIC_CLASSES;

mod reserved;
mod speed;

/// A frame that wants to go over a line.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// Which.
    pub frame: FrameId,
    /// From its header to the last byte before the checksum `[byte]`.
    pub len: u64,
    /// Its class.
    pub priority: Priority,
    /// When it should start, if it is due at a time.
    pub due: Option<SimTime>,
}

/// The queues of a line have no room for a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the queues of the line are full")]
pub struct QueueFull;

/// A frame that has just started on its line.
#[derive(Clone, Copy, Debug)]
pub struct Started {
    /// Which.
    pub frame: FrameId,
    /// Its class.
    pub priority: Priority,
    /// When it is at the other end ([`LineSpeed::reception`]).
    pub arrives_at: SimTime,
    /// When it should have started, if it was due at a time.
    pub due: Option<SimTime>,
    /// Look again at this time, for the next frame; asked for once.
    pub look_again_at: Option<SimTime>,
}

/// What a look at the line's queues led to.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A frame started.
    Started(Started),
    /// Look again at this time; asked for once.
    LookAgain(SimTime),
    /// Nothing to do until the next frame is offered.
    Idle,
}

/// One direction of a link: strict-priority queues, a wire, and the frames on it.
#[derive(Debug)]
pub struct Line {
    speed: LineSpeed,
    /// Each queue holds at most this much, or all of them together `[byte]`.
    queue_len_max: u64,
    is_shared: bool,
    /// By priority: its queue.
    class_of: [Priority; Priority::COUNT],
    queues: [VecDeque<Offer>; Priority::COUNT],
    /// Bit p is set while queue p holds a frame.
    waiting: u16,
    /// By queue, or all of it with the first.
    queued_bytes: [u64; Priority::COUNT],
    free_at: SimTime,
    /// Time it is used by the frames that have started, until [`Self::free_at`]; some of it may lie ahead.
    busy: Duration,
    look_again_at: Option<SimTime>,
    /// Frames on the wire with the start of each, in order.
    on_wire: VecDeque<(FrameId, SimTime)>,
    reserved: ReservedStarts,
}

impl Line {
    /// A line of a speed with so much room in each of its queues `[byte]`, whose `reserved` starts no lower class may delay (timely
    /// block, SAE AS6802).
    pub fn new(speed: LineSpeed, queue_len_max: u64, reserved: ReservedStarts) -> Self {
        Self {
            speed,
            queue_len_max,
            is_shared: false,
            class_of: std::array::from_fn(|priority| Priority(priority as u8)),
            queues: Default::default(),
            waiting: 0,
            queued_bytes: [0; Priority::COUNT],
            free_at: SimTime::default(),
            busy: Duration::ZERO,
            look_again_at: None,
            on_wire: VecDeque::new(),
            reserved,
        }
    }

    /// The same line, where frames of the first priorities have the queues of these classes, as at a port of IEEE 802.1Q.
    ///
    /// # Panics
    /// If a class is none.
    #[must_use]
    pub fn with_classes(mut self, class_of: [u8; TRAFFIC_CLASSES]) -> Self {
        assert!(class_of.iter().all(|class| usize::from(*class) < TRAFFIC_CLASSES), "there are eight classes");
        self.class_of[..TRAFFIC_CLASSES].copy_from_slice(&class_of.map(Priority));
        self
    }

    /// The same line, all of whose queues together have the room of one.
    #[must_use]
    pub fn with_shared_queue(mut self, is_shared: bool) -> Self {
        self.is_shared = is_shared;
        self
    }

    /// Where what a queue holds is counted.
    #[inline(always)]
    fn account(&self, class: usize) -> usize {
        if self.is_shared { 0 } else { class }
    }

    /// How long frames take on it.
    #[inline(always)]
    pub fn speed(&self) -> &LineSpeed {
        &self.speed
    }

    /// Its reserved starts go by a clock from now on ([`ReservedStarts::follow`]).
    pub fn follow(&mut self, clock: Option<chronoseal_core::Oscillator>) {
        self.reserved.follow(clock);
    }

    /// Takes a frame: starts it if it may start and nobody is before it, else queues it.
    ///
    /// # Errors
    /// [`QueueFull`] if there is no room for it.
    #[inline(always)]
    pub fn offer(&mut self, now: SimTime, offer: Offer) -> Result<Step, QueueFull> {
        let priority = self.class_of[usize::from(offer.priority.0).min(Priority::COUNT - 1)];
        let offer = Offer { priority, ..offer };
        let account = self.account(usize::from(priority.0));
        if self.queued_bytes[account] + offer.len > self.queue_len_max {
            return Err(QueueFull);
        }
        if self.waiting == 0 && self.clear_at(now, &offer) == now {
            return Ok(Step::Started(self.start(now, offer)));
        }
        let class = usize::from(offer.priority.0);
        self.queues[class].push_back(offer);
        self.waiting |= 1 << class;
        self.queued_bytes[account] += offer.len;
        if now < self.free_at {
            // Whoever is next, it is not before then; what has just been written need not be read back to know that.
            return Ok(self.look_again(now, self.free_at).map_or(Step::Idle, Step::LookAgain));
        }
        Ok(self.step(now))
    }

    /// Starts the next frame if the wire is free and the frame may start.
    ///
    /// # Panics
    /// Never: the bit of a priority is set while its queue holds a frame.
    #[inline]
    pub fn step(&mut self, now: SimTime) -> Step {
        if self.waiting == 0 {
            return Step::Idle;
        }
        let class = 15 - self.waiting.leading_zeros() as usize;
        let head = *self.queues[class].front().expect("a queue whose bit is set holds a frame");
        let clear_at = self.clear_at(now, &head);
        if clear_at > now {
            return self.look_again(now, clear_at).map_or(Step::Idle, Step::LookAgain);
        }
        self.queues[class].pop_front();
        if self.queues[class].is_empty() {
            self.waiting &= !(1 << class);
        }
        let account = self.account(class);
        self.queued_bytes[account] -= head.len;
        Step::Started(self.start(now, head))
    }

    /// When a frame may start, or when to look again whether it may: `now` if it may now.
    #[inline(always)]
    fn clear_at(&self, now: SimTime, offer: &Offer) -> SimTime {
        if now < self.free_at {
            return self.free_at;
        }
        if offer.priority == Priority::TIME_TRIGGERED {
            return now;
        }
        self.reserved.blocked_until(now, self.speed.occupancy(offer.len)).unwrap_or(now)
    }

    #[inline(always)]
    fn start(&mut self, now: SimTime, offer: Offer) -> Started {
        let Offer { frame, len, priority, due } = offer;
        let occupancy = self.speed.occupancy(len);
        self.free_at = now + occupancy;
        self.busy += occupancy;
        let look_again_at = if self.waiting == 0 { None } else { self.look_again(now, self.free_at) };
        Started { frame, priority, arrives_at: now + self.speed.reception(len), due, look_again_at }
    }

    /// A line whose frames wait in front of it, in a [`Port`](crate::port::Port): it is told when it is used, and takes no frame
    /// itself.
    pub fn behind_port(speed: LineSpeed) -> Self {
        Self::new(speed, 0, ReservedStarts::default())
    }

    /// Its port uses it from now on until then, whatever was said before of the time from now on.
    pub fn use_until(&mut self, now: SimTime, until: SimTime) {
        if until != self.free_at && (until > now || self.free_at > now) {
            self.busy += until.max(now) - now - self.busy_after(now);
            self.free_at = until.max(now);
        }
    }

    /// The wire is used until then, as far as is known.
    pub const fn free_at(&self) -> SimTime {
        self.free_at
    }

    /// Time it was used before `until`, since the moment given to [`Self::forget_busy_before`] last. No frame has started
    /// after `until`.
    pub fn busy_before(&self, until: SimTime) -> Duration {
        self.busy - self.busy_after(until)
    }

    /// Begins to count the time it is used anew from `until` on. No frame has started after `until`.
    pub fn forget_busy_before(&mut self, until: SimTime) {
        self.busy = self.busy_after(until);
    }

    /// What the frame on the wire still needs after `until`.
    fn busy_after(&self, until: SimTime) -> Duration {
        if self.free_at > until { self.free_at - until } else { Duration::ZERO }
    }

    /// Keeps a frame that has started until somebody takes it at its arrival.
    #[inline(always)]
    pub fn put_on_wire(&mut self, frame: FrameId, started_at: SimTime) {
        self.on_wire.push_back((frame, started_at));
    }

    /// Takes the oldest frame off the wire, with the time it started. `None` if the wire is empty.
    #[inline]
    pub fn take_arrived(&mut self) -> Option<(FrameId, SimTime)> {
        self.on_wire.pop_front()
    }

    /// `at`, unless an earlier look is still to come.
    #[inline(always)]
    fn look_again(&mut self, now: SimTime, at: SimTime) -> Option<SimTime> {
        if self.look_again_at.is_some_and(|asked| now < asked && asked <= at) {
            return None;
        }
        self.look_again_at = Some(at);
        Some(at)
    }
}

/// Adds the time a control frame spent before its first bit, and will spend on the line, to its transparent clock.
pub(crate) fn stamp_transparent_clock(frame: FrameId, delay: Duration, frames: &mut FrameStore) {
    let len = frames.len_of(frame) as usize;
    chronoseal_wire::protocol_control_frame::add_transparent_clock(&mut frames.buffer(frame)[..len], delay);
}

#[cfg(test)]
mod tests;
