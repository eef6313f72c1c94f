//! Roots, authorities below them, and what was revoked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use super::permission::{app_permissions_covered, issue_permissions_covered};
use super::region::fit_below;
use super::revocation::RevocationList;
use super::station::{CertificateSummary, Station};
use super::{ResultCode, SignatureJob};
use crate::certificate::{CertificateError, CertificateForm, CertificateHash, certificate_digest};
use crate::crypto::{EcdsaSignature, HashValue, VerifyingKey};
use crate::region::{Containment, NoGeography, check_region};
use crate::types::{
    Certificate, CertificateBuf, CertificateType, GeographicRegion, HashedId3, HashedId8, HashedId10, Time32, Time64,
    ValidityPeriod, VerificationKeyIndicator,
};

use super::job::JobKey;

/// Most certificates between a station's and its root's, the root's included.
const CHAIN_LEN_MAX: usize = 4;

/// Why a certificate is not taken into the store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// It cannot be identified, or its signature is wrong.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// It is no root: another certificate issued it.
    #[error("a root is its own issuer")]
    NotSelfSigned,
    /// It does not fit below its issuer.
    #[error("the certificate does not fit its chain: {0}")]
    Chain(ResultCode),
    /// It was revoked.
    #[error("the certificate was revoked")]
    Revoked,
    /// There are as many as fit.
    #[error("the store holds {max} certificates, as many as fit")]
    Full {
        /// How many that is.
        max: usize,
    },
}

/// A root or an authority.
#[derive(Clone, Debug)]
pub struct AuthorityRecord {
    certificate: CertificateBuf,
    pub(super) station: Station,
}

impl AuthorityRecord {
    /// The certificate.
    pub fn certificate(&self) -> &CertificateBuf {
        &self.certificate
    }

    /// Its hash.
    pub fn hash(&self) -> &CertificateHash {
        &self.station.summary.hash
    }

    /// Its identifier.
    pub fn id(&self) -> HashedId8 {
        self.station.summary.id()
    }

    /// Its key.
    pub fn key(&self) -> &Arc<VerifyingKey> {
        &self.station.key
    }

    /// Who issued it; none of a root.
    pub fn issuer(&self) -> Option<HashedId8> {
        self.station.summary.issuer
    }

    /// When it is valid.
    pub fn validity(&self) -> ValidityPeriod {
        self.station.summary.validity
    }
}

/// The way from an authority up to its root, as far as it concerns those below.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub(super) root: HashedId8,
    /// When the first of its certificates ends.
    pub(super) until: Time64,
    /// From below; who has none has that of the next.
    pub(super) regions: Box<[Arc<GeographicRegion>]>,
    /// Whether each lies in the next, as far as that is known without a map.
    pub(super) fit: Containment,
    pub(super) is_revoked: bool,
}

/// Whom a station trusts: roots, the authorities below them, and what was revoked of all that.
///
/// Certificates are verified when they are put in. What trust lists and revocation lists say is fed in by whoever
/// verified the lists.
#[derive(Clone, Debug)]
pub struct TrustStore {
    authorities: BTreeMap<HashedId8, AuthorityRecord>,
    roots: BTreeSet<HashedId8>,
    pub(super) revoked: BTreeSet<HashedId8>,
    pub(super) revoked_hashes: BTreeSet<HashedId10>,
    pub(super) revoked_linkage: BTreeSet<(u16, [u8; 9])>,
    /// By root.
    pub(super) lists: BTreeMap<HashedId8, RevocationList>,
    /// By authority; made anew whenever something changes.
    chains: BTreeMap<HashedId8, Result<Chain, ResultCode>>,
    authorities_max: usize,
    form: CertificateForm,
    /// Made when it is asked for, forgotten at each change.
    pub(super) fingerprint: OnceLock<HashValue>,
}

impl Default for TrustStore {
    fn default() -> Self {
        Self::new(CertificateForm::Canonical)
    }
}

impl TrustStore {
    /// An empty store, which identifies certificates by `form`.
    pub fn new(form: CertificateForm) -> Self {
        Self {
            authorities: BTreeMap::new(),
            roots: BTreeSet::new(),
            revoked: BTreeSet::new(),
            revoked_hashes: BTreeSet::new(),
            revoked_linkage: BTreeSet::new(),
            lists: BTreeMap::new(),
            chains: BTreeMap::new(),
            authorities_max: 4_096,
            form,
            fingerprint: OnceLock::new(),
        }
    }

    /// Trusts a root from now on. Its signature is verified.
    ///
    /// # Errors
    /// [`TrustError`].
    pub fn insert_root(&mut self, certificate: &Certificate<'_>) -> Result<HashedId8, TrustError> {
        if certificate.issuer.digest().is_some() {
            return Err(TrustError::NotSelfSigned);
        }
        check_own_region(certificate).map_err(TrustError::Chain)?;
        let key = explicit_key(certificate)?;
        let job = certificate_job(certificate, None, JobKey::New(key))?;
        let key = job.key.ready().map_err(CertificateError::from)?;
        if !(SignatureJob { key: JobKey::Ready(Arc::clone(&key)), ..job }).verify() {
            return Err(CertificateError::WrongSignature.into());
        }
        let summary = CertificateSummary::new(certificate, self.form)?;
        let id = summary.id();
        self.put(certificate, Station { summary, key })?;
        self.roots.insert(id);
        self.update_chains();
        Ok(id)
    }

    /// Takes in an authority whose issuer is there. Its signature is verified, and that it fits below its issuer.
    ///
    /// # Errors
    /// [`TrustError`].
    pub fn insert_authority(&mut self, certificate: &Certificate<'_>) -> Result<HashedId8, TrustError> {
        let issuer = self.issuer_of(certificate).map_err(TrustError::Chain)?;
        check_link(issuer, certificate).map_err(TrustError::Chain)?;
        let fit = match (self.chain(issuer.id()), &certificate.to_be_signed.region) {
            (_, None) => Containment::Inside,
            (Ok(chain), Some(region)) => fit_below(region, chain.regions.first(), &NoGeography),
            // What is above is not known now: asked again with each message.
            (Err(_), Some(_)) => Containment::Undecided,
        };
        if fit == Containment::Outside {
            return Err(TrustError::Chain(ResultCode::InconsistentRegions));
        }
        let key = explicit_key(certificate)?;
        let job = certificate_job(certificate, Some(issuer.hash()), JobKey::Ready(Arc::clone(issuer.key())))?;
        if !job.verify() {
            return Err(CertificateError::WrongSignature.into());
        }
        let key = JobKey::New(key).ready().map_err(CertificateError::from)?;
        let mut summary = CertificateSummary::new(certificate, self.form)?;
        summary.fit = fit;
        self.put_verified(certificate, Station { summary, key })
    }

    /// As [`TrustStore::insert_authority`] for one that was verified already.
    pub(super) fn put_verified(
        &mut self,
        certificate: &Certificate<'_>,
        station: Station,
    ) -> Result<HashedId8, TrustError> {
        let is_listed = station.summary.issuer.and_then(|issuer| self.chain(issuer).ok());
        let is_listed = is_listed.is_some_and(|chain| self.is_listed(chain.root, station.summary.id()));
        if is_listed || self.is_revoked(&station.summary) {
            return Err(TrustError::Revoked);
        }
        let id = station.summary.id();
        self.put(certificate, station)?;
        self.update_chains();
        Ok(id)
    }

    fn put(&mut self, certificate: &Certificate<'_>, station: Station) -> Result<(), TrustError> {
        let id = station.summary.id();
        if self.authorities.len() >= self.authorities_max && !self.authorities.contains_key(&id) {
            return Err(TrustError::Full { max: self.authorities_max });
        }
        let certificate = match certificate.received.0 {
            [] => CertificateBuf::encoded(certificate).map_err(CertificateError::from)?,
            bytes => CertificateBuf::with_rules(bytes, crate::coer::Rules::LENIENT).map_err(CertificateError::from)?,
        };
        self.authorities.insert(id, AuthorityRecord { certificate, station });
        Ok(())
    }

    /// Trusts a root or authority no longer; those below it have no chain from now on. False if it was not there.
    pub fn remove(&mut self, id: HashedId8) -> bool {
        let was_there = self.authorities.remove(&id).is_some();
        self.roots.remove(&id);
        self.update_chains();
        was_there
    }

    /// A root or authority.
    pub fn authority(&self, id: HashedId8) -> Option<&AuthorityRecord> {
        self.authorities.get(&id)
    }

    /// A root or authority by its short identifier.
    pub fn authority_by_id3(&self, id: HashedId3) -> Option<&AuthorityRecord> {
        self.authorities.values().find(|record| record.id().hashed_id3() == id)
    }

    /// All roots and authorities, by identifier.
    pub fn authorities(&self) -> impl Iterator<Item = &AuthorityRecord> {
        self.authorities.values()
    }

    /// Whether a root with this identifier is trusted.
    pub fn is_root(&self, id: HashedId8) -> bool {
        self.roots.contains(&id)
    }

    /// The authority that issued a certificate.
    pub(super) fn issuer_of(&self, certificate: &Certificate<'_>) -> Result<&AuthorityRecord, ResultCode> {
        let id = certificate.issuer.digest().ok_or(ResultCode::SpduCertificateChainChainEndedAtUntrustedRoot)?;
        self.authority(id).ok_or(ResultCode::SpduCertificateChainNotEnoughInformationToConstructChain)
    }

    /// The way from an authority up.
    pub(super) fn chain(&self, authority: HashedId8) -> Result<&Chain, ResultCode> {
        match self.chains.get(&authority) {
            Some(chain) => chain.as_ref().map_err(|code| *code),
            None => Err(ResultCode::SpduCertificateChainNotEnoughInformationToConstructChain),
        }
    }

    /// A hash of all that the store says: two stores with the same one judge alike.
    pub(super) fn fingerprint(&self) -> &HashValue {
        self.fingerprint.get_or_init(|| {
            let mut said = Vec::new();
            for record in self.authorities.values() {
                said.extend_from_slice(record.hash().value.as_bytes());
                said.push(u8::from(self.is_root(record.id())));
            }
            let count = |said: &mut Vec<u8>, count: usize| said.extend_from_slice(&(count as u64).to_be_bytes());
            count(&mut said, self.revoked.len());
            self.revoked.iter().for_each(|id| said.extend_from_slice(&id.0));
            count(&mut said, self.revoked_hashes.len());
            self.revoked_hashes.iter().for_each(|id| said.extend_from_slice(&id.0));
            count(&mut said, self.revoked_linkage.len());
            for (i_cert, value) in &self.revoked_linkage {
                said.extend_from_slice(&i_cert.to_be_bytes());
                said.extend_from_slice(value);
            }
            count(&mut said, self.lists.len());
            for (root, list) in &self.lists {
                said.extend_from_slice(&root.0);
                said.extend_from_slice(&list.due.unwrap_or(Time32(0)).0.to_be_bytes());
                count(&mut said, list.revoked.len());
                list.revoked.iter().for_each(|id| said.extend_from_slice(&id.0));
            }
            HashValue::sha256(&said)
        })
    }

    pub(super) fn update_chains(&mut self) {
        self.fingerprint = OnceLock::new();
        self.chains = self.authorities.keys().map(|id| (*id, self.find_chain(*id))).collect();
    }

    fn find_chain(&self, from: HashedId8) -> Result<Chain, ResultCode> {
        let mut regions = Vec::new();
        let mut until = Time64(u64::MAX);
        let mut fit = Containment::Inside;
        let mut is_revoked = false;
        let mut on_the_way = Vec::new();
        let mut id = from;
        for _ in 0..CHAIN_LEN_MAX {
            let record =
                self.authority(id).ok_or(ResultCode::SpduCertificateChainNotEnoughInformationToConstructChain)?;
            let summary = &record.station.summary;
            regions.extend(summary.region.clone());
            fit = fit.and(summary.fit);
            until = until.min(summary.validity.end());
            is_revoked |= self.is_revoked(summary);
            on_the_way.push(id);
            match summary.issuer {
                Some(issuer) => id = issuer,
                None if self.is_root(id) => {
                    let is_revoked = is_revoked || on_the_way.iter().any(|below| self.is_listed(id, *below));
                    return Ok(Chain { root: id, until, regions: regions.into(), fit, is_revoked });
                }
                None => return Err(ResultCode::SpduCertificateChainChainEndedAtUntrustedRoot),
            }
        }
        Err(ResultCode::SpduCertificateChainChainWasTooLongForImplementation)
    }
}

/// The key of an explicit certificate.
pub(super) fn explicit_key(
    certificate: &Certificate<'_>,
) -> Result<crate::types::PublicVerificationKey, CertificateError> {
    match &certificate.to_be_signed.verify_key_indicator {
        VerificationKeyIndicator::VerificationKey(key) if certificate.r#type == CertificateType::Explicit => Ok(*key),
        _ => Err(CertificateError::WrongType),
    }
}

/// The signature of an explicit certificate, to be verified.
pub(super) fn certificate_job(
    certificate: &Certificate<'_>,
    issuer_hash: Option<&CertificateHash>,
    key: JobKey,
) -> Result<SignatureJob, CertificateError> {
    let signature = certificate.signature.as_ref().ok_or(CertificateError::WrongType)?;
    Ok(SignatureJob {
        key,
        digest: certificate_digest(certificate, issuer_hash)?,
        signature: EcdsaSignature::from_signature(signature)?,
        certificate: None,
    })
}

/// Whether the region of a certificate is one.
fn check_own_region(certificate: &Certificate<'_>) -> Result<(), ResultCode> {
    certificate.to_be_signed.region.as_ref().map_or(Ok(()), check_region).map_err(|_| ResultCode::InvalidRegion)
}

/// Whether a certificate fits below its issuer: in time, and in what it permits; and whether its region is one.
pub(super) fn check_link(issuer: &AuthorityRecord, certificate: &Certificate<'_>) -> Result<(), ResultCode> {
    check_link_between(&issuer.certificate.view(), certificate)
}

/// As [`check_link`] for an issuer that is not in the store.
pub(super) fn check_link_between(issuer: &Certificate<'_>, certificate: &Certificate<'_>) -> Result<(), ResultCode> {
    let tbs = &certificate.to_be_signed;
    let (outer, inner) = (&issuer.to_be_signed.validity_period, &tbs.validity_period);
    if inner.start < outer.start {
        return Err(ResultCode::SpduCertificateChainInconsistentStartTimes);
    }
    if inner.end() > outer.end() {
        return Err(ResultCode::SpduCertificateChainInconsistentExpiryTimes);
    }
    let permissions = issuer.to_be_signed.cert_issue_permissions.as_deref().unwrap_or_default();
    let app = tbs.app_permissions.as_deref().unwrap_or_default();
    let issue = tbs.cert_issue_permissions.as_deref().unwrap_or_default();
    // Nothing to pass on means no certificate to issue, not even one that permits nothing.
    if permissions.is_empty()
        || !app_permissions_covered(permissions, app, 1)
        || !issue_permissions_covered(permissions, issue)
    {
        return Err(ResultCode::SpduCertificateChainInconsistentChainPermissions);
    }
    check_own_region(certificate)
}
