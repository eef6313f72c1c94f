//! One message after the other: signed, then verified, as the trials of 2013 did it.

use chronoseal_v2x::message::{SignerForm, sign};
use chronoseal_v2x::pipeline::{Class, Engine, Moment, Pipeline, PipelineConfig};
use chronoseal_v2x::verify::{Context, NoStopwatch, VerifierConfig};

use crate::LoadError;
use crate::clock::Clock;
use crate::town::{Draft, NOW, Town};

/// Runs, as many as the trials printed.
pub const RUNS: usize = 10;

/// Times of one message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SingleMessage {
    /// Hashing, signing, encoding `[ns]`.
    pub sign_ns: u64,
    /// Decoding, every check, verifying `[ns]`.
    pub verify_ns: u64,
    /// Whether it was accepted.
    pub success: bool,
}

/// Payload of each message `[byte]`.
const PAYLOAD_LEN: usize = 200;

/// Messages signed under a digest and verified by a receiver that knows the signer, one by one; the first is not counted.
///
/// # Errors
/// [`LoadError`] if the world cannot be made.
pub fn single_messages(seed: u64) -> Result<Vec<SingleMessage>, LoadError> {
    let mut town = Town::new(1, seed)?;
    let mut verifier = town.verifier(VerifierConfig::default())?;
    let (ticket, key) = &mut town.stations[0];
    let first = sign(&Town::cam(b"known", NOW), SignerForm::Certificate(ticket), key)?;
    verifier.verify(&first, &Context::at(NOW), &mut NoStopwatch);
    let mut runs = Vec::with_capacity(RUNS + 1);
    for run in 0..=RUNS {
        let mut payload = [0x5A; PAYLOAD_LEN];
        payload[0] = run as u8;
        let clock = Clock::start();
        let message = sign(&Town::cam(&payload, NOW), SignerForm::Digest(ticket), key)?;
        let sign_ns = clock.now_ns();
        let (verdict, _) = verifier.verify(&message, &Context::at(NOW), &mut NoStopwatch);
        runs.push(SingleMessage { sign_ns, verify_ns: clock.now_ns() - sign_ns, success: verdict.is_accepted() });
    }
    // The first one warms caches and tables.
    Ok(runs.split_off(1))
}

/// Messages of batches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Batches {
    /// What signed and verified: the lanes where the processor has them.
    pub engine: Engine,
    /// Each run is the time of a batch over its messages.
    pub runs: Vec<SingleMessage>,
}

/// The same, 32 messages at once, by the fastest engine.
///
/// # Errors
/// As [`single_messages`].
pub fn in_batches(seed: u64) -> Result<Batches, LoadError> {
    let town = Town::new(1, seed)?;
    let mut verifier = town.verifier(VerifierConfig::default())?;
    let draft = |number: usize, with_certificate| {
        let mut payload = vec![0x5A; PAYLOAD_LEN];
        payload[..8].copy_from_slice(&(number as u64).to_be_bytes());
        Draft { station: 0, payload, generation_time: NOW, with_certificate }
    };
    let known = town.sign_all(&[draft(usize::MAX, true)])?;
    verifier.verify(&known[0], &Context::at(NOW), &mut NoStopwatch);
    let now = Moment { ns: 0, time: NOW };
    let count = Engine::Lanes.batch_len();
    let (mut runs, mut engine) = (Vec::with_capacity(RUNS + 1), Engine::Scalar);
    for run in 0..=RUNS {
        let drafts: Vec<Draft> = (0..count).map(|number| draft(run * count + number, false)).collect();
        let mut pipeline = Pipeline::new(PipelineConfig::default());
        engine = pipeline.engine();
        let clock = Clock::start();
        let messages = town.sign_all(&drafts)?;
        let signed_ns = clock.now_ns();
        let mut success = true;
        for message in &messages {
            success &= pipeline.receive(&message[..], Class::Near, now).is_none();
        }
        while !pipeline.is_empty() {
            pipeline.run(&mut verifier, now, &mut NoStopwatch, |judged| success &= judged.verdict.is_accepted());
        }
        let each = |ns: u64| ns / count as u64;
        runs.push(SingleMessage { sign_ns: each(signed_ns), verify_ns: each(clock.now_ns() - signed_ns), success });
    }
    Ok(Batches { engine, runs: runs.split_off(1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_accepted_and_takes_time() {
        let batches = in_batches(3).unwrap();
        assert_eq!(batches.engine, Engine::fastest());
        for runs in [single_messages(3).unwrap(), batches.runs] {
            assert_eq!(runs.len(), RUNS);
            assert!(runs.iter().all(|run| run.success && run.sign_ns > 1000 && run.verify_ns > 1000), "{runs:?}");
        }
    }
}
