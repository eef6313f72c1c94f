//! One master's trip and reset counters in every node, and nobody else's.

use chronoseal_core::DiscardReason;
use chronoseal_crypto::symmetric::Key128;
use chronoseal_frameauth::{
    MacAlgorithm, SealError, SyncMaster, SyncProtection, SyncProtectionError, SyncSlave, TripReset, TripResetLayout,
    secoc,
};
use proptest::prelude::*;

use crate::secoc_layout::{key, opener, sealer};

const LAYOUT: TripResetLayout = TripResetLayout { trip_bits: 16, reset_bits: 20, message_bits: 26 };
const SYNC_ID: u16 = 0x000f;
const CMAC: MacAlgorithm = MacAlgorithm::CmacAes128;

fn protection() -> SyncProtection {
    SyncProtection::new(LAYOUT, CMAC, 28, &key(), SYNC_ID).unwrap()
}

fn message(master: &SyncMaster) -> Vec<u8> {
    let mut message = vec![0; master.protection().message_len()];
    assert_eq!(master.write_message(&mut message), Ok(message.len()));
    message
}

#[test]
fn the_message_fills_one_classical_frame_with_jaspar_s_counters() {
    assert_eq!(secoc::JASPAR, LAYOUT);
    let master = SyncMaster::start(protection(), 0x1233).unwrap();
    let message = message(&master);
    assert_eq!(message.len(), 8);
    assert_eq!(message[..4], [0x12, 0x34, 0x00, 0x00], "trip 1234, reset 00001");
    assert_eq!(message[4] >> 4, 0x1);
    assert_eq!(master.protection().work().len, 2 + 5);
    for len in 0..8 {
        let refused = master.write_message(&mut vec![0; len]);
        assert_eq!(refused, Err(SealError::BufferTooSmall { needed: 8, found: len }));
    }
}

#[test]
fn follows_resets_and_trips() {
    let mut slave = SyncSlave::new(protection());
    assert_eq!(slave.current(), None);
    for last_trip in [0, 1, 7] {
        let mut master = SyncMaster::start(protection(), last_trip).unwrap();
        for reset in 1..5 {
            let expected = TripReset { trip: last_trip + 1, reset };
            assert_eq!(master.current(), expected);
            assert_eq!(slave.handle_message(&message(&master)), Ok(expected));
            assert_eq!(slave.current(), Some(expected));
            assert_eq!(master.advance(), Ok(TripReset { reset: reset + 1, ..expected }));
        }
    }
    assert_eq!(slave.counters().accepted(), 12);
}

#[test]
fn refuses_repeated_and_earlier_messages_and_keeps_what_it_knows() {
    let mut slave = SyncSlave::new(protection());
    let mut master = SyncMaster::start(protection(), 3).unwrap();
    let first = message(&master);
    master.advance().unwrap();
    let second = message(&master);
    let earlier_trip = message(&SyncMaster::start(protection(), 2).unwrap());
    assert!(slave.handle_message(&second).is_ok());
    assert_eq!(slave.handle_message(&second), Err(DiscardReason::Replayed));
    assert_eq!(slave.handle_message(&first), Err(DiscardReason::FreshnessTooOld));
    assert_eq!(slave.handle_message(&earlier_trip), Err(DiscardReason::FreshnessTooOld));
    assert_eq!(slave.current(), Some(master.current()));
    assert_eq!(slave.counters().discarded(DiscardReason::FreshnessTooOld), 2);
    assert_eq!(slave.counters().discarded(DiscardReason::Replayed), 1);
}

#[test]
fn refuses_a_message_with_any_bit_changed_and_any_other_sender() {
    let master = SyncMaster::start(protection(), 3).unwrap();
    let genuine = message(&master);
    let mut slave = SyncSlave::new(protection());
    for bit in 0..64 {
        let mut changed = genuine.clone();
        changed[bit / 8] ^= 0x80 >> (bit % 8);
        assert_eq!(slave.handle_message(&changed), Err(DiscardReason::TagMismatch), "bit {bit}");
    }
    for len in 0..8 {
        assert_eq!(slave.handle_message(&genuine[..len]), Err(DiscardReason::TooShort));
    }
    let other_key = SyncProtection::new(LAYOUT, CMAC, 28, &Key128::from_array([1; 16]), SYNC_ID).unwrap();
    let other_id = SyncProtection::new(LAYOUT, CMAC, 28, &key(), SYNC_ID + 1).unwrap();
    for other in [other_key, other_id] {
        let forged = message(&SyncMaster::start(other, 3).unwrap());
        assert_eq!(slave.handle_message(&forged), Err(DiscardReason::TagMismatch));
    }
    assert_eq!(slave.current(), None, "none of them changed anything");
    let padded = [genuine, vec![0xcc; 4]].concat();
    assert_eq!(slave.handle_message(&padded), Ok(master.current()), "a longer frame's padding does not matter");
}

#[test]
fn a_slave_that_stored_its_counters_takes_no_recorded_message() {
    let mut master = SyncMaster::start(protection(), 3).unwrap();
    let recorded = message(&master);
    let mut restarted = SyncSlave::new(protection());
    restarted.resume_after(master.current());
    assert_eq!(restarted.handle_message(&recorded), Err(DiscardReason::Replayed));
    assert_eq!(restarted.current(), None, "not synchronised until the master goes on");
    master.advance().unwrap();
    assert_eq!(restarted.handle_message(&message(&master)), Ok(master.current()));
}

#[test]
fn a_network_is_back_after_the_restart_of_its_master() {
    let profile = secoc::profile_3();
    let (mut sender, mut receiver) = (sealer(profile), opener(profile));
    let (mut at_sender, mut at_receiver) = (SyncSlave::new(protection()), SyncSlave::new(protection()));
    let mut recorded = vec![];
    for last_trip in 0..3 {
        let mut master = SyncMaster::start(protection(), last_trip).unwrap();
        for reset in 0..6 {
            let sync = message(&master);
            assert!(at_sender.handle_message(&sync).is_ok());
            // The receiver misses every second message.
            if reset % 2 == 0 {
                assert!(at_receiver.handle_message(&sync).is_ok());
            }
            for _ in 0..3 {
                let mut pdu = [0x5a; 8];
                sender.seal_next(&mut pdu, 4, at_sender.current()).unwrap();
                assert!(receiver.open(&pdu, at_receiver.current()).is_ok(), "trip {last_trip}, reset {reset}");
                recorded.push(pdu);
            }
            assert!(recorded.iter().all(|pdu| receiver.open(pdu, at_receiver.current()).is_err()));
            master.advance().unwrap();
        }
    }
    assert_eq!(receiver.counters().accepted(), 54);
}

#[test]
fn no_counter_of_the_master_is_used_past_its_end() {
    let narrow = TripResetLayout { trip_bits: 3, reset_bits: 2, message_bits: 8 };
    let protection = || SyncProtection::new(narrow, CMAC, 32, &key(), SYNC_ID).unwrap();
    let mut master = SyncMaster::start(protection(), 6).unwrap();
    assert_eq!(protection().message_len(), 5, "3 + 2 + 32 bits");
    assert_eq!(master.advance(), Ok(TripReset { trip: 7, reset: 2 }));
    assert_eq!(master.advance(), Ok(TripReset { trip: 7, reset: 3 }));
    assert_eq!(master.advance(), Err(SealError::FreshnessExhausted));
    assert_eq!(master.current(), TripReset { trip: 7, reset: 3 });
    for last_trip in [7, 8, u32::MAX] {
        assert_eq!(SyncMaster::start(protection(), last_trip).err(), Some(SealError::FreshnessExhausted));
    }
}

#[test]
fn refuses_impossible_messages() {
    for tag_bits in [0, 65, 255] {
        let error = SyncProtection::new(LAYOUT, CMAC, tag_bits, &key(), SYNC_ID).err();
        assert_eq!(error, Some(SyncProtectionError::TagBits { found: tag_bits, mac: CMAC }));
    }
    let layout = TripResetLayout { trip_bits: 25, ..LAYOUT };
    assert!(SyncProtection::new(layout, CMAC, 28, &key(), SYNC_ID).is_err());
}

proptest! {
    #[test]
    fn every_layout_reads_back(
        trip_bits in 1u8..=24,
        reset_bits in 2u8..=24,
        tag_bits in 24u16..=64,
        trip in any::<u32>(),
        advances in 0u32..3,
    ) {
        let layout = TripResetLayout { trip_bits, reset_bits, message_bits: 8 };
        let protection = SyncProtection::new(layout, CMAC, tag_bits, &key(), SYNC_ID).unwrap();
        let mut master = SyncMaster::start(protection.clone(), trip % ((1 << trip_bits) - 1)).unwrap();
        for _ in 0..advances.min((1 << reset_bits) - 2) {
            master.advance().unwrap();
        }
        prop_assert_eq!(SyncSlave::new(protection).handle_message(&message(&master)), Ok(master.current()));
    }
}
