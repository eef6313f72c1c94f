//! Messages seen before.

/// Remembers messages by eight octets of their digests, in bounded memory, which is taken at once or as messages come.
///
/// Two tables, a younger and an older one. When the younger has served for the window, or is full, it becomes the older
/// one, and the older one is forgotten: each message is remembered for one window at least, two at most, unless more
/// came than fit; [`ReplayCache::cut_short_count`] tells how often that happened.
#[derive(Clone, Debug)]
pub struct ReplayCache {
    younger: Table,
    older: Table,
    /// Slots of a table when nothing is in it, and at most.
    len_min: usize,
    len_max: usize,
    window_us: u64,
    rotated_at_us: u64,
    cut_short_count: u64,
}

/// Open addressing; 0 marks an empty slot, and half of the slots at least are empty.
#[derive(Clone, Debug, Default)]
struct Table {
    /// A power of two, or none.
    slots: Box<[u64]>,
    count: usize,
}

/// Slots of a table with something in it at least.
const LEN_MIN: usize = 8;

impl Table {
    fn with_len(len: usize) -> Self {
        Self { slots: vec![0; len].into_boxed_slice(), count: 0 }
    }

    /// Where `print` is, or would be. The table has slots.
    fn slot(&self, print: u64) -> usize {
        let mask = self.slots.len() - 1;
        #[allow(clippy::cast_possible_truncation, reason = "the mask leaves few bits")]
        let mut at = print as usize & mask;
        while self.slots[at] != 0 && self.slots[at] != print {
            at = (at + 1) & mask;
        }
        at
    }

    fn contains(&self, print: u64) -> bool {
        self.count > 0 && self.slots[self.slot(print)] == print
    }

    fn insert(&mut self, print: u64) {
        if self.is_full() {
            let mut larger = Self::with_len((2 * self.slots.len()).max(LEN_MIN));
            self.slots.iter().filter(|print| **print != 0).for_each(|print| larger.put(*print));
            *self = larger;
        }
        self.put(print);
    }

    fn put(&mut self, print: u64) {
        let at = self.slot(print);
        self.count += usize::from(self.slots[at] == 0);
        self.slots[at] = print;
    }

    /// Forgets all, and gives back what it has more than `len` slots.
    fn clear(&mut self, len: usize) {
        if self.slots.len() > len {
            *self = Self::with_len(len);
        } else {
            self.slots.fill(0);
            self.count = 0;
        }
    }

    fn is_full(&self) -> bool {
        self.count >= self.slots.len() / 2
    }
}

impl ReplayCache {
    /// For about `messages_max` messages, each remembered for `window_us` at least `[us]`. All memory is taken at once.
    pub fn new(messages_max: usize, window_us: u64) -> Self {
        let len_max = Self::len_max(messages_max);
        Self::with_len(len_max, len_max, window_us)
    }

    /// The same, with memory that is taken as messages come.
    pub fn growing(messages_max: usize, window_us: u64) -> Self {
        Self::with_len(0, Self::len_max(messages_max), window_us)
    }

    /// Half of each table stays empty, and two windows' worth lies in two tables.
    fn len_max(messages_max: usize) -> usize {
        messages_max.clamp(LEN_MIN, 1 << 24).next_power_of_two()
    }

    fn with_len(len_min: usize, len_max: usize, window_us: u64) -> Self {
        let [younger, older] = [(); 2].map(|()| Table::with_len(len_min));
        Self { younger, older, len_min, len_max, window_us, rotated_at_us: 0, cut_short_count: 0 }
    }

    /// Octets of memory taken so far.
    pub fn memory_len(&self) -> usize {
        8 * (self.younger.slots.len() + self.older.slots.len())
    }

    /// How often messages were forgotten before their time because there were too many.
    pub fn cut_short_count(&self) -> u64 {
        self.cut_short_count
    }

    /// How long messages are remembered at least `[us]`.
    pub fn window_us(&self) -> u64 {
        self.window_us
    }

    fn print(digest: &[u8]) -> u64 {
        digest.first_chunk().map_or(1, |octets| u64::from_le_bytes(*octets).max(1))
    }

    /// Whether a message with this digest was seen.
    pub fn contains(&self, digest: &[u8]) -> bool {
        let print = Self::print(digest);
        self.younger.contains(print) || self.older.contains(print)
    }

    /// Remembers a message; false if it was seen before.
    pub fn insert(&mut self, digest: &[u8], now_us: u64) -> bool {
        if self.contains(digest) {
            return false;
        }
        let is_over = now_us.saturating_sub(self.rotated_at_us) >= self.window_us;
        if is_over || self.younger.count >= self.len_max / 2 {
            self.cut_short_count += u64::from(!is_over);
            core::mem::swap(&mut self.younger, &mut self.older);
            self.younger.clear(self.len_min);
            self.rotated_at_us = now_us;
        }
        self.younger.insert(Self::print(digest));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(i: u64) -> [u8; 8] {
        // Spread like a hash.
        i.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()
    }

    #[test]
    fn remembers_for_a_window_and_forgets_after_two() {
        let mut cache = ReplayCache::new(1024, 1_000);
        assert!(cache.insert(&digest(1), 10_000));
        assert!(!cache.insert(&digest(1), 10_999));
        assert!(cache.insert(&digest(2), 11_000));
        assert!(cache.contains(&digest(1)));
        assert!(cache.insert(&digest(3), 12_000));
        assert!(!cache.contains(&digest(1)));
        assert_eq!(cache.cut_short_count(), 0);
    }

    #[test]
    fn bounded_and_says_when_it_forgets_too_early() {
        let [whole, growing] = [ReplayCache::new(64, 1_000_000), ReplayCache::growing(64, 1_000_000)];
        assert_eq!((whole.memory_len(), growing.memory_len()), (2 * 64 * 8, 0));
        let forgotten = [whole, growing].map(|mut cache| {
            for i in 1..10_000 {
                assert!(cache.insert(&digest(i), 5));
                assert!(cache.contains(&digest(i)));
                assert!(cache.memory_len() <= 2 * 64 * 8);
            }
            cache.cut_short_count()
        });
        assert!(forgotten[0] > 100 && forgotten[0] == forgotten[1], "{forgotten:?}");
    }
}
