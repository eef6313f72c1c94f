//! Streams that are alike, as instances of one, share a row of a picture.

use std::collections::BTreeMap;

use super::{Mark, RangeRow, Ranges};

impl Ranges {
    /// The same with one row for the instances of a stream: that of the one that is the slowest, seen and bounded. An instance with
    /// which something is wrong, or that differs in more than its values, keeps a row of its own.
    pub fn gathered(&self) -> Self {
        let mut rows: Vec<RangeRow> = Vec::new();
        let mut groups: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for row in &self.rows {
            let is_quiet = row.findings().is_empty() && row.mark == Mark::None;
            if row.instance_of.is_empty() || !is_quiet {
                rows.push(row.clone());
                continue;
            }
            match groups.get_mut(&*row.instance_of) {
                Some((place, count)) if rows[*place].is_like(row) => {
                    rows[*place].take_in(row);
                    *count += 1;
                }
                Some(_) => rows.push(row.clone()),
                None => {
                    groups.insert(&row.instance_of, (rows.len(), 1));
                    rows.push(row.clone());
                }
            }
        }
        for (name, (place, count)) in groups.into_iter().filter(|(_, (_, count))| *count > 1) {
            let row = &mut rows[place];
            row.name = name.into();
            row.note = format!("slowest of {count}: {}", row.note);
        }
        Self { rows, ..self.clone() }
    }
}

impl RangeRow {
    /// True if only values differ.
    fn is_like(&self, other: &Self) -> bool {
        let sources =
            |row: &Self| row.spreads.iter().map(|spread| (spread.evidence, spread.note.clone())).collect::<Vec<_>>();
        let limits = |row: &Self| (row.deadline, row.no_deadline.clone(), row.bound.is_some(), row.unbounded.clone());
        self.note == other.note
            && limits(self) == limits(other)
            && sources(self) == sources(other)
            && self.absent == other.absent
    }

    /// Keeps the slower of both, each value for itself.
    fn take_in(&mut self, other: &Self) {
        if let (Some(own), Some(bound)) = (&mut self.bound, &other.bound)
            && bound.total > own.total
        {
            own.clone_from(bound);
        }
        for (own, spread) in self.spreads.iter_mut().zip(&other.spreads) {
            if spread.max > own.max {
                own.clone_from(spread);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Evidence, RangeBound, RangeSpread};
    use super::*;

    fn row(instance: usize, max: f64, bound: f64) -> RangeRow {
        let spread = RangeSpread {
            evidence: Evidence::Simulated,
            note: String::new(),
            n: 10,
            min: 1.0,
            median: None,
            p99: None,
            max,
            parts: Vec::new(),
            tukey: None,
        };
        RangeRow {
            name: format!("speed.{instance}"),
            instance_of: "speed".into(),
            note: "a \u{2192} b".into(),
            deadline: Some(100.0),
            bound: Some(RangeBound { total: bound, parts: Vec::new() }),
            spreads: vec![spread],
            ..RangeRow::default()
        }
    }

    fn names(rows: Vec<RangeRow>) -> Vec<String> {
        let picture = Ranges {
            caption: String::new(),
            quantity: String::new(),
            unit: String::new(),
            hops: Vec::new(),
            rows,
            footnotes: Vec::new(),
            lines: Vec::new(),
            is_log: false,
        };
        picture.gathered().rows.into_iter().map(|row| format!("{}, {}", row.name, row.note)).collect()
    }

    #[test]
    fn instances_share_a_row_with_the_slowest_values() {
        let rows = vec![row(0, 20.0, 50.0), row(1, 30.0, 40.0), RangeRow { name: "other".into(), ..row(0, 1.0, 1.0) }];
        let rows: Vec<RangeRow> = rows
            .into_iter()
            .map(|row| match &*row.name {
                "other" => RangeRow { instance_of: String::new(), ..row },
                _ => row,
            })
            .collect();
        assert_eq!(names(rows), ["speed, slowest of 2: a \u{2192} b", "other, a \u{2192} b"]);
        let mut first = row(0, 20.0, 50.0);
        first.take_in(&row(1, 30.0, 40.0));
        assert_eq!((first.spreads[0].max, first.bound.unwrap().total), (30.0, 50.0));
    }

    #[test]
    fn an_instance_that_is_late_or_has_another_deadline_has_a_row_of_its_own() {
        let late = row(1, 130.0, 140.0);
        assert_eq!(names(vec![row(0, 20.0, 50.0), late]).len(), 2);
        let other = RangeRow { deadline: Some(200.0), ..row(1, 20.0, 50.0) };
        assert_eq!(names(vec![row(0, 20.0, 50.0), other])[1], "speed.1, a \u{2192} b");
        assert_eq!(names(vec![row(0, 20.0, 50.0)]), ["speed.0, a \u{2192} b"]);
    }
}
