//! P-256, one number at a time in 64-bit words, by `mulx` and two chains of carries: what a processor without the lanes has.
//!
//! A job alone takes less time here than spread over the lanes; eight together take less there. brainpoolP256r1's prime has no
//! form that makes its reduction short: the scalar code keeps it.

mod decompress;
mod digits;
mod field;
mod point;
mod sign;
mod table;
mod verify;

#[cfg(test)]
mod tests;

#[cfg(feature = "signer-tables")]
pub(crate) use table::KeyTable;
pub(crate) use verify::{Job, Key};

use crate::job::{CompressedPoint, Signature, Signing};
use verify::Verdict;

/// Jobs that share an inversion, at most.
pub(crate) const JOBS_MAX: usize = 32;

/// Proof that this processor has the instructions.
#[derive(Clone, Copy)]
pub(crate) struct Mulx(());

#[allow(unsafe_code)]
impl Mulx {
    /// Asks the processor, unless everything is masked.
    pub(crate) fn detect() -> Option<Self> {
        let is_there =
            is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("adx") && is_x86_feature_detected!("avx2");
        (!crate::mask::is_all_masked() && is_there).then_some(Self(()))
    }

    /// Makes the tables.
    pub(crate) fn prepare(self) {
        // SAFETY: as in `verify`.
        unsafe {
            table::generator();
            sign::table();
        }
    }

    /// Verifies jobs on P-256, at most [`JOBS_MAX`], which share their inversions. Calls `decide` for one that the formulas do not
    /// cover, and `pause` every few microseconds.
    pub(crate) fn verify<'j, J>(
        self,
        jobs: &'j [J],
        as_job: fn(&'j J) -> Job<'j>,
        results: &mut [bool],
        decide: fn(&J) -> bool,
        pause: &mut dyn FnMut(),
    ) {
        assert!(jobs.len() <= JOBS_MAX && jobs.len() == results.len(), "the caller cuts jobs to size");
        let mut verdicts = [Verdict::Wrong; JOBS_MAX];
        // SAFETY: `self` exists, so that the processor has BMI2, ADX and AVX2, which is all the callees enable.
        unsafe {
            if let [job] = jobs {
                verdicts[0] = verify::judge_one(&as_job(job), pause);
            } else {
                verify::judge_all(jobs.iter().map(as_job), &mut verdicts[..jobs.len()], pause);
            }
        }
        for ((job, result), verdict) in jobs.iter().zip(results).zip(verdicts) {
            *result = match verdict {
                Verdict::Right => true,
                Verdict::Wrong => false,
                Verdict::Unclear => decide(job),
            };
        }
    }

    /// y of a point of P-256.
    pub(crate) fn decompress(self, point: &CompressedPoint<'_>) -> Option<[u8; 32]> {
        // SAFETY: as in `verify`.
        unsafe { decompress::decompress(point.x, point.y_is_odd) }
    }

    /// See [`sign::sign`].
    pub(crate) fn sign(self, jobs: &[Signing<'_>], nonces: &[[u8; 32]], signatures: &mut [Option<Signature>]) {
        // SAFETY: as in `verify`.
        unsafe { sign::sign(jobs, nonces, signatures) }
    }

    /// The table of a key; none of what is no point of P-256.
    #[cfg(feature = "signer-tables")]
    pub(crate) fn key_table(self, x: &[u8; 32], y: &[u8; 32]) -> Option<KeyTable> {
        // SAFETY: as in `verify`.
        unsafe { point::Affine::load(x, y).map(|point| KeyTable::of(&point)) }
    }
}
