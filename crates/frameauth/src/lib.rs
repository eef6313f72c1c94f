//! Frame authentication and freshness: a payload is sealed by its sender and opened by its receivers.
//!
//! This crate does no I/O, reads no clock, allocates nothing and distributes no keys. Sealed PDUs stay in clear. It does not
//! look into frames and knows no wire: the protocol above says where a PDU begins and which stream it belongs to. What
//! is sealed on one wire can be opened behind others, since the tag covers the identity of the stream ([`DataId`]) and
//! nothing of the wire. One symmetric key means that every receiver could also send; who sent is what the schedule,
//! not the tag, has to say.
//!
//! The types that matter are [`Sealer`] and [`Opener`], both made from a [`Profile`]: any [`MacAlgorithm`] with any
//! [`Freshness`], counted in bits. [`secoc`] has AUTOSAR's profiles; [`SyncMaster`] and [`SyncSlave`] keep the trip and
//! reset counters that some freshness values are made of.
//!
//! # Layout
//! A sealed PDU, in order of transmission, highest bit first:
//!
//! | part | length | content |
//! |---|---|---|
//! | payload | any, 0 included `[byte]` | as given |
//! | freshness value | [`Freshness::sent_bits`] `[bit]` | its low bits |
//! | tag | [`Profile::tag_bits`] `[bit]` | its high bits |
//! | zeros | up to a whole byte | |
//!
//! What the tag covers, in this order and without separators:
//!
//! | part | length `[byte]` | content |
//! |---|---|---|
//! | identity of the stream | 2 for a number, else see [`DataId`] | not sent, both sides know it |
//! | payload | as above | as above |
//! | freshness value | [`Freshness::complete_len`] | all of it, big-endian, however little of it was sent; uneven ones end in zeros |
//!
//! This is the order of AUTOSAR SecOC (data identifier, authentic I-PDU, complete freshness value). The payload's
//! length is not covered by itself: with one profile to a key and identity the other parts have fixed lengths, so
//! two different triples never give the same bytes. Do not use one key and identity with and without freshness.
//!
//! # Freshness
//! | mode | sent | value comes from | a replayed frame is discarded as | further ahead than followed |
//! |---|---|---|---|---|
//! | [`Freshness::None`] | nothing | | **not at all: replayable** | |
//! | [`Freshness::Full`] | 64 bit | the frame | `replayed`, `freshness-too-old` | no limit |
//! | [`Freshness::Truncated`] | n bit | frame and highest value accepted | `replayed`, `freshness-too-old`, `tag-mismatch` | 2^(n-1) values or more |
//! | [`Freshness::CycleCounter`] | nothing | the synchronised clock | `tag-mismatch`, in the same cycle `replayed` | |
//! | [`Freshness::Rising`] | n bit | frame and last value accepted | `replayed`, `freshness-too-old`, `tag-mismatch` | 2^n values or more for each attempt |
//! | [`Freshness::TripReset`] | n bit | frame, last value accepted, a master's counters | the same | the same, until the next reset |
//!
//! A truncated value is completed to the one nearest to the value after the highest accepted. If sender and receiver
//! are 2^(n-1) or more values apart, it is completed to a wrong value, whose tag does not fit: such frames are
//! discarded as `tag-mismatch`, and as `freshness-too-far-ahead` only near zero, where no lower value exists. A stream
//! that can lose that many frames in a row needs more bits.
//!
//! # Example
//! The key is the bytes `00 01 .. 3f`; data identifier, payload and freshness value make up the 14 bytes
//! `00 64` `01 02 03 04` `01 02 03 04 05 06 07 08`, their HMAC-SHA-256 begins with `e0 5f 16 6c d5 55 31 71`.
//!
//! ```
//! use chronoseal_core::DiscardReason;
//! use chronoseal_frameauth::{Freshness, KeyBytes, MacAlgorithm, Moment, Opener, Profile, Sealer};
//!
//! let key = KeyBytes::from_array(std::array::from_fn(|i| i as u8));
//! let profile = Profile::new(MacAlgorithm::HmacSha256, 64, Freshness::Truncated { bits: 16 }, 16)?;
//!
//! let sealer = Sealer::new(profile, &key, 100)?;
//! let mut pdu = [1, 2, 3, 4, /* room for the trailer: */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
//! let len = sealer.seal(&mut pdu, 4, 0x0102_0304_0506_0708)?;
//! assert_eq!(len, profile.secured_len(4));
//! assert_eq!(pdu, [1, 2, 3, 4, 0x07, 0x08, 0xe0, 0x5f, 0x16, 0x6c, 0xd5, 0x55, 0x31, 0x71]);
//!
//! let mut opener = Opener::new(profile, &key, 100)?;
//! let opened = opener.open(&pdu, Moment::Count(0x0102_0304_0506_0700)).expect("authentic and fresh");
//! assert_eq!(opened.payload, [1, 2, 3, 4]);
//! assert_eq!(opened.freshness, Some(0x0102_0304_0506_0708));
//! assert_eq!(opener.open(&pdu, Moment::Unknown), Err(DiscardReason::Replayed));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(not(test), no_std)]

mod authenticator;
mod bits;
mod completion;
mod counters;
mod data_id;
mod freshness;
pub mod macsec;
mod moment;
mod opener;
mod profile;
mod replay_window;
mod sealer;
pub mod secoc;
mod sync;
mod trip_reset;

pub use chronoseal_crypto::{
    HashAlgorithm, KeyBytes, KeyError, KeyLenError, MacAlgorithm, Secret, SymmetricKey, UnknownAlgorithm,
};
pub use counters::Counters;
pub use data_id::{DataId, NAME_LEN_MAX, NameLenError};
pub use freshness::{Freshness, SENT_BITS_MAX};
pub use moment::Moment;
pub use opener::{ATTEMPTS_MAX, Opened, Opener};
pub use profile::{Profile, ProfileError, REPLAY_WINDOW_MAX, TAG_BITS_ADVISED};
pub use sealer::{SealError, Sealer};
pub use sync::{SyncMaster, SyncProtection, SyncProtectionError, SyncSlave};
pub use trip_reset::{TripReset, TripResetLayout};
