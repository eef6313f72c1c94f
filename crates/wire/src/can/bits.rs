//! How many bits a frame takes on the wire, exactly, stuff bits included, without making the bits.
//!
//! Stuffing depends on the bits before through ten states only: the level of the last bit and how often it has been
//! repeated. So a table leads from state and byte to state and number of stuff bits. The checksum of an FD frame is
//! stuffed at fixed places, so its value does not matter here; that of a classical frame has to be computed.
//!
//! [`plain`](super::plain) makes every bit and checks this. For classical frames the lengths are also those of can-utils
//! (`canframelen.c`, exact mode), except that can-utils counts data for remote frames, which have none.

use super::crc::crc_15_with_byte;
use super::frame::{CanFrame, FrameKind};
use super::id::CanId;

/// Bits of intermission after every frame, which separate it from the next.
pub const INTERMISSION_BITS: u32 = 3;
/// Bits of an error or overload flag.
pub const ERROR_FLAG_BITS: u32 = 6;
/// Bits of an error or overload delimiter, the first recessive bit included.
pub const ERROR_DELIMITER_BITS: u32 = 8;
/// Bits an error-passive node waits after intermission before it sends again.
pub const SUSPEND_TRANSMISSION_BITS: u32 = 8;

/// CRC delimiter, ACK slot, ACK delimiter, end of frame.
const TRAILER_BITS: u32 = 1 + 1 + 1 + 7;

/// Bits of a frame from SOF to the end of EOF, without the intermission.
///
/// With bit-rate switching two bits change the rate at their sample points: BRS begins nominal, the CRC delimiter
/// ends so. The parts of both that run at one rate add up to one bit of that rate, whatever the sample points are; so
/// BRS counts as nominal and the CRC delimiter as data, and the length of the frame is exact.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FrameBits {
    /// At the nominal rate.
    pub nominal: u32,
    /// At the data rate; 0 without bit-rate switching.
    pub data: u32,
    /// How many of both are dynamic stuff bits.
    pub stuff: u32,
}

impl FrameBits {
    /// All bits.
    pub const fn total(&self) -> u32 {
        self.nominal + self.data
    }

    /// Bits of `frame`.
    #[inline]
    pub fn of(frame: &CanFrame) -> Self {
        match frame.kind() {
            FrameKind::Classical | FrameKind::Remote => classical(frame),
            FrameKind::Fd { brs, esi } => fd(frame, brs, esi),
        }
    }

    /// The most bits any frame of this format, kind and length can take.
    ///
    /// Classical: `floor((g + 8n - 1) / 4)` stuff bits with g = 34 or 54. FD: one less where the last would fall
    /// behind the data, because no dynamic stuff bit follows the last data bit; as many as possible of them are taken
    /// for nominal ones.
    ///
    /// # Source
    /// Davis, Burns, Bril, Lukkien, Real-Time Systems 35 (2007) 239-272, eq. (1), and for FD frames the same argument
    /// on SOF to the end of data.
    pub fn worst_case(is_extended: bool, kind: FrameKind, data_len: usize) -> Self {
        let data_bits = 8 * data_len as u32;
        match kind {
            FrameKind::Classical | FrameKind::Remote => {
                let data_bits = if kind.is_remote() { 0 } else { data_bits };
                let stuffed = if is_extended { 54 } else { 34 } + data_bits;
                let stuff = (stuffed - 1) / 4;
                Self { nominal: stuffed + stuff + TRAILER_BITS, data: 0, stuff }
            }
            FrameKind::Fd { brs, .. } => {
                let nominal = if is_extended { 36 } else { 17 };
                let stuff = (nominal + 5 + data_bits - 2) / 4;
                fd_bits(nominal, (nominal - 1) / 4, stuff, data_len, brs)
            }
        }
    }
}

/// The ten states and what a bit does to them: `level * 5 + run - 1`.
type State = u16;

/// After SOF: one dominant bit.
const AFTER_SOF: State = 0;

/// A stuff bit is not counted when five equal bits have come but when the next bit shows that the sequence goes on: no
/// dynamic stuff bit follows the last bit of an FD frame's data.
const fn step(state: State, bit: bool) -> (State, u16) {
    let (mut level, mut run) = (state / 5, state % 5 + 1);
    let mut stuff = 0;
    if run == 5 {
        (level, run, stuff) = (1 - level, 1, 1);
    }
    if bit as State == level {
        run += 1;
    } else {
        (level, run) = (1 - level, 1);
    }
    (level * 5 + run - 1, stuff)
}

const STATES: usize = 10;

/// For each state and byte the next state in the high byte, the number of stuff bits in the low one. Room for 16 states
/// spares the check of the index.
const STEPS_OF_BYTE: [u16; 16 * 256] = {
    let mut table = [0; 16 * 256];
    let mut index = 0;
    while index < STATES * 256 {
        let (mut state, mut stuff) = ((index >> 8) as State, 0);
        let mut bit = 8;
        while bit > 0 {
            bit -= 1;
            let (next, inserted) = step(state, index >> bit & 1 == 1);
            state = next;
            stuff += inserted;
        }
        table[index] = state << 8 | stuff;
        index += 1;
    }
    table
};

/// No state.
const DEPENDS: u8 = u8::MAX;

/// The state behind each byte if that is the same whatever the state before was, as for 230 of 256 bytes.
const STATE_BEHIND_BYTE: [u8; 256] = {
    let mut table = [DEPENDS; 256];
    let mut byte = 0;
    while byte < 256 {
        let behind = STEPS_OF_BYTE[byte] >> 8;
        let mut state = 1;
        while state < STATES && STEPS_OF_BYTE[state << 8 | byte] >> 8 == behind {
            state += 1;
        }
        if state == STATES {
            table[byte] = behind as u8;
        }
        byte += 1;
    }
    table
};

/// Parts of long data that are counted side by side.
const LANES: usize = 4;
/// Data shorter than this is counted in one go `[byte]`.
const LANES_LEN_MIN: usize = 32;

/// Counts stuff bits.
#[derive(Clone, Copy)]
struct Stuffing {
    state: State,
    stuff: u32,
}

impl Stuffing {
    const AFTER_SOF: Self = Self { state: AFTER_SOF, stuff: 0 };

    #[inline]
    fn byte(&mut self, byte: u8) {
        let entry = STEPS_OF_BYTE[usize::from(self.state & 0xf) << 8 | usize::from(byte)];
        self.state = entry >> 8;
        self.stuff += u32::from(entry & 0xff);
    }

    /// All bytes of `data`.
    ///
    /// Each step waits for the one before. Behind most bytes the state does not depend on the state before them, so
    /// long data is cut behind such bytes into parts that wait for nobody.
    #[inline]
    fn bytes(&mut self, data: &[u8]) {
        match self.lanes(data) {
            Some((mut lanes, starts)) => {
                let len = |lane: usize| starts[lane + 1] - starts[lane];
                let common = (0..LANES).map(len).min().unwrap_or(0);
                let parts: [&[u8]; LANES] = core::array::from_fn(|lane| &data[starts[lane]..starts[lane + 1]]);
                let heads = parts.map(|part| &part[..common]);
                for at in 0..common {
                    for (lane, head) in lanes.iter_mut().zip(heads) {
                        lane.byte(head[at]);
                    }
                }
                for (lane, part) in lanes.iter_mut().zip(parts) {
                    part[common..].iter().for_each(|byte| lane.byte(*byte));
                }
                self.state = lanes[LANES - 1].state;
                self.stuff += lanes.iter().map(|lane| lane.stuff).sum::<u32>();
            }
            None => data.iter().for_each(|byte| self.byte(*byte)),
        }
    }

    /// The state before each part of `data`, and where it begins; `None` if the data is short or cannot be cut.
    #[inline]
    fn lanes(&self, data: &[u8]) -> Option<([Self; LANES], [usize; LANES + 1])> {
        if data.len() < LANES_LEN_MIN {
            return None;
        }
        let part_len = data.len() / LANES;
        let mut lanes = [Self { state: self.state, stuff: 0 }; LANES];
        let mut starts = [0; LANES + 1];
        for lane in 1..LANES {
            let from = lane * part_len - 1;
            let candidates = &data[from..][..part_len];
            let cut = candidates.iter().position(|byte| STATE_BEHIND_BYTE[usize::from(*byte)] != DEPENDS)?;
            starts[lane] = from + cut + 1;
            lanes[lane].state = State::from(STATE_BEHIND_BYTE[usize::from(candidates[cut])]);
        }
        starts[LANES] = data.len();
        Some((lanes, starts))
    }

    /// The lowest `len` bits of `bits`, highest first.
    #[inline]
    fn bits(&mut self, bits: u64, mut len: u32) {
        while len >= 8 {
            len -= 8;
            self.byte((bits >> len) as u8);
        }
        while len > 0 {
            len -= 1;
            let (state, stuff) = step(self.state, bits >> len & 1 == 1);
            self.state = state;
            self.stuff += u32::from(stuff);
        }
    }
}

/// The bits between SOF and data length code, and how many they are, without the last `r0` or `res` and what follows.
#[inline]
fn identifier_bits(frame: &CanFrame) -> (u64, u32) {
    let remote = u64::from(frame.kind().is_remote());
    match frame.id() {
        // Identifier, RTR, IDE.
        CanId::Standard(id) => (u64::from(id.raw()) << 2 | remote << 1, 13),
        // Identifier, SRR, IDE, identifier, RTR.
        CanId::Extended(id) => (u64::from(id.base()) << 21 | 0b11 << 19 | u64::from(id.extension()) << 1 | remote, 32),
    }
}

fn classical(frame: &CanFrame) -> FrameBits {
    let (identifier, len) = identifier_bits(frame);
    // r0, with an extended identifier r1 before it; then the length.
    let reserved = if frame.id().is_extended() { 2 } else { 1 };
    let header = identifier << (reserved + 4) | u64::from(frame.dlc().raw());
    let header_len = len + reserved + 4;
    let mut stuffing = Stuffing::AFTER_SOF;
    stuffing.bits(header, header_len);
    // The checksum begins with 0, so zeros in front of the header do not change it.
    let mut crc = 0;
    for byte in &header.to_be_bytes()[3..] {
        crc = crc_15_with_byte(crc, *byte);
    }
    for byte in frame.data() {
        stuffing.byte(*byte);
        crc = crc_15_with_byte(crc, *byte);
    }
    stuffing.bits(u64::from(crc), 15);
    // Unlike an FD frame's data, a classical checksum that ends in five equal bits is followed by a stuff bit.
    let stuff = stuffing.stuff + u32::from(stuffing.state % 5 == 4);
    let stuffed = 1 + header_len + 8 * frame.data().len() as u32 + 15;
    FrameBits { nominal: stuffed + stuff + TRAILER_BITS, data: 0, stuff }
}

#[inline]
fn fd(frame: &CanFrame, brs: bool, esi: bool) -> FrameBits {
    let (identifier, len) = identifier_bits(frame);
    let mut stuffing = Stuffing::AFTER_SOF;
    // FDF, res, BRS.
    stuffing.bits(identifier << 3 | 0b100 | u64::from(brs), len + 3);
    let nominal_stuff = stuffing.stuff;
    stuffing.bits(u64::from(esi) << 4 | u64::from(frame.dlc().raw()), 5);
    stuffing.bytes(frame.data());
    fd_bits(1 + len + 3, nominal_stuff, stuffing.stuff, frame.data().len(), brs)
}

/// Bits of an FD frame with `nominal` bits from SOF to BRS and `stuff` dynamic stuff bits, the first `nominal_stuff` of
/// them up to BRS. (None follows BRS itself: the bit before it is dominant, and BRS recessive, if rates are switched.)
#[inline]
fn fd_bits(nominal: u32, nominal_stuff: u32, stuff: u32, data_len: usize, brs: bool) -> FrameBits {
    // Stuff count 4, checksum 17 or 21, a fixed stuff bit before each four of them.
    let checked = if data_len <= 16 { 4 + 17 + 6 } else { 4 + 21 + 7 };
    // ESI, data length code; data; the CRC delimiter.
    let data = 5 + 8 * data_len as u32 + (stuff - nominal_stuff) + checked + 1;
    let nominal = nominal + nominal_stuff + TRAILER_BITS - 1;
    if brs { FrameBits { nominal, data, stuff } } else { FrameBits { nominal: nominal + data, data: 0, stuff } }
}
