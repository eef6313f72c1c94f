//! The channel against the closed form.

use super::*;
use crate::radio::saturation::Saturation;

/// 326 bytes of Ethernet frame are 350 on the air.
const LEN: usize = 326;

fn airtime() -> Duration {
    OfdmRate::Mbps6.airtime(psdu_len(LEN as u64))
}

/// Everybody hears everybody and always has a frame: frames a second without collision, as one station that only listens
/// counts them, and the share of the listener's busy periods that held a collision.
fn measured(stations: u16, access: AccessParameters, span: Duration) -> (f64, f64) {
    // Station `stations` only listens.
    let mut config = road(&vec![0; usize::from(stations) + 1]);
    config.access = [access; 4];
    config.seed = 1;
    let mut clockwork = Clockwork::new(config);
    clockwork.saturated = Some((stations, LEN, AccessCategory::BestEffort));
    clockwork.fill();
    clockwork.run_until(SimTime::ZERO + span);
    let listener = clockwork.statistics(stations);
    // Frames that collide are equally long and start together.
    let busy_periods = listener.busy.as_secs_f64() / airtime().as_secs_f64();
    (listener.received as f64 / span.as_secs_f64(), 1.0 - listener.received as f64 / busy_periods)
}

/// Long enough for 2,000 frames without collision: 2.2 % of standard deviation at most.
fn compare(stations: u16, cw_min: u32) {
    let access = AccessParameters { cw_min, ..AccessParameters::ocb(AccessCategory::BestEffort) };
    let expected = Saturation::new(stations.into(), &access, airtime());
    let span = Duration::from_us((2_000.0 / expected.frames_per_s * 1e6) as i64);
    let (frames_per_s, collisions) = measured(stations, access, span);
    let deviation = frames_per_s / expected.frames_per_s - 1.0;
    println!(
        "{stations:2} stations, W = {:3}: {frames_per_s:7.1} frames/s, by the closed form {:7.1}: {:+.2} %",
        cw_min + 1,
        expected.frames_per_s,
        100.0 * deviation
    );
    assert!(deviation.abs() < 0.05, "{stations} stations: {frames_per_s} for {expected:?}");
    assert!((collisions - expected.collision_probability).abs() < 0.02, "{collisions} for {expected:?}");
}

#[test]
fn saturated_throughput_is_bianchis_with_the_window_of_best_effort() {
    for stations in [2, 3, 5, 10, 15, 20] {
        compare(stations, 15);
    }
}

#[test]
fn saturated_throughput_is_bianchis_up_to_fifty_stations() {
    for (stations, cw_min) in [(2, 127), (10, 63), (25, 31), (35, 31), (50, 31), (50, 127)] {
        compare(stations, cw_min);
    }
}

#[test]
fn one_station_alone_loses_its_mean_backoff_only() {
    compare(1, 15);
    compare(1, 0);
}
