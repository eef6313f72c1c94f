//! HMAC through the seam and straight from the libraries underneath, at three frame sizes, for criterion.
//!
//! `hmac_ratio` measures the same pairs interleaved and prints their ratio, which criterion does not.

#![allow(clippy::unwrap_used, missing_docs, reason = "a bench may stop at the first surprise and is nobody's API")]

mod pairs;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn hmac(criterion: &mut Criterion) {
    for pair in pairs::all() {
        let mut group = criterion.benchmark_group(pair.algorithm.operation().0);
        for len in pairs::MESSAGE_LENS {
            let message = pairs::message(len);
            group.throughput(Throughput::Bytes(len as u64));
            group.bench_function(BenchmarkId::new("seam", len), |bench| bench.iter(|| pair.seam(&message)));
            group.bench_function(BenchmarkId::new("library", len), |bench| bench.iter(|| pair.library(&message)));
        }
        group.finish();
    }
}

criterion_group!(benches, hmac);
criterion_main!(benches);
