//! Messages that came after later ones of their stream (RFC 4737, section 3.3: Type-P-Reordered).

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::{EventKind, NodeId, StreamId};

use crate::EventRow;

/// So many numbers that have not come are known of a stream at a receiver; of more, the highest.
const GAPS_MAX: usize = 4_096;

/// By stream, and there by receiver.
#[derive(Default)]
pub(super) struct Order(Vec<BTreeMap<NodeId, Numbers>>);

#[derive(Default)]
struct Numbers {
    /// One above the highest that came.
    next: u64,
    /// Those below it that did not come.
    gaps: BTreeSet<u64>,
    reordered: u64,
}

impl Order {
    /// Takes in an event, in the order of events. What came before is a copy and not reordered.
    pub(super) fn event(&mut self, row: &EventRow) {
        if row.event.kind != EventKind::Delivered || row.event.stream == StreamId::NONE {
            return;
        }
        let (sequence, stream) = (row.event.sequence, row.event.stream.index());
        if self.0.len() <= stream {
            self.0.resize_with(stream + 1, BTreeMap::new);
        }
        let numbers = self.0[stream].entry(row.node).or_default();
        if sequence < numbers.next {
            numbers.reordered += u64::from(numbers.gaps.remove(&sequence));
            return;
        }
        let far = sequence.saturating_sub(GAPS_MAX as u64);
        numbers.gaps.extend(numbers.next.max(far)..sequence);
        while numbers.gaps.len() > GAPS_MAX {
            numbers.gaps.pop_first();
        }
        numbers.next = sequence.saturating_add(1);
    }

    pub(super) fn reordered(&self, stream: StreamId, at: NodeId) -> u64 {
        self.0.get(stream.index()).and_then(|of| of.get(&at)).map_or(0, |numbers| numbers.reordered)
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
        // A loss reorders nothing, and nor does a copy, however late.
        [0, 3, 9, 3, 0].into_iter().for_each(|sequence| came(3, sequence));
        // Nor does a number that is far ahead, as a forger may write it.
        [u64::MAX, 0].into_iter().for_each(|sequence| came(4, sequence));
        assert_eq!([1, 2, 3, 4].map(|node| order.reordered(StreamId(0), NodeId(node))), [1, 1, 0, 0]);
    }
}
