//! Frame authentication and freshness: a payload is sealed by its sender and opened by its receivers.
//!
//! This crate does no I/O, reads no clock, allocates nothing, encrypts nothing and distributes no keys. It does not
//! look into frames: the protocol above says where a PDU begins and which stream it belongs to. One symmetric key
//! means that every receiver could also send; who sent is what the schedule, not the tag, has to say.
//!
//! The types that matter are [`Sealer`] and [`Opener`], both made from a [`Profile`], for HMAC on Ethernet. For CMAC on
//! CAN, in AUTOSAR's own profiles and counted in bits, see [`secoc`].
//!
//! # Layout
//! A sealed PDU, in order of transmission:
//!
//! | part | length [byte] | content |
//! |---|---|---|
//! | payload | any, 0 included | as given |
//! | freshness value | [`Freshness::wire_len`]: 0, 8, 1..=7 or 0 | its low bytes, big-endian |
//! | tag | [`Profile::tag_len`] | the leftmost bytes of the HMAC |
//!
//! What the HMAC covers, in this order and without separators:
//!
//! | part | length [byte] | content |
//! |---|---|---|
//! | data identifier | 2 | big-endian; not sent, both sides know it (the identifier of the virtual link) |
//! | payload | as above | as above |
//! | freshness value | 8, or 0 with [`Freshness::None`] | all of it, big-endian, however little of it was sent |
//!
//! This is the order of AUTOSAR SecOC (data identifier, authentic I-PDU, complete freshness value). The payload's
//! length is not covered by itself: with one profile to a key and identifier the other parts have fixed lengths, so
//! two different triples never give the same bytes. Do not use one key and identifier with and without freshness.
//!
//! # Freshness
//! | mode | bytes sent | value comes from | a replayed frame is discarded as | further ahead than followed |
//! |---|---|---|---|---|
//! | [`Freshness::None`] | 0 | | **not at all: replayable** | |
//! | [`Freshness::Full`] | 8 | the frame | `replayed`, `freshness-too-old` | no limit |
//! | [`Freshness::Truncated`]`(n)` | n | frame and highest value accepted | `replayed`, `freshness-too-old`, `tag-mismatch` | 2^(8n-1) values or more |
//! | [`Freshness::CycleCounter`] | 0 | the synchronised clock | `tag-mismatch`, in the same cycle `replayed` | |
//!
//! A truncated value is completed to the one nearest to the value after the highest accepted. If sender and receiver
//! are 2^(8n-1) or more values apart, it is completed to a wrong value, whose tag does not fit: such frames are
//! discarded as `tag-mismatch`, and as `freshness-too-far-ahead` only near zero, where no lower value exists. A stream
//! that can lose that many frames in a row needs more bytes.
//!
//! # Example
//! The key is the bytes `00 01 .. 3f`; data identifier, payload and freshness value make up the 14 bytes
//! `00 64` `01 02 03 04` `01 02 03 04 05 06 07 08`, their HMAC-SHA-256 begins with `e0 5f 16 6c d5 55 31 71`.
//!
//! ```
//! use chronoseal_core::DiscardReason;
//! use chronoseal_frameauth::{Freshness, HashAlgorithm, KeyBytes, Opener, Profile, Sealer};
//!
//! let key = KeyBytes::from_array(std::array::from_fn(|i| i as u8));
//! let profile = Profile::new(HashAlgorithm::Sha256, 8, Freshness::Truncated(2), 16)?;
//!
//! let sealer = Sealer::new(profile, &key, 100);
//! let mut pdu = [1, 2, 3, 4, /* room for the trailer: */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
//! let len = sealer.seal(&mut pdu, 4, 0x0102_0304_0506_0708)?;
//! assert_eq!(len, 4 + profile.overhead());
//! assert_eq!(pdu, [1, 2, 3, 4, 0x07, 0x08, 0xe0, 0x5f, 0x16, 0x6c, 0xd5, 0x55, 0x31, 0x71]);
//!
//! let mut opener = Opener::new(profile, &key, 100);
//! let opened = opener.open(&pdu, Some(0x0102_0304_0506_0700)).expect("authentic and fresh");
//! assert_eq!(opened.payload, [1, 2, 3, 4]);
//! assert_eq!(opened.freshness, Some(0x0102_0304_0506_0708));
//! assert_eq!(opener.open(&pdu, None), Err(DiscardReason::Replayed));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(not(any(test, feature = "std")), no_std)]

mod counters;
mod freshness;
mod opener;
mod profile;
mod replay_window;
mod sealer;
pub mod secoc;

pub use chronoseal_crypto::{HashAlgorithm, KeyBytes, KeyError, TAG_LEN_MIN};
pub use counters::Counters;
pub use freshness::Freshness;
pub use opener::{Opened, Opener};
pub use profile::{Profile, ProfileError, REPLAY_WINDOW_MAX};
pub use sealer::{SealError, Sealer};
