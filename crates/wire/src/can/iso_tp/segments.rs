//! How many frames a message takes, and how long they take at least.

use chronoseal_core::Duration;

use super::format::FrameFormat;
use super::separation_time::SeparationTime;

/// A message cut into frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segments {
    /// Consecutive frames; none if a single frame holds the message.
    consecutive: u32,
    /// Data of every frame but the last `[byte]`.
    full_len: usize,
    /// Data of the last frame `[byte]`.
    last_len: usize,
}

/// What the frames of a transfer take on the bus, by themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WireTimes {
    /// A full frame: [`Segments::full_len`].
    pub full: Duration,
    /// The last frame: [`Segments::last_len`].
    pub last: Duration,
    /// A flow control frame of the receiver: [`FrameFormat::flow_control_len`].
    pub flow_control: Duration,
}

impl Segments {
    /// How a message of `message_len` bytes is cut; `None` if it is empty.
    pub fn of(message_len: u32, format: &FrameFormat) -> Option<Self> {
        let full_len = format.tx_data_len.get();
        if message_len == 0 {
            return None;
        }
        if message_len <= format.single_len_max() as u32 {
            let last_len = format.single_frame_len(message_len as usize);
            return Some(Self { consecutive: 0, full_len, last_len });
        }
        let rest = message_len - format.first_len(message_len) as u32;
        let capacity = format.consecutive_len() as u32;
        let consecutive = rest.div_ceil(capacity);
        let last = rest - (consecutive - 1) * capacity;
        // The last frame holds no more than a full one, which is at most 64 bytes.
        let last_len = format.padded_len(format.address_len() + 1 + last as usize);
        Some(Self { consecutive, full_len, last_len })
    }

    /// Frames of the sender: the single frame, or the first frame and the consecutive frames.
    pub const fn frames(&self) -> u64 {
        self.consecutive as u64 + 1
    }

    /// Consecutive frames.
    pub const fn consecutive(&self) -> u32 {
        self.consecutive
    }

    /// Data of every frame but the last `[byte]`.
    pub const fn full_len(&self) -> usize {
        self.full_len
    }

    /// Data of the last frame `[byte]`.
    pub const fn last_len(&self) -> usize {
        self.last_len
    }

    /// Data of all frames of the sender, with control information, address bytes and padding `[byte]`.
    pub const fn data_len(&self) -> u64 {
        self.consecutive as u64 * self.full_len as u64 + self.last_len as u64
    }

    /// Flow control frames of a receiver that never waits, for blocks of `block_size` frames, or one block if that is 0.
    pub const fn flow_controls(&self, block_size: u8) -> u32 {
        match (self.consecutive, block_size) {
            (0, _) => 0,
            (_, 0) => 1,
            (consecutive, size) => consecutive.div_ceil(size as u32),
        }
    }

    /// How often STmin has to pass: between the consecutive frames of a block, not before its first.
    pub const fn separations(&self, block_size: u8) -> u32 {
        self.consecutive - self.flow_controls(block_size)
    }

    /// The least time that STmin puts between the end of the first frame and the start of the last. What frames take on
    /// the bus comes on top: [`Self::duration_min`].
    pub fn separation_min(&self, block_size: u8, separation_time: SeparationTime) -> Duration {
        separation_time.duration().saturating_mul(i64::from(self.separations(block_size)))
    }

    /// The least time from the start of the first frame to the end of the last, with flow control, on a bus that carries
    /// nothing else and with stations that answer at once. At the longest span it stays there.
    pub fn duration_min(&self, block_size: u8, separation_time: SeparationTime, wire: &WireTimes) -> Duration {
        let parts = [
            wire.full.saturating_mul(i64::from(self.consecutive)),
            wire.last,
            wire.flow_control.saturating_mul(i64::from(self.flow_controls(block_size))),
            self.separation_min(block_size, separation_time),
        ];
        parts.into_iter().fold(Duration::ZERO, saturating_sum)
    }

    /// The least time from the start of the first frame to the start of the last where frames are sent `separation` apart
    /// without flow control.
    pub fn paced_min(&self, separation: Duration) -> Duration {
        separation.saturating_mul(i64::from(self.consecutive))
    }
}

/// The sum of two spans that are not negative.
fn saturating_sum(one: Duration, other: Duration) -> Duration {
    Duration::from_ps(one.as_ps().saturating_add(other.as_ps()))
}
