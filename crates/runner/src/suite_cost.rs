//! Processor time of the operations a key exchange is made of, on this host (the source's Tables IV and V, figures 11
//! and 12).

use chronoseal_core::Operation;
use chronoseal_crypto::suite::{SECRET_LEN, Suite, SuiteName, SuiteVisitor};
use chronoseal_crypto::symmetric::{Aes128Ctr, BlockMac, CmacAes128, Key128};
use chronoseal_results::Distribution;
use chronoseal_testbed::cost::{self, PinnedCore};
use serde::Serialize;

/// Calls before the first counted one.
const WARM_UP: usize = 20;
/// What is signed and encrypted: two shares, one signature `[byte]`.
const MESSAGE_LEN: usize = 64;

/// What each operation of each suite costs.
#[derive(Clone, Debug, Serialize)]
pub struct SuiteCostTable {
    /// Rows by suite and operation.
    pub rows: Vec<SuiteCostRow>,
    /// The processor the calls were kept on, if the host allowed it.
    pub cpu: Option<usize>,
    /// What one empty measurement takes; already subtracted `[ns]`.
    pub overhead_ns: i64,
}

/// One operation.
#[derive(Clone, Debug, Serialize)]
pub struct SuiteCostRow {
    /// `fourq`, `p-256`, `x25519-ed25519`, or `aes-128`.
    pub suite: &'static str,
    /// As a platform prices it.
    pub operation: &'static str,
    /// Time of one call `[ns]`.
    pub duration: Distribution,
}

impl SuiteCostTable {
    /// The median time of an operation `[ns]`, if it was measured often enough to have one.
    pub fn median_ns(&self, operation: &str) -> Option<i64> {
        self.rows.iter().find(|row| row.operation == operation)?.duration.p50_ns
    }

    /// The costs of a platform file: medians.
    pub fn platform_costs_toml(&self) -> String {
        self.rows
            .iter()
            .filter_map(|row| {
                let p50 = row.duration.p50_ns?;
                Some(format!("[[platforms.costs]]\noperation = \"{}\"\nbase = \"{p50}ns\"\n", row.operation))
            })
            .collect()
    }
}

/// Measures every suite, `calls` calls of each operation with other keys each time, on one processor.
pub fn suite_cost(calls: usize) -> SuiteCostTable {
    let core = PinnedCore::new();
    let overhead_ns = cost::overhead_ns();
    let measure = Measure { calls, overhead_ns };
    let mut rows: Vec<SuiteCostRow> =
        SuiteName::ALL.into_iter().flat_map(|suite| suite.dispatch(Measure { ..measure })).collect();
    let mut text = [0x5a; MESSAGE_LEN];
    rows.extend(measure.row("aes-128", Aes128Ctr::OPERATION, |call| {
        let key = Key128::from_array([call as u8; 16]);
        cost::time(|| Aes128Ctr::new(&key).apply_keystream(&[0; 16], &mut text)).0
    }));
    rows.extend(measure.row("aes-128", CmacAes128::OPERATION, |call| {
        let key = Key128::from_array([call as u8; 16]);
        cost::time(|| CmacAes128::new(&key).tag(&[&text])).0
    }));
    SuiteCostTable { rows, cpu: core.cpu(), overhead_ns }
}

#[derive(Clone, Copy)]
struct Measure {
    calls: usize,
    overhead_ns: i64,
}

impl Measure {
    /// A row of `one(call)`, which gives a time.
    fn row(
        &self,
        suite: &'static str,
        operation: Operation,
        mut one: impl FnMut(usize) -> i64,
    ) -> Option<SuiteCostRow> {
        let mut samples: Vec<i64> =
            (0..WARM_UP + self.calls).map(|call| (one(call) - self.overhead_ns).max(0)).skip(WARM_UP).collect();
        Some(SuiteCostRow { suite, operation: operation.0, duration: Distribution::of(&mut samples)? })
    }
}

impl SuiteVisitor for Measure {
    type Output = Vec<SuiteCostRow>;

    fn visit<S: Suite>(self) -> Self::Output {
        let seed = |call: usize, salt: u8| {
            let mut seed = [salt; SECRET_LEN];
            seed[..8].copy_from_slice(&(call as u64).to_le_bytes());
            seed
        };
        let operations = S::OPERATIONS;
        let message = [0xa5; MESSAGE_LEN];
        let signing = S::signing_key(&seed(0, 3));
        let verifying = S::verifying_key(S::public_key(&signing).as_bytes()).expect("a suite accepts its own keys");
        [
            self.row(S::NAME, operations.share, |call| {
                let secret = S::secret(&seed(call, 1));
                cost::time(|| S::share(&secret)).0
            }),
            self.row(S::NAME, operations.agree, |call| {
                let (own, peer) = (S::secret(&seed(call, 1)), S::share(&S::secret(&seed(call, 2))));
                let (ns, agreed) = cost::time(|| S::agree(&own, peer.as_bytes()));
                assert!(agreed.is_ok(), "a suite accepts its own shares");
                ns
            }),
            self.row(S::NAME, operations.generate, |call| {
                let seed = seed(call, 3);
                cost::time(|| S::public_key(&S::signing_key(&seed))).0
            }),
            self.row(S::NAME, operations.sign, |_| cost::time(|| S::sign(&signing, &message)).0),
            self.row(S::NAME, operations.verify, |call| {
                let mut message = message;
                message[0] = call as u8;
                let signature = S::sign(&signing, &message);
                let (ns, verified) = cost::time(|| S::verify(&verifying, &message, &signature));
                assert!(verified.is_ok(), "a suite accepts its own signatures");
                ns
            }),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
