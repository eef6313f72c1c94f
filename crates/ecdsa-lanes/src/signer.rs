//! Multiples of a public key, kept to verify its next signatures faster.
//!
//! Before switching the feature on, read the README: keeping precomputed values for each neighbouring station to verify
//! its later messages faster is claimed by patents in places.

use crate::batch::{OnCurve, Usage, cut, engine, one_by_one};
use crate::curve::Curve;
use crate::fallback;
use crate::job::Verification;
use crate::lanes::JOBS_MAX;

/// Entries of a signer's table.
pub(crate) const TABLE_ENTRIES: usize = 64;

/// A signer's table: x and y of each entry, four words a number.
pub(crate) type Known = Box<[[u64; 8]; TABLE_ENTRIES]>;

/// A public key and multiples of it, 4.2 KB.
#[derive(Clone)]
pub struct SignerTable {
    curve: Curve,
    public: [[u8; 32]; 2],
    /// Empty where the lanes are not: the scalar code has no use for it.
    table: Option<Known>,
}

impl core::fmt::Debug for SignerTable {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("SignerTable").field("curve", &self.curve).finish_non_exhaustive()
    }
}

impl SignerTable {
    /// Tables for keys (x, y) of a curve; `None` for what is no point of it. Eight keys take as long as one.
    #[must_use]
    pub fn build(curve: Curve, keys: &[[&[u8; 32]; 2]]) -> Vec<Option<Self>> {
        if let Some(lanes) = engine().lanes() {
            let mut tables = vec![None; keys.len()];
            for (keys, tables) in keys.chunks(8).zip(tables.chunks_mut(8)) {
                lanes.tables(curve, keys, tables);
            }
            let made = tables
                .into_iter()
                .zip(keys)
                .map(|(table, [x, y])| table.map(|table| Self { curve, public: [**x, **y], table: Some(table) }));
            return made.collect();
        }
        keys.iter()
            .map(|[x, y]| fallback::is_point(curve, x, y).then_some(Self { curve, public: [**x, **y], table: None }))
            .collect()
    }

    /// The curve of the key.
    #[must_use]
    pub fn curve(&self) -> Curve {
        self.curve
    }

    /// x and y of the key.
    #[must_use]
    pub fn public(&self) -> &[[u8; 32]; 2] {
        &self.public
    }

    /// The table; of zeros where it was built without the lanes, which no lane reads.
    pub(crate) fn table(&self) -> &[[u64; 8]; TABLE_ENTRIES] {
        static NONE: [[u64; 8]; TABLE_ENTRIES] = [[0; 8]; TABLE_ENTRIES];
        self.table.as_deref().unwrap_or(&NONE)
    }
}

/// A signature of a signer with a table.
#[derive(Clone, Copy, Debug)]
pub struct KnownVerification<'a> {
    /// Leftmost 256 bits of the message's digest.
    pub digest: &'a [u8; 32],
    /// The signature's r.
    pub r: &'a [u8; 32],
    /// The signature's s.
    pub s: &'a [u8; 32],
    /// The signer.
    pub signer: &'a SignerTable,
}

impl OnCurve for KnownVerification<'_> {
    fn curve(&self) -> Curve {
        self.signer.curve
    }
}

/// As [`verify_batch`](crate::verify_batch), for signers with tables: half the time. The first call for a curve works out
/// 1 MiB of multiples of the generator.
///
/// # Panics
/// If there are not as many results as jobs.
pub fn verify_known_batch(jobs: &[KnownVerification<'_>], results: &mut [bool]) -> Usage {
    assert_eq!(jobs.len(), results.len(), "one result for each job");
    if let Some(lanes) = engine().lanes() {
        return cut::<JOBS_MAX, _, _>(jobs, results, |curve, jobs, results| {
            lanes.verify_known(curve, jobs, results, decide);
        });
    }
    one_by_one(jobs, results, decide)
}

fn decide(job: &KnownVerification<'_>) -> bool {
    let [public_x, public_y] = &job.signer.public;
    fallback::verify(&Verification {
        curve: job.signer.curve,
        digest: job.digest,
        r: job.r,
        s: job.s,
        public_x,
        public_y,
    })
}
