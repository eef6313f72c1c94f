//! How long a schedule takes: 1,000 and 10,000 streams over bridges in a square, and one stream more or less. All of it
//! is over within a minute, on a machine that has other things to do as well.
#![allow(missing_docs, reason = "criterion_group makes a public function without docs")]

use std::hint::black_box;
use std::time::Duration as Time;

use chronoseal_core::Duration;
use chronoseal_schedule::{Options, synthesize};
use criterion::{Criterion, criterion_group, criterion_main};

#[path = "../src/testing.rs"]
mod testing;

fn schedules(criterion: &mut Criterion) {
    let periods = [500, 1_000, 2_000, 4_000].map(Duration::from_us);
    let mut group = criterion.benchmark_group("schedule");
    group.sample_size(20).warm_up_time(Time::from_secs(1)).measurement_time(Time::from_secs(4));
    for (side, count, lens) in [(4, 1_000, &[100, 200, 300, 400, 500]), (12, 10_000, &[50, 100, 150, 200, 250])] {
        let network = testing::grid(side);
        let mut streams = testing::streams(&network, count + 1, lens, &periods, 1);
        let one_more = streams.pop().expect("one more than wanted");
        let problem = testing::problem(network, streams);
        let mut schedule = synthesize(&problem, Options::default()).unwrap_or_else(|infeasible| panic!("{infeasible}"));
        group.bench_function(format!("synthesize/grid-{side}x{side}/{count}"), |bencher| {
            bencher.iter(|| synthesize(black_box(&problem), Options::default()).is_ok());
        });
        group.bench_function(format!("add-and-remove/grid-{side}x{side}/{count}"), |bencher| {
            bencher.iter(|| {
                schedule.add(black_box(one_more.clone())).expect("it has a place");
                assert!(schedule.remove(&one_more.name));
            });
        });
    }
    group.finish();
}

criterion_group!(benches, schedules);
criterion_main!(benches);
