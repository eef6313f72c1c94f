//! STmin, the least time between consecutive frames.

use chronoseal_core::Duration;

/// STmin as in a flow control frame: the least time from the end of a consecutive frame to the start of the next.
///
/// 0x00 to 0x7F are 0 to 127 ms, 0xF1 to 0xF9 are 100 to 900 us. The others are reserved; a
/// sender that is told one of them keeps 127 ms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct SeparationTime(u8);

impl SeparationTime {
    /// No separation: frames follow as the bus allows.
    pub const ZERO: Self = Self(0);
    /// The longest there is, 127 ms.
    pub const MAX: Self = Self(0x7f);

    /// As in a frame; reserved values, too.
    pub const fn from_raw(raw: u8) -> Self {
        Self(raw)
    }

    /// The shortest separation that is not below `span`; `None` above 127 ms.
    pub const fn at_least(span: Duration) -> Option<Self> {
        let ps = span.as_ps();
        if ps <= 0 {
            return Some(Self::ZERO);
        }
        let hundreds_us = (ps - 1) / Duration::from_us(100).as_ps() + 1;
        let ms = (ps - 1) / Duration::from_ms(1).as_ps() + 1;
        match (hundreds_us, ms) {
            (1..=9, _) => Some(Self(0xf0 + hundreds_us as u8)),
            (_, 1..=127) => Some(Self(ms as u8)),
            _ => None,
        }
    }

    /// As in a frame.
    pub const fn raw(self) -> u8 {
        self.0
    }

    /// True for 0x80 to 0xF0 and 0xFA to 0xFF.
    pub const fn is_reserved(self) -> bool {
        !matches!(self.0, 0x00..=0x7f | 0xf1..=0xf9)
    }

    /// How long a sender keeps between frames; 127 ms for a reserved value.
    pub const fn duration(self) -> Duration {
        match self.0 {
            0x00..=0x7f => Duration::from_ms(self.0 as i64),
            0xf1..=0xf9 => Duration::from_us((self.0 - 0xf0) as i64 * 100),
            _ => Self::MAX.duration(),
        }
    }
}
