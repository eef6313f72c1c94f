//! Rows to a Parquet file.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};

use super::Table;
use super::cells::{Cells, schema};
use super::columns::{Cell, Head};
use crate::RunMeta;
use crate::disk::{Disk, DiskFile};
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
        let cell = |column: usize, row: usize| (self.columns[column].get)(&rows[row], meta);
        write(disk, &folder.join(self.file), meta, &self.heads(), rows.len(), &cell)?;
        Ok(StoredFile { name: self.file.into(), rows: rows.len() as u64 })
    }
}

/// Writes a table; `cell` gives what is in a column, by its place, and a row.
fn write<'a>(
    disk: &dyn Disk,
    path: &Path,
    meta: &RunMeta,
    heads: &[Head],
    rows: usize,
    cell: &dyn Fn(usize, usize) -> Cell<'a>,
) -> Result<(), StoreError> {
    let refused = |source| StoreError::write(path, source);
    let table_error = |source| StoreError::table_write(path, source);
    let file = disk.create(path).map_err(refused)?;
    let schema = schema(heads).map_err(table_error)?;
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties(meta))).map_err(table_error)?;
    for first in (0..rows).step_by(GROUP_ROWS) {
        let group = writer.next_row_group().map_err(table_error)?;
        write_group(group, heads, first..rows.min(first + GROUP_ROWS), cell).map_err(table_error)?;
    }
    writer.finish().map_err(table_error)?;
    writer.inner_mut().sync().map_err(refused)
}

fn write_group<'a>(
    mut group: SerializedRowGroupWriter<'_, Box<dyn DiskFile>>,
    heads: &[Head],
    rows: Range<usize>,
    cell: &dyn Fn(usize, usize) -> Cell<'a>,
) -> Result<(), ParquetError> {
    let mut place = 0;
    while let Some(mut column) = group.next_column()? {
        let mut cells = Cells::new(heads[place].kind);
        for first in rows.clone().step_by(BATCH_ROWS) {
            cells.clear();
            for row in first..rows.end.min(first + BATCH_ROWS) {
                cells.push(cell(place, row));
            }
            cells.write(&mut column)?;
        }
        column.close()?;
        place += 1;
    }
    group.close().map(drop)
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
