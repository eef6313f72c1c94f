//! Every printed and every recomputed number against tables made outside this crate (`tests/vectors`).

use chronoseal_core::Duration;
use chronoseal_study::tte_hmac::published::{Table3Column, claimed_of_tags, inconsistencies, table1, table2, table3};

fn rows<const N: usize>(text: &'static str) -> Vec<[&'static str; N]> {
    let rows: Vec<_> = (text.lines().skip(1))
        .map(|line| line.splitn(N, ',').collect::<Vec<_>>().try_into().expect("as many cells as columns"))
        .collect();
    assert!(!rows.is_empty());
    rows
}

fn ms(cell: &str) -> Duration {
    format!("{cell}ms").parse().expect("a number with digits")
}

#[test]
fn table_1_is_printed_and_recomputed_as_in_the_vectors() {
    let vectors = rows::<8>(include_str!("vectors/table1_theoretical.csv"));
    let table = table1();
    assert_eq!(table.len(), vectors.len());
    for (row, [guard, len, frames_printed, time_printed, frames, time, slot, _]) in table.iter().zip(vectors) {
        assert_eq!((row.guard, row.frame_len), (ms(guard), len.parse().unwrap()));
        assert_eq!(row.frames_max_printed, frames_printed.parse::<u64>().unwrap());
        assert_eq!(row.frame_time_printed, ms(time_printed));
        assert_eq!(row.recomputed.frames_max, frames.parse::<u64>().unwrap());
        assert_eq!((row.recomputed.frame_time, row.recomputed.slot_time), (ms(time), ms(slot)));
    }
}

#[test]
fn table_2_is_printed_as_in_the_vectors() {
    let vectors = rows::<5>(include_str!("vectors/table2_switch_measured.csv"));
    let table = table2();
    assert_eq!(table.len(), vectors.len());
    for (row, [quantity, len, min, avg, max]) in table.iter().zip(vectors) {
        assert_eq!((row.quantity.name(), row.frame_len), (quantity, len.parse().unwrap()));
        assert_eq!([row.printed.min, row.printed.avg, row.printed.max], [ms(min), ms(avg), ms(max)]);
        assert_eq!(row.recomputed.is_some(), quantity == "Diff");
        if let Some(recomputed) = row.recomputed {
            assert_eq!(recomputed, row.printed, "the printed differences are those of the printed columns");
        }
    }
}

#[test]
fn table_3_is_printed_and_recomputed_as_in_the_vectors() {
    let vectors = rows::<9>(include_str!("vectors/table3_performance_impact.csv"));
    let table = table3();
    assert_eq!(table.len(), vectors.len());
    for (row, [column, len, frames, time, max_tt, max_tt_recomputed, by_max_tt, by_slot, _]) in
        table.iter().zip(vectors)
    {
        assert_eq!((row.column.name().to_lowercase().as_str(), row.frame_len), (column, len.parse().unwrap()));
        assert_eq!(row.frames_max_printed, frames.parse::<u64>().unwrap());
        assert_eq!((row.frame_time_printed, row.transmission_time_max_printed), (ms(time), ms(max_tt)));
        assert_eq!(row.transmission_time_max_recomputed, ms(max_tt_recomputed));
        assert_eq!(row.frames_max_by_transmission, by_max_tt.parse::<u64>().unwrap());
        assert_eq!(row.frames_max_by_slot, by_slot.parse::<u64>().unwrap());
        if row.column == Table3Column::Theoretical {
            assert_eq!(row.frame_time_recomputed, Some(row.frame_time_printed));
        }
    }
}

#[test]
fn the_constants_are_those_of_the_vectors() {
    let published = rows::<4>(include_str!("../../../studies/tte-hmac/published/constants.csv"));
    let vectors = rows::<4>(include_str!("vectors/constants.csv"));
    let pairs = [
        ("base_period", "base_period_BP"),
        ("guard_period", "guard_period_GP"),
        ("line_rate", "line_rate"),
        ("frame_len_min", "frame_min"),
        ("frame_len_max", "frame_max"),
        ("tag_len_sha1", "tag_SHA1"),
        ("tag_len_sha2", "tag_SHA256"),
        ("tag_len_sha3", "tag_SHA3"),
        ("key_len", "key_length"),
        ("switch_overhead", "switch_overhead_SO"),
        ("sync_id", "sync_beacon_channel"),
        ("capture_time", "capture_time_per_test"),
    ];
    assert_eq!(published.len(), pairs.len());
    for (ours, theirs) in pairs {
        let value = |rows: &[[&'static str; 4]], name| rows.iter().find(|row| row[0] == name).unwrap()[1];
        assert_eq!(value(&published, ours), value(&vectors, theirs), "{ours}");
    }
}

#[test]
fn the_source_is_held_to_what_it_claims_of_tags() {
    let said = claimed_of_tags();
    assert!(
        said.contains("20 bytes costs no frame")
            && said.contains("Of the 32 bytes of SHA-2 and SHA-3 it claims nothing")
    );
    assert!(said.contains("48, 48, 48 as published and 48, 48, 47 on the wire"), "{said}");
    assert!(said.contains("105 bytes as published and 81 on the wire"), "{said}");
}

#[test]
fn all_seven_inconsistencies_are_computed() {
    let found = inconsistencies();
    let text: Vec<_> = found.iter().map(|one| (one.id, one.printed.as_str(), one.recomputed.as_str())).collect();
    assert_eq!(
        text,
        [
            (1, "208333 | 156250", "2083 | 1562"),
            (2, "0.2048 ms | 0.2064 ms", "0.0048 ms | 0.0064 ms"),
            (3, "48 | 48 | 43 | 33", "47 | 46 | 43 | 33 by BP/MaxTT, or 48 | 48 | 31 | 28 by BP/(Frametime+GP)"),
            (
                4,
                "SO already subtracted from the measured Frametime; MaxTT 0.2300 ms | 0.3000 ms",
                "MaxTT 0.4300 ms | 0.5000 ms if it were, NFmax 23 | 20"
            ),
            (5, "0.1500 ms, NFmax 33", "0.1182 ms by interpolation, MaxTT 0.2364 ms, NFmax 42"),
            (
                6,
                "Diff = Tx - Rx; 60 B: 0.2740 ms, 0.3780 ms, 0.5580 ms; 1514 B: 0.3840 ms, 0.3720 ms, 0.4790 ms",
                "Rx - Tx of each column: 0.2740 ms, 0.3780 ms, 0.5580 ms; 0.3840 ms, 0.3720 ms, 0.4790 ms"
            ),
            (
                7,
                "0.0080 ms at 60 bytes, 0.2220 ms at 1514 bytes",
                "0.147 us per byte, 1.84 times the 0.080 us of one hop"
            ),
        ]
    );
    assert!(found[0].explanation.contains("208333 | 156250"));
    assert!(found[4].explanation.ends_with("the frames lost by the tag 1 instead of 10."));
    assert!(found[5].explanation.contains("at 1514 bytes the minimum"));
}
