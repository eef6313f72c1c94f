//! DBC databases: which messages a bus has, how long they are, who sends them and how often.
//!
//! Parsed by the crate `can-dbc`. Beyond it, this reader holds identifiers and lengths against what frames have, and tells
//! the line.

mod mend;
mod numbers;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use can_dbc::{AttributeDefinition, AttributeValue, AttributeValueType, Dbc, DbcError, Message, MessageId};
use chronoseal_core::Duration;
use chronoseal_wire::can::{CanId, Dlc};

use crate::collector::shortened;
use crate::text::can_id;

use mend::without_statement;
use numbers::{Numbers, numbers};

/// Bytes of a database that are read.
pub const DATABASE_LEN_MAX: usize = 16_000_000;

/// The longest message of the transport protocol of SAE J1939-21: 255 packets of 7 bytes.
pub const TRANSPORTED_LEN_MAX: usize = 1_785;
/// The word of `VFrameFormat` for a parameter group of J1939.
const J1939_FORMAT: &str = "J1939PG";

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
    /// Messages longer than 8 bytes of SAE J1939, which go in several frames by its transport protocol.
    pub transported: Vec<DatabaseMessage>,
    /// Messages whose number is no identifier, and which are left out therefore.
    pub misnumbered: Vec<Misnumbered>,
    /// What else is wrong in it. Each costs the statement, signal or message that it names, and nothing else.
    pub faults: Vec<DatabaseError>,
}

/// A message whose number is no identifier.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misnumbered {
    /// From 1.
    pub line: u64,
    /// Its name.
    pub name: String,
    /// As written; [`u64::MAX`] for every number above that.
    pub raw: u64,
}

impl fmt::Display for Misnumbered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, name, raw } = self;
        write!(
            f,
            "line {line}: message {name} is left out, for {raw} is no identifier; write up to 2047, or for 29 bits \
             2147483648 and the identifier together"
        )
    }
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
    /// No message has a number that is an identifier.
    #[error("DBC, {0}; no message is left")]
    Identifier(Misnumbered),
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

/// Words that begin a section of a database, with something behind them, as its grammar has it.
const SECTIONS: [&str; 27] = [
    "CM_",
    "BA_DEF_",
    "BA_DEF_DEF_",
    "BA_",
    "BA_DEF_REL_",
    "BA_REL_",
    "BA_DEF_DEF_REL_",
    "BA_DEF_SGTYPE_",
    "BA_SGTYPE_",
    "VAL_",
    "VAL_TABLE_",
    "EV_",
    "EV_DATA_",
    "ENVVAR_DATA_",
    "BO_TX_BU_",
    "SIG_GROUP_",
    "SIG_VALTYPE_",
    "SIGTYPE_VALTYPE_",
    "SG_MUL_VAL_",
    "SIG_TYPE_REF_",
    "SGTYPE_",
    "SGTYPE_VAL_",
    "BU_SG_REL_",
    "BU_EV_REL_",
    "BU_BO_REL_",
    "CAT_DEF_",
    "FILTER",
];

/// True if the first section of the bytes is one of a database, as its grammar has it: `VERSION "..."`, `NS_ :`, `BS_:`, `BU_:`,
/// `BO_ 256 Name: 8 Sender`, or `CM_ "..."` and the others that end with a semicolon. A table whose first column has such a name
/// is none.
pub fn is_database(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4000)]);
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.next().is_some_and(|line| {
        let after = |section| line.strip_prefix(section).map(str::trim_start);
        let is_version = after("VERSION").is_some_and(|rest| rest.starts_with('"'));
        let is_section =
            ["NS_", "BS_", "BU_"].iter().any(|section| after(section).is_some_and(|rest| rest.starts_with(':')));
        let is_message = after("BO_ ").is_some_and(|rest| {
            let words: Vec<&str> = rest.split_whitespace().collect();
            words.first().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) && rest.contains(':')
        });
        // A comment may go on for lines, so the semicolon need not be there.
        let is_statement = line.split_once(' ').is_some_and(|(word, rest)| {
            SECTIONS.contains(&word) && (rest.contains('"') || rest.trim_end().ends_with(';'))
        });
        is_version || is_section || is_message || is_statement
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
    let (dbc, lines, misnumbered, mut faults) = parsed(text)?;

    let mut first: BTreeMap<CanId, &str> = BTreeMap::new();
    let mut database = Database {
        nodes: dbc.nodes.iter().map(|node| node.0.clone()).collect(),
        messages: Vec::new(),
        left_out: Vec::new(),
        transported: Vec::new(),
        misnumbered: Vec::new(),
        faults: Vec::new(),
    };
    let is_j1939_network = is_j1939_network(&dbc);
    for (index, message) in dbc.messages.iter().enumerate() {
        if message.name == INDEPENDENT_SIGNALS {
            continue;
        }
        let line = lines.get(index).copied().unwrap_or(0);
        let standing_in = misnumbered.iter().find(|(_, stands_in)| **stands_in == u64::from(message.id.raw()));
        let id = match message.id {
            MessageId::Standard(raw) => can_id(u32::from(raw), false),
            MessageId::Extended(raw) => can_id(raw, true),
        };
        let Some(id) = id.filter(|_| standing_in.is_none()) else {
            let raw = standing_in.map_or(u64::from(message.id.raw()), |(raw, _)| *raw);
            database.misnumbered.push(Misnumbered { line, name: message.name.clone(), raw });
            continue;
        };
        if let Some(other) = first.get(&id) {
            let (name, other) = (message.name.clone(), (*other).to_owned());
            faults.push(DatabaseError::SameIdentifier { line, name, id, other });
            continue;
        }
        first.insert(id, &message.name);
        let is_transported = message.size > 8 && id.is_extended() && is_j1939(&dbc, message.id, is_j1939_network);
        let fits =
            |len: &usize| if is_transported { *len <= TRANSPORTED_LEN_MAX } else { Dlc::holding(*len).is_some() };
        let Some(len) = usize::try_from(message.size).ok().filter(fits) else {
            database.left_out.push(message.name.clone());
            continue;
        };
        let signals = message.signals.iter().map(|signal| DatabaseSignal {
            name: signal.name.clone(),
            unit: signal.unit.clone(),
            len_bits: signal.size,
        });
        let messages = if is_transported { &mut database.transported } else { &mut database.messages };
        messages.push(DatabaseMessage {
            id,
            name: message.name.clone(),
            len,
            fd: !is_transported && (len > 8 || is_fd(&dbc, message.id)),
            sender: message.transmitter.clone(),
            receivers: receivers(message),
            cycle_time: cycle_time(&dbc, message.id),
            signals: signals.collect(),
        });
    }
    if database.messages.is_empty() && database.transported.is_empty() && database.left_out.is_empty() {
        let misnumbered = database.misnumbered.into_iter().next().map(DatabaseError::Identifier);
        return Err(misnumbered.or(faults.into_iter().next()).unwrap_or(DatabaseError::Empty));
    }
    database.faults = faults;
    Ok(database)
}

/// Statements that are left out because the parser cannot read them, at most: a file with more of them is no database.
const FAULTS_MAX: usize = 20;

/// The parsed database without the statements that cannot be read, the line of each message, the numbers that are no identifiers
/// with what stands in for them, and what is wrong with the statements.
type Parsed = (Dbc, Vec<u64>, BTreeMap<u64, u64>, Vec<DatabaseError>);

fn parsed(mut text: Cow<'_, str>) -> Result<Parsed, DatabaseError> {
    let mut faults = Vec::new();
    loop {
        // The parser keeps 16 bits of a number without the flag for 29: they are looked at before it does.
        let Numbers { lines, misnumbered, text: renumbered } = numbers(&text);
        let fault = match Dbc::try_from(&*renumbered) {
            Ok(dbc) => return Ok((dbc, lines, misnumbered, faults)),
            Err(error) => malformed(&error),
        };
        let DatabaseError::Syntax { line, .. } = fault else { return Err(fault) };
        let mended = (faults.len() < FAULTS_MAX).then(|| without_statement(&text, line)).flatten();
        let Some(mended) = mended else { return Err(faults.into_iter().next().unwrap_or(fault)) };
        faults.push(fault);
        text = Cow::Owned(mended);
    }
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

/// `ProtocolType` of the database, or of all messages that say nothing else of `VFrameFormat`.
fn is_j1939_network(dbc: &Dbc) -> bool {
    let of_network = dbc.attribute_values_database.iter().find(|one| one.name == "ProtocolType").map(|one| &one.value);
    matches!(of_network.or_else(|| dbc.attribute_default("ProtocolType")), Some(AttributeValue::String(name)) if name == "J1939")
}

/// `VFrameFormat` is `J1939PG`, whatever its number is in this database; without it, what holds for the network.
fn is_j1939(dbc: &Dbc, id: MessageId, network: bool) -> bool {
    let named = |number: u64| {
        dbc.attribute_definitions.iter().any(|definition| match definition {
            AttributeDefinition::Message(name, AttributeValueType::Enum(words)) if name == "VFrameFormat" => {
                usize::try_from(number)
                    .ok()
                    .and_then(|number| words.get(number))
                    .is_some_and(|word| word == J1939_FORMAT)
            }
            _ => false,
        })
    };
    match dbc.resolved_message_attribute(id, "VFrameFormat") {
        Some(AttributeValue::Uint(number)) => named(*number),
        Some(AttributeValue::Int(number)) => named(number.unsigned_abs()),
        Some(AttributeValue::String(word)) => word == J1939_FORMAT,
        _ => network,
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
