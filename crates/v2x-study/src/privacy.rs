//! What each policy of changing pseudonyms hides, what it costs, and where one begins to help.
//!
//! All figures of traffic and policies were chosen before the first run, and none was changed after. The density of traffic: levels of service A
//! to C of the Highway Capacity Manual (up to 7, 11 and 16 vehicles a kilometre and lane), met by 500, 1000 and 1500
//! vehicles an hour and lane. Silence: 3 s to 13 s is ETSI TR 103 415's; the sweep covers it, what is shorter, and 30 s.
//! Intervals of CAMs: T_GenCam_DCC of EN 302 637-2, from 100 ms to 1 s. Accuracy: SAE J2945/1.

use std::sync::Arc;

use chronoseal_core::Duration;
use chronoseal_report::{Axis, Block, Cell, Chart, Evidence, Section, Series, SeriesKind, Table};
use chronoseal_runner::drive_fleet;
use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::pki::TicketPeriods;
use chronoseal_v2x::vss::{Preset, Spread};
use chronoseal_v2x_fleet::eavesdropper::Coverage;
use chronoseal_v2x_fleet::evaluation::{Control, Evaluation, Trial};
use chronoseal_v2x_fleet::policy::Policy;
use chronoseal_v2x_fleet::road::Trips;
use chronoseal_v2x_fleet::road::highway::Highway;
use chronoseal_v2x_fleet::simulation::{FleetConfig, FleetOutcome};
use chronoseal_v2x_fleet::station::Kept;

use super::fields::FieldsFound;
use chronoseal_study::StudyError;
use chronoseal_study::{FleetRow, fleet_chart, fleet_footnotes, fleet_table};

/// The stretch of road `[m]`, and how long it is watched.
const LENGTH_M: f64 = 2_500.0;
const DURATION: Duration = Duration::from_s(120);
/// Runs of each, with other traffic and other chances.
const SEEDS: u64 = 5;
/// A mix zone: place and radius `[m]`.
const ZONE: [f64; 3] = [1_250.0, 0.0, 200.0];
/// Vehicles an hour and lane; the middle one is used where nothing else is said.
const FLOWS: [f64; 3] = [500.0, 1_000.0, 1_500.0];
/// Lengths of silence `[s]`.
const SILENCES_S: [u64; 7] = [0, 1, 3, 5, 10, 13, 30];
/// The silence at which everything else is varied `[s]`: the longest of TR 103 415.
const LONG_S: u64 = 13;
/// The silence at which coverage and the control are looked at `[s]`: the shortest of TR 103 415.
const SHORT_S: u64 = 3;
/// The silence at which fields are looked at `[s]`: the longest, since places tell least behind it.
const FIELDS_S: u64 = 30;
/// Shares of the road with an ear.
const SHARES: [f64; 5] = [1.0, 0.8, 0.6, 0.4, 0.2];

/// Of its section.
pub(super) const TITLE: &str = "Privacy against safety";

/// All that was simulated.
pub(super) struct Privacy {
    policies: Vec<FleetRow>,
    alone: Vec<FleetRow>,
    at_once: Vec<FleetRow>,
    around: Vec<FleetRow>,
    coverage: Vec<(f64, FleetRow)>,
    control: Control,
    fields: FieldsFound,
}

fn failed(error: &dyn std::fmt::Display) -> StudyError {
    StudyError::Scenario(format!("the road of the study: {error}"))
}

fn roads(seed: u64, flow_per_lane_per_h: f64) -> Result<Vec<Arc<Trips>>, StudyError> {
    let road = |seed| Highway {
        length_m: LENGTH_M,
        is_two_way: false,
        flow_per_lane_per_h,
        duration: DURATION,
        seed,
        ..Highway::default()
    };
    (0..SEEDS).map(|run| road(seed + run).drive().map(Arc::new).map_err(|error| failed(&error))).collect()
}

fn silent(policy: Policy, seconds: u64) -> Policy {
    policy.with_silence(Spread::exactly(seconds * 1_000))
}

/// Runs one policy on all roads and shows each outcome to `look`.
fn drive(
    roads: &[Arc<Trips>],
    seed: u64,
    policy: &Policy,
    cam_interval_min: Duration,
    look: impl FnMut(&FleetConfig, &FleetOutcome),
) -> Result<FleetRow, StudyError> {
    drive_changed(roads, seed, policy, |config| config.cam_interval_min = cam_interval_min, look)
}

/// The same of a fleet in which more is changed.
fn drive_changed(
    roads: &[Arc<Trips>],
    seed: u64,
    policy: &Policy,
    change: impl Fn(&mut FleetConfig),
    mut look: impl FnMut(&FleetConfig, &FleetOutcome),
) -> Result<FleetRow, StudyError> {
    let mut evaluation = Evaluation::default();
    for (run_seed, trips) in (seed..).zip(roads) {
        let mut config = FleetConfig {
            seed: run_seed,
            tells_dimensions: false,
            ..FleetConfig::new(Arc::clone(trips), policy.clone())
        };
        change(&mut config);
        let outcome = drive_fleet(&config).map_err(|error| failed(&error))?;
        evaluation.trials.push(Trial::of(&config, &outcome, None));
        look(&config, &outcome);
    }
    Ok(FleetRow::new(policy.name.clone(), evaluation))
}

/// Every policy, and the sweeps. What a stop leaves out is missing in the tables.
pub(super) fn simulate(
    seed: u64,
    stopped: impl Fn() -> bool,
    progress: &mut dyn FnMut(f64, &str),
) -> Result<Privacy, StudyError> {
    let soon = Duration::from_ms(100);
    let between = Spread::between(SHORT_S * 1_000, LONG_S * 1_000);
    let segments = || Policy::from(Preset::Segments);
    let mut policies = Policy::presets(&[ZONE]);
    policies.extend([Policy::together().with_silence(between), Policy::at_once().with_silence(between)]);

    let [few, usual, many] = FLOWS.map(|flow| roads(seed, flow));
    let (few, usual, many) = (few?, usual?, many?);
    let mut found = Privacy {
        policies: Vec::new(),
        alone: Vec::new(),
        at_once: Vec::new(),
        around: Vec::new(),
        coverage: Vec::new(),
        control: Control::default(),
        fields: FieldsFound::default(),
    };
    let steps = policies.len() + 2 * SILENCES_S.len() + 9;
    let mut done = 0;
    let mut goes_on = |what: &str| {
        progress(f64::from(done) / steps as f64, &format!("simulating: pseudonyms, {what}"));
        done += 1;
        !stopped()
    };

    for policy in policies {
        if goes_on(&policy.name) {
            found.policies.push(drive(&usual, seed, &policy, soon, |_, _| {})?);
        }
    }
    let mut covered: Vec<Evaluation> = vec![Evaluation::default(); SHARES.len()];
    for seconds in SILENCES_S {
        let policy = silent(segments(), seconds);
        if goes_on(&policy.name) {
            found.alone.push(FleetRow {
                name: format!("{seconds} s, each alone"),
                ..drive(&usual, seed, &policy, soon, |_, _| {})?
            });
        }
        let policy = silent(Policy::at_once(), seconds);
        if goes_on(&policy.name) {
            let control = &mut found.control;
            let row = drive(&usual, seed, &policy, soon, |config, outcome| {
                if seconds != SHORT_S {
                    return;
                }
                control.add(config, outcome);
                for (share, evaluation) in SHARES.iter().zip(&mut covered) {
                    let coverage = Some(Coverage::of(*share)).filter(|_| *share < 1.0);
                    evaluation.trials.push(Trial::of(config, outcome, coverage));
                }
            })?;
            found.at_once.push(FleetRow { name: format!("{seconds} s, all at once"), ..row });
        }
    }
    for (share, evaluation) in SHARES.into_iter().zip(covered) {
        let name = format!("{:.0} % of the road heard, {SHORT_S} s, all at once", share * 100.0);
        found.coverage.push((share, FleetRow::new(name, evaluation)));
    }
    for (flow, roads) in [(FLOWS[0], &few), (FLOWS[2], &many)] {
        for (who, policy) in [("each alone", segments()), ("all at once", Policy::at_once())] {
            let name = format!("{flow:.0} vehicles/h/lane, {LONG_S} s, {who}");
            if goes_on(&name) {
                let row = drive(roads, seed, &silent(policy, LONG_S), soon, |_, _| {})?;
                found.around.push(FleetRow { name, ..row });
            }
        }
    }
    for ms in [500, 1_000] {
        let name = format!("a CAM each {ms} ms at most, {LONG_S} s, all at once");
        if goes_on(&name) {
            let row = drive(&usual, seed, &silent(Policy::at_once(), LONG_S), Duration::from_ms(ms), |_, _| {})?;
            found.around.push(FleetRow { name, ..row });
        }
    }
    let policy = silent(Policy::at_once(), FIELDS_S);
    let signed = |config: &mut FleetConfig| config.signs = Some(Curve::NistP256);
    if goes_on("fields on the air, renewed") {
        drive_changed(&usual, seed, &policy, signed, |config, outcome| found.fields.add_renewed(config, outcome))?;
    }
    let on_the_hour = |config: &mut FleetConfig| {
        signed(config);
        config.ticket_periods = TicketPeriods::Hours;
    };
    if goes_on("fields on the air, tickets on the hour") {
        drive_changed(&usual, seed, &policy, on_the_hour, |config, outcome| found.fields.add_hours(config, outcome))?;
    }
    let kept = |config: &mut FleetConfig| {
        signed(config);
        config.ticket_periods = TicketPeriods::AsAsked;
        config.keeps = Kept { link_address: true, packet_number: true, beat: true };
        config.tells_dimensions = true;
    };
    if goes_on("fields on the air, kept") {
        drive_changed(&usual, seed, &policy, kept, |config, outcome| found.fields.add_kept(config, outcome))?;
    }
    Ok(found)
}

impl Privacy {
    /// Tables and charts.
    pub(super) fn section(&self) -> Section {
        let policies = fleet_table(
            "Policies of changing pseudonyms, against an eavesdropper that hears everything",
            "policy",
            &self.policies,
        );
        let policies = fleet_footnotes(policies)
            .footnote(format!("Built-in highway, {LENGTH_M:.0} m, two lanes one way, {:.0} vehicles an hour and lane, {} s, {SEEDS} runs each with traffic of its own; CAMs do not tell the sizes of vehicles. Not signed here: what is said, and when, is the same with and without, and certificates of the week say nothing (see the fields).", FLOWS[1], DURATION.as_ns() / 1_000_000_000))
            .footnote("The eavesdropper knows the policy. It predicts by a Kalman filter whose motion it learns from what it hears, and pairs ends and beginnings of pseudonyms globally, by places and by all that frames show: addresses, beat, length, received power.");
        let silence: Vec<FleetRow> = self
            .alone
            .iter()
            .zip(&self.at_once)
            .flat_map(|(alone, at_once)| [alone.clone(), at_once.clone()])
            .collect();
        let silence = fleet_table("How long a silence has to be", "silence", &silence)
            .footnote("Each alone: segments. All at once: at full minutes of the common time.");
        let mut around: Vec<FleetRow> = [&self.alone, &self.at_once]
            .iter()
            .filter_map(|rows| {
                let row = rows.iter().find(|row| row.name.starts_with(&format!("{LONG_S} s,")))?;
                let name = format!("{:.0} vehicles/h/lane, a CAM each 100 ms at most, {}", FLOWS[1], row.name);
                Some(FleetRow { name, ..row.clone() })
            })
            .collect();
        around.extend(self.around.iter().cloned());
        around.extend(self.coverage.iter().map(|(_, row)| row.clone()));
        let around = fleet_table("What else decides: traffic, messages, ears", "what differs", &around)
            .footnote("Heard: the road in stretches of 500 m, of which a share has an ear, evenly spread. A change counts if the vehicle was heard before and behind it.");
        let chart = fleet_chart(
            "Privacy against safety: down is more private, left is safer",
            &self.policies,
            &[("each alone, 0 s to 30 s", &self.alone), ("all at once, 0 s to 30 s", &self.at_once)],
        );
        Section::new(TITLE)
            .with(Block::Table(policies))
            .with(Block::Chart(chart))
            .with(Block::Table(silence))
            .with(Block::Table(around))
            .with(Block::Chart(self.coverage_chart()))
            .with(Block::Table(
                self.fields.table(&format!("all change at full minutes and are silent for {FIELDS_S} s")),
            ))
            .with(Block::Table(self.control_table()))
    }

    fn coverage_chart(&self) -> Chart {
        let linked =
            |(share, row): &(f64, FleetRow)| Some((share * 100.0, row.evaluation.changes_linked()?.scaled(100.0)));
        let points: Vec<_> = self.coverage.iter().rev().filter_map(linked).collect();
        let name = format!("all at once, {SHORT_S} s silent");
        let mean = points.iter().map(|(x, linked)| (*x, linked.estimate)).collect();
        let ends = points.iter().flat_map(|(x, linked)| [(*x, linked.low), (*x, linked.high)]).collect();
        Chart {
            caption: "Who hears less links less".into(),
            x: Axis::linear("road heard", "%"),
            y: Axis::linear("changes linked", "%"),
            series: vec![
                Series { name: name.clone(), kind: SeriesKind::Line, points: mean },
                Series { name, kind: SeriesKind::Interval, points: ends },
            ],
        }
    }

    fn control_table(&self) -> Table {
        let mut table = Table::new("Control: places that tell nothing")
            .words("eavesdropper")
            .numbers("changes linked", "%")
            .footnote(format!("All at once, {SHORT_S} s silent. The places of all messages are dealt out at random over the whole record; what is linked then must be what one finds who pairs at random whom time allows."));
        let names = ["the tracker, places dealt out at random", "one that looks at no place"];
        for (name, linked) in names.into_iter().zip(self.control.changes_linked()) {
            let cell = linked.map_or_else(
                || Cell::na("the run was stopped before"),
                |linked| {
                    let linked = linked.scaled(100.0);
                    Cell::estimate(linked.estimate, [linked.low, linked.high], 2).from(Evidence::Simulated)
                },
            );
            table.push(vec![Cell::text(name), cell]);
        }
        table
    }

    /// Without changes every trip is linked, with places that tell nothing what is linked is chance, and what stations renew tells
    /// nothing that places do not.
    pub(super) fn is_sound(&self) -> bool {
        let none = self.policies.iter().find(|row| row.name == "none");
        let is_followed = |row: &FleetRow| row.evaluation.trips_linked().is_none_or(|share| share.estimate >= 1.0);
        none.is_none_or(is_followed) && self.control.is_chance() && self.fields.is_sound()
    }
}
