//! Stations with a link to each of the networks A and B.

use chronoseal_core::EventKind;
use chronoseal_wire::protocol_control_frame::PcfType;

use super::bench::*;
use super::*;

const A: NodeId = NodeId(20);
const B: NodeId = NodeId(21);
const BOTH: StreamId = StreamId(0);
const ON_B: StreamId = StreamId(1);

/// Stations 0 and 1, each with a link to the switch of A, links 0 and 1, and to that of B, links 2 and 3.
fn networks(failures: Vec<Failure>) -> NetworkConfig {
    let link = |node: u16, port: u16, switch| {
        let station = Attachment { node: NodeId(node), port: PortId(port) };
        Link { ends: Ends::Station { station, switch }, speed: speed() }
    };
    let hop = |ingress, egress| RouteHop { ingress, egress: vec![egress] };
    let route = |hops| Route { class: RouteClass::BestEffort { priority: 0 }, hops, len_max: 1514, vid: None };
    NetworkConfig {
        switches: vec![A, B],
        switches_of_b: vec![1],
        links: vec![link(0, 0, 0), link(1, 0, 0), link(0, 1, 1), link(1, 1, 1)],
        routes: vec![route(vec![hop(0, 3), hop(4, 7)]), route(vec![hop(4, 7)])],
        schedule: Default::default(),
        failures,
        ..config()
    }
}

fn sent(config: NetworkConfig, stream: StreamId) -> Bench {
    let mut bench = Bench::new(config);
    bench.send(Duration::ZERO, 0, plain_frame(stream, 100));
    let bench = bench.run(Duration::from_ms(1));
    assert_eq!(bench.frames.in_flight(), 0);
    bench
}

fn ports(bench: &Bench) -> Vec<(u16, u16)> {
    bench.deliveries.iter().map(|delivery| (delivery.to.node.0, delivery.to.port.0)).collect()
}

fn counted(bench: &Bench, name: &str) -> i64 {
    let series = bench.network.series().into_iter().find(|series| series.name == name);
    series.unwrap_or_else(|| panic!("{name} is counted")).values[0]
}

#[test]
fn a_frame_comes_over_both_networks_by_a_port_each() {
    let bench = sent(networks(Vec::new()), BOTH);
    assert_eq!(ports(&bench), [(1, 0), (1, 1)]);
    assert!(bench.deliveries.iter().all(|delivery| delivery.bytes == plain_frame(BOTH, 100)));
    assert_eq!((counted(&bench, "frames into network A"), counted(&bench, "frames into network B")), (1, 1));
}

#[test]
fn a_frame_of_one_network_goes_by_its_link_alone() {
    let bench = sent(networks(Vec::new()), ON_B);
    assert_eq!(ports(&bench), [(1, 1)]);
    assert_eq!((counted(&bench, "frames into network A"), counted(&bench, "frames into network B")), (0, 1));
}

#[test]
fn a_link_that_is_down_takes_its_own_copy_only() {
    let bench = sent(networks(vec![Failure { link: 1, at: SimTime::ZERO }]), BOTH);
    assert_eq!(ports(&bench), [(1, 1)]);
    let reasons: Vec<EventKind> = bench.events.iter().map(|(_, event)| event.kind).collect();
    assert_eq!(reasons, [EventKind::Discarded(DiscardReason::LinkDown)]);
    let dropped = ["frames dropped in network A", "frames dropped in network B"].map(|name| counted(&bench, name));
    assert_eq!(dropped, [1, 0]);
}

#[test]
fn a_frame_of_no_stream_goes_into_the_first_network_and_no_further() {
    let bench = sent(networks(Vec::new()), StreamId(7));
    assert_eq!(ports(&bench), []);
    let reasons: Vec<EventKind> = bench.events.iter().map(|(_, event)| event.kind).collect();
    assert_eq!(reasons, [EventKind::Discarded(DiscardReason::UnknownStream)]);
}

#[test]
fn an_attacker_on_the_wire_to_one_network_gets_its_copy_only() {
    let attacker = NodeId(15);
    let config = NetworkConfig {
        splices: vec![Splice { victim: 2, attacker, seat: Seat::BeforeWire, keeps_priorities: false }],
        ..networks(Vec::new())
    };
    let bench = sent(config, BOTH);
    assert_eq!(ports(&bench), [(15, 0), (1, 0)]);
}

#[test]
fn what_comes_by_another_port_than_the_first_has_no_wire() {
    let mut bench = Bench::new(networks(Vec::new()));
    bench.send_from(Duration::ZERO, Attachment { node: NodeId(0), port: PortId(1) }, plain_frame(BOTH, 100));
    let bench = bench.run(Duration::from_ms(1));
    let reasons: Vec<EventKind> = bench.events.iter().map(|(_, event)| event.kind).collect();
    assert_eq!(reasons, [EventKind::Discarded(DiscardReason::WrongPort)]);
}

/// A control frame of a master goes over both, the compression master of each network compresses it, and what this sends stays there.
#[test]
fn control_frames_go_over_both_networks_and_those_of_a_compression_master_over_its_own() {
    let later = Duration::from_ms(20);
    let kind = PcfType::ColdStart;
    for compression_masters in [vec![0, 1], vec![1]] {
        let clocks = Some(control::clocks(compression_masters.clone()));
        let mut bench = Bench::new(NetworkConfig { clocks, ..networks(Vec::new()) });
        bench.send_control(later, 1, NodeId(1), &control::frame(kind, 1, 0));
        let bench = bench.run(later + Duration::from_ms(2));
        let came: Vec<(u16, u16, NodeId)> = bench
            .deliveries
            .iter()
            .map(|delivery| {
                let frame = chronoseal_wire::ethernet::Frame::new_checked(&delivery.bytes).unwrap();
                let source = virtual_link::station(frame.source()).unwrap();
                (delivery.to.node.0, delivery.to.port.0, source)
            })
            .collect();
        let expected = [(0, 0, A), (1, 0, A), (0, 1, B), (1, 1, B)];
        let of_b = compression_masters.len() == 1;
        assert_eq!(came, if of_b { &expected[2..] } else { &expected[..] });
        assert_eq!((counted(&bench, "frames into network A"), counted(&bench, "frames into network B")), (1, 1));
        // Network A knows of no way for it if nobody compresses there.
        assert_eq!(bench.discarded().len(), usize::from(of_b));
        assert_eq!(bench.frames.in_flight(), 0);
    }
}
