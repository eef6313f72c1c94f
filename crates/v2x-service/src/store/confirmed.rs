//! Tickets that were confirmed: counted while they are valid, and known by their request while that could come again.

use chronoseal_v2x::coer::{Decode, Encode};
use chronoseal_v2x::pki::{DatedRequest, PkiError, Station};
use chronoseal_v2x::types::{Time64, ValidityPeriod};

use super::answers::time;
use super::{Store, StoreError, Value};

/// How long a row is kept after it was of use last `[us]`: until every statement has ended that began before.
const KEPT_US: u64 = 3_600_000_000;

/// Rows of stores from before requests were dated. A period ended an hour before it was confirmed at the earliest, if it was
/// aligned to the hour, and no request was taken that was more than 300 s from then, so that its time is not taken after another 300.
pub(super) const DATE_OLD_ROWS: &str = "UPDATE confirmed SET until = ends + 4201000000 WHERE until IS NULL";

impl Store {
    pub(super) fn add_confirmed_ticket(
        &mut self,
        station: &Station,
        request: DatedRequest,
        period: ValidityPeriod,
        at_once_max: u32,
    ) -> Result<Option<ValidityPeriod>, PkiError> {
        let identity: Value = request.identity.0[..].into();
        let parameters = [
            time(period.start.time64()),
            time(period.end()),
            identity.clone(),
            Value::Octets(period.to_coer()?),
            time(request.until),
            Value::Octets(station.canonical_id.clone()),
            Value::Integer(at_once_max.into()),
        ];
        let station = [Value::Octets(station.canonical_id.clone())];
        // In turn, so that two requests at once, at this server or another one on the same database, cannot both be the last
        // that is allowed, or the same one.
        let added = self.database.run_in_turn(
            ("SELECT canonical_id FROM stations WHERE canonical_id = $1", &station),
            "INSERT INTO confirmed (canonical_id, starts, ends, request, period, until) \
             SELECT canonical_id, CAST($1 AS BIGINT), CAST($2 AS BIGINT), $3, $4, CAST($5 AS BIGINT) FROM stations \
             WHERE canonical_id = $6 AND \
             (SELECT COUNT(*) FROM confirmed WHERE canonical_id = $6 AND starts < $2 AND ends > $1) < $7 AND \
             NOT EXISTS (SELECT 1 FROM forgotten WHERE what = 'confirmed' AND until >= $5) \
             ON CONFLICT (request) DO NOTHING",
            &parameters,
        )?;
        if added == 1 {
            return Ok(Some(period));
        }
        let sql = "SELECT period FROM confirmed WHERE request = $1";
        match self.database.rows(sql, &[identity])?.first().map(Vec::as_slice) {
            None if self.is_forgotten(request.until)? => Err(PkiError::Forgotten),
            None => Ok(None),
            Some([Value::Octets(period)]) => Ok(Some(ValidityPeriod::from_coer(period)?)),
            Some(_) => Err(StoreError::Damaged("confirmed ticket").into()),
        }
    }

    fn is_forgotten(&mut self, until: Time64) -> Result<bool, StoreError> {
        let sql = "SELECT what FROM forgotten WHERE what = 'confirmed' AND until >= $1";
        Ok(!self.database.rows(sql, &[time(until)])?.is_empty())
    }

    /// Forgets confirmed tickets that are over and whose requests are not taken any more.
    ///
    /// A request that was forgotten is not confirmed again, whatever the clock says later: the store remembers the latest of the
    /// times up to which forgotten requests were taken, and refuses everything up to that. With a clock that is right, no
    /// such request is taken anyway. With one that was ahead for a while, only rows that were there then are gone, so that requests
    /// made after it was set right are of a later time, and taken.
    ///
    /// # Errors
    /// Those of the database.
    pub fn forget_confirmed(&mut self, now: Time64) -> Result<(), StoreError> {
        let over = time(Time64(now.0.saturating_sub(KEPT_US)));
        // First what is not to be confirmed any more, then the rows that said so.
        self.database.run(
            "INSERT INTO forgotten (what, until) SELECT 'confirmed', latest FROM \
             (SELECT MAX(until) AS latest FROM confirmed WHERE ends <= $1 AND until <= $1) AS gone WHERE latest IS NOT NULL \
             ON CONFLICT (what) DO UPDATE SET until = EXCLUDED.until WHERE forgotten.until < EXCLUDED.until",
            std::slice::from_ref(&over),
        )?;
        self.database.run(
            "DELETE FROM confirmed WHERE ends <= $1 AND until <= $1 AND \
             until <= (SELECT until FROM forgotten WHERE what = 'confirmed')",
            &[over],
        )?;
        Ok(())
    }
}
