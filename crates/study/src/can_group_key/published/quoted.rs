//! The totals and claims of the source's text, each computed again.

use chronoseal_analysis::group_key::{
    BusCosts, PartyCosts, bus_time, exchange, exchange_at, exchanges, group, orchestration,
};
use chronoseal_core::Duration;
use chronoseal_groupkey::frame_count::frames_of_group;
use chronoseal_groupkey::{Profile, Scheme, Transport};
use chronoseal_report::Mark;

use super::{CLASSICAL_BUS, Platform, Tables};

const QUOTED: &str = include_str!("../../../../../studies/can-group-key/published/quoted.csv");

/// The group the source works out.
const N: u32 = 32;
/// A classical frame on a bus of 500 kbit/s: twice the 140 us the source reckons at 1 Mbit/s.
const FRAME_AT_500K: Duration = Duration::from_us(280);

/// Whether a quoted total follows from the source's own tables and formulas.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reproduces {
    /// It does.
    Yes,
    /// Within 2 %, or by a reading that is not the text's own.
    Approximately,
    /// It does not.
    No,
    /// It holds for CAN-FD and not for classical CAN.
    NotForClassical,
    /// The text gives a general form and a figure that is not that form's; the figure is right.
    Mixed,
    /// No figure is quoted.
    NothingQuoted,
}

impl Reproduces {
    /// By the rule of the module above: the value rounds to what is printed or is within 0.1 % of it, within 2 %, or neither.
    pub fn of(printed: &str, value: f64) -> Self {
        let Ok(quoted) = printed.parse::<f64>() else { return Self::NothingQuoted };
        let decimals = printed.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let deviation = (value - quoted).abs() / quoted;
        if format!("{value:.decimals$}") == printed || deviation <= 0.001 {
            Self::Yes
        } else if deviation <= 0.02 {
            Self::Approximately
        } else {
            Self::No
        }
    }

    /// How a cell with it is marked.
    pub const fn mark(self) -> Mark {
        match self {
            Self::Yes => Mark::Good,
            Self::No | Self::NotForClassical => Mark::Bad,
            Self::Approximately | Self::Mixed => Mark::Warn,
            Self::NothingQuoted => Mark::None,
        }
    }

    /// As shown, and as in lists of these totals elsewhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Approximately => "approx",
            Self::No => "NO",
            Self::NotForClassical => "NO for CAN",
            Self::Mixed => "mixed",
            Self::NothingQuoted => "n/a",
        }
    }
}

/// One quoted total.
#[derive(Clone, PartialEq, Debug)]
pub struct Quoted {
    /// Short name.
    pub id: &'static str,
    /// What it is, and where it stands.
    pub quantity: &'static str,
    /// As printed; empty if no figure is.
    pub printed: &'static str,
    /// Of `printed` and `values`.
    pub unit: &'static str,
    /// Computed again; several where the text leaves several readings.
    pub values: Vec<f64>,
    /// The same for a person.
    pub recomputed: String,
    /// The verdict.
    pub reproduces: Reproduces,
    /// How it was read.
    pub note: &'static str,
}

/// Every quoted total, in the order of the text.
///
/// # Panics
/// Never: the list of printed values is part of the program, and a test reads it.
pub fn quoted() -> Vec<Quoted> {
    let model = Model::new();
    read_csv(QUOTED)
        .map(|cells| {
            let [id, quantity, printed, unit] = cells;
            let found = model.recompute(id, printed);
            Quoted {
                id,
                quantity,
                printed,
                unit,
                recomputed: found.shown.unwrap_or_else(|| shown(&found.values)),
                values: found.values,
                reproduces: found.reproduces,
                note: found.note,
            }
        })
        .collect()
}

/// What computing one total again gives.
struct Found {
    values: Vec<f64>,
    shown: Option<String>,
    reproduces: Reproduces,
    note: &'static str,
}

impl Found {
    /// A value held against a printed one.
    fn value(printed: &str, value: f64, note: &'static str) -> Self {
        Self { values: vec![value], shown: None, reproduces: Reproduces::of(printed, value), note }
    }
    fn judged(values: Vec<f64>, reproduces: Reproduces, note: &'static str) -> Self {
        Self { values, shown: None, reproduces, note }
    }
    fn text(mut self, shown: impl Into<String>) -> Self {
        self.shown = Some(shown.into());
        self
    }
}

fn holds(condition: bool) -> Reproduces {
    if condition { Reproduces::Yes } else { Reproduces::No }
}

struct Model {
    tables: Tables,
    tc297: PartyCosts,
    fd: BusCosts,
}

impl Model {
    fn new() -> Self {
        let tables = Tables::read();
        let (tc297, fd) = (tables.party_in_exchange(Platform::Tc297), tables.infineon_bus());
        Self { tables, tc297, fd }
    }

    fn group_ms(&self, scheme: Scheme) -> f64 {
        group(scheme, N, &self.tc297, &self.fd).as_ms_f64()
    }
    fn orchestration_ms(&self, scheme: Scheme) -> f64 {
        orchestration(scheme, N, self.tc297.sign, &self.fd).as_ms_f64()
    }

    fn recompute(&self, id: &str, printed: &str) -> Found {
        match id {
            _ if id.starts_with("kex_") => self.two_parties(id, printed),
            "six_times_vs_p256_sam" | "fourq_vs_p256_factor" | "p256_vs_fourq_arm" | "fourq_tc297_vs_p256_arm" => {
                self.curves(id, printed)
            }
            _ if id.starts_with("frames_") => frames(id),
            "bus_lt_02" | "can_slowdown" | "busload_can_500k" | "busload_fd_2m" | "t_can_frame" => {
                self.bus(id, printed)
            }
            _ => self.groups(id, printed),
        }
    }

    fn two_parties(&self, id: &str, printed: &str) -> Found {
        let Tables { sam_sam, tc297_tc277, .. } = &self.tables;
        let ms = |duration: Duration| duration.as_ms_f64();
        match id {
            "kex_sam_sam_text" => {
                let slower = sam_sam.parties[0].slower(&sam_sam.parties[1]);
                let total = exchange(&slower, &sam_sam.bus);
                Found::value(printed, ms(total), "rows of Table VI, the slower party in each")
            }
            "kex_tc297_tc277_text" => {
                let slower = tc297_tc277.parties[0].slower(&tc297_tc277.parties[1]);
                let total = exchange(&slower, &tc297_tc277.bus);
                Found::value(printed, ms(total), "rows of Table VII, the slower party in each")
            }
            "kex_tc297_in_het" => {
                let total = exchange_at(&tc297_tc277.parties[0], &tc297_tc277.parties[1], &tc297_tc277.bus);
                Found::value(printed, ms(total), "waits for the slower party twice, then its own last stage")
            }
            "kex_tc297_tc297" => {
                let total = exchange(&self.tc297, &self.fd);
                Found::value(printed, ms(total), "TC297 column of Table VII on both sides")
            }
            _ => {
                let total = exchange(&self.tables.party_in_exchange(Platform::Tc224), &self.fd);
                Found::value(printed, ms(total), "Table IV, with the symmetric operations of the TC277")
            }
        }
    }

    fn curves(&self, id: &str, printed: &str) -> Found {
        let p256 = |platform| self.tables.party_with_p256(platform);
        let public_key_operations = |costs: PartyCosts| (costs.total() - costs.encrypt - costs.decrypt).as_ms_f64();
        match id {
            "six_times_vs_p256_sam" => {
                let sam = exchange(&p256(Platform::SamV71), &self.tables.sam_sam.bus).as_ms_f64();
                Found::value(printed, sam, "the quoted time is FourQ's on these boards; this is P-256's by Table V")
            }
            "fourq_vs_p256_factor" => {
                let ratio = exchange(&p256(Platform::Tc297), &self.fd).as_ms_f64()
                    / exchange(&self.tc297, &self.fd).as_ms_f64();
                Found::value(printed, ratio, "one exchange of two TC297, bus included")
            }
            "p256_vs_fourq_arm" => {
                let fourq = self.tables.party_by_primitives(Platform::SamV71);
                let ratio = public_key_operations(fourq) / public_key_operations(p256(Platform::SamV71));
                Found::value(printed, ratio, "public-key operations of one exchange")
            }
            _ => {
                let fourq = self.tables.fourq[Platform::Tc297 as usize].rows();
                let arm = self.tables.p256[Platform::SamV71 as usize].rows();
                let ratios: Vec<f64> =
                    arm.iter().zip(fourq).map(|(arm, fourq)| arm.1.as_ms_f64() / fourq.1.as_ms_f64()).collect();
                let (least, most) = (min(&ratios), max(&ratios));
                Found::judged(vec![least, most], holds(least >= 5.0), "by operation, least and most")
            }
        }
    }

    fn groups(&self, id: &str, printed: &str) -> Found {
        let seconds = |ms: f64, note| Found::value(printed, ms / 1000.0, note);
        let (full, tree) = (self.group_ms(Scheme::FullTree), self.group_ms(Scheme::WithoutOrchestrator));
        let (signed_full, signed_tree) =
            (self.orchestration_ms(Scheme::FullTree), self.orchestration_ms(Scheme::WithoutOrchestrator));
        match id {
            "gkex_main_32" => seconds(full, "n = 32"),
            "soecu_main_32" => seconds(signed_full, "63 signatures and their frames"),
            "total_main_32" => seconds(full + signed_full, "both"),
            "gkex_wo_32" => seconds(tree, "33 leaves make 6 levels: the logarithm is rounded up"),
            "soecu_wo_32" => seconds(signed_tree, "32 signatures and their frames"),
            "fastest_lt_300ms" => {
                let total = (tree + signed_tree) / 1000.0;
                Found::judged(vec![total], holds(total < 0.3), "tree without the orchestrator in it, all counted")
            }
            "sym_32" => {
                let sym = self.group_ms(Scheme::Symmetric) / 1000.0;
                let signed = self.orchestration_ms(Scheme::Symmetric) / 1000.0;
                Found::judged(vec![sym], Reproduces::NothingQuoted, "the text says it does not save so much")
                    .text(format!("{sym:.4} (+{signed:.4} SoECU = {:.4})", sym + signed))
            }
            _ => {
                // The quoted 60.24 ms of a pair hold its time on the bus already; the formula adds it once more.
                let tc224 = self.tables.party_in_exchange(Platform::Tc224);
                let levels = 6;
                let total = exchange(&tc224, &self.fd) * levels
                    + self.fd.exchange() * i64::from(N)
                    + orchestration(Scheme::WithoutOrchestrator, N, tc224.sign, &self.fd);
                seconds(total.as_ms_f64(), "counts the bus of the quoted pair twice, as the text does")
            }
        }
    }

    fn bus(&self, id: &str, printed: &str) -> Found {
        match id {
            "bus_lt_02" => {
                let time = |bus: &BusCosts| {
                    let exchanged = bus.exchange() * i64::from(exchanges(Scheme::FullTree, N));
                    (exchanged.as_secs_f64(), bus_time(Scheme::FullTree, N, bus).as_secs_f64())
                };
                let ((fd, fd_all), (can, can_all)) = (time(&self.fd), time(&CLASSICAL_BUS));
                let reproduces = match (fd_all < 0.2, can_all < 0.2) {
                    (true, true) => Reproduces::Yes,
                    (true, false) => Reproduces::NotForClassical,
                    _ => Reproduces::No,
                };
                Found::judged(vec![fd, fd_all, can, can_all], reproduces, "without and with orchestration")
                    .text(format!("FD {fd:.4} ({fd_all:.4} with orchestration); CAN {can:.4} ({can_all:.4})"))
            }
            "can_slowdown" => {
                let slower = [&self.fd, &self.tables.sam_sam.bus].map(|bus| {
                    [
                        CLASSICAL_BUS.send_share.as_us_f64() / bus.send_share.as_us_f64(),
                        CLASSICAL_BUS.send_signature.as_us_f64() / bus.send_signature.as_us_f64(),
                    ]
                });
                let (least, most) = (min(slower.as_flattened()), max(slower.as_flattened()));
                let reproduces = holds(least >= 2.0 && most <= 4.0);
                Found::judged(vec![least, most], reproduces, "by message and board, least and most")
            }
            "busload_can_500k" => {
                let frames = f64::from(frames_classical(Scheme::FullTree, N));
                let by_rate = 100.0 * frames / 4000.0;
                let by_time = 100.0 * frames * FRAME_AT_500K.as_secs_f64();
                // The quoted rate carries it; the frame time the text uses elsewhere does not.
                let reproduces = match (Reproduces::of(printed, by_rate), Reproduces::of(printed, by_time)) {
                    (Reproduces::Yes, Reproduces::Yes) => Reproduces::Yes,
                    (Reproduces::No, Reproduces::No) => Reproduces::No,
                    _ => Reproduces::Approximately,
                };
                Found::judged(vec![by_rate, by_time], reproduces, "of one second, by 4000 frames/s and by 280 us")
            }
            "busload_fd_2m" => {
                let busy = bus_time(Scheme::WithoutOrchestrator, N, &self.fd).as_ms_f64();
                let with_orchestration = 100.0 * busy
                    / (self.group_ms(Scheme::WithoutOrchestrator) + self.orchestration_ms(Scheme::WithoutOrchestrator));
                let exchanged = (self.fd.exchange() * i64::from(exchanges(Scheme::WithoutOrchestrator, N))).as_ms_f64();
                let without = 100.0 * exchanged / self.group_ms(Scheme::WithoutOrchestrator);
                let reproduces = match (Reproduces::of(printed, with_orchestration), Reproduces::of(printed, without)) {
                    (Reproduces::No, Reproduces::No) => Reproduces::No,
                    _ => Reproduces::Approximately,
                };
                Found::judged(vec![with_orchestration, without], reproduces, "with and without orchestration")
            }
            _ => {
                // A 29-bit frame of 8 bytes with gap: 131 bits, and up to 29 stuff bits (ISO 11898-1).
                let (least, most) = (131.0, 160.0);
                let quoted: f64 = printed.parse().expect("a printed number");
                let reproduces = holds((least..=most).contains(&quoted));
                Found::judged(vec![least, most], reproduces, "at 1 Mbit/s, without and with every stuff bit")
            }
        }
    }
}

/// Frames of a group whose shares have 32 bytes.
fn frames_of(scheme: Scheme, transport: Transport, n: u32) -> u32 {
    frames_of_group(scheme, Profile::AsPublished, transport, 32, n)
}
fn frames_classical(scheme: Scheme, n: u32) -> u32 {
    frames_of(scheme, Transport::Classical, n)
}
fn frames_fd(scheme: Scheme, n: u32) -> u32 {
    frames_of(scheme, Transport::Fd, n)
}

fn frames(id: &str) -> Found {
    let counted = |scheme| vec![f64::from(frames_fd(scheme, N)), f64::from(frames_classical(scheme, N))];
    let equals = |scheme, fd: u32, classical: u32| {
        holds((1..=N).all(|n| frames_fd(scheme, n) == fd * n && frames_classical(scheme, n) == classical * n))
    };
    match id {
        "frames_per_kex" => {
            Found::judged(vec![5.0, 32.0], Reproduces::Yes, "orchestration, two shares, two confirmations")
                .text("5 / 32")
        }
        "frames_main_fd" => {
            let found = frames_fd(Scheme::FullTree, N);
            Found::judged(
                vec![f64::from(found)],
                Reproduces::of(&(10 * N).to_string(), f64::from(found)),
                "(2n-1) exchanges of 5",
            )
            .text("10n-5")
        }
        "frames_main_can" => {
            let found = frames_classical(Scheme::FullTree, N);
            let reproduces = match (found == 64 * N, found == 2016) {
                (true, true) => Reproduces::Yes,
                (false, true) => Reproduces::Mixed,
                _ => Reproduces::No,
            };
            Found::judged(vec![f64::from(found)], reproduces, "64n would be 2048; the 2016 of the text is exact")
                .text("64n-32 = 2016")
        }
        "frames_wo" => Found::judged(
            counted(Scheme::WithoutOrchestrator),
            equals(Scheme::WithoutOrchestrator, 5, 32),
            "n merges for n + 1 leaves",
        )
        .text("5n / 32n"),
        _ => Found::judged(counted(Scheme::Symmetric), equals(Scheme::Symmetric, 7, 44), "2 or 12 more frames a unit")
            .text("7n / 44n"),
    }
}

fn min(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
fn max(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn shown(values: &[f64]) -> String {
    let one = |value: &f64| match value.abs() {
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.3}").trim_end_matches('0').trim_end_matches('.').to_owned(),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    };
    values.iter().map(one).collect::<Vec<_>>().join(" .. ")
}

/// Rows of four cells.
fn read_csv(text: &'static str) -> impl Iterator<Item = [&'static str; 4]> {
    text.lines().skip(1).map(|line| {
        let mut cells = line.split(',');
        std::array::from_fn(|_| cells.next().expect("a quoted total has four cells"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same totals worked out by hand outside this project, with a verdict each.
    #[test]
    fn every_total_and_verdict_agrees_with_an_independent_recomputation() {
        let oracle = include_str!("../../../tests/vectors/can_group_key_quoted.csv");
        let ours = quoted();
        let mut numeric = 0;
        let lines: Vec<&str> = oracle.lines().skip(1).collect();
        assert_eq!(ours.len(), lines.len());
        for (ours, line) in ours.iter().zip(lines) {
            let cells = cells(line);
            assert_eq!(ours.id, cells[0]);
            assert_eq!(ours.reproduces.name(), cells[5], "{}", ours.id);
            if let Ok(expected) = cells[4].parse::<f64>() {
                let found = ours.values[0];
                assert!((found - expected).abs() / expected <= 0.005, "{}: {found} for {expected}", ours.id);
                numeric += 1;
            }
        }
        assert!(numeric >= 15, "{numeric}");
    }

    #[test]
    fn ranges_agree_with_the_independent_recomputation() {
        let values = |id: &str| quoted().into_iter().find(|row| row.id == id).expect("listed").values;
        let close = |id: &str, expected: &[f64]| {
            for (found, expected) in values(id).iter().zip(expected) {
                assert!((found - expected).abs() / expected <= 0.005, "{id}: {found} for {expected}");
            }
        };
        close("fourq_tc297_vs_p256_arm", &[5.28, 5.99]);
        close("sym_32", &[0.7956]);
        close("bus_lt_02", &[0.0693, 0.0907, 0.2117, 0.2822]);
        close("can_slowdown", &[2.17, 3.29]);
        close("busload_can_500k", &[50.4, 56.4]);
        close("busload_fd_2m", &[17.7, 20.4]);
        close("frames_sym", &[224.0, 1408.0]);
        close("frames_wo", &[160.0, 1024.0]);
    }

    #[test]
    fn a_wrong_total_would_be_called_wrong() {
        assert_eq!(Reproduces::of("0.9", 0.9143), Reproduces::Yes);
        assert_eq!(Reproduces::of("0.9", 0.96), Reproduces::No);
        assert_eq!(Reproduces::of("38.31", 38.05), Reproduces::Approximately);
        assert_eq!(Reproduces::of("", 1.0), Reproduces::NothingQuoted);
    }

    fn cells(line: &str) -> Vec<String> {
        let (mut cells, mut cell, mut inside) = (Vec::new(), String::new(), false);
        for c in line.chars() {
            match c {
                '"' => inside = !inside,
                ',' if !inside => cells.push(std::mem::take(&mut cell)),
                c => cell.push(c),
            }
        }
        cells.push(cell);
        cells
    }
}
