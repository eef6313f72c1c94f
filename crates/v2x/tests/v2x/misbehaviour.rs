//! A station sees what is wrong with another, reports it, and an authority looks whether that is so.

use chronoseal_v2x::certificate::{Issuer, issue};
use chronoseal_v2x::coer::{Decode, Encode, ExtensionAdditions};
use chronoseal_v2x::crypto::{Curve, SoftwareKey};
use chronoseal_v2x::message::{SignerCertificate, SignerForm, sign};
use chronoseal_v2x::misbehaviour::*;
use chronoseal_v2x::pki::{Permissions, Role, issue_authority};
use chronoseal_v2x::types::*;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

const NOW: Time64 = Time64(700_000_000_000_000);
const HERE: ThreeDLocation = ThreeDLocation { latitude: 487_758_459, longitude: 91_829_321, elevation: 6_000 };

/// A root, an authority that issues tickets and one that takes reports, a reporter, and one who is reported.
pub(crate) struct World {
    aa: (CertificateBuf, SoftwareKey),
    ma: SignerCertificate,
    ma_key: SoftwareKey,
    reporter: (SignerCertificate, SoftwareKey),
    liar: (SignerCertificate, SoftwareKey),
    rng: ChaCha20Rng,
}

/// What these tests have for a CAM: speed and latitude.
fn payload(speed_cm_s: u16, latitude: i32) -> Vec<u8> {
    [&speed_cm_s.to_be_bytes()[..], &latitude.to_be_bytes()].concat()
}

fn read(payload: &[u8], time: Time64) -> Option<Motion> {
    let (speed, rest) = payload.split_first_chunk()?;
    let (latitude, rest) = rest.split_first_chunk()?;
    rest.is_empty().then_some(())?;
    Some(Motion {
        time,
        station_type: 5,
        position: Some(TwoDLocation { latitude: i32::from_be_bytes(*latitude), longitude: HERE.longitude }),
        speed_cm_s: Some(u16::from_be_bytes(*speed)),
        is_reverse: false,
        acceleration_dm_s2: None,
    })
}

impl World {
    pub(crate) fn new() -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(42);
        let mut key = || SoftwareKey::generate(Curve::NistP256, &mut rng);
        let (mut root_key, aa_key, ma_signs, ma_key) = (key(), key(), key(), key());
        let (reporter_key, liar_key) = (key(), key());
        let at = NOW.time32();
        let public = root_key.public_point();
        let root = issue_authority(Role::Root, "root", &public, None, None, &mut root_key, at).unwrap();
        let mut authority = |role, key: &SoftwareKey, encryption: &SoftwareKey| {
            let (public, encryption) = (key.public_point(), encryption.public_point());
            issue_authority(role, "authority", &public, Some(&encryption), Some(&root), &mut root_key, at).unwrap()
        };
        let aa = authority(Role::Authorization, &aa_key, &aa_key);
        let ma = authority(Role::Misbehaviour, &ma_signs, &ma_key);
        let mut aa = (aa, aa_key);
        let reporter = (ticket(&mut aa, &reporter_key, "36:010000 38"), reporter_key);
        let liar = (ticket(&mut aa, &liar_key, "36:010000"), liar_key);
        Self { aa, ma: SignerCertificate::new(ma).unwrap(), ma_key, reporter, liar, rng }
    }

    fn cam(&mut self, with_certificate: bool, at: Time64, payload: &[u8]) -> Vec<u8> {
        let (ticket, key) = &mut self.liar;
        let form = if with_certificate { SignerForm::Certificate(ticket) } else { SignerForm::Digest(ticket) };
        signed(payload, Psid::CAM, at, form, key)
    }

    /// Two CAMs a tenth of a second and some hundred metres apart, by a car too fast for any, as a receiver sees them.
    fn finding(&mut self) -> Finding {
        let (later, mut detector) = (NOW.plus_us(100_000), Detector::default());
        let first = self.cam(true, NOW, &payload(3_000, HERE.latitude));
        let second = self.cam(false, later, &payload(15_000, HERE.latitude + 30_000));
        let id = self.liar.0.id();
        let certificate = self.liar.0.certificate().as_bytes();
        detector.see(id, Some(certificate), &first, read(&payload(3_000, HERE.latitude), NOW).unwrap());
        detector.see(id, None, &second, read(&payload(15_000, HERE.latitude + 30_000), later).unwrap());
        detector.poll_finding().unwrap()
    }

    fn send(&mut self, report: &[u8], at: Time64) -> Vec<u8> {
        let (ticket, key) = &mut self.reporter;
        let signed = signed(report, Psid::MISBEHAVIOUR, at, SignerForm::Certificate(ticket), key);
        seal_report(&signed, &self.ma, &mut self.rng).unwrap()
    }

    fn take(&mut self, sealed: &[u8], now: Time64) -> Result<Examined, ReportRefusal> {
        let issuers = [SignerCertificate::new(self.aa.0.clone()).unwrap()];
        examine(sealed, (&self.ma, &mut self.ma_key), &issuers, &read, now)
    }

    /// One of each form of a report, for other decoders.
    pub(crate) fn corpus(&mut self) -> Vec<(&'static str, &'static str, Vec<u8>)> {
        let report = self.finding().report(HERE, NOW).unwrap();
        let plain = MisbehaviourData {
            content: MisbehaviourContent::Plaintext(MisbehaviourReport::from_coer(&report).unwrap()),
        };
        let plain = plain.to_coer().unwrap();
        let (ticket, key) = &mut self.reporter;
        let message = signed(&report, Psid::MISBEHAVIOUR, NOW, SignerForm::Certificate(ticket), key);
        let data =
            MisbehaviourData { content: MisbehaviourContent::Signed(Ieee1609Dot2Data::from_coer(&message).unwrap()) };
        let data = data.to_coer().unwrap();
        let sealed = self.send(&report, NOW);
        vec![
            ("report", "EtsiTs103759Mbr", report),
            ("report-plain", "EtsiTs103759Data", plain),
            ("report-signed", "EtsiTs103759Data", data),
            ("report-sealed", "EtsiTs103759Data", sealed),
        ]
    }
}

fn ticket(aa: &mut (CertificateBuf, SoftwareKey), key: &SoftwareKey, permissions: &str) -> SignerCertificate {
    let permissions: Permissions = permissions.parse().unwrap();
    let period = ValidityPeriod { start: Time32(NOW.time32().0 - 100), duration: Duration::Hours(168) };
    let indicator = VerificationKeyIndicator::VerificationKey(key.public_point().to_verification_key());
    let mut tbs = ToBeSignedCertificate::new(CertificateId::None, period, indicator);
    tbs.app_permissions = Some(permissions.to_certificate());
    let issued = issue(tbs, Issuer::Certificate(&aa.0.view()), &mut aa.1).unwrap();
    SignerCertificate::new(issued).unwrap()
}

fn signed(payload: &[u8], psid: Psid, at: Time64, form: SignerForm<'_>, key: &mut SoftwareKey) -> Vec<u8> {
    let mut header_info = HeaderInfo::new(psid);
    header_info.generation_time = Some(at);
    let payload = SignedDataPayload::unsecured(payload);
    sign(&ToBeSignedData { payload, header_info, received: Default::default() }, form, key).unwrap()
}

#[test]
fn what_a_station_found_is_taken_with_who_did_it() {
    let mut world = World::new();
    let finding = world.finding();
    use CamObservation::*;
    assert_eq!(finding.observations, [PositionChange, SpeedOfKind, SpeedChange]);
    let report = finding.report(HERE, NOW).unwrap();
    let sealed = world.send(&report, NOW);
    let taken = world.take(&sealed, NOW.plus_us(86_400_000_000)).unwrap();
    assert_eq!((taken.subject, taken.reporter), (world.liar.0.id(), world.reporter.0.id()));
    assert_eq!((taken.observations.as_slice(), taken.made_at), (&[PositionChange, SpeedOfKind, SpeedChange][..], NOW));
    // Encrypted anew it is the same report.
    let again = seal_report(&taken.signed, &world.ma, &mut world.rng).unwrap();
    assert_ne!(again, sealed);
    assert_eq!(world.take(&again, NOW).unwrap().id, taken.id);
}

#[test]
fn every_form_of_a_report_reads_back_byte_for_byte() {
    for (name, kind, bytes) in World::new().corpus() {
        let again = match kind {
            "EtsiTs103759Mbr" => MisbehaviourReport::from_coer(&bytes).unwrap().to_coer().unwrap(),
            _ => MisbehaviourData::from_coer(&bytes).unwrap().to_coer().unwrap(),
        };
        assert_eq!(again, bytes, "{name}");
        for len in 0..bytes.len() {
            assert!(MisbehaviourData::from_coer(&bytes[..len]).is_err(), "{name} cut at {len}");
        }
    }
    // Another version is another protocol, and a fourth wrapping is none.
    for bytes in [&[1, 0x80][..], &[3, 0x83, 0], &[]] {
        assert!(MisbehaviourData::from_coer(bytes).is_err(), "{bytes:?}");
    }
}

#[test]
fn a_report_that_is_changed_in_any_byte_is_refused() {
    let mut world = World::new();
    let report = world.finding().report(HERE, NOW).unwrap();
    let sealed = world.send(&report, NOW);
    let id = world.take(&sealed, NOW).unwrap().id;
    let mut taken = 0;
    for at in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        if let Ok(examined) = world.take(&changed, NOW) {
            // The sign of the sender's point, which counts for nothing in a shared x.
            assert_eq!(examined.id, id, "byte {at}");
            taken += 1;
        }
    }
    assert_eq!(taken, 1);
}

/// Has the reporter send another report than the one that was found, and gives the refusal.
fn refusal(world: &mut World, change: impl FnOnce(&mut Observed<'_>)) -> ReportRefusal {
    let report = world.finding().report(HERE, NOW).unwrap();
    let mut report = MisbehaviourReport::from_coer(&report).unwrap();
    let ReportContent::Cam(observed) = &mut report.content else { panic!("it is about CAMs") };
    change(observed);
    let report = report.to_coer().unwrap();
    let sealed = world.send(&report, NOW);
    world.take(&sealed, NOW).unwrap_err()
}

#[test]
fn what_the_evidence_does_not_show_is_refused() {
    let mut world = World::new();
    let acceleration = CamObservation::Acceleration;
    let said = refusal(&mut world, |observed| {
        observed.observations[0] = ObservationsByTarget { target: 5, observations: vec![(4, &[])] };
    });
    assert_eq!(said, ReportRefusal::NotShown(acceleration));
    // The message before is what shows a jump.
    let said = refusal(&mut world, |observed| {
        observed.evidence[0].pdus.remove(0);
        observed.evidence[0].subject_index = 0;
    });
    assert_eq!(said, ReportRefusal::NotShown(CamObservation::PositionChange));
    let said = refusal(&mut world, |observed| observed.observations[0].target = 9);
    assert_eq!(said, ReportRefusal::Observation { target: 9, id: 4 });
    let said =
        refusal(&mut world, |observed| observed.observations.iter_mut().for_each(|one| one.observations.clear()));
    assert!(said.to_string().contains("an observation is missing"), "{said}");
    let stream =
        |reason: ReportRefusal| matches!(reason, ReportRefusal::Evidence { reason: EvidenceFault::Stream, .. });
    assert!(stream(refusal(&mut world, |observed| observed.evidence[0].subject_index = 2)));
    assert!(stream(refusal(&mut world, |observed| observed.evidence[0].certificate = None)));
    assert!(stream(refusal(&mut world, |observed| observed.evidence[0].kind = 1)));
    let other = PduStream {
        kind: 2,
        pdus: vec![b"x"],
        certificate: None,
        subject_index: 0,
        extensions: ExtensionAdditions::default(),
    };
    assert!(stream(refusal(&mut world, |observed| observed.evidence.push(other))));
}

#[test]
fn evidence_that_nobody_signed_or_somebody_else_incriminates_nobody() {
    let mut world = World::new();
    let of = |said: ReportRefusal| match said {
        ReportRefusal::Evidence { index, reason } => (index, reason),
        other => panic!("{other}"),
    };
    // A message that was changed on its way.
    let mut forged = world.cam(false, NOW.plus_us(100_000), &payload(15_000, HERE.latitude + 30_000));
    let at = forged.windows(2).position(|window| window == 15_000_u16.to_be_bytes()).unwrap();
    forged[at] ^= 1;
    let forged: &'static [u8] = forged.leak();
    let (index, reason) = of(refusal(&mut world, |observed| observed.evidence[0].pdus[1] = forged));
    assert!(index == 1 && matches!(reason, EvidenceFault::NotGenuine(_)), "{reason}");
    // One by the reporter itself.
    let (ticket, key) = &mut world.reporter;
    let own: &'static [u8] =
        signed(&payload(15_000, HERE.latitude), Psid::CAM, NOW.plus_us(100_000), SignerForm::Certificate(ticket), key)
            .leak();
    assert_eq!(of(refusal(&mut world, |observed| observed.evidence[0].pdus[1] = own)), (1, EvidenceFault::OtherSender));
    // A certificate that no authority issued.
    let mut stranger = (world.aa.0.clone(), SoftwareKey::generate(Curve::NistP256, &mut world.rng));
    let key = world.liar.1.clone();
    world.liar = (ticket_of(&mut stranger, &key), key);
    let (index, reason) = of(refusal(&mut world, |_| ()));
    assert!(index == 0 && matches!(reason, EvidenceFault::NotGenuine(_)), "{reason}");
    // Something else that the sender signed.
    let mut world = World::new();
    let other: &'static [u8] = world.cam(false, NOW.plus_us(100_000), b"something else").leak();
    assert_eq!(of(refusal(&mut world, |observed| observed.evidence[0].pdus[1] = other)), (1, EvidenceFault::NoCam));
}

fn ticket_of(aa: &mut (CertificateBuf, SoftwareKey), key: &SoftwareKey) -> SignerCertificate {
    ticket(aa, key, "36:010000")
}

#[test]
fn who_may_not_report_is_refused() {
    let mut world = World::new();
    let report = world.finding().report(HERE, NOW).unwrap();
    let sealed = world.send(&report, NOW);
    let day_us = 86_400_000_000;
    assert!(world.take(&sealed, NOW.plus_us(31 * day_us)).is_ok());
    let late = world.take(&sealed, NOW.plus_us(31 * day_us + 2_000_000)).unwrap_err();
    assert!(matches!(late, ReportRefusal::Time { .. }), "{late}");
    assert!(matches!(world.take(&sealed, Time64(NOW.0 - 301_000_000)), Err(ReportRefusal::Time { .. })));
    // Whose ticket is over, and whose has no permission.
    let week = world.send(&report, NOW.plus_us(8 * day_us));
    let refused = world.take(&week, NOW.plus_us(8 * day_us)).unwrap_err();
    assert!(refused.to_string().contains("is outside its validity period"), "{refused}");
    let (ticket, key) = &mut world.liar;
    let by_liar = signed(&report, Psid::MISBEHAVIOUR, NOW, SignerForm::Certificate(ticket), key);
    let by_liar = seal_report(&by_liar, &world.ma, &mut world.rng).unwrap();
    let refused = world.take(&by_liar, NOW).unwrap_err();
    assert!(refused.to_string().ends_with("permission 38 is not granted"), "{refused}");
    // By identifier alone nobody knows who it is; in the clear everybody does.
    let (ticket, key) = &mut world.reporter;
    let by_digest = signed(&report, Psid::MISBEHAVIOUR, NOW, SignerForm::Digest(ticket), key);
    let sealed = seal_report(&by_digest, &world.ma, &mut world.rng).unwrap();
    assert_eq!(world.take(&sealed, NOW), Err(ReportRefusal::NoReporter));
    for (_, kind, bytes) in world.corpus() {
        if kind == "EtsiTs103759Data" && bytes[1] != 0x82 {
            assert_eq!(world.take(&bytes, NOW), Err(ReportRefusal::NotEncrypted));
        }
    }
    // Another application's.
    let mut other = MisbehaviourReport::from_coer(&report).unwrap();
    (other.aid, other.content) = (Psid::DENM, ReportContent::Other(&[]));
    let other = other.to_coer().unwrap();
    let sealed = world.send(&other, NOW);
    assert_eq!(world.take(&sealed, NOW), Err(ReportRefusal::Application(Psid::DENM)));
}
