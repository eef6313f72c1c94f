//! A frame from its bits: what a controller does between SOF and the end of EOF, and which error it finds where.
//!
//! ISO 11898-1:2015 §10.4 (format), §10.5 (stuffing), §10.11 (errors). Protocol exception handling is off, as
//! the standard allows: an FD frame with a recessive `res` bit is a form error.

use super::crc::Crc;
use super::frame::{CanFrame, Dlc, FD_DATA_LEN_MAX, FrameKind, data_len};
use super::id::{CanId, ExtendedId, StandardId};
use super::plain::stuff_count_code;

/// The kinds of error of ISO 11898-1:2015 §10.11.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, thiserror::Error)]
pub enum BusError {
    /// A sender saw another level than it sent.
    #[error("bit error")]
    Bit,
    /// Six equal bits where stuffing forbids them, or a fixed stuff bit like the bit before.
    #[error("stuff error")]
    Stuff,
    /// Checksum or stuff count do not fit the frame.
    #[error("CRC error")]
    Crc,
    /// A bit of fixed level has the other one.
    #[error("form error")]
    Form,
    /// No receiver acknowledged.
    #[error("ACK error")]
    Ack,
}

/// How far a frame has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// Within the frame.
    Receiving,
    /// The last but one bit of EOF was sound: the frame is valid for receivers.
    Accepted,
    /// The last bit of EOF is over.
    Complete,
    /// The last bit of EOF was dominant: the receiver sends an overload frame, the frame stays valid.
    Overload,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Sof,
    Base,
    RtrOrSrr,
    Ide,
    Extension,
    Rtr,
    Fdf,
    /// r0 of a classical extended frame, res of an FD frame.
    Reserved,
    Brs,
    Esi,
    Dlc,
    Data,
    CrcClassical,
    CheckFd,
    CrcDelimiter,
    AckSlot,
    AckDelimiter,
    Eof,
}

/// A receiver, one frame long.
#[derive(Clone, Debug)]
pub struct Receiver {
    stage: Stage,
    /// Bits of the stage so far, and their value.
    count: u32,
    value: u64,
    last: bool,
    run: u8,
    dynamic_stuff: u32,
    /// Until the format is known all three run.
    crc: Crc,
    crc_short: Crc,
    crc_long: Crc,
    id: u32,
    is_extended: bool,
    is_remote: bool,
    is_fd: bool,
    brs: bool,
    esi: bool,
    dlc: Dlc,
    data: [u8; FD_DATA_LEN_MAX],
    crc_fits: bool,
}

impl Default for Receiver {
    fn default() -> Self {
        Self::new()
    }
}

impl Receiver {
    /// A receiver that waits for SOF.
    pub fn new() -> Self {
        Self {
            stage: Stage::Sof,
            count: 0,
            value: 0,
            last: true,
            run: 0,
            dynamic_stuff: 0,
            crc: Crc::classical(),
            crc_short: Crc::fd_short(),
            crc_long: Crc::fd_long(),
            id: 0,
            is_extended: false,
            is_remote: false,
            is_fd: false,
            brs: false,
            esi: false,
            dlc: Dlc::default(),
            data: [0; FD_DATA_LEN_MAX],
            crc_fits: false,
        }
    }

    /// True if the receiver drives the next bit dominant: the ACK slot, if the checksum fits.
    pub fn drives_dominant(&self) -> bool {
        self.stage == Stage::AckSlot && self.crc_fits
    }

    /// The frame, once [`Progress::Accepted`].
    ///
    /// # Panics
    /// Never: an identifier of 11 or 29 received bits fits its type.
    pub fn frame(&self) -> CanFrame {
        let id = if self.is_extended {
            CanId::Extended(ExtendedId::new(self.id).expect("29 bits were received"))
        } else {
            CanId::Standard(StandardId::new(self.id as u16).expect("11 bits were received"))
        };
        CanFrame::new(id, self.kind(), self.dlc, &self.data)
    }

    /// The next bit on the wire; true for recessive.
    ///
    /// # Errors
    /// The [`BusError`] this bit reveals. An error flag follows in the next bit; a CRC error is told with the ACK delimiter.
    pub fn push(&mut self, bit: bool) -> Result<Progress, BusError> {
        match self.stage {
            Stage::CheckFd => return self.push_check(bit).map(|()| Progress::Receiving),
            Stage::CrcDelimiter if self.stuff_bit_is_due() => {}
            Stage::CrcDelimiter | Stage::AckSlot | Stage::AckDelimiter | Stage::Eof => return self.push_trailer(bit),
            _ => {}
        }
        if self.run == 5 {
            if bit == self.last {
                return Err(BusError::Stuff);
            }
            (self.last, self.run) = (bit, 1);
            self.dynamic_stuff += 1;
            self.crc_short.push(bit);
            self.crc_long.push(bit);
            return Ok(Progress::Receiving);
        }
        self.run = if bit == self.last && self.stage != Stage::Sof { self.run + 1 } else { 1 };
        self.last = bit;
        if self.stage != Stage::CrcClassical {
            self.crc.push(bit);
            self.crc_short.push(bit);
            self.crc_long.push(bit);
        }
        self.count += 1;
        self.value = self.value << 1 | u64::from(bit);
        self.take(bit).map(|()| Progress::Receiving)
    }

    fn kind(&self) -> FrameKind {
        match (self.is_fd, self.is_remote) {
            (true, _) => FrameKind::Fd { brs: self.brs, esi: self.esi },
            (false, true) => FrameKind::Remote,
            (false, false) => FrameKind::Classical,
        }
    }

    /// A classical checksum that ends in five equal bits is followed by a stuff bit.
    fn stuff_bit_is_due(&self) -> bool {
        !self.is_fd && self.run == 5
    }

    fn enter(&mut self, stage: Stage) {
        (self.stage, self.count, self.value) = (stage, 0, 0);
    }

    /// One bit of the frame, stuff bits taken out.
    fn take(&mut self, bit: bool) -> Result<(), BusError> {
        match self.stage {
            Stage::Sof => self.enter(Stage::Base),
            Stage::Base if self.count == 11 => {
                self.id = self.value as u32;
                self.enter(Stage::RtrOrSrr);
            }
            Stage::RtrOrSrr => {
                self.is_remote = bit;
                self.enter(Stage::Ide);
            }
            Stage::Ide => {
                self.is_extended = bit;
                self.enter(if bit { Stage::Extension } else { Stage::Fdf });
            }
            Stage::Extension if self.count == 18 => {
                self.id = self.id << 18 | self.value as u32;
                self.enter(Stage::Rtr);
            }
            Stage::Rtr => {
                self.is_remote = bit;
                self.enter(Stage::Fdf);
            }
            Stage::Fdf => {
                self.is_fd = bit;
                // An FD frame cannot be remote; receivers take either level of its RRS bit.
                self.is_remote &= !bit;
                self.enter(if bit || self.is_extended { Stage::Reserved } else { Stage::Dlc });
            }
            Stage::Reserved if self.is_fd => {
                if bit {
                    return Err(BusError::Form);
                }
                self.enter(Stage::Brs);
            }
            // Receivers take either level of r0.
            Stage::Reserved => self.enter(Stage::Dlc),
            Stage::Brs => {
                self.brs = bit;
                self.enter(Stage::Esi);
            }
            Stage::Esi => {
                self.esi = bit;
                self.enter(Stage::Dlc);
            }
            Stage::Dlc if self.count == 4 => {
                self.dlc = Dlc::new(self.value as u8).unwrap_or_default();
                self.enter(Stage::Data);
                self.end_data_if_complete();
            }
            Stage::Data => {
                if self.count.is_multiple_of(8) {
                    self.data[self.count as usize / 8 - 1] = self.value as u8;
                }
                self.end_data_if_complete();
            }
            Stage::CrcClassical if self.count == 15 => {
                self.crc_fits = self.value as u32 == self.crc.value();
                self.enter(Stage::CrcDelimiter);
            }
            _ => {}
        }
        Ok(())
    }

    fn end_data_if_complete(&mut self) {
        if self.count as usize == 8 * data_len(self.kind(), self.dlc) {
            self.enter(if self.is_fd { Stage::CheckFd } else { Stage::CrcClassical });
        }
    }

    /// One bit of an FD frame's stuff count and checksum: every fifth, from the first on, is a fixed stuff bit.
    fn push_check(&mut self, bit: bool) -> Result<(), BusError> {
        let is_long = self.dlc.fd_len() > 16;
        if self.count.is_multiple_of(5) {
            if bit == self.last {
                return Err(BusError::Stuff);
            }
        } else {
            self.value = self.value << 1 | u64::from(bit);
            if self.count < 5 {
                self.crc_short.push(bit);
                self.crc_long.push(bit);
            }
        }
        self.last = bit;
        self.count += 1;
        let crc = if is_long { self.crc_long } else { self.crc_short };
        // A fixed stuff bit, four bits, and so on: each four bits take five.
        let taken = 4 + crc.width();
        if self.count == taken + taken.div_ceil(4) {
            let expected = u64::from(stuff_count_code(self.dynamic_stuff)) << crc.width() | u64::from(crc.value());
            self.crc_fits = self.value == expected;
            self.enter(Stage::CrcDelimiter);
        }
        Ok(())
    }

    fn push_trailer(&mut self, recessive: bool) -> Result<Progress, BusError> {
        match self.stage {
            Stage::CrcDelimiter if recessive => self.enter(Stage::AckSlot),
            Stage::AckSlot => self.enter(Stage::AckDelimiter),
            Stage::AckDelimiter if recessive && self.crc_fits => self.enter(Stage::Eof),
            Stage::AckDelimiter if recessive => return Err(BusError::Crc),
            Stage::Eof => {
                self.count += 1;
                return match (self.count, recessive) {
                    (6, true) => Ok(Progress::Accepted),
                    (7, true) => Ok(Progress::Complete),
                    (7, false) => Ok(Progress::Overload),
                    (_, true) => Ok(Progress::Receiving),
                    (_, false) => Err(BusError::Form),
                };
            }
            _ => return Err(BusError::Form),
        }
        Ok(Progress::Receiving)
    }
}
