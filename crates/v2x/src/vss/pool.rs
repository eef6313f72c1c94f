//! The pseudonyms a station holds, and the change from one to the next.
//!
//! A change concerns every layer that shows an identifier: the certificate here, the GeoNetworking address, the link
//! address, the station id. So it is done in two steps. [`Pool::begin_change`] names the next pseudonym and has that
//! written down; every layer prepares; [`Pool::commit_change`] makes it valid for all at once, or
//! [`Pool::abandon_change`] for none. Nothing is signed in between. Whoever finds a change written down that was never
//! finished ([`Pool::recover`]) goes on with the new pseudonym: the old one may have been seen beside new addresses.

use std::collections::VecDeque;

use crate::types::{HashedId8, Time32};

/// Whatever names a private key: a handle of an HSM.
pub trait KeyName: Clone + core::fmt::Debug + PartialEq {}

impl<T: Clone + core::fmt::Debug + PartialEq> KeyName for T {}

/// An authorization ticket and what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pseudonym<K> {
    /// Of its certificate.
    pub id: HashedId8,
    /// Its private key.
    pub key: K,
    /// First second it is valid.
    pub valid_from: Time32,
    /// First second it is no longer valid.
    pub valid_until: Time32,
}

impl<K> Pseudonym<K> {
    /// Whether it is valid then.
    pub fn is_valid(&self, at: Time32) -> bool {
        self.valid_from <= at && at < self.valid_until
    }
}

/// What a pool is to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolConfig {
    /// With fewer unused ones than this, more are asked for.
    pub low_water: usize,
    /// How many are asked for until there are this many unused ones.
    pub preload: usize,
    /// Never ask for more (`pm.dont_ask_new_pseudonyms` of the source).
    pub never_asks: bool,
    /// A pseudonym that was changed away from is deleted; if not, it goes to the end of the queue.
    pub deletes_used: bool,
    /// How long before pseudonyms end those for the time after are asked for, at most; 0: not before they have ended `[s]`. Each
    /// station draws its own moment from the upper half of this, so that an authority is not asked by all at once.
    pub ahead_s: u32,
}

impl Default for PoolConfig {
    /// 20 in parallel, as C2C-CC has it; asked for with 5 left, and two days ahead. Two days bear an authority that is away over a
    /// weekend's night and a car that stands for a day; longer would leave a station that is thrown out, and so gets no more, with
    /// tickets for that much longer.
    fn default() -> Self {
        Self { low_water: 5, preload: 20, never_asks: false, deletes_used: true, ahead_s: 2 * 86_400 }
    }
}

/// What has to be written down before anything else happens; a store does each at once or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PoolRecord {
    /// A change has begun.
    ChangeBegun {
        /// The pseudonym so far.
        from: Option<HashedId8>,
        /// The next one.
        to: HashedId8,
    },
    /// This is the pseudonym now; the one that was is deleted with its key, or kept.
    Changed {
        /// The pseudonym so far.
        from: Option<HashedId8>,
        /// The pseudonym now.
        to: HashedId8,
        /// Whether the one so far is deleted.
        deletes: bool,
    },
    /// A change was given up; the pseudonym stays.
    ChangeAbandoned,
    /// It is no longer valid.
    Expired(HashedId8),
}

/// Why there is no change, or no signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    /// Every pseudonym is used up, expired or not valid yet.
    #[error("no pseudonym is left that is valid now; request more from the authorization authority")]
    Empty,
    /// A change has begun and is not finished.
    #[error("a change of pseudonym is under way; sign again when it is finished")]
    Changing,
    /// No change has begun.
    #[error("no change of pseudonym is under way")]
    NotChanging,
}

/// A station's pseudonyms.
#[derive(Clone, Debug)]
pub struct Pool<K> {
    config: PoolConfig,
    current: Option<Pseudonym<K>>,
    /// In the order they will be used.
    unused: VecDeque<Pseudonym<K>>,
    /// The next pseudonym while a change is under way.
    next: Option<Pseudonym<K>>,
}

impl<K: KeyName> Pool<K> {
    /// An empty pool.
    pub fn new(config: PoolConfig) -> Self {
        Self { config, current: None, unused: VecDeque::new(), next: None }
    }

    /// A pool as a store has it. `begun` is the pseudonym of a change that was begun and neither finished nor
    /// abandoned: it becomes the current one. The record, if any, says so to the store.
    pub fn recover(
        config: PoolConfig,
        current: Option<Pseudonym<K>>,
        unused: impl IntoIterator<Item = Pseudonym<K>>,
        begun: Option<HashedId8>,
    ) -> (Self, Option<PoolRecord>) {
        let mut pool = Self { config, current, unused: unused.into_iter().collect(), next: None };
        let place = begun.and_then(|to| pool.unused.iter().position(|pseudonym| pseudonym.id == to));
        let record = place.and_then(|place| {
            pool.next = pool.unused.remove(place);
            pool.commit_change().ok()
        });
        (pool, record)
    }

    /// Adds a pseudonym that has come from an authority. One that is held already is not added twice.
    pub fn add(&mut self, pseudonym: Pseudonym<K>) {
        if !self.holds(pseudonym.id) {
            self.unused.push_back(pseudonym);
        }
    }

    fn holds(&self, id: HashedId8) -> bool {
        self.current.iter().chain(&self.next).chain(&self.unused).any(|pseudonym| pseudonym.id == id)
    }

    /// The pseudonym to sign with.
    ///
    /// # Errors
    /// [`PoolError::Changing`] in mid-change, [`PoolError::Empty`] if there is none or it has expired.
    pub fn current(&self, now: Time32) -> Result<&Pseudonym<K>, PoolError> {
        if self.next.is_some() {
            return Err(PoolError::Changing);
        }
        self.current.as_ref().filter(|pseudonym| pseudonym.is_valid(now)).ok_or(PoolError::Empty)
    }

    /// The pseudonym in use, valid or not.
    pub fn in_use(&self) -> Option<&Pseudonym<K>> {
        self.current.as_ref()
    }

    /// Those that were never signed with.
    pub fn unused(&self) -> impl ExactSizeIterator<Item = &Pseudonym<K>> {
        self.unused.iter()
    }

    /// Whether a change is under way.
    pub fn is_changing(&self) -> bool {
        self.next.is_some()
    }

    /// Takes the next valid pseudonym. What is returned is to be written down, in order, before a layer hears of it;
    /// the last of the records is [`PoolRecord::ChangeBegun`].
    ///
    /// # Errors
    /// [`PoolError::Changing`] if a change is under way, [`PoolError::Empty`] if no other pseudonym is valid; expired
    /// ones are still told by [`Pool::expire`].
    pub fn begin_change(&mut self, now: Time32) -> Result<PoolRecord, PoolError> {
        if self.next.is_some() {
            return Err(PoolError::Changing);
        }
        let place = self.unused.iter().position(|pseudonym| pseudonym.is_valid(now)).ok_or(PoolError::Empty)?;
        let next = self.unused.remove(place).ok_or(PoolError::Empty)?;
        let record = PoolRecord::ChangeBegun { from: self.current.as_ref().map(|current| current.id), to: next.id };
        self.next = Some(next);
        Ok(record)
    }

    /// The pseudonym a change under way leads to.
    pub fn next(&self) -> Option<&Pseudonym<K>> {
        self.next.as_ref()
    }

    /// Every layer is ready: the next pseudonym is the current one. The record is to be written down before anything
    /// is signed.
    ///
    /// # Errors
    /// [`PoolError::NotChanging`].
    pub fn commit_change(&mut self) -> Result<PoolRecord, PoolError> {
        let next = self.next.take().ok_or(PoolError::NotChanging)?;
        let to = next.id;
        let old = self.current.replace(next);
        let from = old.as_ref().map(|old| old.id);
        let deletes = self.config.deletes_used;
        if let Some(old) = old.filter(|_| !deletes) {
            self.unused.push_back(old);
        }
        Ok(PoolRecord::Changed { from, to, deletes })
    }

    /// A layer refused: everything stays as it was, the next pseudonym is still unused.
    ///
    /// # Errors
    /// [`PoolError::NotChanging`].
    pub fn abandon_change(&mut self) -> Result<PoolRecord, PoolError> {
        let next = self.next.take().ok_or(PoolError::NotChanging)?;
        self.unused.push_front(next);
        Ok(PoolRecord::ChangeAbandoned)
    }

    /// Forgets those that were never used and are no longer valid; that of each is to be written down ([`PoolRecord::Expired`]), and
    /// its key is of no use any more.
    pub fn expire(&mut self, now: Time32) -> Vec<Pseudonym<K>> {
        let (held, expired) = self.unused.drain(..).partition(|pseudonym| now < pseudonym.valid_until);
        self.unused = held;
        Vec::from(expired as VecDeque<_>)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pseudonym(number: u8) -> Pseudonym<u8> {
        Pseudonym { id: HashedId8([number; 8]), key: number, valid_from: Time32(0), valid_until: Time32(1000) }
    }

    const NOW: Time32 = Time32(10);

    fn pool(count: u8) -> Pool<u8> {
        let mut pool = Pool::new(PoolConfig::default());
        (1..=count).for_each(|number| pool.add(pseudonym(number)));
        pool
    }

    fn change(pool: &mut Pool<u8>) {
        pool.begin_change(NOW).unwrap();
        pool.commit_change().unwrap();
    }

    #[test]
    fn nothing_is_signed_in_mid_change() {
        let mut pool = pool(2);
        assert_eq!(pool.current(NOW), Err(PoolError::Empty));
        change(&mut pool);
        assert_eq!(pool.current(NOW).unwrap().key, 1);
        let record = pool.begin_change(NOW).unwrap();
        assert_eq!(record, PoolRecord::ChangeBegun { from: Some(HashedId8([1; 8])), to: HashedId8([2; 8]) });
        assert_eq!(pool.current(NOW), Err(PoolError::Changing));
        assert_eq!(pool.begin_change(NOW), Err(PoolError::Changing));
        let record = pool.commit_change().unwrap();
        let changed = PoolRecord::Changed { from: Some(HashedId8([1; 8])), to: HashedId8([2; 8]), deletes: true };
        assert_eq!(record, changed);
        assert_eq!(pool.current(NOW).unwrap().key, 2);
        assert_eq!(pool.unused().len(), 0, "the used one is gone");
        assert_eq!(pool.begin_change(NOW), Err(PoolError::Empty));
        assert_eq!(pool.current(NOW).unwrap().key, 2, "the last one goes on being used");
    }

    #[test]
    fn a_refused_change_leaves_everything_as_it_was() {
        let mut pool = pool(2);
        change(&mut pool);
        pool.begin_change(NOW).unwrap();
        assert_eq!(pool.abandon_change(), Ok(PoolRecord::ChangeAbandoned));
        assert_eq!(pool.current(NOW).unwrap().key, 1);
        assert_eq!(pool.unused().next().unwrap().key, 2);
        assert_eq!(pool.abandon_change(), Err(PoolError::NotChanging));
        assert_eq!(pool.commit_change(), Err(PoolError::NotChanging));
    }

    #[test]
    fn a_change_cut_short_ends_with_the_new_pseudonym() {
        let unused = [pseudonym(2), pseudonym(3)];
        let begun = Some(HashedId8([3; 8]));
        let (pool, record) = Pool::recover(PoolConfig::default(), Some(pseudonym(1)), unused.clone(), begun);
        assert_eq!(pool.current(NOW).unwrap().key, 3);
        assert!(matches!(record, Some(PoolRecord::Changed { deletes: true, .. })));
        assert_eq!(pool.unused().len(), 1);
        let (pool, record) = Pool::recover(PoolConfig::default(), Some(pseudonym(1)), unused, None);
        assert_eq!((pool.current(NOW).unwrap().key, record), (1, None));
    }

    #[test]
    fn kept_pseudonyms_come_round_again() {
        let mut pool = Pool::new(PoolConfig { deletes_used: false, ..PoolConfig::default() });
        (1..=3).for_each(|number| pool.add(pseudonym(number)));
        let seen: Vec<u8> = (0..7)
            .map(|_| {
                change(&mut pool);
                pool.current(NOW).unwrap().key
            })
            .collect();
        assert_eq!(seen, [1, 2, 3, 1, 2, 3, 1]);
    }

    #[test]
    fn what_is_not_valid_is_not_used() {
        let mut pool = Pool::new(PoolConfig::default());
        pool.add(Pseudonym { valid_until: Time32(5), ..pseudonym(1) });
        pool.add(Pseudonym { valid_from: Time32(20), ..pseudonym(2) });
        pool.add(pseudonym(3));
        pool.begin_change(NOW).unwrap();
        assert_eq!(pool.next().unwrap().key, 3);
        pool.commit_change().unwrap();
        assert_eq!(pool.expire(NOW).iter().map(|expired| expired.key).collect::<Vec<_>>(), [1]);
        assert_eq!(pool.unused().len(), 1);
        assert_eq!(pool.current(Time32(1000)), Err(PoolError::Empty));
    }
}
