//! Rows of a CSV with a header, whatever they mean.

use std::ops::Range;

use crate::near::nearest;
use crate::problem::{Code, Problem, Problems};
use crate::shape::shortened;

/// What a table looks like.
pub(super) struct Layout {
    /// Columns that have to be there.
    pub(super) required: &'static [&'static str],
    /// Columns that may be there.
    pub(super) optional: &'static [&'static str],
    /// What is in a row, several of them.
    pub(super) what: &'static str,
    /// At most so many rows.
    pub(super) rows_max: usize,
    /// How to write such a table.
    pub(super) example: &'static str,
}

/// One row.
pub(super) struct Row {
    /// The fields in the order of the layout; empty where there is no such column.
    pub(super) fields: Vec<String>,
    /// Where it stands.
    pub(super) span: Range<usize>,
}

impl Layout {
    /// The rows of a table; remarks begin with `#`. What cannot be read is reported.
    ///
    /// # Errors
    /// A header that does not suit the layout.
    pub(super) fn rows(&self, text: &str, problems: &mut Problems) -> Result<Vec<Row>, Problems> {
        let mut reader = csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .trim(csv::Trim::All)
            .flexible(true)
            .has_headers(false)
            .from_reader(text.as_bytes());
        let mut columns: Option<Vec<usize>> = None;
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    let message = format!("the table cannot be read: {error}");
                    problems.push(Problem::new(Code::ImportCsv, message).help(self.example));
                    break;
                }
            };
            let span = line(text, record.position().map_or(0, |position| position.byte() as usize));
            let Some(columns) = &columns else {
                columns = Some(self.header(&record, span, problems)?);
                continue;
            };
            if rows.len() >= self.rows_max {
                problems.push(
                    Problem::new(Code::TooMany, format!("the table has more than {} {}", self.rows_max, self.what))
                        .label(span, "too many")
                        .help("split the table"),
                );
                break;
            }
            let field = |column: &usize| record.get(*column).unwrap_or("").to_owned();
            rows.push(Row { fields: columns.iter().map(field).collect(), span });
        }
        Ok(rows)
    }

    /// Where each column stands; `usize::MAX` if it does not.
    fn header(
        &self,
        record: &csv::StringRecord,
        span: Range<usize>,
        problems: &mut Problems,
    ) -> Result<Vec<usize>, Problems> {
        let known: Vec<&str> = self.required.iter().chain(self.optional).copied().collect();
        for column in record.iter().filter(|column| !known.contains(column)) {
            let near = nearest(column, known.iter().copied())
                .map_or(self.example.into(), |name| format!("did you mean `{name}`?"));
            problems.push(
                Problem::new(Code::ImportCsv, format!("there is no column `{}`", shortened(column)))
                    .label(span.clone(), "header")
                    .help(near),
            );
        }
        let position = |name: &&str| record.iter().position(|column| column == *name);
        for name in self.required.iter().filter(|name| position(name).is_none()) {
            problems.push(
                Problem::new(Code::ImportCsv, format!("the column `{name}` is missing"))
                    .label(span.clone(), "header")
                    .help(self.example),
            );
        }
        problems.clone().or(known.iter().map(|name| position(name).unwrap_or(usize::MAX)).collect())
    }
}

/// The line of the record that begins at the byte `at`, or after blank lines and remarks there.
pub(super) fn line(text: &str, at: usize) -> Range<usize> {
    let mut start = at.min(text.len());
    for line in text.get(start..).unwrap_or("").split_inclusive('\n') {
        if !line.trim().is_empty() && !line.starts_with('#') {
            return start..start + line.trim_end().len();
        }
        start += line.len();
    }
    0..0
}
