//! Permanence and compression: how SAE AS6802 turns control frames of several masters into one point in time.
//!
//! A receiver makes every protocol control frame as old as the slowest way through the network allows (permanence);
//! after that the frames have the order and the distances in which they were sent. A compression master collects
//! those of one integration cycle and takes a fault-tolerant average of their permanence points (compression).
//!
//! No clock is corrected here and no frame is read. What the standard adds for start-up and clique detection is absent.

use chronoseal_core::{Duration, LocalTime};

/// When a control frame received at `receive` becomes permanent: `receive + (max_transmission_delay -
/// transparent_clock)`. `None` if the frame says it is older than any frame of this network can be.
///
/// ```
/// use chronoseal_core::{Duration, LocalTime};
/// use chronoseal_media::as6802::permanence_point;
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

/// What a compression master collects in one integration cycle.
///
/// The first permanent frame opens the collection; it lasts k+1 observation windows, each as long as the precision of
/// the cluster, since each of k faulty masters can be one window ahead of the correct ones. It always lasts that long,
/// so that the compressed point has a constant distance from the windows' start.
#[derive(Clone, Debug)]
pub struct Collector {
    precision: Duration,
    faults_tolerated: u8,
    /// In the order of arrival; none twice from one master.
    points: Vec<LocalTime>,
    membership: u32,
}

/// What the collected frames amount to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compressed {
    /// End of the collection, later by the correction: the compressed point, before any constant overhead of the device.
    pub at: LocalTime,
    /// How far the average lies behind the first permanence point.
    pub correction: Duration,
    /// One bit for each master that contributed.
    pub membership: u32,
}

/// Why a control frame was not collected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CollectError {
    /// It became permanent before the collection opened or after it closed.
    OutsideCollection,
    /// It names a master that has contributed, or none, or several.
    Membership,
}

impl std::fmt::Display for CollectError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::OutsideCollection => "the control frame became permanent outside the observation windows",
            Self::Membership => "the control frame does not name exactly one master that has not been heard yet",
        })
    }
}
impl std::error::Error for CollectError {}

impl Collector {
    /// Nothing collected yet; `precision` is the length of one observation window.
    pub fn new(precision: Duration, faults_tolerated: u8) -> Self {
        Self { precision, faults_tolerated, points: Vec::with_capacity(MASTERS_MAX), membership: 0 }
    }

    /// Takes a frame that became permanent at `permanence` and whose sender set the bit `membership`.
    ///
    /// # Errors
    /// [`CollectError`]; the collection is as before.
    pub fn add(&mut self, permanence: LocalTime, membership: u32) -> Result<(), CollectError> {
        if !membership.is_power_of_two() || self.membership & membership != 0 {
            return Err(CollectError::Membership);
        }
        if let (Some(&first), Some(closes_at)) = (self.points.first(), self.closes_at())
            && !(first..closes_at).contains(&permanence)
        {
            return Err(CollectError::OutsideCollection);
        }
        self.points.push(permanence);
        self.membership |= membership;
        Ok(())
    }

    /// End of the last observation window; `None` before the first frame.
    pub fn closes_at(&self) -> Option<LocalTime> {
        let windows = i64::from(self.faults_tolerated) + 1;
        self.points.first().map(|&first| first + self.precision.saturating_mul(windows))
    }

    /// Ends the collection and is ready for the next; `None` if nothing came.
    pub fn finish(&mut self) -> Option<Compressed> {
        let closes_at = self.closes_at()?;
        let correction = compression_correction(&mut self.points, usize::from(self.faults_tolerated));
        self.points.clear();
        let membership = std::mem::take(&mut self.membership);
        Some(Compressed { at: closes_at + correction, correction, membership })
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
        serde_json::from_str(include_str!("../tests/vectors/as6802.json")).unwrap()
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

    #[test]
    fn collects_each_master_once_within_the_windows() {
        let mut collector = Collector::new(span(100), 1);
        assert_eq!(collector.closes_at(), None);
        assert_eq!(collector.add(at(1000), 0b001), Ok(()));
        assert_eq!(collector.closes_at(), Some(at(1200)));
        assert_eq!(collector.add(at(1010), 0b001), Err(CollectError::Membership));
        assert_eq!(collector.add(at(1010), 0b110), Err(CollectError::Membership));
        assert_eq!(collector.add(at(1010), 0), Err(CollectError::Membership));
        assert_eq!(collector.add(at(999), 0b010), Err(CollectError::OutsideCollection));
        assert_eq!(collector.add(at(1200), 0b010), Err(CollectError::OutsideCollection));
        assert_eq!(collector.add(at(1199), 0b010), Ok(()));
        assert_eq!(collector.add(at(1007), 0b100), Ok(()));
        let compressed = Compressed { at: at(1207), correction: span(7), membership: 0b111 };
        assert_eq!(collector.finish(), Some(compressed));
        assert_eq!(collector.finish(), None);
        assert_eq!(collector.add(at(5000), 0b001), Ok(()));
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
