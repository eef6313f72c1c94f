//! What revocation lists say: of whom, by whom, and until when.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::station::CertificateSummary;
use super::trust::{Chain, TrustStore};
use crate::types::{HashedId8, HashedId10, Time32, Time64};

/// The revocation list of a root.
#[derive(Clone, Debug, Default)]
pub(super) struct RevocationList {
    pub(super) revoked: BTreeSet<HashedId8>,
    /// When the next one is due, if that was said.
    pub(super) due: Option<Time32>,
}

impl TrustStore {
    /// Takes what the revocation list of `root` says, in place of what it said before: these certificates below that root are
    /// revoked, and the next list is due at `next_update`.
    pub fn set_revocation_list(
        &mut self,
        root: HashedId8,
        revoked: impl IntoIterator<Item = HashedId8>,
        next_update: Time32,
    ) {
        let list = RevocationList { revoked: revoked.into_iter().collect(), due: Some(next_update) };
        self.lists.insert(root, list);
        self.update_chains();
    }

    /// Notes when the next revocation list of a root is due.
    pub fn set_crl_due(&mut self, root: HashedId8, next_update: Time32) {
        self.lists.entry(root).or_default().due = Some(next_update);
        self.forget_fingerprint();
    }

    /// Whether the next revocation list of a root is overdue. It is not if none was ever promised.
    pub fn is_crl_overdue(&self, root: HashedId8, now: Time64) -> bool {
        self.lists.get(&root).and_then(|list| list.due).is_some_and(|due| due.time64() < now)
    }

    /// Whether there is a revocation list of a root.
    pub fn has_revocation_list(&self, root: HashedId8) -> bool {
        self.lists.contains_key(&root)
    }

    /// Whether an authority that is known is revoked, or one above it.
    pub fn is_authority_revoked(&self, id: HashedId8) -> bool {
        self.chain(id).is_ok_and(|chain| chain.is_revoked)
    }

    /// Revokes the certificate with this identifier, whether it is there or not, whoever its root is.
    pub fn revoke(&mut self, id: HashedId8) {
        self.revoked.insert(id);
        self.update_chains();
    }

    /// Takes back what [`TrustStore::revoke`] did.
    pub fn unrevoke(&mut self, id: HashedId8) {
        self.revoked.remove(&id);
        self.update_chains();
    }

    /// Revokes a certificate as hash-based lists of IEEE 1609.2 clause 7.3 name it.
    pub fn revoke_hash(&mut self, id: HashedId10) {
        self.revoked_hashes.insert(id);
        self.update_chains();
    }

    /// Revokes all certificates with this linkage value in this period.
    pub fn revoke_linkage(&mut self, i_cert: u16, value: [u8; 9]) {
        self.revoked_linkage.insert((i_cert, value));
        self.forget_fingerprint();
    }

    /// Whether this identifier was revoked by [`TrustStore::revoke`].
    pub fn is_id_revoked(&self, id: HashedId8) -> bool {
        self.revoked.contains(&id)
    }

    pub(super) fn is_revoked(&self, summary: &CertificateSummary) -> bool {
        self.revoked.contains(&summary.id())
            || (!self.revoked_hashes.is_empty() && self.revoked_hashes.contains(&summary.id10()))
            || summary.linkage.is_some_and(|linkage| self.revoked_linkage.contains(&linkage))
    }

    /// Whether the list of `root` has a certificate below it.
    pub(super) fn is_listed(&self, root: HashedId8, id: HashedId8) -> bool {
        self.lists.get(&root).is_some_and(|list| list.revoked.contains(&id))
    }

    /// Whether a certificate below `chain` is revoked, or one of the chain.
    pub(super) fn is_revoked_below(&self, chain: &Chain, summary: &CertificateSummary) -> bool {
        chain.is_revoked || self.is_revoked(summary) || self.is_listed(chain.root, summary.id())
    }

    pub(super) fn forget_fingerprint(&mut self) {
        self.fingerprint = OnceLock::new();
    }
}
