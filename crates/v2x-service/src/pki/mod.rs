//! The public key infrastructure of TS 102 941 over HTTP: a [`Client`] that works with the authorities of any vendor,
//! and authorities of one's own in a [`Server`].
//!
//! The exchanges themselves, what is signed, encrypted and checked in them, are `chronoseal_v2x::pki`; here are their
//! files, keys, clocks and connections.

mod clock;
mod error;
mod exchange;
mod files;
mod http;
mod keys;
mod listening;
mod outstanding;
mod places;
mod reports;
mod server;
mod service;
mod shared;
mod station;
mod trust;
mod uses;

pub use clock::{Clock, now};
pub use error::ServiceError;
pub use files::{Meta, read_certificate};
pub use http::{ANSWER_LEN_MAX, CRL_TYPE, CTL_TYPE, HttpClient, REQUEST_TYPE, RESPONSE_TYPE};
pub use keys::{KeyDevice, public_key_pem, read_public_key};
pub use server::{Faults, Server, ServerOptions};
pub use station::{Client, Endpoint, TicketOptions};
pub use trust::TrustStore;
pub use uses::{KeyUse, certificate_in_use, key_uses};
