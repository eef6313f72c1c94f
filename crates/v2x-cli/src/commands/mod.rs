//! One file a subcommand.

pub(crate) mod pki;
pub(crate) mod vss;
