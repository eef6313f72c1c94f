//! MACsec with real bytes, on the links of stations where an attacker has frames in its hands.
//!
//! Elsewhere nobody could tell a protected frame from one that is not, and only its bytes and its delay count
//! ([`LineProtection`](crate::line::LineProtection)). Here the station's SecY protects what it sends before the attacker gets it, and
//! the switch's SecY checks what comes by the line before anything else looks at it (IEEE 802.1AE-2018 §10.5 and §10.6). Messages that
//! keep clocks together go through it as all frames do, and are stamped below it, on the wire.

use std::collections::BTreeMap;

use chronoseal_core::DiscardReason;
use chronoseal_frameauth::macsec::{ProtectError, ReceiveSa, TransmitSa};

use super::{Network, NetworkConfig, Seat, Splice};
use crate::line::LineSpeed;
use crate::medium::{FrameId, FrameStore};

/// The keys of one direction of a link, from a station to its switch.
#[derive(Clone, Debug)]
pub struct SecuredLink {
    /// Which, as an index into [`NetworkConfig::links`].
    pub link: usize,
    /// The station's. An attacker with a port of its own has none, so that nothing it sends fits.
    pub sender: TransmitSa,
    /// The switch's.
    pub receiver: ReceiveSa,
}

/// Both ends of every [`SecuredLink`], by link.
pub(super) type SecYs = BTreeMap<usize, (TransmitSa, ReceiveSa)>;

impl NetworkConfig {
    pub(super) fn sec_ys(&self) -> SecYs {
        self.secured.iter().map(|one| (one.link, (one.sender.clone(), one.receiver.clone()))).collect()
    }

    /// How long frames take on a line as they are given to it.
    pub(super) fn speed_of(&self, line: usize) -> LineSpeed {
        let speed = self.links[line / 2].speed;
        let link = line / 2;
        // Who sits behind the wire has a frame protected when it has come over it.
        let is_behind = |splice: &Splice| splice.victim == link && splice.seat == Seat::BehindWire;
        let brings_its_own = line.is_multiple_of(2)
            && self.secured.iter().any(|one| one.link == link)
            && !self.splices.iter().any(is_behind);
        if brings_its_own { speed.with_protected_frames() } else { speed }
    }
}

impl Network {
    /// Protects a frame of the station at a link, if the link has keys.
    pub(super) fn protect(
        &mut self,
        link: usize,
        frame: FrameId,
        frames: &mut FrameStore,
    ) -> Result<(), DiscardReason> {
        let Some((sender, _)) = self.sec_ys.get_mut(&link) else { return Ok(()) };
        let len = frames.len_of(frame) as usize;
        let protected = sender.protect(frames.buffer(frame), len).map_err(|error| match error {
            ProtectError::PacketNumbersExhausted => DiscardReason::NoKey,
            ProtectError::TooShort(_) => DiscardReason::TooShort,
            ProtectError::NoRoom { .. } => DiscardReason::TooLong,
        })?;
        frames.set_len(frame, protected);
        Ok(())
    }

    /// Checks a frame that came by a line whose link has keys, and leaves the frame that was protected.
    #[cold]
    pub(super) fn unprotect(
        &mut self,
        line: usize,
        frame: FrameId,
        frames: &mut FrameStore,
    ) -> Result<(), DiscardReason> {
        let receiver = self.sec_ys.get_mut(&(line / 2)).filter(|_| line.is_multiple_of(2));
        let Some((_, receiver)) = receiver else { return Ok(()) };
        let len = frames.len_of(frame) as usize;
        let checked = receiver.check(frames.buffer(frame), len)?;
        frames.set_len(frame, checked);
        Ok(())
    }
}
