//! Columns of Parquet tables, written and read by name.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray, UInt16Array, UInt64Array};
use chronoseal_core::SimTime;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use crate::RunMeta;
use crate::disk::Disk;
use crate::store::{SCHEMA_VERSION, StoreError};

/// Rows turned into columns at a time; bounds the memory of a long run.
const BATCH_ROWS: usize = 65_536;

pub(super) fn ns(time: SimTime) -> i64 {
    time.since_zero().as_ns()
}
pub(super) fn time(ns: i64) -> SimTime {
    SimTime::from_ps(ns.saturating_mul(1_000))
}

/// Names of columns and what is in them.
pub(super) type Columns = Vec<(&'static str, ArrayRef)>;

pub(super) fn int64(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}
pub(super) fn optional_ns(values: impl Iterator<Item = Option<SimTime>>) -> ArrayRef {
    Arc::new(values.map(|time| time.map(ns)).collect::<Int64Array>())
}
pub(super) fn uint16(values: impl Iterator<Item = u16>) -> ArrayRef {
    Arc::new(UInt16Array::from_iter_values(values))
}
pub(super) fn uint64(values: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(values))
}
pub(super) fn text(values: impl Iterator<Item = String>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

/// Writes `rows` as a table, a batch of columns at a time.
pub(super) fn write<T>(
    disk: &dyn Disk,
    path: &Path,
    meta: &RunMeta,
    rows: &[T],
    columns: impl Fn(&[T]) -> Columns,
) -> Result<(), StoreError> {
    let table_error = |source| StoreError::table_write(path, source);
    let refused = |source| StoreError::write(path, source);
    let file = disk.create(path).map_err(refused)?;
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
    writer.finish().map_err(table_error)?;
    writer.inner_mut().sync().map_err(refused)
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
    /// Rows are missing or stand in another order.
    #[error("its column `{column}` has {found} where another number should follow")]
    Order {
        /// The column.
        column: &'static str,
        /// The number there.
        found: u64,
    },
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
pub(super) struct Batch<'a>(&'a RecordBatch);

impl Batch<'_> {
    pub(super) fn len(&self) -> usize {
        self.0.num_rows()
    }
    fn column(&self, name: &'static str) -> Result<&ArrayRef, Damage> {
        self.0.column_by_name(name).ok_or(Damage::Column(name))
    }
    pub(super) fn int64(&self, name: &'static str, row: usize) -> Result<Option<i64>, Damage> {
        let column = self.column(name)?.as_primitive_opt::<Int64Type>().ok_or(Damage::Column(name))?;
        Ok(column.is_valid(row).then(|| column.value(row)))
    }
    pub(super) fn uint16(&self, name: &'static str, row: usize) -> Result<u16, Damage> {
        let column = self.column(name)?.as_primitive_opt::<UInt16Type>().ok_or(Damage::Column(name))?;
        column.is_valid(row).then(|| column.value(row)).ok_or(Damage::Empty(name))
    }
    pub(super) fn uint32(&self, name: &'static str, row: usize) -> Result<u32, Damage> {
        let column = self.column(name)?.as_primitive_opt::<UInt32Type>().ok_or(Damage::Column(name))?;
        column.is_valid(row).then(|| column.value(row)).ok_or(Damage::Empty(name))
    }
    pub(super) fn uint64(&self, name: &'static str, row: usize) -> Result<u64, Damage> {
        let column = self.column(name)?.as_primitive_opt::<UInt64Type>().ok_or(Damage::Column(name))?;
        column.is_valid(row).then(|| column.value(row)).ok_or(Damage::Empty(name))
    }
    pub(super) fn uint64_list(&self, name: &'static str, row: usize) -> Result<Vec<u64>, Damage> {
        let column = self.column(name)?.as_list_opt::<i32>().ok_or(Damage::Column(name))?;
        if column.is_null(row) {
            return Err(Damage::Empty(name));
        }
        let values = column.value(row);
        let values = values.as_primitive_opt::<UInt64Type>().ok_or(Damage::Column(name))?;
        values.iter().collect::<Option<_>>().ok_or(Damage::Empty(name))
    }
    pub(super) fn boolean(&self, name: &'static str, row: usize) -> Result<bool, Damage> {
        let column = self.column(name)?.as_boolean_opt().ok_or(Damage::Column(name))?;
        column.is_valid(row).then(|| column.value(row)).ok_or(Damage::Empty(name))
    }
    pub(super) fn text(&self, name: &'static str, row: usize) -> Result<Option<&str>, Damage> {
        let column = self.column(name)?.as_string_opt::<i32>().ok_or(Damage::Column(name))?;
        Ok(column.is_valid(row).then(|| column.value(row)))
    }
}

/// Hands over a table batch by batch.
pub(super) fn read(path: &Path, mut take: impl FnMut(&Batch<'_>) -> Result<(), Damage>) -> Result<(), StoreError> {
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

/// What bears a name.
pub(super) fn named<T: Copy>(
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
    name: &str,
    what: &'static str,
) -> Result<T, Damage> {
    all.iter().copied().find(|&item| name_of(item) == name).ok_or_else(|| Damage::Name { what, name: name.into() })
}
