//! From values to pixels: ranges, round ticks and their labels.

use crate::document::{Axis, RangeRow, Ranges, number_text};

/// Maps the values of one axis onto pixels.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    log: bool,
    from_px: f64,
    to_px: f64,
}

/// A mark on an axis.
pub(crate) struct Tick {
    /// Where `[pixel]`.
    pub(crate) px: f64,
    /// What it says.
    pub(crate) label: String,
}

impl Scale {
    /// A scale over all `values`; `fixed` overrides their range. An axis without usable values spans 0..1 (or 1..10).
    pub(crate) fn over(
        axis: &Axis,
        values: impl Iterator<Item = f64>,
        fixed: Option<(f64, f64)>,
        (from_px, to_px): (f64, f64),
    ) -> Self {
        let usable = values.filter(|value| value.is_finite() && (!axis.log || *value > 0.0));
        let (low, high) = fixed.unwrap_or_else(|| {
            usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
        });
        let (low, high) = match (low <= high, axis.log) {
            (false, false) => (0.0, 1.0),
            (false, true) => (1.0, 10.0),
            (true, true) if low == high => (low / 2.0, high * 2.0),
            (true, false) if low == high => {
                let room = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
                (low - room, high + room)
            }
            // An axis that starts near zero starts at zero.
            (true, false) if fixed.is_none() && low > 0.0 && low < high * 0.4 => (0.0, high),
            (true, _) => (low, high),
        };
        let mut scale = Self { low, high, log: axis.log, from_px, to_px };
        if fixed.is_none() && !axis.log {
            // Out to the next tick, so that no point lies on the frame.
            let step = scale.step();
            scale.low = (low / step).floor() * step;
            scale.high = (high / step).ceil() * step;
        } else if fixed.is_none() {
            scale.low = low * 0.9;
            scale.high = high * 1.1;
        }
        scale
    }

    /// The scale of a picture of ranges. A linear one begins at zero, so that lengths can be compared; a logarithmic one
    /// begins and ends at 1, 2 or 5 times a power of ten.
    pub(crate) fn of_ranges(ranges: &Ranges, rows: &[&RangeRow], pixels: (f64, f64)) -> Self {
        let axis = ranges.axis(rows);
        let values = || rows.iter().flat_map(|row| row.values()).chain(ranges.lines.iter().map(|(value, _)| *value));
        if !axis.log {
            return Self::over(&axis, values().chain([0.0]), None, pixels);
        }
        let positive = values().filter(|value| *value > 0.0);
        let (low, high) =
            positive.fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
        Self::over(&axis, std::iter::empty(), Some((round(low / 1.1, false), round(high * 1.1, true))), pixels)
    }

    /// True if equal distances are equal ratios.
    pub(crate) fn is_log(&self) -> bool {
        self.log
    }

    /// Where `value` lies between the left end, 0, and the right end, 1. What lies beyond an end is put there.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let span = self.to_px - self.from_px;
        self.px(value).map_or(0.0, |px| ((px - self.from_px) / span).clamp(0.0, 1.0))
    }

    /// Where `value` lies, or `None` if a logarithmic axis cannot show it.
    pub(crate) fn px(&self, value: f64) -> Option<f64> {
        if !value.is_finite() || (self.log && value <= 0.0) {
            return None;
        }
        let map = |value: f64| if self.log { value.log10() } else { value };
        let share = (map(value) - map(self.low)) / (map(self.high) - map(self.low));
        Some(self.from_px + share * (self.to_px - self.from_px))
    }

    /// About one tick each 80 pixels across, each 45 upwards.
    fn tick_count(&self) -> f64 {
        let span = (self.to_px - self.from_px).abs();
        let upwards = self.to_px < self.from_px;
        (span / if upwards { 45.0 } else { 80.0 }).max(2.0)
    }

    /// 1, 2 or 5 times a power of ten.
    fn step(&self) -> f64 {
        let rough = (self.high - self.low) / self.tick_count();
        let power = 10f64.powf(rough.log10().floor());
        let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough * 0.999).unwrap_or(10.0);
        factor * power
    }

    pub(crate) fn ticks(&self) -> Vec<Tick> {
        let values = if self.log { self.log_values() } else { self.linear_values() };
        values.into_iter().filter_map(|(value, label)| self.px(value).map(|px| Tick { px, label })).collect()
    }

    fn linear_values(&self) -> Vec<(f64, String)> {
        let step = self.step();
        let digits = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last.min(first + 100))
            .map(|i| i as f64 * step)
            .map(|value| (value, number_text(value, digits)))
            .collect()
    }

    fn log_values(&self) -> Vec<(f64, String)> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let decades = (self.high / self.low).log10();
        let factors: &[f64] = if decades < 2.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let skip = (decades / self.tick_count()).ceil().max(1.0) as usize;
        (first..=last)
            .step_by(skip)
            .flat_map(|power| factors.iter().map(move |factor| (factor * 10f64.powi(power), power)))
            .filter(|(value, _)| (self.low..=self.high).contains(value))
            .map(|(value, power)| (value, number_text(value, (-power).clamp(0, 9) as usize)))
            .collect()
    }
}

/// The nearest 1, 2 or 5 times a power of ten that is not above `value`, or not below it if `up`.
fn round(value: f64, up: bool) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let factor = match up {
        true => factors.into_iter().find(|factor| factor * power >= value * 0.999_999),
        false => factors.into_iter().rev().find(|factor| factor * power <= value * 1.000_001),
    };
    factor.unwrap_or(1.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<String> {
        scale.ticks().into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round() {
        let scale = Scale::over(&Axis::linear("x", ""), [3.0, 97.0].into_iter(), None, (0.0, 400.0));
        assert_eq!(labels(&scale), ["0", "20", "40", "60", "80", "100"]);
        let scale = Scale::over(&Axis::log("x", ""), [0.2, 900.0].into_iter(), None, (0.0, 400.0));
        assert_eq!(labels(&scale), ["1", "10", "100"].map(String::from).to_vec().as_slice());
    }

    #[test]
    fn odd_ranges_still_have_an_axis() {
        for values in [vec![], vec![f64::NAN], vec![5.0], vec![0.0], vec![-3.0], vec![1e15, 1e15 + 1.0], vec![1e-12]] {
            for log in [false, true] {
                let axis = Axis { log, ..Axis::linear("x", "") };
                let scale = Scale::over(&axis, values.iter().copied(), None, (40.0, 300.0));
                assert!(!scale.ticks().is_empty(), "{values:?} log {log}");
                assert!(scale.ticks().iter().all(|tick| tick.px.is_finite()));
            }
        }
    }
}
