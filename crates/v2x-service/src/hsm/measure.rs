//! How long a back end's operations take: every call, not only the mean.

use std::time::Instant;

use super::{
    Capabilities, Curve, Hsm, HsmError, ImportedKey, KeyHandle, KeyKind, NONCE_LEN, Operation, Persistence, Support,
    curve,
};

/// Length of the plaintext that is encrypted: a message of usual size `[byte]`.
const PLAINTEXT_LEN: usize = 300;
/// Most persistent keys made: a token's memory wears, and its `fsync` is the same each time.
const PERSISTENT_CALLS_MAX: usize = 20;

/// Times of one back end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Samples {
    /// As [`Capabilities::name`].
    pub back_end: String,
    /// As [`Capabilities::device`].
    pub device: String,
    /// Whether times are cycles at a declared clock and a modelled link instead of this host's clock.
    pub is_simulated: bool,
    /// One entry for each operation asked for, in that order.
    pub rows: Vec<Timing>,
}

/// Times of one operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timing {
    /// What was done.
    pub operation: Operation,
    /// Every call `[ns]`, in order; or [`HsmError::Unsupported`] with what the device lacks.
    pub calls_ns: Result<Vec<u64>, HsmError>,
}

impl Timing {
    /// Middle of the sorted calls `[ns]`; the lower of two.
    #[must_use]
    pub fn median_ns(&self) -> Option<u64> {
        let mut sorted = self.calls_ns.clone().ok()?;
        sorted.sort_unstable();
        chronoseal_core::statistics::median(&sorted)
    }

    /// Calls a second, one after the other, at the median.
    #[must_use]
    pub fn per_second(&self) -> Option<f64> {
        self.median_ns().filter(|ns| *ns > 0).map(|ns| 1e9 / ns as f64)
    }
}

/// What a V2X station does with its keys, on P-256.
pub const USUAL: [Operation; 7] = [
    Operation::Sign(Curve::NistP256),
    Operation::Verify(Curve::NistP256),
    Operation::Agree(Curve::NistP256),
    Operation::CreatePair(Curve::NistP256, Persistence::Volatile),
    Operation::CreatePair(Curve::NistP256, Persistence::Persistent),
    Operation::Encrypt,
    Operation::Decrypt,
];

/// Times `calls` calls of each of [`USUAL`].
///
/// # Errors
/// Any error of the back end but [`HsmError::Unsupported`], which is an entry without times.
pub fn measure(hsm: &mut dyn Hsm, calls: usize) -> Result<Samples, HsmError> {
    measure_each(hsm, &USUAL, calls)
}

/// Times `calls` calls of each of `operations`, which may be creations of keys, signatures, verifications, agreements and
/// encryptions. One call of each goes first and is not counted. Every result is checked, outside the time.
///
/// # Errors
/// As [`measure`], and [`HsmError::Protocol`] for a result that is wrong.
pub fn measure_each(hsm: &mut dyn Hsm, operations: &[Operation], calls: usize) -> Result<Samples, HsmError> {
    let Capabilities { name, device, is_simulated, .. } = hsm.capabilities().clone();
    let mut rows = Vec::new();
    for operation in operations {
        let calls_ns = match hsm.capabilities().support(*operation) {
            Support::Unsupported(reason) => {
                Err(HsmError::Unsupported { operation: operation.to_string(), reason: reason.clone() })
            }
            _ => Ok(time(hsm, *operation, calls)?),
        };
        rows.push(Timing { operation: *operation, calls_ns });
    }
    Ok(Samples { back_end: name, device, is_simulated, rows })
}

fn time(hsm: &mut dyn Hsm, operation: Operation, calls: usize) -> Result<Vec<u64>, HsmError> {
    let calls = match operation.persistence() {
        Some(Persistence::Persistent) => calls.min(PERSISTENT_CALLS_MAX),
        _ => calls,
    };
    let mut run = Run { hsm, calls_ns: Vec::with_capacity(calls + 1) };
    match operation {
        Operation::CreatePair(curve, persistence) => {
            for _ in 0..=calls {
                let key = run.time(|hsm| hsm.create_pair(curve, persistence, "measured"))?;
                run.hsm.delete(key)?;
            }
        }
        Operation::CreateSymmetric(persistence) => {
            for _ in 0..=calls {
                let key = run.time(|hsm| hsm.create_symmetric(persistence, "measured"))?;
                run.hsm.delete(key)?;
            }
        }
        Operation::Sign(curve) => run.with_pair(curve, |run, key| run.signs(curve, key, calls))?,
        Operation::Verify(curve) => run.verifies(curve, calls)?,
        Operation::Agree(curve) => run.with_pair(curve, |run, key| run.agrees(curve, key, calls))?,
        Operation::Encrypt | Operation::Decrypt => run.ciphers(operation == Operation::Encrypt, calls)?,
        other => return Err(HsmError::InvalidArgument(format!("`{other}` is not measured"))),
    }
    // The first call warms up caches on both sides.
    Ok(run.calls_ns.split_off(1))
}

struct Run<'a> {
    hsm: &'a mut dyn Hsm,
    calls_ns: Vec<u64>,
}

impl Run<'_> {
    /// One call, by this host's clock, or by what the simulation says it would have taken.
    fn time<T>(&mut self, call: impl FnOnce(&mut dyn Hsm) -> Result<T, HsmError>) -> Result<T, HsmError> {
        let since = Instant::now();
        let result = call(self.hsm)?;
        let taken_ns = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let simulated = self.hsm.capabilities().is_simulated.then(|| self.hsm.simulated_cost()).flatten();
        self.calls_ns.push(simulated.map_or(taken_ns, |cost| cost.total_ns()));
        Ok(result)
    }

    /// Works with a pair of the kind the device keeps best, and ends it.
    fn with_pair(
        &mut self,
        curve: Curve,
        work: impl FnOnce(&mut Self, KeyHandle) -> Result<(), HsmError>,
    ) -> Result<(), HsmError> {
        let can = |p: &Persistence| self.hsm.capabilities().can(Operation::CreatePair(curve, *p));
        // A key that signs for weeks is persistent.
        let persistence = [Persistence::Persistent, Persistence::Volatile].into_iter().find(can);
        let key = self.hsm.create_pair(curve, persistence.unwrap_or(Persistence::Volatile), "measured")?;
        let result = work(self, key);
        self.hsm.delete(key)?;
        result
    }

    fn signs(&mut self, curve: Curve, key: KeyHandle, calls: usize) -> Result<(), HsmError> {
        let public = self.hsm.export_public(key)?;
        for call in 0..=calls {
            let digest = digest(curve, call);
            let signature = self.time(|hsm| hsm.sign_digest(key, &digest))?;
            ensure(curve::verify(&public, &digest, &signature)?, "a wrong signature")?;
        }
        Ok(())
    }

    fn verifies(&mut self, curve: Curve, calls: usize) -> Result<(), HsmError> {
        use chronoseal_v2x::crypto::SigningKey as _;
        let mut key = curve::generate(curve)?;
        let public = key.public_point();
        for call in 0..=calls {
            let digest = digest(curve, call);
            let signature = key.sign_digest(&digest)?;
            let holds = self.time(|hsm| hsm.verify(&public, &digest, &signature))?;
            ensure(holds, "a right signature was refused")?;
        }
        Ok(())
    }

    fn agrees(&mut self, curve: Curve, key: KeyHandle, calls: usize) -> Result<(), HsmError> {
        use chronoseal_v2x::crypto::AgreementKey as _;
        let public = self.hsm.export_public(key)?;
        for _ in 0..=calls {
            let mut peer = curve::generate(curve)?;
            let point = peer.public_point();
            let here = self.time(|hsm| hsm.agree(key, &point))?;
            ensure(here.as_bytes() == peer.agree(&public)?.as_bytes(), "a wrong secret")?;
        }
        Ok(())
    }

    fn ciphers(&mut self, encrypts: bool, calls: usize) -> Result<(), HsmError> {
        let can = |p: &Persistence| self.hsm.capabilities().can(Operation::Import(KeyKind::Aes128, *p));
        let Some(persistence) = Persistence::ALL.into_iter().find(can) else {
            return Err(HsmError::InvalidArgument("a device that takes no AES key is not measured with one".into()));
        };
        let key = self.hsm.import(&ImportedKey::Aes128([9; 16].into()), persistence, "measured")?;
        let plaintext = vec![0x5A; PLAINTEXT_LEN];
        for call in 0..=calls {
            let mut nonce = [0; NONCE_LEN];
            nonce[..8].copy_from_slice(&(call as u64).to_be_bytes());
            let back = if encrypts {
                let ciphertext = self.time(|hsm| hsm.encrypt(key, &nonce, &plaintext))?;
                self.hsm.decrypt(key, &nonce, &ciphertext)?
            } else {
                let ciphertext = self.hsm.encrypt(key, &nonce, &plaintext)?;
                self.time(|hsm| hsm.decrypt(key, &nonce, &ciphertext))?
            };
            ensure(back == plaintext, "another plaintext")?;
        }
        self.hsm.delete(key)
    }
}

/// A digest for each call.
fn digest(curve: Curve, call: usize) -> Vec<u8> {
    let mut digest = vec![0x11; curve.coordinate_len()];
    digest[..8].copy_from_slice(&(call as u64).to_be_bytes());
    digest
}

fn ensure(holds: bool, what: &str) -> Result<(), HsmError> {
    if holds { Ok(()) } else { Err(HsmError::Protocol(what.into())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(calls_ns: Result<Vec<u64>, HsmError>) -> Timing {
        Timing { operation: Operation::Encrypt, calls_ns }
    }

    #[test]
    fn medians_and_rates_of_few_calls() {
        assert_eq!(timing(Ok(vec![5, 1, 3])).median_ns(), Some(3));
        assert_eq!(timing(Ok(vec![4, 1, 3, 2])).median_ns(), Some(2));
        assert_eq!(timing(Ok(vec![2_000_000])).per_second(), Some(500.0));
        assert_eq!(timing(Ok(vec![])).median_ns(), None);
        assert_eq!(timing(Err(HsmError::WrongPin)).per_second(), None);
    }
}
