//! When the host did not let the emulator run.

use chronoseal_core::{Duration, SimTime};

use crate::StallRow;

/// Stalls as disjoint stays off the processor, in order. Emulator and sentinel both write down the same stay, and those of one
/// that overlap are one.
#[derive(Clone, Debug, Default)]
pub struct Stays(Vec<(SimTime, SimTime)>);

impl Stays {
    /// Of stalls in any order.
    pub fn new(stalls: &[StallRow]) -> Self {
        Self::of(stalls.iter().map(|stall| (stall.time, stall.time + stall.duration)).collect())
    }

    /// These, and other times from and to which a run could not go on.
    pub(crate) fn with(&self, others: &[(SimTime, SimTime)]) -> Self {
        Self::of(self.0.iter().chain(others).copied().collect())
    }

    fn of(mut all: Vec<(SimTime, SimTime)>) -> Self {
        all.sort_unstable();
        let mut spans: Vec<(SimTime, SimTime)> = Vec::new();
        for (begin, end) in all {
            match spans.last_mut() {
                Some(last) if begin <= last.1 => last.1 = last.1.max(end),
                _ => spans.push((begin, end)),
            }
        }
        Self(spans)
    }

    /// How long each of them was, in order.
    pub fn lengths(&self) -> impl Iterator<Item = Duration> + '_ {
        self.0.iter().map(|(begin, end)| *end - *begin)
    }

    /// True if one of them overlaps `from..=to`.
    pub fn overlap(&self, from: SimTime, to: SimTime) -> bool {
        let first = self.0.partition_point(|(_, end)| *end < from);
        self.0.get(first).is_some_and(|(begin, _)| *begin <= to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_marks_what_it_overlaps() {
        let at = |us| SimTime::ZERO + Duration::from_us(us);
        let stall = |us, len| StallRow { time: at(us), duration: Duration::from_us(len) };
        let spans = Stays::new(&[stall(1000, 10), stall(100, 50), stall(120, 100), stall(130, 5)]);
        assert!(spans.lengths().eq([120, 10].map(Duration::from_us)));
        assert!(spans.overlap(at(90), at(100)) && spans.overlap(at(219), at(400)) && spans.overlap(at(0), at(2000)));
        assert!(
            !spans.overlap(at(0), at(99)) && !spans.overlap(at(221), at(999)) && !spans.overlap(at(1011), at(1012))
        );
    }
}
