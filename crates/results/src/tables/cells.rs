//! The cells of a column as Parquet holds them.

use std::ops::Range;
use std::sync::Arc;

use parquet::basic::{IntType, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::SerializedColumnWriter;
use parquet::schema::types::{Type, TypePtr};

use super::columns::{Cell, Kind};

/// Definition level of an empty cell.
const EMPTY: i16 = 0;
/// Of a value.
const THERE: i16 = 1;
/// Of a list that is there without a number in it.
const NO_NUMBERS: i16 = 1;
/// Of a number in a list. What is below is an empty place in it.
const NUMBER: i16 = 3;

/// The schema of a table with these columns.
pub(super) fn schema(columns: &[(&'static str, Kind)]) -> Result<TypePtr> {
    let fields = columns.iter().map(|(name, kind)| field(name, *kind).map(Arc::new)).collect::<Result<_>>()?;
    Type::group_type_builder("schema").with_fields(fields).build().map(Arc::new)
}

fn field(name: &str, kind: Kind) -> Result<Type> {
    let unsigned = |bit_width| Some(LogicalType::Integer(IntType { bit_width, is_signed: false }));
    let (physical, logical) = match kind {
        Kind::Boolean => (Physical::BOOLEAN, None),
        Kind::Uint16 => (Physical::INT32, unsigned(16)),
        Kind::Uint32 => (Physical::INT32, unsigned(32)),
        Kind::Uint64 => (Physical::INT64, unsigned(64)),
        Kind::Int64 => (Physical::INT64, None),
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Uint64List => {
            let group = |name, repetition, logical, field| {
                Type::group_type_builder(name)
                    .with_repetition(repetition)
                    .with_logical_type(logical)
                    .with_fields(vec![Arc::new(field)])
                    .build()
            };
            let numbers = group("list", Repetition::REPEATED, None, field("item", Kind::Uint64)?)?;
            return group(name, Repetition::OPTIONAL, Some(LogicalType::List), numbers);
        }
    };
    Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
}

/// Some cells of a column: the values that are there, and levels that say where none is.
pub(super) struct Cells {
    /// Definition levels, one for each cell; of lists, one for each number, and one for each list without any.
    levels: Vec<i16>,
    /// Repetition levels of lists: 0 where one begins, 1 where it goes on.
    repeats: Option<Vec<i16>>,
    values: Values,
}

enum Values {
    Booleans(Vec<bool>),
    Words(Vec<i32>),
    Longs(Vec<i64>),
    Texts(Vec<ByteArray>),
}

impl Cells {
    pub(super) fn new(kind: Kind) -> Self {
        let values = match kind {
            Kind::Boolean => Values::Booleans(Vec::new()),
            Kind::Uint16 | Kind::Uint32 => Values::Words(Vec::new()),
            Kind::Uint64 | Kind::Int64 | Kind::Uint64List => Values::Longs(Vec::new()),
            Kind::Text => Values::Texts(Vec::new()),
        };
        Self { levels: Vec::new(), repeats: (kind == Kind::Uint64List).then(Vec::new), values }
    }

    pub(super) fn clear(&mut self) {
        self.levels.clear();
        if let Some(repeats) = &mut self.repeats {
            repeats.clear();
        }
        match &mut self.values {
            Values::Booleans(values) => values.clear(),
            Values::Words(values) => values.clear(),
            Values::Longs(values) => values.clear(),
            Values::Texts(values) => values.clear(),
        }
    }

    /// Adds a cell. It is of the column's kind, or empty.
    pub(super) fn push(&mut self, cell: Cell<'_>) {
        let mut levels = (THERE, 1);
        match (cell, &mut self.values) {
            (Cell::Boolean(value), Values::Booleans(values)) => values.push(value),
            (Cell::Number(number), Values::Words(values)) => values.push(number as i32),
            (Cell::Number(number), Values::Longs(values)) => values.push(number),
            (Cell::Text(text), Values::Texts(values)) => values.push(text.into_owned().into_bytes().into()),
            (Cell::List(numbers), Values::Longs(values)) => {
                values.extend(numbers.iter().map(|number| *number as i64));
                levels = if numbers.is_empty() { (NO_NUMBERS, 1) } else { (NUMBER, numbers.len()) };
            }
            _ => levels = (EMPTY, 1),
        }
        let (level, count) = levels;
        self.levels.extend(std::iter::repeat_n(level, count));
        if let Some(repeats) = &mut self.repeats {
            repeats.push(0);
            repeats.extend(std::iter::repeat_n(1, count - 1));
        }
    }

    /// Appends all cells to a column of a file.
    pub(super) fn write(&self, column: &mut SerializedColumnWriter<'_>) -> Result<()> {
        let (levels, repeats) = (Some(&self.levels[..]), self.repeats.as_deref());
        match (column.untyped(), &self.values) {
            (ColumnWriter::BoolColumnWriter(column), Values::Booleans(values)) => {
                column.write_batch(values, levels, repeats)
            }
            (ColumnWriter::Int32ColumnWriter(column), Values::Words(values)) => {
                column.write_batch(values, levels, repeats)
            }
            (ColumnWriter::Int64ColumnWriter(column), Values::Longs(values)) => {
                column.write_batch(values, levels, repeats)
            }
            (ColumnWriter::ByteArrayColumnWriter(column), Values::Texts(values)) => {
                column.write_batch(values, levels, repeats)
            }
            _ => Err(another_type()),
        }?;
        Ok(())
    }

    /// Takes up to `count` more cells out of a column of a file; tells how many there were.
    pub(super) fn read(&mut self, column: &mut ColumnReader, count: usize) -> Result<usize> {
        let (levels, repeats) = (Some(&mut self.levels), self.repeats.as_mut());
        let (cells, _, _) = match (column, &mut self.values) {
            (ColumnReader::BoolColumnReader(column), Values::Booleans(values)) => {
                column.read_records(count, levels, repeats, values)
            }
            (ColumnReader::Int32ColumnReader(column), Values::Words(values)) => {
                column.read_records(count, levels, repeats, values)
            }
            (ColumnReader::Int64ColumnReader(column), Values::Longs(values)) => {
                column.read_records(count, levels, repeats, values)
            }
            (ColumnReader::ByteArrayColumnReader(column), Values::Texts(values)) => {
                column.read_records(count, levels, repeats, values)
            }
            _ => Err(another_type()),
        }?;
        Ok(cells)
    }

    /// The cells, one by one. A list with an empty place in it counts as empty.
    pub(super) fn iter(&self) -> impl Iterator<Item = Result<Cell<'_>>> {
        let (mut level, mut value) = (0, 0);
        std::iter::from_fn(move || {
            let first = level;
            let there = *self.levels.get(first)?;
            level += 1;
            let Some(repeats) = &self.repeats else {
                let cell = if there == THERE { self.values.cell(value) } else { Ok(Cell::Empty) };
                value += usize::from(there == THERE);
                return Some(cell);
            };
            while repeats.get(level).is_some_and(|repeat| *repeat > 0) {
                level += 1;
            }
            let levels = &self.levels[first..level];
            let from = value;
            value += levels.iter().filter(|level| **level == NUMBER).count();
            Some(Ok(match levels {
                [NO_NUMBERS] => Cell::List(Vec::new().into()),
                levels if levels.iter().all(|level| *level == NUMBER) => self.values.list(from..value),
                _ => Cell::Empty,
            }))
        })
    }
}

impl Values {
    fn cell(&self, place: usize) -> Result<Cell<'_>> {
        Ok(match self {
            Self::Booleans(values) => Cell::Boolean(values[place]),
            Self::Words(values) => Cell::Number(values[place].into()),
            Self::Longs(values) => Cell::Number(values[place]),
            Self::Texts(values) => Cell::Text(values[place].as_utf8()?.into()),
        })
    }

    fn list(&self, places: Range<usize>) -> Cell<'_> {
        match self {
            Self::Longs(values) => Cell::List(values[places].iter().map(|value| *value as u64).collect()),
            _ => Cell::Empty,
        }
    }
}

fn another_type() -> ParquetError {
    ParquetError::General("a column of another type".into())
}
