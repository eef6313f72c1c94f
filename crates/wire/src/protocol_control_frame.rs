//! Protocol control frames, the synchronisation messages of SAE AS6802.
//!
//! ```text
//! body                                                              frame
//!  0  integration cycle   4   number of the cycle it stands for      14
//!  4  membership new      4   one bit for each synchronisation master 18
//!  8  reserved            4                                          22
//! 12  sync priority       1                                          26
//! 13  sync domain         1                                          27
//! 14  type                1   low four bits; the high four reserved  28
//! 15  reserved            5                                          29
//! 20  transparent clock   8   delay collected so far [2^-16 ns]      34
//! ```
//! All fields are big-endian, reserved ones are sent as 0 and ignored. The 28 bytes are padded to a minimum frame. Wireshark's
//! `tte_pcf` dissects them; `tests/tshark.rs` lets it read what this module wrote.
//!
//! # The transparent clock
//! Every device that passes the frame on adds the delay it caused, so that a receiver knows how old the frame is. The
//! unit on the wire is 2^-16 ns = 125/8192 ps, finer than our picosecond. Both conversions round to the nearest, so
//! that every whole number of picoseconds survives the wire unchanged, and adding on the wire errs by at most half a
//! unit, 0.0077 ps, per device. Times below zero are sent as 0; times beyond the field (3.26 days) as its largest value.

use chronoseal_core::{DiscardReason, Duration};

use crate::ethernet::{self, Header, MacAddress, TypeOrLength};
use crate::field;

/// EtherType of protocol control frames.
pub const ETHERTYPE_PROTOCOL_CONTROL: u16 = 0x891d;
/// Length of the body `[byte]`.
pub const BODY_LEN: usize = 28;
/// Length of every protocol control frame, without checksum `[byte]`.
pub const FRAME_LEN: usize = ethernet::FRAME_LEN_MIN;

const TYPE_OFFSET: usize = 14;
const TRANSPARENT_CLOCK_OFFSET: usize = 20;
const TYPE_MASK: u8 = 0x0f;

/// What a protocol control frame says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProtocolControlFrame {
    /// Number of the integration cycle it stands for.
    pub integration_cycle: u32,
    /// One bit for each synchronisation master that contributed.
    pub membership_new: u32,
    /// Of the sender's synchronisation domain; devices of several follow the highest.
    pub sync_priority: u8,
    /// Devices of different domains never synchronise to each other.
    pub sync_domain: u8,
    /// What it is for.
    pub kind: PcfType,
    /// Delay collected on its way so far.
    pub transparent_clock: Duration,
}

/// What a protocol control frame is for. The values are those on the wire.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum PcfType {
    /// Keeps running clocks together, or lets one join them.
    Integration = 0x2,
    /// Asks to start a cluster.
    ColdStart = 0x4,
    /// Agrees to start one.
    ColdStartAck = 0x8,
}

impl PcfType {
    const fn from_wire(value: u8) -> Option<Self> {
        match value {
            0x2 => Some(Self::Integration),
            0x4 => Some(Self::ColdStart),
            0x8 => Some(Self::ColdStartAck),
            _ => None,
        }
    }
}

/// Why a payload is no protocol control frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PcfError {
    /// Shorter than [`BODY_LEN`].
    #[error("a payload of {0} bytes is shorter than the 28 of a protocol control frame")]
    TooShort(usize),
    /// Its type is none of [`PcfType`].
    #[error("type {0:#x} is none of a protocol control frame (2, 4 or 8)")]
    UnknownType(u8),
}

impl From<PcfError> for DiscardReason {
    fn from(error: PcfError) -> Self {
        match error {
            PcfError::TooShort(_) => Self::TooShort,
            PcfError::UnknownType(_) => Self::Malformed,
        }
    }
}

impl ProtocolControlFrame {
    /// Reads the payload of a frame of EtherType [`ETHERTYPE_PROTOCOL_CONTROL`]; padding may follow.
    ///
    /// # Errors
    /// [`PcfError`] if it is too short or of an unknown type.
    pub fn parse(payload: &[u8]) -> Result<Self, PcfError> {
        let too_short = PcfError::TooShort(payload.len());
        let body: &[u8; BODY_LEN] = payload.first_chunk().ok_or(too_short)?;
        let kind = body[TYPE_OFFSET] & TYPE_MASK;
        let [sync_priority, sync_domain] = field::read(body, 12).ok_or(too_short)?;
        Ok(Self {
            integration_cycle: u32::from_be_bytes(field::read(body, 0).ok_or(too_short)?),
            membership_new: u32::from_be_bytes(field::read(body, 4).ok_or(too_short)?),
            sync_priority,
            sync_domain,
            kind: PcfType::from_wire(kind).ok_or(PcfError::UnknownType(kind))?,
            transparent_clock: transparent_clock_from_wire(u64::from_be_bytes(
                field::read(body, TRANSPARENT_CLOCK_OFFSET).ok_or(too_short)?,
            )),
        })
    }

    /// Writes the whole frame, padding included, to the front of `buf` and returns its length, [`FRAME_LEN`].
    ///
    /// # Panics
    /// If `buf` is shorter than [`FRAME_LEN`].
    pub fn emit_frame(&self, destination: MacAddress, source: MacAddress, buf: &mut [u8]) -> usize {
        let type_or_length = TypeOrLength::EtherType(ETHERTYPE_PROTOCOL_CONTROL);
        Header { destination, source, type_or_length }.emit(buf);
        let body = &mut buf[ethernet::HEADER_LEN..FRAME_LEN];
        body.fill(0);
        body[0..4].copy_from_slice(&self.integration_cycle.to_be_bytes());
        body[4..8].copy_from_slice(&self.membership_new.to_be_bytes());
        body[12] = self.sync_priority;
        body[13] = self.sync_domain;
        body[TYPE_OFFSET] = self.kind as u8;
        let clock = transparent_clock_to_wire(self.transparent_clock).to_be_bytes();
        body[TRANSPARENT_CLOCK_OFFSET..BODY_LEN].copy_from_slice(&clock);
        FRAME_LEN
    }
}

/// Adds `delay` to the transparent clock of a whole frame, as every device has to that passes one on. The sum is held
/// at the field's largest value, a negative `delay` adds nothing, and other frames are left alone.
pub fn add_transparent_clock(frame: &mut [u8], delay: Duration) {
    const CLOCK_IN_FRAME: usize = ethernet::HEADER_LEN + TRANSPARENT_CLOCK_OFFSET;
    if field::read(frame, 12) != Some(ETHERTYPE_PROTOCOL_CONTROL.to_be_bytes()) {
        return;
    }
    if let Some(clock) = frame.get_mut(CLOCK_IN_FRAME..).and_then(|rest| rest.first_chunk_mut::<8>()) {
        let sum = u64::from_be_bytes(*clock).saturating_add(transparent_clock_to_wire(delay));
        *clock = sum.to_be_bytes();
    }
}

/// 8192 units of 2^-16 ns are 125 ps.
const UNITS: u128 = 8192;
const UNITS_PS: u128 = 125;

/// `ps * 8192 / 125`, to the nearest (no tie exists: 125 is odd).
fn transparent_clock_to_wire(clock: Duration) -> u64 {
    let ps = u128::from(clock.as_ps().max(0).unsigned_abs());
    u64::try_from((ps * UNITS + UNITS_PS / 2) / UNITS_PS).unwrap_or(u64::MAX)
}

/// `units * 125 / 8192`, to the nearest, ties up.
fn transparent_clock_from_wire(units: u64) -> Duration {
    let ps = (u128::from(units) * UNITS_PS + UNITS / 2) / UNITS;
    // u64::MAX units are 2.9e17 ps, far below i64::MAX.
    i64::try_from(ps).map_or(Duration::MAX, Duration::from_ps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ethernet::Frame;
    use proptest::prelude::*;

    const DESTINATION: MacAddress = MacAddress([3, 4, 5, 6, 0x0f, 0xcb]);
    const SOURCE: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);

    fn beacon() -> ProtocolControlFrame {
        ProtocolControlFrame {
            integration_cycle: 0x0102_0304,
            membership_new: 0x8000_0001,
            sync_priority: 0x11,
            sync_domain: 0x22,
            kind: PcfType::Integration,
            transparent_clock: Duration::from_ns(1),
        }
    }

    fn emitted(pcf: &ProtocolControlFrame) -> [u8; FRAME_LEN] {
        let mut buf = [0xaa; FRAME_LEN];
        assert_eq!(pcf.emit_frame(DESTINATION, SOURCE, &mut buf), FRAME_LEN);
        buf
    }

    fn parsed(frame: &[u8]) -> Result<ProtocolControlFrame, PcfError> {
        ProtocolControlFrame::parse(Frame::new_checked(frame).unwrap().payload())
    }

    #[test]
    fn every_field_is_at_its_offset() {
        let mut expected = [0; FRAME_LEN];
        expected[..6].copy_from_slice(&DESTINATION.0);
        expected[6..12].copy_from_slice(&SOURCE.0);
        expected[12..14].copy_from_slice(&[0x89, 0x1d]);
        expected[14..18].copy_from_slice(&[1, 2, 3, 4]);
        expected[18..22].copy_from_slice(&[0x80, 0, 0, 1]);
        expected[26..29].copy_from_slice(&[0x11, 0x22, 0x02]);
        expected[34..42].copy_from_slice(&[0, 0, 0, 0, 0, 1, 0, 0]);
        assert_eq!(emitted(&beacon()), expected);
    }

    #[test]
    fn refuses_a_short_body() {
        let frame = emitted(&beacon());
        assert_eq!(ProtocolControlFrame::parse(&frame[14..41]), Err(PcfError::TooShort(27)));
        assert_eq!(ProtocolControlFrame::parse(&frame[14..42]), Ok(beacon()));
        assert_eq!(DiscardReason::from(PcfError::TooShort(27)), DiscardReason::TooShort);
    }

    #[test]
    fn refuses_every_type_but_three() {
        let mut frame = emitted(&beacon());
        for value in 0..16 {
            frame[28] = value;
            match value {
                2 | 4 | 8 => assert_eq!(parsed(&frame).unwrap().kind as u8, value),
                _ => assert_eq!(parsed(&frame), Err(PcfError::UnknownType(value))),
            }
        }
        assert_eq!(DiscardReason::from(PcfError::UnknownType(0)), DiscardReason::Malformed);
    }

    #[test]
    fn ignores_reserved_bits() {
        let mut frame = emitted(&beacon());
        frame[22..26].fill(0xff);
        frame[28] |= 0xf0;
        frame[29..34].fill(0xff);
        assert_eq!(parsed(&frame), Ok(beacon()));
    }

    #[test]
    fn the_transparent_clock_counts_in_sixteenth_powers_of_a_nanosecond() {
        for (clock, units) in [
            (Duration::ZERO, 0),
            (Duration::from_ps(1), 66), // 65.536
            (Duration::from_ps(125), 8192),
            (Duration::from_ns(1), 1 << 16),
            (Duration::from_us(4), 4000 << 16),
            (Duration::from_ps(-1), 0),
            (Duration::MAX, u64::MAX),
        ] {
            assert_eq!(transparent_clock_to_wire(clock), units, "{clock}");
        }
        assert_eq!(transparent_clock_from_wire(32), Duration::ZERO); // 0.488 ps
        assert_eq!(transparent_clock_from_wire(33), Duration::from_ps(1)); // 0.504 ps
        assert_eq!(transparent_clock_from_wire(4096), Duration::from_ps(63)); // 62.5 ps, a tie
    }

    #[test]
    fn adding_saturates_and_leaves_other_frames_alone() {
        let mut frame = emitted(&beacon());
        add_transparent_clock(&mut frame, Duration::from_ns(2));
        assert_eq!(parsed(&frame).unwrap().transparent_clock, Duration::from_ns(3));
        add_transparent_clock(&mut frame, Duration::from_ns(-2));
        assert_eq!(parsed(&frame).unwrap().transparent_clock, Duration::from_ns(3));
        add_transparent_clock(&mut frame, Duration::MAX);
        assert_eq!(frame[34..42], [0xff; 8]);
        assert_eq!(frame[42..], [0; 18]);

        let mut other = [0x88; 60];
        add_transparent_clock(&mut other, Duration::from_ns(2));
        assert_eq!(other, [0x88; 60]);
        let cut = &mut emitted(&beacon())[..41];
        let before = cut.to_vec();
        add_transparent_clock(cut, Duration::from_ns(2));
        assert_eq!(cut, before);
    }

    proptest! {
        #[test]
        fn an_emitted_frame_reads_back(
            integration_cycle: u32,
            membership_new: u32,
            sync_priority: u8,
            sync_domain: u8,
            kind in prop_oneof![Just(PcfType::Integration), Just(PcfType::ColdStart), Just(PcfType::ColdStartAck)],
            clock_ps in 0i64..=281_474_976_710_655_999,
        ) {
            let transparent_clock = Duration::from_ps(clock_ps);
            let pcf = ProtocolControlFrame {
                integration_cycle, membership_new, sync_priority, sync_domain, kind, transparent_clock,
            };
            prop_assert_eq!(parsed(&emitted(&pcf)), Ok(pcf));
        }

        #[test]
        fn adding_on_the_wire_is_adding(first in 0i64..1 << 50, second in 0i64..1 << 50) {
            let pcf = ProtocolControlFrame { transparent_clock: Duration::from_ps(first), ..beacon() };
            let mut frame = emitted(&pcf);
            add_transparent_clock(&mut frame, Duration::from_ps(second));
            prop_assert_eq!(parsed(&frame).unwrap().transparent_clock, Duration::from_ps(first + second));
        }

        #[test]
        fn never_panics(mut bytes in proptest::collection::vec(any::<u8>(), 0..80), delay: i64) {
            let _ = ProtocolControlFrame::parse(&bytes);
            add_transparent_clock(&mut bytes, Duration::from_ps(delay));
        }
    }
}
