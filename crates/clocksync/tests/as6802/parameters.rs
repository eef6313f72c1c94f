//! Parameters that follow from one another.

use chronoseal_clocksync::as6802::{Cluster, Integrity, ParameterError, Parameters, Thresholds};
use chronoseal_core::Duration;

use crate::as6802::network::cluster;

/// The example of CoRE4INET in its ticks of 80 ns: precision 80, 635 of transmission delay, 5 of calculation, no fault tolerated. Its
/// compression master delay is 246, its clock correction delay and its dispatch delay 161, one tick more than two precisions.
#[test]
fn delays_are_those_of_the_open_model() {
    let tick = |ticks: i64| Duration::from_ns(80 * ticks);
    let given = Cluster {
        faults_tolerated: 0,
        calculation_overhead: tick(5),
        ..Cluster::new(3, tick(12_500), tick(635), tick(80))
    };
    let parameters = Parameters::of(&given).unwrap();
    // Its step above the window is a tick, ours a nanosecond.
    let step = tick(1) - Duration::from_ns(1);
    assert_eq!(parameters.dispatch_delay + step, tick(161));
    assert_eq!(parameters.clock_corr_delay + step, tick(161));
    assert_eq!(parameters.compression_master_delay + step, tick(246));
    assert_eq!(parameters.acceptance_window, tick(160));
    assert_eq!(parameters.smc_scheduled_receive_pit + step, tick(2 * 635 + 246));
    assert_eq!(parameters.cm_scheduled_pit, tick(635 + 80 + 5));
    assert_eq!(parameters.max_observation_window, 1);
}

#[test]
fn two_faults_widen_the_windows() {
    let two = Cluster { faults_tolerated: 2, ..cluster(6) };
    let parameters = Parameters::of(&two).unwrap();
    assert_eq!(parameters.acceptance_window, two.precision * 3);
    assert_eq!(parameters.max_observation_window, 3);
    let high = Parameters::of(&Cluster { integrity: Integrity::High, ..two }).unwrap();
    assert_eq!(high.ca_round_trip, two.max_transmission_delay * 2);
    assert_eq!(parameters.ca_round_trip - high.ca_round_trip, parameters.compression_master_delay);
}

#[test]
fn refuses_clusters_that_cannot_be() {
    let refused = |cluster: Cluster| Parameters::of(&cluster).unwrap_err();
    assert_eq!(refused(cluster(0)), ParameterError::Masters(0));
    assert_eq!(refused(cluster(33)), ParameterError::Masters(33));
    assert!(Parameters::of(&cluster(32)).is_ok());
    for (masters, faults, needed) in [(2, 1, 3), (5, 2, 6), (32, 3, 255)] {
        let given = Cluster { faults_tolerated: faults, ..cluster(masters) };
        assert_eq!(refused(given), ParameterError::Faults { faults, masters, needed });
    }
    let none = Duration::ZERO;
    assert_eq!(refused(Cluster { precision: none, ..cluster(4) }), ParameterError::NotPositive("the precision"));
    let needed = {
        let parameters = Parameters::of(&cluster(4)).unwrap();
        parameters.smc_clock_corr_pit() + parameters.acceptance_window
    };
    let of_length = |integration_cycle| Cluster { integration_cycle, ..cluster(4) };
    assert_eq!(refused(of_length(needed)), ParameterError::CycleTooShort { cycle: needed, needed });
    assert!(Parameters::of(&of_length(needed + Duration::from_ps(1))).is_ok());
}

#[test]
fn a_majority_is_more_than_half_and_less_than_all_who_may_be_left() {
    for masters in 3..=32 {
        let majority = Thresholds::majority(masters).sm_sync_threshold_sync;
        assert!(2 * majority > u32::from(masters));
        assert!(majority < u32::from(masters), "one may be faulty");
    }
}

#[test]
fn precision_needed_is_drift_times_cycle_and_twice_that_with_several_compression_masters() {
    let parameters = Parameters::of(&cluster(4)).unwrap();
    assert!(parameters.precision_needed(0, 1) <= Duration::from_ps(2), "only rounding");
    let one = parameters.precision_needed(100_000, 1);
    // 2 x 100 ppm over the cycle of 2 ms alone are 400 ns.
    assert!(one > Duration::from_ns(400) && one < Duration::from_ns(560), "{one}");
    assert_eq!(parameters.precision_needed(100_000, 2), one * 2);
    assert_eq!(parameters.precision_needed(-100_000, 2), one * 2);
}
