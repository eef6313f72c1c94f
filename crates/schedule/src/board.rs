//! Reserving spans of resources, strictly periodically and at the earliest fit.
//!
//! A board knows neither frames nor links. Whoever uses it says what one instance of an item needs of which resource,
//! relative to the start of the instance; a network with its routes ([`crate::synthesize`]) and the slots of one switch with
//! processors both do.

use crate::network::gcd;
use crate::timeline::Timeline;

/// A span of one resource, from the start of an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Use {
    /// Which resource.
    pub resource: usize,
    /// Where it begins; may be before the start `[ps]`.
    pub from: i64,
    /// How long it is `[ps]`.
    pub len: i64,
}

/// Time of one resource that is needed somewhere between two instants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Float {
    /// Which resource.
    pub resource: usize,
    /// Not before this, from the start of the instance `[ps]`.
    pub after: i64,
    /// How long it is `[ps]`.
    pub len: i64,
    /// Over by then.
    pub limit: Limit,
}

/// When a [`Float`] has to be over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// From the start of the instance `[ps]`: another start moves it.
    FromStart(i64),
    /// From the beginning of the instance's period `[ps]`: no start moves it.
    FromPeriod(i64),
}

/// What repeats with a period.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Item {
    /// Its period, a whole part of the board's cycle `[ps]`.
    pub period: i64,
    /// Where the first instance may start, from the beginning of its period `[ps]`.
    pub first: i64,
    /// Where it may start at the latest `[ps]`.
    pub last: i64,
    /// How much later than strictly periodic an instance may start `[ps]`.
    pub jitter: i64,
    /// What an instance takes.
    pub uses: Vec<Use>,
    /// What it takes somewhere.
    pub floats: Vec<Float>,
}

/// Where an item was placed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Placed {
    /// The start of each instance in a cycle `[ps]`.
    pub starts: Vec<i64>,
    /// The start of each instance's floats, the first float's instances first `[ps]`.
    pub floats: Vec<i64>,
}

/// Why an item found no place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocked {
    /// It is longer than its period or than the range of its starts.
    TooLong,
    /// A resource has no free span for a use at any start, as far as the search got.
    Use {
        /// Which resource.
        resource: usize,
    },
    /// A resource has no free time for a float.
    Float {
        /// Which resource.
        resource: usize,
        /// The time it needs `[ps]`.
        len: i64,
    },
    /// A gate control list would have too many entries.
    Entries {
        /// Whose list.
        resource: usize,
    },
}

/// The resources with what is reserved of them.
#[derive(Clone, Debug)]
pub struct Board {
    cycle: i64,
    grain: i64,
    /// Each line repeats with what was reserved on it, which is often a small part of the whole cycle.
    lines: Vec<Timeline>,
    /// How many entries the list of a resource holds, and how long before a span its gate opens `[ps]`.
    entries_max: Vec<Option<(usize, i64)>>,
    /// How often a resource was asked whether a span is free: the measure of effort.
    work: u64,
}

impl Board {
    /// `resources` with nothing reserved, which repeat every `cycle` `[ps]`.
    pub fn new(resources: usize, cycle: i64) -> Self {
        Self { cycle, grain: 1, lines: vec![Timeline::new(1); resources], entries_max: vec![None; resources], work: 0 }
    }

    /// Items start at whole multiples of `grain` `[ps]`.
    #[must_use]
    pub fn with_grain(mut self, grain: i64) -> Self {
        self.grain = grain.max(1);
        self
    }

    /// The spans of `resource` are the windows of a gate control list that holds so many entries, and whose gate opens `lead`
    /// before them `[ps]`.
    pub fn limit_entries(&mut self, resource: usize, entries_max: usize, lead: i64) {
        self.entries_max[resource] = Some((entries_max, lead));
    }

    /// After this everything repeats `[ps]`.
    pub fn cycle(&self) -> i64 {
        self.cycle
    }

    /// How often a resource was asked whether a span is free.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Counts effort that was spent beside the board.
    pub(crate) fn charge(&mut self, work: u64) {
        self.work += work;
    }

    /// What is reserved of a resource: start and end, `0 <= start < end <= cycle`, by start, never touching `[ps]`.
    pub fn spans(&self, resource: usize) -> Vec<(i64, i64)> {
        let mut line = self.lines[resource].clone();
        line.unfold(self.cycle / line.cycle());
        line.spans().to_vec()
    }

    /// Everything repeats after a longer cycle, a multiple of the one so far `[ps]`.
    pub(crate) fn lengthen(&mut self, cycle: i64) {
        debug_assert!(cycle % self.cycle == 0, "what is reserved repeats in the longer cycle");
        self.cycle = cycle;
    }

    /// One of the parts that a resource repeats, as it is kept: start and end, by start `[ps]`.
    pub(crate) fn part(&self, resource: usize) -> &[(i64, i64)] {
        self.lines[resource].spans()
    }

    /// Places an item at its earliest fit and reserves what it takes.
    ///
    /// # Errors
    /// What was in its way. Nothing is reserved in that case.
    pub fn place(&mut self, item: &Item) -> Result<Placed, Blocked> {
        if item.jitter > 0 {
            // Without jitter is better for whoever listens, and quicker to find.
            if let Ok(placed) = self.place_with(&Item { jitter: 0, ..item.clone() }) {
                return Ok(placed);
            }
        }
        self.place_with(item)
    }

    fn place_with(&mut self, item: &Item) -> Result<Placed, Blocked> {
        let instances = self.instances(item);
        let is_long = |len: i64| len > item.period - item.jitter;
        if item.uses.iter().any(|usage| is_long(usage.len)) {
            return Err(Blocked::TooLong);
        }
        let mut first = item.first;
        loop {
            let start = self.earliest(item, instances, first)?;
            let starts = self.starts(item, instances, start);
            match self.float(item, &starts) {
                Ok(floats) => {
                    self.reserve(item, &starts);
                    return Ok(Placed { starts, floats });
                }
                // A later start moves its limit as well, up to the place where the float was free.
                Err((_, Some(later))) if start + later <= item.last => first = start + later,
                Err((blocked, _)) => return Err(blocked),
            }
        }
    }

    /// Gives back what an item took.
    pub fn remove(&mut self, item: &Item, placed: &Placed) {
        for usage in &item.uses {
            let line = &mut self.lines[usage.resource];
            for &start in placed.starts.iter().take(kept(item, line)) {
                line.release(start + usage.from, usage.len);
            }
        }
        for (float, starts) in item.floats.iter().zip(placed.floats.chunks(placed.starts.len().max(1))) {
            starts.iter().for_each(|start| self.lines[float.resource].release(*start, float.len));
        }
    }

    fn reserve(&mut self, item: &Item, starts: &[i64]) {
        for usage in &item.uses {
            let line = &mut self.lines[usage.resource];
            // With jitter no instance is where another one was a period ago.
            widen(line, if item.jitter > 0 { self.cycle } else { item.period });
            for start in starts.iter().take(kept(item, line)) {
                line.reserve(start + usage.from, usage.len);
            }
        }
    }

    fn instances(&self, item: &Item) -> i64 {
        debug_assert!(item.period > 0 && self.cycle % item.period == 0, "periods divide the cycle");
        self.cycle / item.period
    }

    /// The earliest start in `first..=item.last` at which every use of every instance is free. Each step jumps to the
    /// end of what blocks: no start before that end is free.
    fn earliest(&mut self, item: &Item, instances: i64, first: i64) -> Result<i64, Blocked> {
        let (mut start, mut blocked) = (self.round_up(first), Blocked::TooLong);
        while start <= item.last {
            let mut next = start;
            // With room for jitter an instance may be anywhere in that room, alone.
            for usage in item.uses.iter().filter(|_| item.jitter == 0) {
                let line = &self.lines[usage.resource];
                let count = distinct(item.period, line.cycle()).min(instances);
                self.work += count as u64;
                let blocked_for = line.longest_block(start + usage.from, usage.len, item.period, count);
                if start.saturating_add(blocked_for) > next {
                    (next, blocked) = (start + blocked_for, Blocked::Use { resource: usage.resource });
                }
            }
            if item.jitter > 0 {
                for k in 0..instances {
                    let (free, resource) =
                        self.earliest_instance(item, start + k * item.period, item.last + k * item.period);
                    if free > next + k * item.period + item.jitter {
                        next = free - k * item.period - item.jitter;
                        blocked = resource.map_or(blocked, |resource| Blocked::Use { resource });
                    }
                }
            }
            if next == start {
                match self.too_many_entries(item, instances, start) {
                    None => return Ok(start),
                    Some((resource, after)) => (next, blocked) = (after, Blocked::Entries { resource }),
                }
            }
            start = self.round_up(next);
        }
        Err(blocked)
    }

    /// The earliest start of a single instance, from `at` on, and what was in the way last.
    fn earliest_instance(&mut self, item: &Item, at: i64, last: i64) -> (i64, Option<usize>) {
        let (mut start, mut blocker) = (at, None);
        while start <= last.saturating_add(item.jitter) {
            let mut next = start;
            for usage in &item.uses {
                self.work += 1;
                let end = self.lines[usage.resource].blocked_until(start + usage.from, usage.len);
                if let Some(free) = end.map(|end| end - usage.from).filter(|free| *free > next) {
                    (next, blocker) = (free, Some(usage.resource));
                }
            }
            if next == start {
                break;
            }
            start = self.round_up(next);
        }
        (start, blocker)
    }

    fn starts(&mut self, item: &Item, instances: i64, start: i64) -> Vec<i64> {
        let periodic = (0..instances).map(|k| start + k * item.period);
        if item.jitter == 0 {
            return periodic.collect();
        }
        periodic.map(|at| self.earliest_instance(item, at, at).0).collect()
    }

    /// Reserves the floats of all instances, or gives what was in the way, and how much later a start might help.
    fn float(&mut self, item: &Item, starts: &[i64]) -> Result<Vec<i64>, (Blocked, Option<i64>)> {
        let mut found = Vec::with_capacity(item.floats.len() * starts.len());
        for float in &item.floats {
            for (k, &start) in starts.iter().enumerate() {
                self.work += 1;
                let limit = match float.limit {
                    Limit::FromStart(limit) => start + limit,
                    Limit::FromPeriod(limit) => k as i64 * item.period + limit,
                };
                let line = &mut self.lines[float.resource];
                widen(line, self.cycle);
                let fits = float.len <= item.period;
                let after = start + float.after;
                let free = if fits { line.earliest_gap(after, float.len, after + 2 * self.cycle) } else { None };
                match free.filter(|free| free + float.len <= limit) {
                    Some(free) => {
                        line.reserve(free, float.len);
                        found.push(free);
                    }
                    None => {
                        let later = match float.limit {
                            Limit::FromStart(_) => free.map(|free| (free + float.len - limit).max(1)),
                            Limit::FromPeriod(_) => None,
                        };
                        for (at, start) in found.iter().enumerate() {
                            let float = &item.floats[at / starts.len()];
                            self.lines[float.resource].release(*start, float.len);
                        }
                        return Err((Blocked::Float { resource: float.resource, len: float.len }, later));
                    }
                }
            }
        }
        Ok(found)
    }

    fn round_up(&self, time: i64) -> i64 {
        time + (-time).rem_euclid(self.grain)
    }

    /// If a start would make a gate control list too long: whose, and the next start at which the item touches what is
    /// reserved there already, so that it adds fewer entries.
    fn too_many_entries(&mut self, item: &Item, instances: i64, start: i64) -> Option<(usize, i64)> {
        for usage in &item.uses {
            let Some((entries_max, lead)) = self.entries_max[usage.resource] else { continue };
            let windows = (0..instances).map(|k| (start + usage.from + k * item.period, usage.len));
            self.work += instances as u64;
            let mut spans = self.spans(usage.resource);
            let whole = Timeline::new(self.cycle);
            spans.extend(windows.flat_map(|(from, len)| whole.pieces(from, len)));
            if count_entries(&opened(&spans, lead, self.cycle, self.grain), self.cycle) <= entries_max {
                continue;
            }
            // It touches a span, or the end of the cycle, where a list has an entry less as well.
            let (line, cycle) = (&self.lines[usage.resource], self.cycle);
            let to_end = |at: i64| Some(cycle - at.rem_euclid(cycle));
            let next = (0..instances)
                .flat_map(|k| {
                    let at = start + usage.from + k * item.period;
                    let (opens, over) = (at - lead, at + usage.len);
                    [line.next_end(opens), line.next_start(over + lead), to_end(opens), to_end(over)]
                })
                .flatten()
                .min();
            return Some((usage.resource, start + next.unwrap_or(cycle)));
        }
        None
    }
}

/// How many instances with this period see something else of a line that repeats after `cycle`.
fn distinct(period: i64, cycle: i64) -> i64 {
    cycle / gcd(period, cycle)
}

/// How many instances of a placed item are kept on a line: those of one of its cycles.
fn kept(item: &Item, line: &Timeline) -> usize {
    (line.cycle() / item.period) as usize
}

/// Makes a line repeat after a multiple of `period`.
fn widen(line: &mut Timeline, period: i64) {
    if line.cycle() % period != 0 {
        line.unfold(distinct(line.cycle(), period));
    }
}

/// When a gate is open that opens `lead` before each of these spans: rounded outwards to whole multiples of `grain`, and joined
/// where they touch; by start.
pub(crate) fn opened(spans: &[(i64, i64)], lead: i64, cycle: i64, grain: i64) -> Vec<(i64, i64)> {
    let whole = Timeline::new(cycle);
    let longer = |(start, end): &(i64, i64)| whole.pieces(start - lead, (end - start + lead).min(cycle));
    let mut spans: Vec<(i64, i64)> = spans.iter().flat_map(longer).collect();
    spans.sort_unstable();
    let mut windows: Vec<(i64, i64)> = Vec::with_capacity(spans.len());
    for (start, end) in spans {
        let (start, end) = (start - start.rem_euclid(grain), (end + (-end).rem_euclid(grain)).min(cycle));
        match windows.last_mut() {
            Some(last) if last.1 >= start => last.1 = last.1.max(end),
            _ => windows.push((start, end)),
        }
    }
    windows
}

/// Entries of a list that is open in `windows` and closed between them.
pub(crate) fn count_entries(windows: &[(i64, i64)], cycle: i64) -> usize {
    let (Some(first), Some(last)) = (windows.first(), windows.last()) else { return 1 };
    2 * windows.len() - 1 + usize::from(first.0 > 0) + usize::from(last.1 < cycle)
}
