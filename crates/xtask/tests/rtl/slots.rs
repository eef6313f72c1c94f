//! Key slots: who may fill them, and what a reload, a loss of power and a bad flash do to them.

use std::path::PathBuf;

use p256::ecdh::diffie_hellman;
use p256::{FieldBytes, NonZeroScalar};
use tempfile::TempDir;

use crate::device::{Device, Number, command, request, status};
use crate::reference::{N, any_number, base, coordinates, near, number, public_key, random, small};

/// The first and the last of either kind.
const PREDEFINED: [u8; 2] = [0, 7];
const VOLATILE: [u8; 2] = [8, 63];

fn flash_file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flash");
    (folder, path)
}

fn occupied(device: &mut Device) -> Vec<u32> {
    bitmap(&device.result(request::SLOTS, &[]))
}

fn bitmap(result: &[u8]) -> Vec<u32> {
    let bits = u64::from_be_bytes(result.try_into().unwrap());
    (0..64).filter(|slot| bits >> slot & 1 == 1).collect()
}

fn fill(device: &mut Device) {
    for slot in PREDEFINED {
        device.result(request::PROVISION, &[&[slot], &small(u64::from(slot) + 1)]);
    }
    for slot in VOLATILE {
        device.result(request::IMPORT, &[&[slot], &small(u64::from(slot) + 1)]);
    }
}

fn assert_keys(device: &mut Device, slots: &[u8]) {
    for slot in slots {
        let point = device.result(request::PUBLIC, &[&[*slot]]);
        assert_eq!(point, coordinates(&base(&small(u64::from(*slot) + 1))), "slot {slot}");
    }
}

#[test]
#[ignore = "needs the simulator"]
fn each_slot_keeps_its_own_key() {
    let (mut device, mut random) = (Device::start(), random(30));
    let keys: Vec<(u8, Number)> = (8..64).map(|slot| (slot, any_number(&mut random))).collect();
    for (slot, key) in &keys {
        device.result(request::IMPORT, &[&[*slot], key]);
    }
    assert_eq!(occupied(&mut device), (8..64).collect::<Vec<u32>>());
    for (slot, key) in &keys {
        assert_eq!(device.result(request::PUBLIC, &[&[*slot]]), coordinates(&base(key)), "slot {slot}");
    }
}

#[test]
#[ignore = "needs the simulator"]
fn agrees_with_p256_on_a_secret() {
    let (mut device, mut random) = (Device::start(), random(31));
    for slot in 8..16 {
        let (ours, theirs) = (any_number(&mut random), any_number(&mut random));
        device.result(request::IMPORT, &[&[slot], &ours]);
        let point = device.result(request::PUBLIC, &[&[slot]]);
        let secret = device.result(request::AGREE, &[&[slot], &coordinates(&base(&theirs))]);
        let scalar = NonZeroScalar::from_repr(FieldBytes::from(theirs)).unwrap();
        let expected = diffie_hellman(scalar, public_key(&ours).as_affine());
        assert_eq!(secret, expected.raw_secret_bytes().to_vec());
        assert_eq!(point, coordinates(&public_key(&ours).to_projective()));
    }
}

#[test]
#[ignore = "needs the simulator"]
fn a_reload_loses_volatile_keys_and_brings_predefined_ones_back() {
    let (_folder, flash) = flash_file();
    let mut device = Device::start_with_flash(&flash);
    fill(&mut device);
    assert_eq!(occupied(&mut device), [0, 7, 8, 63]);
    assert_eq!(bitmap(&device.result(request::RELOAD, &[])), [0, 7]);
    assert_eq!(occupied(&mut device), [0, 7]);
    assert_keys(&mut device, &PREDEFINED);
    for slot in VOLATILE {
        assert_eq!(device.status(request::PUBLIC, &[&[slot]]), status::SLOT_EMPTY);
        assert_eq!(device.status(request::IMPORT, &[&[slot], &small(2)]), status::OK);
    }
}

#[test]
#[ignore = "needs the simulator"]
fn a_loss_of_power_leaves_predefined_keys() {
    let (_folder, flash) = flash_file();
    let mut device = Device::start_with_flash(&flash);
    fill(&mut device);
    device.kill();
    let mut device = Device::start_with_flash(&flash);
    assert_eq!(occupied(&mut device), [0, 7]);
    assert_keys(&mut device, &PREDEFINED);
}

#[test]
#[ignore = "needs the simulator"]
fn an_erased_key_is_gone_for_good() {
    let (_folder, flash) = flash_file();
    let mut device = Device::start_with_flash(&flash);
    fill(&mut device);
    for slot in [0, 8] {
        device.result(request::ERASE, &[&[slot]]);
        for kind in [request::PUBLIC, request::ERASE] {
            assert_eq!(device.status(kind, &[&[slot]]), status::SLOT_EMPTY);
        }
    }
    assert_eq!(bitmap(&device.result(request::RELOAD, &[])), [7]);
    device.kill();
    assert_eq!(occupied(&mut Device::start_with_flash(&flash)), [7]);
}

#[test]
#[ignore = "needs the simulator"]
fn refuses_slots_that_are_full_empty_of_the_other_kind_or_none() {
    let (_folder, flash) = flash_file();
    let mut device = Device::start_with_flash(&flash);
    fill(&mut device);
    let key = small(99);
    assert_eq!(device.status(request::PROVISION, &[&[0], &key]), status::SLOT_OCCUPIED);
    assert_eq!(device.status(request::IMPORT, &[&[8], &key]), status::SLOT_OCCUPIED);
    assert_eq!(device.status(request::IMPORT, &[&[1], &key]), status::SLOT_PROTECTED);
    assert_eq!(device.status(request::PROVISION, &[&[9], &key]), status::SLOT_PROTECTED);
    let q = coordinates(&base(&key));
    for (slot, reason) in [(10, status::SLOT_EMPTY), (64, status::NO_SUCH_SLOT), (255, status::NO_SUCH_SLOT)] {
        let slot = [slot];
        assert_eq!(device.status(request::PUBLIC, &[&slot]), reason);
        assert_eq!(device.status(request::ERASE, &[&slot]), reason);
        assert_eq!(device.status(request::AGREE, &[&slot, &q]), reason);
        assert_eq!(device.status(request::SIGN, &[&slot, &key, &key, &key]), reason);
    }
    assert_eq!(device.status(request::IMPORT, &[&[64], &key]), status::NO_SUCH_SLOT);
    assert_eq!(occupied(&mut device), [0, 7, 8, 63]);
    assert_keys(&mut device, &[0, 7, 8, 63]);
}

#[test]
#[ignore = "needs the simulator"]
fn refuses_a_key_that_is_no_private_key() {
    let (_folder, flash) = flash_file();
    let mut device = Device::start_with_flash(&flash);
    let n = number(N);
    for key in [[0; 32], n, near(n, 1), [0xff; 32]] {
        assert_eq!(device.status(request::IMPORT, &[&[8], &key]), status::SCALAR_OUT_OF_RANGE);
        assert_eq!(device.status(request::PROVISION, &[&[0], &key]), status::SCALAR_OUT_OF_RANGE);
    }
    assert!(occupied(&mut device).is_empty());
    assert_eq!(device.status(request::IMPORT, &[&[8], &near(n, -1)]), status::OK);
}

#[test]
#[ignore = "needs the simulator"]
fn without_flash_there_are_no_predefined_keys() {
    let mut device = Device::start();
    assert_eq!(device.result(request::INFO, &[])[9], 0);
    assert_eq!(device.status(request::PROVISION, &[&[0], &small(1)]), status::NO_FLASH);
    assert_eq!(device.status(request::ERASE, &[&[0]]), status::SLOT_EMPTY);
}

#[test]
#[ignore = "needs the simulator"]
fn a_flash_that_cannot_be_written_changes_nothing() {
    let (folder, flash) = flash_file();
    let mut device = Device::start_with_flash(&flash);
    device.result(request::PROVISION, &[&[0], &small(1)]);
    // A folder where the new image would be written: it cannot be, whoever runs this.
    std::fs::create_dir(folder.path().join("flash.new")).unwrap();
    assert_eq!(device.status(request::PROVISION, &[&[1], &small(2)]), status::FLASH_WRITE_FAILED);
    assert_eq!(device.status(request::ERASE, &[&[0]]), status::FLASH_WRITE_FAILED);
    assert_eq!(occupied(&mut device), [0]);
    assert_eq!(device.status(request::PUBLIC, &[&[1]]), status::SLOT_EMPTY);
    assert_keys(&mut device, &[0]);
    std::fs::remove_dir(folder.path().join("flash.new")).unwrap();
    assert_eq!(device.status(request::PROVISION, &[&[1], &small(2)]), status::OK);
}

#[test]
#[ignore = "needs the simulator"]
fn does_not_start_with_a_corrupt_flash() {
    let (_folder, flash) = flash_file();
    let mut device = Device::start_with_flash(&flash);
    fill(&mut device);
    device.end();
    let good = std::fs::read(&flash).unwrap();
    let mut changed = good.clone();
    changed[40] ^= 1;
    let longer = [&good[..], &[0]].concat();
    for image in [&changed[..], &good[..good.len() - 1], &longer, b""] {
        std::fs::write(&flash, image).unwrap();
        let output = command(&["--flash", flash.to_str().unwrap()]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8(output.stderr).unwrap().contains("flash corrupt"));
        assert_eq!(std::fs::read(&flash).unwrap(), image, "what is there is left as it is");
    }
}
