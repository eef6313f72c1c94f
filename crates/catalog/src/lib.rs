//! Turns a plan into nodes and a medium. Simulator and test bed build from here, so neither has a version of its own.
//!
//! Nothing here runs anything. [`node`] makes the state machine behind any number of the plan, [`star`] the medium
//! between them, and [`Describer`] tells which slot a frame seen on a wire belongs to.
//!
//! A new kind of node is one arm in [`node`]; a new medium is a function beside [`star`].
//!
//! ```
//! use chronoseal_scenario::{NoFiles, load};
//!
//! let text = r#"
//! schema_version = 1
//! name = "pair"
//! duration = "100ms"
//! [network.time_triggered_ethernet]
//! rate = "100Mbit/s"
//! cluster_cycle = "10ms"
//! guard_period = "200us"
//! [[nodes]]
//! name = "a"
//! [[nodes]]
//! name = "b"
//! [[streams]]
//! name = "speed"
//! from = "a"
//! to = ["b"]
//! period = "10ms"
//! frame = "60B"
//! [[threats]]
//! name = "forged"
//! kind = "spoof"
//! stream = "speed"
//! place = "own-port"
//! "#;
//! let plan = load("pair.toml", text.as_bytes(), &[], &NoFiles)?;
//! // Two stations and the attacker; the switch is part of the medium.
//! let names: Vec<_> = chronoseal_catalog::node_ids(&plan).map(|id| plan.node_name(id)).collect();
//! assert_eq!(names, ["a", "b", "attacker"]);
//! # Ok::<(), chronoseal_scenario::Problems>(())
//! ```

pub mod can;
mod describe;
mod end_system;
mod medium;

use chronoseal_core::random::{self, Purpose, Rng};
use chronoseal_core::{Node, NodeId, Oscillator, PortId, StreamId};
use chronoseal_media::medium::Attachment;
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_nodes::{Attack, Attacker, AttackerConfig};
use chronoseal_scenario::plan::{AttackPlace, Plan, StreamClass, StreamPlan};
use chronoseal_wire::ethernet::MacAddress;
use chronoseal_wire::virtual_link;

pub use self::describe::{Describer, Description};
pub use self::medium::star;

/// How a driver wants its nodes.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuildOptions {
    /// Frames are made ready this much before their release, to hide the wake-up of a real host.
    pub lead: chronoseal_core::Duration,
}

/// Every node that a driver runs: stations, then attackers. The switch is part of the medium.
pub fn node_ids(plan: &Plan) -> impl Iterator<Item = NodeId> + use<> {
    (0..plan.nodes.len() + plan.attackers().len()).map(|index| NodeId(index as u16))
}

/// The state machine of one node.
///
/// # Panics
/// If `id` is not among [`node_ids`].
pub fn node(plan: &Plan, schedule: &ScheduleTable, id: NodeId, options: BuildOptions) -> Box<dyn Node + Send> {
    if id.index() < plan.nodes.len() {
        return Box::new(end_system::build(plan, schedule, id, options));
    }
    let place = plan.attackers()[id.index() - plan.nodes.len()];
    Box::new(Attacker::new(attacker(plan, schedule, id, place)))
}

/// The oscillator of one node. Attackers know true time.
pub fn oscillator(plan: &Plan, id: NodeId) -> Oscillator {
    plan.nodes
        .get(id.index())
        .map_or_else(Oscillator::default, |node| Oscillator::new(node.clock.offset, node.clock.drift))
}

/// The ports of one node: stations and attackers on a port of their own have one, attackers on a link two.
pub fn attachments(plan: &Plan, id: NodeId) -> Vec<Attachment> {
    let on_link = id.index() >= plan.nodes.len()
        && matches!(plan.attackers()[id.index() - plan.nodes.len()], AttackPlace::OnLink(_));
    (0..=u16::from(on_link)).map(|port| Attachment { node: id, port: PortId(port) }).collect()
}

/// Where a stream's frames go.
pub fn destination(plan: &Plan, id: StreamId) -> MacAddress {
    match plan.streams[id.index()].class {
        StreamClass::TimeTriggered { ct_id } => virtual_link::critical_traffic_address(plan.network.ct_marker, ct_id),
        StreamClass::BestEffort { .. } => virtual_link::stream_address(id),
    }
}

/// Seeded bytes for the part of a stream's payload that nothing else fills.
fn fill(plan: &Plan, id: StreamId, stream: &StreamPlan) -> Vec<u8> {
    let mut bytes = vec![0; stream.frame_len as usize];
    random::stream(plan.seed, Purpose::Payload, u64::from(id.0)).fill_bytes(&mut bytes);
    bytes
}

fn attacker(plan: &Plan, schedule: &ScheduleTable, id: NodeId, place: AttackPlace) -> AttackerConfig {
    let attacks = plan
        .threats
        .iter()
        .filter(|threat| threat.place == place)
        .map(|threat| {
            let stream = &plan.streams[threat.target.index()];
            Attack {
                kind: threat.kind,
                stream: threat.target,
                destination: destination(plan, threat.target),
                source: virtual_link::station_address(stream.sender),
                frame_len: plan.secured_len(stream) as usize,
                slot_start: schedule.of(threat.target).next().map_or_else(Default::default, |slot| slot.start),
                period: stream.period,
                first: threat.start,
                every: threat.every,
                count: threat.count,
                at_slot_offset: threat.at_slot_offset,
            }
        })
        .collect();
    AttackerConfig { node: id, on_link: matches!(place, AttackPlace::OnLink(_)), attacks, seed: plan.seed }
}
