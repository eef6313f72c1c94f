//! The signatures of several messages at once.

use std::sync::Arc;

use crate::crypto::{Curve, PublicPoint, VerifyingKey};
use crate::types::{CurvePoint, PublicVerificationKey};
use crate::verify::{Begun, JobKey, SignatureJob};
use chronoseal_ecdsa_lanes::{self as lanes, CompressedPoint, KnownVerification, SignerTable, Verification};

/// Most messages of a batch.
pub(super) const MESSAGES_MAX: usize = 32;
/// Most signatures in words that share their inversions: more gain little, and the last would wait for the first.
const WORDS_MAX: usize = 8;
/// Most signatures of a message: three certificates' and its own.
pub(super) const JOBS_MAX: usize = 4;

/// What verifies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    /// One at a time: P-256 in words where the processor lets it ([`has_words`](crate::crypto::has_words)), else by the
    /// [`Provider`](crate::crypto::Provider) that is installed, or by RustCrypto.
    Scalar,
    /// One after the other in 64-bit words, a few of which share their inversions; the other engine for curves that are not P-256.
    Words,
    /// Eight lanes, where the processor has them, one signature over all of them or one in each; the other engine where it
    /// has not, and for other curves.
    Lanes,
}

impl Engine {
    /// The fastest this processor can run.
    #[must_use]
    pub fn fastest() -> Self {
        match lanes::engine() {
            lanes::Engine::Avx512Ifma => Self::Lanes,
            lanes::Engine::Mulx => Self::Words,
            lanes::Engine::Scalar => Self::Scalar,
        }
    }

    /// Every engine this processor can run, the slowest first.
    #[must_use]
    pub fn available() -> &'static [Self] {
        match (Self::fastest(), lanes::Engine::Mulx.is_available()) {
            (Self::Lanes, true) => &[Self::Scalar, Self::Words, Self::Lanes],
            (Self::Lanes, false) => &[Self::Scalar, Self::Lanes],
            (Self::Words, _) => &[Self::Scalar, Self::Words],
            (Self::Scalar, _) => &[Self::Scalar],
        }
    }

    /// As rows and sentences name it. Ask what ran, as [`Pipeline::engine`](super::Pipeline::engine), not what was asked for.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Scalar => "one by one",
            Self::Words => "64-bit words",
            Self::Lanes => "eight lanes",
        }
    }

    /// In statistics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Words => "words",
            Self::Lanes => "lanes",
        }
    }

    /// Most signatures verified at once.
    #[must_use]
    pub const fn batch_len(self) -> usize {
        match self {
            Self::Scalar => 1,
            Self::Words => WORDS_MAX,
            Self::Lanes => MESSAGES_MAX,
        }
    }
}

/// One answer for each job of each message.
pub(super) type Answers = [[bool; JOBS_MAX]; MESSAGES_MAX];
type Ys = [[Option<[u8; 32]>; JOBS_MAX]; MESSAGES_MAX];

/// Verifies the jobs of up to [`MESSAGES_MAX`] messages. Keys that were new and proved right are left in their jobs, ready,
/// so that nobody has to decompress them again. Calls `pause` every few microseconds while the lanes or the words are at work.
pub(super) fn verify(begun: &mut [Option<Begun<'_>>], engine: Engine, pause: &mut dyn FnMut()) -> Answers {
    let mut answers = Answers::default();
    let by = match engine {
        Engine::Scalar => lanes::Engine::Scalar,
        Engine::Words => lanes::Engine::Mulx,
        Engine::Lanes => lanes::engine(),
    };
    if by == lanes::Engine::Scalar || is_one_for_words(begun) {
        one_by_one(begun, &mut answers);
        return answers;
    }
    let ys = decompress(begun, by);
    verify_together(begun, &ys, &mut answers, by, pause);
    for ((message, ys), answers) in begun.iter_mut().flatten().zip(&ys).zip(&answers) {
        for ((job, y), _) in message.jobs_mut().zip(ys).zip(answers).filter(|(_, is_right)| **is_right) {
            if let (Some((curve, point)), Some(y)) = (new_point(job), y)
                && let Ok(point) = PublicPoint::from_coordinates(curve, point.x(), y)
            {
                job.key = JobKey::Ready(Arc::new(VerifyingKey::new(point)));
            }
        }
    }
    answers
}

/// The first wrong one of a message decides.
fn one_by_one(begun: &mut [Option<Begun<'_>>], answers: &mut Answers) {
    for (message, answers) in begun.iter_mut().flatten().zip(answers) {
        for (job, answer) in message.jobs_mut().zip(answers) {
            let Ok(key) = job.key.ready() else { break };
            job.key = JobKey::Ready(key);
            *answer = job.verify();
            if !*answer {
                break;
            }
        }
    }
}

/// Whether there is one signature only, and one takes less time in words than on all lanes.
fn is_one_for_words(begun: &[Option<Begun<'_>>]) -> bool {
    let mut jobs = begun.iter().flatten().flat_map(Begun::jobs);
    let first = jobs.next().and_then(|job| on_lanes(job.curve()));
    jobs.next().is_none() && first.is_some_and(|curve| lanes::engine_alone(curve) == lanes::Engine::Mulx)
}

/// Multiples of a job's key, of which the lanes make no use.
fn table(job: &SignatureJob, by: lanes::Engine) -> Option<&SignerTable> {
    match &job.key {
        JobKey::Ready(key) if by == lanes::Engine::Mulx => key.table(),
        JobKey::Ready(_) | JobKey::New(_) => None,
    }
}

/// A new key of a curve the lanes know.
#[derive(Clone, Copy)]
enum NewPoint<'a> {
    Compressed { x: &'a [u8; 32], y_is_odd: bool },
    Uncompressed { x: &'a [u8; 32], y: &'a [u8; 32] },
}

impl<'a> NewPoint<'a> {
    fn x(self) -> &'a [u8; 32] {
        match self {
            Self::Compressed { x, .. } | Self::Uncompressed { x, .. } => x,
        }
    }
}

fn new_point(job: &SignatureJob) -> Option<(Curve, NewPoint<'_>)> {
    let JobKey::New(key) = &job.key else { return None };
    let (curve, point) = match key {
        PublicVerificationKey::EcdsaNistP256(point) => (Curve::NistP256, point),
        PublicVerificationKey::EcdsaBrainpoolP256r1(point) => (Curve::BrainpoolP256r1, point),
        _ => return None,
    };
    let point = match point {
        CurvePoint::CompressedY0(x) => NewPoint::Compressed { x, y_is_odd: false },
        CurvePoint::CompressedY1(x) => NewPoint::Compressed { x, y_is_odd: true },
        CurvePoint::Uncompressed { x, y } => NewPoint::Uncompressed { x, y },
        CurvePoint::XOnly(_) | CurvePoint::Fill => return None,
    };
    Some((curve, point))
}

fn on_lanes(curve: Curve) -> Option<lanes::Curve> {
    match curve {
        Curve::NistP256 => Some(lanes::Curve::NistP256),
        Curve::BrainpoolP256r1 => Some(lanes::Curve::BrainpoolP256r1),
        Curve::NistP384 | Curve::BrainpoolP384r1 => None,
    }
}

/// y of every new key that travelled compressed.
fn decompress(begun: &[Option<Begun<'_>>], engine: lanes::Engine) -> Ys {
    let mut ys = [[None; JOBS_MAX]; MESSAGES_MAX];
    let mut new = begun.iter().flatten().enumerate().flat_map(|(message, one)| {
        one.jobs().enumerate().filter_map(move |(at, job)| match new_point(job)? {
            (curve, NewPoint::Compressed { x, y_is_odd }) => {
                Some(((message, at), CompressedPoint { curve: on_lanes(curve)?, x, y_is_odd }))
            }
            (_, NewPoint::Uncompressed { .. }) => None,
        })
    });
    const NONE: CompressedPoint<'_> = CompressedPoint { curve: lanes::Curve::NistP256, x: &[0; 32], y_is_odd: false };
    loop {
        let (mut points, mut places, mut count) = ([NONE; MESSAGES_MAX], [(0, 0); MESSAGES_MAX], 0);
        for (place, point) in new.by_ref().take(MESSAGES_MAX) {
            (places[count], points[count]) = (place, point);
            count += 1;
        }
        if count == 0 {
            return ys;
        }
        let mut found = [None; MESSAGES_MAX];
        engine.decompress_batch(&points[..count], &mut found[..count]);
        for ((message, at), y) in places[..count].iter().zip(found) {
            ys[*message][*at] = y;
        }
    }
}

/// A job as the lanes take it; none if they do not.
fn as_lanes_take_it<'a>(job: &'a SignatureJob, y: Option<&'a [u8; 32]>) -> Option<Verification<'a>> {
    let (key_curve, public_x, public_y) = match (&job.key, new_point(job)) {
        (JobKey::Ready(key), _) => (key.curve(), key.point().x().try_into().ok()?, key.point().y().try_into().ok()?),
        (_, Some((curve, NewPoint::Compressed { x, .. }))) => (curve, x, y?),
        (_, Some((curve, NewPoint::Uncompressed { x, y }))) => (curve, x, y),
        (JobKey::New(_), None) => return None,
    };
    let curve = on_lanes(key_curve).filter(|_| key_curve == job.curve())?;
    let digest = job.digest.as_bytes().try_into().ok()?;
    let (r, s) = (job.signature.r().try_into().ok()?, job.signature.s().try_into().ok()?);
    Some(Verification { curve, digest, r, s, public_x, public_y })
}

/// The same of a job whose key has a table.
fn with_table<'a>(job: &'a SignatureJob, signer: &'a SignerTable) -> Option<KnownVerification<'a>> {
    let digest = job.digest.as_bytes().try_into().ok()?;
    let (r, s) = (job.signature.r().try_into().ok()?, job.signature.s().try_into().ok()?);
    (job.curve() == Curve::NistP256).then_some(KnownVerification { digest, r, s, signer })
}

/// Most signatures of a batch.
const ALL_MAX: usize = MESSAGES_MAX * JOBS_MAX;

/// Jobs of several messages, and where their answers belong.
struct Collected<J> {
    jobs: [J; ALL_MAX],
    places: [(usize, usize); ALL_MAX],
    count: usize,
}

impl<J: Copy> Collected<J> {
    /// With none in it; what fills the array is never looked at.
    fn filled_with(job: J) -> Self {
        Self { jobs: [job; ALL_MAX], places: [(0, 0); ALL_MAX], count: 0 }
    }

    fn push(&mut self, job: J, place: (usize, usize)) {
        (self.jobs[self.count], self.places[self.count]) = (job, place);
        self.count += 1;
    }

    fn answer(&self, answers: &mut Answers, verify: impl FnOnce(&[J], &mut [bool])) {
        let mut found = [false; ALL_MAX];
        verify(&self.jobs[..self.count], &mut found[..self.count]);
        for ((message, at), is_right) in self.places[..self.count].iter().zip(found) {
            answers[*message][*at] = is_right;
        }
    }
}

fn verify_together(
    begun: &[Option<Begun<'_>>],
    ys: &Ys,
    answers: &mut Answers,
    by: lanes::Engine,
    pause: &mut dyn FnMut(),
) {
    const ZERO: &[u8; 32] = &[0; 32];
    const NONE: Verification<'_> =
        Verification { curve: lanes::Curve::NistP256, digest: ZERO, r: ZERO, s: ZERO, public_x: ZERO, public_y: ZERO };
    let mut plain = Collected::filled_with(NONE);
    let mut known = None::<Collected<KnownVerification<'_>>>;
    for (message, one) in begun.iter().flatten().enumerate() {
        for (at, job) in one.jobs().enumerate() {
            if let Some(job) = table(job, by).and_then(|table| with_table(job, table)) {
                known.get_or_insert_with(|| Collected::filled_with(job)).push(job, (message, at));
            } else if let Some(job) = as_lanes_take_it(job, ys[message][at].as_ref()) {
                plain.push(job, (message, at));
            } else {
                // Of a curve of 384 bits, or with a key that is no point.
                answers[message][at] = job.verify();
            }
        }
    }
    plain.answer(answers, |jobs, found| {
        by.verify_batch_with_pauses(jobs, found, pause);
    });
    if let Some(known) = known {
        known.answer(answers, |jobs, found| {
            lanes::verify_known_batch_with_pauses(jobs, found, pause);
        });
    }
}
