//! Addresses, protocol steps, and the 29-bit identifier that carries them (figure 10).

use core::fmt;

use chronoseal_wire::can::ExtendedId;
use chronoseal_wire::can::group_id::{self, GroupId};

/// A one-byte address of an ECU, a logical ECU or the orchestrator. 0 is reserved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Address(pub u8);

impl Address {
    /// No one: the missing operand of a direct assignment.
    pub const RESERVED: Self = Self(0);

    /// This address as an index into tables of 256.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#04x}", self.0)
    }
}

/// What a message is: the four bits of [`GroupId::step`]. On the bus the lower number wins.
///
/// The first two addresses of an exchange's messages are its operands, in the order of the request, whoever sends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Step {
    /// A participant gave up an exchange.
    Abort = 0,
    /// The orchestrator requests an exchange.
    Orchestration = 1,
    /// Step 3a, the first operand's share.
    ShareFirst = 2,
    /// Step 3b, the second operand's share.
    ShareSecond = 3,
    /// Step 5a, the first operand's confirmation.
    ConfirmationFirst = 4,
    /// Step 5b, the second operand's confirmation.
    ConfirmationSecond = 5,
    /// The orchestrator starts a run along the fixed tree: orchestrator, 0, root.
    Start = 6,
    /// The master secret of the symmetric scheme for one node: node, orchestrator, the pair's logical address.
    Distribution = 7,
    /// A member holds the new key: member, orchestrator, root.
    Ready = 8,
    /// The new key is confirmed by all: orchestrator, 0, root.
    Commit = 9,
    /// The single child's secret becomes its parent's: child, 0, parent (appendix A).
    DirectAssignment = 10,
    /// The key in use is given up: orchestrator, 0, root.
    Withdrawal = 11,
}

impl Step {
    /// Every step, by number.
    pub const ALL: [Self; 12] = [
        Self::Abort,
        Self::Orchestration,
        Self::ShareFirst,
        Self::ShareSecond,
        Self::ConfirmationFirst,
        Self::ConfirmationSecond,
        Self::Start,
        Self::Distribution,
        Self::Ready,
        Self::Commit,
        Self::DirectAssignment,
        Self::Withdrawal,
    ];

    /// The step with this number.
    pub const fn from_number(number: u8) -> Option<Self> {
        if (number as usize) < Self::ALL.len() { Some(Self::ALL[number as usize]) } else { None }
    }
}

/// A protocol message's identifier: a [`GroupId`] whose step has a meaning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Identifier {
    /// What the message is.
    pub step: Step,
    /// First operand, or who the step says.
    pub first: Address,
    /// Second operand, or who the step says.
    pub second: Address,
    /// The logical ECU that results.
    pub result: Address,
}

impl Identifier {
    /// As on the wire.
    ///
    /// # Panics
    /// Never: every step's number has four bits.
    pub fn can_id(self) -> ExtendedId {
        let step = group_id::Step::new(self.step as u8).expect("twelve steps have numbers of four bits");
        GroupId { step, a: self.first.0, b: self.second.0, logical: self.result.0 }.id()
    }

    /// From an identifier on the wire; `None` if it is none of this protocol.
    pub fn from_can_id(id: ExtendedId) -> Option<Self> {
        let group = GroupId::parse(id).ok()?;
        let step = Step::from_number(group.step.raw())?;
        Some(Self { step, first: Address(group.a), second: Address(group.b), result: Address(group.logical) })
    }

    /// The exchange it belongs to, if its step is one of an exchange.
    pub const fn exchange(self) -> ExchangeId {
        ExchangeId { first: self.first, second: self.second, result: self.result }
    }
}

/// A key exchange: who, and what comes of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ExchangeId {
    /// First operand, `ECU_A` of figure 4.
    pub first: Address,
    /// Second operand, `ECU_B`.
    pub second: Address,
    /// The logical ECU that results.
    pub result: Address,
}

impl ExchangeId {
    /// The operand on a side.
    pub const fn operand(self, side: Side) -> Address {
        match side {
            Side::First => self.first,
            Side::Second => self.second,
        }
    }

    /// The identifier of one of its messages.
    pub const fn message(self, step: Step) -> Identifier {
        Identifier { step, first: self.first, second: self.second, result: self.result }
    }
}

/// One of the two sides of an exchange.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Side {
    /// `ECU_A`.
    First = 0,
    /// `ECU_B`.
    Second = 1,
}

impl Side {
    /// The other one.
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    pub(crate) const fn share_step(self) -> Step {
        match self {
            Self::First => Step::ShareFirst,
            Self::Second => Step::ShareSecond,
        }
    }

    pub(crate) const fn confirmation_step(self) -> Step {
        match self {
            Self::First => Step::ConfirmationFirst,
            Self::Second => Step::ConfirmationSecond,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_read_back() {
        for step in Step::ALL {
            let identifier = Identifier { step, first: Address(1), second: Address(0xfe), result: Address(0x80) };
            assert_eq!(identifier.can_id().raw(), u32::from(step as u8) << 24 | 0x0001_fe80);
            assert_eq!(Identifier::from_can_id(identifier.can_id()), Some(identifier));
        }
    }

    #[test]
    fn refuses_the_reserved_bit_and_unknown_steps() {
        for raw in [1 << 28, 12 << 24, 15 << 24] {
            assert_eq!(Identifier::from_can_id(ExtendedId::new(raw).unwrap()), None);
        }
    }

    #[test]
    fn steps_of_an_exchange_are_numbered_as_in_the_frame_format() {
        use group_id::Step as Wire;
        let numbers = [Wire::ORCHESTRATION, Wire::SHARE_A, Wire::SHARE_B, Wire::CONFIRMATION_A, Wire::CONFIRMATION_B];
        assert_eq!(numbers.map(Wire::raw), [1, 2, 3, 4, 5]);
        assert_eq!([Side::First, Side::Second].map(|side| side.share_step() as u8), [2, 3]);
        assert_eq!([Side::First, Side::Second].map(|side| side.confirmation_step() as u8), [4, 5]);
    }
}
