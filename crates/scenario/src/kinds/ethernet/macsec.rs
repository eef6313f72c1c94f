//! MACsec on the links of an Ethernet segment (IEEE 802.1AE-2018), checked.
//!
//! The frame that leaves a link is the one that entered it, so nothing above the link knows of MACsec: filters, meters, queues and
//! end-to-end protection have the frame as it was. What it costs is on the link: bytes on the wire, and a delay at both ends.

use chronoseal_core::{Duration, NodeId};
use chronoseal_frameauth::macsec::{CipherSuite, Confidentiality};
use chronoseal_media::medium::FRAME_CAPACITY;
use chronoseal_plan::{EthernetSegment, LinkParameters, Macsec, Processing};
use chronoseal_wire::ethernet::VLAN_TAG_LEN;
use chronoseal_wire::macsec::overhead_len;
use chronoseal_wire::r_tag::R_TAG_LEN;

use super::macsec_spec::{CipherSuiteSpec, ConfidentialitySpec, MacsecSpec, ProcessingSpec};
use super::spec::EthernetSegmentSpec;
use crate::kinds::{Context, Place, SegmentRequest, Table};
use crate::limits::*;
use crate::problem::Code;
use crate::shape::shortened;
use crate::spec::{PlaceSpec, ThreatKindSpec, ThreatSpec};

/// What the segment says of MACsec, checked.
pub(super) fn resolve(table: &Table<'_>, spec: &EthernetSegmentSpec, context: &mut Context<'_>) -> Option<Macsec> {
    let MacsecSpec { cipher_suite, include_sci, confidentiality, replay_window, protect, check } = spec.macsec?;
    let mut processing = |key: &'static str, ProcessingSpec { base, per_byte }: ProcessingSpec| {
        let at = table.at("macsec").key(key);
        let mut up_to = |at: Place<'_>, what: &str, value, max| context.within(&at, what, value, Duration::ZERO, max);
        Processing {
            base: up_to(at.clone().key("base"), "the time for a frame", base.0, DELAY_MAX),
            per_byte: up_to(at.key("per_byte"), "the time for a byte", per_byte.0, PER_BYTE_MAX),
        }
    };
    let (protect, check) = (processing("protect", protect), processing("check", check));
    Some(Macsec {
        cipher_suite: match cipher_suite {
            CipherSuiteSpec::GcmAes128 => CipherSuite::GcmAes128,
            CipherSuiteSpec::GcmAes256 => CipherSuite::GcmAes256,
        },
        includes_sci: include_sci,
        confidentiality: match confidentiality {
            ConfidentialitySpec::Offset0 => Confidentiality::From(0),
            ConfidentialitySpec::Offset30 => Confidentiality::From(30),
            ConfidentialitySpec::Offset50 => Confidentiality::From(50),
            ConfidentialitySpec::None => Confidentiality::None,
        },
        replay_window,
        protect,
        check,
    })
}

/// What protects one of the links, if it says so for itself.
pub(super) fn of_link(
    at: &Place<'_>,
    is_protected: Option<bool>,
    segment: &EthernetSegment,
    context: &mut Context<'_>,
) -> Option<Macsec> {
    if is_protected == Some(true) && segment.macsec.is_none() {
        context.report(
            Code::BadLink,
            &at.clone().key("macsec"),
            "the link is to have MACsec, and its segment does not say which",
            "says nothing of it",
            "write `macsec = {}` for the segment, and `macsec = false` for the links that are to have none",
        );
    }
    segment.macsec.filter(|_| is_protected != Some(false))
}

/// Whether attackers on protected links can be followed there, one report for each link.
pub(super) fn check(network: &EthernetSegment, context: &mut Context<'_>) {
    let spec = context.spec();
    for (number, node) in spec.nodes.iter().enumerate() {
        let id = NodeId(number as u16);
        if network.link_of(id).parameters.macsec.is_none() {
            continue;
        }
        let sits_there = |(_, threat): &(usize, &ThreatSpec)| threat.at == Some(PlaceSpec::Link(node.name.clone()));
        let there = || spec.threats.iter().enumerate().filter(sits_there);
        let babbles = |(_, threat): &(usize, &ThreatSpec)| matches!(threat.kind, ThreatKindSpec::Babble);
        let Some((first, _)) = there().find(|threat| !babbles(threat)) else { continue };
        let at = |threat: usize| Place::new("threats").entry(threat).key("at");
        if let Some((babbling, _)) = there().find(babbles) {
            context.report_both(
                Code::NotYet,
                (&at(babbling), "has the node's key"),
                (&at(first), "has none"),
                format!(
                    "what `{}` babbles goes through its own MACsec, and what an attacker on its wire sends does not; both at once are \
                     not told apart yet",
                    shortened(&node.name)
                ),
                "write a scenario for each of the two, or `macsec = false` for the link",
            );
        }
    }
}

// Whoever holds a frame of a protected link has room for the longest.
const _: () = assert!(FRAME_LEN_MAX as usize + VLAN_TAG_LEN + R_TAG_LEN + overhead_len(true) <= FRAME_CAPACITY);

/// Longest and shortest frame without checksum, between which processing differs most `[byte]`.
const LEN_SPREAD: i64 = FRAME_LEN_MAX as i64 + VLAN_TAG_LEN as i64 + R_TAG_LEN as i64 - FRAME_LEN_MIN as i64;

/// Refuses a time for a byte by which a short frame would be through before a longer one that was sent first: links keep the order
/// of frames, and a receiver that checks for replay takes none whose packet number is behind (IEEE 802.1AE-2018 §10.6.5).
pub(super) fn keeps_order(request: &SegmentRequest<'_>, segment: &EthernetSegment, context: &mut Context<'_>) {
    let Some(macsec) = segment.macsec else { return };
    let wiring = &segment.wiring;
    let own = wiring.stations.iter().chain(&wiring.second).map(|link| link.parameters);
    let links = own.chain(wiring.trunks.iter().map(|trunk| trunk.parameters));
    let links = links.chain((wiring.switches == 1).then(|| segment.default_link()));
    let Some(fastest) = links.filter(|link| link.macsec.is_some()).max_by_key(|link| link.rate) else { return };
    let per_byte = fastest.protection().per_byte;
    // What an attacker sends may be shorter by what MACsec adds.
    let unprotected = LinkParameters { macsec: None, ..fastest };
    let shortest = segment.speed_over(unprotected).occupancy(u64::from(FRAME_LEN_MIN));
    if per_byte * LEN_SPREAD <= shortest {
        return;
    }
    let end = if macsec.protect.per_byte >= macsec.check.per_byte { "protect" } else { "check" };
    let most = shortest / LEN_SPREAD;
    context.report(
        Code::BadLink,
        &request.table.at("macsec").key(end).key("per_byte"),
        format!(
            "protecting and checking take {per_byte} a byte together: on a link of `{}` at {} a short frame would overtake a long one, \
             and links keep the order of frames (IEEE 802.1AE-2018 §10.6.5: packet numbers rise)",
            shortened(request.name),
            fastest.rate
        ),
        "slower than the link",
        format!("write at most {most} for both together, and the rest as `base`"),
    );
}
