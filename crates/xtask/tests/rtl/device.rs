//! A client of the simulator: as little as the tests need.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub(crate) const START: u8 = 0xa5;
pub(crate) const UNREADABLE: u8 = 0xff;

pub(crate) type Number = [u8; 32];

/// Request types.
pub(crate) mod request {
    pub(crate) const INFO: u8 = 0x01;
    pub(crate) const SLOTS: u8 = 0x02;
    pub(crate) const RELOAD: u8 = 0x03;
    pub(crate) const IMPORT: u8 = 0x10;
    pub(crate) const PROVISION: u8 = 0x11;
    pub(crate) const ERASE: u8 = 0x12;
    pub(crate) const PUBLIC: u8 = 0x13;
    pub(crate) const MULTIPLY_BASE: u8 = 0x20;
    pub(crate) const MULTIPLY_POINT: u8 = 0x21;
    pub(crate) const MULTIPLY_DUAL: u8 = 0x22;
    pub(crate) const AGREE: u8 = 0x23;
    pub(crate) const SIGN: u8 = 0x24;
    pub(crate) const VERIFY: u8 = 0x25;
    pub(crate) const CHECK: u8 = 0x26;
    pub(crate) const DIAGNOSE: u8 = 0x70;
}

/// Statuses of answers.
pub(crate) mod status {
    pub(crate) const OK: u8 = 0;
    pub(crate) const COORDINATE_OUT_OF_RANGE: u8 = 1;
    pub(crate) const NOT_ON_CURVE: u8 = 2;
    pub(crate) const INFINITY: u8 = 3;
    pub(crate) const MISMATCH: u8 = 4;
    pub(crate) const SCALAR_OUT_OF_RANGE: u8 = 5;
    pub(crate) const SLOT_EMPTY: u8 = 6;
    pub(crate) const NO_SUCH_SLOT: u8 = 7;
    pub(crate) const SLOT_OCCUPIED: u8 = 8;
    pub(crate) const SLOT_PROTECTED: u8 = 9;
    pub(crate) const NO_FLASH: u8 = 10;
    pub(crate) const FLASH_WRITE_FAILED: u8 = 11;
    pub(crate) const UNKNOWN_TYPE: u8 = 12;
    pub(crate) const WRONG_LENGTH: u8 = 13;
    pub(crate) const BAD_FRAME: u8 = 14;
}

/// An answer whose frame was right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Answer {
    pub(crate) kind: u8,
    pub(crate) sequence: u8,
    pub(crate) status: u8,
    pub(crate) cycles: u64,
    pub(crate) link_ns: u64,
    pub(crate) result: Vec<u8>,
}

pub(crate) struct Device {
    process: Child,
    requests: ChildStdin,
    answers: ChildStdout,
    sequence: u8,
}

impl Device {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    pub(crate) fn start_with_flash(flash: &Path) -> Self {
        Self::start_with(&["--flash", flash.to_str().unwrap()])
    }

    pub(crate) fn start_with(arguments: &[&str]) -> Self {
        let mut process =
            command(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the simulator starts");
        let (requests, answers) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        Self { process, requests, answers, sequence: 0 }
    }

    /// Sends a request and takes its answer, whatever the status.
    pub(crate) fn ask(&mut self, kind: u8, parts: &[&[u8]]) -> Answer {
        self.sequence = self.sequence.wrapping_add(1);
        self.send(&frame(kind, self.sequence, &parts.concat()));
        let answer = self.answer();
        assert_eq!((answer.kind, answer.sequence), (kind | 0x80, self.sequence));
        answer
    }

    /// The result of a request that succeeds.
    pub(crate) fn result(&mut self, kind: u8, parts: &[&[u8]]) -> Vec<u8> {
        let answer = self.ask(kind, parts);
        assert_eq!(answer.status, status::OK, "request {kind:#04x} {:02x?}", parts.concat());
        answer.result
    }

    /// The status of a request; one that fails brings no result.
    pub(crate) fn status(&mut self, kind: u8, parts: &[&[u8]]) -> u8 {
        let answer = self.ask(kind, parts);
        assert!(answer.status == status::OK || answer.result.is_empty());
        answer.status
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.requests.write_all(bytes).unwrap();
        self.requests.flush().unwrap();
    }

    pub(crate) fn answer(&mut self) -> Answer {
        let mut header = [0; 5];
        self.answers.read_exact(&mut header).expect("there is an answer");
        assert_eq!(header[0], START);
        let mut rest = vec![0; usize::from(u16::from_be_bytes([header[3], header[4]])) + 4];
        self.answers.read_exact(&mut rest).unwrap();
        let (payload, crc) = rest.split_at(rest.len() - 4);
        assert_eq!(crc, crc32(&[&header[1..], payload].concat()).to_be_bytes());
        Answer {
            kind: header[1],
            sequence: header[2],
            status: payload[0],
            cycles: u64::from_be_bytes(payload[1..9].try_into().unwrap()),
            link_ns: u64::from_be_bytes(payload[9..17].try_into().unwrap()),
            result: payload[17..].to_vec(),
        }
    }

    /// Ends its input and waits for it; gives back its exit status.
    pub(crate) fn end(mut self) -> Option<i32> {
        drop(self.requests);
        self.process.wait().unwrap().code()
    }

    /// Power is lost.
    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

pub(crate) fn command(arguments: &[&str]) -> Command {
    let path = std::env::var_os("CHRONOSEAL_RTL").expect("CHRONOSEAL_RTL names the simulator: cargo xtask rtl test");
    let mut command = Command::new(path);
    command.args(arguments);
    command
}

pub(crate) fn frame(kind: u8, sequence: u8, payload: &[u8]) -> Vec<u8> {
    let len = u16::try_from(payload.len()).unwrap().to_be_bytes();
    let checked = [&[kind, sequence], &len[..], payload].concat();
    [&[START], &checked[..], &crc32(&checked).to_be_bytes()].concat()
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    })
}

#[test]
fn the_crc_is_that_of_ieee_802_3() {
    // The usual check value.
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
}
