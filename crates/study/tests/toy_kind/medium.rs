//! The segment between the stations: whatever goes in at one end comes out at the other after a fixed time.

use std::collections::VecDeque;

use chronoseal_core::{Duration, Priority, SimTime};
use chronoseal_media::medium::{Attachment, FrameId, FrameStore, Medium, MediumOutput, MediumTimer, Series};

/// The medium.
pub(crate) struct Toy {
    delay: Duration,
    ends: Vec<Attachment>,
    /// Every frame takes the same time, so the first one in is the first one out.
    under_way: VecDeque<(Attachment, FrameId, SimTime)>,
    frames_carried: i64,
}

impl Toy {
    /// Between the two `ends`.
    pub(crate) fn new(delay: Duration, ends: Vec<Attachment>) -> Self {
        Self { delay, ends, under_way: VecDeque::new(), frames_carried: 0 }
    }
}

impl Medium for Toy {
    fn start(&mut self, _: SimTime, _: &mut FrameStore, _: &mut Vec<MediumOutput>) {}

    fn handle_frame(
        &mut self,
        now: SimTime,
        from: Attachment,
        _: Priority,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        match self.ends.iter().find(|end| **end != from) {
            Some(to) => {
                self.under_way.push_back((*to, frame, now));
                out.push(MediumOutput::Timer { at: now + self.delay, timer: MediumTimer::new(0) });
            }
            // A medium owns what it is given: what goes nowhere is released.
            None => frames.release(frame),
        }
    }

    fn handle_timer(&mut self, _: SimTime, _: MediumTimer, _: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        if let Some((to, frame, departed_at)) = self.under_way.pop_front() {
            self.frames_carried += 1;
            out.push(MediumOutput::Deliver { to, frame, departed_at });
        }
    }

    fn series(&self) -> Vec<Series> {
        vec![Series::total("frames", "frames", self.frames_carried)]
    }
}
