//! What stations offer to links, against what these carry.

use chronoseal_analysis::segment::BOUNDS;
use chronoseal_plan::Plan;

/// Links and buses that certainly cannot carry what the streams of a plan ask of them, in words.
pub fn overloads(plan: &Plan) -> Vec<String> {
    let mut texts = Vec::new();
    for (id, segment) in plan.segment_ids().zip(&plan.segments) {
        let row = BOUNDS.iter().find(|row| row.kind() == segment.kind);
        let loads = row.map(|row| row.loads(plan, id)).unwrap_or_default();
        for load in loads.iter().filter(|load| load.share.is_over()) {
            let times = load.share.ppm() as f64 / 1e6;
            let name = &segment.name;
            texts.push(match load.ends {
                Some([from, to]) => format!(
                    "streams ask for {times:.2} times what segment {name} carries from {} to {}: queues grow until the run ends",
                    plan.node_name(from),
                    plan.node_name(to)
                ),
                None => format!("streams ask for {times:.2} times what bus {name} carries: queues grow until the run ends"),
            });
        }
    }
    texts
}
