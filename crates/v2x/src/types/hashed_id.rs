//! Ends of hashes that stand for what was hashed, IEEE 1609.2 clauses 6.3.24 to 6.3.29.

use core::fmt;

use crate::coer::{Decode, DecodeError, Encode, Reader, Writer};

macro_rules! hashed_id {
    ($(#[$doc:meta])* $name:ident, $size:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; $size]);

        impl $name {
            /// The last octets of a hash.
            ///
            /// # Panics
            /// If `hash` is shorter than the identifier; no hash of the standard is.
            pub fn of_hash(hash: &[u8]) -> Self {
                Self(*hash.last_chunk().expect("a hash is longer than its identifier"))
            }
        }

        impl<'a> Decode<'a> for $name {
            fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
                reader.array().map(Self)
            }
        }

        impl Encode for $name {
            fn encode(&self, writer: &mut Writer) {
                writer.raw(&self.0);
            }
        }

        impl fmt::Display for $name {
            /// Capital hexadecimal digits, as TS 102 941 annex D writes them in addresses.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|octet| write!(f, "{octet:02X}"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    };
}

hashed_id!(
    /// The last 3 octets of a hash.
    HashedId3, 3
);
hashed_id!(
    /// The last 8 octets of a hash: how certificates are referred to.
    HashedId8, 8
);
hashed_id!(
    /// The last 10 octets of a hash.
    HashedId10, 10
);
hashed_id!(
    /// A whole hash of 32 octets.
    HashedId32, 32
);
hashed_id!(
    /// A whole hash of 48 octets.
    HashedId48, 48
);

impl HashedId8 {
    /// The shorter identifier of the same thing.
    pub fn hashed_id3(&self) -> HashedId3 {
        HashedId3::of_hash(&self.0)
    }

    /// Reads 16 hexadecimal digits of either case.
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        let mut id = [0; 8];
        if digits.len() != 16 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        for (octet, pair) in id.iter_mut().zip(digits.chunks(2)) {
            *octet = u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self(id))
    }
}
