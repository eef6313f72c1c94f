//! Plans of CAN segments, built by hand.

use chronoseal_core::{Duration, NodeId, Rate};
use chronoseal_plan::*;
use chronoseal_wire::can::{BitTiming, BitTimingConfig, CanId, FrameKind};

use crate::testing::cluster;

/// `nodes` stations, each on every one of so many segments of 500 kbit/s, and no streams.
pub(crate) fn segments(nodes: u16, segments: u16) -> Plan {
    let mut plan = cluster(nodes);
    plan.segments = (0..segments)
        .map(|index| SegmentPlan {
            name: format!("bus{index}"),
            kind: CAN,
            facet: Facet::new(segment()),
            own_nodes: Vec::new(),
            brought: 0..0,
        })
        .collect();
    let all: Vec<_> = plan.segment_ids().collect();
    plan.nodes.iter_mut().for_each(|node| node.interfaces.clone_from(&all));
    plan
}

fn segment() -> CanSegment {
    let bits = BitTimingConfig::new(Rate(500_000), Rate(500_000));
    CanSegment { has_data_phase: true, bits, timing: BitTiming::new(&bits).unwrap(), fifo_mailboxes: false }
}

/// A classical message over `hops`: segment, sender and receiver there. It keeps its identifier.
pub(crate) fn add_message<'a>(
    plan: &'a mut Plan,
    id: u16,
    len: u32,
    period: Duration,
    hops: &[(u16, u16, u16)],
) -> &'a mut StreamPlan {
    let id = CanId::standard(id).unwrap();
    let facet = || Facet::new(CanHop::Message { id, kind: FrameKind::Classical, segmented: None });
    let hop = |(index, &(segment, from, to)): (usize, &(u16, u16, u16))| HopPlan {
        previous: (index as u16).checked_sub(1),
        segment: SegmentId(segment),
        from: NodeId(from),
        to: vec![NodeId(to)],
        frame_len: len,
        class: "message",
        facet: facet(),
        protection: None,
    };
    plan.streams.push(StreamPlan {
        sent_by: None,
        name: format!("m.{id}"),
        sender: NodeId(hops[0].1),
        receivers: vec![NodeId(hops[hops.len() - 1].2)],
        period,
        offset: None,
        has_offset: false,
        application: None,
        min_distance: None,
        trigger: None,
        deadline: Some(period),
        deadlines: Vec::new(),
        deadline_kind: DeadlineKind::Reaction,
        length: len,
        payload: PayloadPlan::Synthetic,
        protection: ProtectionId(0),
        hops: hops.iter().enumerate().map(hop).collect(),
    });
    plan.streams.last_mut().unwrap()
}
