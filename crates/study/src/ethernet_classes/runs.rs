//! The simulated cells: scenarios of `studies/ethernet-classes/scenarios`, run as any other.

use std::sync::atomic::{AtomicBool, Ordering};

use chronoseal_catalog::Prepared;
use chronoseal_core::{Duration, SimTime};
use chronoseal_results::rows::FrameRow;
use chronoseal_runner::simulate;
use chronoseal_scenario::{NoFiles, Scenario};

use super::published::Protocol;
use crate::StudyError;

macro_rules! scenario {
    ($file:literal) => {
        include_str!(concat!("../../../../studies/ethernet-classes/scenarios/", $file))
    };
}

pub(super) use scenario;

const TTE: &str = scenario!("tte.toml");
const RC: &str = scenario!("rc.toml");
const BE: &str = scenario!("be.toml");
const UDP: &str = scenario!("udp.toml");
const TSN: &str = scenario!("tsn.toml");
const FLOOD_50: &str = scenario!("flood-50.toml");
const FLOOD_100: &str = scenario!("flood-100.toml");

/// Messages that are due in this time are counted: a thousand.
const COUNTED: Duration = Duration::from_s(2);
/// The headers of IPv4 and UDP, which stand before the payload `[byte]`.
pub(super) const HEADERS: u32 = 20 + 8;

/// What became of the messages of one run.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    /// Latencies of those that were accepted, from when they were due to when the application had them `[us]`.
    pub(super) latencies: Vec<f64>,
    /// Those that were lost.
    pub(super) lost: u64,
}

impl Cell {
    /// What became of messages that were due in two seconds from then on.
    pub(super) fn of<'r>(rows: impl Iterator<Item = &'r FrameRow>, from: SimTime) -> Self {
        let mut cell = Self::default();
        for row in rows {
            let due_at = row.due_at.unwrap_or(row.cycle_start);
            if due_at < from || due_at >= from + COUNTED {
                continue;
            }
            // The run goes on for longer than any message is under way.
            match row.latency() {
                Some(latency) => cell.latencies.push(latency.as_us_f64()),
                None => cell.lost += 1,
            }
        }
        cell
    }

    pub(super) fn n(&self) -> u64 {
        self.latencies.len() as u64 + self.lost
    }

    pub(super) fn mean(&self) -> Option<f64> {
        let n = self.latencies.len();
        (n > 0).then(|| self.latencies.iter().sum::<f64>() / n as f64)
    }

    /// The standard deviation of a sample.
    pub(super) fn sd(&self) -> Option<f64> {
        let mean = self.mean()?;
        let n = self.latencies.len();
        let squares: f64 = self.latencies.iter().map(|latency| (latency - mean).powi(2)).sum();
        (n > 1).then(|| (squares / (n - 1) as f64).sqrt())
    }
}

/// What carries the messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    /// One of those that the source measured.
    Printed(Protocol),
    /// Gates of IEEE 802.1Qbv in place of slots.
    Tsn,
}

/// One question to the simulator.
#[derive(Clone, Debug)]
pub(super) struct Question<'a> {
    pub(super) class: Class,
    pub(super) payload: u32,
    pub(super) saturation: u32,
    pub(super) seed: u64,
    /// Further overrides.
    pub(super) sets: &'a [(&'a str, &'a str)],
}

impl Question<'_> {
    /// What of a frame is payload of Ethernet `[byte]`. The last byte of a virtual link's UDP payload is its sequence number, which
    /// the class adds.
    fn payload_len(&self) -> u32 {
        let sequence_number = u32::from(self.class == Class::Printed(Protocol::Rc));
        self.payload + HEADERS - sequence_number
    }

    fn scenario(&self) -> Result<Scenario, StudyError> {
        let (name, class) = match self.class {
            Class::Printed(Protocol::Tte) => ("tte.toml", TTE),
            Class::Printed(Protocol::Rc) => ("rc.toml", RC),
            Class::Printed(Protocol::Be) => ("be.toml", BE),
            Class::Printed(Protocol::Udp) => ("udp.toml", UDP),
            Class::Tsn => ("tsn.toml", TSN),
        };
        let flood = match self.saturation {
            0 => "",
            50 => FLOOD_50,
            _ => FLOOD_100,
        };
        let mut sets = vec![
            ("seed".to_owned(), self.seed.to_string()),
            ("streams.message.length".to_owned(), format!("{}B", self.payload_len())),
        ];
        sets.extend(self.sets.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())));
        let text = format!("{class}{flood}");
        Scenario::load(name, text.as_bytes(), &sets, &NoFiles)
            .map_err(|problems| StudyError::Scenario(problems.render()))
    }

    /// Simulates it; `None` if the study was stopped.
    pub(super) fn ask(&self, stop: &AtomicBool) -> Result<Option<Cell>, StudyError> {
        let scenario = self.scenario()?;
        let run = simulate(&Prepared::new(&scenario.plan)?, false, &mut |_| !stop.load(Ordering::Relaxed))?;
        if run.rows.interrupted {
            return Ok(None);
        }
        let message = scenario.plan.streams.iter().position(|stream| stream.name == "message");
        let rows = run.rows.frames.iter().filter(|row| Some(row.stream.index()) == message);
        Ok(Some(Cell::of(rows, SimTime::ZERO)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ethernet_classes::published::SATURATIONS;

    #[test]
    fn every_scenario_of_the_study_loads_and_has_a_schedule() {
        for class in Protocol::ALL.map(Class::Printed).into_iter().chain([Class::Tsn]) {
            for saturation in SATURATIONS {
                let question = Question { class, payload: 1472, saturation, seed: 1, sets: &[] };
                let scenario = question.scenario().unwrap_or_else(|error| panic!("{class:?}: {error}"));
                if let Err(error) = Prepared::new(&scenario.plan) {
                    panic!("{class:?} at {saturation} %: {error}");
                }
            }
        }
    }

    #[test]
    fn a_cell_counts_what_was_accepted_and_what_was_lost() {
        let cell = Cell { latencies: vec![1.0, 2.0, 6.0], lost: 2 };
        assert_eq!((cell.n(), cell.mean(), cell.sd()), (5, Some(3.0), Some(7f64.sqrt())));
        assert_eq!((Cell::default().mean(), Cell::default().sd()), (None, None));
    }
}
