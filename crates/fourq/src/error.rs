//! What can be wrong with bytes from elsewhere.

/// Why 32 bytes are no point's encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodingError {
    /// Bit 127, which is always zero, is set.
    #[error("bit 127 of the encoding is reserved and set")]
    ReservedBit,
    /// A half of y is not less than p.
    #[error("a half of the encoded coordinate is not less than 2^127 - 1")]
    NotCanonical,
    /// No point of the curve has this y.
    #[error("no point of the curve has the encoded coordinate")]
    NotOnCurve,
    /// x is zero, which has no sign, and the sign is set.
    #[error("the encoded point has x = 0 and its sign is set")]
    SignOfZero,
}

/// Why a key, a signature or an exchange is refused. The peer's fault in every case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A public key is no point.
    #[error("public key: {0}")]
    PublicKey(EncodingError),
    /// A public key is a point whose order divides the cofactor 392, the identity among them.
    #[error("public key of small order")]
    SmallOrder,
    /// A signature's first half is no point: found only by batch verification, which decodes it.
    #[error("signature, first half: {0}")]
    Commitment(EncodingError),
    /// A signature's second half is not less than N.
    #[error("signature, second half: not less than the order of the base point")]
    ScalarRange,
    /// The signature is not one of this message by this key.
    #[error("signature does not verify")]
    Signature,
    /// The shared point is the identity: the secret is a multiple of N.
    #[error("shared secret is the identity")]
    SharedSecret,
}
