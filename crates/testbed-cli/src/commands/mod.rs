//! One file a command.

pub(crate) mod agent;
pub(crate) mod ca;
pub(crate) mod controller;
