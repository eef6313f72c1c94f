//! What security alone costs: a configuration held against the one that differs from it in its protection only.

use std::collections::BTreeMap;

use chronoseal_core::statistics::Interval;
use chronoseal_report::{Cell, Evidence, Table};

use crate::{Adapter, Configuration, Measured};

/// Fewer pairs of runs make no interval that is worth printing.
pub const REPETITIONS_MIN: usize = 10;

/// What each run of each configuration came to, by the number of the round. In a round all configurations run after each other, so that what the
/// host does meanwhile is in both of a pair.
#[derive(Clone, Debug, Default)]
pub struct Repetitions(BTreeMap<(String, usize), Figures>);

#[derive(Clone, Copy, Debug)]
struct Figures {
    median_ns: Option<f64>,
    processor_ns: Option<f64>,
    serialization_ns: Option<f64>,
}

impl Repetitions {
    /// A run of a round.
    pub fn add(&mut self, configuration: &str, round: usize, measured: &Measured) {
        let median_ns = measured.latency.as_ref().and_then(|latency| latency.p50_ns).map(|ns| ns as f64);
        let processor_ns = measured.processor_per_message_ns();
        let serialization_ns = measured.serialization_ns.map(|ns| ns as f64);
        let figures = Figures { median_ns, processor_ns, serialization_ns };
        self.0.insert((configuration.to_owned(), round), figures);
    }

    /// The median latency of each of its rounds `[ns]`.
    pub(crate) fn medians(&self, name: &str) -> Vec<f64> {
        let of = self.0.iter().filter(|((of, _), _)| of == name);
        of.filter_map(|(_, figures)| figures.median_ns).collect()
    }

    /// What serializing and deserializing a message took in each of its rounds that say so `[ns]`.
    pub(crate) fn serializations(&self, name: &str) -> Vec<f64> {
        let of = self.0.iter().filter(|((of, _), _)| of == name);
        of.filter_map(|(_, figures)| figures.serialization_ns).collect()
    }

    /// The median latency of one less that of the other in each round that has both `[ns]`.
    pub(crate) fn beyond(&self, one: &str, other: &str) -> Vec<f64> {
        self.differences(one, other, |figures| figures.median_ns)
    }

    /// The same less what serializing took of the one, in each round that says it.
    pub(crate) fn beyond_unserialized(&self, one: &str, other: &str) -> Vec<f64> {
        let of_one = self.0.iter().filter(|((name, _), _)| name == one);
        let difference = |((_, round), figures): (&(String, usize), &Figures)| {
            let other = self.0.get(&(other.to_owned(), *round))?;
            Some(figures.median_ns? - figures.serialization_ns? - other.median_ns?)
        };
        of_one.filter_map(difference).collect()
    }

    /// The median latency here less that in the same round there `[ns]`.
    pub(crate) fn beyond_that_of(&self, there: &Self, name: &str) -> Vec<f64> {
        let of = self.0.iter().filter(|((of, _), _)| of == name);
        of.filter_map(|(key, here)| Some(here.median_ns? - there.0.get(key)?.median_ns?)).collect()
    }

    /// One less the other in each round that has both.
    fn differences(&self, one: &str, other: &str, chosen: fn(&Figures) -> Option<f64>) -> Vec<f64> {
        let of_one = self.0.iter().filter(|((name, _), _)| name == one);
        let difference = |((_, round), figures): (&(String, usize), &Figures)| {
            let other = self.0.get(&(other.to_owned(), *round))?;
            Some(chosen(figures)? - chosen(other)?)
        };
        of_one.filter_map(difference).collect()
    }
}

/// The configuration of the same adapter that differs in its protection only.
pub fn plain_of<'a>(adapter: &'a Adapter, configuration: &Configuration) -> Option<&'a Configuration> {
    let name = configuration.plain.as_ref()?;
    adapter.configurations.iter().find(|one| one.name == *name)
}

/// The table of differences, for messages of `length` bytes: each pair `(secured, plain)` with its runs. `what` is in the caption.
pub fn costs<'a>(
    what: &str,
    length: u32,
    pairs: impl Iterator<Item = (&'a Configuration, &'a Configuration)>,
    repetitions: &Repetitions,
) -> Option<Table> {
    let mut table = Table::new(format!("With security, less without: {what}"))
        .words("configuration")
        .words("against")
        .numbers("pairs of runs", "")
        .numbers("median latency", "us")
        .numbers("latency of a byte", "ns")
        .numbers("processor time", "us/message")
        .numbers("processor time of a byte", "ns")
        .footnote(format!(
            "Means of the differences in each round, in which all configurations ran after each other, with Student's interval of 95 %; from {REPETITIONS_MIN} rounds on. \
             An interval with zero in it does not show that there is a cost. Processor time is of all programs, handshakes included. Of a byte: the same, over the {length} bytes of a message."
        ));
    for (secured, plain) in pairs {
        let of = |chosen| repetitions.differences(&secured.name, &plain.name, chosen);
        let (latency, processor) = (of(|figures| figures.median_ns), of(|figures| figures.processor_ns));
        let runs = latency.len().max(processor.len());
        let mut row = vec![secured.cell(), plain.cell(), Cell::count(runs as u64).from(Evidence::Measured)];
        for values in [latency, processor] {
            row.push(cell(&values, 1e-3, 1));
            row.push(cell(&values, 1.0 / f64::from(length.max(1)), 3));
        }
        table.push(row);
    }
    (!table.rows.is_empty()).then_some(table)
}

pub(crate) fn cell(values: &[f64], factor: f64, digits: usize) -> Cell {
    match Interval::of_values(values) {
        Some(interval) if values.len() >= REPETITIONS_MIN => {
            let Interval { estimate, low, high } = interval.scaled(factor);
            Cell::estimate(estimate, [low, high], digits).from(Evidence::Derived)
        }
        _ => Cell::na(format!(
            "not enough repetitions, because {} rounds have all that this figure is made of, and {REPETITIONS_MIN} are needed",
            values.len()
        )),
    }
}

#[cfg(test)]
mod tests {
    use chronoseal_results::Distribution;

    use super::*;
    use crate::{Taken, Wire};

    fn configuration(name: &str, plain: Option<&str>) -> Configuration {
        Configuration {
            name: name.into(),
            title: name.into(),
            published: None,
            security: "none".into(),
            plain: plain.map(Into::into),
            variant: false,
            keys: None,
            wire: Wire::Yes,
            listens: Vec::new(),
            program: vec!["true".into()],
            broker: None,
        }
    }

    fn measured(us: i64, processor_ns: Option<i64>) -> Measured {
        let mut latencies = vec![us * 1_000; 100];
        let programs = vec![Taken { node: "robot".into(), processor_ns, memory: None }];
        Measured { sent: 100, latency: Distribution::of(&mut latencies), programs, ..Measured::default() }
    }

    #[test]
    fn a_cost_is_the_mean_of_differences_within_rounds_and_needs_ten_of_them() {
        let (secured, plain) = (configuration("tls", Some("tcp")), configuration("tcp", None));
        let mut repetitions = Repetitions::default();
        let table = |repetitions: &Repetitions| {
            costs("laser", 1_000, std::iter::once((&secured, &plain)), repetitions).unwrap().rows[0].clone()
        };
        for round in 0..10 {
            assert!(format!("{:?}", table(&repetitions)[3]).contains("not enough repetitions"), "{round}");
            // What the host does in a round is in both.
            let drift = 50 * round as i64;
            repetitions.add("tls", round, &measured(120 + drift + round as i64 % 2, Some(400_000)));
            repetitions.add("tcp", round, &measured(100 + drift, None));
        }
        let row = table(&repetitions);
        assert!(row[3].text.starts_with("20.5"), "{:?}", row[3]);
        assert!(row[4].text.starts_with("20.5"), "{:?}", row[4]);
        assert!(format!("{:?}", row[5]).contains("because 0 rounds"), "{:?}", row[5]);
        assert!(costs("laser", 1, std::iter::empty(), &repetitions).is_none());
    }
}
