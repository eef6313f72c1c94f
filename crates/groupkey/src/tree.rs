//! The tree of logical ECUs: who is in each, who acts for it, and whom an exchange joins.
//!
//! Every node computes the same tree from the roster. It holds no secrets.

use chronoseal_crypto::suite::Suite;

use crate::identifier::{Address, ExchangeId, Side};
use crate::profile::{Scheme, SpareNode};
use crate::roster::{Roster, RosterError};

/// What has an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Nothing.
    Absent,
    /// An ECU.
    Member,
    /// An orchestrator: a leaf, or outside the tree.
    Orchestrator,
    /// The logical ECU of an ECU (left) and its orchestrator (right).
    Pair,
    /// The logical ECU of two others.
    Logical,
    /// The logical ECU of one other (left).
    Single,
}

#[derive(Clone, Copy, Debug)]
struct TreeNode {
    kind: Kind,
    left: Address,
    right: Address,
    parent: Address,
    /// For an ECU: removed, and the orchestrator stands in its place.
    is_vacant: bool,
    capability: u32,
}

const NOTHING: TreeNode = TreeNode {
    kind: Kind::Absent,
    left: Address::RESERVED,
    right: Address::RESERVED,
    parent: Address::RESERVED,
    is_vacant: false,
    capability: 0,
};

/// The tree. Logical ECUs take the lowest free addresses, leaves first, so that every node numbers them alike.
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: [TreeNode; 256],
    /// Logical ECUs, each behind its children.
    results: [Address; 256],
    results_len: usize,
    scheme: Scheme,
    lead: Address,
    root: Option<Address>,
}

/// What a requested exchange says about a child of its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MembershipChange {
    /// The orchestrator stands in its place: it was removed.
    Vacated(Address),
    /// It is back.
    Occupied(Address),
}

/// An exchange that does not fit the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no exchange of the tree has these addresses")]
pub struct NotInTree;

impl Tree {
    /// The tree of a roster.
    ///
    /// # Errors
    /// [`RosterError`] for fewer than two ECUs, more than the scheme allows, or too few addresses.
    pub fn new<S: Suite>(roster: &Roster<S>, scheme: Scheme, spare: SpareNode) -> Result<Self, RosterError> {
        let n = roster.len();
        if n < 2 {
            return Err(RosterError::TooFewMembers(n));
        }
        if n > scheme.members_max() {
            return Err(RosterError::TooManyMembers { n, limit: scheme.members_max(), scheme });
        }
        let lead = roster.orchestrator().address;
        let mut tree =
            Self { nodes: [NOTHING; 256], results: [Address::RESERVED; 256], results_len: 0, scheme, lead, root: None };
        tree.nodes[lead.index()].kind = Kind::Orchestrator;
        for member in roster.members() {
            let node = &mut tree.nodes[member.address.index()];
            (node.kind, node.capability) = (Kind::Member, member.capability);
        }
        let mut level = [Address::RESERVED; 128];
        let mut width = 0;
        for member in roster.members() {
            level[width] = match scheme {
                Scheme::FullTree | Scheme::Symmetric => tree.join(Kind::Pair, member.address, lead)?,
                Scheme::WithoutOrchestrator => member.address,
            };
            width += 1;
        }
        if scheme == Scheme::WithoutOrchestrator {
            level[width] = lead;
            width += 1;
        }
        if scheme == Scheme::Symmetric {
            return Ok(tree);
        }
        while width > 1 {
            let pairs = width / 2;
            for pair in 0..pairs {
                level[pair] = tree.join(Kind::Logical, level[2 * pair], level[2 * pair + 1])?;
            }
            if width % 2 == 1 {
                let single = level[width - 1];
                level[pairs] = match spare {
                    SpareNode::JoinsHigherLevel => single,
                    SpareNode::DirectAssignment => tree.join(Kind::Single, single, Address::RESERVED)?,
                };
            }
            width = width.div_ceil(2);
        }
        tree.root = Some(level[0]);
        Ok(tree)
    }

    /// A logical ECU over one or two others, with the lowest free address.
    fn join(&mut self, kind: Kind, left: Address, right: Address) -> Result<Address, RosterError> {
        let free = (1..=u8::MAX).map(Address).find(|address| self.node(*address).kind == Kind::Absent);
        let address = free.ok_or(RosterError::AddressesExhausted)?;
        self.nodes[address.index()] = TreeNode { kind, left, right, ..NOTHING };
        self.nodes[left.index()].parent = address;
        // In a pair the orchestrator has as many parents as there are ECUs, so it keeps none.
        if kind == Kind::Logical {
            self.nodes[right.index()].parent = address;
        }
        self.results[self.results_len] = address;
        self.results_len += 1;
        Ok(address)
    }

    /// The tree of two networks under a new root, led by this one's orchestrator.
    ///
    /// # Errors
    /// [`RosterError::DuplicateAddress`] if an address is used in both, logical ones included;
    /// [`RosterError::AddressesExhausted`] if none is left for the root; [`RosterError::NoRoot`] if one has none.
    pub fn merged_with(&self, other: &Self) -> Result<Self, RosterError> {
        let (Some(left), Some(right)) = (self.root, other.root) else { return Err(RosterError::NoRoot) };
        let mut merged = self.clone();
        for (index, node) in other.nodes.iter().enumerate().filter(|(_, node)| node.kind != Kind::Absent) {
            if merged.nodes[index].kind != Kind::Absent {
                return Err(RosterError::DuplicateAddress(Address(index as u8)));
            }
            merged.nodes[index] = *node;
        }
        let end = merged.results_len + other.results_len;
        merged.results[merged.results_len..end].copy_from_slice(&other.results[..other.results_len]);
        merged.results_len = end;
        merged.root = Some(merged.join(Kind::Logical, left, right)?);
        Ok(merged)
    }

    /// Gives the logical ECUs of a network other addresses, so that it can [merge](Self::merged_with) with one whose
    /// `taken` addresses they would meet. ECUs keep theirs.
    ///
    /// # Errors
    /// [`RosterError::AddressesExhausted`].
    pub fn renumbered(&self, taken: &Self) -> Result<Self, RosterError> {
        let mut renumbered = self.clone();
        for slot in 0..self.results_len {
            let old = self.results[slot];
            if taken.node(old).kind == Kind::Absent {
                continue;
            }
            let is_free = |address: &Address| {
                renumbered.node(*address).kind == Kind::Absent && taken.node(*address).kind == Kind::Absent
            };
            let new = (1..=u8::MAX).map(Address).find(is_free).ok_or(RosterError::AddressesExhausted)?;
            let node = renumbered.nodes[old.index()];
            renumbered.nodes[new.index()] = node;
            renumbered.nodes[old.index()] = NOTHING;
            for other in &mut renumbered.nodes {
                for link in [&mut other.left, &mut other.right, &mut other.parent] {
                    if *link == old {
                        *link = new;
                    }
                }
            }
            renumbered.results[slot] = new;
            if renumbered.root == Some(old) {
                renumbered.root = Some(new);
            }
        }
        Ok(renumbered)
    }

    const fn node(&self, address: Address) -> &TreeNode {
        &self.nodes[address.index()]
    }

    /// The scheme it was built for.
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The orchestrator that leads the network.
    pub const fn lead(&self) -> Address {
        self.lead
    }

    /// The logical ECU of the whole group; the symmetric scheme has none.
    pub const fn root(&self) -> Option<Address> {
        self.root
    }

    /// The address messages about the whole group bear: the root, or the orchestrator where there is none.
    pub fn group(&self) -> Address {
        self.root.unwrap_or(self.lead)
    }

    /// Every logical ECU, children before parents.
    pub fn results(&self) -> impl Iterator<Item = Address> {
        self.results[..self.results_len].iter().copied()
    }

    /// The logical ECU formed of this one, if any.
    pub fn parent(&self, address: Address) -> Option<Address> {
        Some(self.node(address).parent).filter(|parent| *parent != Address::RESERVED)
    }

    /// The two a logical ECU is formed of; the second is reserved if there is only one.
    pub fn children(&self, result: Address) -> Option<(Address, Address)> {
        let node = self.node(result);
        matches!(node.kind, Kind::Pair | Kind::Logical | Kind::Single).then_some((node.left, node.right))
    }

    /// True for the logical ECU of one ECU and the orchestrator.
    pub fn is_pair(&self, result: Address) -> bool {
        self.node(result).kind == Kind::Pair
    }

    /// True for a logical ECU of a single other.
    pub fn is_single(&self, result: Address) -> bool {
        self.node(result).kind == Kind::Single
    }

    /// The logical ECU of `member` and the orchestrator.
    pub fn pair_of(&self, member: Address) -> Option<Address> {
        self.parent(member).filter(|parent| self.is_pair(*parent))
    }

    /// Logical ECUs from the first above `address` to the root.
    pub fn path(&self, address: Address) -> impl Iterator<Item = Address> {
        core::iter::successors(self.parent(address), |next| self.parent(*next))
    }

    /// Exchanges on the longest way from an ECU to the root.
    pub fn depth(&self) -> usize {
        self.members().map(|member| self.path(member).count()).max().unwrap_or(0)
    }

    /// The ECUs, removed ones included, by address.
    fn members(&self) -> impl Iterator<Item = Address> {
        (1..=u8::MAX).map(Address).filter(|address| self.node(*address).kind == Kind::Member)
    }

    /// The ECUs that are in the group, by address.
    pub fn present(&self) -> impl Iterator<Item = Address> {
        self.members().filter(|address| !self.node(*address).is_vacant)
    }

    /// True if `member` is an ECU of the group that has not been removed.
    pub fn is_present(&self, member: Address) -> bool {
        self.node(member).kind == Kind::Member && !self.node(member).is_vacant
    }

    /// True if the orchestrator alone is left below `address`.
    fn is_lead_alone(&self, address: Address) -> bool {
        let node = self.node(address);
        match node.kind {
            Kind::Absent => true,
            Kind::Member => node.is_vacant,
            Kind::Orchestrator => address == self.lead,
            Kind::Pair | Kind::Single => self.is_lead_alone(node.left),
            Kind::Logical => self.is_lead_alone(node.left) && self.is_lead_alone(node.right),
        }
    }

    /// The address an operand bears in an exchange: its own, or the orchestrator's if that alone is left of it.
    pub fn operand(&self, address: Address) -> Address {
        if self.is_lead_alone(address) { self.lead } else { address }
    }

    /// True if the ECU or orchestrator `physical` is a member of `address`.
    pub fn contains(&self, address: Address, physical: Address) -> bool {
        let node = self.node(address);
        match node.kind {
            Kind::Absent => false,
            Kind::Member if node.is_vacant => physical == self.lead,
            Kind::Member | Kind::Orchestrator => physical == address,
            Kind::Pair if self.node(node.left).is_vacant => physical == self.lead,
            Kind::Pair => physical == node.left || physical == node.right,
            Kind::Single => self.contains(node.left, physical),
            Kind::Logical => self.contains(node.left, physical) || self.contains(node.right, physical),
        }
    }

    /// The member that acts for `address`: the most capable ECU, the lower address among equals; an orchestrator only
    /// if there is no ECU.
    pub fn active(&self, address: Address) -> Address {
        self.most_capable(address).map_or(self.lead, |(.., address)| address)
    }

    /// Rank and address of the member that acts for `address`.
    fn most_capable(&self, address: Address) -> Option<(bool, u32, core::cmp::Reverse<Address>, Address)> {
        let node = self.node(address);
        match node.kind {
            Kind::Absent => None,
            Kind::Member if node.is_vacant => None,
            Kind::Member => Some((true, node.capability, core::cmp::Reverse(address), address)),
            Kind::Orchestrator => Some((false, 0, core::cmp::Reverse(address), address)),
            Kind::Pair | Kind::Single => self.most_capable(node.left),
            Kind::Logical => self.most_capable(node.left).max(self.most_capable(node.right)),
        }
    }

    /// The exchange that gives `result` its secret; `None` if the orchestrator alone is left of it. A direct assignment
    /// has the reserved address for its second operand.
    pub fn exchange(&self, result: Address) -> Option<ExchangeId> {
        let (left, right) = self.children(result)?;
        let second = if self.is_single(result) { Address::RESERVED } else { self.operand(right) };
        let first = self.operand(left);
        (!self.is_lead_alone(result)).then_some(ExchangeId { first, second, result })
    }

    /// The side of an exchange on which `physical` takes part, that on which it acts first.
    pub fn side(&self, exchange: ExchangeId, physical: Address) -> Option<Side> {
        let sides = [Side::First, Side::Second];
        let acts = |side: &Side| self.active_of(exchange, *side) == physical;
        let listens = |side: &Side| self.contains(exchange.operand(*side), physical);
        sides.into_iter().find(acts).or_else(|| sides.into_iter().find(listens))
    }

    /// Who acts for a side of an exchange.
    pub fn active_of(&self, exchange: ExchangeId, side: Side) -> Address {
        let operand = exchange.operand(side);
        if operand == self.lead { self.lead } else { self.active(operand) }
    }

    /// What an exchange, if the orchestrator has signed its request, says about membership.
    ///
    /// # Errors
    /// [`NotInTree`] if it is no exchange of this tree, whoever is removed or back.
    pub fn changes(&self, exchange: ExchangeId) -> Result<[Option<MembershipChange>; 2], NotInTree> {
        let (left, right) = self.children(exchange.result).ok_or(NotInTree)?;
        let node = self.node(exchange.result);
        if node.kind == Kind::Pair {
            if exchange.first != left || exchange.second != right {
                return Err(NotInTree);
            }
            let is_back = self.node(left).is_vacant;
            return Ok([is_back.then_some(MembershipChange::Occupied(left)), None]);
        }
        let change = |operand: Address, child: Address| {
            if operand == self.operand(child) {
                Ok(None)
            } else if operand == self.lead {
                Ok(Some(MembershipChange::Vacated(child)))
            } else if operand == child && self.node(child).kind == Kind::Member {
                Ok(Some(MembershipChange::Occupied(child)))
            } else {
                Err(NotInTree)
            }
        };
        if node.kind == Kind::Single {
            let is_direct = exchange.second == Address::RESERVED;
            return if is_direct { Ok([change(exchange.first, left)?, None]) } else { Err(NotInTree) };
        }
        if exchange.first == exchange.second {
            return Err(NotInTree);
        }
        Ok([change(exchange.first, left)?, change(exchange.second, right)?])
    }

    /// True if a request with this step and these addresses is for an exchange, or a direct assignment, of the tree as it
    /// is.
    pub(crate) fn has(&self, exchange: ExchangeId, is_assignment: bool) -> bool {
        self.exchange(exchange.result) == Some(exchange) && self.is_single(exchange.result) == is_assignment
    }

    /// Applies a change.
    pub fn apply(&mut self, change: MembershipChange) {
        match change {
            MembershipChange::Vacated(address) => self.set_vacant(address, true),
            MembershipChange::Occupied(address) => self.set_vacant(address, false),
        }
    }

    fn set_vacant(&mut self, address: Address, is_vacant: bool) {
        let TreeNode { kind, left, right, .. } = *self.node(address);
        match kind {
            Kind::Member => self.nodes[address.index()].is_vacant = is_vacant,
            Kind::Pair | Kind::Single => self.set_vacant(left, is_vacant),
            Kind::Logical => {
                self.set_vacant(left, is_vacant);
                self.set_vacant(right, is_vacant);
            }
            Kind::Absent | Kind::Orchestrator => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Scheme::{FullTree, Symmetric, WithoutOrchestrator};
    use crate::swift::Swift;

    type Suite = Swift;
    const LEAD: Address = Address(255);

    fn roster(n: usize) -> Roster<Suite> {
        use chronoseal_crypto::suite::Suite as _;
        let public = |seed: u8| Suite::public_key(&Suite::signing_key(&[seed; 32]));
        let mut roster = Roster::new(LEAD, 9, Some(public(255).as_bytes())).unwrap();
        for number in 1..=n as u8 {
            // The fourth is the most capable, then 2, 6, and so on.
            let capability = if number == 4 { 300 } else { u32::from(number % 4) };
            roster.add(Address(number), capability, Some(public(number).as_bytes())).unwrap();
        }
        roster
    }

    fn tree(n: usize, scheme: Scheme, spare: SpareNode) -> Result<Tree, RosterError> {
        Tree::new(&roster(n), scheme, spare)
    }

    fn compact(n: usize, scheme: Scheme) -> Tree {
        tree(n, scheme, SpareNode::JoinsHigherLevel).unwrap()
    }

    #[test]
    fn has_as_many_exchanges_as_the_source_counts_and_the_depth_of_a_logarithm() {
        for n in 2..=85u32 {
            let main = compact(n as usize, FullTree);
            assert_eq!(main.results().count(), 2 * n as usize - 1);
            assert_eq!(main.depth(), 1 + n.next_power_of_two().trailing_zeros() as usize);
            let without = compact(n as usize, WithoutOrchestrator);
            assert_eq!(without.results().count(), n as usize);
            assert!(without.depth() <= (n + 1).next_power_of_two().trailing_zeros() as usize);
            let symmetric = compact(n as usize, Symmetric);
            assert_eq!((symmetric.results().count(), symmetric.depth()), (n as usize, 1));
            assert_eq!(symmetric.root(), None);
            for tree in [&main, &without] {
                assert!(tree.results().all(|result| !tree.is_single(result)));
                assert!(tree.present().all(|member| tree.contains(tree.root().unwrap(), member)));
            }
        }
    }

    #[test]
    fn takes_as_many_members_as_one_byte_addresses_allow_and_no_more() {
        for (scheme, limit) in [(FullTree, 85), (WithoutOrchestrator, 127), (Symmetric, 127)] {
            assert_eq!(scheme.members_max(), limit);
            assert!(tree(limit, scheme, SpareNode::JoinsHigherLevel).is_ok());
        }
        let too_many = RosterError::TooManyMembers { n: 86, limit: 85, scheme: FullTree };
        assert_eq!(tree(86, FullTree, SpareNode::JoinsHigherLevel).err(), Some(too_many));
        assert_eq!(tree(1, FullTree, SpareNode::JoinsHigherLevel).err(), Some(RosterError::TooFewMembers(1)));
        // Direct assignments take addresses of their own: three of 85's levels are odd.
        assert_eq!(tree(85, FullTree, SpareNode::DirectAssignment).err(), Some(RosterError::AddressesExhausted));
        assert!(tree(82, FullTree, SpareNode::DirectAssignment).is_ok());
    }

    #[test]
    fn the_most_capable_acts_and_the_orchestrator_only_alone() {
        let mut tree = compact(8, FullTree);
        let root = tree.root().unwrap();
        assert_eq!(tree.active(root), Address(4));
        tree.apply(MembershipChange::Vacated(Address(4)));
        // 3 and 7 are equals.
        assert_eq!(tree.active(root), Address(3));
        let pair = tree.pair_of(Address(4)).unwrap();
        assert_eq!((tree.active(pair), tree.operand(pair)), (LEAD, LEAD));
        assert_eq!(tree.exchange(pair), None);
        let parent = tree.parent(pair).unwrap();
        let exchange = tree.exchange(parent).unwrap();
        assert_eq!((exchange.second, tree.active_of(exchange, Side::Second)), (LEAD, LEAD));
        assert_eq!(tree.side(exchange, Address(3)), Some(Side::First));
        assert_eq!(tree.side(exchange, Address(4)), None);
        assert_eq!(tree.side(exchange, LEAD), Some(Side::Second));
    }

    #[test]
    fn reads_removal_and_return_from_a_request() {
        let mut remover = compact(5, FullTree);
        let mut listener = remover.clone();
        let pair = remover.pair_of(Address(2)).unwrap();
        let parent = remover.parent(pair).unwrap();
        remover.apply(MembershipChange::Vacated(Address(2)));
        let request = remover.exchange(parent).unwrap();
        let changes = listener.changes(request).unwrap();
        assert_eq!(changes, [None, Some(MembershipChange::Vacated(pair))]);
        changes.into_iter().flatten().for_each(|change| listener.apply(change));
        assert!(!listener.is_present(Address(2)));
        assert_eq!(listener.changes(request), Ok([None; 2]));

        remover.apply(MembershipChange::Occupied(Address(2)));
        let back = listener.changes(remover.exchange(pair).unwrap()).unwrap();
        assert_eq!(back, [Some(MembershipChange::Occupied(Address(2))), None]);
    }

    #[test]
    fn refuses_exchanges_that_are_none_of_its_own() {
        let tree = compact(5, FullTree);
        let root = tree.root().unwrap();
        let right = tree.exchange(root).unwrap();
        let swapped = ExchangeId { first: right.second, second: right.first, ..right };
        let with_itself = ExchangeId { second: right.first, ..right };
        let of_nothing = ExchangeId { result: Address(200), ..right };
        let of_a_member = ExchangeId { result: Address(1), ..right };
        let nobody = ExchangeId { first: Address::RESERVED, ..right };
        let orchestrator_alone = ExchangeId { first: LEAD, second: LEAD, result: root };
        for wrong in [swapped, with_itself, of_nothing, of_a_member, nobody, orchestrator_alone] {
            assert_eq!(tree.changes(wrong), Err(NotInTree), "{wrong:?}");
        }
    }

    #[test]
    fn a_subtree_without_members_bears_the_orchestrators_address() {
        let mut tree = compact(4, FullTree);
        for number in [1, 2] {
            tree.apply(MembershipChange::Vacated(Address(number)));
        }
        let root = tree.exchange(tree.root().unwrap()).unwrap();
        assert_eq!(root.first, LEAD);
        let (left, _) = tree.children(root.result).unwrap();
        assert_eq!(tree.exchange(left), None);
    }
}
