//! What holds for any traffic.

use core::num::NonZeroU64;

use chronoseal_wire::can::Dlc;
use proptest::prelude::*;

use super::*;

/// A frame a station wants to send at a time.
#[derive(Clone, Debug)]
struct Wanted {
    at: SimTime,
    from: Attachment,
    frame: CanFrame,
}

/// Traffic of four stations in 3 ms. A station's identifiers are its own: the lowest two bits are its number.
fn traffic() -> impl Strategy<Value = Vec<Wanted>> {
    let one = (0i64..3_000_000, 0u16..4, 0u32..64, any::<bool>(), any::<bool>(), 0u8..16, any::<u8>());
    proptest::collection::vec(one, 1..40).prop_map(|list| {
        let mut wanted: Vec<_> = list
            .into_iter()
            .map(|(at_ns, node, id, is_extended, is_fd, dlc, byte)| {
                let id = id << 2 | u32::from(node);
                // Base identifiers begin like extended ones, so that both formats meet in arbitration.
                let id = if is_extended {
                    CanId::extended(id << 18 | u32::from(node)).unwrap()
                } else {
                    CanId::standard(id as u16).unwrap()
                };
                let kind = if is_fd {
                    chronoseal_wire::can::FrameKind::Fd { brs: byte & 1 == 0, esi: false }
                } else {
                    chronoseal_wire::can::FrameKind::Classical
                };
                let frame = CanFrame::new(id, kind, Dlc::new(dlc).unwrap(), &[byte; 64]);
                Wanted { at: at(Duration::from_ns(at_ns)), from: port(node), frame }
            })
            .collect();
        wanted.sort_by_key(|one| one.at);
        wanted
    })
}

fn run(config: CanBusConfig, wanted: &[Wanted]) -> Clockwork {
    let mut clockwork = Clockwork::of_bus(config);
    for one in wanted {
        clockwork.run_until(one.at);
        clockwork.send(one.from, &one.frame);
    }
    clockwork.run_for(Duration::from_ms(200));
    clockwork
}

/// How often `to` got what, sorted.
fn received(clockwork: &Clockwork, to: Attachment) -> Vec<(u32, NodeId, Vec<u8>)> {
    let of_station = clockwork.deliveries.iter().filter(|one| one.to == to);
    let mut list: Vec<_> =
        of_station.map(|one| (one.frame.arbitration_rank(), one.sender, one.frame.data().to_vec())).collect();
    list.sort_unstable();
    list
}

fn sent_to(wanted: &[Wanted], to: Attachment) -> Vec<(u32, NodeId, Vec<u8>)> {
    let others = wanted.iter().filter(|one| one.from != to);
    let mut list: Vec<_> =
        others.map(|one| (one.frame.arbitration_rank(), one.from.node, one.frame.data().to_vec())).collect();
    list.sort_unstable();
    list
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_frame_is_lost_and_none_comes_twice(wanted in traffic()) {
        let clockwork = run(bus(5), &wanted);
        for node in 0..5 {
            prop_assert_eq!(received(&clockwork, port(node)), sent_to(&wanted, port(node)));
        }
        prop_assert!(clockwork.events.is_empty());
        prop_assert_eq!(clockwork.frames.in_flight(), 0);
    }

    #[test]
    fn the_bus_is_busy_for_the_sum_of_all_frames(wanted in traffic()) {
        let clockwork = run(bus(5), &wanted);
        let sum: Duration = wanted.iter().map(|one| timing().frame(&one.frame) + timing().intermission()).sum();
        prop_assert_eq!(clockwork.statistics().busy, sum);
        // And never with two frames at once.
        let mut spans: Vec<_> = clockwork.deliveries.iter().filter(|one| one.to == port(4))
            .map(|one| (one.departed_at, one.at)).collect();
        spans.sort_unstable();
        for pair in spans.windows(2) {
            prop_assert!(pair[1].0 >= pair[0].1 + timing().intermission());
        }
    }

    #[test]
    fn the_lowest_identifier_that_waits_always_wins(wanted in traffic()) {
        let clockwork = run(bus(5), &wanted);
        let mut waiting = wanted;
        let mut departures: Vec<_> = clockwork.deliveries.iter().filter(|one| one.to == port(4)).collect();
        departures.sort_by_key(|one| one.departed_at);
        for departure in departures {
            let joins_before = departure.departed_at + timing().nominal_sample();
            let best = waiting.iter().filter(|one| one.at < joins_before).map(|one| one.frame.arbitration_rank()).min();
            prop_assert_eq!(best, Some(departure.frame.arbitration_rank()));
            let index = waiting.iter().position(|one| one.frame == departure.frame).unwrap();
            waiting.remove(index);
        }
        prop_assert!(waiting.is_empty());
    }

    #[test]
    fn on_a_disturbed_bus_every_frame_still_arrives(wanted in traffic(), bits_between_errors in 500u64..5_000) {
        let mut config = bus(5);
        config.bits_between_errors = NonZeroU64::new(bits_between_errors);
        let clockwork = run(config, &wanted);
        for node in 0..5 {
            let mut received = received(&clockwork, port(node));
            // An error in the very last bit makes receivers take a frame twice.
            received.dedup();
            let mut sent = sent_to(&wanted, port(node));
            sent.dedup();
            prop_assert_eq!(received, sent);
        }
        prop_assert_eq!(clockwork.frames.in_flight(), 0);
    }

    #[test]
    fn bit_by_bit_an_undisturbed_bus_runs_the_same(wanted in traffic()) {
        let mut config = bus(5);
        // Far behind any frame: nothing is disturbed, but every frame goes through the bit-by-bit bus.
        config.faults = (0..40).map(|attempt| Fault { attempt, bit: 10_000, seen_by: None }).collect();
        let (plain, fast) = (run(config, &wanted), run(bus(5), &wanted));
        prop_assert_eq!(plain.statistics(), fast.statistics());
        prop_assert_eq!(plain.deliveries, fast.deliveries);
    }

    #[test]
    fn one_bit_seen_wrong_by_anyone_loses_no_frame(
        wanted in traffic(),
        faults in proptest::collection::vec((0u64..40, 0u32..200, proptest::option::of(0u16..5)), 1..4),
    ) {
        let mut config = bus(5);
        let fault = |(attempt, bit, node): (u64, u32, Option<u16>)| Fault { attempt, bit, seen_by: node.map(port) };
        config.faults = faults.into_iter().map(fault).collect();
        let clockwork = run(config, &wanted);
        for node in 0..5 {
            let mut received = received(&clockwork, port(node));
            received.dedup();
            let mut sent = sent_to(&wanted, port(node));
            sent.dedup();
            prop_assert_eq!(received, sent);
        }
        prop_assert_eq!(clockwork.frames.in_flight(), 0);
    }

    #[test]
    fn one_seed_gives_one_run(wanted in traffic()) {
        let config = || CanBusConfig { bits_between_errors: NonZeroU64::new(1_000), ..bus(5) };
        let (one, other) = (run(config(), &wanted), run(config(), &wanted));
        prop_assert_eq!(one.deliveries, other.deliveries);
        prop_assert_eq!(one.events, other.events);
    }
}
