//! Modern baselines: a group by MLS, and a key server with pre-shared keys.

use chronoseal_core::Operation;
use chronoseal_crypto::suite::{FourQ, Suite};
use chronoseal_crypto::symmetric::{Aes128Ctr, BlockMac, CmacAes128};
use chronoseal_groupkey::frame_count::{exchanges, frames_of, frames_of_group};
use chronoseal_groupkey::{Profile, Scheme, Transport};
use chronoseal_report::{Axis, Cell, Chart, Evidence, Series, SeriesKind, Table};
use chronoseal_runner::SuiteCostTable;

use super::groups::execute_removal;
use super::scenarios::Group;
use crate::StudyError;

const MLS: &str = include_str!("../../../../studies/can-group-key/peers/mls.csv");

/// Sizes that are compared, the orchestrator or creator of the group counted.
const SIZES: [u32; 6] = [2, 4, 8, 16, 32, 64];
/// Data of an FD frame of a segmented message: one byte numbers the segment.
const SEGMENT_LEN: u64 = 63;

/// Messages of the key server, for one node [byte]: its nonce; the node's nonce and tag; the server's tag; the key.
const KEY_SERVER: [usize; 4] = [16, 32, 16, WRAPPED_KEY_LEN];
/// Epoch 4, wrapped key 16, tag 16 [byte].
const WRAPPED_KEY_LEN: usize = 36;
/// Tags made and checked for one node, at both ends: two of the handshake and one of the key.
const KEY_SERVER_TAGS: u64 = 6;
/// Encryptions for one node, at both ends.
const KEY_SERVER_CIPHERS: u64 = 2;

/// What one way to a group key takes.
struct Row {
    what: String,
    size: u32,
    frames: u64,
    bytes: u64,
    /// Computing of all nodes together [us].
    total_us: Option<f64>,
    /// Frames until one member is out and the others have a new key.
    removal_frames: Option<u64>,
    removal_kind: Evidence,
    /// How long that takes [ms].
    removal_ms: Option<(f64, Evidence)>,
    kind: Evidence,
}

/// A group by MLS, as the peer measured it.
fn mls() -> Vec<Row> {
    MLS.lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<Option<f64>> = line.split(',').map(|cell| cell.parse().ok()).collect();
            let number = |column: usize| cells.get(column).copied().flatten();
            let whole = |column: usize| number(column).unwrap_or(0.0) as u64;
            let size = whole(0) as u32;
            let others = u64::from(size) - 1;
            // A key package from each, one commit (nobody is there to hear it) and its Welcome.
            let bytes = others * whole(1) + whole(4);
            let frames = others * whole(1).div_ceil(SEGMENT_LEN) + whole(4).div_ceil(SEGMENT_LEN);
            let computing = |column| number(column).unwrap_or(0.0);
            Row {
                what: "MLS, as its peer measured it".into(),
                size,
                frames,
                bytes,
                total_us: Some(computing(3) + others as f64 * (computing(2) + computing(5))),
                removal_frames: number(10).map(|len| (len as u64).div_ceil(SEGMENT_LEN)),
                removal_kind: Evidence::Plain,
                // Making the commit and processing it, on the peer's host; no bus.
                removal_ms: number(9).map(|us| ((us + computing(8)) / 1000.0, Evidence::Plain)),
                // Not measured in this run: it carries no letter of this report.
                kind: Evidence::Plain,
            }
        })
        .collect()
}

/// A key server that shares a key with each node from the factory on: a model, not executed.
fn key_server(costs: &SuiteCostTable) -> Vec<Row> {
    let each_frames: u32 = KEY_SERVER.iter().map(|len| frames_of(*len, Transport::Fd)).sum();
    let each_bytes: usize = KEY_SERVER.iter().sum();
    let price = |operation: Operation| costs.median_ns(operation.0).map(|ns| ns as f64 / 1000.0);
    let prices = price(CmacAes128::OPERATION).zip(price(Aes128Ctr::OPERATION));
    // A new key for one node: wrapped and unwrapped, its tag made and checked.
    let renew_us = prices.map(|(tag, cipher)| 2.0 * tag + 2.0 * cipher);
    let each_us = prices.map(|(tag, cipher)| KEY_SERVER_TAGS as f64 * tag + KEY_SERVER_CIPHERS as f64 * cipher);
    SIZES
        .into_iter()
        .map(|size| {
            let others = u64::from(size) - 1;
            Row {
                what: "key server, pre-shared keys".into(),
                size,
                frames: others * u64::from(each_frames),
                bytes: others * each_bytes as u64,
                total_us: each_us.map(|us| others as f64 * us),
                removal_frames: (size > 2).then(|| (others - 1) * u64::from(frames_of(WRAPPED_KEY_LEN, Transport::Fd))),
                removal_kind: Evidence::Recomputed,
                removal_ms: renew_us
                    .filter(|_| size > 2)
                    .map(|us| ((others - 1) as f64 * us / 1000.0, Evidence::Recomputed)),
                kind: Evidence::Recomputed,
            }
        })
        .collect()
}

/// The schemes of the source, as published, over FourQ: closed forms, at this host's prices.
fn ours(costs: &SuiteCostTable) -> Result<Vec<Row>, StudyError> {
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
            // Larger groups take the same path: a level more for twice as many.
            let removed = (n < 32).then(|| execute_removal(&Group { n, scheme, ..Group::SOURCE })).transpose()?;
            rows.push(Row {
                what: format!("{} (FourQ)", scheme.name()),
                size,
                frames: u64::from(frames_of_group(scheme, Profile::AsPublished, Transport::Fd, share_len, n)),
                bytes: u64::from(exchanges(scheme, n)) * message_bytes + distributed,
                // Two parties and the orchestrator's signature for each exchange; those who only listen come on top.
                total_us: Some(count * (2.0 * party_us + price(operations.sign)) + distribution_us),
                removal_frames: removed.map(|(frames, _)| frames),
                removal_kind: Evidence::Simulated,
                removal_ms: removed.map(|(_, time)| (time.as_ms_f64(), Evidence::Simulated)),
                kind: Evidence::Recomputed,
            });
        }
    }
    Ok(rows)
}

/// Every way at every size.
pub(super) struct Baselines(Vec<Row>);

impl Baselines {
    pub(super) fn new(costs: &SuiteCostTable) -> Result<Self, StudyError> {
        let mut rows = ours(costs)?;
        rows.extend(key_server(costs));
        rows.extend(mls());
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
        .numbers("frames of a removal", "")
        .numbers("time of a removal", "ms")
        .footnote(
            "Nodes count the orchestrator, the key server or the creator of the group. MLS: measured by the peer on its \
             host (studies/can-group-key/peers/README.md), not in this run and not on our bus; 63 bytes of its messages in \
             a frame. Key server: a model of three handshake messages and a wrapped key for each node, not executed, at \
             this host's prices of CMAC and AES. Removals of the source's schemes are executed on TC297 at 1 and 2 Mbit/s; \
             those of MLS and of the key server are computing alone, without a bus. The source's schemes: closed forms, at this host's prices; computing of \
             members that only listen is not in them.",
        )
        .footnote(
            "They do not give the same. MLS: certificates travel, every member can recover from a leak (post-compromise \
             security), and its proofs are of the standard. The source: public keys are stored from the factory on, a tree \
             without ratchets. Key server: no public keys at all; whoever reads the server reads everything, earlier keys \
             included.",
        );
    for row in &baselines.0 {
        table.push(vec![
            Cell::text(&row.what),
            Cell::count(u64::from(row.size)),
            Cell::count(row.frames).from(row.kind),
            Cell::count(row.bytes).from(row.kind),
            row.total_us
                .map_or_else(|| Cell::na("too few calls for a median"), |us| Cell::number(us, 1).from(row.kind)),
            row.removal_frames.map_or_else(
                || Cell::na("nobody would be left, or it was not executed at this size"),
                |frames| Cell::count(frames).from(row.removal_kind),
            ),
            row.removal_ms.map_or_else(
                || Cell::na("nobody would be left, or it was not executed at this size"),
                |(ms, kind)| Cell::number(ms, 3).from(kind),
            ),
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
    fn every_size_of_the_peer_is_read() {
        let sizes: Vec<u32> = mls().iter().map(|row| row.size).collect();
        assert_eq!(sizes, SIZES);
        assert!(mls().iter().all(|row| row.frames > 0 && row.total_us.is_some_and(|us| us > 0.0)));
        assert!(mls().iter().skip(1).all(|row| row.removal_frames.is_some()));
    }
}
