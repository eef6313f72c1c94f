//! One group, its changes, and what has to hold meanwhile.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use chronoseal_core::random::{ChaCha8Rng, Rng};
use chronoseal_core::{Duration, EventKind};
use chronoseal_groupkey::{
    Address, FailedRemoval, Installation, MembershipChange, Operation, OrchestrationSigning, Profile, Scheme, Settings,
    SpareNode, Transport, Tree,
};
use rand_core::SeedableRng;

use super::changes::{Removed, Returned};
use super::coverage::Coverage;
use super::enemy::{Enemy, below, one_in};
use super::plan::Return;
use crate::bus::{self, Bus, Installed, LEAD, roster, stations};
use crate::swift::Swift;

/// Time in which a change succeeds once the enemy is silent and the run under way has ended.
pub const CHANGE_TIME: Duration = Duration::from_s(20);
/// Time in which a run ends at the latest once the enemy is silent.
const RUN_TIME: Duration = Duration::from_s(90);
const SLICE: Duration = Duration::from_ms(20);

pub struct Outcome {
    pub coverage: Coverage,
    pub profile: Profile,
    pub failures: Vec<String>,
    pub keys: u64,
}

pub(super) struct Episode {
    pub(super) rng: ChaCha8Rng,
    pub(super) bus: Bus<Swift>,
    pub(super) enemy: Rc<RefCell<Enemy>>,
    pub(super) settings: Settings,
    pub(super) n: usize,
    pub(super) removed: Vec<Removed>,
    pub(super) returned: Vec<Returned>,
    /// Stations whose credential is revoked.
    pub(super) revoked: BTreeSet<usize>,
    scheme: Scheme,
    failures: Vec<String>,
    /// Installations that have been judged.
    judged: usize,
    keys_of: BTreeMap<u32, [u8; 16]>,
    /// Stations that lost their power, in order.
    pub(super) rebooted: Vec<usize>,
}

pub(super) fn pick<T: Copy>(rng: &mut ChaCha8Rng, choices: &[T]) -> T {
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
    let roster = roster::<Swift>(LEAD, 1, n);
    let mut tree = Tree::new(&roster, scheme, spare).unwrap();
    // Some groups begin without some of their nodes, which wait on the bus with the enemy and come in later.
    let absent: Vec<usize> = match below(&mut rng, 3) {
        0 => (2..=n).filter(|_| one_in(&mut rng, 2)).collect(),
        _ => Vec::new(),
    };
    absent.iter().for_each(|station| tree.apply(MembershipChange::Vacated(Address(*station as u8))));
    let mut bus = Bus::new(stations(settings, &roster, &tree));
    for index in 0..=n {
        let costs = [bus::free, |_: &str| Duration::from_us(500), |_: &str| Duration::from_ms(4)];
        bus.set_cost(index, pick(&mut rng, &costs));
    }
    let enemy = Enemy::new(ChaCha8Rng::seed_from_u64(rng.next_u64()), profile, transport, tree);
    let enemy = Rc::new(RefCell::new(enemy));
    bus.interference = Some(enemy.clone());
    let mut episode = Episode {
        rng,
        bus,
        enemy,
        settings,
        n,
        removed: Vec::new(),
        returned: Vec::new(),
        revoked: BTreeSet::new(),
        scheme,
        failures: Vec::new(),
        judged: 0,
        keys_of: BTreeMap::new(),
        rebooted: Vec::new(),
    };
    absent.iter().for_each(|station| episode.remember(*station));
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
        self.check_what_was_missed();
    }

    /// The enemy follows a plan against one member, while it does little else.
    fn bring_a_key_back(&mut self) {
        let mut present: Vec<usize> = (1..=self.n).filter(|index| self.is_present(*index)).collect();
        if present.len() < 2 {
            return;
        }
        let victim = present.remove(below(&mut self.rng, present.len()));
        let removed = pick(&mut self.rng, &present);
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

    pub(super) fn fail(&mut self, what: &str) {
        let installation = match self.settings.installation {
            Installation::Confirmed => "confirmed",
            Installation::Unconfirmed => "unconfirmed",
        };
        self.failures.push(format!("{what} ({}, {installation})", self.scheme.name()));
    }

    pub(super) fn is_present(&self, station: usize) -> bool {
        station == 0 || self.bus.orchestrator().tree().is_present(Address(station as u8))
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
            removed.record(&self.bus);
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
