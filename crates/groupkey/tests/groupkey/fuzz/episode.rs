//! One group, its changes, and what has to hold meanwhile.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use chronoseal_core::random::{ChaCha8Rng, Rng};
use chronoseal_core::{Duration, EventKind};
use chronoseal_groupkey::adversary::{Insider, Knowledge};
use chronoseal_groupkey::{
    Address, FailedRemoval, Installation, Member, Operation, OrchestrationSigning, Profile, Scheme, Settings,
    SpareNode, Step, Transport, Tree,
};
use rand_core::SeedableRng;

use super::coverage::Coverage;
use super::enemy::{Enemy, Former, below, one_in};
use super::plan::Return;
use crate::bus::{self, Bus, Installed, LEAD, Station, config, network_of, roster, seed, signing_key};
use crate::swift::Swift;

/// Time in which a change succeeds once the enemy is silent and the run under way has ended.
pub const CHANGE_TIME: Duration = Duration::from_s(20);
/// Time in which a run ends at the latest once the enemy is silent.
const RUN_TIME: Duration = Duration::from_s(90);
const SLICE: Duration = Duration::from_ms(20);
/// Private keys a member draws in an episode, at most.
const DRAWS: usize = 64;

pub struct Outcome {
    pub coverage: Coverage,
    pub profile: Profile,
    pub failures: Vec<String>,
    pub keys: u64,
}

/// What a removed member knows.
struct Removed {
    station: usize,
    knowledge: Knowledge<Swift>,
    /// Frames it has recorded.
    heard: usize,
    /// The highest epoch that anything had when its removal began.
    epoch: u32,
    /// Keys that were in use until then.
    keys: BTreeSet<[u8; 16]>,
}

struct Episode {
    rng: ChaCha8Rng,
    bus: Bus<Swift>,
    enemy: Rc<RefCell<Enemy>>,
    settings: Settings,
    scheme: Scheme,
    spare: SpareNode,
    n: usize,
    removed: Vec<Removed>,
    failures: Vec<String>,
    /// Installations that have been judged.
    judged: usize,
    keys_of: BTreeMap<u32, [u8; 16]>,
    lives: u8,
}

fn pick<T: Copy>(rng: &mut ChaCha8Rng, choices: &[T]) -> T {
    choices[below(rng, choices.len())]
}

pub fn run(number: u64) -> Outcome {
    let mut rng = ChaCha8Rng::seed_from_u64(number);
    let profile = pick(&mut rng, &[Profile::Hardened, Profile::Hardened, Profile::AsPublished]);
    let transport = pick(&mut rng, &[Transport::Fd, Transport::Fd, Transport::Fd, Transport::Classical]);
    let scheme = pick(&mut rng, &Scheme::ALL);
    let signings = [OrchestrationSigning::PerStep, OrchestrationSigning::PerStep, OrchestrationSigning::Ahead];
    let mut signing = pick(&mut rng, &signings);
    let mut spare = SpareNode::JoinsHigherLevel;
    match below(&mut rng, 4) {
        0 => signing = OrchestrationSigning::Once,
        1 if scheme != Scheme::Symmetric => spare = SpareNode::DirectAssignment,
        _ => {}
    }
    let settings = Settings {
        installation: pick(&mut rng, &[Installation::Confirmed, Installation::Confirmed, Installation::Unconfirmed]),
        failed_removal: pick(&mut rng, &[FailedRemoval::Available, FailedRemoval::Closed]),
        signing,
        ..Settings::new(profile, transport)
    };
    let n = 2 + below(&mut rng, 8);
    let mut bus = network_of::<Swift>(settings, scheme, spare, n);
    for index in 0..=n {
        let costs = [bus::free, |_: &str| Duration::from_us(500), |_: &str| Duration::from_ms(4)];
        bus.set_cost(index, pick(&mut rng, &costs));
    }
    let tree = bus.orchestrator().tree().clone();
    let enemy = Enemy::new(ChaCha8Rng::seed_from_u64(rng.next_u64()), profile, transport, tree);
    let enemy = Rc::new(RefCell::new(enemy));
    bus.interference = Some(enemy.clone());
    let mut episode = Episode {
        rng,
        bus,
        enemy,
        settings,
        scheme,
        spare,
        n,
        removed: Vec::new(),
        failures: Vec::new(),
        judged: 0,
        keys_of: BTreeMap::new(),
        lives: 0,
    };
    episode.play();
    let keys = episode.bus.installed.len() as u64;
    episode.bus.interference = None;
    let Episode { enemy, failures, .. } = episode;
    let coverage = enemy.borrow().coverage.clone();
    Outcome { coverage, profile, failures, keys }
}

impl Episode {
    fn play(&mut self) {
        self.bus.start();
        if self.scheme == Scheme::Symmetric
            && self.settings.installation == Installation::Confirmed
            && one_in(&mut self.rng, 2)
        {
            self.bring_a_key_back();
        }
        self.enemy.borrow_mut().is_active = one_in(&mut self.rng, 2);
        let mut pass = 2 + below(&mut self.rng, 4);
        self.pass(Duration::from_s(pass as i64));
        for _ in 0..2 + below(&mut self.rng, 4) {
            // The last operation has ended, one way or the other.
            self.wait_until_idle();
            self.change(false);
            {
                let mut enemy = self.enemy.borrow_mut();
                enemy.is_active = !one_in(&mut self.rng, 6);
                enemy.patience = pick(&mut self.rng, &[4, 10, 30, 100]);
            }
            pass = 1 + below(&mut self.rng, 5);
            self.pass(Duration::from_s(pass as i64));
            if one_in(&mut self.rng, 4) {
                self.reboot();
            }
        }
        self.enemy.borrow_mut().be_silent();
        // What it has said last is still on the bus, and pieces of messages wait for the rest.
        self.pass(Duration::from_s(1));
        self.wait_until_idle();
        // The orchestrator says every second that it has given the key up.
        self.pass(Duration::from_s(4));
        self.check_closed();
        let before = self.bus.installed.len();
        self.change(true);
        self.pass(CHANGE_TIME);
        self.check_success(before);
    }

    /// The enemy follows a plan against one member, while it does little else.
    fn bring_a_key_back(&mut self) {
        let victim = 1 + below(&mut self.rng, self.n);
        let removed = 1 + (victim + below(&mut self.rng, self.n - 1)) % self.n;
        {
            let mut enemy = self.enemy.borrow_mut();
            (enemy.is_active, enemy.patience, enemy.plan) = (true, 2000, Some(Return::new(victim)));
        }
        let before = 500 + 100 * below(&mut self.rng, 20);
        self.run_quietly(Duration::from_ms(before as i64));
        self.ask(Operation::Remove(Address(removed as u8)));
        if let Some(plan) = &mut self.enemy.borrow_mut().plan {
            plan.on_removal();
        }
        self.run_quietly(Duration::from_s(4));
        self.enemy.borrow_mut().plan = None;
    }

    /// Lets time pass without anything that is not planned on the bus.
    fn run_quietly(&mut self, time: Duration) {
        let end = self.bus.now + time;
        while self.bus.now < end {
            let until = (self.bus.now + SLICE).min(end);
            self.bus.run(until.since_zero());
            self.look_around();
        }
    }

    /// Lets time pass, with something for the bus now and then.
    fn pass(&mut self, time: Duration) {
        let end = self.bus.now + time;
        while self.bus.now < end {
            let is_busy = self.bus.orchestrator().is_busy();
            let is_hostile = self.enemy.borrow().is_active;
            if is_hostile && one_in(&mut self.rng, if is_busy { 15 } else { 10 }) {
                let frames = self.enemy.borrow_mut().inject(is_busy);
                frames.iter().for_each(|frame| self.bus.inject(frame));
            }
            // Waiting in silence takes larger steps.
            let slice = if is_hostile { SLICE } else { SLICE * 25 };
            let until = (self.bus.now + slice).min(end);
            self.bus.run(until.since_zero());
            self.look_around();
        }
    }

    fn wait_until_idle(&mut self) {
        for _ in 0..2 {
            let end = self.bus.now + RUN_TIME;
            while self.bus.orchestrator().is_busy() && self.bus.now < end {
                self.pass(Duration::from_ms(500));
            }
            // Under attack it may take longer.
            if self.bus.orchestrator().is_busy() {
                self.enemy.borrow_mut().be_silent();
            }
        }
        if self.bus.orchestrator().is_busy() {
            self.fail("a run does not end");
        }
    }

    fn fail(&mut self, what: &str) {
        let installation = match self.settings.installation {
            Installation::Confirmed => "confirmed",
            Installation::Unconfirmed => "unconfirmed",
        };
        self.failures.push(format!("{what} ({}, {installation})", self.scheme.name()));
    }

    fn is_present(&self, station: usize) -> bool {
        station == 0 || self.bus.orchestrator().tree().is_present(Address(station as u8))
    }

    // ---- changes

    /// Asks for a change. The last one is one that its installation promises to finish.
    fn change(&mut self, is_last: bool) {
        let present: Vec<usize> = (1..=self.n).filter(|index| self.is_present(*index)).collect();
        let gone: Vec<usize> = (1..=self.n).filter(|index| !self.is_present(*index)).collect();
        // Who takes a key into use at once never hears that others have none; only a whole run mends that. As published
        // nothing else tells who was removed either.
        let has_to_be_whole = is_last && self.settings.installation == Installation::Unconfirmed;
        let operation = match below(&mut self.rng, 4) {
            0 | 1 if present.len() > 1 && !has_to_be_whole => {
                let station = pick(&mut self.rng, &present);
                Operation::Remove(Address(station as u8))
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

    fn ask(&mut self, operation: Operation) {
        if let Operation::Remove(address) = operation {
            self.remember(usize::from(address.0));
        }
        let now = self.bus.now;
        self.bus.orchestrator_mut().schedule(now, operation).unwrap();
        self.bus.wake(0);
    }

    /// A member is about to be removed: all it knows is the enemy's.
    fn remember(&mut self, station: usize) {
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
        self.removed.push(Removed { station, knowledge, heard: 0, epoch, keys });
        let mut enemy = self.enemy.borrow_mut();
        enemy.former.push(former);
        enemy.removed.insert(station);
    }

    /// A removed member is taken back: what it learns from now on is meant for it.
    fn forget(&mut self, station: usize) {
        if let Some(index) = self.removed.iter().position(|removed| removed.station == station) {
            self.removed.remove(index);
            let mut enemy = self.enemy.borrow_mut();
            enemy.former.remove(index);
            enemy.removed.remove(&station);
        }
    }

    /// A member loses its power and everything but what has to be kept.
    fn reboot(&mut self) {
        let station = 1 + below(&mut self.rng, self.n);
        if !self.is_present(station) {
            return;
        }
        let persisted = self.bus.member(station).persisted();
        let roster = roster::<Swift>(LEAD, 1, self.n);
        let tree = Tree::new(&roster, self.scheme, self.spare).unwrap();
        let mut config = config(self.settings, &roster, &tree, Address(station as u8));
        self.lives += 1;
        config.seed[2] = self.lives;
        let member = Member::new(config).unwrap().restored(&persisted);
        self.bus.replace(station, Station::Member(Box::new(member)));
    }

    // ---- what has to hold

    fn look_around(&mut self) {
        {
            let mut enemy = self.enemy.borrow_mut();
            enemy.tree = self.bus.orchestrator().tree().clone();
            for (removed, former) in self.removed.iter_mut().zip(&mut enemy.former) {
                former.gained.drain(..).for_each(|secret| removed.knowledge.take(secret));
            }
        }
        while let Some(installed) = self.bus.installed.get(self.judged).copied() {
            self.judged += 1;
            if self.is_present(installed.station) {
                self.judge(installed);
            }
        }
    }

    fn judge(&mut self, installed: Installed) {
        let Installed { station, epoch, key } = installed;
        if *self.keys_of.entry(epoch).or_insert(key) != key {
            self.fail("members have different keys of one epoch");
        }
        for index in 0..self.removed.len() {
            let removed = &mut self.removed[index];
            if epoch <= removed.epoch {
                continue;
            }
            for heard in &self.bus.heard[removed.heard..] {
                if heard.identifier().is_some_and(|identifier| identifier.step != Step::Distribution) {
                    removed.knowledge.hear(&heard.frame);
                }
            }
            removed.heard = self.bus.heard.len();
            removed.knowledge.derive_all();
            if removed.keys.contains(&key) {
                self.fail("a key from before a removal is taken into use after it");
            } else if removed.knowledge.gives(&key) {
                self.fail("a removed member can derive a new key");
            }
        }
        if self.settings.installation == Installation::Unconfirmed {
            return;
        }
        let of_orchestrator = self.bus.installed[..self.judged].iter().rev().find(|other| other.station == 0);
        let Some(of_orchestrator) = of_orchestrator.copied() else {
            return self.fail("a key is taken into use that the orchestrator has not confirmed");
        };
        if epoch < of_orchestrator.epoch {
            self.fail("a key is taken into use that is older than the confirmed one");
        } else if of_orchestrator.epoch != epoch || of_orchestrator.key != key {
            self.fail("a key is taken into use that the orchestrator has not confirmed");
        }
        if station == 0 {
            let agreed = |index: usize| {
                let is_it = |event: &chronoseal_core::Event| {
                    event.kind == EventKind::KeyAgreed && event.sequence == u64::from(epoch)
                };
                self.bus.events.iter().any(|(from, event)| *from == index && is_it(event))
            };
            if !(1..=self.n).filter(|index| self.is_present(*index)).all(agreed) {
                self.fail("a key is confirmed that a member has not agreed on");
            }
        }
    }

    /// After a removal that failed nobody uses the key of the node to be removed, where that was chosen.
    fn check_closed(&mut self) {
        let is_closed = self.settings.failed_removal == FailedRemoval::Closed;
        if !is_closed || self.bus.station(0).key().is_some() || self.bus.count(EventKind::KeyWithdrawn) == 0 {
            return;
        }
        let cut_off = self.enemy.borrow().cut_off.clone();
        let open = (1..=self.n).filter(|index| self.is_present(*index) && !cut_off.contains(index));
        if open.into_iter().any(|index| self.bus.station(index).key().is_some()) {
            self.fail("a member goes on with a key that was withdrawn");
        }
    }

    fn check_success(&mut self, before: usize) {
        let last = self.bus.installed[before..].iter().rev().find(|installed| installed.station == 0).copied();
        let Some(last) = last else {
            return self.fail("the next change fails though the enemy is silent");
        };
        if (0..=self.n).any(|index| self.is_present(index) && self.bus.station(index).key() != Some(last.key)) {
            self.fail("the next change leaves a member without the key though the enemy is silent");
        }
    }
}
