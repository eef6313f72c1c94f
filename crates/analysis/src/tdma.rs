//! The closed forms of a time-triggered cluster with one slot at a time.
//!
//! # Source
//! Martins, Bhattacharjee, Dubey, Koutsoukos, "Performance evaluation of an authentication mechanism in
//! time-triggered networked control systems", ISRCS 2014: section IV-A (NFmax, Frametime), section V-B (MaxTT),
//! figures 4, 6 and 7. All times are whole picoseconds, so nothing is rounded.

use chronoseal_core::{Duration, Rate};
use chronoseal_plan::Accounting;

/// Shortest frame without checksum `[byte]`.
pub const FRAME_LEN_MIN: u32 = 60;
/// Longest frame without checksum `[byte]`.
pub const FRAME_LEN_MAX: u32 = 1514;

/// Time a frame of `len` bytes takes on one wire: the source's *Frametime*.
///
/// # Panics
/// If the rate is zero.
pub fn frame_time(len: u32, rate: Rate, accounting: Accounting) -> Duration {
    rate.time_of(u64::from(len) + accounting.overhead_bytes())
}

/// How many frames fit in one base period: `floor(BP / (Frametime + GP))`, the source's *NFmax*.
///
/// # Panics
/// If `frame_time + guard` is not positive.
pub fn frames_max(base_period: Duration, frame_time: Duration, guard: Duration) -> u64 {
    whole_slots(base_period, frame_time + guard)
}

/// Time from the sender's first bit to the receiver's last over one switch: `2 * (Frametime - SO) + Diff`, the
/// source's *MaxTT*.
///
/// `switch_overhead` (SO) is what a second, sniffing switch adds to a measured `frame_time`; zero for a computed one.
/// `diff` is the time the switch keeps the frame.
pub fn transmission_time_max(frame_time: Duration, switch_overhead: Duration, diff: Duration) -> Duration {
    (frame_time - switch_overhead) * 2 + diff
}

/// How many frames fit in one base period if each waits for the one before to have arrived: `floor(BP / MaxTT)`. The
/// source uses this rule for its measured column only.
///
/// # Panics
/// If `transmission_time_max` is not positive.
pub fn frames_max_by_transmission(base_period: Duration, transmission_time_max: Duration) -> u64 {
    whole_slots(base_period, transmission_time_max)
}

fn whole_slots(base_period: Duration, slot: Duration) -> u64 {
    assert!(slot > Duration::ZERO, "a slot of no length fits without end");
    u64::try_from(base_period.div_floor(slot)).unwrap_or(0)
}

/// Longest time until a frame has been sent when all nodes become ready at once, each for one frame: figure 4.
///
/// Assumptions, as the source gives the figure without its formula: every node owns one slot of length `slot`; the
/// critical instant is the start of a base period; slots are handed out one after another. Node `n` then waits for
/// the `n - 1` before it and sends in its own slot. A base period holds `frames_max` slots, so a node beyond that
/// many is served a whole base period later, and with it the last of all: that is the jump of the figure.
///
/// Zero for no nodes; `None` if not even one slot fits in a base period.
pub fn delay_at_critical_instant(nodes: u64, slot: Duration, base_period: Duration) -> Option<Duration> {
    let per_period = frames_max(base_period, slot, Duration::ZERO);
    if per_period == 0 {
        return None;
    }
    let Some(before) = nodes.checked_sub(1) else { return Some(Duration::ZERO) };
    let (periods, slots) = (before / per_period, before % per_period + 1);
    Some(base_period.saturating_mul(i64::try_from(periods).ok()?) + slot * i64::try_from(slots).ok()?)
}

/// What the curves of figures 6 and 7 depend on besides the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cluster {
    /// The source's BP.
    pub base_period: Duration,
    /// The source's GP.
    pub guard: Duration,
    /// Of every link.
    pub rate: Rate,
    /// What counts as time on the wire.
    pub accounting: Accounting,
}

impl Cluster {
    /// The cluster of the source: BP 10 ms, GP 0.2 ms, 100 Mbit/s, no checksum, preamble or gap.
    pub const AS_PUBLISHED: Self = Self {
        base_period: Duration::from_ms(10),
        guard: Duration::from_us(200),
        rate: Rate(100_000_000),
        accounting: Accounting::AsPublished,
    };

    /// [`frame_time`] in this cluster.
    pub fn frame_time(&self, len: u32) -> Duration {
        frame_time(len, self.rate, self.accounting)
    }

    /// [`frames_max`] in this cluster.
    pub fn frames_max(&self, len: u32) -> u64 {
        frames_max(self.base_period, self.frame_time(len), self.guard)
    }
}

/// One point of the curves of figures 6 and 7.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CurvePoint {
    /// Frame before protection `[byte]`.
    pub unsecured_len: u32,
    /// Frame with its protection `[byte]`.
    pub secured_len: u32,
    /// Time of the secured frame on one wire.
    pub frame_time: Duration,
    /// With the guard period; figure 7 shows this one.
    pub slot_time: Duration,
    /// Frames in one base period; figure 6.
    pub frames_max: u64,
}

/// The curves of figures 6 and 7 over every unsecured frame size from [`FRAME_LEN_MIN`], step one byte. They end
/// where the frame with `overhead` bytes of protection would exceed [`FRAME_LEN_MAX`].
pub fn curve(cluster: &Cluster, overhead: u32) -> Vec<CurvePoint> {
    (FRAME_LEN_MIN..=FRAME_LEN_MAX.saturating_sub(overhead))
        .map(|unsecured_len| {
            let secured_len = unsecured_len + overhead;
            let frame_time = cluster.frame_time(secured_len);
            CurvePoint {
                unsecured_len,
                secured_len,
                frame_time,
                slot_time: frame_time + cluster.guard,
                frames_max: cluster.frames_max(secured_len),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLISHED: Cluster = Cluster::AS_PUBLISHED;
    const ON_WIRE: Cluster = Cluster { accounting: Accounting::OnWire, ..PUBLISHED };

    #[test]
    fn the_guard_period_dominates_short_frames() {
        assert_eq!(PUBLISHED.frame_time(60), Duration::from_ns(4_800));
        assert_eq!(PUBLISHED.frames_max(60), 48);
        assert_eq!(frames_max(Duration::from_ms(10), PUBLISHED.frame_time(60), Duration::ZERO), 2083);
    }

    #[test]
    fn a_period_shorter_than_a_slot_holds_no_frame() {
        assert_eq!(frames_max(Duration::from_us(204), PUBLISHED.frame_time(60), PUBLISHED.guard), 0);
        assert_eq!(frames_max(Duration::from_ns(204_800), PUBLISHED.frame_time(60), PUBLISHED.guard), 1);
    }

    #[test]
    fn one_frame_is_lost_first_at_105_bytes_or_81_on_the_wire() {
        let first = |cluster: Cluster| (60..=1514).find(|&len| cluster.frames_max(len) == 47);
        assert_eq!((first(PUBLISHED), first(ON_WIRE)), (Some(105), Some(81)));
    }

    #[test]
    fn the_delay_jumps_by_a_period_when_the_slots_are_used_up() {
        let (slot, period) = (Duration::from_us(200), Duration::from_ms(1));
        let delay = |nodes| delay_at_critical_instant(nodes, slot, period).unwrap();
        assert_eq!(delay(0), Duration::ZERO);
        assert_eq!(delay(1), slot);
        assert_eq!(delay(5), slot * 5);
        assert_eq!(delay(6), period + slot);
        assert_eq!(delay(11), period * 2 + slot);
        assert_eq!(delay_at_critical_instant(1, period * 2, period), None);
    }

    #[test]
    fn the_curves_end_where_the_secured_frame_is_full() {
        for overhead in [0, 16, 20, 24, 32] {
            let points = curve(&PUBLISHED, overhead);
            assert_eq!(points.len() as u32, 1514 - overhead - 60 + 1);
            assert_eq!(points.last().unwrap().secured_len, 1514);
            assert!(points.windows(2).all(|pair| pair[0].frames_max >= pair[1].frames_max));
        }
        assert!(curve(&PUBLISHED, 1455).is_empty());
        assert!(curve(&PUBLISHED, u32::MAX).is_empty());
    }
}
