//! `cargo xtask contradictions`: looks for scenarios that hold on paper and fail in the simulator, and for runs that contradict themselves.
//!
//! Each scenario is drawn from a seed, given to `check`, and, where the answer is HELD, simulated with several seeds and several
//! phases of what is not in slots. Where it is not, those of its streams are looked at that `check` says HELD of. A frame that is lost
//! or late, or that takes longer than its bound, is a contradiction: one of the two is wrong. It is made as small as it stays one and
//! written to a folder.
//!
//! Whatever `check` says, the accounts of every run are read: each frame that was due has one end at each receiver, and the word of
//! the run is no better than its accounts.
//!
//! The program is asked through its command line alone, so any build can be hunted, also one from before the format had
//! segments: scenarios of one segment are written in that version too.

mod accounts;
mod answers;
mod candidates;
mod properties;
mod shares;
mod shrink;
mod version_1;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use chronoseal_random_networks::{Network, Scope};

use self::answers::{Answer, Binary, Contradiction};
use self::candidates::Weighed;
use self::shares::Shares;
use crate::{Failure, TaskResult, process};

/// Where contradictions are kept, below the folder for build products.
const KEPT: &str = "target/contradictions";
/// More than so many are counted and not made smaller.
const SHRUNK_MAX: usize = 12;

const USAGE: &str = "usage: cargo xtask contradictions N [--binary FILE] [--seed SEED] [--seconds LIMIT]
                                    [--show FOLDER] [--without TEXT] [--paper] [--properties] [--candidates]

  N          so many scenarios
  --binary   the program to ask; the release build of this tree otherwise
  --seed     the first scenario's seed, one more for each further one (default 0)
  --seconds  stops after so long, whatever N says
  --show     writes every scenario that is drawn to this folder, as WORD-SEED.toml, with the word that `check` says
  --without  leaves out scenarios that contain this text, to hunt beside a contradiction that is known
  --paper    asks `check` and simulates nothing: what share of the language is drawn, and holds
  --properties  asks `check` of variants of each scenario: what has nothing to do with a stream does not change its bound
  --candidates  applies the protection that `check` names as the lightest, until it has named one N times: it has to hold there, and `compare`
             has to say of ten runs with it and ten without what their verdicts say";

/// What was asked for.
struct Hunt {
    count: u64,
    binary: Option<PathBuf>,
    first: u64,
    seconds: Option<u64>,
    show: Option<PathBuf>,
    /// Scenarios that contain it are left out.
    without: Option<String>,
    is_on_paper: bool,
    asks_variants: bool,
    weighs_candidates: bool,
}

impl Hunt {
    fn of(words: &[&str]) -> Result<Self, Failure> {
        let refused = |why: String| Failure::because(format!("{why}\n{USAGE}"));
        let number = |word: &str| word.parse::<u64>().map_err(|_| refused(format!("`{word}` is no whole number")));
        let [count, options @ ..] = words else { return Err(refused("how many scenarios?".into())) };
        let (binary, show) = (None, None);
        let count = number(count)?;
        let (first, seconds, without) = (0, None, None);
        let (is_on_paper, asks_variants, weighs_candidates) = (false, false, false);
        let mut hunt =
            Self { count, binary, first, seconds, show, without, is_on_paper, asks_variants, weighs_candidates };
        let mut options = options.iter();
        while let Some(option) = options.next() {
            let flag = match *option {
                "--paper" => Some(&mut hunt.is_on_paper),
                "--properties" => Some(&mut hunt.asks_variants),
                "--candidates" => Some(&mut hunt.weighs_candidates),
                _ => None,
            };
            if let Some(flag) = flag {
                *flag = true;
                continue;
            }
            let value = options.next().ok_or_else(|| refused(format!("`{option}` needs a value")))?;
            match *option {
                "--binary" => hunt.binary = Some(PathBuf::from(value)),
                "--seed" => hunt.first = number(value)?,
                "--without" => hunt.without = Some((*value).to_owned()),
                "--show" => hunt.show = Some(PathBuf::from(value)),
                "--seconds" => hunt.seconds = Some(number(value)?),
                _ => return Err(refused(format!("`{option}` is not known"))),
            }
        }
        Ok(hunt)
    }
}

/// Something that was found.
struct Found {
    seed: u64,
    contradiction: Contradiction,
    text: String,
}

/// Hunts.
pub(crate) fn run(root: &Path, words: &[&str]) -> TaskResult {
    let hunt = Hunt::of(words)?;
    let file = match &hunt.binary {
        Some(file) => file.clone(),
        None => {
            process::run(root, &["cargo", "build", "--release", "-q", "-p", "chronoseal-cli"])?;
            root.join("target/release/chronoseal")
        }
    };
    let kept = root.join(KEPT);
    std::fs::create_dir_all(&kept).map_err(|error| Failure::because(format!("{}: {error}", kept.display())))?;
    let binary = Binary::new(file, &kept, hunt.is_on_paper)?;
    if hunt.asks_variants {
        return ask_variants(&binary, &hunt, &kept);
    }
    if hunt.weighs_candidates {
        return weigh_candidates(&binary, &hunt, &kept);
    }
    let next = AtomicU64::new(hunt.first);
    let state = Mutex::new((Shares::default(), Vec::<Found>::new()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    #[allow(clippy::disallowed_methods, reason = "a hunt of a given length; nothing it says depends on the time")]
    let begun = std::time::Instant::now();
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let (binary, next, state, hunt) = (&binary, &next, &state, &hunt);
            scope.spawn(move || {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    let is_over = hunt.seconds.is_some_and(|limit| begun.elapsed().as_secs() >= limit);
                    if seed >= hunt.first + hunt.count || is_over {
                        return;
                    }
                    one(binary, worker, seed, hunt, state);
                }
            });
        }
    });
    let (shares, mut found) = state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    found.sort_by_key(|found| found.seed);
    println!("{}", shares.table());
    let count = found.len();
    for (place, Found { seed, contradiction, text }) in found.into_iter().enumerate() {
        println!("seed {seed}: {contradiction}");
        let (small, contradiction) = match place < SHRUNK_MAX {
            true => shrink::smallest(&binary, &text, contradiction),
            false => (text, contradiction),
        };
        let path = kept.join(format!("seed-{seed}.toml"));
        std::fs::write(&path, format!("# {contradiction}\n{small}"))
            .map_err(|error| Failure::because(format!("{}: {error}", path.display())))?;
        println!("  made smaller: {contradiction}: {}", path.display());
    }
    println!("{count} contradictions in {} scenarios", shares.asked());
    if count == 0 { Ok(()) } else { Err(Failure::CheckFailed) }
}

/// Asks of variants of each scenario, one scenario after the other.
fn ask_variants(binary: &Binary, hunt: &Hunt, kept: &Path) -> TaskResult {
    let mut count = 0;
    for seed in hunt.first..hunt.first + hunt.count {
        let text = Network::of(seed, Scope::Everything).text();
        let Some(broken) = properties::broken(&text, &|text| binary.on_paper(text)) else { continue };
        count += 1;
        println!("seed {seed}: {broken}");
        for (name, text) in [("as-drawn", &text), ("variant", &broken.text)] {
            let path = kept.join(format!("seed-{seed}-{name}.toml"));
            std::fs::write(&path, format!("# {broken}\n{text}"))
                .map_err(|error| Failure::because(format!("{}: {error}", path.display())))?;
        }
    }
    println!("{count} of {} scenarios whose bounds change without a reason", hunt.count);
    if count == 0 { Ok(()) } else { Err(Failure::CheckFailed) }
}

/// Weighs the candidates of one scenario after the other, until so many have one that is named.
fn weigh_candidates(binary: &Binary, hunt: &Hunt, kept: &Path) -> TaskResult {
    let folder = kept.join(format!("candidates-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| Failure::because(format!("{}: {error}", folder.display())))?;
    #[allow(clippy::disallowed_methods, reason = "a hunt of a given length; nothing it says depends on the time")]
    let begun = std::time::Instant::now();
    let (mut named, mut wrong, mut better) = (0, 0, 0);
    let mut seed = hunt.first;
    while named < hunt.count && hunt.seconds.is_none_or(|limit| begun.elapsed().as_secs() < limit) {
        let text = Network::of(seed, Scope::Everything).text();
        seed += 1;
        if hunt.without.as_ref().is_some_and(|without| text.contains(without)) {
            continue;
        }
        match candidates::weigh(binary, &folder, &text) {
            Weighed::Unnamed => continue,
            Weighed::Agrees([drawn, _]) => better += u64::from(drawn > 0),
            Weighed::Contradicts(what) => {
                wrong += 1;
                println!("seed {}: {what}", seed - 1);
            }
        }
        named += 1;
    }
    let drawn = seed - hunt.first;
    println!(
        "{drawn} scenarios drawn, {named} with a protection that is named as the lightest; of these {better} fail without it"
    );
    println!("{wrong} of {named} contradict it");
    std::fs::remove_dir_all(&folder).map_err(|error| Failure::because(format!("{}: {error}", folder.display())))?;
    if wrong == 0 { Ok(()) } else { Err(Failure::CheckFailed) }
}

/// Asks about the scenario of one seed.
fn one(binary: &Binary, worker: usize, seed: u64, hunt: &Hunt, state: &Mutex<(Shares, Vec<Found>)>) {
    let network = Network::of(seed, Scope::Everything);
    let written = network.text();
    if hunt.without.as_ref().is_some_and(|text| written.contains(text)) {
        return;
    }
    let in_old_version = binary.is_version_1().then(|| version_1::of(&written));
    let text = match in_old_version {
        Some(None) => return,
        Some(Some(text)) => text,
        None => written.clone(),
    };
    let Answer { word, in_part, contradiction } = binary.ask(worker, &text);
    if let Some(folder) = &hunt.show
        && let Err(error) = std::fs::write(folder.join(format!("{word:?}-{seed}.toml")), &text)
    {
        eprintln!("{}: {error}", folder.display());
    }
    let mut state = state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    state.0.add(&written, word);
    if in_part {
        state.0.add_part();
    }
    if let Some(contradiction) = contradiction {
        state.1.push(Found { seed, contradiction, text });
    }
}
