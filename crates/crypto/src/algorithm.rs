//! Every message authentication code there is here, in one table.

use core::{fmt, str::FromStr};

use chronoseal_core::Operation;

/// What is known of an algorithm before anything is computed.
struct Row {
    name: &'static str,
    output_len: usize,
    key_len: KeyLen,
    tag_bits_min: u16,
    tag_bits_step: u16,
    needs_nonce: bool,
    kept_for_comparison: bool,
}

/// Which keys an algorithm takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyLen {
    /// Keys of any length.
    Any,
    /// Keys of exactly this length `[byte]`.
    Exactly(usize),
}

/// Makes [`MacAlgorithm`] and its table from the same lines, so that neither can lack one.
macro_rules! mac_algorithms {
    ($($(#[$doc:meta])* $variant:ident: $row:expr,)*) => {
        /// A message authentication code.
        ///
        /// # How to add one
        /// 1. Here, in `crates/crypto/src/algorithm.rs`: one entry of the table. Its name is also the name of its
        ///    operation, which platforms price.
        /// 2. `crates/crypto/src/mac_key.rs`: the prepared key as a variant of `State`, and one arm in each of its two
        ///    matches (`MacKey::new`, `MacKey::with_full_tag`). Everything above the seam goes through [`crate::MacKey`]
        ///    and needs no change: profiles, sealers, openers, stations, and the tests that run over
        ///    [`MacAlgorithm::ALL`].
        /// 3. A file of its own for the computation, if the library does not already offer a prepared key that is wiped
        ///    when dropped and takes a message in parts. An HMAC over another hash needs none.
        /// 4. `crates/crypto/tests/crypto/`: public vectors, with their source.
        ///
        /// A MAC whose tags are only safe with a nonce says `needs_nonce: true`. Then the seam above gives it the freshness
        /// value of each message as its nonce and a key of its own for each stream, and refuses a profile without
        /// freshness.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        pub enum MacAlgorithm {
            $($(#[$doc])* $variant,)*
        }

        impl MacAlgorithm {
            /// Every algorithm, in the order reports show them.
            pub const ALL: [Self; TABLE.len()] = [$(Self::$variant,)*];
        }

        /// By the number of the variant.
        const TABLE: [Row; [$(stringify!($variant),)*].len()] = [$($row,)*];
    };
}

/// The longest tag of any algorithm here `[byte]`.
pub const OUTPUT_LEN_MAX: usize = {
    let (mut longest, mut index) = (0, 0);
    while index < TABLE.len() {
        if TABLE[index].output_len > longest {
            longest = TABLE[index].output_len;
        }
        index += 1;
    }
    longest
};

/// The shortest tag of an HMAC `[bit]`.
///
/// It leaves a forger one chance in 2^32 a try. NIST SP 800-107 revision 1, 5.3.3 lets HMAC tags be this short where the
/// number of failed tries is limited; a schedule that gives each frame one slot a period is such a limit.
const HMAC_BITS_MIN: u16 = 32;

/// The shortest tag of a CMAC `[bit]`.
///
/// No standard has a least one: AUTOSAR's SecOC leaves the length to the vehicle (document 654, `SecOCAuthInfoTruncLength`), and NIST SP
/// 800-38B, A.2 asks for 64 bits wherever the number of guesses is not limited. Its profiles 1 and 2 have 24: an attacker who may try as
/// often as a classical bus at 500 kbit/s carries frames finds a tag of 24 bits in 78 min and one of 28 bits in 21 h, on average.
/// Whoever offers fewer has to say what that means.
const CMAC_BITS_MIN: u16 = 1;

const HMAC: Row = Row {
    name: "",
    output_len: 0,
    key_len: KeyLen::Any,
    tag_bits_min: HMAC_BITS_MIN,
    tag_bits_step: 1,
    needs_nonce: false,
    kept_for_comparison: false,
};

/// The shortest tag of a GMAC `[bit]`; all have whole bytes (SP 800-38D 5.2.1.2).
///
/// Tags of 32 and 64 bits are for applications that limit the length of messages and the number of those that are checked under a
/// key (its appendix C). A receiver on a network cannot limit how many forgeries it gets, so there are none here.
const GMAC_BITS_MIN: u16 = 96;

const GMAC: Row = Row {
    name: "",
    output_len: 16,
    key_len: KeyLen::Any,
    tag_bits_min: GMAC_BITS_MIN,
    tag_bits_step: 8,
    needs_nonce: true,
    kept_for_comparison: false,
};

mac_algorithms! {
    /// HMAC (FIPS 198-1) with SHA-1 (FIPS 180-4). Kept for comparison only, see [`MacAlgorithm::kept_for_comparison`].
    HmacSha1: Row { name: "hmac-sha-1", output_len: 20, kept_for_comparison: true, ..HMAC },
    /// HMAC (FIPS 198-1) with SHA-256 (FIPS 180-4).
    HmacSha256: Row { name: "hmac-sha-256", output_len: 32, ..HMAC },
    /// HMAC (FIPS 198-1) with SHA-512 (FIPS 180-4).
    HmacSha512: Row { name: "hmac-sha-512", output_len: 64, ..HMAC },
    /// HMAC (FIPS 198-1) with SHA3-256 (FIPS 202).
    HmacSha3_256: Row { name: "hmac-sha3-256", output_len: 32, ..HMAC },
    /// CMAC (NIST SP 800-38B) with AES-128.
    CmacAes128: Row {
        name: "cmac-aes-128",
        output_len: 16,
        key_len: KeyLen::Exactly(16),
        tag_bits_min: CMAC_BITS_MIN,
        tag_bits_step: 1,
        needs_nonce: false,
        kept_for_comparison: false,
    },
    /// GMAC (NIST SP 800-38D) with AES-128.
    GmacAes128: Row { name: "gmac-aes-128", key_len: KeyLen::Exactly(16), ..GMAC },
    /// GMAC (NIST SP 800-38D) with AES-256.
    GmacAes256: Row { name: "gmac-aes-256", key_len: KeyLen::Exactly(32), ..GMAC },
    /// Keyed BLAKE3, its output of 32 bytes (the BLAKE3 paper, 2.3, 2020).
    Blake3: Row { name: "blake3", output_len: 32, key_len: KeyLen::Exactly(32), ..HMAC },
}

impl MacAlgorithm {
    const fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// As shown to people, and as its operation is charged.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Length of the untruncated tag `[byte]`.
    pub const fn output_len(self) -> usize {
        self.row().output_len
    }

    /// Which keys it takes.
    pub const fn key_len(self) -> KeyLen {
        self.row().key_len
    }

    /// Whether it takes keys of `len` bytes.
    pub const fn takes_key_len(self, len: usize) -> bool {
        match self.key_len() {
            KeyLen::Any => true,
            KeyLen::Exactly(expected) => len == expected,
        }
    }

    /// The shortest tag computed or accepted `[bit]`.
    pub const fn tag_bits_min(self) -> u16 {
        self.row().tag_bits_min
    }

    /// The longest tag, which is the untruncated one `[bit]`.
    pub const fn tag_bits_max(self) -> u16 {
        8 * self.output_len() as u16
    }

    /// The lengths of tags are a multiple of this `[bit]`.
    pub const fn tag_bits_step(self) -> u16 {
        self.row().tag_bits_step
    }

    /// Whether its tags may have this length `[bit]`.
    pub const fn takes_tag_bits(self, bits: u16) -> bool {
        bits >= self.tag_bits_min() && bits <= self.tag_bits_max() && bits.is_multiple_of(self.tag_bits_step())
    }

    /// Whether every message under one key needs a nonce that no other one had.
    pub const fn needs_nonce(self) -> bool {
        self.row().needs_nonce
    }

    /// What one tag is charged as.
    pub const fn operation(self) -> Operation {
        Operation(self.name())
    }

    /// Whether it is here only so that published figures can be set beside ours.
    ///
    /// True for HMAC-SHA-1. The hash's collision resistance is broken (Stevens et al., "The first collision for full
    /// SHA-1", CRYPTO 2017) and NIST withdraws it for every use by the end of 2030. HMAC does not rest on collision
    /// resistance and no practical forgery of HMAC-SHA-1 is known, so its figures are honest; a new design still has
    /// no reason to choose it.
    pub const fn kept_for_comparison(self) -> bool {
        self.row().kept_for_comparison
    }
}

impl fmt::Display for MacAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for MacAlgorithm {
    type Err = UnknownAlgorithm;

    fn from_str(text: &str) -> Result<Self, UnknownAlgorithm> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == text).ok_or(UnknownAlgorithm)
    }
}

/// The text names no [`MacAlgorithm`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownAlgorithm;

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this message authentication code is not known here; write one of ")?;
        for (index, algorithm) in MacAlgorithm::ALL.into_iter().enumerate() {
            write!(f, "{}{algorithm}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownAlgorithm {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_and_is_that_of_one_algorithm() {
        for (index, algorithm) in MacAlgorithm::ALL.into_iter().enumerate() {
            assert_eq!(algorithm.name().parse(), Ok(algorithm));
            assert_eq!(algorithm.operation().0, algorithm.name());
            assert_eq!(algorithm as usize, index, "the table is in the order of the variants");
        }
    }

    #[test]
    fn refuses_other_names_and_lists_its_own() {
        for text in ["", "hmac-sha1", "HMAC-SHA-256", "hmac-sha-256 ", "md5"] {
            assert_eq!(text.parse::<MacAlgorithm>(), Err(UnknownAlgorithm));
        }
        for algorithm in MacAlgorithm::ALL {
            assert!(UnknownAlgorithm.to_string().contains(algorithm.name()));
        }
    }

    #[test]
    fn every_row_leaves_room_for_a_tag() {
        for algorithm in MacAlgorithm::ALL {
            assert!((8..=OUTPUT_LEN_MAX).contains(&algorithm.output_len()), "{algorithm}");
            assert!((1..=algorithm.tag_bits_max()).contains(&algorithm.tag_bits_min()), "{algorithm}");
            assert!(
                [algorithm.tag_bits_min(), algorithm.tag_bits_max()].map(|bits| algorithm.takes_tag_bits(bits))
                    == [true; 2]
            );
        }
    }
}
