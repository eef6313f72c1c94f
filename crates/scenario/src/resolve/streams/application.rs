//! Applications with timers of their own.

use chronoseal_core::random::{self, Purpose, uniform_i64};
use chronoseal_core::{Duration, Ppm};
use chronoseal_plan::ApplicationPlan;

use super::Hop;
use crate::kinds::{Context, StreamRequest};
use crate::limits::{DRIFT_MAX, DURATION_MAX, PERIOD_MIN};
use crate::problem::Code;
use crate::shape::shortened;
use crate::source::at;

impl Context<'_> {
    /// The timer of a stream's application, its phase still to be drawn if it is not written.
    pub(super) fn application(&mut self, stream: &StreamRequest<'_>, hops: &[Hop]) -> Option<ApplicationPlan> {
        let (i, spec) = (stream.entry, stream.spec.application?);
        if hops.first().is_some_and(|hop| !hop.parts.has_slots) {
            self.report(
                Code::WrongNetwork,
                at!["streams", i, "application"],
                format!("stream `{}` leaves when its data are ready: it waits for no slot", shortened(&stream.spec.name)),
                "no slot to wait for",
                "write the application's period and phase as `period` and `offset` of the stream, or `class = \"time-triggered\"` in \
                 the table of its first segment",
            );
            return None;
        }
        let period = spec.period.map_or(stream.period, |period| {
            let path = at!["streams", i, "application", "period"];
            self.within(path, "the application's period", period.0, PERIOD_MIN, DURATION_MAX)
        });
        let phase = spec.phase.map_or(Duration::ZERO, |phase| {
            let latest = period - Duration::from_ps(1);
            let path = at!["streams", i, "application", "phase"];
            self.within(path, "the application's phase", phase.0, Duration::ZERO, latest)
        });
        let path = at!["streams", i, "application", "drift"];
        let drift = self.within(path, "the application's drift", spec.drift.0, Ppm(-DRIFT_MAX.0), DRIFT_MAX);
        Some(ApplicationPlan { period, phase, drift })
    }

    /// A phase below a period, drawn for the stream of this number.
    pub(super) fn any_phase(&self, number: usize, period: Duration) -> Duration {
        let mut rng = random::stream(self.spec.seed, Purpose::Phase, number as u64);
        Duration::from_ps(uniform_i64(&mut rng, 0, period.as_ps() - 1))
    }
}
