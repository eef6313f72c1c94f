//! What a sealer and an opener promise each other, and what they promise against everybody else.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod pair;

mod apart;
mod end_to_end;
mod every_combination;
mod layout;
mod macsec;
mod refusal;
mod replay;
mod restart;
mod secoc_freshness;
mod secoc_layout;
mod secoc_sync;
mod secoc_vectors;
mod truncation;
