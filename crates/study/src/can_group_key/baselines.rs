//! Modern baselines: a group by MLS, and a key server with pre-shared keys.

use chronoseal_core::Operation;
use chronoseal_crypto::suite::{FourQ, Suite};
use chronoseal_crypto::symmetric::{Aes128Ctr, BlockMac, CmacAes128};
use chronoseal_groupkey::baseline::mls::Figures;
use chronoseal_groupkey::frame_count::{exchanges, frames_of_group};
use chronoseal_groupkey::{Profile, Scheme, Transport};
use chronoseal_report::{Axis, Cell, Chart, Evidence, Series, SeriesKind, Table};
use chronoseal_runner::SuiteCostTable;

use super::groups::execute_removal;
use super::on_bus::Watched;
use super::peers;
use super::scenarios::Group;
use crate::StudyError;

/// Sizes that are compared, the orchestrator or creator of the group counted.
const SIZES: [u32; 6] = [2, 4, 8, 16, 32, 64];

/// Tags made and checked by the key server and one node: two of the handshake and one of the key, at both ends.
const KEY_SERVER_TAGS: u64 = 6;
/// Encryptions of one key, at both ends.
const KEY_SERVER_CIPHERS: u64 = 2;

/// What one way to a group key takes.
struct Row {
    what: String,
    size: u32,
    frames: u64,
    bytes: u64,
    /// Whether frames and bytes were counted on the bus.
    counted: Evidence,
    /// Computing of all nodes together until there is a key `[us]`.
    total_us: Option<(f64, Evidence)>,
    /// Until the last node has the key, executed `[ms]`.
    established_ms: Option<f64>,
    /// Frames until one member is out and the others have a new key, counted on the bus.
    removal_frames: Option<u64>,
    /// How long that takes, executed `[ms]`.
    removal_ms: Option<f64>,
}

impl Row {
    /// Of a group that was on the bus.
    fn of(what: &str, size: u32, watched: &Watched, total_us: Option<(f64, Evidence)>) -> Self {
        let ms = |epoch| watched.time(epoch).map(|time| time.as_ms_f64());
        Self {
            what: what.into(),
            size,
            frames: watched.frames[0],
            bytes: watched.bytes[0],
            counted: Evidence::Simulated,
            total_us,
            established_ms: ms(1),
            removal_frames: ms(2).map(|_| watched.frames[1]),
            removal_ms: ms(2),
        }
    }
}

/// A group by MLS: lengths and times of the peer, on the bus.
fn of_mls(seed: u64) -> Result<Vec<Row>, StudyError> {
    let row = |figures: Figures| {
        // Measured by the peer, not in this run: it carries no letter of this report.
        let total_us = Some((figures.computing().as_us_f64(), Evidence::Plain));
        Ok(Row::of("MLS, with the lengths and times of its peer", figures.size, &peers::mls(figures, seed)?, total_us))
    };
    peers::mls_figures().into_iter().map(row).collect()
}

/// A key server that shares a key with each node from the factory on.
fn of_key_server(costs: &SuiteCostTable, seed: u64) -> Result<Vec<Row>, StudyError> {
    let price = |operation: Operation| costs.median_ns(operation.0).map(|ns| ns as f64 / 1000.0);
    let each_us = price(CmacAes128::OPERATION)
        .zip(price(Aes128Ctr::OPERATION))
        .map(|(tag, cipher)| KEY_SERVER_TAGS as f64 * tag + KEY_SERVER_CIPHERS as f64 * cipher);
    let row = |size| {
        let total_us = each_us.map(|us| (f64::from(size - 1) * us, Evidence::Derived));
        Ok(Row::of("key server, pre-shared keys", size, &peers::key_server(size, seed)?, total_us))
    };
    SIZES.into_iter().map(row).collect()
}

/// The schemes of the source, as published, over FourQ: closed forms, at this host's prices.
fn ours(costs: &SuiteCostTable, seed: u64) -> Result<Vec<Row>, StudyError> {
    let share_len = FourQ::SHARE_LEN;
    let price = |operation: Operation| costs.median_ns(operation.0).map_or(0.0, |ns| ns as f64 / 1000.0);
    let operations = FourQ::OPERATIONS;
    let party_us =
        2.0 * price(operations.verify) + price(operations.share) + price(operations.agree) + price(operations.sign);
    let mut rows = Vec::new();
    for scheme in Scheme::ALL {
        for size in SIZES {
            let n = size - 1;
            if n < 2 || n as usize > scheme.members_max() {
                continue;
            }
            let count = f64::from(exchanges(scheme, n));
            let distribution_us = match scheme {
                Scheme::Symmetric => price(operations.sign) + f64::from(n) * price(operations.verify),
                Scheme::FullTree | Scheme::WithoutOrchestrator => 0.0,
            };
            let message_bytes = 64 + 2 * share_len as u64 + 2 * 64;
            let distributed = if scheme == Scheme::Symmetric { u64::from(n) * 96 } else { 0 };
            let executed = execute_removal(&Group { n, scheme, seed, ..Group::SOURCE })?;
            rows.push(Row {
                what: format!("{} (FourQ)", scheme.name()),
                size,
                frames: u64::from(frames_of_group(scheme, Profile::AsPublished, Transport::Fd, share_len, n)),
                bytes: u64::from(exchanges(scheme, n)) * message_bytes + distributed,
                // Two parties and the orchestrator's signature for each exchange; those who only listen come on top.
                total_us: Some((
                    count * (2.0 * party_us + price(operations.sign)) + distribution_us,
                    Evidence::Derived,
                )),
                established_ms: Some(executed.established.as_ms_f64()),
                removal_frames: Some(executed.frames),
                removal_ms: Some(executed.time.as_ms_f64()),
                counted: Evidence::Recomputed,
            });
        }
    }
    Ok(rows)
}

/// Every way at every size.
pub(super) struct Baselines(Vec<Row>);

impl Baselines {
    pub(super) fn new(costs: &SuiteCostTable, seed: u64) -> Result<Self, StudyError> {
        let mut rows = ours(costs, seed)?;
        rows.extend(of_key_server(costs, seed)?);
        rows.extend(of_mls(seed)?);
        Ok(Self(rows))
    }
}

/// All ways at all sizes.
pub(super) fn table(baselines: &Baselines) -> Table {
    let mut table = Table::new("Ways to a group key: frames of CAN-FD, bytes, and computing of all nodes together")
        .words("way")
        .numbers("nodes", "")
        .numbers("frames", "")
        .numbers("bytes", "B")
        .numbers("computing", "us")
        .numbers("time to a key", "ms")
        .numbers("frames of a removal", "")
        .numbers("time of a removal", "ms")
        .footnote(
            "Nodes count the orchestrator, the key server or the creator of the group. Times: executed on one bus of \
             CAN-FD at 1 and 2 Mbit/s. Of MLS the messages are on that bus with the lengths that the peer measured, 63 bytes in a \
             frame, and computing takes what it took on the peer's host (studies/can-group-key/peers/README.md), which \
             is no TC297; no MLS is executed. The key server and the source's schemes are executed with real cryptography at \
             TC297's prices; CMAC, which the source did not measure, has its price of AES there. Computing: of all nodes \
             together, of the key server and the source's schemes at this host's prices, without what members compute that \
             only listen. Frames and bytes of the source's schemes: closed forms; of the others counted on the bus, bytes with \
             what fills up a frame.",
        )
        .footnote(
            "They do not give the same. MLS: certificates travel, every member can recover from a leak (post-compromise \
             security), and its proofs are of the standard. The source: public keys are stored from the factory on, a tree \
             without ratchets. Key server: no public keys at all; whoever reads the server reads everything, earlier keys \
             included.",
        );
    let executed = |value: Option<f64>| match value {
        Some(ms) => Cell::number(ms, 3).from(Evidence::Simulated),
        None => Cell::na("nobody would be left"),
    };
    for row in &baselines.0 {
        table.push(vec![
            Cell::text(&row.what),
            Cell::count(u64::from(row.size)),
            Cell::count(row.frames).from(row.counted),
            Cell::count(row.bytes).from(row.counted),
            row.total_us
                .map_or_else(|| Cell::na("too few calls for a median"), |(us, kind)| Cell::number(us, 1).from(kind)),
            executed(row.established_ms),
            row.removal_frames.map_or_else(
                || Cell::na("nobody would be left"),
                |frames| Cell::count(frames).from(Evidence::Simulated),
            ),
            executed(row.removal_ms),
        ]);
    }
    table
}

/// Frames over the number of nodes.
pub(super) fn chart(baselines: &Baselines) -> Chart {
    let mut series: Vec<Series> = Vec::new();
    for row in &baselines.0 {
        let point = (f64::from(row.size), row.frames as f64);
        match series.iter_mut().find(|known| known.name == row.what) {
            Some(known) => known.points.push(point),
            None => series.push(Series { name: row.what.clone(), kind: SeriesKind::Line, points: vec![point] }),
        }
    }
    Chart {
        caption: "Frames of CAN-FD until a group has a key".into(),
        x: Axis::linear("nodes", ""),
        y: Axis::linear("frames", ""),
        series,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_baseline_has_times_at_every_size() {
        let costs = SuiteCostTable { rows: Vec::new(), cpu: None, overhead_ns: 0 };
        for rows in [of_mls(1).expect("the bus can be made"), of_key_server(&costs, 1).expect("the bus can be made")] {
            assert_eq!(rows.iter().map(|row| row.size).collect::<Vec<_>>(), SIZES);
            let times: Vec<f64> = rows.iter().filter_map(|row| row.established_ms).collect();
            assert!(times.len() == SIZES.len() && times.is_sorted(), "{times:?}");
            assert!(rows.iter().all(|row| row.removal_ms.is_some() == (row.size > 2)));
        }
    }
}
