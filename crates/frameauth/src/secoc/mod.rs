//! AUTOSAR SecOC: secured PDUs for CAN, counted in bits. Profiles 1, 2 and 3, and what keeps their freshness in step.
//!
//! This module encrypts nothing, distributes no keys, segments nothing and knows no time: when the master begins a reset
//! cycle, and what happens to a PDU thrown away, is for the node around it.
//!
//! The types that matter are [`Transmitter`] and [`Receiver`], made from a [`SecOcProfile`], and, where the freshness
//! value has trip and reset counters, [`SyncMaster`] and [`SyncSlave`]. [`Protection`] makes single PDUs from freshness
//! values kept elsewhere.
//!
//! # Profiles
//! | profile | tag sent [bit] | freshness value sent [bit] | complete value | bytes more | a replayed PDU |
//! |---|---:|---:|---|---:|---|
//! | 1, "24Bit-CMAC-8Bit-FV" | 24 | 8 | open: [`FreshnessFormat::Counter`] or [`FreshnessFormat::TripReset`] | 4 | is refused |
//! | 2, "24Bit-CMAC-No-FV" | 24 | 0 | none | 3 | **passes** |
//! | 3, "JASPAR" | 28 | 4 | 64 bit: trip, reset, message counter, reset flag | 4 | is refused |
//!
//! The MAC is AES-128-CMAC (NIST SP 800-38B). Source: AUTOSAR document 969 (PRS SecOcProtocol) for the profiles,
//! document 654 (SWS SecureOnboardCommunication), chapter 11, for trips and resets.
//!
//! # Layout
//! A secured PDU, in order of transmission, highest bit first; zeros fill the last byte where a profile is uneven:
//!
//! | part | content |
//! |---|---|
//! | authentic PDU | as given, 0 bytes included |
//! | freshness value sent | its lowest bits |
//! | tag sent | its highest bits |
//!
//! The tag covers, without separators:
//!
//! | part | length [byte] | content |
//! |---|---|---|
//! | data identifier | 2 | big-endian, not sent |
//! | authentic PDU | as above | as above |
//! | complete freshness value | [`FreshnessFormat::complete_len`] | big-endian; uneven ones end in zeros |
//!
//! # What becomes of losses and restarts
//! | what happened | counter | trip and reset counters |
//! |---|---|---|
//! | PDUs lost, fewer than the sent bits count | nothing is noticed | nothing is noticed |
//! | as many or more | bridged up to [`Receiver::with_attempts`] spans, else [`Receiver::resume_after`] | the same, or until the next reset |
//! | a synchronisation message lost at one node | | reset counters up to two apart are tried |
//! | more than two lost | | `tag-mismatch` until the next message is heard |
//! | the receiver restarts | [`Receiver::resume_after`] | [`SyncSlave::resume_after`], then the next reset |
//! | the sender restarts | [`Transmitter::resume_after`] | [`Transmitter::resume_after_epoch`], then the next reset |
//! | the master restarts | | the next trip |
//! | a counter is at its end | a new key | the next reset, trip, or a new key |
//!
//! # Example
//! Profile 3, one classical frame of synchronisation and one of data:
//!
//! ```
//! use chronoseal_crypto::symmetric::Key128;
//! use chronoseal_frameauth::secoc::{
//!     FreshnessFormat, Receiver, SecOcProfile, SyncMaster, SyncProtection, SyncSlave, Transmitter,
//! };
//! use chronoseal_core::DiscardReason;
//!
//! let key = Key128::from_array(std::array::from_fn(|i| i as u8));
//! let FreshnessFormat::TripReset(layout) = FreshnessFormat::JASPAR else { unreachable!() };
//! let sync = SyncProtection::new(layout, 28, &key, 0x000f)?;
//! let (mut master, mut slave) = (SyncMaster::start(sync.clone(), 41)?, SyncSlave::new(sync));
//! let mut frame = [0; 8];
//! master.write_message(&mut frame)?;
//! slave.handle_message(&frame).expect("authentic and later than what is known");
//!
//! let mut sender = Transmitter::new(SecOcProfile::profile_3(), &key, 0x0123);
//! let mut receiver = Receiver::new(SecOcProfile::profile_3(), &key, 0x0123);
//! let mut pdu = [1, 2, 3, 4, /* room for the trailer: */ 0, 0, 0, 0];
//! assert_eq!(sender.seal(&mut pdu, 4, Some(master.current()))?, 8);
//! assert_eq!(pdu[4] >> 4, 0b01_01, "message counter 1, reset flag 1");
//! assert_eq!(receiver.open(&pdu, slave.current()).expect("authentic and fresh").payload, [1, 2, 3, 4]);
//! assert_eq!(receiver.open(&pdu, slave.current()), Err(DiscardReason::Replayed));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod freshness;
mod profile;
mod protection;
mod receiver;
mod sync;
mod transmitter;

pub use freshness::{FreshnessFormat, TripReset, TripResetLayout};
pub use profile::{SENT_BITS_MAX, SecOcProfile, SecOcProfileError, TAG_BITS_MAX, TAG_BITS_MIN};
pub use protection::Protection;
pub use receiver::{ATTEMPTS_MAX, Receiver};
pub use sync::{SyncMaster, SyncProtection, SyncSlave};
pub use transmitter::Transmitter;
