//! Jobs of any number and mixture of curves, cut to what the lanes take at once.

use zeroize::Zeroize as _;

use crate::bignum;
use crate::curve::{BrainpoolP256Order, Curve, Modulus, NistP256Order};
use crate::fallback;
use crate::job::{CompressedPoint, Signature, Signing, Verification};
use crate::lanes::{JOBS_MAX, LANES, Lanes};
use crate::modular::scalar;
use crate::mulx::{self, Mulx};
use crate::nonce::nonce;

/// What computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    /// Eight lanes of AVX-512 IFMA.
    Avx512Ifma,
    /// One at a time in 64-bit words, on P-256, where the processor has BMI2, ADX and AVX2; brainpoolP256r1 as by
    /// [`Engine::Scalar`].
    Mulx,
    /// One at a time, by the RustCrypto crates.
    Scalar,
}

/// How full the lanes were.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Usage {
    /// Jobs done.
    pub jobs: usize,
    /// Lanes that computed for them, idle ones included: a multiple of eight, or the number of jobs by scalar code.
    pub lanes: usize,
}

/// A job that belongs to a curve.
pub(crate) trait OnCurve: Copy {
    fn curve(&self) -> Curve;
}

impl OnCurve for Verification<'_> {
    fn curve(&self) -> Curve {
        self.curve
    }
}

impl OnCurve for CompressedPoint<'_> {
    fn curve(&self) -> Curve {
        self.curve
    }
}

impl OnCurve for Signing<'_> {
    fn curve(&self) -> Curve {
        self.curve
    }
}

impl Engine {
    /// Every engine this processor can run, the fastest for many jobs first.
    #[must_use]
    pub fn available() -> &'static [Self] {
        match (Lanes::detect().is_some(), Mulx::detect().is_some()) {
            (true, true) => &[Self::Avx512Ifma, Self::Mulx, Self::Scalar],
            (true, false) => &[Self::Avx512Ifma, Self::Scalar],
            (false, true) => &[Self::Mulx, Self::Scalar],
            (false, false) => &[Self::Scalar],
        }
    }

    /// Whether this processor can run it.
    #[must_use]
    pub fn is_available(self) -> bool {
        Self::available().contains(&self)
    }

    /// As [`verify_batch`], by this engine, or by [`Engine::Scalar`] where the processor lacks it.
    ///
    /// # Panics
    /// If there are not as many results as jobs.
    pub fn verify_batch(self, jobs: &[Verification<'_>], results: &mut [bool]) -> Usage {
        self.verify_batch_with_pauses(jobs, results, &mut || ())
    }

    /// As [`verify_batch_with_pauses`], by this engine.
    ///
    /// # Panics
    /// If there are not as many results as jobs.
    pub fn verify_batch_with_pauses(
        self,
        jobs: &[Verification<'_>],
        results: &mut [bool],
        pause: &mut dyn FnMut(),
    ) -> Usage {
        assert_eq!(jobs.len(), results.len(), "one result for each job");
        if let Some(lanes) = self.lanes() {
            return cut::<JOBS_MAX, _, _>(LANES, jobs, results, |curve, jobs, results| {
                lanes.verify(curve, jobs, results, fallback::verify, pause);
            });
        }
        if let Some(mulx) = self.mulx() {
            return cut::<{ mulx::JOBS_MAX }, _, _>(1, jobs, results, |curve, jobs, results| match curve {
                Curve::NistP256 => mulx.verify(jobs, with_point, results, fallback::verify, pause),
                Curve::BrainpoolP256r1 => {
                    one_by_one(jobs, results, |job| {
                        pause();
                        fallback::verify(job)
                    });
                }
            });
        }
        one_by_one(jobs, results, |job| {
            pause();
            fallback::verify(job)
        })
    }

    /// As [`decompress_batch`], by this engine.
    ///
    /// # Panics
    /// If there are not as many results as points.
    pub fn decompress_batch(self, points: &[CompressedPoint<'_>], ys: &mut [Option<[u8; 32]>]) -> Usage {
        assert_eq!(points.len(), ys.len(), "one result for each point");
        if let Some(lanes) = self.lanes() {
            return cut::<LANES, _, _>(LANES, points, ys, |curve, points, ys| lanes.decompress(curve, points, ys));
        }
        if let Some(mulx) = self.mulx() {
            return one_by_one(points, ys, |point| match point.curve {
                Curve::NistP256 => mulx.decompress(point),
                Curve::BrainpoolP256r1 => fallback::decompress(point),
            });
        }
        one_by_one(points, ys, fallback::decompress)
    }

    /// As [`sign_batch`], by this engine.
    ///
    /// # Panics
    /// If there are not as many results as jobs.
    pub fn sign_batch(self, jobs: &[Signing<'_>], signatures: &mut [Option<Signature>]) -> Usage {
        assert_eq!(jobs.len(), signatures.len(), "one result for each job");
        if let Some(lanes) = self.lanes() {
            return cut::<JOBS_MAX, _, _>(LANES, jobs, signatures, |curve, jobs, signatures| {
                sign(curve, jobs, signatures, |nonces, signatures| lanes.sign(curve, jobs, nonces, signatures));
            });
        }
        if let Some(mulx) = self.mulx() {
            return cut::<{ mulx::JOBS_MAX }, _, _>(1, jobs, signatures, |curve, jobs, signatures| match curve {
                Curve::NistP256 => {
                    sign(curve, jobs, signatures, |nonces, signatures| mulx.sign(jobs, nonces, signatures));
                }
                Curve::BrainpoolP256r1 => {
                    one_by_one(jobs, signatures, fallback::sign);
                }
            });
        }
        one_by_one(jobs, signatures, fallback::sign)
    }

    pub(crate) fn lanes(self) -> Option<Lanes> {
        if self == Self::Avx512Ifma { Lanes::detect() } else { None }
    }

    pub(crate) fn mulx(self) -> Option<Mulx> {
        if self == Self::Mulx { Mulx::detect() } else { None }
    }
}

fn with_point<'j>(job: &'j Verification<'_>) -> mulx::Job<'j> {
    mulx::Job { numbers: [job.digest, job.r, job.s], key: mulx::Key::Point([job.public_x, job.public_y]) }
}

/// The engine that is the fastest for many jobs on this processor.
#[must_use]
pub fn engine() -> Engine {
    Engine::available()[0]
}

/// The engine that is the fastest for one job alone on this processor.
#[must_use]
pub fn engine_alone(curve: Curve) -> Engine {
    if curve == Curve::NistP256 && Engine::Mulx.is_available() { Engine::Mulx } else { engine() }
}

/// Works out the multiples of the generator for a curve, which its first job would otherwise wait for [about 10 ms],
/// and which take 366 KB on the lanes and 216 KB besides for P-256. No call after this allocates for that curve, but by the
/// scalar code.
pub fn prepare(curve: Curve) {
    if let Some(lanes) = Lanes::detect() {
        lanes.prepare(curve);
    }
    if let Some(mulx) = Mulx::detect().filter(|_| curve == Curve::NistP256) {
        mulx.prepare();
    }
}

/// Verifies signatures: `results[i]` tells whether that of `jobs[i]` is right.
///
/// Jobs of both curves may be mixed. One is refused if r or s is not from 1 to the order less one, or if the public key
/// is not a point of the curve with coordinates below the prime; neither disturbs its neighbours. High values of s are
/// taken, as IEEE 1609.2 takes them. Two to eight jobs of a curve take the same time, one alone two thirds of it, spread
/// over all lanes, and 32 share the inversions. The lanes
/// want about 100 KB of stack.
///
/// # Panics
/// If there are not as many results as jobs.
pub fn verify_batch(jobs: &[Verification<'_>], results: &mut [bool]) -> Usage {
    engine().verify_batch(jobs, results)
}

/// As [`verify_batch`], calling `pause` now and then, so that who verifies can look after what is more urgent: on the lanes
/// and in words every few microseconds, and by scalar code before each job.
///
/// # Panics
/// If there are not as many results as jobs.
pub fn verify_batch_with_pauses(jobs: &[Verification<'_>], results: &mut [bool], pause: &mut dyn FnMut()) -> Usage {
    engine().verify_batch_with_pauses(jobs, results, pause)
}

/// Recovers y of compressed points; `None` where no point of the curve has that x, or x is not below the prime.
///
/// # Panics
/// If there are not as many results as points.
pub fn decompress_batch(points: &[CompressedPoint<'_>], ys: &mut [Option<[u8; 32]>]) -> Usage {
    engine().decompress_batch(points, ys)
}

/// Signs digests with nonces of RFC 6979 (SHA-256); `None` where a key is not from 1 to the order less one.
///
/// # Panics
/// If there are not as many results as jobs.
pub fn sign_batch(jobs: &[Signing<'_>], signatures: &mut [Option<Signature>]) -> Usage {
    engine().sign_batch(jobs, signatures)
}

/// Signs on P-256 as [`sign_batch`] does, where another library multiplies the generator: `multiply` is given the nonce, from 1 to the
/// order less one, and gives x of its multiple. What it does not give, or what is on another curve, the scalar code signs.
pub fn sign_with_multiple(
    job: &Signing<'_>,
    multiply: impl FnOnce(&[u8; 32]) -> Option<[u8; 32]>,
) -> Option<Signature> {
    if job.curve != Curve::NistP256 {
        return fallback::sign(job);
    }
    let mut signature = [None];
    sign(job.curve, &[*job], &mut signature, |nonces, signatures| {
        let Some(x) = multiply(&nonces[0]) else { return };
        let mut inverse = scalar::to_montgomery(&bignum::from_be_bytes(&nonces[0]));
        inverse = scalar::invert(&inverse);
        signatures[0] = scalar::signature(&bignum::from_be_bytes(&x), &inverse, job);
        inverse.zeroize();
    });
    signature[0]
}

/// Collects jobs of a curve until `MAX` are there or none is left, without allocating; so many `lanes` compute together.
pub(crate) fn cut<const MAX: usize, J: OnCurve, R: Copy + Default>(
    lanes: usize,
    jobs: &[J],
    results: &mut [R],
    mut run: impl FnMut(Curve, &[J], &mut [R]),
) -> Usage {
    let mut usage = Usage { jobs: jobs.len(), lanes: 0 };
    let Some(first) = jobs.first() else { return usage };
    if jobs.iter().all(|job| job.curve() == first.curve()) {
        for (jobs, results) in jobs.chunks(MAX).zip(results.chunks_mut(MAX)) {
            run(first.curve(), jobs, results);
            usage.lanes += jobs.len().next_multiple_of(lanes);
        }
        return usage;
    }
    for curve in [Curve::NistP256, Curve::BrainpoolP256r1] {
        let mut rest = jobs.iter().enumerate().filter(|(_, job)| job.curve() == curve);
        loop {
            let (mut picked, mut places, mut count) = ([*first; MAX], [0; MAX], 0);
            for (place, job) in rest.by_ref().take(MAX) {
                (picked[count], places[count]) = (*job, place);
                count += 1;
            }
            if count == 0 {
                break;
            }
            let mut verdicts = [R::default(); MAX];
            run(curve, &picked[..count], &mut verdicts[..count]);
            for (place, verdict) in places.iter().zip(&verdicts[..count]) {
                results[*place] = *verdict;
            }
            usage.lanes += count.next_multiple_of(lanes);
        }
    }
    usage
}

pub(crate) fn one_by_one<J, R>(jobs: &[J], results: &mut [R], mut run: impl FnMut(&J) -> R) -> Usage {
    for (job, result) in jobs.iter().zip(results) {
        *result = run(job);
    }
    Usage { jobs: jobs.len(), lanes: jobs.len() }
}

const _: () = assert!(mulx::JOBS_MAX == JOBS_MAX);

/// Makes the nonces, lets `run` sign with them, and puts a harmless job in the place of one whose key is out of range.
fn sign(
    curve: Curve,
    jobs: &[Signing<'_>],
    signatures: &mut [Option<Signature>],
    run: impl FnOnce(&[[u8; 32]], &mut [Option<Signature>]),
) {
    let order = match curve {
        Curve::NistP256 => &NistP256Order::WORDS,
        Curve::BrainpoolP256r1 => &BrainpoolP256Order::WORDS,
    };
    const ONE: [u8; 32] = bignum::to_be_bytes(&[1, 0, 0, 0]);
    let mut nonces = [ONE; JOBS_MAX];
    for (job, slot) in jobs.iter().zip(&mut nonces) {
        if bignum::is_scalar(&bignum::from_be_bytes(job.secret), order) {
            nonce(job, order, slot);
        }
    }
    run(&nonces[..jobs.len()], signatures);
    nonces[..jobs.len()].as_flattened_mut().zeroize();
    for (job, signature) in jobs.iter().zip(signatures) {
        if !bignum::is_scalar(&bignum::from_be_bytes(job.secret), order) {
            *signature = None;
        } else if signature.is_none() {
            // r or s was zero: the scalar code goes on to the next nonce.
            *signature = fallback::sign(job);
        }
    }
}
