//! Who is in the group, as a hardened request says it, and what a node has to keep when its power goes.

use chronoseal_crypto::suite::Suite;

use crate::profile::MEMBERS_MAX;
use crate::roster::Roster;
use crate::tree::{MembershipChange, Tree};

/// Length of a [`Membership`] in a message `[byte]`: a bit for each place of a roster.
pub const MEMBERSHIP_LEN: usize = MEMBERS_MAX.div_ceil(8);
/// Length of [`Persisted`] as bytes `[byte]`.
pub const PERSISTED_LEN: usize = 4 + 2 * MEMBERSHIP_LEN;

/// Which ECUs of a roster are meant, by their places: the first is the highest bit of the first byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Membership([u8; MEMBERSHIP_LEN]);

impl Membership {
    /// Nobody.
    pub const NONE: Self = Self([0; MEMBERSHIP_LEN]);

    /// Who is in the group by this tree.
    pub fn of<S: Suite>(roster: &Roster<S>, tree: &Tree) -> Self {
        let mut membership = Self::NONE;
        for (position, entry) in roster.members().enumerate() {
            membership.set(position, tree.is_present(entry.address));
        }
        membership
    }

    /// Adds or takes out the ECU at a place of the roster.
    ///
    /// # Panics
    /// If no roster has so many places.
    pub const fn set(&mut self, position: usize, is_in: bool) {
        let bit = 0x80 >> (position % 8);
        if is_in {
            self.0[position / 8] |= bit;
        } else {
            self.0[position / 8] &= !bit;
        }
    }

    /// True if the ECU at this place of the roster is among them.
    pub const fn contains(&self, position: usize) -> bool {
        position < MEMBERS_MAX && self.0[position / 8] & 0x80 >> (position % 8) != 0
    }

    /// Makes it the membership of a tree; what this changes there goes to `changed`.
    pub(crate) fn apply<S: Suite>(
        &self,
        roster: &Roster<S>,
        tree: &mut Tree,
        mut changed: impl FnMut(MembershipChange),
    ) {
        for (position, entry) in roster.members().enumerate() {
            let change = match (self.contains(position), tree.is_present(entry.address)) {
                (true, false) => MembershipChange::Occupied(entry.address),
                (false, true) => MembershipChange::Vacated(entry.address),
                _ => continue,
            };
            tree.apply(change);
            changed(change);
        }
    }

    /// As sent.
    pub const fn to_bytes(self) -> [u8; MEMBERSHIP_LEN] {
        self.0
    }

    /// As received.
    pub const fn from_bytes(bytes: [u8; MEMBERSHIP_LEN]) -> Self {
        Self(bytes)
    }
}

/// What a node has to keep through a loss of power, so that nothing old is taken for new. It holds no secret.
///
/// The driver stores it whenever it has changed, before it sends or uses anything the node gave after the change, and hands
/// it to the node that it makes after the restart ([`Member::restored`](crate::Member::restored),
/// [`Orchestrator::restored`](crate::Orchestrator::restored)).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Persisted {
    /// The highest epoch that a request, a commit or a key of this node has had.
    pub epoch: u32,
    /// Who was in the group.
    pub present: Membership,
    /// The orchestrator only: whose credentials it has revoked.
    pub revoked: Membership,
}

impl Persisted {
    /// As stored: epoch, present, revoked.
    pub fn to_bytes(self) -> [u8; PERSISTED_LEN] {
        let mut bytes = [0; PERSISTED_LEN];
        bytes[..4].copy_from_slice(&self.epoch.to_be_bytes());
        bytes[4..][..MEMBERSHIP_LEN].copy_from_slice(&self.present.to_bytes());
        bytes[4 + MEMBERSHIP_LEN..].copy_from_slice(&self.revoked.to_bytes());
        bytes
    }

    /// As read back.
    pub fn from_bytes(bytes: &[u8; PERSISTED_LEN]) -> Self {
        let array = |start: usize| core::array::from_fn(|index| bytes[start + index]);
        Self {
            epoch: u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
            present: Membership::from_bytes(array(4)),
            revoked: Membership::from_bytes(array(4 + MEMBERSHIP_LEN)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_a_roster_has_a_bit_of_its_own() {
        for position in 0..MEMBERS_MAX {
            let mut membership = Membership::NONE;
            membership.set(position, true);
            assert!((0..200).all(|other| membership.contains(other) == (other == position)));
            assert_eq!(Membership::from_bytes(membership.to_bytes()), membership);
            membership.set(position, false);
            assert_eq!(membership, Membership::NONE);
        }
    }

    #[test]
    fn what_is_stored_comes_back() {
        let mut persisted = Persisted { epoch: 0x0102_0304, ..Persisted::default() };
        persisted.present.set(0, true);
        persisted.revoked.set(126, true);
        let bytes = persisted.to_bytes();
        assert_eq!((bytes.len(), bytes[..5].to_vec(), bytes[35]), (36, vec![1, 2, 3, 4, 0x80], 0x02));
        assert_eq!(Persisted::from_bytes(&bytes), persisted);
    }
}
