//! The Crypto Service Manager: a bounded queue of jobs.

use super::Job;

/// Jobs that can wait. A node has one for each exchange it takes part in, the orchestrator a few more.
const QUEUE_LEN: usize = 24;

/// `CRYPTO_E_BUSY`: the queue is full, the caller asks again later.
#[derive(Debug)]
pub(crate) struct QueueFull;

/// Jobs by priority, then by age. `Csm_MainFunction` takes the next when the one before it has ended.
pub struct CryptoServiceManager {
    queue: [Option<Job>; QUEUE_LEN],
    /// When each came, counted.
    age: [u64; QUEUE_LEN],
    submitted: u64,
}

impl Default for CryptoServiceManager {
    fn default() -> Self {
        Self { queue: [const { None }; QUEUE_LEN], age: [0; QUEUE_LEN], submitted: 0 }
    }
}

impl CryptoServiceManager {
    /// Takes a job into the queue.
    pub(crate) fn submit(&mut self, job: Job) -> Result<(), QueueFull> {
        let free = self.queue.iter().position(Option::is_none).ok_or(QueueFull)?;
        self.queue[free] = Some(job);
        self.age[free] = self.submitted;
        self.submitted += 1;
        Ok(())
    }

    /// The job to run next (`Csm_MainFunction`).
    pub(crate) fn main_function(&mut self) -> Option<Job> {
        let rank =
            |index: &usize| self.queue[*index].as_ref().map(|job| (job.priority, core::cmp::Reverse(self.age[*index])));
        let next = (0..QUEUE_LEN).filter(|index| rank(index).is_some()).max_by_key(rank)?;
        self.queue[next].take()
    }

    /// Jobs waiting.
    pub fn len(&self) -> usize {
        self.queue.iter().flatten().count()
    }

    /// True if none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all jobs (`Csm_CancelJob` for each).
    pub(crate) fn cancel_all(&mut self) {
        self.queue = [const { None }; QUEUE_LEN];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto_stack::{JobPriority, Owner, Request};
    use crate::identifier::Address;

    fn job(number: u8, priority: JobPriority) -> Job {
        Job { owner: Owner::Ready(Address(number)), priority, request: Request::RandomGenerate }
    }

    fn next(csm: &mut CryptoServiceManager) -> Option<u8> {
        csm.main_function().map(|job| match job.owner {
            Owner::Ready(address) => address.0,
            _ => 0,
        })
    }

    #[test]
    fn takes_higher_priorities_first_and_older_jobs_among_equals() {
        let mut csm = CryptoServiceManager::default();
        for (number, priority) in [
            (1, JobPriority::Confirmation),
            (2, JobPriority::Exchange),
            (3, JobPriority::Orchestration),
            (4, JobPriority::Exchange),
        ] {
            assert!(csm.submit(job(number, priority)).is_ok());
        }
        assert_eq!([3, 2, 4, 1].map(|_| next(&mut csm)), [Some(3), Some(2), Some(4), Some(1)]);
        assert_eq!(next(&mut csm), None);
    }

    #[test]
    fn is_busy_when_full_and_not_before() {
        let mut csm = CryptoServiceManager::default();
        assert!((0..QUEUE_LEN).all(|_| csm.submit(job(1, JobPriority::Exchange)).is_ok()));
        assert!(csm.submit(job(1, JobPriority::Orchestration)).is_err());
        assert_eq!(next(&mut csm), Some(1));
        assert!(csm.submit(job(1, JobPriority::Exchange)).is_ok());
        csm.cancel_all();
        assert!(csm.is_empty());
    }
}
