//! One exchange of two parties: Tables VI and VII as printed, added up, and executed in the simulator.

use chronoseal_analysis::group_key::{PartyCosts, exchange, exchange_at, exchange_overlapping};
use chronoseal_core::{Duration, EventKind, NodeId, SimTime};
use chronoseal_groupkey::Scheme;
use chronoseal_report::{Axis, Cell, Chart, Evidence, Series, SeriesKind, Table};
use chronoseal_results::RunRows;

use super::published::{MeasuredExchange, Platform, Reproduces, Tables};
use super::scenarios::{Group, member};
use crate::StudyError;

/// An exchange of two boards.
pub(super) struct Pair {
    pub(super) caption: &'static str,
    names: [&'static str; 2],
    platforms: [&'static str; 2],
    printed: MeasuredExchange,
}

/// The two exchanges of the source.
pub(super) fn pairs() -> [Pair; 2] {
    let tables = Tables::read();
    [
        Pair {
            caption: "Table VI: one exchange of two SAM V71",
            names: ["SAM V71 A", "SAM V71 B"],
            platforms: ["sam-v71", "sam-v71"],
            printed: tables.sam_sam,
        },
        Pair {
            caption: "Table VII: one exchange of a TC297 and a TC277",
            names: ["TC297", "TC277"],
            platforms: ["tc297", "tc277"],
            printed: tables.tc297_tc277,
        },
    ]
}

impl Pair {
    /// Executes the exchange: real messages, real signatures, the platforms' prices. The time of each party.
    pub(super) fn simulated(&self, seed: u64) -> Result<[Duration; 2], StudyError> {
        let group = Group {
            n: 2,
            scheme: Scheme::WithoutOrchestrator,
            platforms: &self.platforms,
            bit_rate: "1Mbit/s",
            duration: "5s",
            seed,
            ..Group::SOURCE
        };
        let run = group.simulate()?;
        let party = |index| {
            time_of_first_exchange(&run.rows, member(index))
                .ok_or_else(|| StudyError::Scenario("the simulated exchange did not end".into()))
        };
        Ok([party(0)?, party(1)?])
    }

    /// Step by step, with the totals by every way.
    pub(super) fn table(&self, simulated: [Duration; 2]) -> Table {
        let Self { names, printed, .. } = self;
        let mut table =
            Table::new(self.caption).words("step").numbers(names[0], "ms").numbers(names[1], "ms").words("from");
        let [a, b] = printed.parties;
        let mut row = |step: &str, a: Duration, b: Duration, kind: Evidence| {
            let cell = |duration: Duration| Cell::number(duration.as_ms_f64(), 3).from(kind);
            table.push(vec![Cell::text(step), cell(a), cell(b), Cell::text(kind.name())]);
        };
        let steps = [
            ("1 verify the orchestrator's signature", a.verify_orchestration, b.verify_orchestration),
            ("2 make the share", a.share, b.share),
            ("4a extract the secret", a.agree, b.agree),
            ("4b sign the shares", a.sign, b.sign),
            ("4c encrypt the signature", a.encrypt, b.encrypt),
            ("6a decrypt the peer's", a.decrypt, b.decrypt),
            ("6b verify it", a.verify_confirmation, b.verify_confirmation),
        ];
        for (step, a, b) in steps {
            row(step, a, b, Evidence::Printed);
        }
        row("3 both shares on the bus", printed.bus.send_share * 2, printed.bus.send_share * 2, Evidence::Printed);
        let signatures = printed.bus.send_signature * 2;
        row("5 both confirmations on the bus", signatures, signatures, Evidence::Printed);
        row("total as printed, measured", printed.totals[0], printed.totals[1], Evidence::Printed);
        let summed = exchange(&a.slower(&b), &printed.bus);
        row("total, the slower party in each step", summed, summed, Evidence::Recomputed);
        let modelled = [exchange_at(&a, &b, &printed.bus), exchange_at(&b, &a, &printed.bus)];
        row("total, waiting for the slower twice", modelled[0], modelled[1], Evidence::Recomputed);
        let overlapping = self.overlapping();
        row("total, frames beside the slower one's computing", overlapping[0], overlapping[1], Evidence::Recomputed);
        row("total, executed", simulated[0], simulated[1], Evidence::Simulated);
        let [a, b] = self.judged(simulated);
        let percent = |judged: &Judged| Cell::number(judged.off_percent, 2);
        table.push(vec![Cell::text("executed against printed [%]"), percent(&a), percent(&b), Cell::text("")]);
        let word = |judged: &Judged| Cell::text(judged.reproduces.name()).marked(judged.reproduces.mark());
        let rule = "yes within 0.1 %, approx within 2 %, NO beyond";
        table.push(vec![Cell::text("executed gives the printed total"), word(&a), word(&b), Cell::text(rule)]);
        table.footnote(
            "The source calls its totals measured, so the executed ones are held against them and against nothing else. Its own \
             rows add up to less than its totals, by up to 0.7 %; each of these sums is a row of this table. What \
             executing leaves out besides: each party goes on when its own frame has left and the other's has come, so the faster \
             party's frame is on the bus while the slower one still computes. A pair that sends in a fixed order, the slower \
             one first, would not gain that; the source does not say in which order its boards sent.",
        )
    }

    /// What the printed steps give for each party if frames and computing overlap.
    fn overlapping(&self) -> [Duration; 2] {
        let MeasuredExchange { parties: [a, b], bus, .. } = &self.printed;
        [exchange_overlapping(a, b, bus), exchange_overlapping(b, a, bus)]
    }

    /// Each party's executed total held against the printed one, by the rule for every total of the source.
    pub(super) fn judged(&self, simulated: [Duration; 2]) -> [Judged; 2] {
        [0, 1].map(|index| {
            let (printed, found) = (self.printed.totals[index].as_ms_f64(), simulated[index].as_ms_f64());
            Judged {
                pair: self.names,
                party: self.names[index],
                off_percent: 100.0 * (found / printed - 1.0),
                reproduces: Reproduces::of(&printed.to_string(), found),
            }
        })
    }
}

/// An executed total against a printed one.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    /// Both boards.
    pub(super) pair: [&'static str; 2],
    /// Whose total.
    pub(super) party: &'static str,
    /// How far it is from the printed one `[%]`.
    pub(super) off_percent: f64,
    pub(super) reproduces: Reproduces,
}

/// From the first computation of a node to the end of its first exchange.
pub(super) fn time_of_first_exchange(rows: &RunRows, node: NodeId) -> Option<Duration> {
    let begins: SimTime = rows.work.iter().filter(|row| row.node == node).map(|row| row.time).min()?;
    let done = |row: &&chronoseal_results::EventRow| row.node == node && row.event.kind == EventKind::ExchangeDone;
    Some(rows.events.iter().find(done)?.time - begins)
}

/// Figure 14: an exchange of two like boards, by the model.
pub(super) fn figure_14() -> Chart {
    let tables = Tables::read();
    let points = |party: &dyn Fn(Platform) -> PartyCosts| {
        Platform::ALL
            .into_iter()
            .enumerate()
            .map(|(index, platform)| {
                let bus = if platform == Platform::SamV71 { tables.sam_sam.bus } else { tables.infineon_bus() };
                ((index + 1) as f64, exchange(&party(platform), &bus).as_ms_f64())
            })
            .collect()
    };
    Chart {
        caption: "Figure 14, recomputed: one exchange of two like boards".into(),
        x: Axis::linear("1 TC224, 2 TC277, 3 TC297, 4 SAM V71", ""),
        y: Axis::linear("time", "ms"),
        series: vec![
            Series {
                name: "FourQ".into(),
                kind: SeriesKind::Points,
                points: points(&|platform| tables.party_in_exchange(platform)),
            },
            Series {
                name: "P-256".into(),
                kind: SeriesKind::Points,
                points: points(&|platform| tables.party_with_p256(platform)),
            },
        ],
    }
}
