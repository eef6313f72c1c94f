//! Whether one region lies in another: by cases, and against places taken at random.

use chronoseal_v2x::region::*;
use chronoseal_v2x::types::*;
use proptest::prelude::*;

const DEGREE: i32 = 10_000_000;
/// Munich.
const CENTER: TwoDLocation = TwoDLocation { latitude: 481_351_253, longitude: 115_819_806 };

fn place(north: i32, east: i32) -> TwoDLocation {
    TwoDLocation { latitude: CENTER.latitude + north, longitude: CENTER.longitude + east }
}

fn circle(center: TwoDLocation, radius: u16) -> GeographicRegion {
    GeographicRegion::Circular(CircularRegion { center, radius })
}

/// From south-west to north-east corner.
fn rectangle(south_west: Corner, north_east: Corner) -> RectangularRegion {
    RectangularRegion { north_west: place(north_east.0, south_west.1), south_east: place(south_west.0, north_east.1) }
}

type Corner = (i32, i32);

fn rectangles(list: &[(Corner, Corner)]) -> GeographicRegion {
    GeographicRegion::Rectangular(list.iter().map(|(from, to)| rectangle(*from, *to)).collect())
}

fn polygon(corners: &[(i32, i32)]) -> GeographicRegion {
    GeographicRegion::Polygonal(corners.iter().map(|(north, east)| place(*north, *east)).collect())
}

fn within(inner: &GeographicRegion, outer: &GeographicRegion) -> Containment {
    region_within(inner, outer, &NoGeography)
}

use Containment::{Inside, Outside, Undecided};

/// 1 degree of latitude is 111,132.95 m here: 89,983 units are 1,000 m.
const KM: i32 = 89_983;

#[test]
fn circle_in_circle() {
    let outer = circle(CENTER, 2_000);
    assert_eq!(within(&circle(place(KM, 0), 990), &outer), Inside);
    assert_eq!(within(&circle(place(KM, 0), 1_010), &outer), Outside);
    assert_eq!(within(&circle(place(2 * KM + 900, 0), 0), &outer), Outside, "a point");
    assert_eq!(within(&circle(place(2 * KM - 900, 0), 0), &outer), Inside, "a point");
    assert_eq!(within(&circle(CENTER, 2_000), &outer), Inside, "itself");
    assert_eq!(within(&circle(CENTER, 2_001), &outer), Outside, "about the same centre");
    assert_eq!(within(&circle(place(30 * KM, 0), 990), &outer), Outside, "apart");
    // To the east a unit is shorter; across the antimeridian as elsewhere.
    let fiji = |longitude| TwoDLocation { latitude: -17 * DEGREE, longitude };
    let outer = circle(fiji(179 * DEGREE), 65_000);
    let east = |radius| circle(fiji(179 * DEGREE + 2_000_000), radius);
    assert_eq!(within(&east(43_000), &outer), Inside);
    assert_eq!(within(&east(44_500), &outer), Outside);
    let over = TwoDLocation { latitude: -17 * DEGREE, longitude: -1_798_000_000 };
    assert_eq!(within(&circle(over, 10), &circle(fiji(1_798_000_000), 65_000)), Inside);
    // Where meridians meet nothing is said.
    let pole = TwoDLocation { latitude: 895_000_000, longitude: 0 };
    let beside = TwoDLocation { latitude: 895_100_000, longitude: 0 };
    assert_eq!(within(&circle(beside, 10), &circle(pole, 60_000)), Undecided);
}

#[test]
fn circle_in_rectangles() {
    let outer = rectangles(&[((-2 * KM, -3 * KM), (2 * KM, 3 * KM))]);
    assert_eq!(within(&circle(CENTER, 1_990), &outer), Inside);
    assert_eq!(within(&circle(CENTER, 2_010), &outer), Outside, "north and south");
    assert_eq!(within(&circle(place(0, 2 * KM), 660), &outer), Inside);
    assert_eq!(within(&circle(place(0, 2 * KM), 680), &outer), Outside, "east");
    let halves = rectangles(&[((-2 * KM, -3 * KM), (2 * KM, 0)), ((-2 * KM, 1), (2 * KM, 3 * KM))]);
    assert_eq!(within(&circle(CENTER, 1_990), &halves), Inside, "over the seam");
}

#[test]
fn circle_in_polygon() {
    let triangle = polygon(&[(-2 * KM, -3 * KM), (-2 * KM, 3 * KM), (4 * KM, 0)]);
    assert_eq!(within(&circle(CENTER, 900), &triangle), Inside);
    assert_eq!(within(&circle(CENTER, 1_990), &triangle), Outside);
    assert_eq!(within(&circle(place(-KM, 0), 990), &triangle), Inside);
    assert_eq!(within(&circle(place(10 * KM, 0), 10), &triangle), Outside);
}

#[test]
fn rectangles_in_rectangles() {
    let outer = rectangles(&[((0, 0), (30, 14)), ((0, 15), (40, 30))]);
    assert_eq!(within(&rectangles(&[((0, 0), (30, 30))]), &outer), Inside, "by both together");
    assert_eq!(within(&rectangles(&[((0, 0), (31, 30))]), &outer), Outside);
    assert_eq!(within(&rectangles(&[((0, 0), (30, 30)), ((0, 0), (1, 31))]), &outer), Outside, "one of two");
    assert_eq!(within(&rectangles(&[((0, 20), (40, 30)), ((1, 1), (2, 2))]), &outer), Inside);
    let gap = rectangles(&[((0, 0), (30, 13)), ((0, 15), (40, 30))]);
    assert_eq!(within(&rectangles(&[((0, 0), (30, 30))]), &gap), Outside, "between the two");
    let many: Vec<_> = (0..40).map(|at| ((0, at), (9, at + 1))).collect();
    assert_eq!(within(&rectangles(&[((0, 0), (9, 3))]), &rectangles(&many)), Undecided, "more than are compared");
    assert_eq!(within(&rectangles(&many), &rectangles(&many)), Inside, "but for equal ones");
}

#[test]
fn rectangles_and_polygons_in_circles_and_polygons() {
    let round = circle(CENTER, 1_500);
    assert_eq!(within(&rectangles(&[((-KM, -KM), (KM, KM))]), &round), Inside);
    assert_eq!(within(&rectangles(&[((-KM, -KM), (KM, 2 * KM))]), &round), Outside);
    assert_eq!(within(&polygon(&[(-KM, 0), (0, 2 * KM), (KM, 0)]), &round), Inside);
    assert_eq!(within(&polygon(&[(-KM, 0), (0, 3 * KM), (KM, 0)]), &round), Outside);

    // A horseshoe open to the north.
    let shoe = polygon(&[(0, 0), (30, 0), (30, 10), (10, 10), (10, 20), (30, 20), (30, 30), (0, 30)]);
    assert_eq!(within(&rectangles(&[((0, 0), (10, 30))]), &shoe), Inside, "along its edges");
    assert_eq!(within(&rectangles(&[((0, 0), (30, 10)), ((0, 20), (30, 30))]), &shoe), Inside, "its arms");
    assert_eq!(within(&rectangles(&[((0, 0), (30, 30))]), &shoe), Outside, "corners in, the bay not");
    assert_eq!(within(&polygon(&[(30, 10), (0, 15), (30, 20)]), &shoe), Outside, "over the bay");
    assert_eq!(within(&polygon(&[(30, 10), (30, 20), (10, 20), (10, 10)]), &shoe), Outside, "the bay itself");
    assert_eq!(within(&polygon(&[(10, 10), (10, 20), (5, 15)]), &shoe), Inside, "touching from within");
    // A bay beside the middle: no side is crossed, the middle of each is inside.
    let bay = polygon(&[(0, 0), (30, 0), (30, 2), (10, 2), (10, 8), (30, 8), (30, 30), (0, 30)]);
    assert_eq!(within(&rectangles(&[((0, 0), (30, 30))]), &bay), Outside);
    assert_eq!(within(&rectangles(&[((0, 8), (30, 30))]), &bay), Inside);
    // Through corners without crossing a side: in at one, out at the other.
    let notched = polygon(&[(0, 0), (0, 30), (30, 30), (15, 15), (30, 0)]);
    assert_eq!(within(&polygon(&[(15, 5), (15, 25), (5, 15)]), &notched), Inside, "the side passes the notch's tip");
    assert_eq!(within(&polygon(&[(16, 5), (16, 25), (5, 15)]), &notched), Outside, "the side passes above it");
    let outer = rectangles(&[((0, 0), (30, 30))]);
    assert_eq!((within(&shoe, &outer), within(&notched, &outer)), (Inside, Inside));
    assert_eq!(within(&polygon(&[(0, 0), (31, 15), (0, 30)]), &outer), Outside);
    let halves = rectangles(&[((0, 0), (20, 30)), ((10, 0), (30, 30))]);
    assert_eq!(within(&notched, &halves), Inside, "the hull fits");
    let tee = rectangles(&[((0, 0), (10, 30)), ((0, 10), (30, 20))]);
    assert_eq!(within(&polygon(&[(0, 12), (0, 18), (25, 15)]), &tee), Inside);
    assert_eq!(within(&polygon(&[(5, 5), (5, 25), (25, 15)]), &tee), Undecided, "the hull does not, the corners do");
    assert_eq!(within(&polygon(&[(15, 5), (5, 25), (25, 15)]), &tee), Outside, "a corner does not");
}

fn country(number: u16) -> GeographicRegion {
    GeographicRegion::Identified(vec![IdentifiedRegion::CountryOnly(number)])
}

fn regions(country: u16, regions: &[u8]) -> GeographicRegion {
    GeographicRegion::Identified(vec![IdentifiedRegion::CountryAndRegions { country, regions: regions.into() }])
}

fn subregions(country: u16, region: u8, subregions: &[u16]) -> GeographicRegion {
    let region_and_subregions = vec![RegionAndSubregions { region, subregions: subregions.into() }];
    GeographicRegion::Identified(vec![IdentifiedRegion::CountryAndSubregions { country, region_and_subregions }])
}

const GERMANY: u16 = 276;
const FRANCE: u16 = 250;
const EUROPE: u16 = 150;

#[test]
fn countries_by_their_numbers() {
    let both = GeographicRegion::Identified([GERMANY, FRANCE].map(IdentifiedRegion::CountryOnly).into());
    assert_eq!(within(&country(GERMANY), &both), Inside);
    assert_eq!(within(&both, &country(GERMANY)), Outside);
    assert_eq!(within(&country(FRANCE), &country(GERMANY)), Outside);
    assert_eq!(within(&regions(GERMANY, &[1, 2]), &country(GERMANY)), Inside);
    assert_eq!(within(&regions(GERMANY, &[1, 2]), &regions(GERMANY, &[2, 1, 3])), Inside);
    assert_eq!(within(&regions(GERMANY, &[1, 4]), &regions(GERMANY, &[2, 1, 3])), Outside);
    assert_eq!(within(&subregions(GERMANY, 1, &[9]), &regions(GERMANY, &[1])), Inside);
    assert_eq!(within(&subregions(GERMANY, 1, &[9]), &regions(GERMANY, &[2])), Outside);
    assert_eq!(within(&subregions(GERMANY, 1, &[9]), &subregions(GERMANY, 1, &[8, 9])), Inside);
    assert_eq!(within(&subregions(GERMANY, 1, &[7]), &subregions(GERMANY, 1, &[8, 9])), Outside);
    assert_eq!(within(&regions(FRANCE, &[1]), &country(GERMANY)), Outside);
    // The regions may be all there are; a continent has countries; 65535 is somebody's own.
    assert_eq!(within(&country(GERMANY), &regions(GERMANY, &[1, 2])), Undecided);
    assert_eq!(within(&country(GERMANY), &country(EUROPE)), Undecided);
    assert_eq!(within(&country(GERMANY), &country(65_535)), Undecided);
    assert_eq!(within(&country(EUROPE), &country(GERMANY)), Undecided);
    assert_eq!(within(&country(GERMANY), &circle(CENTER, 65_535)), Undecided);
    assert_eq!(within(&circle(CENTER, 1), &country(GERMANY)), Undecided);
}

/// Knows Germany: a box, and that it is in Europe.
struct Map;

impl Geography for Map {
    fn contains(&self, country: u16, _: Option<u8>, _: Option<u16>, place: TwoDLocation) -> Option<bool> {
        let is_in = |range: std::ops::Range<i32>, value: i32| range.contains(&(value / DEGREE));
        (country == GERMANY).then(|| is_in(47..55, place.latitude) && is_in(6..15, place.longitude))
    }

    fn covers(&self, country: u16, _: Option<u8>, _: Option<u16>, inner: &GeographicRegion) -> Option<bool> {
        match inner {
            GeographicRegion::Circular(circle) => Some(self.contains(country, None, None, circle.center)?),
            GeographicRegion::Identified(list) if country == EUROPE => {
                Some(list.iter().all(|one| one.country() == Some(GERMANY)))
            }
            _ => None,
        }
    }
}

#[test]
fn a_map_decides_what_numbers_do_not() {
    let with_map = |inner: &GeographicRegion, outer: &GeographicRegion| region_within(inner, outer, &Map);
    assert_eq!(with_map(&country(GERMANY), &country(EUROPE)), Inside);
    assert_eq!(with_map(&country(FRANCE), &country(EUROPE)), Outside);
    assert_eq!(with_map(&circle(CENTER, 100), &country(GERMANY)), Inside);
    let rome = TwoDLocation { latitude: 41 * DEGREE, longitude: 12 * DEGREE };
    assert_eq!(with_map(&circle(rome, 100), &country(GERMANY)), Outside);
    // This map says nothing about rectangles; a corner in Italy does.
    let small = rectangles(&[((0, 0), (10, 10))]);
    assert_eq!(with_map(&small, &country(GERMANY)), Undecided);
    let long = rectangles(&[((-3 * DEGREE, 0), (10, 10))]);
    assert_eq!(with_map(&long, &country(GERMANY)), Outside);
    let both = GeographicRegion::Identified([GERMANY, FRANCE].map(IdentifiedRegion::CountryOnly).into());
    assert_eq!(with_map(&long, &both), Undecided, "it may be in France");
}

#[test]
fn names_what_is_no_region() {
    let fault = |region: &GeographicRegion| check_region(region).unwrap_err();
    assert_eq!(fault(&rectangles(&[])), RegionFault::Empty);
    assert_eq!(fault(&GeographicRegion::Identified(vec![])), RegionFault::Empty);
    assert_eq!(fault(&rectangles(&[((0, 0), (1, 1)), ((0, 0), (0, 1))])), RegionFault::NoHeight { index: 1 });
    assert_eq!(fault(&rectangles(&[((1, 0), (0, 1))])), RegionFault::NoHeight { index: 0 });
    assert_eq!(fault(&rectangles(&[((0, 1), (1, 1))])), RegionFault::NoWidth { index: 0 });
    assert_eq!(fault(&polygon(&[(0, 0), (10, 10), (10, 0), (0, 10)])), RegionFault::SidesMeet);
    let polar = [0, 90, 180, -90].map(|east| TwoDLocation { latitude: 60 * DEGREE, longitude: east * DEGREE });
    assert_eq!(fault(&GeographicRegion::Polygonal(polar.into())), RegionFault::AroundPole);
    assert_eq!(check_region(&polygon(&[(0, 0), (0, 10), (10, 10)])), Ok(()));
    assert_eq!(
        check_region(&rectangles(&[((0, 1), (1, 0))])),
        Ok(()),
        "across the antimeridian, nearly around the earth"
    );
}

/// Sizes from metres to many kilometres around one place, so that regions overlap.
fn offset() -> impl Strategy<Value = i32> {
    prop_oneof![-20..20_i32, -2 * KM..2 * KM, -40 * KM..40 * KM]
}

fn any_figure() -> impl Strategy<Value = GeographicRegion> {
    let corner = || (offset(), offset());
    let circle = (corner(), prop_oneof![0..3_000_u16, any::<u16>()])
        .prop_map(|((north, east), radius)| circle(place(north, east), radius));
    let rectangle = (corner(), 1..20 * KM, 1..20 * KM)
        .prop_map(|((south, west), height, width)| ((south, west), (south + height, west + width)));
    prop_oneof![
        circle,
        proptest::collection::vec(rectangle, 1..6).prop_map(|list| rectangles(&list)),
        proptest::collection::vec(corner(), 3..7)
            .prop_map(|corners| polygon(&corners))
            .prop_filter("sides meet", |region| check_region(region).is_ok()),
    ]
}

/// The same figure, smaller and about its middle: most of them inside.
fn shrunk(region: &GeographicRegion, divisor: i32) -> GeographicRegion {
    match region {
        GeographicRegion::Circular(one) => circle(one.center, one.radius / divisor as u16),
        GeographicRegion::Rectangular(list) => {
            let shrink = |one: &RectangularRegion| {
                let (height, width) = (
                    (one.north_west.latitude - one.south_east.latitude) / (2 * divisor),
                    (one.south_east.longitude - one.north_west.longitude) / (2 * divisor),
                );
                let mut one = *one;
                one.north_west.latitude -= height;
                one.south_east.longitude -= width;
                one
            };
            GeographicRegion::Rectangular(list.iter().map(shrink).collect())
        }
        other => other.clone(),
    }
}

/// A place that is in the region or near it.
fn sample(region: &GeographicRegion, (north, east): (f64, f64)) -> TwoDLocation {
    let between = |from: i32, to: i32, share: f64| from + (f64::from(to - from) * share) as i32;
    let (south_west, north_east) = match region {
        GeographicRegion::Circular(circle) => {
            let reach = i32::from(circle.radius) * 200;
            let at = circle.center;
            ((at.latitude - reach, at.longitude - reach), (at.latitude + reach, at.longitude + reach))
        }
        GeographicRegion::Rectangular(list) => {
            let one = list[(north * 1e4) as usize % list.len()];
            ((one.south_east.latitude, one.north_west.longitude), (one.north_west.latitude, one.south_east.longitude))
        }
        GeographicRegion::Polygonal(corners) => {
            let of = |coordinate: fn(&TwoDLocation) -> i32| {
                let all = || corners.iter().map(coordinate);
                (all().min().unwrap(), all().max().unwrap())
            };
            let (north, east) = (of(|corner| corner.latitude), of(|corner| corner.longitude));
            ((north.0, east.0), (north.1, east.1))
        }
        _ => unreachable!("figures only"),
    };
    TwoDLocation {
        latitude: between(south_west.0, north_east.0, north),
        longitude: between(south_west.1, north_east.1, east),
    }
}

/// Two figures: of any size, or the second one a part of the first.
fn pair() -> impl Strategy<Value = (GeographicRegion, GeographicRegion)> {
    (any_figure(), any_figure(), prop_oneof![Just(0), 1..40_i32])
        .prop_map(|(outer, inner, divisor)| (if divisor == 0 { inner } else { shrunk(&outer, divisor) }, outer))
        .prop_filter("a rectangle shrank to a line", |(inner, _)| check_region(inner).is_ok())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// Of a region that is inside, every place is inside; and one that has a place outside is not inside.
    #[test]
    fn no_place_of_what_is_inside_is_outside(
        (inner, outer) in pair(),
        shares in proptest::collection::vec((0.0..1.0_f64, 0.0..1.0_f64), 60),
    ) {
        let answer = within(&inner, &outer);
        for share in shares {
            let place = sample(&inner, share);
            let is_in = |region| region_contains(region, place, &NoGeography).unwrap();
            if is_in(&inner) && !is_in(&outer) {
                prop_assert_ne!(answer, Inside, "{:?} is in {:?} and not in {:?}", place, inner, outer);
            }
        }
    }
}

/// Else the property above would say little: each answer is given often, and the one without an answer seldom.
#[test]
fn most_pairs_are_decided() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut counts = [0; 3];
    for _ in 0..2_000 {
        let (inner, outer) = pair().new_tree(&mut runner).unwrap().current();
        counts[within(&inner, &outer) as usize] += 1;
    }
    let [inside, outside, undecided] = counts;
    assert!(inside > 300 && outside > 300 && undecided < 100, "{counts:?}");
}
