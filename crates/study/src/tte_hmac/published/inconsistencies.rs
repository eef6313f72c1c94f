//! Where the source contradicts itself. Every number is computed from the printed tables and the closed forms.

use chronoseal_analysis::tdma::{Cluster, frame_time, frames_max, frames_max_by_transmission, transmission_time_max};
use chronoseal_core::Duration;
use chronoseal_plan::Accounting;

use super::{SWITCH_OVERHEAD, Table2Quantity, Table3Column, Table3Row, table1, table2, table3};

/// A printed value that does not follow from the source's own formulas or tables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inconsistency {
    /// Number, from 1.
    pub id: u8,
    /// Where it is printed.
    pub place: &'static str,
    /// What is printed.
    pub printed: String,
    /// What follows.
    pub recomputed: String,
    /// How the two differ, and how we read it.
    pub explanation: String,
}

/// All of them, by number.
pub fn inconsistencies() -> Vec<Inconsistency> {
    vec![
        frames_per_second(),
        slot_called_frame_time(),
        two_rules_for_frames_max(),
        overhead_subtracted_once(),
        frame_time_without_a_source(),
        difference_of_extremes(),
        slope_of_two_hops(),
    ]
}

fn join<T: ToString>(values: impl IntoIterator<Item = T>, separator: &str) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(separator)
}

/// As the source prints times.
fn ms(span: Duration) -> String {
    format!("{:.4} ms", span.as_ms_f64())
}

fn frames_per_second() -> Inconsistency {
    let cells: Vec<_> = table1().into_iter().filter(|row| row.guard == Duration::ZERO).collect();
    let second = Duration::from_s(1);
    let per_second = cells.iter().map(|row| frames_max(second, row.recomputed.frame_time, Duration::ZERO));
    Inconsistency {
        id: 1,
        place: "Table I, GP = 0, NFmax",
        printed: join(cells.iter().map(|row| row.frames_max_printed), " | "),
        recomputed: join(cells.iter().map(|row| row.recomputed.frames_max), " | "),
        explanation: format!(
            "The printed values are frames in a base period of 1 s ({}); the caption says BP = 10 ms.",
            join(per_second, " | ")
        ),
    }
}

fn slot_called_frame_time() -> Inconsistency {
    let cells: Vec<_> = table1().into_iter().filter(|row| row.guard > Duration::ZERO).collect();
    Inconsistency {
        id: 2,
        place: "Table I, GP = 0.2 ms, Frametime",
        printed: join(cells.iter().map(|row| ms(row.frame_time_printed)), " | "),
        recomputed: join(cells.iter().map(|row| ms(row.recomputed.frame_time)), " | "),
        explanation: format!(
            "What is printed as Frametime is the whole slot, Frametime + GP = {}. NFmax beside it is right.",
            join(cells.iter().map(|row| ms(row.recomputed.slot_time)), " | ")
        ),
    }
}

fn two_rules_for_frames_max() -> Inconsistency {
    let table = table3();
    let list = |value: fn(&Table3Row) -> u64| join(table.iter().map(value), " | ");
    let (by_slot, by_transmission) = (list(|row| row.frames_max_by_slot), list(|row| row.frames_max_by_transmission));
    Inconsistency {
        id: 3,
        place: "Table III, NFmax",
        printed: list(|row| row.frames_max_printed),
        recomputed: format!("{by_transmission} by BP/MaxTT, or {by_slot} by BP/(Frametime+GP)"),
        explanation:
            "The theoretical columns divide by Frametime + GP, the measured ones by MaxTT, so part of the drop \
                      between them is a change of rule and not of speed."
                .into(),
    }
}

fn overhead_subtracted_once() -> Inconsistency {
    let measured: Vec<_> = table3().into_iter().filter(|row| row.column == Table3Column::Measured).collect();
    let cluster = Cluster::AS_PUBLISHED;
    let as_noted: Vec<_> = measured
        .iter()
        .map(|row| transmission_time_max(row.frame_time_printed, Duration::ZERO, cluster.guard))
        .collect();
    let frames = as_noted.iter().map(|max_tt| frames_max_by_transmission(cluster.base_period, *max_tt));
    Inconsistency {
        id: 4,
        place: "note under Table III",
        printed: format!(
            "SO already subtracted from the measured Frametime; MaxTT {}",
            join(measured.iter().map(|row| ms(row.transmission_time_max_printed)), " | ")
        ),
        recomputed: format!("MaxTT {} if it were, NFmax {}", join(as_noted.iter().map(|t| ms(*t)), " | "), {
            join(frames, " | ")
        }),
        explanation: format!(
            "The printed MaxTT follows only if SO = {} is still contained in the printed Frametime and is subtracted by \
             the formula.",
            ms(SWITCH_OVERHEAD)
        ),
    }
}

fn frame_time_without_a_source() -> Inconsistency {
    let table = table3();
    let printed = table.iter().find(|row| row.column == Table3Column::Measured && row.frame_len == 80);
    let [(short_len, short), (long_len, long)] = tx(|cells| cells.max);
    let step = (long - short).as_ps() as i128 * i128::from(80 - short_len) / i128::from(long_len - short_len);
    // Rounded to the four digits the source prints.
    let interpolated = Duration::from_ps((short.as_ps() + step as i64 + 50_000) / 100_000 * 100_000);
    let cluster = Cluster::AS_PUBLISHED;
    let max_tt = transmission_time_max(interpolated, SWITCH_OVERHEAD, cluster.guard);
    let frames = frames_max_by_transmission(cluster.base_period, max_tt);
    let without_tag = table.iter().find(|row| row.column == Table3Column::Measured && row.frame_len == 60);
    let lost = |frames| without_tag.map_or(0, |row| row.frames_max_printed.saturating_sub(frames));
    let lost_printed = printed.map_or(0, |row| lost(row.frames_max_printed));
    Inconsistency {
        id: 5,
        place: "Table III, measured Frametime of 80 bytes",
        printed: printed
            .map_or(String::new(), |row| format!("{}, NFmax {}", ms(row.frame_time_printed), row.frames_max_printed)),
        recomputed: format!("{} by interpolation, MaxTT {}, NFmax {frames}", ms(interpolated), ms(max_tt)),
        explanation: format!(
            "No table has a measurement at 80 bytes. On the line between the greatest Tx at {short_len} and {long_len} \
             bytes of Table II it would be lower, and the frames lost by the tag {} instead of {lost_printed}.",
            lost(frames)
        ),
    }
}

fn difference_of_extremes() -> Inconsistency {
    let rows: Vec<_> = table2().into_iter().filter(|row| row.quantity == Table2Quantity::Diff).collect();
    let differences = rows.iter().filter_map(|row| row.recomputed);
    let impossible: Vec<_> = rows.iter().filter(|row| row.printed.min > row.printed.avg).collect();
    Inconsistency {
        id: 6,
        place: "Table II, Diff",
        printed: format!(
            "Diff = Tx - Rx; {}",
            join(
                rows.iter().map(|row| {
                    let cells = row.printed;
                    format!("{} B: {}, {}, {}", row.frame_len, ms(cells.min), ms(cells.avg), ms(cells.max))
                }),
                "; "
            )
        ),
        recomputed: format!(
            "Rx - Tx of each column: {}",
            join(differences.map(|cells| format!("{}, {}, {}", ms(cells.min), ms(cells.avg), ms(cells.max))), "; ")
        ),
        explanation: format!(
            "The sign is turned round, and the extremes are differences of the extremes of Tx and Rx instead of extremes \
             of the difference of single frames: {} the minimum is above the average.",
            join(impossible.iter().map(|row| format!("at {} bytes", row.frame_len)), ", ")
        ),
    }
}

/// What the source claims of the cost of a tag, and what it does not: a remark, for it contradicts nothing.
pub fn claimed_of_tags() -> String {
    let published = Cluster::AS_PUBLISHED;
    let on_wire = Cluster { accounting: Accounting::OnWire, ..published };
    let frames = |cluster: Cluster| join([60, 80, 92].map(|len| cluster.frames_max(len)), ", ");
    let first = |cluster: Cluster| (60..=1514).find(|&len| cluster.frames_max(len) < cluster.frames_max(60));
    format!(
        "The source claims that SHA-1's tag of 20 bytes costs no frame (section IV-C). Of the 32 bytes of SHA-2 and SHA-3 it claims \
         nothing. With its guard period, frames of 60, 80 and 92 bytes give {} as published and {} on the wire; the first \
         length that costs a frame is {} bytes as published and {} on the wire.",
        frames(published),
        frames(on_wire),
        first(published).unwrap_or_default(),
        first(on_wire).unwrap_or_default()
    )
}

fn slope_of_two_hops() -> Inconsistency {
    let [(short_len, short), (long_len, long)] = tx(|cells| cells.avg);
    let slope = (long - short).as_us_f64() / f64::from(long_len - short_len);
    let hop = frame_time(1, Cluster::AS_PUBLISHED.rate, Accounting::AsPublished).as_us_f64();
    Inconsistency {
        id: 7,
        place: "Table II, Tx, average",
        printed: format!("{} at {short_len} bytes, {} at {long_len} bytes", ms(short), ms(long)),
        recomputed: format!("{slope:.3} us per byte, {:.2} times the {hop:.3} us of one hop", slope / hop),
        explanation: "A way of one link and one store-and-forward switch grows with the size at the line rate. Nearly \
                      twice that slope says that the switch which copies the frames to the capture stores and forwards \
                      them once more; the text takes its share as a constant."
            .into(),
    }
}

/// Length and one statistic of the two Tx rows of Table II.
fn tx(statistic: fn(&super::Table2Cells) -> Duration) -> [(u32, Duration); 2] {
    let mut rows = table2().into_iter().filter(|row| row.quantity == Table2Quantity::Tx);
    [(); 2].map(|()| {
        let row = rows.next().expect("Table II has a row Tx at both sizes");
        (row.frame_len, statistic(&row.printed))
    })
}
