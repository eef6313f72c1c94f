//! Middleware made ready on this host, as often as it is asked for: installed, built, with keys.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use chronoseal_core::Duration;
use chronoseal_runner::{LiveOptions, Run};

use crate::pair::Places;
use crate::{Adapter, Answer, Attack, Cache, Configuration, Data, Keys, Network, Packets, Pair, Wire};

/// What was made ready so far.
#[derive(Debug)]
pub struct Host {
    cache: Cache,
    bodies: Option<PathBuf>,
    ready: BTreeMap<String, Result<Ready, String>>,
}

/// A configuration made ready.
#[derive(Debug)]
pub(crate) struct Ready {
    built: PathBuf,
    keys: Option<Keys>,
}

impl Ready {
    /// Where its programs find what they need. There are no recorded messages where an adapter was built.
    pub(crate) fn places<'a>(&'a self, bodies: Option<&'a Path>) -> Places<'a> {
        let bodies = bodies.unwrap_or(&self.built);
        Places { built: &self.built, keys: self.keys.as_ref().map(Keys::folder), bodies }
    }
}

/// What is asked of a configuration.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// What is sent.
    pub data: &'a Data,
    /// Over what.
    pub network: Network,
    /// In which packets.
    pub packets: Packets,
    /// For how long, finding each other included.
    pub duration: Duration,
    /// Of losses and delays.
    pub seed: u64,
    /// What a stranger on the same link does.
    pub attack: Option<&'a Attack>,
}

impl Host {
    /// Nothing is ready yet. Messages of a stream are those of `NAME.bodies` in the folder `bodies`, in turn, where there is such a file;
    /// else they are made up.
    pub const fn new(cache: Cache, bodies: Option<PathBuf>) -> Self {
        Self { cache, bodies, ready: BTreeMap::new() }
    }

    /// Runs one configuration live. Whatever is wrong with it is its answer, and others go on. With it, if it ran, the scenario and the run.
    pub fn answer(
        &mut self,
        adapter: &Adapter,
        configuration: &Configuration,
        question: Question<'_>,
        live: &LiveOptions,
        stop: &AtomicBool,
    ) -> (Answer, Option<(String, Run)>) {
        if let Some(why) = off_wire(configuration, question) {
            return (Answer::Not(why.into()), None);
        }
        let own_bodies = self.bodies.clone();
        let ready = match self.ready(adapter, configuration) {
            Ok(ready) => ready,
            Err(why) => return (Answer::Not(why.clone()), None),
        };
        let Question { data, network, packets, duration, seed, attack } = question;
        let Places { built, keys, bodies } = ready.places(own_bodies.as_deref());
        let pair = Pair { configuration, built, keys, bodies, network, packets, data, duration, seed, attack };
        match pair.ask(live, stop) {
            // Half a run is no answer; one that lost a process says so itself.
            Ok((_, run)) if run.meta.interrupted && run.meta.lost.is_none() => {
                (Answer::Not("it was stopped".into()), None)
            }
            Ok((measured, run)) => (Answer::Measured(Box::new(measured)), Some((pair.scenario(), run))),
            Err(error) => (Answer::Not(error.to_string()), None),
        }
    }

    pub(crate) fn ready(&mut self, adapter: &Adapter, configuration: &Configuration) -> &Result<Ready, String> {
        let cache = &self.cache;
        self.ready.entry(configuration.name.clone()).or_insert_with(|| {
            if adapter.version().is_none() {
                return Err(format!("{} is not installed: {}", adapter.title, adapter.install_command()));
            }
            let built = cache.built(adapter).map_err(|error| error.to_string())?;
            let keys = configuration.keys.as_deref().map(|level| adapter.keys(level)).transpose();
            Ok(Ready { built, keys: keys.map_err(|error| error.to_string())? })
        })
    }
}

/// Why a configuration whose messages do not go over the network is not asked this.
fn off_wire(configuration: &Configuration, question: Question<'_>) -> Option<&'static str> {
    match (configuration.wire, question.attack, question.network.rate) {
        (Wire::No, Some(_), _) => Some(
            "its messages do not go over the network: who can read and write them is whoever runs on this host as the same user",
        ),
        (Wire::No, None, Some(_)) => {
            Some("its messages do not go over the network, so nothing of a network is measured: ask for localhost")
        }
        (Wire::No, None, None) | (Wire::Yes, ..) => None,
    }
}
