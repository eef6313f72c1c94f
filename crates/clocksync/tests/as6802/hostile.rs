//! Somebody who puts any control frame before any device at any time, as if it came from another.

use chronoseal_core::Duration;
use chronoseal_wire::protocol_control_frame::{PcfType, ProtocolControlFrame};

use crate::as6802::network::{CYCLES_UNTIL_NOTICED, Condition, Place, running};

/// Correct clocks stay within the precision, or whoever has lost the cluster notices it within a few cycles.
#[test]
fn forged_frames_cannot_lead_a_clock_away_unnoticed() {
    let mut left = 0;
    for seed in 0..25 {
        let mut network = running(4, 2, 2, seed);
        let cycle = network.parameters.cluster.integration_cycle;
        let begin = network.now();
        // From a frame in a cycle to a frame in a tenth of one.
        let pause_us = network.draw(100, cycle.as_ns() / 1000);
        let places: Vec<Place> = network.places().collect();
        while network.now() < begin + Duration::from_ms(120) {
            let to = places[network.draw(0, places.len() as i64 - 1) as usize];
            let from = match to {
                Place::Compression(_) => Place::Master(network.draw(0, 3) as usize),
                _ => Place::Compression(network.draw(0, 1) as usize),
            };
            let frame = network.random_frame(0);
            let membership_new = match (from, network.draw(0, 3)) {
                (Place::Master(master), 1..) => 1 << master,
                (_, 1..) => 0b1111,
                _ => network.draw(0, 255) as u32,
            };
            network.inject(network.now(), from, to, &ProtocolControlFrame { membership_new, ..frame });
            let pause = Duration::from_us(network.draw(0, pause_us));
            network.run_until(network.now() + pause);
        }
        let stray = network.longest_stray;
        assert!(stray <= cycle * CYCLES_UNTIL_NOTICED, "seed {seed}: somebody was away for {stray}");
        left += network.changes.len();
        // Once nobody disturbs it any more, the cluster is whole again.
        let bound = network.parameters.startup_bound();
        assert!(network.run_until_stable(network.now() + bound * 2).is_some(), "seed {seed}");
        network.take_spread();
        network.run_until(network.now() + cycle * 10);
        assert!(network.take_spread() <= network.parameters.cluster.precision, "seed {seed}");
    }
    assert!(left > 0, "somebody is driven out now and then, or the attacker is none");
}

/// The careful attacker: before one master, each cycle, a frame of each compression master that is late by nearly as much as
/// the acceptance window allows. The master follows, but the true frames are out of schedule for it soon, and it leaves.
#[test]
fn who_is_led_away_step_by_step_hears_the_true_frames_out_of_schedule() {
    let mut network = running(4, 2, 1, 3);
    let (begin, cycle) = (network.now(), network.parameters.cluster.integration_cycle);
    let (victim, delay_max) = (Place::Master(2), network.parameters.cluster.max_transmission_delay);
    let scheduled = network.parameters.smc_scheduled_receive_pit;
    let step = network.parameters.acceptance_window / 2 - Duration::from_ns(100);
    let mut left_after = None;
    for count in 1..=8 {
        if let Some((at, _, _)) = network.changes.iter().find(|(_, _, to)| *to == Condition::Starting) {
            left_after = Some(*at - begin);
            break;
        }
        // By the victim's own clock, which the attacker knows.
        let shown = network.clocks().iter().find(|(place, _)| *place == victim).map(|(_, time)| *time).unwrap();
        let number = shown.div_floor(cycle) + 1;
        let permanent_in = cycle * number + scheduled + step - shown;
        for compression_master in 0..2 {
            let frame = ProtocolControlFrame {
                integration_cycle: number as u32,
                membership_new: 0b1111,
                sync_priority: 0,
                sync_domain: 0,
                kind: PcfType::Integration,
                transparent_clock: delay_max,
            };
            network.inject(network.now() + permanent_in, Place::Compression(compression_master), victim, &frame);
        }
        network.run_until(network.now() + permanent_in + cycle / 2);
        assert!(count < 8, "the victim has not noticed");
    }
    let left_after = left_after.expect("the victim leaves");
    assert!(left_after <= cycle * CYCLES_UNTIL_NOTICED, "{left_after}");
    assert!(network.changes.iter().all(|(_, place, _)| *place == victim), "{:?}", network.changes);
}

/// As many frames as nobody has room for are counted and forgotten; the machine goes on.
#[test]
fn a_flood_of_frames_has_a_limit_and_an_end() {
    let mut network = running(4, 2, 1, 4);
    let at = network.now();
    for _ in 0..1000 {
        let frame = network.random_frame(0b1111);
        network.inject(at, Place::Compression(0), Place::Client(0), &frame);
    }
    network.run_until(at + Duration::from_us(1));
    assert!(network.refused >= 1000 - chronoseal_clocksync::as6802::PENDING_MAX, "{}", network.refused);
    let bound = network.parameters.startup_bound();
    network.run_until(at + Duration::from_ms(10));
    assert!(network.run_until_stable(network.now() + bound).is_some());
}
