//! Messages longer than a frame: UDP datagrams in fragments of IPv4 (RFC 791), one after the other.

use chronoseal_core::Duration;
use chronoseal_media::recovery::RecoveryAlgorithm;
use chronoseal_plan::{AttackPlace, Copies, Datagram, EthernetHop, EthernetSegment};
use chronoseal_wire::udp;

use super::spec::EthernetStreamSpec;
use crate::kinds::{Context, HopRequest, Room, ThreatRequest};
use crate::limits::*;
use crate::problem::Code;
use crate::shape::shortened;

/// How long a receiver waits for the rest of a message unless a scenario says otherwise (RFC 791 §3.2).
const TIMEOUT: Duration = Duration::from_s(15);
/// The key that says otherwise.
const KEY: &str = "reassembly_timeout";

/// What a stream has room for in one frame, behind the Ethernet header.
pub(super) struct InFrame {
    /// Payload and protection at most `[byte]`.
    pub(super) room: u32,
    /// What stands before them: the header in front of what gateways carry `[byte]`.
    pub(super) front_len: u32,
    /// What stands behind them `[byte]`.
    pub(super) trailer_len: u32,
    /// What tags add to a frame `[byte]`.
    pub(super) tags_len: u32,
}

/// The messages of a stream as datagrams, if they do not fit a frame and may be cut; and what a stream has room for.
pub(super) fn resolve(
    request: &HopRequest<'_>,
    spec: &EthernetStreamSpec,
    in_frame: &InFrame,
    context: &mut Context<'_>,
) -> (Option<Datagram>, Room) {
    let overhead = request.protection.overhead_bytes();
    let wanted = request.stream.payload_len.saturating_add(overhead);
    let in_one =
        |other_way: &str| Room { bytes: in_frame.room, frame: "an Ethernet frame", other_way: other_way.to_owned() };
    let other_way = ", or several streams with a piece each (`count`)";
    let may_be_cut = request.collected_every.is_none() && overhead <= in_frame.room;
    if wanted <= in_frame.room || !may_be_cut {
        if spec.reassembly_timeout.is_some() {
            context.report(
                Code::OutOfRange,
                &request.table.at(KEY),
                format!(
                    "messages of stream `{}` are a frame each, and nothing is put together again",
                    shortened(&request.stream.spec.name)
                ),
                "not used",
                format!("leave `{KEY}` out"),
            );
        }
        return (None, in_one(other_way));
    }
    let bytes = udp::DATA_LEN_MAX as u32 - in_frame.front_len;
    let room = Room { bytes, frame: "a UDP datagram", other_way: String::new() };
    let timeout = spec.reassembly_timeout.map_or(TIMEOUT, |written| {
        context.within(&request.table.at(KEY), "the time for reassembly", written.0, PERIOD_MIN, REASSEMBLY_TIMEOUT_MAX)
    });
    let datagram = Datagram {
        data_len: in_frame.front_len + wanted.min(room.bytes),
        trailer_len: in_frame.trailer_len,
        tags_len: in_frame.tags_len,
        timeout,
    };
    (Some(datagram), room)
}

/// Whether the frames of a datagram come to its receivers in an order in which they can be put together, and can be told apart.
pub(super) fn check(request: &HopRequest<'_>, copies: &Copies, context: &mut Context<'_>) {
    let name = shortened(&request.stream.spec.name);
    let shorter = "or write a `length` that a frame has room for";
    if matches!(copies, Copies::Ways { recovery, .. } if recovery.algorithm == RecoveryAlgorithm::Match) {
        context.report(
            Code::BadReplication,
            &request.table.at("replication"),
            format!(
                "messages of stream `{name}` are longer than a frame, and match recovery is for frames of which each comes after all copies of \
                 the one before (IEEE 802.1CB-2017 §7.4.3.5), which fragments do not"
            ),
            "match recovery",
            format!("write `recovery = \"vector\"`, {shorter}"),
        );
    }
}

/// Refuses an attack on the first frames of messages where an attacker cannot tell which frames these are: it counts those that MACsec
/// protects, and those of other streams come between.
pub(super) fn attacked(request: &ThreatRequest<'_>, segment: &EthernetSegment, context: &mut Context<'_>) {
    let Some(hop) = request.hop().and_then(|hop| hop.facet.get::<EthernetHop>()) else { return };
    let AttackPlace::OnLink(_, node) = request.place else { return };
    let is_shared = hop.class.virtual_link().is_some_and(|link| link.sub_links > 1);
    if hop.datagram.is_none() || !is_shared || segment.link_of(node).parameters.macsec.is_none() {
        return;
    }
    context.report(
        Code::NotYet,
        &request.at("stream"),
        format!(
            "messages of stream `{}` are longer than a frame and share a virtual link, and on a link with MACsec nothing tells `{}` which \
             frame is the first of one of them",
            shortened(request.stream.map_or("", |stream| stream.name.as_str())),
            shortened(request.name)
        ),
        "in several frames, under MACsec",
        "write `macsec = false` for the link, give the stream a virtual link of its own, or write `kind = \"spoof\"`, `\"withhold\"` or \
         `\"delay\"`",
    );
}
