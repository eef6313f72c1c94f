//! What kinds of message the channel counts apart, as whoever builds it tells.

use core::fmt::Debug;

/// Tells kinds of message apart. The answer must follow from the frame alone.
pub trait Kinds: Debug + Send + Sync {
    /// The kind of a frame, by name; `None` if it is none of those known.
    fn kind_of(&self, frame: &[u8]) -> Option<&'static str>;
}
