//! DBC databases: which messages a bus has, how long they are, who sends them and how often.
//!
//! Parsed by the crate `can-dbc`. Beyond it, this reader holds identifiers and lengths against what frames have, and tells
//! the line.

use std::borrow::Cow;
use std::collections::BTreeMap;

use can_dbc::{AttributeValue, Dbc, DbcError, Message, MessageId};
use chronoseal_core::Duration;
use chronoseal_wire::can::{CanId, Dlc};

use crate::collector::shortened;
use crate::text::can_id;

/// Bytes of a database that are read.
pub const DATABASE_LEN_MAX: usize = 16_000_000;

/// The identifier under which editors keep signals that belong to no message.
const INDEPENDENT_SIGNALS: &str = "VECTOR__INDEPENDENT_SIG_MSG";
/// The flag of 29-bit identifiers in a database.
const EXTENDED_FLAG: u64 = 0x8000_0000;

/// What a database says of one bus.
#[derive(Clone, PartialEq, Debug)]
pub struct Database {
    /// Names of its nodes, in the order of the file.
    pub nodes: Vec<String>,
    /// Its messages, in the order of the file.
    pub messages: Vec<DatabaseMessage>,
    /// Names of messages that are longer than a frame (transport protocols) and so left out.
    pub left_out: Vec<String>,
}

/// One message.
#[derive(Clone, PartialEq, Debug)]
pub struct DatabaseMessage {
    /// Its identifier.
    pub id: CanId,
    /// Its name.
    pub name: String,
    /// Its data `[byte]`.
    pub len: usize,
    /// True if it is sent in FD frames: by its length, or by the attribute `VFrameFormat`.
    pub fd: bool,
    /// The node that sends it, if one is named.
    pub sender: Option<String>,
    /// The nodes that take one of its signals, each once; none if none is named.
    pub receivers: Vec<String>,
    /// Attribute `GenMsgCycleTime`; `None` if it is 0 or not there.
    pub cycle_time: Option<Duration>,
    /// Its signals.
    pub signals: Vec<DatabaseSignal>,
}

/// One signal.
#[derive(Clone, PartialEq, Debug)]
pub struct DatabaseSignal {
    /// Its name.
    pub name: String,
    /// Its unit as written; may be empty.
    pub unit: String,
    /// Its length `[bit]`.
    pub len_bits: u64,
}

/// Why a database cannot be used.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// More than [`DATABASE_LEN_MAX`].
    #[error("the database has {0} bytes; at most {DATABASE_LEN_MAX} are read")]
    TooLong(usize),
    /// Not the language of databases.
    #[error("DBC, line {line}: this cannot be read: {reason}; mend the line, or export the database again")]
    Syntax {
        /// From 1.
        line: u64,
        /// What the parser says.
        reason: String,
    },
    /// A number out of range somewhere.
    #[error("DBC: {0}; export the database again")]
    Value(String),
    /// A number that is no identifier.
    #[error(
        "DBC, line {line}: {raw} is no identifier; write up to 2047, or for 29 bits 2147483648 and the identifier together"
    )]
    Identifier {
        /// From 1.
        line: u64,
        /// As written.
        raw: u64,
    },
    /// Two messages with one identifier.
    #[error("DBC, line {line}: message {name} has the identifier {id} that {other} has already; give each its own")]
    SameIdentifier {
        /// From 1.
        line: u64,
        /// The later one.
        name: String,
        /// Of both.
        id: CanId,
        /// The earlier one.
        other: String,
    },
    /// No message in it.
    #[error("the database has no message; a message begins with `BO_`")]
    Empty,
}

/// True if the bytes begin like a database: with one of its sections.
pub fn is_database(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4000)]);
    let mut lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.next().is_some_and(|line| {
        ["VERSION", "NS_", "BS_", "BU_", "BO_ "].iter().any(|section| line.starts_with(section)) && !line.contains(',')
    })
}

/// Reads a database. Text that is no UTF-8 is taken as Windows-1252, which editors write.
///
/// # Errors
/// [`DatabaseError`], with the line where there is one.
pub fn read_dbc(bytes: &[u8]) -> Result<Database, DatabaseError> {
    if bytes.len() > DATABASE_LEN_MAX {
        return Err(DatabaseError::TooLong(bytes.len()));
    }
    let text = match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => can_dbc::decode_cp1252(bytes).unwrap_or_else(|| String::from_utf8_lossy(bytes)),
    };
    // The parser keeps 16 bits of a number without the flag for 29: they are looked at before it does.
    let lines = identifier_lines(&text)?;
    let dbc = Dbc::try_from(&*text).map_err(|error| malformed(&error))?;

    let mut first: BTreeMap<CanId, &str> = BTreeMap::new();
    let mut database = Database {
        nodes: dbc.nodes.iter().map(|node| node.0.clone()).collect(),
        messages: Vec::new(),
        left_out: Vec::new(),
    };
    for (index, message) in dbc.messages.iter().enumerate() {
        if message.name == INDEPENDENT_SIGNALS {
            continue;
        }
        let line = lines.get(index).copied().unwrap_or(0);
        let id = match message.id {
            MessageId::Standard(raw) => can_id(u32::from(raw), false),
            MessageId::Extended(raw) => can_id(raw, true),
        };
        let id = id.ok_or(DatabaseError::Identifier { line, raw: u64::from(message.id.raw()) })?;
        if let Some(other) = first.insert(id, &message.name) {
            let (name, other) = (message.name.clone(), other.to_owned());
            return Err(DatabaseError::SameIdentifier { line, name, id, other });
        }
        let len = usize::try_from(message.size).ok().filter(|len| Dlc::holding(*len).is_some());
        let Some(len) = len else {
            database.left_out.push(message.name.clone());
            continue;
        };
        let signals = message.signals.iter().map(|signal| DatabaseSignal {
            name: signal.name.clone(),
            unit: signal.unit.clone(),
            len_bits: signal.size,
        });
        database.messages.push(DatabaseMessage {
            id,
            name: message.name.clone(),
            len,
            fd: len > 8 || is_fd(&dbc, message.id),
            sender: message.transmitter.clone(),
            receivers: receivers(message),
            cycle_time: cycle_time(&dbc, message.id),
            signals: signals.collect(),
        });
    }
    if database.messages.is_empty() && database.left_out.is_empty() {
        return Err(DatabaseError::Empty);
    }
    Ok(database)
}

fn receivers(message: &Message) -> Vec<String> {
    let mut receivers: Vec<String> = Vec::new();
    for name in message.signals.iter().flat_map(|signal| &signal.receivers) {
        if !receivers.contains(name) {
            receivers.push(name.clone());
        }
    }
    receivers
}

/// The lines of all messages, in order; refuses numbers that are no identifier.
fn identifier_lines(text: &str) -> Result<Vec<u64>, DatabaseError> {
    let mut lines = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let Some(raw) = line.trim_start().strip_prefix("BO_ ") else { continue };
        let digits = raw.trim_start();
        let digits = &digits[..digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len())];
        if digits.is_empty() {
            continue;
        }
        let raw = digits.parse::<u64>().unwrap_or(u64::MAX);
        // 0xC0000000 is the message of independent signals.
        let is_id = raw <= 0x7ff || (EXTENDED_FLAG..EXTENDED_FLAG | 0x6000_0000).contains(&raw);
        if !is_id {
            return Err(DatabaseError::Identifier { line: number, raw });
        }
        lines.push(number);
    }
    Ok(lines)
}

/// Milliseconds of `GenMsgCycleTime`, own or default.
fn cycle_time(dbc: &Dbc, id: MessageId) -> Option<Duration> {
    let ms = match dbc.resolved_message_attribute(id, "GenMsgCycleTime")? {
        AttributeValue::Uint(ms) => i64::try_from(*ms).ok()?,
        AttributeValue::Int(ms) => *ms,
        // Written so by some editors: a whole number, or the next.
        AttributeValue::Double(ms) if (0.0..1e9).contains(ms) => ms.round() as i64,
        _ => return None,
    };
    Duration::from_ms(1).checked_mul(ms).filter(|period| *period > Duration::ZERO)
}

/// `VFrameFormat` counts `StandardCAN_FD` as 14 and `ExtendedCAN_FD` as 15.
fn is_fd(dbc: &Dbc, id: MessageId) -> bool {
    match dbc.resolved_message_attribute(id, "VFrameFormat") {
        Some(AttributeValue::Uint(format)) => matches!(format, 14 | 15),
        Some(AttributeValue::Int(format)) => matches!(format, 14 | 15),
        Some(AttributeValue::String(format)) => format.ends_with("CAN_FD"),
        _ => false,
    }
}

fn malformed(error: &DbcError) -> DatabaseError {
    let DbcError::Pest(error) = error else { return DatabaseError::Value(shortened(&error.to_string())) };
    // The type that holds the line is not exported; the text begins ` --> 12:3`.
    let text = error.to_string();
    let place = text.trim_start().strip_prefix("--> ").and_then(|text| text.split(':').next());
    let line = place.and_then(|line| line.parse().ok()).unwrap_or(0);
    DatabaseError::Syntax { line, reason: shortened(&error.variant.message()) }
}
