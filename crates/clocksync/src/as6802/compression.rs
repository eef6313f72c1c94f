//! Permanence and compression: how control frames of several masters become one point in time.
//!
//! A receiver makes every protocol control frame as old as the slowest way through the network allows (permanence);
//! after that the frames have the order and the distances in which they were sent. A compression master collects
//! those of one integration cycle and takes a fault-tolerant average of their permanence points (compression).

use chronoseal_core::{Duration, LocalTime};

/// When a control frame received at `receive` becomes permanent: `receive + (max_transmission_delay -
/// transparent_clock)`. `None` if the frame says it is older than any frame of this network can be.
///
/// ```
/// use chronoseal_core::{Duration, LocalTime};
/// use chronoseal_clocksync::as6802::permanence_point;
/// let at = LocalTime::from_ps(1000);
/// let (clock, max) = (Duration::from_ps(120), Duration::from_ps(635));
/// assert_eq!(permanence_point(at, clock, max), Some(LocalTime::from_ps(1515)));
/// ```
pub fn permanence_point(
    receive: LocalTime,
    transparent_clock: Duration,
    max_transmission_delay: Duration,
) -> Option<LocalTime> {
    let is_plausible = !transparent_clock.is_negative() && transparent_clock <= max_transmission_delay;
    is_plausible.then(|| receive + (max_transmission_delay - transparent_clock))
}

/// How far the compressed point lies behind the earliest of `permanence`, which is sorted on the way.
///
/// | masters n | correction |
/// |---|---|
/// | 1 | 0 |
/// | 2 | mean |
/// | 3 | the middle one |
/// | 4 | mean of the 2nd and 3rd |
/// | 5 | mean of the 2nd and 4th |
/// | above 5 | mean of the (k+1)th smallest and the (k+1)th largest |
///
/// `faults_tolerated` is k; it matters above five masters only and is cut where it would leave none, (n-1)/2. A mean
/// of two is rounded down to a whole picosecond. Without any point the correction is zero.
pub fn compression_correction(permanence: &mut [LocalTime], faults_tolerated: usize) -> Duration {
    permanence.sort_unstable();
    let (low, high) = match permanence.len() {
        0 => return Duration::ZERO,
        1 => (0, 0),
        2 => (0, 1),
        3 => (1, 1),
        4 => (1, 2),
        5 => (1, 3),
        n => {
            let cut = faults_tolerated.min((n - 1) / 2);
            (cut, n - 1 - cut)
        }
    };
    let behind = |index: usize| permanence[index] - permanence[0];
    Duration::from_ps((behind(low) + behind(high)).as_ps().div_euclid(2))
}

/// Most synchronisation masters of one cluster: one for each bit of a control frame's membership.
pub const MASTERS_MAX: usize = 32;

/// What a compression master collects of one integration cycle.
///
/// The first permanent frame opens an observation window as long as the precision of the cluster. If another frame became
/// permanent in a window, one more window follows, up to `max_observation_window` of them, k+1 where k faulty masters are
/// tolerated. A faulty master that is ahead of all correct ones by more than a window therefore ends up alone, and one that is
/// less ahead cannot close the collection before the last correct master was heard. The compressed point has the same distance
/// from the first frame however many windows were used.
#[derive(Clone, Debug)]
pub struct Collector {
    observation_window: Duration,
    max_observation_window: u8,
    first: LocalTime,
    /// In the order of arrival; none twice from one master.
    points: Vec<LocalTime>,
    membership: u32,
    /// Of the window that is open, and how many frames had come when it opened.
    windows: u8,
    frames_before: usize,
}

/// What the collected frames amount to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compressed {
    /// The end of the last possible window, later by the correction: the compressed point, before the constant overhead of
    /// the calculation.
    pub at: LocalTime,
    /// How far the average lies behind the first permanence point.
    pub correction: Duration,
    /// One bit for each master that contributed.
    pub membership: u32,
}

/// Why a control frame was not collected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CollectError {
    /// It became permanent after the window that is open.
    #[error("the control frame became permanent outside the observation windows")]
    OutsideCollection,
    /// It names a master that has contributed, or none, or several.
    #[error("the control frame does not name exactly one master that has not been heard yet")]
    Membership,
}

impl Collector {
    /// Opens a collection with the frame that became permanent at `first` and whose sender set the bit `membership`.
    ///
    /// # Errors
    /// [`CollectError::Membership`] if it does not name exactly one master.
    pub fn open(
        observation_window: Duration,
        max_observation_window: u8,
        first: LocalTime,
        membership: u32,
    ) -> Result<Self, CollectError> {
        if !membership.is_power_of_two() {
            return Err(CollectError::Membership);
        }
        let points = vec![first];
        let max_observation_window = max_observation_window.max(1);
        Ok(Self { observation_window, max_observation_window, first, points, membership, windows: 1, frames_before: 1 })
    }

    /// Takes a frame that became permanent at `permanence`, in the window that is open. A frame at its very end is in it.
    ///
    /// # Errors
    /// [`CollectError`]; the collection is as before.
    pub fn add(&mut self, permanence: LocalTime, membership: u32) -> Result<(), CollectError> {
        if !membership.is_power_of_two() || self.membership & membership != 0 {
            return Err(CollectError::Membership);
        }
        if !(self.first..=self.window_ends_at()).contains(&permanence) {
            return Err(CollectError::OutsideCollection);
        }
        self.points.push(permanence);
        self.membership |= membership;
        Ok(())
    }

    /// The masters heard so far.
    pub fn membership(&self) -> u32 {
        self.membership
    }

    /// End of the window that is open.
    pub fn window_ends_at(&self) -> LocalTime {
        self.first + self.observation_window.saturating_mul(i64::from(self.windows))
    }

    /// Ends the window that is open: what was collected, or nothing if another window has begun.
    pub fn end_window(&mut self) -> Option<Compressed> {
        if self.points.len() > self.frames_before && self.windows < self.max_observation_window {
            self.windows += 1;
            self.frames_before = self.points.len();
            return None;
        }
        let faults_tolerated = usize::from(self.max_observation_window - 1);
        let correction = compression_correction(&mut self.points, faults_tolerated);
        let closes_at = self.first + self.observation_window.saturating_mul(i64::from(self.max_observation_window));
        Some(Compressed { at: closes_at + correction, correction, membership: self.membership })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(serde::Deserialize)]
    struct Vectors {
        permanence_cases: Vec<PermanenceCase>,
        compression_cases: Vec<CompressionCase>,
    }
    #[derive(serde::Deserialize)]
    struct PermanenceCase {
        receive_pit: i64,
        transparent_clock: i64,
        max_transmission_delay: i64,
        permanence_pit: i64,
    }
    #[derive(serde::Deserialize)]
    struct CompressionCase {
        permanence: Vec<i64>,
        correction: String,
    }

    fn vectors() -> Vectors {
        serde_json::from_str(include_str!("../../tests/vectors/as6802.json")).unwrap()
    }

    fn at(ps: i64) -> LocalTime {
        LocalTime::from_ps(ps)
    }

    fn span(ps: i64) -> Duration {
        Duration::from_ps(ps)
    }

    #[test]
    fn permanence_equals_the_vectors() {
        let cases = vectors().permanence_cases;
        assert_eq!(cases.len(), 2);
        for case in cases {
            let point =
                permanence_point(at(case.receive_pit), span(case.transparent_clock), span(case.max_transmission_delay));
            assert_eq!(point, Some(at(case.permanence_pit)));
        }
    }

    #[test]
    fn refuses_a_frame_older_than_the_network_allows() {
        assert_eq!(permanence_point(at(1000), span(635), span(635)), Some(at(1000)));
        assert_eq!(permanence_point(at(1000), span(636), span(635)), None);
        assert_eq!(permanence_point(at(1000), span(-1), span(635)), None);
    }

    #[test]
    fn compression_equals_the_vectors() {
        let cases = vectors().compression_cases;
        assert_eq!(cases.len(), 5);
        for case in cases {
            let mut points: Vec<_> = case.permanence.iter().copied().map(at).collect();
            points.reverse();
            for faults_tolerated in 0..3 {
                let correction = compression_correction(&mut points, faults_tolerated);
                assert_eq!(correction.as_ps().to_string(), case.correction, "{:?}", case.permanence);
            }
        }
    }

    #[test]
    fn above_five_masters_k_counts_from_both_ends() {
        let points: Vec<_> = [0, 10, 30, 70, 150, 310, 630].map(at).to_vec();
        for (faults_tolerated, correction) in [(0, 315), (1, 160), (2, 90), (3, 70), (4, 70), (usize::MAX, 70)] {
            assert_eq!(compression_correction(&mut points.clone(), faults_tolerated), span(correction));
        }
        assert_eq!(compression_correction(&mut [], 1), Duration::ZERO);
    }

    #[test]
    fn a_mean_is_rounded_down() {
        assert_eq!(compression_correction(&mut [at(0), at(3)], 0), span(1));
    }

    fn opened(first: i64) -> Collector {
        Collector::open(span(100), 2, at(first), 0b001).unwrap()
    }

    #[test]
    fn collects_each_master_once_within_the_windows() {
        let mut collector = opened(1000);
        assert_eq!(collector.window_ends_at(), at(1100));
        assert_eq!(collector.add(at(1010), 0b001), Err(CollectError::Membership));
        assert_eq!(collector.add(at(1010), 0b110), Err(CollectError::Membership));
        assert_eq!(collector.add(at(1010), 0), Err(CollectError::Membership));
        assert_eq!(collector.add(at(999), 0b010), Err(CollectError::OutsideCollection));
        assert_eq!(collector.add(at(1101), 0b010), Err(CollectError::OutsideCollection));
        assert_eq!(collector.add(at(1007), 0b100), Ok(()));
        assert_eq!(collector.end_window(), None, "a frame came, so another window opens");
        assert_eq!(collector.window_ends_at(), at(1200));
        assert_eq!(collector.add(at(1200), 0b010), Ok(()));
        let compressed = Compressed { at: at(1207), correction: span(7), membership: 0b111 };
        assert_eq!(collector.end_window(), Some(compressed));
        assert!(matches!(Collector::open(span(100), 2, at(0), 0b11), Err(CollectError::Membership)));
    }

    #[test]
    fn a_window_without_a_frame_is_the_last_and_moves_no_compressed_point() {
        let mut alone = opened(1000);
        let compressed = Compressed { at: at(1200), correction: Duration::ZERO, membership: 0b001 };
        assert_eq!(alone.end_window(), Some(compressed));
    }

    proptest! {
        /// The definition, by removing extremes one by one instead of by index.
        #[test]
        fn above_five_masters_the_definition_holds(
            offsets in proptest::collection::vec(0i64..1_000_000, 6..=MASTERS_MAX),
            faults_tolerated in 0usize..=2,
        ) {
            let mut rest = offsets.clone();
            let remove = |rest: &mut Vec<i64>, value: i64| {
                let index = rest.iter().position(|&offset| offset == value).unwrap();
                rest.swap_remove(index);
            };
            for _ in 0..faults_tolerated {
                let (low, high) = (*rest.iter().min().unwrap(), *rest.iter().max().unwrap());
                remove(&mut rest, low);
                remove(&mut rest, high);
            }
            let first = *offsets.iter().min().unwrap();
            let (low, high) = (*rest.iter().min().unwrap() - first, *rest.iter().max().unwrap() - first);
            let mut points: Vec<_> = offsets.iter().copied().map(at).collect();
            prop_assert_eq!(compression_correction(&mut points, faults_tolerated), span((low + high) / 2));
        }

        /// What the windows are for: however early k faulty masters are, a collection that holds one correct master holds
        /// all of them.
        #[test]
        fn faulty_masters_cannot_split_the_correct_ones(
            correct in proptest::collection::vec(0i64..=100, 2..6),
            early in proptest::collection::vec(-500i64..=100, 1..=2),
        ) {
            let faults_tolerated = early.len() as u8;
            let mut frames: Vec<(i64, u32)> = (correct.iter().chain(&early)).copied().zip((0..).map(|bit| 1 << bit)).collect();
            let correct_ones = (1 << correct.len()) - 1;
            frames.sort_unstable();
            let mut open: Option<Collector> = None;
            let mut closed = Vec::new();
            for (point, membership) in frames {
                while let Some(collector) = open.as_mut().filter(|collector| collector.window_ends_at() < at(point)) {
                    if let Some(compressed) = collector.end_window() {
                        closed.push(compressed.membership);
                        open = None;
                    }
                }
                match open.as_mut() {
                    Some(collector) => collector.add(at(point), membership).unwrap(),
                    None => open = Collector::open(span(100), faults_tolerated + 1, at(point), membership).ok(),
                }
            }
            closed.extend(open.map(|collector| collector.membership()));
            let with_correct_ones = closed.iter().filter(|membership| *membership & correct_ones != 0).count();
            prop_assert_eq!(with_correct_ones, 1, "{:?}", closed);
        }

        /// What the average is for: k masters, however wrong, cannot pull it out of the range of the correct ones.
        #[test]
        fn faulty_masters_cannot_pull_the_point_away(
            correct in proptest::collection::vec(0i64..1000, 5..20),
            faulty in proptest::collection::vec(-1_000_000i64..1_000_000, 1..=2),
        ) {
            let mut points: Vec<_> = correct.iter().chain(&faulty).copied().map(at).collect();
            let correction = compression_correction(&mut points, faulty.len());
            let compressed = points[0] + correction;
            prop_assert!(compressed >= at(*correct.iter().min().unwrap()));
            prop_assert!(compressed <= at(*correct.iter().max().unwrap()));
        }
    }
}
