//! Misbehaviour reports that were taken.

use chronoseal_v2x::misbehaviour::{CamObservation, Examined};
use chronoseal_v2x::types::{HashedId8, Time64};

use super::answers::time;
use super::{Store, StoreError, Value};

/// Reports that are kept; with so many, further ones are refused until somebody has looked at them.
const REPORTS_MAX: i64 = 100_000;

/// What became of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filed {
    /// It is kept.
    New,
    /// It is there already, or another of the same reporter that says the same of the same ticket.
    Known,
    /// There is no room for it.
    Full,
}

/// A report as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// By what it is known.
    pub id: Vec<u8>,
    /// The ticket of whom it is about.
    pub subject: HashedId8,
    /// The reporter's ticket.
    pub reporter: HashedId8,
    /// When it was made.
    pub made_at: Time64,
    /// When it was taken.
    pub taken_at: Time64,
    /// What it shows, by the standard's names.
    pub observations: Vec<String>,
    /// What the reporter signed.
    pub signed: Vec<u8>,
}

impl Store {
    /// Keeps a report.
    ///
    /// # Errors
    /// Those of the database.
    pub fn file_report(&mut self, report: &Examined, now: Time64) -> Result<Filed, StoreError> {
        let names: Vec<&str> = report.observations.iter().map(|one| CamObservation::name(*one)).collect();
        let id: Value = report.id[..].into();
        let count = self.database.rows("SELECT COUNT(*) FROM reports", &[])?;
        let what = Value::Text(names.join(" "));
        let (subject, reporter): (Value, Value) = (report.subject.0[..].into(), report.reporter.0[..].into());
        let same = "SELECT made FROM reports WHERE id = $1 OR (subject = $2 AND reporter = $3 AND observations = $4)";
        let known = [id.clone(), subject.clone(), reporter.clone(), what.clone()];
        let is_known = !self.database.rows(same, &known)?.is_empty();
        match count.first().map(Vec::as_slice) {
            _ if is_known => return Ok(Filed::Known),
            Some([Value::Integer(count)]) if *count < REPORTS_MAX => {}
            _ => return Ok(Filed::Full),
        }
        let added = self.database.run(
            "INSERT INTO reports (id, subject, reporter, made, taken, observations, signed) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING",
            &[id, subject, reporter, time(report.made_at), time(now), what, report.signed.as_slice().into()],
        )?;
        Ok(if added == 1 { Filed::New } else { Filed::Known })
    }

    /// The reports that were taken, by subject and time.
    ///
    /// # Errors
    /// Those of the database.
    pub fn reports(&mut self) -> Result<Vec<Report>, StoreError> {
        let sql =
            "SELECT id, subject, reporter, made, taken, observations, signed FROM reports ORDER BY subject, taken, id";
        self.database.rows(sql, &[])?.into_iter().map(|row| report(row).ok_or(StoreError::Damaged("report"))).collect()
    }
}

fn report(row: Vec<Value>) -> Option<Report> {
    let [
        Value::Octets(id),
        Value::Octets(subject),
        Value::Octets(reporter),
        Value::Integer(made),
        Value::Integer(taken),
        Value::Text(observations),
        Value::Octets(signed),
    ] = <[Value; 7]>::try_from(row).ok()?
    else {
        return None;
    };
    let id8 = |octets: Vec<u8>| <[u8; 8]>::try_from(octets).ok().map(HashedId8);
    let at = |us: i64| u64::try_from(us).ok().map(Time64);
    Some(Report {
        id,
        subject: id8(subject)?,
        reporter: id8(reporter)?,
        made_at: at(made)?,
        taken_at: at(taken)?,
        observations: observations.split_whitespace().map(str::to_owned).collect(),
        signed,
    })
}
