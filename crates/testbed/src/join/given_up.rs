//! Messages over a lossy link that were written to a receiver's wire and never came out of its kernel.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::{DiscardReason, Duration, EventKind, NodeId, SimTime, StreamId};
use chronoseal_results::{FrameRow, Outcome};

use super::ways::Delivery;
use crate::config::AgentConfig;
use crate::emulator::{Arrival, EmulatorLog};
use crate::log::AgentLog;

/// A kernel hands over what is whole at once, and a station reads it when it has its processor. What was written less than so long
/// before the emulator stopped may have been on its way.
const READ_WITHIN: Duration = Duration::from_ms(20);

/// What is known of messages that no receiver told of.
pub(super) struct GivenUp {
    /// Of which the medium threw a later packet away, and why.
    thrown_away: BTreeMap<(StreamId, u64), DiscardReason>,
    /// For whose rest a receiver waited in vain, by its own word.
    waited: BTreeSet<(StreamId, u64, NodeId)>,
    /// By the arrival of the first packet: one of them was not written to any wire, and not thrown away either.
    on_way: BTreeSet<usize>,
    ended_at: SimTime,
}

impl GivenUp {
    pub(super) fn new(agents: &[AgentConfig], emulated: &EmulatorLog, logs: &[Option<AgentLog>]) -> Self {
        let arrival = |serial: Option<usize>| emulated.arrivals.get(serial?);
        let is_later = |arrival: &Arrival| !arrival.description.part.is_first();
        let later = emulated.discards.iter().filter(|discard| arrival(discard.serial).is_some_and(is_later));
        let thrown_away = later.filter_map(|discard| match discard.event.kind {
            EventKind::Discarded(reason) => Some(((discard.event.stream, discard.event.sequence), reason)),
            _ => None,
        });
        let missing = EventKind::Discarded(DiscardReason::FrameMissing);
        let waited = agents.iter().zip(logs).flat_map(|(agent, log)| {
            let said = log.iter().flat_map(AgentLog::said).filter(move |event| event.kind == missing);
            said.map(|event| (event.stream, event.sequence, agent.node))
        });
        let ended: BTreeSet<usize> = emulated.discards.iter().filter_map(|discard| discard.serial).collect();
        let is_on_way = |(serial, arrival): &(usize, &Arrival)| !arrival.is_out && !ended.contains(serial);
        let on_way = emulated.arrivals.iter().enumerate().filter(is_on_way).filter_map(|(serial, arrival)| {
            let is_first = arrival.description.part.is_first();
            arrival.first.or_else(|| is_first.then_some(serial))
        });
        Self {
            thrown_away: thrown_away.collect(),
            waited: waited.collect(),
            on_way: on_way.collect(),
            ended_at: emulated.ended_at,
        }
    }

    /// Why a receiver never had a message whose later packets the medium threw away.
    pub(super) fn thrown_away(&self, row: &FrameRow) -> Option<Outcome> {
        self.thrown_away.get(&(row.stream, row.sequence)).map(|reason| Outcome::Discarded(*reason))
    }

    /// What became of a message that was written to the wire of a receiver, which never told of it, if the medium threw nothing of it away.
    /// `None` if it may have been on its way when the run ended.
    pub(super) fn end_of(&self, row: &FrameRow, delivery: &Delivery) -> Option<Outcome> {
        if self.waited.contains(&(row.stream, row.sequence, row.at)) {
            return Some(Outcome::Discarded(DiscardReason::FrameMissing));
        }
        let written_at = delivery.written_at.filter(|_| delivery.accepted)?;
        if delivery.serial.is_some_and(|serial| self.on_way.contains(&serial))
            || self.ended_at - written_at < READ_WITHIN
        {
            return None;
        }
        // A whole one found no room, and of one in several packets not all were put together.
        Some(if delivery.is_whole { Outcome::Missing } else { Outcome::Discarded(DiscardReason::FrameMissing) })
    }

    /// Whether it was not the station that said of a message that a part of it is missing.
    pub(super) fn is_by_kernel(&self, row: &FrameRow) -> bool {
        !self.waited.contains(&(row.stream, row.sequence, row.at))
    }

    /// Messages of which a packet was on its way when the emulator stopped, by the arrival of the first.
    pub(super) fn on_way(&self) -> impl Iterator<Item = usize> + '_ {
        self.on_way.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use chronoseal_core::{Event, MessagePart};

    use super::*;
    use crate::emulator::MediumDiscard;
    use crate::log::EventRecord;
    use crate::traffic::FrameDescription;

    const STREAM: StreamId = StreamId(3);
    const RECEIVER: NodeId = NodeId(1);

    fn at(ms: i64) -> SimTime {
        SimTime::ZERO + Duration::from_ms(ms)
    }

    /// A packet of a message: the first one, or one behind that at a place.
    fn packet(first: Option<usize>, is_out: bool) -> Arrival {
        let part = if first.is_some() { MessagePart::Continues } else { MessagePart::Whole };
        let description = FrameDescription { stream: STREAM, part, ..FrameDescription::UNKNOWN };
        let (read_at, arrived_at) = (at(1), None);
        Arrival { wire: 0, read_at, arrived_at, has_left: false, is_out, first, len: 1514, hash: 0, description }
    }

    fn delivery(written_ms: i64, is_whole: bool, accepted: bool) -> Delivery {
        let written_at = Some(at(written_ms));
        Delivery { serial: Some(0), to: RECEIVER, departed_at: None, written_at, is_whole, accepted, received: None }
    }

    fn row() -> FrameRow {
        FrameRow::open(STREAM, 7, NodeId(0), RECEIVER, at(1), Outcome::Unaccounted)
    }

    fn given_up(emulated: EmulatorLog, told: Option<Event>) -> GivenUp {
        let mut log = AgentLog::with_room(1);
        log.events.extend(told.map(|event| EventRecord::new(at(50), &event)));
        let agents = [AgentConfig::new(NodeId(0)), AgentConfig::new(RECEIVER)];
        let emulated = EmulatorLog { ended_at: at(100), ..emulated };
        GivenUp::new(&agents, &emulated, &[Some(AgentLog::with_room(1)), Some(log)])
    }

    const MISSING: Outcome = Outcome::Discarded(DiscardReason::FrameMissing);

    #[test]
    fn what_was_written_whole_and_never_came_is_given_up_unless_the_run_ended() {
        let arrivals = vec![packet(None, true), packet(Some(0), true)];
        let all = given_up(EmulatorLog { arrivals, ..EmulatorLog::default() }, None);
        assert_eq!(all.end_of(&row(), &delivery(10, false, true)), Some(MISSING));
        assert_eq!(all.end_of(&row(), &delivery(10, true, true)), Some(Outcome::Missing));
        assert_eq!(all.end_of(&row(), &delivery(95, false, true)), None, "it may not have been read");
        assert_eq!(all.end_of(&row(), &delivery(10, false, false)), None, "the wire did not take it");
        assert!(all.is_by_kernel(&row()) && all.on_way().next().is_none());
    }

    #[test]
    fn what_waits_for_a_packet_that_is_on_its_way_is_on_its_way() {
        let arrivals = vec![packet(None, true), packet(Some(0), true), packet(Some(0), false)];
        let some = given_up(EmulatorLog { arrivals, ..EmulatorLog::default() }, None);
        assert_eq!(some.end_of(&row(), &delivery(10, false, true)), None);
        assert_eq!(some.on_way().collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn the_medium_and_the_station_know_better() {
        let event = Event::of(EventKind::Discarded(DiscardReason::LostOnLink), STREAM, 7);
        let discards = vec![MediumDiscard { serial: Some(1), at: at(2), node: NodeId(2), event }];
        let arrivals = vec![packet(None, true), packet(Some(0), false)];
        let lost = given_up(EmulatorLog { arrivals, discards, ..EmulatorLog::default() }, None);
        assert_eq!(lost.thrown_away(&row()), Some(Outcome::Discarded(DiscardReason::LostOnLink)));
        assert!(lost.on_way().next().is_none(), "what was thrown away is on no way");
        let told = Event::of(EventKind::Discarded(DiscardReason::FrameMissing), STREAM, 7);
        let waited = given_up(EmulatorLog::default(), Some(told));
        assert_eq!(waited.end_of(&row(), &delivery(99, false, true)), Some(MISSING));
        assert!(!waited.is_by_kernel(&row()));
    }
}
