//! Recorded traffic that is replayed with its own timing.

use chronoseal_core::{Duration, NodeId};
use chronoseal_plan::{DeadlineKind, HopPlan, NodePlan, ProtectionId, StreamPlan};

use crate::kinds::{Context, Place, Replay, Segment, TrafficRequest};
use crate::limits::{DURATION_MAX, REPLAY_MIN};
use crate::load::Files;
use crate::problem::Code;
use crate::resolve::streams::Streams;
use crate::shape::shortened;
use crate::source::at;
use crate::spec::{RecordingSpec, TrafficSpec};

impl Context<'_> {
    /// Each recording of traffic as a stream, beside those of the scenario.
    pub(super) fn traffic(
        &mut self,
        known: &Streams,
        nodes: &[NodePlan],
        segments: &[Segment<'_>],
        files: &dyn Files,
    ) -> Vec<StreamPlan> {
        let mut streams = Vec::new();
        for (i, spec) in self.spec.recordings.iter().enumerate() {
            if let (Some(traffic), None, None) = (&spec.traffic, &spec.signal, &spec.frames) {
                self.named_apart(i, spec, known);
                streams.extend(self.replayed(i, spec, traffic, nodes, segments, files));
            }
        }
        streams
    }

    /// Refuses replayed traffic that has the name of a stream: reports, allowances and options know both by their names.
    fn named_apart(&mut self, i: usize, spec: &RecordingSpec, known: &Streams) {
        let Some(place) = known.plans.iter().position(|stream| stream.name == spec.name) else { return };
        self.report_both(
            Code::DuplicateName,
            (at!["recordings", i, "name"], "again here"),
            (at!["streams", known.entries[place], "name"], "first here"),
            format!("a stream and the replayed traffic are both named `{}`", shortened(&spec.name)),
            "give each its own name",
        );
    }

    fn replayed(
        &mut self,
        i: usize,
        spec: &RecordingSpec,
        traffic: &TrafficSpec,
        nodes: &[NodePlan],
        segments: &[Segment<'_>],
        files: &dyn Files,
    ) -> Option<StreamPlan> {
        let start = spec.start.map_or(Duration::ZERO, |start| start.0);
        let start = self.instant(at!["recordings", i, "start"], "the start", start);
        let every = spec.every.map(|every| {
            self.within(at!["recordings", i, "every"], "the time of a round", every.0, REPLAY_MIN, DURATION_MAX)
        });
        let Some(from) = &spec.from else {
            self.report(
                Code::MissingKey,
                at!["recordings", i],
                format!("no node plays the traffic `{}`", shortened(&spec.name)),
                "`from` is missing",
                "add `from = \"…\"` with a node on its segment",
            );
            return None;
        };
        let node = self.node(from, nodes, at!["recordings", i, "from"]);
        let segment = self.segment_of_traffic(i, spec, node, nodes, segments)?;
        let Some(replays) = segment.kind.rules().replays else {
            self.report(
                Code::NotYet,
                at!["recordings", i, "traffic"],
                format!(
                    "no traffic is replayed on segments of kind `{}`, such as `{}`, yet",
                    segment.kind.name(),
                    segment.name
                ),
                "not there yet",
                "leave the recording out",
            );
            return None;
        };
        let known = segment.kind.builtin_traffic();
        let example = match known.first() {
            Some((name, _)) => format!("`builtin = \"{name}\"` or `file = \"recording.log\"`"),
            None => "`file = \"recording.log\"`".to_owned(),
        };
        let chosen = (traffic.builtin.as_deref(), traffic.file.as_deref());
        let (bytes, source, key) = self.bytes_of((i, "traffic"), chosen, known, &example, files)?;
        let at = Place::new("recordings").entry(i).key("traffic").key(key);
        let flow_at = Place::new("recordings").entry(i).key("traffic").key("flow");
        let flow = traffic.flow.as_deref();
        let receivers = self.receivers_of_traffic(i, spec, node, nodes, (segment, replays))?;
        let request = TrafficRequest {
            entry: i,
            segment,
            source: &source,
            at,
            bytes: &bytes,
            flow,
            flow_at,
            start,
            every,
            sender: node,
            receivers: &receivers,
        };
        let parts = segment.kind.resolve_traffic(&request, self)?;
        if let Some(every) = every.filter(|every| *every < parts.length) {
            self.report(
                Code::OutOfRange,
                at!["recordings", i, "every"],
                format!("{source} would start again after {every}, before its last frame at {}", parts.length),
                "too short",
                "write a longer time, or leave it out",
            );
        }
        Some(StreamPlan {
            sent_by: None,
            name: spec.name.clone(),
            sender: node,
            receivers: receivers.clone(),
            period: parts.length,
            offset: Some(start),
            has_offset: false,
            application: None,
            min_distance: None,
            trigger: None,
            deadline: None,
            deadlines: Vec::new(),
            deadline_kind: DeadlineKind::default(),
            length: parts.message_len,
            payload: parts.payload,
            protection: ProtectionId(0),
            hops: vec![HopPlan {
                segment: segment.id,
                from: node,
                to: receivers,
                frame_len: parts.frame_len,
                class: parts.class,
                facet: parts.facet,
                previous: None,
                protection: None,
            }],
        })
    }

    /// Who receives traffic: those named where it is one sender's, else one node that takes note of its frames, since all others receive them
    /// at the same time.
    fn receivers_of_traffic(
        &mut self,
        i: usize,
        spec: &RecordingSpec,
        sender: NodeId,
        nodes: &[NodePlan],
        (segment, replays): (&Segment<'_>, Replay),
    ) -> Option<Vec<NodeId>> {
        let is_on = |id: &NodeId| nodes[id.index()].interfaces.contains(&segment.id);
        let flow = spec.traffic.as_ref().is_some_and(|traffic| traffic.flow.is_some());
        let what = match replays {
            Replay::Segment => "all of a bus is replayed, to all that are on it",
            Replay::Sender | Replay::Flow => "all frames of a file are replayed",
        };
        let keys: [(&[_], bool); 2] = [
            (at!["recordings", i, "to"], spec.to.is_some() && replays == Replay::Segment),
            (at!["recordings", i, "traffic", "flow"], flow && replays != Replay::Flow),
        ];
        for (path, _) in keys.into_iter().filter(|(_, is_written)| *is_written) {
            let message = format!("on `{}` {what}", segment.name);
            self.report(Code::ChooseOne, path, message, "not chosen here", "leave it out");
        }
        if replays == Replay::Segment {
            let monitor = (0..nodes.len() as u16).map(NodeId).filter(is_on).find(|id| *id != sender);
            return Some(monitor.into_iter().collect());
        }
        let Some(to) = spec.to.as_ref().filter(|to| !to.is_empty()) else {
            self.report(
                Code::MissingKey,
                at!["recordings", i],
                format!("nobody receives what `{}` replays", shortened(&spec.name)),
                "`to` is missing",
                "add `to = [\"…\"]` with the nodes that receive them",
            );
            return None;
        };
        let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        let mut receivers: Vec<NodeId> = Vec::new();
        for (k, name) in to.iter().enumerate() {
            let path = at!["recordings", i, "to", k];
            let id = NodeId(self.find(name, &names, path, "node", "nodes")? as u16);
            if id == sender || receivers.contains(&id) || !is_on(&id) {
                self.report(
                    Code::NoWay,
                    path,
                    format!(
                        "`{}` cannot go to `{name}`: it sends it, is named twice, or is not on `{}`",
                        shortened(&spec.name),
                        segment.name
                    ),
                    "no receiver of it",
                    format!("name other nodes on `{}`, each once", segment.name),
                );
                return None;
            }
            receivers.push(id);
        }
        Some(receivers)
    }

    /// The segment that traffic is replayed on: that named, or the only one of the node that plays it.
    fn segment_of_traffic<'a>(
        &mut self,
        i: usize,
        spec: &RecordingSpec,
        node: NodeId,
        nodes: &[NodePlan],
        segments: &'a [Segment<'a>],
    ) -> Option<&'a Segment<'a>> {
        let interfaces = &nodes.get(node.index())?.interfaces;
        let name = &nodes[node.index()].name;
        let Some(written) = &spec.segment else {
            if let [only] = interfaces[..] {
                return segments.iter().find(|segment| segment.id == only);
            }
            if !interfaces.is_empty() {
                self.report(
                    Code::MissingKey,
                    at!["recordings", i],
                    format!("`{name}`, which plays the traffic, is on {} segments", interfaces.len()),
                    "`segment` is missing",
                    "add `segment = \"…\"`",
                );
            }
            return None;
        };
        let names: Vec<&str> = segments.iter().map(|segment| segment.name).collect();
        let path = at!["recordings", i, "segment"];
        let segment = &segments[self.find(written, &names, path, "segment", "segments")?];
        if !interfaces.contains(&segment.id) {
            self.report_both(
                Code::NoWay,
                (path, "not its segment"),
                (at!["recordings", i, "from"], "plays it"),
                format!("`{name}` is not on `{written}`"),
                format!("name a node on `{written}`"),
            );
            return None;
        }
        Some(segment)
    }
}
