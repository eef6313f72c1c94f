//! What other programs do: who never serves V2X never builds authorities, databases and their C code, and who runs on one host without TLS
//! no TLS.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use chronoseal_catalog::Prepared;
use chronoseal_console::{Status, Trouble};
use chronoseal_runner::secured_stream;
use chronoseal_testbed::AgentCommand;

/// Another program, and how cargo is told to build it.
pub(crate) struct OtherProgram {
    name: &'static str,
    build: &'static str,
}

/// `pki`, `vss` and their study.
pub(crate) const V2X: OtherProgram = OtherProgram { name: "chronoseal-v2x", build: "--bin chronoseal-v2x" };

/// `controller`, `agent` and `ca`, and stations with streams over TLS or QUIC. Built as a package of its own, it has no TLS library in C.
pub(crate) const TESTBED: OtherProgram =
    OtherProgram { name: "chronoseal-testbed", build: "--package chronoseal-testbed-cli" };

/// Becomes that program, with what was typed. It stands beside this one, or in a folder of PATH.
pub(crate) fn hand_over(other: OtherProgram) -> Result<Status, Trouble> {
    let program = other.find("this is a command")?;
    // Comes back only if it could not be started.
    let error = Command::new(&program).args(std::env::args_os().skip(1)).exec();
    Err(Trouble(format!("error: cannot start {}: {error}", program.display())))
}

/// The program of stations in a live run, if it cannot be this one.
pub(crate) fn stations(prepared: &Prepared<'_>) -> Result<Option<AgentCommand>, Trouble> {
    let Some((stream, over)) = secured_stream(prepared) else { return Ok(None) };
    let stream = &prepared.plan().streams[stream.index()].name;
    let program = TESTBED.find(&format!("stream `{stream}` goes over {over}, so its stations are processes"))?;
    Ok(Some(AgentCommand { program, arguments: vec!["agent".into()] }))
}

impl OtherProgram {
    /// Where it is, for what is its.
    fn find(&self, what: &str) -> Result<PathBuf, Trouble> {
        let Self { name, build } = self;
        let beside = std::env::current_exe().ok().map(|own| own.with_file_name(name));
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let on_path = std::env::split_paths(&folders).map(|folder| folder.join(name));
        beside.into_iter().chain(on_path).find(|program| program.is_file()).ok_or_else(|| {
            Trouble(format!(
                "error: {what} of the program {name}, which stands neither beside chronoseal nor in a folder of PATH\n\
                 help: build it, in the checkout: cargo build --release {build}"
            ))
        })
    }
}
