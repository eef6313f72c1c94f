//! SQLite, in a file.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};

use super::{Database, StoreError, Value};
use crate::private::private_file;

pub(super) struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        // For its owner alone; the files SQLite puts beside it get the same rights.
        private_file(path).map_err(|source| StoreError::File { path: path.to_owned(), source })?;
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        // A commit is on the disk before it is answered; readers of other processes do not wait for it.
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        Ok(Self { connection })
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Octets(octets) => ValueRef::Blob(octets),
        }))
    }
}

impl Database for Sqlite {
    fn run(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, StoreError> {
        Ok(self.connection.prepare_cached(sql)?.execute(rusqlite::params_from_iter(parameters))? as u64)
    }

    /// A statement that writes has the whole file for itself from its beginning.
    fn run_in_turn(&mut self, _: (&str, &[Value]), sql: &str, parameters: &[Value]) -> Result<u64, StoreError> {
        self.run(sql, parameters)
    }

    fn rows(&mut self, sql: &str, parameters: &[Value]) -> Result<Vec<Vec<Value>>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let columns = statement.column_count();
        let mut rows = statement.query(rusqlite::params_from_iter(parameters))?;
        let mut values = Vec::new();
        while let Some(row) = rows.next()? {
            let row: Result<Vec<Value>, StoreError> = (0..columns).map(|column| value(row.get_ref(column)?)).collect();
            values.push(row?);
        }
        Ok(values)
    }
}

fn value(value: ValueRef<'_>) -> Result<Value, StoreError> {
    match value {
        ValueRef::Integer(number) => Ok(Value::Integer(number)),
        ValueRef::Text(text) => {
            String::from_utf8(text.to_vec()).map(Value::Text).map_err(|_| StoreError::Damaged("text"))
        }
        ValueRef::Blob(octets) => Ok(Value::Octets(octets.to_vec())),
        ValueRef::Null | ValueRef::Real(_) => Err(StoreError::Damaged("a kind nobody wrote")),
    }
}
