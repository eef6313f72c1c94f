//! Whether one region lies in another.

use core::f64::consts::FRAC_1_SQRT_2;

use super::distance::{DEGREE, LATITUDE_DEGREE_M, LONGITUDE_DEGREE_M, cosine};
use super::identified::{identified_covers, identified_within};
use super::plane::{Hull, Point, Polygon, TURN};
use super::{CORNERS_MAX, Geography, RECTANGLES_MAX, distance_m, region_contains};
use crate::types::{CircularRegion, GeographicRegion, TwoDLocation};

/// Whether one region lies in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Containment {
    /// All of it does.
    Inside,
    /// A part of it does not.
    Outside,
    /// That cannot be said: it takes a map, or it is closer than distances are known, or there is more to compare than is
    /// compared.
    Undecided,
}

impl Containment {
    /// Of both: outside if one is, inside if both are.
    pub(crate) fn and(self, other: Self) -> Self {
        Self::of_all([self, other])
    }

    /// Of a whole, by its parts.
    pub(super) fn of_all(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut whole = Self::Inside;
        for part in parts {
            match part {
                Self::Outside => return Self::Outside,
                Self::Undecided => whole = Self::Undecided,
                Self::Inside => {}
            }
        }
        whole
    }
}

/// Whether all of `inner` lies in `outer`; edges may touch. Both are taken to be [sound](super::check_region).
///
/// | in | a circle | rectangles | a polygon | countries |
/// |---|---|---|---|---|
/// | circle | decided, but for the error of distances | decided for one, but for that error | decided, but for 2 % of its radius | by the map |
/// | rectangles | decided, but for that error | decided | decided | by the map |
/// | polygon | decided, but for that error | decided for one; for several if its hull fits in, or a corner does not | decided | by the map |
/// | countries | undecided | undecided | undecided | by number, else by the map |
///
/// *Inside* and *outside* are certain: they are never said of what is merely close. Bounded: a polygon of more than
/// [`CORNERS_MAX`] corners, more than [`RECTANGLES_MAX`] rectangles or [`super::IDENTIFIERS_MAX`] identifiers are undecided,
/// unless the two regions are equal.
///
/// ```
/// use chronoseal_v2x::region::{Containment, NoGeography, region_within};
/// use chronoseal_v2x::types::{CircularRegion, GeographicRegion, IdentifiedRegion, TwoDLocation};
///
/// let center = TwoDLocation { latitude: 481_351_253, longitude: 115_819_806 };
/// let circle = |radius| GeographicRegion::Circular(CircularRegion { center, radius });
/// assert_eq!(region_within(&circle(500), &circle(501), &NoGeography), Containment::Inside);
/// assert_eq!(region_within(&circle(501), &circle(500), &NoGeography), Containment::Outside);
/// let germany = GeographicRegion::Identified(vec![IdentifiedRegion::CountryOnly(276)]);
/// assert_eq!(region_within(&circle(500), &germany, &NoGeography), Containment::Undecided);
/// ```
pub fn region_within(inner: &GeographicRegion, outer: &GeographicRegion, geography: &dyn Geography) -> Containment {
    use GeographicRegion::{Circular, Identified, Polygonal, Rectangular, Unknown};
    match (inner, outer) {
        (Unknown(_), _) | (_, Unknown(_)) => Containment::Undecided,
        (inner, outer) if inner == outer => Containment::Inside,
        (Identified(inner), Identified(outer)) => identified_within(inner, outer, geography),
        (Identified(_), _) => Containment::Undecided,
        (_, Identified(list)) => match identified_covers(list, inner, geography) {
            Containment::Undecided => outside_if_one_is(&witnesses(inner), outer, geography),
            answer => answer,
        },
        (Circular(circle), Circular(outer_circle)) if circle.center == outer_circle.center => {
            if circle.radius <= outer_circle.radius { Containment::Inside } else { Containment::Outside }
        }
        (Circular(circle), Circular(outer_circle)) => {
            if circle_in_circle(circle, outer_circle) {
                return Containment::Inside;
            }
            let mut places = witnesses(inner);
            places.extend(farthest_from(outer_circle.center, circle));
            outside_if_one_is(&places, outer, geography)
        }
        (Circular(circle), _) => match around(circle) {
            Some(figure) if figure_within(&figure, outer) => Containment::Inside,
            _ => outside_if_one_is(&witnesses(inner), outer, geography),
        },
        (Rectangular(list), _) if list.len() > RECTANGLES_MAX => Containment::Undecided,
        (Rectangular(list), _) => Containment::of_all(list.iter().map(|rectangle| {
            let hull = Hull::from(rectangle);
            match outer {
                Rectangular(outer) if outer.len() > RECTANGLES_MAX => Containment::Undecided,
                Rectangular(outer) if hull.is_covered_by(outer) => Containment::Inside,
                Rectangular(_) => Containment::Outside,
                _ => polygon_within(&hull.polygon(), outer),
            }
        })),
        (Polygonal(corners), _) if corners.len() > CORNERS_MAX => Containment::Undecided,
        (Polygonal(corners), _) => {
            Polygon::new(corners).map_or(Containment::Undecided, |polygon| polygon_within(&polygon, outer))
        }
    }
}

/// A polygon, exactly as it is, in a circle, rectangles or a polygon.
fn polygon_within(polygon: &Polygon, outer: &GeographicRegion) -> Containment {
    if figure_within(polygon, outer) {
        return Containment::Inside;
    }
    match outer {
        GeographicRegion::Polygonal(corners) if corners.len() <= CORNERS_MAX => Containment::Outside,
        GeographicRegion::Rectangular(list) if list.len() == 1 => Containment::Outside,
        _ => outside_if_one_is(&places(polygon), outer, &super::NoGeography),
    }
}

/// True only if the whole figure lies in `outer`; false also where that takes more than is looked at.
fn figure_within(figure: &Polygon, outer: &GeographicRegion) -> bool {
    match outer {
        GeographicRegion::Circular(circle) => {
            // In a plane whose meridians are as far apart as the farthest here, a polygon's farthest point is a corner.
            let center = Point::new(figure.origin(), circle.center);
            let widest = widest_cosine(figure.corners().iter().chain([&center]).map(|point| point.north));
            let longest = figure.corners().iter().map(|corner| length_m(center, *corner, widest)).fold(0.0, f64::max);
            longest <= f64::from(circle.radius) * (1.0 - ROUNDING)
        }
        GeographicRegion::Rectangular(list) => list.len() <= RECTANGLES_MAX && figure.hull().is_covered_by(list),
        GeographicRegion::Polygonal(corners) => {
            corners.len() <= CORNERS_MAX && Polygon::new(corners).is_some_and(|outer| figure.is_within(&outer))
        }
        GeographicRegion::Identified(_) | GeographicRegion::Unknown(_) => false,
    }
}

/// Some places that are in the region, those that reach out farthest among them; none of countries.
fn witnesses(region: &GeographicRegion) -> Vec<TwoDLocation> {
    match region {
        GeographicRegion::Circular(circle) => on(circle),
        GeographicRegion::Rectangular(list) => {
            list.iter().take(RECTANGLES_MAX).flat_map(|one| places(&Hull::from(one).polygon())).collect()
        }
        GeographicRegion::Polygonal(corners) => corners.iter().take(CORNERS_MAX).copied().collect(),
        GeographicRegion::Identified(_) | GeographicRegion::Unknown(_) => Vec::new(),
    }
}

fn places(polygon: &Polygon) -> Vec<TwoDLocation> {
    polygon.corners().iter().map(|corner| corner.place(polygon.origin())).collect()
}

fn outside_if_one_is(places: &[TwoDLocation], outer: &GeographicRegion, geography: &dyn Geography) -> Containment {
    let is_outside = |place: &TwoDLocation| region_contains(outer, *place, geography) == Some(false);
    if places.iter().any(is_outside) { Containment::Outside } else { Containment::Undecided }
}

/// Relative error allowed for in floating point; distances are known to 1 %, and this is about their arithmetic alone.
const ROUNDING: f64 = 1e-6;

/// Directions of the corners of a regular polygon of 16 corners around a circle of radius 1, in one eighth of a turn; the
/// others follow by symmetry. tan(pi/16), and the next corner.
const AROUND: [(f64, f64); 2] = [(1.0, 0.198_912_4), (0.847_759_1, 0.566_454_5)];
/// Points of that circle, a sixteenth of a turn apart.
const ON: [(f64, f64); 3] = [(1.0, 0.0), (0.923_879_5, 0.382_683_4), (FRAC_1_SQRT_2, FRAC_1_SQRT_2)];

/// Half axes of the ellipse of places at a circle's radius, were the meridians everywhere as far apart as where their
/// `cosine` is this `[0.1 microdegree]`.
fn half_axes(circle: &CircularRegion, cosine: f64) -> (f64, f64) {
    let radius = f64::from(circle.radius);
    (radius / (LONGITUDE_DEGREE_M * cosine) * DEGREE, radius / LATITUDE_DEGREE_M * DEGREE)
}

/// Cosines of the latitudes of a circle, the least and the greatest; none if it comes close to a pole.
fn cosines(circle: &CircularRegion) -> Option<(f64, f64)> {
    let latitude = f64::from(circle.center.latitude).abs() / DEGREE;
    let reach = f64::from(circle.radius) / LATITUDE_DEGREE_M;
    (latitude + reach < 88.0).then(|| (cosine(latitude + reach), cosine((latitude - reach).max(0.0))))
}

/// A polygon around a circle; none if it comes close to a pole.
fn around(circle: &CircularRegion) -> Option<Polygon> {
    let (narrowest, _) = cosines(circle)?;
    let axes = half_axes(circle, narrowest);
    // In the order of the way round: the corners of an eighth, then those of the next one backwards with axes exchanged.
    let quarter = [AROUND[0], AROUND[1], swapped(AROUND[1]), swapped(AROUND[0])];
    let points = turned(quarter).map(|(east, north)| Point {
        east: outward(east * axes.0),
        north: i64::from(circle.center.latitude) + outward(north * axes.1),
    });
    Some(Polygon::in_plane(circle.center.longitude, points.collect()))
}

/// Places in a circle, on its edge as nearly as the grid allows, and its centre.
fn on(circle: &CircularRegion) -> Vec<TwoDLocation> {
    let Some((_, widest)) = cosines(circle) else { return vec![circle.center] };
    let axes = half_axes(circle, widest);
    let quarter = [ON[0], ON[1], ON[2], swapped(ON[1])];
    let points = turned(quarter).map(|(east, north)| place_at(circle.center, east * axes.0, north * axes.1));
    let is_in = |place: &TwoDLocation| distance_m(circle.center, *place) <= f64::from(circle.radius);
    points.filter(is_in).chain([circle.center]).collect()
}

/// The place of a circle that is farthest from another place, as nearly as the grid allows.
fn farthest_from(place: TwoDLocation, circle: &CircularRegion) -> Option<TwoDLocation> {
    let (_, widest) = cosines(circle)?;
    let axes = half_axes(circle, widest);
    let center = Point::new(place.longitude, circle.center);
    let (east, north) = (center.east as f64 / axes.0, (center.north - i64::from(place.latitude)) as f64 / axes.1);
    let length = (east * east + north * north).sqrt();
    let found = place_at(circle.center, east / length * axes.0, north / length * axes.1);
    (distance_m(circle.center, found) <= f64::from(circle.radius)).then_some(found)
}

fn place_at(center: TwoDLocation, east: f64, north: f64) -> TwoDLocation {
    let inward = |units: f64| (units * (1.0 - ROUNDING)) as i64;
    Point { east: inward(east), north: i64::from(center.latitude) + inward(north) }.place(center.longitude)
}

fn swapped((east, north): (f64, f64)) -> (f64, f64) {
    (north, east)
}

/// The four quarters of a turn, in order, by the first.
fn turned(quarter: [(f64, f64); 4]) -> impl Iterator<Item = (f64, f64)> {
    let turns = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)];
    turns
        .into_iter()
        .flat_map(move |(cos, sin)| quarter.map(|(east, north)| (east * cos - north * sin, east * sin + north * cos)))
}

/// Rounded away from zero, and a little more.
fn outward(units: f64) -> i64 {
    let size = (units.abs() * (1.0 + ROUNDING)).ceil() as i64 + 1;
    if units < 0.0 { -size } else { size }
}

/// The greatest cosine of the latitudes from the least to the greatest of these `[0.1 microdegree]`.
fn widest_cosine(latitudes: impl Iterator<Item = i64> + Clone) -> f64 {
    let (south, north) = (latitudes.clone().min().unwrap_or(0), latitudes.max().unwrap_or(0));
    let nearest_equator = if south <= 0 && north >= 0 { 0 } else { south.abs().min(north.abs()) };
    cosine(nearest_equator as f64 / DEGREE)
}

/// Length between two points if meridians are everywhere as far apart as where their `cosine` is this `[m]`.
fn length_m(from: Point, to: Point, cosine: f64) -> f64 {
    let north_m = (to.north - from.north) as f64 / DEGREE * LATITUDE_DEGREE_M;
    let east_m = (to.east - from.east) as f64 / DEGREE * LONGITUDE_DEGREE_M * cosine;
    (north_m * north_m + east_m * east_m).sqrt()
}

/// True only if all of a circle is in the other one.
///
/// Let *w* be the length with meridians as far apart as the widest here: never shorter than the distance, and longer by at
/// most the ratio of the cosines. Then for any place of the circle the distance from the outer centre is at most its *w*,
/// which is at most *w* between the centres and *w* from the inner one.
fn circle_in_circle(inner: &CircularRegion, outer: &CircularRegion) -> bool {
    let Some((narrowest, _)) = cosines(inner) else { return false };
    let center = Point::new(outer.center.longitude, inner.center);
    let reach = outward(half_axes(inner, 1.0).1);
    let outer_center = Point { east: 0, north: outer.center.latitude.into() };
    let widest = widest_cosine([center.north - reach, center.north + reach, outer_center.north].into_iter());
    let longest = length_m(outer_center, center, widest) + f64::from(inner.radius) * widest / narrowest;
    center.east.abs() < TURN / 8 && longest <= f64::from(outer.radius) * (1.0 - ROUNDING)
}
