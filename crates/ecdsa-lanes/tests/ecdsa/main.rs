//! What the crate promises, by its public interface, for every engine this processor has.

mod decompress;
mod refuse;
mod samples;
mod sign;
#[cfg(feature = "signer-tables")]
mod signer;
mod verify;
mod wycheproof;
