//! What a channel carries when every station always has a frame to send, in closed form.
//!
//! G. Bianchi, Performance Analysis of the IEEE 802.11 Distributed Coordination Function, IEEE J. Sel. Areas Commun. 18
//! (2000) 535-547. A broadcast is sent once, whatever happens to it, so the window W = cw_min + 1 never grows: the chain
//! of the paper's figure 4 has one stage (m = 0), and a station starts at a turn with probability
//!
//! ```text
//! tau = 2 / (W + 1)                                               equation (8)
//! P_tr = 1 - (1 - tau)^n      P_s P_tr = n tau (1 - tau)^(n-1)    equations (10), (11)
//! S = P_s P_tr E[P] / ((1 - P_tr) sigma + P_tr T)                 equation (13), T_s = T_c = T
//! ```
//!
//! with T the airtime of a frame and the AIFS behind it. All stations hear each other, and all are of one category. That
//! a turn at which somebody starts takes one off every backoff is an assumption of the paper; EDCA does just so.

use chronoseal_core::Duration;

use super::access::AccessParameters;
use super::timing::SLOT;

/// A saturated channel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Saturation {
    /// tau: that a station starts at a turn.
    pub start_probability: f64,
    /// 1 - P_s: that a turn at which anybody starts is a collision.
    pub collision_probability: f64,
    /// Frames without collision in a second, of all stations.
    pub frames_per_s: f64,
}

impl Saturation {
    /// `stations` at least 1; `airtime` of each frame.
    pub fn new(stations: u32, parameters: &AccessParameters, airtime: Duration) -> Self {
        let tau = 2.0 / (f64::from(parameters.cw_min) + 2.0);
        let n = f64::from(stations);
        let any = 1.0 - libm::pow(1.0 - tau, n);
        let exactly_one = n * tau * libm::pow(1.0 - tau, n - 1.0);
        let busy_s = (airtime + parameters.aifs()).as_secs_f64();
        let turn_s = (1.0 - any) * SLOT.as_secs_f64() + any * busy_s;
        Self {
            start_probability: tau,
            collision_probability: 1.0 - exactly_one / any,
            frames_per_s: exactly_one / turn_s,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::AccessCategory;

    #[test]
    fn one_station_loses_only_its_backoff() {
        // Mean backoff of 7.5 slots behind each frame: 400 + 110 + 97.5 us.
        let parameters = AccessParameters::ocb(AccessCategory::BestEffort);
        let found = Saturation::new(1, &parameters, Duration::from_us(400));
        assert!((found.frames_per_s - 1e6 / 607.5).abs() < 1e-6, "{found:?}");
        assert!(found.collision_probability.abs() < 1e-12);
    }

    #[test]
    fn more_stations_collide_more() {
        let parameters = AccessParameters::ocb(AccessCategory::BestEffort);
        let of = |stations| Saturation::new(stations, &parameters, Duration::from_us(400));
        for stations in 2..50 {
            assert!(of(stations + 1).collision_probability > of(stations).collision_probability);
        }
    }
}
