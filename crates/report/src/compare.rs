//! Compares sets of runs: what can be counted is counted, everything else is tested over runs, not over packets.
//!
//! Samples within a run depend on each other; tests over packets find differences between identical runs nearly
//! always. Runs of the two sides should have been interleaved, so that a slow drift of the host hits both alike.
//!
//! How it is judged, and why, is in `docs/methodology.md`.

mod figures;
mod page;

use chronoseal_core::statistics::Interval;
use chronoseal_results::{Engine, RunMeta, RunSummary};
use serde::Serialize;

pub use self::figures::Kind;
use self::figures::{Figures, figures};
pub use self::page::compare_document;
use crate::run::verdict::verdict;
use crate::statistics::exchange::{Chance, Sides, exchange};
use crate::word::Word;

/// Runs each side needs before a figure that varies is judged.
pub const RUNS_MIN: usize = 10;
/// A smaller difference is not worth reporting, relative to the first side.
pub const EFFECT_MIN: f64 = 0.05;
/// The same for shares: of frames that are lost, of the time that a link or a processor is used; absolute.
pub const SHARE_EFFECT_MIN: f64 = 0.001;
/// Tolerated share of false alarms, of all figures together.
pub const SIGNIFICANCE: f64 = 0.05;

/// A stored run.
pub type Run = (RunMeta, RunSummary);

/// Two sets of runs compared.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CompareReport {
    /// [`Word::Worse`] if any line is worse; else [`Word::Failed`] if a run of the second side failed; else the worst that
    /// a run of the second side or a line says.
    pub word: Word,
    /// Runs of the second side that are not held themselves, although none failed.
    pub open: usize,
    /// Runs of each side, without those that repeat another one.
    pub runs: (usize, usize),
    /// Runs of each side that failed.
    pub failed: (usize, usize),
    /// Runs of each side that repeat another one with the same scenario and seed.
    pub repeated: (usize, usize),
    /// Runs of each side that were stopped before their time.
    pub interrupted: (usize, usize),
    /// Pairs of runs with the same seed, if runs were compared in pairs.
    pub pairs: Option<usize>,
    /// What carried the frames of each side.
    pub engines: (Engine, Engine),
    /// What was compared, the largest harm first.
    pub lines: Vec<Line>,
}

/// What happened from the first side to the second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Noticeably higher.
    Worse,
    /// Nobody knows.
    NotChecked,
    /// Noticeably lower.
    Better,
    /// No difference worth reporting was found.
    Same,
}

/// One figure compared. Of every figure, less is better.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Line {
    /// What was compared.
    pub kind: Kind,
    /// Of what: a stream, a link, a node.
    pub of: String,
    /// Which of several figures of that kind, such as the reason of a loss.
    pub detail: String,
    /// Runs of each side that have a figure.
    pub n: (usize, usize),
    /// What stands for each side: the mean of its runs, the geometric one of latencies; a bound itself.
    pub values: (Option<f64>, Option<f64>),
    /// How far the second side lies above the first: relative, or absolute for what is a share.
    pub shift: Option<f64>,
    /// Where the shift lies with 95 % confidence.
    pub interval: Option<(f64, f64)>,
    /// Probability of such a difference between runs of one source, adjusted for all lines; none if the line was counted.
    pub p: Option<f64>,
    /// The judgement.
    pub change: Change,
    /// Why it was not checked, or what else to know.
    pub note: String,
}

impl Change {
    /// As shown to people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Same => "same",
            Self::NotChecked => "not checked",
        }
    }
}

impl CompareReport {
    /// How many lines changed so.
    pub fn count(&self, change: Change) -> usize {
        self.lines.iter().filter(|line| line.change == change).count()
    }
}

/// Compares the runs `a` with the runs `b`.
pub fn compare(a: &[Run], b: &[Run]) -> CompareReport {
    let (all_a, all_b) = (a.len(), b.len());
    let (a, b) = (distinct(a), distinct(b));
    let words = |runs: &[&Run]| runs.iter().map(|(meta, summary)| verdict(meta, summary).word).collect::<Vec<_>>();
    let (words_a, words_b) = (words(&a), words(&b));
    let pairs = pairs(&a, &b);
    let figures = figures((&a, &words_a), (&b, &words_b));
    let mut lines = judge(figures, pairs.as_deref());
    lines.extend(figures::bounds(&a, &b));
    lines.sort_by(|x, y| x.rank().cmp(&y.rank()).then_with(|| y.harm().total_cmp(&x.harm())));
    let failed = |words: &[Word]| words.iter().filter(|word| **word >= Word::Worse).count();
    let interrupted = |runs: &[&Run]| runs.iter().filter(|(meta, _)| meta.interrupted).count();
    let engine = |runs: &[&Run]| runs.first().map_or(Engine::Sim, |(meta, _)| meta.engine);
    let mut report = CompareReport {
        word: Word::Held,
        open: words_b.iter().filter(|word| **word > Word::Held && **word < Word::Worse).count(),
        runs: (a.len(), b.len()),
        failed: (failed(&words_a), failed(&words_b)),
        repeated: (all_a - a.len(), all_b - b.len()),
        interrupted: (interrupted(&a), interrupted(&b)),
        pairs: pairs.map(|pairs| pairs.len()),
        engines: (engine(&a), engine(&b)),
        lines,
    };
    let is_open = report.interrupted != (0, 0) || !report.has_enough() || report.count(Change::NotChecked) > 0;
    report.word = if report.count(Change::Worse) > 0 {
        Word::Worse
    } else if report.failed.1 > 0 {
        Word::Failed
    } else {
        let open = if is_open { Word::NotChecked } else { Word::Held };
        words_b.into_iter().max().unwrap_or(Word::NotChecked).max(open)
    };
    report
}

impl CompareReport {
    /// True if there are runs enough for a test.
    pub fn has_enough(&self) -> bool {
        self.runs.0.min(self.runs.1) >= RUNS_MIN
    }
}

impl Line {
    /// What changed comes before what did not; within that, the kinds that do the most harm come first.
    fn rank(&self) -> (Change, Kind) {
        (self.change, self.kind)
    }

    /// Orders lines of one rank.
    fn harm(&self) -> f64 {
        self.shift.unwrap_or(0.0)
    }
}

/// Simulated runs of one scenario with one seed are the same run, and only the first of them says something.
fn distinct(runs: &[Run]) -> Vec<&Run> {
    let mut seen = std::collections::BTreeSet::new();
    let mut distinct = Vec::new();
    for run in runs {
        let meta = &run.0;
        let is_known = meta.engine == Engine::Sim && !meta.scenario_hash.is_empty();
        if !is_known || seen.insert((&meta.scenario_hash, meta.seed)) {
            distinct.push(run);
        }
    }
    distinct
}

/// Runs of either side that have the same seed, by index. None if there are too few, or if a seed stands for several runs.
fn pairs(a: &[&Run], b: &[&Run]) -> Option<Vec<(usize, usize)>> {
    let by_seed = |runs: &[&Run]| {
        let seeds: std::collections::BTreeMap<u64, usize> =
            runs.iter().enumerate().map(|(index, (meta, _))| (meta.seed, index)).collect();
        (seeds.len() == runs.len()).then_some(seeds)
    };
    let (a, b) = (by_seed(a)?, by_seed(b)?);
    let pairs: Vec<_> = a.into_iter().filter_map(|(seed, index)| Some((index, *b.get(&seed)?))).collect();
    (pairs.len() >= RUNS_MIN).then_some(pairs)
}

/// Every line, tested together with all others that can be tested.
fn judge(figures: Vec<Figures>, pairs: Option<&[(usize, usize)]>) -> Vec<Line> {
    let tested: Vec<(Figures, Option<Sides>)> = figures
        .into_iter()
        .map(|figures| {
            let sides = figures.sides(pairs);
            let (a, b) = (sides.a.iter().flatten().count(), sides.b.iter().flatten().count());
            let is_tested = figures.unlike.is_none() && a.min(b) >= RUNS_MIN;
            (figures, is_tested.then_some(sides))
        })
        .collect();
    let sides: Vec<Sides> = tested.iter().filter_map(|(_, sides)| sides.clone()).collect();
    let mut chances = exchange(&sides, pairs.is_some()).into_iter();
    let line = |(figures, sides): (Figures, Option<Sides>)| {
        let chance = sides.as_ref().and_then(|_| chances.next());
        one(&figures, sides.as_ref().zip(chance), pairs.is_some())
    };
    tested.into_iter().map(line).collect()
}

fn one(figures: &Figures, tested: Option<(&Sides, Chance)>, is_paired: bool) -> Line {
    let (mean_a, mean_b) = (mean(&figures.a), mean(&figures.b));
    let kind = figures.kind;
    let values = (kind.typical(&figures.a), kind.typical(&figures.b));
    let difference = tested.and_then(|(sides, _)| difference(sides, is_paired));
    let shift = match (&difference, values) {
        (Some(difference), _) => Some(kind.shift_from(difference.estimate)),
        (None, (Some(a), Some(b))) => Some(kind.shift_between(a, b)),
        _ => None,
    };
    let interval = difference.map(|ends| (kind.shift_from(ends.low), kind.shift_from(ends.high)));
    let mut note = String::new();
    let change = match (tested, shift) {
        // What one side never showed needs no test.
        _ if kind.is_certain() && mean_a == Some(0.0) && mean_b > Some(0.0) => Change::Worse,
        _ if kind.is_certain() && mean_b == Some(0.0) && mean_a > Some(0.0) => Change::Better,
        (None, Some(shift)) if kind.is_certain() => match shift {
            rise if rise > 0.0 => Change::Worse,
            fall if fall < 0.0 => Change::Better,
            _ => Change::Same,
        },
        (Some((_, chance)), Some(shift)) => match shift {
            rise if rise > 0.0 && chance.rise < SIGNIFICANCE => Change::Worse,
            fall if fall < 0.0 && chance.fall < SIGNIFICANCE => Change::Better,
            _ => Change::Same,
        },
        _ => {
            note = figures.why_not_checked();
            Change::NotChecked
        }
    };
    let p = tested.map(|(_, chance)| if shift.is_some_and(|shift| shift < 0.0) { chance.fall } else { chance.rise });
    Line {
        kind,
        of: figures.of.clone(),
        detail: figures.detail.clone(),
        n: (figures.a.iter().flatten().count(), figures.b.iter().flatten().count()),
        values,
        shift,
        interval,
        p,
        change,
        note,
    }
}

fn mean(values: &[Option<f64>]) -> Option<f64> {
    let known = values.iter().flatten().count();
    (known > 0).then(|| values.iter().flatten().sum::<f64>() / known as f64)
}

/// How far the mean of the second side lies above that of the first, with its 95 % interval: Student's over the differences of
/// pairs; of two sides, that of each mean put together.
///
/// # Source
/// G. Y. Zou, A. Donner, Statistics in Medicine 27 (2008) 1693-1702, for two sides.
fn difference(sides: &Sides, is_paired: bool) -> Option<Interval> {
    if is_paired {
        let pairs: Vec<f64> = sides.a.iter().zip(&sides.b).filter_map(|(a, b)| Some((*b)? - (*a)?)).collect();
        return Interval::of_values(&pairs);
    }
    let of = |values: &[Option<f64>]| Interval::of_values(&values.iter().flatten().copied().collect::<Vec<_>>());
    let (a, b) = (of(&sides.a)?, of(&sides.b)?);
    let (estimate, half) = (b.estimate - a.estimate, (a.high - a.estimate).hypot(b.high - b.estimate));
    Some(Interval { estimate, low: estimate - half, high: estimate + half })
}

#[cfg(test)]
mod tests;
