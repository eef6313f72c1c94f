//! Who stands between the bus and every station, and has removed nodes on its side.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use chronoseal_core::random::{ChaCha8Rng, Rng};
use chronoseal_groupkey::adversary::{Answer, Insider};
use chronoseal_groupkey::frame_count::message_len;
use chronoseal_groupkey::{Address, Identifier, Profile, Side, Step, Transport, Tree};
use chronoseal_wire::can::{CanFrame, CanId, Dlc};

use super::coverage::{Action, Coverage};
use super::plan::Return;
use crate::bus::{Heard, Interference};
use crate::swift::Swift;
use chronoseal_crypto::suite::Suite;

/// Messages that are kept to be repeated.
const RECORDED_MAX: usize = 600;

/// A number below `limit`.
pub fn below(rng: &mut ChaCha8Rng, limit: usize) -> usize {
    (rng.next_u64() % limit.max(1) as u64) as usize
}

pub fn one_in(rng: &mut ChaCha8Rng, n: usize) -> bool {
    below(rng, n) == 0
}

/// A removed node, and what it can answer with.
pub struct Former {
    pub insider: Insider<Swift>,
    /// What it held of each logical ECU, the oldest first.
    pub held: BTreeMap<Address, Vec<[u8; 32]>>,
    /// Its answers that wait for the other side's share.
    open: Vec<(Identifier, Answer)>,
    /// Secrets that it shares with whoever believed it.
    pub gained: Vec<[u8; 32]>,
}

impl Former {
    pub fn new(insider: Insider<Swift>) -> Self {
        Self { insider, held: BTreeMap::new(), open: Vec::new(), gained: Vec::new() }
    }
}

pub struct Enemy {
    pub rng: ChaCha8Rng,
    pub coverage: Coverage,
    pub is_active: bool,
    /// It acts on one in so many frames for each station.
    pub patience: usize,
    pub transport: Transport,
    /// As the orchestrator knows it.
    pub tree: Tree,
    pub former: Vec<Former>,
    /// Stations that nobody protects any more.
    pub removed: BTreeSet<usize>,
    /// Stations from which a withdrawal was kept.
    pub cut_off: BTreeSet<usize>,
    recorded: VecDeque<(Identifier, Vec<CanFrame>)>,
    /// A message of several frames being recorded.
    open: BTreeMap<Identifier, Vec<CanFrame>>,
    held_back: BTreeMap<usize, CanFrame>,
    /// What it does to the frame that is being delivered, for everybody.
    for_all: Option<Action>,
    last_to: usize,
    /// What it does on purpose.
    pub plan: Option<Return>,
    pub profile: Profile,
}

impl Enemy {
    pub fn new(rng: ChaCha8Rng, profile: Profile, transport: Transport, tree: Tree) -> Self {
        Self {
            rng,
            coverage: Coverage::default(),
            is_active: false,
            patience: 10,
            transport,
            tree,
            former: Vec::new(),
            removed: BTreeSet::new(),
            cut_off: BTreeSet::new(),
            recorded: VecDeque::new(),
            open: BTreeMap::new(),
            held_back: BTreeMap::new(),
            for_all: None,
            last_to: usize::MAX,
            plan: None,
            profile,
        }
    }

    /// From now on everybody gets what others send, and nothing else.
    pub fn be_silent(&mut self) {
        self.is_active = false;
        self.held_back.clear();
    }

    fn choose(&mut self, step: Step, is_busy: bool) -> Option<Action> {
        let action = Action::ALL[below(&mut self.rng, 5)];
        // What was tried seldom is tried more often, and so is what happens between two runs, where less is on the bus.
        let is_rare = self.coverage.cell(step, action, is_busy) < self.coverage.steps() / 1000;
        let patience = if is_rare || !is_busy { self.patience / 4 + 1 } else { self.patience };
        one_in(&mut self.rng, patience).then_some(action)
    }

    fn mutated(&mut self, frame: &CanFrame) -> CanFrame {
        let mut data = frame.data().to_vec();
        if let Some(last) = data.len().checked_sub(1) {
            let at = below(&mut self.rng, last + 1);
            data[at] ^= 1 << below(&mut self.rng, 8);
        }
        self.frame(frame.id(), &data)
    }

    fn truncated(&mut self, frame: &CanFrame) -> CanFrame {
        let len = below(&mut self.rng, frame.data().len());
        self.frame(frame.id(), &frame.data()[..len])
    }

    fn frame(&self, id: CanId, data: &[u8]) -> CanFrame {
        match self.transport {
            Transport::Classical => CanFrame::classical(id, data).unwrap(),
            Transport::Fd => {
                let mut padded = data.to_vec();
                padded.resize(Dlc::holding(data.len()).unwrap().fd_len(), 0);
                CanFrame::fd(id, &padded, true).unwrap()
            }
        }
    }

    /// A message in frames.
    fn message(&self, identifier: Identifier, bytes: &[u8]) -> Vec<CanFrame> {
        let id = CanId::Extended(identifier.can_id());
        bytes.chunks(self.transport.data_len_max()).map(|piece| self.frame(id, piece)).collect()
    }

    fn record(&mut self, identifier: Identifier, frame: CanFrame) {
        let frames = self.open.entry(identifier).or_default();
        frames.push(frame);
        // A frame that is not full is the last one, and so is one that makes the message as long as any.
        let is_last = frame.data().len() < self.transport.data_len_max();
        let len: usize = frames.iter().map(|frame| frame.data().len()).sum();
        if is_last || [32, 64, 96].contains(&len) {
            let message = frames.clone();
            if is_last || len >= 96 {
                self.open.remove(&identifier);
            }
            self.recorded.push_back((identifier, message));
            if self.recorded.len() > RECORDED_MAX {
                self.recorded.pop_front();
            }
        }
    }

    /// A recorded message for which this holds; rather an old one than a new one.
    fn recall(&mut self, fits: impl Fn(&Identifier) -> bool) -> Option<Vec<CanFrame>> {
        let fitting: Vec<usize> = (0..self.recorded.len()).filter(|index| fits(&self.recorded[*index].0)).collect();
        let newest = 1 + below(&mut self.rng, fitting.len());
        let index = *fitting.get(below(&mut self.rng, newest))?;
        Some(self.recorded[index].1.clone())
    }

    /// Something for the bus at any time.
    pub fn inject(&mut self, is_busy: bool) -> Vec<CanFrame> {
        let step = Step::ALL[below(&mut self.rng, Step::ALL.len())];
        let frames = match below(&mut self.rng, 8) {
            // Anything of any time.
            0..=2 => self.recall(|_| true),
            3 => self.recall(|identifier| identifier.step == step),
            // A master secret of earlier, and what installed it.
            4 => {
                let is_delivery = |index: &usize| self.recorded[*index].0.step == Step::Distribution;
                let deliveries: Vec<usize> = (0..self.recorded.len()).filter(is_delivery).collect();
                let delivery = deliveries.get(below(&mut self.rng, deliveries.len())).copied();
                delivery.map(|delivery| {
                    let later = self.recorded.iter().skip(delivery);
                    let commit =
                        later.filter(|(identifier, _)| identifier.step == Step::Commit).map(|(_, frames)| frames);
                    let frames = [&self.recorded[delivery].1].into_iter().chain(commit.take(1)).flatten();
                    frames.copied().collect()
                })
            }
            5 => self.recall(|_| true).map(|frames| frames.iter().map(|frame| self.mutated(frame)).collect()),
            // Nobody's: the addresses of something that was, and another step.
            6 => {
                let like = self.recall(|_| true).and_then(|frames| identifier_of(frames.first()?));
                like.map(|like| {
                    let len = [3, 16, 32, 64, 72, 88, 96, 120][below(&mut self.rng, 8)];
                    let fill = if one_in(&mut self.rng, 2) { 0 } else { self.rng.next_u64() as u8 };
                    self.message(Identifier { step, ..like }, &[fill; 120][..len])
                })
            }
            _ => {
                let reason = self.rng.next_u64() as u8 % 19;
                let like = self.recall(|identifier| identifier.step == Step::Orchestration);
                like.and_then(|frames| identifier_of(frames.first()?)).map(|like| {
                    let reporter = like.first.0;
                    self.message(Identifier { step: Step::Abort, ..like }, &[reason, 1, reporter])
                })
            }
        };
        let frames = frames.unwrap_or_default();
        for frame in &frames {
            if let Some(identifier) = identifier_of(frame) {
                self.coverage.count(identifier.step, Action::Inject, is_busy);
            }
        }
        frames
    }

    /// What removed nodes say to a request, and to a share of the other side.
    fn former_answers(&mut self, identifier: Identifier, data: &[u8]) -> Vec<CanFrame> {
        let exchange = identifier.exchange();
        let mut said = Vec::new();
        let mut former = core::mem::take(&mut self.former);
        for one in &mut former {
            match identifier.step {
                Step::Orchestration => {
                    if data.len() >= 8 {
                        one.insider.hear_request(exchange, data);
                    }
                    let side = if one_in(&mut self.rng, 2) { Side::First } else { Side::Second };
                    let operand = exchange.operand(side);
                    let held = one.held.get(&operand).cloned().unwrap_or_default();
                    // What it held, or something new if it may answer for itself or for who stands in its place.
                    let secret = match held.len() {
                        0 => [self.rng.next_u64() as u8; 32],
                        len => held[len - 1 - below(&mut self.rng, len)],
                    };
                    let other = if side == Side::First { Side::Second } else { Side::First };
                    let peer = self.tree.active_of(exchange, other);
                    let (answer, share) = one.insider.answer(exchange, side, secret, peer);
                    let step = if side == Side::First { Step::ShareFirst } else { Step::ShareSecond };
                    said.extend(self.message(exchange.message(step), &share));
                    let waits_for = if side == Side::First { Step::ShareSecond } else { Step::ShareFirst };
                    one.open.push((exchange.message(waits_for), answer));
                    if one.open.len() > 4 {
                        one.open.remove(0);
                    }
                }
                Step::ShareFirst | Step::ShareSecond => {
                    let Some(index) = one.open.iter().position(|(waits_for, _)| *waits_for == identifier) else {
                        continue;
                    };
                    let (_, answer) = one.open.remove(index);
                    if let Some((confirmation, secret)) = one.insider.confirm(&answer, data) {
                        let mine = if identifier.step == Step::ShareSecond {
                            Step::ConfirmationFirst
                        } else {
                            Step::ConfirmationSecond
                        };
                        said.extend(self.message(exchange.message(mine), &confirmation));
                        one.gained.push(secret);
                    }
                }
                _ => {}
            }
        }
        self.former = former;
        said
    }

    /// What the renewed half of an exchange said in an earlier epoch.
    fn repeated_half(&mut self, identifier: Identifier) -> Vec<CanFrame> {
        let steps = if one_in(&mut self.rng, 2) {
            [Step::ShareFirst, Step::ConfirmationFirst]
        } else {
            [Step::ShareSecond, Step::ConfirmationSecond]
        };
        // Of the same epoch.
        let age = below(&mut self.rng, 3);
        let mut said = Vec::new();
        for step in steps {
            let wanted = Identifier { step, ..identifier };
            let known = self.recorded.iter().rev().filter(|(known, _)| *known == wanted);
            said.extend(known.map(|(_, frames)| frames).nth(age).into_iter().flatten().copied());
        }
        said
    }
}

pub fn identifier_of(frame: &CanFrame) -> Option<Identifier> {
    match frame.id() {
        CanId::Extended(id) => Identifier::from_can_id(id),
        CanId::Standard(_) => None,
    }
}

impl Interference for Enemy {
    fn deliver(&mut self, heard: &Heard, to: usize, is_busy: bool) -> Vec<CanFrame> {
        let mut frames = Vec::new();
        let identifier = heard.identifier().filter(|_| self.is_active && !self.removed.contains(&to));
        let Some(identifier) = identifier else {
            frames.push(heard.frame);
            return frames;
        };
        let is_own = heard.from == usize::MAX;
        if self.plan.as_ref().is_some_and(|plan| !is_own && plan.keeps(identifier, to)) {
            self.coverage.count(identifier.step, Action::Drop, is_busy);
            return frames;
        }
        if to <= self.last_to {
            self.for_all = one_in(&mut self.rng, 4).then(|| self.choose(identifier.step, is_busy)).flatten();
        }
        self.last_to = to;
        let action = self.for_all.or_else(|| self.choose(identifier.step, is_busy));
        let held_back = self.held_back.remove(&to);
        match action {
            None | Some(Action::Inject) => frames.push(heard.frame),
            Some(Action::Drop) => {}
            Some(Action::Repeat) => frames.extend([heard.frame; 2]),
            Some(Action::Reorder) => {
                self.held_back.insert(to, heard.frame);
            }
            Some(Action::Truncate) if heard.frame.data().is_empty() => frames.push(heard.frame),
            Some(Action::Truncate) => frames.push(self.truncated(&heard.frame)),
            Some(Action::Mutate) => frames.push(self.mutated(&heard.frame)),
        }
        frames.extend(held_back);
        if let Some(action) = action {
            self.coverage.count(identifier.step, action, is_busy);
            if identifier.step == Step::Withdrawal && action != Action::Repeat {
                self.cut_off.insert(to);
            }
        }
        frames
    }

    fn answer(&mut self, heard: &Heard, is_busy: bool) -> Vec<CanFrame> {
        let Some(identifier) = heard.identifier() else { return Vec::new() };
        self.record(identifier, heard.frame);
        if !self.is_active || heard.from == usize::MAX {
            return Vec::new();
        }
        let len = message_len(identifier.step, self.profile, Swift::SHARE_LEN);
        let planned = self.plan.as_mut().map(|plan| plan.hear(identifier, heard.frame, len)).unwrap_or_default();
        if !planned.is_empty() {
            for identifier in planned.iter().filter_map(identifier_of) {
                self.coverage.count(identifier.step, Action::Inject, is_busy);
            }
            return planned;
        }
        let said = match identifier.step {
            Step::Orchestration if one_in(&mut self.rng, 3) => self.repeated_half(identifier),
            Step::Orchestration | Step::ShareFirst | Step::ShareSecond if one_in(&mut self.rng, 2) => {
                self.former_answers(identifier, heard.frame.data())
            }
            _ if one_in(&mut self.rng, 12) => return self.inject(is_busy),
            _ => Vec::new(),
        };
        for frame in &said {
            if let Some(identifier) = identifier_of(frame) {
                self.coverage.count(identifier.step, Action::Inject, is_busy);
            }
        }
        said
    }
}
