//! Tables and charts of pseudonym policies: what each hides, and what it costs.

use chronoseal_report::{
    Axis, Block, Cell, Chart, Document, Evidence, Section, Series, SeriesKind, Table, Verdict, Word,
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
/// What each of some policies hides and costs, a row each; `first` heads the column of their names.
pub fn fleet_table(caption: &str, first: &str, rows: &[FleetRow]) -> Table {
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
            linked(evaluation, evaluation.changes_linked()),
            real(evaluation.linked_by_chance().map(|share| share * 100.0), 1),
            real(evaluation.candidates(), 1),
            linked(evaluation, evaluation.trips_changed_linked()),
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
/// Says below a table of [`fleet_table`] what its columns mean.
pub fn fleet_footnotes(table: Table) -> Table {
    table
        .footnote("Of a share, the mean over all runs and its 95 % confidence interval: Student's over the runs or Wilson's over the counts, whichever reaches further.")
        .footnote("Linked: the eavesdropper saw through the change; 100 % where nobody changed, since each trip then shows one pseudonym. By chance: who picks at random among the pseudonyms that begin when the vehicle's next could. Candidates: those that begin where it could, too; their number is the anonymity set.")
        .footnote("Unaware: of all pairs within 100 m, looked at each 200 ms, one had no news of the other for 1.1 s. No warning from ahead: the same of a vehicle and one ahead in its lane, less than 2 s away. Unheard: times longer than 1.1 s between two messages from a vehicle to another within 100 m.")
}

/// What was linked; all of it where nobody changed, since every trip then shows one pseudonym.
fn linked(evaluation: &Evaluation, share: Option<Interval>) -> Cell {
    if evaluation.changes() == 0 && evaluation.trips() > 0 {
        return Cell::number(100.0, 1).from(Evidence::Simulated);
    }
    percent(share, "no vehicle changed")
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
/// What policies hide beside what they cost, with lines through those of each of `sweeps`.
pub fn fleet_chart(caption: &str, policies: &[FleetRow], sweeps: &[(&str, &[FleetRow])]) -> Chart {
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
    let text = match best.and_then(|row| Some((row, row.evaluation.changes_linked()?.scaled(100.0)))) {
        Some((row, Interval { estimate, low, high })) => format!(
            "{} the eavesdropper linked {estimate:.1} % of the changes (95 % interval {low:.1} to {high:.1} %). Meanwhile {:.1} % of the pairs of vehicles near each other did not know of each other.",
            if rows.len() > 1 {
                format!("Of these policies, {} hides a car best:", row.name)
            } else {
                format!("With the policy {},", row.name)
            },
            row.evaluation.unaware().map_or(0.0, |share| 100.0 * share.estimate),
        ),
        None => "No vehicle changed its pseudonym while it was watched: the eavesdropper could follow each of them all the way.".into(),
    };
    let points = vec!["Simulated: the order holds for this traffic and this eavesdropper only.".into()];
    let table = fleet_footnotes(fleet_table("What each policy hides, and what it costs", "policy", rows));
    let chart = fleet_chart("Privacy against safety: down is more private, left is safer", rows, &[]);
    Document {
        title: "Pseudonyms against an eavesdropper".into(),
        subtitle,
        verdict: Verdict { word: Word::Held, text, points },
        sections: vec![Section::new("Privacy against safety").with(Block::Table(table)).with(Block::Chart(chart))],
        environment: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoseal_v2x_fleet::eavesdropper::Score;
    use chronoseal_v2x_fleet::evaluation::Trial;
    use chronoseal_v2x_fleet::simulation::Safety;

    fn row(name: &str, changes: u64, changes_linked: u64) -> FleetRow {
        let score = Score { trips: 10, changes, changes_linked, ..Score::default() };
        FleetRow::new(name, Evaluation { trials: vec![Trial { score, safety: Safety::default(), messages: 0 }] })
    }

    #[test]
    fn who_never_changes_is_followed_all_the_way() {
        let rows = [row("none", 0, 0), row("some", 10, 2)];
        let table = fleet_table("caption", "policy", &rows);
        // What was linked of the changes, and of the trips.
        for column in [2, 5] {
            assert_eq!(table.rows[0][column].text, "100.0", "{column}");
        }
        assert!(table.rows[1][2].text.starts_with("20.0 ["), "{}", table.rows[1][2].text);
    }

    #[test]
    fn the_verdict_is_a_sentence() {
        let document = fleet_document(String::new(), &[row("none", 0, 0), row("some", 10, 2)]);
        let text = &document.verdict.text;
        let begin =
            "Of these policies, some hides a car best: the eavesdropper linked 20.0 % of the changes (95 % interval ";
        assert!(text.starts_with(begin), "{text}");
        let none = fleet_document(String::new(), &[row("none", 0, 0)]).verdict.text;
        assert!(none.starts_with("No vehicle changed its pseudonym"), "{none}");
    }
}
