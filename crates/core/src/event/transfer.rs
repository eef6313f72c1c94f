//! What goes wrong with messages that are sent in several frames.

/// What went wrong with a message that is sent in several frames, in the words of ISO 15765-2.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum TransferFault {
    /// N_TIMEOUT_A: a frame did not leave in time, or never will. The message is given up.
    NotTransmitted,
    /// N_TIMEOUT_Bs: no flow control frame came in time. The message is given up.
    FlowControlMissing,
    /// N_INVALID_FS: the flow status of the receiver's answer is reserved. The message is given up.
    InvalidFlowStatus,
    /// N_BUFFER_OVFLW: the receiver says that the message is too long for it. The message is given up.
    Overflow,
    /// N_WFT_OVRN: the receiver asked to wait too often. The message is given up.
    TooManyWaits,
    /// A flow control frame came while none was awaited. It changes nothing.
    UnexpectedFlowControl,
    /// N_UNEXP_PDU: a frame came that goes on with no message. It changes nothing.
    UnexpectedFrame,
}

impl TransferFault {
    /// Every fault, in the order reports show them.
    pub const ALL: [Self; 7] = [
        Self::NotTransmitted,
        Self::FlowControlMissing,
        Self::InvalidFlowStatus,
        Self::Overflow,
        Self::TooManyWaits,
        Self::UnexpectedFlowControl,
        Self::UnexpectedFrame,
    ];

    /// As shown to people and written to results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotTransmitted => "not-transmitted",
            Self::FlowControlMissing => "flow-control-missing",
            Self::InvalidFlowStatus => "invalid-flow-status",
            Self::Overflow => "overflow",
            Self::TooManyWaits => "too-many-waits",
            Self::UnexpectedFlowControl => "unexpected-flow-control",
            Self::UnexpectedFrame => "unexpected-frame",
        }
    }
}
