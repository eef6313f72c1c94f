//! How often a removed node brings the old key back, by repeating what its half of the tree said before.

use std::sync::{Arc, Mutex, PoisonError};

use chronoseal_core::random::{self, Purpose, Rng};
use chronoseal_core::{HandleError, Input, LocalTime, Node, Output, PortId};
use chronoseal_crypto::suite::{FourQ, SECRET_LEN, Suite};
use chronoseal_groupkey::adversary::Replayer;
use chronoseal_groupkey::{
    Address, Installation, Member, NodeConfig, Operation, Orchestrator, Profile, Roster, Scheme, Settings, SpareNode,
    Transport, Tree,
};
use chronoseal_report::{Cell, Evidence, Table};

use super::on_bus::{self, REMOVAL_AT};
use crate::StudyError;

/// Sizes of the groups, the orchestrator not counted; each member is removed from a group of its own.
const SIZES: std::ops::RangeInclusive<u8> = 3..=8;
const LEAD: Address = Address(250);

/// Epoch and key of each key that a node took into use, compared here and shown nowhere.
type Keys = Arc<Mutex<Vec<(u32, [u8; 16])>>>;

/// A member whose keys can be looked at when the run is over.
struct Shown {
    member: Member<FourQ>,
    keys: Keys,
}

impl Node for Shown {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.member.handle_input(now, input)
    }

    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        let output = self.member.poll_output(now, frame);
        if let Some(key) = self.member.group_key() {
            let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
            if keys.last().is_none_or(|(epoch, _)| *epoch != key.epoch) {
                keys.push((key.epoch, *key.key.expose()));
            }
        }
        output
    }
}

/// True if a present member takes the key that the removed one has into use again.
fn comes_back(settings: Settings, scheme: Scheme, n: u8, removed: u8, seed: u64) -> Result<bool, StudyError> {
    let failed = |error: &dyn std::fmt::Display| StudyError::Scenario(error.to_string());
    let drawn = |purpose: u64, address: Address| {
        let mut bytes = [0; SECRET_LEN];
        random::stream(seed, Purpose::Key, purpose << 32 | u64::from(address.0)).fill_bytes(&mut bytes);
        bytes
    };
    let signing_key = |address| FourQ::signing_key(&drawn(1, address));
    let public = |address| FourQ::public_key(&signing_key(address));
    let mut roster = Roster::<FourQ>::new(LEAD, 300, Some(public(LEAD).as_bytes())).map_err(|error| failed(&error))?;
    for address in (1..=n).map(Address) {
        roster.add(address, 300, Some(public(address).as_bytes())).map_err(|error| failed(&error))?;
    }
    let tree = Tree::new(&roster, scheme, SpareNode::JoinsHigherLevel).map_err(|error| failed(&error))?;
    let config = |address| NodeConfig {
        settings,
        address,
        signing_key: signing_key(address),
        roster: roster.clone(),
        tree: tree.clone(),
        seed: drawn(2, address),
    };
    let removal_at = LocalTime::ZERO + REMOVAL_AT;
    let mut orchestrator = Orchestrator::new(config(LEAD)).map_err(|error| failed(&error))?;
    orchestrator.schedule(removal_at, Operation::Remove(Address(removed))).map_err(|error| failed(&error))?;
    let mut nodes: Vec<Box<dyn Node + Send>> = vec![Box::new(orchestrator)];
    let mut shown = Vec::new();
    for address in (1..=n).map(Address) {
        let (member, keys) = (Member::new(config(address)).map_err(|error| failed(&error))?, Keys::default());
        shown.push(keys.clone());
        nodes.push(Box::new(Shown { member, keys }));
    }
    nodes.push(Box::new(Replayer::new(PortId(0), tree.path(Address(removed)), removal_at)));
    on_bus::run(nodes, seed)?;
    let keys = |index: usize| shown[index].lock().unwrap_or_else(PoisonError::into_inner).clone();
    let old = keys(usize::from(removed) - 1);
    let Some((_, old)) = old.last() else { return Err(failed(&"the group did not come to a first key")) };
    let others = (0..usize::from(n)).filter(|index| *index != usize::from(removed) - 1);
    Ok(others.flat_map(|index| keys(index).into_iter().skip(1)).any(|(_, key)| key == *old))
}

/// Removals in which the old key comes back, and all removals.
fn counted(settings: Settings, scheme: Scheme, seed: u64) -> Result<(u64, u64), StudyError> {
    let (mut back, mut all) = (0, 0);
    for n in SIZES {
        for removed in 1..=n {
            back += u64::from(comes_back(settings, scheme, n, removed, seed)?);
            all += 1;
        }
    }
    Ok((back, all))
}

/// Every profile, installation and scheme.
pub(super) fn table(seed: u64) -> Result<Table, StudyError> {
    let mut table = Table::new("Removals after which the removed node's key is in use again")
        .words("profile")
        .words("a key is taken into use");
    for scheme in Scheme::ALL {
        table = table.numbers(scheme.name(), "");
    }
    table = table.numbers("removals", "").footnote(
        "Groups of 3 to 8 ECUs on one bus of CAN-FD at 1 and 2 Mbit/s, all at TC297's prices; each ECU is removed from a group of \
         its own. From its removal on it repeats, at once, the share and the confirmation with which its half of the tree \
         answered the same request before. It counts if a present ECU takes the key of before the removal into use under a new \
         epoch. The symmetric scheme has no half that a removal leaves untouched. Executed with real cryptography, seeded.",
    );
    for profile in Profile::ALL {
        for (installation, when) in [
            (Installation::Unconfirmed, "at once, where the source ends"),
            (Installation::Confirmed, "when all have confirmed it"),
        ] {
            let settings = Settings { installation, ..Settings::new(profile, Transport::Fd) };
            let mut row = vec![Cell::text(profile.name()), Cell::text(when)];
            let mut all = 0;
            for scheme in Scheme::ALL {
                let (back, removals) = counted(settings, scheme, seed)?;
                all = removals;
                row.push(Cell::count(back).from(Evidence::Simulated));
            }
            row.push(Cell::count(all));
            table.push(row);
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_key_comes_back_as_published_and_unconfirmed_only() {
        for (profile, installation, is_back) in [
            (Profile::AsPublished, Installation::Unconfirmed, true),
            (Profile::AsPublished, Installation::Confirmed, false),
            (Profile::Hardened, Installation::Unconfirmed, false),
        ] {
            let settings = Settings { installation, ..Settings::new(profile, Transport::Fd) };
            let found = (1..=4).map(|removed| comes_back(settings, Scheme::FullTree, 4, removed, 1).unwrap());
            assert_eq!(found.into_iter().any(|back| back), is_back, "{profile:?} {installation:?}");
        }
    }
}
