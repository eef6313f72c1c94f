//! Commands of other programs: who never serves V2X never builds authorities, databases and their C code, and who runs on one host no TLS.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use chronoseal_console::{Status, Trouble};

/// Another program, and how cargo is told to build it.
pub(crate) struct OtherProgram {
    name: &'static str,
    build: &'static str,
}

/// `pki`, `vss` and their study.
pub(crate) const V2X: OtherProgram = OtherProgram { name: "chronoseal-v2x", build: "--bin chronoseal-v2x" };

/// `controller`, `agent` and `ca`. Built as a package of its own, it has no TLS library in C.
pub(crate) const TESTBED: OtherProgram =
    OtherProgram { name: "chronoseal-testbed", build: "--package chronoseal-testbed-cli" };

/// Becomes that program, with what was typed. It stands beside this one, or in a folder of PATH.
pub(crate) fn hand_over(other: OtherProgram) -> Result<Status, Trouble> {
    let OtherProgram { name, build } = other;
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(name)).filter(|program| program.is_file());
    let program = beside.unwrap_or_else(|| PathBuf::from(name));
    // Comes back only if it could not be started.
    let error = Command::new(&program).args(std::env::args_os().skip(1)).exec();
    Err(Trouble(match error.kind() {
        std::io::ErrorKind::NotFound => format!(
            "error: this is a command of the program {name}, which stands neither beside chronoseal nor in a folder of PATH\n\
             help: build it, in the checkout: cargo build --release {build}"
        ),
        _ => format!("error: cannot start {}: {error}", program.display()),
    }))
}
