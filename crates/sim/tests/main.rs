//! Simulated networks, held against their plans and bounds.

mod application;
mod bounds;
mod can;
mod conformance;
mod host;
mod macsec;
mod plans;
mod policing;
mod protections;
mod redundancy;
mod replication;
mod switches;
mod virtual_links;
