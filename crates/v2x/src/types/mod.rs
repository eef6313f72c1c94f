//! The structures of IEEE 1609.2-2022 (ASN.1 modules `Ieee1609Dot2` 2.6 and `Ieee1609Dot2BaseTypes` 2.4) that ETSI TS
//! 103 097 V2 profiles.
//!
//! Names are those of the modules. Byte strings are borrowed from what was received; what is built borrows from its
//! builder's data. A structure with an extension marker keeps the additions it does not know in
//! [`ExtensionAdditions`](crate::coer::ExtensionAdditions), and a choice in an `Unknown` alternative, so that what was
//! read can be written again. The exceptions are keys, signatures and ciphers: an algorithm nobody here knows is an error, because nothing
//! could be done with the structure around it.

mod certificate;
mod curve_point;
mod data;
mod encrypted;
mod hashed_id;
mod header_info;
mod key;
mod permission;
mod region;
mod time;

pub use certificate::*;
pub use curve_point::*;
pub use data::*;
pub use encrypted::*;
pub use hashed_id::*;
pub use header_info::*;
pub use key::*;
pub use permission::*;
pub use region::*;
pub use time::*;

use crate::coer::{DecodeError, Encode, Reader, Writer};

/// An alternative of an extensible choice that this crate does not know, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAlternative {
    /// Number of the alternative.
    pub number: u8,
    /// Contents of the open type.
    pub bytes: Vec<u8>,
}

impl UnknownAlternative {
    /// Reads what follows the tag.
    fn decode(reader: &mut Reader<'_>, number: u8) -> Result<Self, DecodeError> {
        Ok(Self { number, bytes: reader.octets()?.to_vec() })
    }
}

impl Encode for UnknownAlternative {
    fn encode(&self, writer: &mut Writer) {
        writer.tag(self.number);
        writer.octets(&self.bytes);
    }
}

/// The bytes a structure was read from; empty in one that was built. Two structures are equal whatever they came from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Received<'a>(pub &'a [u8]);

impl PartialEq for Received<'_> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Received<'_> {}
