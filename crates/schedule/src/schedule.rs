//! A finished schedule, to which streams are added and from which they are taken, and why there is none.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use chronoseal_core::Duration;

use crate::board::{Blocked, Board, Placed};
use crate::conflict::irreducible;
use crate::network::{Fault, Network, Problem, Stream, check, gcd};
use crate::proof::{Proof, prove};
use crate::route::Routes;
use crate::search::{Options, Search, board};
use crate::shape::Shape;

/// How many times the steps of the search itself the search for the smallest conflict may take.
const CONFLICT_STEPS: u64 = 8;
/// Names a message lists before it only counts.
const NAMES_SHOWN_MAX: usize = 6;

/// A stream's place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    /// The links it takes, each after the one it continues.
    pub route: Vec<usize>,
    /// When each of its frames leaves the talker, from the beginning of the cycle.
    pub starts: Vec<Duration>,
    /// How long after that the frame starts on each link of the route.
    pub hops: Vec<Duration>,
    /// When each listener checks each frame: the listener and the instants, one for each of `starts`; empty if checking
    /// takes no time.
    pub checks: Vec<(usize, Vec<Duration>)>,
    /// From the beginning of sealing until the last listener has checked the frame, if no check waits for a processor.
    pub latency: Duration,
}

struct Entry {
    stream: Stream,
    shape: Shape,
    placed: Placed,
}

/// Who sends when, on which way.
pub struct Schedule {
    network: Network,
    options: Options,
    board: Board,
    routes: Routes,
    entries: BTreeMap<String, Entry>,
}

/// A schedule for all streams.
///
/// # Errors
/// Why there is none, or none was found.
pub fn synthesize(problem: &Problem, options: Options) -> Result<Schedule, Box<Infeasible>> {
    let mut search = Search::new(problem, options);
    match search.run() {
        Ok(()) => {
            let (board, placed) = search.finish();
            let entries = problem.streams().iter().zip(placed).map(|(stream, (shape, placed))| {
                (stream.name.clone(), Entry { stream: stream.clone(), shape, placed })
            });
            let entries = entries.collect();
            Ok(Schedule { network: problem.network().clone(), options, board, routes: Routes::default(), entries })
        }
        Err(failed) => Err(Box::new(Infeasible::new(problem, options, &failed))),
    }
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let planned = self.entries.keys().map(|name| (name, self.planned(name)));
        f.debug_map().entries(planned).finish()
    }
}

impl Schedule {
    /// An empty schedule.
    #[expect(clippy::missing_panics_doc, reason = "no stream has no faults")]
    pub fn empty(network: Network, options: Options) -> Self {
        let problem = Problem::new(network, Vec::new()).expect("no stream has no faults");
        let board = board(&problem, 1);
        Self { network: problem.network().clone(), options, board, routes: Routes::default(), entries: BTreeMap::new() }
    }

    /// The network it is for.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// After this everything repeats.
    pub fn cycle(&self) -> Duration {
        Duration::from_ps(self.board.cycle())
    }

    /// The streams, by name.
    pub fn streams(&self) -> impl Iterator<Item = &Stream> {
        self.entries.values().map(|entry| &entry.stream)
    }

    /// Where a stream was placed.
    pub fn planned(&self, name: &str) -> Option<Planned> {
        let Entry { shape, placed, .. } = self.entries.get(name)?;
        let times = |times: &[i64]| times.iter().map(|time| Duration::from_ps(*time)).collect();
        let floats = placed.floats.chunks(placed.starts.len());
        let links = self.network.links().len();
        Some(Planned {
            route: shape.route(),
            starts: times(&placed.starts),
            hops: shape.hops.iter().map(|hop| Duration::from_ps(hop.after)).collect(),
            checks: shape
                .item
                .floats
                .iter()
                .zip(floats)
                .map(|(float, at)| (float.resource - links, times(at)))
                .collect(),
            latency: Duration::from_ps(shape.latency),
        })
    }

    /// What is reserved of a link, guard included: start and end within the cycle, by start `[ps]`.
    pub fn windows(&self, link: usize) -> Vec<(i64, i64)> {
        self.board.spans(link)
    }

    /// True if anything scheduled is sent on a link.
    pub fn is_used(&self, link: usize) -> bool {
        !self.board.part(link).is_empty()
    }

    /// Places one more stream and moves none of the others. If its period does not divide the cycle, the cycle grows.
    ///
    /// # Errors
    /// [`AddError`] with what is wrong with the stream or in its way; the schedule stays as it was.
    pub fn add(&mut self, stream: Stream) -> Result<(), AddError> {
        if self.entries.contains_key(&stream.name) {
            return Err(AddError::Fault(Fault::StreamTwice { stream: stream.name }));
        }
        check(&self.network, &stream).map_err(AddError::Fault)?;
        let (cycle, period) = (self.board.cycle(), stream.period.as_ps());
        if cycle % period != 0 {
            self.lengthen(&stream, i128::from(cycle) / i128::from(gcd(cycle, period)) * i128::from(period))?;
        }
        let mut blocked = Blocked::TooLong;
        let first = self.routes.first(&self.network, &stream);
        let mut tried = 0;
        for all in [false, true] {
            let routes = match all {
                false => first.clone().into_iter().collect(),
                true => self.routes.all(&self.network, &stream, self.options.routes),
            };
            for route in routes.iter().skip(tried) {
                tried += 1;
                let shape = Shape::of(&self.network, &stream, route);
                if shape.latency > stream.deadline.as_ps() {
                    continue;
                }
                match self.board.place(&shape.item) {
                    Ok(placed) => {
                        self.entries.insert(stream.name.clone(), Entry { stream, shape, placed });
                        return Ok(());
                    }
                    Err(found) => blocked = found,
                }
            }
        }
        Err(AddError::NoPlace { stream: stream.name, reason: Reason::of(&self.network, blocked) })
    }

    /// Takes a stream out and moves none of the others; false if there is none of this name.
    pub fn remove(&mut self, name: &str) -> bool {
        let Some(entry) = self.entries.remove(name) else { return false };
        self.board.remove(&entry.shape.item, &entry.placed);
        true
    }

    /// The same places in a longer cycle.
    fn lengthen(&mut self, stream: &Stream, cycle: i128) -> Result<(), AddError> {
        let too_long = || Fault::HyperperiodTooLong { stream: stream.name.clone(), period: stream.period };
        let mut streams: Vec<Stream> = self.streams().cloned().collect();
        streams.push(stream.clone());
        crate::network::hyperperiod(&streams).map_err(|_| AddError::Fault(too_long()))?;
        let cycle = i64::try_from(cycle).map_err(|_| AddError::Fault(too_long()))?;
        let old = self.board.cycle();
        for entry in self.entries.values_mut() {
            let repeat = |times: &[i64]| -> Vec<i64> {
                (0..cycle / old).flat_map(|k| times.iter().map(move |time| time + k * old)).collect()
            };
            let count = entry.placed.starts.len();
            let starts = repeat(&entry.placed.starts);
            let floats = entry.placed.floats.chunks(count.max(1)).flat_map(repeat).collect();
            entry.placed = Placed { starts, floats };
        }
        self.board.lengthen(cycle);
        Ok(())
    }
}

/// Why one stream found no place.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// No route meets its deadline, or a frame is longer than its period.
    TooLong,
    /// A link has no free span that suits.
    Link {
        /// Its name.
        link: String,
    },
    /// A processor has no free time to seal or to check.
    Processor {
        /// Its node.
        node: String,
    },
    /// The gate control list of a port would be too long.
    GateEntries {
        /// The link of the port.
        link: String,
        /// How many entries it holds.
        entries_max: usize,
    },
}

impl Reason {
    fn of(network: &Network, blocked: Blocked) -> Self {
        let links = network.links().len();
        match blocked {
            Blocked::TooLong => Self::TooLong,
            Blocked::Use { resource } | Blocked::Float { resource, .. } if resource >= links => {
                Self::Processor { node: network.nodes()[resource - links].name.clone() }
            }
            Blocked::Use { resource } | Blocked::Float { resource, .. } => {
                Self::Link { link: network.link_name(resource) }
            }
            Blocked::Entries { resource } => Self::GateEntries {
                link: network.link_name(resource),
                entries_max: network.links()[resource].gate_entries_max.unwrap_or_default(),
            },
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => {
                f.write_str("no route meets its deadline with a frame shorter than its period; lengthen the deadline")
            }
            Self::Link { link } => {
                write!(f, "the link {link} has no free span for it; lengthen a period or shorten frames there")
            }
            Self::Processor { node } => {
                write!(
                    f,
                    "the processor of {node} has no free time for it; choose a cheaper protection or lengthen a period"
                )
            }
            Self::GateEntries { link, entries_max } => write!(
                f,
                "the gate control list of {link} would have more than the {entries_max} entries that its port holds, and each window \
                 that stands alone takes two; choose equal periods, leave streams out, or take a port that holds more"
            ),
        }
    }
}

/// Why a stream was not added.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AddError {
    /// The stream itself is wrong.
    #[error(transparent)]
    Fault(Fault),
    /// It finds no place among the others where they are.
    #[error("stream `{stream}` finds no place among the others where they are: {reason}")]
    NoPlace {
        /// Its name.
        stream: String,
        /// What was in its way.
        reason: Reason,
    },
}

/// Streams for which there is no schedule, or for which none was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Infeasible {
    /// The first stream without a place.
    pub stream: String,
    /// What was in its way.
    pub reason: Reason,
    /// Why no schedule exists; nothing if none was found within the steps.
    pub proof: Option<String>,
    /// Streams that do not fit together, by name. If [`Self::is_minimal`], a schedule was found for the others
    /// whenever one of them is left out.
    pub conflict: Vec<String>,
    /// False if the search for the smallest conflict was cut short.
    pub is_minimal: bool,
    /// How many streams found a place in the first attempt.
    pub fitted: usize,
    /// How many there are.
    pub wanted: usize,
}

impl Infeasible {
    fn new(problem: &Problem, options: Options, failed: &[(usize, Blocked)]) -> Self {
        let streams = problem.streams();
        let proof = prove(problem);
        let (first, blocked) = failed[0];
        let all: Vec<usize> = match &proof {
            Some(proof) => proof.streams(),
            // Taken out from the back: the one without a place is what stays longest.
            None => std::iter::once(first).chain((0..streams.len()).filter(|number| *number != first)).collect(),
        };
        let mut steps = CONFLICT_STEPS * options.steps;
        let (conflict, is_minimal) = irreducible(all, |keep| {
            let names: BTreeSet<&str> = keep.iter().map(|number| streams[*number].name.as_str()).collect();
            let part = problem.with(|stream| names.contains(stream.name.as_str()));
            // What has no proof as a whole has none in part.
            if proof.is_some() && prove(&part).is_some() {
                return Some(false);
            }
            let mut search = Search::new(&part, options);
            let fits = search.run().is_ok();
            // What was searched beside the board is counted as a step for each stream.
            steps = steps.checked_sub(search.board.work() + keep.len() as u64 * 100)?;
            Some(fits)
        });
        Self {
            stream: streams[first].name.clone(),
            reason: Reason::of(problem.network(), blocked),
            proof: proof.map(|proof| describe(problem, &proof)),
            conflict: conflict.into_iter().map(|number| streams[number].name.clone()).collect(),
            is_minimal,
            fitted: streams.len() - failed.len(),
            wanted: streams.len(),
        }
    }
}

impl fmt::Display for Infeasible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stream, reason, proof, conflict, fitted, wanted, .. } = self;
        match proof {
            Some(proof) => write!(f, "there is no schedule: {proof}")?,
            None => write!(f, "no schedule was found; stream `{stream}` finds no place: {reason}")?,
        }
        write!(f, ". {fitted} of {wanted} streams fit")?;
        if conflict.len() > 1 {
            let shown = &conflict[..conflict.len().min(NAMES_SHOWN_MAX)];
            write!(f, "; these {} do not fit together: {}", conflict.len(), shown.join(", "))?;
            if shown.len() < conflict.len() {
                write!(f, " and {} more", conflict.len() - shown.len())?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Infeasible {}

fn describe(problem: &Problem, proof: &Proof) -> String {
    let (network, name) = (problem.network(), |stream: usize| &problem.streams()[stream].name);
    match proof {
        Proof::NoWay { stream, listener } => {
            format!(
                "no way leads from the talker of stream `{}` to {}; add a link",
                name(*stream),
                network.nodes()[*listener].name
            )
        }
        Proof::TooLate { stream, needed } => format!(
            "stream `{}` needs {needed:.3} even alone on its fastest way, and its deadline is {}; lengthen the deadline or shorten \
             the frame",
            name(*stream),
            problem.streams()[*stream].deadline
        ),
        Proof::LongerThanPeriod { stream } => {
            format!("a frame of stream `{}` takes longer than its period; lengthen the period", name(*stream))
        }
        Proof::LinkOverload { link, streams } => {
            let part = |stream: &usize| {
                let stream = &problem.streams()[*stream];
                network.wire_time(*link, stream.secured_len()) as f64 / stream.period.as_ps() as f64
            };
            format!(
                "{} streams that have no other way need {:.1} % of the time of the link {}, which is more than it has; lengthen \
                 their periods, shorten their frames, or add a way around it",
                streams.len(),
                streams.iter().map(part).sum::<f64>() * 100.0,
                network.link_name(*link)
            )
        }
        Proof::ProcessorOverload { node, streams } => format!(
            "sealing and checking {} streams needs more time than the processor of {} has; choose a cheaper protection or lengthen \
             their periods",
            streams.len(),
            network.nodes()[*node].name
        ),
        Proof::NeverApart { link, streams: [one, other] } => format!(
            "the streams `{}` and `{}` meet on the link {} wherever they begin, because the greatest common divisor of their periods \
             is shorter than both frames; choose periods of which one is a multiple of the other",
            name(*one),
            name(*other),
            network.link_name(*link)
        ),
    }
}
