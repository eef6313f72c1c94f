//! `chronoseal vss`

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use chronoseal_v2x::pipeline::Engine;
use chronoseal_v2x_service::pki::Clock;
use chronoseal_v2x_service::vss::{ListSource, Server, Vss as Station, VssConfig, now, pseudonym_source};
use clap::{Args, Subcommand};

use chronoseal_console::{Printer, Status, Trouble};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal vss serve vss.toml --socket /run/vss        serve the nine services until Ctrl-C
  chronoseal vss show vss.toml                           which certificates and keys there are

The protocol of the socket: docs/reference/vss-protocol.md; a C header and clients in C and Python: examples/vss/.
Every entry of the configuration file: docs/reference/vss-configuration.md.")]
pub(crate) struct Vss {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Serve a station's security services over a local socket
    Serve {
        /// Configuration file, TOML
        config: PathBuf,
        /// Path of the socket; this user and those of `socket.users` may connect
        #[arg(long, value_name = "PATH")]
        socket: PathBuf,
    },
    /// Say which certificates a station has, and what is wrong with them
    Show {
        /// Configuration file, TOML
        config: PathBuf,
    },
}

pub(crate) fn run(options: &Vss, printer: &Printer) -> Result<Status, Trouble> {
    match &options.action {
        Action::Serve { config, socket } => {
            let config = VssConfig::read(config)?;
            let (station, warnings) = Station::open(&config, now())?;
            warnings.0.iter().for_each(|warning| printer.note(&format!("warning: {warning}")));
            let (source, clock) = (config.authority.as_ref(), Clock::default());
            let source = source
                .map(|authority| pseudonym_source(&config.folder, authority, station.hsm().clone(), &clock))
                .transpose()?;
            let stop = chronoseal_testbed::interrupt::flag();
            let (engine, others) = station.engines();
            let users = config.socket.user_ids().map_err(|error| Trouble(format!("error: {error}")))?;
            let server = Server::bind(socket, station)?.permit(&users)?.with_lists(ListSource::new(&config.lists));
            printer.hint(&format!("serving at {}; Ctrl-C ends it", socket.display()));
            printer.hint(&format!("verifies {}", engines(engine, &others)));
            server.run(source, stop)?;
            debug_assert!(stop.load(Ordering::Relaxed));
            Ok(Status::Held)
        }
        Action::Show { config } => {
            let (station, warnings) = Station::open(&VssConfig::read(config)?, now())?;
            let current = station.certificate().map_or_else(|| "none".to_owned(), |id| id.to_string());
            printer.data(&format!("pseudonym in use  {current}\nunused            {}", station.unused()));
            let (engine, others) = station.engines();
            printer.data(&format!("verifies          {}", engines(engine, &others)));
            warnings.0.iter().for_each(|warning| printer.note(&format!("warning: {warning}")));
            if station.certificate().is_none() {
                printer.hint("next: chronoseal pki authorize --help");
            }
            Ok(if warnings.0.is_empty() { Status::Held } else { Status::Failed })
        }
    }
}

/// What verifies, for people.
fn engines(engine: Engine, others: &str) -> String {
    match engine {
        Engine::Lanes => format!("on {} (AVX-512 IFMA); one by one: {others}", engine.words()),
        Engine::Words => format!("in {} (BMI2, ADX), several together; one by one: {others}", engine.words()),
        Engine::Scalar => format!("{}: {others}", engine.words()),
    }
}
