//! What a schedule asks of the host of a live run, against what the host keeps.

use chronoseal_catalog::Prepared;
use chronoseal_core::Duration;
use chronoseal_plan::SegmentId;
use chronoseal_testbed::Waits;

/// A value that is written into a scenario is a multiple of this.
const STEP: Duration = Duration::from_us(10);

/// An idle host wakes a thread later than this less than once in a thousand times.
const SHORTEST_STALL: Duration = Duration::from_us(200);

/// Times of a plan's schedules that this host does not keep, in words, with the least that it does. Waits a fifth of a second to find out, if
/// the plan has such times.
pub fn beyond_host(prepared: &Prepared<'_>, no_fifo: bool) -> Vec<String> {
    let windows = windows(prepared);
    if windows.is_empty() { Vec::new() } else { beyond(&windows, &Waits::measure(!no_fifo)) }
}

/// A wake-up that is later than the shortest of a plan's windows makes a frame miss it: the run's stalls are those, but none shorter than an idle
/// host has now and then.
pub(crate) fn stall_threshold(prepared: &Prepared<'_>) -> Option<Duration> {
    shortest(&windows(prepared)).map(|time| time.max(SHORTEST_STALL))
}

fn shortest(windows: &[Window]) -> Option<Duration> {
    windows.iter().map(|window| window.time).min()
}

/// A time within which a segment's schedule has to be kept.
struct Window {
    segment: String,
    key: &'static str,
    time: Duration,
}

fn windows(prepared: &Prepared<'_>) -> Vec<Window> {
    let plan = prepared.plan();
    let of = |id: SegmentId| {
        let segment = &plan.segments[id.index()].name;
        let windows = prepared.kind(id).windows(prepared, id).into_iter();
        windows.map(move |(key, time)| Window { segment: segment.clone(), key, time })
    };
    plan.segment_ids().flat_map(of).collect()
}

fn beyond(windows: &[Window], waits: &Waits) -> Vec<String> {
    let late = Duration::from_ns(waits.late_p99_ns);
    let text = |Window { segment, key, time }: &Window| {
        let kept = STEP * (late.div_floor(STEP) + 1);
        format!(
            "segment {segment} has {key} = \"{time}\", and of {} waits on this host one in a hundred ended {late:.1} late or more: write \
             {key} = \"{kept}\" at least, or expect frames outside their windows",
            waits.count
        )
    };
    windows.iter().filter(|window| window.time < late).map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(late_ns: i64) -> Vec<String> {
        let window = |key, us| Window { segment: "net".into(), key, time: Duration::from_us(us) };
        let windows = [window("precision", 10), window("guard_period", 200)];
        beyond(&windows, &Waits { count: 200, late_p99_ns: late_ns })
    }

    #[test]
    fn the_shortest_window_says_what_a_stall_is() {
        let window = |us| Window { segment: "net".into(), key: "precision", time: Duration::from_us(us) };
        assert_eq!(shortest(&[window(700), window(400)]), Some(Duration::from_us(400)));
        assert_eq!(shortest(&[]), None);
    }

    #[test]
    fn only_what_the_host_does_not_keep_is_told_with_what_it_does() {
        assert_eq!(told(9_000), Vec::<String>::new());
        let [precision] = &told(38_400)[..] else { panic!("one of two") };
        assert!(precision.contains("precision = \"10us\", and of 200 waits"), "{precision}");
        assert!(precision.contains("write precision = \"40us\" at least"), "{precision}");
        assert!(told(2_000_000)[1].contains("write guard_period = \"2.01ms\" at least"), "{:?}", told(2_000_000));
    }
}
