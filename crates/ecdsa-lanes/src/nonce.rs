//! Nonces of RFC 6979 with SHA-256.

use rfc6979::KGenerator;
use rfc6979::bigint::U256;
use sha2::Sha256;

use crate::bignum::{self, Words};
use crate::job::Signing;

/// The first nonce for a job.
///
/// # Panics
/// Never: key, digest and order are 32 bytes each.
pub(crate) fn nonce(job: &Signing<'_>, order: &Words) -> [u8; 32] {
    let order = U256::from_be_slice(&bignum::to_be_bytes(order));
    let mut out = [0; 32];
    KGenerator::<Sha256, U256>::new(job.secret, job.digest, job.entropy, &order).fill_next_k(&mut out);
    out
}
