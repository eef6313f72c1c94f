//! `chronoseal vss`

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use chronoseal_v2x::pipeline::Engine;
use chronoseal_v2x_service::pki::Clock;
use chronoseal_v2x_service::vss::{
    CredentialKeeper, KeyRow, ListSource, Overview, Reporter, Server, Vss as Station, VssConfig, now,
    pseudonym_source_beside,
};
use clap::{Args, Subcommand};

use chronoseal_console::{Printer, Status, Trouble};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal vss serve vss.toml --socket /run/vss        serve the nine services until Ctrl-C
  chronoseal vss show vss.toml                           which certificates there are
  chronoseal vss keys vss.toml                           which keys there are, and what for

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
    /// Say which certificates a station has, and what is wrong with them; also while its daemon runs
    Show {
        /// Configuration file, TOML
        config: PathBuf,
    },
    /// List the keys of a station's device and what each is for; also while its daemon runs
    Keys {
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
            let clock = Clock::default();
            let keeper = config
                .authority
                .as_ref()
                .map(|authority| CredentialKeeper::new(&config.folder, authority, station.hsm().clone(), &clock));
            let keeper = keeper.transpose()?;
            let source = config.authority.as_ref().zip(keeper.as_ref());
            let source = source
                .map(|(authority, keeper)| pseudonym_source_beside(keeper, &config.folder, authority, &clock))
                .transpose()?;
            let stop = chronoseal_testbed::interrupt::flag();
            let (engine, others) = station.engines();
            let users = config.socket.user_ids().map_err(|error| Trouble(format!("error: {error}")))?;
            let server = Server::bind(socket, station)?.permit(&users)?.with_lists(ListSource::new(&config.lists));
            let reporter = config.misbehaviour.as_ref().map(|to| Reporter::new(&config.folder, to)).transpose()?;
            let server = server.with_credential(keeper).with_reporter(reporter);
            printer.hint(&format!("serving at {}; Ctrl-C ends it", socket.display()));
            printer.hint(&format!("verifies {}", engines(engine, &others)));
            server.run(source, stop)?;
            debug_assert!(stop.load(Ordering::Relaxed));
            Ok(Status::Held)
        }
        Action::Show { config } => {
            let overview = Overview::read(&VssConfig::read(config)?, now())?;
            let in_use = overview.in_use.map_or_else(|| "none".to_owned(), |id| id.to_string());
            let enrolment = overview.enrolment.map_or_else(
                || "none".to_owned(),
                |enrolment| format!("{}, until {} UTC", enrolment.id, enrolment.ends_at.date()),
            );
            let served = if overview.is_served { "by a daemon" } else { "no" };
            let (engine, others) = &overview.engines;
            printer.data(&format!("pseudonym in use  {in_use}\nunused            {}", overview.unused));
            printer.data(&format!("credential        {enrolment}\nserved            {served}"));
            printer.data(&format!("verifies          {}", engines(*engine, others)));
            overview.warnings.iter().for_each(|warning| printer.note(&format!("warning: {warning}")));
            if overview.in_use.is_none() && overview.unused == 0 {
                printer.hint("next: chronoseal pki authorize --help");
            }
            Ok(if overview.warnings.is_empty() { Status::Held } else { Status::Failed })
        }
        Action::Keys { config } => {
            let overview = Overview::read(&VssConfig::read(config)?, now())?;
            let Some(keys) = overview.keys else {
                return Err(Trouble(
                    "error: only one process can use this device, and the daemon does; end it to look at the keys"
                        .into(),
                ));
            };
            for KeyRow { key, of } in keys {
                let of = of.map_or_else(|| "nothing of this station".to_owned(), |of| of.to_string());
                let kind = format!("{} {}", key.persistence, key.kind);
                printer.data(&format!("{}  {kind:<26}  {of}", key.handle));
            }
            Ok(Status::Held)
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
