//! What makes a packet a secured one: the seam to signatures.

use chronoseal_v2x::certificate::CertificateError;
use chronoseal_v2x::message::SignError;
use chronoseal_v2x::verify::{TrustError, Verdict};

/// Who signs what.
#[derive(Clone, Copy, Debug)]
pub struct SecureRequest<'a> {
    /// Under which identity; one that was never used before gets a ticket of its own.
    pub pseudonym: u32,
    /// TAI since 2004-01-01 [us].
    pub generation_time_us: u64,
    /// True if the whole certificate goes along, else its digest.
    pub with_certificate: bool,
    /// Where what a DENM tells of happened, north and east [0.1 microdegree]; `None` for a CAM.
    pub event: Option<(i32, i32)>,
    /// Common header and all behind it.
    pub packet: &'a [u8],
}

/// Signs for all vehicles, and checks what is on the air.
pub trait Security {
    /// Appends an `Ieee1609Dot2Data` with the packet in it.
    ///
    /// # Errors
    /// [`SecurityError`] if no ticket can be had or the signature fails.
    fn secure(&mut self, request: &SecureRequest<'_>, out: &mut Vec<u8>) -> Result<(), SecurityError>;

    /// Checks the whole of a secured packet and gives back what is in it.
    ///
    /// # Errors
    /// [`SecurityError`] with the reason if it is refused.
    fn open<'a>(&mut self, secured: &'a [u8], now_us: u64) -> Result<&'a [u8], SecurityError>;
}

/// Why a packet could not be secured or was refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecurityError {
    /// A certificate could not be issued.
    #[error("certificate: {0}")]
    Certificate(#[from] CertificateError),
    /// A certificate of root or authority is not trusted.
    #[error("trust: {0}")]
    Trust(#[from] TrustError),
    /// The signature failed.
    #[error("signature: {0}")]
    Sign(#[from] SignError),
    /// A check failed, or there is no packet in the message.
    #[error("refused: {0}")]
    Refused(Box<Verdict>),
}
