//! One store for authorities that work side by side.

use std::sync::{Arc, Mutex};

use chronoseal_v2x::pki::{AnswerStore, Credential, DatedRequest, PkiError, RequestIdentity, Station, StationStore};
use chronoseal_v2x::types::{CertificateBuf, HashedId8, Time64, ValidityPeriod};

use super::server::lock;
use crate::store::Store;

/// A store that is locked for one question at a time.
pub(super) struct Shared(pub(super) Arc<Mutex<Store>>);

impl StationStore for Shared {
    fn station(&mut self, canonical_id: &[u8]) -> Result<Option<Station>, PkiError> {
        lock(&self.0).station(canonical_id)
    }

    fn credential(&mut self, id: HashedId8) -> Result<Option<Credential>, PkiError> {
        lock(&self.0).credential(id)
    }

    fn add_credential(
        &mut self,
        id: HashedId8,
        certificate: &CertificateBuf,
        station: &Station,
    ) -> Result<(), PkiError> {
        lock(&self.0).add_credential(id, certificate, station)
    }

    fn add_confirmed(
        &mut self,
        station: &Station,
        request: DatedRequest,
        period: ValidityPeriod,
        at_once_max: u32,
    ) -> Result<Option<ValidityPeriod>, PkiError> {
        lock(&self.0).add_confirmed(station, request, period, at_once_max)
    }
}

impl AnswerStore for Shared {
    fn answer(&mut self, request: RequestIdentity, now: Time64) -> Result<Option<Vec<u8>>, PkiError> {
        lock(&self.0).answer(request, now)
    }

    fn keep_answer(&mut self, request: RequestIdentity, answer: Vec<u8>, until: Time64) -> Result<Vec<u8>, PkiError> {
        lock(&self.0).keep_answer(request, answer, until)
    }
}
