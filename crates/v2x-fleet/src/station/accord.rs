//! The oracle by which vehicles agree on a change of pseudonyms.
//!
//! Schemes in which neighbours change together, or exchange their pseudonyms, say little of the messages by which they
//! agree. Here they agree off the air: through an oracle that all stations of a segment share. It tells nobody where
//! others are. A station names the neighbours it has heard of by the identifiers it has heard, and the oracle passes the
//! word on to whoever has these identifiers now. Each takes its orders when it looks around next, before it says anything,
//! as of the time they were given.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chronoseal_core::{Duration, LocalTime};

/// The oracle's name, as reports have it.
pub const CHANGE_ACCORD: &str = "change-accord";

/// The oracle of a segment.
#[derive(Clone, Debug, Default)]
pub struct ChangeAccord(Arc<Mutex<Members>>);

/// A station's place in it: a number of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct MemberId(u64);

impl MemberId {
    /// The place with this number.
    pub const fn of(number: u64) -> Self {
        Self(number)
    }
}

/// The number a station's credentials are made of, and the identifier that shows on the air.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pseudonym {
    pub(super) number: u32,
    /// When its ticket was asked for: a second of TAI since 2004-01-01.
    pub(super) asked_at_s: u32,
    pub(super) station_id: u32,
}

/// What a station has to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Order {
    /// When it was given.
    pub(super) at: LocalTime,
    pub(super) what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// Take up a new pseudonym, unless silent.
    Change,
    /// Take up this one and say nothing for so long.
    Take { pseudonym: Pseudonym, silence: Duration },
}

#[derive(Debug, Default)]
struct Members {
    members: BTreeMap<MemberId, Member>,
    by_station_id: BTreeMap<u32, MemberId>,
}

#[derive(Debug, Default)]
struct Member {
    pseudonym: Option<Pseudonym>,
    silent_until: Option<LocalTime>,
    orders: Vec<Order>,
}

impl ChangeAccord {
    /// Takes in a station at its place. Whoever was there before, in an earlier run, has left.
    pub fn join(&self, place: MemberId) {
        let mut all = self.lock();
        all.set(place, None, LocalTime::ZERO);
        all.members.insert(place, Member::default());
    }

    fn lock(&self) -> MutexGuard<'_, Members> {
        // Nothing here is left half done by a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A station goes by this pseudonym, and says nothing until then.
    pub(super) fn goes_by(&self, me: MemberId, pseudonym: Pseudonym, silent_until: LocalTime) {
        self.lock().set(me, Some(pseudonym), silent_until);
    }

    /// A station has left.
    pub(super) fn leaves(&self, me: MemberId) {
        let mut all = self.lock();
        all.set(me, None, LocalTime::ZERO);
        all.member(me).orders.clear();
    }

    /// What a station has to do, in the order it was said.
    pub(super) fn take_orders(&self, me: MemberId) -> Vec<Order> {
        std::mem::take(&mut self.lock().member(me).orders)
    }

    /// Tells neighbours, by the identifiers they were heard under, to change now.
    pub(super) fn take_along(&self, now: LocalTime, me: MemberId, heard: impl Iterator<Item = u32>) {
        let mut all = self.lock();
        for station_id in heard {
            if let Some(other) = all.other(me, station_id) {
                all.member(other).orders.push(Order { at: now, what: What::Change });
            }
        }
    }

    /// Agrees with the nearest of those heard that is not silent, named nearest first: both say nothing for `silence` and
    /// come back, with each other's pseudonym if the coin says so. Gives back the pseudonym to go on with; `None` if there
    /// is nobody.
    pub(super) fn swap(
        &self,
        now: LocalTime,
        me: MemberId,
        heard: impl Iterator<Item = u32>,
        silence: Duration,
        coin: impl FnOnce() -> bool,
    ) -> Option<Pseudonym> {
        let mut all = self.lock();
        let speaks = |all: &Members, other: &MemberId| {
            all.members.get(other).and_then(|member| member.silent_until).is_none_or(|until| now >= until)
        };
        let other = heard.filter_map(|id| all.other(me, id)).find(|other| speaks(&all, other))?;
        let (mine, its) = (all.member(me).pseudonym?, all.member(other).pseudonym?);
        let (mine, its) = if coin() { (its, mine) } else { (mine, its) };
        all.set(me, Some(mine), now + silence);
        all.set(other, Some(its), now + silence);
        all.member(other).orders.push(Order { at: now, what: What::Take { pseudonym: its, silence } });
        Some(mine)
    }
}

impl Members {
    fn member(&mut self, id: MemberId) -> &mut Member {
        self.members.entry(id).or_default()
    }

    fn set(&mut self, id: MemberId, pseudonym: Option<Pseudonym>, silent_until: LocalTime) {
        let old = std::mem::replace(&mut self.member(id).pseudonym, pseudonym);
        // In an exchange the old one belongs to another by now.
        if let Some(old) = old
            && self.by_station_id.get(&old.station_id) == Some(&id)
        {
            self.by_station_id.remove(&old.station_id);
        }
        if let Some(pseudonym) = pseudonym {
            self.by_station_id.insert(pseudonym.station_id, id);
        }
        self.member(id).silent_until = Some(silent_until);
    }

    /// Who goes by an identifier now, if it is another.
    fn other(&self, me: MemberId, station_id: u32) -> Option<MemberId> {
        self.by_station_id.get(&station_id).copied().filter(|other| *other != me)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> LocalTime {
        LocalTime::ZERO + Duration::from_ms(ms)
    }

    fn pseudonym(number: u32) -> Pseudonym {
        Pseudonym { number, asked_at_s: 0, station_id: 100 + number }
    }

    #[test]
    fn two_exchange_their_pseudonyms_and_a_silent_one_is_left_alone() {
        let accord = ChangeAccord::default();
        let [a, b, c] = [1, 2, 3].map(|number| {
            let member = MemberId::of(number.into());
            accord.join(member);
            accord.goes_by(member, pseudonym(number), at(0));
            member
        });
        let second = Duration::from_s(1);
        let mine = accord.swap(at(10), a, [101, 999, 102, 103].into_iter(), second, || true);
        assert_eq!(mine, Some(pseudonym(2)), "who is not there, or is oneself, is passed over");
        let what = What::Take { pseudonym: pseudonym(1), silence: second };
        assert_eq!(accord.take_orders(b), [Order { at: at(10), what }]);
        assert_eq!(accord.take_orders(b), []);
        // Both are silent now, under each other's identifiers.
        assert_eq!(accord.swap(at(500), c, [101, 102].into_iter(), second, || true), None);
        assert_eq!(accord.swap(at(1_010), c, [102].into_iter(), second, || false), Some(pseudonym(3)));
        let what = What::Take { pseudonym: pseudonym(2), silence: second };
        assert_eq!(accord.take_orders(a), [Order { at: at(1_010), what }]);
    }

    #[test]
    fn whoever_joins_at_a_place_has_nothing_of_who_was_there_before() {
        let accord = ChangeAccord::default();
        let [a, b] = [1, 2].map(MemberId::of);
        accord.join(a);
        accord.join(b);
        accord.goes_by(b, pseudonym(2), at(0));
        accord.take_along(at(1), a, [102].into_iter());
        accord.join(b);
        accord.take_along(at(2), a, [102].into_iter());
        assert_eq!(accord.take_orders(b), [], "neither the order before, nor by the identifier it had");
    }

    #[test]
    fn who_has_left_gets_no_orders() {
        let accord = ChangeAccord::default();
        let [a, b] = [1, 2].map(|number| {
            let member = MemberId::of(number.into());
            accord.join(member);
            accord.goes_by(member, pseudonym(number), at(0));
            member
        });
        accord.take_along(at(1), a, [101, 102].into_iter());
        assert_eq!(accord.take_orders(a), []);
        assert_eq!(accord.take_orders(b), [Order { at: at(1), what: What::Change }]);
        accord.leaves(b);
        accord.take_along(at(2), a, [102].into_iter());
        assert_eq!(accord.take_orders(b), []);
    }
}
