//! Places and regions, IEEE 1609.2 clauses 6.4.17 to 6.4.23: how far apart, what lies in a region, and whether one region
//! lies in another.
//!
//! A place is one of the grid of coordinates, 0.1 microdegree apart; rectangles and polygons are figures in the plane of
//! longitude and latitude and are compared exactly. The radius of a circle is a distance on the ground, which is
//! [known to 1 %](distance_m). There is no map here: what it takes one for is asked of a [`Geography`].

mod distance;
mod identified;
mod plane;
mod within;

pub use distance::distance_m;
pub use within::{Containment, region_within};

use crate::types::{GeographicRegion, IdentifiedRegion, TwoDLocation};
use plane::{Hull, Polygon, polygon_contains};

/// Most corners of a polygon that is compared with another region. IEEE 1609.2 asks for 8.
pub const CORNERS_MAX: usize = 128;
/// Most rectangles of a region that is compared with another one. IEEE 1609.2 asks for 8.
pub const RECTANGLES_MAX: usize = 32;
/// Most countries, regions and subregions together of a region that is compared with another one.
pub const IDENTIFIERS_MAX: usize = 256;

/// Where countries lie. This crate has no map.
pub trait Geography {
    /// Whether `location` lies in `country` (United Nations M49 number), and there in `region`, and there in `subregion`;
    /// none if the map does not say.
    fn contains(
        &self,
        country: u16,
        region: Option<u8>,
        subregion: Option<u16>,
        location: TwoDLocation,
    ) -> Option<bool>;

    /// Whether all of `inner` lies in `country`, and there in `region`, and there in `subregion`; none if the map does not
    /// say, which is the default.
    fn covers(
        &self,
        _country: u16,
        _region: Option<u8>,
        _subregion: Option<u16>,
        _inner: &GeographicRegion,
    ) -> Option<bool> {
        None
    }
}

/// No map.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoGeography;

impl Geography for NoGeography {
    fn contains(&self, _: u16, _: Option<u8>, _: Option<u16>, _: TwoDLocation) -> Option<bool> {
        None
    }
}

/// What makes a region no region. A certificate with such a one is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegionFault {
    /// A list without an element.
    #[error("an empty list")]
    Empty,
    /// A rectangle without height or upside down.
    #[error("rectangle {index} does not reach from its north-west corner to the south")]
    NoHeight {
        /// Which one, from 0.
        index: usize,
    },
    /// A rectangle without width.
    #[error("rectangle {index} has both corners on one meridian")]
    NoWidth {
        /// Which one, from 0.
        index: usize,
    },
    /// Sides that meet elsewhere than at the corner they share, or corners that are one place.
    #[error("sides of the polygon meet outside their corners")]
    SidesMeet,
    /// A polygon that goes around a pole or the earth; IEEE 1609.2 does not rule it out, this crate does.
    #[error("the polygon goes around a pole")]
    AroundPole,
}

/// Whether a region is one at all. Of polygons with more than [`CORNERS_MAX`] corners it is not looked at whether sides meet.
///
/// # Errors
/// [`RegionFault`].
pub fn check_region(region: &GeographicRegion) -> Result<(), RegionFault> {
    match region {
        GeographicRegion::Circular(_) | GeographicRegion::Unknown(_) => Ok(()),
        GeographicRegion::Rectangular(list) if list.is_empty() => Err(RegionFault::Empty),
        GeographicRegion::Identified(list) if list.is_empty() => Err(RegionFault::Empty),
        GeographicRegion::Identified(_) => Ok(()),
        GeographicRegion::Rectangular(list) => list.iter().enumerate().try_for_each(|(index, rectangle)| {
            let (north_west, south_east) = (rectangle.north_west, rectangle.south_east);
            if north_west.latitude <= south_east.latitude {
                Err(RegionFault::NoHeight { index })
            } else if north_west.longitude == south_east.longitude {
                Err(RegionFault::NoWidth { index })
            } else {
                Ok(())
            }
        }),
        GeographicRegion::Polygonal(corners) => {
            let polygon = Polygon::new(corners).ok_or(RegionFault::AroundPole)?;
            if corners.len() <= CORNERS_MAX && !polygon.is_simple() { Err(RegionFault::SidesMeet) } else { Ok(()) }
        }
    }
}

/// Whether a place lies in a region, its edge included; none if that takes a map of countries that is not there, or
/// the region is of an unknown kind.
pub fn region_contains(region: &GeographicRegion, place: TwoDLocation, geography: &dyn Geography) -> Option<bool> {
    match region {
        GeographicRegion::Circular(circle) => Some(distance_m(circle.center, place) <= f64::from(circle.radius)),
        GeographicRegion::Rectangular(list) => Some(list.iter().any(|rectangle| Hull::from(rectangle).contains(place))),
        GeographicRegion::Polygonal(corners) => Some(polygon_contains(corners, place)),
        GeographicRegion::Identified(list) => any(list, |region| identified_contains(region, place, geography)),
        GeographicRegion::Unknown(_) => None,
    }
}

/// True if one is; else unknown if one is; else false.
fn any<T>(list: &[T], mut contains: impl FnMut(&T) -> Option<bool>) -> Option<bool> {
    let mut result = Some(false);
    for element in list {
        match contains(element) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => result = None,
        }
    }
    result
}

fn identified_contains(region: &IdentifiedRegion, place: TwoDLocation, geography: &dyn Geography) -> Option<bool> {
    match region {
        IdentifiedRegion::CountryOnly(country) => geography.contains(*country, None, None, place),
        IdentifiedRegion::CountryAndRegions { country, regions } => {
            any(regions, |region| geography.contains(*country, Some(*region), None, place))
        }
        IdentifiedRegion::CountryAndSubregions { country, region_and_subregions } => {
            any(region_and_subregions, |region| {
                any(&region.subregions, |sub| geography.contains(*country, Some(region.region), Some(*sub), place))
            })
        }
        IdentifiedRegion::Unknown(_) => None,
    }
}
