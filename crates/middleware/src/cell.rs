//! One cell of a comparison: a configuration, data and a network, run live, and what came of it.

use std::sync::atomic::AtomicBool;

use chronoseal_catalog::{PrepareError, Prepared};
use chronoseal_core::{DiscardReason, Duration, SimTime, StreamId};
use chronoseal_results::rows::{FrameRow, Outcome};
use chronoseal_results::{Distribution, ProgramMeta};
use chronoseal_runner::{LiveOptions, MeasureError, Run, measure};
use chronoseal_scenario::{NoFiles, Scenario};
use serde::{Deserialize, Serialize};

use crate::Pair;
use crate::attacked::read_by;
use crate::pair::STRANGER;

/// Of the messages of a run, the first share that is left out, as in the published work `[%]`.
pub const WARM_UP_PERCENT: usize = 10;

/// The series of a link that counts what it has carried `[byte]`.
const CARRIED: &str = "data";

/// What was measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    /// Messages that were due after the warm-up: the sum of the five below.
    pub due: u64,
    /// The subscriber had them, in time and late.
    pub came: u64,
    /// Never came, and later ones did; or were altered.
    pub lost: u64,
    /// Due, and never handed to the middleware: its publisher was held up.
    pub not_sent: u64,
    /// Sent, and nothing came of them or after them until the run ended.
    pub under_way: u64,
    /// Of those under way, the ones that were so for more than a second when the run ended: on a link without delay they will not come.
    pub silent: u64,
    /// Of those that came, the ones that came after their deadline, and of those under way, the ones whose deadline was over when the run ended;
    /// `None` if there is no deadline.
    pub late: Option<u64>,
    /// From when a message was due to when the subscriber had it.
    pub latency: Option<Distribution>,
    /// Of the same times, the standard deviation of a sample `[ns]`.
    pub deviation_ns: Option<f64>,
    /// The same times `[ns]`, sorted: runs of one cell are put together from them.
    pub(crate) latencies_ns: Vec<i64>,
    /// Of the same, those of messages that were on their way while the host was away `[ns]`.
    #[serde(default)]
    pub(crate) stalled_ns: Vec<i64>,
    /// When the first message was due, from the start of the run: until then the ends had to find each other `[ns]`.
    pub first_due_ns: Option<i64>,
    /// Bytes that crossed the link for each byte of a message that came, over the whole run: less than one, and the messages took another way.
    pub wire: Option<f64>,
    /// A program failed, or the run did: in words. What an attacker's program does is not meant.
    pub trouble: Option<String>,
    /// Messages that the subscriber took for genuine, and its publisher had not sent.
    pub forged: u64,
    /// The last that an attacker's program printed; `None` if it left no word, and nobody knows whether it got as far as to attack.
    pub attacker: Option<String>,
    /// Messages that the subscriber had once more.
    pub repeated: u64,
    /// Of those that came, the ones that came after their deadline.
    pub came_late: u64,
    /// Messages that the publisher handed over, the warm-up included.
    pub sent: u64,
    /// Their bytes `[byte]`.
    pub sent_len: u64,
    /// What each program took, an attacker's left out.
    pub programs: Vec<Taken>,
    /// What serializing a message at its publisher and deserializing it at its subscriber took, half of the messages at most so long each `[ns]`;
    /// `None` if one of the two did not say it.
    #[serde(default)]
    pub serialization_ns: Option<u64>,
    /// Messages that were on their way while the host was away.
    pub stalled: u64,
    /// What to know of the run.
    pub warnings: Vec<String>,
    /// Limits of the host that its programs met, each with the node and the setting that mends it.
    #[serde(default)]
    pub limits: Vec<String>,
}

/// What a program took, with all that it started, from its start to its end.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Taken {
    /// The node that ran it.
    pub node: String,
    /// Processor time, the kernel's for it included `[ns]`; `None` if that is not known.
    pub processor_ns: Option<i64>,
    /// The most that each of its processes had in memory, in sum `[byte]`; `None` if that is not known.
    pub memory: Option<u64>,
}

/// How a sample of latencies lies.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    /// How many they are.
    pub count: u64,
    /// Their mean `[ns]`.
    pub mean_ns: f64,
    /// The standard deviation of a sample `[ns]`.
    pub deviation_ns: f64,
}

/// Why a pair could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// Its scenario is none.
    #[error("the pair makes no scenario:\n{0}")]
    Scenario(String),
    /// It cannot be made ready.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// It cannot be run live.
    #[error(transparent)]
    Live(#[from] MeasureError),
}

impl Pair<'_> {
    /// Runs it live. What its programs do is theirs: they are of the adapters that the caller has chosen.
    ///
    /// # Errors
    /// [`AskError`] if the host refuses. What a program does wrong is a result.
    pub fn ask(&self, options: &LiveOptions, stop: &AtomicBool) -> Result<(Measured, Run), AskError> {
        let text = self.scenario();
        let scenario = Scenario::load("pair.toml", text.as_bytes(), &[], &NoFiles)
            .map_err(|problems| AskError::Scenario(problems.render()))?;
        let prepared = Prepared::new(&scenario.plan)?;
        let options = LiveOptions { programs: true, ..options.clone() };
        let run = measure(&prepared, scenario.texts(), &options, stop)?;
        Ok((Measured::of(&run, self.duration, self.data.deadline), run))
    }
}

impl Measured {
    fn of(run: &Run, duration: Duration, deadline: Option<Duration>) -> Self {
        let mut rows: Vec<&FrameRow> =
            run.rows.frames.iter().filter(|row| row.stream == StreamId(0) && row.attack.is_none()).collect();
        let all_rows = rows.len();
        rows.retain(|row| row.outcome != Outcome::Discarded(DiscardReason::CopyEliminated));
        let repeated = (all_rows - rows.len()) as u64;
        rows.sort_by_key(|row| (row.due_at, row.sequence));
        let account = run.summary.streams.first();
        let owed = account.map_or(0, |stream| stream.not_sent);
        let all = rows.len() as u64 + owed;
        let warm_up = rows.len() * WARM_UP_PERCENT / 100;
        let mut measured = Self {
            first_due_ns: rows.iter().find_map(|row| row.due_at).map(|at| at.since_zero().as_ns()),
            due: all - warm_up as u64,
            not_sent: owed,
            late: deadline.map(|_| 0),
            wire: wire(run, &rows),
            trouble: trouble(run),
            forged: run.rows.frames.iter().filter(|row| row.attack.is_some() && row.accepted_at.is_some()).count()
                as u64,
            attacker: run.meta.programs.iter().find(|program| is_attacker(run, program)).and_then(last_line),
            repeated,
            sent: rows.len() as u64,
            sent_len: rows.iter().map(|row| u64::from(row.len)).sum(),
            programs: taken(run),
            serialization_ns: serialization(&run.meta.programs),
            warnings: run.meta.warnings.clone(),
            limits: limits(run),
            ..Self::default()
        };
        let end = SimTime::ZERO + duration;
        for row in &rows[warm_up..] {
            measured.stalled += u64::from(row.stalled);
            match row.outcome {
                Outcome::Delivered | Outcome::Late => {
                    measured.came += 1;
                    if let (Some(late), Some(deadline), Some(latency)) = (&mut measured.late, deadline, row.latency()) {
                        *late += u64::from(latency > deadline);
                        measured.came_late += u64::from(latency > deadline);
                    }
                }
                Outcome::Missing | Outcome::Discarded(_) => measured.lost += 1,
                Outcome::Unaccounted => {
                    measured.under_way += 1;
                    measured.silent += u64::from(row.sent_at.is_some_and(|at| at + Duration::from_s(1) < end));
                    if let (Some(late), Some(deadline), Some(due_at)) = (&mut measured.late, deadline, row.due_at) {
                        *late += u64::from(due_at + deadline < end);
                    }
                }
            }
            let latency_ns = row.latency().map(Duration::as_ns);
            measured.latencies_ns.extend(latency_ns);
            measured.stalled_ns.extend(latency_ns.filter(|_| row.stalled));
        }
        measured.with_spread()
    }

    fn with_spread(mut self) -> Self {
        self.latency = Distribution::of(&mut self.latencies_ns);
        self.deviation_ns = deviation(&self.latencies_ns);
        self
    }

    /// The latencies of messages that were never on their way while the host was away; `None` of fewer than two.
    pub fn stall_free(&self) -> Option<Spread> {
        let mut stalled = self.stalled_ns.clone();
        stalled.sort_unstable();
        let mut stalled = stalled.into_iter().peekable();
        let others: Vec<i64> =
            self.latencies_ns.iter().filter(|&&ns| stalled.next_if_eq(&ns).is_none()).copied().collect();
        let mean_ns = mean(&others);
        Some(Spread { count: others.len() as u64, mean_ns, deviation_ns: deviation(&others)? })
    }

    /// Several runs of one cell as one; `None` of none. What is said of one run only, such as its wire, is that of the first.
    pub fn pooled(runs: &[&Self]) -> Option<Self> {
        let (first, others) = runs.split_first()?;
        let mut all = Self::clone(first);
        for run in others {
            all.due += run.due;
            all.came += run.came;
            all.lost += run.lost;
            all.not_sent += run.not_sent;
            all.under_way += run.under_way;
            all.silent += run.silent;
            all.late = all.late.zip(run.late).map(|(late, more)| late + more);
            all.latencies_ns.extend(&run.latencies_ns);
            all.stalled_ns.extend(&run.stalled_ns);
            all.forged += run.forged;
            all.repeated += run.repeated;
            all.came_late += run.came_late;
            all.sent += run.sent;
            all.sent_len += run.sent_len;
            for (sum, more) in all.programs.iter_mut().zip(&run.programs) {
                sum.processor_ns = sum.processor_ns.zip(more.processor_ns).map(|(sum, more)| sum + more);
                sum.memory = sum.memory.zip(more.memory).map(|(one, other)| one.max(other));
            }
            all.stalled += run.stalled;
            all.trouble = all.trouble.or_else(|| run.trouble.clone());
            for limit in &run.limits {
                if !all.limits.contains(limit) {
                    all.limits.push(limit.clone());
                }
            }
        }
        Some(all.with_spread())
    }

    /// The share of what was due and never came `[%]`. What is under way at the end is not counted: nobody knows.
    pub fn loss_percent(&self) -> Option<f64> {
        let known = self.due - self.under_way;
        (known > 0).then(|| 100.0 * (self.lost + self.not_sent) as f64 / known as f64)
    }

    /// What an attack has done: forged messages accepted, messages taken twice, messages read by a stranger, genuine ones lost or late.
    pub fn harm(&self) -> u64 {
        let read = self.attacker.as_deref().and_then(read_by).unwrap_or(0);
        let counted = self.forged + self.repeated + read + self.gone() + self.came_late;
        counted + u64::from(self.trouble.is_some())
    }

    /// What all programs together took of their processors for each message that was sent `[ns]`; `None` if that is not known of one.
    pub fn processor_per_message_ns(&self) -> Option<f64> {
        let all = self.programs.iter().map(|program| program.processor_ns).sum::<Option<i64>>()?;
        (self.sent > 0 && !self.programs.is_empty()).then(|| all as f64 / self.sent as f64)
    }

    /// Messages that never came, or had not a second after they were sent: on a link without delay they will not.
    pub fn gone(&self) -> u64 {
        self.lost + self.not_sent + self.silent
    }

    /// Every message came, and each before its deadline; `None` if there is no deadline, or nothing was due.
    pub fn keeps_deadline(&self) -> Option<bool> {
        let late = self.late.filter(|_| self.due > self.under_way)?;
        Some(late == 0 && self.lost == 0 && self.not_sent == 0 && self.trouble.is_none())
    }
}

fn wire(run: &Run, rows: &[&FrameRow]) -> Option<f64> {
    let series = run.summary.segments.iter().flat_map(|segment| &segment.series);
    let crossed = series.filter(|series| series.name == CARRIED).map(|series| series.total).sum::<i64>();
    let came: u64 = rows.iter().filter(|row| row.accepted_at.is_some()).map(|row| u64::from(row.len)).sum();
    (came > 0).then(|| crossed as f64 / came as f64)
}

fn mean(samples: &[i64]) -> f64 {
    samples.iter().map(|&sample| sample as f64).sum::<f64>() / samples.len() as f64
}

/// The standard deviation of a sample.
fn deviation(samples: &[i64]) -> Option<f64> {
    let (n, mean) = (samples.len() as f64, mean(samples));
    let squares: f64 = samples.iter().map(|&sample| (sample as f64 - mean).powi(2)).sum();
    (samples.len() > 1).then(|| (squares / (n - 1.0)).sqrt())
}

fn taken(run: &Run) -> Vec<Taken> {
    let own = run.meta.programs.iter().filter(|program| !is_attacker(run, program));
    own.map(|program| Taken {
        node: run.meta.node_name(program.node).to_owned(),
        processor_ns: program.processor_ns,
        memory: program.memory,
    })
    .collect()
}

/// What serializing a message of the first stream took at both of its ends.
fn serialization(programs: &[ProgramMeta]) -> Option<u64> {
    let ends = programs.iter().flat_map(|program| &program.serialized).filter(|ends| ends.stream == 0);
    let ends: Vec<u64> = ends.map(|ends| ends.median_ns).collect();
    (ends.len() == 2).then(|| ends.iter().sum())
}

/// What programs print of limits of the host: `STREAM: limit: WHAT`.
fn limits(run: &Run) -> Vec<String> {
    let own = run.meta.programs.iter().filter(|program| !is_attacker(run, program));
    own.flat_map(|program| {
        let node = run.meta.node_name(program.node);
        program.printed.lines().filter_map(limit_of).map(move |limit| format!("{node}: {limit}"))
    })
    .collect()
}

fn limit_of(line: &str) -> Option<&str> {
    line.split_once(": limit: ").map(|(_, limit)| limit)
}

/// How an adapter ends that found nobody to send to.
const NOBODY: &str = "exit status 75";

/// What went wrong beside the messages.
fn trouble(run: &Run) -> Option<String> {
    let mut all = run.meta.programs.iter().filter(|program| !program.is_well && !is_attacker(run, program));
    // Who found nobody to send to is seldom the one that knows why.
    let failed = all.clone().find(|program| program.how != NOBODY).or_else(|| all.next());
    let of_program = |program: &ProgramMeta| {
        let node = run.meta.node_name(program.node);
        let last = last_line(program).unwrap_or_else(|| "it printed nothing".into());
        format!("the program of {node} failed ({}): {last}", program.how)
    };
    run.meta.lost.clone().or_else(|| failed.map(of_program))
}

fn is_attacker(run: &Run, program: &ProgramMeta) -> bool {
    run.meta.node_name(program.node) == STRANGER
}

fn last_line(program: &ProgramMeta) -> Option<String> {
    program.printed.lines().rev().find(|line| !line.trim().is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_adds_up_and_never_calls_silence_success() {
        let nothing = Measured { due: 10, under_way: 10, late: Some(0), ..Measured::default() };
        assert_eq!((nothing.loss_percent(), nothing.keeps_deadline()), (None, None));
        let held_up = Measured { due: 10, came: 5, not_sent: 5, late: Some(0), ..Measured::default() };
        assert_eq!((held_up.loss_percent(), held_up.keeps_deadline()), (Some(50.0), Some(false)));
        let well = Measured { due: 10, came: 9, under_way: 1, late: Some(0), ..Measured::default() };
        assert_eq!((well.loss_percent(), well.keeps_deadline()), (Some(0.0), Some(true)));
        let failed = Measured { trouble: Some("it failed".into()), ..well };
        assert_eq!(failed.keeps_deadline(), Some(false));
        assert_eq!(Measured { due: 10, came: 10, ..Measured::default() }.keeps_deadline(), None);
        let stopped = Measured { due: 10, came: 2, under_way: 8, silent: 7, late: Some(7), ..Measured::default() };
        assert_eq!((stopped.loss_percent(), stopped.keeps_deadline(), stopped.gone()), (Some(0.0), Some(false), 7));
    }

    #[test]
    fn all_runs_of_a_cell_count() {
        let run = |latencies_ns: Vec<i64>, lost| {
            let came = latencies_ns.len() as u64;
            Measured { due: came + lost, came, lost, late: Some(1), latencies_ns, ..Measured::default() }
        };
        let (one, other) = (run(vec![1, 3], 0), run(vec![8], 2));
        let both = Measured::pooled(&[&one, &other]).unwrap();
        assert_eq!((both.due, both.came, both.lost, both.late), (5, 3, 2, Some(2)));
        assert_eq!(both.latency.map(|latency| (latency.n, latency.max_ns)), Some((3, 8)));
        assert!(Measured::pooled(&[]).is_none());
    }

    #[test]
    fn processor_time_of_which_a_part_is_not_known_is_not_known() {
        let taken = |node: &str, processor_ns| Taken { node: node.into(), processor_ns, memory: Some(1) };
        let known = Measured {
            sent: 4,
            programs: vec![taken("robot", Some(60)), taken("station", Some(20))],
            ..Measured::default()
        };
        assert_eq!(known.processor_per_message_ns(), Some(20.0));
        let half = Measured { programs: vec![taken("robot", Some(60)), taken("station", None)], ..known.clone() };
        assert_eq!(half.processor_per_message_ns(), None);
        assert_eq!(Measured::pooled(&[&known, &half]).unwrap().programs[0].processor_ns, Some(120));
        assert_eq!(Measured::default().processor_per_message_ns(), None);
    }

    #[test]
    fn limits_of_the_host_are_told_from_what_else_a_program_prints() {
        let printed = "cloud: matched by 1 at 0.1 s\ncloud: limit: 7 datagrams found no room\nlimits: none";
        assert_eq!(printed.lines().filter_map(limit_of).collect::<Vec<_>>(), ["7 datagrams found no room"]);
        let run = |limit: &str| Measured { limits: vec![limit.into()], ..Measured::default() };
        let both = Measured::pooled(&[&run("one"), &run("one"), &run("other")]).unwrap();
        assert_eq!(both.limits, ["one", "other"]);
    }

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        assert_eq!(deviation(&[1, 3]), Some(std::f64::consts::SQRT_2));
        assert_eq!(deviation(&[1]), None);
    }

    #[test]
    fn what_met_a_stall_is_left_out_once_each() {
        let run = |latencies_ns: Vec<i64>, stalled_ns: Vec<i64>| {
            Measured { latencies_ns, stalled_ns, ..Measured::default() }.with_spread()
        };
        let (one, other) = (run(vec![9, 1, 3, 3], vec![9, 3]), run(vec![50, 5], vec![50]));
        let spread = |measured: &Measured| measured.stall_free().map(|spread| (spread.count, spread.mean_ns));
        assert_eq!((spread(&one), spread(&other)), (Some((2, 2.0)), None));
        assert_eq!(spread(&Measured::pooled(&[&one, &other]).unwrap()), Some((3, 3.0)));
    }
}
