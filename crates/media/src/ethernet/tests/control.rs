//! Control frames of a cluster: who may send them, and what the switches make of them.

use chronoseal_clocksync::as6802::{Cluster, Parameters, permanence_point};
use chronoseal_core::{EventKind, LocalTime};
use chronoseal_wire::ethernet::Frame;
use chronoseal_wire::protocol_control_frame::{PcfType, ProtocolControlFrame};

use super::bench::*;
use super::several::row;
use super::*;

const DELAY_MAX: Duration = Duration::from_us(500);

pub(super) fn clocks(compression_masters: Vec<usize>) -> ClusterClocks {
    let cluster = Cluster::new(3, CYCLE, DELAY_MAX, Duration::from_us(5));
    let parameters = Parameters::of(&cluster).unwrap();
    ClusterClocks { sync_id: 4043, parameters, masters: [0, 1, 2].map(NodeId).to_vec(), compression_masters }
}

pub(super) fn frame(kind: PcfType, master: u16, integration_cycle: u32) -> ProtocolControlFrame {
    ProtocolControlFrame {
        integration_cycle,
        membership_new: 1 << master,
        sync_priority: 0,
        sync_domain: 0,
        kind,
        transparent_clock: Duration::ZERO,
    }
}

/// Longer than a compression master listens.
const LATER: Duration = Duration::from_ms(20);

/// What was delivered, with the time at which each becomes permanent.
fn permanent(bench: &Bench) -> Vec<(NodeId, ProtocolControlFrame, LocalTime)> {
    let read = |delivery: &Delivery| {
        let frame = Frame::new_checked(&delivery.bytes).unwrap();
        let control = ProtocolControlFrame::parse(frame.payload()).unwrap();
        let arrived = LocalTime::ZERO + delivery.at.since_zero();
        let at = permanence_point(arrived, control.transparent_clock, DELAY_MAX).expect("it is young enough");
        (delivery.to.node, control, at)
    };
    bench.deliveries.iter().map(read).collect()
}

#[test]
fn a_coldstart_frame_is_passed_on_once_it_is_permanent() {
    let mut bench = Bench::new(NetworkConfig { clocks: Some(clocks(vec![0])), ..config() });
    bench.send_control(LATER, 1, NodeId(1), &frame(PcfType::ColdStart, 1, 0));
    let bench = bench.run(LATER + Duration::from_ms(2));
    let passed = permanent(&bench);
    assert_eq!(passed.iter().map(|(node, ..)| node.0).collect::<Vec<_>>(), [0, 1, 2], "to everybody");
    for (_, control, at) in passed {
        assert_eq!((control.kind, control.membership_new), (PcfType::ColdStart, 0b010));
        // Each way takes the largest transmission delay, whatever it took.
        assert_eq!(at, LocalTime::ZERO + LATER + DELAY_MAX * 2);
    }
}

/// Over three switches in a row of which the last compresses: every relay adds its delay to the transparent clock, so that a
/// frame is permanent everywhere at the same time.
#[test]
fn a_control_frame_is_permanent_everywhere_at_once_however_long_its_way_is() {
    for switch in [0, 1, 2] {
        let config = NetworkConfig { clocks: Some(clocks(vec![switch])), ..row(100_000_000, Vec::new()) };
        let mut bench = Bench::new(NetworkConfig { forwarding_delay: Duration::from_us(3), ..config });
        bench.send_control(LATER, 0, NodeId(0), &frame(PcfType::ColdStart, 0, 0));
        let bench = bench.run(LATER + Duration::from_ms(3));
        let mut passed = permanent(&bench);
        passed.sort_by_key(|(node, ..)| node.0);
        assert_eq!(passed.iter().map(|(node, ..)| node.0).collect::<Vec<_>>(), [0, 1, 2]);
        for (_, _, at) in passed {
            let expected = LocalTime::ZERO + LATER + DELAY_MAX * 2;
            assert!((at - expected).abs() <= Duration::from_ps(4), "{at}, {expected}");
        }
        assert_eq!(bench.frames.in_flight(), 0);
    }
}

#[test]
fn integration_frames_are_compressed_once_and_the_switch_has_a_clock() {
    let mut bench = Bench::new(NetworkConfig { clocks: Some(clocks(vec![0])), ..config() });
    let us = Duration::from_us;
    for (master, late) in [(0, us(0)), (1, us(2)), (2, us(3))] {
        bench.send_control(LATER + late, master, NodeId(master), &frame(PcfType::Integration, master, 4));
    }
    let bench = bench.run(LATER + Duration::from_ms(3));
    let Parameters { smc_scheduled_receive_pit, .. } = clocks(vec![0]).parameters;
    let compressed = permanent(&bench);
    assert_eq!(compressed.len(), 3, "one for each station");
    for (_, control, at) in compressed {
        assert_eq!((control.kind, control.membership_new), (PcfType::Integration, 0b111));
        assert_eq!(control.integration_cycle, 4);
        // The middle one of three counts.
        assert_eq!(at, LocalTime::ZERO + LATER + smc_scheduled_receive_pit + us(2));
    }
    assert!(bench.kinds().contains(&EventKind::SyncAcquired));
}

#[test]
fn refuses_control_frames_that_name_another_master_or_come_another_way() {
    let refused = (DiscardReason::NotSyncMaster, StreamId::NONE);
    let own = frame(PcfType::ColdStart, 1, 0);
    let of_all = ProtocolControlFrame { membership_new: 0b111, ..own };
    let compressed = ProtocolControlFrame { kind: PcfType::Integration, membership_new: 0b111, ..own };
    let too_old = ProtocolControlFrame { transparent_clock: DELAY_MAX, ..own };
    for (source, control, reason) in [
        (NodeId(0), own, refused),
        (NodeId(1), frame(PcfType::ColdStart, 0, 0), refused),
        (NodeId(1), of_all, refused),
        // As if the switch had sent it.
        (SWITCH, compressed, refused),
        (NodeId(77), own, refused),
        (NodeId(1), too_old, (DiscardReason::TransmissionDelayExceeded, StreamId::NONE)),
    ] {
        let mut bench = Bench::new(NetworkConfig { clocks: Some(clocks(vec![0])), ..config() });
        bench.send_control(LATER, 1, source, &control);
        let bench = bench.run(LATER + Duration::from_ms(3));
        assert_eq!(bench.discarded(), [reason], "{source:?} {control:?}");
        assert_eq!((bench.deliveries.len(), bench.frames.in_flight()), (0, 0));
    }
}
