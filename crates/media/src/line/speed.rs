//! How long frames take on a line.

use chronoseal_core::{Duration, Rate};

/// How long frames take on a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineSpeed {
    rate: Rate,
    overhead_bytes: u64,
    gap_bytes: u64,
    propagation_delay: Duration,
    /// What one byte takes, where that is a whole number of picoseconds; else zero.
    byte_time: Duration,
}

impl LineSpeed {
    /// Lines of `rate` on which each frame costs `overhead_bytes` beyond its own (24 on a real wire: preamble and
    /// delimiter 8, checksum 4, gap 12), the last `gap_bytes` of them after the last bit of the frame (12: the gap).
    ///
    /// # Panics
    /// If the rate is zero.
    pub fn new(rate: Rate, overhead_bytes: u64, gap_bytes: u64, propagation_delay: Duration) -> Self {
        // 8 bits * 10^12 ps. Every rate from 10 Mbit/s to 10 Gbit/s in use divides it, and spares the division then.
        let is_whole = 8_000_000_000_000 % rate.0 == 0;
        let byte_time = if is_whole { rate.time_of(1) } else { Duration::ZERO };
        Self { rate, overhead_bytes, gap_bytes, propagation_delay, byte_time }
    }

    /// From the first bit on the wire to the last bit off it.
    #[inline]
    pub fn reception(&self, len: u64) -> Duration {
        self.time_of(len + self.overhead_bytes - self.gap_bytes) + self.propagation_delay
    }

    /// From one end of the line to the other.
    #[inline]
    pub const fn propagation_delay(&self) -> Duration {
        self.propagation_delay
    }

    /// How many bits a second the line carries.
    #[inline]
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// A frame with all that keeps the line for it `[byte]`.
    #[inline]
    pub const fn bytes_of(&self, len: u64) -> u64 {
        len + self.overhead_bytes
    }

    /// From the first bit of one frame to the earliest first bit of the next (the source's *Frametime*).
    #[inline]
    pub fn occupancy(&self, len: u64) -> Duration {
        self.time_of(len + self.overhead_bytes)
    }

    /// From the first bit on the wire until the last bit has left, without the way to the other end.
    #[inline]
    pub fn transmission(&self, len: u64) -> Duration {
        self.time_of(len + self.overhead_bytes - self.gap_bytes)
    }

    /// Between the last bit of a frame and the first of the next.
    #[inline]
    pub fn gap(&self) -> Duration {
        self.time_of(self.gap_bytes)
    }

    /// What bytes take on the wire, with nothing added.
    #[inline]
    pub fn time_of(&self, bytes: u64) -> Duration {
        if self.byte_time == Duration::ZERO { self.rate.time_of(bytes) } else { self.byte_time * bytes as i64 }
    }
}
