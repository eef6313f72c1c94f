//! Holding jobs back until they fill lanes.

/// Jobs that wait for company, but not beyond a deadline.
///
/// It reads no clock: the caller says what time it is, asks [`due_at`](Self::due_at) when to come back, and
/// [`take`](Self::take)s the batch when [`is_due`](Self::is_due) says so. It never allocates after it was made.
///
/// ```
/// use chronoseal_ecdsa_lanes::Batcher;
///
/// let mut batcher = Batcher::new(8, 200_000);
/// batcher.push("first", 1_000_000).expect("there is room");
/// assert_eq!(batcher.due_at(), Some(1_200_000));
/// batcher.push_urgent("brake", 1_050_000).expect("there is room");
/// assert!(batcher.is_due(1_050_000));
/// assert_eq!(batcher.take().collect::<Vec<_>>(), ["first", "brake"]);
/// ```
#[derive(Debug)]
pub struct Batcher<J> {
    jobs: Vec<J>,
    jobs_max: usize,
    wait_max_ns: u64,
    due_at_ns: Option<u64>,
}

impl<J> Batcher<J> {
    /// A batch is due when `jobs_max` jobs are there, or when one has waited `wait_max_ns`.
    ///
    /// A multiple of eight fills the lanes; up to 32 share work. Zero counts as one.
    #[must_use]
    pub fn new(jobs_max: usize, wait_max_ns: u64) -> Self {
        let jobs_max = jobs_max.max(1);
        Self { jobs: Vec::with_capacity(jobs_max), jobs_max, wait_max_ns, due_at_ns: None }
    }

    /// Adds a job that may wait.
    ///
    /// # Errors
    /// The job itself if the batch is full: take that first.
    pub fn push(&mut self, job: J, now_ns: u64) -> Result<(), J> {
        self.push_due(job, now_ns.saturating_add(self.wait_max_ns))
    }

    /// Adds a job that makes the batch due at once.
    ///
    /// # Errors
    /// The job itself if the batch is full: take that first.
    pub fn push_urgent(&mut self, job: J, now_ns: u64) -> Result<(), J> {
        self.push_due(job, now_ns)
    }

    fn push_due(&mut self, job: J, due_at_ns: u64) -> Result<(), J> {
        if self.jobs.len() == self.jobs_max {
            return Err(job);
        }
        self.jobs.push(job);
        self.due_at_ns = Some(self.due_at_ns.map_or(due_at_ns, |other| other.min(due_at_ns)));
        Ok(())
    }

    /// When the first of the jobs has waited long enough [ns]; `None` if there is no job.
    #[must_use]
    pub fn due_at(&self) -> Option<u64> {
        self.due_at_ns
    }

    /// Whether the batch is full or its time has come.
    #[must_use]
    pub fn is_due(&self, now_ns: u64) -> bool {
        self.jobs.len() == self.jobs_max || self.due_at_ns.is_some_and(|due| due <= now_ns)
    }

    /// The jobs waiting, in the order they came.
    #[must_use]
    pub fn jobs(&self) -> &[J] {
        &self.jobs
    }

    /// Takes all jobs, in the order they came.
    pub fn take(&mut self) -> impl Iterator<Item = J> + '_ {
        self.due_at_ns = None;
        self.jobs.drain(..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_due_when_full_and_then_takes_no_more() {
        let mut batcher = Batcher::new(3, 100);
        for job in 0..3 {
            assert!(!batcher.is_due(10));
            batcher.push(job, 10).expect("there is room");
        }
        assert!(batcher.is_due(10));
        assert_eq!(batcher.push(3, 10), Err(3));
        assert_eq!(batcher.push_urgent(3, 10), Err(3));
        assert_eq!(batcher.take().collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!((batcher.due_at(), batcher.is_due(u64::MAX)), (None, false));
    }

    #[test]
    fn the_oldest_job_sets_the_deadline() {
        let mut batcher = Batcher::new(8, 100);
        batcher.push('a', 1000).expect("there is room");
        batcher.push('b', 1060).expect("there is room");
        assert_eq!(batcher.due_at(), Some(1100));
        assert!(!batcher.is_due(1099) && batcher.is_due(1100));
        assert_eq!(batcher.take().count(), 2);
        batcher.push('c', 1200).expect("there is room");
        assert_eq!(batcher.due_at(), Some(1300));
    }

    #[test]
    fn an_urgent_job_takes_the_waiting_ones_along() {
        let mut batcher = Batcher::new(8, 100);
        batcher.push('a', 1000).expect("there is room");
        batcher.push_urgent('b', 1010).expect("there is room");
        assert_eq!(batcher.due_at(), Some(1010));
        assert!(batcher.is_due(1010));
        assert_eq!(batcher.jobs(), ['a', 'b']);
    }

    #[test]
    fn a_wait_beyond_the_clock_and_a_batch_of_none_do_no_harm() {
        let mut batcher = Batcher::new(0, u64::MAX);
        batcher.push('a', 5).expect("zero counts as one");
        assert_eq!(batcher.due_at(), Some(u64::MAX));
        assert!(batcher.is_due(5));
    }
}
