//! Network calculus against bounds that others computed, against exact worst cases, and in properties.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod afdx;
mod closed_forms;
mod curves;
mod demo;
mod dnc;
mod once;
mod properties;
mod saihu;
mod simulated;
mod simulated_classes;
mod simulated_port;
mod simulation;

use chronoseal_analysis::calculus::{ArrivalCurve, RateLatency, Rational, ServiceCurve};
use serde_json::Value;

/// A number as the vectors write it: a string with a fraction, or a JSON number in decimals.
fn number(value: &Value) -> Rational {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let Some((whole, decimals)) = text.split_once('.') else { return text.parse().unwrap() };
    format!("{whole}{decimals}/1{}", "0".repeat(decimals.len())).parse().unwrap()
}

fn bucket(rate: Rational, burst: Rational) -> ArrivalCurve {
    ArrivalCurve::bucket(rate, burst).unwrap()
}

fn server(pieces: &[(Rational, Rational)]) -> ServiceCurve {
    let piece = |(rate, latency): &(Rational, Rational)| RateLatency { rate: rate.clone(), latency: latency.clone() };
    ServiceCurve::most_of(pieces.iter().map(piece)).unwrap()
}
