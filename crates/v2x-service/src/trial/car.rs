//! A station that asks for certificates.

use std::path::{Path, PathBuf};

use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::check_issued_by;
use chronoseal_v2x::types::{Duration, Time64, ValidityPeriod};

use super::vendor::Vendor;
use super::{TrialError, ensure};
use crate::hsm::{BackEnd, KeyHandle, SharedHsm};
use crate::pki::{Client, Clock, KeyDevice, Meta, TicketOptions};

/// One car: keys, folder, and what its enrolment authority knows it by.
pub(super) struct Car {
    pub(super) id: Vec<u8>,
    pub(super) folder: PathBuf,
    pub(super) hsm: SharedHsm,
    pub(super) client: Client,
    clock: Clock,
}

impl Car {
    /// The curve every device of the trial knows.
    pub(super) const CURVE: Curve = Curve::NistP256;

    /// A car whose keys are in files.
    pub(super) fn new(folder: &Path, id: u8, clock: &Clock) -> Result<Self, TrialError> {
        let keys = BackEnd::Software { folder: folder.join("keys"), predefined: None };
        Self::with(folder, id, &keys, clock)
    }

    /// A car whose keys are elsewhere.
    pub(super) fn with(folder: &Path, id: u8, keys: &BackEnd, clock: &Clock) -> Result<Self, TrialError> {
        std::fs::create_dir_all(folder).map_err(TrialError::file(folder))?;
        let hsm = SharedHsm::new(keys.open("4711")?);
        let client = Client::new(folder, KeyDevice::new(hsm.clone())).with_clock(clock.clone());
        Ok(Self { id: vec![0xC0, 0xFF, 0xEE, id], folder: folder.to_owned(), hsm, client, clock: clock.clone() })
    }

    /// Asks for a long-term certificate and looks whether all is in its place.
    pub(super) fn enrol(&self, vendor: &Vendor) -> Result<String, TrialError> {
        vendor.register(self)?;
        self.client.enrol(&self.id, vendor.ea_endpoint(), Self::CURVE)?;
        let (credential, _) = self.client.credential()?;
        check_issued_by(&credential, &vendor.ea, self.clock.now()).map_err(crate::pki::ServiceError::from)?;
        let path = self.folder.join("ec").join(format!("{}.oer", credential.id()));
        let handle = self.key_beside(&path)?;
        Ok(format!("{}, signature verified, stored with .meta naming key {handle}, key in the device", credential.id()))
    }

    /// Asks for pseudonyms with the long-term certificate of `enrolled_at` and looks whether all is in its place. They are valid
    /// since `since`, or as the authority has it.
    pub(super) fn pseudonyms(
        &self,
        count: usize,
        vendor: &Vendor,
        enrolled_at: &Vendor,
        since: Option<Time64>,
    ) -> Result<Vec<(SignerCertificate, Meta)>, TrialError> {
        let period = |since: Time64| ValidityPeriod { start: since.time32(), duration: Duration::Hours(24) };
        let validity_period = since.map(period);
        let options = TicketOptions { validity_period, ..TicketOptions::default() };
        let mut ids = Vec::with_capacity(count);
        for _ in 0..count {
            ids.push(self.client.authorize(vendor.aa_endpoint(), &enrolled_at.ea, &options)?);
        }
        let mut tickets = self.client.tickets()?;
        tickets.retain(|(ticket, _)| ids.contains(&ticket.id()));
        ensure(tickets.len() == count, || format!("{} of {count} pseudonyms are in the folder", tickets.len()))?;
        for (ticket, _) in &tickets {
            check_issued_by(ticket, &vendor.aa, self.clock.now()).map_err(crate::pki::ServiceError::from)?;
            self.key_beside(&self.folder.join("at").join(format!("{}.oer", ticket.id())))?;
        }
        Ok(tickets)
    }

    /// The key that the `.meta` beside a certificate names; it has to be in the device.
    fn key_beside(&self, certificate: &Path) -> Result<KeyHandle, TrialError> {
        let handle = Meta::read(certificate)?.signing_key;
        let known = self.hsm.lock().list()?;
        ensure(known.iter().any(|key| key.handle == handle), || format!("key {handle} is not in the device"))?;
        Ok(handle)
    }
}
