//! The curve of frames in a base period against a table made outside this crate (`tests/vectors`).

use chronoseal_analysis::tdma::{Cluster, curve, frames_max};
use chronoseal_core::Duration;
use chronoseal_plan::Accounting;

fn rows<const N: usize>(text: &'static str) -> Vec<[&'static str; N]> {
    let rows: Vec<_> = (text.lines().skip(1))
        .map(|line| line.splitn(N, ',').collect::<Vec<_>>().try_into().expect("as many cells as columns"))
        .collect();
    assert!(!rows.is_empty());
    rows
}

fn us(cell: &str) -> Duration {
    format!("{cell}us").parse().expect("a number with digits")
}

#[test]
fn the_curve_is_as_in_the_vectors_in_both_accountings() {
    let published = Cluster::AS_PUBLISHED;
    let on_wire = Cluster { accounting: Accounting::OnWire, ..published };
    let (plain, wire) = (curve(&published, 0), curve(&on_wire, 0));
    for [len, time, free, guarded, wire_time, wire_free, wire_guarded] in
        rows::<7>(include_str!("vectors/nfmax_curve_recomputed.csv"))
    {
        let len: u32 = len.parse().unwrap();
        for (points, time, free, guarded) in
            [(&plain, time, free, guarded), (&wire, wire_time, wire_free, wire_guarded)]
        {
            let point = points[(len - 60) as usize];
            assert_eq!((point.unsecured_len, point.secured_len), (len, len));
            assert_eq!((point.frame_time, point.slot_time), (us(time), us(time) + published.guard));
            assert_eq!(point.frames_max, guarded.parse::<u64>().unwrap());
            let unguarded = frames_max(published.base_period, point.frame_time, Duration::ZERO);
            assert_eq!(unguarded, free.parse::<u64>().unwrap());
        }
    }
}
