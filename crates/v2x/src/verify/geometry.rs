//! Distances and regions. Only additions, products and roots, so the answer is the same on every machine.

use super::Geography;
use crate::types::{GeographicRegion, IdentifiedRegion, RectangularRegion, TwoDLocation};

/// Mean length of a degree of latitude, and of one of longitude on the equator (WGS 84) [m].
const LATITUDE_DEGREE_M: f64 = 111_132.95;
const LONGITUDE_DEGREE_M: f64 = 111_319.49;
/// Units of a coordinate in a degree, and in a half turn.
const DEGREE: f64 = 1e7;
const HALF_TURN: i64 = 1_800_000_000;

/// Difference of longitudes, the short way round [0.1 microdegree].
fn longitude_difference(from: i32, to: i32) -> i64 {
    let difference = i64::from(to) - i64::from(from);
    (difference + HALF_TURN).rem_euclid(2 * HALF_TURN) - HALF_TURN
}

/// Cosine of an angle of at most a quarter turn, by its series; error below 1e-9.
fn cosine(degrees: f64) -> f64 {
    let x = degrees * (core::f64::consts::PI / 180.0);
    let square = x * x;
    let mut term = 1.0;
    let mut sum = 1.0;
    for n in 1..9_u32 {
        term *= -square / f64::from((2 * n - 1) * (2 * n));
        sum += term;
    }
    sum
}

/// Distance of two places, on a cylinder that touches the earth along the parallel between them [m].
///
/// Off by less than 1 % up to 100 km and latitude 70 degrees: regions of certificates are at most 65,535 m in radius.
pub fn distance_m(a: TwoDLocation, b: TwoDLocation) -> f64 {
    let middle = (f64::from(a.latitude) + f64::from(b.latitude)) / 2.0 / DEGREE;
    let north_m = (f64::from(b.latitude) - f64::from(a.latitude)) / DEGREE * LATITUDE_DEGREE_M;
    #[allow(clippy::cast_precision_loss, reason = "a longitude has 32 bits")]
    let east = longitude_difference(a.longitude, b.longitude) as f64 / DEGREE;
    let east_m = east * LONGITUDE_DEGREE_M * cosine(middle);
    (north_m * north_m + east_m * east_m).sqrt()
}

/// Whether a place lies in a region, its edge included; none if that takes a map of countries that is not there, or
/// the region is of an unknown kind.
pub fn region_contains(region: &GeographicRegion, place: TwoDLocation, geography: &dyn Geography) -> Option<bool> {
    match region {
        GeographicRegion::Circular(circle) => Some(distance_m(circle.center, place) <= f64::from(circle.radius)),
        GeographicRegion::Rectangular(list) => Some(list.iter().any(|rectangle| rectangle_contains(rectangle, place))),
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

fn rectangle_contains(rectangle: &RectangularRegion, place: TwoDLocation) -> bool {
    let RectangularRegion { north_west, south_east } = rectangle;
    let is_between_parallels = (south_east.latitude..=north_west.latitude).contains(&place.latitude);
    // Eastward from the west edge, the place comes no later than the east edge; across the antimeridian too.
    let eastward = |to: i32| (i64::from(to) - i64::from(north_west.longitude)).rem_euclid(2 * HALF_TURN);
    is_between_parallels && eastward(place.longitude) <= eastward(south_east.longitude)
}

/// By the crossings of a ray to the east; exact, in whole numbers.
fn polygon_contains(corners: &[TwoDLocation], place: TwoDLocation) -> bool {
    let relative = |corner: &TwoDLocation| {
        (
            longitude_difference(place.longitude, corner.longitude),
            i64::from(corner.latitude) - i64::from(place.latitude),
        )
    };
    let mut is_inside = false;
    let Some(last) = corners.last() else { return false };
    let (mut x1, mut y1) = relative(last);
    for corner in corners {
        let (x2, y2) = relative(corner);
        let cross = i128::from(x1) * i128::from(y2) - i128::from(x2) * i128::from(y1);
        let is_on_edge = cross == 0 && x1.min(x2) <= 0 && 0 <= x1.max(x2) && y1.min(y2) <= 0 && 0 <= y1.max(y2);
        if is_on_edge {
            return true;
        }
        if (y1 > 0) != (y2 > 0) && (cross > 0) == (y2 > y1) {
            is_inside = !is_inside;
        }
        (x1, y1) = (x2, y2);
    }
    is_inside
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::NoGeography;

    fn at(latitude: i32, longitude: i32) -> TwoDLocation {
        TwoDLocation { latitude, longitude }
    }

    #[test]
    fn distances_agree_with_geodesics() {
        // Vincenty's formulae on WGS 84.
        let munich = at(481_351_253, 115_819_806);
        let augsburg = at(483_705_449, 108_978_900);
        assert!((distance_m(munich, augsburg) - 57_060.0).abs() < 400.0, "{}", distance_m(munich, augsburg));
        // Over the antimeridian: 0.02 degrees on the equator.
        assert!((distance_m(at(0, 1_799_900_000), at(0, -1_799_900_000)) - 2_226.4).abs() < 1.0);
    }

    #[test]
    fn cosine_is_that_of_the_library() {
        for degrees in -90..=90 {
            let degrees = f64::from(degrees);
            assert!((cosine(degrees) - degrees.to_radians().cos()).abs() < 1e-9);
        }
    }

    #[test]
    fn rectangle_across_the_antimeridian() {
        let rectangle =
            RectangularRegion { north_west: at(10_000_000, 1_790_000_000), south_east: at(0, -1_790_000_000) };
        assert!(rectangle_contains(&rectangle, at(5_000_000, 1_795_000_000)));
        assert!(rectangle_contains(&rectangle, at(5_000_000, -1_795_000_000)));
        assert!(!rectangle_contains(&rectangle, at(5_000_000, 0)));
        assert!(!rectangle_contains(&rectangle, at(-1, 1_795_000_000)));
    }

    #[test]
    fn polygon_with_its_edge_and_without_its_bay() {
        let u = [at(0, 0), at(30, 0), at(30, 10), at(10, 10), at(10, 20), at(30, 20), at(30, 30), at(0, 30)];
        let contains = |place| region_contains(&GeographicRegion::Polygonal(u.to_vec()), place, &NoGeography).unwrap();
        assert!(contains(at(5, 15)) && contains(at(20, 5)) && contains(at(20, 25)));
        assert!(contains(at(0, 15)) && contains(at(10, 15)) && contains(at(30, 30)));
        assert!(!contains(at(20, 15)) && !contains(at(31, 5)) && !contains(at(-1, 0)));
    }
}
