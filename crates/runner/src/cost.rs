//! Processor time of each authentication on this host (ISRCS 2014 (000), figure 3).

use chronoseal_crypto::KeyLen;
use chronoseal_frameauth::{
    Freshness, HashAlgorithm, KeyBytes, MacAlgorithm, Moment, Opener, Profile, Sealer, SymmetricKey,
};
use chronoseal_results::Distribution;
use chronoseal_testbed::cost::{self, PinnedCore};
use chronoseal_wire::ethernet::HEADER_LEN;
use serde::Serialize;

/// Frame lengths over the source's range, before protection and without checksum `[byte]`.
pub const FRAME_LENGTHS: [usize; 8] = [60, 80, 128, 256, 512, 1024, 1280, 1514];

/// MACs that are measured beside those of hashes.
const OTHERS: [MacAlgorithm; 3] = [MacAlgorithm::GmacAes128, MacAlgorithm::GmacAes256, MacAlgorithm::Blake3];

/// Calls before the first counted one.
const WARM_UP: usize = 200;

/// What each hash costs at each length, at both ends.
#[derive(Clone, Debug, Serialize)]
pub struct CostTable {
    /// Rows by hash, side and length.
    pub rows: Vec<CostRow>,
    /// The same of MACs without a hash, or whose hash has a key itself.
    pub others: Vec<CostRow>,
    /// The processor the calls were kept on, if the host allowed it.
    pub cpu: Option<usize>,
    /// What one empty measurement takes; already subtracted `[ns]`.
    pub overhead_ns: i64,
}

/// One hash at one end at one length.
#[derive(Clone, Debug, Serialize)]
pub struct CostRow {
    /// `sha-1`, `sha-256`, `sha3-256`; or the name of another MAC.
    pub hash: &'static str,
    /// `sender` or `receiver`.
    pub side: &'static str,
    /// Frame before protection, without checksum `[byte]`.
    pub frame_len: usize,
    /// Time of one call `[ns]`.
    pub duration: Distribution,
}

/// Seals and opens frames of every length with every MAC, `calls` times each, on one processor.
///
/// The tag is never truncated and the freshness value is carried in full: the most expensive setting.
pub fn processor_cost(calls: usize) -> CostTable {
    let core = PinnedCore::new();
    let overhead_ns = cost::overhead_ns();
    let measured = |name, mac| measure(name, mac, calls, overhead_ns);
    let hashes = HashAlgorithm::ALL.into_iter().flat_map(|hash| measured(hash.name(), hash.mac()));
    let others = OTHERS.into_iter().flat_map(|mac| measured(mac.name(), mac));
    CostTable { rows: hashes.collect(), others: others.collect(), cpu: core.cpu(), overhead_ns }
}

/// Rows of one MAC.
fn measure(name: &'static str, mac: MacAlgorithm, calls: usize, overhead_ns: i64) -> Vec<CostRow> {
    let key = SymmetricKey::from_slice(&vec![
        0x5a;
        match mac.key_len() {
            KeyLen::Any => KeyBytes::LEN,
            KeyLen::Exactly(len) => len,
        }
    ])
    .expect("every algorithm takes keys of 1 to 64 bytes");
    let profile = Profile::new(mac, mac.tag_bits_max(), Freshness::Full, 64).expect("a full tag is valid");
    let mut rows = Vec::new();
    for frame_len in FRAME_LENGTHS {
        let sealer = Sealer::new(profile, &key, 1).expect("the key has a length that it takes");
        let mut opener = Opener::new(profile, &key, 1).expect("the key has a length that it takes");
        let payload_len = frame_len - HEADER_LEN;
        let mut pdu = vec![0x33; payload_len + profile.overhead()];
        let (mut sealed, mut opened) = (Vec::with_capacity(calls), Vec::with_capacity(calls));
        for call in 0..WARM_UP + calls {
            let freshness = call as u64 + 1;
            let (seal_ns, seal) = cost::time(|| sealer.seal(&mut pdu, payload_len, freshness));
            let (open_ns, open) = cost::time(|| opener.open(&pdu, Moment::Unknown).is_ok());
            assert!(seal.is_ok() && open, "what was sealed opens");
            if call >= WARM_UP {
                sealed.push((seal_ns - overhead_ns).max(0));
                opened.push((open_ns - overhead_ns).max(0));
            }
        }
        for (side, mut samples) in [("sender", sealed), ("receiver", opened)] {
            if let Some(duration) = Distribution::of(&mut samples) {
                rows.push(CostRow { hash: name, side, frame_len, duration });
            }
        }
    }
    rows
}

impl CostTable {
    /// A platform of a scenario with these costs: a straight line through the medians of the receiver, the slower end.
    pub fn platform_toml(&self, name: &str) -> String {
        let mut text = format!("[[platforms]]\nname = \"{name}\"\n");
        let hashes = HashAlgorithm::ALL.map(|hash| (hash.name(), hash.operation()));
        for (name, operation) in hashes.into_iter().chain(OTHERS.map(|mac| (mac.name(), mac.operation()))) {
            let points: Vec<(f64, f64)> = (self.rows.iter().chain(&self.others))
                .filter(|row| row.hash == name && row.side == "receiver")
                .filter_map(|row| Some(((row.frame_len - HEADER_LEN) as f64, row.duration.p50_ns? as f64)))
                .collect();
            let (base, slope) = line_through(&points);
            text += &format!(
                "[[platforms.costs]]\noperation = \"{}\"\nbase = \"{:.0}ns\"\nper_byte = \"{:.0}ps\"\n",
                operation.0,
                base.max(0.0),
                (slope * 1000.0).max(0.0)
            );
        }
        text
    }
}

/// Least squares: intercept and slope.
fn line_through(points: &[(f64, f64)]) -> (f64, f64) {
    let n = points.len().max(1) as f64;
    let (mean_x, mean_y) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let covariance: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    let variance: f64 = points.iter().map(|p| (p.0 - mean_x).powi(2)).sum();
    let slope = if variance > 0.0 { covariance / variance } else { 0.0 };
    (mean_y - slope * mean_x, slope)
}
