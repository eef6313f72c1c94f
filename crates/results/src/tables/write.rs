//! Rows to a Parquet file.

use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

use super::Table;
use super::cells::{Cells, schema};
use super::columns::{Cell, Kind};
use crate::RunMeta;
use crate::disk::Disk;
use crate::store::{SCHEMA_VERSION, StoreError, StoredFile};

/// Rows of one group of a file.
const GROUP_ROWS: usize = 1_048_576;
/// Cells handed to a column at a time; bounds the memory of a long run.
const BATCH_ROWS: usize = 65_536;

impl<R> Table<R> {
    /// Writes `rows` to this table's file in `folder`.
    pub(crate) fn write(
        &self,
        disk: &dyn Disk,
        folder: &Path,
        meta: &RunMeta,
        rows: &[R],
    ) -> Result<StoredFile, StoreError> {
        let columns: Vec<_> = self.columns.iter().map(|column| (column.name, column.kind)).collect();
        let cell = |column: usize, row: usize| (self.columns[column].get)(&rows[row], meta);
        write(disk, &folder.join(self.file), meta, &columns, rows.len(), &cell)?;
        Ok(StoredFile { name: self.file.into(), rows: rows.len() as u64 })
    }
}

/// Writes a table; `cell` gives what is in a column, by its place, and a row.
fn write<'a>(
    disk: &dyn Disk,
    path: &Path,
    meta: &RunMeta,
    columns: &[(&'static str, Kind)],
    rows: usize,
    cell: &dyn Fn(usize, usize) -> Cell<'a>,
) -> Result<(), StoreError> {
    let refused = |source| StoreError::write(path, source);
    let table_error = |source| StoreError::table_write(path, source);
    let file = disk.create(path).map_err(refused)?;
    let mut writer = SerializedFileWriter::new(file, schema(columns).map_err(table_error)?, Arc::new(properties(meta)))
        .map_err(table_error)?;
    let mut write_group = |first: usize, end: usize| {
        let mut group = writer.next_row_group()?;
        for (place, (_, kind)) in columns.iter().enumerate() {
            let mut column = group.next_column()?.ok_or_else(|| ParquetError::General("no such column".into()))?;
            let mut cells = Cells::new(*kind);
            for begin in (first..end).step_by(BATCH_ROWS) {
                cells.clear();
                (begin..end.min(begin + BATCH_ROWS)).for_each(|row| cells.push(cell(place, row)));
                cells.write(&mut column)?;
            }
            column.close()?;
        }
        group.close().map(drop)
    };
    for first in (0..rows).step_by(GROUP_ROWS) {
        write_group(first, rows.min(first + GROUP_ROWS)).map_err(table_error)?;
    }
    writer.finish().map_err(table_error)?;
    writer.inner_mut().sync().map_err(refused)
}

fn properties(meta: &RunMeta) -> WriterProperties {
    let remark = |key: &str, value: String| KeyValue::new(format!("chronoseal.{key}"), value);
    WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(vec![
            remark("schema_version", SCHEMA_VERSION.to_string()),
            remark("scenario", meta.name.clone()),
            remark("engine", meta.engine.name().into()),
            remark("evidence", meta.engine.evidence().into()),
            remark("seed", meta.seed.to_string()),
        ]))
        .build()
}
