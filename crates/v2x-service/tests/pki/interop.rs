//! The two by two: clients and authorities, this project's and Bouncy Castle's.
//!
//! The other side is `adapters/bc-pki`, foreign code in a process of its own, built with Maven if it is not there.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use chronoseal_v2x::certificate::CertificateForm;
use chronoseal_v2x::coer::Rules;
use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::pki::{HeldLists, Permissions, PkiError, Role, TicketPeriods};
use chronoseal_v2x::types::HashedId8;
use chronoseal_v2x_service::pki::{
    Client, Endpoint, KeyDevice, ServiceError, TicketOptions, now, read_certificate, read_public_key,
};
use chronoseal_v2x_service::vss::{ListSource, Lists, Wanted};

use super::{Car, Pki, skip};

const ID_HEX: &str = "c0ffee";

/// The programs in one file: built already, or built now where Maven is.
fn jar() -> Option<&'static Path> {
    static JAR: OnceLock<Option<PathBuf>> = OnceLock::new();
    let jar = JAR.get_or_init(find_or_build).as_deref();
    if jar.is_none() {
        skip("no Java, or nothing in adapters/bc-pki/target: apt-get install openjdk-17-jdk-headless maven");
    }
    jar
}

fn find_or_build() -> Option<PathBuf> {
    let runs = |program: &str| Command::new(program).arg("-version").output().is_ok_and(|run| run.status.success());
    if !runs("java") {
        return None;
    }
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../adapters/bc-pki");
    let jar = project.join("target/bc-pki.jar");
    // Without a network, if everything was fetched before; its own tests are run by its own script.
    for offline in [&["-o"][..], &[]] {
        if jar.exists() {
            return Some(jar);
        }
        let built = Command::new("mvn")
            .args(offline)
            .args(["-q", "-B", "-DskipTests", "package"])
            .current_dir(&project)
            .output();
        if built.is_ok_and(|run| run.status.success()) {
            break;
        }
    }
    jar.exists().then_some(jar)
}

/// Bouncy Castle's programs.
pub(crate) struct Bc {
    jar: PathBuf,
    folder: tempfile::TempDir,
}

impl Bc {
    pub(crate) fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        // A copy: a jar that is built anew under a running program breaks it.
        let jar = folder.path().join("bc-pki.jar");
        std::fs::copy(self::jar()?, &jar).unwrap();
        Some(Self { jar, folder })
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("java");
        // One compiler: these programs do not live long.
        command.arg("-XX:TieredStopAtLevel=1").arg("-jar").arg(&self.jar).args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        if status.success() {
            Ok(String::from_utf8(stdout).unwrap())
        } else {
            Err(String::from_utf8_lossy(&stderr).into_owned())
        }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn serve(&self, curves: &[&str]) -> BcServer {
        let pki = self.path("pki");
        let arguments = [&["serve", "--dir", &pki, "--port", "0"], curves].concat();
        let mut process = self.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening ").expect(&line).to_owned();
        BcServer { process, url }
    }
}

pub(crate) struct BcServer {
    process: Child,
    pub(crate) url: String,
}

impl Drop for BcServer {
    fn drop(&mut self) {
        // Its own process, by its number.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Our authorities as Bouncy Castle's client wants them: certificates in files.
fn write_certificates(pki: &Pki, bc: &Bc) {
    for role in Role::ALL {
        let certificate = pki.server.certificate(role).certificate();
        std::fs::write(bc.folder.path().join(format!("ours-{role}.oer")), certificate.as_bytes()).unwrap();
    }
}

fn enrol_at_bc(car: &Car, bc: &Bc, server: &BcServer) -> HashedId8 {
    let curve = Curve::NistP256;
    car.client.canonical_key(curve).unwrap();
    let key = car.folder.path().join("canonical.pub.pem");
    bc.run(&["register", "--dir", &bc.path("pki"), "--id", ID_HEX, "--key", key.to_str().unwrap()]).unwrap();
    let ea = read_certificate(Path::new(&bc.path("pki/ea.oer"))).unwrap();
    let url = format!("{}/ea", server.url);
    car.client.enrol(super::ID, Endpoint { certificate: &ea, url: &url }, curve).unwrap()
}

/// `client enrol` of Bouncy Castle at ours.
fn enrol_bc_here(pki: &Pki, bc: &Bc) {
    write_certificates(pki, bc);
    bc.run(&["client", "keygen", "--dir", &bc.path("car")]).unwrap();
    let station = chronoseal_v2x::pki::Station {
        canonical_id: super::ID.to_vec(),
        canonical_key: read_public_key(Path::new(&bc.path("car/canonical.pub.pem"))).unwrap(),
        permissions: Permissions::tickets(),
        is_revoked: false,
    };
    pki.server.store().lock().unwrap().register(&station).unwrap();
    let url = format!("{}/ea", pki.server.url());
    let (car, ea, root) = (bc.path("car"), bc.path("ours-ea.oer"), bc.path("ours-rca.oer"));
    let to = ["--dir", &car, "--url", &url, "--ea", &ea, "--rca", &root];
    bc.run(&[&["client", "enrol", "--id", ID_HEX], &to[..]].concat()).unwrap();
}

fn curves_of_bc() -> [(&'static [&'static str], Curve); 2] {
    [
        (&[], Curve::NistP256),
        (&["--curve", "brainpoolp256r1", "--root-curve", "brainpoolp384r1"], Curve::BrainpoolP256r1),
    ]
}

#[test]
fn our_client_at_bouncy_castle() {
    for (curves, own_curve) in curves_of_bc() {
        let Some(bc) = Bc::new() else { return };
        let server = bc.serve(curves);
        let car = Car::new();
        let first = enrol_at_bc(&car, &bc, &server);
        let [ea, aa] =
            ["ea", "aa"].map(|name| read_certificate(Path::new(&bc.path(&format!("pki/{name}.oer")))).unwrap());
        let (ea_url, aa_url) = (format!("{}/ea", server.url), format!("{}/aa", server.url));
        let second = car.client.renew(Endpoint { certificate: &ea, url: &ea_url }, own_curve).unwrap();
        assert_ne!(first, second);
        for with_encryption_key in [false, true] {
            let options = TicketOptions { curve: own_curve, with_encryption_key, ..TicketOptions::default() };
            car.client.authorize(Endpoint { certificate: &aa, url: &aa_url }, &ea, &options).unwrap();
        }
        let tickets = car.client.tickets().unwrap();
        assert_eq!(tickets.len(), 2);
        for (ticket, _) in tickets {
            chronoseal_v2x::pki::check_issued_by(&ticket, &aa, now()).unwrap();
        }
        // It refuses what it has to, and we understand that.
        let options = TicketOptions { permissions: "99:01".parse().unwrap(), ..TicketOptions::default() };
        let error = car.client.authorize(Endpoint { certificate: &aa, url: &aa_url }, &ea, &options).unwrap_err();
        assert!(matches!(error, ServiceError::Pki(PkiError::AuthorizationRefused(_))), "{error}");
        assert!(error.to_string().ends_with("its-aa-deniedpermissions"), "{error}");
        // A station it does not know.
        let folder = car.folder.path().join("stranger");
        let stranger = Client::new(&folder, KeyDevice::software(&folder).unwrap());
        stranger.canonical_key(Curve::NistP256).unwrap();
        let error = stranger.enrol(b"x", Endpoint { certificate: &ea, url: &ea_url }, own_curve).unwrap_err();
        assert!(error.to_string().ends_with("unknownits"), "{error}");
    }
}

#[test]
fn bouncy_castle_s_client_at_ours() {
    for own_curve in [Curve::NistP256, Curve::BrainpoolP256r1] {
        let Some(bc) = Bc::new() else { return };
        let pki = Pki::start_with(|options| {
            options.curve = own_curve;
            if own_curve == Curve::BrainpoolP256r1 {
                options.root_curve = Curve::BrainpoolP384r1;
            }
        });
        enrol_bc_here(&pki, &bc);
        let (ea_url, aa_url) = (format!("{}/ea", pki.server.url()), format!("{}/aa", pki.server.url()));
        let [car, ea, aa, root] = ["car", "ours-ea.oer", "ours-aa.oer", "ours-rca.oer"].map(|name| bc.path(name));
        let to = ["--dir", &car, "--url", &ea_url, "--ea", &ea, "--rca", &root, "--curve", "brainpoolp256r1"];
        bc.run(&[&["client", "reenrol"], &to[..]].concat()).unwrap();
        let to = ["--dir", &car, "--url", &aa_url, "--aa", &aa, "--ea", &ea, "--rca", &root];
        let tickets =
            bc.run(&[&["client", "authorize", "--count", "3", "--encryption-key"], &to[..]].concat()).unwrap();
        assert_eq!(tickets.lines().filter(|line| line.starts_with("at ")).count(), 3);
        let refused = bc.run(&[&["client", "authorize", "--permission", "99:01"], &to[..]].concat()).unwrap_err();
        assert!(refused.contains("response code 12"), "{refused}");
    }
}

#[test]
fn credentials_of_either_get_tickets_of_the_other() {
    let Some(bc) = Bc::new() else { return };
    let server = bc.serve(&[]);
    // As `pki serve` has it: their client and their authority take tickets of the week, too.
    let pki = Pki::start_with(|options| options.ticket_periods = TicketPeriods::Weeks);
    let root = read_certificate(Path::new(&bc.path("pki/rca.oer"))).unwrap();
    let [ea, aa] = ["ea", "aa"].map(|name| read_certificate(Path::new(&bc.path(&format!("pki/{name}.oer")))).unwrap());

    let car = Car::new();
    enrol_at_bc(&car, &bc, &server);
    enrol_bc_here(&pki, &bc);
    let error = pki.authorize_with(&car, &ea, &TicketOptions::default()).unwrap_err();
    assert!(error.to_string().ends_with("its-aa-unknownea"), "{error}");

    // They trust our root by our trust list manager's list, we theirs by theirs.
    let ectl = format!("{}/getectl", pki.server.url());
    bc.run(&["trust", "--dir", &bc.path("pki"), "--tlm", &bc.path("ours-tlm.oer"), "--ectl", &ectl]).unwrap();
    let tlm = read_certificate(Path::new(&bc.path("pki/tlm.oer"))).unwrap();
    let trusted = pki.server.trust().add_listed(&tlm, &format!("{}/getectl", server.url)).unwrap();
    assert_eq!(trusted, [root.id()]);

    // Their credential at our authority.
    pki.authorize_with(&car, &ea, &TicketOptions::default()).unwrap();
    // Our credential at their authority.
    let [folder, aa_file, ours] = ["car", "pki/aa.oer", "ours-ea.oer"].map(|name| bc.path(name));
    let aa_url = format!("{}/aa", server.url);
    bc.run(&["client", "authorize", "--dir", &folder, "--url", &aa_url, "--aa", &aa_file, "--ea", &ours]).unwrap();
    // The same with our client.
    let own_car = Car::enrolled_at(&pki);
    let endpoint = Endpoint { certificate: &aa, url: &aa_url };
    own_car.client.authorize(endpoint, pki.ea(), &TicketOptions::default()).unwrap();

    // What one of them revokes, the other refuses.
    bc.run(&["revoke", "--dir", &bc.path("pki"), "--certificate", &bc.path("pki/ea.oer")]).unwrap();
    let error = pki.authorize_with(&car, &ea, &TicketOptions::default()).unwrap_err();
    assert!(error.to_string().ends_with("its-aa-invalidea"), "{error}");
    pki.server.revoke_authority(pki.ea().id()).unwrap();
    let error = own_car.client.authorize(endpoint, pki.ea(), &TicketOptions::default()).unwrap_err();
    assert!(error.to_string().ends_with("its-aa-unknownea"), "{error}");

    // A station here takes their lists, and trusts their authority no longer once it is revoked.
    let centre = Lists { centres: vec![server.url.clone()], ..Lists::default() };
    let source = ListSource::new(&centre);
    let mut lists = HeldLists::new([root.clone()], vec![], None, (Rules::STRICT, CertificateForm::Canonical));
    let mut refresh = || {
        let wanted = Wanted { roots: vec![root.id()], ..Wanted::default() };
        for offered in source.fetch_lists(&wanted) {
            lists.offer(&offered.list.unwrap(), now()).unwrap();
        }
        lists.trust().0
    };
    let trust = refresh();
    assert!(trust.authority(aa.id()).is_some() && trust.has_revocation_list(root.id()));
    assert!(!trust.is_authority_revoked(aa.id()));
    bc.run(&["revoke", "--dir", &bc.path("pki"), "--certificate", &bc.path("pki/aa.oer")]).unwrap();
    let trust = refresh();
    assert!(trust.authority(aa.id()).is_none() || trust.is_authority_revoked(aa.id()));
}
