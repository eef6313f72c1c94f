//! What the columns of a table are: their names, and how a cell comes from a row and goes back into one.

use std::borrow::Cow;
use std::sync::Arc;

use chronoseal_core::{Duration, SimTime};

use crate::RunMeta;

/// A column of a table with a row for each `R`. Every column may have empty cells, so that every file of a table has the same
/// schema.
pub(super) struct Column<R> {
    pub(super) head: Head,
    /// The cell of a row.
    pub(super) get: for<'a> fn(&'a R, &'a RunMeta) -> Cell<'a>,
    /// Puts a cell into a row; `None` if the column is there for other readers and says nothing new.
    pub(super) set: Option<Set<R>>,
}

/// What a file says of a column.
#[derive(Clone, Copy)]
pub(super) struct Head {
    pub(super) name: &'static str,
    /// What its cells hold.
    pub(super) kind: Kind,
    /// In a live run they are measured, and scatter.
    pub(super) is_measured: bool,
}

impl<R> Column<R> {
    /// A column of the kind of the field that `_place` points at; [`field!`] makes one.
    pub(super) const fn of<T: Value>(
        name: &'static str,
        _place: fn(&R) -> &T,
        get: for<'a> fn(&'a R, &'a RunMeta) -> Cell<'a>,
        set: Set<R>,
    ) -> Self {
        Self { head: Head { name, kind: T::KIND, is_measured: false }, get, set: Some(set) }
    }

    /// A column of texts.
    pub(super) const fn text(
        name: &'static str,
        get: for<'a> fn(&'a R, &'a RunMeta) -> Cell<'a>,
        set: Option<Set<R>>,
    ) -> Self {
        Self { head: Head { name, kind: Kind::Text, is_measured: false }, get, set }
    }
}

/// A column of what is measured in a live run.
pub(super) const fn measured<R>(column: Column<R>) -> Column<R> {
    Column { head: Head { is_measured: true, ..column.head }, ..column }
}

/// Puts a cell into a row.
pub(super) type Set<R> = fn(&mut R, Cell<'_>) -> Result<(), Damage>;

/// What the cells of a column hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Boolean,
    Uint16,
    Uint32,
    Uint64,
    Int64,
    Text,
    /// A list of numbers of 64 bits without a sign.
    Uint64List,
}

/// One cell. A number without a sign of 64 bits is held with the same bits.
pub(super) enum Cell<'a> {
    Empty,
    Boolean(bool),
    Number(i64),
    Text(Cow<'a, str>),
    List(Cow<'a, [u64]>),
}

impl<'a> Cell<'a> {
    /// The text of a cell that may be empty.
    pub(super) fn text(text: Option<&'a str>) -> Self {
        text.map_or(Self::Empty, |text| Self::Text(text.into()))
    }

    /// The text in it, if there is one.
    pub(super) fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The text that must be in a cell of this column.
    pub(super) fn to_text(&self, column: &'static str) -> Result<&str, Damage> {
        self.as_text().ok_or(Damage::Empty(column))
    }
}

/// A value with a kind of column of its own.
pub(super) trait Value: Sized {
    const KIND: Kind;
    fn cell(&self) -> Cell<'_>;
    /// The value of a cell of this kind; `None` if it is empty and must not be.
    fn of(cell: Cell<'_>) -> Option<Self>;
}

/// Numbers, and what is kept as one.
macro_rules! numbers {
    ($($kind:ident: $value:ty, $to:expr, $from:expr;)*) => {$(
        impl Value for $value {
            const KIND: Kind = Kind::$kind;
            fn cell(&self) -> Cell<'_> {
                let to: fn($value) -> i64 = $to;
                Cell::Number(to(*self))
            }
            fn of(cell: Cell<'_>) -> Option<Self> {
                let from: fn(i64) -> $value = $from;
                if let Cell::Number(number) = cell { Some(from(number)) } else { None }
            }
        }
    )*};
}

numbers! {
    Uint16: u16, i64::from, |number| number as u16;
    Uint32: u32, i64::from, |number| number as u32;
    Uint64: u64, |number| number as i64, |number| number as u64;
    Int64: i64, |number| number, |number| number;
    // Whole nanoseconds.
    Int64: Duration, Duration::as_ns, |ns| Duration::from_ps(ns.saturating_mul(1_000));
    Int64: SimTime, |time| time.since_zero().as_ns(), |ns| SimTime::from_ps(ns.saturating_mul(1_000));
}

impl Value for bool {
    const KIND: Kind = Kind::Boolean;
    fn cell(&self) -> Cell<'_> {
        Cell::Boolean(*self)
    }
    fn of(cell: Cell<'_>) -> Option<Self> {
        if let Cell::Boolean(value) = cell { Some(value) } else { None }
    }
}

impl Value for Arc<str> {
    const KIND: Kind = Kind::Text;
    fn cell(&self) -> Cell<'_> {
        Cell::text(Some(self))
    }
    fn of(cell: Cell<'_>) -> Option<Self> {
        cell.as_text().map(Self::from)
    }
}

impl Value for Vec<u64> {
    const KIND: Kind = Kind::Uint64List;
    fn cell(&self) -> Cell<'_> {
        Cell::List(self.into())
    }
    fn of(cell: Cell<'_>) -> Option<Self> {
        if let Cell::List(numbers) = cell { Some(numbers.into_owned()) } else { None }
    }
}

impl<T: Value> Value for Option<T> {
    const KIND: Kind = T::KIND;
    fn cell(&self) -> Cell<'_> {
        self.as_ref().map_or(Cell::Empty, T::cell)
    }
    fn of(cell: Cell<'_>) -> Option<Self> {
        if let Cell::Empty = cell { Some(None) } else { T::of(cell).map(Some) }
    }
}

/// A column that holds a field of its row: `field!("sender_id": sender.0)`.
macro_rules! field {
    ($name:literal: $($place:tt)+) => {
        Column::of(
            $name,
            |row| &row.$($place)+,
            |row, _| row.$($place)+.cell(),
            |row, cell| {
                row.$($place)+ = Value::of(cell).ok_or(Damage::Empty($name))?;
                Ok(())
            },
        )
    };
}

/// A column with the name that the run has for a number: `name!("sender": node_name(sender.0))`.
macro_rules! name {
    ($name:literal: $name_of:ident($($place:tt)+)) => {
        Column::text($name, |row, meta| Cell::Text(meta.$name_of(row.$($place)+).into()), None)
    };
}

/// A column with a time that counts from the first of others of its row that is known, or from the start of the run:
/// `after!("arrived_after_ns": arrived_at, since [sent_at, due_at])`. These stand in columns before it.
macro_rules! after {
    ($name:literal: $($place:ident).+, since [$($($other:ident).+),+]) => {
        columns::measured(Column::of(
            $name,
            |row| &row.$($place).+,
            |row, _| match row.$($place).+.cell() {
                Cell::Number(ns) => Cell::Number(ns.wrapping_sub(columns::first_ns(&[$(row.$($other).+),+]))),
                other => other,
            },
            |row, cell| {
                let cell = match cell {
                    Cell::Number(after) => Cell::Number(after.wrapping_add(columns::first_ns(&[$(row.$($other).+),+]))),
                    other => other,
                };
                row.$($place).+ = Value::of(cell).ok_or(Damage::Empty($name))?;
                Ok(())
            },
        ))
    };
}

/// The first time that is known, or 0 `[ns]`.
pub(super) fn first_ns(times: &[Option<SimTime>]) -> i64 {
    times.iter().flatten().next().map_or(0, |time| time.since_zero().as_ns())
}

pub(super) use {after, field, name};

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
    /// Its rows are of another run than the manifest beside it.
    #[error("its rows are of scenario {found}, and the manifest is of {expected}")]
    Scenario {
        /// The hash of the scenario of its rows.
        found: String,
        /// That of the manifest.
        expected: String,
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

/// What bears a name.
pub(super) fn named<T: Copy>(
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
    name: &str,
    what: &'static str,
) -> Result<T, Damage> {
    all.iter().copied().find(|&item| name_of(item) == name).ok_or_else(|| Damage::Name { what, name: name.into() })
}
