//! When the host did not let the emulator run.

use chronoseal_core::SimTime;
use chronoseal_results::StallRow;

/// Stalls as disjoint spans in order.
pub(crate) struct Spans(Vec<(SimTime, SimTime)>);

impl Spans {
    /// `stalls` in order of their begin.
    pub(crate) fn new(stalls: &[StallRow]) -> Self {
        let mut spans: Vec<(SimTime, SimTime)> = Vec::new();
        for stall in stalls {
            let end = stall.time + stall.duration;
            match spans.last_mut() {
                Some(last) if stall.time <= last.1 => last.1 = last.1.max(end),
                _ => spans.push((stall.time, end)),
            }
        }
        Self(spans)
    }

    /// True if one of them overlaps `from..=to`.
    pub(crate) fn overlap(&self, from: SimTime, to: SimTime) -> bool {
        let first = self.0.partition_point(|(_, end)| *end < from);
        self.0.get(first).is_some_and(|(begin, _)| *begin <= to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoseal_core::Duration;

    #[test]
    fn a_stall_marks_what_it_overlaps() {
        let at = |us| SimTime::ZERO + Duration::from_us(us);
        let stall = |us, len| StallRow { time: at(us), duration: Duration::from_us(len) };
        let spans = Spans::new(&[stall(100, 50), stall(120, 100), stall(1000, 10)]);
        assert_eq!(spans.0.len(), 2);
        assert!(spans.overlap(at(90), at(100)) && spans.overlap(at(219), at(400)) && spans.overlap(at(0), at(2000)));
        assert!(
            !spans.overlap(at(0), at(99)) && !spans.overlap(at(221), at(999)) && !spans.overlap(at(1011), at(1012))
        );
    }
}
