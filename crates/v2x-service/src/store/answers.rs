//! Answers that were given, kept for copies of their requests.

use chronoseal_v2x::pki::{AnswerStore, PkiError, RequestIdentity};
use chronoseal_v2x::types::Time64;

use super::{Store, StoreError, Value};

pub(super) fn time(at: Time64) -> Value {
    Value::Integer(i64::try_from(at.0).unwrap_or(i64::MAX))
}

impl Store {
    /// Forgets the answers whose requests are not taken any more.
    ///
    /// # Errors
    /// Those of the database.
    pub fn forget_answers(&mut self, now: Time64) -> Result<(), StoreError> {
        self.database.run("DELETE FROM answers WHERE until <= $1", &[time(now)])?;
        Ok(())
    }

    fn kept(&mut self, sql: &str, parameters: &[Value]) -> Result<Option<Vec<u8>>, StoreError> {
        match self.database.rows(sql, parameters)?.into_iter().next().as_deref() {
            None => Ok(None),
            Some([Value::Octets(answer)]) => Ok(Some(answer.clone())),
            Some(_) => Err(StoreError::Damaged("answer")),
        }
    }
}

impl AnswerStore for Store {
    fn answer(&mut self, request: RequestIdentity, now: Time64) -> Result<Option<Vec<u8>>, PkiError> {
        let sql = "SELECT answer FROM answers WHERE request = $1 AND until > $2";
        Ok(self.kept(sql, &[request.0[..].into(), time(now)])?)
    }

    fn keep_answer(&mut self, request: RequestIdentity, answer: Vec<u8>, until: Time64) -> Result<Vec<u8>, PkiError> {
        let added = self.database.run(
            "INSERT INTO answers (request, answer, until) VALUES ($1, $2, $3) ON CONFLICT (request) DO NOTHING",
            &[request.0[..].into(), answer.as_slice().into(), time(until)],
        )?;
        if added == 1 {
            return Ok(answer);
        }
        let first = self.kept("SELECT answer FROM answers WHERE request = $1", &[request.0[..].into()])?;
        Ok(first.ok_or(StoreError::Damaged("answer"))?)
    }
}
