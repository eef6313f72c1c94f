//! The document of `chronoseal check` for a CAN bus.

use std::collections::BTreeMap;

use chronoseal_analysis::can::{Bus, Message, response_times};
use chronoseal_analysis::group_key::{BusCosts, PartyCosts, exchange, group, orchestration};
use chronoseal_catalog::can::median_distances;
use chronoseal_core::Duration;
use chronoseal_crypto::suite::{Suite, SuiteVisitor};
use chronoseal_crypto::symmetric::Aes128Ctr;
use chronoseal_groupkey::frame_count::{confirmation_len, exchanges, frames_of, frames_of_group, orchestration_len};
use chronoseal_groupkey::{Profile, Transport};
use chronoseal_report::{Block, Cell, Document, Evidence, Held, Mark, Section, Table, Verdict};
use chronoseal_runner::versions;
use chronoseal_scenario::plan::{CanPlan, CanProtectionKind, GroupKeyPlan, PlatformPlan};
use chronoseal_wire::can::{CanId, Dlc, FrameKind};

/// What a bus does to the messages of a plan, and what its group key takes, by analysis alone.
pub fn can_check_document(plan: &CanPlan) -> Document {
    let responses = Responses::of(plan);
    let mut sections = Vec::new();
    if !plan.messages.is_empty() {
        sections.push(
            Section::new("Messages")
                .with(Block::Text(
                    "Worst-case response times on a bus without errors, every stuff bit counted (Davis, Burns, Bril, \
                     Lukkien 2007). Replayed recordings count as messages with the median distance of each \
                     identifier: an assumption about the recording, not a property of it. Frames of a key exchange \
                     count as one blocking frame; while keys are exchanged, simulate."
                        .into(),
                ))
                .with(Block::Table(responses.table(plan))),
        );
    }
    if let Some(group) = &plan.group_key {
        sections.push(key_section(plan, group));
    }
    let held = if responses.misses == 0 { Held::Yes } else { Held::No };
    let text = match (plan.messages.is_empty(), responses.misses) {
        (true, _) => "There is no message to bound.".to_owned(),
        (_, 0) => "Every message meets its deadline in the worst case.".to_owned(),
        (_, misses) => format!("{misses} of {} messages can miss their deadline.", plan.messages.len()),
    };
    Document {
        title: format!("{}: check", plan.name),
        subtitle: plan.description.clone(),
        verdict: Verdict { held, text, points: plan.notes.clone() },
        sections,
        environment: versions(),
    }
}

/// Bounds of every message, as written and without its protection.
struct Responses {
    secured: Vec<Result<Duration, String>>,
    plain: Vec<Result<Duration, String>>,
    misses: usize,
}

impl Responses {
    fn of(plan: &CanPlan) -> Self {
        let secured = bounds(plan, true);
        let misses = secured
            .iter()
            .zip(&plan.messages)
            .filter(|(bound, message)| !bound.as_ref().is_ok_and(|bound| *bound <= message.deadline))
            .count();
        Self { secured, plain: bounds(plan, false), misses }
    }

    fn table(&self, plan: &CanPlan) -> Table {
        let mut table = Table::new("Response time of each message, at most")
            .words("message")
            .words("identifier")
            .words("protection")
            .numbers("data", "B")
            .numbers("without protection", "us")
            .numbers("as written", "us")
            .numbers("deadline", "us")
            .words("holds");
        for (index, message) in plan.messages.iter().enumerate() {
            let cell = |bound: &Result<Duration, String>| match bound {
                Ok(bound) => Cell::number(bound.as_us_f64(), 1).from(Evidence::Recomputed),
                Err(why) => Cell::na(why.clone()),
            };
            let holds = self.secured[index].as_ref().is_ok_and(|bound| *bound <= message.deadline);
            table.push(vec![
                Cell::text(&message.name),
                Cell::text(message.id.to_string()),
                Cell::text(&plan.protection_of(message).name),
                Cell::count(plan.secured_len(message) as u64),
                cell(&self.plain[index]),
                cell(&self.secured[index]),
                Cell::number(message.deadline.as_us_f64(), 1),
                if holds { Cell::text("yes").marked(Mark::Good) } else { Cell::text("no").marked(Mark::Bad) },
            ]);
        }
        table
    }
}

fn bounds(plan: &CanPlan, is_secured: bool) -> Vec<Result<Duration, String>> {
    let timing = &plan.bus.timing;
    let occupancy = |id: CanId, kind: FrameKind, len: usize| {
        let len = Dlc::holding(len).map_or(len, |dlc| if kind.is_fd() { dlc.fd_len() } else { dlc.classical_len() });
        timing.worst_case_occupancy(id.is_extended(), kind, len)
    };
    let mut set: BTreeMap<CanId, Message> = BTreeMap::new();
    for recording in &plan.background {
        for (_, frame) in &recording.frames {
            let wire_time = occupancy(frame.id(), frame.kind(), frame.data().len());
            let known = set.entry(frame.id()).or_insert(Message {
                id: frame.id(),
                wire_time,
                period: recording.length,
                jitter: Duration::ZERO,
                deadline: recording.length,
            });
            known.wire_time = known.wire_time.max(wire_time);
        }
        for (id, median) in median_distances(&recording.frames) {
            if let (Some(median), Some(message)) = (median, set.get_mut(&id)) {
                (message.period, message.deadline) = (median, median);
            }
        }
    }
    for message in &plan.messages {
        let overhead = if is_secured { plan.protection_of(message).kind.overhead() } else { 0 };
        let wire_time = occupancy(message.id, message.kind, usize::from(message.len) + overhead);
        set.insert(
            message.id,
            Message {
                id: message.id,
                wire_time,
                period: message.period,
                jitter: plan.nodes[message.sender.index()].driver.max,
                deadline: message.deadline,
            },
        );
    }
    if let Some(freshness) = &plan.freshness {
        set.insert(
            freshness.id,
            Message {
                id: freshness.id,
                wire_time: occupancy(freshness.id, FrameKind::Classical, 8),
                period: freshness.period,
                jitter: plan.nodes[freshness.master.index()].driver.max,
                deadline: freshness.period,
            },
        );
    }
    let other_frame = plan.group_key.as_ref().map_or(Duration::ZERO, |group| {
        let (kind, len) = match group.transport {
            Transport::Classical => (FrameKind::Classical, 8),
            Transport::Fd => (FrameKind::Fd { brs: true, esi: false }, 64),
        };
        timing.worst_case_occupancy(true, kind, len)
    });
    let messages: Vec<Message> = set.into_values().collect();
    match response_times(&Bus { bit_time: timing.nominal_bit(), other_frame }, &messages) {
        Err(error) => plan.messages.iter().map(|_| Err(error.to_string())).collect(),
        Ok(responses) => plan
            .messages
            .iter()
            .map(|message| {
                let found = responses.iter().find(|response| response.id == message.id);
                match found.map(|response| &response.outcome) {
                    Some(Ok(bound)) => Ok(bound.worst()),
                    Some(Err(why)) => Err(why.to_string()),
                    None => Err("it is not in the set".into()),
                }
            })
            .collect(),
    }
}

fn key_section(plan: &CanPlan, keys: &GroupKeyPlan) -> Section {
    let n = keys.members.len() as u32;
    let platform = |node: chronoseal_core::NodeId| &plan.platforms[usize::from(plan.nodes[node.index()].platform.0)];
    let slowest = keys
        .members
        .iter()
        .chain([&keys.orchestrator])
        .map(|node| keys.suite.dispatch(Costs { platform: platform(*node) }))
        .reduce(|a, b| (a.0.slower(&b.0), a.1.max(b.1)))
        .unwrap_or_default();
    let share_len = keys.suite.dispatch(ShareLen);
    let bus = bus_costs(plan, keys, share_len);
    let orchestrator_sign = keys.suite.dispatch(Costs { platform: platform(keys.orchestrator) }).1;
    let mut table = Table::new(format!(
        "What {n} members and the orchestrator take to a key, by the source's formulas with the slowest platform in each step"
    ))
    .words("what")
    .numbers("value", "");
    let mut row = |what: &str, value: String, number: f64| {
        table.push(vec![
            Cell::text(what),
            Cell { number: Some(number), ..Cell::text(value).from(Evidence::Recomputed) },
        ]);
    };
    let ms = |duration: Duration| (format!("{:.3} ms", duration.as_ms_f64()), duration.as_ms_f64());
    let frames = frames_of_group(keys.scheme, keys.profile, keys.transport, share_len, n);
    row("exchanges of two parties", exchanges(keys.scheme, n).to_string(), f64::from(exchanges(keys.scheme, n)));
    row("frames, confirmation by the group not counted", frames.to_string(), f64::from(frames));
    let pair = ms(exchange(&slowest.0, &bus));
    row("one exchange", pair.0, pair.1);
    let all = ms(group(keys.scheme, n, &slowest.0, &bus));
    row("all exchanges, at most", all.0, all.1);
    let signed = ms(orchestration(keys.scheme, n, orchestrator_sign, &bus));
    row("signing and sending the orchestration", signed.0, signed.1);
    let mut section = Section::new("Group key").with(Block::Table(table));
    if keys.profile == Profile::Hardened {
        section = section.with(Block::Text(
            "The formulas are of the protocol as published; longer messages of the hardened profile are counted in \
             frames and time on the bus, its tags and the confirmation by the whole group are not. Simulate for those."
                .into(),
        ));
    }
    let under_key = plan
        .messages
        .iter()
        .filter(|message| {
            matches!(plan.protection_of(message).kind, CanProtectionKind::SecOc { under_group_key: true, .. })
        })
        .count();
    if under_key > 0 {
        section = section.with(Block::Text(format!("{under_key} messages wait for the key before they are sent.")));
    }
    section
}

/// The longest each message of the exchange can take on this bus, every stuff bit counted.
fn bus_costs(plan: &CanPlan, keys: &GroupKeyPlan, share_len: usize) -> BusCosts {
    let kind = match keys.transport {
        Transport::Classical => FrameKind::Classical,
        Transport::Fd => FrameKind::Fd { brs: true, esi: false },
    };
    let timing = &plan.bus.timing;
    let frame = |len: usize| {
        let len = Dlc::holding(len).map_or(len, Dlc::fd_len);
        timing.worst_case_occupancy(true, kind, len)
    };
    let message = |len: usize| {
        let full = keys.transport.data_len_max();
        let count = i64::from(frames_of(len, keys.transport));
        let last = len - full * (count as usize - 1);
        frame(full) * (count - 1) + frame(last)
    };
    let signature_len = confirmation_len(keys.profile).max(orchestration_len(keys.profile));
    BusCosts { send_share: message(share_len), send_signature: message(signature_len) }
}

struct ShareLen;
impl SuiteVisitor for ShareLen {
    type Output = usize;
    fn visit<S: Suite>(self) -> usize {
        S::SHARE_LEN
    }
}

/// The steps of an exchange on a platform, and what signing costs there.
struct Costs<'a> {
    platform: &'a PlatformPlan,
}
impl SuiteVisitor for Costs<'_> {
    type Output = (PartyCosts, Duration);
    fn visit<S: Suite>(self) -> Self::Output {
        let cost = |operation: chronoseal_core::Operation| self.platform.cost(operation.0, 64);
        let operations = S::OPERATIONS;
        let costs = PartyCosts {
            verify_orchestration: cost(operations.verify),
            share: cost(operations.share),
            agree: cost(operations.agree),
            sign: cost(operations.sign),
            encrypt: cost(Aes128Ctr::OPERATION),
            decrypt: cost(Aes128Ctr::OPERATION),
            verify_confirmation: cost(operations.verify),
        };
        (costs, costs.sign)
    }
}
