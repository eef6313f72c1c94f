//! One list of checks for every back end, also for a token this project has never seen.
//!
//! Each operation is tried, and judged by the curve and cipher code of this process, not by the device itself. What a
//! back end declares unsupported has to be refused with that reason. Keys made here are deleted again; predefined keys
//! are only read.

mod keys;
mod table;
mod work;

pub use table::table;

use chronoseal_v2x::crypto::KeyError;

use super::{Capabilities, Hsm, HsmError, KeyHandle, Operation, Support};

/// What became of one operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Every check held.
    Held,
    /// Every check held, part of the work was the host's; which.
    HeldShared(String),
    /// Declared unsupported, and refused with this reason.
    Unsupported(String),
    /// What did not hold.
    Failed(String),
}

/// One line of the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// What was tried.
    pub operation: Operation,
    /// What became of it.
    pub outcome: Outcome,
}

/// Tries every operation on `hsm`.
pub fn run(hsm: &mut dyn Hsm) -> Vec<Row> {
    Operation::all().into_iter().map(|operation| Row { operation, outcome: outcome(hsm, operation) }).collect()
}

fn outcome(hsm: &mut dyn Hsm, operation: Operation) -> Outcome {
    let declared = hsm.capabilities().support(operation).clone();
    let mut bench = Bench { hsm, made: Vec::new() };
    let result = match &declared {
        Support::Unsupported(reason) => bench.is_refused(operation, reason),
        Support::Device | Support::Shared(_) => bench.check(operation),
    };
    let cleaned = bench.clean_up();
    match (result.and(cleaned), declared) {
        (Err(Failure(what)), _) => Outcome::Failed(what),
        (Ok(()), Support::Device) => Outcome::Held,
        (Ok(()), Support::Shared(part)) => Outcome::HeldShared(part),
        (Ok(()), Support::Unsupported(reason)) => Outcome::Unsupported(reason),
    }
}

/// What did not hold.
struct Failure(String);

impl From<HsmError> for Failure {
    fn from(error: HsmError) -> Self {
        Self(error.to_string())
    }
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        Self(error.to_string())
    }
}

fn ensure(holds: bool, what: impl Into<String>) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(Failure(what.into())) }
}

/// A device under test and the keys made on it so far.
struct Bench<'a> {
    hsm: &'a mut dyn Hsm,
    made: Vec<KeyHandle>,
}

impl Bench<'_> {
    fn check(&mut self, operation: Operation) -> Result<(), Failure> {
        match operation {
            Operation::CreateSymmetric(persistence) => self.creates_symmetric(persistence),
            Operation::CreatePair(curve, persistence) => self.creates_pair(curve, persistence),
            Operation::Import(kind, persistence) => self.imports(kind, persistence),
            Operation::ExportPublic(curve) => self.exports_public(curve),
            Operation::List => self.lists(),
            Operation::Delete => self.deletes(),
            Operation::Sign(curve) => self.signs(curve),
            Operation::Verify(curve) => self.verifies(curve),
            Operation::Encrypt => self.encrypts(),
            Operation::Decrypt => self.decrypts(),
            Operation::Agree(curve) => self.agrees(curve),
            Operation::ReloadPredefined => self.reloads_predefined(),
        }
    }

    fn keep(&mut self, key: KeyHandle) -> KeyHandle {
        self.made.push(key);
        key
    }

    fn clean_up(&mut self) -> Result<(), Failure> {
        for key in std::mem::take(&mut self.made) {
            match self.hsm.delete(key) {
                Ok(()) | Err(HsmError::NotFound(_)) => {}
                Err(error) => return Err(Failure(format!("cleaning up: {error}"))),
            }
        }
        Ok(())
    }

    fn capabilities(&self) -> &Capabilities {
        self.hsm.capabilities()
    }
}
