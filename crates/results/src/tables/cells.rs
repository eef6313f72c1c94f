//! The cells of a column as Parquet holds them.

use std::ops::Range;
use std::sync::Arc;

use parquet::basic::{IntType, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;
use parquet::schema::types::{Type, TypePtr};

use super::columns::{Cell, Damage, Head, Kind};
use super::read::Fault;

/// Definition level of an empty cell.
const EMPTY: i16 = 0;
/// Of a value.
const THERE: i16 = 1;
/// Of a list that is there without a number in it.
const NO_NUMBERS: i16 = 1;
/// Of a number in a list. What is below is an empty place in it.
const NUMBER: i16 = 3;

/// The schema of a table with these columns.
pub(super) fn schema(columns: &[Head]) -> Result<TypePtr, ParquetError> {
    let mut fields = Vec::new();
    for head in columns {
        fields.push(Arc::new(field(head.name, head.kind)?));
    }
    Type::group_type_builder("schema").with_fields(fields).build().map(Arc::new)
}

fn field(name: &str, kind: Kind) -> Result<Type, ParquetError> {
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
    pub(super) fn write(&self, column: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
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

    /// Takes up to `count` more cells out of a column of a file, and returns how many there were.
    pub(super) fn read(&mut self, column: &mut ColumnReader, count: usize) -> Result<usize, ParquetError> {
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

    /// Hands over the cells one by one, numbered from 0. A list with an empty place in it counts as empty.
    pub(super) fn each(&self, take: &mut dyn FnMut(usize, Cell<'_>) -> Result<(), Damage>) -> Result<(), Fault> {
        let (mut at, mut value) = (0, 0);
        for number in 0.. {
            let Some(level) = self.levels.get(at) else { break };
            at += 1;
            let cell = if let Some(repeats) = &self.repeats {
                let first = at - 1;
                while repeats.get(at).is_some_and(|repeat| *repeat > 0) {
                    at += 1;
                }
                let list = value;
                value += self.levels[first..at].iter().filter(|level| **level == NUMBER).count();
                match (*level, at - first) {
                    (NO_NUMBERS, 1) => Cell::List([].as_slice().into()),
                    (_, count) if count == value - list => self.values.list(list..value),
                    _ => Cell::Empty,
                }
            } else if *level == THERE {
                value += 1;
                self.values.cell(value - 1)?
            } else {
                Cell::Empty
            };
            take(number, cell)?;
        }
        Ok(())
    }
}

impl Values {
    fn cell(&self, place: usize) -> Result<Cell<'_>, ParquetError> {
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
