//! How a stream is protected on one of its hops.

use chronoseal_core::StreamId;
use chronoseal_frameauth::DataId;
use chronoseal_nodes::Protection;
use chronoseal_plan::{DataName, HopPlan, Plan, ProtectionKind};

/// What seals and opens the frames of a stream on one of its hops, for a station of any kind.
///
/// `number` is what the hop's kind of segment calls the stream there: its critical-traffic identifier if it has one, else
/// its number as a stream.
///
/// # Panics
/// If there is no such stream, or its name is longer than a tag can cover, which no plan of a scenario has.
pub fn on_hop(plan: &Plan, id: StreamId, hop: &HopPlan, number: u16) -> Protection {
    let stream = &plan.streams[id.index()];
    match &plan.protection_on(stream, hop).kind {
        ProtectionKind::None => Protection::NONE,
        ProtectionKind::SizeOnly { overhead } => Protection::None { padding: *overhead as usize },
        ProtectionKind::Secured { profile, key, .. } => Protection::Secured {
            profile: *profile,
            key: key.of_stream(plan.seed, id),
            data_id: match plan.data_name(stream, hop) {
                DataName::Number => DataId::number(number),
                DataName::Name(name) => {
                    DataId::name(name.as_bytes()).expect("resolving refuses names that no tag can cover")
                }
            },
        },
    }
}
