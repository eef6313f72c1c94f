//! Rectangles and polygons as figures in a plane: longitude to the east, latitude to the north, in whole numbers, so that
//! every answer is exact. A side of a polygon is a straight line in this plane, where IEEE 1609.2 has a geodesic; on 100 km
//! at latitude 50 degrees the two are less than 250 m apart.

use crate::types::{RectangularRegion, TwoDLocation};

/// Units of a coordinate in a full turn.
pub(super) const TURN: i64 = 3_600_000_000;

/// Difference of longitudes, the short way round `[0.1 microdegree]`.
pub(super) fn longitude_difference(from: i32, to: i32) -> i64 {
    let difference = i64::from(to) - i64::from(from);
    (difference + TURN / 2).rem_euclid(TURN) - TURN / 2
}

/// A place in the plane `[0.1 microdegree]`; `east` counts on where the longitude jumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Point {
    pub(super) east: i64,
    pub(super) north: i64,
}

impl Point {
    /// A place, its longitude taken to be the short way from `origin`.
    pub(super) fn new(origin: i32, place: TwoDLocation) -> Self {
        Self { east: longitude_difference(origin, place.longitude), north: place.latitude.into() }
    }

    /// The place it is, if `origin` is the longitude of `east` 0.
    pub(super) fn place(self, origin: i32) -> TwoDLocation {
        let turned = (i64::from(origin) + self.east + TURN / 2 - 1).rem_euclid(TURN) - TURN / 2 + 1;
        let fit = |units: i64| i32::try_from(units).unwrap_or(i32::MAX);
        TwoDLocation { latitude: fit(self.north), longitude: fit(turned) }
    }

    fn moved(self, east: i64) -> Self {
        Self { east: self.east + east, north: self.north }
    }

    fn doubled(self) -> Self {
        Self { east: 2 * self.east, north: 2 * self.north }
    }
}

/// Twice the area of a triangle, positive if it is walked counterclockwise.
fn turn(a: Point, b: Point, c: Point) -> i128 {
    i128::from(b.east - a.east) * i128::from(c.north - a.north)
        - i128::from(c.east - a.east) * i128::from(b.north - a.north)
}

/// Whether `point`, which is on the line through `a` and `b`, is between them or one of them.
fn is_between(a: Point, b: Point, point: Point) -> bool {
    let is_in = |from: i64, to: i64, at: i64| from.min(to) <= at && at <= from.max(to);
    is_in(a.east, b.east, point.east) && is_in(a.north, b.north, point.north)
}

fn is_on(a: Point, b: Point, point: Point) -> bool {
    turn(a, b, point) == 0 && is_between(a, b, point)
}

/// Whether two sides cross, each ending on both sides of the other.
fn cross((a, b): (Point, Point), (c, d): (Point, Point)) -> bool {
    let opposite = |one: i128, other: i128| one.signum() * other.signum() < 0;
    opposite(turn(a, b, c), turn(a, b, d)) && opposite(turn(c, d, a), turn(c, d, b))
}

/// Whether two sides have a point in common.
fn meet((a, b): (Point, Point), (c, d): (Point, Point)) -> bool {
    cross((a, b), (c, d)) || is_on(a, b, c) || is_on(a, b, d) || is_on(c, d, a) || is_on(c, d, b)
}

/// Corners in order, each the short way from the one before.
fn unrolled(origin: i32, corners: &[TwoDLocation]) -> impl Iterator<Item = Point> + Clone + '_ {
    let mut before = origin;
    let mut east = 0;
    corners.iter().map(move |corner| {
        east += longitude_difference(before, corner.longitude);
        before = corner.longitude;
        Point { east, north: corner.latitude.into() }
    })
}

/// Sides of the figure with these corners, the last joined to the first.
fn sides<P: Iterator<Item = Point> + Clone>(corners: P) -> impl Iterator<Item = (Point, Point)> + use<P> {
    let ends = corners.clone().skip(1).chain(corners.clone().take(1));
    corners.zip(ends)
}

/// Whether `place` is inside or on the edge, by the crossings of a ray to the east.
fn contains(corners: impl Iterator<Item = Point> + Clone, place: Point) -> bool {
    let mut is_inside = false;
    for (a, b) in sides(corners) {
        let area = turn(place, a, b);
        if area == 0 && is_between(a, b, place) {
            return true;
        }
        if (a.north > place.north) != (b.north > place.north) && (area > 0) == (b.north > a.north) {
            is_inside = !is_inside;
        }
    }
    is_inside
}

/// Whether a polygon contains a place, its edge included.
pub(super) fn polygon_contains(corners: &[TwoDLocation], place: TwoDLocation) -> bool {
    let Some(first) = corners.first() else { return false };
    let place = Point::new(first.longitude, place);
    // A polygon reaches up to a turn to either side of its first corner, a longitude half a turn.
    [-TURN, 0, TURN].iter().any(|turns| contains(unrolled(first.longitude, corners), place.moved(*turns)))
}

/// A figure with corners, its longitudes unrolled from the one of its first corner.
#[derive(Clone, Debug)]
pub(super) struct Polygon {
    origin: i32,
    corners: Vec<Point>,
}

impl Polygon {
    /// None if it does not close after less than a turn: around a pole there is no inside in this plane.
    pub(super) fn new(corners: &[TwoDLocation]) -> Option<Self> {
        let origin = corners.first()?.longitude;
        let polygon = Self { origin, corners: unrolled(origin, corners).collect() };
        let end = polygon.corners.last()?.east;
        let is_closed = end + longitude_difference(corners.last()?.longitude, origin) == 0;
        (is_closed && polygon.hull().width < TURN).then_some(polygon)
    }

    /// With corners already in the plane whose zero is the longitude `origin`.
    pub(super) fn in_plane(origin: i32, corners: Vec<Point>) -> Self {
        Self { origin, corners }
    }

    pub(super) fn corners(&self) -> &[Point] {
        &self.corners
    }

    /// Longitude of `east` 0.
    pub(super) fn origin(&self) -> i32 {
        self.origin
    }

    /// The smallest rectangle around it.
    pub(super) fn hull(&self) -> Hull {
        let [east, north] = [|point: &Point| point.east, |point: &Point| point.north].map(|coordinate| {
            let all = || self.corners.iter().map(coordinate);
            (all().min().unwrap_or(0), all().max().unwrap_or(0))
        });
        Hull { west: i64::from(self.origin) + east.0, width: east.1 - east.0, south: north.0, north: north.1 }
    }

    /// Whether no two sides meet but at the corner they share.
    pub(super) fn is_simple(&self) -> bool {
        let sides: Vec<_> = sides(self.corners.iter().copied()).collect();
        let count = sides.len();
        sides.iter().enumerate().all(|(at, &one)| {
            one.0 != one.1
                && sides.iter().enumerate().skip(at + 1).all(|(other_at, &other)| {
                    if other_at == at + 1 {
                        !is_on(one.0, one.1, other.1) && !is_on(other.0, other.1, one.0)
                    } else if at == 0 && other_at + 1 == count {
                        !is_on(one.0, one.1, other.0) && !is_on(other.0, other.1, one.1)
                    } else {
                        !meet(one, other)
                    }
                })
        })
    }

    /// Whether all of it lies in `outer`, which must be [simple](Self::is_simple); edges may touch.
    pub(super) fn is_within(&self, outer: &Self) -> bool {
        let shift = longitude_difference(outer.origin, self.origin);
        [-TURN, 0, TURN].iter().any(|turns| {
            let moved: Vec<Point> = self.corners.iter().map(|corner| corner.moved(shift + turns)).collect();
            sides(moved.iter().copied()).all(|side| outer.contains_side(side))
        })
    }

    /// Whether it contains a side. A simple polygon has no holes: it contains what it contains the edge of.
    fn contains_side(&self, (from, to): (Point, Point)) -> bool {
        if sides(self.corners.iter().copied()).any(|side| cross(side, (from, to))) {
            return false;
        }
        // Crossed by nothing, a side can leave at a corner only. Between two of those it is inside if its middle is.
        let mut stops = vec![from, to];
        stops.extend(self.corners.iter().filter(|corner| is_on(from, to, **corner)));
        stops.sort_unstable();
        stops.dedup();
        let doubled = self.corners.iter().map(|corner| corner.doubled());
        let contains_middle = |pair: &[Point]| {
            let middle = Point { east: pair[0].east + pair[1].east, north: pair[0].north + pair[1].north };
            contains(doubled.clone(), middle)
        };
        contains(self.corners.iter().copied(), from) && stops.windows(2).all(contains_middle)
    }
}

/// What lies between two meridians and two parallels: `width` east from `west`, edges included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hull {
    pub(super) west: i64,
    pub(super) width: i64,
    pub(super) south: i64,
    pub(super) north: i64,
}

impl From<&RectangularRegion> for Hull {
    fn from(region: &RectangularRegion) -> Self {
        let (west, east) = (i64::from(region.north_west.longitude), i64::from(region.south_east.longitude));
        Self {
            west,
            // Across the antimeridian too.
            width: (east - west).rem_euclid(TURN),
            south: region.south_east.latitude.into(),
            north: region.north_west.latitude.into(),
        }
    }
}

impl Hull {
    pub(super) fn contains(&self, place: TwoDLocation) -> bool {
        let east = (i64::from(place.longitude) - self.west).rem_euclid(TURN);
        (self.south..=self.north).contains(&i64::from(place.latitude)) && east <= self.width
    }

    /// Its corners.
    pub(super) fn polygon(&self) -> Polygon {
        let (south, north) = (self.south, self.north);
        let corners = [(0, south), (self.width, south), (self.width, north), (0, north)];
        // A turn more or less is the same longitude.
        let origin = i32::try_from((self.west + TURN / 2).rem_euclid(TURN) - TURN / 2).unwrap_or(0);
        Polygon::in_plane(origin, corners.map(|(east, north)| Point { east, north }).into())
    }

    /// Whether `rectangles` cover it together. What lies between two neighbouring places of the grid of coordinates belongs
    /// to both: rectangles need not overlap.
    pub(super) fn is_covered_by(&self, rectangles: &[RectangularRegion]) -> bool {
        // Half-open from here on, relative to the west edge: a rectangle may come from either side.
        let (width, end) = (self.width + 1, self.north + 1);
        let mut pieces: Vec<[i64; 4]> = Vec::with_capacity(2 * rectangles.len());
        for one in rectangles.iter().map(Self::from) {
            let west = (one.west - self.west).rem_euclid(TURN);
            let spans = [west, west - TURN].map(|west| (west, west + one.width + 1));
            pieces.extend(
                spans
                    .iter()
                    .filter(|(west, east)| *west < width && *east > 0)
                    .map(|(west, east)| [*west, *east, one.south, one.north + 1]),
            );
        }
        pieces.sort_unstable();
        let mut strips: Vec<i64> = pieces.iter().flat_map(|[_, _, south, north]| [*south, *north]).collect();
        strips.push(self.south);
        strips.retain(|north| (self.south..end).contains(north));
        strips.sort_unstable();
        strips.dedup();
        strips.iter().all(|strip| {
            let in_strip = pieces.iter().filter(|[_, _, south, north]| south <= strip && strip < north);
            in_strip.fold(0, |reached, [west, east, ..]| if *west <= reached { reached.max(*east) } else { reached })
                >= width
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(latitude: i32, longitude: i32) -> TwoDLocation {
        TwoDLocation { latitude, longitude }
    }

    fn rectangle(north_west: TwoDLocation, south_east: TwoDLocation) -> RectangularRegion {
        RectangularRegion { north_west, south_east }
    }

    #[test]
    fn rectangle_across_the_antimeridian() {
        let hull = Hull::from(&rectangle(at(10_000_000, 1_790_000_000), at(0, -1_790_000_000)));
        assert!(hull.contains(at(5_000_000, 1_795_000_000)));
        assert!(hull.contains(at(5_000_000, -1_795_000_000)));
        assert!(!hull.contains(at(5_000_000, 0)));
        assert!(!hull.contains(at(-1, 1_795_000_000)));
    }

    const U: [TwoDLocation; 8] = [
        TwoDLocation { latitude: 0, longitude: 0 },
        TwoDLocation { latitude: 30, longitude: 0 },
        TwoDLocation { latitude: 30, longitude: 10 },
        TwoDLocation { latitude: 10, longitude: 10 },
        TwoDLocation { latitude: 10, longitude: 20 },
        TwoDLocation { latitude: 30, longitude: 20 },
        TwoDLocation { latitude: 30, longitude: 30 },
        TwoDLocation { latitude: 0, longitude: 30 },
    ];

    #[test]
    fn polygon_with_its_edge_and_without_its_bay() {
        let contains = |place| polygon_contains(&U, place);
        assert!(contains(at(5, 15)) && contains(at(20, 5)) && contains(at(20, 25)));
        assert!(contains(at(0, 15)) && contains(at(10, 15)) && contains(at(30, 30)));
        assert!(!contains(at(20, 15)) && !contains(at(31, 5)) && !contains(at(-1, 0)));
    }

    #[test]
    fn a_polygon_does_not_reach_round_the_earth() {
        let degree = 10_000_000;
        let square = [(-1, -1), (-1, 1), (1, 1), (1, -1)].map(|(y, x)| at(y * degree, x * degree));
        assert!(polygon_contains(&square, at(0, 0)));
        for longitude in [180, -179, 179, 90, -90] {
            assert!(!polygon_contains(&square, at(0, longitude * degree)), "{longitude}");
        }
        // Across the antimeridian, and wider than half a turn.
        let pacific = [(-1, 170), (-1, -170), (1, -170), (1, 170)].map(|(y, x)| at(y * degree, x * degree));
        assert!(polygon_contains(&pacific, at(0, 180 * degree)) && polygon_contains(&pacific, at(0, -175 * degree)));
        assert!(!polygon_contains(&pacific, at(0, 0)) && !polygon_contains(&pacific, at(0, 169 * degree)));
        let wide =
            [(-1, -150), (-1, 0), (-1, 150), (1, 150), (1, 0), (1, -150)].map(|(y, x)| at(y * degree, x * degree));
        assert!(polygon_contains(&wide, at(0, 149 * degree)) && polygon_contains(&wide, at(0, -149 * degree)));
        assert!(!polygon_contains(&wide, at(0, 180 * degree)));
    }

    #[test]
    fn sides_that_meet_are_seen() {
        let is_simple = |corners: &[(i32, i32)]| {
            Polygon::new(&corners.iter().map(|(y, x)| at(*y, *x)).collect::<Vec<_>>()).unwrap().is_simple()
        };
        assert!(Polygon::new(&U).unwrap().is_simple());
        assert!(is_simple(&[(0, 0), (0, 10), (10, 0)]));
        assert!(!is_simple(&[(0, 0), (10, 10), (10, 0), (0, 10)]), "a bow tie");
        assert!(!is_simple(&[(0, 0), (0, 0), (10, 0)]), "a corner twice");
        assert!(!is_simple(&[(0, 0), (0, 10), (0, 20)]), "no area");
        assert!(!is_simple(&[(0, 0), (0, 20), (10, 10), (0, 10), (10, 0)]), "a corner on a side");
    }

    #[test]
    fn a_polygon_around_a_pole_is_none() {
        let polar = [0, 90, 180, -90].map(|longitude| at(600_000_000, longitude * 10_000_000));
        assert!(Polygon::new(&polar).is_none());
    }

    #[test]
    fn rectangles_cover_together_what_none_covers_alone() {
        let whole = Hull::from(&rectangle(at(30, 0), at(0, 30)));
        let west = rectangle(at(30, 0), at(0, 14));
        let east = rectangle(at(40, 15), at(0, 30));
        assert!(whole.is_covered_by(&[west, east]), "neighbours leave nothing between them");
        assert!(!whole.is_covered_by(&[west]) && !whole.is_covered_by(&[east]));
        assert!(!whole.is_covered_by(&[rectangle(at(30, 0), at(0, 13)), east]), "a column is missing");
        let ring = [
            rectangle(at(30, 0), at(20, 30)),
            rectangle(at(10, 0), at(0, 30)),
            rectangle(at(30, 0), at(0, 10)),
            rectangle(at(30, 20), at(0, 30)),
        ];
        assert!(!whole.is_covered_by(&ring), "a hole in the middle");
        assert!(whole.is_covered_by(&[&ring[..], &[rectangle(at(19, 11), at(11, 19))]].concat()));
        let world = rectangle(at(900_000_000, -1_799_999_999), at(-900_000_000, 1_800_000_000));
        let pacific = Hull::from(&rectangle(at(10, 1_790_000_000), at(0, -1_790_000_000)));
        assert!(pacific.is_covered_by(&[world]) && whole.is_covered_by(&[world]));
        assert!(!Hull::from(&world).is_covered_by(&[west, east]));
    }
}
