//! What stations offer to links, against what these carry.

use chronoseal_analysis::segment::{BOUNDS, LinkLoad};
use chronoseal_core::NodeId;
use chronoseal_plan::{Plan, SegmentPlan};

/// Each direction of a link, and each bus, with what is asked of it.
fn loads(plan: &Plan) -> impl Iterator<Item = (&SegmentPlan, LinkLoad)> {
    plan.segment_ids().zip(&plan.segments).flat_map(|(id, segment)| {
        let row = BOUNDS.iter().find(|row| row.kind() == segment.kind);
        row.map(|row| row.loads(plan, id)).unwrap_or_default().into_iter().map(move |load| (segment, load))
    })
}

fn place(plan: &Plan, segment: &SegmentPlan, ends: Option<[NodeId; 2]>) -> String {
    let name = &segment.name;
    let [from, to] = match ends {
        Some(ends) => ends.map(|end| plan.node_name(end)),
        None => return format!("bus {name} carries"),
    };
    // What a station shares with all others has the segment's own name.
    if to == *name {
        format!("segment {name} carries from {from}")
    } else {
        format!("segment {name} carries from {from} to {to}")
    }
}

/// Links and buses that certainly cannot carry what the streams of a plan ask of them, in words.
pub fn overloads(plan: &Plan) -> Vec<String> {
    let over = loads(plan).filter(|(_, load)| load.share.is_over());
    let text = |(segment, load): (&SegmentPlan, LinkLoad)| {
        let times = load.share.ppm() as f64 / 1e6;
        format!(
            "streams ask for {times:.2} times what {}: queues grow until the run ends",
            place(plan, segment, load.ends)
        )
    };
    over.map(text).collect()
}

/// On which link or bus a stream would first ask for more than all of it, and at how many messages a second, from one plan in which it has
/// `rate` of them and another in which it has twice that many; all else in them is the same. `None` where nothing has a limit that is known.
pub fn capacity(plan: &Plan, doubled: &Plan, rate: f64) -> Option<(f64, String)> {
    let limit = |((segment, load), (_, more)): ((&SegmentPlan, LinkLoad), (&SegmentPlan, LinkLoad))| {
        let (share, own) = (load.share.ppm() as f64, more.share.ppm() as f64 - load.share.ppm() as f64);
        let rest = 1e6 - (share - own);
        (own > 0.0).then(|| (rate * rest.max(0.0) / own, place(plan, segment, load.ends)))
    };
    loads(plan).zip(loads(doubled)).filter_map(limit).min_by(|(one, _), (other, _)| one.total_cmp(other))
}
