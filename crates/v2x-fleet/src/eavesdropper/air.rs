//! What a frame shows beside what its message says: all that whoever listens can write down of it.

use chronoseal_v2x::certificate::legible_fields;
use chronoseal_v2x::coer::{Decode, Reader, Rules};
use chronoseal_v2x::types::{Certificate, Ieee1609Dot2Data, SignerIdentifier};
use chronoseal_wire::ethernet::HEADER_LEN;
use chronoseal_wire::its::geonetworking::{BasicHeader, ExtendedHeader, LongPosition, NextHeader, Packet};

/// What a frame shows of its sender, but for place, identity and size, which the message says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Trace {
    /// Address of the sender's link layer.
    pub link_address: [u8; 6],
    /// Length of the frame, header to last byte before the checksum `[byte]`.
    pub frame_len: u16,
    /// When the sender made the message, by its own word: TAI since 2004-01-01 `[us]`, in whole milliseconds if it is not
    /// signed.
    pub generated_us: u64,
    /// Its sequence number, if it is a GeoBroadcast.
    pub packet_number: Option<u16>,
    /// The signer's certificate, if that goes along.
    pub ticket: Option<TicketSeen>,
    /// How much stronger it was received than a frame from the place it names would be on average `[dB]`.
    pub power_db: Option<f64>,
}

/// A certificate as far as it can be compared with another one: all of its fields but its keys and its signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TicketSeen {
    /// When it begins: TAI since 2004-01-01 `[s]`.
    pub start_s: u32,
    /// A hash of all others.
    pub others: u64,
}

impl TicketSeen {
    fn of(certificate: &Certificate<'_>) -> Self {
        let start = certificate.to_be_signed.validity_period.start;
        // FNV-1a (Fowler, Noll, Vo): nobody here tries to make two alike.
        let mix = |hash: u64, octet: &u8| (hash ^ u64::from(*octet)).wrapping_mul(0x100_0000_01b3);
        let fields = legible_fields(certificate).into_iter().filter(|field| !field.is_own);
        let others = fields
            .filter(|field| field.name != "toBeSigned.validityPeriod.start")
            .flat_map(|field| (field.value.len() as u32).to_be_bytes().into_iter().chain(field.value))
            .fold(0xcbf2_9ce4_8422_2325, |hash, octet| mix(hash, &octet));
        Self { start_s: start.0, others }
    }
}

impl Trace {
    /// What a frame of GeoNetworking shows, and the position vector of its sender; `None` if it is no such frame. `now_us` is
    /// the time at the receiver, TAI since 2004-01-01 `[us]`.
    pub(crate) fn of_frame(bytes: &[u8], now_us: u64) -> Option<(LongPosition, Self)> {
        let link_address = *bytes.get(6..)?.first_chunk()?;
        let payload = bytes.get(HEADER_LEN..)?;
        let basic = BasicHeader::parse(payload).ok()?;
        let rest = &payload[BasicHeader::LEN..];
        let data = match basic.next {
            NextHeader::Common => None,
            NextHeader::Secured => Some(Ieee1609Dot2Data::decode(&mut Reader::new(rest, Rules::LENIENT)).ok()?),
        };
        let signed = match &data {
            None => None,
            Some(data) => Some(data.signed_data()?),
        };
        let packet = match signed {
            None => rest,
            Some(signed) => signed.tbs_data.payload.unsecured_payload()?,
        };
        let packet = Packet::parse(packet).ok()?;
        let source = *packet.source();
        let by_header = signed.and_then(|signed| signed.tbs_data.header_info.generation_time);
        let ticket = signed.and_then(|signed| match &signed.signer {
            SignerIdentifier::Certificate(list) => list.first().map(TicketSeen::of),
            _ => None,
        });
        let trace = Self {
            link_address,
            frame_len: bytes.len() as u16,
            generated_us: by_header.map_or_else(|| unwrapped_us(source.timestamp_ms, now_us), |time| time.0),
            packet_number: match packet.extended {
                ExtendedHeader::GeoBroadcast { sequence, .. } => Some(sequence),
                ExtendedHeader::SingleHop { .. } => None,
            },
            ticket,
            power_db: None,
        };
        Some((source, trace))
    }
}

/// The time nearest to now whose milliseconds are these, modulo 2^32.
fn unwrapped_us(ms: u32, now_us: u64) -> u64 {
    let now_ms = now_us / 1000;
    let off = i64::from(ms.wrapping_sub(now_ms as u32) as i32);
    now_ms.saturating_add_signed(off) * 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_found_on_both_sides_of_where_its_counter_begins_again() {
        let turn_ms = 163 * (1u64 << 32);
        for (said_ms, now_ms) in [(turn_ms - 3, turn_ms + 2), (turn_ms + 2, turn_ms - 3), (turn_ms, turn_ms)] {
            assert_eq!(unwrapped_us(said_ms as u32, now_ms * 1000), said_ms * 1000);
        }
    }
}
