//! The measured cells: each configuration with each kind of data over each network, live.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use chronoseal_core::Duration;
use chronoseal_middleware::{
    Adapter, Answer, CellName, Configuration, Data, Host, Kept, Measured, NETWORKS, Network, Packets, Question,
    REPETITIONS_MIN, Repetitions, Terms,
};
use chronoseal_runner::{LiveOptions, commit, versions};

use super::only::Only;
use crate::Progress;

/// How long a cell runs, finding each other included.
const QUICK: Duration = Duration::from_s(5);
/// As long as in the source, and the ends have time to find each other.
const FULL: Duration = Duration::from_s(64);
/// How often each cell is run in the full form, all configurations in turn.
const ROUNDS: u64 = REPETITIONS_MIN as u64;

/// What is asked for.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) is_full: bool,
    pub(super) is_live: bool,
    pub(super) seed: u64,
    pub(super) no_fifo: bool,
    pub(super) only: Only,
}

impl Plan {
    fn duration(&self) -> Duration {
        if self.is_full { FULL } else { QUICK }
    }

    /// What cells of one study have in common.
    pub(super) fn terms(&self) -> Terms {
        let build = ("commit".to_owned(), commit().to_owned());
        let versions = versions().into_iter().chain([build]).collect();
        Terms { seed: self.seed, duration_ns: self.duration().as_ns(), versions }
    }
}

/// Every cell, by configuration, data and network.
#[derive(Debug, Default)]
pub(super) struct Cells(BTreeMap<(String, String, &'static str), Vec<Answer>>);

/// Measures them.
pub(super) fn measure(
    host: &mut Host,
    all: &[Adapter],
    plan: &Plan,
    kept: &mut Kept,
    stop: &AtomicBool,
    progress: &mut Progress<'_>,
) -> Cells {
    let mut cells = Cells::default();
    let live = LiveOptions { no_fifo: plan.no_fifo, ..LiveOptions::default() };
    let (duration, rounds) = (plan.duration(), if plan.is_full { ROUNDS } else { 1 });
    let sensors = Data::recorded();
    let configurations: Vec<(&Adapter, &Configuration)> =
        all.iter().flat_map(|adapter| adapter.configurations.iter().map(move |one| (adapter, one))).collect();
    let count = rounds as usize * sensors.len() * NETWORKS.len() * configurations.len();
    let mut done = 0;
    for round in 0..rounds {
        for data in &sensors {
            for network in NETWORKS {
                for (adapter, configuration) in &configurations {
                    let what = format!("{}, {} over {}", configuration.name, data.name, network.title);
                    progress(done as f64 / count as f64, &what);
                    done += 1;
                    let reason = left_out(plan, configuration, data, network, stop.load(Ordering::Relaxed));
                    let cell = CellName {
                        configuration: configuration.name.clone(),
                        data: data.name.clone(),
                        network: network.profile.to_owned(),
                        round,
                    };
                    let known = kept.get(&cell);
                    let answer = match (reason, known) {
                        (Some(reason), _) => Answer::Not(reason),
                        (None, Some(measured)) => Answer::Measured(Box::new(measured)),
                        (None, None) => {
                            let seed = plan.seed + round;
                            let question =
                                Question { data, network, packets: Packets::Large, duration, seed, attack: None };
                            let answer = host.answer(adapter, configuration, question, &live, stop).0;
                            if let Answer::Measured(measured) = &answer {
                                kept.keep(&cell, measured);
                            }
                            answer
                        }
                    };
                    let key = (configuration.name.clone(), data.name.clone(), network.profile);
                    cells.0.entry(key).or_default().push(answer);
                }
            }
        }
    }
    cells
}

/// Why a cell is not measured.
fn left_out(
    plan: &Plan,
    configuration: &Configuration,
    data: &Data,
    network: Network,
    is_stopped: bool,
) -> Option<String> {
    if !plan.is_live {
        return Some("live runs were left out".into());
    }
    if !plan.only.has(&configuration.name, &data.name, network.profile) {
        return Some("--only leaves it out".into());
    }
    if is_stopped {
        return Some("the study was stopped before".into());
    }
    if configuration.variant && !plan.is_full {
        return Some("it is left to the full form, as other variants are".into());
    }
    let times = data.overload(network).filter(|_| !plan.is_full)?;
    // Of each kind of data that is too much for a network, the nine of the source show what that does.
    let is_shown = configuration.published.is_some() && times < 5.0;
    let floor = 100.0 * (1.0 - 1.0 / times);
    (!is_shown).then(|| {
        format!(
            "it is left to the full form: the data ask for {times:.1} times what the link carries, so that at least {floor:.1} % are lost or late"
        )
    })
}

impl Cells {
    /// What came of a cell in all of its runs that were measured, or why none was.
    pub(super) fn get(&self, configuration: &str, data: &str, network: &'static str) -> Result<Measured, &str> {
        let answers = self.0.get(&(configuration.to_owned(), data.to_owned(), network));
        let (mut runs, mut reason): (Vec<&Measured>, &str) = (Vec::new(), "it was not asked for");
        for answer in answers.into_iter().flatten() {
            match answer {
                Answer::Measured(measured) => runs.push(measured),
                Answer::Not(why) => reason = why,
            }
        }
        Measured::pooled(&runs).ok_or(reason)
    }

    /// Every run with these data over this network.
    pub(super) fn repetitions(&self, data: &str, network: &'static str) -> Repetitions {
        let mut repetitions = Repetitions::default();
        for ((configuration, of, over), answers) in &self.0 {
            for (round, answer) in answers.iter().enumerate() {
                if let Answer::Measured(measured) = answer
                    && (of.as_str(), *over) == (data, network)
                {
                    repetitions.add(configuration, round, measured);
                }
            }
        }
        repetitions
    }

    /// Cells asked for, and those that were measured.
    pub(super) fn counts(&self) -> (usize, usize) {
        let is_measured = |answers: &&Vec<Answer>| answers.iter().any(|answer| matches!(answer, Answer::Measured(_)));
        (self.0.len(), self.0.values().filter(is_measured).count())
    }

    pub(super) fn has_any(&self, configuration: &str) -> bool {
        self.each().any(|(name, _)| name == configuration)
    }

    fn each(&self) -> impl Iterator<Item = (&str, &Measured)> {
        self.0.iter().flat_map(|((name, ..), answers)| {
            answers.iter().filter_map(move |answer| match answer {
                Answer::Measured(measured) => Some((name.as_str(), &**measured)),
                Answer::Not(_) => None,
            })
        })
    }

    /// Cells in which a program failed, or nothing came.
    pub(super) fn incomplete(&self) -> usize {
        self.each().filter(|(_, measured)| measured.trouble.is_some() || measured.came == 0).count()
    }

    /// Limits of the host in cells that lost messages, each with its cell.
    pub(super) fn limits(&self) -> Vec<String> {
        let mut found = Vec::new();
        for ((configuration, data, network), answers) in &self.0 {
            let runs = answers.iter().filter_map(|answer| match answer {
                Answer::Measured(measured) if measured.gone() > 0 => Some(&measured.limits),
                Answer::Measured(_) | Answer::Not(_) => None,
            });
            let said: BTreeSet<&String> = runs.flatten().collect();
            found.extend(said.into_iter().map(|limit| format!("{configuration}, {data} over {network}: {limit}.")));
        }
        found
    }

    pub(super) fn stalled(&self) -> u64 {
        self.each().map(|(_, measured)| measured.stalled).sum()
    }

    /// Why cells were not measured, each reason once with how many cells it is of.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut reasons: BTreeMap<(&str, bool), usize> = BTreeMap::new();
        for answers in self.0.values() {
            let whys: BTreeSet<&str> = answers
                .iter()
                .filter_map(|answer| match answer {
                    Answer::Not(why) => Some(why.as_str()),
                    Answer::Measured(_) => None,
                })
                .collect();
            let is_partly = answers.iter().any(|answer| matches!(answer, Answer::Measured(_)));
            whys.into_iter().for_each(|why| *reasons.entry((why, is_partly)).or_default() += 1);
        }
        let told = |((why, is_partly), count): ((&str, bool), usize)| {
            let first = why.lines().next().unwrap_or_default();
            let when = if is_partly { " in all rounds" } else { "" };
            format!("{count} cells not measured{when}, because {first}")
        };
        reasons.into_iter().map(told).collect()
    }
}
