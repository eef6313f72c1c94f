//! The curves of figures 4, 6 and 7, and the sweep that holds the simulator against them.

use std::sync::atomic::AtomicBool;

use chronoseal_analysis::tdma::{self, Cluster};
use chronoseal_core::Duration;
use chronoseal_plan::Accounting;
use chronoseal_report::{Axis, Cell, Chart, Series, SeriesKind, Table};

use super::frames_max::{Question, frames_max_near};
use super::tables::simulated_cell;
use crate::StudyError;

/// What the sweep puts on frames: name shown, protection of `slots.toml`, bytes.
const PROTECTIONS: [(&str, &str, u32); 9] = [
    ("no tag", "none", 0),
    ("16 B truncated", "sha256-16", 16),
    ("20 B (SHA-1)", "sha1-20", 20),
    ("24 B (size of MACsec)", "macsec-24", 24),
    ("32 B (SHA-256, SHA-3)", "sha256-32", 32),
    ("32 B (size of MACsec)", "macsec-32", 32),
    ("16 B + 8 B freshness", "sha256-16-fresh", 24),
    ("20 B + 8 B freshness", "sha1-20-fresh", 28),
    ("32 B + 8 B freshness", "sha256-32-fresh", 40),
];

/// Unsecured frame lengths the sweep simulates `[byte]`; longer ones are left out where the tag makes them too long.
const LENGTHS: [u32; 12] = [60, 64, 80, 81, 105, 128, 256, 512, 577, 1024, 1280, 1474];

/// Figure 4: maximum delay at the critical instant over the number of nodes.
pub(super) fn figure_4() -> Chart {
    let cluster = Cluster::AS_PUBLISHED;
    let series = |name: &str, len: u32| {
        let slot = cluster.frame_time(len) + cluster.guard;
        let points = (1..=120)
            .filter_map(|nodes| {
                Some((nodes as f64, tdma::delay_at_critical_instant(nodes, slot, cluster.base_period)?.as_ms_f64()))
            })
            .collect();
        Series { name: name.into(), kind: SeriesKind::Step, points }
    };
    Chart {
        caption: "Figure 4, recomputed: longest wait until a frame has been sent if all nodes are ready at once; one slot each, the node that no longer fits in a base period waits for the next".into(),
        x: Axis::linear("nodes", ""),
        y: Axis::linear("maximum network delay", "ms"),
        series: vec![series("60 bytes", 60), series("80 bytes (SHA-1 tag)", 80), series("1514 bytes", 1514)],
    }
}

/// Figures 6 and 7 in one accounting: frames per base period, and slot time, over the unsecured frame length.
pub(super) fn figures_6_and_7(accounting: Accounting) -> [Chart; 2] {
    let cluster = Cluster { accounting, ..Cluster::AS_PUBLISHED };
    let how = match accounting {
        Accounting::AsPublished => "as published",
        Accounting::OnWire => "on the wire (preamble, checksum and gap counted)",
    };
    let curve = |(name, _, overhead): &(&str, &str, u32), y: fn(&tdma::CurvePoint) -> f64| {
        let points =
            tdma::curve(&cluster, *overhead).iter().map(|point| (f64::from(point.unsecured_len), y(point))).collect();
        Series { name: (*name).into(), kind: SeriesKind::Line, points }
    };
    // The two 32-byte protections have one curve.
    let shown = PROTECTIONS.iter().filter(|(name, ..)| *name != "32 B (size of MACsec)");
    [
        Chart {
            caption: format!(
                "Figure 6, recomputed {how}: frames in a base period of 10 ms with 0.2 ms guard; each curve ends where the secured frame passes 1514 bytes"
            ),
            x: Axis::linear("frame before protection", "B"),
            y: Axis::linear("NFmax", ""),
            series: shown.clone().map(|protection| curve(protection, |point| point.frames_max as f64)).collect(),
        },
        Chart {
            caption: format!("Figure 7, recomputed {how}: time of one slot, frame and guard"),
            x: Axis::linear("frame before protection", "B"),
            y: Axis::linear("slot", "ms"),
            series: shown.map(|protection| curve(protection, |point| point.slot_time.as_ms_f64())).collect(),
        },
    ]
}

/// NFmax by simulation against the formula, for every protection, length, accounting and guard.
pub(super) fn sweep(stop: &AtomicBool) -> Result<Table, StudyError> {
    let mut table = Table::new(
        "NFmax found by simulation, over the frame before protection; every cell is held against the formula",
    )
    .words("protection")
    .words("accounting")
    .numbers("guard", "ms");
    for len in LENGTHS {
        table = table.numbers(format!("{len} B"), "");
    }
    table = table.footnote("Timing only: lengths and times are those of the whole frame, its bytes are not made. The rows of Tables I and III are simulated with every byte and tag.");
    for (name, protection, overhead) in PROTECTIONS {
        for accounting in [Accounting::AsPublished, Accounting::OnWire] {
            for guard in [Duration::ZERO, Duration::from_us(200)] {
                let cluster = Cluster { accounting, guard, ..Cluster::AS_PUBLISHED };
                let mut row = vec![Cell::text(name), Cell::text(accounting.name()), Cell::number(guard.as_ms_f64(), 1)];
                for frame_len in LENGTHS {
                    row.push(if frame_len + overhead > tdma::FRAME_LEN_MAX {
                        Cell::na("the secured frame would pass 1514 bytes")
                    } else {
                        let asked = Question { nodes: 2, frame_len, protection, accounting, guard, real_bytes: false };
                        let formula = cluster.frames_max(frame_len + overhead);
                        simulated_cell(frames_max_near(formula, &asked, stop)?, formula)
                    });
                }
                table.push(row);
            }
        }
    }
    Ok(table)
}
