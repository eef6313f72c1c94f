//! Multiples of a public key, kept to verify its next signatures faster.
//!
//! Before switching the feature on, read the README: keeping precomputed values for each neighbouring station to verify
//! its later messages faster is claimed by patents in places.

use crate::batch::{Engine, OnCurve, Usage, cut, engine, one_by_one};
use crate::curve::Curve;
use crate::fallback;
use crate::job::Verification;
use crate::lanes::{JOBS_MAX, LANES, Lanes};
use crate::mulx::{self, KeyTable, Mulx};

/// Entries of a signer's table.
pub(crate) const TABLE_ENTRIES: usize = 64;

/// A signer's table for the lanes: x and y of each entry, four words a number.
pub(crate) type Known = Box<[[u64; 8]; TABLE_ENTRIES]>;

/// A public key and multiples of it, 4.2 KB for the lanes and 8.3 KB in words.
#[derive(Clone)]
pub struct SignerTable {
    curve: Curve,
    public: [[u8; 32]; 2],
    table: Table,
}

#[derive(Clone)]
enum Table {
    Lanes(Known),
    Mulx(KeyTable),
    /// The scalar code has no use for one.
    None,
}

impl core::fmt::Debug for SignerTable {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("SignerTable").field("curve", &self.curve).finish_non_exhaustive()
    }
}

impl SignerTable {
    /// Tables for keys (x, y) of a curve, for [`engine`]; `None` for what is no point of it. On the lanes eight keys take as
    /// long as one.
    #[must_use]
    pub fn build(curve: Curve, keys: &[[&[u8; 32]; 2]]) -> Vec<Option<Self>> {
        Self::build_for(engine(), curve, keys)
    }

    /// As [`build`](Self::build), for another engine.
    #[must_use]
    pub fn build_for(engine: Engine, curve: Curve, keys: &[[&[u8; 32]; 2]]) -> Vec<Option<Self>> {
        let all = |tables: Vec<Option<Table>>| -> Vec<Option<Self>> {
            let both = tables.into_iter().zip(keys);
            both.map(|(table, [x, y])| Some(Self { curve, public: [**x, **y], table: table? })).collect()
        };
        if let Some(lanes) = engine.lanes() {
            let mut tables = vec![None; keys.len()];
            for (keys, tables) in keys.chunks(8).zip(tables.chunks_mut(8)) {
                lanes.tables(curve, keys, tables);
            }
            return all(tables.into_iter().map(|table| table.map(Table::Lanes)).collect());
        }
        if let Some(mulx) = engine.mulx().filter(|_| curve == Curve::NistP256) {
            return all(keys.iter().map(|[x, y]| mulx.key_table(x, y).map(Table::Mulx)).collect());
        }
        all(keys.iter().map(|[x, y]| fallback::is_point(curve, x, y).then_some(Table::None)).collect())
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

    /// The table for the lanes; of zeros where there is none, which no lane reads.
    pub(crate) fn for_lanes(&self) -> &[[u64; 8]; TABLE_ENTRIES] {
        static NONE: [[u64; 8]; TABLE_ENTRIES] = [[0; 8]; TABLE_ENTRIES];
        if let Table::Lanes(table) = &self.table { table } else { &NONE }
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

/// As [`verify_batch`](crate::verify_batch), for signers with tables: half the time or less. By the engine the tables are for; the
/// scalar code if they are for different ones. The first call on the lanes works out 1 MiB of multiples of the generator
/// for a curve.
///
/// # Panics
/// If there are not as many results as jobs.
pub fn verify_known_batch(jobs: &[KnownVerification<'_>], results: &mut [bool]) -> Usage {
    verify_known_batch_with_pauses(jobs, results, &mut || ())
}

/// As [`verify_known_batch`], calling `pause` now and then: in words every ten microseconds, and on the lanes before each 32
/// jobs, which take 90.
///
/// # Panics
/// If there are not as many results as jobs.
pub fn verify_known_batch_with_pauses(
    jobs: &[KnownVerification<'_>],
    results: &mut [bool],
    pause: &mut dyn FnMut(),
) -> Usage {
    assert_eq!(jobs.len(), results.len(), "one result for each job");
    let are_all = |is_of: fn(&Table) -> bool| jobs.iter().all(|job| is_of(&job.signer.table));
    if let Some(lanes) = Lanes::detect().filter(|_| are_all(|table| matches!(table, Table::Lanes(_)))) {
        return cut::<JOBS_MAX, _, _>(LANES, jobs, results, |curve, jobs, results| {
            pause();
            lanes.verify_known(curve, jobs, results, decide);
        });
    }
    if let Some(mulx) = Mulx::detect().filter(|_| are_all(|table| matches!(table, Table::Mulx(_)))) {
        return cut::<{ mulx::JOBS_MAX }, _, _>(1, jobs, results, |_, jobs, results| {
            mulx.verify(jobs, with_table, results, decide, pause);
        });
    }
    one_by_one(jobs, results, |job| {
        pause();
        decide(job)
    })
}

fn with_table<'j>(job: &'j KnownVerification<'_>) -> mulx::Job<'j> {
    let [x, y] = &job.signer.public;
    let key =
        if let Table::Mulx(table) = &job.signer.table { mulx::Key::Table(table) } else { mulx::Key::Point([x, y]) };
    mulx::Job { numbers: [job.digest, job.r, job.s], key }
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
