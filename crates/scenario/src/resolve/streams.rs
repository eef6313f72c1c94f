//! Streams: who sends what to whom, how often, how long, how protected.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::random::{self, Purpose, uniform_i64};
use chronoseal_core::{Bytes, Duration, NodeId};
use chronoseal_frameauth::Freshness;

use super::{ONLY, Resolver};
use crate::limits::*;
use crate::plan::{
    DeadlineKind, EthernetSegment, Facet, HopPlan, NodePlan, PayloadPlan, ProtectionId, ProtectionKind, ProtectionPlan, Recording,
    StreamClass, StreamPlan,
};
use crate::problem::Code;
use crate::shape::shortened;
use crate::source::at;
use crate::spec::{ClassSpec, PayloadSpec, StreamSpec};

impl Resolver<'_> {
    pub(super) fn streams(
        &mut self,
        network: &EthernetSegment,
        nodes: &[NodePlan],
        protections: &[ProtectionPlan],
        recordings: &[Recording],
        duration: Duration,
    ) -> Vec<StreamPlan> {
        let mut counts = self.counts();
        let ct_ids = self.ct_ids(network, &counts);
        let mut streams: Vec<StreamPlan> = Vec::new();
        let mut first: BTreeMap<String, usize> = BTreeMap::new();
        for (i, spec) in self.spec.streams.iter().enumerate() {
            let (template, hop) = self.stream(i, spec, network, nodes, protections, recordings);
            for k in 0..counts[i] {
                let name = if spec.count.is_some() { format!("{}.{k}", spec.name) } else { spec.name.clone() };
                if let Some(&earlier) = first.get(&name) {
                    self.report_both(
                        Code::DuplicateName,
                        (at!["streams", i, "name"], "again here"),
                        (at!["streams", earlier, "name"], "first here"),
                        format!("two streams are named `{}`", shortened(&name)),
                        "give each its own name; streams alike are written once, with `count`",
                    );
                    // One such problem for each entry is enough.
                    counts[i] = 0;
                    break;
                }
                first.insert(name.clone(), i);
                let (mut hop, class) = hop.clone();
                let mut stream = StreamPlan { name, ..template.clone() };
                let class = match class {
                    StreamClass::TimeTriggered { .. } => StreamClass::TimeTriggered { ct_id: ct_ids[i][k as usize] },
                    StreamClass::BestEffort { .. } if stream.offset.is_none() => {
                        let mut rng = random::stream(self.spec.seed, Purpose::Phase, streams.len() as u64);
                        let phase = uniform_i64(&mut rng, 0, stream.period.as_ps() - 1);
                        stream.offset = Some(Duration::from_ps(phase));
                        class
                    }
                    StreamClass::BestEffort { .. } => class,
                };
                (hop.class, hop.facet) = (class.name(), Facet::new(class));
                stream.hops.push(hop);
                streams.push(stream);
            }
        }
        self.load_limits(network, &streams, duration);
        streams
    }

    /// How many streams each entry stands for, together at most [`STREAMS_MAX`].
    fn counts(&mut self) -> Vec<u32> {
        let counts: Vec<u32> = self.spec.streams.iter().map(|spec| spec.count.unwrap_or(1)).collect();
        let total: u64 = counts.iter().copied().map(u64::from).sum();
        if total <= u64::from(STREAMS_MAX) {
            return counts;
        }
        let largest = (0..counts.len()).max_by_key(|i| counts[*i]).unwrap_or(0);
        self.report(
            Code::TooMany,
            at!["streams", largest, "count"],
            format!("the scenario has {total} streams"),
            "the largest count",
            format!("at most {STREAMS_MAX} are possible"),
        );
        vec![1; counts.len()]
    }

    /// One stream of an entry, its name and identifier still to be filled in, and its way and class.
    #[allow(clippy::too_many_arguments, reason = "everything a stream refers to")]
    fn stream(
        &mut self,
        i: usize,
        spec: &StreamSpec,
        network: &EthernetSegment,
        nodes: &[NodePlan],
        protections: &[ProtectionPlan],
        recordings: &[Recording],
    ) -> (StreamPlan, (HopPlan, StreamClass)) {
        self.title(&spec.name, at!["streams", i, "name"], "the stream's name");
        let (sender, receivers) = self.ends(i, spec, nodes);
        let time_triggered = spec.class == ClassSpec::TimeTriggered;

        let path = at!["streams", i, "period"];
        let mut period = self.within(path, "the period", spec.period.0, PERIOD_MIN, DURATION_MAX);
        if time_triggered {
            period = self.dividing(path, &format!("stream `{}`", shortened(&spec.name)), period, network.cluster_cycle);
        }
        let offset = spec.offset.map(|offset| {
            let path = at!["streams", i, "offset"];
            if time_triggered && spec.count.is_some_and(|count| count > 1) {
                self.report(
                    Code::OffsetOfMany,
                    path,
                    format!("all {} streams would have their slot at {}", spec.count.unwrap_or(1), offset.0),
                    "one slot for many",
                    "leave `offset` out and let the scheduler find the slots, or write the streams one by one",
                );
            }
            self.within(path, "the offset", offset.0, Duration::ZERO, period - Duration::from_ps(1))
        });

        let protection = match &spec.protection {
            None => 0,
            Some(name) => {
                let names: Vec<&str> = protections.iter().map(|protection| protection.name.as_str()).collect();
                self.find(name, &names, at!["streams", i, "protection"], "protection", "protections").unwrap_or(0)
            }
        };
        if let (false, ProtectionKind::Hmac { freshness: Freshness::CycleCounter, .. }) =
            (time_triggered, &protections[protection].kind)
        {
            self.report(
                Code::FreshnessWithoutSlot,
                at!["streams", i, "protection"],
                format!(
                    "`{}` takes freshness from the cycle counter, but best-effort frames come in no certain cycle",
                    protections[protection].name
                ),
                "needs a slot",
                "name a protection with `freshness = \"full\"` or `{ truncated = \"2B\" }`",
            );
        }
        let frame_len = self.frame_len(i, spec, &protections[protection]);
        let class = match spec.class {
            ClassSpec::TimeTriggered => StreamClass::TimeTriggered { ct_id: 0 },
            ClassSpec::BestEffort(best_effort) => {
                if spec.ct_id.is_some() {
                    self.report(
                        Code::BadCtId,
                        at!["streams", i, "ct_id"],
                        "best-effort traffic has no critical-traffic identifier",
                        "not used",
                        "leave `ct_id` out, or write `class = \"time-triggered\"`",
                    );
                }
                StreamClass::BestEffort { priority: best_effort.priority }
            }
        };
        let hop = HopPlan {
            segment: ONLY,
            from: sender,
            to: receivers.clone(),
            frame_len,
            class: class.name(),
            facet: Facet::new(class),
            previous: None,
        };
        let stream = StreamPlan {
            name: String::new(),
            sender,
            receivers,
            period,
            offset,
            min_distance: None,
            deadline: None,
            deadlines: Vec::new(),
            deadline_kind: DeadlineKind::default(),
            payload: self.payload(i, spec, frame_len, recordings),
            protection: ProtectionId(protection as u16),
            hops: Vec::new(),
        };
        (stream, (hop, class))
    }

    fn ends(&mut self, i: usize, spec: &StreamSpec, nodes: &[NodePlan]) -> (NodeId, Vec<NodeId>) {
        let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        let sender = self.find(&spec.from, &names, at!["streams", i, "from"], "node", "nodes");
        let mut receivers: Vec<NodeId> = Vec::new();
        for (k, name) in spec.to.iter().enumerate() {
            let path = at!["streams", i, "to", k];
            let Some(receiver) = self.find(name, &names, path, "node", "nodes") else { continue };
            if Some(receiver) == sender {
                self.report_both(
                    Code::SenderReceives,
                    (path, "receiver"),
                    (at!["streams", i, "from"], "and sender"),
                    format!("`{name}` sends stream `{}` to itself", shortened(&spec.name)),
                    "name another node",
                );
            } else if receivers.contains(&NodeId(receiver as u16)) {
                self.report(
                    Code::DuplicateName,
                    path,
                    format!("`{name}` is twice among the receivers"),
                    "again here",
                    "keep one of them",
                );
            } else {
                receivers.push(NodeId(receiver as u16));
            }
        }
        if spec.to.is_empty() {
            self.report(
                Code::NoReceivers,
                at!["streams", i, "to"],
                format!("nobody receives stream `{}`", shortened(&spec.name)),
                "empty",
                "name at least one node",
            );
        }
        (NodeId(sender.unwrap_or(0) as u16), receivers)
    }

    /// The unprotected frame, checked with its protection.
    fn frame_len(&mut self, i: usize, spec: &StreamSpec, protection: &ProtectionPlan) -> u32 {
        let path = at!["streams", i, "frame"];
        let len = spec.frame.0;
        let overhead = u64::from(protection.overhead_bytes());
        let (min, max) = (u64::from(FRAME_LEN_MIN), u64::from(FRAME_LEN_MAX));
        if len.0 < min {
            self.report(
                Code::FrameTooShort,
                path,
                format!("a frame of {len} is below the smallest of Ethernet"),
                "too short",
                format!("write at least {FRAME_LEN_MIN}B; shorter data is padded to that"),
            );
        } else if len.0.saturating_add(overhead) > max {
            let room = max.saturating_sub(overhead);
            let message = if overhead == 0 {
                format!("a frame of {len} is {} over the largest of Ethernet", Bytes(len.0 - max))
            } else {
                format!(
                    "a frame of {len} and {} of `{}` are {} over the largest of Ethernet",
                    Bytes(overhead),
                    protection.name,
                    Bytes((len.0.saturating_add(overhead)).saturating_sub(max))
                )
            };
            self.report(Code::FrameTooLong, path, message, "too long", format!("write at most {room}B"));
        }
        len.0.clamp(min, max - overhead.min(max - min)) as u32
    }

    fn payload(&mut self, i: usize, spec: &StreamSpec, frame_len: u32, recordings: &[Recording]) -> PayloadPlan {
        let PayloadSpec::Recording(name) = &spec.payload else { return PayloadPlan::Synthetic };
        let names: Vec<&str> = recordings.iter().map(|recording| recording.name.as_str()).collect();
        let path = at!["streams", i, "payload", "recording"];
        let Some(found) = self.find(name, &names, path, "recording", "recordings") else {
            return PayloadPlan::Synthetic;
        };
        let longest = recordings[found].samples.iter().map(|sample| sample.bytes.len()).max().unwrap_or(0);
        let room = (frame_len - HEADER_LEN - BENCH_HEADER_LEN) as usize;
        if longest > room {
            self.report_both(
                Code::RecordingTooLong,
                (path, "does not fit"),
                (at!["streams", i, "frame"], "this frame"),
                format!("a sample of `{name}` has {longest} bytes; a frame of {frame_len}B has room for {room}"),
                format!("write a frame of {}B", longest as u32 + HEADER_LEN + BENCH_HEADER_LEN),
            );
        }
        PayloadPlan::Recorded { recording: found as u16 }
    }

    /// The critical-traffic identifiers of each entry's streams: those written, then 1, 2, 3 and so on as they are free.
    fn ct_ids(&mut self, network: &EthernetSegment, counts: &[u32]) -> Vec<Vec<u16>> {
        let specs = &self.spec.streams;
        let is_critical = |i: usize| specs[i].class == ClassSpec::TimeTriggered;
        let mut taken: BTreeMap<u32, Option<usize>> = BTreeMap::from([(u32::from(network.sync_id), None)]);
        for (i, spec) in specs.iter().enumerate() {
            let Some(ct_id) = spec.ct_id.filter(|_| is_critical(i)) else { continue };
            for id in u32::from(ct_id)..u32::from(ct_id) + counts[i] {
                let path = at!["streams", i, "ct_id"];
                if id > u32::from(u16::MAX) {
                    self.report(
                        Code::BadCtId,
                        path,
                        format!("{} identifiers from {ct_id} on end above {}", counts[i], u16::MAX),
                        "too large",
                        format!("write at most {}", u32::from(u16::MAX) + 1 - counts[i]),
                    );
                    break;
                }
                match taken.insert(id, Some(i)) {
                    None => continue,
                    Some(None) => self.report(
                        Code::BadCtId,
                        path,
                        format!("identifier {id} belongs to the sync beacon"),
                        "taken",
                        "write another, or another `sync_id`",
                    ),
                    Some(Some(earlier)) => self.report_both(
                        Code::BadCtId,
                        (path, "taken"),
                        (at!["streams", earlier, "ct_id"], "by this"),
                        format!("identifier {id} is used twice"),
                        "write another, or leave `ct_id` out",
                    ),
                }
                break;
            }
        }
        let used: BTreeSet<u32> = taken.into_keys().collect();
        let mut free = (1..=u16::MAX).filter(|id| !used.contains(&u32::from(*id)));
        (0..specs.len())
            .map(|i| match specs[i].ct_id {
                _ if !is_critical(i) => Vec::new(),
                Some(ct_id) => (0..counts[i]).map(|k| ct_id.saturating_add(k as u16)).collect(),
                None => free.by_ref().take(counts[i] as usize).collect(),
            })
            .collect()
    }

    /// Refuses a schedule or a run too large to be meant. Nothing here can overflow: every factor has its limit.
    fn load_limits(&mut self, network: &EthernetSegment, streams: &[StreamPlan], duration: Duration) {
        let slots: u64 = streams
            .iter()
            .filter(|stream| is_time_triggered(stream))
            .map(|stream| network.cluster_cycle.div_floor(stream.period) as u64)
            .sum();
        if slots > SLOTS_MAX {
            self.report(
                Code::TooManySlots,
                at!["network", "time_triggered_ethernet", "cluster_cycle"],
                format!("the streams need {slots} slots in one cluster cycle"),
                "too many slots",
                format!("a schedule holds at most {SLOTS_MAX}: write longer periods or a shorter cluster cycle"),
            );
        }
        let frames: u64 = streams.iter().map(|stream| duration.div_floor(stream.period) as u64 + 1).sum();
        if frames > FRAMES_MAX {
            self.report(
                Code::TooManyFrames,
                at!["duration"],
                format!("the run has {frames} frames"),
                "too long",
                format!("a run has at most {FRAMES_MAX}: write a shorter duration or longer periods"),
            );
        }
    }
}

/// True if a stream has slots on the only segment.
pub(super) fn is_time_triggered(stream: &StreamPlan) -> bool {
    stream.hops.iter().filter_map(|hop| hop.facet.get()).any(|class: &StreamClass| class.is_time_triggered())
}
