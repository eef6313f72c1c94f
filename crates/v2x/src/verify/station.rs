//! What is kept of a certificate: enough to check any message under it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::certificate::{CertificateError, CertificateForm, CertificateHash, certificate_hash};
use crate::crypto::VerifyingKey;
use crate::region::Containment;
use crate::types::{
    Certificate, CertificateId, GeographicRegion, HashedId3, HashedId8, HashedId10, Psid, ServiceSpecificPermissions,
    ValidityPeriod,
};

use super::permission::ssp_contains;

/// A certificate in few octets, its signature aside.
#[derive(Clone, Debug)]
pub(super) struct CertificateSummary {
    pub(super) hash: CertificateHash,
    /// None if it is its own.
    pub(super) issuer: Option<HashedId8>,
    pub(super) validity: ValidityPeriod,
    pub(super) region: Option<Arc<GeographicRegion>>,
    /// Whether the region lies in that of the issuer, as far as that is known without a map.
    pub(super) fit: Containment,
    permissions: Box<[Permission]>,
    pub(super) linkage: Option<(u16, [u8; 9])>,
}

/// An application area, and the bitmap of what is permitted in it.
#[derive(Clone, Copy, Debug)]
struct Permission {
    psid: Psid,
    bitmap: Option<Bitmap>,
}

#[derive(Clone, Copy, Debug)]
struct Bitmap {
    len: u8,
    octets: [u8; 31],
}

impl CertificateSummary {
    pub(super) fn new(certificate: &Certificate<'_>, form: CertificateForm) -> Result<Self, CertificateError> {
        let tbs = &certificate.to_be_signed;
        let permissions = tbs.app_permissions.iter().flatten().map(|permission| {
            let bitmap = match permission.ssp {
                Some(ServiceSpecificPermissions::Bitmap(ssp)) if ssp.len() <= 31 => {
                    let mut octets = [0; 31];
                    octets[..ssp.len()].copy_from_slice(ssp);
                    Some(Bitmap { len: ssp.len().to_le_bytes()[0], octets })
                }
                _ => None,
            };
            Permission { psid: permission.psid, bitmap }
        });
        let linkage = match &tbs.id {
            CertificateId::LinkageData(data) => Some((data.i_cert, data.linkage_value)),
            _ => None,
        };
        Ok(Self {
            hash: certificate_hash(certificate, form)?,
            issuer: certificate.issuer.digest(),
            validity: tbs.validity_period,
            region: tbs.region.clone().map(Arc::new),
            fit: Containment::Inside,
            permissions: permissions.collect(),
            linkage,
        })
    }

    pub(super) fn id(&self) -> HashedId8 {
        self.hash.id()
    }

    pub(super) fn id10(&self) -> HashedId10 {
        self.hash.value.hashed_id10()
    }

    /// Whether it permits `psid`, and in it all of `needed`.
    pub(super) fn permits(&self, psid: Psid, needed: Option<&[u8]>) -> bool {
        self.permissions.iter().filter(|permission| permission.psid == psid).any(|permission| {
            let granted = permission.bitmap.as_ref().map_or(&[][..], |map| &map.octets[..usize::from(map.len)]);
            needed.is_none_or(|needed| ssp_contains(granted, needed))
        })
    }
}

/// A certificate whose signature was verified, and its key.
#[derive(Clone, Debug)]
pub(super) struct Station {
    pub(super) summary: CertificateSummary,
    pub(super) key: Arc<VerifyingKey>,
}

/// The stations whose certificates were verified, the longest unheard one replaced when there are too many.
#[derive(Clone, Debug)]
pub struct Neighbours {
    stations: BTreeMap<HashedId8, Entry>,
    stations_max: usize,
    tick: u64,
    replaced_count: u64,
}

#[derive(Clone, Debug)]
struct Entry {
    station: Arc<Station>,
    used_at: u64,
}

impl Neighbours {
    pub(super) fn new(stations_max: usize) -> Self {
        Self { stations: BTreeMap::new(), stations_max, tick: 0, replaced_count: 0 }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.stations.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.stations.is_empty()
    }

    /// How many had to make room.
    pub fn replaced_count(&self) -> u64 {
        self.replaced_count
    }

    /// Whether the certificate with this identifier is known.
    pub fn contains(&self, id: HashedId8) -> bool {
        self.stations.contains_key(&id)
    }

    /// Identifiers, in order.
    pub fn ids(&self) -> impl Iterator<Item = HashedId8> + '_ {
        self.stations.keys().copied()
    }

    /// Whether a certificate with this short identifier is known.
    pub fn contains_id3(&self, id: HashedId3) -> bool {
        self.stations.keys().any(|known| known.hashed_id3() == id)
    }

    /// Forgets a certificate; false if it was not known.
    pub fn forget(&mut self, id: HashedId8) -> bool {
        self.stations.remove(&id).is_some()
    }

    /// Forgets all whose certificates are over.
    pub fn forget_expired(&mut self, now: crate::types::Time64) {
        self.stations.retain(|_, entry| now < entry.station.summary.validity.end());
    }

    pub(super) fn look_up(&mut self, id: HashedId8) -> Option<Arc<Station>> {
        let entry = self.stations.get_mut(&id)?;
        self.tick += 1;
        entry.used_at = self.tick;
        Some(Arc::clone(&entry.station))
    }

    pub(super) fn insert(&mut self, station: Arc<Station>) {
        self.tick += 1;
        let id = station.summary.id();
        if self.stations.len() >= self.stations_max && !self.stations.contains_key(&id) {
            let oldest = self.stations.iter().min_by_key(|(_, entry)| entry.used_at).map(|(id, _)| *id);
            if let Some(oldest) = oldest {
                self.stations.remove(&oldest);
                self.replaced_count += 1;
            }
        }
        if self.stations_max > 0 {
            self.stations.insert(id, Entry { station, used_at: self.tick });
        }
    }
}
