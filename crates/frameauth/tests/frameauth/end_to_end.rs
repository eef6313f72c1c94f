//! A stream keeps its protection from its sender to its last receiver, whatever wires lie between.

use chronoseal_core::DiscardReason;
use chronoseal_crypto::{MacAlgorithm, MacKey};
use chronoseal_frameauth::{DataId, Freshness, Moment, Opener, Profile, Sealer};
use proptest::prelude::*;

use crate::pair::{any_profile, key, key_for, seal};

#[test]
fn what_was_sealed_on_one_wire_opens_behind_another() {
    let profile = Profile::new(MacAlgorithm::HmacSha256, 64, Freshness::Truncated { bits: 12 }, 4).unwrap();
    let name = DataId::name(b"brake pressure, front left").unwrap();
    let sealer = Sealer::new(profile, &key(), name).unwrap();
    let pdu = seal(&sealer, b"1234", 1);
    // A gateway takes the PDU out of one frame and puts it into another; it has no key and needs none.
    let can_fd_data: [u8; 16] = std::array::from_fn(|i| pdu.get(i).copied().unwrap_or(0xcc));
    let ethernet_payload = can_fd_data[..profile.secured_len(4)].to_vec();
    let mut opener = Opener::new(profile, &key(), name).unwrap();
    assert_eq!(opener.open(&ethernet_payload, Moment::Unknown).unwrap().payload, b"1234");
    assert_eq!(opener.open(&can_fd_data[..profile.secured_len(4)], Moment::Unknown), Err(DiscardReason::Replayed));
}

#[test]
fn the_tag_covers_a_name_with_its_length_before_it() {
    let profile = Profile::new(MacAlgorithm::HmacSha256, 256, Freshness::Full, 1).unwrap();
    let sealer = Sealer::new(profile, &key(), DataId::name(b"brake").unwrap()).unwrap();
    let covered = [b"\xff\xff\x00\x05brake", &b"payload"[..], &7u64.to_be_bytes()].concat();
    assert_eq!(sealer.work(7).len as usize, covered.len());
    let mut tag = [0; 32];
    MacKey::new(MacAlgorithm::HmacSha256, key().expose()).unwrap().compute(0, &[&covered], &mut tag).unwrap();
    assert_eq!(seal(&sealer, b"payload", 7)[15..], tag);
}

proptest! {
    #[test]
    fn opens_under_its_own_identity_only(
        profile in any_profile(64),
        names in prop::collection::btree_set(prop::collection::vec(any::<u8>(), 1..=64), 2..5),
        numbers in prop::collection::btree_set(0u16..u16::MAX, 1..4),
        payload in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let names = names.iter().map(|name| DataId::name(name).unwrap());
        let ids: Vec<DataId> = names.chain(numbers.into_iter().map(DataId::number)).collect();
        for sender in &ids {
            let pdu = seal(&Sealer::new(profile, &key_for(profile.mac()), *sender).unwrap(), &payload, 1);
            for receiver in &ids {
                let mut opener = Opener::new(profile, &key_for(profile.mac()), *receiver).unwrap();
                let opened = opener.open(&pdu, Moment::Count(1)).map(|opened| opened.payload.to_vec());
                let expected = if sender == receiver { Ok(payload.clone()) } else { Err(DiscardReason::TagMismatch) };
                prop_assert_eq!(opened, expected);
            }
        }
    }
}
