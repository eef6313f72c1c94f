//! Ten messages signed and verified, one by one, as CSV: small, so that it can be built several ways and compared.
//!
//! `chronoseal-v2x-timing [SEED]` prints `run,sign_ns,verify_ns,success`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program prints")]

use std::process::ExitCode;

fn main() -> ExitCode {
    chronoseal_v2x_aws_lc::install();
    let seed = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1);
    match chronoseal_v2x_load::single_messages(seed) {
        Ok(runs) => {
            println!("run,sign_ns,verify_ns,success");
            for (number, run) in runs.iter().enumerate() {
                println!("{},{},{},{}", number + 1, run.sign_ns, run.verify_ns, if run.success { "yes" } else { "no" });
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
