//! The scenario that the options of `chronoseal v2x fleet` stand for.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use chronoseal_core::{Duration, Flow, Length};
use chronoseal_scenario::{FileError, Files};
use chronoseal_v2x::vss::Spread;

/// The trace's name in a scenario, unless it has one on disk.
pub(super) const TRACE: &str = "trace.xml";

/// Where the vehicles come from.
pub(super) enum Road {
    /// The built-in highway.
    Highway {
        /// `[m]`
        length_m: f64,
        /// Vehicles an hour and lane.
        flow_per_h: f64,
        /// How long it is watched.
        duration: Duration,
    },
    /// A trace.
    Trace {
        /// Where it is.
        path: PathBuf,
        /// What it says.
        bytes: Vec<u8>,
        /// A place near its middle, if its places are longitude and latitude `[degree]`.
        origin: Option<[f64; 2]>,
        /// When its last state is.
        ends_after: Duration,
    },
}

/// Until all that was sent is off the air.
const LINGERING: Duration = Duration::from_s(2);

impl Files for Road {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        match self {
            Self::Trace { bytes, path: trace, .. } if path == name(trace) => Ok(bytes.clone()),
            _ => Err(FileError::Unknown),
        }
    }
}

fn name(path: &Path) -> &str {
    path.to_str().unwrap_or(TRACE)
}

/// What all runs of one command have in common.
pub(super) struct Common<'a> {
    pub(super) road: &'a Road,
    /// Middle and radius of each `[m]`.
    pub(super) zones: &'a [[f64; 3]],
    pub(super) cam_interval_ms: i64,
    pub(super) tells_sizes: bool,
}

impl Common<'_> {
    /// The scenario of one run: vehicles that say where they are, unsigned, and change their pseudonyms by a policy.
    pub(super) fn scenario(&self, policy: &str, silence: Option<Spread>, seed: u64) -> String {
        let watched = match self.road {
            Road::Highway { duration, .. } => *duration,
            Road::Trace { ends_after, .. } => *ends_after,
        };
        let mut text = format!(
            "schema_version = 2\nname = \"fleet\"\nduration = \"{}\"\nseed = {seed}\n\n[segments.street.radio]\n\
             # What is said, and when, does not depend on signatures.\nsecurity = \"none\"\ncam_interval = \"{}ms\"\n",
            watched + LINGERING,
            self.cam_interval_ms
        );
        match self.road {
            Road::Highway { length_m, flow_per_h, duration } => {
                let (length, flow) = (metres(*length_m), Flow((flow_per_h * 1_000.0).round() as i64));
                let _ = writeln!(
                    text,
                    "road = {{ highway = {{ length = \"{length}\", lanes = 2, flow = \"{flow}\", two_way = false, \
                     duration = \"{duration}\" }} }}"
                );
            }
            Road::Trace { path, origin, .. } => {
                let _ = writeln!(text, "road = {{ sumo = {} }}", quoted(name(path)));
                if let Some([latitude, longitude]) = origin {
                    let _ = writeln!(
                        text,
                        "geographic = true\norigin = {{ latitude = \"{latitude:.9}deg\", longitude = \"{longitude:.9}deg\" }}"
                    );
                }
            }
        }
        let silence = silence.map_or_else(String::new, |silence| {
            let ms = |ms| Duration::from_ms(i64::try_from(ms).unwrap_or(i64::MAX));
            format!(", silence = {{ min = \"{}\", max = \"{}\" }}", ms(silence.min), ms(silence.max))
        });
        let _ = writeln!(
            text,
            "vehicles = {{ pseudonyms = {{ policy = {}{silence} }}, hide_sizes = {} }}",
            quoted(policy),
            !self.tells_sizes
        );
        for [x_m, y_m, radius_m] in self.zones {
            let _ = writeln!(
                text,
                "\n[[segments.street.radio.mix_zones]]\nx = \"{}\"\ny = \"{}\"\nradius = \"{}\"",
                metres(*x_m),
                metres(*y_m),
                metres(*radius_m)
            );
        }
        text + "\n[[streams]]\nname = \"cam\"\nfrom = \"street\"\nstreet = { message = \"cam\" }\n"
    }
}

fn metres(m: f64) -> Length {
    Length((m * 1_000.0).round() as i64)
}

/// A text of TOML.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoseal_plan::Radio;
    use chronoseal_scenario::load;

    #[test]
    fn the_scenario_of_a_command_is_one_that_loads_and_means_the_same() {
        let road = Road::Highway { length_m: 800.5, flow_per_h: 900.0, duration: Duration::from_s(3) };
        let zones = [[250.0, -1.5, 60.0]];
        let common = Common { road: &road, zones: &zones, cam_interval_ms: 200, tells_sizes: false };
        let text = common.scenario("segments", Some(Spread::between(3_000, 13_000)), 7);
        let plan =
            load("fleet", text.as_bytes(), &[], &road).unwrap_or_else(|problems| panic!("{}", problems.render()));
        let fleet = &Radio::first(&plan).unwrap().segment.fleet;
        // Another policy in its place is what the scenario with that policy says.
        let other = load("fleet", common.scenario("swap", None, 7).as_bytes(), &[], &road).unwrap();
        let policy = &Radio::first(&other).unwrap().segment.fleet.policy;
        assert_eq!(format!("{:?}", plan.with_policy(policy).segments), format!("{:?}", other.segments));
        assert_eq!((plan.seed, plan.duration), (7, Duration::from_s(5)));
        assert_eq!(fleet.policy.name, "segments, 3 to 13 s silent");
        assert_eq!((fleet.cam_interval_min, fleet.tells_dimensions), (Duration::from_ms(200), false));
        assert_eq!((fleet.signs, fleet.trips.ends_at.since_zero()), (None, Duration::from_s(3)));
        assert!(!fleet.trips.trips.is_empty());
    }

    #[test]
    fn a_trace_is_handed_over_by_its_name() {
        let bytes = b"<fcd-export>\n".to_vec();
        let path = PathBuf::from("a \"town\".xml");
        let road = Road::Trace { path, bytes, origin: Some([48.0, -9.0]), ends_after: Duration::from_s(1) };
        let common = Common { road: &road, zones: &[], cam_interval_ms: 100, tells_sizes: true };
        let problems = load("fleet", common.scenario("none", None, 1).as_bytes(), &[], &road).unwrap_err();
        assert!(problems.render().contains("ends before </fcd-export>"), "{}", problems.render());
    }
}
