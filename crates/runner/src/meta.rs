//! The description of a run, from its plan and its schedule.

use chronoseal_catalog::node_ids;
use chronoseal_core::NodeId;
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_results::meta::{Fact, NodeMeta, NodeRole, SlotMeta, StreamMeta, TaskMeta};
use chronoseal_results::{Engine, RunMeta};
use chronoseal_scenario::plan::{Plan, ProtectionKind, StreamClass};

/// Describes a run of `plan` before it begins.
pub fn describe(plan: &Plan, schedule: &ScheduleTable, engine: Engine) -> RunMeta {
    RunMeta {
        description: plan.description.clone(),
        warnings: plan.notes.clone(),
        scenario_hash: plan.scenario_hash.clone(),
        duration_ns: plan.duration.as_ns(),
        versions: versions(),
        commit: env!("CHRONOSEAL_COMMIT").into(),
        nodes: nodes(plan),
        streams: streams(plan),
        cluster_cycle_ns: plan.network.cluster_cycle.as_ns(),
        integration_cycle_ns: plan.network.integration_cycle.as_ns(),
        guard_ns: plan.network.guard_period.as_ns(),
        accounting: plan.network.accounting.name().into(),
        slots: schedule
            .slots
            .iter()
            .map(|slot| SlotMeta {
                stream: slot.stream.0,
                start_ns: slot.start.as_ns(),
                frame_time_ns: slot.frame_time.as_ns(),
                dispatch_ns: slot.dispatch.as_ns(),
                end_ns: slot.end.as_ns(),
            })
            .collect(),
        tasks: schedule
            .tasks
            .iter()
            .map(|task| TaskMeta {
                node: task.node.0,
                name: plan.nodes[task.node.index()].tasks[usize::from(task.task)].name.clone(),
                start_ns: task.start.as_ns(),
                length_ns: task.length.as_ns(),
            })
            .collect(),
        ..RunMeta::new(plan.name.clone(), engine, plan.seed)
    }
}

/// Of this program and its compiler.
pub fn versions() -> Vec<Fact> {
    vec![
        ("chronoseal".into(), env!("CARGO_PKG_VERSION").into()),
        ("compiler".into(), env!("CHRONOSEAL_RUSTC").into()),
        ("profile".into(), if cfg!(debug_assertions) { "debug" } else { "release" }.into()),
    ]
}

fn nodes(plan: &Plan) -> Vec<NodeMeta> {
    let role = |id: NodeId| if id.index() < plan.nodes.len() { NodeRole::Station } else { NodeRole::Attacker };
    let mut nodes: Vec<_> = node_ids(plan).map(|id| NodeMeta { name: plan.node_name(id), role: role(id) }).collect();
    nodes.push(NodeMeta { name: plan.node_name(plan.switch_id()), role: NodeRole::Switch });
    nodes
}

fn streams(plan: &Plan) -> Vec<StreamMeta> {
    plan.streams
        .iter()
        .map(|stream| {
            let protection = plan.protection_of(stream);
            StreamMeta {
                name: stream.name.clone(),
                sender: stream.sender.0,
                receivers: stream.receivers.iter().map(|node| node.0).collect(),
                class: match stream.class {
                    StreamClass::TimeTriggered { .. } => "time-triggered",
                    StreamClass::BestEffort { .. } => "best-effort",
                }
                .into(),
                period_ns: stream.period.as_ns(),
                frame_len: stream.frame_len,
                secured_len: plan.secured_len(stream),
                protection: protection.name.clone(),
                replayable: protection.is_replayable(),
                authenticated: matches!(protection.kind, ProtectionKind::Hmac { .. }),
                deadline_ns: None,
                bound: None,
                unbounded: None,
            }
        })
        .collect()
}
