//! A Parquet file to rows.

use std::fs::File;
use std::path::Path;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use super::Table;
use super::cells::{Cells, schema};
use super::columns::{Column, Damage, Kind};
use crate::store::StoreError;

/// Rows made at a time; bounds the memory beside that of the rows.
const BATCH_ROWS: usize = 65_536;

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
        let settable = |column: &'static Column<R>| Some((column.name, column.kind, column.set?));
        let columns: Vec<_> = self.columns.iter().filter_map(settable).collect();
        let wanted: Vec<_> = columns.iter().map(|(name, kind, _)| (*name, *kind)).collect();
        let path = folder.join(self.file);
        read(&path, &wanted, &mut |count, batch| {
            let mut rows = vec![blank.clone(); count];
            for ((_, _, set), cells) in columns.iter().zip(batch) {
                let mut each = cells.iter();
                for row in &mut rows {
                    set(row, each.next().transpose()?.unwrap_or(super::columns::Cell::Empty))?;
                }
            }
            Ok(rows.into_iter().try_for_each(&mut *take)?)
        })
    }
}

/// Hands over the wanted columns of a table, a batch of rows at a time. They are looked up by name, so that files with
/// additional columns stay readable.
fn read(
    path: &Path,
    wanted: &[(&'static str, Kind)],
    take: &mut dyn FnMut(usize, &[Cells]) -> Result<(), Fault>,
) -> Result<(), StoreError> {
    let file = File::open(path).map_err(|source| StoreError::read(path, source))?;
    let read = || {
        let file = SerializedFileReader::new(file)?;
        let places = places(file.metadata().file_metadata().schema_descr(), wanted)?;
        let mut batch: Vec<_> = wanted.iter().map(|(_, kind)| Cells::new(*kind)).collect();
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
    batch: &mut [Cells],
    take: &mut dyn FnMut(usize, &[Cells]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut columns = places.iter().map(|place| group.get_column_reader(*place)).collect::<Result<Vec<_>, _>>()?;
    let mut left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
    while left > 0 {
        let count = left.min(BATCH_ROWS);
        for (cells, column) in batch.iter_mut().zip(&mut columns) {
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

/// Where in a file the wanted columns are.
fn places(found: &SchemaDescriptor, wanted: &[(&'static str, Kind)]) -> Result<Vec<usize>, Fault> {
    let form = |leaf: &ColumnDescriptor| {
        (leaf.physical_type(), leaf.converted_type(), leaf.max_def_level(), leaf.max_rep_level())
    };
    let ours = SchemaDescriptor::new(schema(wanted)?);
    let place = |(name, ours): (&'static str, &ColumnDescriptor)| {
        let is_it = |leaf: &ColumnDescriptor| leaf.path().parts()[0] == name && form(leaf) == form(ours);
        found.columns().iter().position(|leaf| is_it(leaf)).ok_or(Damage::Column(name))
    };
    let names = wanted.iter().map(|(name, _)| *name);
    Ok(names.zip(ours.columns()).map(|(name, ours)| place((name, ours))).collect::<Result<_, _>>()?)
}
