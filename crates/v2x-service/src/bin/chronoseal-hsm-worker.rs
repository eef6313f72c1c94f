//! Holds one device for a daemon, which starts this program and speaks to it over its standard input. Not for people.

use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

fn main() -> ExitCode {
    let socket = std::io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    match socket.and_then(|socket| chronoseal_v2x_service::hsm::worker::serve(&socket)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody may be reading.
            let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("chronoseal-hsm-worker: {error}\n"));
            ExitCode::FAILURE
        }
    }
}
