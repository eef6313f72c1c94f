//! Round trips: messages with their answers. Those of closed loops stand in a section of their own, since their latencies are another quantity.

use chronoseal_results::{RoundTripSummary, RunMeta, RunSummary};

use super::evidence;
use super::tables::{push_spread, spread_columns, unwanted};
use crate::document::{Block, Cell, Section, Table};

/// What figures of a closed loop do not say.
pub(super) const CLOSED_LOOP: &str = "The next message of a closed loop is sent when the one before is answered, so that the network sets \
     its pace: what would have had to wait is not sent, and no latency here contains such waiting (coordinated omission). Compare these \
     figures only with those of other closed loops.";

/// A section for round trips of an open loop, and one for those of closed loops.
pub(super) fn sections(meta: &RunMeta, summary: &RunSummary) -> impl Iterator<Item = Section> {
    let (closed, open): (Vec<_>, Vec<_>) = summary.round_trips.iter().partition(|trip| trip.closed_loop_ns.is_some());
    let open = section("Round trips", &open, meta);
    let closed = section("Round trips, closed loop", &closed, meta).map(|section| {
        let mut section = section;
        section.blocks.insert(0, Block::Text(CLOSED_LOOP.into()));
        section
    });
    open.into_iter().chain(closed)
}

fn section(title: &str, trips: &[&RoundTripSummary], meta: &RunMeta) -> Option<Section> {
    if trips.is_empty() {
        return None;
    }
    Some(Section::new(title).with(Block::Table(counts(trips, meta))).with(Block::Table(latency(trips, meta))))
}

fn counts(trips: &[&RoundTripSummary], meta: &RunMeta) -> Table {
    let kind = evidence(meta);
    let is_closed = trips.iter().any(|trip| trip.closed_loop_ns.is_some());
    let mut table =
        Table::new("What became of each message and its answer").words("stream").words("relay").words("answer");
    if is_closed {
        table = table.numbers("given up after", "ms");
    }
    table = table
        .numbers("asked", "")
        .numbers("answered", "")
        .numbers("not sent", "")
        .numbers("lost on the way out", "")
        .numbers("not answered", "")
        .numbers("lost on the way back", "")
        .numbers("under way", "")
        .footnote(
            "Asked is the sum of all columns behind it. Under way: on either way, or at the relay, when the run ended.",
        );
    for trip in trips {
        let mut row = vec![Cell::text(&trip.stream), Cell::text(&trip.relay), Cell::text(&trip.answer)];
        row.extend(trip.closed_loop_ns.map(|ns| Cell::number(ns as f64 / 1e6, 3)));
        row.extend([
            Cell::count(trip.asked).from(kind),
            Cell::count(trip.answered).from(kind),
            unwanted(trip.not_sent, kind),
            unwanted(trip.lost_out, kind),
            unwanted(trip.not_answered, kind),
            unwanted(trip.lost_back, kind),
            Cell::count(trip.under_way).from(kind),
        ]);
        table.push(row);
    }
    table
}

fn latency(trips: &[&RoundTripSummary], meta: &RunMeta) -> Table {
    let mut table = spread_columns(
        Table::new("Round-trip latency").words("stream").words("answer").words("from when it was").words("messages"),
    );
    for trip in trips {
        for (from, spread) in [("due", &trip.from_due), ("sent", &trip.from_sent)] {
            push_spread(&mut table, &[&trip.stream, &trip.answer, from], spread, evidence(meta));
        }
    }
    table.footnote("To when its answer had been accepted by its sender. The time at the relay is part of it.")
}
