//! One of each that this crate encodes, for other people's decoders.
//!
//! The corpus is written to `CHRONOSEAL_V2X_CORPUS`, or to a folder that is removed again. Where `CHRONOSEAL_PEERS_PYTHON` names a
//! Python with pycrate and asn1tools, and `CHRONOSEAL_IEEE_ASN1` the folder of the IEEE 1609.2 modules, `peers/v2x/check.py` reads
//! it; the guide `docs/guide/v2x-peers.md` says how to set them up.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_types,
    reason = "a test that writes files for other programs"
)]

mod authorities;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use chronoseal_v2x::certificate::{Issuer, issue, issue_implicit};
use chronoseal_v2x::coer::{Decode, Encode};
use chronoseal_v2x::crypto::{Curve, SoftwareKey};
use chronoseal_v2x::message::{Recipient, SignerCertificate, SignerForm, encrypt, sign};
use chronoseal_v2x::types::*;

use crate::stations::{NOW, World, rng, ticket_contents};

/// Encodings by `NAME.TYPE`.
pub(crate) type Corpus = BTreeMap<String, Vec<u8>>;

fn add(corpus: &mut Corpus, name: &str, kind: &str, bytes: &[u8]) {
    assert!(corpus.insert(format!("{name}.{kind}"), bytes.to_vec()).is_none(), "two are called {name}");
}

fn certificates(corpus: &mut Corpus) {
    for curve in Curve::ALL {
        let world = World::new(curve);
        add(corpus, &format!("root-{curve}"), "Certificate", world.root.as_bytes());
        add(corpus, &format!("authority-{curve}"), "Certificate", world.authority.as_bytes());
        add(corpus, &format!("ticket-{curve}"), "Certificate", world.ticket.certificate().as_bytes());
    }
    let world = World::new(Curve::NistP256);
    let here = TwoDLocation { latitude: 481_351_253, longitude: 115_819_806 };
    let there = TwoDLocation { latitude: 480_000_000, longitude: 116_000_000 };
    let corner = TwoDLocation { latitude: 480_000_000, longitude: 115_000_000 };
    let regions = [
        ("circle", GeographicRegion::Circular(CircularRegion { center: here, radius: 900 })),
        ("rectangle", GeographicRegion::Rectangular(vec![RectangularRegion { north_west: here, south_east: there }])),
        ("polygon", GeographicRegion::Polygonal(vec![here, there, corner])),
        ("country", GeographicRegion::Identified(vec![IdentifiedRegion::CountryOnly(276)])),
    ];
    let key = SoftwareKey::generate(Curve::NistP256, &mut rng(9));
    for (name, region) in regions {
        let mut tbs = ticket_contents(&key);
        tbs.region = Some(region);
        let mut authority_key = world.authority_key.clone();
        let ticket = issue(tbs, Issuer::Certificate(&world.authority.view()), &mut authority_key).unwrap();
        add(corpus, &format!("ticket-in-{name}"), "Certificate", ticket.as_bytes());
    }
    let mut linked = ticket_contents(&key);
    linked.id = CertificateId::LinkageData(LinkageData { i_cert: 3, linkage_value: [7; 9], group_linkage_value: None });
    let mut authority_key = world.authority_key.clone();
    let ticket = issue(linked, Issuer::Certificate(&world.authority.view()), &mut authority_key).unwrap();
    add(corpus, "ticket-linkage", "Certificate", ticket.as_bytes());
    let (implicit, _) = issue_implicit(
        ticket_contents(&key),
        &world.authority.view(),
        &world.authority_key,
        &key.public_point(),
        &mut rng(10),
    )
    .unwrap();
    add(corpus, "ticket-implicit", "Certificate", implicit.as_bytes());
}

fn by_digest(ticket: &SignerCertificate) -> SignerForm<'_> {
    SignerForm::Digest(ticket)
}

fn with_certificate(ticket: &SignerCertificate) -> SignerForm<'_> {
    SignerForm::Certificate(ticket)
}

fn messages(corpus: &mut Corpus) {
    const DATA: &str = "Ieee1609Dot2Data";
    for curve in Curve::ALL {
        let mut world = World::new(curve);
        add(corpus, &format!("cam-digest-{curve}"), DATA, &world.signed_cam(false));
        add(corpus, &format!("cam-certificate-{curve}"), DATA, &world.signed_cam(true));
    }
    let mut world = World::new(Curve::NistP256);
    let mut signed =
        |name: &str, form: fn(&SignerCertificate) -> SignerForm<'_>, change: &dyn Fn(&mut ToBeSignedData<'static>)| {
            let mut tbs = World::cam(b"a message");
            change(&mut tbs);
            let bytes = sign(&tbs, form(&world.ticket), &mut world.ticket_key).unwrap();
            add(corpus, name, DATA, &bytes);
            bytes
        };
    signed("denm", with_certificate, &|tbs| {
        tbs.header_info.psid = Psid::DENM;
        tbs.header_info.generation_location =
            Some(ThreeDLocation { latitude: 481_351_253, longitude: 115_819_806, elevation: 9_000 });
    });
    signed("cam-asking", by_digest, &|tbs| {
        tbs.header_info.inline_p2pcd_request = HashedId3List::new(&[1, 2, 3, 4, 5, 6]);
    });
    signed("with-expiry", by_digest, &|tbs| {
        tbs.header_info.psid = Psid::VAM;
        tbs.header_info.expiry_time = Some(NOW.plus_us(5_000_000));
    });
    signed("self-signed", |_| SignerForm::SelfSigned, &|_| ());
    let cam = world.signed_cam(false);
    let authority = World::new(Curve::BrainpoolP256r1).authority;
    let both = [Recipient::Certificate(&world.authority.view()), Recipient::Certificate(&authority.view())];
    for (name, recipients) in [("encrypted-nist", &both[..1]), ("encrypted-both", &both[..])] {
        let (encrypted, _) = encrypt(&cam, recipients, &mut rng(11)).unwrap();
        add(corpus, name, DATA, &encrypted);
    }
    let mut tbs = World::cam(b"carries another's");
    tbs.header_info.requested_certificate = Some(Box::new(world.authority.view()));
    let carrying = sign(&tbs, SignerForm::Certificate(&world.ticket), &mut world.ticket_key).unwrap();
    add(corpus, "cam-carrying", DATA, &carrying);
}

/// Everything.
fn corpus() -> Corpus {
    let mut corpus = Corpus::new();
    certificates(&mut corpus);
    messages(&mut corpus);
    authorities::exchanges(&mut corpus);
    for (name, kind, bytes) in crate::misbehaviour::World::new().corpus() {
        add(&mut corpus, name, kind, &bytes);
    }
    corpus
}

#[test]
fn the_corpus_is_what_this_crate_reads_and_writes_again() {
    let corpus = corpus();
    for (name, bytes) in &corpus {
        let again = match name.rsplit('.').next().unwrap() {
            "Certificate" => Certificate::from_coer(bytes).unwrap().to_coer().unwrap(),
            "Ieee1609Dot2Data" => Ieee1609Dot2Data::from_coer(bytes).unwrap().to_coer().unwrap(),
            _ => continue,
        };
        assert_eq!(&again, bytes, "{name}");
    }
    assert!(corpus.len() > 50, "{}", corpus.len());
}

#[test]
fn pycrate_and_asn1tools_read_and_write_the_corpus() {
    let named = std::env::var_os("CHRONOSEAL_V2X_CORPUS").map(std::path::PathBuf::from);
    let own = std::env::temp_dir().join(format!("chronoseal-corpus-{}", std::process::id()));
    let folder = named.clone().unwrap_or_else(|| own.clone());
    std::fs::create_dir_all(&folder).unwrap();
    for (name, bytes) in corpus() {
        std::fs::write(folder.join(format!("{name}.oer")), bytes).unwrap();
    }
    let checked = check(&folder);
    if named.is_none() {
        std::fs::remove_dir_all(&own).unwrap();
    }
    match checked {
        Some(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            println!("{text}");
            assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
            assert!(text.lines().filter(|line| line.ends_with("same")).count() > 100, "{text}");
        }
        // Peers are for developers: no check of the project needs them.
        None => println!("skipped: no Python with pycrate and asn1tools in CHRONOSEAL_PEERS_PYTHON"),
    }
}

fn check(corpus: &Path) -> Option<std::process::Output> {
    let python = std::env::var_os("CHRONOSEAL_PEERS_PYTHON")?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/v2x/check.py");
    let mut command = Command::new(python);
    command.arg(script).arg(corpus);
    if let Some(folder) = std::env::var_os("CHRONOSEAL_IEEE_ASN1") {
        command.arg("--ieee").arg(folder);
    }
    Some(command.output().unwrap())
}
