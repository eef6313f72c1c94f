//! The Crypto Interface and the driver objects behind it.

use chronoseal_core::random::{ChaCha8Rng, Rng};
use chronoseal_crypto::suite::{SECRET_LEN, Suite};
use chronoseal_crypto::symmetric::{Aes128Ctr, BlockMac, CmacAes128};
use rand_core::SeedableRng;

use super::{Request, Response};
use crate::keys::Secret;
use crate::roster::Roster;

/// What computes: `CryIf` knows one channel to each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DriverObject {
    /// Key agreement and signatures of the suite: `fourq`, `p256`, or another.
    Curve,
    /// Encryption and tags.
    Aes,
    /// Randomness.
    Rng,
}

/// Routes jobs to driver objects and holds what these keep: the node's signature key and its generator.
///
/// The generator is ChaCha8 from a seed of 32 bytes. Whoever deploys a node seeds it from a hardware generator; a
/// simulation derives it from the run's seed.
pub struct CryptoInterface<S: Suite> {
    signing_key: S::SigningKey,
    rng: ChaCha8Rng,
    /// Jobs computed, by driver object.
    processed: [u64; 3],
}

impl<S: Suite> CryptoInterface<S> {
    /// With the node's signature key and 32 bytes no one can guess.
    pub fn new(signing_key: S::SigningKey, seed: [u8; SECRET_LEN]) -> Self {
        Self { signing_key, rng: ChaCha8Rng::from_seed(seed), processed: [0; 3] }
    }

    /// `CryIf_ProcessJob`: computes a job now, on the driver object its service belongs to. Public keys come from the
    /// roster.
    pub(crate) fn process_job(&mut self, roster: &Roster<S>, request: Request) -> Response {
        self.processed[request.service().driver_object() as usize] += 1;
        match request {
            Request::SignatureVerify { signer, text, signature } => {
                let key = roster.find(signer).map(|entry| &entry.verifying_key);
                let fits = key.is_some_and(|key| S::verify(key, text.as_bytes(), &signature).is_ok());
                Response::SignatureVerified(fits)
            }
            Request::SignatureGenerate { text } => Response::Signature(S::sign(&self.signing_key, text.as_bytes())),
            Request::KeyExchangeCalcPubVal { private } => {
                let private = private.unwrap_or_else(|| self.draw());
                let share = S::share(&S::secret(private.expose()));
                Response::PublicValue { private, share }
            }
            Request::KeyExchangeCalcSecret { private, peer } => {
                Response::Agreed(S::agree(&S::secret(private.expose()), peer.as_bytes()))
            }
            Request::Encrypt { key, counter, mut text } | Request::Decrypt { key, counter, mut text } => {
                Aes128Ctr::new(&key).apply_keystream(&counter, text.as_mut_bytes());
                Response::Ciphered(text)
            }
            Request::MacGenerate { key, text } => Response::Tag(CmacAes128::new(&key).tag(&[text.as_bytes()])),
            Request::MacVerify { key, text, tag } => {
                Response::TagVerified(CmacAes128::new(&key).verify(&[text.as_bytes()], &tag))
            }
            Request::RandomGenerate => Response::Random(self.draw()),
        }
    }

    /// Jobs a driver object has computed.
    pub const fn processed(&self, object: DriverObject) -> u64 {
        self.processed[object as usize]
    }

    /// 32 fresh bytes, at no charge.
    pub(crate) fn draw(&mut self) -> Secret {
        let mut bytes = [0; SECRET_LEN];
        self.rng.fill_bytes(&mut bytes);
        Secret::from_array(bytes)
    }
}
