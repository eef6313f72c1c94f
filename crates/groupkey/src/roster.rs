//! Who belongs to a network: addresses, capabilities and public keys, known to every node.

use chronoseal_crypto::suite::{PublicKey, PublicKeyError, Suite};

use crate::identifier::Address;
use crate::profile::{MEMBERS_MAX, Scheme, SpareNode};

/// One ECU or orchestrator of a network.
pub struct RosterEntry<S: Suite> {
    /// Its address.
    pub address: Address,
    /// Its computational resources, in any unit: within a logical ECU the member with the highest number is active.
    pub capability: u32,
    /// The key its signatures are checked with.
    pub verifying_key: S::VerifyingKey,
    /// The same, as it was given.
    public_key: PublicKey,
}

impl<S: Suite> Clone for RosterEntry<S> {
    fn clone(&self) -> Self {
        let Self { address, capability, public_key, .. } = *self;
        Self { address, capability, verifying_key: self.verifying_key.clone(), public_key }
    }
}

/// The orchestrator and the ECUs of a network, in the order of the tree's leaves.
///
/// After two networks have merged, the second one's orchestrator is among the members.
pub struct Roster<S: Suite> {
    orchestrator: RosterEntry<S>,
    members: [Option<RosterEntry<S>>; MEMBERS_MAX],
    len: usize,
}

impl<S: Suite> Clone for Roster<S> {
    fn clone(&self) -> Self {
        Self { orchestrator: self.orchestrator.clone(), members: self.members.clone(), len: self.len }
    }
}

/// Why a roster is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RosterError {
    /// Address 0 means nobody.
    #[error("address 0 is reserved")]
    ReservedAddress,
    /// Two nodes share an address.
    #[error("address {0} is given twice")]
    DuplicateAddress(Address),
    /// More ECUs than the scheme has addresses for.
    #[error("{n} ECUs; one-byte addresses allow {limit} in the {} scheme", scheme.name())]
    TooManyMembers {
        /// How many there are, or would be.
        n: usize,
        /// How many can be.
        limit: usize,
        /// In which scheme.
        scheme: Scheme,
    },
    /// Nobody to agree with.
    #[error("a group needs 2 ECUs at least, not {0}")]
    TooFewMembers(usize),
    /// A node without a public key.
    #[error("no public key is stored for address {0}")]
    MissingPublicKey(Address),
    /// A public key the suite refuses.
    #[error("the public key stored for address {address} is refused: {error}")]
    BadPublicKey {
        /// Whose.
        address: Address,
        /// Why.
        error: PublicKeyError,
    },
    /// Two addresses with one public key: what the one signs would count as the other's.
    #[error("the public key stored for address {address} is that of address {other}; give each node a key of its own")]
    SharedPublicKey {
        /// Whose key comes second.
        address: Address,
        /// Who has it already.
        other: Address,
    },
    /// A node that the roster does not have.
    #[error("address {0} is not in the roster")]
    UnknownAddress(Address),
    /// A private key whose public half is not the one stored.
    #[error("the private key given to address {0} does not belong to the public key stored for it")]
    MismatchedKey(Address),
    /// Only the network's orchestrator can be one.
    #[error("address {0} is not the orchestrator of this network")]
    NotTheOrchestrator(Address),
    /// A tree with direct assignments cannot be run along without a request for each.
    #[error("a run with one request for all cannot hold {0:?}s, which are requests themselves")]
    NeedsRequests(SpareNode),
    /// Networks of the symmetric scheme have no roots to join.
    #[error("a network without a root cannot be merged")]
    NoRoot,
    /// No address is left for a logical ECU.
    #[error("no address is left for the logical ECUs")]
    AddressesExhausted,
}

impl<S: Suite> Roster<S> {
    /// A roster without members yet. `public_key` is `None` if none is stored, which is an error worth its name.
    ///
    /// # Errors
    /// [`RosterError`] for the reserved address and a missing or bad key.
    pub fn new(address: Address, capability: u32, public_key: Option<&[u8]>) -> Result<Self, RosterError> {
        let orchestrator = entry(address, capability, public_key)?;
        Ok(Self { orchestrator, members: [const { None }; MEMBERS_MAX], len: 0 })
    }

    /// Adds an ECU behind the others.
    ///
    /// # Errors
    /// [`RosterError`] for a reserved or duplicate address, a missing or bad key or one that another node has, or one ECU
    /// too many for any scheme.
    pub fn add(&mut self, address: Address, capability: u32, public_key: Option<&[u8]>) -> Result<(), RosterError> {
        self.insert(entry(address, capability, public_key)?)
    }

    fn insert(&mut self, entry: RosterEntry<S>) -> Result<(), RosterError> {
        if self.find(entry.address).is_some() {
            return Err(RosterError::DuplicateAddress(entry.address));
        }
        let has_its_key = |other: &&RosterEntry<S>| other.public_key.as_bytes() == entry.public_key.as_bytes();
        if let Some(other) = self.members().chain([&self.orchestrator]).find(has_its_key) {
            return Err(RosterError::SharedPublicKey { address: entry.address, other: other.address });
        }
        let scheme = Scheme::WithoutOrchestrator;
        let full = RosterError::TooManyMembers { n: self.len + 1, limit: scheme.members_max(), scheme };
        *self.members.get_mut(self.len).ok_or(full)? = Some(entry);
        self.len += 1;
        Ok(())
    }

    /// The roster of two networks merged under this one's orchestrator; the other's becomes a member.
    ///
    /// # Errors
    /// [`RosterError::DuplicateAddress`] if both use an address, [`RosterError::SharedPublicKey`] if both have a public key,
    /// or [`RosterError::TooManyMembers`].
    pub fn merged_with(&self, other: &Self) -> Result<Self, RosterError> {
        let mut merged = self.clone();
        other.members().chain([&other.orchestrator]).try_for_each(|entry| merged.insert(entry.clone()))?;
        Ok(merged)
    }

    /// How many ECUs there are, the orchestrator not counted.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// True if there are none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The orchestrator.
    pub const fn orchestrator(&self) -> &RosterEntry<S> {
        &self.orchestrator
    }

    /// The ECUs in order.
    pub fn members(&self) -> impl DoubleEndedIterator<Item = &RosterEntry<S>> {
        self.members[..self.len].iter().flatten()
    }

    /// A node by its address.
    pub fn find(&self, address: Address) -> Option<&RosterEntry<S>> {
        if address == self.orchestrator.address {
            return Some(&self.orchestrator);
        }
        self.members().find(|entry| entry.address == address)
    }

    /// An ECU's place among the members.
    pub fn position(&self, address: Address) -> Option<usize> {
        self.members().position(|entry| entry.address == address)
    }

    /// Checks that a private key belongs to the public key stored for an address.
    ///
    /// # Errors
    /// [`RosterError::UnknownAddress`] or [`RosterError::MismatchedKey`].
    pub fn check_own_key(&self, address: Address, key: &S::SigningKey) -> Result<(), RosterError> {
        let entry = self.find(address).ok_or(RosterError::UnknownAddress(address))?;
        // A key does not tell its bytes once it has been checked, so let it prove itself.
        let text = b"chronoseal group key: does this key belong to me";
        S::verify(&entry.verifying_key, text, &S::sign(key, text)).map_err(|_| RosterError::MismatchedKey(address))
    }
}

fn entry<S: Suite>(
    address: Address,
    capability: u32,
    public_key: Option<&[u8]>,
) -> Result<RosterEntry<S>, RosterError> {
    if address == Address::RESERVED {
        return Err(RosterError::ReservedAddress);
    }
    let bytes = public_key.ok_or(RosterError::MissingPublicKey(address))?;
    let verifying_key = S::verifying_key(bytes).map_err(|error| RosterError::BadPublicKey { address, error })?;
    let wrong_length = PublicKeyError::WrongLength { found: bytes.len(), expected: S::PUBLIC_KEY_LEN };
    let public_key = PublicKey::new(bytes).ok_or(RosterError::BadPublicKey { address, error: wrong_length })?;
    Ok(RosterEntry { address, capability, verifying_key, public_key })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::swift::Swift as Chosen;
    use chronoseal_crypto::suite::PublicKey;

    fn public(seed: u8) -> PublicKey {
        Chosen::public_key(&Chosen::signing_key(&[seed; 32]))
    }

    fn roster() -> Roster<Chosen> {
        Roster::new(Address(250), 1, Some(public(250).as_bytes())).unwrap()
    }

    #[test]
    fn refuses_reserved_and_duplicate_addresses() {
        let mut roster = roster();
        assert_eq!(roster.add(Address(0), 1, Some(public(1).as_bytes())), Err(RosterError::ReservedAddress));
        assert_eq!(roster.add(Address(1), 1, Some(public(1).as_bytes())), Ok(()));
        assert!(!roster.is_empty());
        for address in [Address(1), Address(250)] {
            let again = roster.add(address, 1, Some(public(2).as_bytes()));
            assert_eq!(again, Err(RosterError::DuplicateAddress(address)));
        }
        assert_eq!(roster.len(), 1);
        assert!(Roster::<Chosen>::new(Address(0), 1, Some(public(1).as_bytes())).is_err());
    }

    #[test]
    fn refuses_a_public_key_that_another_node_has() {
        let mut roster = roster();
        roster.add(Address(1), 1, Some(public(1).as_bytes())).unwrap();
        for (key, other) in [(1, Address(1)), (250, Address(250))] {
            let refused = roster.add(Address(2), 1, Some(public(key).as_bytes()));
            assert_eq!(refused, Err(RosterError::SharedPublicKey { address: Address(2), other }));
        }
        assert_eq!(roster.len(), 1);
        let mut second = Roster::<Chosen>::new(Address(251), 1, Some(public(251).as_bytes())).unwrap();
        second.add(Address(101), 1, Some(public(1).as_bytes())).unwrap();
        let refused = roster.merged_with(&second).err();
        assert_eq!(refused, Some(RosterError::SharedPublicKey { address: Address(101), other: Address(1) }));
    }

    #[test]
    fn refuses_missing_and_bad_public_keys() {
        let mut roster = roster();
        assert_eq!(roster.add(Address(1), 1, None), Err(RosterError::MissingPublicKey(Address(1))));
        // Too short, and one under which anybody can sign.
        for bytes in [&[1; 31][..], &[0; 32]] {
            let refused = roster.add(Address(1), 1, Some(bytes));
            assert!(matches!(refused, Err(RosterError::BadPublicKey { address: Address(1), .. })), "{refused:?}");
        }
        assert!(roster.is_empty());
    }

    #[test]
    fn tells_a_private_key_that_belongs_to_another() {
        let mut roster = roster();
        roster.add(Address(1), 1, Some(public(1).as_bytes())).unwrap();
        let own = Chosen::signing_key(&[1; 32]);
        assert_eq!(roster.check_own_key(Address(1), &own), Ok(()));
        assert_eq!(roster.check_own_key(Address(250), &own), Err(RosterError::MismatchedKey(Address(250))));
        assert_eq!(roster.check_own_key(Address(2), &own), Err(RosterError::UnknownAddress(Address(2))));
    }

    #[test]
    fn has_a_limit() {
        let mut roster = roster();
        for number in 1..=127 {
            assert_eq!(roster.add(Address(number), 1, Some(public(number).as_bytes())), Ok(()));
        }
        let refused = roster.add(Address(128), 1, Some(public(128).as_bytes()));
        assert!(matches!(refused, Err(RosterError::TooManyMembers { n: 128, limit: 127, .. })));
    }
}
