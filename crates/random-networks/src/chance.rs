//! What is drawn from a seed.

/// Numbers from a seed: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
pub(super) struct Chance(u64);

impl Chance {
    /// What is drawn for one purpose does not depend on how much is drawn for others.
    pub(super) fn new(seed: u64, purpose: u64) -> Self {
        let mut chance = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ purpose.rotate_left(48));
        chance.next();
        chance
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    pub(super) fn range(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1).unsigned_abs()) as i64
    }

    /// True so often `[%]`.
    pub(super) fn percent(&mut self, percent: i64) -> bool {
        self.range(1, 100) <= percent
    }

    pub(super) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.range(0, of.len() as i64 - 1) as usize]
    }
}

/// A number that has nothing in common with those of its neighbours.
pub(super) fn mixed(number: u64) -> u64 {
    let mut mixed = number;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
