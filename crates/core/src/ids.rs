//! Names of things, as small integers. The scenario keeps the texts.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        pub struct $name(pub $inner);

        impl $name {
            /// This number as an index into the plan's table of its kind.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// One station or switch of the plan.
    NodeId(u16)
}
id! {
    /// One port of a node, counted from 0.
    PortId(u16)
}
id! {
    /// One stream of the plan. On time-triggered Ethernet this is not the critical-traffic identifier.
    StreamId(u16)
}
id! {
    /// An egress queue: the higher number is served first.
    Priority(u8)
}

impl NodeId {
    /// Somebody who is not on the plan.
    pub const UNKNOWN: Self = Self(u16::MAX);
}

impl StreamId {
    /// An event that belongs to no stream.
    pub const NONE: Self = Self(u16::MAX);
}

impl Priority {
    /// Scheduled critical traffic, above everything (SAE AS6802).
    pub const TIME_TRIGGERED: Self = Self(11);
    /// Protocol control frames, below time-triggered and above all else (SAE AS6802).
    pub const PROTOCOL_CONTROL: Self = Self(10);
    /// Virtual links of high priority (ARINC 664 part 7), below protocol control frames (SAE AS6802).
    pub const RATE_CONSTRAINED_HIGH: Self = Self(9);
    /// Virtual links of low priority, above all of best effort.
    pub const RATE_CONSTRAINED_LOW: Self = Self(8);
    /// Number of egress queues: eight for best effort (IEEE 802.1Q), two for rate-constrained, one for control, one for
    /// time-triggered.
    pub const COUNT: usize = 12;
}
