//! `chronoseal agent serve`

use core::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use chronoseal_console::{Printer, Status, Trouble};
use chronoseal_core::{Duration, Ppm};
use chronoseal_remote::{Identity, Limits, ServeOptions, Server, VirtualClock};
use chronoseal_testbed::{ClockStep, PTP_SOCKET, interrupt, monotonic_ns};
use clap::{Args, Subcommand};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal agent serve --identity robot --listen 10.0.0.1:7600 --data 10.0.0.1")]
pub(crate) struct Agent {
    #[command(subcommand)]
    pub(crate) action: Option<Action>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Action {
    /// Wait for controllers, and take part in one run at a time, until Ctrl-C
    Serve(Serve),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal agent serve --identity robot --listen 10.0.0.1:7600 --data 10.0.0.1
  chronoseal agent serve --identity robot --listen 10.0.0.1:7600 --data 10.9.0.1 --limits agent.toml

A file of limits, with what holds without one:

  longest_run = \"60s\"
  messages_per_second = 10000        sent and received by its station, by their periods
  transports = [\"udp\", \"tcp\"]
  addresses = []                     of this host, that a controller may choose beside --data

Programs of others are never run. Next: `chronoseal controller` on another host; docs/guide/testbed.md.")]
pub(crate) struct Serve {
    /// Folder that `chronoseal ca enroll` wrote
    #[arg(long, value_name = "FOLDER")]
    identity: PathBuf,
    /// Where controllers reach it
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// The address of this host that messages of runs go through
    #[arg(long, value_name = "ADDRESS")]
    data: Ipv4Addr,
    /// File with limits
    #[arg(long, value_name = "FILE")]
    limits: Option<PathBuf>,
    /// For tests: show a clock that is ahead by so much, such as 5ms; the host's clock is not touched
    #[arg(long, value_name = "TIME", default_value = "0ms", allow_hyphen_values = true)]
    clock_offset: Duration,
    /// For tests: show a clock that runs faster by so much, such as 50ppm
    #[arg(long, value_name = "PPM", default_value = "0ppm", allow_hyphen_values = true)]
    clock_drift: Ppm,
    /// For tests: show a clock that jumps, such as 20s+3ms: so long after the start by so much
    #[arg(long, value_name = "AFTER+BY")]
    clock_step: Option<ClockStep>,
    /// Socket of ptp4l on this host (uds_address), by which clocks are compared too where it answers
    #[arg(long, value_name = "SOCKET", default_value = PTP_SOCKET)]
    ptp: PathBuf,
}

pub(crate) fn run(Action::Serve(options): &Action, printer: &Printer) -> Result<Status, Trouble> {
    let Serve { identity, listen, data, limits, clock_offset, clock_drift, clock_step, ptp } = options;
    let identity = Identity::read(identity)?;
    let name = identity.name().to_owned();
    let limits = limits.as_deref().map(Limits::read).transpose()?.unwrap_or_default();
    let clock = VirtualClock {
        offset_ns: clock_offset.as_ns(),
        drift_ppb: clock_drift.0,
        step: clock_step.map(|step| (step.after.as_ns(), step.by.as_ns())),
        began_ns: monotonic_ns(),
    };
    let stop = interrupt::flag();
    let (listen, data, ptp) = (*listen, *data, ptp.clone());
    let server = Server::bind(ServeOptions { identity, listen, data, limits, clock, ptp, agent_command: None })?;
    let address = server.address().unwrap_or(listen);
    printer.hint(&format!(
        "agent `{name}` waits for controllers at {address}, and messages go through {data}; Ctrl-C ends it"
    ));
    if clock != (VirtualClock { began_ns: clock.began_ns, ..VirtualClock::default() }) {
        printer.note("warning: this agent shows a clock that is made up, for tests");
    }
    server.run(&|line| printer.hint(line), stop);
    Ok(Status::Held)
}
