//! Whose code computes on the NIST curves.

/// Whose code computes on the NIST curves, one signature at a time. The brainpool curves are always RustCrypto's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Provider {
    /// Pure Rust.
    RustCrypto,
    /// AWS-LC, in C and assembler: several times faster, same results.
    AwsLc,
}

impl Provider {
    /// The one this crate was built with: AWS-LC with the feature `aws-lc`.
    pub const BUILT_IN: Self = if cfg!(feature = "aws-lc") { Self::AwsLc } else { Self::RustCrypto };

    /// As shown to people and in statistics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RustCrypto => "rustcrypto",
            Self::AwsLc => "aws-lc",
        }
    }
}
