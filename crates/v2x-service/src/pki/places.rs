//! Who is connected to the authorities, who makes room for whom, and how much is done for one peer at once.
//!
//! A peer is an IPv4 address or the /64 an IPv6 address is in, since whoever has one address there has all of them. A place
//! in use is never taken away: a connection is ended only while it is idle or its request has not arrived, the longest
//! idle one of the peer with the most connections first. A part of the places is kept for peers that had a request
//! answered, so that others cannot take them all.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;

/// Connections open at once.
pub(super) const CONNECTIONS_MAX: usize = 512;
/// Of these, kept for peers that had a request answered within [`KNOWN_FOR`].
const KEPT: usize = 128;
/// Connections of one peer.
const OF_ONE_PEER_MAX: usize = 64;
/// How long a peer whose request was answered is known.
const KNOWN_FOR: Duration = Duration::from_secs(3600);
/// Peers remembered at once.
const PEERS_MAX: usize = 4096;
/// Requests of one peer that are decrypted, checked and signed at once.
const WORK_OF_ONE_PEER_MAX: usize = 8;
/// Requests of one peer that wait for other authorities at once.
const OUTWARD_OF_ONE_PEER_MAX: usize = 8;

/// Whoever has one address, and all others that come with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Peer(IpAddr);

impl From<IpAddr> for Peer {
    fn from(address: IpAddr) -> Self {
        Self(match address {
            IpAddr::V4(_) => address,
            IpAddr::V6(six) => match six.to_ipv4_mapped() {
                Some(four) => IpAddr::V4(Ipv4Addr::from_bits(four.to_bits())),
                None => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() >> 64 << 64)),
            },
        })
    }
}

/// A connection.
#[derive(Debug)]
struct Open {
    peer: Peer,
    /// Since when it waits for a request.
    idle_since: Instant,
    /// How many of its requests are worked on.
    working: usize,
    /// Ends it.
    end: Option<AbortHandle>,
}

/// What is known of a peer.
#[derive(Debug)]
struct Known {
    connections: usize,
    /// When a request of it was answered last.
    answered: Option<Instant>,
    work: Arc<Semaphore>,
    outward: Arc<Semaphore>,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            connections: 0,
            answered: None,
            work: Arc::new(Semaphore::new(WORK_OF_ONE_PEER_MAX)),
            outward: Arc::new(Semaphore::new(OUTWARD_OF_ONE_PEER_MAX)),
        }
    }
}

impl Known {
    fn is_stranger(&self) -> bool {
        self.answered.is_none_or(|at| at.elapsed() >= KNOWN_FOR)
    }
}

#[derive(Debug, Default)]
struct Table {
    open: BTreeMap<u64, Open>,
    next: u64,
    peers: BTreeMap<Peer, Known>,
}

/// Who is connected.
#[derive(Debug, Default)]
pub(super) struct Places {
    table: Mutex<Table>,
}

/// A connection's place; free again when its last copy is dropped.
#[derive(Clone, Debug)]
pub(super) struct Guest(Arc<Place>);

#[derive(Debug)]
struct Place {
    places: Arc<Places>,
    number: u64,
    peer: Peer,
    work: Arc<Semaphore>,
    outward: Arc<Semaphore>,
}

/// Permission to work on a request; its connection is not ended meanwhile.
#[derive(Debug)]
pub(super) struct Permit {
    guest: Guest,
    _permit: OwnedSemaphorePermit,
}

impl Places {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a connection of `peer`, if there is one or another connection can be ended for it.
    pub(super) fn take(places: &Arc<Self>, peer: Peer) -> Option<Guest> {
        let mut table = places.lock();
        table.make_room(peer)?;
        table.forget_peers();
        let known = table.peers.entry(peer).or_default();
        known.connections += 1;
        let (work, outward) = (Arc::clone(&known.work), Arc::clone(&known.outward));
        let number = table.next;
        table.next += 1;
        table.open.insert(number, Open { peer, idle_since: Instant::now(), working: 0, end: None });
        Some(Guest(Arc::new(Place { places: Arc::clone(places), number, peer, work, outward })))
    }

    /// Ends the longest idle connection of the peer that has the most, if there is one.
    pub(super) fn end_one(&self) {
        let mut table = self.lock();
        if let Some(number) = table.most_idle(|_, _| true) {
            table.end(number);
        }
    }
}

impl Table {
    /// Sees to it that one more connection of `peer` has a place; none if it cannot have one.
    fn make_room(&mut self, peer: Peer) -> Option<()> {
        let known = self.peers.get(&peer);
        let (own, is_stranger) = known.map_or((0, true), |known| (known.connections, known.is_stranger()));
        if own >= OF_ONE_PEER_MAX {
            let number = self.most_idle(|open, _| open.peer == peer)?;
            self.end(number);
            return Some(());
        }
        let strangers: usize =
            self.peers.values().filter(|known| known.is_stranger()).map(|known| known.connections).sum();
        let no_place_for_strangers = is_stranger && strangers >= CONNECTIONS_MAX - KEPT;
        if self.open.len() >= CONNECTIONS_MAX || no_place_for_strangers {
            let number = self.most_idle(|_, of| match of.is_stranger() {
                true if !is_stranger => true,
                false if no_place_for_strangers => false,
                _ => of.connections > own,
            })?;
            self.end(number);
        }
        Some(())
    }

    /// The connection to end first: of strangers, of the peer with the most, idle for longest.
    fn most_idle(&self, may_end: impl Fn(&Open, &Known) -> bool) -> Option<u64> {
        let candidates = self.open.iter().filter(|(_, open)| open.working == 0);
        let known = candidates.filter_map(|(number, open)| Some((number, open, self.peers.get(&open.peer)?)));
        let first = known.filter(|(_, open, of)| may_end(open, of)).max_by_key(|(number, open, of)| {
            (of.is_stranger(), of.connections, Reverse(open.idle_since), Reverse(**number))
        });
        first.map(|(number, ..)| *number)
    }

    fn end(&mut self, number: u64) {
        let Some(open) = self.open.remove(&number) else { return };
        if let Some(end) = open.end {
            end.abort();
        }
        if let Some(known) = self.peers.get_mut(&open.peer) {
            known.connections -= 1;
            if known.connections == 0 && known.is_stranger() {
                self.peers.remove(&open.peer);
            }
        }
    }

    /// Keeps the number of peers that are remembered and not connected within bounds.
    fn forget_peers(&mut self) {
        while self.peers.len() >= PEERS_MAX {
            let gone = self.peers.iter().filter(|(_, known)| known.connections == 0);
            let Some((oldest, _)) = gone.min_by_key(|(_, known)| known.answered) else { return };
            let oldest = *oldest;
            self.peers.remove(&oldest);
        }
    }
}

impl Guest {
    /// What ends the connection, from when on it may be ended for another.
    pub(super) fn ends_by(&self, end: AbortHandle) {
        match self.0.places.lock().open.get_mut(&self.0.number) {
            Some(open) => open.end = Some(end),
            // It was to be ended before anybody knew how.
            None => end.abort(),
        }
    }

    /// A request of the connection was answered.
    pub(super) fn is_answered(&self) {
        if let Some(known) = self.0.places.lock().peers.get_mut(&self.0.peer) {
            known.answered = Some(Instant::now());
        }
    }

    /// Waits until few enough requests of the same peer are worked on.
    pub(super) async fn work(&self) -> Option<Permit> {
        self.permit(Arc::clone(&self.0.work).acquire_owned().await.ok())
    }

    /// Waits until few enough requests of the same peer wait for other authorities; none if that takes too long.
    pub(super) async fn outward(&self, wait_max: Duration) -> Option<Permit> {
        let permit = tokio::time::timeout(wait_max, Arc::clone(&self.0.outward).acquire_owned()).await;
        self.permit(permit.ok().and_then(Result::ok))
    }

    fn permit(&self, permit: Option<OwnedSemaphorePermit>) -> Option<Permit> {
        let permit = permit?;
        if let Some(open) = self.0.places.lock().open.get_mut(&self.0.number) {
            open.working += 1;
        }
        Some(Permit { guest: self.clone(), _permit: permit })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let place = &self.guest.0;
        if let Some(open) = place.places.lock().open.get_mut(&place.number) {
            open.working = open.working.saturating_sub(1);
            open.idle_since = Instant::now();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.lock().end(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(number: u16) -> Peer {
        let [high, low] = number.to_be_bytes();
        Peer::from(IpAddr::from([10, 0, high, low]))
    }

    fn connections(places: &Places) -> (usize, usize) {
        let table = places.lock();
        (table.open.len(), table.peers.values().map(|known| known.connections).sum())
    }

    /// All places strangers can have, each peer having 64.
    fn besieged() -> (Arc<Places>, Vec<Guest>) {
        let places = Arc::new(Places::default());
        let held: Vec<Guest> =
            (0..384_u16).map(|number| Places::take(&places, peer(number / 64)).expect("there is room")).collect();
        assert_eq!(connections(&places), (384, 384));
        (places, held)
    }

    #[test]
    fn a_peer_is_an_ipv4_address_or_a_64_of_ipv6() {
        let of = |text: &str| Peer::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff:ffff:ffff:ffff"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
        assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
    }

    #[test]
    fn a_stranger_gets_a_place_though_idle_connections_hold_all_and_the_largest_peer_makes_it() {
        let (places, held) = besieged();
        let new = Places::take(&places, peer(100)).expect("an idle connection makes room");
        assert_eq!(connections(&places), (384, 384), "and one is gone for it");
        assert!(!places.lock().open.contains_key(&held[0].0.number), "the one that was idle for longest");
        // However many come after it, it stays: others have more.
        for _ in 0..200 {
            std::mem::forget(Places::take(&places, peer(1)));
        }
        assert!(places.lock().open.contains_key(&new.0.number));
        drop(new);
        drop(held);
    }

    #[test]
    fn what_is_worked_on_stays_and_without_anything_idle_one_more_is_refused() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let places = Arc::new(Places::default());
        let held: Vec<Guest> = (0..384_u16).map(|number| Places::take(&places, peer(number)).unwrap()).collect();
        let permits: Vec<Permit> = runtime.block_on(async {
            let mut permits = Vec::new();
            for guest in &held {
                permits.push(guest.work().await.unwrap());
            }
            permits
        });
        assert!(Places::take(&places, peer(1000)).is_none(), "nothing is idle");
        drop(permits);
        assert!(Places::take(&places, peer(1000)).is_some());
    }

    #[test]
    fn places_are_kept_for_whom_a_request_was_answered() {
        let places = Arc::new(Places::default());
        Places::take(&places, peer(1000)).unwrap().is_answered();
        // Strangers, each from an address of its own, with nothing that makes room.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let mut held = Vec::new();
        let mut permits = Vec::new();
        for number in 0..600_u16 {
            let Some(guest) = Places::take(&places, peer(number)) else { break };
            permits.push(runtime.block_on(guest.work()).unwrap());
            held.push(guest);
        }
        assert_eq!(held.len(), CONNECTIONS_MAX - KEPT);
        let known: Vec<Guest> = (0..OF_ONE_PEER_MAX).map(|_| Places::take(&places, peer(1000)).unwrap()).collect();
        assert_eq!(connections(&places).0, CONNECTIONS_MAX - KEPT + OF_ONE_PEER_MAX);
        drop((known, permits, held));
        assert_eq!(connections(&places), (0, 0));
        assert_eq!(places.lock().peers.len(), 1, "of strangers who are gone nothing is remembered");
    }

    #[test]
    fn one_peer_has_a_bound_and_makes_room_for_itself() {
        let places = Arc::new(Places::default());
        let held: Vec<Guest> = (0..2 * OF_ONE_PEER_MAX).map(|_| Places::take(&places, peer(1)).unwrap()).collect();
        assert_eq!(connections(&places), (OF_ONE_PEER_MAX, OF_ONE_PEER_MAX));
        let open: Vec<u64> = places.lock().open.keys().copied().collect();
        assert_eq!(open.first(), Some(&(OF_ONE_PEER_MAX as u64)), "the older half is gone");
        drop(held);
        assert_eq!(connections(&places), (0, 0));
    }

    #[test]
    fn of_one_peer_no_more_than_eight_requests_are_worked_on_at_once() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let places = Arc::new(Places::default());
        let (one, other) = (Places::take(&places, peer(1)).unwrap(), Places::take(&places, peer(1)).unwrap());
        let stranger = Places::take(&places, peer(2)).unwrap();
        runtime.block_on(async {
            let mut permits = Vec::new();
            for _ in 0..OUTWARD_OF_ONE_PEER_MAX / 2 {
                permits.push(one.outward(Duration::ZERO).await.unwrap());
                permits.push(other.outward(Duration::ZERO).await.unwrap());
            }
            assert!(one.outward(Duration::from_millis(1)).await.is_none(), "one more of the same peer");
            assert!(stranger.outward(Duration::from_millis(1)).await.is_some(), "of another one");
            permits.pop();
            assert!(one.outward(Duration::from_millis(1)).await.is_some());
        });
    }
}
