//! Gate control lists (IEEE 802.1Q clause 8.6.8.4).

use chronoseal_core::Duration;

use crate::board::opened;
use crate::schedule::Schedule;

/// The traffic class of scheduled frames if nothing else is said: the highest.
pub const SCHEDULED_CLASS: u8 = 7;

/// One entry: which gates are open, and for how long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GateEntry {
    /// A bit for each traffic class, the most significant one for class 7; 1 is open.
    pub gates: u8,
    /// How long the gates stay so.
    pub interval: Duration,
}

/// The gate control list of one port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GateList {
    /// The link the port sends on.
    pub link: usize,
    /// When the first cycle begins, on the clock of the network.
    pub base: Duration,
    /// After this the list repeats; the sum of the intervals.
    pub cycle: Duration,
    /// What happens in a cycle, one entry after the other.
    pub entries: Vec<GateEntry>,
}

impl GateList {
    /// A list that is open for `class` in `windows` and for all other classes between them.
    ///
    /// `windows` are start and end within the cycle, by start, and do not touch `[ps]`.
    pub fn of_windows(link: usize, cycle: Duration, windows: &[(i64, i64)], class: u8) -> Self {
        let (own, mut entries, mut at) = (1u8 << (class & 7), Vec::new(), 0);
        let mut push = |gates, interval: i64| {
            if interval > 0 {
                entries.push(GateEntry { gates, interval: Duration::from_ps(interval) });
            }
        };
        for &(start, end) in windows {
            push(!own, start - at);
            push(own, end - start);
            at = end;
        }
        push(!own, cycle.as_ps() - at);
        Self { link, base: Duration::ZERO, cycle, entries }
    }

    /// When the gate of `class` is open: start and end within the cycle, by start, joined where they touch `[ps]`.
    pub fn windows(&self, class: u8) -> Vec<(i64, i64)> {
        let (mut at, mut open): (i64, Vec<(i64, i64)>) = (0, Vec::new());
        for entry in &self.entries {
            let end = at + entry.interval.as_ps();
            if entry.gates >> (class & 7) & 1 == 1 {
                match open.last_mut() {
                    Some(last) if last.1 == at => last.1 = end,
                    _ => open.push((at, end)),
                }
            }
            at = end;
        }
        open
    }
}

impl Schedule {
    /// The gate control lists of all ports that send something scheduled, in the order of their links. A gate opens before its
    /// window by the gap behind a frame of another class, which may end when its own gate closes. Gates open and close at whole
    /// multiples of the network's granularity, outside of that if it does not.
    pub fn gates(&self, class: u8) -> Vec<GateList> {
        let network = self.network();
        let links = (0..network.links().len()).filter(|link| self.is_used(*link));
        let lists = links.map(|link| {
            let (cycle, grain) = (self.cycle().as_ps(), network.granularity.as_ps().max(1));
            let windows = opened(&self.windows(link), network.lead(link), cycle, grain);
            GateList::of_windows(link, self.cycle(), &windows, class)
        });
        lists.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::count_entries;

    #[test]
    fn a_list_says_its_windows_and_the_windows_its_list() {
        for (windows, entries) in [
            (vec![], 1),
            (vec![(0, 100)], 1),
            (vec![(0, 10)], 2),
            (vec![(90, 100)], 2),
            (vec![(10, 20)], 3),
            (vec![(0, 10), (20, 100)], 3),
            (vec![(10, 20), (30, 40)], 5),
        ] {
            let list = GateList::of_windows(0, Duration::from_ps(100), &windows, 7);
            assert_eq!(list.windows(7), windows);
            assert_eq!((list.entries.len(), count_entries(&windows, 100)), (entries, entries));
            assert_eq!(list.entries.iter().map(|entry| entry.interval).sum::<Duration>(), Duration::from_ps(100));
            assert!(list.entries.iter().all(|entry| entry.gates == 0x80 || entry.gates == 0x7f));
        }
    }
}
