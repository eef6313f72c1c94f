//! Whether engines of the same model delivered the same frames at the same times.

use super::engine::Model;
use super::measurement::Flow;
use super::star::Contestant;

/// All engines count integer nanoseconds or finer; a mean may round `[ns]`.
const MEAN_TOLERANCE_NS: f64 = 1.0;

/// What does not agree, one sentence each.
pub(super) fn differences(contestants: &[Contestant]) -> Vec<String> {
    let mut differences = Vec::new();
    for contestant in contestants {
        let name = contestant.engine.name;
        let first = &contestant.runs[0];
        if contestant.runs.iter().any(|run| run.flows != first.flows || run.frames_delivered != first.frames_delivered)
        {
            differences.push(format!("{name}: two runs of the same input differ"));
        }
        if !matches!(contestant.engine.model, Model::CountsOnly | Model::Alone) && first.flows.is_empty() {
            differences.push(format!("{name}: prints no `flows`, so nothing can be compared"));
        }
    }
    for (index, one) in contestants.iter().enumerate() {
        for other in &contestants[index + 1..] {
            differences.extend(compare(one, other));
        }
    }
    differences
}

/// What was compared, as one sentence.
pub(super) fn statement(contestants: &[Contestant]) -> String {
    let names = |wanted: fn(Model) -> bool| {
        let names: Vec<&str> = contestants.iter().filter(|c| wanted(c.engine.model)).map(|c| c.engine.name).collect();
        if names.len() < 2 { "nobody to compare with".into() } else { names.join(" = ") }
    };
    format!(
        "Per flow, count, mean and maximum latency agree. Strict priority: {}. First in, first out: {}.",
        names(|model| model == Model::StrictPriority),
        names(|model| matches!(model, Model::FirstInFirstOut { .. })),
    )
}

fn compare(one: &Contestant, other: &Contestant) -> Option<String> {
    let names = format!("{} and {}", one.engine.name, other.engine.name);
    if [one, other].iter().any(|contestant| contestant.engine.model == Model::Alone) {
        return None;
    }
    let (first, second) = (&one.runs[0], &other.runs[0]);
    if first.simulated_ms != second.simulated_ms {
        return Some(format!("{names}: {} and {} ms simulated", first.simulated_ms, second.simulated_ms));
    }
    if first.frames_delivered != second.frames_delivered {
        return Some(format!("{names}: {} and {} frames", first.frames_delivered, second.frames_delivered));
    }
    let shift_ns = latency_shift_ns(one.engine.model, other.engine.model);
    if first.flows.is_empty() || second.flows.is_empty() {
        return None;
    }
    if first.flows.len() != second.flows.len() {
        return Some(format!("{names}: {} and {} flows", first.flows.len(), second.flows.len()));
    }
    let mut pairs = first.flows.iter().zip(&second.flows).enumerate();
    let (flow, (a, b)) = pairs.find(|(_, (a, b))| !agree(a, b, shift_ns))?;
    Some(format!("{names}: flow {flow}: {a:?} and {b:?}"))
}

/// By how much the second's latencies are shorter than the first's, or `None` if they cannot be compared.
fn latency_shift_ns(one: Model, other: Model) -> Option<i64> {
    match (one, other) {
        (Model::StrictPriority, Model::StrictPriority) => Some(0),
        (Model::FirstInFirstOut { shorter_ns: a }, Model::FirstInFirstOut { shorter_ns: b }) => Some(b - a),
        _ => None,
    }
}

fn agree(a: &Flow, b: &Flow, shift_ns: Option<i64>) -> bool {
    let latencies_agree = shift_ns.is_none_or(|shift_ns| {
        (a.latency_mean_ns - b.latency_mean_ns - shift_ns as f64).abs() <= MEAN_TOLERANCE_NS
            && a.latency_max_ps - b.latency_max_ps == shift_ns * 1000
    });
    a.count == b.count && latencies_agree
}

#[cfg(test)]
mod tests {
    use super::super::engine::ENGINES;
    use super::super::measurement::Measurement;
    use super::*;

    fn contestant(name: &str, count: u64, latency_ns: i64) -> Contestant {
        let engine = ENGINES.iter().find(|engine| engine.name == name).unwrap();
        let flow = Flow { count, latency_mean_ns: latency_ns as f64, latency_max_ps: latency_ns * 1000 };
        let run = Measurement { simulated_ms: 1, frames_delivered: count, frames_per_cpu_s: 1.0, flows: vec![flow] };
        Contestant { engine, runs: vec![run.clone(), run] }
    }

    #[test]
    fn same_model_same_latency() {
        assert!(differences(&[contestant("ns-3 l2", 4, 9000), contestant("nexosim, fifo", 4, 9000)]).is_empty());
        assert_eq!(differences(&[contestant("ns-3 l2", 4, 9000), contestant("nexosim, fifo", 4, 9002)]).len(), 1);
    }

    #[test]
    fn known_framing_difference_is_taken_into_account() {
        assert!(differences(&[contestant("ns-3 l2", 4, 9000), contestant("ns-3 udp", 4, 8616)]).is_empty());
        assert_eq!(differences(&[contestant("ns-3 l2", 4, 9000), contestant("ns-3 udp", 4, 9000)]).len(), 1);
    }

    #[test]
    fn other_models_agree_on_counts_only() {
        assert!(differences(&[contestant("ns-3 l2", 4, 9000), contestant("nexosim", 4, 7000)]).is_empty());
        assert_eq!(differences(&[contestant("ns-3 l2", 4, 9000), contestant("nexosim", 5, 9000)]).len(), 1);
    }

    #[test]
    fn finds_runs_that_do_not_repeat_and_engines_that_do_not_say() {
        let mut one = contestant("nexosim", 4, 9000);
        one.runs[1].flows[0].latency_max_ps += 1;
        assert_eq!(differences(&[one]).len(), 1);
        let mut silent = contestant("nexosim", 4, 9000);
        silent.runs.iter_mut().for_each(|run| run.flows.clear());
        assert_eq!(differences(&[silent]).len(), 1);
    }
}
