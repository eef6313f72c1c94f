//! How a request is answered: what an authority decides, and what it needs of others in between.
//!
//! Keys and stores are used in a bounded number of threads. Other authorities are asked in others, with nothing locked, a
//! bounded number of questions at each of them and for each peer: one that hangs holds up whoever needs its answer, and
//! nobody else.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use chronoseal_v2x::pki::{Decision, LookUp, NoAnswer, PkiError, Question, Role, Step, TrustedAuthority};
use tokio::sync::Semaphore;

use super::ServiceError;
use super::places::Guest;
use super::server::{State, lock};

/// Threads that sign and decrypt.
pub(super) const WORKERS_MAX: usize = 32;
/// Threads that wait for other authorities and distribution centres.
pub(super) const OUTWARD_MAX: usize = 224;
/// Questions at once to one enrolment authority.
const OF_ONE_AUTHORITY_MAX: usize = 8;
/// How long to wait for one of them.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// What keeps the work within bounds.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    workers: Arc<Semaphore>,
    outward: Arc<Semaphore>,
    authorities: Arc<Mutex<BTreeMap<String, Arc<Semaphore>>>>,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            workers: Arc::new(Semaphore::new(WORKERS_MAX)),
            outward: Arc::new(Semaphore::new(OUTWARD_MAX)),
            authorities: Arc::default(),
        }
    }
}

impl Gate {
    /// Runs what signs, decrypts or waits for the store, where it holds nobody up.
    pub(super) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        Self::run(&self.workers, work).await
    }

    /// Runs what waits for another server.
    pub(super) async fn ask<T: Send + 'static>(&self, ask: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
        Self::run(&self.outward, ask).await
    }

    async fn run<T: Send + 'static>(
        threads: &Arc<Semaphore>,
        act: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let permit = Arc::clone(threads).acquire_owned().await.map_err(|_| Failure::Lost)?;
        let done = tokio::task::spawn_blocking(move || {
            let done = act();
            drop(permit);
            done
        });
        done.await.map_err(|_| Failure::Lost)
    }

    /// The questions that may be asked at `url`. There are as many addresses as trusted lists name.
    fn questions(&self, url: &str) -> Arc<Semaphore> {
        let new = || Arc::new(Semaphore::new(OF_ONE_AUTHORITY_MAX));
        Arc::clone(lock(&self.authorities).entry(url.to_owned()).or_insert_with(new))
    }
}

/// Why there is no answer of the authority.
#[derive(Debug)]
pub(super) enum Failure {
    /// Too much waits for others already.
    Busy,
    /// The request could not be worked on.
    Lost,
    /// Something does not work, or the request is none.
    Service(ServiceError),
}

impl<E: Into<ServiceError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Service(error.into())
    }
}

impl State {
    /// Answers a station or an authorization authority.
    pub(super) async fn enrolment(self: Arc<Self>, request: Bytes, guest: Guest) -> Result<Decision, Failure> {
        let look_up = match self.work(&guest, move |state| state.handle_at_ea(&request)).await?? {
            Step::Done(decision) => return Ok(decision),
            Step::LookUp(look_up) => look_up,
            Step::Ask(_) => return Err(PkiError::WrongContent { expected: "for an enrolment authority" }.into()),
        };
        let found = self.look_up(&guest, &look_up).await?;
        Ok(self.work(&guest, move |state| state.resume_at_ea(*look_up, found)).await??)
    }

    /// Answers a station, after asking its enrolment authority.
    pub(super) async fn authorization(self: Arc<Self>, request: Bytes, guest: Guest) -> Result<Decision, Failure> {
        let mut step = self.work(&guest, move |state| state.handle_at_aa(&request)).await??;
        if let Step::LookUp(look_up) = step {
            let found = self.look_up(&guest, &look_up).await?;
            step = self.work(&guest, move |state| state.resume_look_up_at_aa(*look_up, found)).await??;
        }
        let question = match step {
            Step::Done(decision) => return Ok(decision),
            Step::Ask(question) => question,
            Step::LookUp(_) => return Err(Failure::Lost),
        };
        if question.ea().id() == self.certificate(Role::Enrolment).id() {
            return Ok(self
                .work(&guest, move |state| {
                    let answer = state.handle_at_ea(question.message());
                    let answer = answer.map(|step| step.done().map(|decision| decision.answer).unwrap_or_default());
                    state.resume_at_aa(&question, answer)
                })
                .await??);
        }
        let (question, answer) = self.put(&guest, question).await?;
        Ok(self.work(&guest, move |state| state.resume_at_aa(&question, answer)).await??)
    }

    /// Works on a request of `guest`.
    pub(super) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        guest: &Guest,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let _permit = guest.work().await.ok_or(Failure::Lost)?;
        let state = Arc::clone(self);
        self.gate.work(move || work(&state)).await
    }

    async fn look_up(&self, guest: &Guest, look_up: &LookUp) -> Result<Result<TrustedAuthority, PkiError>, Failure> {
        let _permit = guest.outward(WAIT_MAX).await.ok_or(Failure::Busy)?;
        Ok(self.trust.look_up(&self.gate, look_up.role(), look_up.id()).await)
    }

    /// Puts a question to an enrolment authority of another root.
    async fn put(
        &self,
        guest: &Guest,
        question: Box<Question>,
    ) -> Result<(Box<Question>, Result<Vec<u8>, ServiceError>), Failure> {
        let _permit = guest.outward(WAIT_MAX).await.ok_or(Failure::Busy)?;
        let waits = tokio::time::timeout(WAIT_MAX, self.gate.questions(question.url()).acquire_owned()).await;
        let Ok(Ok(asking)) = waits else {
            let reason = format!("{OF_ONE_AUTHORITY_MAX} other questions wait for its answer");
            let error = ServiceError::Network { url: question.url().to_owned(), reason };
            return Ok((question, Err(error)));
        };
        let http = self.http.clone();
        self.gate
            .ask(move || {
                let answer = http.post(question.url(), question.message());
                drop(asking);
                (question, answer)
            })
            .await
    }
}

/// An answer of another authority as the logic takes it.
pub(super) fn reached(answer: &Result<Vec<u8>, ServiceError>) -> Result<&[u8], NoAnswer> {
    answer.as_deref().map_err(|error| NoAnswer::Unreached { reason: error.to_string() })
}
