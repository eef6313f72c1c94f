//! A Parquet file to rows.

use std::fs::File;
use std::path::Path;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use super::Table;
use super::cells::{Cells, schema};
use super::columns::{Damage, Head};
use super::write::{SCENARIO_HASH, remark_key};
use crate::store::StoreError;

/// Rows made at a time; bounds the memory beside that of the rows.
const BATCH_ROWS: usize = 8_192;

/// Why a table is not read.
pub(super) enum Fault {
    Table(ParquetError),
    Damage(Damage),
}

impl From<ParquetError> for Fault {
    fn from(source: ParquetError) -> Self {
        Self::Table(source)
    }
}

impl From<Damage> for Fault {
    fn from(damage: Damage) -> Self {
        Self::Damage(damage)
    }
}

impl<R: Clone> Table<R> {
    /// All rows of this table's file in `folder`, each made from `blank`.
    pub(super) fn read(&self, folder: &Path, blank: &R) -> Result<Vec<R>, StoreError> {
        let mut all = Vec::new();
        self.read_each(folder, blank, &mut |row| {
            all.push(row);
            Ok(())
        })?;
        Ok(all)
    }

    /// Hands over the rows of this table's file in `folder` one by one, each made from `blank`.
    pub(super) fn read_each(
        &self,
        folder: &Path,
        blank: &R,
        take: &mut dyn FnMut(R) -> Result<(), Damage>,
    ) -> Result<(), StoreError> {
        let is_read = |column: usize| self.columns[column].set.is_some();
        read(&folder.join(self.file), &self.heads(), &is_read, &mut |count, batch| {
            let mut rows = vec![blank.clone(); count];
            for (column, cells) in batch {
                if let Some(set) = self.columns[*column].set {
                    cells.each(&mut |row, cell| set(&mut rows[row], cell))?;
                }
            }
            for row in rows {
                take(row)?;
            }
            Ok(())
        })
    }
}

/// Refuses a table whose rows are of another scenario than that with this hash.
pub(super) fn check_scenario(path: &Path, expected: &str) -> Result<(), StoreError> {
    let file = File::open(path).map_err(|source| StoreError::read(path, source))?;
    let reader = SerializedFileReader::new(file).map_err(|source| StoreError::Table { path: path.into(), source })?;
    let remarks = reader.metadata().file_metadata().key_value_metadata();
    let found = remarks.into_iter().flatten().find(|remark| remark.key == remark_key(SCENARIO_HASH));
    match found.and_then(|remark| remark.value.clone()).filter(|found| found != expected) {
        None => Ok(()),
        Some(found) => {
            let damage = Damage::Scenario { found, expected: expected.to_owned() };
            Err(StoreError::Damaged { path: path.into(), damage })
        }
    }
}

/// Takes so many rows: the cells of some columns, each with its place in the table.
type Take<'a> = dyn FnMut(usize, &[(usize, Cells)]) -> Result<(), Fault> + 'a;

/// Hands over columns of a table, a batch of rows at a time. They are looked up by name, so that files with additional columns
/// stay readable.
fn read(path: &Path, heads: &[Head], is_read: &dyn Fn(usize) -> bool, take: &mut Take<'_>) -> Result<(), StoreError> {
    let file = File::open(path).map_err(|source| StoreError::read(path, source))?;
    let read = || {
        let file = SerializedFileReader::new(file)?;
        let found = file.metadata().file_metadata().schema_descr();
        let ours = SchemaDescriptor::new(schema(heads)?);
        let (mut places, mut batch) = (Vec::new(), Vec::new());
        for (column, head) in heads.iter().enumerate().filter(|(column, _)| is_read(*column)) {
            places.push(place_of(head.name, &ours.column(column), found)?);
            batch.push((column, Cells::new(head.kind)));
        }
        for group in 0..file.num_row_groups() {
            read_group(&*file.get_row_group(group)?, &places, &mut batch, take)?;
        }
        Ok(())
    };
    read().map_err(|fault| match fault {
        Fault::Table(source) => StoreError::Table { path: path.into(), source },
        Fault::Damage(damage) => StoreError::Damaged { path: path.into(), damage },
    })
}

fn read_group(
    group: &dyn RowGroupReader,
    places: &[usize],
    batch: &mut [(usize, Cells)],
    take: &mut Take<'_>,
) -> Result<(), Fault> {
    let mut columns = places.iter().map(|place| group.get_column_reader(*place)).collect::<Result<Vec<_>, _>>()?;
    let mut left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
    while left > 0 {
        let count = left.min(BATCH_ROWS);
        for ((_, cells), column) in batch.iter_mut().zip(&mut columns) {
            cells.clear();
            if cells.read(column, count)? != count {
                return Err(ParquetError::EOF("a column ends before the last row".into()).into());
            }
        }
        take(count, batch)?;
        left -= count;
    }
    Ok(())
}

/// Where in a file the column is that has this name and the form of ours.
fn place_of(name: &'static str, ours: &ColumnDescriptor, found: &SchemaDescriptor) -> Result<usize, Damage> {
    let form = |leaf: &ColumnDescriptor| {
        (leaf.physical_type(), leaf.converted_type(), leaf.max_def_level(), leaf.max_rep_level())
    };
    let is_it = |leaf: &ColumnDescriptor| leaf.path().parts()[0] == name && form(leaf) == form(ours);
    found.columns().iter().position(|leaf| is_it(leaf)).ok_or(Damage::Column(name))
}
