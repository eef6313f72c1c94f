//! Every back end there is on this machine, call by call: `cargo bench -p chronoseal-v2x-service --bench hsm`.
//!
//! Measured ones by this host's clock, one call after the other, from this process: for SoftHSM with the way to its worker
//! and back, for the TPM with the way to its process. The accelerator is simulated: cycles at a declared clock and a
//! modelled link, the same on every machine.

#![allow(clippy::print_stdout, reason = "figures are what a bench is for")]

use chronoseal_v2x_service::hsm::measure::{Samples, Timing};
use chronoseal_v2x_service::hsm::{BackEnd, Hsm, HsmError, Operation, local, measure};

const PIN: &str = "4711";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    let software = BackEnd::Software { folder: at("software"), predefined: None };
    let devices = [
        ("software", Ok(software), 2000),
        ("softhsm", local::softhsm(&at("softhsm"), PIN), 1000),
        ("swtpm", local::swtpm(&at("swtpm")), 200),
        ("rtl", local::rtl(Some(&at("flash"))), 10),
    ];
    println!("{}", processor());
    println!(
        "{:10} {:44} {:>8} {:>12} {:>12} {:>12}  time",
        "device", "operation", "calls", "median us", "p99 us", "per second"
    );
    for (name, back_end, calls) in devices {
        let opened = back_end.and_then(|back_end| open(&back_end));
        match opened.and_then(|mut hsm| measure(&mut *hsm, calls)) {
            Ok(samples) => print(name, &samples),
            Err(error) => println!("{name:10} left out: {error}"),
        }
    }
    Ok(())
}

/// In a process of its own where foreign code would otherwise run in this one.
fn open(back_end: &BackEnd) -> Result<Box<dyn Hsm>, HsmError> {
    match back_end {
        BackEnd::Pkcs11 { .. } => back_end.open_apart(env!("CARGO_BIN_EXE_chronoseal-hsm-worker"), PIN),
        _ => back_end.open(PIN),
    }
}

fn print(name: &str, samples: &Samples) {
    let label = if samples.is_simulated { "simulated" } else { "measured" };
    for timing in &samples.rows {
        match (&timing.calls_ns, timing.median_ns(), timing.per_second()) {
            (Ok(calls), Some(median_ns), Some(rate)) => println!(
                "{name:10} {:44} {:8} {:12.1} {:12.1} {rate:12.1}  {label}",
                text(timing.operation),
                calls.len(),
                median_ns as f64 / 1e3,
                p99_ns(timing) as f64 / 1e3,
            ),
            (Err(error), ..) => println!("{name:10} {:44} {error}", text(timing.operation)),
            _ => println!("{name:10} {:44} no calls", text(timing.operation)),
        }
    }
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

/// `format!` pads strings, not what displays itself.
fn text(operation: Operation) -> String {
    operation.to_string()
}

fn p99_ns(timing: &Timing) -> u64 {
    let mut sorted = timing.calls_ns.clone().unwrap_or_default();
    sorted.sort_unstable();
    chronoseal_core::statistics::nearest_rank(&sorted, 0.99).unwrap_or(0)
}
