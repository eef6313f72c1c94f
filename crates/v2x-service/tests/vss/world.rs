//! An authority, and a station's folder.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use chronoseal_v2x::certificate::{Issuer, issue};
use chronoseal_v2x::crypto::{Curve, SoftwareKey};
use chronoseal_v2x::types::*;
use chronoseal_v2x_service::hsm::{BackEnd, HsmKey, SharedHsm, SoftwareHsm};
use chronoseal_v2x_service::pki::Meta;
use chronoseal_v2x_service::vss::{
    Lists, Logging, Pseudonyms, Socket, Trust, Verification, Vss, VssConfig, Warnings, now,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use tempfile::TempDir;

/// Everything a station needs.
pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) config: VssConfig,
    authority: SoftwareKey,
    certificate: CertificateBuf,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let mut root = SoftwareKey::generate(Curve::NistP256, &mut rng);
        let authority = SoftwareKey::generate(Curve::NistP256, &mut rng);
        let period = ValidityPeriod { start: Time32(now().time32().0 - 1000), duration: Duration::Years(1) };
        let all = || Some(vec![PsidGroupPermissions::new(SubjectPermissions::All)]);
        let above = || {
            Some(vec![PsidGroupPermissions {
                min_chain_length: 2,
                ..PsidGroupPermissions::new(SubjectPermissions::All)
            }])
        };
        let key =
            |key: &SoftwareKey| VerificationKeyIndicator::VerificationKey(key.public_point().to_verification_key());
        let mut tbs = ToBeSignedCertificate::new(CertificateId::Name("root"), period, key(&root));
        tbs.cert_issue_permissions = above();
        let root_certificate = issue(tbs, Issuer::SelfSigned, &mut root).unwrap();
        let mut tbs = ToBeSignedCertificate::new(CertificateId::Name("aa"), period, key(&authority));
        tbs.cert_issue_permissions = all();
        let certificate = issue(tbs, Issuer::Certificate(&root_certificate.view()), &mut root).unwrap();
        let place = |name: &str| folder.path().join(name);
        std::fs::write(place("root.oer"), root_certificate.as_bytes()).unwrap();
        std::fs::write(place("aa.oer"), certificate.as_bytes()).unwrap();
        std::fs::write(place("pin"), "4711\n").unwrap();
        std::fs::set_permissions(place("pin"), std::fs::Permissions::from_mode(0o600)).unwrap();
        let config = VssConfig {
            folder: place("station"),
            hsm: BackEnd::Software { folder: place("keys"), predefined: None },
            pin_file: place("pin"),
            trust: Trust { roots: vec![place("root.oer")], authorities: vec![place("aa.oer")], ..Trust::default() },
            pseudonyms: Pseudonyms { policy: "source".into(), ask: false, ..Pseudonyms::default() },
            authority: None,
            socket: Socket::default(),
            lists: Lists::default(),
            misbehaviour: None,
            verification: Verification::default(),
            logging: Logging { file: Some(place("log")), ..Logging::default() },
        };
        // Tests open it over and over: a PIN that is quick to check.
        let cost = chronoseal_v2x_service::hsm::software::PinCost { memory_kib: 8, passes: 1 };
        drop(SoftwareHsm::create_with(place("keys"), "4711", cost).unwrap());
        Self { folder, config, authority, certificate }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn open(&self) -> (Vss, Warnings) {
        let hsm = SharedHsm::new(Box::new(SoftwareHsm::open(self.path("keys"), "4711").unwrap()));
        Vss::open_with(&self.config, hsm, now()).unwrap()
    }

    fn certify(&mut self, key: &HsmKey, encryption: Option<&HsmKey>) -> CertificateBuf {
        let public = chronoseal_v2x::crypto::SigningKey::public_point(key);
        let indicator = VerificationKeyIndicator::VerificationKey(public.to_verification_key());
        let period = ValidityPeriod { start: Time32(now().time32().0 - 10), duration: Duration::Hours(100) };
        let mut tbs = ToBeSignedCertificate::new(CertificateId::None, period, indicator);
        let permit = |psid| PsidSsp { psid, ssp: None };
        tbs.app_permissions = Some(vec![permit(Psid::CAM), permit(Psid::DENM)]);
        tbs.encryption_key =
            encryption.map(|key| chronoseal_v2x::crypto::SigningKey::public_point(key).to_encryption_key().unwrap());
        issue(tbs, Issuer::Certificate(&self.certificate.view()), &mut self.authority).unwrap()
    }

    pub(crate) fn give_tickets(&mut self, vss: &mut Vss, count: usize) {
        for _ in 0..count {
            let key = vss.create_key(Curve::NistP256, "ticket").unwrap();
            let encryption = vss.create_key(Curve::NistP256, "decrypt").unwrap();
            let certificate = self.certify(&key, Some(&encryption));
            let meta = Meta { signing_key: key.handle(), decryption_key: Some(encryption.handle()) };
            vss.add_ticket(certificate, meta, now()).unwrap();
        }
    }
}
