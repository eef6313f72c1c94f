//! PostgreSQL, by its address.

use std::error::Error;

use postgres::types::{FromSql, ToSql, Type};
use postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::tls::Protection;
use super::{Database, StoreError, Value};

pub(super) struct Postgres {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    client: Client,
}

impl Postgres {
    pub(super) fn connect(url: &str) -> Result<Self, StoreError> {
        let (url, protection) = Protection::of(url)?;
        let mut config: Config = url.parse().map_err(reason)?;
        config.ssl_mode(protection.mode());
        let tls = protection.connector()?;
        let client = connect(&config, tls.as_ref())?;
        Ok(Self { config, tls, client })
    }

    /// The connection, made anew if the server ended it.
    fn client(&mut self) -> Result<&mut Client, StoreError> {
        if self.client.is_closed() {
            self.client = connect(&self.config, self.tls.as_ref())?;
        }
        Ok(&mut self.client)
    }
}

fn connect(config: &Config, tls: Option<&MakeRustlsConnect>) -> Result<Client, StoreError> {
    match tls {
        Some(tls) => config.connect(tls.clone()),
        None => config.connect(NoTls),
    }
    .map_err(reason)
}

/// With what the server says: the error alone names only its kind.
fn reason(error: postgres::Error) -> StoreError {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    StoreError::Postgres(text)
}

fn parameters(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values
        .iter()
        .map(|value| match value {
            Value::Integer(number) => number as &(dyn ToSql + Sync),
            Value::Text(text) => text,
            Value::Octets(octets) => octets,
        })
        .collect()
}

impl Database for Postgres {
    fn run(&mut self, sql: &str, values: &[Value]) -> Result<u64, StoreError> {
        self.client()?.execute(sql, &parameters(values)).map_err(reason)
    }

    /// The row is locked first, in a statement of its own: the next one then sees what others committed before.
    fn run_in_turn(&mut self, row: (&str, &[Value]), sql: &str, values: &[Value]) -> Result<u64, StoreError> {
        let mut transaction = self.client()?.transaction().map_err(reason)?;
        transaction.execute(&format!("{} FOR UPDATE", row.0), &parameters(row.1)).map_err(reason)?;
        let count = transaction.execute(sql, &parameters(values)).map_err(reason)?;
        transaction.commit().map_err(reason)?;
        Ok(count)
    }

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Vec<Value>>, StoreError> {
        let rows = self.client()?.query(sql, &parameters(values)).map_err(reason)?;
        rows.iter().map(|row| (0..row.len()).map(|column| row.try_get(column).map_err(reason)).collect()).collect()
    }
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(match *kind {
            Type::INT8 => Self::Integer(i64::from_sql(kind, raw)?),
            Type::TEXT => Self::Text(String::from_sql(kind, raw)?),
            _ => Self::Octets(Vec::from_sql(kind, raw)?),
        })
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::INT8 | Type::TEXT | Type::BYTEA)
    }
}
