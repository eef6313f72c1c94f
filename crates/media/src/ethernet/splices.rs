//! Frames in the hands of attackers on the links of stations.

use std::collections::BTreeMap;

use chronoseal_core::{PortId, Priority, SimTime, StreamId};

use super::{Network, Splice};
use crate::medium::{Attachment, FrameId, FrameStore, MediumOutput};

/// The first bytes of a frame: where it goes.
type Destination = [u8; 6];

/// What priorities stations give to frames that attackers on their links hand on: the last one, by link and address.
#[derive(Debug, Default)]
pub(super) struct Splices(BTreeMap<(usize, Destination), Priority>);

impl Splices {
    fn note(&mut self, splice: &Splice, priority: Priority, bytes: &[u8]) {
        if let Some(destination) = bytes.first_chunk().filter(|_| splice.keeps_priorities) {
            self.0.insert((splice.victim, *destination), priority);
        }
    }

    /// The priority that the frame of an attacker has in the port of its victim, which has `own` to give.
    pub(super) fn priority(&self, splice: &Splice, own: Priority, bytes: &[u8]) -> Priority {
        let noted = bytes.first_chunk().and_then(|destination| self.0.get(&(splice.victim, *destination)));
        noted.copied().unwrap_or(own)
    }
}

impl Network {
    /// A frame of a station comes to the attacker on its link: protected, if the link has keys.
    #[cold]
    pub(super) fn intercept(
        &mut self,
        now: SimTime,
        splice: &Splice,
        priority: Priority,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        self.splices.note(splice, priority, frames.bytes(frame));
        let to = Attachment { node: splice.attacker, port: PortId(0) };
        match self.protect(splice.victim, frame, frames) {
            Ok(()) => out.push(MediumOutput::Deliver { to, frame, departed_at: now }),
            Err(reason) => {
                self.discard(self.judges[2 * splice.victim], frame, StreamId::NONE, reason, frames, out);
            }
        }
    }
}
