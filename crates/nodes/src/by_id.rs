//! What belongs to an identifier of a bus, found as fast among thousands as among ten.

use chronoseal_wire::can::CanId;

/// Things by identifier. Each stands where its identifier says, or in the next free place behind.
#[derive(Clone, Debug)]
pub struct ById<T> {
    /// At least twice as many places as things, and a power of two of them.
    places: Vec<Option<(CanId, T)>>,
    /// A product has so many bits below those that name a place.
    shift: u32,
}

impl<T> ById<T> {
    /// What belongs to an identifier.
    pub fn get(&self, id: CanId) -> Option<&T> {
        let mut place = self.first(id);
        loop {
            match &self.places[place] {
                Some((known, thing)) if *known == id => return Some(thing),
                Some(_) => place = (place + 1) % self.places.len(),
                None => return None,
            }
        }
    }

    /// The place that an identifier names: the first bits of its product with the golden ratio, which spreads neighbours.
    fn first(&self, id: CanId) -> usize {
        let key = id.raw() << 1 | u32::from(id.is_extended());
        (key.wrapping_mul(0x9E37_79B9) >> self.shift) as usize
    }

    fn insert(&mut self, id: CanId, thing: T) {
        let mut place = self.first(id);
        while self.places[place].as_ref().is_some_and(|(known, _)| *known != id) {
            place = (place + 1) % self.places.len();
        }
        self.places[place] = Some((id, thing));
    }
}

/// Of several things of one identifier the last one counts.
impl<T> FromIterator<(CanId, T)> for ById<T> {
    fn from_iter<I: IntoIterator<Item = (CanId, T)>>(things: I) -> Self {
        let things: Vec<_> = things.into_iter().collect();
        let len = (2 * things.len()).next_power_of_two().max(2);
        let mut all = Self { places: std::iter::repeat_with(|| None).take(len).collect(), shift: 32 - len.ilog2() };
        things.into_iter().for_each(|(id, thing)| all.insert(id, thing));
        all
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn id(raw: u32) -> CanId {
        if raw < 0x400 { CanId::standard(raw as u16).unwrap() } else { CanId::extended(raw - 0x400).unwrap() }
    }

    proptest! {
        #[test]
        fn finds_what_a_map_finds(things in proptest::collection::vec((0u32..0x900, 0u8..), 0..400)) {
            let things = || things.iter().map(|(raw, thing)| (id(*raw), *thing));
            let (all, map): (ById<u8>, BTreeMap<CanId, u8>) = (things().collect(), things().collect());
            for id in (0..0x900).map(id) {
                prop_assert_eq!(all.get(id), map.get(&id));
            }
        }
    }
}
