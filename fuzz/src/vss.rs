//! The station's daemon: what clients send to its socket, and its configuration.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use chronoseal_v2x::certificate::{Issuer, issue};
use chronoseal_v2x::crypto::{Curve, SigningKey, SoftwareKey};
use chronoseal_v2x::types::{
    CertificateId, Duration, Psid, PsidGroupPermissions, PsidSsp, SubjectPermissions, Time32, ToBeSignedCertificate,
    ValidityPeriod, VerificationKeyIndicator,
};
use chronoseal_v2x_service::hsm::software::PinCost;
use chronoseal_v2x_service::hsm::{SharedHsm, SoftwareHsm};
use chronoseal_v2x_service::pki::Meta;
use chronoseal_v2x_service::vss::{PROTOCOL_VERSION, Server, Vss, VssConfig, now};
use tempfile::TempDir;

/// A daemon with a ticket, and a client connected to it.
struct Daemon {
    folder: TempDir,
    client: UnixStream,
}

thread_local! {
    static DAEMON: RefCell<Option<Daemon>> = const { RefCell::new(None) };
    static FILE: (TempDir, PathBuf) = {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("vss.toml");
        (folder, file)
    };
}

impl Daemon {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name: &str| folder.path().join(name);
        let mut root_key = SoftwareKey::from_scalar(Curve::NistP256, &[1; 32]).expect("below the order");
        let start = Time32(now().time32().0 - 1_000);
        let contents = |key: &dyn SigningKey, years| {
            let public = VerificationKeyIndicator::VerificationKey(key.public_point().to_verification_key());
            let validity = ValidityPeriod { start, duration: Duration::Years(years) };
            ToBeSignedCertificate::new(CertificateId::None, validity, public)
        };
        let mut tbs = contents(&root_key, 9);
        tbs.cert_issue_permissions = Some(vec![PsidGroupPermissions::new(SubjectPermissions::All)]);
        let root = issue(tbs, Issuer::SelfSigned, &mut root_key).expect("a root");
        std::fs::write(place("root.oer"), root.as_bytes()).expect("it can be written");
        std::fs::write(place("pin"), "4711\n").expect("it can be written");
        let text = "folder = \"station\"\npin_file = \"pin\"\n[hsm]\nkind = \"software\"\nfolder = \"keys\"\n\
                    [trust]\nroots = [\"root.oer\"]\n[pseudonyms]\nask = false\n";
        std::fs::write(place("vss.toml"), text).expect("it can be written");
        let config = VssConfig::read(&place("vss.toml")).expect("it is sound");
        let cost = PinCost { memory_kib: 8, passes: 1 };
        let hsm = SoftwareHsm::create_with(place("keys"), "4711", cost).expect("a store of keys");
        let (mut vss, _) = Vss::open_with(&config, SharedHsm::new(Box::new(hsm)), now()).expect("a station");
        let key = vss.create_key(Curve::NistP256, "ticket").expect("a key");
        let decryption = vss.create_key(Curve::NistP256, "decrypt").expect("a key");
        let mut tbs = contents(&key, 1);
        tbs.app_permissions = Some([Psid::CAM, Psid::DENM].map(|psid| PsidSsp { psid, ssp: None }).into());
        tbs.encryption_key = Some(decryption.public_point().to_encryption_key().expect("of P-256"));
        let ticket = issue(tbs, Issuer::Certificate(&root.view()), &mut root_key).expect("a ticket");
        let meta = Meta { signing_key: key.handle(), decryption_key: Some(decryption.handle()) };
        vss.add_ticket(ticket, meta, now()).expect("it fits");
        let server = Server::bind(&place("socket"), vss).expect("a socket");
        // It serves as long as the process lives.
        std::thread::spawn(move || server.run(None, &AtomicBool::new(false)));
        let client = UnixStream::connect(place("socket")).expect("it listens");
        Self { folder, client }
    }

    /// Sends one frame and waits for its answer; events before that are passed over. None if the daemon hung up.
    fn ask(&mut self, frame: &[u8]) -> Option<(u8, Vec<u8>)> {
        let length = u32::try_from(frame.len()).expect("inputs are short").to_be_bytes();
        self.client.write_all(&[&length[..], frame].concat()).ok()?;
        loop {
            let mut length = [0; 4];
            self.client.read_exact(&mut length).ok()?;
            let mut answer = vec![0; u32::from_be_bytes(length) as usize];
            self.client.read_exact(&mut answer).ok()?;
            let status = *answer.first()?;
            if status < 0x80 {
                return Some((status, answer));
            }
        }
    }
}

/// A frame from a client: the daemon answers it with the frame's number, or says what is malformed and hangs up; and serves the
/// next client in either case. An input that begins with 0 is sent as it is; of others the first byte becomes the protocol's
/// version, since a new connection takes the daemon a twentieth of a second.
pub fn vss_frame(data: &[u8]) {
    let mut frame = data.to_vec();
    match frame.first_mut() {
        Some(0) => drop(frame.remove(0)),
        Some(_) if data.len() < 6 => return,
        Some(version) => *version = PROTOCOL_VERSION,
        None => return,
    }
    DAEMON.with_borrow_mut(|daemon| {
        let daemon = daemon.get_or_insert_with(Daemon::new);
        match daemon.ask(&frame) {
            Some((status, answer)) if frame.len() >= 6 && frame[0] == PROTOCOL_VERSION => {
                assert!(status <= 2, "a status that there is");
                assert_eq!(answer[1..5], frame[2..6], "the number of the request");
            }
            other => {
                assert!(other.is_none_or(|(status, _)| status == 2), "no request, and not called that");
                daemon.client = UnixStream::connect(daemon.folder.path().join("socket")).expect("it still listens");
            }
        }
    });
}

/// A configuration file: refused with the name of the file and a reason, or every policy in it is one.
pub fn vss_configuration(data: &[u8]) {
    FILE.with(|(_, file)| {
        std::fs::write(file, data).expect("it can be written");
        match VssConfig::read(file) {
            Ok(config) => {
                assert!(config.change_policy().is_ok() && config.demand_policy().is_ok());
                assert!(config.pseudonyms.low_water <= config.pseudonyms.preload);
            }
            Err(error) => assert!(error.to_string().contains("vss.toml: ")),
        }
    });
}
