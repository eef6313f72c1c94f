//! Curves of what Ethernet does: classes of a port, gates, shapers, regulators, virtual links.
//!
//! Units are the caller's: if times are in ns and data in bits, a link of 100 Mbit/s has the rate 1/10. Lengths of frames
//! count all that keeps the wire: preamble, frame and interframe gap, unless something else is said.
//!
//! | mechanism | here |
//! |---|---|
//! | strict priority, blocking by a lower frame, preemption (802.1Qbu), credit-based shapers (802.1Qav) | [`Port`] |
//! | gates (802.1Qbv) and windows of time-triggered frames (AS6802) | [`Gates`] |
//! | classes over a whole network of ports | [`Switches`] |
//! | asynchronous shaping (802.1Qcr) | [`Regulated`] |
//! | virtual links (ARINC 664 part 7) | [`VirtualLink`] |

mod asynchronous;
mod classes;
mod gates;
mod port;
#[cfg(test)]
mod tests;
mod virtual_links;

pub use asynchronous::{Conditions, Regulated};
pub use classes::{ClassPlan, InvalidSwitches, PortPlan, StreamPlan, SwitchBounds, Switches};
pub use gates::{Frames, Gates, InvalidGates, Wander, Window};
pub use port::{Class, Fragments, InvalidPort, Port};
pub use virtual_links::{InvalidVirtualLink, VirtualLink, output_jitter};
