//! Messages longer than a frame, as bytes: ISO 15765-2:2016, the transport protocol called ISO-TP or DoCAN.
//!
//! | module | what it says |
//! |---|---|
//! | [`format`](FrameFormat) | how a station lays out its frames: data length, address byte, padding |
//! | [`pdu`](Pdu) | one frame's data: single frame, first frame, consecutive frame, flow control |
//! | [`separation_time`](SeparationTime) | STmin and its encodings |
//! | [`segments`](Segments) | how many frames and bytes a message takes, and how long it takes at least |
//!
//! Clauses are not cited: the standard's text was not at hand. What is here was taken from what public implementations and
//! texts say of it, the kernel module `isotp` of Linux and the Python package can-isotp before others, and is held
//! against the latter in `peers/iso-tp/`.
//!
//! Nothing here keeps a message or knows the time. The state machines that send and receive messages are in
//! `chronoseal-nodes`, module `segmentation`.
//!
//! ```
//! use chronoseal_wire::can::iso_tp::{FrameFormat, Pdu, Segments};
//!
//! let format = FrameFormat::classical();
//! let mut data = [0; 64];
//! let len = Pdu::Single { data: &[0x3e, 0x00] }.emit(&format, &mut data);
//! assert_eq!(data[..len], [0x02, 0x3e, 0x00, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc]);
//! assert_eq!(Pdu::parse(&data[..len], None), Ok(Pdu::Single { data: &[0x3e, 0x00] }));
//!
//! let segments = Segments::of(20, &format).expect("there is something to send");
//! assert_eq!((segments.frames(), segments.data_len()), (3, 24));
//! ```

mod format;
mod pdu;
mod segments;
mod separation_time;

#[cfg(test)]
mod tests;

pub use format::{FrameFormat, Padding, TxDataLength, TxDataLengthError};
pub use pdu::{FlowControl, FlowStatus, Pdu, PduError};
pub use segments::{Segments, WireTimes};
pub use separation_time::SeparationTime;

/// The longest message whose length fits the 12 bits of a first frame; a longer one takes the escape form `[byte]`.
pub const SHORT_LENGTH_MAX: u32 = 4095;
