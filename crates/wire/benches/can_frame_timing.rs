//! How long it takes to say how long a frame takes: exact stuffing, all bits, both rates.
#![allow(missing_docs, reason = "criterion_group makes a public function without docs")]

use std::hint::black_box;

use chronoseal_core::{Duration, Rate};
use chronoseal_wire::can::plain::{self, Stuffed};
use chronoseal_wire::can::{BitTiming, BitTimingConfig, CanFrame, CanId, FrameBits};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Frames of one round: enough that no branch predictor learns them.
const FRAMES: usize = 4_096;

/// A sequence of 64-bit numbers: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// Random identifiers of 29 bits and random data.
fn frames(len: usize, make: impl Fn(CanId, &[u8]) -> CanFrame) -> Vec<CanFrame> {
    let mut state = 7;
    let one = |_| {
        let id = CanId::extended(split_mix(&mut state) as u32 & 0x1fff_ffff).expect("29 bits");
        let mut data = [0; 64];
        for chunk in data.chunks_exact_mut(8) {
            chunk.copy_from_slice(&split_mix(&mut state).to_le_bytes());
        }
        make(id, &data[..len])
    };
    (0..FRAMES).map(one).collect()
}

fn frame_timing(criterion: &mut Criterion) {
    let timing = BitTiming::new(&BitTimingConfig::new(Rate(500_000), Rate(2_000_000))).expect("a usual timing");
    let fd_64 = frames(64, |id, data| CanFrame::fd(id, data, true).expect("a length that frames have"));
    let fd_8 = frames(8, |id, data| CanFrame::fd(id, data, true).expect("a length that frames have"));
    let classical_8 = frames(8, |id, data| CanFrame::classical(id, data).expect("at most 8 bytes"));
    let mut group = criterion.benchmark_group("frame-timing");
    group.throughput(Throughput::Elements(FRAMES as u64));
    for (name, frames) in [("fd-64", &fd_64), ("fd-8", &fd_8), ("classical-8", &classical_8)] {
        // What is timed is right: as many bits and stuff bits as the plain encoder makes.
        for frame in frames {
            let (fast, plain) = (FrameBits::of(frame), plain::encode(frame));
            let stuff = plain.iter().filter(|bit| bit.stuffed == Stuffed::Dynamic).count();
            assert_eq!((fast.total() as usize, fast.stuff as usize), (plain.len(), stuff));
        }
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(frames).iter().map(|frame| timing.frame(frame)).sum::<Duration>());
        });
    }
    group.bench_function("fd-64/plain", |bencher| {
        bencher.iter(|| black_box(&fd_64).iter().map(|frame| plain::encode(frame).len()).sum::<usize>());
    });
    group.finish();
}

criterion_group!(benches, frame_timing);
criterion_main!(benches);
