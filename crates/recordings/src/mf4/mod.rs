//! ASAM MDF 4 with bus logging: records `CAN_DataFrame`, `CAN_RemoteFrame`, `CAN_ErrorFrame`, sorted or not, deflated or
//! not, finished or not.
//!
//! Source: ASAM MDF 4.1.1 and its associated standard for bus logging, held against files of CANedge loggers and of
//! asammdf. Our own, since the crate `mdf4-rs` is young and stops the program at some damaged files.

mod blocks;
mod data;
mod group;

use std::borrow::Cow;
use std::collections::BTreeMap;

use chronoseal_wire::can::{CanFrame, Dlc, FrameKind};

use crate::bytes::{array, u16_at, u32_at};
use crate::collector::Collector;
use crate::error::{Place, Problem};
use crate::recording::RecordedError;
use crate::text::can_id;
use blocks::{Block, HELP};
use data::{Data, data};
use group::{Field, Group, Kind};

/// Where the header block is: behind the identification.
const HEADER_AT: u64 = 64;

/// Pieces of variable length by where they are: a block of signal data, or a group of records.
type Pieces<'a> = BTreeMap<u64, Cow<'a, [u8]>>;

pub(crate) fn read(file: &[u8], to: &mut Collector) -> Result<(), Problem> {
    let Some(version) = file.get(8..12) else { return Err(to.truncated(Place::Byte(0), "the identification")) };
    if version[0] != b'4' {
        let version = String::from_utf8_lossy(version).into_owned();
        let help = "convert it to version 4, as asammdf does";
        return Err(to.unsupported(Place::Byte(8), format_args!("version {version}"), help));
    }
    let unfinished = if file.starts_with(b"UnFinMF") { u16_at(file, 60).unwrap_or(0) } else { 0 };
    let header = Block::of_kind(file, HEADER_AT, b"HD", to)?;
    let header = header.ok_or_else(|| to.truncated(Place::Byte(HEADER_AT), "the header block"))?;
    let start_ns = header.u64(0);
    for data_group in Block::list(file, header.link(0), b"DG", to)? {
        let mut groups = Vec::new();
        for block in Block::list(file, data_group.link(1), b"CG", to)? {
            groups.push(Group::read(file, &block, to)?);
        }
        let id_len = usize::from(data_group.u8(0));
        if !matches!(id_len, 0 | 1 | 2 | 4 | 8) {
            return Err(to.malformed(data_group.place(), "record identifiers of 0, 1, 2, 4 or 8 bytes", id_len, HELP));
        }
        let records = data(file, data_group.link(2), unfinished, to)?;
        let mut reader = Reader { start_ns, place: data_group.place(), pieces: Pieces::new(), to };
        reader.signal_data(file, &groups, unfinished)?;
        match (groups.as_slice(), id_len) {
            ([group], 0) => reader.sorted(group, &records, unfinished)?,
            (groups, 0) if groups.len() > 1 => {
                let place = data_group.place();
                return Err(reader.to.malformed(
                    place,
                    "record identifiers, for there are several groups",
                    "none",
                    HELP,
                ));
            }
            _ => reader.unsorted(&groups, &records, id_len)?,
        }
    }
    Ok(())
}

/// Reads the records of one data group.
struct Reader<'a, 'c> {
    /// Of the measurement, since 1970 `[ns]`.
    start_ns: u64,
    place: Place,
    pieces: Pieces<'a>,
    to: &'c mut Collector,
}

impl<'a> Reader<'a, '_> {
    /// Gathers the blocks of signal data that fields refer to. Groups of pieces come with the records.
    fn signal_data(&mut self, file: &'a [u8], groups: &[Group], unfinished: u16) -> Result<(), Problem> {
        for field in groups.iter().filter_map(|group| group.fields.data_bytes).filter(Field::is_variable) {
            let is_group = groups.iter().any(|group| group.at == field.pieces);
            if !is_group && field.pieces != 0 {
                self.pieces.insert(field.pieces, data(file, field.pieces, unfinished, self.to)?.bytes);
            }
        }
        Ok(())
    }

    /// One group's records, one after the other.
    fn sorted(&mut self, group: &Group, records: &Data<'_>, unfinished: u16) -> Result<(), Problem> {
        if group.record_len == 0 {
            return Ok(());
        }
        // An unfinished file's counters may be older than its records.
        let count = if unfinished == 0 { group.cycle_count } else { u64::MAX };
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let mut whole = records.bytes.chunks_exact(group.record_len);
        for record in whole.by_ref().take(count) {
            self.record(group, record)?;
        }
        let is_short = unfinished == 0 && records.bytes.len() / group.record_len < count;
        if is_short || records.is_cut || (unfinished != 0 && !whole.remainder().is_empty()) {
            return Err(self.to.truncated(self.place, "a record"));
        }
        Ok(())
    }

    /// Several groups' records, each behind its group's identifier.
    fn unsorted(&mut self, groups: &[Group], records: &Data<'_>, id_len: usize) -> Result<(), Problem> {
        // Pieces first: nothing says that they stand before what refers to them.
        let mut pieces: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        let mut found = Vec::new();
        let end = self.walk(groups, &records.bytes, id_len, |group, record| match group.kind {
            Kind::Pieces => pieces.entry(group.at).or_default().extend_from_slice(record),
            _ => found.push((group, record)),
        });
        self.pieces.extend(pieces.into_iter().map(|(at, bytes)| (at, Cow::Owned(bytes))));
        for (group, record) in found {
            self.record(group, record)?;
        }
        end?;
        if records.is_cut { Err(self.to.truncated(self.place, "a record")) } else { Ok(()) }
    }

    /// Calls `each` with every whole record; pieces with their length before them.
    fn walk<'g, 'r>(
        &self,
        groups: &'g [Group],
        bytes: &'r [u8],
        id_len: usize,
        mut each: impl FnMut(&'g Group, &'r [u8]),
    ) -> Result<(), Problem> {
        let by_id: BTreeMap<u64, &Group> = groups.iter().map(|group| (group.record_id, group)).collect();
        let mut at = 0;
        while at < bytes.len() {
            let id = bytes.get(at..at + id_len);
            let Some(id) = id else { return Err(self.to.truncated(self.place, "a record's identifier")) };
            let id = id.iter().rev().fold(0, |id, byte| id << 8 | u64::from(*byte));
            let Some(group) = by_id.get(&id) else {
                return Err(self.to.malformed(
                    self.place,
                    "a record of a known group",
                    format_args!("record identifier {id}"),
                    HELP,
                ));
            };
            at += id_len;
            let len = match group.kind {
                Kind::Pieces => u32_at(bytes, at).map(|len| len as usize + 4),
                _ => Some(group.record_len),
            };
            let record = len.and_then(|len| bytes.get(at..at.checked_add(len)?));
            let Some(record) = record else { return Err(self.to.truncated(self.place, "a record")) };
            each(group, record);
            at += record.len();
        }
        Ok(())
    }

    fn record(&mut self, group: &Group, record: &[u8]) -> Result<(), Problem> {
        if matches!(group.kind, Kind::Other | Kind::Pieces) {
            self.to.leave_out("records that are no CAN frame", self.place);
            return Ok(());
        }
        let fields = &group.fields;
        let number = |field: &Option<Field>| field.and_then(|field| field.unsigned(record));
        let at_ns = group.time.and_then(|time| self.start_ns.checked_add_signed(time.time_ns(record)?));
        let Some(at_ns) = at_ns else {
            return Err(self.to.malformed(self.place, "a record with a time", "none", HELP));
        };
        let channel = number(&fields.bus_channel).unwrap_or(0);
        let channel = self.to.channel(&channel.to_string(), self.place)?;
        if group.kind == Kind::ErrorFrame {
            return self.to.push_error(self.place, RecordedError { at_ns, channel, class: 0, details: [0; 8] });
        }
        let raw = number(&fields.id).unwrap_or(u64::MAX);
        // Some writers leave IDE out and set the topmost bit of the identifier instead.
        let extended = number(&fields.ide).unwrap_or(raw >> 31 & 1) != 0;
        let id = u32::try_from(raw & !0x8000_0000).ok().and_then(|raw| can_id(raw, extended));
        let Some(id) = id else {
            let found = format_args!("{raw:#x}");
            return Err(self.to.malformed(self.place, "an identifier of 11 or 29 bits", found, HELP));
        };
        let dlc = number(&fields.dlc).and_then(|dlc| Dlc::new(u8::try_from(dlc).ok()?));
        let Some(dlc) = dlc else {
            return Err(self.to.malformed(self.place, "a data length code of 0 to 15", "another or none", HELP));
        };
        let frame = if group.kind == Kind::RemoteFrame {
            CanFrame::remote(id, dlc)
        } else {
            let is_set = |field: &Option<Field>| number(field).is_some_and(|value| value != 0);
            let kind = if is_set(&fields.edl) {
                FrameKind::Fd { brs: is_set(&fields.brs), esi: is_set(&fields.esi) }
            } else {
                FrameKind::Classical
            };
            let data = self.data_bytes(fields, record)?;
            let len = number(&fields.data_length).and_then(|len| usize::try_from(len).ok()).unwrap_or(data.len());
            CanFrame::new(id, kind, dlc, &data[..len.min(data.len())])
        };
        self.to.push(self.place, at_ns, channel, frame)
    }

    /// The data a record holds, or refers to.
    fn data_bytes<'r>(&'r self, fields: &group::Fields, record: &'r [u8]) -> Result<&'r [u8], Problem> {
        let wrong = |found: &str| Err(self.to.malformed(self.place, "a record with its data", found, HELP));
        let Some(field) = fields.data_bytes else { return wrong("no field for it") };
        if !field.is_variable() {
            return field.bytes(record).map_or_else(|| wrong("a shorter record"), Ok);
        }
        let pieces = self.pieces.get(&field.pieces).map_or(&[][..], |pieces| pieces);
        let Some(at) = field.unsigned(record).and_then(|at| usize::try_from(at).ok()) else {
            return wrong("no place");
        };
        // What lies behind the last piece was not written any more.
        if at >= pieces.len() {
            return Err(self.to.truncated(self.place, "the data of a frame"));
        }
        let piece = array(pieces, at).and_then(|len| pieces.get(at + 4..)?.get(..u32::from_le_bytes(len) as usize));
        piece.map_or_else(|| wrong("a place where there is none"), Ok)
    }
}
