//! `chronoseal ca`

use std::path::PathBuf;

use chronoseal_console::{Printer, Status, Trouble};
use chronoseal_remote::{Authority, Role};
use clap::{Args, Subcommand};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  chronoseal ca init ca
  chronoseal ca enroll ca robot
  chronoseal ca enroll ca bench --controller --days 30")]
pub(crate) struct Ca {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Make an authority: a folder with its certificate and its key
    #[command(after_help = "\
Examples:
  chronoseal ca init ca

The folder stays where it is: whoever has its key can command every agent. It is valid for ten years.
Next: `chronoseal ca enroll ca NAME` for each agent.")]
    Init {
        /// Where to make it
        folder: PathBuf,
    },
    /// Make the identity of an agent or of a controller: a folder with certificate, key and the authority's certificate
    #[command(after_help = "\
Examples:
  chronoseal ca enroll ca robot                        an agent, in the folder robot
  chronoseal ca enroll ca bench --controller           a controller, in the folder bench

Copy the folder to its host over a channel you trust, such as ssh. A certificate cannot be taken back before it
expires, but by a new authority and new identities for all.")]
    Enroll {
        /// Folder of the authority
        authority: PathBuf,
        /// Name in the certificate: that of the node or of the host
        name: String,
        /// It commands agents, and is none
        #[arg(long)]
        controller: bool,
        /// How long it is valid
        #[arg(long, default_value_t = 365)]
        days: u32,
        /// The new folder [default: the name, here]
        #[arg(long, value_name = "FOLDER")]
        out: Option<PathBuf>,
    },
}

pub(crate) fn run(options: &Ca, printer: &Printer) -> Result<Status, Trouble> {
    match &options.action {
        Action::Init { folder } => {
            Authority::init(folder)?;
            let folder = folder.display();
            printer.hint(&format!(
                "made an authority in {folder}; keep it here. Next: chronoseal ca enroll {folder} NAME"
            ));
        }
        Action::Enroll { authority, name, controller, days, out } => {
            let role = if *controller { Role::Controller } else { Role::Agent };
            let folder = out.clone().unwrap_or_else(|| PathBuf::from(name));
            Authority::open(authority)?.enroll(name, role, *days, &folder)?;
            let words = format!("{} `{name}`, valid for {days} days, in {}", role.name(), folder.display());
            printer.hint(&format!("enrolled {words}"));
        }
    }
    Ok(Status::Held)
}
