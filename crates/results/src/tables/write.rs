//! Rows to a Parquet file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, GzipLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

use super::Table;
use super::cells::{Cells, schema};
use super::columns::{Head, Kind};
use crate::disk::{Disk, DiskFile};
use crate::store::{SCHEMA_VERSION, StoreError, StoredFile};
use crate::{Engine, RunMeta};

/// Rows of one group of a file. So many wait in memory.
const GROUP_ROWS: usize = 65_536;

/// A table that is being written.
pub(crate) struct TableWriter<R: 'static> {
    table: &'static Table<R>,
    path: PathBuf,
    file: SerializedFileWriter<Box<dyn DiskFile>>,
    /// Those of the next group.
    rows: Vec<R>,
    written: u64,
}

impl<R: Clone> Table<R> {
    /// Begins this table's file in `folder`.
    pub(crate) fn begin(
        &'static self,
        disk: &dyn Disk,
        folder: &Path,
        meta: &RunMeta,
    ) -> Result<TableWriter<R>, StoreError> {
        let path = folder.join(self.file);
        let file = disk.create(&path).map_err(|source| StoreError::write(&path, source))?;
        let file = schema(&self.heads())
            .and_then(|schema| SerializedFileWriter::new(file, schema, Arc::new(properties(meta, &self.heads()))))
            .map_err(|source| StoreError::table_write(&path, source))?;
        Ok(TableWriter { table: self, path, file, rows: Vec::new(), written: 0 })
    }

    /// Writes `rows` to this table's file in `folder`.
    pub(crate) fn write(
        &'static self,
        disk: &dyn Disk,
        folder: &Path,
        meta: &RunMeta,
        rows: &[R],
    ) -> Result<StoredFile, StoreError> {
        let mut writer = self.begin(disk, folder, meta)?;
        rows.iter().try_for_each(|row| writer.push(meta, row))?;
        writer.finish(meta)
    }
}

impl<R: Clone> TableWriter<R> {
    pub(crate) fn push(&mut self, meta: &RunMeta, row: &R) -> Result<(), StoreError> {
        self.rows.push(row.clone());
        if self.rows.len() < GROUP_ROWS { Ok(()) } else { self.write_group(meta) }
    }

    fn write_group(&mut self, meta: &RunMeta) -> Result<(), StoreError> {
        self.try_write_group(meta).map_err(|source| StoreError::table_write(&self.path, source))?;
        self.written += self.rows.len() as u64;
        self.rows.clear();
        Ok(())
    }

    fn try_write_group(&mut self, meta: &RunMeta) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        let mut columns = self.table.columns.iter();
        while let (Some(mut writer), Some(column)) = (group.next_column()?, columns.next()) {
            let mut cells = Cells::new(column.head.kind);
            self.rows.iter().for_each(|row| cells.push((column.get)(row, meta)));
            cells.write(&mut writer)?;
            writer.close()?;
        }
        group.close().map(drop)
    }

    /// Writes what is left, and waits until all of it is on the disk.
    pub(crate) fn finish(mut self, meta: &RunMeta) -> Result<StoredFile, StoreError> {
        if !self.rows.is_empty() {
            self.write_group(meta)?;
        }
        self.file.finish().map_err(|source| StoreError::table_write(&self.path, source))?;
        self.file.inner_mut().sync().map_err(|source| StoreError::write(&self.path, source))?;
        Ok(StoredFile { name: self.table.file.into(), rows: self.written })
    }
}

/// What rows are of, for whoever reads them.
pub(super) const SCENARIO_HASH: &str = "scenario_hash";

/// The name in the file of a remark of ours.
pub(super) fn remark_key(key: &str) -> String {
    format!("chronoseal.{key}")
}

fn properties(meta: &RunMeta, heads: &[Head]) -> WriterProperties {
    let remark = |key: &str, value: String| KeyValue::new(remark_key(key), value);
    let mut properties =
        WriterProperties::builder().set_compression(Compression::SNAPPY).set_key_value_metadata(Some(vec![
            remark("schema_version", SCHEMA_VERSION.to_string()),
            remark("scenario", meta.name.clone()),
            remark(SCENARIO_HASH, meta.scenario_hash.clone()),
            remark("engine", meta.engine.name().into()),
            remark("evidence", meta.engine.evidence().into()),
            remark("seed", meta.seed.to_string()),
        ]));
    for head in heads.iter().filter(|head| matches!(head.kind, Kind::Int64 | Kind::Uint64)) {
        let column = || ColumnPath::from(head.name);
        properties = properties.set_column_dictionary_enabled(column(), false);
        properties = match head.is_measured && meta.engine == Engine::Live {
            // What is measured scatters: its lower bytes are noise, and its upper ones hardly are.
            true => properties
                .set_column_encoding(column(), Encoding::BYTE_STREAM_SPLIT)
                .set_column_compression(column(), Compression::GZIP(GzipLevel::default())),
            // Times and sequence numbers grow from row to row by little, and hardly any comes twice.
            false => properties.set_column_encoding(column(), Encoding::DELTA_BINARY_PACKED),
        };
    }
    properties.build()
}
