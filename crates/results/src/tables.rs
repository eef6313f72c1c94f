//! Rows as Parquet tables and back: columns with units in their names, raw samples, names beside numbers.

mod columns;

use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, UInt64Builder};
use arrow_array::{BooleanArray, Int64Array, StringArray, UInt32Array};
use chronoseal_core::{AttackKind, DiscardReason, Duration, Event, EventKind, NodeId, SimTime, StreamId};

pub use self::columns::Damage;
use self::columns::{int64, named, ns, optional_ns, read, text, time, uint16, uint64, write};
use crate::disk::Disk;
use crate::store::StoreError;
use crate::{EventRow, FrameRow, HopRow, Outcome, ReleaseRow, RunMeta, SegmentSeries, StallRow, WorkRow};

/// The table of frames; one row for each [`FrameRow`].
pub(crate) fn write_frames(disk: &dyn Disk, path: &Path, meta: &RunMeta, rows: &[FrameRow]) -> Result<(), StoreError> {
    write(disk, path, meta, rows, |rows| {
        vec![
            ("stream", text(rows.iter().map(|row| meta.stream_name(row.stream.0)))),
            ("stream_id", uint16(rows.iter().map(|row| row.stream.0))),
            ("sequence", uint64(rows.iter().map(|row| row.sequence))),
            ("sender", text(rows.iter().map(|row| meta.node_name(row.sender.0)))),
            ("sender_id", uint16(rows.iter().map(|row| row.sender.0))),
            ("at", text(rows.iter().map(|row| meta.node_name(row.at.0)))),
            ("at_id", uint16(rows.iter().map(|row| row.at.0))),
            ("attack", Arc::new(rows.iter().map(|row| row.attack.map(AttackKind::name)).collect::<StringArray>())),
            ("len_bytes", Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.len)))),
            ("cycle_start_ns", int64(rows.iter().map(|row| ns(row.cycle_start)))),
            ("slot_start_ns", optional_ns(rows.iter().map(|row| row.slot_start))),
            ("sent_at_ns", optional_ns(rows.iter().map(|row| row.sent_at))),
            ("arrived_at_ns", optional_ns(rows.iter().map(|row| row.arrived_at))),
            ("departed_at_ns", optional_ns(rows.iter().map(|row| row.departed_at))),
            ("received_at_ns", optional_ns(rows.iter().map(|row| row.received_at))),
            ("due_at_ns", optional_ns(rows.iter().map(|row| row.due_at))),
            ("accepted_at_ns", optional_ns(rows.iter().map(|row| row.accepted_at))),
            ("outcome", text(rows.iter().map(|row| row.outcome.name().into()))),
            (
                "reason",
                Arc::new(rows.iter().map(|row| row.outcome.reason().map(DiscardReason::name)).collect::<StringArray>()),
            ),
            ("stalled", Arc::new(rows.iter().map(|row| Some(row.stalled)).collect::<BooleanArray>())),
        ]
    })
}

/// The frames of a table written by [`write_frames`]; times as whole nanoseconds.
pub(crate) fn read_frames(path: &Path) -> Result<Vec<FrameRow>, StoreError> {
    let mut rows = Vec::new();
    read(path, |columns| {
        let optional = |name: &'static str, row: usize| columns.int64(name, row).map(|ns| ns.map(time));
        for row in 0..columns.len() {
            rows.push(FrameRow {
                stream: StreamId(columns.uint16("stream_id", row)?),
                sequence: columns.uint64("sequence", row)?,
                sender: NodeId(columns.uint16("sender_id", row)?),
                at: NodeId(columns.uint16("at_id", row)?),
                attack: match columns.text("attack", row)? {
                    Some(name) => Some(named(&AttackKind::ALL, AttackKind::name, name, "attack")?),
                    None => None,
                },
                len: columns.uint32("len_bytes", row)?,
                cycle_start: optional("cycle_start_ns", row)?.ok_or(Damage::Empty("cycle_start_ns"))?,
                slot_start: optional("slot_start_ns", row)?,
                sent_at: optional("sent_at_ns", row)?,
                arrived_at: optional("arrived_at_ns", row)?,
                departed_at: optional("departed_at_ns", row)?,
                received_at: optional("received_at_ns", row)?,
                due_at: optional("due_at_ns", row)?,
                accepted_at: optional("accepted_at_ns", row)?,
                outcome: outcome(columns.text("outcome", row)?, columns.text("reason", row)?)?,
                stalled: columns.boolean("stalled", row)?,
            });
        }
        Ok(())
    })?;
    Ok(rows)
}

/// The table of transmissions; one row for each [`HopRow`].
pub(crate) fn write_hops(disk: &dyn Disk, path: &Path, meta: &RunMeta, rows: &[HopRow]) -> Result<(), StoreError> {
    write(disk, path, meta, rows, |rows| {
        let mut origins = ListBuilder::new(UInt64Builder::new());
        for row in rows {
            origins.append_value(row.origins.iter().copied().map(Some));
        }
        vec![
            ("stream", text(rows.iter().map(|row| meta.stream_name(row.stream.0)))),
            ("stream_id", uint16(rows.iter().map(|row| row.stream.0))),
            ("sequence", uint64(rows.iter().map(|row| row.sequence))),
            ("segment", uint16(rows.iter().map(|row| row.segment))),
            ("from", text(rows.iter().map(|row| meta.node_name(row.from.0)))),
            ("from_id", uint16(rows.iter().map(|row| row.from.0))),
            ("to", text(rows.iter().map(|row| meta.node_name(row.to.0)))),
            ("to_id", uint16(rows.iter().map(|row| row.to.0))),
            ("sent_at_ns", optional_ns(rows.iter().map(|row| row.sent_at))),
            ("arrived_at_ns", optional_ns(rows.iter().map(|row| row.arrived_at))),
            ("departed_at_ns", optional_ns(rows.iter().map(|row| row.departed_at))),
            ("received_at_ns", optional_ns(rows.iter().map(|row| row.received_at))),
            ("frame", uint64(rows.iter().map(|row| row.frame))),
            ("origins", Arc::new(origins.finish())),
        ]
    })
}

/// The transmissions of a table written by [`write_hops`]; times as whole nanoseconds.
pub(crate) fn read_hops(path: &Path) -> Result<Vec<HopRow>, StoreError> {
    let mut rows = Vec::new();
    read(path, |columns| {
        let optional = |name: &'static str, row: usize| columns.int64(name, row).map(|ns| ns.map(time));
        for row in 0..columns.len() {
            rows.push(HopRow {
                stream: StreamId(columns.uint16("stream_id", row)?),
                sequence: columns.uint64("sequence", row)?,
                segment: columns.uint16("segment", row)?,
                from: NodeId(columns.uint16("from_id", row)?),
                to: NodeId(columns.uint16("to_id", row)?),
                sent_at: optional("sent_at_ns", row)?,
                arrived_at: optional("arrived_at_ns", row)?,
                departed_at: optional("departed_at_ns", row)?,
                received_at: optional("received_at_ns", row)?,
                frame: columns.uint64("frame", row)?,
                origins: columns.uint64_list("origins", row)?,
            });
        }
        Ok(())
    })?;
    Ok(rows)
}

/// The table of events; `detail` is [`EventKind::detail`].
pub(crate) fn write_events(disk: &dyn Disk, path: &Path, meta: &RunMeta, rows: &[EventRow]) -> Result<(), StoreError> {
    write(disk, path, meta, rows, |rows| {
        vec![
            ("time_ns", int64(rows.iter().map(|row| ns(row.time)))),
            ("node", text(rows.iter().map(|row| meta.node_name(row.node.0)))),
            ("node_id", uint16(rows.iter().map(|row| row.node.0))),
            ("kind", text(rows.iter().map(|row| row.event.kind.name().into()))),
            ("detail", Arc::new(rows.iter().map(|row| row.event.kind.detail()).collect::<StringArray>())),
            ("stream", text(rows.iter().map(|row| meta.stream_name(row.event.stream.0)))),
            ("stream_id", uint16(rows.iter().map(|row| row.event.stream.0))),
            ("sequence", uint64(rows.iter().map(|row| row.event.sequence))),
            ("value_ps", int64(rows.iter().map(|row| row.event.value))),
        ]
    })
}

/// The events of a table written by [`write_events`]; times as whole nanoseconds.
pub(crate) fn read_events(path: &Path) -> Result<Vec<EventRow>, StoreError> {
    let mut rows = Vec::new();
    read(path, |columns| {
        for row in 0..columns.len() {
            rows.push(EventRow {
                time: time(columns.int64("time_ns", row)?.ok_or(Damage::Empty("time_ns"))?),
                node: NodeId(columns.uint16("node_id", row)?),
                event: Event {
                    kind: event_kind(columns.text("kind", row)?, columns.text("detail", row)?)?,
                    stream: StreamId(columns.uint16("stream_id", row)?),
                    sequence: columns.uint64("sequence", row)?,
                    value: columns.int64("value_ps", row)?.ok_or(Damage::Empty("value_ps"))?,
                },
            });
        }
        Ok(())
    })?;
    Ok(rows)
}

/// The table of what segments counted: one row for each value, `window_ns` empty in totals.
pub(crate) fn write_segments(
    disk: &dyn Disk,
    path: &Path,
    meta: &RunMeta,
    rows: &[SegmentSeries],
) -> Result<(), StoreError> {
    let values: Vec<(&SegmentSeries, usize)> =
        rows.iter().flat_map(|series| (0..series.values.len()).map(move |index| (series, index))).collect();
    write(disk, path, meta, &values, |values| {
        vec![
            ("segment", text(values.iter().map(|(series, _)| meta.segment_name(series.segment)))),
            ("segment_id", uint16(values.iter().map(|(series, _)| series.segment))),
            ("name", text(values.iter().map(|(series, _)| series.name.clone()))),
            ("unit", text(values.iter().map(|(series, _)| series.unit.clone()))),
            (
                "window_ns",
                Arc::new(values.iter().map(|(series, _)| series.window.map(Duration::as_ns)).collect::<Int64Array>()),
            ),
            ("index", uint64(values.iter().map(|(_, index)| *index as u64))),
            ("value", int64(values.iter().map(|(series, index)| series.values[*index]))),
        ]
    })
}

/// The series of a table written by [`write_segments`].
pub(crate) fn read_segments(path: &Path) -> Result<Vec<SegmentSeries>, StoreError> {
    let mut rows: Vec<SegmentSeries> = Vec::new();
    read(path, |columns| {
        for row in 0..columns.len() {
            let value = columns.int64("value", row)?.ok_or(Damage::Empty("value"))?;
            // The values of a series stand together and in order, so the first one begins it.
            match (columns.uint64("index", row)?, rows.last_mut()) {
                (index, Some(series)) if index > 0 && index == series.values.len() as u64 => series.values.push(value),
                (0, _) => rows.push(SegmentSeries {
                    segment: columns.uint16("segment_id", row)?,
                    name: columns.text("name", row)?.ok_or(Damage::Empty("name"))?.into(),
                    unit: columns.text("unit", row)?.ok_or(Damage::Empty("unit"))?.into(),
                    window: columns.int64("window_ns", row)?.map(|ns| Duration::from_ps(ns.saturating_mul(1_000))),
                    values: vec![value],
                }),
                (index, _) => return Err(Damage::Order { column: "index", found: index }),
            }
        }
        Ok(())
    })?;
    Ok(rows)
}

/// The table of computations.
pub(crate) fn write_work(disk: &dyn Disk, path: &Path, meta: &RunMeta, rows: &[WorkRow]) -> Result<(), StoreError> {
    write(disk, path, meta, rows, |rows| {
        vec![
            ("time_ns", int64(rows.iter().map(|row| ns(row.time)))),
            ("node", text(rows.iter().map(|row| meta.node_name(row.node.0)))),
            ("operation", text(rows.iter().map(|row| row.operation.into()))),
            ("len_bytes", Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.len)))),
            ("duration_ns", int64(rows.iter().map(|row| row.duration.as_ns()))),
        ]
    })
}

/// The table of stalls.
pub(crate) fn write_stalls(disk: &dyn Disk, path: &Path, meta: &RunMeta, rows: &[StallRow]) -> Result<(), StoreError> {
    write(disk, path, meta, rows, |rows| {
        vec![
            ("time_ns", int64(rows.iter().map(|row| ns(row.time)))),
            ("duration_ns", int64(rows.iter().map(|row| row.duration.as_ns()))),
        ]
    })
}

/// The stalls of a table written by [`write_stalls`].
pub(crate) fn read_stalls(path: &Path) -> Result<Vec<StallRow>, StoreError> {
    read_pairs(path, "time_ns", "duration_ns", |at, span| StallRow { time: at, duration: span })
}

/// The table of the emulator's writes.
pub(crate) fn write_releases(
    disk: &dyn Disk,
    path: &Path,
    meta: &RunMeta,
    rows: &[ReleaseRow],
) -> Result<(), StoreError> {
    write(disk, path, meta, rows, |rows| {
        vec![
            ("planned_ns", int64(rows.iter().map(|row| ns(row.planned)))),
            ("error_ns", int64(rows.iter().map(|row| row.error.as_ns()))),
        ]
    })
}

/// The writes of a table written by [`write_releases`].
pub(crate) fn read_releases(path: &Path) -> Result<Vec<ReleaseRow>, StoreError> {
    read_pairs(path, "planned_ns", "error_ns", |at, span| ReleaseRow { planned: at, error: span })
}

fn read_pairs<T>(
    path: &Path,
    at: &'static str,
    span: &'static str,
    make: impl Fn(SimTime, Duration) -> T,
) -> Result<Vec<T>, StoreError> {
    let mut rows = Vec::new();
    read(path, |columns| {
        for row in 0..columns.len() {
            let at_ns = columns.int64(at, row)?.ok_or(Damage::Empty(at))?;
            let span_ns = columns.int64(span, row)?.ok_or(Damage::Empty(span))?;
            rows.push(make(time(at_ns), Duration::from_ps(span_ns.saturating_mul(1_000))));
        }
        Ok(())
    })?;
    Ok(rows)
}

fn outcome(name: Option<&str>, reason: Option<&str>) -> Result<Outcome, Damage> {
    let name = name.ok_or(Damage::Empty("outcome"))?;
    if name == "discarded" {
        let reason = reason.ok_or(Damage::Empty("reason"))?;
        return named(&DiscardReason::ALL, DiscardReason::name, reason, "discard reason").map(Outcome::Discarded);
    }
    let plain = [Outcome::Delivered, Outcome::Late, Outcome::Missing, Outcome::Unaccounted];
    named(&plain, |outcome| outcome.name(), name, "outcome")
}

/// The kind of a name and its detail.
fn event_kind(name: Option<&str>, detail: Option<&str>) -> Result<EventKind, Damage> {
    let name = name.ok_or(Damage::Empty("kind"))?;
    let known = |kind: &EventKind| kind.name() == name;
    match EventKind::all().find(|kind| known(kind) && kind.detail() == detail) {
        Some(kind) => Ok(kind),
        None if !EventKind::all().any(|kind| known(&kind)) => {
            Err(Damage::Name { what: "kind of event", name: name.into() })
        }
        None => match detail {
            Some(detail) => Err(Damage::Name { what: "detail of such an event", name: detail.into() }),
            None => Err(Damage::Empty("detail")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engine;

    /// A table of one series whose values have these numbers.
    fn read_back(numbers: &[u64]) -> Result<Vec<SegmentSeries>, StoreError> {
        let folder = tempfile::tempdir().expect("the machine has room for a folder");
        let (path, meta) = (folder.path().join("segments.parquet"), RunMeta::new("gap", Engine::Sim, 1));
        write(&crate::disk::HostDisk, &path, &meta, numbers, |numbers| {
            vec![
                ("segment_id", uint16(numbers.iter().map(|_| 0))),
                ("name", text(numbers.iter().map(|_| "busy".into()))),
                ("unit", text(numbers.iter().map(|_| "ns".into()))),
                ("window_ns", int64(numbers.iter().map(|_| 10))),
                ("index", uint64(numbers.iter().copied())),
                ("value", int64(numbers.iter().map(|number| *number as i64))),
            ]
        })?;
        read_segments(&path)
    }

    #[test]
    fn a_series_with_a_gap_is_refused() {
        assert_eq!(read_back(&[0, 1, 2]).expect("it is whole")[0].values, [0, 1, 2]);
        assert_eq!(read_back(&[0, 1, 0]).expect("these are two").len(), 2);
        for numbers in [&[1][..], &[0, 2], &[0, 1, 1]] {
            let error = read_back(numbers).expect_err("a number is missing or there twice").to_string();
            assert!(error.contains("`index`") && error.contains("repeat the run"), "{error}");
        }
    }
}
