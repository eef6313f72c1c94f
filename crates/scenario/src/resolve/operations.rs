//! The names that costs can be given for: everything that a node announces as work and that has no length of its own.

use chronoseal_core::Operation;
use chronoseal_crypto::MacAlgorithm;
use chronoseal_crypto::kdf;
use chronoseal_crypto::suite::{Suite, SuiteName, SuiteVisitor};
use chronoseal_crypto::symmetric::Aes128Ctr;
use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x_fleet::station::{sign_operation, verify_operation};

/// Every operation that can cost something, each once.
pub(super) fn names() -> Vec<&'static str> {
    let macs = MacAlgorithm::ALL.iter().map(|algorithm| algorithm.operation());
    let suites = SuiteName::ALL.iter().flat_map(|suite| suite.dispatch(OfSuite));
    let curves = Curve::ALL.iter().flat_map(|curve| [sign_operation(*curve), verify_operation(*curve)]);
    let all = macs.chain(suites).chain(curves).chain([Aes128Ctr::OPERATION, kdf::OPERATION]);
    let mut names: Vec<&str> = all.map(|operation| operation.0).collect();
    names.sort_unstable();
    names.dedup();
    names
}

struct OfSuite;
impl SuiteVisitor for OfSuite {
    type Output = [Operation; 5];
    fn visit<S: Suite>(self) -> Self::Output {
        let own = S::OPERATIONS;
        [own.share, own.agree, own.generate, own.sign, own.verify]
    }
}
