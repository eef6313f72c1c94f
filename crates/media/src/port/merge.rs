//! Frames that are interrupted: the MAC merge sublayer of IEEE 802.3-2022 clause 99.
//!
//! A preemptable frame may be cut where at least 60 of its bytes stand since its first bit, or since it went on, and 64 are left,
//! checksum included. Its part ends with a checksum of its own and the gap; the rest begins with a preamble again: 24
//! bytes for each cut.

use chronoseal_core::SimTime;

use crate::line::{LineSpeed, Offer};

/// Preamble and delimiter `[byte]`.
const PREAMBLE: u64 = 8;
/// Checksum of a frame, or of a part of one `[byte]`.
const CHECKSUM: u64 = 4;
/// Gap behind a frame, or a part of one `[byte]`.
const GAP: u64 = 12;
/// Least of a frame in front of the checksum of a part of it `[byte]`.
const PART_MIN: u64 = 60;
/// Least of a frame that is left, its checksum included `[byte]`.
const REST_MIN: u64 = 64;

/// A frame that was cut, and the part of it that has been sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) offer: Offer,
    pub(super) class: usize,
    /// When its first bit left.
    pub(super) started_at: SimTime,
    /// How much of it was sent, without preambles and checksums `[byte]`.
    sent: u64,
}

/// A preemptable frame, or the rest of one, on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    pub(super) frame: Held,
    /// When the preamble of this part began.
    from: SimTime,
}

/// Where a frame is cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// The rest.
    pub(super) held: Held,
    /// Its own bytes end then.
    pub(super) ends_at: SimTime,
    /// The wire is free then.
    pub(super) free_at: SimTime,
}

impl Held {
    pub(super) fn whole(offer: Offer, class: usize, started_at: SimTime) -> Self {
        Self { offer, class, started_at, sent: 0 }
    }

    /// What is left, with its checksum and what a line of this speed adds `[byte]`.
    fn rest(&self, speed: &LineSpeed) -> u64 {
        self.offer.len + speed.protection().added_bytes + CHECKSUM - self.sent
    }

    /// How long what is left keeps the wire.
    pub(super) fn occupancy(&self, speed: &LineSpeed) -> chronoseal_core::Duration {
        speed.time_of(PREAMBLE + self.rest(speed) + GAP)
    }
}

impl Sending {
    pub(super) fn new(frame: Held, from: SimTime) -> Self {
        Self { frame, from }
    }

    /// When its own bytes begin: a frame's preamble is its own, that of a part is not.
    pub(super) fn own_from(&self, speed: &LineSpeed) -> SimTime {
        if self.frame.sent == 0 { self.from } else { self.from + speed.time_of(PREAMBLE) }
    }

    /// When its last bit leaves unless it is cut.
    pub(super) fn last_bit(&self, speed: &LineSpeed) -> SimTime {
        self.from + speed.time_of(PREAMBLE + self.frame.rest(speed))
    }

    /// When the wire is free unless it is cut.
    pub(super) fn free_at(&self, speed: &LineSpeed) -> SimTime {
        self.from + self.frame.occupancy(speed)
    }

    /// Where it can be cut at the earliest; `None` if nowhere any more.
    pub(super) fn cut(&self, now: SimTime, speed: &LineSpeed) -> Option<Cut> {
        let stands_at = |bytes: u64| self.from + speed.time_of(PREAMBLE + bytes);
        let left = i128::from((now - self.from).as_ps()) * i128::from(speed.rate().0) / 8_000_000_000_000;
        let left = u64::try_from(left).unwrap_or(0).saturating_sub(PREAMBLE);
        let mut part = left.max(PART_MIN);
        while stands_at(part) < now {
            part += 1;
        }
        if part + REST_MIN > self.frame.rest(speed) {
            return None;
        }
        let held = Held { sent: self.frame.sent + part, ..self.frame };
        let free_at = self.from + speed.time_of(PREAMBLE + part + CHECKSUM + GAP);
        Some(Cut { held, ends_at: stands_at(part), free_at })
    }
}

#[cfg(test)]
mod tests {
    use chronoseal_core::{Duration, Priority, Rate};

    use super::*;
    use crate::medium::{FrameLabel, FrameStore};

    /// A byte is 8 ns.
    fn speed() -> LineSpeed {
        LineSpeed::new(Rate(1_000_000_000), 24, 12, Duration::ZERO)
    }

    fn sending(len: u64) -> Sending {
        let frame = FrameStore::new().allocate(FrameLabel::default());
        let offer = Offer { frame, len, priority: Priority(0), due: None };
        Sending::new(Held::whole(offer, 0, SimTime::ZERO), SimTime::ZERO)
    }

    fn bytes(count: i64) -> SimTime {
        SimTime::ZERO + Duration::from_ns(8) * count
    }

    #[test]
    fn both_parts_of_a_frame_are_long_enough() {
        let speed = speed();
        // 123 bytes with their checksum cannot be divided, 124 can in one place.
        assert!(sending(119).cut(SimTime::ZERO, &speed).is_none());
        let cut = sending(120).cut(SimTime::ZERO, &speed).unwrap();
        assert_eq!((cut.ends_at, cut.free_at), (bytes(8 + 60), bytes(8 + 60 + 4 + 12)));
        assert!(sending(120).cut(bytes(8 + 60), &speed).is_some());
        assert!(sending(120).cut(bytes(8 + 60) + Duration::from_ps(1), &speed).is_none());
        // The rest has a preamble again, and cannot be divided a second time.
        let rest = Sending::new(cut.held, cut.free_at);
        assert_eq!(rest.last_bit(&speed), cut.free_at + Duration::from_ns(8) * (8 + 64));
        assert!(rest.cut(cut.free_at, &speed).is_none());
    }

    #[test]
    fn each_cut_costs_24_bytes() {
        let speed = speed();
        let whole = sending(1514).free_at(&speed) - SimTime::ZERO;
        let mut part = sending(1514);
        for cuts in 1..=5 {
            let cut = part.cut(part.from + Duration::from_us(1), &speed).unwrap();
            part = Sending::new(cut.held, cut.free_at);
            assert_eq!(part.free_at(&speed) - SimTime::ZERO, whole + Duration::from_ns(8) * 24 * cuts);
        }
    }

    #[test]
    fn a_frame_is_cut_between_two_bytes() {
        let cut = sending(1514).cut(bytes(500) + Duration::from_ps(1), &speed()).unwrap();
        assert_eq!(cut.ends_at, bytes(501));
        let cut = sending(1514).cut(bytes(500), &speed()).unwrap();
        assert_eq!(cut.ends_at, bytes(500));
    }
}
