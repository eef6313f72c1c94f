//! How tickets come to a station, and their keys go.

use chronoseal_v2x::certificate::hashed_id8;
use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::types::{CertificateBuf, HashedId8, Time64};

use super::VssError;
use super::service::Vss;
use super::store::Stored;
use crate::hsm::{HsmKey, KeyHandle, Persistence};
use crate::pki::Meta;

impl Vss {
    /// A pair in the HSM for a ticket that is about to be requested.
    ///
    /// # Errors
    /// Whatever the HSM says.
    pub fn create_key(&mut self, curve: Curve, label: &str) -> Result<HsmKey, VssError> {
        let hsm = &self.ring.hsm;
        let handle = hsm.lock().create_pair(curve, Persistence::Persistent, label)?;
        Ok(hsm.key(handle)?)
    }

    /// Keeps a ticket that an authority has issued. It may be used from now on.
    ///
    /// # Errors
    /// [`VssError::Io`] if it cannot be written down; it is not used then.
    pub fn add_ticket(&mut self, certificate: CertificateBuf, meta: Meta, now: Time64) -> Result<HashedId8, VssError> {
        let id = hashed_id8(&certificate.view())?;
        let stored = Stored { id, certificate, meta };
        self.folder.add(&stored)?;
        self.take(stored, now)?;
        Ok(id)
    }

    /// Takes up a ticket that [`crate::pki::Client`] has put into the station's folder.
    ///
    /// # Errors
    /// [`VssError::Corrupt`] if it is not there.
    pub fn adopt_ticket(&mut self, id: HashedId8, now: Time64) -> Result<(), VssError> {
        let stored = self.folder.read(id)?;
        self.take(stored, now)
    }

    fn take(&mut self, stored: Stored, now: Time64) -> Result<(), VssError> {
        let Stored { id, certificate, meta } = stored;
        self.station.add_pseudonym(certificate.clone(), meta.signing_key, now)?;
        self.metas.insert(id, (certificate, meta));
        self.record.own.insert(id);
        self.no_pseudonyms = None;
        let name = self.record.name_of(id);
        self.record.note(now, &format!("ticket added{name}"));
        self.settle(now)
    }

    /// Of the pseudonyms that were requested no more will come, and why. They are requested again after a while; the reason is
    /// in the log once.
    pub fn asked_in_vain(&mut self, now: Time64, reason: &str) {
        self.station.asked_in_vain(now, &mut self.rng);
        if self.no_pseudonyms.as_deref() != Some(reason) {
            self.record.note(now, &format!("no pseudonyms have come, they are requested again: {reason}"));
            self.no_pseudonyms = Some(reason.to_owned());
        }
    }

    /// Ends a certificate's keys.
    pub(super) fn delete_key(&mut self, now: Time64, signing: KeyHandle) {
        let with = self.metas.extract_if(.., |_, (_, meta)| meta.signing_key == signing);
        let encryption: Vec<KeyHandle> = with.filter_map(|(_, (_, meta))| meta.decryption_key).collect();
        for handle in [signing].into_iter().chain(encryption) {
            self.ring.keys.remove(&handle);
            let deleted = self.ring.hsm.lock().delete(handle);
            // A predefined key stays where it is; whatever else goes wrong costs room and nothing more.
            if let Err(error) = deleted {
                self.record.note(now, &format!("key {handle} stays in the HSM: {error}"));
            }
        }
    }
}
