//! What can be in the way of a job that a station's own clock starts.

use chronoseal_core::Duration;

use super::demand::Periodic;
use super::processor::ScheduledJob;

/// More beginnings of a busy period than these are not tried one by one.
const BEGINNINGS_MAX: usize = 4_000;

/// All that a processor is asked for, as far as it matters to a job at a known time.
#[derive(Clone, Debug)]
pub(super) struct Backlog {
    pub(super) cycle: Duration,
    /// By the table, each of some length.
    pub(super) jobs: Vec<ScheduledJob>,
    pub(super) periodic: Vec<Periodic>,
    /// The longest busy period.
    pub(super) busy: Duration,
    /// What the own clock starts goes in its order.
    pub(super) is_ordered: bool,
}

impl Backlog {
    /// How long a job of length `own`, which is one of those of the table, waits at most if it is due at `at`.
    ///
    /// The processor has been busy since some instant, and has had as much time since then as has passed. Of all such
    /// instants the worst: a job has just come as late as it can, or one that comes by itself has come once more.
    pub(super) fn at(&self, at: Duration, own: Duration) -> Duration {
        let whole = (self.busy - own).max(Duration::ZERO);
        if !self.is_ordered || self.busy >= self.cycle {
            return whole;
        }
        let mut own_is_left_out = false;
        // What comes by the table before the job is due, as the span before that in which it comes: at the earliest, at the
        // latest, and what it takes.
        let mut before: Vec<(Duration, Duration, Duration)> = Vec::new();
        for job in &self.jobs {
            if !own_is_left_out && own > Duration::ZERO && job.own_time == Some(at) && job.cost == own {
                own_is_left_out = true;
                continue;
            }
            let (earliest, latest) = job.own_time.map_or((job.earliest, job.latest), |time| (time, time));
            let last = (at - earliest).div_floor(self.cycle);
            for cycle in [last - 1, last] {
                let shift = self.cycle * cycle;
                let span_max = at - earliest - shift;
                let span_min = (at - latest - shift).max(Duration::ZERO);
                if span_max >= Duration::ZERO && span_min <= self.busy {
                    before.push((span_min, span_max, job.cost));
                }
            }
        }
        let mut spans: Vec<Duration> = before.iter().map(|(span_min, ..)| *span_min).collect();
        for one in &self.periodic {
            let steps = (self.busy + one.jitter).div_floor(one.period.max(Duration::from_ps(1)));
            if usize::try_from(steps).is_ok_and(|steps| steps > BEGINNINGS_MAX) {
                return whole;
            }
            spans.extend((0..=steps).map(|step| (one.period * step - one.jitter).max(Duration::ZERO)));
        }
        spans.push(Duration::ZERO);
        if spans.len() > BEGINNINGS_MAX {
            return whole;
        }
        let backlog = |span: &Duration| {
            let by_table: Duration =
                before.iter().filter(|(span_min, ..)| span_min <= span).map(|(.., cost)| *cost).sum();
            let window = *span + Duration::from_ps(1);
            let by_itself: Duration = self.periodic.iter().map(|one| one.cost * one.count(window)).sum();
            by_table + by_itself - *span
        };
        spans.iter().map(backlog).max().unwrap_or_default().clamp(Duration::ZERO, whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoseal_core::NodeId;

    const US: fn(i64) -> Duration = Duration::from_us;

    fn job(own: Option<i64>, earliest: i64, latest: i64, cost: i64) -> ScheduledJob {
        let own_time = own.map(US);
        ScheduledJob { node: NodeId(0), earliest: US(earliest), latest: US(latest), cost: US(cost), own_time }
    }

    fn backlog(jobs: Vec<ScheduledJob>, periodic: Vec<Periodic>) -> Backlog {
        Backlog { cycle: US(10_000), jobs, periodic, busy: US(3_000), is_ordered: true }
    }

    #[test]
    fn only_what_has_come_before_is_in_the_way() {
        let task = backlog(vec![job(Some(0), -10, 10, 1_000)], vec![]);
        assert_eq!(task.at(US(500), US(0)), US(500), "a task has begun and is not interrupted");
        assert_eq!(task.at(US(1_000), US(0)), US(0));
        assert_eq!(task.at(US(9_999), US(0)), US(0), "the next one comes afterwards");
        // At the same instant somebody is first.
        assert_eq!(task.at(US(0), US(0)), US(1_000));
        assert_eq!(task.at(US(10_200), US(0)), US(800), "the next cycle's");
    }

    #[test]
    fn jobs_of_one_clock_keep_their_distance_and_arrivals_do_not() {
        let after_another = backlog(vec![job(Some(100), 90, 110, 100)], vec![]);
        assert_eq!(after_another.at(US(200), US(0)), US(0));
        let arrival = backlog(vec![job(None, 90, 110, 100)], vec![]);
        assert_eq!(arrival.at(US(200), US(0)), US(10));
        assert_eq!(arrival.at(US(95), US(0)), US(100));
        assert_eq!(arrival.at(US(89), US(0)), US(0));
    }

    #[test]
    fn a_job_is_not_in_its_own_way_but_one_like_it_is() {
        let two = backlog(vec![job(Some(500), 490, 510, 30), job(Some(500), 490, 510, 30)], vec![]);
        assert_eq!(two.at(US(500), US(30)), US(30));
    }

    #[test]
    fn what_comes_by_itself_can_come_just_before() {
        let one = Periodic { period: US(1_000), jitter: US(0), cost: US(40) };
        assert_eq!(backlog(vec![], vec![one]).at(US(500), US(0)), US(40));
        let bursts = Periodic { jitter: US(1_000), ..one };
        assert_eq!(backlog(vec![], vec![bursts]).at(US(500), US(0)), US(80));
    }

    #[test]
    fn where_no_order_is_kept_a_whole_busy_period_is_in_the_way() {
        let any = Backlog { is_ordered: false, ..backlog(vec![job(Some(0), 0, 0, 100)], vec![]) };
        assert_eq!(any.at(US(500), US(100)), US(2_900));
    }
}
