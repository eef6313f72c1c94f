//! IEEE 1609.2-2022 and ETSI TS 103 097 V2: messages, certificates, and what a receiver checks.
//!
//! It opens no socket, file or clock, and makes no key up by itself: bytes, the time and a source of randomness are
//! handed in. It is not constant-time where everything is public (decoding, verifying).
//!
//! | module | what |
//! |---|---|
//! | [`certificate`] | identifying and issuing certificates |
//! | [`coer`] | the encoding: [`coer::Reader`], [`coer::Writer`] |
//! | [`crypto`] | curves, ECIES, AES-CCM, and the seam to private keys: [`crypto::SigningKey`], [`crypto::AgreementKey`] |
//! | [`lint`] | every deviation of bytes, with its clause: [`lint::lint`] |
//! | [`message`] | [`message::sign`], [`message::encrypt`], [`message::decrypt`] |
//! | [`misbehaviour`] | reports of misbehaviour: [`misbehaviour::Detector`], [`misbehaviour::examine`] |
//! | [`pipeline`] | received messages verified in batches, the most relevant first: [`pipeline::Pipeline`] |
//! | [`pki`] | what stations and authorities say to each other: [`pki::EtsiTs102941Data`] |
//! | [`region`] | distances, what lies in a region, and whether a region lies in another: [`region::region_within`] |
//! | [`types`] | the structures: [`types::Ieee1609Dot2Data`], [`types::Certificate`] |
//! | [`verify`] | [`verify::Verifier`], its trust store, and the [`verify::Verdict`] |
//! | [`vss`] | a station's security subsystem: [`vss::Pool`], [`vss::ChangePolicy`], [`vss::Demand`] |
//!
//! ```
//! use chronoseal_v2x::coer::{Decode, Encode};
//! use chronoseal_v2x::types::Ieee1609Dot2Data;
//!
//! let message = Ieee1609Dot2Data::unsecured(b"hello");
//! let bytes = message.to_coer()?;
//! assert_eq!(bytes, b"\x03\x80\x05hello");
//! assert_eq!(Ieee1609Dot2Data::from_coer(&bytes)?, message);
//!
//! let error = Ieee1609Dot2Data::from_coer(b"\x03\x80\x81\x05hello").unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "byte 2, content.unsecuredData: not canonical: length in more octets than it needs (X.696 8.6.5)"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod certificate;
pub mod coer;
pub mod crypto;
pub mod lint;
pub mod message;
pub mod misbehaviour;
pub mod pipeline;
pub mod pki;
pub mod region;
pub mod types;
pub mod verify;
pub mod vss;
