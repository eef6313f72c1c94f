//! What was written about a CAN bus, to what will be run on it.

mod attacks;
mod background;
mod freshness;
mod group_key;
mod messages;

use chronoseal_core::{Duration, NodeId};
use chronoseal_frameauth::secoc::{FreshnessFormat, SecOcProfile};
use chronoseal_wire::can::timing::Phase;
use chronoseal_wire::can::{BitTiming, BitTimingConfig, BitTimingError};

use super::{ONLY, Resolver};
use crate::limits::*;
use crate::load::Files;
use crate::plan::{
    CAN, CanHop, CanSegment, DeadlineKind, Facet, Fidelity, FreshnessPlan, HopPlan, NodePlan, PayloadPlan, Plan, PlatformId,
    PlatformPlan, ProtectionId, ProtectionKind, ProtectionPlan, SegmentPlan, StreamPlan,
};
use crate::problem::Code;
use crate::shape::shortened;
use crate::source::{Step, at};
use crate::spec::{CanBusSpec, FidelitySpec, MailboxesSpec, SecOcKeySpec, SecOcSpec};

const KIND: &str = "can_bus";
/// Data of the synchronisation message: one classical frame [byte].
const SYNC_LEN: u32 = 8;
/// Freshness values of profile 1, which leaves their format open: one counter for each message.
const SECOC_FRESHNESS: FreshnessFormat = FreshnessFormat::Counter { len: 8 };

impl Resolver<'_> {
    /// `None` if the bits cannot be timed, so that nothing can be built on them.
    pub(super) fn can_plan(&mut self, bus: &CanBusSpec, files: &dyn Files) -> Option<Plan> {
        let spec = self.spec;
        self.not_on_can();
        self.identifier(&spec.name, at!["name"], "the scenario's name");
        let duration = self.within(at!["duration"], "the duration", spec.duration.0, PERIOD_MIN, DURATION_MAX);
        let bus_spec = bus;
        let bus = self.bus(bus_spec);
        let platforms = self.platforms(files);
        let nodes = self.can_nodes(&platforms);
        let protections = self.can_protections();
        let messages = self.messages(&nodes, &protections);
        let background = self.background(&nodes, files);
        let group_key = self.group_key(&nodes, &background, duration);
        let freshness = self.freshness(&nodes, &messages, &protections, group_key.as_ref(), duration);
        let (attackers, threats) = self.attacks(&messages, duration);
        let mut notes: Vec<String> = messages
            .iter()
            .filter(|message| {
                let protection = &protections[usize::from(message.protection.0)];
                protection.is_authenticated() && protection.is_replayable()
            })
            .map(|message| format!("Message {} is protected without freshness: it can be replayed.", message.name))
            .collect();
        if spec.freshness.is_some() && freshness.is_none() {
            notes.push("No message takes its freshness from a master: there is none.".into());
        }
        let bus = bus?;
        let mut streams = messages;
        streams.extend(background);
        streams.extend(freshness.as_ref().map(|freshness| Self::synchronisation(freshness, &protections)));
        Some(Plan {
            name: spec.name.clone(),
            description: spec.description.clone(),
            seed: spec.seed,
            duration,
            fidelity: Fidelity::Bytes,
            segments: vec![SegmentPlan {
                name: "bus".into(),
                kind: CAN,
                own_nodes: (bus.count > 1).then(|| "bus-gateway".into()).into_iter().collect(),
                facet: Facet::new(bus),
            }],
            nodes,
            attackers,
            streams,
            candidates: (0..protections.len()).map(|i| ProtectionId(i as u16)).collect(),
            protections,
            threats,
            group_key,
            freshness,
            recordings: Vec::new(),
            platforms,
            scenario_hash: spec.source.hash.clone(),
            notes,
        })
    }

    /// What only Ethernet has.
    fn not_on_can(&mut self) {
        let spec = self.spec;
        let misplaced = [
            ("streams", spec.streams.is_empty(), "write `[[messages]]`"),
            ("recordings", spec.recordings.is_empty(), "write `[[background]]`"),
            ("threats", spec.threats.is_empty(), "write `[[attacks]]`"),
            ("candidates", spec.candidates.is_none(), "leave it out: candidates are not compared on a bus yet"),
            ("fidelity", spec.fidelity == FidelitySpec::Bytes, "leave it out: every bit of a bus depends on the bytes"),
        ];
        for (key, _, help) in misplaced.into_iter().filter(|(_, is_absent, _)| !is_absent) {
            self.report(
                Code::WrongNetwork,
                at![key],
                format!("`{key}` belongs to Ethernet; this network is a CAN bus"),
                "not on this network",
                help,
            );
        }
    }

    fn bus(&mut self, spec: &CanBusSpec) -> Option<CanSegment> {
        let path = at!["network", KIND, "gateway_delay"];
        self.within(path, "the gateway's delay", spec.gateway_delay.0, Duration::ZERO, DELAY_MAX);
        for (i, name) in spec.buses.iter().enumerate() {
            if spec.buses[..i].contains(name) {
                self.report(
                    Code::DuplicateName,
                    at!["network", KIND, "buses", i],
                    format!("two buses are named `{}`", shortened(name)),
                    "again here",
                    "give each its own name",
                );
            }
        }
        let mut bits = BitTimingConfig::new(spec.bit_rate.0, spec.data_bit_rate.map_or(spec.bit_rate.0, |rate| rate.0));
        // Controllers are set to thousandths of a bit.
        bits.nominal_sample_point_permille = (spec.sample_point.0.0 / 10).min(1000) as u16;
        bits.data_sample_point_permille = match spec.data_bit_rate {
            Some(_) => (spec.data_sample_point.0.0 / 10).min(1000) as u16,
            None => bits.nominal_sample_point_permille,
        };
        match BitTiming::new(&bits) {
            Ok(timing) => Some(CanSegment {
                bits,
                timing,
                has_data_phase: spec.data_bit_rate.is_some(),
                fifo_mailboxes: spec.mailboxes == MailboxesSpec::Fifo,
                count: spec.buses.len().max(1),
                bus_of: self.buses_of_nodes(spec),
                gateway_delay: spec.gateway_delay.0,
            }),
            Err(error) => {
                let key = match error {
                    BitTimingError::RateOutOfRange { phase: Phase::Data, .. }
                    | BitTimingError::RateNotReachable { phase: Phase::Data, .. }
                    | BitTimingError::DataBelowNominal { .. } => "data_bit_rate",
                    BitTimingError::SamplePointNotReachable { phase: Phase::Nominal, .. }
                    | BitTimingError::RoundTripBeyondSamplePoint { .. } => "sample_point",
                    BitTimingError::SamplePointNotReachable { .. } => "data_sample_point",
                    _ => "bit_rate",
                };
                let path: &[Step<'_>] = at!["network", KIND, key];
                self.report(
                    Code::BadBitTiming,
                    path,
                    error.to_string(),
                    "cannot be timed",
                    "500kbit/s with 2Mbit/s in the data phase and sample points of 80% always work",
                );
                None
            }
        }
    }

    fn can_nodes(&mut self, platforms: &[PlatformPlan]) -> Vec<NodePlan> {
        let specs = &self.spec.nodes;
        self.unique("nodes", specs.iter().map(|spec| spec.name.as_str()));
        let platform_names: Vec<&str> = platforms.iter().map(|platform| platform.name.as_str()).collect();
        let addresses = self.addresses();
        let mut nodes = Vec::new();
        for (i, spec) in specs.iter().enumerate() {
            self.identifier(&spec.name, at!["nodes", i, "name"], "the node's name");
            if !spec.tasks.is_empty() {
                self.report(
                    Code::WrongNetwork,
                    at!["nodes", i, "tasks"],
                    "tasks are scheduled with time-triggered Ethernet only",
                    "not on this network",
                    "leave them out",
                );
            }
            let platform = spec.platform.as_ref().and_then(|name| {
                self.find(name, &platform_names, at!["nodes", i, "platform"], "platform", "platforms")
            });
            nodes.push(NodePlan {
                name: spec.name.clone(),
                clock: self.clock(i, spec.clock),
                platform: PlatformId(platform.unwrap_or(0) as u16),
                driver: self.jitter(at!["nodes", i, "driver"], "the driver's time", spec.driver),
                tasks: Vec::new(),
                address: addresses[i],
                interfaces: vec![ONLY],
                gateway: None,
            });
        }
        nodes
    }

    /// Which of the buses each node is on.
    fn buses_of_nodes(&mut self, bus: &CanBusSpec) -> Vec<usize> {
        let buses: Vec<&str> = bus.buses.iter().map(String::as_str).collect();
        let specs = &self.spec.nodes;
        (specs.iter().enumerate())
            .map(|(i, spec)| match &spec.bus {
                None => 0,
                Some(name) => self.find(name, &buses, at!["nodes", i, "bus"], "bus", "buses").unwrap_or(0),
            })
            .collect()
    }

    /// The synchronisation message as a stream: it stands behind all others.
    fn synchronisation(freshness: &FreshnessPlan, protections: &[ProtectionPlan]) -> StreamPlan {
        // It is sealed in a way of its own, which no protection of the scenario describes.
        debug_assert!(matches!(protections[0].kind, ProtectionKind::None));
        StreamPlan {
            name: "freshness".into(),
            sender: freshness.master,
            receivers: freshness.slaves.clone(),
            period: freshness.period,
            offset: None,
            min_distance: None,
            deadline: Some(freshness.period),
            deadlines: Vec::new(),
            deadline_kind: DeadlineKind::default(),
            payload: PayloadPlan::Synthetic,
            protection: ProtectionId(0),
            hops: vec![HopPlan {
                segment: ONLY,
                from: freshness.master,
                to: freshness.slaves.clone(),
                frame_len: SYNC_LEN,
                class: "synchronisation",
                facet: Facet::new(CanHop::Synchronisation { id: freshness.id }),
                previous: None,
            }],
        }
    }

    /// The addresses written, and the free ones in order for the others.
    fn addresses(&mut self) -> Vec<u8> {
        let specs = &self.spec.nodes;
        let mut taken: Vec<(u8, usize)> = Vec::new();
        for (i, spec) in specs.iter().enumerate() {
            let Some(address) = spec.address.map(|address| address.clamp(1, 255) as u8) else { continue };
            if let Some((_, earlier)) = taken.iter().find(|(other, _)| *other == address) {
                self.report_both(
                    Code::BadAddress,
                    (at!["nodes", i, "address"], "again here"),
                    (at!["nodes", *earlier, "address"], "first here"),
                    format!("two nodes have address {address}"),
                    "give each its own, 1 to 255; 0 is reserved",
                );
            }
            taken.push((address, i));
        }
        let mut free = (1..=255u8).filter(|address| !taken.iter().any(|(other, _)| other == address));
        (0..specs.len())
            .map(|i| match taken.iter().find(|(_, node)| *node == i) {
                Some((address, _)) => *address,
                None => free.next().unwrap_or(0),
            })
            .collect()
    }

    /// The protections, `none` first.
    fn can_protections(&mut self) -> Vec<ProtectionPlan> {
        let specs = &self.spec.protections;
        self.unique("protections", specs.iter().map(|spec| spec.name.as_str()));
        let has_group_key = self.spec.group_key.is_some();
        let mut protections = vec![ProtectionPlan { name: "none".into(), kind: ProtectionKind::None }];
        for (i, spec) in specs.iter().enumerate() {
            self.title(&spec.name, at!["protections", i, "name"], "the protection's name");
            let kind = match (&spec.none, &spec.secoc) {
                (Some(_), None) => ProtectionKind::None,
                (None, Some(secoc)) => {
                    let under_group_key = secoc.key.map_or(has_group_key, |key| key == SecOcKeySpec::GroupKey);
                    if under_group_key && !has_group_key {
                        self.report(
                            Code::BadGroup,
                            at!["protections", i, "secoc", "key"],
                            "there is no group key in this scenario",
                            "no such key",
                            "add `[group_key]`, or write `key = \"pre-shared\"`",
                        );
                    }
                    ProtectionKind::SecOc { profile: self.secoc_profile(i, secoc), under_group_key }
                }
                _ => {
                    self.report(
                        Code::ChooseOne,
                        at!["protections", i],
                        format!("protection `{}` has to be exactly one of `none`, `secoc` on a CAN bus", spec.name),
                        "not exactly one",
                        "write `secoc = { profile = 1 }`",
                    );
                    ProtectionKind::None
                }
            };
            protections.push(ProtectionPlan { name: spec.name.clone(), kind });
        }
        protections
    }

    fn secoc_profile(&mut self, i: usize, spec: &SecOcSpec) -> SecOcProfile {
        let counted = SecOcProfile::profile_1(SECOC_FRESHNESS).expect("8 bits of a counter of 8 bytes can be sent");
        match spec.profile {
            1 => counted,
            2 => SecOcProfile::profile_2(),
            3 => SecOcProfile::profile_3(),
            other => {
                self.report(
                    Code::OutOfRange,
                    at!["protections", i, "secoc", "profile"],
                    format!("SecOC has no profile {other}"),
                    "no such profile",
                    "write `profile = 1`, 2 or 3",
                );
                counted
            }
        }
    }

    /// A node by its name; the first one if there is none of that name, which is then a problem.
    fn can_node(&mut self, name: &str, nodes: &[NodePlan], path: &[Step<'_>]) -> NodeId {
        let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        NodeId(self.find(name, &names, path, "node", "nodes").unwrap_or(0) as u16)
    }

    /// A time at which something happens in a run.
    fn instant(&mut self, path: &[Step<'_>], what: &str, at: Duration) -> Duration {
        self.within(path, what, at, Duration::ZERO, DURATION_MAX)
    }
}
