//! Two tables: messages verified, or signed, a second by the whole path and by bare libraries; and messages refused.
//!
//! Every row runs in each of many rounds, one after the other, on one pinned core; the tables hold medians over the rounds
//! of processor time of the thread, so that others on the machine matter less. Every result is checked each time.

mod bare;
mod path;

use std::time::Duration;

use chronoseal_v2x::pipeline::Engine;

/// A row.
pub struct Row {
    /// What is done; rows of a group are compared.
    pub group: &'static str,
    /// By what.
    pub name: &'static str,
    /// How many are done in one call of `run`.
    pub count: usize,
    /// Does them once and tells the processor time it took, preparations left out.
    pub run: Box<dyn FnMut() -> Duration>,
}

/// Messages, or signatures, of a row and round.
pub const COUNT: usize = 512;

fn main() {
    pin(1);
    chronoseal_v2x_aws_lc::install();
    let rounds = std::env::args().nth(1).and_then(|argument| argument.parse().ok()).unwrap_or(31_usize);
    // Rows whose name holds a word, and what they are compared with.
    let word = std::env::args().nth(2).unwrap_or_default();
    let mut rows = bare::rows();
    rows.extend(path::rows());
    rows.retain(|row| row.name.contains(&word) || row.name == bare::AWS_LC);
    rows.sort_by_key(|row| row.group);
    let mut samples = vec![Vec::with_capacity(rounds); rows.len()];
    for round in 0..=rounds {
        for (row, samples) in rows.iter_mut().zip(&mut samples) {
            let took = (row.run)();
            // The first round warms caches and tables.
            if round > 0 {
                samples.push(took.as_secs_f64() / row.count as f64);
            }
        }
    }
    println!("{}; verifies {}; median of {rounds} rounds", processor(), Engine::fastest().words());
    println!("\n| what | by | 1/s | lowest, highest tenth | to aws-lc-rs | to OpenSSL |");
    println!("|---|---|---|---|---|---|");
    // Ratios are of the same round, and then their median is taken.
    let ratio_of = |at: usize, name: &str| {
        let other = rows.iter().position(|row| row.group == rows[at].group && row.name == name)?;
        let mut ratios: Vec<f64> = samples[other].iter().zip(&samples[at]).map(|(other, own)| other / own).collect();
        Some(quantile(&mut ratios, 0.5))
    };
    for at in 0..rows.len() {
        let ratio = |name: &str| ratio_of(at, name);
        let shown = |ratio: Option<f64>| ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}"));
        let ratios = [bare::AWS_LC, "OpenSSL"].map(|name| shown(ratio(name)));
        let mut own = samples[at].clone();
        let [slow, median, fast] = [0.9, 0.5, 0.1].map(|share| 1.0 / quantile(&mut own, share));
        let Row { group, name, .. } = &rows[at];
        println!("| {group} | {name} | {median:.0} | {slow:.0}, {fast:.0} | {} | {} |", ratios[0], ratios[1]);
    }
    println!("\n| goal, on {} | wanted | measured | |\n|---|---|---|---|", processor());
    for (what, group, name, wanted) in goals() {
        let at = rows.iter().position(|row| row.group == group && row.name == name);
        let Some(ratio) = at.and_then(|at| ratio_of(at, bare::AWS_LC)) else { continue };
        let verdict = if ratio >= wanted { "reached" } else { "NOT REACHED" };
        println!("| {what} | {wanted:.3} | {ratio:.3} | {verdict} |");
    }
}

/// What the whole path is to reach, as a multiple of the rate of bare aws-lc-rs in the same round.
fn goals() -> [(&'static str, &'static str, &'static str, f64); 6] {
    let ([known, new], batches) = match Engine::fastest() {
        Engine::Lanes => ([6.0, 5.0], path::signing()),
        Engine::Words => ([1.0, 1.2], path::signing()),
        // Programs sign by AWS-LC there, one after the other.
        Engine::Scalar => ([1.0, 1.0], path::SIGN_ALONE),
    };
    [
        ("known signers", path::VERIFY, path::batched(), known),
        ("known signers, by their tables", path::VERIFY, path::KNOWN, 2.0),
        ("new certificates", path::VERIFY_NEW, path::batched(), new),
        ("a lone emergency", path::VERIFY, path::ALONE, 1.0),
        ("signatures in batches", path::SIGN, batches, 1.0),
        ("signatures one at a time", path::SIGN, path::SIGN_ALONE, 1.0),
    ]
}

/// What the system calls this processor: a figure without it says little.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name));
        line.and_then(|line| line.split_once(':')).map_or("unknown", |(_, value)| value.trim()).to_owned()
    };
    let numbers = ["cpu family", "model", "stepping"].map(field).join("/");
    format!("{}, family/model/stepping {numbers}, {} MHz", field("model name"), field("cpu MHz"))
}

fn quantile(samples: &mut [f64], share: f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[(share * (samples.len() - 1) as f64).round() as usize]
}

/// Processor time of this thread that `work` takes.
pub fn timed(work: impl FnOnce()) -> Duration {
    let start = processor_time();
    work();
    processor_time() - start
}

fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one timespec.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(status, 0, "the clock can be read");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Keeps this thread on `core`.
fn pin(core: usize) {
    // SAFETY: the set is zeroed, then holds one core; the call reads it and nothing else.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        if libc::sched_setaffinity(0, size_of_val(&set), &raw const set) != 0 {
            eprintln!("not pinned to core {core}: medians may be worse");
        }
    }
}
