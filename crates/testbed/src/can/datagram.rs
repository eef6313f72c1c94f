//! A CAN frame as python-can's `udp_multicast` interface has it: one MessagePack map in one datagram.
//!
//! # Source
//! python-can 4.6, `can/interfaces/udp_multicast/utils.py`: the keys are the arguments of `can.Message`. For FD frames
//! `dlc` is the number of bytes, not the code.

use chronoseal_core::DiscardReason;
use chronoseal_wire::can::frame::FD_DATA_LEN_MAX;
use chronoseal_wire::can::{CanFrame, CanId, Dlc, FrameKind, IdError, LengthError};
use serde::{Deserialize, Serialize, Serializer};

/// Longest datagram looked at `[byte]`; one of an FD frame with 64 bytes has about 220.
pub(crate) const DATAGRAM_LEN_MAX: usize = 512;

/// Value of `channel` in every datagram of the bus. What a client sent itself comes back to it without the bus too
/// (multicast on one host), and is told from what was on the bus by this.
pub const BUS_CHANNEL: &str = "chronoseal";

/// Why a datagram is no frame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum DatagramError {
    /// No map of these keys.
    #[error("no message of python-can: {0}")]
    Malformed(#[from] rmp_serde::decode::Error),
    /// Controllers make error frames, nobody sends them.
    #[error("an error frame, which no client can send")]
    ErrorFrame,
    /// More bits than the format has.
    #[error(transparent)]
    Id(#[from] IdError),
    /// A length no such frame has.
    #[error(transparent)]
    Length(#[from] LengthError),
    /// Remote and FD at once, or a length of a remote frame above 8.
    #[error("a remote frame that is no classical frame of 0 to 8 bytes")]
    Remote,
}

impl From<DatagramError> for DiscardReason {
    fn from(error: DatagramError) -> Self {
        match error {
            // Between two lengths of FD frames.
            DatagramError::Length(LengthError::Fd(0..=FD_DATA_LEN_MAX)) => Self::Malformed,
            DatagramError::Length(_) => Self::TooLong,
            _ => Self::Malformed,
        }
    }
}

/// What is read; further keys are python-can's own business.
#[derive(Deserialize)]
struct Received<'a> {
    arbitration_id: u32,
    is_extended_id: bool,
    #[serde(default)]
    is_remote_frame: bool,
    #[serde(default)]
    is_error_frame: bool,
    #[serde(default)]
    dlc: u8,
    #[serde(borrow, default)]
    data: &'a [u8],
    #[serde(default)]
    is_fd: bool,
    #[serde(default)]
    bitrate_switch: bool,
}

/// What is written: everything python-can writes, and `is_rx`, which it takes too.
#[derive(Serialize)]
struct Released<'a> {
    timestamp: f64,
    arbitration_id: u32,
    is_extended_id: bool,
    is_remote_frame: bool,
    is_error_frame: bool,
    channel: &'static str,
    dlc: u8,
    #[serde(serialize_with = "as_bytes")]
    data: &'a [u8],
    is_fd: bool,
    bitrate_switch: bool,
    error_state_indicator: bool,
    is_rx: bool,
}

fn as_bytes<S: Serializer>(data: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(data)
}

/// The frame in a client's datagram.
pub(crate) fn decode(datagram: &[u8]) -> Result<CanFrame, DatagramError> {
    let message: Received<'_> = rmp_serde::from_slice(datagram)?;
    if message.is_error_frame {
        return Err(DatagramError::ErrorFrame);
    }
    let id = match message.is_extended_id {
        true => CanId::extended(message.arbitration_id)?,
        false => CanId::standard(
            u16::try_from(message.arbitration_id).map_err(|_| IdError::Standard(message.arbitration_id))?,
        )?,
    };
    if message.is_remote_frame {
        let dlc = Dlc::new(message.dlc).filter(|dlc| dlc.raw() <= 8 && !message.is_fd).ok_or(DatagramError::Remote)?;
        return Ok(CanFrame::remote(id, dlc));
    }
    // Whether a sender is error passive is the bus's to say, whatever the client claims.
    Ok(match message.is_fd {
        true => CanFrame::fd(id, message.data, message.bitrate_switch)?,
        false => CanFrame::classical(id, message.data)?,
    })
}

/// Writes the datagram of a frame that was on the bus, its last bit at `timestamp_s` of the wall clock, to the front
/// of `datagram`, and says how long it is. `is_own` if the client that gets it had sent it.
///
/// # Panics
/// Never: a map of these values fits [`DATAGRAM_LEN_MAX`].
pub(crate) fn encode(frame: &CanFrame, timestamp_s: f64, is_own: bool, datagram: &mut [u8; DATAGRAM_LEN_MAX]) -> usize {
    let (bitrate_switch, error_state_indicator) = match frame.kind() {
        FrameKind::Fd { brs, esi } => (brs, esi),
        FrameKind::Classical | FrameKind::Remote => (false, false),
    };
    let dlc = if frame.kind().is_remote() { frame.dlc().classical_len() } else { frame.data().len() };
    let message = Released {
        timestamp: timestamp_s,
        arbitration_id: frame.id().raw(),
        is_extended_id: frame.id().is_extended(),
        is_remote_frame: frame.kind().is_remote(),
        is_error_frame: false,
        channel: BUS_CHANNEL,
        dlc: dlc as u8,
        data: frame.data(),
        is_fd: frame.kind().is_fd(),
        bitrate_switch,
        error_state_indicator,
        is_rx: !is_own,
    };
    let mut rest = &mut datagram[..];
    message
        .serialize(&mut rmp_serde::Serializer::new(&mut rest).with_struct_map())
        .expect("64 bytes of data and 12 short keys take less than 512 bytes");
    let left = rest.len();
    DATAGRAM_LEN_MAX - left
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `pack_message` of python-can 4.6.1 for `can.Message(timestamp=1.5, arbitration_id=0x18daf110, data=range(12),
    /// is_fd=True, bitrate_switch=True)`.
    const OF_PYTHON_CAN: &str = concat!(
        "8ba974696d657374616d70cb3ff8000000000000ae6172626974726174696f6e5f6964ce18daf110ae69735f65787465",
        "6e6465645f6964c3af69735f72656d6f74655f6672616d65c2ae69735f6572726f725f6672616d65c2a76368616e6e65",
        "6cc0a3646c630ca464617461c40c000102030405060708090a0ba569735f6664c3ae626974726174655f737769746368",
        "c3b56572726f725f73746174655f696e64696361746f72c2",
    );

    fn bytes_of(hex: &str) -> Vec<u8> {
        (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect()
    }

    fn datagram_of(frame: &CanFrame) -> Vec<u8> {
        let mut datagram = [0; DATAGRAM_LEN_MAX];
        let len = encode(frame, 1.5, false, &mut datagram);
        datagram[..len].to_vec()
    }

    /// A client's map with one value replaced: its key, MessagePack of the new value.
    fn changed(key: &str, value: &[u8], old_len: usize) -> Vec<u8> {
        let mut datagram = bytes_of(OF_PYTHON_CAN);
        let at = datagram.windows(key.len()).position(|window| window == key.as_bytes()).unwrap() + key.len();
        datagram.splice(at..at + old_len, value.iter().copied());
        datagram
    }

    #[test]
    fn reads_what_python_can_packs() {
        let frame = decode(&bytes_of(OF_PYTHON_CAN)).unwrap();
        let data: Vec<u8> = (0..12).collect();
        assert_eq!(frame, CanFrame::fd(CanId::extended(0x18da_f110).unwrap(), &data, true).unwrap());
    }

    #[test]
    fn reads_what_it_writes_for_every_kind_and_length() {
        let (short, long) = (CanId::standard(0x7ff).unwrap(), CanId::extended(0x1fff_ffff).unwrap());
        for len in [0, 1, 8, 12, 64] {
            let data: Vec<u8> = (0..len as u8).collect();
            for id in [short, long] {
                let fd = CanFrame::fd(id, &data, len % 2 == 0).unwrap();
                assert_eq!(decode(&datagram_of(&fd)).unwrap(), fd);
                if let Ok(classical) = CanFrame::classical(id, &data) {
                    assert_eq!(decode(&datagram_of(&classical)).unwrap(), classical);
                    let remote = CanFrame::remote(id, Dlc::of_len(len).unwrap());
                    assert_eq!(decode(&datagram_of(&remote)).unwrap(), remote);
                }
            }
        }
    }

    #[test]
    fn refuses_every_torn_datagram() {
        let whole = bytes_of(OF_PYTHON_CAN);
        for len in 0..whole.len() {
            assert!(decode(&whole[..len]).is_err(), "{len} bytes");
        }
        assert!(decode(b"hello").is_err());
    }

    #[test]
    fn every_changed_byte_is_refused_or_still_a_frame() {
        let whole = bytes_of(OF_PYTHON_CAN);
        let mut frames = 0;
        for (at, value) in (0..whole.len()).flat_map(|at| (0..=u8::MAX).map(move |value| (at, value))) {
            let mut datagram = whole.clone();
            datagram[at] = value;
            if let Ok(frame) = decode(&datagram) {
                assert_eq!(decode(&datagram_of(&frame)).unwrap(), frame);
                frames += 1;
            }
        }
        // At least what changes nothing, or time stamp, identifier and data.
        assert!(frames > whole.len() + (8 + 4 + 12) * 128, "{frames}");
    }

    #[test]
    fn refuses_what_no_bus_carries() {
        // 13 bytes of data: bin 8 of 13 instead of 12.
        let mut thirteen = changed("data", &[0xc4, 13], 2);
        let at = thirteen.windows(4).position(|window| window == b"data").unwrap() + 4 + 2 + 12;
        thirteen.insert(at, 0);
        assert!(matches!(decode(&thirteen), Err(DatagramError::Length(_))));
        assert!(matches!(decode(&changed("is_error_frame", &[0xc3], 1)), Err(DatagramError::ErrorFrame)));
        assert!(matches!(decode(&changed("is_remote_frame", &[0xc3], 1)), Err(DatagramError::Remote)));
        assert!(matches!(decode(&changed("is_extended_id", &[0xc2], 1)), Err(DatagramError::Id(_))));
        assert!(matches!(decode(&changed("is_fd", &[0xc2], 1)), Err(DatagramError::Length(_))));
        assert!(matches!(decode(&changed("arbitration_id", &[0xa1, b'x'], 5)), Err(DatagramError::Malformed(_))));
    }
}
