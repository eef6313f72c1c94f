//! What is signed, written down a second time by hand: encoder and checker are the same code, so both would be wrong alike.

use std::vec::Vec;

use chronoseal_crypto::suite::FourQ;
use sha2::{Digest, Sha256};

use super::*;

const EXCHANGE: ExchangeId = ExchangeId { first: Address(1), second: Address(2), result: Address(9) };
const STAMP: Stamp = Stamp { epoch: 0x0102_0304, time_ms: 0x0506_0708 };
const ACTING: [Address; 2] = [Address(1), Address(2)];

fn exchange(profile: Profile, stamp: Stamp) -> Exchange {
    let part = Part::Active { is_own: true };
    Exchange::new(ExchangeSetup { id: EXCHANGE, side: Side::First, part, acting: ACTING, stamp, profile })
}

fn secret(byte: u8) -> <FourQ as Suite>::Secret {
    FourQ::secret(&[byte; 32])
}

fn share(byte: u8) -> Share {
    FourQ::share(&secret(byte))
}

/// Plays an exchange of the secrets 1 and 2 up to the check of the peer's signature. The texts of its own signature and of
/// the peer's.
fn signed(profile: Profile, stamp: Stamp) -> [Vec<u8>; 2] {
    let mut exchange = exchange(profile, stamp);
    let own = Secret::from_array([1; 32]);
    let mut own_text = Vec::new();
    assert!(exchange.on_share(Side::Second, share(2).as_bytes()));
    let confirmation = Text::of(&[&[7; SIGNATURE_LEN], &[8; TAG_LEN]]);
    assert!(exchange.on_confirmation(Side::Second, &confirmation));
    loop {
        let need = exchange.need(None).unwrap_or_else(|reason| panic!("{}", reason.name()));
        let Need::Job(request) = need else { panic!("it is never idle here") };
        let response = match request {
            Request::KeyExchangeCalcPubVal { .. } => Response::PublicValue { private: own.clone(), share: share(1) },
            Request::KeyExchangeCalcSecret { peer, .. } => Response::Agreed(FourQ::agree(&secret(1), peer.as_bytes())),
            Request::SignatureGenerate { text } => {
                own_text = text.as_bytes().to_vec();
                Response::Signature([9; SIGNATURE_LEN])
            }
            Request::Encrypt { text, .. } | Request::Decrypt { text, .. } => Response::Ciphered(text),
            Request::MacGenerate { .. } => Response::Tag([3; TAG_LEN]),
            Request::MacVerify { .. } => Response::TagVerified(true),
            Request::SignatureVerify { signer, text, signature } => {
                assert_eq!((signer, signature), (Address(2), [7; SIGNATURE_LEN]));
                return [own_text, text.as_bytes().to_vec()];
            }
            Request::RandomGenerate => panic!("an exchange draws nothing by itself"),
        };
        let effect = exchange.on_response::<FourQ>(response).unwrap_or_else(|reason| panic!("{}", reason.name()));
        if let Effect::Send(step, _) = effect {
            exchange.on_transmitted(step);
        }
    }
}

/// SHA-256 over label, suite, identifier of the request, stamp, who acts and both shares, each behind its length.
fn transcript_by_hand(stamp: Stamp) -> Vec<u8> {
    let identifier = EXCHANGE.message(Step::Orchestration).can_id().raw().to_be_bytes();
    let stamp = [stamp.epoch.to_be_bytes(), stamp.time_ms.to_be_bytes()].concat();
    let (first, second) = (share(1), share(2));
    let mut hash = Sha256::new();
    for part in [
        &b"chronoseal/1 transcript"[..],
        FourQ::NAME.as_bytes(),
        &identifier,
        &stamp,
        &[1, 2],
        first.as_bytes(),
        second.as_bytes(),
    ] {
        hash.update([part.len() as u8]);
        hash.update(part);
    }
    hash.finalize().to_vec()
}

#[test]
fn a_hardened_confirmation_signs_its_role_and_the_whole_transcript() {
    let transcript = transcript_by_hand(STAMP);
    let by_hand = |side: u8| [&b"chronoseal/1 confirmation"[..], &[side], &transcript].concat();
    assert_eq!(signed(Profile::Hardened, STAMP), [by_hand(0), by_hand(1)]);
    // So one of another run, of the same shares, is not the same.
    let later = Stamp { epoch: STAMP.epoch + 1, ..STAMP };
    assert_ne!(signed(Profile::Hardened, later), signed(Profile::Hardened, STAMP));
}

#[test]
fn a_confirmation_as_published_signs_both_shares_and_nothing_else() {
    let (first, second) = (share(1), share(2));
    let both = |one: &Share, other: &Share| [one.as_bytes(), other.as_bytes()].concat();
    assert_eq!(signed(Profile::AsPublished, STAMP), [both(&first, &second), both(&second, &first)]);
}
