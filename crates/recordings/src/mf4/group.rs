//! A channel group: what its records are, and where in them each field stands.

use super::blocks::{Block, HELP};
use crate::bytes::array;
use crate::collector::Collector;
use crate::error::Problem;

/// Flag of a group whose records are only pieces of another's.
const VLSD_FLAG: u16 = 0x1;
/// Channels of a group that are looked at.
const FIELDS_MAX: usize = 1000;

/// What the records of a group are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    DataFrame,
    RemoteFrame,
    ErrorFrame,
    /// Pieces of variable length, which a field of another group refers to.
    Pieces,
    /// LIN, FlexRay, sensors.
    Other,
}

/// A group, described.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) kind: Kind,
    /// Where its block is: fields of other groups refer to it.
    pub(super) at: u64,
    pub(super) record_id: u64,
    /// Records that were written, if it was kept up to date.
    pub(super) cycle_count: u64,
    /// Without the record's identifier `[byte]`.
    pub(super) record_len: usize,
    pub(super) time: Option<Field>,
    pub(super) fields: Fields,
}

/// Fields of a bus event; each may be missing.
#[derive(Clone, Default, Debug)]
pub(super) struct Fields {
    pub(super) bus_channel: Option<Field>,
    pub(super) id: Option<Field>,
    pub(super) ide: Option<Field>,
    pub(super) dlc: Option<Field>,
    pub(super) data_length: Option<Field>,
    pub(super) data_bytes: Option<Field>,
    pub(super) edl: Option<Field>,
    pub(super) brs: Option<Field>,
    pub(super) esi: Option<Field>,
}

/// Where a field stands in a record.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Field {
    byte_offset: usize,
    bit_offset: u32,
    bit_count: u32,
    /// 0 unsigned, 2 signed, 4 floating point, each low byte first; 10 bytes.
    data_type: u8,
    /// 1: the value is a place in the data of [`Self::pieces`].
    channel_type: u8,
    /// Where the pieces of variable length are, or 0.
    pub(super) pieces: u64,
    /// Physical value: offset + factor times raw.
    linear: (f64, f64),
}

impl Field {
    pub(super) const fn is_variable(&self) -> bool {
        self.channel_type == 1
    }

    /// As an unsigned number; `None` if it is none or beyond the record.
    pub(super) fn unsigned(&self, record: &[u8]) -> Option<u64> {
        let len = (self.bit_offset + self.bit_count).div_ceil(8) as usize;
        if !matches!(self.data_type, 0 | 2 | 10) || self.bit_count == 0 || self.bit_count > 64 || len > 9 {
            return None;
        }
        let bytes = record.get(self.byte_offset..)?.get(..len)?;
        let value = bytes.iter().rev().fold(0u128, |value, byte| value << 8 | u128::from(*byte));
        Some((value >> self.bit_offset) as u64 & (u64::MAX >> (64 - self.bit_count)))
    }

    /// As a physical value.
    fn physical(&self, record: &[u8]) -> Option<f64> {
        let raw = match (self.data_type, self.bit_count) {
            (4, 64) => f64::from_le_bytes(array(record, self.byte_offset)?),
            (4, 32) => f64::from(f32::from_le_bytes(array(record, self.byte_offset)?)),
            _ => self.unsigned(record)? as f64,
        };
        Some(self.linear.0 + self.linear.1 * raw)
    }

    /// As a time `[ns]`, which can be before the start of the measurement; `None` if it is none.
    pub(super) fn time_ns(&self, record: &[u8]) -> Option<i64> {
        let ns = (self.physical(record)? * 1e9).round();
        (-4e18..4e18).contains(&ns).then_some(ns as i64)
    }

    /// Its bytes.
    pub(super) fn bytes<'r>(&self, record: &'r [u8]) -> Option<&'r [u8]> {
        record.get(self.byte_offset..)?.get(..self.bit_count as usize / 8)
    }
}

impl Group {
    pub(super) fn read(file: &[u8], block: &Block<'_>, to: &Collector) -> Result<Self, Problem> {
        let flags = u16::from(block.u8(16)) | u16::from(block.u8(17)) << 8;
        let mut group = Self {
            kind: if flags & VLSD_FLAG != 0 { Kind::Pieces } else { Kind::Other },
            at: block.at as u64,
            record_id: block.u64(0),
            cycle_count: block.u64(8),
            record_len: block.u32(24) as usize + block.u32(28) as usize,
            time: None,
            fields: Fields::default(),
        };
        if group.kind == Kind::Pieces {
            return Ok(group);
        }
        let mut field_count = 0;
        for channel in Block::list(file, block.link(1), b"CN", to)? {
            field_count += 1;
            // 2 and 3: what counts the records; 1: it does so in time.
            if channel.u8(0) == 2 && channel.u8(1) == 1 {
                group.time = Some(field(file, &channel, to)?);
            }
            group.kind = match name(file, &channel, to)?.as_str() {
                "CAN_DataFrame" => Kind::DataFrame,
                "CAN_RemoteFrame" => Kind::RemoteFrame,
                "CAN_ErrorFrame" => Kind::ErrorFrame,
                _ => continue,
            };
            for part in Block::list(file, channel.link(1), b"CN", to)? {
                field_count += 1;
                if field_count > FIELDS_MAX {
                    return Err(to.malformed(channel.place(), "at most 1000 channels in a group", "more", HELP));
                }
                let name = name(file, &part, to)?;
                let fields = &mut group.fields;
                let place = match name.rsplit('.').next().unwrap_or_default() {
                    "BusChannel" => &mut fields.bus_channel,
                    "ID" => &mut fields.id,
                    "IDE" => &mut fields.ide,
                    "DLC" => &mut fields.dlc,
                    "DataLength" => &mut fields.data_length,
                    "DataBytes" => &mut fields.data_bytes,
                    "EDL" => &mut fields.edl,
                    "BRS" => &mut fields.brs,
                    "ESI" => &mut fields.esi,
                    _ => continue,
                };
                *place = Some(field(file, &part, to)?);
            }
        }
        Ok(group)
    }
}

fn name(file: &[u8], channel: &Block<'_>, to: &Collector) -> Result<String, Problem> {
    let Some(text) = Block::at(file, channel.link(2), to)? else { return Ok(String::new()) };
    let end = text.data.iter().position(|byte| *byte == 0).unwrap_or(text.data.len());
    Ok(String::from_utf8_lossy(&text.data[..end.min(256)]).into_owned())
}

fn field(file: &[u8], channel: &Block<'_>, to: &Collector) -> Result<Field, Problem> {
    let linear = match Block::at(file, channel.link(4), to)? {
        // Type 1 is linear, type 0 none at all.
        Some(conversion) if conversion.u8(0) == 1 => {
            (f64::from_bits(conversion.u64(24)), f64::from_bits(conversion.u64(32)))
        }
        _ => (0.0, 1.0),
    };
    let field = Field {
        byte_offset: channel.u32(4) as usize,
        bit_offset: u32::from(channel.u8(3)),
        bit_count: channel.u32(8),
        data_type: channel.u8(2),
        channel_type: channel.u8(0),
        pieces: channel.link(5),
        linear,
    };
    if matches!(field.data_type, 1 | 3 | 5) {
        let help = "export the recording with the low byte first (Intel)";
        return Err(to.unsupported(channel.place(), "a field with the high byte first", help));
    }
    Ok(field)
}
