//! Messages that came after later ones of their stream (RFC 4737, section 3.3: Type-P-Reordered).

use std::collections::BTreeMap;

use chronoseal_core::{EventKind, NodeId, StreamId};

use crate::EventRow;

/// What each receiver of a stream expects next, and how many came that were below it.
#[derive(Default)]
pub(super) struct Order(BTreeMap<(StreamId, NodeId), (u64, u64)>);

impl Order {
    /// Takes in an event, in the order of events.
    pub(super) fn event(&mut self, row: &EventRow) {
        if row.event.kind != EventKind::Delivered || row.event.stream == StreamId::NONE {
            return;
        }
        let (next, reordered) = self.0.entry((row.event.stream, row.node)).or_default();
        if row.event.sequence < *next {
            *reordered += 1;
        } else {
            *next = row.event.sequence.saturating_add(1);
        }
    }

    pub(super) fn reordered(&self, stream: StreamId, at: NodeId) -> u64 {
        self.0.get(&(stream, at)).map_or(0, |(_, reordered)| *reordered)
    }
}

#[cfg(test)]
mod tests {
    use chronoseal_core::{Event, SimTime};

    use super::*;

    #[test]
    fn a_message_below_the_highest_before_it_is_reordered() {
        let mut order = Order::default();
        let mut came = |node: u16, sequence: u64| {
            let event = Event::of(EventKind::Delivered, StreamId(0), sequence);
            order.event(&EventRow { time: SimTime::ZERO, node: NodeId(node), event });
        };
        // RFC 4737, section 7.1: with 4 late by two places only 4 is reordered.
        [1, 2, 3, 5, 6, 4, 7].into_iter().for_each(|sequence| came(1, sequence));
        // With 4 early, it is 3 that comes late; 5 is at its place.
        [1, 2, 4, 3, 5].into_iter().for_each(|sequence| came(2, sequence));
        // A loss reorders nothing.
        [0, 3, 9].into_iter().for_each(|sequence| came(3, sequence));
        assert_eq!([1, 2, 3, 4].map(|node| order.reordered(StreamId(0), NodeId(node))), [1, 1, 0, 0]);
    }
}
