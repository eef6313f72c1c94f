//! What a database says about a bus.

use std::collections::BTreeSet;

use chronoseal_core::Duration;
use chronoseal_recordings::{Database, DatabaseMessage, read_dbc};
use chronoseal_wire::can::{CanId, FrameKind};

use super::{BUS, FoundBus, FoundMessage, REST_OF_BUS, holds, node_name, secured, transport, write};
use crate::import::WARNING;
use crate::limits::{MESSAGES_MAX, NAME_LEN_MAX, NODES_MAX};
use crate::problem::{Code, Problem, Problems};

/// Period of a message whose database tells none.
pub(in crate::import) const PERIOD_ASSUMED: Duration = Duration::from_ms(100);
/// What is assumed instead, where the bus would be full with it.
const PERIODS_ASSUMED: [Duration; 6] = [
    PERIOD_ASSUMED,
    Duration::from_ms(200),
    Duration::from_ms(500),
    Duration::from_s(1),
    Duration::from_s(2),
    Duration::from_s(5),
];
/// A database says nothing of how long.
const DURATION: Duration = Duration::from_s(10);
/// Usual bit rate of cars `[bit/s]`.
pub(in crate::import) const BIT_RATE: u64 = 500_000;
/// J1939 and NMEA 2000, which use 29 bits alone `[bit/s]`.
pub(in crate::import) const BIT_RATE_EXTENDED: u64 = 250_000;
/// Bit rate of the data phase that is assumed `[bit/s]`.
pub(in crate::import) const DATA_BIT_RATE: u64 = 2_000_000;

/// A scenario from a DBC database: each of its messages with its identifier, length, sender and cycle time.
///
/// Comments say what was assumed: the bit rate, and a period where there is no cycle time.
///
/// # Errors
/// If the bytes are no database, or a message in it can be none.
pub fn from_database(source_name: &str, bytes: &[u8]) -> Result<String, Problems> {
    let fail = |message: String, help: &str| fail(source_name, message, help);
    let database = read(source_name, bytes)?;
    let mut nodes: Vec<String> = Vec::new();
    for sender in database.messages.iter().chain(&database.transported).map(sender) {
        if !nodes.contains(&sender) {
            nodes.push(sender);
        }
    }
    // Nodes that only receive.
    for node in database.nodes.iter().filter_map(|node| node_name(node)) {
        if !nodes.contains(&node) {
            nodes.push(node);
        }
    }
    if nodes.len() > NODES_MAX as usize {
        return Err(fail(format!("the database has {} nodes; a bus has at most {NODES_MAX}", nodes.len()), "cut it"));
    }
    let without = database.messages.iter().filter(|message| message.cycle_time.is_none()).count();
    let mut names = BTreeSet::new();
    let mut messages: Vec<_> = database.messages.iter().map(|message| found(message, &mut names)).collect();
    let taken: BTreeSet<CanId> = messages.iter().map(|message| message.id).collect();
    messages.extend(transport::frames(&database.transported, &taken));
    let (mut messages, slow): (Vec<_>, Vec<_>) = messages.into_iter().partition(FoundMessage::is_writable);
    if messages.is_empty() {
        let message = format!("no message of the database fits a frame: {} are longer", database.left_out.len());
        return Err(fail(message, "give the database of a CAN bus"));
    }
    let mut about = vec![format!("{} messages of {} nodes, from {source_name}.", messages.len(), nodes.len())];
    if !database.left_out.is_empty() {
        about.push(format!("{} messages were left out: they are longer than a frame.", database.left_out.len()));
    }
    if !database.transported.is_empty() {
        about.push(format!(
            "{} messages are longer than 8B and go by the transport protocol of J1939-21: TP.CM and TP.DT stand for them.",
            database.transported.len()
        ));
        about.push(
            "Assumed of them: evenly spread frames; those to one address without its answers (CTS, EndOfMsgACK)."
                .into(),
        );
    }
    about.extend(faults(&database).map(|warning| format!("{WARNING}{warning}.")));
    if !slow.is_empty() {
        about.push(format!("{} messages were left out: their frames are more than 10 s apart.", slow.len()));
    }
    let proposed = database.messages.iter().filter(|message| secured::proposal(message).is_some()).count();
    if proposed > 0 {
        about.push(format!(
            "{proposed} messages have signals that look like those of SecOC: their comments propose a protection, and none is applied."
        ));
    }
    let (bit_rate, data_bit_rate) = rates(messages.iter().map(|message| (message.id, message.kind)));
    let known: BTreeSet<CanId> =
        database.messages.iter().filter(|it| it.cycle_time.is_some()).map(|message| message.id).collect();
    let (assumed, bit_rate) = assume(&mut messages, |id| !known.contains(&id), (bit_rate, data_bit_rate));
    if without > 0 {
        about.push(format!("Assumed: {assumed} for {without} messages without a cycle time."));
    }
    if assumed != PERIOD_ASSUMED {
        about.push(format!("With {PERIOD_ASSUMED} no bus would have room for them. Write the periods that you know."));
    }
    about.push("Assumed: bit rates and duration. Change them to yours.".into());
    let bus = FoundBus { name: BUS.into(), bit_rate, data_bit_rate, nodes, messages };
    write(source_name, &about, DURATION, vec![bus])
}

/// Period and bit rate `[bit/s]` that are assumed: the first with which the bus is not full, 100 ms and the usual rate before all others.
/// Messages whose period `is_assumed` get it.
fn assume(
    messages: &mut [FoundMessage],
    is_assumed: impl Fn(CanId) -> bool,
    (least, data_bit_rate): (u64, Option<u64>),
) -> (Duration, u64) {
    // Frames of the transport protocol have periods of their own.
    let assumed: Vec<usize> =
        (0..messages.len()).filter(|i| is_assumed(messages[*i].id) && messages[*i].period == PERIOD_ASSUMED).collect();
    for period in PERIODS_ASSUMED {
        assumed.iter().for_each(|i| messages[*i].period = period);
        if let Some(bit_rate) = holds::bit_rate(messages, least, data_bit_rate) {
            return (period, bit_rate);
        }
    }
    assumed.iter().for_each(|i| messages[*i].period = PERIOD_ASSUMED);
    (PERIOD_ASSUMED, least)
}

pub(super) fn fail(source_name: &str, message: String, help: &str) -> Problems {
    Problems::one(source_name, "", Problem::new(Code::ImportDatabase, message).help(help))
}

/// What to say of messages that are left out because their number is no identifier, and of what else is wrong in the file.
pub(super) fn faults(database: &Database) -> impl Iterator<Item = String> {
    let faults = database.faults.iter().map(|fault| format!("{fault}; what stands there is left out"));
    database.misnumbered.iter().map(ToString::to_string).chain(faults)
}

/// A database with no more messages than a bus has.
pub(super) fn read(source_name: &str, bytes: &[u8]) -> Result<Database, Problems> {
    let database =
        read_dbc(bytes).map_err(|error| fail(source_name, error.to_string(), "give a DBC file of one CAN bus"))?;
    if database.messages.len() > MESSAGES_MAX as usize {
        let message =
            format!("the database has {} messages; a bus has at most {MESSAGES_MAX}", database.messages.len());
        return Err(fail(source_name, message, "take out those of other buses"));
    }
    Ok(database)
}

/// The bit rates that a bus with such frames is assumed to have `[bit/s]`.
pub(super) fn rates(frames: impl Iterator<Item = (CanId, FrameKind)> + Clone) -> (u64, Option<u64>) {
    let is_extended = frames.clone().all(|(id, _)| id.is_extended());
    let has_fd = frames.clone().any(|(_, kind)| kind.is_fd());
    (if is_extended { BIT_RATE_EXTENDED } else { BIT_RATE }, has_fd.then_some(DATA_BIT_RATE))
}

pub(super) fn sender(message: &DatabaseMessage) -> String {
    message.sender.as_deref().and_then(node_name).unwrap_or_else(|| REST_OF_BUS.into())
}

pub(super) fn kind(message: &DatabaseMessage) -> FrameKind {
    if message.fd { FrameKind::Fd { brs: true, esi: false } } else { FrameKind::Classical }
}

/// Its signals, and what they look like, for a comment.
pub(super) fn comment(message: &DatabaseMessage) -> String {
    let signals: Vec<&str> = message.signals.iter().map(|signal| signal.name.as_str()).collect();
    let comment = match signals.as_slice() {
        [] => "No signals.".to_owned(),
        [some @ .., last] if some.len() < 4 => format!("{}.", [some, &[last]].concat().join(", ")),
        many => format!("{} and {} more.", many[..4].join(", "), many.len() - 4),
    };
    let proposal = secured::proposal(message).map_or(String::new(), |proposal| format!(" {proposal}."));
    (comment + &proposal).replace(char::is_control, " ")
}

fn found(message: &DatabaseMessage, names: &mut BTreeSet<String>) -> FoundMessage {
    let mut name = message.name.clone();
    // Two of one name are told apart by their identifiers, which differ.
    if name.len() > NAME_LEN_MAX || !names.insert(name.clone()) {
        name = format!("{}-{:#x}", name.chars().take(40).filter(char::is_ascii).collect::<String>(), message.id.raw());
        names.insert(name.clone());
    }
    FoundMessage {
        name,
        from: sender(message),
        id: message.id,
        kind: kind(message),
        len: message.len,
        period: message.cycle_time.unwrap_or(PERIOD_ASSUMED),
        comment: comment(message),
        deadline: None,
    }
}
