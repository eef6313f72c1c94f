//! Secured PDUs made by other implementations of SecOC; `tests/vectors/secoc_peers.py` says by which and how.

use chronoseal_crypto::symmetric::Key128;
use chronoseal_frameauth::{
    MacAlgorithm, Moment, Opener, Sealer, SyncProtection, SyncSlave, TripReset, TripResetLayout,
    secoc::{self, FreshnessFormat},
};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VectorFile {
    source: String,
    scapy: Vec<ScapyCase>,
    opendbc_data: Vec<DataCase>,
    opendbc_sync: Vec<SyncCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScapyCase {
    profile: String,
    key: String,
    data_id: u16,
    payload: String,
    freshness: String,
    pdu: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DataCase {
    key: String,
    trip: u32,
    reset: u32,
    message: u64,
    data_id: u16,
    payload: String,
    pdu: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SyncCase {
    key: String,
    trip: u32,
    reset: u32,
    data_id: u16,
    tag: String,
}

fn file() -> VectorFile {
    let file: VectorFile = serde_json::from_str(include_str!("../vectors/secoc_peers.json")).unwrap();
    assert!(!file.source.is_empty());
    file
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    assert!(hexadecimal.len().is_multiple_of(2));
    (0..hexadecimal.len()).step_by(2).map(|i| u8::from_str_radix(&hexadecimal[i..i + 2], 16).unwrap()).collect()
}

fn key(hexadecimal: &str) -> Key128 {
    Key128::from_slice(&bytes(hexadecimal)).unwrap()
}

fn secured(protection: &Sealer, payload: &[u8], freshness: u64) -> Vec<u8> {
    let mut pdu = payload.to_vec();
    pdu.resize(payload.len() + protection.profile().overhead(), 0xcc);
    assert_eq!(protection.seal(&mut pdu, payload.len(), freshness), Ok(pdu.len()));
    pdu
}

/// Vehicles with opendbc's widths: 46 bits of freshness value in 48, and profile 3's numbers of bits sent.
const VEHICLE: TripResetLayout = TripResetLayout { trip_bits: 16, reset_bits: 20, message_bits: 8 };

#[test]
fn scapy_makes_the_same_pdus() {
    let mut counts = [0; 3];
    for case in file().scapy {
        let freshness = bytes(&case.freshness);
        let value = freshness.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
        let (index, profile) = match case.profile.as_str() {
            "profile-1" => {
                let format = FreshnessFormat::Counter { bits: 8 * freshness.len() as u8 };
                (0, secoc::profile_1(format).unwrap())
            }
            "profile-2" => (1, secoc::profile_2()),
            "profile-3" => (2, secoc::profile_3()),
            other => panic!("no profile {other}"),
        };
        counts[index] += 1;
        let (key, pdu) = (key(&case.key), bytes(&case.pdu));
        let protection = Sealer::new(profile, &key, case.data_id).unwrap();
        assert_eq!(secured(&protection, &bytes(&case.payload), value), pdu);

        // Profile 3 names the reset by its lowest bits only, so its receiver cannot be put right before the PDU.
        if case.profile != "profile-3" {
            let mut receiver = Opener::new(profile, &key, case.data_id).unwrap();
            receiver.resume_after(value.saturating_sub(1));
            let opened = receiver.open(&pdu, Moment::Unknown).unwrap();
            assert_eq!(opened.payload, bytes(&case.payload));
            assert_eq!(opened.freshness, (case.profile == "profile-1").then_some(value));
        }
    }
    assert_eq!(counts, [32, 12, 20]);
}

#[test]
fn scapy_without_data_identifier_in_its_mac() {
    // Key of RFC 4493, payload 00..07, freshness value 01020304, by scapy as it is: its MAC covers payload and freshness
    // value only. The same bytes are the data identifier 0001 with the payload 02..07.
    let profile = secoc::profile_1(FreshnessFormat::Counter { bits: 32 }).unwrap();
    let protection = Sealer::new(profile, &key("2b7e151628aed2a6abf7158809cf4f3c"), 0x0001).unwrap();
    assert_eq!(secured(&protection, &[2, 3, 4, 5, 6, 7], 0x0102_0304)[6..], bytes("0467189a"));
}

#[test]
fn opendbc_makes_the_same_pdus_as_vehicles() {
    let cases = file().opendbc_data;
    let profile = secoc::profile(FreshnessFormat::TripReset(VEHICLE), 4, 28).unwrap();
    assert_eq!(profile.freshness().complete_len(), 6);
    for case in &cases {
        let epoch = TripReset { trip: case.trip, reset: case.reset };
        let protection = Sealer::new(profile, &key(&case.key), case.data_id).unwrap();
        assert_eq!(secured(&protection, &bytes(&case.payload), VEHICLE.value(epoch, case.message)), bytes(&case.pdu));
        if (1..=64).contains(&case.message) {
            let mut receiver = Opener::new(profile, &key(&case.key), case.data_id).unwrap().with_attempts(16);
            let opened = receiver.open(&bytes(&case.pdu), Some(epoch)).map(|opened| opened.payload.to_vec());
            assert_eq!(opened, Ok(bytes(&case.payload)));
        }
    }
    assert_eq!(cases.len(), 32);
}

#[test]
fn opendbc_makes_the_same_synchronisation_messages_as_vehicles() {
    let cases = file().opendbc_sync;
    for case in &cases {
        let epoch = TripReset { trip: case.trip, reset: case.reset };
        let message = bytes(&format!("{:04x}{:05x}{}", case.trip, case.reset, case.tag));
        let protection =
            SyncProtection::new(VEHICLE, MacAlgorithm::CmacAes128, 28, &key(&case.key), case.data_id).unwrap();
        assert_eq!(protection.message_len(), message.len());
        assert_eq!(SyncSlave::new(protection).handle_message(&message), Ok(epoch));
    }
    assert_eq!(cases.len(), 32);
}
