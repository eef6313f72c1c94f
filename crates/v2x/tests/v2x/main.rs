//! What the crate promises, a module per behaviour.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod differential;
mod encryption;
mod held_lists;
mod hostile;
mod ieee_vectors;
mod implicit;
mod issuing;
mod lint;
mod lint_batches;
mod misbehaviour;
mod mutation;
mod on_demand;
mod peers;
mod pki_exchanges;
mod pki_linking;
mod pki_messages;
mod pki_replays;
mod real_samples;
mod regions;
mod signing;
mod stations;
mod traps;
mod verification;
mod vss_expiry;
mod vss_station;
mod wycheproof;
