//! The description of a run, from its plan.

use chronoseal_analysis::candidates::guessed_bits;
use chronoseal_analysis::segment::{EndBound, Missing, end_to_end};
use chronoseal_catalog::{Describe, OwnProtection, Prepared};
use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_plan::{
    AttackPlace, ChangeKind, HopPlan, NodeKind, PayloadPlan, Plan, ProtectionPlan, SYNCHRONISATION, StreamPlan,
    ThreatPlan, Trigger,
};
use chronoseal_results::meta::{
    BoundMeta, EndMeta, Fact, FileMeta, NodeMeta, NodeRole, StreamMeta, ThreatMeta, ThreatenedMeta, TriggerMeta,
};
use chronoseal_results::{Allowance, ChangeMeta, Engine, GroupMeta, RunMeta};
use sha2::{Digest, Sha256};

use crate::facts;

/// Describes a run before it begins.
pub fn describe(prepared: &Prepared<'_>, engine: Engine) -> RunMeta {
    let plan = prepared.plan();
    RunMeta {
        description: plan.description.clone(),
        warnings: plan.notes.clone(),
        scenario_hash: plan.scenario_hash.clone(),
        text_hash: plan.inputs.text_hash.clone(),
        overrides: plan.inputs.overrides.iter().map(without_keys).collect(),
        files: (plan.inputs.files.iter())
            .map(|file| FileMeta { name: file.name.clone(), len: file.len, hash: file.hash.clone() })
            .collect(),
        duration_ns: plan.duration.as_ns(),
        versions: versions(),
        commit: commit().into(),
        nodes: nodes(plan),
        streams: streams(prepared),
        segments: plan.segment_ids().map(|segment| facts::segment(prepared, segment)).collect(),
        group: plan.group_key.as_ref().map(|group| GroupMeta {
            orchestrator: group.orchestrator.0,
            members: group.members.iter().map(|node| node.0).collect(),
            suite: group.suite.name().into(),
            scheme: group.scheme.name().into(),
            profile: group.profile.name().into(),
            start_ns: group.start.as_ns(),
            changes: (group.changes.iter())
                .map(|change| ChangeMeta {
                    at_ns: change.at.as_ns(),
                    member: change.members.first().map_or(0, |member| member.0),
                    others: change.members.iter().skip(1).map(|member| member.0).collect(),
                    admits: change.admits(),
                    revokes: change.kind == ChangeKind::Revoke,
                    merges: change.kind == ChangeKind::Merge,
                })
                .collect(),
        }),
        threats: threats(prepared),
        ..RunMeta::new(plan.name.clone(), engine, plan.seed)
    }
}

/// The commit that this program was built from; empty if unknown.
pub const fn commit() -> &'static str {
    env!("CHRONOSEAL_COMMIT")
}

/// Of this program and its compiler.
pub fn versions() -> Vec<Fact> {
    vec![
        ("chronoseal".into(), env!("CARGO_PKG_VERSION").into()),
        ("compiler".into(), env!("CHRONOSEAL_RUSTC").into()),
        ("profile".into(), env!("CHRONOSEAL_PROFILE").into()),
    ]
}

/// An override as a manifest may hold it: where it may hold a key, the value is left out, and the beginning of its SHA-256 tells it from
/// others.
fn without_keys((path, value): &Fact) -> Fact {
    let may_hold_a_key = [path, value].iter().any(|text| text.to_ascii_lowercase().contains("key"));
    if !may_hold_a_key {
        return (path.clone(), value.clone());
    }
    let digest = Sha256::digest(value.as_bytes());
    let beginning: String = digest.iter().take(4).map(|octet| format!("{octet:02x}")).collect();
    (path.clone(), format!("not shown, since it may hold a key (SHA-256 begins {beginning})"))
}

fn threats(prepared: &Prepared<'_>) -> Vec<ThreatMeta> {
    let plan = prepared.plan();
    let protection = |threat: &ThreatPlan| {
        let stream = &plan.streams[threat.kind.target()?.index()];
        let segment = plan.attackers[usize::from(threat.attacker)].place.segment()?;
        let hop = stream.hops.iter().find(|hop| hop.segment == segment)?;
        let (own, protection) = (prepared.kind(segment).own_protection(plan, hop), plan.protection_on(stream, hop));
        let is_checked = own.as_ref().map(|own| matches!(own, OwnProtection::Checked(_)));
        let is_synchronisation = hop.class == SYNCHRONISATION;
        Some(ThreatenedMeta {
            authenticated: is_checked.unwrap_or(is_synchronisation || protection.is_authenticated()),
            replayable: own.is_none() && !is_synchronisation && protection.is_replayable(),
            guessed_bits: guessed_bits(protection).filter(|_| own.is_none() && !is_synchronisation),
            by_segment: is_checked == Some(true),
        })
    };
    let of = |threat: &ThreatPlan| ThreatMeta {
        attack: threat.kind.name().to_owned(),
        attacker: match plan.attackers[usize::from(threat.attacker)].place {
            AttackPlace::AtNode(node) => node.0,
            AttackPlace::OnSegment(_) | AttackPlace::OnLink(..) => plan.attacker_id(threat.attacker).0,
        },
        stream: threat.kind.target().map(|stream| stream.0),
        protection: protection(threat),
    };
    plan.threats.iter().map(of).collect()
}

fn nodes(plan: &Plan) -> Vec<NodeMeta> {
    let role = |kind| match kind {
        NodeKind::Station => NodeRole::Station,
        NodeKind::Attacker => NodeRole::Attacker,
        NodeKind::Own(_) => NodeRole::Switch,
    };
    let on_link_of = |id: u16| match plan.attacker(NodeId(id))?.place {
        AttackPlace::OnLink(_, victim) => Some(victim.0),
        AttackPlace::OnSegment(_) | AttackPlace::AtNode(_) => None,
    };
    let node = |(id, (kind, name)): (u16, (NodeKind, &str))| NodeMeta {
        name: name.into(),
        role: role(kind),
        on_link_of: on_link_of(id),
    };
    (0..).zip(plan.all_nodes()).map(node).collect()
}

fn streams(prepared: &Prepared<'_>) -> Vec<StreamMeta> {
    let plan = prepared.plan();
    let describers = prepared.describers();
    let is_judged = |index: usize, stream: &StreamPlan| {
        let mut hops = stream.hops.iter();
        stream.receivers.iter().any(|receiver| stream.deadline_of(*receiver).is_some())
            || hops.any(|hop| describers[hop.segment.index()].is_judged(StreamId(index as u16)))
    };
    let mut streams: Vec<StreamMeta> = (plan.streams.iter().enumerate())
        .map(|(index, stream)| stream_meta(prepared, &describers, StreamId(index as u16), is_judged(index, stream)))
        .collect();
    let tables: Vec<_> = plan.segment_ids().map(|segment| prepared.schedule(segment).cloned()).collect();
    for bounds in end_to_end(plan, &tables, prepared.kinds().bounds()) {
        let stream = &mut streams[bounds.stream.index()];
        for end in &bounds.ends {
            if let Some(known) = stream.ends.iter_mut().find(|known| known.receiver == end.receiver.0) {
                match end.latency {
                    Ok(_) => known.bound = Some(bound(plan, &plan.streams[bounds.stream.index()], end)),
                    Err(missing) => known.unbounded = Some(missing.why.text(plan)),
                }
            }
        }
        match longest(&bounds.ends) {
            Ok(end) => stream.bound = end.map(|end| bound(plan, &plan.streams[bounds.stream.index()], end)),
            Err(missing) => stream.unbounded = Some(missing.why.text(plan)),
        }
    }
    streams
}

/// The receiver that a stream takes the longest to; if one has no bound, why.
fn longest(ends: &[EndBound]) -> Result<Option<&EndBound>, Missing> {
    if let Some(missing) = ends.iter().find_map(|end| end.latency.err()) {
        return Err(missing);
    }
    Ok(ends.iter().max_by_key(|end| end.latency.map_or(Duration::ZERO, |latency| latency.max)))
}

/// A bound, divided by place where gateways carry the stream on.
fn bound(plan: &Plan, stream: &StreamPlan, end: &EndBound) -> BoundMeta {
    let parts = end.parts.iter().filter(|part| stream.is_relayed() && part.max > Duration::ZERO);
    BoundMeta {
        total_ns: end.latency.map_or(0, |latency| latency.max.as_ns()),
        parts: parts.map(|part| (part.place.name(plan).to_owned(), part.max.as_ns())).collect(),
    }
}

fn stream_meta(prepared: &Prepared<'_>, describers: &[Box<dyn Describe>], id: StreamId, is_judged: bool) -> StreamMeta {
    let plan = prepared.plan();
    let stream = &plan.streams[id.index()];
    // What a segment does for all its frames by itself goes before what its stream says.
    let own = |hop: &HopPlan| prepared.kind(hop.segment).own_protection(plan, hop);
    let on_hops: Vec<(Option<OwnProtection>, &ProtectionPlan)> =
        stream.hops.iter().map(|hop| (own(hop), plan.protection_on(stream, hop))).collect();
    let first = stream.hops.first();
    let deadlines = stream.receivers.iter().filter_map(|receiver| stream.deadline_of(*receiver));
    // A PDU in a frame with others comes as often as that frame.
    let is_replicated = |hop: &HopPlan| describers[hop.segment.index()].is_replicated(hop.container().unwrap_or(id));
    // The message that tells freshness is sealed in a way of its own.
    let is_synchronisation = first.is_some_and(|hop| hop.class == SYNCHRONISATION);
    StreamMeta {
        name: stream.name.clone(),
        sender: stream.sender.0,
        senders: stream.sent_by.map(|segment| {
            let brought = &plan.segments[segment.index()].brought;
            (brought.start, brought.end)
        }),
        receivers: stream.receivers.iter().map(|node| node.0).collect(),
        segments: stream.hops.iter().map(|hop| hop.segment.0).collect(),
        is_judged,
        is_numbered: stream.is_relayed() || !stream.hops.iter().any(|hop| describers[hop.segment.index()].is_shared()),
        is_due_each_period: is_due_each_period(prepared, id),
        is_replicated: stream.hops.iter().any(is_replicated),
        is_lossy: stream.hops.iter().any(|hop| describers[hop.segment.index()].loses_frames()),
        counters: counters(plan, stream),
        allowances: allowances(plan, id),
        class: first.map(|hop| hop.class).unwrap_or_default().into(),
        trigger: stream.trigger.map(|trigger| match trigger {
            Trigger::Answers(asked) => TriggerMeta::Answers { stream: asked.0 },
            Trigger::ClosedLoop { answer, timeout } => {
                TriggerMeta::ClosedLoop { answer: answer.0, timeout_ns: timeout.as_ns() }
            }
        }),
        period_ns: stream.period.as_ns(),
        frame_len: first.map_or(0, |hop| hop.frame_len),
        secured_len: first.map_or(0, |hop| plan.secured_len(stream, hop)),
        protection: match &on_hops[..] {
            [(Some(own), _)] => own.name().into(),
            _ if is_synchronisation => "secoc-sync".into(),
            _ => protection_name(plan, stream, |hop| own(hop).map(OwnProtection::name)),
        },
        // A way is as strong as its weakest hop.
        replayable: !is_synchronisation && on_hops.iter().any(|(own, stream)| own.is_none() && stream.is_replayable()),
        authenticated: is_synchronisation
            || on_hops.iter().all(|(own, stream)| match own {
                Some(own) => matches!(own, OwnProtection::Checked(_)),
                None => stream.is_authenticated(),
            }),
        is_opened_on_way: stream.is_relayed() && stream.hops.iter().any(|hop| hop.protection.is_some()),
        ends: (stream.receivers.iter())
            .map(|receiver| EndMeta {
                receiver: receiver.0,
                deadline_ns: stream.deadline_of(*receiver).map(Duration::as_ns),
                bound: None,
                unbounded: None,
            })
            .collect(),
        deadline_ns: deadlines.min().map(|deadline| deadline.as_ns()),
        bound: None,
        unbounded: None,
    }
}

/// The stream that tells the counters which frames of another are checked with, if they are, from the start of the run on. Under
/// a group key each new key begins anew, and what is lost then is lost.
fn counters(plan: &Plan, stream: &StreamPlan) -> Option<u16> {
    let freshness = plan.freshness.as_ref().filter(|freshness| !freshness.under_group_key)?;
    let mut protections = stream.hops.iter().map(|hop| plan.protection_on(stream, hop));
    protections.any(ProtectionPlan::needs_master).then_some(freshness.stream.0)
}

/// True if its sender has a slot for it in each period and fills every one of them.
fn is_due_each_period(prepared: &Prepared<'_>, id: StreamId) -> bool {
    let stream = &prepared.plan().streams[id.index()];
    let has_data = stream.application.is_none() && stream.min_distance.is_none();
    let is_own = stream.sent_by.is_none() && !matches!(stream.payload, PayloadPlan::Collected(_));
    let table = stream.hops.first().and_then(|hop| prepared.schedule(hop.segment));
    has_data && is_own && table.is_some_and(|table| table.slots.iter().any(|slot| slot.stream == id))
}

/// The losses of a stream that the scenario allows.
fn allowances(plan: &Plan, id: StreamId) -> Vec<Allowance> {
    let own = plan.allowances.iter().filter(|allowance| allowance.stream == id);
    own.map(|allowance| Allowance { reason: allowance.reason.clone(), copies: u64::from(allowance.frames) }).collect()
}

/// How a stream is protected: by name from end to end, or by the names on its segments, some of which protect their frames
/// by themselves.
fn protection_name(plan: &Plan, stream: &StreamPlan, own: impl Fn(&HopPlan) -> Option<&'static str>) -> String {
    if stream.hops.iter().all(|hop| hop.protection.is_none() && own(hop).is_none()) {
        return plan.protection_of(stream).name.clone();
    }
    let on_segment = |hop: &HopPlan| {
        let segment = &plan.segments[hop.segment.index()].name;
        format!("{} on {segment}", own(hop).unwrap_or(&plan.protection_on(stream, hop).name))
    };
    stream.hops.iter().map(on_segment).collect::<Vec<_>>().join(", ")
}
