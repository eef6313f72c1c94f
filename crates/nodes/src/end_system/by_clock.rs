//! What a station does by its clock, and what it does to keep it.

use chronoseal_core::{DiscardReason, Duration, Event, EventKind, LocalTime, StreamId, Work};

use super::agenda::Action;
use super::config::TalkerTiming;
use super::listener::Listener;
use super::sub_virtual_links::SubVirtualLinks;
use super::{Begun, EndSystem, Sealing, Stage, TASK};
use crate::clock::Clock;

/// So long after the processor is free again all that had waited has been looked at.
const BEHIND_WAITING: Duration = Duration::from_ns(1);

impl EndSystem {
    /// Begins what is due by cluster time, or what keeps that.
    pub(super) fn begin_by_clock(&mut self, now: LocalTime) -> Begun {
        if let Some(deadline) = self.clock.beacon_deadline()
            && now >= deadline
            // What came while the processor was busy is looked at first: beacons may be among it.
            && self.free_at.is_none()
        {
            if let Clock::Beacon(client) = &mut self.clock {
                client.lose();
            }
            self.base.push(Event::of(EventKind::SyncLost, StreamId::NONE, 0));
            return Begun::Something;
        }
        if self.is_collecting && self.give_up_overdue(now) {
            return Begun::Something;
        }
        if self.keep_time(now) {
            return Begun::Something;
        }
        if let Some(link) = self.link_to_release(now) {
            return Begun::Release(link);
        }
        if !self.agenda.is_empty() && self.clock.is_synchronised() {
            let cluster_now = self.clock.cluster_time(now);
            while let Some((action, cycle)) = self.agenda.take_due(cluster_now) {
                match self.act(now, action, cycle) {
                    Begun::Nothing => {}
                    begun => return begun,
                }
            }
        }
        Begun::Nothing
    }

    /// Goes on with what is due from now on by a clock that shows another time than before: what lies between is not done at once, and
    /// what lies before is done again.
    pub(super) fn seek(&mut self, now: LocalTime) {
        let shown = self.clock.cluster_time(now);
        self.agenda.seek(shown);
        let cycle = shown.div_floor(self.config.cluster_cycle);
        self.listeners.iter_mut().for_each(|listener| listener.forget_after(cycle));
    }

    fn act(&mut self, now: LocalTime, action: Action, cycle: i64) -> Begun {
        let cycle_start = self.config.cluster_cycle * cycle;
        match action {
            Action::Send { talker, instance } => {
                let entry = &self.talkers[talker];
                let TalkerTiming::Slots { slots, samples, application, .. } = &entry.config.timing else {
                    return Begun::Nothing;
                };
                // A message in several slots has all it needs in the first of them.
                let is_first = instance.is_multiple_of(entry.frames());
                let is_idle = *samples && entry.next.is_none() || application.is_some() && entry.ready_at.is_none();
                // What began before the time of the cluster belongs to none of its cycles.
                if cycle < 0 || is_first && is_idle {
                    return Begun::Nothing;
                }
                let start = cycle_start + slots[instance].start;
                let freshness = (cycle * slots.len() as i64 + instance as i64) as u64;
                let launch_at = self.clock.local_time(start);
                if !is_first {
                    return self.go_on_in_slot(Sealing { talker, launch_at, signal_time: start, freshness });
                }
                self.begin_send(Sealing { talker, launch_at, signal_time: start, freshness })
            }
            Action::Check { listener, instance } => {
                let listener = &self.listeners[listener];
                let is_empty = listener.is_missing(instance, cycle);
                let count = cycle * listener.config.windows.len() as i64 + instance as i64;
                if !(listener.config.fills_slots && is_empty) {
                    return Begun::Nothing;
                }
                self.base.push(Event::of(EventKind::Missing, listener.config.stream, count as u64));
                Begun::Something
            }
            Action::Task { run } => {
                let due = self.clock.local_time(cycle_start + self.config.tasks[run].start);
                if due < self.started_at {
                    return Begun::Nothing;
                }
                self.work = Some(Work::declared(TASK, self.config.tasks[run].length));
                self.stage = Stage::Task { run, cycle, began: now };
                Begun::Something
            }
        }
    }

    /// The application has data for a stream in slots. They take the place of older ones that have not left yet. Before the
    /// clock has joined the cluster there is no slot to wait for.
    pub(super) fn make_ready(&mut self, at: LocalTime, talker: usize) -> Begun {
        let is_synchronised = self.clock.is_synchronised();
        let talker = &mut self.talkers[talker];
        if !is_synchronised {
            talker.made += 1 + u64::from(talker.ready_at.take().is_some());
            return Begun::Nothing;
        }
        if talker.ready_at.replace(at).is_none() {
            return Begun::Nothing;
        }
        let reason = EventKind::Discarded(DiscardReason::Superseded);
        self.base.push(Event::of(reason, talker.config.stream, talker.made));
        talker.made += 1;
        Begun::Something
    }

    pub(super) fn finish_task(&mut self, now: LocalTime, run: usize, cycle: i64, began: LocalTime) {
        let task = self.config.tasks[run];
        let due = self.clock.local_time(self.config.cluster_cycle * cycle + task.start);
        // A clock that was lost meanwhile knows no time at which it was due.
        let due = if self.clock.is_synchronised() { due.min(began) } else { began };
        let mut event = Event::of(EventKind::TaskDone, StreamId::NONE, u64::from(task.task));
        event.value = (now - due).as_ps();
        self.base.push(event);
    }

    /// When something is due that is no frame of a talker's own pace.
    pub(super) fn next_by_clock(&self) -> Option<LocalTime> {
        let mut wake = match &self.clock {
            Clock::Beacon(client) => client
                .beacon_deadline()
                .map(|deadline| self.free_at.map_or(deadline, |free_at| deadline.max(free_at + BEHIND_WAITING))),
            Clock::Cluster(clock) => clock.wake_at(),
            Clock::TimeAware(clock) => clock.wake_at(),
        };
        let mut ask_for = |at: LocalTime| wake = Some(wake.map_or(at, |earlier| earlier.min(at)));
        if self.clock.is_synchronised()
            && let Some(at) = self.agenda.next_at()
        {
            ask_for(self.clock.local_time(at));
        }
        self.shared.iter().filter_map(SubVirtualLinks::next_at).for_each(&mut ask_for);
        if self.is_collecting {
            let deadline = |listener: &Listener| listener.collecting.as_ref()?.deadline();
            self.listeners.iter().filter_map(deadline).for_each(&mut ask_for);
        }
        if self.is_supervising {
            self.listeners.iter().filter_map(|listener| listener.supervision.as_ref()?.due()).for_each(&mut ask_for);
            self.containers.due().into_iter().for_each(&mut ask_for);
        }
        wake
    }
}
