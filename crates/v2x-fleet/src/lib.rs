//! A fleet.
pub mod eavesdropper;
pub mod road;
