//! The 29-bit identifier of a group key exchange: who talks to whom about which key, in which step.
//!
//! ```text
//!  28         27     24 23       16 15        8 7         0
//! +----------+---------+-----------+-----------+-----------+
//! | reserved | step    | address A | address B | address L |
//! +----------+---------+-----------+-----------+-----------+
//! ```
//! A and B are the participants, single nodes or logical ones, and L is the logical node they form. All frames of one
//! exchange agree in the three addresses; who sends one follows from its step. The step is the first field that differs
//! on the bus, and steps are numbered in their order: a request wins against shares, shares against confirmations.
//!
//! # Source
//! Musuroi, Groza, Popa, Murvay, "Fast and Efficient Group Key Exchange in Controller Area Networks (CAN)", IEEE
//! Transactions on Vehicular Technology 2021, figure 10: fields and widths. The numbers of the steps are ours; the
//! source gives none.

use super::id::ExtendedId;

/// What a step's number leaves room for.
pub const STEP_MAX: u8 = 0xf;

const STEP_SHIFT: u32 = 24;
const RESERVED_BIT: u32 = 1 << 28;

/// A one-byte address; 0 is nobody's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Address(core::num::NonZeroU8);

impl Address {
    /// The address `raw`, or `None` for the reserved 0.
    pub const fn new(raw: u8) -> Option<Self> {
        match core::num::NonZeroU8::new(raw) {
            Some(raw) => Some(Self(raw)),
            None => None,
        }
    }

    /// As in the identifier.
    pub const fn raw(self) -> u8 {
        self.0.get()
    }
}

impl core::fmt::Display for Address {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:#04x}", self.0)
    }
}

/// Four bits that tell the step. Their meaning is the protocol's; those of one exchange between two nodes are named.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Step(u8);

impl Step {
    /// The orchestrator announces the exchange (figure 4, step 1).
    pub const ORCHESTRATION: Self = Self(0x1);
    /// A's share (step 3a).
    pub const SHARE_A: Self = Self(0x2);
    /// B's share (step 3b).
    pub const SHARE_B: Self = Self(0x3);
    /// A's confirmation (step 5a).
    pub const CONFIRMATION_A: Self = Self(0x4);
    /// B's confirmation (step 5b).
    pub const CONFIRMATION_B: Self = Self(0x5);

    /// The step `raw`, or `None` above [`STEP_MAX`].
    pub const fn new(raw: u8) -> Option<Self> {
        if raw <= STEP_MAX { Some(Self(raw)) } else { None }
    }

    /// As in the identifier.
    pub const fn raw(self) -> u8 {
        self.0
    }
}

/// The fields of the identifier. The address fields are raw: which may be 0 is the protocol's rule, and
/// [`Address::new`] tells.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GroupId {
    /// Step of the exchange.
    pub step: Step,
    /// First participant.
    pub a: u8,
    /// Second participant.
    pub b: u8,
    /// The logical node both form.
    pub logical: u8,
}

/// The reserved bit of an identifier is set: it belongs to something else.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("identifier {0:#010x} has the reserved bit set and is none of a group key exchange")]
pub struct ReservedBitSet(pub u32);

impl From<ReservedBitSet> for chronoseal_core::DiscardReason {
    fn from(_: ReservedBitSet) -> Self {
        Self::Malformed
    }
}

impl GroupId {
    /// Takes an identifier apart.
    ///
    /// # Errors
    /// [`ReservedBitSet`] if bit 28 is not 0.
    pub const fn parse(id: ExtendedId) -> Result<Self, ReservedBitSet> {
        let raw = id.raw();
        if raw & RESERVED_BIT != 0 {
            return Err(ReservedBitSet(raw));
        }
        let [step, a, b, logical] = raw.to_be_bytes();
        Ok(Self { step: Step(step), a, b, logical })
    }

    /// The identifier.
    ///
    /// # Panics
    /// Never: a step has four bits.
    pub const fn id(self) -> ExtendedId {
        let raw = (self.step.0 as u32) << STEP_SHIFT | u32::from_be_bytes([0, self.a, self.b, self.logical]);
        match ExtendedId::new(raw) {
            Ok(id) => id,
            Err(_) => panic!("4 + 8 + 8 + 8 bits are fewer than 29"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_fields_lie_where_the_source_draws_them() {
        let id = GroupId { step: Step::SHARE_B, a: 0x01, b: 0x02, logical: 0x81 }.id();
        assert_eq!(id.raw(), 0x0301_0281);
    }

    #[test]
    fn refuses_the_reserved_bit_and_the_reserved_address() {
        assert_eq!(GroupId::parse(ExtendedId::new(0x1301_0281).unwrap()), Err(ReservedBitSet(0x1301_0281)));
        assert_eq!(Address::new(0), None);
        assert_eq!(Step::new(16), None);
        assert_eq!(Address::new(255).map(Address::raw), Some(255));
    }

    proptest! {
        #[test]
        fn every_identifier_without_the_reserved_bit_is_one(raw in 0u32..1 << 28) {
            let id = ExtendedId::new(raw).unwrap();
            prop_assert_eq!(GroupId::parse(id).unwrap().id(), id);
        }
    }
}
