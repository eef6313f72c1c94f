//! How long a schedule table takes: 1,000 and 10,000 streams, every frame placed and none left out.
#![allow(missing_docs, reason = "criterion_group makes a public function without docs")]

use std::hint::black_box;

use chronoseal_analysis::synthesis::synthesize;
use chronoseal_core::{Duration, Rate};
use chronoseal_plan::{Access, Plan};
use criterion::{Criterion, criterion_group, criterion_main};

#[path = "../src/testing.rs"]
mod testing;

/// Periods of 5, 10 and 20 ms over 16 stations at 1 Gbit/s; each stream goes to one receiver.
fn network(access: Access, streams: u32) -> Plan {
    let mut plan = testing::cluster(16);
    let network = testing::network(&mut plan);
    network.access = access;
    network.rate = Rate(1_000_000_000);
    network.cluster_cycle = Duration::from_ms(20);
    network.guard_period = Duration::ZERO;
    for k in 0..streams {
        let sender = (k % 16) as u16;
        let receiver = (sender + 1 + (k / 16 % 15) as u16) % 16;
        let frame_len = 60 + k * 37 % if streams > 1_000 { 60 } else { 1_000 };
        testing::add_stream(&mut plan, sender, &[receiver], frame_len).period =
            Duration::from_ms([5, 10, 20, 20][k as usize / 3 % 4]);
    }
    plan
}

fn synthesis(criterion: &mut Criterion) {
    for (access, name) in [(Access::SharedSlots, "shared-slots"), (Access::PerLink, "per-link")] {
        for streams in [1_000, 10_000] {
            let plan = network(access, streams);
            let table = synthesize(testing::view(&plan)).unwrap_or_else(|infeasible| panic!("{infeasible}"));
            assert!(table.slots.len() >= streams as usize);
            criterion.bench_function(&format!("synthesize/{name}/{streams}"), |bencher| {
                bencher.iter(|| synthesize(testing::view(black_box(&plan))).is_ok());
            });
        }
    }
}

criterion_group!(benches, synthesis);
criterion_main!(benches);
