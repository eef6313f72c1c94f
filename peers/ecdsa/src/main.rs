//! One table: verification, signing and point decompression on the lanes and by other libraries.
//!
//! Every operation of every library runs in each of many rounds, one after the other, on one pinned core; the table
//! holds medians over the rounds of processor time of the thread, so that others on the machine matter less. Every
//! result is checked each time.

#[cfg(crypto_mb)]
mod crypto_mb;
mod data;
mod dudect;
mod libraries;
mod ours;

/// One operation of one library.
pub struct Operation {
    /// What is done, the same for all libraries of a group.
    pub name: &'static str,
    /// Row of the group.
    pub library: &'static str,
    /// How many are done in one call of `run`.
    pub count: u32,
    /// Does them once.
    pub run: Box<dyn FnMut()>,
}

const ROUNDS: usize = 101;
/// Shortest sample [us].
const SAMPLE_MIN_US: f64 = 1000.0;

fn main() {
    pin(1);
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some("dudect") {
        let samples = arguments.next().and_then(|samples| samples.parse().ok()).unwrap_or(100_000);
        return dudect::run(samples);
    }
    let mut operations = ours::operations();
    operations.extend(libraries::operations());
    #[cfg(crypto_mb)]
    operations.extend(crypto_mb::operations());
    operations.sort_by_key(|operation| operation.name);

    let repeats: Vec<u32> = operations
        .iter_mut()
        .map(|operation| {
            (operation.run)();
            let start = processor_time_us();
            (operation.run)();
            (SAMPLE_MIN_US / (processor_time_us() - start)).ceil().max(1.0) as u32
        })
        .collect();
    let mut samples = vec![Vec::with_capacity(ROUNDS); operations.len()];
    for _ in 0..ROUNDS {
        for ((operation, samples), repeats) in operations.iter_mut().zip(&mut samples).zip(&repeats) {
            let start = processor_time_us();
            for _ in 0..*repeats {
                (operation.run)();
            }
            samples.push((processor_time_us() - start) / f64::from(repeats * operation.count));
        }
    }

    println!("| operation | library | 1/s, median | best 5 % | of the fastest other |");
    println!("|---|---|---|---|---|");
    let medians: Vec<f64> = samples.iter_mut().map(|samples| quantile(samples, 0.5)).collect();
    for (at, operation) in operations.iter().enumerate() {
        let others = operations.iter().zip(&medians);
        let fastest = others
            .filter(|(other, _)| other.name == operation.name && !other.library.starts_with("lanes"))
            .map(|(_, median)| *median)
            .fold(f64::INFINITY, f64::min);
        println!(
            "| {} | {} | {:.0} | {:.0} | {:.2} |",
            operation.name,
            operation.library,
            1e6 / medians[at],
            1e6 / quantile(&mut samples[at], 0.05),
            fastest / medians[at],
        );
    }
}

fn quantile(samples: &mut [f64], share: f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[(share * (samples.len() - 1) as f64) as usize]
}

/// Processor time of this thread [us].
fn processor_time_us() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one timespec.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(status, 0, "the clock can be read");
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
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
