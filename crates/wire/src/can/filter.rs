//! Sets of identifiers, as controllers and gateways choose frames by.

use super::{CanId, ExtendedId, StandardId};

/// Identifiers that agree with `id` in the bits of `mask`, in the same format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdFilter {
    /// The pattern.
    pub id: CanId,
    /// The bits that have to agree.
    pub mask: u32,
}

impl IdFilter {
    /// Every identifier there is, of one format each.
    pub const ALL: [Self; 2] = [
        Self { id: CanId::Standard(StandardId::ZERO), mask: 0 },
        Self { id: CanId::Extended(ExtendedId::ZERO), mask: 0 },
    ];

    /// This identifier alone.
    pub const fn exactly(id: CanId) -> Self {
        Self { id, mask: u32::MAX }
    }

    /// True if `id` passes.
    pub const fn passes(&self, id: CanId) -> bool {
        self.id.is_extended() == id.is_extended() && (self.id.raw() ^ id.raw()) & self.mask == 0
    }

    /// True if everything that passes `other` passes this one.
    pub const fn covers(&self, other: &Self) -> bool {
        self.meets(other) && self.significant() & !other.mask == 0
    }

    /// True if an identifier passes both.
    pub const fn meets(&self, other: &Self) -> bool {
        let differ = (self.id.raw() ^ other.id.raw()) & self.mask & other.mask;
        self.id.is_extended() == other.id.is_extended() && differ == 0
    }

    /// The bits of the mask that identifiers have.
    const fn significant(&self) -> u32 {
        self.mask & if self.id.is_extended() { super::id::EXTENDED_ID_MAX } else { super::id::STANDARD_ID_MAX as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn filter() -> impl Strategy<Value = IdFilter> {
        (0u16..=0x7ff, 0u32..=0x7ff).prop_map(|(id, mask)| IdFilter { id: CanId::standard(id).expect("11 bits"), mask })
    }

    proptest! {
        #[test]
        fn sets_meet_and_cover_as_their_members_say(one in filter(), other in filter()) {
            let all = || (0..=0x7ff).map(|id| CanId::standard(id).expect("11 bits"));
            prop_assert_eq!(one.meets(&other), all().any(|id| one.passes(id) && other.passes(id)));
            prop_assert_eq!(one.covers(&other), all().all(|id| one.passes(id) || !other.passes(id)));
        }
    }

    #[test]
    fn one_identifier_is_covered_by_what_passes_it_and_formats_never_meet() {
        let id = CanId::standard(0x123).expect("11 bits");
        let long = CanId::extended(0x123).expect("29 bits");
        let near = IdFilter { id: CanId::standard(0x120).expect("11 bits"), mask: 0x7f0 };
        assert!(near.covers(&IdFilter::exactly(id)) && !IdFilter::exactly(id).covers(&near));
        assert!(IdFilter { id, mask: 0x7ff }.covers(&IdFilter::exactly(id)));
        assert!(!near.meets(&IdFilter { id: long, mask: 0x7f0 }) && !near.passes(long));
        assert!(IdFilter::ALL.iter().any(|all| all.passes(id)) && IdFilter::ALL.iter().any(|all| all.passes(long)));
    }
}
