//! Implicit certificates and butterfly keys: the vectors of CAMP (github.com/conz27/crypto-test-vectors, implicit.txt and
//! bfkeyexp.txt), then a station that lives by one.

use chronoseal_v2x::certificate::*;
use chronoseal_v2x::crypto::*;
use chronoseal_v2x::message::{SignerCertificate, SignerForm, sign};
use chronoseal_v2x::types::*;
use chronoseal_v2x::verify::*;

use crate::stations::{NOW, World, hex, rng, ticket_contents};

fn key(text: &str) -> SoftwareKey {
    SoftwareKey::from_scalar(Curve::NistP256, &hex(text)).unwrap()
}

#[test]
fn reconstructs_the_keys_of_camps_vectors() {
    let request = key("1384C31D6982D52BCA3BED8A7E60F52FECDAB44E5C0EA166815A8159E09FFB42");
    let issuer = key("97D1368E8C07A54F66C9DCE284BA76CAF4178206614F809A4EB43CB3106AA60E");
    // k, certificate with its point, r, dU, QUx.
    let vectors = [
        [
            "E2F9CBCEC3F28F7DFBEF044732C41119816C62909FB720B091FB8F380F1B70DC",
            "54686973206973206120746573742100024a1890e30a584208dad3838d0c5cecb1ed6b01d48893c684c59908f5b38e3d82",
            "1FA86893A1AABE8A79F63360F4B6D5617380B4D84B8C260DD8D3D64163C874FD",
            "C8599ECA52B58D691B2BB609CDB53DDD9F49C0D635AB652EC79C546914590274",
            "6E89D7C0F910AAA4AD3137EBE01EF781C0BAB6748318D66FE714471F7F860EB2",
        ],
        [
            "3396DA2ECBFC6E5F231E2C80EB27AB84F09DD5E724F8652ADE86E60BC800EAD7",
            "54686973206973206120746573742100036694d1f99a18cbe8035e053b2e56c12eecb94e9d5dba88e07e5b50cbe309103e",
            "001CF7456A157A90FCEA0634699E7A3644FEBFB86C119E6A9686928B8E3F7EF0",
            "C9CCC8E83AB985C436A8BC09C0CAA8A5AC627DD7BC9336A5E8AB81B77D3A031D",
            "8ED40E9601BEEB146A4A0AB96D20EE0FE4CA1E389397F2B1CC67AD9F5B0F579E",
        ],
    ];
    for [k, certificate, r, private, x] in vectors {
        let ephemeral = key(k);
        let point = reconstruction_point(&request.public_point(), &ephemeral).unwrap();
        assert_eq!(point.to_sec1_compressed(), hex(certificate)[16..]);
        // In these vectors what is hashed is the certificate alone.
        let hash: [u8; 32] = HashValue::sha256(&hex(certificate)).as_bytes().try_into().unwrap();
        let value = reconstruction_value(&hash, &ephemeral, &issuer).unwrap();
        assert_eq!(value[..], hex(r));
        let reconstructed = reconstruct_private(&hash, &request, &value).unwrap();
        assert_eq!(reconstructed.scalar(), hex(private));
        let public = reconstruct_public(&hash, &point, &issuer.public_point()).unwrap();
        assert_eq!(public, reconstructed.public_point());
        assert_eq!(public.x(), hex(x));
    }
}

#[test]
fn expands_the_butterfly_keys_of_camps_vectors() {
    // Use, AES key, seed, its x, expanded key, its x.
    let vectors = [
        (
            ButterflyUse::Certificate,
            [
                "121D14216715E11D2D3787434A673B1B",
                "D418760F0CB2DCB856BC3C7217AD3AA36DB6742AE1DB655A3D28DF88CBBF84E1",
                "ee9cc7fbd9edecea41f7c8bd258e8d2e988e75bd069addca1e5a38e534ac6818",
                "4D2093ED3EA27B15FCBD61806FFA13B36AE367F88C52397824A9BF67283D8CEE",
                "2b18f3d93c4df3d9d1490e3a9ba5a0de9cfa73eddb95408bc1f2bf60cb3cf313",
            ],
        ),
        (
            ButterflyUse::Encryption,
            [
                "F9FCE2371B4523C0A75FC352BA7EBD8D",
                "4624A6F9F6BC6BD088A71ED97B3AEE983B5CC2F574F64E96A531D2464137049F",
                "121aa495c6b2c07a2b2daec36bd207d6620d7e6081050df5de3e9696868fcdca",
                "E77A422D7415EF1BBB8A8310E7D4039AC9EF9C2EA28022C8010C1A611E72A7B6",
                "b568fd55a7114254118e7463e85459bdd3c091342625b4a929541151bb8286be",
            ],
        ),
    ];
    let (i, j) = (0x217D_79E1, 0x11);
    for (usage, [aes, seed, seed_x, private, x]) in vectors {
        let aes = hex(aes).try_into().unwrap();
        let seed = key(seed);
        assert_eq!(seed.public_point().x(), hex(seed_x));
        let expanded = expand_private(&seed, &aes, usage, i, j).unwrap();
        assert_eq!(expanded.scalar(), hex(private));
        let public = expand_public(&seed.public_point(), &aes, usage, i, j).unwrap();
        assert_eq!(public, expanded.public_point());
        assert_eq!(public.x(), hex(x));
        let next = expand_public(&seed.public_point(), &aes, usage, i, j + 1).unwrap();
        assert_ne!(next, public);
    }
}

#[test]
fn an_implicit_ticket_signs_and_verifies_and_no_changed_one_does() {
    let world = World::new(Curve::NistP256);
    let authority = world.authority.view();
    let hash = certificate_hash(&authority, CertificateForm::Canonical).unwrap();
    let issuer_key = world.authority_key.public_point();
    // The request key stems from a butterfly: the authority never sees the private half.
    let seed = SoftwareKey::generate(Curve::NistP256, &mut rng(41));
    let aes = [3; 16];
    let public = expand_public(&seed.public_point(), &aes, ButterflyUse::Certificate, 1, 2).unwrap();
    let contents = ticket_contents(&seed);
    let (ticket, value) = issue_implicit(contents, &authority, &world.authority_key, &public, &mut rng(42)).unwrap();
    let view = ticket.view();
    assert_eq!(view.r#type, CertificateType::Implicit);
    assert!(ticket.as_bytes().len() + 60 < world.ticket.certificate().as_bytes().len());

    let request = expand_private(&seed, &aes, ButterflyUse::Certificate, 1, 2).unwrap();
    let mut key = implicit_private_key(&view, &hash, &issuer_key, &request, &value).unwrap();
    let wrong = implicit_private_key(&view, &hash, &issuer_key, &seed, &value);
    assert_eq!(wrong.unwrap_err(), CertificateError::WrongSignature);

    let signer = SignerCertificate::new(ticket).unwrap();
    let mut verifier = Verifier::new(VerifierConfig::default());
    verifier.trust_mut().insert_root(&world.root.view()).unwrap();
    verifier.trust_mut().insert_authority(&authority).unwrap();
    let message = sign(&World::cam(b"first"), SignerForm::Certificate(&signer), &mut key).unwrap();
    let context = Context::at(NOW);
    let certificate_at =
        message.windows(40).position(|window| *window == signer.certificate().as_bytes()[..40]).unwrap();
    let range = certificate_at..certificate_at + signer.certificate().as_bytes().len();
    for at in range {
        let mut changed = message.clone();
        changed[at] ^= 1;
        assert!(!verifier.verify_untimed(&changed, &context).0.is_accepted(), "byte {at}");
    }
    assert!(verifier.neighbours().is_empty());
    assert!(verifier.verify_untimed(&message, &context).0.is_accepted());
    let second = sign(&World::cam(b"second"), SignerForm::Digest(&signer), &mut key).unwrap();
    assert!(verifier.verify_untimed(&second, &context).0.is_accepted());
}

#[test]
fn implicit_certificates_need_nist_p256() {
    let world = World::new(Curve::BrainpoolP256r1);
    let seed = SoftwareKey::generate(Curve::NistP256, &mut rng(43));
    let refused = issue_implicit(
        ticket_contents(&seed),
        &world.authority.view(),
        &world.authority_key,
        &seed.public_point(),
        &mut rng(44),
    );
    assert!(matches!(refused, Err(CertificateError::Key(KeyError::CurveMismatch { .. }))));
}
