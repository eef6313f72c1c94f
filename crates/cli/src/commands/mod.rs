//! One file a subcommand.

pub(crate) mod bench;
pub(crate) mod bounds;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod doctor;
pub(crate) mod fleet;
pub(crate) mod foreign;
pub(crate) mod middleware;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod saturate;
pub(crate) mod scenario;
pub(crate) mod schedule;
pub(crate) mod schema;
pub(crate) mod study;
pub(crate) mod v2x;
