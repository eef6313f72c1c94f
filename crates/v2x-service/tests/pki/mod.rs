//! Stations and authorities over HTTP, a module per behaviour.
//!
//! A test whose peer or device is not installed says so and passes; `CHRONOSEAL_REQUIRE_LIVE=1` makes that a failure.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are not marked as tests")]

mod ahead;
mod bad_authorities;
mod changes;
mod devices;
mod exchanges;
mod faults;
mod interop;
mod lost_answers;
mod misbehaviour;
mod one_kind;
mod postgres_server;
mod postgres_tls;
mod renewal;
mod replays;
mod revocation;
mod revoked_for_both;
mod siege;
mod stores;
mod trial;

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use chronoseal_v2x::crypto::{Curve, PublicPoint, SigningKey};
use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::{Permissions, Role, Station, TicketPeriods};
use chronoseal_v2x::types::HashedId8;
use chronoseal_v2x_service::hsm::software::{PinCost, SoftwareHsm};
use chronoseal_v2x_service::pki::{Client, Endpoint, KeyDevice, Server, ServerOptions, ServiceError, TicketOptions};
use chronoseal_v2x_service::store::Store;

const ID: &[u8] = &[0xc0, 0xff, 0xee];

/// Says why a test did nothing, or fails where that is not allowed.
fn skip(reason: &str) {
    println!("skipped: {reason}");
    assert_ne!(std::env::var("CHRONOSEAL_REQUIRE_LIVE").as_deref(), Ok("1"), "skipped: {reason}");
}

/// Keys in files below `folder`, as [`KeyDevice::software`] keeps them, but their PIN costs little to try: stations and authorities are
/// started hundreds of times.
fn key_files(folder: &Path) -> KeyDevice {
    let keys = folder.join("keys");
    if !keys.exists() {
        let pin = "4711";
        let mut file = std::fs::OpenOptions::new();
        let mut file = file.write(true).create_new(true).mode(0o600).open(KeyDevice::pin_file(folder)).unwrap();
        file.write_all(pin.as_bytes()).unwrap();
        drop(SoftwareHsm::create_with(&keys, pin, PinCost { memory_kib: 8, passes: 1 }).unwrap());
    }
    KeyDevice::software(folder).unwrap()
}

/// A PKI with its folder.
struct Pki {
    server: Server,
    folder: tempfile::TempDir,
}

impl Pki {
    fn start() -> Self {
        Self::start_with(|_| ())
    }

    fn start_with(change: impl FnOnce(&mut ServerOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::sqlite(&folder.path().join("store.sqlite")).unwrap();
        Self::start_in(folder, store, change)
    }

    fn start_in(folder: tempfile::TempDir, store: Store, change: impl FnOnce(&mut ServerOptions)) -> Self {
        let mut options = ServerOptions::new(folder.path());
        // Whenever a week ends: a test says so if it is about that.
        options.ticket_periods = TicketPeriods::AsAsked;
        change(&mut options);
        let device = key_files(folder.path());
        Self { server: Server::start(&options, &device, store).unwrap(), folder }
    }

    fn ea(&self) -> &SignerCertificate {
        self.server.certificate(Role::Enrolment)
    }

    fn aa(&self) -> &SignerCertificate {
        self.server.certificate(Role::Authorization)
    }

    fn register(&self, car: &Car, permissions: Permissions) {
        let canonical_key = car.client.canonical_key(Curve::NistP256).unwrap();
        self.register_key(SigningKey::public_point(&canonical_key), permissions);
    }

    fn register_key(&self, canonical_key: PublicPoint, permissions: Permissions) {
        let station = Station { canonical_id: ID.to_vec(), canonical_key, permissions, is_revoked: false };
        // Tests give the place of one car to the next.
        self.server.store().lock().unwrap().replace_station(&station).unwrap();
    }

    fn enrol(&self, car: &Car) -> Result<HashedId8, ServiceError> {
        let url = format!("{}/ea", self.server.url());
        car.client.enrol(ID, Endpoint { certificate: self.ea(), url: &url }, Curve::NistP256)
    }

    fn renew(&self, car: &Car) -> Result<HashedId8, ServiceError> {
        let url = format!("{}/ea", self.server.url());
        car.client.renew(Endpoint { certificate: self.ea(), url: &url }, Curve::BrainpoolP256r1)
    }

    fn authorize(&self, car: &Car, options: &TicketOptions) -> Result<HashedId8, ServiceError> {
        self.authorize_with(car, self.ea(), options)
    }

    fn authorize_with(
        &self,
        car: &Car,
        ea: &SignerCertificate,
        options: &TicketOptions,
    ) -> Result<HashedId8, ServiceError> {
        let url = format!("{}/aa", self.server.url());
        car.client.authorize(Endpoint { certificate: self.aa(), url: &url }, ea, options)
    }
}

/// What an enrolment authority is told about `car`.
fn station_of(car: &Car) -> Station {
    let canonical_key = SigningKey::public_point(&car.client.canonical_key(Curve::NistP256).unwrap());
    Station { canonical_id: ID.to_vec(), canonical_key, permissions: Permissions::tickets(), is_revoked: false }
}

/// A station with its folder.
struct Car {
    client: Client,
    folder: tempfile::TempDir,
}

impl Car {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let device = key_files(folder.path());
        Self { client: Client::new(folder.path(), device), folder }
    }

    /// One whose keys are elsewhere.
    fn with_device(device: KeyDevice) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { client: Client::new(folder.path(), device), folder }
    }

    /// One that has a credential of `pki`.
    fn enrolled_at(pki: &Pki) -> Self {
        let car = Self::new();
        pki.register(&car, Permissions::tickets());
        pki.enrol(&car).unwrap();
        car
    }
}
