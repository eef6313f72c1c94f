//! Attacks.

use chronoseal_core::{Duration, NodeId, StreamId};

use super::streams::is_time_triggered;
use super::{ONLY, Resolver};
use crate::limits::*;
use crate::plan::{AttackPlace, AttackerPlan, EthernetSegment, NodePlan, StreamPlan, ThreatKind, ThreatPlan};
use crate::problem::Code;
use crate::shape::shortened;
use crate::source::at;
use crate::spec::{FidelitySpec, PlaceSpec, ThreatKindSpec, ThreatSpec};

impl Resolver<'_> {
    pub(super) fn threats(
        &mut self,
        network: &EthernetSegment,
        nodes: &[NodePlan],
        streams: &[StreamPlan],
        duration: Duration,
    ) -> (Vec<AttackerPlan>, Vec<ThreatPlan>) {
        let specs = &self.spec.threats;
        self.unique("threats", specs.iter().map(|spec| spec.name.as_str()));
        if self.spec.fidelity == FidelitySpec::Timing && !specs.is_empty() {
            self.report_both(
                Code::ThreatAtTiming,
                (at!["threats", 0], "an attack"),
                (at!["fidelity"], "no bytes are made"),
                "an attack needs frames with real bytes",
                "write `fidelity = \"bytes\"`, or take the threats out",
            );
        }
        let stream_names: Vec<&str> = streams.iter().map(|stream| stream.name.as_str()).collect();
        let node_names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        let mut attackers: Vec<AttackerPlan> = Vec::new();
        let mut threats = Vec::new();
        for (i, spec) in specs.iter().enumerate() {
            self.title(&spec.name, at!["threats", i, "name"], "the threat's name");
            let target = self.find(&spec.stream, &stream_names, at!["threats", i, "stream"], "stream", "streams");
            let place = match &spec.place {
                PlaceSpec::OwnPort => Some(AttackPlace::OnSegment(ONLY)),
                PlaceSpec::OnLink(node) => self
                    .find(node, &node_names, at!["threats", i, "place", "on_link"], "node", "nodes")
                    .map(|node| AttackPlace::OnLink(ONLY, NodeId(node as u16))),
            };
            let (Some(target), Some(place)) = (target, place) else { continue };
            let stream = &streams[target];
            self.place(i, spec, place, stream, nodes);
            let (start, every) = self.attempts(i, spec, stream, duration);
            let cycle = network.cluster_cycle;
            let path = at!["threats", i, "at_slot_offset"];
            let at_slot_offset = self.within(path, "the offset in the slot", spec.at_slot_offset.0, -cycle, cycle);
            // Attackers at one place are one node.
            let attacker = attackers.iter().position(|known| known.place == place).unwrap_or_else(|| {
                let name = match place {
                    AttackPlace::OnSegment(_) | AttackPlace::AtNode(_) => "attacker".to_owned(),
                    AttackPlace::OnLink(_, victim) => format!("attacker-on-{}", nodes[victim.index()].name),
                };
                attackers.push(AttackerPlan { name, place });
                attackers.len() - 1
            });
            let target = StreamId(target as u16);
            threats.push(ThreatPlan {
                name: spec.name.clone(),
                kind: match spec.kind {
                    ThreatKindSpec::Spoof => ThreatKind::Spoof(target),
                    ThreatKindSpec::Tamper => ThreatKind::Tamper(target),
                    ThreatKindSpec::Replay => ThreatKind::Replay(target),
                },
                attacker: attacker as u16,
                start,
                every,
                count: spec.count,
                at_slot_offset,
            });
        }
        (attackers, threats)
    }

    fn place(&mut self, i: usize, spec: &ThreatSpec, place: AttackPlace, stream: &StreamPlan, nodes: &[NodePlan]) {
        let sender = &nodes[stream.sender.index()].name;
        let target = shortened(&stream.name);
        let there = format!("write `place = {{ on_link = \"{sender}\" }}`");
        if !is_time_triggered(stream) {
            self.report(
                Code::ThreatWithoutSlot,
                at!["threats", i, "stream"],
                format!("stream `{target}` is best effort; an attack is placed in the slot of its stream"),
                "has no slot",
                "name a time-triggered stream",
            );
        }
        match place {
            AttackPlace::OnSegment(_) if spec.kind == ThreatKindSpec::Tamper => self.report_both(
                Code::ThreatPlace,
                (at!["threats", i, "place"], "frames do not pass here"),
                (at!["threats", i, "kind"], "changes frames on their way"),
                "a port of its own lets an attacker send, not change what others send",
                there,
            ),
            AttackPlace::OnLink(_, node) if node != stream.sender => self.report_both(
                Code::ThreatPlace,
                (at!["threats", i, "place"], "not the sender's link"),
                (at!["threats", i, "stream"], &format!("is sent by `{sender}`")),
                format!("stream `{target}` does not enter the network by the link of `{}`", nodes[node.index()].name),
                format!("{there}, or `place = \"own-port\"`"),
            ),
            _ => {}
        }
    }

    /// Start and distance of the attempts; all of them lie within the run.
    fn attempts(
        &mut self,
        i: usize,
        spec: &ThreatSpec,
        stream: &StreamPlan,
        duration: Duration,
    ) -> (Duration, Duration) {
        let path = at!["threats", i, "start"];
        let start = self.within(path, "the start", spec.start.0, Duration::ZERO, DURATION_MAX);
        let every = match spec.every {
            None => stream.period,
            Some(every) => {
                let path = at!["threats", i, "every"];
                self.within(path, "the distance of attempts", every.0, PERIOD_MIN, DURATION_MAX)
            }
        };
        if start >= duration {
            self.report_both(
                Code::ThreatTooLate,
                (path, "after the end"),
                (at!["duration"], "the run ends here"),
                format!("threat `{}` starts at {start}, the run ends at {duration}", shortened(&spec.name)),
                "start earlier, or write a longer duration",
            );
            return (Duration::ZERO, every);
        }
        let fits = (duration - start - Duration::from_ps(1)).div_floor(every) + 1;
        if i64::from(spec.count) > fits {
            self.report_both(
                Code::ThreatTooLate,
                (at!["threats", i, "count"], "too many"),
                (at!["duration"], "the run ends here"),
                format!("{} attempts of threat `{}` do not fit the run", spec.count, shortened(&spec.name)),
                format!("{fits} fit: write `count = {fits}`, or a longer duration"),
            );
        }
        (start, every)
    }
}
