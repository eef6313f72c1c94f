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
    protection: LineProtection,
    counted_bytes: u64,
}

/// What the protection of every frame on a line costs, as that of MACsec does (IEEE 802.1AE).
///
/// The processing at both ends is a pipeline: it delays a frame, takes none of the time of the line, and never lets a short frame
/// overtake a longer one. Whoever configures it sees to the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LineProtection {
    /// On the wire with every frame `[byte]`.
    pub added_bytes: u64,
    /// Delay of any frame, at both ends together.
    pub base: Duration,
    /// The same for each byte of the frame, without what is added to it.
    pub per_byte: Duration,
}

impl LineProtection {
    /// How long a frame of `len` bytes is delayed.
    #[inline]
    pub fn delay(&self, len: u64) -> Duration {
        self.base + self.per_byte * len as i64
    }
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
        let (protection, counted_bytes) = (LineProtection::default(), overhead_bytes);
        Self { rate, overhead_bytes, gap_bytes, propagation_delay, byte_time, protection, counted_bytes }
    }

    /// The same line with a protection of its own.
    #[must_use]
    pub const fn protected(self, protection: LineProtection) -> Self {
        let overhead_bytes = self.overhead_bytes - self.protection.added_bytes + protection.added_bytes;
        Self { overhead_bytes, protection, ..self }
    }

    /// The same line, where shapers count so many bytes beyond those of each frame. Without this they count what the line has.
    #[must_use]
    pub const fn counting(self, counted_bytes: u64) -> Self {
        Self { counted_bytes, ..self }
    }

    /// The same line for frames that bring their protection along, so that their length counts it already.
    #[must_use]
    pub fn with_protected_frames(self) -> Self {
        let LineProtection { added_bytes, base, per_byte } = self.protection;
        let protection = LineProtection { added_bytes: 0, base: base - per_byte * added_bytes as i64, per_byte };
        Self { counted_bytes: self.counted_bytes.saturating_sub(added_bytes), ..self.protected(protection) }
    }

    /// From the first bit on the wire until the frame is there: its last bit has come, and its protection is checked.
    #[inline]
    pub fn reception(&self, len: u64) -> Duration {
        self.transmission(len) + self.delay(len)
    }

    /// From the last bit on the wire until the frame is there.
    #[inline]
    pub fn delay(&self, len: u64) -> Duration {
        self.propagation_delay + self.protection.delay(len)
    }

    /// From one end of the line to the other.
    #[inline]
    pub const fn propagation_delay(&self) -> Duration {
        self.propagation_delay
    }

    /// What protects its frames.
    #[inline]
    pub const fn protection(&self) -> LineProtection {
        self.protection
    }

    /// How many bits a second the line carries.
    #[inline]
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// A frame as shapers count it, with all that keeps the line for it `[byte]`.
    #[inline]
    pub const fn counted(&self, len: u64) -> u64 {
        len + self.counted_bytes
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

    /// From when the first bit came in until the frame is there.
    #[inline]
    pub fn since_first_bit(&self, len: u64) -> Duration {
        self.reception(len) - self.propagation_delay
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
