//! What the enemy does on purpose: it keeps a member from the word that all hold a key, waits until somebody who has that
//! key is removed, and then hands the member what would make it take the key into use.
//!
//! Chance does not find this: five messages have to be lost or come at the right moment, of one member, within the time in
//! which an old message counts.

use chronoseal_groupkey::{Address, Identifier, Step};
use chronoseal_wire::can::CanFrame;

/// A plan against one member of a group with the symmetric scheme and confirmed keys.
#[derive(Default)]
pub struct Return {
    pub victim: usize,
    /// The last master secret for it, and the commit after that, of before the removal.
    delivery: Vec<CanFrame>,
    commit: Vec<CanFrame>,
    /// Messages of several frames on the bus.
    open: Vec<CanFrame>,
    is_removed: bool,
    /// The victim has had the next master secret.
    is_next: bool,
    is_done: bool,
}

impl Return {
    pub fn new(victim: usize) -> Self {
        Self { victim, ..Self::default() }
    }

    /// From now on an old key is one that somebody has who should not.
    pub const fn on_removal(&mut self) {
        self.is_removed = true;
    }

    /// True if a frame is kept from a station.
    pub fn keeps(&self, identifier: Identifier, to: usize) -> bool {
        to == self.victim && identifier.step == Step::Commit
    }

    /// Hears a frame, and says what comes next on the bus, if the moment has come.
    pub fn hear(&mut self, identifier: Identifier, frame: CanFrame, len: usize) -> Vec<CanFrame> {
        let is_for_victim = identifier.first == Address(self.victim as u8);
        match identifier.step {
            Step::Distribution if is_for_victim => {
                if let Some(whole) = self.whole(frame, len) {
                    if self.is_removed {
                        self.is_next = true;
                    } else {
                        (self.delivery, self.commit) = (whole, Vec::new());
                    }
                }
            }
            Step::Commit => {
                let Some(whole) = self.whole(frame, len) else { return Vec::new() };
                if !self.is_removed {
                    self.commit = whole;
                } else if self.is_next && !self.is_done && !self.commit.is_empty() {
                    // All have the new key now, but for the member, which waits for this word.
                    self.is_done = true;
                    return [&self.delivery[..], &self.commit[..]].concat();
                }
            }
            _ => {}
        }
        Vec::new()
    }

    fn whole(&mut self, frame: CanFrame, len: usize) -> Option<Vec<CanFrame>> {
        self.open.push(frame);
        let heard: usize = self.open.iter().map(|frame| frame.data().len()).sum();
        (heard >= len).then(|| core::mem::take(&mut self.open))
    }
}
