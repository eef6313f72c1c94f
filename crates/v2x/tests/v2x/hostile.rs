//! Bombs: deep nesting, absurd lengths, endless lists, certificates that lead nowhere. Each is a named error, at once.

use chronoseal_v2x::coer::{Decode, DecodeErrorKind, Encode, Rules, Writer};
use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::message::{SignerForm, sign};
use chronoseal_v2x::types::*;
use chronoseal_v2x::verify::*;

use crate::stations::{NOW, World, hex};

fn both(bytes: &[u8]) -> [DecodeErrorKind; 2] {
    [Rules::STRICT, Rules::LENIENT].map(|rules| Ieee1609Dot2Data::from_coer_with(bytes, rules).unwrap_err().kind)
}

#[test]
fn refuses_messages_nested_too_deep() {
    // Signed data in signed data, without end: version, signedData, sha256, payload with data, again.
    let bomb = hex("0381 00 40").repeat(100_000);
    assert_eq!(both(&bomb), [DecodeErrorKind::TooDeep { depth_max: 8 }; 2]);
    let error = Ieee1609Dot2Data::from_coer(&bomb).unwrap_err();
    assert_eq!(error.offset, 32, "refused where the ninth begins: {error}");
    // As deep as the rules say is no bomb.
    let deep = [hex("0381 00 40").repeat(7), hex("0380 00")].concat();
    assert!(matches!(both(&deep)[0], DecodeErrorKind::Truncated { .. }));
}

#[test]
fn refuses_absurd_lengths() {
    let kinds = both(&hex("0380 84 ffffffff"));
    assert_eq!(kinds, [DecodeErrorKind::Truncated { needed: 0xffff_ffff, left: 0 }; 2]);
    assert_eq!(both(&hex("0380 85 0100000000")), [DecodeErrorKind::NumberTooLarge; 2]);
    assert_eq!(both(&[&hex("0380 ff")[..], &[0xff; 200]].concat()), [DecodeErrorKind::NumberTooLarge; 2]);
    assert_eq!(both(&hex("0382 08 ffffffffffffffff")), [DecodeErrorKind::TooManyElements { elements_max: 10_000 }; 2]);
    // Indefinite lengths do not exist.
    assert!(Ieee1609Dot2Data::from_coer(&hex("0380 80 0000")).is_err());
}

#[test]
fn refuses_lists_longer_than_the_bytes() {
    // 10,000 recipients, one of them there.
    let kinds = both(&hex("0382 022710 80 0011223344556677"));
    assert!(matches!(kinds[0], DecodeErrorKind::Truncated { .. }), "{kinds:?}");
}

#[test]
fn every_truncation_is_refused_as_such() {
    let mut world = World::new(Curve::NistP256);
    for with_certificate in [false, true] {
        let message = world.signed_cam(with_certificate);
        for len in 0..message.len() {
            let error = Ieee1609Dot2Data::from_coer(&message[..len]).unwrap_err();
            let is_cut = matches!(error.kind, DecodeErrorKind::Truncated { .. });
            assert!(is_cut && error.offset <= len, "{len}: {error}");
        }
        let longer = [&message[..], &[0]].concat();
        let error = Ieee1609Dot2Data::from_coer(&longer).unwrap_err();
        assert_eq!(error.kind, DecodeErrorKind::TrailingBytes { count: 1 });
    }
}

#[test]
fn refuses_chains_that_are_too_long() {
    let mut world = World::new(Curve::NistP256);
    let mut verifier = Verifier::new(VerifierConfig::default());
    verifier.trust_mut().insert_root(&world.root.view()).unwrap();
    let above = vec![world.authority.clone(); 200];
    let message = sign(&World::cam(b""), SignerForm::Chain(&world.ticket, &above), &mut world.ticket_key).unwrap();
    let (verdict, _) = verifier.verify_untimed(&message, &Context::at(NOW));
    let code = ResultCode::SpduCertificateChainChainWasTooLongForImplementation;
    assert_eq!(verdict.failure(), Some((CheckKind::Signer, code)));
}

#[test]
fn refuses_a_certificate_that_issued_itself_in_a_circle() {
    // The same certificate again and again: its issuer is not itself.
    let mut world = World::new(Curve::NistP256);
    let mut verifier = Verifier::new(VerifierConfig::default());
    verifier.trust_mut().insert_root(&world.root.view()).unwrap();
    let above = [world.ticket.certificate().clone()];
    let message = sign(&World::cam(b""), SignerForm::Chain(&world.ticket, &above), &mut world.ticket_key).unwrap();
    let (verdict, _) = verifier.verify_untimed(&message, &Context::at(NOW));
    let code = ResultCode::SpduCertificateChainNotEnoughInformationToConstructChain;
    assert_eq!(verdict.failure(), Some((CheckKind::Signer, code)));
}

#[test]
fn refuses_messages_longer_than_configured() {
    let mut world = World::new(Curve::NistP256);
    let message = world.signed_cam(true);
    let config = VerifierConfig { message_len_max: message.len() - 1, ..VerifierConfig::default() };
    let mut verifier = Verifier::new(config);
    let (verdict, _) = verifier.verify_untimed(&message, &Context::at(NOW));
    assert_eq!(verdict.failure(), Some((CheckKind::Encoding, ResultCode::SpduParsingInvalidInput)));
}

#[test]
fn refuses_keys_that_are_no_points() {
    let mut world = World::new(Curve::NistP256);
    let mut certificate = world.ticket.certificate().view();
    // No point has this x.
    certificate.to_be_signed.verify_key_indicator = VerificationKeyIndicator::VerificationKey(
        PublicVerificationKey::EcdsaNistP256(CurvePoint::CompressedY0([0xff; 32])),
    );
    let bytes = certificate.to_coer().unwrap();
    let mut tbs = Writer::new();
    tbs.raw(&world.signed_cam(true));
    let message = tbs.finish().unwrap();
    let at = message.windows(bytes.len()).position(|w| w[..8] == bytes[..8]).unwrap();
    let changed = [&message[..at], &bytes[..], &message[at + bytes.len()..]].concat();
    let mut verifier = Verifier::new(VerifierConfig::default());
    verifier.trust_mut().insert_root(&world.root.view()).unwrap();
    verifier.trust_mut().insert_authority(&world.authority.view()).unwrap();
    let (verdict, _) = verifier.verify_untimed(&changed, &Context::at(NOW));
    assert_eq!(verdict.failure(), Some((CheckKind::Signature, ResultCode::SpduCryptoVerificationFailure)));
}

#[test]
fn the_unknown_that_is_asked_for_stays_bounded() {
    let mut verifier = Verifier::new(VerifierConfig::default());
    let mut world = World::new(Curve::NistP256);
    let message = world.signed_cam(false);
    let at = message.len() - 66 - 8;
    for i in 0..1_000_u32 {
        let mut changed = message.clone();
        changed[at..at + 4].copy_from_slice(&i.to_be_bytes());
        changed[at + 4..at + 8].copy_from_slice(&i.to_be_bytes());
        let (verdict, _) = verifier.verify_untimed(&changed, &Context::at(NOW));
        assert_eq!(verdict.result(), ResultCode::SpduParsingCertificateNotFound);
    }
    assert_eq!(verifier.peers_mut().inline_request(NOW).len(), 8 * 3);
}
