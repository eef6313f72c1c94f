//! What a frame is of a message that may be sent in several.

/// What of a message a frame is. For records: what nodes do does not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MessagePart {
    /// All of it.
    #[default]
    Whole,
    /// The first of several frames.
    Begins,
    /// Another of them. Whether it is the last, only its receiver knows.
    Continues,
    /// An answer of the receiver, which carries nothing of the message.
    Answers,
}

impl MessagePart {
    /// True of the one frame of each message by which messages are counted.
    pub const fn is_first(self) -> bool {
        matches!(self, Self::Whole | Self::Begins)
    }
}
