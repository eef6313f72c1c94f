//! Queues of what a node waits to give: growing where there is an allocator, of fixed length where there is none.

/// First in, first out.
pub trait Queue {
    /// What is queued.
    type Item;

    /// Appends an item.
    fn push(&mut self, item: Self::Item);

    /// Takes the item that has waited longest.
    fn pop(&mut self) -> Option<Self::Item>;

    /// Drops every item.
    fn clear(&mut self);

    /// True if nothing waits.
    fn is_empty(&self) -> bool;
}

#[cfg(not(any(target_os = "none", without_std)))]
impl<T> Queue for std::collections::VecDeque<T> {
    type Item = T;

    #[inline]
    fn push(&mut self, item: T) {
        self.push_back(item);
    }
    #[inline]
    fn pop(&mut self) -> Option<T> {
        self.pop_front()
    }
    fn clear(&mut self) {
        Self::clear(self);
    }
    #[inline]
    fn is_empty(&self) -> bool {
        Self::is_empty(self)
    }
}

/// A queue of at most `N` items that needs no allocator.
#[derive(Clone, Debug)]
pub struct Ring<T, const N: usize> {
    items: [Option<T>; N],
    head: usize,
    len: usize,
}

impl<T, const N: usize> Ring<T, N> {
    /// An empty queue.
    pub const fn new() -> Self {
        Self { items: [const { None }; N], head: 0, len: 0 }
    }

    /// True if another item fits without loss.
    pub const fn has_room(&self) -> bool {
        self.len < N
    }

    /// The item that has waited longest, to be changed where it is.
    pub const fn front_mut(&mut self) -> Option<&mut T> {
        self.items[self.head].as_mut()
    }
}

impl<T, const N: usize> Default for Ring<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, const N: usize> Queue for Ring<T, N> {
    type Item = T;

    /// If there is no room the oldest item is lost; ask [`Ring::has_room`] first where that must not happen.
    fn push(&mut self, item: T) {
        self.items[(self.head + self.len) % N] = Some(item);
        if self.has_room() {
            self.len += 1;
        } else {
            self.head = (self.head + 1) % N;
        }
    }

    fn pop(&mut self) -> Option<T> {
        let item = self.items[self.head].take()?;
        self.head = (self.head + 1) % N;
        self.len -= 1;
        Some(item)
    }

    fn clear(&mut self) {
        *self = Self::new();
    }

    fn is_empty(&self) -> bool {
        self.len == 0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    #[test]
    fn a_ring_that_is_full_loses_its_oldest_item() {
        let mut ring = Ring::<u32, 3>::new();
        (0..3).for_each(|item| ring.push(item));
        assert!(!ring.has_room());
        (3..5).for_each(|item| ring.push(item));
        assert_eq!(std::iter::from_fn(|| ring.pop()).collect::<Vec<_>>(), [2, 3, 4]);
        assert!(ring.is_empty() && ring.has_room());
    }

    #[test]
    fn the_front_of_a_ring_is_changed_in_place() {
        let mut ring = Ring::<u32, 2>::new();
        assert_eq!(ring.front_mut(), None);
        [7, 8].into_iter().for_each(|item| ring.push(item));
        ring.front_mut().into_iter().for_each(|item| *item += 10);
        assert_eq!((ring.pop(), ring.pop(), ring.pop()), (Some(17), Some(8), None));
    }

    proptest::proptest! {
        #[test]
        fn a_ring_is_a_queue_as_long_as_nothing_is_lost(pushes: Vec<Option<u8>>) {
            let (mut ring, mut queue) = (Ring::<u8, 4>::new(), VecDeque::new());
            for push in pushes {
                match push {
                    Some(item) if ring.has_room() => {
                        Queue::push(&mut ring, item);
                        Queue::push(&mut queue, item);
                    }
                    Some(_) => {}
                    None => proptest::prop_assert_eq!(ring.pop(), Queue::pop(&mut queue)),
                }
                proptest::prop_assert_eq!(ring.is_empty(), Queue::is_empty(&queue));
            }
        }
    }
}
