//! What a station does at which time of the cluster cycle.

use chronoseal_core::Duration;

/// One thing to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    /// Make a talker's frame for one of its slots.
    Send { talker: usize, instance: usize },
    /// A listener's window closes.
    Check { listener: usize, instance: usize },
    /// Run a task.
    Task { run: usize },
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// In `0..cycle`.
    phase: Duration,
    /// How many cycles after its own the action happens; below zero if before it.
    carry: i64,
    action: Action,
}

/// Walks the actions of a cycle, over and over, and never backwards.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    cycle_len: Duration,
    entries: Vec<Entry>,
    next: usize,
    cycle: i64,
}

impl Agenda {
    pub(super) fn new(cycle_len: Duration, actions: impl Iterator<Item = (Duration, Action)>) -> Self {
        let mut entries: Vec<Entry> = actions
            .map(|(at, action)| Entry { phase: at.rem_floor(cycle_len), carry: at.div_floor(cycle_len), action })
            .collect();
        // A stable sort keeps the order of actions that share a time.
        entries.sort_by_key(|entry| entry.phase);
        Self { cycle_len, entries, next: 0, cycle: 0 }
    }

    /// True if nothing is ever due.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// When the next action is due, in cluster time.
    pub(super) fn next_at(&self) -> Option<Duration> {
        self.entries.get(self.next).map(|entry| self.cycle_len * self.cycle + entry.phase)
    }

    /// The next action and the cycle it belongs to, if due.
    pub(super) fn take_due(&mut self, cluster_time: Duration) -> Option<(Action, i64)> {
        if self.next_at()? > cluster_time {
            return None;
        }
        let entry = self.entries[self.next];
        let cycle = self.cycle - entry.carry;
        self.next += 1;
        if self.next == self.entries.len() {
            self.next = 0;
            self.cycle += 1;
        }
        Some((entry.action, cycle))
    }

    /// Leaves out everything due before a time. Never goes back.
    pub(super) fn skip_to(&mut self, cluster_time: Duration) {
        if self.next_at().is_some_and(|next| next < cluster_time) {
            self.seek(cluster_time);
        }
    }

    /// Goes on with what is due from a time on, be it earlier or later than what is next now.
    pub(super) fn seek(&mut self, cluster_time: Duration) {
        if self.entries.is_empty() {
            return;
        }
        self.cycle = cluster_time.div_floor(self.cycle_len);
        let phase = cluster_time.rem_floor(self.cycle_len);
        self.next = self.entries.partition_point(|entry| entry.phase < phase);
        if self.next == self.entries.len() {
            self.next = 0;
            self.cycle += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CYCLE: Duration = Duration::from_ms(10);

    fn task(run: usize) -> Action {
        Action::Task { run }
    }

    #[test]
    fn actions_repeat_in_order_and_know_their_cycle() {
        let ms = Duration::from_ms;
        // The last one is due 1 ms before the cycle it belongs to, the second in the cycle after its own.
        let mut agenda = Agenda::new(CYCLE, [(ms(3), task(0)), (ms(12), task(1)), (ms(-1), task(2))].into_iter());
        let mut seen = Vec::new();
        while let Some((Action::Task { run }, cycle)) = agenda.take_due(ms(20)) {
            seen.push((run, cycle));
        }
        assert_eq!(seen, [(1, -1), (0, 0), (2, 1), (1, 0), (0, 1), (2, 2)]);
    }

    #[test]
    fn skipping_never_goes_back() {
        let mut agenda = Agenda::new(CYCLE, [(Duration::from_ms(3), task(0))].into_iter());
        agenda.skip_to(Duration::from_ms(25));
        assert_eq!(agenda.next_at(), Some(Duration::from_ms(33)));
        agenda.skip_to(Duration::ZERO);
        assert_eq!(agenda.next_at(), Some(Duration::from_ms(33)));
    }
}
