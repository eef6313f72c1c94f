//! Frames in which gateways collect PDUs of several streams, checked beside all others of the segment.

use std::collections::BTreeSet;

use chronoseal_plan::{EthernetHop, EthernetSegment};

use super::spec::EthernetStreamSpec;
use super::{replication, routes, streams, sub_virtual_links, virtual_links, windows};
use crate::kinds::{CollectRequest, Context};
use crate::problem::Code;

/// What problems call such a frame.
const NAME: &str = "the frame collected there";

/// Whether the frame can be sent whenever there is one, and has an address of its own; it is given its virtual link, or the identifier of it.
pub(super) fn check(request: &mut CollectRequest<'_>, context: &mut Context<'_>) {
    let name = request.segment.name;
    let Some(network) = request.segment.facet::<EthernetSegment>() else { return };
    let spec: Option<EthernetStreamSpec> = request.table.read(context);
    let leader = spec.and_then(|spec| spec.sub_virtual_link_of);
    if let Some(leader) = &leader
        && !sub_virtual_links::join_collected(request, leader, context)
    {
        return;
    }
    routes::check_collected(request, context);
    windows::check_collected(request, NAME, context);
    let Some(EthernetHop { class, .. }) = request.hop.facet.get().cloned() else { return };
    if class.is_time_triggered() {
        context.report(
            Code::BadGateway,
            &request.table.at("class"),
            format!(
                "a frame collected on `{name}` leaves when it is full or has waited, and a slot does not wait for it"
            ),
            "in slots",
            format!("write `{name} = {{ class = {{ best_effort = {{}} }} }}` for the entry of `collect`"),
        );
    }
    if class.virtual_link().is_some() {
        if !network.ports.is_plain() {
            streams::virtual_link_behind_ports(request.segment, (NAME, &request.table.at("class")), context);
        }
        if leader.is_none() {
            identify(request, network.sync_id, context);
        }
        let hops = request.others.iter().map(|other| &*other.hop).chain([&*request.hop]);
        let own = hops.filter(|hop| hop.from == request.hop.from);
        let at = |_| request.table.at("class");
        virtual_links::check_output(request.segment, network, own, at, context);
    }
    replication::judge((request.segment, network), (NAME, request.hop), &request.table.at("replication"), context);
}

/// Gives the virtual link its identifier: that written, or the first that is free.
fn identify(request: &mut CollectRequest<'_>, sync_id: u16, context: &mut Context<'_>) {
    let of = |hop: &EthernetHop| hop.class.ct_id();
    let taken: BTreeSet<u16> = request.others.iter().filter_map(|other| of(other.hop.facet.get()?)).collect();
    let Some(hop) = request.hop.facet.get_mut::<EthernetHop>() else { return };
    match hop.class.ct_id() {
        Some(0) | None => {
            let free = (1..=u16::MAX).find(|id| *id != sync_id && !taken.contains(id));
            let Some(free) = free else {
                return context.report(
                    Code::BadCtId,
                    &request.table.at("class"),
                    "every identifier of a virtual link is taken",
                    "no identifier left",
                    "leave some of the virtual links out",
                );
            };
            hop.class = hop.class.with_ct_id(free);
        }
        Some(id) if id == sync_id => context.report(
            Code::BadCtId,
            &request.table.at("ct_id"),
            format!("identifier {id} belongs to the sync beacon"),
            "taken",
            "write another, or another `sync_id`",
        ),
        Some(id) if taken.contains(&id) => {
            let other = request.others.iter().find(|other| other.hop.facet.get().and_then(of) == Some(id));
            let message = format!("identifier {id} is used twice");
            let at = request.table.at("ct_id");
            match other {
                Some(other) => context.report_both(
                    Code::BadCtId,
                    (&at, "taken"),
                    (&other.place, "by this"),
                    message,
                    "write another, or leave `ct_id` out",
                ),
                None => context.report(Code::BadCtId, &at, message, "taken", "write another, or leave `ct_id` out"),
            }
        }
        Some(_) => {}
    }
}
