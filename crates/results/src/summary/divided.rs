//! Where the latency of a stream goes, step by step.

use serde::{Deserialize, Serialize};

/// Latencies of a stream at one of its receivers, divided: of the frame that took longest, and the mean of all. Of frames accepted
/// after start-up, as [`StreamSummary::end_to_end`](super::StreamSummary::end_to_end); simulated runs only.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DividedLatency {
    /// Index into [`RunMeta::streams`](crate::RunMeta::streams).
    pub stream: u16,
    /// Index into [`RunMeta::nodes`](crate::RunMeta::nodes).
    pub receiver: u16,
    /// Frames that were followed over their whole way.
    pub frames: u64,
    /// Number of the frame that took longest; the first of several.
    pub worst_sequence: u64,
    /// What that took `[ps]`.
    pub worst_ps: i64,
    /// What all took together `[ps]`.
    pub sum_ps: i64,
    /// In the order of the way. They add up to the whole.
    pub parts: Vec<DividedPart>,
}

/// A part of a latency.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DividedPart {
    /// What the frame waited for, or what was done with it.
    pub kind: PartKind,
    /// Where: a node, or a wire as `from → to`.
    pub place: String,
    /// Of the frame that took longest `[ps]`.
    pub worst_ps: i64,
    /// Of all frames together `[ps]`.
    pub sum_ps: i64,
}

/// What a frame waits for, or what is done with it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartKind {
    /// It waits for its slot, or for its turn at a switch.
    Slot,
    /// It is with its sender's driver or shaper.
    Sender,
    /// The processor is busy with something else.
    Processor,
    /// A tag, a signature or a cipher is computed for it or checked.
    Cryptography,
    /// It waits behind frames of its own class or a higher one.
    Queueing,
    /// A frame of a lower class has the wire and is not interrupted, or ends its part before it is.
    Blocking,
    /// The wire is free and its gate, its shaper or a reserved time keeps it.
    Gate,
    /// It is on the wire.
    Transmission,
    /// It is in a switch.
    Switching,
    /// It is copied to the application.
    HostInterface,
    /// A gateway has it.
    Gateway,
    /// The earlier frames of its message are sent.
    EarlierFrames,
    /// A lossy link delays it.
    Delay,
}

impl PartKind {
    /// Every kind, in the order legends show them.
    pub const ALL: [Self; 13] = [
        Self::Slot,
        Self::Sender,
        Self::Processor,
        Self::Cryptography,
        Self::Queueing,
        Self::Blocking,
        Self::Gate,
        Self::Transmission,
        Self::EarlierFrames,
        Self::Switching,
        Self::HostInterface,
        Self::Gateway,
        Self::Delay,
    ];

    /// As shown to people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slot => "waiting for its slot",
            Self::Sender => "driver and shaper",
            Self::Processor => "busy processor",
            Self::Cryptography => "cryptography",
            Self::Queueing => "queueing",
            Self::Blocking => "blocking",
            Self::Gate => "gate, shaper or reserved time",
            Self::Transmission => "transmission",
            Self::EarlierFrames => "earlier frames of the message",
            Self::Switching => "switching",
            Self::HostInterface => "host interface",
            Self::Gateway => "gateway",
            Self::Delay => "delay of the link",
        }
    }
}

impl DividedLatency {
    /// What the parts of one kind took `[ps]`: of the frame that took longest, and the mean of all.
    pub fn of_kind(&self, kind: PartKind) -> (i64, f64) {
        let parts = || self.parts.iter().filter(|part| part.kind == kind);
        let sum: i64 = parts().map(|part| part.sum_ps).sum();
        (parts().map(|part| part.worst_ps).sum(), sum as f64 / self.frames.max(1) as f64)
    }
}
