//! Attacks.

mod clocks;

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_plan::{
    AttackPlace, AttackerPlan, ExchangeAttack, NodePlan, ProtectionPlan, StreamPlan, ThreatKind, ThreatPlan,
};

use super::streams::Streams;
use crate::kinds::{Context, Place, Segment, Table, ThreatParts, ThreatRequest};
use crate::limits::*;
use crate::problem::Code;
use crate::shape::shortened;
use crate::source::at;
use crate::spec::{DelaySpec, FidelitySpec, PlaceSpec, ThreatKindSpec, ThreatSpec};

/// Distance of attempts where neither the kind of the segment nor a stream gives one.
const EVERY_DEFAULT: Duration = Duration::from_ms(10);

impl Context<'_> {
    /// Who attacks, and how.
    pub(super) fn threats(
        &mut self,
        nodes: &[NodePlan],
        segments: &[Segment<'_>],
        streams: &Streams,
        protections: &[ProtectionPlan],
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
        let mut attackers: Vec<AttackerPlan> = Vec::new();
        let mut planned: Vec<(usize, ThreatPlan)> = Vec::new();
        for (i, spec) in specs.iter().enumerate() {
            self.title(&spec.name, at!["threats", i, "name"], "the threat's name");
            let Some(kind) = self.threat_kind(i, spec, &streams.plans, nodes) else { continue };
            let stream = kind.target().map(|target| &streams.plans[target.index()]);
            // Where a stream can be attacked is not known before its way is.
            let on_its_way = stream.filter(|_| kind.target().is_some_and(|id| streams.are_on_their_way[id.index()]));
            let Some((place, segment)) = self.place(i, spec, kind, stream, nodes, segments) else { continue };
            if !self.is_on_way(i, place, on_its_way, nodes, segments) {
                continue;
            }
            let rules = segment.kind.rules();
            let in_gateway = matches!(place, AttackPlace::AtNode(_));
            let usual = rules.attempt_distance.filter(|_| !in_gateway);
            let Some(parts) = self.threat(i, spec, kind, place, segment, on_its_way, (nodes, protections)) else {
                continue;
            };
            let (start, every) = self.attempts(i, spec, stream, parts.every.or(usual), duration);
            let fits = (duration - start - Duration::from_ps(1)).div_floor(every) + 1;
            let as_many = || parts.every.and(u32::try_from(fits).ok()).map_or(1, |fits| fits.clamp(1, ATTEMPTS_MAX));
            let count = spec.count.unwrap_or_else(as_many);
            if rules.attempts_lie_within_run || in_gateway {
                self.all_within(i, spec, (start, every, count), duration);
            }
            self.unneeded_tables(i, spec, place, segment, segments);
            let attacker = AttackerPlan { name: parts.attacker, place };
            let known = attackers.iter().position(|known| *known == attacker).unwrap_or_else(|| {
                attackers.push(attacker);
                attackers.len() - 1
            });
            let threat = ThreatPlan {
                name: spec.name.clone(),
                kind,
                attacker: known as u16,
                start,
                every,
                count,
                at_slot_offset: parts.at_slot_offset,
                facet: parts.facet,
            };
            let is_on_link = matches!(place, AttackPlace::OnLink(..));
            if let Some((other, _)) = planned.iter().find(|(_, other)| is_on_link && meet(&threat, other)) {
                self.in_the_same_hands((i, spec), *other);
            }
            planned.push((i, threat));
        }
        let threats = planned.into_iter().map(|(_, threat)| threat).collect();
        for (node, _) in
            nodes.iter().enumerate().filter(|(_, node)| attackers.iter().any(|known| known.name == node.name))
        {
            self.taken_name(node, "an attacker");
        }
        (attackers, threats)
    }

    /// What the attacker does, and to which stream. `None` if the stream is not to be found.
    fn threat_kind(
        &mut self,
        i: usize,
        spec: &ThreatSpec,
        streams: &[StreamPlan],
        nodes: &[NodePlan],
    ) -> Option<ThreatKind> {
        let aimed: fn(StreamId) -> ThreatKind = match &spec.kind {
            ThreatKindSpec::Spoof => ThreatKind::Spoof,
            ThreatKindSpec::Tamper => ThreatKind::Tamper,
            ThreatKindSpec::Replay => ThreatKind::Replay,
            ThreatKindSpec::Withhold => ThreatKind::Withhold,
            ThreatKindSpec::Delay(delay) => return self.delay(i, spec, delay, streams),
            // Of one stream, if it is named.
            ThreatKindSpec::Babble | ThreatKindSpec::Flood => return self.at_line_rate(i, spec, streams),
            ThreatKindSpec::RogueGrandmaster(rogue) => return Some(self.rogue_grandmaster(i, spec, rogue)),
            ThreatKindSpec::ForgedTime(forged) => return self.forged_time(i, spec, forged, nodes),
            ThreatKindSpec::AlteredTime(altered) => return Some(self.altered_time(i, spec, altered)),
            _ => return self.threat_without_stream(i, spec),
        };
        let Some(name) = &spec.stream else {
            self.without_stream(i, spec);
            return None;
        };
        self.target(i, name, streams).map(aimed)
    }

    fn without_stream(&mut self, i: usize, spec: &ThreatSpec) {
        self.report(
            Code::MissingKey,
            at!["threats", i],
            format!("threat `{}` has no `stream`", shortened(&spec.name)),
            "`stream` is missing",
            "add `stream = \"…\"` with the stream that is attacked",
        );
    }

    fn target(&mut self, i: usize, name: &str, streams: &[StreamPlan]) -> Option<StreamId> {
        let names: Vec<&str> = streams.iter().map(|stream| stream.name.as_str()).collect();
        let found = self.find(name, &names, at!["threats", i, "stream"], "stream", "streams")?;
        Some(StreamId(found as u16))
    }

    /// Frames that go on later.
    fn delay(&mut self, i: usize, spec: &ThreatSpec, delay: &DelaySpec, streams: &[StreamPlan]) -> Option<ThreatKind> {
        let path = at!["threats", i, "kind", "delay", "by"];
        // What shifts clocks is shorter than what any frame notices.
        let least = if spec.stream.is_none() { Duration::from_ns(1) } else { PERIOD_MIN };
        let by = self.within(path, "the delay", delay.by.0, least, CLUSTER_CYCLE_MAX);
        let stream = match &spec.stream {
            None => None,
            Some(name) => Some(self.target(i, name, streams)?),
        };
        Some(ThreatKind::Delay(stream, by))
    }

    /// Frames of one stream, or of several in turn, as fast as a link lets them go.
    fn at_line_rate(&mut self, i: usize, spec: &ThreatSpec, streams: &[StreamPlan]) -> Option<ThreatKind> {
        let stream = match &spec.stream {
            None => None,
            Some(name) => Some(self.target(i, name, streams)?),
        };
        match spec.kind {
            ThreatKindSpec::Flood => Some(ThreatKind::Flood(stream)),
            _ => Some(ThreatKind::Babble(stream)),
        }
    }

    /// Refuses a stream for an attack that has none.
    fn no_stream(&mut self, i: usize, spec: &ThreatSpec) {
        if spec.stream.is_some() {
            self.report(
                Code::ThreatPlace,
                at!["threats", i, "stream"],
                format!("threat `{}` is one that aims at no stream", shortened(&spec.name)),
                "not used",
                "leave `stream` out, or write `kind = \"spoof\"`, `\"tamper\"`, `\"replay\"` or `\"withhold\"`",
            );
        }
    }

    /// What an attacker does that aims at no stream.
    fn threat_without_stream(&mut self, i: usize, spec: &ThreatSpec) -> Option<ThreatKind> {
        self.no_stream(i, spec);
        let on_exchange = match &spec.kind {
            // These have been told apart by the caller.
            ThreatKindSpec::Spoof
            | ThreatKindSpec::Tamper
            | ThreatKindSpec::Replay
            | ThreatKindSpec::Withhold
            | ThreatKindSpec::Babble
            | ThreatKindSpec::Flood
            | ThreatKindSpec::Delay(_)
            | ThreatKindSpec::RogueGrandmaster(_)
            | ThreatKindSpec::ForgedTime(_)
            | ThreatKindSpec::AlteredTime(_) => return None,
            ThreatKindSpec::ReplayedOrchestration(replayed) => {
                let path = at!["threats", i, "kind", "replayed_orchestration", "after"];
                let after = self.within(path, "the delay", replayed.after.0, PERIOD_MIN, DURATION_MAX);
                ExchangeAttack::ReplayedOrchestration(after)
            }
            ThreatKindSpec::SwappedAddresses => ExchangeAttack::SwappedAddresses,
            ThreatKindSpec::ReflectedShare => ExchangeAttack::ReflectedShare,
            ThreatKindSpec::SmallOrderShare => ExchangeAttack::SmallOrderShare,
            ThreatKindSpec::TruncatedConfirmation => ExchangeAttack::TruncatedConfirmation,
            ThreatKindSpec::ForgedConfirmation => ExchangeAttack::ForgedConfirmation,
            ThreatKindSpec::ImpersonatedOrchestrator => ExchangeAttack::ImpersonatedOrchestrator,
            ThreatKindSpec::ForgedCommit => ExchangeAttack::ForgedCommit,
        };
        if self.spec.keys.is_empty() {
            self.report(
                Code::BadGroup,
                at!["threats", i, "kind"],
                format!("`{}` attacks a key exchange, and this scenario has none", spec.name),
                "nothing to attack",
                "add `[keys.NAME.group]`, or attack a stream",
            );
        }
        Some(ThreatKind::OnExchange(on_exchange))
    }

    /// Where the attacker sits, and a segment of this place.
    fn place<'a>(
        &mut self,
        i: usize,
        spec: &ThreatSpec,
        kind: ThreatKind,
        stream: Option<&StreamPlan>,
        nodes: &[NodePlan],
        segments: &'a [Segment<'a>],
    ) -> Option<(AttackPlace, &'a Segment<'a>)> {
        let node_names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        let by_id = |id| segments.iter().find(|segment| segment.id == id);
        match &spec.at {
            None => {
                let first = stream.and_then(|stream| stream.hops.first()).and_then(|hop| by_id(hop.segment));
                let carries = |segment: &&Segment<'_>| {
                    let facet = segment.parts.as_ref().map(|parts| &parts.facet);
                    !matches!(kind, ThreatKind::OnExchange(_))
                        || facet.is_some_and(|facet| segment.kind.key_exchange(facet).is_some())
                };
                let mut possible = segments.iter().filter(carries);
                let only = possible.next().filter(|_| possible.next().is_none());
                let Some(segment) = first.or(only.filter(|_| stream.is_none())) else {
                    if stream.is_none() {
                        self.report(
                            Code::MissingKey,
                            at!["threats", i],
                            format!("threat `{}` does not say on which segment it is", shortened(&spec.name)),
                            "`at` is missing",
                            "add `at = { segment = \"…\" }`",
                        );
                    }
                    return None;
                };
                Some((AttackPlace::OnSegment(segment.id), segment))
            }
            Some(PlaceSpec::Segment(name)) => {
                let names: Vec<&str> = segments.iter().map(|segment| segment.name).collect();
                let path = at!["threats", i, "at", "segment"];
                let segment = &segments[self.find(name, &names, path, "segment", "segments")?];
                Some((AttackPlace::OnSegment(segment.id), segment))
            }
            Some(PlaceSpec::Link(name)) => {
                let node = self.find(name, &node_names, at!["threats", i, "at", "link"], "node", "nodes")?;
                let id = NodeId(node as u16);
                // Where the node sends the stream, or else one of its segments, which the segment's kind then refuses.
                let sent = stream.and_then(|stream| stream.hops.iter().find(|hop| hop.from == id));
                let shared = || {
                    let hops = stream.into_iter().flat_map(|stream| &stream.hops);
                    hops.map(|hop| hop.segment).find(|segment| nodes[node].interfaces.contains(segment))
                };
                let segment =
                    sent.map(|hop| hop.segment).or_else(shared).or(nodes[node].interfaces.first().copied())?;
                by_id(segment).map(|segment| (AttackPlace::OnLink(segment.id, id), segment))
            }
            Some(PlaceSpec::Node(name)) => {
                let path = at!["threats", i, "at", "node"];
                let node = self.find(name, &node_names, path, "node", "nodes")?;
                match kind {
                    ThreatKind::OnClocks(_) => self.with_one_interface(i, &nodes[node]),
                    _ => self.in_gateway(i, spec, NodeId(node as u16), stream, nodes),
                }
                let segment = by_id(nodes[node].interfaces.first().copied()?)?;
                Some((AttackPlace::AtNode(NodeId(node as u16)), segment))
            }
        }
    }

    /// Whether an attacker in a node has the stream.
    fn in_gateway(
        &mut self,
        i: usize,
        spec: &ThreatSpec,
        node: NodeId,
        stream: Option<&StreamPlan>,
        nodes: &[NodePlan],
    ) {
        let path = at!["threats", i, "at", "node"];
        let name = &nodes[node.index()].name;
        if nodes[node.index()].gateway.is_none() {
            self.report(
                Code::ThreatPlace,
                path,
                format!("`{name}` is no gateway, and only what a gateway forwards is attacked in a node"),
                "is no gateway",
                format!("name a gateway, or write `at = {{ link = \"{name}\" }}`"),
            );
            return;
        }
        if stream.is_none() {
            self.report(
                Code::NotYet,
                at!["threats", i, "kind"],
                format!("threat `{}` aims at no stream, and attackers in gateways only work on streams yet", spec.name),
                "not there yet",
                "write `at = { segment = \"…\" }`",
            );
        }
    }

    /// Whether the stream comes by where the attacker sits.
    fn is_on_way(
        &mut self,
        i: usize,
        place: AttackPlace,
        stream: Option<&StreamPlan>,
        nodes: &[NodePlan],
        segments: &[Segment<'_>],
    ) -> bool {
        let Some(stream) = stream else { return true };
        let target = shortened(&stream.name);
        let (key, message, help) = match place {
            AttackPlace::OnSegment(on) if stream.hops.iter().all(|hop| hop.segment != on) => {
                let name = segments.iter().find(|segment| segment.id == on).map_or("", |segment| segment.name);
                ("segment", format!("stream `{target}` does not cross `{name}`"), "name a segment that it crosses")
            }
            AttackPlace::OnSegment(on) | AttackPlace::OnLink(on, _)
                if stream.hops.iter().any(|hop| hop.segment == on && hop.container().is_some()) =>
            {
                let name = segments.iter().find(|segment| segment.id == on).map_or("", |segment| segment.name);
                let key = if matches!(place, AttackPlace::OnSegment(_)) { "segment" } else { "link" };
                let message = format!("on `{name}` stream `{target}` has no frame of its own: a gateway collects it");
                (key, message, "attack it in the gateway, `at = { node = \"…\" }`, or on another segment")
            }
            AttackPlace::AtNode(node)
                if nodes[node.index()].gateway.is_some()
                    && !stream.hops.iter().any(|hop| hop.from == node && hop.previous.is_some()) =>
            {
                let name = &nodes[node.index()].name;
                ("node", format!("stream `{target}` does not pass `{name}`"), "name a gateway that it passes")
            }
            _ => return true,
        };
        self.report_both(
            Code::ThreatPlace,
            (at!["threats", i, "at", key], "not on its way"),
            (at!["threats", i, "stream"], "attacked"),
            message,
            help,
        );
        false
    }

    /// What the kind of the segment makes of the attack; an attacker in a gateway is alike on all kinds.
    #[allow(clippy::too_many_arguments, reason = "everything an attack refers to")]
    fn threat(
        &mut self,
        i: usize,
        spec: &ThreatSpec,
        kind: ThreatKind,
        place: AttackPlace,
        segment: &Segment<'_>,
        stream: Option<&StreamPlan>,
        (nodes, protections): (&[NodePlan], &[ProtectionPlan]),
    ) -> Option<ThreatParts> {
        if let AttackPlace::AtNode(node) = place
            && !matches!(kind, ThreatKind::OnClocks(_))
        {
            if matches!(kind, ThreatKind::Babble(_) | ThreatKind::Flood(_) | ThreatKind::Delay(..)) {
                self.report(
                    Code::ThreatPlace,
                    at!["threats", i, "kind"],
                    format!("threat `{}` is one on the wires of an Ethernet segment, not in a gateway", shortened(&spec.name)),
                    "not possible there",
                    "write `at = { link = \"…\" }`, or `kind = \"spoof\"`, `\"tamper\"`, `\"replay\"` or `\"withhold\"`",
                );
                return None;
            }
            let attacker = format!("attacker-in-{}", nodes[node.index()].name);
            return Some(ThreatParts { attacker, at_slot_offset: Duration::ZERO, every: None, facet: None });
        }
        let table = Table::new(spec.segments.get(segment.name), Place::new("threats").entry(i).key(segment.name));
        let request =
            ThreatRequest { entry: i, name: &spec.name, kind, place, segment, table, stream, protections, nodes };
        segment.kind.resolve_threat(&request, self)
    }

    /// Refuses tables of segments that the attacker is not on.
    fn unneeded_tables(
        &mut self,
        i: usize,
        spec: &ThreatSpec,
        place: AttackPlace,
        on: &Segment<'_>,
        segments: &[Segment<'_>],
    ) {
        for segment in segments.iter().filter(|segment| spec.segments.contains_key(segment.name)) {
            if segment.id != on.id || matches!(place, AttackPlace::AtNode(_)) {
                self.report(
                    Code::SegmentTable,
                    at!["threats", i, segment.name],
                    format!("the attacker of threat `{}` is not on `{}`", shortened(&spec.name), segment.name),
                    "not its segment",
                    "leave the table out",
                );
            }
        }
    }

    /// Refuses two attacks that can take the same frame on a link.
    fn in_the_same_hands(&mut self, (i, spec): (usize, &ThreatSpec), other: usize) {
        let name = shortened(&self.spec.threats[other].name);
        self.report_both(
            Code::ThreatPlace,
            (at!["threats", i, "at"], "the same link, at the same time"),
            (at!["threats", other, "at"], "an attack on frames of that stream"),
            format!("threats `{name}` and `{}` would take the same frames on one link", shortened(&spec.name)),
            "let one of them end before the other starts, or put it at another place",
        );
    }

    /// Start and distance of the attempts.
    fn attempts(
        &mut self,
        i: usize,
        spec: &ThreatSpec,
        stream: Option<&StreamPlan>,
        usual: Option<Duration>,
        duration: Duration,
    ) -> (Duration, Duration) {
        let path = at!["threats", i, "start"];
        let start = self.within(path, "the start", spec.start.0, Duration::ZERO, DURATION_MAX);
        let every = match spec.every {
            None => usual.or(stream.map(|stream| stream.period)).unwrap_or(EVERY_DEFAULT),
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
        }
        (start, every)
    }

    /// Refuses more attempts than lie within the run.
    fn all_within(
        &mut self,
        i: usize,
        spec: &ThreatSpec,
        (start, every, count): (Duration, Duration, u32),
        duration: Duration,
    ) {
        if start >= duration {
            return;
        }
        let fits = (duration - start - Duration::from_ps(1)).div_floor(every) + 1;
        if i64::from(count) > fits {
            self.report_both(
                Code::ThreatTooLate,
                (at!["threats", i, "count"], "too many"),
                (at!["duration"], "the run ends here"),
                format!("{count} attempts of threat `{}` do not fit the run", shortened(&spec.name)),
                format!("{fits} fit: write `count = {fits}`, or a longer duration"),
            );
        }
    }
}

/// True if two threats of one attacker take frames of one stream that pass it, at the same time.
fn meet(one: &ThreatPlan, other: &ThreatPlan) -> bool {
    let takes = |threat: &ThreatPlan| {
        use ThreatKind::{Delay, Replay, Spoof, Tamper, Withhold};
        matches!(threat.kind, Spoof(_) | Tamper(_) | Replay(_) | Withhold(_) | Delay(..))
    };
    let is_alike = match (one.kind.target(), other.kind.target()) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    };
    let end = |threat: &ThreatPlan| threat.start + threat.every * i64::from(threat.count);
    let is_at_once = one.start < end(other) && other.start < end(one);
    one.attacker == other.attacker && takes(one) && takes(other) && is_alike && is_at_once
}
