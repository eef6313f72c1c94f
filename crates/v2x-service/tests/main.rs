//! A station and its authorities on a host: real processes, sockets, tokens and stores.

mod hsm;
mod pki;
mod vss;
