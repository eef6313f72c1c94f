//! An end system as an interface of a gateway: what it hands over and what it takes.

use chronoseal_core::{DiscardReason, Event, EventKind, LocalTime};

use super::{EndSystem, TalkerTiming};
use crate::gateway::{Mark, Pdu, Stack};

impl EndSystem {
    /// Tells of the first listener that has waited too long. False if there is none.
    pub(super) fn begin_absent(&mut self, now: LocalTime) -> bool {
        let absent = self.listeners.iter_mut().find_map(|listener| {
            let absent = listener.supervision.as_mut()?.absent(now)?;
            Some(Event::of(EventKind::Missing, listener.config.stream, absent))
        });
        let absent = absent.or_else(|| self.containers.absent(now));
        absent.into_iter().for_each(|event| self.base.push(event));
        absent.is_some()
    }
}

impl Stack for EndSystem {
    fn take(&mut self) -> Option<Pdu> {
        self.handed.pop_front()
    }

    fn has_waited(&mut self, now: LocalTime) {
        self.free_at = Some(now);
    }

    /// A frame in no slot waits in the queues of its link, as any of this station's own; one in slots for the next of them.
    fn send(&mut self, now: LocalTime, pdu: Pdu) {
        let talker = self.talkers.iter().position(|talker| talker.config.stream == pdu.stream && talker.is_relay());
        let Some(index) = talker else {
            let reason = EventKind::Discarded(DiscardReason::UnknownStream);
            return self.base.push(Event::of(reason, pdu.stream, pdu.sequence));
        };
        if let TalkerTiming::Slots { .. } = self.talkers[index].config.timing {
            if let Some(older) = self.talkers[index].next.replace(pdu) {
                let reason = EventKind::Discarded(DiscardReason::Superseded);
                self.base.push(Event::of(reason, older.stream, older.sequence));
            }
            return;
        }
        self.outgoing.push_back((index, pdu));
        self.due_at = Some(now);
    }

    fn take_sent(&mut self) -> Option<Mark> {
        self.sent.take()
    }

    fn restart(&mut self, _: LocalTime) {
        let Some(config) = self.blueprint.take() else { return };
        // What could be made once can be made again.
        if let Ok(mut station) = Self::of_gateway(*config) {
            // Time goes on; what was to be reported is lost.
            self.base.clear();
            std::mem::swap(&mut station.base, &mut self.base);
            *self = station;
            self.has_restarted = true;
        }
    }
}
