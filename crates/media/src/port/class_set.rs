//! Sets of classes, in the order in which a port asks them.

/// Classes, a bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct ClassSet(u16);

impl ClassSet {
    pub(super) const fn insert(&mut self, class: usize) {
        self.0 |= 1 << class;
    }

    pub(super) const fn remove(&mut self, class: usize) {
        self.0 &= !(1 << class);
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl Iterator for ClassSet {
    type Item = usize;

    /// From the highest to the lowest.
    #[inline]
    fn next(&mut self) -> Option<usize> {
        let class = 15_usize.checked_sub(self.0.leading_zeros() as usize)?;
        self.remove(class);
        Some(class)
    }
}
