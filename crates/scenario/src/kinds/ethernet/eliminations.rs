//! Switches where copies of a stream's frames become one again (IEEE 802.1CB-2017 §7.4.3), checked.
//!
//! # What makes them safe
//! Bounds and verdicts follow the ways that are written, and a frame has to be there as long as one of these is whole. Both hold if
//! every way that a frame can take is a written one, and if of two switches that send frames to each other either both eliminate
//! copies or none does: where the first copy came from the other one, that has the frame and sends it on over all of its lines.

use std::collections::BTreeSet;

use chronoseal_media::recovery::RecoveryConfig;
use chronoseal_plan::{CopyCount, NetworkName, StreamWay, SwitchHop, Wiring};

use super::replication::ReplicationSpec;
use super::{Memo, routes};
use crate::kinds::{Context, Place, Segment};
use crate::problem::Code;
use crate::shape::shortened;

/// The switches that a stream names, and whether its other keys go with them.
pub(super) fn named(
    replication: &ReplicationSpec,
    table: &Place<'_>,
    memo: &Memo,
    context: &mut Context<'_>,
) -> BTreeSet<u16> {
    let at = table.clone().key("eliminate_at");
    routes::named(&at, &replication.eliminate_at, memo, context).into_iter().collect()
}

/// Whether the ways of a stream and the switches that eliminate its copies fit together.
pub(super) fn check(
    (segment, stream): (&Segment<'_>, &str),
    at: &Place<'_>,
    (ways, recovering, recovery): (&[StreamWay], &BTreeSet<u16>, &RecoveryConfig),
    wiring: &Wiring,
    context: &mut Context<'_>,
) {
    let memo = segment.memo::<Memo>();
    let name = |switch: u16| memo.and_then(|memo| memo.switches.get(usize::from(switch))).map_or("", String::as_str);
    let stream = shortened(stream);
    let eliminates = |switch: u16| recovering.contains(&switch);
    let joined = chronoseal_plan::joined_hops(ways, &eliminates);
    if let Some(idle) = recovering.iter().find(|switch| !joined.iter().any(|(_, hop)| hop.switch == **switch)) {
        context.report(
            Code::BadReplication,
            &at.clone().key("eliminate_at"),
            format!("no way of stream `{stream}` leads over `{}`, which is to eliminate its copies", name(*idle)),
            "on no way",
            "leave it out, or name it in one of the `ways`",
        );
        return;
    }
    let both_ways = |(_, hop): &&(NetworkName, SwitchHop)| {
        let back = hop
            .trunk
            .filter(|trunk| joined.iter().any(|(_, other)| other.switch == hop.switch && other.onward.contains(trunk)));
        back.is_some_and(|trunk| eliminates(hop.switch) && !eliminates(wiring.trunks[trunk].from(hop.switch)))
    };
    if let Some((_, hop)) = joined.iter().find(both_ways) {
        let other = hop.trunk.map_or("", |trunk| name(wiring.trunks[trunk].from(hop.switch)));
        context.report(
            Code::BadReplication,
            &at.clone().key("eliminate_at"),
            format!(
                "`{}` and `{other}` send copies of stream `{stream}` to each other, and only the first eliminates them: what came from \
                 `{other}` does not go back there, so that ways over it would be lost",
                name(hop.switch)
            ),
            "one of the two",
            format!("add \"{other}\", or leave \"{}\" out", name(hop.switch)),
        );
        return;
    }
    let written: BTreeSet<Vec<usize>> = ways.iter().map(|way| trunks(&way.hops)).collect();
    if let Some(way) = unwritten(&joined, &written, wiring) {
        let between: Vec<String> =
            way.iter().skip(1).rev().skip(1).rev().map(|switch| format!("\"{}\"", name(*switch))).collect();
        context.report(
            Code::BadReplication,
            &at.clone().key("ways"),
            format!(
                "copies of stream `{stream}` also take the way over {}, since where ways meet they all go on, and it is none of `ways`",
                way.iter().map(|switch| name(*switch)).collect::<Vec<_>>().join(", ")
            ),
            "one is missing",
            match is_loop(&way) {
                true => "lead the ways so that no copy comes to a switch twice".to_owned(),
                false => format!("add `[{}]`, or lead the other ways past each other", between.join(", ")),
            },
        );
    } else if written.len() < ways.len() {
        context.report(
            Code::BadReplication,
            &at.clone().key("ways"),
            format!("two of the ways of stream `{stream}` are the same"),
            "one twice",
            "leave one of them out",
        );
    } else if recovery.latent.is_some() {
        // It depends at two such switches themselves, so that nobody behind them has to be asked.
        let count = CopyCount { hops: &joined, wiring, recovers: &eliminates };
        let Some(one) = recovering.iter().find(|switch| count.at(**switch).is_none()) else { return };
        context.report_both(
            Code::BadReplication,
            (&at.clone().key("latent_errors"), "counts copies"),
            (&at.clone().key("eliminate_at"), "eliminates them before"),
            format!(
                "how many copies of a frame of stream `{stream}` come to `{}` depends on which is first, since a neighbour that eliminates \
                 them too sends none back; latent errors are counted where each frame comes over as many paths as the others (IEEE \
                 802.1CB-2017 §7.4.4)",
                name(*one)
            ),
            "leave `latent_errors` out, or lead the ways so that no two switches of `eliminate_at` send copies to each other",
        );
    }
}

/// The links between switches that a way leads over.
fn trunks(hops: &[SwitchHop]) -> Vec<usize> {
    hops.iter().filter_map(|hop| hop.trunk).collect()
}

/// A way that frames take and nobody wrote, by its switches: from the first switch to a receiver, or until it comes to a switch again.
fn unwritten(joined: &[(NetworkName, SwitchHop)], written: &BTreeSet<Vec<usize>>, wiring: &Wiring) -> Option<Vec<u16>> {
    let (_, first) = joined.first()?;
    let mut open = vec![(first, Vec::new(), vec![first.switch])];
    while let Some((hop, trunks, switches)) = open.pop() {
        if is_loop(&switches) || !hop.to.is_empty() && !written.contains(&trunks) {
            return Some(switches);
        }
        for trunk in &hop.onward {
            let next = wiring.trunks[*trunk].from(hop.switch);
            let entry = joined.iter().find(|(_, other)| other.switch == next && other.trunk == Some(*trunk));
            let Some((_, entry)) = entry else { continue };
            let and = |known: &[usize], new: usize| known.iter().copied().chain([new]).collect::<Vec<usize>>();
            open.push((entry, and(&trunks, *trunk), switches.iter().copied().chain([next]).collect()));
        }
    }
    None
}

/// True if a way comes to its last switch a second time.
fn is_loop(switches: &[u16]) -> bool {
    switches.split_last().is_some_and(|(last, before)| before.contains(last))
}
