//! Commands of the program `chronoseal-v2x`: who never serves V2X never builds authorities, databases and their C code.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use chronoseal_console::{Status, Trouble};

const NAME: &str = "chronoseal-v2x";

/// Becomes that program, with what was typed. It stands beside this one, or in a folder of PATH.
pub(crate) fn hand_over() -> Result<Status, Trouble> {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(NAME)).filter(|program| program.is_file());
    let program = beside.unwrap_or_else(|| PathBuf::from(NAME));
    // Comes back only if it could not be started.
    let error = Command::new(&program).args(std::env::args_os().skip(1)).exec();
    Err(Trouble(match error.kind() {
        std::io::ErrorKind::NotFound => format!(
            "error: this is a command of the program {NAME}, which stands neither beside chronoseal nor in a folder of PATH\n\
             help: build it, in the checkout: cargo build --release --bin {NAME}"
        ),
        _ => format!("error: cannot start {}: {error}", program.display()),
    }))
}
