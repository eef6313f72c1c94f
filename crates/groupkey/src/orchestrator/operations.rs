//! What the orchestrator can be asked to do to a network, and which secrets each of that renews.

#[cfg(doc)]
use chronoseal_core::EventKind;
use chronoseal_core::{AbortReason, LocalTime};
use chronoseal_crypto::suite::Suite;

use super::{NOT_SUPERVISED, Orchestrator, Phase, Progression, Readiness};
use crate::identifier::Address;
use crate::membership::Membership;
use crate::profile::{MEMBERS_MAX, OrchestrationSigning, Scheme};
use crate::station_to_station::Stage;
use crate::tree::MembershipChange;

/// Operations that can wait.
pub const OPERATIONS_MAX: usize = 16;

/// What the orchestrator can do to a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// A key for everybody: every exchange of the tree.
    Establish,
    /// Removes an ECU: the orchestrator takes its place, and every key it held is renewed.
    Remove(Address),
    /// Takes an ECU back, or in for the first time.
    Add(Address),
    /// Takes several ECUs in together, each back or for the first time, with one new key. They are given by their places
    /// in the roster.
    Admit(Membership),
    /// Removes an ECU for good: its credential is not accepted again.
    Revoke(Address),
    /// Joins the two networks whose roster and tree were given to [`Orchestrator::merge_into`].
    Merge,
}

/// Why an operation is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OperationError {
    /// No such ECU.
    #[error("address {0} is no ECU of this network")]
    UnknownAddress(Address),
    /// No ECU at a place of the roster.
    #[error("the roster has no ECU at place {0}, counted from 0")]
    UnknownPlace(usize),
    /// Nobody is to be taken in.
    #[error("no ECU is named that is to be taken in")]
    Nobody,
    /// It is not in the group.
    #[error("address {0} has been removed already")]
    AlreadyRemoved(Address),
    /// It is in the group.
    #[error("address {0} has not been removed")]
    AlreadyPresent(Address),
    /// Nobody would be left to share a key with.
    #[error("address {0} is the last ECU of the group")]
    LastMember(Address),
    /// Its credential was revoked.
    #[error("the credential of address {0} is revoked")]
    Revoked(Address),
    /// Nothing was merged into this network.
    #[error("there is no second network to merge with")]
    NothingToMerge,
    /// Too many operations wait.
    #[error("{OPERATIONS_MAX} operations wait already")]
    TooMany,
}

impl<S: Suite> Orchestrator<S> {
    /// Asks for an operation, not before `at` and after those asked for earlier. It begins with the next input.
    ///
    /// # Errors
    /// [`OperationError::TooMany`], or one that says that the roster has no such ECU. What depends on the state of the network then is
    /// checked when its turn comes, and told as [`EventKind::KeyRefused`].
    pub fn schedule(&mut self, at: LocalTime, operation: Operation) -> Result<(), OperationError> {
        if let Operation::Remove(address) | Operation::Add(address) | Operation::Revoke(address) = operation
            && self.manager.roster.position(address).is_none()
        {
            return Err(OperationError::UnknownAddress(address));
        }
        if let Operation::Admit(places) = operation {
            let mut named = (0..MEMBERS_MAX).filter(|place| places.contains(*place)).peekable();
            named.peek().ok_or(OperationError::Nobody)?;
            if let Some(place) = named.find(|place| *place >= self.manager.roster.len()) {
                return Err(OperationError::UnknownPlace(place));
            }
        }
        let free = self.operations.iter_mut().find(|slot| slot.is_none()).ok_or(OperationError::TooMany)?;
        *free = Some((at, operation));
        Ok(())
    }

    pub(super) fn is_operation_due(&self, now: LocalTime) -> bool {
        self.operations[0].is_some_and(|(at, _)| at <= now)
    }

    pub(super) fn begin_operation(&mut self, now: LocalTime) -> bool {
        let Some((at, operation)) = self.operations[0] else { return false };
        if at > now {
            return false;
        }
        if !self.begin_epoch(now) {
            return false;
        }
        self.operations.rotate_left(1);
        self.operations[self.operations.len() - 1] = None;
        if let Err(error) = self.plan(operation) {
            let (reason, peer) = match error {
                OperationError::LastMember(peer) | OperationError::Revoked(peer) => (AbortReason::WrongAddresses, peer),
                _ => (AbortReason::WrongAddresses, self.manager.own),
            };
            self.manager.refuse(Stage::Orchestration, peer, reason);
            return true;
        }
        let is_once = self.manager.settings.signing == OrchestrationSigning::Once;
        self.is_along_tree = is_once && operation == Operation::Establish;
        self.phase = if self.is_along_tree { Phase::Starting { is_asked: false } } else { Phase::Exchanging };
        true
    }

    /// Marks what an operation has to renew.
    fn plan(&mut self, operation: Operation) -> Result<(), OperationError> {
        let tree = &mut self.manager.tree;
        let mut renewed = [false; 256];
        match operation {
            Operation::Establish => {
                tree.results().for_each(|result| renewed[result.index()] = true);
                // Without a pair for each ECU the orchestrator follows its own leaf's path.
                self.followed = match tree.scheme() {
                    Scheme::WithoutOrchestrator => self.manager.own,
                    _ => tree.present().next().unwrap_or(self.manager.own),
                };
            }
            Operation::Remove(address) | Operation::Revoke(address) => {
                if !tree.is_present(address) {
                    return Err(OperationError::AlreadyRemoved(address));
                }
                if tree.present().count() == 1 {
                    return Err(OperationError::LastMember(address));
                }
                self.is_exposed = true;
                self.is_revoked[address.index()] |= matches!(operation, Operation::Revoke(_));
                tree.apply(MembershipChange::Vacated(address));
                // The pair of a removed ECU is the orchestrator alone, which needs no exchange.
                tree.path(address).for_each(|result| renewed[result.index()] = true);
                self.followed = address;
            }
            Operation::Add(address) => self.admit([address].into_iter(), &mut renewed)?,
            Operation::Admit(places) => {
                let mut newcomers = [Address::RESERVED; MEMBERS_MAX];
                let mut len = 0;
                for (place, entry) in self.manager.roster.members().enumerate() {
                    if places.contains(place) {
                        newcomers[len] = entry.address;
                        len += 1;
                    }
                }
                self.admit(newcomers[..len].iter().copied(), &mut renewed)?;
            }
            Operation::Merge => {
                if !self.can_merge {
                    return Err(OperationError::NothingToMerge);
                }
                self.can_merge = false;
                tree.root().into_iter().for_each(|root| renewed[root.index()] = true);
            }
        }
        let first = match self.manager.settings.signing {
            OrchestrationSigning::Ahead => Progression::Unsigned,
            _ => Progression::Pending,
        };
        for (index, is_renewed) in renewed.into_iter().enumerate() {
            let is_due = is_renewed || self.is_stale[index];
            self.is_stale[index] = is_due;
            self.supervision[index] = NOT_SUPERVISED;
            self.signatures[index] = None;
            if is_due {
                self.supervision[index].progression = first;
                self.manager.invalidate(Address(index as u8));
            }
        }
        self.manager.candidate = None;
        self.readiness = [Readiness::Missing; 256];
        self.is_served = [false; 256];
        self.can_renew = true;
        Ok(())
    }

    /// Takes ECUs in, all or none, and marks what is above them. The orchestrator follows the way of the first.
    fn admit(
        &mut self,
        newcomers: impl Iterator<Item = Address> + Clone,
        renewed: &mut [bool; 256],
    ) -> Result<(), OperationError> {
        let tree = &mut self.manager.tree;
        for address in newcomers.clone() {
            if tree.is_present(address) {
                return Err(OperationError::AlreadyPresent(address));
            }
            if self.is_revoked[address.index()] {
                return Err(OperationError::Revoked(address));
            }
        }
        self.followed = newcomers.clone().next().ok_or(OperationError::Nobody)?;
        for address in newcomers {
            tree.apply(MembershipChange::Occupied(address));
            tree.path(address).for_each(|result| renewed[result.index()] = true);
        }
        Ok(())
    }
}
