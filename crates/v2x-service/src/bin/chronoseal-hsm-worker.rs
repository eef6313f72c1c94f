//! Holds one device for a daemon, which starts this program and speaks to it over its standard input. Not for people.

use std::process::ExitCode;

fn main() -> ExitCode {
    chronoseal_v2x_service::hsm::worker::main()
}
