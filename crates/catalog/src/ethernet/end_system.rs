//! A station of a plan.

use chronoseal_core::NodeId;
use chronoseal_media::schedule::ScheduleTable;
use chronoseal_nodes::end_system::{
    EndSystemConfig, ListenerConfig, ReceiveWindow, Replay, SendSlot, TalkerConfig, TalkerTiming, TaskRun,
};
use chronoseal_nodes::{EndSystem, Protection, ProtectionError, SyncConfig};
use chronoseal_scenario::plan::{Dispatch, Ethernet, EthernetStream, Fidelity, PayloadPlan, StreamClass, Sync};

use crate::{BuildOptions, fill, protection};

pub(super) fn build(
    view: Ethernet<'_>,
    schedule: &ScheduleTable,
    id: NodeId,
    options: BuildOptions,
) -> Result<EndSystem, ProtectionError> {
    let network = view.segment;
    let tasks = schedule
        .tasks
        .iter()
        .filter(|task| task.node == id)
        .map(|task| TaskRun { task: task.task, start: task.start, length: task.length })
        .collect();
    EndSystem::new(EndSystemConfig {
        node: id,
        sync: SyncConfig {
            integration_cycle: network.integration_cycle,
            precision: network.precision,
            max_transmission_delay: network.max_transmission_delay,
        },
        ideal_clock: network.sync == Sync::Ideal,
        sync_id: network.sync_id,
        ct_marker: network.ct_marker,
        cluster_cycle: network.cluster_cycle,
        lead: options.lead,
        real_bytes: view.plan.fidelity == Fidelity::Bytes,
        talkers: view
            .streams()
            .filter(|stream| stream.hop.from == id)
            .map(|stream| talker(view, schedule, &stream))
            .collect(),
        listeners: view
            .streams()
            .filter(|stream| stream.hop.to.contains(&id))
            .map(|stream| listener(view, schedule, &stream))
            .collect(),
        tasks,
    })
}

fn talker(view: Ethernet<'_>, schedule: &ScheduleTable, target: &EthernetStream<'_>) -> TalkerConfig {
    let (plan, id, stream) = (view.plan, target.id, target.stream);
    let timing = match target.class {
        StreamClass::TimeTriggered { ct_id } => TalkerTiming::Slots {
            ct_id,
            slots: schedule.of(id).map(|slot| SendSlot { release: slot.release, start: slot.start }).collect(),
        },
        StreamClass::BestEffort { priority } => {
            TalkerTiming::Periodic { priority, phase: stream.offset.unwrap_or_default(), period: stream.period }
        }
    };
    let replay = match stream.payload {
        PayloadPlan::Synthetic => None,
        PayloadPlan::Recorded { recording } => {
            let recording = &plan.recordings[usize::from(recording)];
            let samples = recording.samples.iter().map(|sample| (sample.at, sample.bytes.clone())).collect();
            Some(Replay { samples, length: recording.length })
        }
    };
    TalkerConfig {
        stream: id,
        timing,
        frame_len: target.hop.frame_len as usize,
        fill: fill(plan, id, target.hop.frame_len as usize),
        replay,
        protection: protection(view, target),
    }
}

/// The receive windows follow from the schedule: the frame leaves the switch between its dispatch (or, if the switch
/// does not wait, its earliest arrival) and the end of its slot, and takes one more reception time to the receiver.
/// The clocks of both ends may each be off by the precision.
fn listener(view: Ethernet<'_>, schedule: &ScheduleTable, target: &EthernetStream<'_>) -> ListenerConfig {
    let network = view.segment;
    let id = target.id;
    let reception = super::medium::speed(network).reception(u64::from(view.secured_len(target)));
    let tolerance = network.precision * 2;
    let windows = schedule
        .of(id)
        .map(|slot| {
            let leaves_first = match network.dispatch {
                Dispatch::Scheduled => slot.dispatch,
                Dispatch::Immediate => slot.start + reception + network.forwarding_delay,
            };
            ReceiveWindow {
                slot_start: slot.start,
                opens: leaves_first + reception - tolerance,
                closes: slot.end.max(slot.dispatch) + reception + tolerance,
            }
        })
        .collect();
    let ct_id = match target.class {
        StreamClass::TimeTriggered { ct_id } => Some(ct_id),
        StreamClass::BestEffort { .. } => None,
    };
    ListenerConfig { stream: id, ct_id, windows, protection: protection(view, target) }
}

fn protection(view: Ethernet<'_>, target: &EthernetStream<'_>) -> Protection {
    let number = match target.class {
        StreamClass::TimeTriggered { ct_id } => ct_id,
        StreamClass::BestEffort { .. } => target.id.0,
    };
    protection::on_hop(view.plan, target.id, target.hop, number)
}
