//! What each policy of changing pseudonyms hides, and what it costs.

use chronoseal_core::Duration;
use chronoseal_report::{Axis, Cell, Chart, Evidence, Series, SeriesKind, Table};
use chronoseal_v2x_fleet::eavesdropper::{Score, Tracker};
use chronoseal_v2x_fleet::policy::Policy;
use chronoseal_v2x_fleet::road::highway::Highway;
use chronoseal_v2x_fleet::simulation::{FleetConfig, Safety, run};

use crate::StudyError;

/// The stretch of road [m], and how long it is watched.
const LENGTH_M: f64 = 5_000.0;
const DURATION: Duration = Duration::from_s(140);
/// A mix zone: place and radius [m].
const ZONE: [f64; 3] = [2_500.0, 0.0, 200.0];

/// One policy on the road.
pub(super) struct Hidden {
    policy: &'static str,
    score: Score,
    safety: Safety,
}

fn failed(error: &dyn std::fmt::Display) -> StudyError {
    StudyError::Scenario(format!("the road of the study: {error}"))
}

/// Every preset on the same road.
pub(super) fn simulate(
    seed: u64,
    stopped: impl Fn() -> bool,
    progress: &mut dyn FnMut(f64, &str),
) -> Result<Vec<Hidden>, StudyError> {
    let road = Highway {
        length_m: LENGTH_M,
        is_two_way: false,
        flow_per_lane_per_h: 500.0,
        duration: DURATION,
        seed,
        ..Highway::default()
    };
    let trips = road.drive().map_err(|error| failed(&error))?;
    let policies = Policy::presets(&[ZONE]);
    let count = policies.len();
    let mut rows = Vec::new();
    for (number, policy) in policies.into_iter().enumerate() {
        if stopped() {
            break;
        }
        progress(number as f64 / count as f64, &format!("simulating: pseudonyms, {}", policy.name));
        let name = policy.name;
        let mut config = FleetConfig::new(trips.clone(), policy);
        (config.seed, config.tells_dimensions) = (seed, false);
        let fleet = run(&config, None, &mut ()).map_err(|error| failed(&error))?;
        rows.push(Hidden { policy: name, score: fleet.score(&Tracker::default()), safety: fleet.safety });
    }
    Ok(rows)
}

fn percent(ppm: u64) -> Cell {
    Cell::number(ppm as f64 / 1e4, 1).from(Evidence::Simulated)
}

/// A row for each policy.
pub(super) fn table(rows: &[Hidden]) -> Table {
    let mut table = Table::new("Policies of changing pseudonyms, an eavesdropper that hears everything, and neighbours that go unnoticed")
        .words("policy")
        .numbers("trips", "")
        .numbers("changes", "")
        .numbers("changes linked", "%")
        .numbers("trips linked whole", "%")
        .numbers("time followed", "%")
        .numbers("wrong links", "")
        .numbers("pairs unaware", "%")
        .numbers("unaware around a change", "%")
        .numbers("CAMs withheld", "")
        .footnote(format!("Built-in highway, {LENGTH_M:.0} m, two lanes one way, 500 vehicles a lane and hour, {} s. Tracker: Kalman prediction, global assignment; CAMs do not tell the sizes of vehicles.", DURATION.as_ns() / 1_000_000_000))
        .footnote("Unaware: of all pairs within 100 m, looked at each 200 ms, one had no news of the other for 1.1 s.")
        .footnote("Not signed here: what is said and when is the same with and without. Trips shorter than a policy's first change are never hidden by it.");
    for row in rows {
        let Hidden { policy, score, safety } = row;
        let around = safety.unaware_around_change_ppm();
        table.push(vec![
            Cell::text(*policy),
            Cell::count(score.trips),
            Cell::count(score.changes).from(Evidence::Simulated),
            score.changes_linked_ppm().map_or_else(|| Cell::na("no change"), percent),
            percent(score.trips_linked_ppm()),
            percent(score.followed_ppm),
            Cell::count(score.links_wrong).from(Evidence::Simulated),
            percent(safety.unaware_ppm()),
            around.map_or_else(|| Cell::na("no change, nothing around it"), percent),
            Cell::count(safety.messages_withheld).from(Evidence::Simulated),
        ]);
    }
    table
}

/// What is linked over what is missed.
pub(super) fn chart(rows: &[Hidden]) -> Chart {
    let series = |row: &Hidden| {
        let linked = row.score.changes_linked_ppm()? as f64 / 1e4;
        let unaware = row.safety.unaware_around_change_ppm()? as f64 / 1e4;
        Some(Series { name: row.policy.into(), kind: SeriesKind::Points, points: vec![(unaware, linked)] })
    };
    Chart {
        caption: "Privacy against safety: down is more private, left is safer".into(),
        x: Axis::linear("pairs unaware around a change", "%"),
        y: Axis::linear("changes linked", "%"),
        series: rows.iter().filter_map(series).collect(),
    }
}

/// Without changes every trip is linked.
pub(super) fn is_sound(rows: &[Hidden]) -> bool {
    let none = rows.iter().find(|row| row.policy == "none");
    none.is_none_or(|row| row.score.trips_linked_ppm() == 1_000_000)
}
