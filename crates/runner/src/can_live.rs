//! A plan on a CAN bus, live: stations as processes on our bus or on a CAN interface of the kernel.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use chronoseal_catalog::can::{self, CanDescriber, node_ids};
use chronoseal_core::{NodeId, PortId, Priority, SimTime, StreamId};
use chronoseal_media::medium::Attachment;
use chronoseal_results::{BusRow, Direction, Engine};
use chronoseal_testbed::can::{CanLiveConfig, CanPlace, Guest, GuestKind, MulticastGroup, run_can};
use chronoseal_testbed::{AgentConfig, FrameDescription, LiveConfig, Placement, Traffic};
use chronoseal_wire::can::CanFrameView;

use crate::can::{describe_can, leave_out_removed};
use crate::measure::{NodeConfig, host_facts};
use crate::{CanScenario, LiveOptions, MeasureError, Run};

/// What carries the frames of a live run on a CAN bus.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CanPlaceName {
    /// Our bus, which python-can clients may join, each at a UDP port of its own.
    Bus {
        /// Their ports.
        guests: Vec<u16>,
    },
    /// A CAN interface of the kernel.
    Interface(String),
}

/// Runs a scenario on a CAN bus live: every station a process. `stop` ends it early with what there is.
///
/// # Errors
/// [`MeasureError`]; a host's refusal says what to do about it.
///
/// # Panics
/// Never: what is handed to the agents has only text keys and plain values.
pub fn measure_can(
    scenario: &CanScenario,
    place: &CanPlaceName,
    options: &LiveOptions,
    stop: &AtomicBool,
) -> Result<Run, MeasureError> {
    let plan = &scenario.plan;
    let node_config = NodeConfig { sources: scenario.sources.clone(), lead_ps: 0 };
    let node_config = serde_json::to_vec(&node_config).expect("text keys and plain values only");
    let agents = node_ids(plan)
        .map(|id| {
            let own = AgentConfig { ports: 1, ..AgentConfig::new(id) };
            match plan.nodes.get(id.index()) {
                Some(station) => AgentConfig { offset: station.clock.offset, drift: station.clock.drift, ..own },
                None => AgentConfig { is_attacker: true, ..own },
            }
        })
        .collect();
    let mut live = LiveConfig::new(agents, node_config, plan.duration);
    live.capture = options.capture;
    live.fifo = !options.no_fifo;
    live.placement = options.placement.unwrap_or(Placement::OneProcessor);
    live.agent_command.clone_from(&options.agent_command);

    // Behind stations, attackers and the gateway.
    let outside = NodeId((plan.nodes.len() + plan.attacks.len() + usize::from(plan.gateway().is_some())) as u16);
    let guests: Vec<Guest> = match place {
        CanPlaceName::Interface(_) => Vec::new(),
        CanPlaceName::Bus { guests } => (outside.0..)
            .zip(guests)
            .map(|(number, port)| Guest {
                attachment: Attachment { node: NodeId(number), port: PortId(0) },
                kind: GuestKind::Multicast(MulticastGroup { group: MulticastGroup::GROUP, port: *port }),
            })
            .collect(),
    };
    let mut bus = can::bus_with(plan, guests.iter().map(Guest::controller));
    let place = match place {
        CanPlaceName::Interface(interface) => CanPlace::Interface { interface: interface.clone(), outside },
        CanPlaceName::Bus { .. } => CanPlace::Bus(guests),
    };
    let is_ours = matches!(place, CanPlace::Bus(_));
    let mut meta = describe_can(plan, Engine::Live);
    let traffic = CanTraffic {
        describer: CanDescriber::new(plan),
        receivers: meta.streams.iter().map(|stream| stream.receivers.clone()).collect(),
        key_frames: AtomicU64::new(0),
        key_bytes: AtomicU64::new(0),
    };
    let outcome = run_can(&CanLiveConfig { live, place }, &mut bus, &traffic, stop)?;

    meta.clock_source = "CLOCK_MONOTONIC".into();
    meta.host = host_facts(&outcome);
    meta.warnings.extend(outcome.warnings.iter().cloned());
    let mut rows = outcome.rows;
    // Each frame once: when our bus had carried it, or when the listener on an interface saw it.
    let once = if is_ours { Direction::Carried } else { Direction::Arrival };
    rows.captures.retain(|row| row.direction == once);
    leave_out_removed(plan, &mut rows);
    let statistics = if is_ours { can::statistics(plan, &bus) } else { Default::default() };
    rows.bus = Some(BusRow {
        frames: statistics.frames,
        failed_attempts: statistics.failed_attempts,
        lost_arbitrations: statistics.lost_arbitrations,
        key_frames: traffic.key_frames.into_inner(),
        key_bytes: traffic.key_bytes.into_inner(),
        busy: statistics.busy,
        window: can::LOAD_WINDOW,
        busy_by_window: statistics.busy_by_window,
    });
    Ok(Run::new(meta, rows))
}

/// Reads the frames of a plan for the test bed.
struct CanTraffic {
    describer: CanDescriber,
    /// By stream.
    receivers: Vec<Vec<u16>>,
    key_frames: AtomicU64,
    key_bytes: AtomicU64,
}

impl Traffic for CanTraffic {
    fn priority(&self, _bytes: &[u8]) -> Priority {
        // On a CAN bus the identifier is the priority.
        Priority(0)
    }

    fn concerns(&self, stream: StreamId, node: NodeId) -> bool {
        self.receivers.get(stream.index()).is_some_and(|receivers| receivers.contains(&node.0))
    }

    fn describe(&self, bytes: &[u8], arrived_at: SimTime) -> FrameDescription {
        let described = self.describer.describe(bytes);
        if described.stream == StreamId::NONE {
            let len = CanFrameView::new_checked(bytes).map_or(0, |view| view.data().len() as u64);
            self.key_frames.fetch_add(1, Ordering::Relaxed);
            self.key_bytes.fetch_add(len, Ordering::Relaxed);
        }
        FrameDescription {
            stream: described.stream,
            sequence: None,
            sender: described.sender,
            cycle_start: arrived_at,
            slot_start: None,
            late_after: described.deadline.map(|deadline| arrived_at + deadline),
        }
    }
}
