//! The same exchanges with keys in each kind of device, at both vendors' authorities.

use chronoseal_v2x::crypto::{Curve, SigningKey};
use chronoseal_v2x::pki::Permissions;
use chronoseal_v2x_service::hsm::{BackEnd, HsmError, SharedHsm, local};
use chronoseal_v2x_service::pki::{Endpoint, KeyDevice, TicketOptions, read_certificate};

use super::interop::Bc;
use super::{Car, Pki, skip};

const PIN: &str = "4711";

fn open(back_end: Result<BackEnd, HsmError>) -> Option<KeyDevice> {
    match back_end {
        Ok(back_end) => {
            let hsm = back_end.open_apart(env!("CARGO_BIN_EXE_chronoseal-hsm-worker"), PIN).unwrap();
            Some(KeyDevice::new(SharedHsm::new(hsm)))
        }
        Err(HsmError::NoDevice(reason)) => {
            skip(&reason);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Enrols, renews and gets tickets at ours.
fn at_ours(device: &KeyDevice, ticket_device: Option<&KeyDevice>) {
    let curve = Curve::NistP256;
    let options = TicketOptions { curve, ..TicketOptions::default() };
    let pki = Pki::start();
    let car = car(device, ticket_device);
    let canonical_key = car.client.canonical_key(curve).unwrap();
    pki.register_key(SigningKey::public_point(&canonical_key), Permissions::tickets());
    let url = format!("{}/ea", pki.server.url());
    let ea = Endpoint { certificate: pki.ea(), url: &url };
    car.client.enrol(super::ID, ea, curve).unwrap();
    car.client.renew(ea, curve).unwrap();
    pki.authorize(&car, &options).unwrap();
    pki.authorize(&car, &options).unwrap();
    let (ticket, meta) = car.client.tickets().unwrap().remove(0);
    let holder = ticket_device.unwrap_or(device);
    let key = holder.key(meta.signing_key).unwrap();
    let in_ticket = &ticket.certificate().view().to_be_signed.verify_key_indicator;
    let in_device = SigningKey::public_point(&key).to_verification_key();
    assert_eq!(*in_ticket, chronoseal_v2x::types::VerificationKeyIndicator::VerificationKey(in_device));
}

/// The same at Bouncy Castle's, if it is there.
fn at_bouncy_castle(device: &KeyDevice, ticket_device: Option<&KeyDevice>) {
    let Some(bc) = Bc::new() else { return };
    let curve = Curve::NistP256;
    let options = TicketOptions { curve, ..TicketOptions::default() };
    let server = bc.serve(&[]);
    let car = car(device, ticket_device);
    car.client.canonical_key(curve).unwrap();
    let key = car.folder.path().join("canonical.pub.pem");
    bc.run(&["register", "--dir", &bc.path("pki"), "--id", "c0ffee", "--key", key.to_str().unwrap()]).unwrap();
    let [ea, aa] = ["pki/ea.oer", "pki/aa.oer"].map(|name| read_certificate(bc.path(name).as_ref()).unwrap());
    let (ea_url, aa_url) = (format!("{}/ea", server.url), format!("{}/aa", server.url));
    let endpoint = Endpoint { certificate: &ea, url: &ea_url };
    car.client.enrol(super::ID, endpoint, curve).unwrap();
    car.client.renew(endpoint, curve).unwrap();
    car.client.authorize(Endpoint { certificate: &aa, url: &aa_url }, &ea, &options).unwrap();
}

fn car(device: &KeyDevice, ticket_device: Option<&KeyDevice>) -> Car {
    let mut car = Car::with_device(device.clone());
    if let Some(device) = ticket_device {
        car.client = car.client.with_ticket_device(device.clone());
    }
    car
}

#[test]
fn keys_in_a_pkcs11_token() {
    let folder = tempfile::tempdir().unwrap();
    let Some(device) = open(local::softhsm(folder.path(), PIN)) else { return };
    at_ours(&device, None);
    at_bouncy_castle(&device, None);
}

#[test]
fn long_term_keys_in_a_tpm_and_ticket_keys_in_files() {
    let folder = tempfile::tempdir().unwrap();
    let Some(device) = open(local::swtpm(folder.path())) else { return };
    let ticket_folder = tempfile::tempdir().unwrap();
    let files = KeyDevice::software(ticket_folder.path()).unwrap();
    at_ours(&device, Some(&files));
    at_bouncy_castle(&device, Some(&files));
}

/// Its flash has room for a few keys, so each PKI gets an accelerator of its own.
#[test]
fn keys_in_the_simulated_accelerator() {
    for exchanges in [at_ours, at_bouncy_castle] {
        let folder = tempfile::tempdir().unwrap();
        let Some(device) = open(local::rtl(Some(&folder.path().join("flash")))) else { return };
        exchanges(&device, None);
    }
}
