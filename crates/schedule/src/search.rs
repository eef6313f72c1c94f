//! The search: earliest fit in an order, then repair, then another order, within a budget of steps.

use chronoseal_core::random::{Purpose, stream as random_stream, uniform_i64};

use crate::board::{Blocked, Board, Placed};
use crate::network::{Problem, gcd};
use crate::proof::prove;
use crate::route::Routes;
use crate::shape::Shape;

/// How hard to search. The same options give the same schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Routes that are tried for a stream whose route is not given.
    pub routes: usize,
    /// How often a resource may be asked whether a span is free.
    pub steps: u64,
    /// Of the choices that are made by chance.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { routes: 4, steps: 5_000_000, seed: 1 }
    }
}

/// Which of a stream's routes is tried first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    Shortest,
    LeastLoaded,
}

/// Places that are weighed for a stream that fits nowhere, for each of its routes.
const SAMPLES: i64 = 12;
/// What one repair may ask for each stream of the problem, and at least, before another order is tried.
const REPAIR_STEPS_PER_STREAM: u64 = 2_000;
const REPAIR_STEPS_MIN: u64 = 200_000;

/// A schedule in the making.
pub(crate) struct Search<'a> {
    problem: &'a Problem,
    options: Options,
    routes: Routes,
    pub(crate) board: Board,
    /// The routes of each stream; only the first until that one fails.
    shapes: Vec<Vec<Shape>>,
    is_complete: Vec<bool>,
    pub(crate) placed: Vec<Option<(usize, Placed)>>,
    /// Who takes something of each resource.
    users: Vec<Vec<usize>>,
    load: Vec<i128>,
    policy: Policy,
}

/// The board of a network: a resource for each link, then one for each processor.
pub(crate) fn board(problem: &Problem, cycle: i64) -> Board {
    let network = problem.network();
    let resources = network.links().len() + network.nodes().len();
    let mut board = Board::new(resources, cycle).with_grain(network.granularity.as_ps());
    for (number, link) in network.links().iter().enumerate() {
        if let Some(entries_max) = link.gate_entries_max {
            board.limit_entries(number, entries_max, network.lead(number));
        }
    }
    board
}

impl<'a> Search<'a> {
    pub(crate) fn new(problem: &'a Problem, options: Options) -> Self {
        let count = problem.streams().len();
        let board = board(problem, problem.hyperperiod().as_ps());
        let resources = problem.network().links().len() + problem.network().nodes().len();
        Self {
            problem,
            options,
            routes: Routes::default(),
            board,
            shapes: vec![Vec::new(); count],
            is_complete: vec![false; count],
            placed: vec![None; count],
            users: vec![Vec::new(); resources],
            load: vec![0; resources],
            policy: Policy::Shortest,
        }
    }

    /// Places everything, or gives the streams without a place of the first attempt, with what was in their way.
    pub(crate) fn run(&mut self) -> Result<(), Vec<(usize, Blocked)>> {
        let mut rng = random_stream(self.options.seed, Purpose::Phase, 0);
        let mut first_failed = None;
        for number in 0..self.placed.len() {
            let first = self.routes.first(self.problem.network(), &self.problem.streams()[number]);
            self.know(number, first.as_slice());
        }
        let mut order = self.order(0);
        for round in 0.. {
            let failed = self.greedy(&order);
            let numbers: Vec<usize> = failed.iter().map(|(number, _)| *number).collect();
            let first_failed = &*first_failed.get_or_insert(failed);
            if numbers.is_empty() {
                return Ok(());
            }
            if round == 0 && prove(self.problem).is_some() {
                return Err(first_failed.clone());
            }
            let steps = REPAIR_STEPS_MIN.max(REPAIR_STEPS_PER_STREAM * self.placed.len() as u64);
            let until = (self.board.work() + steps).min(self.options.steps);
            if self.repair(numbers.clone(), until, &mut rng) {
                return Ok(());
            }
            if self.board.work() >= self.options.steps || !self.has_choice(&numbers) {
                return Err(first_failed.clone());
            }
            // What found no place comes first in the next order, or the next kind of order is taken.
            let left: Vec<usize> = (0..self.placed.len()).filter(|number| self.placed[*number].is_none()).collect();
            if round % 3 < 2 {
                self.policy = if round % 2 == 0 { Policy::LeastLoaded } else { Policy::Shortest };
                order = self.order(round as u64 % 3 + 1);
            }
            order.retain(|number| !left.contains(number));
            order.splice(0..0, left);
            self.clear();
        }
        unreachable!("the steps run out")
    }

    /// False if a stream without a place could not have one even on an empty board.
    fn has_choice(&mut self, failed: &[usize]) -> bool {
        failed.iter().all(|&number| {
            self.complete(number);
            let cycle = self.problem.hyperperiod().as_ps();
            self.shapes[number].iter().any(|shape| board(self.problem, cycle).place(&shape.item).is_ok())
        })
    }

    fn clear(&mut self) {
        for number in 0..self.placed.len() {
            self.take_out(number);
        }
    }

    /// Streams with a given offset first, then by period and by how much of the network they take.
    fn order(&self, kind: u64) -> Vec<usize> {
        let streams = self.problem.streams();
        let mut order: Vec<usize> = (0..streams.len()).collect();
        order.sort_by_cached_key(|number| {
            let stream = &streams[*number];
            let hops = self.shapes[*number].first().map_or(1, |shape| shape.hops.len() as i64);
            let size = i64::from(stream.secured_len()) * hops;
            let (period, slack) = (stream.period.as_ps(), stream.deadline.as_ps());
            let key = match kind {
                0 => (period, -size),
                1 => (-size, period),
                2 => (slack, -size),
                _ => (-hops, period),
            };
            (stream.offset.is_none(), key, *number)
        });
        order
    }

    /// One earliest fit after another; what fits nowhere is left out.
    fn greedy(&mut self, order: &[usize]) -> Vec<(usize, Blocked)> {
        let mut failed = Vec::new();
        for &number in order {
            if let Err(blocked) = self.place(number) {
                failed.push((number, blocked));
            }
        }
        failed
    }

    /// The routes of a stream, as many as are wanted.
    fn complete(&mut self, number: usize) {
        if !self.is_complete[number] {
            let (network, stream) = (self.problem.network(), &self.problem.streams()[number]);
            let all = self.routes.all(network, stream, self.options.routes);
            self.know(number, &all);
            self.is_complete[number] = true;
            // A search for a way looks at all of the network, from each node of each way.
            let looked =
                self.options.routes * (1 + self.shapes[number][..].iter().map(|shape| shape.hops.len()).sum::<usize>());
            self.board.charge((looked * network.links().len()) as u64);
        }
    }

    /// Looks for a route around what is full; false if there is none that is not known.
    fn lighten(&mut self, number: usize) -> bool {
        let (network, stream) = (self.problem.network(), &self.problem.streams()[number]);
        if stream.route.is_some() || self.options.routes <= 1 {
            return false;
        }
        let Some(route) = Routes::lightest(network, stream, &self.load, self.board.cycle()) else { return false };
        self.know(number, &[route])
    }

    /// Keeps the shapes of these routes that are in time and not known yet; false if there is none.
    fn know(&mut self, number: usize, routes: &[Vec<usize>]) -> bool {
        let before = self.shapes[number].len();
        for shape in shapes(self.problem, number, routes) {
            if !self.shapes[number].iter().any(|known| known.hops == shape.hops) {
                self.shapes[number].push(shape);
            }
        }
        self.shapes[number].len() > before
    }

    fn place(&mut self, number: usize) -> Result<(), Blocked> {
        if self.policy == Policy::LeastLoaded {
            self.complete(number);
        }
        let mut tried = 0;
        let mut last = Blocked::TooLong;
        loop {
            let mut choice: Vec<usize> = (tried..self.shapes[number].len()).collect();
            if self.policy == Policy::LeastLoaded {
                choice.sort_by_key(|shape| (self.load_of(&self.shapes[number][*shape]), *shape));
            }
            for shape in choice {
                match self.board.place(&self.shapes[number][shape].item) {
                    Ok(placed) => {
                        self.take_in(number, shape, placed);
                        return Ok(());
                    }
                    Err(blocked) => last = blocked,
                }
            }
            if self.is_complete[number] {
                return Err(last);
            }
            // The first route has failed; one around what is full comes after it, and then the others.
            tried = self.shapes[number].len();
            if tried > 1 || !self.lighten(number) {
                self.complete(number);
            }
        }
    }

    fn load_of(&self, shape: &Shape) -> i128 {
        shape.hops.iter().map(|hop| self.load[hop.link]).max().unwrap_or_default()
    }

    fn take_in(&mut self, number: usize, shape: usize, placed: Placed) {
        let item = &self.shapes[number][shape].item;
        let instances = i128::from(self.board.cycle() / item.period);
        for (resource, len) in resources(item) {
            self.users[resource].push(number);
            self.load[resource] += i128::from(len) * instances;
        }
        self.placed[number] = Some((shape, placed));
    }

    fn take_out(&mut self, number: usize) {
        let Some((shape, placed)) = self.placed[number].take() else { return };
        let item = &self.shapes[number][shape].item;
        let instances = i128::from(self.board.cycle() / item.period);
        self.board.remove(item, &placed);
        for (resource, len) in resources(item) {
            let at = self.users[resource].iter().position(|user| *user == number).expect("it was taken in");
            self.users[resource].swap_remove(at);
            self.load[resource] -= i128::from(len) * instances;
        }
    }

    /// Makes room for what has no place by taking others out, who then look for another place themselves. Streams that
    /// were taken out often are taken out less. True if all have a place.
    fn repair(&mut self, failed: Vec<usize>, until: u64, rng: &mut impl chronoseal_core::random::Rng) -> bool {
        let mut waiting = std::collections::VecDeque::from(failed);
        let mut weights = vec![1u64; self.placed.len()];
        while let Some(number) = waiting.pop_front() {
            if self.place(number).is_ok() {
                continue;
            }
            if self.board.work() >= until {
                return false;
            }
            let Some((shape, start, blockers)) = self.cheapest(number, &weights, rng) else { return false };
            for &blocker in &blockers {
                self.take_out(blocker);
                weights[blocker] += 1;
            }
            let mut item = self.shapes[number][shape].item.clone();
            (item.first, item.last) = (start, start);
            match self.board.place(&item) {
                Ok(placed) => self.take_in(number, shape, placed),
                Err(_) => {
                    weights[number] += 1;
                    waiting.push_back(number);
                }
            }
            waiting.extend(blockers);
        }
        true
    }

    /// Where a stream would take out the least, of places drawn by chance: anywhere, or right after another frame.
    fn cheapest(
        &mut self,
        number: usize,
        weights: &[u64],
        rng: &mut impl chronoseal_core::random::Rng,
    ) -> Option<(usize, i64, Vec<usize>)> {
        self.complete(number);
        let mut best: Option<(u64, usize, i64, Vec<usize>)> = None;
        for shape in 0..self.shapes[number].len() {
            let item = self.shapes[number][shape].item.clone();
            if item.uses.iter().any(|usage| usage.len > item.period - item.jitter) {
                continue;
            }
            for sample in 0..SAMPLES {
                let mut start = uniform_i64(rng, item.first, item.last);
                if sample % 2 == 1 {
                    let usage = item.uses[uniform_i64(rng, 0, item.uses.len() as i64 - 1) as usize];
                    let spans = self.board.part(usage.resource);
                    if !spans.is_empty() {
                        let span = spans[uniform_i64(rng, 0, spans.len() as i64 - 1) as usize];
                        start = (span.1 - usage.from).rem_euclid(item.period).clamp(item.first, item.last);
                    }
                }
                start -= start.rem_euclid(self.problem.network().granularity.as_ps().max(1));
                if start < item.first {
                    continue;
                }
                let blockers = self.blockers(number, shape, start);
                let cost = blockers.iter().map(|blocker| weights[*blocker] * self.size(*blocker)).sum();
                // Whom it was held against is effort as well.
                let asked: usize = item.uses.iter().map(|usage| self.users[usage.resource].len()).sum();
                self.board.charge(1 + asked as u64);
                if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                    best = Some((cost, shape, start, blockers));
                }
            }
        }
        best.map(|(_, shape, start, blockers)| (shape, start, blockers))
    }

    /// How much a stream takes, for comparison.
    fn size(&self, number: usize) -> u64 {
        let Some((shape, placed)) = &self.placed[number] else { return 0 };
        self.shapes[number][*shape].hops.len() as u64 * placed.starts.len() as u64
    }

    /// Who is in the way of a stream at this start.
    fn blockers(&self, number: usize, shape: usize, start: i64) -> Vec<usize> {
        let item = &self.shapes[number][shape].item;
        let mut found: Vec<usize> = Vec::new();
        for usage in &item.uses {
            for &user in &self.users[usage.resource] {
                if !found.contains(&user)
                    && self.meets(item.period, usage.resource, start + usage.from, usage.len, user)
                {
                    found.push(user);
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// True if a span that repeats with `period` meets one of a user's.
    fn meets(&self, period: i64, resource: usize, from: i64, len: i64, user: usize) -> bool {
        let Some((shape, placed)) = &self.placed[user] else { return false };
        let item = &self.shapes[user][*shape].item;
        let overlaps = |start: i64, length: i64, common: i64| {
            let apart = (start - from).rem_euclid(common);
            apart < len || common - apart < length
        };
        let common = gcd(period, item.period);
        for usage in item.uses.iter().filter(|usage| usage.resource == resource) {
            // With jitter each of its instances is somewhere else.
            let starts = if item.jitter == 0 { &placed.starts[..1] } else { &placed.starts[..] };
            let common = if item.jitter == 0 { common } else { period };
            if starts.iter().any(|start| overlaps(start + usage.from, usage.len, common)) {
                return true;
            }
        }
        let floats = item.floats.iter().zip(placed.floats.chunks(placed.starts.len()));
        let mut floats = floats.filter(|(float, _)| float.resource == resource);
        floats.any(|(float, starts)| starts.iter().any(|start| overlaps(*start, float.len, period)))
    }

    /// The streams with their routes and places.
    pub(crate) fn finish(self) -> (Board, Vec<(Shape, Placed)>) {
        let placed = self.placed.into_iter().zip(self.shapes);
        let placed = placed.map(|(placed, mut shapes)| {
            let (shape, placed) = placed.expect("all have a place");
            (shapes.swap_remove(shape), placed)
        });
        (self.board, placed.collect())
    }
}

/// The shapes of the routes that are in time.
fn shapes(problem: &Problem, number: usize, routes: &[Vec<usize>]) -> Vec<Shape> {
    let stream = &problem.streams()[number];
    let shapes = routes.iter().map(|route| Shape::of(problem.network(), stream, route));
    shapes.filter(|shape| shape.latency <= stream.deadline.as_ps()).collect()
}

/// Each resource an item takes something of, and how much an instance takes.
fn resources(item: &crate::board::Item) -> impl Iterator<Item = (usize, i64)> + '_ {
    let uses = item.uses.iter().map(|usage| (usage.resource, usage.len));
    uses.chain(item.floats.iter().map(|float| (float.resource, float.len)))
}
