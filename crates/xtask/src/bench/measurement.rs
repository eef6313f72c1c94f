//! What an engine prints, read back.

use serde_json::Value;

/// One run of one engine.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Measurement {
    pub(super) simulated_ms: u64,
    pub(super) frames_delivered: u64,
    pub(super) frames_per_cpu_s: f64,
    /// In the order of `peers/star.csv`; empty if the engine does not say.
    pub(super) flows: Vec<Flow>,
}

/// One flow of one run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Flow {
    pub(super) count: u64,
    pub(super) latency_mean_ns: f64,
    /// Whole: some engines print a fraction of nanoseconds, all of them compare exactly.
    pub(super) latency_max_ps: i64,
}

impl Measurement {
    /// Reads the one JSON object an engine prints.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("prints no JSON object: {error}"))?;
        let number = |key: &str| value[key].as_f64().ok_or(format!("prints no number `{key}`"));
        let simulated_s = number("simulated_s")?;
        if simulated_s <= 0.0 {
            return Err("simulated no time".into());
        }
        let flows = value["flows"].as_array().into_iter().flatten().map(Flow::parse).collect::<Result<_, _>>()?;
        Ok(Self {
            simulated_ms: (simulated_s * 1e3).round() as u64,
            frames_delivered: value["frames_delivered"].as_u64().ok_or("prints no number `frames_delivered`")?,
            frames_per_cpu_s: number("frames_per_cpu_s")?,
            flows,
        })
    }
}

impl Flow {
    fn parse(value: &Value) -> Result<Self, String> {
        let missing = |key: &str| format!("prints a flow without `{key}`");
        let number = |key: &str| value[key].as_f64().ok_or_else(|| missing(key));
        Ok(Self {
            count: value["count"].as_u64().ok_or_else(|| missing("count"))?,
            latency_mean_ns: number("latency_mean_ns")?,
            latency_max_ps: (number("latency_max_ns")? * 1e3).round() as i64,
        })
    }
}

/// The middle of the sorted values, the lower of two; the convention of `chronoseal_core::statistics`, of which this is a
/// copy because these chores depend on no crate of ours.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}

/// The 95 % interval of the median of the values, whatever their distribution; `None` of fewer than six.
///
/// # Source
/// H. A. David, H. N. Nagaraja, Order Statistics, 3rd edition, 2003, section 7.1: from the k-th smallest to the k-th largest
/// value, with the largest k for which a fair coin shows fewer than k heads in n throws with at most 2.5 %.
pub(super) fn interval_of_median(values: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    // Of exactly `heads` heads, and of that or fewer.
    let (mut of_heads, mut of_fewer, mut heads) = (0.5f64.powi(i32::try_from(n).ok()?), 0.0, 0);
    while of_fewer + of_heads <= 0.025 && heads < n {
        of_fewer += of_heads;
        of_heads *= (n - heads) as f64 / (heads + 1) as f64;
        heads += 1;
    }
    let least = heads.checked_sub(1)?;
    Some((sorted[least], sorted[n - 1 - least]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_a_peer_prints() {
        let text = r#"{"engine":"x","simulated_s":0.300000,"frames_delivered":7,"cpu_s":0.5,"frames_per_cpu_s":14.0,
            "flows":[{"flow":0,"count":7,"latency_mean_ns":7990.25,"latency_max_ns":15364},
            {"flow":1,"count":7,"latency_mean_ns":7990.25,"latency_max_ns":15364.5}]}"#;
        let run = Measurement::parse(text).unwrap();
        assert_eq!((run.simulated_ms, run.frames_delivered), (300, 7));
        let flow = |latency_max_ps| Flow { count: 7, latency_mean_ns: 7990.25, latency_max_ps };
        assert_eq!(run.flows, [flow(15_364_000), flow(15_364_500)]);
    }

    #[test]
    fn refuses_what_says_too_little() {
        for text in ["", "[]", r#"{"simulated_s":1}"#, r#"{"simulated_s":0,"frames_delivered":1,"frames_per_cpu_s":1}"#]
        {
            assert!(Measurement::parse(text).is_err(), "{text}");
        }
        let text = r#"{"simulated_s":1,"frames_delivered":1,"frames_per_cpu_s":1,"flows":[{"count":1}]}"#;
        assert!(Measurement::parse(text).unwrap_err().contains("latency_mean_ns"));
    }

    #[test]
    fn median_of_odd_and_even_counts() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.0);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn interval_of_the_median_has_the_ranks_of_the_tables() {
        let values = |n: i32| (1..=n).map(|value| f64::from(n + 1 - value)).collect::<Vec<_>>();
        assert_eq!(interval_of_median(&values(5)), None);
        for (n, low, high) in [(6, 1, 6), (8, 1, 8), (9, 2, 8), (11, 2, 10), (31, 10, 22), (100, 40, 61)] {
            assert_eq!(interval_of_median(&values(n)), Some((f64::from(low), f64::from(high))), "n = {n}");
        }
        assert_eq!(interval_of_median(&values(1000)), Some((469.0, 532.0)));
        assert_eq!(interval_of_median(&[]), None);
    }
}
