//! The medium of a segment that something else carries.

use chronoseal_core::{Priority, SimTime};
use chronoseal_media::medium::{Attachment, FrameId, FrameStore, Medium, MediumOutput, MediumTimer};

/// Takes the place of a medium where something outside the emulator carries the frames: a CAN interface of the kernel, or
/// cables. Its attachments lead nowhere; as a segment of a [`chronoseal_media::topology::Topology`] it gives them a number.
#[derive(Clone, Copy, Debug)]
pub struct NoMedium;

impl Medium for NoMedium {
    fn start(&mut self, _: SimTime, _: &mut FrameStore, _: &mut Vec<MediumOutput>) {}

    fn handle_frame(
        &mut self,
        _: SimTime,
        _: Attachment,
        _: Priority,
        frame: FrameId,
        frames: &mut FrameStore,
        _: &mut Vec<MediumOutput>,
    ) {
        frames.release(frame);
    }

    fn handle_timer(&mut self, _: SimTime, _: MediumTimer, _: &mut FrameStore, _: &mut Vec<MediumOutput>) {}
}
