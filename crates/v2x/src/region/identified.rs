//! Countries and parts of them, known by number.

use super::within::Containment;
use super::{Geography, IDENTIFIERS_MAX};
use crate::types::{GeographicRegion, IdentifiedRegion};

/// Numbers of the United Nations' list M49 that stand for more than one country of today: continents and their parts, groups
/// of countries, and countries that have split up or joined.
const AREAS: [u16; 43] = [
    2, 3, 5, 9, 11, 13, 14, 15, 17, 18, 19, 21, 29, 30, 34, 35, 39, 53, 54, 57, 61, 142, 143, 145, 150, 151, 154, 155,
    172, 199, 200, 202, 419, 432, 513, 514, 722, 736, 778, 810, 830, 890, 891,
];

/// A country, a region of it, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unit {
    country: u16,
    region: Option<u8>,
    subregion: Option<u16>,
}

impl Unit {
    /// Whether the numbers alone tell that `inner` is a part of this one.
    fn names(&self, inner: &Self) -> bool {
        self.country == inner.country
            && (self.region.is_none() || self.region == inner.region)
            && (self.subregion.is_none() || self.subregion == inner.subregion)
    }

    /// Whether the numbers alone tell that the two have nothing in common.
    fn is_disjoint(&self, other: &Self) -> bool {
        if self.country != other.country {
            return is_one_country(self.country) && is_one_country(other.country);
        }
        let differ = |one: Option<u16>, two: Option<u16>| one.is_some() && two.is_some() && one != two;
        differ(self.region.map(u16::from), other.region.map(u16::from))
            || (self.region == other.region && differ(self.subregion, other.subregion))
    }

    fn region(self) -> GeographicRegion {
        let Self { country, region, subregion } = self;
        let one = match (region, subregion) {
            (Some(region), Some(subregion)) => IdentifiedRegion::CountryAndSubregions {
                country,
                region_and_subregions: vec![crate::types::RegionAndSubregions { region, subregions: vec![subregion] }],
            },
            (Some(region), None) => IdentifiedRegion::CountryAndRegions { country, regions: vec![region] },
            (None, _) => IdentifiedRegion::CountryOnly(country),
        };
        GeographicRegion::Identified(vec![one])
    }
}

/// Numbers of countries are at most 894; greater ones are somebody's own.
fn is_one_country(number: u16) -> bool {
    (4..=894).contains(&number) && !AREAS.contains(&number)
}

/// What a list names; none if it is too long or of a kind that is not known.
fn units(list: &[IdentifiedRegion]) -> Option<Vec<Unit>> {
    let mut units = Vec::new();
    for one in list {
        match one {
            IdentifiedRegion::CountryOnly(country) => {
                units.push(Unit { country: *country, region: None, subregion: None });
            }
            IdentifiedRegion::CountryAndRegions { country, regions } => {
                let unit = |region: &u8| Unit { country: *country, region: Some(*region), subregion: None };
                units.extend(regions.iter().map(unit));
            }
            IdentifiedRegion::CountryAndSubregions { country, region_and_subregions } => {
                for one in region_and_subregions {
                    let unit = |sub: &u16| Unit { country: *country, region: Some(one.region), subregion: Some(*sub) };
                    units.extend(one.subregions.iter().map(unit));
                }
            }
            IdentifiedRegion::Unknown(_) => return None,
        }
        if units.len() > IDENTIFIERS_MAX {
            return None;
        }
    }
    Some(units)
}

/// Whether all that `inner` names is a part of what `outer` names.
pub(super) fn identified_within(
    inner: &[IdentifiedRegion],
    outer: &[IdentifiedRegion],
    geography: &dyn Geography,
) -> Containment {
    let (Some(inner), Some(outer)) = (units(inner), units(outer)) else { return Containment::Undecided };
    Containment::of_all(inner.iter().map(|unit| {
        if outer.iter().any(|outer| outer.names(unit)) {
            return Containment::Inside;
        }
        match covered(&outer, &unit.region(), geography) {
            Containment::Undecided if outer.iter().all(|outer| outer.is_disjoint(unit)) => Containment::Outside,
            answer => answer,
        }
    }))
}

/// Whether all of `inner` is a part of what `outer` names, as far as the map says.
pub(super) fn identified_covers(
    outer: &[IdentifiedRegion],
    inner: &GeographicRegion,
    geography: &dyn Geography,
) -> Containment {
    units(outer).map_or(Containment::Undecided, |outer| covered(&outer, inner, geography))
}

fn covered(outer: &[Unit], inner: &GeographicRegion, geography: &dyn Geography) -> Containment {
    let mut answers = outer.iter().map(|unit| geography.covers(unit.country, unit.region, unit.subregion, inner));
    if answers.clone().any(|answer| answer == Some(true)) {
        return Containment::Inside;
    }
    // What lies in none of several may lie in two of them together.
    if outer.len() == 1 && answers.next() == Some(Some(false)) { Containment::Outside } else { Containment::Undecided }
}
