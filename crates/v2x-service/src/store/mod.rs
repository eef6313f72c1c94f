//! What authorities remember: in a file, or in a database server.
//!
//! It does *not* keep keys or the authorities' own certificates, and it decides nothing: [`Store`] answers the
//! questions of [`StationStore`], keeps lists, and keeps the answers that were given, as they were sent, for as long as
//! the same request could come again. The same SQL runs on SQLite and on PostgreSQL.

mod answers;
mod confirmed;
mod postgres;
mod reports;
mod serving;
mod sqlite;
mod tls;

pub use reports::{Filed, Report};

use std::path::{Path, PathBuf};

use chronoseal_v2x::coer::{Decode, Encode};
use chronoseal_v2x::crypto::PublicPoint;
use chronoseal_v2x::message::SignerCertificate;
use chronoseal_v2x::pki::{Credential, DatedRequest, ListKind, PkiError, Station, StationStore};
use chronoseal_v2x::types::{CertificateBuf, HashedId8, PublicVerificationKey, ValidityPeriod};

/// Why a store does not work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// SQLite says so.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// PostgreSQL says so.
    #[error("PostgreSQL: {0}")]
    Postgres(String),
    /// A record that nobody here wrote.
    #[error("damaged record of {0}")]
    Damaged(&'static str),
    /// A station that is registered already, with another key.
    #[error("station {id} is registered with another canonical key; to replace that key, register with --replace")]
    OtherKey {
        /// Its canonical identifier, in hexadecimal.
        id: String,
    },
    /// A station that was revoked.
    #[error("station {id} is revoked; to bring it back, register with --replace")]
    Revoked {
        /// Its canonical identifier, in hexadecimal.
        id: String,
    },
    /// A file that cannot be made.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// How the connection to PostgreSQL is to be protected, in a way that is not there.
    #[error("{found} in the address of PostgreSQL: {expected}")]
    Protection {
        /// What the address says.
        found: String,
        /// What to write.
        expected: &'static str,
    },
    /// Root certificates that cannot be used.
    #[error("{}: {reason}; it should hold the certificates of the roots that may vouch for PostgreSQL, in PEM", path.display())]
    Roots {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A file that another server serves from.
    #[error(
        "another server serves from {}; stop it, give this one a store of its own, or let both use one PostgreSQL server",
        _0.display()
    )]
    Served(PathBuf),
    /// Neither a file nor a server.
    #[error("a store is a file, or postgresql://user@host/database; not `{0}`")]
    Url(String),
}

impl From<StoreError> for PkiError {
    fn from(error: StoreError) -> Self {
        Self::Store(error.to_string())
    }
}

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Integer(i64),
    Text(String),
    Octets(Vec<u8>),
}

impl From<&[u8]> for Value {
    fn from(octets: &[u8]) -> Self {
        Self::Octets(octets.to_vec())
    }
}

/// A database that understands a common subset of SQL: types BIGINT, TEXT and BYTEA, parameters `$1` upwards in the
/// order of their first use.
pub(crate) trait Database: Send {
    fn run(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, StoreError>;

    fn rows(&mut self, sql: &str, parameters: &[Value]) -> Result<Vec<Vec<Value>>, StoreError>;

    /// Runs a statement that counts before it writes, one at a time for each row that `row` finds, among all who use the
    /// database.
    fn run_in_turn(&mut self, row: (&str, &[Value]), sql: &str, parameters: &[Value]) -> Result<u64, StoreError>;
}

const SCHEMA: &[&str] = &[
    "CREATE TABLE IF NOT EXISTS stations (canonical_id BYTEA PRIMARY KEY, canonical_key BYTEA NOT NULL, \
     permissions TEXT NOT NULL, revoked BIGINT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS credentials (id BYTEA PRIMARY KEY, certificate BYTEA NOT NULL, \
     canonical_id BYTEA NOT NULL REFERENCES stations)",
    "CREATE TABLE IF NOT EXISTS confirmed (canonical_id BYTEA NOT NULL REFERENCES stations, starts BIGINT NOT NULL, \
     ends BIGINT NOT NULL, request BYTEA, period BYTEA, until BIGINT)",
    "CREATE INDEX IF NOT EXISTS confirmed_by_station ON confirmed (canonical_id, ends)",
    "CREATE INDEX IF NOT EXISTS confirmed_by_end ON confirmed (ends)",
    "CREATE TABLE IF NOT EXISTS forgotten (what TEXT PRIMARY KEY, until BIGINT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS trusted_roots (id BYTEA PRIMARY KEY, certificate BYTEA NOT NULL, url TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS revoked_authorities (id BYTEA PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS lists (kind BIGINT NOT NULL, age BIGINT NOT NULL, message BYTEA NOT NULL, \
     PRIMARY KEY (kind, age))",
    "CREATE TABLE IF NOT EXISTS answers (request BYTEA PRIMARY KEY, answer BYTEA NOT NULL, until BIGINT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS reports (id BYTEA PRIMARY KEY, subject BYTEA NOT NULL, reporter BYTEA NOT NULL, \
     made BIGINT NOT NULL, taken BIGINT NOT NULL, observations TEXT NOT NULL, signed BYTEA NOT NULL)",
];

/// What stores from before requests were remembered, and from before they were forgotten, lack: a column, and what makes it.
const ADDED_COLUMNS: &[(&str, &str)] = &[
    ("request", "ALTER TABLE confirmed ADD COLUMN request BYTEA"),
    ("period", "ALTER TABLE confirmed ADD COLUMN period BYTEA"),
    ("until", "ALTER TABLE confirmed ADD COLUMN until BIGINT"),
];
/// Need those columns.
const ON_ADDED_COLUMNS: &[&str] =
    &["CREATE UNIQUE INDEX IF NOT EXISTS confirmed_by_request ON confirmed (request)", confirmed::DATE_OLD_ROWS];

/// How many trust lists are kept for deltas: a sequence number means one list only within a round of 255.
const LISTS_KEPT: i64 = 200;

/// The store of an authority.
pub struct Store {
    database: Box<dyn Database>,
    /// `None` for a database server.
    file: Option<PathBuf>,
    /// Held for as long as the store is open.
    _serving: Option<serving::Serving>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Store")
    }
}

impl Store {
    /// A file, made if it is not there.
    ///
    /// # Errors
    /// [`StoreError::Sqlite`].
    pub fn sqlite(path: &Path) -> Result<Self, StoreError> {
        let store = Self::prepared(Box::new(sqlite::Sqlite::open(path)?))?;
        Ok(Self { file: Some(path.to_owned()), ..store })
    }

    /// The same store for a server, which has a file for itself until the store is dropped; a database server is for several.
    ///
    /// # Errors
    /// [`StoreError::Served`] if another server serves from the file.
    pub fn for_server(self) -> Result<Self, StoreError> {
        let serving = self.file.as_deref().map(serving::Serving::begin).transpose()?;
        Ok(Self { _serving: serving, ..self })
    }

    /// A server, by its address in libpq's form, `postgresql://user@host/database`, with TLS if it ends in `?sslmode=require`,
    /// which takes whatever certificate the server has, or in `?sslmode=verify-full&sslrootcert=FILE`.
    ///
    /// # Errors
    /// [`StoreError::Postgres`], [`StoreError::Protection`], [`StoreError::Roots`].
    pub fn postgres(url: &str) -> Result<Self, StoreError> {
        Self::prepared(Box::new(postgres::Postgres::connect(url)?))
    }

    /// Whichever of both `url` means; a file may begin with `sqlite:`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open(url: &str) -> Result<Self, StoreError> {
        if url.starts_with("postgresql://") || url.starts_with("postgres://") {
            Self::postgres(url)
        } else if let Some(path) = url.strip_prefix("sqlite:") {
            Self::sqlite(Path::new(path))
        } else if url.is_empty() || url.contains("://") {
            Err(StoreError::Url(url.to_owned()))
        } else {
            Self::sqlite(Path::new(url))
        }
    }

    fn prepared(mut database: Box<dyn Database>) -> Result<Self, StoreError> {
        for statement in SCHEMA {
            database.run(statement, &[])?;
        }
        for (column, statement) in ADDED_COLUMNS {
            if database.rows(&format!("SELECT {column} FROM confirmed LIMIT 0"), &[]).is_err() {
                database.run(statement, &[])?;
            }
        }
        for statement in ON_ADDED_COLUMNS {
            database.run(statement, &[])?;
        }
        Ok(Self { database, file: None, _serving: None })
    }

    /// Takes in a station, or changes its permissions. It does not replace the key of a station, and it does not bring back one
    /// that was revoked; [`Store::replace_station`] does.
    ///
    /// # Errors
    /// [`StoreError::OtherKey`], [`StoreError::Revoked`]; those of the database.
    pub fn register(&mut self, station: &Station) -> Result<(), StoreError> {
        let changed = self
            .write_station(station, "WHERE stations.canonical_key = EXCLUDED.canonical_key AND stations.revoked = 0")?;
        if changed {
            return Ok(());
        }
        let known = self.find_station(&station.canonical_id)?.ok_or(StoreError::Damaged("station"))?;
        let id = station.name();
        Err(if known.is_revoked { StoreError::Revoked { id } } else { StoreError::OtherKey { id } })
    }

    /// Takes in a station, or replaces all that is known of it, its key among it.
    ///
    /// # Errors
    /// Those of the database.
    pub fn replace_station(&mut self, station: &Station) -> Result<(), StoreError> {
        self.write_station(station, "").map(|_| ())
    }

    /// Writes a station down, over one that is there if it meets the condition. False if it does not.
    fn write_station(&mut self, station: &Station, condition: &str) -> Result<bool, StoreError> {
        let key = station.canonical_key.to_verification_key().to_coer().map_err(|_| StoreError::Damaged("station"))?;
        let parameters = [
            Value::Octets(station.canonical_id.clone()),
            Value::Octets(key),
            Value::Text(station.permissions.to_string()),
            Value::Integer(station.is_revoked.into()),
        ];
        let sql = format!(
            "INSERT INTO stations (canonical_id, canonical_key, permissions, revoked) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (canonical_id) DO UPDATE SET canonical_key = EXCLUDED.canonical_key, \
             permissions = EXCLUDED.permissions, revoked = EXCLUDED.revoked {condition}"
        );
        Ok(self.database.run(&sql, &parameters)? == 1)
    }

    /// Ends a station; false if there is none.
    ///
    /// # Errors
    /// Those of the database.
    pub fn revoke_station(&mut self, canonical_id: &[u8]) -> Result<bool, StoreError> {
        let changed =
            self.database.run("UPDATE stations SET revoked = 1 WHERE canonical_id = $1", &[canonical_id.into()])?;
        Ok(changed == 1)
    }

    /// Trusts the authorities of a root that its distribution centre at `url` lists.
    ///
    /// # Errors
    /// Those of the database.
    pub fn trust(&mut self, root: &SignerCertificate, url: &str) -> Result<(), StoreError> {
        let parameters = [
            root.id().0[..].into(),
            root.certificate().as_bytes().into(),
            Value::Text(url.trim_end_matches('/').to_owned()),
        ];
        self.database.run(
            "INSERT INTO trusted_roots (id, certificate, url) VALUES ($1, $2, $3) \
             ON CONFLICT (id) DO UPDATE SET url = EXCLUDED.url",
            &parameters,
        )?;
        Ok(())
    }

    /// The roots trusted, each with its distribution centre.
    ///
    /// # Errors
    /// Those of the database.
    pub fn trusted_roots(&mut self) -> Result<Vec<(SignerCertificate, String)>, StoreError> {
        let rows = self.database.rows("SELECT certificate, url FROM trusted_roots ORDER BY id", &[])?;
        let read = |row: &Vec<Value>| match row.as_slice() {
            [Value::Octets(certificate), Value::Text(url)] => Some((signer(certificate)?, url.clone())),
            _ => None,
        };
        rows.iter().map(|row| read(row).ok_or(StoreError::Damaged("trusted root"))).collect()
    }

    /// Puts an authority on the revocation list.
    ///
    /// # Errors
    /// Those of the database.
    pub fn revoke_authority(&mut self, id: HashedId8) -> Result<(), StoreError> {
        let sql = "INSERT INTO revoked_authorities (id) VALUES ($1) ON CONFLICT (id) DO NOTHING";
        self.database.run(sql, &[id.0[..].into()])?;
        Ok(())
    }

    /// The revocation list.
    ///
    /// # Errors
    /// Those of the database.
    pub fn revoked_authorities(&mut self) -> Result<Vec<HashedId8>, StoreError> {
        let rows = self.database.rows("SELECT id FROM revoked_authorities ORDER BY id", &[])?;
        let read = |row: &Vec<Value>| match row.as_slice() {
            [Value::Octets(id)] => id.as_slice().try_into().ok().map(HashedId8),
            _ => None,
        };
        rows.iter().map(|row| read(row).ok_or(StoreError::Damaged("revoked authority"))).collect()
    }

    /// Keeps a signed full trust list as the newest of its kind.
    ///
    /// # Errors
    /// Those of the database.
    pub fn add_list(&mut self, kind: ListKind, message: &[u8]) -> Result<(), StoreError> {
        let kind = Value::Integer(kind_number(kind));
        self.database.run(
            "INSERT INTO lists (kind, age, message) VALUES \
             ($1, (SELECT COALESCE(MAX(age), 0) + 1 FROM lists WHERE kind = $1), $2)",
            &[kind.clone(), message.into()],
        )?;
        self.database.run(
            "DELETE FROM lists WHERE kind = $1 AND age <= (SELECT MAX(age) FROM lists WHERE kind = $1) - $2",
            &[kind, Value::Integer(LISTS_KEPT)],
        )?;
        Ok(())
    }

    /// The full trust lists kept, the newest first.
    ///
    /// # Errors
    /// Those of the database.
    pub fn lists(&mut self, kind: ListKind) -> Result<Vec<Vec<u8>>, StoreError> {
        let sql = "SELECT message FROM lists WHERE kind = $1 ORDER BY age DESC";
        let rows = self.database.rows(sql, &[Value::Integer(kind_number(kind))])?;
        let read = |row: Vec<Value>| match row.into_iter().next() {
            Some(Value::Octets(message)) => Ok(message),
            _ => Err(StoreError::Damaged("trust list")),
        };
        rows.into_iter().map(read).collect()
    }

    fn find_station(&mut self, canonical_id: &[u8]) -> Result<Option<Station>, StoreError> {
        let sql = "SELECT canonical_key, permissions, revoked FROM stations WHERE canonical_id = $1";
        let rows = self.database.rows(sql, &[canonical_id.into()])?;
        let Some(row) = rows.first() else { return Ok(None) };
        let [Value::Octets(key), Value::Text(permissions), Value::Integer(revoked)] = row.as_slice() else {
            return Err(StoreError::Damaged("station"));
        };
        let damaged = || StoreError::Damaged("station");
        let key = PublicVerificationKey::from_coer(key).map_err(|_| damaged())?;
        Ok(Some(Station {
            canonical_id: canonical_id.to_vec(),
            canonical_key: PublicPoint::from_verification_key(&key).map_err(|_| damaged())?,
            permissions: permissions.parse().map_err(|_| damaged())?,
            is_revoked: *revoked != 0,
        }))
    }

    fn find_credential(&mut self, id: HashedId8) -> Result<Option<Credential>, StoreError> {
        let sql = "SELECT certificate, canonical_id FROM credentials WHERE id = $1";
        let rows = self.database.rows(sql, &[id.0[..].into()])?;
        let Some(row) = rows.first() else { return Ok(None) };
        let damaged = || StoreError::Damaged("credential");
        let [Value::Octets(certificate), Value::Octets(canonical_id)] = row.as_slice() else {
            return Err(damaged());
        };
        let certificate = signer(certificate).ok_or_else(damaged)?;
        let station = self.find_station(canonical_id)?.ok_or_else(damaged)?;
        Ok(Some(Credential { certificate, station }))
    }
}

impl StationStore for Store {
    fn station(&mut self, canonical_id: &[u8]) -> Result<Option<Station>, PkiError> {
        Ok(self.find_station(canonical_id)?)
    }

    fn credential(&mut self, id: HashedId8) -> Result<Option<Credential>, PkiError> {
        Ok(self.find_credential(id)?)
    }

    fn add_credential(
        &mut self,
        id: HashedId8,
        certificate: &CertificateBuf,
        station: &Station,
    ) -> Result<(), PkiError> {
        let parameters = [id.0[..].into(), certificate.as_bytes().into(), Value::Octets(station.canonical_id.clone())];
        let sql = "INSERT INTO credentials (id, certificate, canonical_id) VALUES ($1, $2, $3)";
        self.database.run(sql, &parameters)?;
        Ok(())
    }

    fn add_confirmed(
        &mut self,
        station: &Station,
        request: DatedRequest,
        period: ValidityPeriod,
        at_once_max: u32,
    ) -> Result<Option<ValidityPeriod>, PkiError> {
        self.add_confirmed_ticket(station, request, period, at_once_max)
    }
}

fn signer(certificate: &[u8]) -> Option<SignerCertificate> {
    SignerCertificate::new(CertificateBuf::new(certificate).ok()?).ok()
}

fn kind_number(kind: ListKind) -> i64 {
    match kind {
        ListKind::Root => 1,
        ListKind::TrustListManager => 2,
    }
}
