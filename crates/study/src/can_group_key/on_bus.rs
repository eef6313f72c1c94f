//! Nodes of the baselines on the bus of the source: what is on it, and when who has a key.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, Event, EventKind, Node, NodeId, Oscillator, PortId, Rate, SimTime};
use chronoseal_crypto::symmetric::{Aes128Ctr, BlockMac, CmacAes128};
use chronoseal_media::can::{CanBus, CanBusConfig, ControllerConfig};
use chronoseal_media::medium::Attachment;
use chronoseal_sim::{FrameContext, NodeSetup, Observer, Simulation};
use chronoseal_wire::can::{BitTiming, BitTimingConfig, CanFrameView};

use super::scenarios::Group;
use crate::StudyError;

/// Frames a controller holds: a group's worth of long messages.
const QUEUE_LEN: usize = 4096;
/// When a member is thrown out: every group has long had its key by then.
pub(super) const REMOVAL_AT: Duration = Duration::from_s(10);
const END: Duration = Duration::from_s(20);

/// What a group left on the bus.
#[derive(Default, Debug)]
pub(super) struct Watched {
    /// Frames and bytes of data until the removal, and from then on.
    pub(super) frames: [u64; 2],
    pub(super) bytes: [u64; 2],
    /// When each node had the key of each epoch.
    pub(super) installed: BTreeMap<u64, BTreeMap<NodeId, SimTime>>,
    pub(super) refused: u64,
}

impl Watched {
    /// From the start, or the removal, to the last node with the key of an epoch.
    pub(super) fn time(&self, epoch: u64) -> Option<Duration> {
        let begin = if epoch == 1 { SimTime::ZERO } else { SimTime::ZERO + REMOVAL_AT };
        self.installed.get(&epoch)?.values().max().map(|last| *last - begin)
    }
}

impl Observer for Watched {
    fn event(&mut self, at: SimTime, node: NodeId, event: &Event, _: Option<FrameContext<'_>>) {
        match event.kind {
            EventKind::KeyInstalled => {
                self.installed.entry(event.sequence).or_default().insert(node, at);
            }
            EventKind::KeyRefused(_) => self.refused += 1,
            _ => {}
        }
    }

    fn carried(&mut self, at: SimTime, _: NodeId, frame: FrameContext<'_>) {
        let phase = usize::from(at >= SimTime::ZERO + REMOVAL_AT);
        self.frames[phase] += 1;
        self.bytes[phase] += CanFrameView::new_checked(frame.bytes).map_or(0, |view| view.data().len() as u64);
    }
}

/// Runs nodes on the bus of [`Group::SOURCE`], at the prices of its platform. CMAC, which the source did not measure,
/// has the price of AES there.
pub(super) fn run(nodes: Vec<Box<dyn Node + Send>>, seed: u64) -> Result<Watched, StudyError> {
    let source = Group { n: 2, seed, ..Group::SOURCE }.plan()?;
    let mut costs: Vec<(String, Duration, Duration)> = source.platforms[usize::from(source.nodes[0].platform.0)]
        .costs
        .iter()
        .map(|cost| (cost.operation.clone(), cost.base, cost.per_byte))
        .collect();
    if let Some((_, base, per_byte)) = costs.iter().find(|(operation, ..)| operation == Aes128Ctr::OPERATION.0).cloned()
        && costs.iter().all(|(operation, ..)| operation != CmacAes128::OPERATION.0)
    {
        costs.push((CmacAes128::OPERATION.0.to_owned(), base, per_byte));
    }
    let attachment = |node: usize| Attachment { node: NodeId(node as u16), port: PortId(0) };
    let bus = CanBusConfig {
        timing: BitTiming::new(&BitTimingConfig::new(Rate(1_000_000), Rate(2_000_000)))
            .map_err(|error| StudyError::Scenario(error.to_string()))?,
        carries_fd: true,
        controllers: (0..nodes.len())
            .map(|node| ControllerConfig { queue_len_max: QUEUE_LEN, ..ControllerConfig::new(attachment(node)) })
            .collect(),
        bits_between_errors: None,
        faults: Vec::new(),
        babblers: Vec::new(),
        load_window: None,
    };
    let network = CanBus::new(bus, seed).map_err(|error| StudyError::Scenario(error.to_string()))?;
    let mut simulation = Simulation::new(network, seed, Watched::default());
    for (number, node) in nodes.into_iter().enumerate() {
        simulation.add(NodeSetup {
            id: NodeId(number as u16),
            node: node.into(),
            oscillator: Oscillator::default(),
            driver: Default::default(),
            costs: costs.clone(),
            hosts: Vec::new(),
            is_gateway: false,
        });
    }
    simulation.run_until(SimTime::ZERO + END, &mut |_| true);
    Ok(simulation.into_observer())
}
