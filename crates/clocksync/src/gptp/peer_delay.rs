//! The delay of a link and the rate of the neighbour's clock: the `MDPdelayReq` state machine, IEEE 802.1AS-2020 §11.2.19.
//!
//! ```text
//! here        t1 ─── Pdelay_Req ──► t2        neighbour        delay = (r·(t4 − t1) − (t3 − t2)) / 2
//!             t4 ◄── Pdelay_Resp ── t3                         r = the neighbour's time between two t3, through ours between two t4
//!                ◄── Pdelay_Resp_Follow_Up, holds t3
//! ```

use std::collections::VecDeque;

use chronoseal_core::oscillator::RateDeviation;
use chronoseal_core::{Duration, LocalTime, Ppm};
use chronoseal_wire::gptp::{PortIdentity, PtpTime};

use super::{Parameters, PortParameters, Refusal};

/// Measurements that the delay is the median of, and that the rate is taken over.
pub const WINDOW: usize = 8;
/// Clocks of this standard deviate by 100 ppm at most from true time (clause B.1.1), so two of them by 200. A neighbour that seems to
/// deviate by more than this has jumped.
pub const RATE_DEVIATION_MAX: RateDeviation = RateDeviation::from_ppm(Ppm(500_000));

/// A measurement under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Exchange {
    sequence: u16,
    sent: Option<LocalTime>,
    response: Option<Response>,
    /// t3.
    response_sent: Option<PtpTime>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Response {
    from: PortIdentity,
    /// t2.
    received: PtpTime,
    /// t4.
    arrived: LocalTime,
}

/// One measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Measurement {
    neighbour: PtpTime,
    local: LocalTime,
    delay: Duration,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PeerDelay {
    thresh: Duration,
    allowed_lost: u8,
    allowed_faults: u8,
    own: PortIdentity,
    sequence: u16,
    exchange: Option<Exchange>,
    lost: u8,
    faults: u8,
    neighbour: Option<PortIdentity>,
    measurements: VecDeque<Measurement>,
    rate: Option<RateDeviation>,
    delay: Option<Duration>,
    as_capable: bool,
}

impl PeerDelay {
    pub(super) fn new(parameters: &Parameters, port: &PortParameters, own: PortIdentity) -> Self {
        Self {
            thresh: port.mean_link_delay_thresh,
            allowed_lost: parameters.allowed_lost_responses,
            allowed_faults: parameters.allowed_faults,
            own,
            sequence: 0,
            exchange: None,
            lost: 0,
            faults: 0,
            neighbour: None,
            measurements: VecDeque::with_capacity(WINDOW),
            rate: None,
            delay: None,
            as_capable: false,
        }
    }

    /// `asCapable`: the neighbour takes part, and nothing that does not lies between.
    pub(super) fn as_capable(&self) -> bool {
        self.as_capable
    }

    /// Requests in a row that were not answered.
    pub(super) fn lost(&self) -> u8 {
        self.lost
    }

    /// `meanLinkDelay`.
    pub(super) fn delay(&self) -> Option<Duration> {
        self.delay
    }

    /// `neighborRateRatio`, minus 1.
    pub(super) fn rate(&self) -> Option<RateDeviation> {
        self.rate
    }

    /// Forgets the neighbour.
    pub(super) fn reset(&mut self) {
        self.exchange = None;
        self.lost = 0;
        self.faults = 0;
        self.as_capable = false;
        self.forget();
    }

    fn forget(&mut self) {
        self.neighbour = None;
        self.measurements.clear();
        self.rate = None;
        self.delay = None;
    }

    /// Begins a measurement and returns its number.
    pub(super) fn request(&mut self) -> u16 {
        if self.exchange.is_some() {
            self.lost = self.lost.saturating_add(1);
            if self.lost > self.allowed_lost {
                self.as_capable = false;
                self.forget();
            }
        }
        self.sequence = self.sequence.wrapping_add(1);
        let sequence = self.sequence;
        self.exchange = Some(Exchange { sequence, sent: None, response: None, response_sent: None });
        sequence
    }

    /// The request of a number left.
    pub(super) fn request_sent(&mut self, sequence: u16, at: LocalTime) {
        if let Some(exchange) = self.exchange.as_mut().filter(|exchange| exchange.sequence == sequence) {
            exchange.sent = Some(at);
            self.complete();
        }
    }

    /// The exchange that a message answers.
    fn answered(&mut self, sequence: u16, requesting: PortIdentity) -> Result<&mut Exchange, Refusal> {
        let own = self.own;
        let exchange = self.exchange.as_mut().filter(|exchange| exchange.sequence == sequence && requesting == own);
        exchange.ok_or(Refusal::NotAsked)
    }

    /// A `Pdelay_Resp` arrived.
    pub(super) fn response(
        &mut self,
        from: PortIdentity,
        sequence: u16,
        requesting: PortIdentity,
        received: PtpTime,
        arrived: LocalTime,
    ) -> Result<(), Refusal> {
        let exchange = self.answered(sequence, requesting)?;
        match exchange.response {
            None => exchange.response = Some(Response { from, received, arrived }),
            Some(first) if first.from == from => return Err(Refusal::NotAsked),
            // A link with more than two ends is no link of this protocol.
            Some(_) => {
                self.reset();
                return Err(Refusal::SeveralNeighbours);
            }
        }
        self.complete();
        Ok(())
    }

    /// A `Pdelay_Resp_Follow_Up` arrived.
    pub(super) fn response_follow_up(
        &mut self,
        from: PortIdentity,
        sequence: u16,
        requesting: PortIdentity,
        sent: PtpTime,
    ) -> Result<(), Refusal> {
        let exchange = self.answered(sequence, requesting)?;
        let follows = exchange.response.is_some_and(|response| response.from == from);
        (follows && exchange.response_sent.is_none()).then_some(()).ok_or(Refusal::NotAsked)?;
        exchange.response_sent = Some(sent);
        self.complete();
        Ok(())
    }

    /// Evaluates the measurement if all four times are there.
    fn complete(&mut self) {
        let Some(Exchange { sent: Some(t1), response: Some(response), response_sent: Some(t3), .. }) = self.exchange
        else {
            return;
        };
        self.exchange = None;
        self.lost = 0;
        let Response { from, received: t2, arrived: t4 } = response;
        if self.neighbour != Some(from) {
            self.forget();
            self.neighbour = Some(from);
        }
        let Some(rate) = self.rate_until(t3, t4) else {
            self.measurements.clear();
            self.rate = None;
            self.faults = self.faults.saturating_add(1);
            self.as_capable &= self.faults <= self.allowed_faults;
            return;
        };
        let here = t4 - t1;
        let delay = (here + rate.unwrap_or_default().gain(here) - (t3 - t2)) / 2;
        if self.measurements.len() == WINDOW {
            self.measurements.pop_front();
        }
        self.measurements.push_back(Measurement { neighbour: t3, local: t4, delay });
        let delay = self.median();
        self.rate = rate;
        self.delay = Some(delay);
        self.as_capable = delay.abs() <= self.thresh && rate.is_some();
        self.faults = 0;
    }

    /// The rate over the window up to this measurement: `Some(None)` if it is the first, `None` if it is implausible.
    fn rate_until(&self, t3: PtpTime, t4: LocalTime) -> Option<Option<RateDeviation>> {
        let Some(first) = self.measurements.front() else { return Some(None) };
        let (there, here) = (t3 - first.neighbour, t4 - first.local);
        let gain = there - here;
        let plausible = here > Duration::ZERO && gain.abs() <= RATE_DEVIATION_MAX.gain(here);
        plausible.then(|| Some(RateDeviation::from_gain(gain, here)))
    }

    fn median(&self) -> Duration {
        let mut delays: Vec<_> = self.measurements.iter().map(|measurement| measurement.delay).collect();
        delays.sort_unstable();
        let middle = delays.len() / 2;
        match delays.len() % 2 {
            0 => (delays[middle - 1] + delays[middle]) / 2,
            _ => delays[middle],
        }
    }
}

/// The other half: answers requests, the `MDPdelayResp` state machine, IEEE 802.1AS-2020 §11.2.20.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Responder {
    /// The request whose response is on its way out.
    pending: Option<(u16, PortIdentity)>,
}

impl Responder {
    /// A request arrived.
    pub(super) fn request(&mut self, sequence: u16, from: PortIdentity) {
        self.pending = Some((sequence, from));
    }

    /// The response to a request left: who asked.
    pub(super) fn response_sent(&mut self, sequence: u16) -> Option<PortIdentity> {
        let (_, from) = self.pending.take_if(|(pending, _)| *pending == sequence)?;
        Some(from)
    }
}
