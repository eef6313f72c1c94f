//! Streams: who sends what to whom, over which segments, how often, how long, how protected.

mod answers;
mod application;
mod deadlines;
mod ends;
mod protection;
mod room;

use std::collections::BTreeMap;

use chronoseal_core::Duration;
use chronoseal_plan::{
    DeadlineKind, HopPlan, NodePlan, PayloadPlan, ProtectionId, ProtectionPlan, Recording, StreamPlan,
};

use crate::kinds::{Context, HopParts, HopRequest, OnSegment, OwnMessage, Place, Rules, Segment, StreamRequest, Table};
use crate::limits::*;
use crate::problem::Code;
use crate::shape::shortened;
use crate::source::at;
use crate::spec::{DeadlineKindSpec, PayloadSpec, StreamSpec};
use ends::{Ends, Route};
use protection::Shield;
pub(super) use protection::place as protection_place;

/// The streams, and of which entry of the scenario each is.
#[derive(Default)]
pub(super) struct Streams {
    pub(super) plans: Vec<StreamPlan>,
    pub(super) entries: Vec<usize>,
    /// Whether the way of each is the one that was meant, and not one that stands in.
    pub(super) are_on_their_way: Vec<bool>,
}

/// What streams refer to.
struct World<'a> {
    nodes: &'a [NodePlan],
    segments: &'a [Segment<'a>],
    protections: &'a [ProtectionPlan],
    recordings: &'a [Recording],
    /// Which recording each entry of the scenario is.
    recording_of: &'a [Option<usize>],
}

/// One step of a stream's way with what its kind made of it.
struct Hop {
    /// Which step of the way it is: steps that could not be resolved are left out.
    index: usize,
    step: super::ways::Step,
    parts: HopParts,
    /// How it is protected there.
    protection: ProtectionId,
    /// True if it is protected there alone.
    is_alone: bool,
}

impl<'s> Context<'s> {
    /// The streams of the scenario, those of `count` one by one.
    pub(super) fn streams(
        &mut self,
        nodes: &[NodePlan],
        segments: &[Segment<'s>],
        protections: &[ProtectionPlan],
        recordings: &[Recording],
        recording_of: &[Option<usize>],
        duration: Duration,
    ) -> Streams {
        let world = World { nodes, segments, protections, recordings, recording_of };
        let counts = self.counts();
        let mut streams = Streams::default();
        let mut first: BTreeMap<String, usize> = BTreeMap::new();
        for (i, spec) in self.spec.streams.iter().enumerate() {
            let (template, hops, is_on_its_way) = self.stream(i, spec, &world);
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
                    break;
                }
                first.insert(name.clone(), i);
                let mut stream = StreamPlan { name, ..template.clone() };
                if stream.offset.is_none() && hops.first().is_some_and(|hop| !hop.parts.has_slots) {
                    stream.offset = Some(self.any_phase(streams.plans.len(), stream.period));
                }
                if let Some(application) = &mut stream.application {
                    let phase = spec.application.and_then(|spec| spec.phase);
                    application.phase =
                        phase.map_or_else(|| self.any_phase(streams.plans.len(), application.period), |phase| phase.0);
                }
                stream.hops = hops.iter().map(hop_plan).collect();
                streams.plans.push(stream);
                streams.entries.push(i);
                streams.are_on_their_way.push(is_on_its_way);
            }
        }
        self.triggers(&mut streams, &world);
        self.check_together(&world, &counts, &mut streams);
        self.load_limit(&streams.plans, duration);
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

    /// One stream of an entry, its name still to be filled in, its way, and whether that is the one that was meant.
    fn stream(&mut self, i: usize, spec: &'s StreamSpec, world: &World<'_>) -> (StreamPlan, Vec<Hop>, bool) {
        self.title(&spec.name, at!["streams", i, "name"], "the stream's name");
        let ends = self.ends(i, spec, world);
        let route = self.way(i, spec, &ends, world);
        let on_way = route.steps.iter().filter_map(|step| world.segments.get(step.segment.index()));
        let rules: Vec<Rules> = on_way.map(|on| on.kind.rules()).collect();
        let period_max = rules.iter().map(|rules| rules.period_max).min().unwrap_or(DURATION_MAX);
        let own = self.own_message(i, spec, &route, world);
        let (period, min_distance) = match own.and_then(|own| own.distance) {
            Some(distance) => {
                self.written_in_vain(i, spec.period.is_some().then_some("period"));
                self.written_in_vain(i, spec.on_change.is_some().then_some("on_change"));
                (distance, Some(distance))
            }
            None if spec.answers.is_some() => (self.period_of_answer(i, spec), None),
            None => {
                let (period, distance) = self.period(i, spec, period_max);
                // A message of its own comes when there is something to say.
                (period, distance.or(own.map(|_| period)))
            }
        };
        let offset = spec.offset.map(|offset| {
            let latest = period - Duration::from_ps(1);
            self.within(at!["streams", i, "offset"], "the offset", offset.0, Duration::ZERO, latest)
        });
        let is_on_its_way = route.is_known;
        let shield = self.shield(i, spec, &route, world);
        let payload_len = self.payload_len(i, spec, own);
        let request = StreamRequest {
            entry: i,
            spec,
            period,
            payload_len,
            protection: &world.protections[usize::from(shield.end_to_end.0)],
        };
        let hops = self.hops(&request, route, &ends, &shield, world);
        let application = self.application(&request, &hops);
        self.names_under_tags(&request, &hops, world);
        let room = self.room(&request, &hops, world);
        let deadlines = self.deadlines(&request, &ends.receivers, &hops, period_max, world);
        let header_len = match hops.len() {
            1 => rules.first().map_or(BENCH_HEADER_LEN, |rules| rules.payload_header_len),
            _ => SEQUENCE_LEN,
        };
        let changes = hops.len() == 1 && rules.iter().all(|rules| rules.payload_changes);
        let deadline_is_period = rules.first().is_some_and(|rules| rules.deadline_is_period);
        let deadline = match &deadlines.all {
            None if deadline_is_period => Some(period),
            written => *written,
        };
        let stream = StreamPlan {
            name: String::new(),
            sender: ends.sender,
            sent_by: ends.sent_by,
            receivers: ends.receivers,
            period,
            offset,
            has_offset: offset.is_some(),
            application,
            min_distance,
            trigger: None,
            deadline,
            deadlines: deadlines.each,
            deadline_kind: match spec.deadline_kind {
                DeadlineKindSpec::Reaction => DeadlineKind::Reaction,
                DeadlineKindSpec::Age => DeadlineKind::Age,
            },
            length: room,
            payload: self.payload(i, spec, [payload_len, room, header_len], changes, world),
            protection: shield.end_to_end,
            hops: Vec::new(),
        };
        (stream, hops, is_on_its_way)
    }

    /// What the stream is by itself, if it begins on a segment whose kind knows.
    fn own_message(&mut self, i: usize, spec: &StreamSpec, route: &Route, world: &World<'_>) -> Option<OwnMessage> {
        let segment = world.segments.get(route.steps.first()?.segment.index())?;
        let place = Place::new("streams").entry(i).key(segment.name);
        segment.kind.own_message(segment, &Table::new(spec.segments.get(segment.name), place), self)
    }

    /// Refuses a key of a stream whose kind of message says what stands there.
    fn written_in_vain(&mut self, i: usize, key: Option<&str>) {
        let Some(key) = key else { return };
        self.report(
            Code::SegmentTable,
            at!["streams", i, key],
            format!("`{key}` of stream `{}` follows from the message it sends", shortened(&self.spec.streams[i].name)),
            "not chosen here",
            "leave it out",
        );
    }

    /// What a stream carries before protection `[byte]`.
    fn payload_len(&mut self, i: usize, spec: &StreamSpec, own: Option<OwnMessage>) -> u32 {
        // An answer is as long as what it answers.
        let asked = self.asked(spec).and_then(|(_, asked)| asked.length.as_ref());
        match (own, spec.length.as_ref().or(asked)) {
            (Some(own), written) => {
                self.written_in_vain(i, written.is_some().then_some("length"));
                own.payload_len
            }
            (None, Some(length)) => u32::try_from(length.0.0).unwrap_or(u32::MAX / 2).min(u32::MAX / 2),
            (None, None) => {
                self.report(
                    Code::MissingKey,
                    at!["streams", i],
                    format!("stream `{}` has no `length`", shortened(&spec.name)),
                    "`length` is missing",
                    "add `length = \"60B\"`",
                );
                BENCH_HEADER_LEN
            }
        }
    }

    /// Distance of two frames, and whether it is only the least there can be.
    fn period(&mut self, i: usize, spec: &StreamSpec, max: Duration) -> (Duration, Option<Duration>) {
        match (&spec.period, &spec.on_change) {
            (Some(period), None) => {
                (self.within(at!["streams", i, "period"], "the period", period.0, PERIOD_MIN, max), None)
            }
            (None, Some(on_change)) => {
                let path = at!["streams", i, "on_change", "min_distance"];
                let distance = self.within(path, "the least distance", on_change.min_distance.0, PERIOD_MIN, max);
                (distance, Some(distance))
            }
            (Some(_), Some(_)) => {
                self.report_both(
                    Code::ChooseOne,
                    (at!["streams", i, "on_change"], "when it changes"),
                    (at!["streams", i, "period"], "with a period"),
                    format!("stream `{}` is sent in two ways", shortened(&spec.name)),
                    "keep one of them",
                );
                (max, None)
            }
            (None, None) => {
                self.report(
                    Code::MissingKey,
                    at!["streams", i],
                    format!("stream `{}` has no `period`", shortened(&spec.name)),
                    "`period` is missing",
                    "add `period = \"10ms\"`, or `on_change = { min_distance = \"10ms\" }`",
                );
                (max, None)
            }
        }
    }

    /// What the kinds make of each step of the way, and what of the stream's tables belongs to none.
    fn hops(
        &mut self,
        stream: &StreamRequest<'_>,
        route: Route,
        ends: &Ends,
        shield: &Shield,
        world: &World<'_>,
    ) -> Vec<Hop> {
        let mut hops = Vec::new();
        let crossed: Vec<usize> = route.steps.iter().map(|step| step.segment.index()).collect();
        let is_relayed = crossed.len() > 1;
        let passes = !is_relayed || self.passes_gateways(stream, &route, world);
        for (index, step) in route.steps.into_iter().enumerate() {
            let Some(segment) = world.segments.get(step.segment.index()) else { continue };
            let written = stream.spec.segments.get(segment.name);
            let collect = self.collected_by(&stream.spec.name, step.from, segment.name).filter(|_| index > 0);
            if written.is_none() && segment.needs_table && collect.is_none() {
                self.missing_table(stream, segment);
                continue;
            }
            let place = Place::new("streams").entry(stream.entry).key(segment.name);
            let alone = shield.on(step.segment);
            let protection = alone.unwrap_or(shield.end_to_end);
            let is_end = step.from == ends.sender || step.to.iter().any(|node| ends.receivers.contains(node));
            let request = HopRequest {
                segment,
                table: Table::new(written, place),
                stream,
                is_first: index == 0,
                is_relayed,
                collected_every: None,
                protection: &world.protections[usize::from(protection.0)],
                protection_at: protection::place(stream, segment.name),
                is_sealed_here: alone.is_some() || is_end && passes,
            };
            let parts = match collect {
                Some(collect) => Some(self.contained(&request, collect)),
                None => segment.kind.resolve_hop(&request, self),
            };
            hops.extend(parts.map(|parts| Hop { index, step, parts, protection, is_alone: alone.is_some() }));
        }
        // Without a way nothing can be said of what does not lie on it.
        for (k, segment) in world.segments.iter().enumerate() {
            if stream.spec.segments.contains_key(segment.name) && route.is_known && !crossed.contains(&k) {
                self.report(
                    Code::SegmentTable,
                    &stream.at(segment.name),
                    format!("stream `{}` does not cross `{}`", shortened(&stream.spec.name), segment.name),
                    "not on its way",
                    "leave the table out",
                );
            }
        }
        hops
    }

    fn missing_table(&mut self, stream: &StreamRequest<'_>, segment: &Segment<'_>) {
        let example = crate::schema::Schema::of(self.kinds).stream_table_example(segment.kind.name());
        self.report(
            Code::MissingKey,
            at!["streams", stream.entry],
            format!(
                "stream `{}` crosses `{}`, a segment of kind `{}`, and says nothing of it",
                shortened(&stream.spec.name),
                segment.name,
                segment.kind.name()
            ),
            &format!("`{}` is missing", segment.name),
            format!("add `{} = {example}`", segment.name),
        );
    }

    /// What is in a payload of `room` bytes, of which the first `header_len` are the bench's own.
    fn payload(
        &mut self,
        i: usize,
        spec: &StreamSpec,
        [payload_len, room, header_len]: [u32; 3],
        changes: bool,
        world: &World<'_>,
    ) -> PayloadPlan {
        let name = match &spec.payload {
            PayloadSpec::Synthetic => return PayloadPlan::Synthetic,
            PayloadSpec::Sequential => return self.changing_payload(i, spec, changes, PayloadPlan::Sequential),
            PayloadSpec::Random => return self.changing_payload(i, spec, changes, PayloadPlan::Random),
            PayloadSpec::Recording(name) => name,
        };
        let names: Vec<&str> = self.spec.recordings.iter().map(|recording| recording.name.as_str()).collect();
        let path = at!["streams", i, "payload", "recording"];
        let Some(entry) = self.find(name, &names, path, "recording", "recordings") else {
            return PayloadPlan::Synthetic;
        };
        let Some(found) = world.recording_of.get(entry).copied().flatten() else {
            self.report(
                Code::ChooseOne,
                path,
                format!("`{name}` is traffic of a segment, which is replayed by a node"),
                "no payload",
                "name a recording of `signal` or `frames`",
            );
            return PayloadPlan::Synthetic;
        };
        let longest = world.recordings[found].samples.iter().map(|sample| sample.bytes.len()).max().unwrap_or(0);
        let room = room.saturating_sub(header_len) as usize;
        if longest > room {
            self.report_both(
                Code::RecordingTooLong,
                (path, "does not fit"),
                (at!["streams", i, "length"], "this payload"),
                format!("a sample of `{name}` has {longest} bytes; a payload of {payload_len}B has room for {room}"),
                format!("write `length = \"{}B\"`", longest as u32 + header_len),
            );
        }
        PayloadPlan::Recorded { recording: found as u16 }
    }

    /// A payload that is another one in every message, where stations make such.
    fn changing_payload(&mut self, i: usize, spec: &StreamSpec, changes: bool, payload: PayloadPlan) -> PayloadPlan {
        if !changes {
            self.report(
                Code::NotYet,
                at!["streams", i, "payload"],
                format!(
                    "stream `{}` is not on a lossy link alone, and elsewhere every message carries the same bytes",
                    shortened(&spec.name)
                ),
                "on a segment of kind `link` only",
                "write `payload = \"synthetic\"`, or leave it out",
            );
        }
        payload
    }

    /// Lets each kind look at all streams of a segment together.
    fn check_together(&mut self, world: &World<'_>, counts: &[u32], streams: &mut Streams) {
        for segment in world.segments {
            let mut number = 0;
            let mut last = None;
            let mut on_it = Vec::new();
            for (plan, &entry) in streams.plans.iter_mut().zip(&streams.entries) {
                number = if last == Some(entry) { number + 1 } else { 0 };
                last = Some(entry);
                let StreamPlan { name, period, protection, hops, .. } = plan;
                // What travels in frames with others' has no frame there.
                let on_segment = |hop: &&mut HopPlan| hop.segment == segment.id && hop.container().is_none();
                if let Some(hop) = hops.iter_mut().find(on_segment) {
                    let protection = &world.protections[usize::from(hop.protection.unwrap_or(*protection).0)];
                    let count = counts[entry];
                    on_it.push(OnSegment { entry, number, count, name, period: *period, protection, hop });
                }
            }
            segment.kind.check_streams(segment, &mut on_it, self);
        }
    }

    /// Refuses a run too large to be meant. Nothing here can overflow: every factor has its limit.
    fn load_limit(&mut self, streams: &[StreamPlan], duration: Duration) {
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

fn hop_plan(hop: &Hop) -> HopPlan {
    HopPlan {
        segment: hop.step.segment,
        from: hop.step.from,
        to: hop.step.to.clone(),
        frame_len: hop.parts.frame_len,
        class: hop.parts.class,
        facet: hop.parts.facet.clone(),
        previous: hop.step.previous,
        protection: hop.is_alone.then_some(hop.protection),
    }
}
