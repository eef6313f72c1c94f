//! An attacker at the switch's end of a wire: what it puts in takes its time there, and what comes behind it waits.

use super::bench::*;
use super::*;

const ATTACKER: NodeId = NodeId(5);

/// On the wire of the station that sends the best-effort stream.
fn spliced() -> NetworkConfig {
    let splice = Splice { victim: 2, attacker: ATTACKER, seat: Seat::BehindWire, keeps_priorities: false };
    NetworkConfig { splices: vec![splice], ..config() }
}

fn port(port: u16) -> Attachment {
    Attachment { node: ATTACKER, port: PortId(port) }
}

/// When frames left the switch that stations got, by length.
fn departures(bench: &Bench, len: usize) -> Vec<SimTime> {
    let is_it = |delivery: &&Delivery| delivery.bytes.len() == len && delivery.to.node == NodeId(1);
    bench.deliveries.iter().filter(is_it).map(|delivery| delivery.departed_at).collect()
}

#[test]
fn what_it_puts_in_takes_its_time_on_the_wire_one_frame_after_the_other() {
    let now = Duration::from_us(300);
    let mut bench = Bench::new(spliced());
    for len in [100, 200, 300] {
        bench.send_from(now, port(1), plain_frame(PLAIN, len));
    }
    bench.send_from(Duration::from_us(500), port(1), plain_frame(PLAIN, 400));
    let bench = bench.run(Duration::from_us(900));
    assert_eq!(departures(&bench, 100), [at(now + reception(100) + FORWARDING_DELAY)]);
    let second = now + occupancy(100);
    assert_eq!(departures(&bench, 200), [at(second + reception(200) + FORWARDING_DELAY)]);
    assert_eq!(departures(&bench, 300), [at(second + occupancy(200) + reception(300) + FORWARDING_DELAY)]);
    assert_eq!(departures(&bench, 400), [at(Duration::from_us(500) + reception(400) + FORWARDING_DELAY)]);
    assert_eq!(bench.frames.in_flight(), 0);
}

#[test]
fn what_it_kept_and_lets_go_later_is_there_at_once_if_the_wire_is_free() {
    let sent = Duration::from_us(100);
    let mut bench = Bench::new(spliced());
    bench.send(sent, 2, plain_frame(PLAIN, 200));
    for (when, len) in [(300, 200), (500, 200)] {
        bench.send_from(Duration::from_us(when), port(1), plain_frame(PLAIN, len));
    }
    let bench = bench.run(Duration::from_us(900));
    let second = Duration::from_us(500) + reception(200);
    assert_eq!(departures(&bench, 200), [Duration::from_us(300), second].map(|there| at(there + FORWARDING_DELAY)));
}

#[test]
fn of_frames_with_the_same_bytes_it_lets_go_the_first_it_kept_and_lets_pass_the_last_that_came() {
    let sent = [100, 200, 300].map(Duration::from_us);
    let third = sent[2] + reception(200);
    // It keeps the first two and lets the third pass, or keeps the first alone and lets it go behind all.
    for (goes_on, order) in [
        ([third, Duration::from_us(500), Duration::from_us(700)], [2, 0, 1]),
        ([sent[1] + reception(200), third, Duration::from_us(700)], [1, 2, 0]),
    ] {
        let mut bench = Bench::new(spliced());
        sent.iter().for_each(|when| bench.send(*when, 2, plain_frame(PLAIN, 200)));
        goes_on.iter().for_each(|when| bench.send_from(*when, port(1), plain_frame(PLAIN, 200)));
        let bench = bench.run(Duration::from_us(900));
        let is_it = |delivery: &&Delivery| delivery.to.node == NodeId(1);
        let told: Vec<_> = bench.deliveries.iter().filter(is_it).map(|delivery| delivery.sent_at).collect();
        assert_eq!(told, order.map(|place| at(sent[place])));
    }
}

#[test]
fn what_it_lets_pass_waits_only_for_what_was_put_in() {
    let sent = Duration::from_us(100);
    let [first, second] = [sent + reception(200), sent + occupancy(200) + reception(500)];
    for has_more in [false, true] {
        let mut bench = Bench::new(spliced());
        bench.send(sent, 2, plain_frame(PLAIN, 200));
        bench.send(sent, 2, plain_frame(PLAIN, 500));
        // The attacker lets both go on at the instant in which it has them, and puts one as long as the first before it.
        for _ in 0..if has_more { 2 } else { 1 } {
            bench.send_from(first, port(1), plain_frame(PLAIN, 200));
        }
        bench.send_from(second, port(1), plain_frame(PLAIN, 500));
        let bench = bench.run(Duration::from_us(900));
        let at_the_attacker: Vec<_> =
            bench.deliveries.iter().filter(|delivery| delivery.to == port(0)).map(|delivery| delivery.at).collect();
        assert_eq!(at_the_attacker, [at(first), at(second)], "over the wire, and no sooner");
        let put_in = if has_more { occupancy(200) } else { Duration::ZERO };
        let mut expected = vec![at(first + FORWARDING_DELAY)];
        expected.extend(has_more.then(|| at(first + put_in + FORWARDING_DELAY)));
        assert_eq!(departures(&bench, 200), expected);
        assert_eq!(departures(&bench, 500), [at(second + put_in + FORWARDING_DELAY)], "more: {has_more}");
    }
}

#[test]
fn there_is_no_more_room_before_the_wire_than_in_a_queue_and_no_frame_comes_over_a_link_that_failed() {
    let mut bench = Bench::new(NetworkConfig { queue_len_max: 1_200, ..spliced() });
    for _ in 0..4 {
        bench.send_from(Duration::from_us(300), port(1), plain_frame(PLAIN, 400));
    }
    let bench = bench.run(Duration::from_us(900));
    assert_eq!(bench.discarded(), [(DiscardReason::QueueFull, PLAIN)]);
    assert_eq!((departures(&bench, 400).len(), bench.frames.in_flight()), (3, 0));

    let failures = vec![Failure { link: 2, at: at(Duration::from_us(350)) }];
    let mut bench = Bench::new(NetworkConfig { failures, ..spliced() });
    for _ in 0..2 {
        bench.send_from(Duration::from_us(300), port(1), plain_frame(PLAIN, 400));
    }
    let bench = bench.run(Duration::from_us(900));
    assert_eq!(bench.discarded(), [(DiscardReason::LinkDown, PLAIN)]);
    assert_eq!((departures(&bench, 400).len(), bench.frames.in_flight()), (1, 0));
}

#[test]
fn a_station_that_babbles_sends_by_its_own_port_and_holds_nothing_in_its_hands() {
    let splice = Splice { victim: 2, attacker: ATTACKER, seat: Seat::InStation, keeps_priorities: false };
    let mut bench = Bench::new(NetworkConfig { splices: vec![splice], ..config() });
    let sent = Duration::from_us(100);
    bench.send_from(sent, port(1), plain_frame(PLAIN, 500));
    bench.send(sent, 2, plain_frame(PLAIN, 60));
    bench.send_from(sent, port(1), scheduled_frame(CT_ID, 1_000));
    let bench = bench.run(Duration::from_us(900));
    assert!(bench.deliveries.iter().all(|delivery| delivery.to != port(0)));
    // The shorter one is behind the longer one on every wire, and before what the station babbles later in the name of another stream.
    let first = sent + reception(500) + FORWARDING_DELAY;
    assert_eq!([departures(&bench, 500), departures(&bench, 60)], [[at(first)], [at(first + occupancy(500))]]);
}
