//! What attackers can do, and what they cannot.

use chronoseal_clocksync::gptp::{PortRole, Refusal};
use chronoseal_core::{Duration, SimTime};
use chronoseal_wire::gptp::{
    Announce, Body, ClockIdentity, ClockQuality, FollowUp, Header, MESSAGE_LEN_MAX, Message, PathTrace, PortIdentity,
    PtpTime, SystemIdentity,
};

use crate::gptp::network::{Network, identity};

fn written(source: PortIdentity, sequence: u16, body: Body<'_>) -> Vec<u8> {
    let header = Header { domain: 0, source, sequence, correction: Duration::ZERO, log_interval: -3 };
    let mut buf = [0; MESSAGE_LEN_MAX];
    let len = Message { header, body }.emit(&mut buf);
    buf[..len].to_vec()
}

fn port(node: usize, port: u16) -> PortIdentity {
    PortIdentity { clock: identity(node), port }
}

fn follow_up() -> FollowUp {
    FollowUp {
        precise_origin: PtpTime::EPOCH,
        cumulative_scaled_rate_offset: 0,
        gm_time_base_indicator: 0,
        last_gm_phase_change: 0,
        scaled_last_gm_freq_change: 0,
    }
}

fn announce(clock: ClockIdentity, priority1: u8, steps_removed: u16, path: &[[u8; 8]]) -> Announce<'_> {
    let grandmaster = SystemIdentity { priority1, quality: ClockQuality::default(), priority2: 248, clock };
    Announce {
        time_flags: 8,
        current_utc_offset: 37,
        grandmaster,
        steps_removed,
        time_source: 0xa0,
        path_trace: PathTrace::new(path),
    }
}

/// Grandmaster 0, bridge 1, end station 2, all settled.
fn settled() -> Network {
    let mut network = Network::chain(1, 9);
    network.run_for(Duration::from_s(10));
    assert_eq!(network.system(1).role(1), Some(PortRole::Slave));
    assert_eq!(network.system(1).role(2), Some(PortRole::Master));
    network
}

/// The message is refused for this, and the system is as it was.
fn is_ignored(network: &mut Network, at: u16, payload: &[u8], why: Refusal) {
    let before = network.system(1).clone();
    assert_eq!(network.inject(1, at, payload), Err(why));
    assert_eq!(*network.system(1), before, "{why}");
}

#[test]
fn a_message_that_has_no_business_here_changes_nothing() {
    let network = &mut settled();
    let (master, slave) = (port(0, 1), port(2, 1));
    // A Sync from below, where this bridge is the master.
    is_ignored(network, 2, &written(slave, 1, Body::Sync), Refusal::WrongRole(PortRole::Master));
    let forged = Body::FollowUp(follow_up());
    is_ignored(network, 2, &written(slave, 1, forged), Refusal::WrongRole(PortRole::Master));
    // A Sync at the right port from somebody else, and a Follow_Up of the master that follows nothing.
    is_ignored(network, 1, &written(port(7, 1), 1, Body::Sync), Refusal::NotFromMaster);
    is_ignored(network, 1, &written(master, 60_000, forged), Refusal::NoSync);
    // An Announce that came round, one from too far away, one of a worse clock, and one of this clock's own.
    let loops = [identity(9).0, identity(1).0];
    let looped = Body::Announce(announce(identity(9), 1, 1, &loops));
    is_ignored(network, 2, &written(slave, 1, looped), Refusal::PathLoop);
    let far = Body::Announce(announce(identity(9), 1, 255, &[]));
    is_ignored(network, 2, &written(slave, 1, far), Refusal::TooManySteps(255));
    let worse = Body::Announce(announce(identity(9), 200, 0, &[]));
    is_ignored(network, 2, &written(slave, 1, worse), Refusal::Inferior);
    is_ignored(network, 1, &written(port(7, 1), 1, worse), Refusal::Inferior);
    is_ignored(network, 1, &written(port(1, 5), 1, Body::Sync), Refusal::OwnMessage);
    // Answers that nobody asked for.
    let requesting = port(1, 2);
    let response = Body::PdelayResp { received: PtpTime::EPOCH, requesting };
    is_ignored(network, 2, &written(slave, 60_000, response), Refusal::NotAsked);
    let sent = Body::PdelayRespFollowUp { sent: PtpTime::EPOCH, requesting };
    is_ignored(network, 2, &written(slave, 60_000, sent), Refusal::NotAsked);
    // Another domain, another port, and no message at all.
    let mut other = written(master, 1, Body::Sync);
    other[4] = 3;
    is_ignored(network, 1, &other, Refusal::OtherDomain(3));
    is_ignored(network, 3, &written(master, 1, Body::Sync), Refusal::NoSuchPort(3));
    is_ignored(network, 0, &written(master, 1, Body::Sync), Refusal::NoSuchPort(0));
    let error = Message::parse(&[0; 10]).unwrap_err();
    is_ignored(network, 1, &[0; 10], Refusal::Malformed(error));
}

#[test]
fn a_rate_that_no_clock_has_is_refused() {
    let network = &mut settled();
    let sequence = 60_000;
    network.inject(1, 1, &written(port(0, 1), sequence, Body::Sync)).unwrap();
    let wild = FollowUp { cumulative_scaled_rate_offset: i32::MAX, ..follow_up() };
    is_ignored(network, 1, &written(port(0, 1), sequence, Body::FollowUp(wild)), Refusal::Implausible);
    // With the rate of a clock it would have been taken: nothing tells the master's Sync from a forged one on its link.
    assert_eq!(network.inject(1, 1, &written(port(0, 1), sequence, Body::FollowUp(follow_up()))), Ok(()));
    assert!(network.time(1) < PtpTime::from_s(1));
}

#[test]
fn before_the_neighbour_answers_only_its_delay_is_asked_for() {
    let network = &mut Network::chain(1, 9);
    network.power_off(0);
    network.run_for(Duration::from_ms(100));
    let better = Body::Announce(announce(identity(9), 1, 0, &[]));
    is_ignored(network, 1, &written(port(9, 1), 1, better), Refusal::NotCapable);
    network.set_link(0, false);
    is_ignored(network, 1, &written(port(9, 1), 1, Body::PdelayReq), Refusal::LinkDown);
}

/// IEEE 802.1AS has no authentication: this is what it costs.
#[test]
fn a_rogue_grandmaster_takes_the_network_over_with_its_own_time() {
    // Station 3 says that it is better than the others, and has another time of day.
    let links = [(0, 2), (1, 2), (3, 2)];
    let mut network = Network::with(&[100, 246, 246, 1], &links, 4, |node, (parameters, _)| {
        if node == 3 {
            parameters.epoch = PtpTime::from_s(2_000_000);
        }
    });
    network.set_link(2, false);
    network.run_for(Duration::from_s(8));
    assert_eq!(network.system(1).grandmaster(), identity(0));
    let before = network.time(1);
    assert!(before < PtpTime::from_s(1_100_000));
    network.set_link(2, true);
    network.run_for(Duration::from_s(8));
    for node in 0..3 {
        assert_eq!(network.system(node).grandmaster(), identity(3));
        assert!(network.time(node) > PtpTime::from_s(1_900_000));
    }
}

/// The shift is half the delay, and nothing in the protocol shows it while the link stays below the threshold.
#[test]
fn a_delay_box_in_one_direction_shifts_the_clock_by_half_its_delay() {
    for (delay_ns, box_on_the_way_down) in [(200, true), (600, true), (1_000, true), (600, false)] {
        let mut network = Network::chain(1, 6);
        network.links[0].delay = [Duration::from_ns(200); 2];
        network.run_for(Duration::from_s(12));
        let before = network.time(2) - network.time(0);
        network.links[0].delay[usize::from(!box_on_the_way_down)] += Duration::from_ns(delay_ns);
        network.run_for(Duration::from_s(20));
        let shift = network.time(2) - network.time(0) - before;
        // A Sync that comes later makes the clock behind it late.
        let expected = Duration::from_ns(if box_on_the_way_down { -delay_ns } else { delay_ns }) / 2;
        assert!((shift - expected).abs() <= Duration::from_ns(40), "{delay_ns} ns: {shift} instead of {expected}");
        assert!(network.system(2).is_synchronised());
    }
}

#[test]
fn a_delay_box_beyond_the_threshold_takes_the_link_out() {
    let mut network = Network::chain(1, 6);
    network.run_for(Duration::from_s(12));
    network.links[0].delay[0] += Duration::from_us(2);
    network.run_for(Duration::from_s(20));
    assert_eq!(network.system(1).role(1), Some(PortRole::Disabled));
    assert_eq!(network.system(2).grandmaster(), identity(1));
    assert!(network.now() > SimTime::ZERO);
}

#[test]
fn a_link_with_two_neighbours_is_not_used() {
    let network = &mut settled();
    let response = Body::PdelayResp { received: PtpTime::EPOCH, requesting: port(1, 1) };
    let is_seen = |network: &Network| network.refused.contains(&(1, Refusal::SeveralNeighbours));
    // The attacker answers every request under a name of its own, before the neighbour does.
    for _ in 0..40_000 {
        network.run_for(Duration::from_us(50));
        for sequence in 10..14 {
            let _ = network.inject(1, 1, &written(port(8, 1), sequence, response));
        }
        if is_seen(network) {
            break;
        }
    }
    assert!(is_seen(network));
    assert!(!network.system(1).as_capable(1));
    assert_eq!(network.system(1).role(1), Some(PortRole::Disabled));
}
