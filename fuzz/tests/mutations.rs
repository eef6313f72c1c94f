//! Every target on its corpus and on seeded changes of it: what `cargo fuzz` does, without its guidance by coverage,
//! on stable Rust and always the same.

use std::path::Path;

use chronoseal_core::random::{ChaCha8Rng, Purpose, Rng, stream, uniform_i64};
use chronoseal_fuzz::TARGETS;

/// Changed inputs for each target; `FUZZ_MUTATIONS` overrides it.
const MUTATIONS: u64 = 100_000;
const INPUT_LEN_MAX: usize = 4096;

#[test]
fn no_target_breaks_on_its_corpus_or_on_changes_of_it() {
    let mutations = std::env::var("FUZZ_MUTATIONS").map_or(MUTATIONS, |text| text.parse().expect("a number"));
    for (index, (name, target)) in TARGETS.iter().enumerate() {
        let corpus = corpus(name);
        assert!(!corpus.is_empty(), "corpus/{name} is empty");
        for input in &corpus {
            target(input);
        }
        let mut rng = stream(0, Purpose::Payload, index as u64);
        for number in 0..mutations {
            let input = mutated(&corpus, &mut rng);
            let outcome = std::panic::catch_unwind(|| target(&input));
            assert!(outcome.is_ok(), "{name} breaks on input {number}, in hexadecimal {}", hex(&input));
        }
    }
}

#[test]
fn every_target_is_known_to_cargo_fuzz() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz_targets");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    files.sort();
    let names: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(files, names);
}

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    // What `cargo fuzz` found lies there too, under a hash for a name; only what is kept makes runs comparable.
    paths.retain(|path| path.extension().is_some());
    paths.sort();
    paths.into_iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// One input with one to eight changes: a bit, a byte, a length-like value, a piece removed, doubled, cut or spliced in.
fn mutated(corpus: &[Vec<u8>], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut input = pick(corpus, rng).clone();
    for _ in 0..below(8, rng) + 1 {
        let at = below(input.len() + 1, rng);
        match below(8, rng) {
            0 if at < input.len() => input[at] ^= 1 << below(8, rng),
            1 if at < input.len() => input[at] = rng.next_u32() as u8,
            2 if at < input.len() => {
                let interesting = [0, 1, 8, 28, 46, 60, 1500, 1501, 1535, 1536, 0x88b5, 0x891d, 0x7fff, 0xffff];
                let [high, low] = pick::<u16>(&interesting, rng).to_be_bytes();
                input[at] = low;
                if at > 0 {
                    input[at - 1] = high;
                }
            }
            3 => {
                let end = (at + below(16, rng)).min(input.len());
                input.drain(at..end);
            }
            4 => {
                let end = (at + below(64, rng)).min(input.len());
                let piece = input[at..end].to_vec();
                input.splice(at..at, piece);
            }
            5 => input.truncate(at),
            6 => {
                let other = pick(corpus, rng);
                let from = below(other.len() + 1, rng);
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            _ => input.extend((0..below(64, rng)).map(|i| (i as u8).wrapping_mul(37))),
        }
    }
    input.truncate(INPUT_LEN_MAX);
    input
}

fn pick<'a, T>(of: &'a [T], rng: &mut ChaCha8Rng) -> &'a T {
    &of[below(of.len(), rng)]
}

/// A number in `0..end`.
fn below(end: usize, rng: &mut ChaCha8Rng) -> usize {
    uniform_i64(rng, 0, end as i64 - 1) as usize
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
