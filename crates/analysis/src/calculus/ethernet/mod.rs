//! Curves of what Ethernet ports do: links, classes, gates, shapers, virtual links.
//!
//! Units are the caller's: if times are in ns and data in bits, a link of 100 Mbit/s has the rate 1/10. Lengths of frames
//! count all that keeps the wire: preamble, frame and interframe gap.
