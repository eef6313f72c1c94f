//! Tables and charts of pseudonym policies: what each hides, and what it costs.

use chronoseal_report::{
    Axis, Block, Cell, Chart, Document, Evidence, Held, Section, Series, SeriesKind, Table, Verdict,
};
use chronoseal_v2x_fleet::evaluation::{Evaluation, Interval};

/// One line of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct FleetRow {
    /// The policy, or what else differs between the lines.
    pub name: String,
    /// What several runs of it gave.
    pub evaluation: Evaluation,
}

impl FleetRow {
    /// Names an evaluation.
    pub fn new(name: impl Into<String>, evaluation: Evaluation) -> Self {
        Self { name: name.into(), evaluation }
    }
}

/// What each policy hides, and what it costs.
pub(crate) fn fleet_table(caption: &str, first: &str, rows: &[FleetRow]) -> Table {
    let mut table = Table::new(caption)
        .words(first)
        .numbers("changes", "")
        .numbers("changes linked", "%")
        .numbers("by chance", "%")
        .numbers("candidates", "")
        .numbers("trips with a change linked whole", "%")
        .numbers("pairs unaware", "%")
        .numbers("unaware around a change", "%")
        .numbers("no warning from ahead", "%")
        .numbers("unheard, mean", "s")
        .numbers("unheard, longest", "s")
        .numbers("CAMs withheld a change", "");
    for FleetRow { name, evaluation } in rows {
        let no_change = || Cell::na("no vehicle changed");
        let real = |value: Option<f64>, digits| {
            value.map_or_else(no_change, |value| Cell::number(value, digits).from(Evidence::Simulated))
        };
        table.push(vec![
            Cell::text(name.as_str()),
            Cell::count(evaluation.changes()).from(Evidence::Simulated),
            percent(evaluation.changes_linked(), "no vehicle changed"),
            real(evaluation.linked_by_chance().map(|share| share * 100.0), 1),
            real(evaluation.candidates(), 1),
            percent(evaluation.trips_changed_linked(), "no vehicle changed"),
            percent(evaluation.unaware(), "no two vehicles were near each other"),
            percent(evaluation.unaware_around_change(), "no vehicle changed near another"),
            percent(evaluation.behind_unaware(), "nobody drove close behind another"),
            Cell::number(evaluation.gap_mean().as_secs_f64(), 1).from(Evidence::Simulated),
            Cell::number(evaluation.gap_max().as_secs_f64(), 1).from(Evidence::Simulated),
            real(evaluation.withheld_per_change(), 1),
        ]);
    }
    table
}

/// What the columns of [`fleet_table`] mean.
pub(crate) fn fleet_footnotes(table: Table) -> Table {
    table
        .footnote("Of a share, the mean over all runs and its 95 % confidence interval: Student's over the runs or Wilson's over the counts, whichever reaches further.")
        .footnote("Linked: the eavesdropper saw through the change. By chance: who picks at random among the pseudonyms that begin when the vehicle's next could. Candidates: those that begin where it could, too; their number is the anonymity set.")
        .footnote("Unaware: of all pairs within 100 m, looked at each 200 ms, one had no news of the other for 1.1 s. No warning from ahead: the same of a vehicle and one ahead in its lane, less than 2 s away. Unheard: times longer than 1.1 s between two messages from a vehicle to another within 100 m.")
}

fn percent(share: Option<Interval>, why_none: &str) -> Cell {
    share.map_or_else(|| Cell::na(why_none), |share| share_cell(share).from(Evidence::Simulated))
}

/// "97.3 [95.1, 98.8]" of a share of 1.
fn share_cell(share: Interval) -> Cell {
    let Interval { estimate, low, high } = share.scaled(100.0);
    Cell::estimate(estimate, [low, high], 1)
}

/// Linked changes over unaware pairs: a point a policy, those that stand on one spot pooled, and a line for each sweep.
pub(crate) fn fleet_chart(caption: &str, policies: &[FleetRow], sweeps: &[(&str, &[FleetRow])]) -> Chart {
    let point = |evaluation: &Evaluation| {
        let (cost, linked) = (evaluation.unaware()?, evaluation.changes_linked()?.scaled(100.0));
        Some((cost.estimate * 100.0, linked))
    };
    let mut spots: Vec<FleetRow> = Vec::new();
    for row in policies {
        let Some((cost, linked)) = point(&row.evaluation) else { continue };
        let is_here = |spot: &&mut FleetRow| {
            let near = |there: (f64, Interval)| {
                (there.0 - cost).abs() < 0.05 && (there.1.estimate - linked.estimate).abs() < 0.05
            };
            point(&spot.evaluation).is_some_and(near)
        };
        match spots.iter_mut().find(is_here) {
            Some(spot) => {
                spot.name = format!("{}, {}", spot.name, row.name);
                spot.evaluation.trials.extend_from_slice(&row.evaluation.trials);
            }
            None => spots.push(row.clone()),
        }
    }
    let mut series = Vec::new();
    let mut push = |name: String, kind, points: &[(f64, Interval)]| {
        let ends = points.iter().flat_map(|(x, linked)| [(*x, linked.low), (*x, linked.high)]).collect();
        let means = points.iter().map(|(x, linked)| (*x, linked.estimate)).collect();
        series.push(Series { name: name.clone(), kind, points: means });
        series.push(Series { name, kind: SeriesKind::Interval, points: ends });
    };
    for (name, rows) in sweeps {
        let mut points: Vec<_> = rows.iter().filter_map(|row| point(&row.evaluation)).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        push((*name).to_owned(), SeriesKind::Line, &points);
    }
    for FleetRow { name, evaluation } in spots {
        let points: Vec<_> = point(&evaluation).into_iter().collect();
        push(name, SeriesKind::Points, &points);
    }
    Chart {
        caption: caption.into(),
        x: Axis::linear("pairs unaware", "%"),
        y: Axis::linear("changes linked", "%"),
        series,
    }
}

/// The report of one comparison, as the command shows it.
pub fn fleet_document(subtitle: String, rows: &[FleetRow]) -> Document {
    let hidden = |row: &&FleetRow| row.evaluation.changes_linked().is_some();
    let linked = |row: &FleetRow| row.evaluation.changes_linked().map_or(1.0, |linked| linked.estimate);
    let best = rows.iter().filter(hidden).min_by(|one, other| linked(one).total_cmp(&linked(other)));
    let text = match best {
        Some(row) => format!(
            "Of these policies {} hides most: {} % of its changes were linked (95 % interval), and {:.1} % of near pairs did not know of each other.",
            row.name,
            row.evaluation.changes_linked().map_or_else(String::new, |linked| share_cell(linked).text),
            row.evaluation.unaware().map_or(0.0, |share| 100.0 * share.estimate),
        ),
        None => "No vehicle changed its pseudonym while it was watched, so there was nothing to link.".into(),
    };
    let points = vec!["Simulated: the order holds for this traffic and this eavesdropper only.".into()];
    let table = fleet_footnotes(fleet_table("What each policy hides, and what it costs", "policy", rows));
    let chart = fleet_chart("Privacy against safety: down is more private, left is safer", rows, &[]);
    Document {
        title: "Pseudonyms against an eavesdropper".into(),
        subtitle,
        verdict: Verdict { held: Held::Mixed, text, points },
        sections: vec![Section::new("Privacy against safety").with(Block::Table(table)).with(Block::Chart(chart))],
        environment: Vec::new(),
    }
}
