//! What is to be known of a CAN segment.

use std::collections::BTreeMap;

use chronoseal_analysis::can::{NoBound, Release, message_bounds};
use chronoseal_analysis::group_key::{BusCosts, PartyCosts, exchange, group, orchestration};
use chronoseal_core::{Duration, StreamId};
use chronoseal_crypto::suite::{Suite, SuiteVisitor};
use chronoseal_crypto::symmetric::Aes128Ctr;
use chronoseal_groupkey::frame_count::{confirmation_len, exchanges, frames_of, frames_of_group, orchestration_len};
use chronoseal_groupkey::{Profile, Transport};
use chronoseal_plan::{Can, GroupKeyPlan, Plan, PlatformPlan, SegmentId};
use chronoseal_report::{Block, Cell, Evidence, Section, Table};
use chronoseal_wire::can::{Dlc, FrameKind};

/// What a CAN segment does to the messages of a plan, and what the plan's group key takes, by analysis alone.
pub(crate) fn page(plan: &Plan, segment: SegmentId) -> Option<Vec<Section>> {
    let view = Can::of(plan, segment)?;
    let mut sections = Vec::new();
    if view.messages().next().is_some() {
        sections.push(
            Section::new("Messages")
                .with(Block::Text(
                    "Worst-case response times on a bus without errors, every stuff bit counted (Davis, Burns, Bril, \
                     Lukkien 2007), if processors take no time. Replayed recordings count as messages with the median distance of each \
                     identifier: an assumption about the recording, not a property of it. Frames of a key exchange \
                     count as one blocking frame; while keys are exchanged, simulate."
                        .into(),
                ))
                .with(Block::Table(Responses::of(view).table(view))),
        );
    }
    sections.extend(plan.group_key.as_ref().map(|group| key_section(view, group)));
    Some(sections)
}

/// The longest each message takes, or why nothing bounds it.
type Latencies = BTreeMap<StreamId, Result<Duration, NoBound>>;

/// Bounds of every message, as written and without its protection.
struct Responses {
    secured: Latencies,
    plain: Latencies,
}

impl Responses {
    fn of(view: Can<'_>) -> Self {
        Self { secured: latencies(view, true), plain: latencies(view, false) }
    }

    fn table(&self, view: Can<'_>) -> Table {
        let mut table = Table::new("Response time of each message, at most")
            .words("message")
            .words("identifier")
            .words("protection")
            .numbers("data", "B")
            .numbers("without protection", "us")
            .numbers("as written", "us");
        for message in view.messages() {
            let cell = |bound: Option<&Result<Duration, NoBound>>| match bound {
                Some(Ok(bound)) => Cell::number(bound.as_us_f64(), 1).from(Evidence::Bounded),
                Some(Err(why)) => Cell::na(why.to_string()),
                None => Cell::na("it is not on this segment".to_owned()),
            };
            table.push(vec![
                Cell::text(&message.stream.name),
                Cell::text(message.id.to_string()),
                Cell::text(&view.protection_of(&message).name),
                Cell::count(view.secured_len(&message) as u64),
                cell(self.plain.get(&message.stream_id)),
                cell(self.secured.get(&message.stream_id)),
            ]);
        }
        table
    }
}

/// Of messages that all begin on this segment.
fn latencies(view: Can<'_>, is_secured: bool) -> Latencies {
    let bounds = message_bounds(view, is_secured, |stream| Release::at_sender(view, stream));
    bounds.into_iter().map(|(stream, bound)| (stream, bound.map(|bound| bound.worst()))).collect()
}

fn key_section(view: Can<'_>, keys: &GroupKeyPlan) -> Section {
    let plan = view.plan;
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
    let bus = bus_costs(view, keys, share_len);
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
    let under_key = view.messages().filter(|message| view.protection_of(message).needs_group_key()).count();
    if under_key > 0 {
        section = section.with(Block::Text(format!(
            "{} for the key before sending.",
            if under_key == 1 { "1 message waits".into() } else { format!("{under_key} messages wait") }
        )));
    }
    section
}

/// The longest each message of the exchange can take on this bus, every stuff bit counted.
fn bus_costs(view: Can<'_>, keys: &GroupKeyPlan, share_len: usize) -> BusCosts {
    let kind = match keys.transport {
        Transport::Classical => FrameKind::Classical,
        Transport::Fd => FrameKind::Fd { brs: true, esi: false },
    };
    let timing = &view.segment.timing;
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
