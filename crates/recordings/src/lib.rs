//! Recordings of CAN buses, and the databases that name what is in them: bytes in, values out.
//!
//! This crate opens no file, plays nothing back and decodes no signal. It knows no scenario: what a recording is used for
//! is decided above it.
//!
//! The types that matter are [`Recording`], which every format is read into, and [`ReadError`], which says where reading
//! stopped, what was expected, what to do, and keeps what was read before. [`read`] tells the format from the bytes.
//! [`content`] says what a file is that is no recording. [`unpacked`] opens gzip, which [`read`] does by itself.
//! [`CaptureReader`] reads the packets of a pcap or pcapng of any link, for whoever looks for something else than CAN.
//!
//! ```
//! let log = b"(0.000000) can0 123#0102\n(0.010000) can0 123#0304\n";
//! let recording = chronoseal_recordings::read(log)?;
//! assert_eq!(recording.frames[1].at_ns, 10_000_000);
//! assert_eq!(recording.frames[1].frame.data(), [3, 4]);
//!
//! let cut = chronoseal_recordings::read(b"(0.000000) can0 123#0102\n(0.010000) can0 123#03").unwrap();
//! assert_eq!(cut.warnings.len(), 1);
//! # Ok::<(), chronoseal_recordings::ReadError>(())
//! ```

pub mod arxml;
mod asc;
mod blf;
mod busmaster;
mod bytes;
mod candump;
mod capture;
mod collector;
pub mod content;
mod csv;
mod dbc;
mod error;
mod format;
mod gzip;
mod mf4;
mod pcap;
mod recording;
mod sqlite;
mod statistics;
mod text;
mod trc;

pub use candump::write_candump;
pub use capture::{
    CaptureInterface, CaptureItem, CaptureReader, CapturedPacket, LINKTYPE_CAN_SOCKETCAN, LINKTYPE_ETHERNET,
    LINKTYPE_LINUX_SLL, LINKTYPE_LINUX_SLL2,
};
pub use collector::{FRAMES_MAX, LENGTH_NS_MAX};
pub use dbc::{
    DATABASE_LEN_MAX, Database, DatabaseError, DatabaseMessage, DatabaseSignal, Misnumbered, TRANSPORTED_LEN_MAX,
    is_database, read_dbc,
};
pub use error::{Place, Problem, ReadError};
pub use format::Format;
pub use gzip::{GzipError, UNPACKED_LEN_MAX, is_gzip, unpacked, unpacked_within};
pub use pcap::{NOT_CAN, is_can_capture, write_capture, write_pcap};
pub use recording::{RecordedError, RecordedFrame, Recording, Warning};
pub use statistics::{IdentifierStatistics, LoadError, LoadSample, WINDOWS_MAX, bus_load, identifiers};

use collector::{Collector, shortened};

/// Reads a recording in any of the formats of [`Format`], packed with gzip or not.
///
/// # Errors
/// [`ReadError`], with what was read before the place it names.
pub fn read(bytes: &[u8]) -> Result<Recording, ReadError> {
    let bytes = &match unpacked(bytes) {
        Ok(bytes) => bytes,
        Err(error) => {
            let read = Box::new(Collector::new(Format::CandumpLog).finish());
            return Err(ReadError { problem: Problem::Packed(error), read });
        }
    }[..];
    let Some(format) = Format::detect(bytes) else {
        let found = String::from_utf8_lossy(&bytes[..bytes.len().min(100)]);
        let found = shortened(found.lines().next().unwrap_or(""));
        let read = Box::new(Collector::new(Format::CandumpLog).finish());
        return Err(ReadError { problem: Problem::UnknownFormat { found }, read });
    };
    let mut collector = Collector::new(format);
    let outcome = match format {
        Format::CandumpLog => candump::read_log(bytes, &mut collector),
        Format::CandumpConsole => candump::read_console(bytes, &mut collector),
        Format::Busmaster => busmaster::read(bytes, &mut collector),
        Format::Gvret => csv::read_gvret(bytes, &mut collector),
        Format::PythonCsv => csv::read_python(bytes, &mut collector),
        Format::Asc => asc::read(bytes, &mut collector),
        Format::Trc => trc::read(bytes, &mut collector),
        Format::Pcap | Format::Pcapng => pcap::read(bytes, &mut collector),
        Format::Blf => blf::read(bytes, &mut collector),
        Format::Sqlite => sqlite::read(bytes, &mut collector),
        Format::Mf4 => mf4::read(bytes, &mut collector),
    };
    let outcome = outcome.and_then(|()| collector.too_damaged().map_or(Ok(()), Err));
    let read = collector.finish();
    match outcome {
        Ok(()) => Ok(read),
        Err(problem) => Err(ReadError { problem, read: Box::new(read) }),
    }
}
