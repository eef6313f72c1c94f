//! The other side: what somebody can work out from what they hold and hear, and what they can put on the bus.
//!
//! Needs the standard library, unlike everything else here; no station does.

mod insider;
mod knowledge;
mod node;
mod replayer;

pub use insider::{Answer, Insider};
pub use knowledge::Knowledge;
pub use node::{Adversary, Attack};
pub use replayer::Replayer;
