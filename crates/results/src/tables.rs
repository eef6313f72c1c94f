//! Rows as Parquet tables and back: columns with units in their names, raw samples, names beside numbers.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, UInt16Array, UInt32Array, UInt64Array,
};
use chronoseal_core::{AttackKind, DiscardReason, Duration, Event, EventKind, NodeId, SimTime, StreamId};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use crate::store::{SCHEMA_VERSION, StoreError};
use crate::{EventRow, FrameRow, HopRow, Outcome, ReleaseRow, RunMeta, StallRow, WorkRow};

/// Rows turned into columns at a time; bounds the memory of a long run.
const BATCH_ROWS: usize = 65_536;

fn ns(time: SimTime) -> i64 {
    time.since_zero().as_ns()
}
fn time(ns: i64) -> SimTime {
    SimTime::from_ps(ns.saturating_mul(1_000))
}

type Columns = Vec<(&'static str, ArrayRef)>;

fn int64(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}
fn optional_ns(values: impl Iterator<Item = Option<SimTime>>) -> ArrayRef {
    Arc::new(values.map(|time| time.map(ns)).collect::<Int64Array>())
}
fn uint16(values: impl Iterator<Item = u16>) -> ArrayRef {
    Arc::new(UInt16Array::from_iter_values(values))
}
fn uint64(values: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(values))
}
fn text(values: impl Iterator<Item = String>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

/// The table of frames; one row for each [`FrameRow`].
pub(crate) fn write_frames(path: &Path, meta: &RunMeta, rows: &[FrameRow]) -> Result<(), StoreError> {
    write(path, meta, rows, |rows| {
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
                outcome: outcome(columns.text("outcome", row)?, columns.text("reason", row)?)?,
                stalled: columns.boolean("stalled", row)?,
            });
        }
        Ok(())
    })?;
    Ok(rows)
}

/// The table of transmissions. Written as every other table; runs stored before there was one have none.
pub(crate) fn write_hops(path: &Path, meta: &RunMeta, rows: &[HopRow]) -> Result<(), StoreError> {
    write(path, meta, rows, |rows| {
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
pub(crate) fn write_events(path: &Path, meta: &RunMeta, rows: &[EventRow]) -> Result<(), StoreError> {
    write(path, meta, rows, |rows| {
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

/// The table of computations.
pub(crate) fn write_work(path: &Path, meta: &RunMeta, rows: &[WorkRow]) -> Result<(), StoreError> {
    write(path, meta, rows, |rows| {
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
pub(crate) fn write_stalls(path: &Path, meta: &RunMeta, rows: &[StallRow]) -> Result<(), StoreError> {
    write(path, meta, rows, |rows| {
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
pub(crate) fn write_releases(path: &Path, meta: &RunMeta, rows: &[ReleaseRow]) -> Result<(), StoreError> {
    write(path, meta, rows, |rows| {
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

fn write<T>(path: &Path, meta: &RunMeta, rows: &[T], columns: impl Fn(&[T]) -> Columns) -> Result<(), StoreError> {
    let table_error = |source| StoreError::Table { path: path.into(), source };
    let file = File::create(path).map_err(|source| StoreError::write(path, source))?;
    let remark = |key: &str, value: String| KeyValue::new(format!("chronoseal.{key}"), value);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(vec![
            remark("schema_version", SCHEMA_VERSION.to_string()),
            remark("scenario", meta.name.clone()),
            remark("engine", meta.engine.name().into()),
            remark("evidence", meta.engine.evidence().into()),
            remark("seed", meta.seed.to_string()),
        ]))
        .build();
    let batch = |rows: &[T]| {
        // Nullable by type, not by content, so that every file of a table has the same schema.
        RecordBatch::try_from_iter_with_nullable(columns(rows).into_iter().map(|(name, array)| (name, array, true)))
            .map_err(|source| table_error(source.into()))
    };
    let schema = batch(&[])?.schema();
    let mut writer = ArrowWriter::try_new(file, schema, Some(properties)).map_err(table_error)?;
    for rows in rows.chunks(BATCH_ROWS) {
        writer.write(&batch(rows)?).map_err(table_error)?;
    }
    writer.close().map_err(table_error)?;
    Ok(())
}

/// What is wrong inside a table.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// A column this version needs is absent or of another type.
    #[error("its column `{0}` is absent or of another type")]
    Column(&'static str),
    /// A value that must be there is not.
    #[error("its column `{0}` has an empty field")]
    Empty(&'static str),
    /// A name nobody knows.
    #[error("`{name}` is no {what}")]
    Name {
        /// What it should name.
        what: &'static str,
        /// The text found.
        name: String,
    },
}

/// A batch whose columns are looked up by name, so that files with additional columns stay readable.
struct Batch<'a>(&'a RecordBatch);

impl Batch<'_> {
    fn len(&self) -> usize {
        self.0.num_rows()
    }
    fn column(&self, name: &'static str) -> Result<&ArrayRef, Damage> {
        self.0.column_by_name(name).ok_or(Damage::Column(name))
    }
    fn int64(&self, name: &'static str, row: usize) -> Result<Option<i64>, Damage> {
        let column = self.column(name)?.as_primitive_opt::<Int64Type>().ok_or(Damage::Column(name))?;
        Ok(column.is_valid(row).then(|| column.value(row)))
    }
    fn uint16(&self, name: &'static str, row: usize) -> Result<u16, Damage> {
        let column = self.column(name)?.as_primitive_opt::<UInt16Type>().ok_or(Damage::Column(name))?;
        column.is_valid(row).then(|| column.value(row)).ok_or(Damage::Empty(name))
    }
    fn uint32(&self, name: &'static str, row: usize) -> Result<u32, Damage> {
        let column = self.column(name)?.as_primitive_opt::<UInt32Type>().ok_or(Damage::Column(name))?;
        column.is_valid(row).then(|| column.value(row)).ok_or(Damage::Empty(name))
    }
    fn uint64(&self, name: &'static str, row: usize) -> Result<u64, Damage> {
        let column = self.column(name)?.as_primitive_opt::<UInt64Type>().ok_or(Damage::Column(name))?;
        column.is_valid(row).then(|| column.value(row)).ok_or(Damage::Empty(name))
    }
    fn uint64_list(&self, name: &'static str, row: usize) -> Result<Vec<u64>, Damage> {
        let column = self.column(name)?.as_list_opt::<i32>().ok_or(Damage::Column(name))?;
        if column.is_null(row) {
            return Err(Damage::Empty(name));
        }
        let values = column.value(row);
        let values = values.as_primitive_opt::<UInt64Type>().ok_or(Damage::Column(name))?;
        values.iter().collect::<Option<_>>().ok_or(Damage::Empty(name))
    }
    fn boolean(&self, name: &'static str, row: usize) -> Result<bool, Damage> {
        let column = self.column(name)?.as_boolean_opt().ok_or(Damage::Column(name))?;
        column.is_valid(row).then(|| column.value(row)).ok_or(Damage::Empty(name))
    }
    fn text(&self, name: &'static str, row: usize) -> Result<Option<&str>, Damage> {
        let column = self.column(name)?.as_string_opt::<i32>().ok_or(Damage::Column(name))?;
        Ok(column.is_valid(row).then(|| column.value(row)))
    }
}

fn read(path: &Path, mut take: impl FnMut(&Batch<'_>) -> Result<(), Damage>) -> Result<(), StoreError> {
    let table_error = |source| StoreError::Table { path: path.into(), source };
    let file = File::open(path).map_err(|source| StoreError::read(path, source))?;
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(file).and_then(|builder| builder.with_batch_size(BATCH_ROWS).build());
    for batch in reader.map_err(table_error)? {
        let batch = batch.map_err(|source| table_error(source.into()))?;
        take(&Batch(&batch)).map_err(|damage| StoreError::Damaged { path: path.into(), damage })?;
    }
    Ok(())
}

fn named<T: Copy>(all: &[T], name_of: impl Fn(T) -> &'static str, name: &str, what: &'static str) -> Result<T, Damage> {
    all.iter().copied().find(|&item| name_of(item) == name).ok_or_else(|| Damage::Name { what, name: name.into() })
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
