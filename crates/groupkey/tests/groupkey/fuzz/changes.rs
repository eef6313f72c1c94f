//! Who comes into the group and who leaves it, and what they know.

use std::collections::BTreeSet;

use chronoseal_core::EventKind;
use chronoseal_groupkey::adversary::{Insider, Knowledge};
use chronoseal_groupkey::{Address, Installation, Member, Membership, Operation, Step};

use super::enemy::{Former, below, one_in};
use super::episode::{Episode, pick};
use crate::bus::{Bus, LEAD, Station, config, roster, seed, signing_key};
use crate::swift::Swift;

/// Private keys a member draws in an episode, at most.
const DRAWS: usize = 64;

/// What a node knows that was removed, or has not come in yet.
pub(super) struct Removed {
    pub(super) station: usize,
    pub(super) knowledge: Knowledge<Swift>,
    /// Frames it has recorded.
    pub(super) heard: usize,
    /// The highest epoch that anything had when its removal began.
    pub(super) epoch: u32,
    /// Keys that were in use until then.
    pub(super) keys: BTreeSet<[u8; 16]>,
    /// Keys taken into use until then, counted.
    installed: usize,
}

impl Removed {
    /// Takes the frames that were on the bus since it last did so. It has no use for master secrets of others.
    pub(super) fn record(&mut self, bus: &Bus<Swift>) {
        for heard in &bus.heard[self.heard..] {
            if heard.identifier().is_some_and(|identifier| identifier.step != Step::Distribution) {
                self.knowledge.hear(&heard.frame);
            }
        }
        self.heard = bus.heard.len();
    }
}

/// What a node knows that has come in.
pub(super) struct Returned {
    station: usize,
    knowledge: Knowledge<Swift>,
    heard: usize,
    /// Keys of the time when it was out, which it did not know.
    missed: BTreeSet<[u8; 16]>,
}

/// The seed of a station that lost its power, as the so manieth of all.
fn seed_of_life(station: usize, life: usize) -> [u8; 32] {
    let mut seed = seed(2, station as u8);
    seed[2] = life as u8 + 1;
    seed
}

impl Episode {
    /// Asks for a change. The last one is one that its installation promises to finish.
    pub(super) fn change(&mut self, is_last: bool) {
        let present: Vec<usize> = (1..=self.n).filter(|index| self.is_present(*index)).collect();
        let is_gone = |index: &usize| !self.is_present(*index) && !self.revoked.contains(index);
        let gone: Vec<usize> = (1..=self.n).filter(is_gone).collect();
        // Who takes a key into use at once never hears that others have none; only a whole run mends that. As published
        // nothing else tells who was removed either.
        let has_to_be_whole = is_last && self.settings.installation == Installation::Unconfirmed;
        let operation = match below(&mut self.rng, 4) {
            0 | 1 if present.len() > 1 && !has_to_be_whole => {
                let station = pick(&mut self.rng, &present);
                if one_in(&mut self.rng, 8) {
                    self.revoked.insert(station);
                    Operation::Revoke(Address(station as u8))
                } else {
                    Operation::Remove(Address(station as u8))
                }
            }
            2 if gone.len() > 1 && !has_to_be_whole && one_in(&mut self.rng, 2) => {
                let first = pick(&mut self.rng, &gone);
                let mut places = Membership::NONE;
                for station in gone {
                    if station == first || one_in(&mut self.rng, 2) {
                        places.set(station - 1, true);
                        self.forget(station);
                    }
                }
                Operation::Admit(places)
            }
            2 if !gone.is_empty() && !has_to_be_whole => {
                let station = pick(&mut self.rng, &gone);
                self.forget(station);
                Operation::Add(Address(station as u8))
            }
            _ => Operation::Establish,
        };
        self.ask(operation);
    }

    pub(super) fn ask(&mut self, operation: Operation) {
        if let Operation::Remove(address) | Operation::Revoke(address) = operation {
            self.remember(usize::from(address.0));
        }
        let now = self.bus.now;
        self.bus.orchestrator_mut().schedule(now, operation).unwrap();
        self.bus.wake(0);
    }

    /// A member is about to be removed: all it knows is the enemy's.
    pub(super) fn remember(&mut self, station: usize) {
        let tree = self.bus.first_tree.clone();
        let mut knowledge = Knowledge::new(self.settings.profile, self.bus.orchestrator().roster(), tree.clone());
        knowledge.take_from(self.bus.member(station));
        knowledge.take_seed(seed(2, station as u8), DRAWS);
        let address = Address(station as u8);
        let mut former = Former::new(Insider::new(self.settings.profile, address, signing_key::<Swift>(address)));
        for result in tree.path(address) {
            let held = self.bus.member(station).logical_secret(result).map(|secret| *secret.expose());
            former.held.entry(result).or_default().extend(held);
        }
        let is_epoch = |kind: EventKind| {
            matches!(kind, EventKind::ExchangeStarted | EventKind::KeyAgreed | EventKind::KeyInstalled)
        };
        let epochs =
            self.bus.events.iter().filter(|(_, event)| is_epoch(event.kind)).map(|(_, event)| event.value as u32);
        let keys = self.bus.installed.iter().map(|installed| installed.key).collect();
        let epoch = epochs.max().unwrap_or(0);
        let installed = self.bus.installed.len();
        self.removed.push(Removed { station, knowledge, heard: 0, epoch, keys, installed });
        let mut enemy = self.enemy.borrow_mut();
        enemy.former.push(former);
        enemy.removed.insert(station);
    }

    /// A node is taken back, or in for the first time: what it learns from now on is meant for it, but not what was agreed on
    /// while it was out.
    fn forget(&mut self, station: usize) {
        if let Some(index) = self.removed.iter().position(|removed| removed.station == station) {
            let mut removed = self.removed.remove(index);
            let mut enemy = self.enemy.borrow_mut();
            let former = enemy.former.remove(index);
            former.gained.into_iter().for_each(|secret| removed.knowledge.take(secret));
            enemy.removed.remove(&station);
            removed.record(&self.bus);
            removed.knowledge.derive_all();
            let Removed { knowledge, heard, keys, installed, .. } = removed;
            let is_known = |key: &[u8; 16]| keys.contains(key) || knowledge.gives(key);
            let missed = self.bus.installed[installed..].iter().map(|installed| installed.key);
            let missed = missed.filter(|key| !is_known(key)).collect();
            self.returned.push(Returned { station, knowledge, heard, missed });
        }
    }

    /// Whoever has come in knows none of the keys of before that it did not know then, with all that it holds now.
    pub(super) fn check_what_was_missed(&mut self) {
        for Returned { station, mut knowledge, heard, missed } in core::mem::take(&mut self.returned) {
            if missed.is_empty() {
                continue;
            }
            for heard in &self.bus.heard[heard..] {
                knowledge.hear(&heard.frame);
            }
            knowledge.take_from(self.bus.member(station));
            for (life, _) in self.rebooted.iter().enumerate().filter(|(_, rebooted)| **rebooted == station) {
                knowledge.take_seed(seed_of_life(station, life), DRAWS);
            }
            knowledge.derive_all();
            if missed.iter().any(|key| knowledge.gives(key)) {
                self.fail("a node that comes in can derive a key of before");
            }
        }
    }

    /// A member loses its power and everything but what has to be kept.
    pub(super) fn reboot(&mut self) {
        let station = 1 + below(&mut self.rng, self.n);
        if !self.is_present(station) {
            return;
        }
        let persisted = self.bus.member(station).persisted();
        let roster = roster::<Swift>(LEAD, 1, self.n);
        let mut config = config(self.settings, &roster, &self.bus.first_tree, Address(station as u8));
        config.seed = seed_of_life(station, self.rebooted.len());
        self.rebooted.push(station);
        let member = Member::new(config).unwrap().restored(&persisted);
        self.bus.replace(station, Station::Member(Box::new(member)));
    }
}
