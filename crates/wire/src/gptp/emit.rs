//! From messages to bytes.

use super::time::correction_to_wire;
use super::{
    ANNOUNCE_LEN, Announce, Body, ETHERTYPE_PTP, FLAG_PTP_TIMESCALE, FLAG_TWO_STEP, FOLLOW_UP_LEN,
    FOLLOW_UP_ORGANIZATION, FOLLOW_UP_TLV_LEN, FollowUp, HEADER_LEN, MAJOR_SDO_ID, Message, PATH_TRACE_MAX, PDELAY_LEN,
    PTP_ADDRESS, PortIdentity, PtpTime, SYNC_LEN, TIME_FLAGS, TLV_HEADER_LEN, TLV_ORGANIZATION_EXTENSION,
    TLV_PATH_TRACE, VERSION,
};
use crate::ethernet::{self, MacAddress, TypeOrLength};

/// `minorVersionPTP` of the edition of 2020.
const MINOR_VERSION: u8 = 1;

/// Writes a frame of EtherType [`ETHERTYPE_PTP`] to [`PTP_ADDRESS`] with a message in it to the front of `buf`; returns its length.
///
/// # Panics
/// If `buf` is shorter than the frame.
pub fn emit_frame(payload: &[u8], source: MacAddress, buf: &mut [u8]) -> usize {
    let type_or_length = TypeOrLength::EtherType(ETHERTYPE_PTP);
    ethernet::Header { destination: PTP_ADDRESS, source, type_or_length }.emit(buf);
    let len = ethernet::HEADER_LEN + payload.len();
    buf[ethernet::HEADER_LEN..len].copy_from_slice(payload);
    ethernet::pad(buf, len)
}

impl Message<'_> {
    /// Type on the wire, length without the path trace `[byte]`, first and second byte of flags.
    fn kind(&self) -> (u8, usize, [u8; 2]) {
        match self.body {
            Body::Sync => (0x0, SYNC_LEN, [FLAG_TWO_STEP, FLAG_PTP_TIMESCALE]),
            Body::PdelayReq => (0x2, PDELAY_LEN, [0, FLAG_PTP_TIMESCALE]),
            Body::PdelayResp { .. } => (0x3, PDELAY_LEN, [FLAG_TWO_STEP, FLAG_PTP_TIMESCALE]),
            Body::FollowUp(_) => (0x8, FOLLOW_UP_LEN + TLV_HEADER_LEN + FOLLOW_UP_TLV_LEN, [0, FLAG_PTP_TIMESCALE]),
            Body::PdelayRespFollowUp { .. } => (0xa, PDELAY_LEN, [0, FLAG_PTP_TIMESCALE]),
            Body::Announce(announce) => (0xb, ANNOUNCE_LEN, [0, announce.time_flags & TIME_FLAGS]),
        }
    }

    /// The clocks of the path trace as they are written: none if there are too many.
    fn traced(&self) -> &[[u8; 8]] {
        match &self.body {
            Body::Announce(announce) if announce.path_trace.0.len() <= PATH_TRACE_MAX => announce.path_trace.0,
            _ => &[],
        }
    }

    /// How long it is on the wire, without Ethernet header and padding `[byte]`; at most [`super::MESSAGE_LEN_MAX`].
    pub fn emitted_len(&self) -> usize {
        let trace = match self.traced().len() {
            0 => 0,
            count => TLV_HEADER_LEN + 8 * count,
        };
        self.kind().1 + trace
    }

    /// Writes it to the front of `buf` and returns its length.
    ///
    /// # Panics
    /// If `buf` is shorter than [`Self::emitted_len`].
    pub fn emit(&self, buf: &mut [u8]) -> usize {
        let len = self.emitted_len();
        let (kind, fixed, flags) = self.kind();
        let message = &mut buf[..len];
        message.fill(0);
        message[0] = (MAJOR_SDO_ID << 4) | kind;
        message[1] = (MINOR_VERSION << 4) | VERSION;
        // At most 1500.
        message[2..4].copy_from_slice(&(len as u16).to_be_bytes());
        message[4] = self.header.domain;
        message[6..8].copy_from_slice(&flags);
        message[8..16].copy_from_slice(&correction_to_wire(self.header.correction).to_be_bytes());
        put_port_identity(&mut message[20..30], self.header.source);
        message[30..32].copy_from_slice(&self.header.sequence.to_be_bytes());
        message[33] = self.header.log_interval.to_be_bytes()[0];
        match &self.body {
            Body::Sync | Body::PdelayReq => {}
            Body::PdelayResp { received: time, requesting } | Body::PdelayRespFollowUp { sent: time, requesting } => {
                put_time(message, *time);
                put_port_identity(&mut message[44..54], *requesting);
            }
            Body::FollowUp(follow_up) => put_follow_up(message, follow_up),
            Body::Announce(announce) => put_announce(message, announce),
        }
        let traced = self.traced();
        if !traced.is_empty() {
            let (head, clocks) = message[fixed..].split_at_mut(TLV_HEADER_LEN);
            put_tlv_header(head, TLV_PATH_TRACE, clocks.len());
            clocks.copy_from_slice(traced.as_flattened());
        }
        len
    }
}

fn put_time(message: &mut [u8], time: PtpTime) {
    message[HEADER_LEN..HEADER_LEN + 10].copy_from_slice(&time.to_wire());
}

fn put_port_identity(field: &mut [u8], identity: PortIdentity) {
    field[..8].copy_from_slice(&identity.clock.0);
    field[8..].copy_from_slice(&identity.port.to_be_bytes());
}

fn put_tlv_header(field: &mut [u8], kind: u16, len: usize) {
    field[..2].copy_from_slice(&kind.to_be_bytes());
    // Within a message of at most 1500 bytes.
    field[2..].copy_from_slice(&(len as u16).to_be_bytes());
}

fn put_follow_up(message: &mut [u8], follow_up: &FollowUp) {
    put_time(message, follow_up.precise_origin);
    let (head, value) = message[FOLLOW_UP_LEN..].split_at_mut(TLV_HEADER_LEN);
    put_tlv_header(head, TLV_ORGANIZATION_EXTENSION, FOLLOW_UP_TLV_LEN);
    value[..6].copy_from_slice(&FOLLOW_UP_ORGANIZATION);
    value[6..10].copy_from_slice(&follow_up.cumulative_scaled_rate_offset.to_be_bytes());
    value[10..12].copy_from_slice(&follow_up.gm_time_base_indicator.to_be_bytes());
    value[12..24].copy_from_slice(&follow_up.last_gm_phase_change.to_be_bytes()[4..]);
    value[24..].copy_from_slice(&follow_up.scaled_last_gm_freq_change.to_be_bytes());
}

fn put_announce(message: &mut [u8], announce: &Announce<'_>) {
    let grandmaster = &announce.grandmaster;
    message[44..46].copy_from_slice(&announce.current_utc_offset.to_be_bytes());
    message[47..50].copy_from_slice(&[grandmaster.priority1, grandmaster.quality.class, grandmaster.quality.accuracy]);
    message[50..52].copy_from_slice(&grandmaster.quality.variance.to_be_bytes());
    message[52] = grandmaster.priority2;
    message[53..61].copy_from_slice(&grandmaster.clock.0);
    message[61..63].copy_from_slice(&announce.steps_removed.to_be_bytes());
    message[63] = announce.time_source;
}
