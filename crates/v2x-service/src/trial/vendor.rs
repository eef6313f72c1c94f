//! Two vendors' authorities.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use chronoseal_v2x::crypto::SigningKey as _;
use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::{Permissions, Role, Station, TicketPeriods};

use super::TrialError;
use super::car::Car;
use crate::pki::{Clock, Endpoint, KeyDevice, Server, ServerOptions, read_certificate};
use crate::store::Store;

/// Who the second vendor is to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SecondVendor {
    /// Bouncy Castle's authorities, from this jar, in a process of their own.
    BouncyCastle(PathBuf),
    /// Ours once more, and why nobody else.
    Ours(String),
}

impl SecondVendor {
    /// Bouncy Castle where its jar is: `CHRONOSEAL_BC_PKI`, or `adapters/bc-pki/target/bc-pki.jar` in one of the folders
    /// above this program or this process; and where Java runs.
    #[must_use]
    pub fn find() -> Self {
        let has_java = Command::new("java").arg("-version").output().is_ok_and(|output| output.status.success());
        if !has_java {
            return Self::Ours("no Java: apt-get install default-jre-headless".into());
        }
        let jar = Path::new("adapters/bc-pki/target/bc-pki.jar");
        let named = std::env::var_os("CHRONOSEAL_BC_PKI").map(PathBuf::from);
        let above = [std::env::current_dir().ok(), std::env::current_exe().ok()];
        let found = named.or_else(|| {
            let folders = above.iter().flatten().flat_map(|path| path.ancestors());
            folders.map(|folder| folder.join(jar)).find(|path| path.exists())
        });
        match found {
            Some(jar) => Self::BouncyCastle(jar),
            None => Self::Ours("no bc-pki.jar: cd adapters/bc-pki && mvn -q package".into()),
        }
    }

    pub(super) fn start(&self, folder: &Path, clock: &Clock) -> Result<Vendor, TrialError> {
        match self {
            Self::BouncyCastle(jar) => Vendor::bouncy_castle(jar, &folder.join("pki-b")),
            Self::Ours(why) => {
                let mut vendor = Vendor::ours(&folder.join("pki-b"), "second", clock)?;
                vendor.description = format!("a second instance of our own authorities ({why})");
                Ok(vendor)
            }
        }
    }
}

/// Authorities that run.
pub(super) struct Vendor {
    running: Running,
    description: String,
    url: String,
    pub(super) root: SignerCertificate,
    pub(super) ea: SignerCertificate,
    pub(super) aa: SignerCertificate,
    urls: [String; 2],
}

enum Running {
    Ours(Server),
    BouncyCastle { process: Child, jar: PathBuf, folder: PathBuf },
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Self::BouncyCastle { process, .. } = self {
            // Our own child, by its handle; it may have ended by itself.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl Vendor {
    pub(super) fn ours(folder: &Path, name: &str, clock: &Clock) -> Result<Self, TrialError> {
        std::fs::create_dir_all(folder).map_err(TrialError::file(folder))?;
        let store = Store::sqlite(&folder.join("store.sqlite")).map_err(crate::pki::ServiceError::from)?;
        // A station of the trial has tickets for as long as it runs, whenever a week ends.
        let options = ServerOptions {
            name: name.to_owned(),
            clock: clock.clone(),
            ticket_periods: TicketPeriods::AsAsked,
            ..ServerOptions::new(folder)
        };
        let server = Server::start(&options, &KeyDevice::software(folder)?, store)?;
        let [root, ea, aa] =
            [Role::Root, Role::Enrolment, Role::Authorization].map(|role| server.certificate(role).clone());
        let url = server.url().to_owned();
        Ok(Self::new(Running::Ours(server), "chronoseal's own", url, [root, ea, aa]))
    }

    fn bouncy_castle(jar: &Path, folder: &Path) -> Result<Self, TrialError> {
        std::fs::create_dir_all(folder).map_err(TrialError::file(folder))?;
        // A copy: a jar that is built anew under a running program breaks it.
        let copy = folder.join("bc-pki.jar");
        std::fs::copy(jar, &copy).map_err(TrialError::file(jar))?;
        let directory = folder.join("pki");
        let mut process = java(&copy)
            .args(["serve", "--port", "0", "--dir"])
            .arg(&directory)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(TrialError::file(Path::new("java")))?;
        let mut line = String::new();
        let stdout = process.stdout.take();
        let running = Running::BouncyCastle { process, jar: copy, folder: directory.clone() };
        if let Some(stdout) = stdout {
            BufReader::new(stdout).read_line(&mut line).map_err(TrialError::file(jar))?;
        }
        let url = line.trim().strip_prefix("listening ");
        let url = url.ok_or_else(|| TrialError::Wrong(format!("bc-pki said {line:?} and not where it listens")))?;
        let read = |name| read_certificate(&directory.join(name));
        let certificates = [read("rca.oer")?, read("ea.oer")?, read("aa.oer")?];
        Ok(Self::new(running, "Bouncy Castle, a process of its own", url.to_owned(), certificates))
    }

    fn new(running: Running, description: &str, url: String, [root, ea, aa]: [SignerCertificate; 3]) -> Self {
        let urls = [format!("{url}/ea"), format!("{url}/aa")];
        Self { running, description: description.to_owned(), url, root, ea, aa, urls }
    }

    pub(super) fn description(&self) -> &str {
        &self.description
    }

    pub(super) fn ea_endpoint(&self) -> Endpoint<'_> {
        Endpoint { certificate: &self.ea, url: &self.urls[0] }
    }

    pub(super) fn aa_endpoint(&self) -> Endpoint<'_> {
        Endpoint { certificate: &self.aa, url: &self.urls[1] }
    }

    /// Tells the enrolment authority of a station.
    pub(super) fn register(&self, car: &Car) -> Result<(), TrialError> {
        match &self.running {
            Running::Ours(server) => {
                let canonical_key = car.client.canonical_key(Car::CURVE)?;
                let station = Station {
                    canonical_id: car.id.clone(),
                    canonical_key: canonical_key.public_point(),
                    permissions: Permissions::tickets(),
                    is_revoked: false,
                };
                let store = server.store();
                let mut store = store.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                Ok(store.register(&station).map_err(crate::pki::ServiceError::from)?)
            }
            Running::BouncyCastle { folder, .. } => {
                car.client.canonical_key(Car::CURVE)?;
                let id: String = car.id.iter().map(|octet| format!("{octet:02x}")).collect();
                let key = car.folder.join("canonical.pub.pem");
                self.java(|java| java.args(["register", "--id", &id, "--key"]).arg(&key).arg("--dir").arg(folder))
            }
        }
    }

    /// Trusts the other vendor's root.
    pub(super) fn trust(&self, other: &Self) -> Result<(), TrialError> {
        match &self.running {
            Running::Ours(server) => Ok(server.trust().add(&other.root, &other.url)?),
            Running::BouncyCastle { folder, .. } => {
                let root = folder.join("other-rca.oer");
                std::fs::write(&root, other.root.certificate().as_bytes()).map_err(TrialError::file(&root))?;
                self.java(|java| java.args(["trust", "--dc", &other.url, "--rca"]).arg(&root).arg("--dir").arg(folder))
            }
        }
    }

    /// Runs a command of Bouncy Castle's.
    fn java(&self, arguments: impl FnOnce(&mut Command) -> &mut Command) -> Result<(), TrialError> {
        let Running::BouncyCastle { jar, .. } = &self.running else { return Ok(()) };
        let mut command = java(jar);
        let run = arguments(&mut command).output().map_err(TrialError::file(Path::new("java")))?;
        if run.status.success() {
            return Ok(());
        }
        Err(TrialError::Wrong(format!("bc-pki: {}", String::from_utf8_lossy(&run.stderr).trim())))
    }
}

fn java(jar: &Path) -> Command {
    let mut command = Command::new("java");
    // One compiler: these programs do not live long.
    command.arg("-XX:TieredStopAtLevel=1").arg("-jar").arg(jar);
    command
}
