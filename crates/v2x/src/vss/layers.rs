//! One change of pseudonym across all layers that show an identifier.
//!
//! A layer registers ([`Layers::register`]), is asked to prepare, answers, and is told how it ended. A layer whose own
//! identifier has changed for a reason of its own says so, which wants a change of all others.

/// A layer's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LayerId(pub u16);

/// How far a change has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeStep {
    /// No change.
    Idle,
    /// Layers are asked; these have not answered.
    Preparing {
        /// Layers that have not answered.
        open: usize,
    },
}

/// What a layer's answer leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// Others have not answered.
    Waiting,
    /// All are ready: the change can be made.
    AllReady,
    /// One refused: the change is off.
    Refused(LayerId),
    /// Nobody asked this layer.
    Unexpected,
}

/// How long layers may take to prepare `[us]`.
pub const PREPARE_MAX_US: u64 = 100_000;

/// The longest block of changes, clause 5.2.4 of TS 102 723-8 `[s]`.
pub const BLOCK_MAX_S: u8 = 255;

/// The layers of a station.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    registered: Vec<LayerId>,
    /// Asked and silent; none if no change is under way.
    open: Option<(Vec<LayerId>, u64)>,
    next: u16,
    blocked_until_us: u64,
}

impl Layers {
    /// A layer wants to take part in changes; its number.
    pub fn register(&mut self) -> LayerId {
        self.next = self.next.wrapping_add(1);
        let layer = LayerId(self.next);
        self.registered.push(layer);
        layer
    }

    /// A layer is gone. In mid-change it counts as ready: it shows no identifier any more.
    pub fn remove(&mut self, layer: LayerId) -> Answered {
        self.registered.retain(|one| *one != layer);
        self.answer(layer, true)
    }

    /// Those that are registered.
    pub fn registered(&self) -> &[LayerId] {
        &self.registered
    }

    /// No change for this long, counted from now; a later call replaces an earlier one.
    pub fn block(&mut self, now_us: u64, duration_s: u8) {
        self.blocked_until_us = now_us.saturating_add(u64::from(duration_s) * 1_000_000);
    }

    /// Changes are possible again.
    pub fn free(&mut self) {
        self.blocked_until_us = 0;
    }

    /// Whether changes are blocked.
    pub fn is_blocked(&self, now_us: u64) -> bool {
        now_us < self.blocked_until_us
    }

    /// How far a change has come.
    pub fn step(&self) -> ChangeStep {
        self.open.as_ref().map_or(ChangeStep::Idle, |(open, _)| ChangeStep::Preparing { open: open.len() })
    }

    /// Asks every layer; false if there is none, and so nobody to change with, or a change is under way.
    pub fn prepare(&mut self, now_us: u64) -> bool {
        if self.registered.is_empty() || self.open.is_some() {
            return false;
        }
        self.open = Some((self.registered.clone(), now_us.saturating_add(PREPARE_MAX_US)));
        true
    }

    /// A layer has answered. After [`Answered::AllReady`] and [`Answered::Refused`] no change is under way here.
    pub fn answer(&mut self, layer: LayerId, is_ready: bool) -> Answered {
        let Some((open, _)) = &mut self.open else { return Answered::Unexpected };
        let Some(place) = open.iter().position(|one| *one == layer) else { return Answered::Unexpected };
        if !is_ready {
            self.open = None;
            return Answered::Refused(layer);
        }
        open.swap_remove(place);
        if !open.is_empty() {
            return Answered::Waiting;
        }
        self.open = None;
        Answered::AllReady
    }

    /// When the layers' time is over `[us]`; none if no change is under way.
    pub fn deadline_us(&self) -> Option<u64> {
        self.open.as_ref().map(|(_, deadline)| *deadline)
    }

    /// Gives the change up if the layers' time is over; the first that had not answered.
    pub fn time_out(&mut self, now_us: u64) -> Option<LayerId> {
        let (open, _) = self.open.take_if(|(_, deadline)| *deadline <= now_us)?;
        open.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_needs_every_layer() {
        let mut layers = Layers::default();
        assert!(!layers.prepare(0), "nobody to change with");
        let (one, other) = (layers.register(), layers.register());
        assert!(layers.prepare(0));
        assert!(!layers.prepare(0), "under way");
        assert_eq!(layers.answer(one, true), Answered::Waiting);
        assert_eq!(layers.answer(one, true), Answered::Unexpected);
        assert_eq!(layers.step(), ChangeStep::Preparing { open: 1 });
        assert_eq!(layers.answer(other, true), Answered::AllReady);
        assert_eq!(layers.step(), ChangeStep::Idle);
        assert_eq!(layers.answer(other, true), Answered::Unexpected);
    }

    #[test]
    fn one_refusal_ends_it_for_all() {
        let mut layers = Layers::default();
        let (one, other) = (layers.register(), layers.register());
        layers.prepare(0);
        assert_eq!(layers.answer(one, false), Answered::Refused(one));
        assert_eq!(layers.answer(other, true), Answered::Unexpected);
    }

    #[test]
    fn a_layer_that_is_silent_or_gone_does_not_hold_the_station_up() {
        let mut layers = Layers::default();
        let (one, other) = (layers.register(), layers.register());
        layers.prepare(5);
        layers.answer(one, true);
        assert_eq!(layers.time_out(5 + PREPARE_MAX_US - 1), None);
        assert_eq!(layers.time_out(5 + PREPARE_MAX_US), Some(other));
        assert_eq!(layers.deadline_us(), None);
        layers.prepare(0);
        assert_eq!(layers.answer(one, true), Answered::Waiting);
        assert_eq!(layers.remove(other), Answered::AllReady);
        assert_eq!(layers.registered(), [one]);
    }

    #[test]
    fn a_block_ends_by_itself_or_when_it_is_lifted() {
        let mut layers = Layers::default();
        layers.block(1_000_000, 2);
        assert!(layers.is_blocked(2_999_999) && !layers.is_blocked(3_000_000));
        layers.block(1_000_000, BLOCK_MAX_S);
        assert!(layers.is_blocked(255_999_999));
        layers.free();
        assert!(!layers.is_blocked(1_000_001));
    }
}
