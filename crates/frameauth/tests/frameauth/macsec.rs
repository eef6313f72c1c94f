//! MACsec against the test vectors of IEEE 802.1AE-2018 annex C, and what its receiver refuses.
//!
//! The vectors are those of C.1 to C.8 for GCM-AES-128 and GCM-AES-256 with 32-bit packet numbers: frames of 54 to 79 bytes,
//! each with integrity or confidentiality, with and without an SCI. They were published first by K. Randall as
//! `bn-randall-test-vectors-0511` of the IEEE 802.1 working group. Keys, nonces and results were taken from the test data of
//! public GCM implementations, which have them field by field; the frames are put together from the fields.

use chronoseal_core::DiscardReason;
use chronoseal_frameauth::macsec::{
    CipherSuite, Confidentiality, ProtectError, ReceiveSa, SaError, SecureChannel, TransmitSa,
};
use chronoseal_wire::macsec::{ICV_LEN, Sci, SecTag};
use proptest::prelude::*;

struct Vector {
    clause: &'static str,
    suite: CipherSuite,
    key: &'static str,
    sci: &'static str,
    frame: &'static str,
    protected: &'static str,
}

const VECTORS: [Vector; 16] = [
    Vector {
        clause: "C.1",
        suite: CipherSuite::GcmAes128,
        key: "ad7a2bd03eac835a6f620fdcb506b345",
        sci: "12153524c0895e81",
        frame: "d609b1f056637a0d46df998d08000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f30313233340001",
        protected: "d609b1f056637a0d46df998d88e5222ab2c2846512153524c0895e8108000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f30313233340001f09478a9b09007d06f46e9b6a1da25dd",
    },
    Vector {
        clause: "C.1",
        suite: CipherSuite::GcmAes256,
        key: "e3c08a8f06c6e3ad95a70557b23f75483ce33021a9c72b7025666204c69c0b72",
        sci: "12153524c0895e81",
        frame: "d609b1f056637a0d46df998d08000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f30313233340001",
        protected: "d609b1f056637a0d46df998d88e5222ab2c2846512153524c0895e8108000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333400012f0bc5af409e06d609ea8b7d0fa5ea50",
    },
    Vector {
        clause: "C.2",
        suite: CipherSuite::GcmAes128,
        key: "ad7a2bd03eac835a6f620fdcb506b345",
        sci: "12153524c0895e81",
        frame: "d609b1f056637a0d46df998d08000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a0002",
        protected: "d609b1f056637a0d46df998d88e52e00b2c2846512153524c0895e81701afa1cc039c0d765128a665dab69243899bf7318ccdc81c9931da17fbe8edd7d17cb8b4c26fc81e3284f2b7fba713d4f8d55e7d3f06fd5a13c0c29b9d5b880",
    },
    Vector {
        clause: "C.2",
        suite: CipherSuite::GcmAes256,
        key: "e3c08a8f06c6e3ad95a70557b23f75483ce33021a9c72b7025666204c69c0b72",
        sci: "12153524c0895e81",
        frame: "d609b1f056637a0d46df998d08000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a0002",
        protected: "d609b1f056637a0d46df998d88e52e00b2c2846512153524c0895e81e2006eb42f5277022d9b19925bc419d7a592666c925fe2ef718eb4e308efeaa7c5273b394118860a5be2a97f56ab78365ca597cdbb3edb8d1a1151ea0af7b436",
    },
    Vector {
        clause: "C.3",
        suite: CipherSuite::GcmAes128,
        key: "071b113b0ca743fecccf3d051f737382",
        sci: "f0761e8dcd3d0001",
        frame: "e20106d7cd0df0761e8dcd3d08000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a0003",
        protected: "e20106d7cd0df0761e8dcd3d88e5400076d457ed08000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a00030c017bc73b227dfcc9bafa1c41acc353",
    },
    Vector {
        clause: "C.3",
        suite: CipherSuite::GcmAes256,
        key: "691d3ee909d7f54167fd1ca0b5d769081f2bde1aee655fdbab80bd5295ae6be7",
        sci: "f0761e8dcd3d0001",
        frame: "e20106d7cd0df0761e8dcd3d08000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a0003",
        protected: "e20106d7cd0df0761e8dcd3d88e5400076d457ed08000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a000335217c774bbc31b63166bcf9d4abed07",
    },
    Vector {
        clause: "C.4",
        suite: CipherSuite::GcmAes128,
        key: "071b113b0ca743fecccf3d051f737382",
        sci: "f0761e8dcd3d0001",
        frame: "e20106d7cd0df0761e8dcd3d08000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f30313233340004",
        protected: "e20106d7cd0df0761e8dcd3d88e54c2a76d457ed13b4c72b389dc5018e72a171dd85a5d3752274d3a019fbcaed09a425cd9b2e1c9b72eee7c9de7d52b3f3d6a5284f4a6d3fe22a5d6c2b960494c3",
    },
    Vector {
        clause: "C.4",
        suite: CipherSuite::GcmAes256,
        key: "691d3ee909d7f54167fd1ca0b5d769081f2bde1aee655fdbab80bd5295ae6be7",
        sci: "f0761e8dcd3d0001",
        frame: "e20106d7cd0df0761e8dcd3d08000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f30313233340004",
        protected: "e20106d7cd0df0761e8dcd3d88e54c2a76d457edc1623f55730c93533097addad25664966125352b43adacbd61c5ef3ac90b5bee929ce4630ea79f6ce51912af39c2d1fdc2051f8b7b3c9d397ef2",
    },
    Vector {
        clause: "C.5",
        suite: CipherSuite::GcmAes128,
        key: "013fe00b5f11be7f866d0cbbc55a7a90",
        sci: "7cfde9f9e33724c6",
        frame: "84c5d513d2aaf6e5bbd2727708000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f0005",
        protected: "84c5d513d2aaf6e5bbd2727788e523008932d6127cfde9f9e33724c608000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f0005217867e50c2dad74c28c3b50abdf695a",
    },
    Vector {
        clause: "C.5",
        suite: CipherSuite::GcmAes256,
        key: "83c093b58de7ffe1c0da926ac43fb3609ac1c80fee1b624497ef942e2f79a823",
        sci: "7cfde9f9e33724c6",
        frame: "84c5d513d2aaf6e5bbd2727708000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f0005",
        protected: "84c5d513d2aaf6e5bbd2727788e523008932d6127cfde9f9e33724c608000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f00056ee160e8faeca4b36c86b234920ca975",
    },
    Vector {
        clause: "C.6",
        suite: CipherSuite::GcmAes128,
        key: "013fe00b5f11be7f866d0cbbc55a7a90",
        sci: "7cfde9f9e33724c6",
        frame: "84c5d513d2aaf6e5bbd2727708000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b0006",
        protected: "84c5d513d2aaf6e5bbd2727788e52f008932d6127cfde9f9e33724c63a4de6fa32191014dbb303d92ee3a9e8a1b599c14d22fb080096e13811816a3c9c9bcf7c1b9b96da809204e29d0e2a7642bfd310a4837c816ccfa5ac23ab003988",
    },
    Vector {
        clause: "C.6",
        suite: CipherSuite::GcmAes256,
        key: "83c093b58de7ffe1c0da926ac43fb3609ac1c80fee1b624497ef942e2f79a823",
        sci: "7cfde9f9e33724c6",
        frame: "84c5d513d2aaf6e5bbd2727708000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b0006",
        protected: "84c5d513d2aaf6e5bbd2727788e52f008932d6127cfde9f9e33724c6110222ff8050cbece66a813ad09a73ed7a9a089c106b959389168ed6e8698ea902eb1277dbec2e68e473155a15a7daeed4a10f4e05139c23df00b3aadc71f0596a",
    },
    Vector {
        clause: "C.7",
        suite: CipherSuite::GcmAes128,
        key: "88ee087fd95da9fbf6725aa9d757b0cd",
        sci: "7ae8e2ca4ec50001",
        frame: "68f2e77696ce7ae8e2ca4ec508000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d0007",
        protected: "68f2e77696ce7ae8e2ca4ec588e541002e58495c08000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d000707922b8ebcf10bb2297588ca4c614523",
    },
    Vector {
        clause: "C.7",
        suite: CipherSuite::GcmAes256,
        key: "4c973dbc7364621674f8b5b89e5c15511fced9216490fb1c1a2caa0ffe0407e5",
        sci: "7ae8e2ca4ec50001",
        frame: "68f2e77696ce7ae8e2ca4ec508000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d0007",
        protected: "68f2e77696ce7ae8e2ca4ec588e541002e58495c08000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d000700bda1b7e87608bcbf470f12157f4c07",
    },
    Vector {
        clause: "C.8",
        suite: CipherSuite::GcmAes128,
        key: "88ee087fd95da9fbf6725aa9d757b0cd",
        sci: "7ae8e2ca4ec50001",
        frame: "68f2e77696ce7ae8e2ca4ec508000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748490008",
        protected: "68f2e77696ce7ae8e2ca4ec588e54d002e58495cc31f53d99e5687f7365119b832d2aae70741d593f1f9e2ab3455779b078eb8feacdfec1f8e3e5277f8180b43361f6512adb16d2e38548a2c719dba7228d84088f8757adb8aa788d8f65ad668be70e7",
    },
    Vector {
        clause: "C.8",
        suite: CipherSuite::GcmAes256,
        key: "4c973dbc7364621674f8b5b89e5c15511fced9216490fb1c1a2caa0ffe0407e5",
        sci: "7ae8e2ca4ec50001",
        frame: "68f2e77696ce7ae8e2ca4ec508000f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748490008",
        protected: "68f2e77696ce7ae8e2ca4ec588e54d002e58495cba8ae31bc506486d6873e4fce460e7dc57591ff00611f31c3834fe1c04ad80b66803afcf5b27e6333fa67c99da47c2f0ced68d531bd741a943cff7a6713bd02611cd7daa01d61c5c886dc1a8170107",
    },
];

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn frames_of_annex_c_are_protected_and_checked_to_the_byte() {
    for Vector { clause, suite, key, sci, frame, protected } in VECTORS {
        let (frame, protected, key) = (bytes(frame), bytes(protected), bytes(key));
        let tag = SecTag::parse(&protected).unwrap();
        let channel = SecureChannel {
            sci: Sci(bytes(sci).try_into().unwrap()),
            is_explicit: tag.sci.is_some(),
            is_end_station: tag.end_station,
            association: tag.association,
        };
        let confidentiality = if tag.encrypted { Confidentiality::From(0) } else { Confidentiality::None };
        let sender = TransmitSa::new(suite, channel, confidentiality, &key).unwrap();
        let mut buffer = [0; 256];
        buffer[..frame.len()].copy_from_slice(&frame);
        let len = sender.continued_at(tag.packet_number).protect(&mut buffer, frame.len()).unwrap();
        assert_eq!(buffer[..len], protected, "{clause} {}", suite.name());
        let mut receiver = ReceiveSa::new(suite, channel, confidentiality, &key, 0).unwrap();
        assert_eq!(receiver.check(&mut buffer, len), Ok(frame.len()), "{clause}");
        assert_eq!(buffer[..frame.len()], frame, "{clause}");
    }
}

const CHANNEL: SecureChannel =
    SecureChannel { sci: Sci([2, 0, 0, 0, 0, 1, 0, 1]), is_explicit: true, is_end_station: false, association: 0 };

fn pair(confidentiality: Confidentiality, replay_window: u32) -> (TransmitSa, ReceiveSa) {
    let (suite, key) = (CipherSuite::GcmAes128, [9; 16]);
    let sender = TransmitSa::new(suite, CHANNEL, confidentiality, &key).unwrap();
    (sender, ReceiveSa::new(suite, CHANNEL, confidentiality, &key, replay_window).unwrap())
}

fn protected(sender: &mut TransmitSa) -> Vec<u8> {
    let mut frame = vec![0x5a; 60 + sender.overhead_len()];
    let len = sender.protect(&mut frame, 60).unwrap();
    frame.truncate(len);
    frame
}

#[test]
fn with_a_window_of_0_packet_numbers_have_to_rise() {
    let (mut sender, mut receiver) = pair(Confidentiality::From(0), 0);
    let frames: Vec<_> = (0..3).map(|_| protected(&mut sender)).collect();
    let mut check = |frame: usize| receiver.check(&mut frames[frame].clone(), 92);
    assert_eq!(check(0), Ok(60));
    assert_eq!(check(0), Err(DiscardReason::FreshnessTooOld));
    assert_eq!(check(2), Ok(60), "what was lost in between is no matter");
    assert_eq!(check(1), Err(DiscardReason::FreshnessTooOld));
}

#[test]
fn within_a_window_frames_may_come_late_and_twice() {
    let (mut sender, mut receiver) = pair(Confidentiality::None, 2);
    let frames: Vec<_> = (0..5).map(|_| protected(&mut sender)).collect();
    let mut check = |frame: usize| receiver.check(&mut frames[frame].clone(), 92);
    assert_eq!(check(4), Ok(60));
    // The next expected number is 6, so that 4 is the lowest.
    assert_eq!(check(3), Ok(60));
    assert_eq!(check(3), Ok(60), "the standard tells no copies apart within the window");
    assert_eq!(check(2), Err(DiscardReason::FreshnessTooOld));
}

#[test]
fn a_forged_packet_number_moves_no_window() {
    let (mut sender, mut receiver) = pair(Confidentiality::From(30), 0);
    let frame = protected(&mut sender);
    let mut forged = frame.clone();
    forged[16..20].copy_from_slice(&u32::MAX.to_be_bytes());
    assert_eq!(receiver.check(&mut forged, 92), Err(DiscardReason::TagMismatch));
    assert_eq!(receiver.lowest_packet_number(), 1);
    assert_eq!(receiver.check(&mut frame.clone(), 92), Ok(60));
}

#[test]
fn a_frame_without_a_sectag_of_another_channel_or_key_is_refused() {
    let (mut sender, mut receiver) = pair(Confidentiality::From(0), 0);
    assert_eq!(receiver.check(&mut [0; 60], 60), Err(DiscardReason::Untagged));
    let frame = protected(&mut sender);
    let altered = |at: usize| {
        let mut frame = frame.clone();
        frame[at] ^= 1;
        frame
    };
    assert_eq!(receiver.check(&mut altered(27), 92), Err(DiscardReason::NoKey), "another channel");
    assert_eq!(receiver.check(&mut altered(14), 92), Err(DiscardReason::NoKey), "another association");
    let mut other = ReceiveSa::new(CipherSuite::GcmAes256, CHANNEL, Confidentiality::From(0), &[9; 32], 0).unwrap();
    assert_eq!(other.check(&mut frame.clone(), 92), Err(DiscardReason::TagMismatch));
    assert_eq!(receiver.check(&mut frame.clone(), 93), Err(DiscardReason::TooShort), "more than there is");
}

#[test]
fn no_packet_number_is_used_twice() {
    let (sender, mut receiver) = pair(Confidentiality::From(0), 0);
    let mut sender = sender.continued_at(u32::MAX);
    let last = protected(&mut sender);
    let mut frame = [0; 92];
    assert_eq!(sender.protect(&mut frame, 60), Err(ProtectError::PacketNumbersExhausted));
    assert_eq!(frame, [0; 92]);
    assert_eq!(receiver.check(&mut last.clone(), 92), Ok(60));
    assert_eq!(receiver.check(&mut last.clone(), 92), Err(DiscardReason::FreshnessTooOld));
}

#[test]
fn refuses_keys_numbers_and_offsets_that_are_none() {
    let new = |channel, confidentiality, key: &[u8]| {
        TransmitSa::new(CipherSuite::GcmAes128, channel, confidentiality, key).map(drop).unwrap_err()
    };
    let suite = CipherSuite::GcmAes128;
    assert_eq!(new(CHANNEL, Confidentiality::None, &[0; 32]), SaError::KeyLength { suite, found: 32 });
    let fifth = SecureChannel { association: 4, ..CHANNEL };
    assert_eq!(new(fifth, Confidentiality::None, &[0; 16]), SaError::Association(4));
    assert_eq!(new(CHANNEL, Confidentiality::From(31), &[0; 16]), SaError::Offset(31));
    let (mut sender, _) = pair(Confidentiality::None, 0);
    let no_room = Err(ProtectError::NoRoom { len: 60, needed: 92, room: 91 });
    assert_eq!(sender.protect(&mut [0; 91], 60), no_room);
    assert_eq!(sender.protect(&mut [0; 91], 12), Err(ProtectError::TooShort(12)));
}

proptest! {
    #[test]
    fn what_is_protected_is_opened_and_nothing_else_is(
        mut frame in proptest::collection::vec(any::<u8>(), 13..1524),
        offset in prop_oneof![Just(None), Just(Some(0)), Just(Some(30)), Just(Some(50))],
        at in any::<prop::sample::Index>(),
        bit in 0..8u8,
    ) {
        let confidentiality = offset.map_or(Confidentiality::None, Confidentiality::From);
        let (mut sender, mut receiver) = pair(confidentiality, 0);
        let (plain, len) = (frame.clone(), frame.len());
        frame.resize(len + 32, 0);
        prop_assert_eq!(sender.protect(&mut frame, len), Ok(len + 32));
        let mut tampered = frame.clone();
        tampered[at.index(len + 32)] ^= 1u8 << bit;
        let as_sent = tampered.clone();
        prop_assert!(receiver.check(&mut tampered, len + 32).is_err());
        prop_assert_eq!(tampered, as_sent, "a frame that is refused stays as it was");
        prop_assert_eq!(receiver.check(&mut frame, len + 32), Ok(len));
        prop_assert_eq!(&frame[..len], &plain[..]);
        prop_assert!(receiver.check(&mut frame.clone(), ICV_LEN).is_err());
    }
}
