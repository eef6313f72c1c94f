//! Reads traces of the traffic simulator SUMO: its floating car data output (`--fcd-output`), as text.
//!
//! Each `timestep` holds a `vehicle` with `id`, `x`, `y`, `angle` (from north, clockwise `[degree]`) and `speed` `[m/s]`; `x` and
//! `y` are metres, or longitude and latitude with `--fcd-output.geo`. Other elements and attributes are read over.
//! <https://sumo.dlr.de/docs/Simulation/Output/FCDOutput.html>

use std::collections::BTreeMap;

use chronoseal_core::{Duration, SimTime};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::{Dimensions, Origin, State, Trip, Trips};

/// What `x` and `y` of a trace mean.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Coordinates {
    /// Metres on a plane.
    Plane,
    /// Longitude and latitude `[degree]`, put on the plane at this place.
    Geographic(Origin),
}

/// Most states of a trace, all vehicles together.
pub const STATES_MAX: usize = 50_000_000;

/// By so much metres and degrees are apart at least: a degree is some 111 km, and at a latitude of 89 degrees 2 km.
const UNITS_APART: f64 = 1_000.0;
/// Ways on which nothing can be told from speeds: all vehicles stand, or nearly `[m]`.
const DRIVEN_M_MIN: f64 = 1.0;

/// Why a text is no trace.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {kind}")]
pub struct TraceError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub kind: TraceErrorKind,
}

/// What is wrong with a trace.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceErrorKind {
    /// Not well-formed.
    #[error("this is no XML: {0}")]
    Xml(String),
    /// Not an `fcd-export`.
    #[error("<{0}> stands where <fcd-export> was expected")]
    Root(String),
    /// The text ends within an element, or has none.
    #[error("the text ends before </fcd-export>")]
    CutOff,
    /// An attribute is missing.
    #[error("<{element}> has no `{attribute}`")]
    Missing {
        /// Of which element.
        element: &'static str,
        /// Which.
        attribute: &'static str,
    },
    /// An attribute is no number, or one that nothing can have.
    #[error("`{attribute}` is \"{text}\", which is no usable number")]
    Number {
        /// Which.
        attribute: &'static str,
        /// What it says.
        text: String,
    },
    /// A `vehicle` outside a `timestep`.
    #[error("a vehicle stands outside every timestep")]
    Outside,
    /// Times that do not rise, or not by the same step.
    #[error("{found} follows {previous}; the trace's step is {step}")]
    Step {
        /// Time before.
        previous: Duration,
        /// Time of this step.
        found: Duration,
        /// First difference between two times; zero if there is none yet.
        step: Duration,
    },
    /// One vehicle twice at one time.
    #[error("vehicle {0} stands twice in one timestep")]
    Twice(String),
    /// Larger than is read.
    #[error("more than {STATES_MAX} states")]
    TooLong,
    /// Longitude and latitude, read as metres.
    #[error(
        "x and y of this trace are longitude and latitude, no metres: vehicles move by less than a thousandth of what \
         their speeds say"
    )]
    Degrees {
        /// The middle of the first vehicle's way, `LATITUDE,LONGITUDE` `[degree]`.
        place: String,
    },
    /// Metres, read as longitude and latitude.
    #[error(
        "x and y of this trace are metres, no longitude and latitude: vehicles move more than a thousand times as far as \
         their speeds say"
    )]
    Metres,
    /// No vehicle at all, or a single time.
    #[error("a trace needs at least two timesteps and a vehicle")]
    Empty,
}
use TraceErrorKind as Kind;

/// Reads a trace. A vehicle that is gone for some steps and comes back is a trip more.
///
/// # Errors
/// [`TraceError`] with the line of the first thing that is wrong.
pub fn read(text: &str, coordinates: Coordinates) -> Result<Trips, TraceError> {
    let mut reader = Reader::from_str(text);
    let mut trace = Trace::new(coordinates);
    loop {
        let start = reader.buffer_position();
        let event = reader.read_event();
        let at = |kind| TraceError { line: line_of(text, start), kind };
        match event {
            Ok(Event::Start(element)) => trace.open(&element).map_err(at)?,
            Ok(Event::Empty(element)) => {
                trace.open(&element).map_err(at)?;
                trace.close(element.name().0);
            }
            Ok(Event::End(element)) => trace.close(element.name().0),
            Ok(Event::Eof) if trace.is_closed => break,
            Ok(Event::Eof) => return Err(at(Kind::CutOff)),
            Ok(_) => {}
            Err(error) => {
                let line = line_of(text, reader.error_position());
                return Err(TraceError { line, kind: Kind::Xml(error.to_string()) });
            }
        }
    }
    trace.finish().map_err(|kind| {
        // The trace as a whole has other units.
        let whole = matches!(kind, Kind::Degrees { .. } | Kind::Metres);
        TraceError { line: if whole { 1 } else { line_of(text, text.len() as u64) }, kind }
    })
}

/// Line of a byte, past the blanks in front of an element.
fn line_of(text: &str, position: u64) -> usize {
    let position = (position as usize).min(text.len());
    let rest = &text.as_bytes()[position..];
    let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let end = if blanks == rest.len() { position } else { position + blanks };
    1 + text.as_bytes()[..end].iter().filter(|byte| **byte == b'\n').count()
}

/// A trace as far as it was read.
struct Trace {
    coordinates: Coordinates,
    /// Time of the first timestep.
    first: Option<Duration>,
    /// Time of this timestep, since the first.
    now: Option<Duration>,
    step: Duration,
    is_inside: bool,
    is_open: bool,
    is_closed: bool,
    trips: Vec<Trip>,
    /// Where a vehicle's current trip stands, and its last time.
    current: BTreeMap<String, (usize, Duration)>,
    states: usize,
}

impl Trace {
    fn new(coordinates: Coordinates) -> Self {
        Self {
            coordinates,
            first: None,
            now: None,
            step: Duration::ZERO,
            is_inside: false,
            is_open: false,
            is_closed: false,
            trips: Vec::new(),
            current: BTreeMap::new(),
            states: 0,
        }
    }

    fn open(&mut self, element: &BytesStart<'_>) -> Result<(), Kind> {
        match element.name().0 {
            "fcd-export" => self.is_open = true,
            name if !self.is_open => return Err(Kind::Root(name.into())),
            "timestep" => self.begin_step(element)?,
            "vehicle" => self.add_state(element)?,
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, name: &str) {
        match name {
            "fcd-export" => self.is_closed = true,
            "timestep" => self.is_inside = false,
            _ => {}
        }
    }

    fn begin_step(&mut self, element: &BytesStart<'_>) -> Result<(), Kind> {
        self.is_inside = true;
        let time_s = number(element, "timestep", "time", 0.0..=1e6)?;
        // SUMO counts in milliseconds.
        let time = Duration::from_ms(libm::round(time_s * 1000.0) as i64);
        let first = *self.first.get_or_insert(time);
        let Some(previous) = self.now else {
            self.now = Some(Duration::ZERO);
            return Ok(());
        };
        let (previous, step) = (previous + first, time - first - previous);
        if self.step == Duration::ZERO && step > Duration::ZERO {
            self.step = step;
        }
        if step <= Duration::ZERO || step != self.step {
            return Err(Kind::Step { previous, found: time, step: self.step });
        }
        self.now = Some(time - first);
        Ok(())
    }

    fn add_state(&mut self, element: &BytesStart<'_>) -> Result<(), Kind> {
        let Some(now) = self.now.filter(|_| self.is_inside) else { return Err(Kind::Outside) };
        let name = attribute(element, "vehicle", "id")?;
        let (x, y) = (number(element, "vehicle", "x", -1e8..=1e8)?, number(element, "vehicle", "y", -1e8..=1e8)?);
        let heading_deg = number(element, "vehicle", "angle", -360.0..=360.0)?;
        let speed_m_s = number(element, "vehicle", "speed", 0.0..=150.0)?;
        let (x_m, y_m) = match self.coordinates {
            Coordinates::Plane => (x, y),
            Coordinates::Geographic(origin) => origin.to_plane_deg(y, x),
        };
        let heading_deg = libm::fmod(heading_deg + 360.0, 360.0);
        self.states += 1;
        if self.states > STATES_MAX {
            return Err(Kind::TooLong);
        }
        let index = match self.current.get(&name) {
            Some((_, last)) if *last == now => return Err(Kind::Twice(name)),
            Some((index, last)) if *last + self.step == now => *index,
            _ => {
                self.trips.push(Trip {
                    name: name.clone(),
                    dimensions: dimensions_of(element),
                    begins_at: SimTime::ZERO + now,
                    states: Vec::new(),
                });
                self.trips.len() - 1
            }
        };
        self.current.insert(name, (index, now));
        self.trips[index].states.push(State { x_m, y_m, speed_m_s, heading_deg, acceleration_m_s2: 0.0 });
        Ok(())
    }

    fn finish(mut self) -> Result<Trips, Kind> {
        let Some(now) = self.now.filter(|_| self.step > Duration::ZERO && !self.trips.is_empty()) else {
            return Err(Kind::Empty);
        };
        let step_s = self.step.as_secs_f64();
        self.held_against_speeds(step_s)?;
        for trip in &mut self.trips {
            for index in 1..trip.states.len() {
                let gained_m_s = trip.states[index].speed_m_s - trip.states[index - 1].speed_m_s;
                trip.states[index].acceleration_m_s2 = gained_m_s / step_s;
            }
        }
        Ok(Trips { trips: self.trips, step: self.step, ends_at: SimTime::ZERO + now })
    }
}

impl Trace {
    /// Refuses positions that have another unit than what they are read as: speeds are always in metres a second.
    fn held_against_speeds(&self, step_s: f64) -> Result<(), Kind> {
        let (mut moved_m, mut driven_m) = (0.0, 0.0);
        for pair in self.trips.iter().flat_map(|trip| trip.states.windows(2)) {
            let (x, y) = (pair[1].x_m - pair[0].x_m, pair[1].y_m - pair[0].y_m);
            moved_m += libm::hypot(x, y);
            driven_m += pair[1].speed_m_s * step_s;
        }
        if driven_m < DRIVEN_M_MIN {
            return Ok(());
        }
        let states = self.trips.iter().flat_map(|trip| &trip.states);
        match self.coordinates {
            Coordinates::Plane if moved_m * UNITS_APART < driven_m => {
                let is_place = states.clone().all(|state| state.x_m.abs() <= 180.0 && state.y_m.abs() <= 90.0);
                let middle = self.trips[0].states.get(self.trips[0].states.len() / 2).filter(|_| is_place);
                middle.map_or(Ok(()), |at| Err(Kind::Degrees { place: format!("{:.4},{:.4}", at.y_m, at.x_m) }))
            }
            Coordinates::Geographic(_) if moved_m > driven_m * UNITS_APART => Err(Kind::Metres),
            _ => Ok(()),
        }
    }
}

/// Size by the kind of vehicle, as SUMO's defaults for it have it; the output does not tell the size.
fn dimensions_of(element: &BytesStart<'_>) -> Dimensions {
    let kind = attribute(element, "vehicle", "type").unwrap_or_default();
    let (length_dm, width_dm) = match kind.as_str() {
        kind if kind.contains("truck") => (71, 24),
        kind if kind.contains("bus") => (120, 25),
        kind if kind.contains("motorcycle") => (22, 9),
        _ => (50, 18),
    };
    Dimensions { length_dm, width_dm }
}

fn attribute(element: &BytesStart<'_>, name: &'static str, attribute: &'static str) -> Result<String, Kind> {
    let found = element.try_get_attribute(attribute).map_err(|error| Kind::Xml(error.to_string()))?;
    let found = found.ok_or(Kind::Missing { element: name, attribute })?;
    found.normalized_value(XmlVersion::Implicit1_0).map(Into::into).map_err(|error| Kind::Xml(error.to_string()))
}

fn number(
    element: &BytesStart<'_>,
    name: &'static str,
    key: &'static str,
    range: core::ops::RangeInclusive<f64>,
) -> Result<f64, Kind> {
    let text = attribute(element, name, key)?;
    let value = text.trim().parse::<f64>().ok().filter(|value| range.contains(value));
    value.ok_or(Kind::Number { attribute: key, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As SUMO 1.12 writes it, comment and unused attributes included.
    const TRACE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>

<!-- generated by Eclipse SUMO sumo Version v1_12_0 -->

<fcd-export xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="http://sumo.dlr.de/xsd/fcd_file.xsd">
    <timestep time="10.00">
        <vehicle id="flow.0" x="-1702.05" y="5.10" angle="0.00" type="car" speed="0.00" pos="5.10" lane="e_1" slope="0.00"/>
        <vehicle id="flow2.0" x="-1698.75" y="5.10" angle="359.50" type="truck" speed="2.00" pos="5.10" lane="e_0" slope="0.00"/>
    </timestep>
    <timestep time="11.00">
        <vehicle id="flow.0" x="-1702.05" y="6.25" angle="0.00" type="car" speed="1.15" pos="6.25" lane="e_1" slope="0.00"/>
        <person id="p" x="0" y="0" angle="0" speed="0"/>
    </timestep>
    <timestep time="12.00"/>
    <timestep time="13.00">
        <vehicle id="flow.0" x="-1702.05" y="9.00" angle="90.00" type="car" speed="2.00" pos="9.00" lane="e_1" slope="0.00"/>
    </timestep>
</fcd-export>
"#;

    #[test]
    fn reads_what_sumo_writes() {
        let trips = read(TRACE, Coordinates::Plane).expect("a trace");
        assert_eq!((trips.step, trips.ends_at), (Duration::from_s(1), SimTime::ZERO + Duration::from_s(3)));
        let seen: Vec<_> = trips.trips.iter().map(|trip| (trip.name.as_str(), trip.states().len())).collect();
        assert_eq!(seen, [("flow.0", 2), ("flow2.0", 1), ("flow.0", 1)], "who comes back is a trip more");
        assert_eq!(trips.trips[0].states()[1].acceleration_m_s2, 1.15);
        assert_eq!(trips.trips[1].dimensions, Dimensions { length_dm: 71, width_dm: 24 });
        assert_eq!(trips.trips[2].begins_at, SimTime::ZERO + Duration::from_s(3));
    }

    /// Written by SUMO 1.15.0 (Debian 12): a grid of 5 by 5 crossings of `netgenerate`, trips of `randomTrips.py --period 0.5`, 16 s
    /// in steps of half a second.
    const TOWN: &str = include_str!("../../data/sumo-town.xml");

    #[test]
    fn reads_a_town_that_sumo_wrote() {
        let trips = read(TOWN, Coordinates::Plane).expect("a trace");
        assert_eq!(trips.step, Duration::from_ms(500));
        // The same attributes, looked for in the text: the file has a vehicle a line.
        let lines: Vec<&str> = TOWN.lines().filter(|line| line.contains("<vehicle ")).collect();
        assert_eq!(trips.trips.iter().map(|trip| trip.states().len()).sum::<usize>(), lines.len());
        for trip in &trips.trips {
            let own = lines.iter().filter(|line| line.contains(&format!(" id=\"{}\" ", trip.name)));
            for (state, line) in trip.states().iter().zip(own) {
                let value = |name: &str| -> f64 {
                    let (_, rest) = line.split_once(&format!(" {name}=\"")).expect("it has the attribute");
                    rest.split('"').next().and_then(|text| text.parse().ok()).expect("a number")
                };
                assert_eq!((state.x_m, state.y_m, state.speed_m_s), (value("x"), value("y"), value("speed")), "{line}");
            }
            // SUMO moves a vehicle by its new speed; across a crossing it goes along a bend.
            for pair in trip.states().windows(2) {
                let moved_m = (pair[1].x_m - pair[0].x_m).hypot(pair[1].y_m - pair[0].y_m);
                assert!((moved_m - pair[1].speed_m_s * 0.5).abs() < 0.6, "{}: {moved_m} m, {pair:?}", trip.name);
            }
        }
    }

    #[test]
    fn reads_geographic_coordinates() {
        let text = r#"<fcd-export><timestep time="0"><vehicle id="a" x="9.01" y="48.0" angle="0" speed="1"/></timestep>
            <timestep time="0.5"/></fcd-export>"#;
        let origin = Origin { latitude_deg: 48.0, longitude_deg: 9.0 };
        let trips = read(text, Coordinates::Geographic(origin)).expect("a trace");
        let state = trips.trips[0].states()[0];
        assert!((state.x_m - 746.3).abs() < 0.5 && state.y_m.abs() < 1e-6, "{state:?}");
        assert_eq!(trips.step, Duration::from_ms(500));
    }

    #[test]
    fn refuses_a_trace_in_another_unit_than_it_is_read_in() {
        let trace = |step: f64| {
            let at = |k: i32| {
                format!(
                    r#"<timestep time="{k}"><vehicle id="a" x="{:.6}" y="52.5" angle="90" speed="15"/></timestep>"#,
                    13.33 + f64::from(k) * step
                )
            };
            format!("<fcd-export>{}</fcd-export>", (0..5).map(at).collect::<String>())
        };
        let (degrees, metres) = (trace(15.0 / 67_800.0), trace(15.0));
        let geographic = Coordinates::Geographic(Origin { latitude_deg: 52.5, longitude_deg: 13.33 });
        let refused = |text: &str, coordinates| read(text, coordinates).map_err(|error| (error.line, error.kind));
        assert_eq!(
            refused(&degrees, Coordinates::Plane).unwrap_err(),
            (1, Kind::Degrees { place: "52.5000,13.3304".into() })
        );
        assert_eq!(refused(&metres, geographic).unwrap_err(), (1, Kind::Metres));
        assert!(read(&degrees, geographic).is_ok() && read(&metres, Coordinates::Plane).is_ok());
        // Nobody moves: nothing contradicts the positions.
        let still = degrees.replace("speed=\"15\"", "speed=\"0\"");
        assert!(read(&still, Coordinates::Plane).is_ok());
    }

    fn refusal(change: impl Fn(&str) -> String) -> (usize, Kind) {
        let error = read(&change(TRACE), Coordinates::Plane).expect_err("it is broken");
        (error.line, error.kind)
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        let replaced = |from: &'static str, to: &'static str| refusal(move |text| text.replacen(from, to, 1));
        let number = |attribute, text: &str| Kind::Number { attribute, text: text.into() };
        assert_eq!(replaced("y=\"6.25\"", "y=\"high\""), (11, number("y", "high")));
        assert_eq!(replaced("y=\"6.25\"", "y=\"nan\""), (11, number("y", "nan")));
        assert_eq!(replaced("speed=\"1.15\"", "speed=\"-1\""), (11, number("speed", "-1")));
        let missing = Kind::Missing { element: "vehicle", attribute: "angle" };
        assert_eq!(replaced("angle=\"359.50\"", ""), (8, missing));
        assert_eq!(replaced("id=\"flow2.0\"", "id=\"flow.0\""), (8, Kind::Twice("flow.0".into())));
        let s = Duration::from_s;
        let step = |previous, found, step| Kind::Step { previous: s(previous), found: s(found), step: s(step) };
        assert_eq!(replaced("\"12.00\"", "\"14.00\""), (14, step(11, 14, 1)));
        assert_eq!(replaced("\"11.00\"", "\"10.00\""), (10, step(10, 10, 0)));
        assert_eq!(replaced("<fcd-export", "<routes"), (5, Kind::Root("routes".into())));
        assert!(matches!(replaced("</timestep>", "</timestop>"), (9, Kind::Xml(_))));
        assert_eq!(refusal(|text| text.replace("</fcd-export>", "")).1, Kind::CutOff);
        assert_eq!(refusal(|_| String::new()), (1, Kind::CutOff));
        assert_eq!(refusal(|_| "<fcd-export/>".into()).1, Kind::Empty);
        let outside = r#"<fcd-export><vehicle id="a" x="0" y="0" angle="0" speed="0"/></fcd-export>"#;
        assert_eq!(refusal(|_| outside.into()).1, Kind::Outside);
    }

    #[test]
    fn a_trace_cut_anywhere_is_refused_and_nothing_worse() {
        let end = TRACE.find("</fcd-export>").expect("it is there") + "</fcd-export>".len();
        for len in 0..end {
            assert!(read(&TRACE[..len], Coordinates::Plane).is_err(), "{len} bytes");
        }
    }
}
