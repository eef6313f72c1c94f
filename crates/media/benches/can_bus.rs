//! How many frames a saturated CAN FD bus passes on in a second of processor time: arbitration among all nodes, exact
//! lengths, one delivery to each other node.
#![allow(missing_docs, reason = "criterion_group makes a public function without docs")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use chronoseal_core::{NodeId, PortId, Priority, Rate, SimTime};
use chronoseal_media::can::{CanBus, CanBusConfig, ControllerConfig};
use chronoseal_media::medium::{Attachment, FrameLabel, FrameStore, Medium, MediumOutput, MediumTimer};
use chronoseal_wire::can::{BitTiming, BitTimingConfig, CanFrame, CanId};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Frames each node sends in one round.
const FRAMES: u16 = 50;

fn port(node: u16) -> Attachment {
    Attachment { node: NodeId(node), port: PortId(0) }
}

/// Every node queues its frames at once; runs until the bus is idle. Frames delivered.
fn saturate(nodes: u16) -> u64 {
    let bus = CanBusConfig {
        timing: BitTiming::new(&BitTimingConfig::new(Rate(500_000), Rate(2_000_000))).expect("a usual timing"),
        carries_fd: true,
        controllers: (0..nodes).map(|node| ControllerConfig::new(port(node))).collect(),
        bits_between_errors: None,
        faults: Vec::new(),
        babblers: Vec::new(),
        load_window: None,
    };
    let mut network = CanBus::new(bus, 1).expect("one bus, one controller for each node");
    let (mut frames, mut out) = (FrameStore::new(), Vec::new());
    let mut timers: BinaryHeap<Reverse<(SimTime, MediumTimer)>> = BinaryHeap::new();
    network.start(SimTime::ZERO, &mut frames, &mut out);
    for number in 0..FRAMES {
        for node in 0..nodes {
            let id = CanId::standard(number << 5 | node).expect("11 bits");
            let frame = CanFrame::fd(id, &[number as u8; 64], true).expect("64 bytes");
            let queued = frames.allocate(FrameLabel::default());
            let len = frame.emit(frames.buffer(queued));
            frames.set_len(queued, len);
            network.handle_frame(SimTime::ZERO, port(node), Priority(0), queued, &mut frames, &mut out);
        }
    }
    let mut delivered = 0;
    loop {
        for output in out.drain(..) {
            match output {
                MediumOutput::Timer { at, timer } => timers.push(Reverse((at, timer))),
                MediumOutput::Deliver { frame, .. } => {
                    delivered += 1;
                    frames.release(frame);
                }
                MediumOutput::Transmitted { frame, .. } => frames.release(frame),
                MediumOutput::Discard { .. } | MediumOutput::Event { .. } => panic!("nothing is lost on this bus"),
            }
        }
        let Some(Reverse((at, timer))) = timers.pop() else { return delivered };
        network.handle_timer(at, timer, &mut frames, &mut out);
    }
}

fn can_bus(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("can-bus");
    for nodes in [2, 10, 32] {
        assert_eq!(saturate(nodes), u64::from(FRAMES) * u64::from(nodes) * u64::from(nodes - 1));
        group.throughput(Throughput::Elements(u64::from(FRAMES) * u64::from(nodes)));
        group.bench_function(format!("fd-64/{nodes}-nodes"), |bencher| bencher.iter(|| saturate(nodes)));
    }
    group.finish();
}

criterion_group!(benches, can_bus);
criterion_main!(benches);
