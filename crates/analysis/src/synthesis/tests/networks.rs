//! One table for the networks A and B.

use chronoseal_core::{Duration, NodeId, Rate};
use chronoseal_plan::{Access, Copies, Datagram, EthernetHop, LinkParameters, NetworkName, Plan, StationLink, Wiring};

use super::super::{Resource, Synthesis, Violation, synthesize_all, verify};
use crate::testing::{add_stream, cluster, network, view};

const US: fn(i64) -> Duration = Duration::from_us;
const BOTH: Copies = Copies::BothNetworks { skew_max: Duration::from_ms(10) };

/// Three nodes with a link to a switch in A, and one to a switch in B by which the last node is at 10 Mbit/s: 1000 bytes take 80 us,
/// and 800 us there.
fn plan(access: Access, streams: &[(u16, Copies)]) -> Plan {
    let mut plan = cluster(3);
    let segment = network(&mut plan);
    segment.access = access;
    let link = |node: u16, switch: u16, mbit: u64| StationLink {
        node: NodeId(node),
        switch,
        parameters: LinkParameters { rate: Rate(mbit * 1_000_000), propagation_delay: Duration::ZERO, macsec: None },
    };
    segment.wiring = Wiring {
        switches: 2,
        stations: (0..3).map(|node| link(node, 0, 100)).collect(),
        switches_of_b: vec![false, true],
        second: (0..3).map(|node| link(node, 1, if node == 2 { 10 } else { 100 })).collect(),
        ..Wiring::default()
    };
    plan.segments[0].own_nodes.push("second".into());
    for (from, copies) in streams {
        let stream = add_stream(&mut plan, *from, &[2], 1000);
        let hop: &mut EthernetHop = stream.hops[0].facet.get_mut().expect("it is a hop over Ethernet");
        hop.copies = copies.clone();
    }
    plan
}

fn right(plan: &Plan) -> Synthesis {
    let synthesis = synthesize_all(view(plan)).expect("there is room");
    assert_eq!(verify(view(plan), &synthesis.table), []);
    synthesis
}

#[test]
fn links_of_both_networks_are_reserved() {
    let plan = plan(Access::PerLink, &[(0, BOTH), (1, BOTH)]);
    let mut table = right(&plan).table;
    let starts: Vec<Duration> = table.slots.iter().map(|slot| slot.start).collect();
    // Behind frame time and guard period on the slower link.
    assert_eq!(starts, [Duration::ZERO, US(1_000)]);
    // On A 80 us and the guard period would do, and that is what the second reader says of B then.
    let earlier = US(1_000 - 280);
    let slot = &mut table.slots[1];
    (slot.release, slot.start) = (slot.release - earlier, slot.start - earlier);
    (slot.dispatch, slot.end) = (slot.dispatch - earlier, slot.end - earlier);
    let relay = &mut table.relays[1];
    (relay.start, relay.dispatch, relay.end) = (relay.start - earlier, relay.dispatch - earlier, relay.end - earlier);
    let found = verify(view(&plan), &table);
    assert!(
        matches!(found[..], [Violation::Overlap { resource: Resource::SecondFromSwitch(NodeId(2)), .. }]),
        "{found:?}"
    );
}

#[test]
fn streams_of_one_network_each_share_no_link() {
    let of_one = |one: NetworkName, other: NetworkName| {
        let streams = [(0, Copies::One(one)), (1, Copies::One(other))];
        right(&plan(Access::PerLink, &streams)).table.slots[1].start
    };
    assert_eq!(of_one(NetworkName::A, NetworkName::B), Duration::ZERO);
    assert_eq!(of_one(NetworkName::A, NetworkName::A), US(280));
    assert_eq!(of_one(NetworkName::B, NetworkName::B), US(1_000));
}

#[test]
fn a_shared_slot_lasts_as_long_as_the_slower_copy() {
    // The sender is the node with the slow link to B.
    let mut plan = plan(Access::SharedSlots, &[(2, BOTH), (1, BOTH)]);
    for stream in &mut plan.streams {
        (stream.receivers, stream.hops[0].to) = (vec![NodeId(0)], vec![NodeId(0)]);
    }
    let table = right(&plan).table;
    let mut ends: Vec<_> = table.slots.iter().map(|slot| (slot.stream.0, slot.start, slot.end)).collect();
    ends.sort_unstable();
    let [(_, slow, slow_end), (_, quick, quick_end)] = ends[..] else { panic!("{ends:?}") };
    assert_eq!((slow_end - slow, quick_end - quick), (US(280), US(280)), "in the slot itself is its turn in A");
    let later = |one: Duration, other: Duration| (one - other).rem_floor(table.cluster_cycle);
    assert!(later(quick, slow) >= US(1_000) && later(slow, quick) >= US(280), "{ends:?}");
}

#[test]
fn the_checker_sees_a_wrong_turn_in_the_second_network() {
    let plan = plan(Access::PerLink, &[(0, BOTH)]);
    let table = right(&plan).table;
    let is_told = |table| {
        let found = verify(view(&plan), table);
        matches!(found[..], [Violation::WrongTimes { which: "turn at a switch behind the first", .. }])
    };
    let (mut late, mut gone) = (table.clone(), table);
    late.relays[0].start += US(1);
    gone.relays.clear();
    assert!(is_told(&late) && is_told(&gone));
}

#[test]
fn a_receiver_checks_behind_the_later_copy() {
    let mut plan = plan(Access::PerLink, &[(0, BOTH)]);
    super::charge(&mut plan, US(50));
    let synthesis = right(&plan);
    let slot = &synthesis.table.slots[0];
    let [check] = &synthesis.verifications[..] else { panic!("{:?}", synthesis.verifications) };
    // 1016 bytes with the tag; the dispatch is two precisions behind those on the first link.
    assert_eq!(check.start - slot.start, Duration::from_ns(81_280 + 2_000 + 812_800));
}

#[test]
fn frames_of_a_message_are_so_far_apart_that_no_copy_comes_behind_one_of_the_next() {
    let mut plan = plan(Access::PerLink, &[(0, BOTH)]);
    let datagram = Datagram { data_len: 4_000, trailer_len: 1, tags_len: 0, timeout: Duration::from_ms(100) };
    let stream = &mut plan.streams[0];
    stream.hops[0].frame_len = datagram.longest();
    stream.hops[0].facet.get_mut::<EthernetHop>().expect("it is a hop over Ethernet").datagram = Some(datagram);
    // B is slow on both of its links: 1.2 ms each, and a guard period.
    network(&mut plan).wiring.second[0].parameters.rate = Rate(10_000_000);
    let table = right(&plan).table;
    let starts: Vec<Duration> = table.slots.iter().map(|slot| slot.start).collect();
    let [first, second, third] = starts[..] else { panic!("three frames: {starts:?}") };
    let pitch = second - first;
    assert_eq!(third - second, pitch);
    // The copy over B is there after two of its links, that over A after 240 us.
    assert!(pitch > US(2_200) && pitch < US(2_700), "{pitch}");
    // Each of the networks by itself would do with less, and the second reader says what that would do to both.
    let closer = US(1_600);
    let mut met = table.clone();
    let sooner = |slot: usize| (pitch - closer) * slot as i64;
    for (place, slot) in met.slots.iter_mut().enumerate() {
        let sooner = sooner(place);
        (slot.release, slot.start) = (slot.release - sooner, slot.start - sooner);
        (slot.dispatch, slot.end) = (slot.dispatch - sooner, slot.end - sooner);
    }
    for relay in &mut met.relays {
        let sooner = sooner(relay.slot);
        (relay.start, relay.dispatch, relay.end) = (relay.start - sooner, relay.dispatch - sooner, relay.end - sooner);
    }
    met.deliveries.iter_mut().for_each(|delivery| delivery.dispatch -= sooner(delivery.slot));
    let found = verify(view(&plan), &met);
    let is_met = |violation: &Violation| matches!(violation, Violation::WindowsMeet { .. });
    assert!(found.len() == 2 && found.iter().all(is_met), "{found:?}");
    // Over B alone the frames may be as close.
    let hop = plan.streams[0].hops[0].facet.get_mut::<EthernetHop>().expect("it is a hop over Ethernet");
    hop.copies = Copies::One(NetworkName::B);
    let alone = right(&plan).table;
    assert!(alone.slots[1].start - alone.slots[0].start < closer);
}
