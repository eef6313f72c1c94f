//! One table: key generation, agreement, signing and verification of FourQ here, of FourQlib, and of other curves.
//!
//! Every operation of every library runs in each of many rounds, one after the other, on one pinned core; the table
//! holds medians over the rounds, and every result is checked before anything is timed. What is measured is processor
//! time of the thread, so that others on the machine matter less. The program says itself which processor it ran on.

mod curves;
#[cfg(fourqlib)]
mod fourqlib;
mod ours;
mod processor;
mod station_to_station;

/// One operation of one library.
pub struct Operation {
    /// Row of the table.
    pub library: &'static str,
    /// Column of the table.
    pub name: &'static str,
    /// Runs it once.
    pub run: Box<dyn FnMut()>,
}

const ROUNDS: usize = 301;
/// Runs in one sample.
const REPEATS: u32 = 20;

fn main() {
    pin(1);
    let mut operations = ours::operations();
    #[cfg(fourqlib)]
    operations.extend(fourqlib::operations());
    if std::env::args().all(|argument| argument != "--fourq") {
        operations.extend(curves::operations());
        operations.extend(station_to_station::operations());
    }

    let mut samples = vec![Vec::with_capacity(ROUNDS); operations.len()];
    for _ in 0..ROUNDS {
        for (operation, samples) in operations.iter_mut().zip(&mut samples) {
            let start = processor_time_us();
            for _ in 0..REPEATS {
                (operation.run)();
            }
            samples.push((processor_time_us() - start) / f64::from(REPEATS));
        }
    }
    let medians: Vec<f64> = samples.iter_mut().map(|samples| quantile(samples, 0.5)).collect();
    let lows: Vec<f64> = samples.iter_mut().map(|samples| quantile(samples, 0.05)).collect();

    let of =
        |library: &str, name: &str| operations.iter().position(|other| other.library == library && other.name == name);
    println!("Processor: {}. Compilers: {}.", processor::describe(), processor::COMPILERS);
    println!("chronoseal-fourq computes with: {:?}.\n", chronoseal_fourq::engine());
    println!("| library | operation | median us | 5 % us | of FourQlib |");
    println!("|---|---|---|---|---|");
    for (i, operation) in operations.iter().enumerate() {
        let peer = of("FourQlib", operation.name);
        let ratio = peer.map_or("-".into(), |peer| format!("{:.2}", medians[i] / medians[peer]));
        println!("| {} | {} | {:.2} | {:.2} | {ratio} |", operation.library, operation.name, medians[i], lows[i]);
    }
    let exchange = |library| of(library, "station-to-station").map(|i| medians[i]);
    if let (Some(ours), Some(theirs)) = (exchange("chronoseal-fourq"), exchange("aws-lc-rs P-256")) {
        println!("\nstation-to-station, aws-lc-rs P-256 to chronoseal-fourq: {:.2}", theirs / ours);
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
