//! A frame bit by bit, as ISO 11898-1:2015 §10 tells it: slow, plain, and with a name for every bit.
//!
//! [`encode`] checks the fast counter and says what is on the wire at a given bit, which is where faults strike.
//! [`Receiver`](super::Receiver) is its counterpart.

use super::crc::Crc;
use super::frame::{CanFrame, FrameKind};
use super::id::CanId;

/// More bits than any frame has.
const BITS_MAX: usize = 768;

/// What a bit belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Field {
    /// Start of frame.
    #[default]
    Sof,
    /// Identifier.
    Id,
    /// Substitute remote request, recessive.
    Srr,
    /// Remote transmission request; in FD frames the remote request substitution, dominant.
    Rtr,
    /// Identifier extension: recessive for 29 bits.
    Ide,
    /// FD format: recessive for FD frames, the first reserved bit of classical ones.
    Fdf,
    /// Reserved, dominant.
    Reserved,
    /// Bit rate switch.
    Brs,
    /// Error state indicator.
    Esi,
    /// Data length code.
    Dlc,
    /// Data.
    Data,
    /// Stuff count of FD frames.
    StuffCount,
    /// Checksum.
    Crc,
    /// CRC delimiter, recessive.
    CrcDelimiter,
    /// ACK slot, sent recessive.
    AckSlot,
    /// ACK delimiter, recessive.
    AckDelimiter,
    /// End of frame, 7 recessive bits.
    Eof,
}

impl Field {
    /// True where a recessive bit that is seen dominant means a lost arbitration and no error. IDE belongs to the
    /// field in extended frames only, in which alone it is recessive.
    pub const fn is_arbitration(self) -> bool {
        matches!(self, Self::Id | Self::Srr | Self::Rtr | Self::Ide)
    }
}

/// Whether a bit is part of the frame or was stuffed in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Stuffed {
    /// Part of the frame.
    #[default]
    No,
    /// After five equal bits.
    Dynamic,
    /// Before every four bits of stuff count and checksum of an FD frame.
    Fixed,
}

/// One bit on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WireBit {
    /// True for recessive (logical 1).
    pub recessive: bool,
    /// What it belongs to; a stuff bit belongs to the field of the bit before it.
    pub field: Field,
    /// Whether it was stuffed in.
    pub stuffed: Stuffed,
    /// Ends at the data rate: from BRS, if recessive, to the last bit before the CRC delimiter.
    pub ends_fast: bool,
}

/// All bits of a frame from SOF to the end of EOF.
#[derive(Clone, Debug)]
pub struct WireBits {
    bits: [WireBit; BITS_MAX],
    len: usize,
}

impl core::ops::Deref for WireBits {
    type Target = [WireBit];
    fn deref(&self) -> &[WireBit] {
        &self.bits[..self.len]
    }
}

struct Encoder {
    out: WireBits,
    run: u8,
    last: bool,
    dynamic_stuff: u32,
    ends_fast: bool,
    crc: Crc,
    crc_takes_stuff: bool,
}

impl Encoder {
    fn put(&mut self, recessive: bool, field: Field, stuffed: Stuffed) {
        self.out.bits[self.out.len] = WireBit { recessive, field, stuffed, ends_fast: self.ends_fast };
        self.out.len += 1;
        self.last = recessive;
    }

    /// A stuff bit if five equal bits came before.
    fn stuff(&mut self) {
        if self.run == 5 {
            let (level, field) = (!self.last, self.out.bits[self.out.len - 1].field);
            self.put(level, field, Stuffed::Dynamic);
            self.run = 1;
            self.dynamic_stuff += 1;
            if self.crc_takes_stuff {
                self.crc.push(level);
            }
        }
    }

    /// The lowest `len` bits of `value`, highest first, each after a stuff bit if one is due.
    fn stuffed(&mut self, value: u32, len: u32, field: Field) {
        for bit in (0..len).rev() {
            self.stuff();
            let level = value >> bit & 1 == 1;
            self.run = if self.out.len > 0 && level == self.last { self.run + 1 } else { 1 };
            self.put(level, field, Stuffed::No);
            if field != Field::Crc {
                self.crc.push(level);
            }
        }
    }

    /// A bit without stuffing.
    fn fixed(&mut self, recessive: bool, field: Field) {
        self.put(recessive, field, Stuffed::No);
    }
}

/// Every bit of `frame`.
pub fn encode(frame: &CanFrame) -> WireBits {
    let data = frame.data();
    let is_fd = frame.kind().is_fd();
    let mut encoder = Encoder {
        out: WireBits { bits: [WireBit::default(); BITS_MAX], len: 0 },
        run: 0,
        last: true,
        dynamic_stuff: 0,
        ends_fast: false,
        crc: if is_fd { Crc::fd(data.len()) } else { Crc::classical() },
        crc_takes_stuff: is_fd,
    };
    encoder.stuffed(0, 1, Field::Sof);
    let remote = u32::from(frame.kind().is_remote());
    match frame.id() {
        CanId::Standard(id) => {
            encoder.stuffed(u32::from(id.raw()), 11, Field::Id);
            encoder.stuffed(remote, 1, Field::Rtr);
            encoder.stuffed(0, 1, Field::Ide);
        }
        CanId::Extended(id) => {
            encoder.stuffed(u32::from(id.base()), 11, Field::Id);
            encoder.stuffed(1, 1, Field::Srr);
            encoder.stuffed(1, 1, Field::Ide);
            encoder.stuffed(id.extension(), 18, Field::Id);
            encoder.stuffed(remote, 1, Field::Rtr);
        }
    }
    encoder.stuffed(u32::from(is_fd), 1, Field::Fdf);
    if let FrameKind::Fd { brs, esi } = frame.kind() {
        encoder.stuffed(0, 1, Field::Reserved);
        encoder.ends_fast = brs;
        encoder.stuffed(u32::from(brs), 1, Field::Brs);
        encoder.stuffed(u32::from(esi), 1, Field::Esi);
    } else if frame.id().is_extended() {
        encoder.stuffed(0, 1, Field::Reserved);
    }
    encoder.stuffed(u32::from(frame.dlc().raw()), 4, Field::Dlc);
    for byte in data {
        encoder.stuffed(u32::from(*byte), 8, Field::Data);
    }
    if is_fd {
        checksum_fd(&mut encoder);
    } else {
        let crc = encoder.crc;
        encoder.stuffed(crc.value(), crc.width(), Field::Crc);
        encoder.stuff();
    }
    encoder.ends_fast = false;
    encoder.fixed(true, Field::CrcDelimiter);
    encoder.fixed(true, Field::AckSlot);
    encoder.fixed(true, Field::AckDelimiter);
    for _ in 0..7 {
        encoder.fixed(true, Field::Eof);
    }
    encoder.out
}

/// Number of dynamic stuff bits modulo 8 as three bits of Gray code and a bit for even parity: ISO 11898-1:2015
/// §10.4.2.6.
pub fn stuff_count_code(dynamic_stuff: u32) -> u32 {
    let count = dynamic_stuff % 8;
    let gray = count ^ count >> 1;
    gray << 1 | gray.count_ones() & 1
}

/// Stuff count and checksum, with a fixed stuff bit, the opposite of the bit before it, before every four bits.
///
/// No dynamic stuff bit follows the last bit of the data: the first fixed one takes its place.
fn checksum_fd(encoder: &mut Encoder) {
    let count = stuff_count_code(encoder.dynamic_stuff);
    for bit in (0..4).rev() {
        encoder.crc.push(count >> bit & 1 == 1);
    }
    let (crc, width) = (encoder.crc.value(), encoder.crc.width());
    let all = u64::from(count) << width | u64::from(crc);
    for index in 0..4 + width {
        let field = if index < 4 { Field::StuffCount } else { Field::Crc };
        if index % 4 == 0 {
            encoder.put(!encoder.last, field, Stuffed::Fixed);
        }
        encoder.fixed(all >> (3 + width - index) & 1 == 1, field);
    }
}
