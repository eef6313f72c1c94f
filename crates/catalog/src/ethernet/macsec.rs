//! The keys of protected links on which attackers sit.

use chronoseal_core::NodeId;
use chronoseal_core::random::{self, Purpose, Rng};
use chronoseal_frameauth::macsec::{ReceiveSa, SecureChannel, TransmitSa};
use chronoseal_media::ethernet::SecuredLink;
use chronoseal_plan::{AttackPlace, Ethernet, Macsec, ThreatKind};
use chronoseal_wire::macsec::{ICV_LEN, Sci};
use chronoseal_wire::virtual_link;

/// Keys of links begin here among all that are drawn from a seed.
const FIRST_KEY: u64 = 1 << 40;

/// The links of stations that have MACsec, and an attacker on the wire or at a port that it brought along. `nodes` are those at
/// the links of stations, which come first.
///
/// A station that babbles sends through its own SecY: MACsec trusts whoever has the key, and only its bytes and its time count.
pub(super) fn secured(view: Ethernet<'_>, nodes: &[NodeId]) -> Vec<SecuredLink> {
    let on_wire = |(attacker, place): (NodeId, AttackPlace)| match place {
        AttackPlace::OnLink(_, node) => {
            let sits_there = view.threats_of(attacker).any(|threat| !matches!(threat.kind, ThreatKind::Babble(_)));
            sits_there.then_some(node)
        }
        AttackPlace::OnSegment(_) => Some(attacker),
        AttackPlace::AtNode(_) => None,
    };
    let mut found: Vec<SecuredLink> = Vec::new();
    for node in view.attackers().filter_map(on_wire) {
        let link = nodes.iter().position(|one| *one == node);
        let macsec = view.segment.link_of(node).parameters.macsec;
        let (Some(link), Some(macsec)) = (link, macsec) else { continue };
        if found.iter().all(|one| one.link != link) {
            found.push(keys(view, link, node, &macsec));
        }
    }
    found
}

/// The secure associations of the direction from a station to its switch.
fn keys(view: Ethernet<'_>, link: usize, node: NodeId, macsec: &Macsec) -> SecuredLink {
    let index = FIRST_KEY + (u64::from(view.id.0) << 20) + link as u64;
    let mut key = vec![0; macsec.cipher_suite.key_len()];
    random::stream(view.plan.seed, Purpose::Key, index).fill_bytes(&mut key);
    let channel = SecureChannel {
        sci: Sci::new(virtual_link::station_address(node).0, 1),
        is_explicit: macsec.includes_sci,
        // A station also passes on what gateways bring, whose source is another, so its frames do not stand for themselves.
        is_end_station: false,
        association: 0,
    };
    let (suite, confidentiality) = (macsec.cipher_suite, macsec.confidentiality);
    let sender = TransmitSa::new(suite, channel, confidentiality, &key).expect("the key is as long as the suite's");
    let receiver = ReceiveSa::new(suite, channel, confidentiality, &key, macsec.replay_window);
    let receiver = receiver.expect("the key is as long as the suite's");
    SecuredLink { link, sender, receiver }
}

/// What stands in front of the data of frames that an attacker at a place gets `[byte]`.
pub(super) fn sec_tag_len(view: Ethernet<'_>, place: AttackPlace) -> usize {
    let AttackPlace::OnLink(_, node) = place else { return 0 };
    let macsec = view.segment.link_of(node).parameters.macsec;
    macsec.map_or(0, |macsec| macsec.added_bytes() as usize - ICV_LEN)
}
