//! Traffic classes of streams.

use chronoseal_core::{Duration, Ppm, Priority};

use super::Copies;

/// A traffic class of AS6802, or of ARINC 664 part 7.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamClass {
    /// In slots; addressed by its critical-traffic identifier.
    TimeTriggered {
        /// Last two bytes of its destination address.
        ct_id: u16,
    },
    /// Whenever the wire is free, at most one frame in each bandwidth allocation gap.
    RateConstrained(VirtualLink),
    /// Whenever the wire is free.
    BestEffort {
        /// Egress queue 0..=7, the higher first.
        priority: u8,
    },
}

impl StreamClass {
    /// As reports call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TimeTriggered { .. } => "time-triggered",
            Self::RateConstrained(_) => "rate-constrained",
            Self::BestEffort { .. } => "best-effort",
        }
    }

    /// True if its frames have slots.
    pub const fn is_time_triggered(self) -> bool {
        matches!(self, Self::TimeTriggered { .. })
    }

    /// Its virtual link, if it is rate-constrained.
    pub const fn virtual_link(&self) -> Option<&VirtualLink> {
        match self {
            Self::RateConstrained(link) => Some(link),
            Self::TimeTriggered { .. } | Self::BestEffort { .. } => None,
        }
    }

    /// The critical-traffic identifier it is addressed by; `None` for best effort.
    pub const fn ct_id(&self) -> Option<u16> {
        match self {
            Self::TimeTriggered { ct_id } => Some(*ct_id),
            Self::RateConstrained(link) => Some(link.ct_id),
            Self::BestEffort { .. } => None,
        }
    }

    /// The same with another critical-traffic identifier; best effort has none.
    #[must_use]
    pub fn with_ct_id(self, ct_id: u16) -> Self {
        match self {
            Self::TimeTriggered { .. } => Self::TimeTriggered { ct_id },
            Self::RateConstrained(link) => Self::RateConstrained(VirtualLink { ct_id, ..link }),
            Self::BestEffort { .. } => self,
        }
    }

    /// The egress queue of its frames.
    pub fn priority(&self) -> Priority {
        match self {
            Self::TimeTriggered { .. } => Priority::TIME_TRIGGERED,
            Self::RateConstrained(link) => link.priority(),
            Self::BestEffort { priority } => Priority((*priority).min(7)),
        }
    }

    /// The same as a number, for frames that wait for no slot; `None` for those that do.
    pub fn queue(&self) -> Option<u8> {
        (!self.is_time_triggered()).then(|| self.priority().0)
    }

    /// True if its frames end with a sequence number, if these are their copies: all of virtual links, and those in slots of which
    /// several copies are sent.
    pub(super) const fn has_number(&self, copies: &Copies) -> bool {
        match self {
            Self::RateConstrained(_) => true,
            Self::TimeTriggered { .. } => copies.are_several(),
            Self::BestEffort { .. } => false,
        }
    }
}

/// A virtual link of ARINC 664 part 7.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VirtualLink {
    /// Last two bytes of its destination address.
    pub ct_id: u16,
    /// Bandwidth allocation gap: least distance of two frames at their sender, by its clock.
    pub bag: Duration,
    /// True for the upper one of the two egress queues of its class.
    pub is_high: bool,
    /// Shortest frame that a switch lets in, checksum included (Lmin) `[byte]`.
    pub lmin: u32,
    /// Longest frame that a switch lets in, checksum included (Lmax) `[byte]`.
    pub lmax: u32,
    /// How much later than its gap says a frame may come to a switch without being policed.
    pub jitter: Duration,
    /// How many streams share it as its sub-virtual links, which have one identifier; 1 if it is that of one stream alone.
    pub sub_links: u8,
}

impl VirtualLink {
    /// Its egress queue.
    pub const fn priority(&self) -> Priority {
        if self.is_high { Priority::RATE_CONSTRAINED_HIGH } else { Priority::RATE_CONSTRAINED_LOW }
    }

    /// The bandwidth allocation gap by true time if the sender's clock is fast by so much.
    pub fn bag_min(&self, fast: Ppm) -> Duration {
        let less = i128::from(self.bag.as_ps()) * i128::from(fast.0.max(0)) / 1_000_000_000;
        // An instant by a clock is the first whole picosecond at which it is reached: two of them can come nearer by one.
        self.bag - Duration::from_ps(less as i64 + 3 * i64::from(fast.0 > 0))
    }
}
