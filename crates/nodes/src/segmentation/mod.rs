//! Messages longer than a CAN frame: what sends one in pieces and what puts it together again, ISO 15765-2:2016.
//!
//! These state machines hold messages, so they live here and not beside the frame formats in
//! [`chronoseal_wire::can::iso_tp`], which keep no state and need no allocator. They do no I/O and know neither
//! identifiers nor frames, only the data of frames: a station that embeds them decides which identifier belongs to which
//! [`Sender`] and [`Receiver`]. A connection between two stations has one of each at both ends, and every frame that
//! comes from the peer goes to both: a sender takes the flow control frames and a receiver takes the others.
//!
//! A driver calls `handle_*` with the station's time and then `poll` until it returns [`Output::Timeout`], as with any
//! [`Node`](chronoseal_core::Node). Time never runs backwards. Wake-ups may be early, late or double.
//!
//! There are three ways to send a message:
//!
//! | [`Transfer`], [`Reception`] | receivers | messages | in the standard |
//! |---|---|---|---|
//! | `FlowControlled` | one | any length | physical addressing |
//! | `SingleFrame` | any number | one frame | functional addressing |
//! | `PacedBroadcast` | any number | any length | no |
//!
//! **Paced broadcast is outside ISO 15765-2.** A message on a bus may have several receivers, and their flow control
//! frames would contradict each other. In a time-triggered schedule the sender's pace is known to all of them beforehand
//! instead, so first frame and consecutive frames follow at a fixed separation and nobody answers. No receiver can slow
//! the sender down, and the sender does not learn of a loss. Linux has the same under the name `CAN_ISOTP_CF_BROADCAST`.
//!
//! Every failure is an event with a reason, on the side that notices it. A message that failed is not repeated here: that
//! is for whoever sends it.
//!
//! ```
//! use chronoseal_core::LocalTime;
//! use chronoseal_nodes::segmentation::{
//!     Output, ReceiveEvent, Receiver, ReceiverConfig, Reception, Sender, SenderConfig, Transfer,
//! };
//! use chronoseal_wire::can::iso_tp::FrameFormat;
//!
//! let now = LocalTime::ZERO;
//! let format = FrameFormat::classical();
//! let mut sender = Sender::new(SenderConfig::new(format, Transfer::flow_controlled()))?;
//! let mut receiver = Receiver::new(ReceiverConfig::new(format, Reception::flow_controlled()))?;
//! sender.send(now, b"longer than a frame".to_vec())?;
//! let mut data = [0; 64];
//! let received = 'received: loop {
//!     while let Output::Frame(len) = sender.poll(now, &mut data) {
//!         receiver.handle_frame(now, &data[..len]);
//!     }
//!     loop {
//!         match receiver.poll(now, &mut data) {
//!             Output::Frame(len) => sender.handle_frame(now, &data[..len]),
//!             Output::Event(ReceiveEvent::Received(message)) => break 'received message,
//!             Output::Event(other) => panic!("{other:?}"),
//!             Output::Timeout(_) => break,
//!         }
//!     }
//! };
//! assert_eq!(received, b"longer than a frame");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
mod event;
mod receiver;
mod sender;

#[cfg(test)]
mod tests;

pub use config::{ConfigError, ReceiverConfig, Reception, SPAN_MAX, SenderConfig, Transfer};
pub use event::{Output, ReceiveAbort, ReceiveEvent, ReceiveIgnored, SendAbort, SendError, SendEvent, SendIgnored};
pub use receiver::Receiver;
pub use sender::Sender;

/// Room for the data of one frame `[byte]`.
pub const FRAME_DATA_LEN_MAX: usize = chronoseal_wire::can::frame::FD_DATA_LEN_MAX;
