//! Every attack there is on every configuration, live; in the quick form on those of the source.

use std::sync::atomic::{AtomicBool, Ordering};

use chronoseal_core::Duration;
use chronoseal_middleware::{Adapter, Answer, Attack, Data, Host, NETWORKS, Packets, Question, Trial, harmed};
use chronoseal_runner::LiveOptions;

use super::cells::Plan;
use crate::Progress;

/// How long an attack runs, finding each other included.
const DURATION: Duration = Duration::from_s(4);

/// Of an attack that only the full form tries.
const LEFT_OUT: &str = "it is left to the full form, and to `chronoseal middleware attack`; the quick form tries attacks on the nine configurations of the source";

pub(super) const TEXT: &str = "A stranger on the same link, between whom and the others nothing is lost or late, sends and listens as the table says. Where a configuration has keys, \
    the stranger's are well formed and of another authority. What authentication and encryption are worth against datagrams in a participant's name, the rows whose names begin with rtps show. Where the table says that all packets go through the stranger, as through a switch or an access point, it \
    sees all of them and passes them on: held back, once more, or with a message put into a connection.";

/// Tries them.
pub(super) fn run<'a>(
    host: &mut Host,
    all: &'a [Adapter],
    known: &'a [Attack],
    plan: &Plan,
    stop: &AtomicBool,
    progress: &mut Progress<'_>,
) -> Vec<Trial<'a>> {
    let laser = Data::recorded()[0].clone().under_attack();
    let live = LiveOptions { no_fifo: plan.no_fifo, ..LiveOptions::default() };
    let tried: Vec<_> = all
        .iter()
        .flat_map(|adapter| adapter.configurations.iter().map(move |one| (adapter, one)))
        .flat_map(|(adapter, one)| {
            known.iter().filter(move |attack| attack.is_on(adapter, one)).map(move |attack| (adapter, one, attack))
        })
        .collect();
    let count = tried.len();
    let mut trials = Vec::with_capacity(count);
    for (place, (adapter, configuration, attack)) in tried.into_iter().enumerate() {
        progress(place as f64 / count as f64, &format!("attack {} on {}", attack.name, configuration.name));
        let answer = if !plan.is_live {
            Answer::Not("live runs were left out".into())
        } else if !plan.only.has_configuration(&configuration.name) {
            Answer::Not("--only leaves it out".into())
        } else if stop.load(Ordering::Relaxed) {
            Answer::Not("the study was stopped before".into())
        } else if !plan.is_full && configuration.published.is_none() {
            Answer::Not(LEFT_OUT.into())
        } else {
            let question = Question {
                data: &laser,
                network: NETWORKS[0],
                packets: Packets::Large,
                duration: DURATION,
                seed: plan.seed,
                attack: Some(attack),
            };
            host.answer(adapter, configuration, question, &live, stop).0
        };
        trials.push(Trial { attack, configuration, answer });
    }
    trials
}

/// How many did harm, for the verdict.
pub(super) fn in_words(trials: &[Trial<'_>]) -> String {
    match harmed(trials) {
        (0, _) => "No attack was tried.".into(),
        (tried, harmed) => format!(
            "{harmed} of {tried} attacks did harm: forged or repeated messages were accepted, messages were read, or genuine ones were lost or late. {} more were not \
             tried, or left no word.",
            trials.len() - tried
        ),
    }
}
