//! Rows of transmissions: each frame on each segment, and the ones it came from.

use std::collections::BTreeMap;

use chronoseal_core::{Event, EventKind, MessagePart, SimTime};
use chronoseal_results::HopRow;

use super::rows::{Table, Told};
use super::ways::Delivery;

impl Table<'_> {
    /// A row for each frame at each receiver that it was handed to, whoever it was meant for. A transmission's number is
    /// that of its arrival. Of a message in several frames there is one where it ended: the number of its last frame, sent
    /// when the first was.
    pub(super) fn hop_rows(&self) -> Vec<HopRow> {
        let handed_over = self.ways.deliveries.iter().enumerate().filter(|(_, delivery)| delivery.accepted);
        let counted = self.counted();
        let hops = handed_over.flat_map(|(index, delivery)| self.hop_rows_of(index, delivery, &counted));
        let mut rows: Vec<HopRow> = hops.collect();
        rows.sort_by_key(|row| row.sent_at.or(row.arrived_at));
        rows
    }

    /// What a receiver counted, by arrival. Who only hears a frame that is for others knows no number of it.
    fn counted(&self) -> BTreeMap<usize, u64> {
        let told = |delivery: &Delivery| Some((delivery.serial?, delivery.received?.verdict?.event()?.sequence));
        self.ways.deliveries.iter().filter_map(told).collect()
    }

    /// The hop of a frame, or that of each PDU in it.
    fn hop_rows_of(&self, index: usize, delivery: &Delivery, counted: &BTreeMap<usize, u64>) -> Vec<HopRow> {
        let Some(whole) = self.hop_row(index, delivery, counted) else { return Vec::new() };
        let parts = delivery.serial.map(|serial| self.parts(serial, delivery)).unwrap_or_default();
        if parts.is_empty() {
            return vec![whole];
        }
        let row = |part: &Told| HopRow {
            stream: part.event.stream,
            sequence: part.event.sequence,
            origins: part.origin.map(|serial| serial as u64).into_iter().collect(),
            ..whole.clone()
        };
        parts.iter().map(row).collect()
    }

    fn hop_row(&self, index: usize, delivery: &Delivery, counted: &BTreeMap<usize, u64>) -> Option<HopRow> {
        let serial = delivery.serial?;
        let arrival = &self.emulated.arrivals[serial];
        let first = match arrival.description.part {
            MessagePart::Whole => serial,
            _ => *self.messages.ends.get(&index)?,
        };
        let told = || delivery.received?.verdict?.event();
        let is_accepted = |event: &Event| matches!(event.kind, EventKind::Delivered | EventKind::Relayed);
        let accepted = told().filter(is_accepted).filter(|_| arrival.description.is_numbered_by_receiver);
        let counted = || told().map(|event| event.sequence).or_else(|| counted.get(&serial).copied());
        let received_at = delivery.received.map(|received| SimTime::from_ps(received.at_ps));
        Some(HopRow {
            stream: arrival.description.stream,
            sequence: accepted
                .map(|event| event.sequence)
                .or(arrival.description.sequence)
                .or_else(counted)
                .unwrap_or(0),
            segment: self.lines[arrival.wire].segment,
            from: self.ways.from_of[serial],
            to: delivery.to,
            sent_at: self.sent_at(first),
            arrived_at: Some(arrival.arrived_at.unwrap_or(arrival.read_at)),
            departed_at: delivery.departed_at,
            // A guest tells nothing of what it got.
            received_at: if self.is_agent(delivery.to) { received_at } else { delivery.written_at },
            frame: serial as u64,
            origins: self.origins_of(serial),
        })
    }

    /// The transmissions that the sender of a frame says it came from.
    fn origins_of(&self, serial: usize) -> Vec<u64> {
        let Some((agent, sent)) = self.ways.sent_of[serial] else { return Vec::new() };
        let Some(log) = &self.logs[agent] else { return Vec::new() };
        let serial_of_input = &self.ways.serial_of_input[agent];
        let transmission = |input: &u64| Some((*serial_of_input.get(usize::try_from(*input).ok()?)?)? as u64);
        log.origins_of(&sent).iter().filter_map(transmission).collect()
    }
}
