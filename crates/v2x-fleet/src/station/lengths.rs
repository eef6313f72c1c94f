//! How long messages and their frames can be.

use chronoseal_v2x::crypto::Curve;
use chronoseal_wire::ethernet::HEADER_LEN;
use chronoseal_wire::its::geonetworking::{Area, BasicHeader, ExtendedHeader, LongPosition, Packet};

use super::perception::cpm_len_max;
use super::sending::denm_len;
use super::table::MessageKind;
use super::vulnerable::vam_len_max;
use crate::composer::Composer;

/// The longest message of a kind that a station sends `[byte]`.
pub fn message_len_max(kind: MessageKind) -> usize {
    match kind {
        MessageKind::Cam => Composer::cam_len_max(),
        MessageKind::Denm => denm_len(),
        MessageKind::Cpm => cpm_len_max(),
        MessageKind::Vam => vam_len_max(),
    }
}

/// The longest frame with a message of a kind, header to last byte before the checksum `[byte]`. One that is signed has its
/// signature, the signer's certificate, which permits `permits` kinds of messages beside CAMs and DENMs, and questions for the
/// certificates of others.
pub fn frame_len_max(kind: MessageKind, signed: Option<Curve>, permits: usize) -> usize {
    let source = LongPosition::default();
    let single_hop = Packet::single_hop(source, 0, &[]);
    let packet = match kind {
        MessageKind::Cam | MessageKind::Cpm | MessageKind::Vam => single_hop,
        MessageKind::Denm => {
            let extended = ExtendedHeader::GeoBroadcast { sequence: 0, source, area: Area::default() };
            Packet { extended, ..single_hop }
        }
    };
    let secured = signed
        .map_or(0, |curve| SECURITY_LEN_MAX + permits * PERMISSION_LEN + SECURITY_COORDINATES * coordinate_len(curve));
    HEADER_LEN + BasicHeader::LEN + packet.len() + secured + message_len_max(kind)
}

/// Signed data around a packet, without what depends on the curve: headers of message and certificate, validity, permissions
/// and questions for certificates (IEEE 1609.2, clauses 6.3 and 6.4) `[byte]`.
const SECURITY_LEN_MAX: usize = 90;
/// One permission more in a certificate: PSID of three bytes and a bitmap of two with what is around them (PsidSsp of
/// IEEE 1609.2) `[byte]`.
const PERMISSION_LEN: usize = 9;
/// Coordinates in it: two of each signature, of message and certificate, and the public key's.
const SECURITY_COORDINATES: usize = 5;

const fn coordinate_len(curve: Curve) -> usize {
    match curve {
        Curve::NistP256 | Curve::BrainpoolP256r1 => 32,
        Curve::NistP384 | Curve::BrainpoolP384r1 => 48,
    }
}
