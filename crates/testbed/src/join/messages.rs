//! Messages in several frames: which of them a receiver had, from which frame on.

use std::collections::BTreeMap;

use chronoseal_core::{DiscardReason, Event, EventKind, MessagePart, NodeId, StreamId};
use chronoseal_results::Outcome;

use super::ways::{Delivery, Ways};
use crate::config::AgentConfig;
use crate::emulator::EmulatorLog;
use crate::log::AgentLog;
use crate::traffic::Traffic;

/// What became of the messages in several frames.
#[derive(Default)]
pub(super) struct Messages {
    /// The deliveries that completed one, or ended it, each with the arrival of its first frame.
    pub(super) ends: BTreeMap<usize, usize>,
    /// Those that ended without such a frame: the delivery of the first one, and how.
    pub(super) others: Vec<(usize, Outcome)>,
}

impl Messages {
    pub(super) fn new(
        agents: &[AgentConfig],
        emulated: &EmulatorLog,
        logs: &[Option<AgentLog>],
        ways: &Ways<'_>,
        traffic: &dyn Traffic,
    ) -> Self {
        let mut messages = Self::default();
        if emulated.arrivals.iter().all(|arrival| arrival.description.part == MessagePart::Whole) {
            return messages;
        }
        let missing = |delivery: usize| is_given_up(agents, logs, &ways.deliveries[delivery], emulated);
        // By stream and receiver: the delivery of the first frame of what is there in part.
        let mut begun: BTreeMap<(StreamId, NodeId), usize> = BTreeMap::new();
        for (index, delivery) in ways.deliveries.iter().enumerate() {
            let Some(description) = delivery.serial.map(|serial| &emulated.arrivals[serial].description) else {
                continue;
            };
            let key = (description.stream, delivery.to);
            let said = delivery.said().map(|event| event.kind);
            match description.part {
                part if is_copy(delivery, part) => {}
                MessagePart::Begins if traffic.concerns(description.stream, delivery.to) => {
                    if let Some(before) = begun.insert(key, index) {
                        let is_interrupted = said == Some(EventKind::Discarded(DiscardReason::Interrupted));
                        let interrupted = is_interrupted.then_some(Outcome::Discarded(DiscardReason::Interrupted));
                        messages.others.push((before, interrupted.unwrap_or_else(|| missing(before))));
                    }
                }
                MessagePart::Continues => {
                    let is_end =
                        matches!(said, Some(EventKind::Delivered | EventKind::Relayed | EventKind::Discarded(_)));
                    let first = if is_end { begun.remove(&key) } else { None };
                    if let Some(serial) = first.and_then(|first| ways.deliveries[first].serial) {
                        messages.ends.insert(index, serial);
                    }
                }
                _ => {}
            }
        }
        let waits = |first: usize| match missing(first) {
            Outcome::Unaccounted if has_begun(&ways.deliveries[first]) => Outcome::Missing,
            outcome => outcome,
        };
        messages.others.extend(begun.into_values().map(|first| (first, waits(first))));
        messages
    }
}

/// True of a frame that begins and ends no message, since its receiver had it already or, of a first frame, one behind it.
pub(super) fn is_copy(delivery: &Delivery, part: MessagePart) -> bool {
    delivery.said().is_some_and(|event| match event.kind {
        EventKind::Discarded(DiscardReason::CopyEliminated) => true,
        EventKind::Discarded(DiscardReason::OutOfSequence) => part.is_first(),
        _ => false,
    })
}

/// Whether its receiver says that a message has begun with a frame.
fn has_begun(first: &Delivery) -> bool {
    first.said().is_some_and(|event| event.kind == EventKind::TransferBegan)
}

/// Whether its receiver says that it has waited for the rest of a message in vain.
fn is_given_up(agents: &[AgentConfig], logs: &[Option<AgentLog>], first: &Delivery, emulated: &EmulatorLog) -> Outcome {
    let stream = first.serial.map_or(StreamId::NONE, |serial| emulated.arrivals[serial].description.stream);
    let reason = DiscardReason::FrameMissing;
    let agent = agents.iter().position(|agent| agent.node == first.to);
    let log = agent.and_then(|agent| logs.get(agent)?.as_ref());
    let said = first.said().filter(|_| has_begun(first));
    let is_it = |event: &Event, sequence: u64| {
        event.kind == EventKind::Discarded(reason) && event.stream == stream && event.sequence == sequence
    };
    let is_told = |log: &AgentLog, sequence| log.said().any(|event| is_it(&event, sequence));
    match log.zip(said) {
        Some((log, said)) if is_told(log, said.sequence) => Outcome::Discarded(reason),
        _ => Outcome::Unaccounted,
    }
}
