//! From bytes to messages.

use super::time::correction_from_wire;
use super::{
    ANNOUNCE_LEN, Announce, Body, ClockIdentity, ClockQuality, FLAG_TWO_STEP, FOLLOW_UP_LEN, FOLLOW_UP_ORGANIZATION,
    FOLLOW_UP_TLV_LEN, FollowUp, GptpError, HEADER_LEN, Header, MAJOR_SDO_ID, Message, PDELAY_LEN, PathTrace,
    PortIdentity, PtpTime, SYNC_LEN, SystemIdentity, TIME_FLAGS, TLV_HEADER_LEN, TLV_ORGANIZATION_EXTENSION,
    TLV_PATH_TRACE, VERSION,
};
use crate::field;

impl<'a> Message<'a> {
    /// Reads the payload of a frame of EtherType [`super::ETHERTYPE_PTP`]; padding may follow, and TLVs of other types are skipped.
    ///
    /// # Errors
    /// [`GptpError`]: the message is too short, of another version or profile, or of a type that is not used.
    pub fn parse(payload: &'a [u8]) -> Result<Self, GptpError> {
        let too_short = |needed| GptpError::TooShort { len: payload.len(), needed };
        let head: &[u8; HEADER_LEN] = payload.first_chunk().ok_or(too_short(HEADER_LEN))?;
        let (profile, kind) = (head[0] >> 4, head[0] & 0x0f);
        (profile == MAJOR_SDO_ID).then_some(()).ok_or(GptpError::Profile(profile))?;
        let version = head[1] & 0x0f;
        (version == VERSION).then_some(()).ok_or(GptpError::Version(version))?;
        let needed = match kind {
            0x0 => SYNC_LEN,
            0x8 => FOLLOW_UP_LEN,
            0x2 | 0x3 | 0xa => PDELAY_LEN,
            0xb => ANNOUNCE_LEN,
            _ => return Err(GptpError::UnknownType(kind)),
        };
        let stated = usize::from(u16::from_be_bytes([head[2], head[3]]));
        (stated >= needed).then_some(()).ok_or(GptpError::WrongLength { stated, needed })?;
        let message = payload.get(..stated).ok_or(too_short(stated))?;
        if matches!(kind, 0x0 | 0x3) && head[6] & FLAG_TWO_STEP == 0 {
            return Err(GptpError::OneStep);
        }
        let header = Header {
            domain: head[4],
            source: port_identity(message, 20)?,
            sequence: u16::from_be_bytes([head[30], head[31]]),
            correction: correction_from_wire(i64::from_be_bytes(array(message, 8)?)),
            log_interval: i8::from_be_bytes([head[33]]),
        };
        let body = match kind {
            0x0 => Body::Sync,
            0x2 => Body::PdelayReq,
            0x3 => Body::PdelayResp { received: time(message)?, requesting: port_identity(message, 44)? },
            0x8 => Body::FollowUp(follow_up(message)?),
            0xa => Body::PdelayRespFollowUp { sent: time(message)?, requesting: port_identity(message, 44)? },
            _ => Body::Announce(announce(message)?),
        };
        Ok(Self { header, body })
    }
}

fn array<const N: usize>(message: &[u8], offset: usize) -> Result<[u8; N], GptpError> {
    field::read(message, offset).ok_or(GptpError::TooShort { len: message.len(), needed: offset + N })
}

fn port_identity(message: &[u8], offset: usize) -> Result<PortIdentity, GptpError> {
    Ok(PortIdentity {
        clock: ClockIdentity(array(message, offset)?),
        port: u16::from_be_bytes(array(message, offset + 8)?),
    })
}

/// The time at the beginning of the body.
fn time(message: &[u8]) -> Result<PtpTime, GptpError> {
    let [a, b, c, d, e, f]: [u8; 6] = array(message, HEADER_LEN)?;
    let nanoseconds = u32::from_be_bytes(array(message, HEADER_LEN + 6)?);
    (nanoseconds < 1_000_000_000).then_some(()).ok_or(GptpError::Nanoseconds(nanoseconds))?;
    Ok(PtpTime::from_wire(u64::from_be_bytes([0, 0, a, b, c, d, e, f]), nanoseconds))
}

/// The value of the first TLV that is looked for.
fn tlv(message: &[u8], mut offset: usize, wanted: impl Fn(u16, &[u8]) -> bool) -> Result<Option<&[u8]>, GptpError> {
    while offset < message.len() {
        let kind = u16::from_be_bytes(array(message, offset)?);
        let stated = usize::from(u16::from_be_bytes(array(message, offset + 2)?));
        let start = offset + TLV_HEADER_LEN;
        let value = message.get(start..start + stated).ok_or(GptpError::Tlv { kind, stated })?;
        if wanted(kind, value) {
            return Ok(Some(value));
        }
        offset = start + stated;
    }
    Ok(None)
}

fn follow_up(message: &[u8]) -> Result<FollowUp, GptpError> {
    let is_information =
        |kind, value: &[u8]| kind == TLV_ORGANIZATION_EXTENSION && value.starts_with(&FOLLOW_UP_ORGANIZATION);
    let value = tlv(message, FOLLOW_UP_LEN, is_information)?.ok_or(GptpError::NoInformation)?;
    let wrong = GptpError::Tlv { kind: TLV_ORGANIZATION_EXTENSION, stated: value.len() };
    let value: &[u8; FOLLOW_UP_TLV_LEN] = value.try_into().map_err(|_| wrong)?;
    let high = i64::from_be_bytes(array(value, 12)?);
    let low = u32::from_be_bytes(array(value, 20)?);
    Ok(FollowUp {
        precise_origin: time(message)?,
        cumulative_scaled_rate_offset: i32::from_be_bytes(array(value, 6)?),
        gm_time_base_indicator: u16::from_be_bytes(array(value, 10)?),
        last_gm_phase_change: (i128::from(high) << 32) | i128::from(low),
        scaled_last_gm_freq_change: i32::from_be_bytes(array(value, 24)?),
    })
}

fn announce(message: &[u8]) -> Result<Announce<'_>, GptpError> {
    let value = tlv(message, ANNOUNCE_LEN, |kind, _| kind == TLV_PATH_TRACE)?.unwrap_or_default();
    let (clocks, rest) = value.as_chunks::<8>();
    rest.is_empty().then_some(()).ok_or(GptpError::Tlv { kind: TLV_PATH_TRACE, stated: value.len() })?;
    let [priority1, class, accuracy] = array(message, 47)?;
    let [priority2] = array(message, 52)?;
    Ok(Announce {
        time_flags: message[7] & TIME_FLAGS,
        current_utc_offset: i16::from_be_bytes(array(message, 44)?),
        grandmaster: SystemIdentity {
            priority1,
            quality: ClockQuality { class, accuracy, variance: u16::from_be_bytes(array(message, 50)?) },
            priority2,
            clock: ClockIdentity(array(message, 53)?),
        },
        steps_removed: u16::from_be_bytes(array(message, 61)?),
        time_source: message[63],
        path_trace: PathTrace::new(clocks),
    })
}
