//! A plane around a place on the ellipsoid.

/// Where the plane touches: x = y = 0.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Origin {
    /// North `[degree]`.
    pub latitude_deg: f64,
    /// East `[degree]`.
    pub longitude_deg: f64,
}

/// WGS 84: half axis at the equator `[m]`, flattening.
const SEMI_MAJOR_M: f64 = 6_378_137.0;
const FLATTENING: f64 = 1.0 / 298.257_223_563;
/// Messages count tenths of a microdegree.
const UNITS_PER_DEGREE: f64 = 1e7;

impl Origin {
    /// Metres of one radian to the north and to the east: the radii of curvature at the origin.
    fn radii_m(&self) -> (f64, f64) {
        let e2 = FLATTENING * (2.0 - FLATTENING);
        let latitude = self.latitude_deg.to_radians();
        let sin = libm::sin(latitude);
        let w2 = 1.0 - e2 * sin * sin;
        let meridian_m = SEMI_MAJOR_M * (1.0 - e2) / (w2 * libm::sqrt(w2));
        let parallel_m = SEMI_MAJOR_M / libm::sqrt(w2) * libm::cos(latitude);
        (meridian_m, parallel_m)
    }

    /// Latitude and longitude of a place of the plane `[0.1 microdegree]`.
    pub fn to_wgs84(&self, x_m: f64, y_m: f64) -> (i32, i32) {
        let (north_m, east_m) = self.radii_m();
        let latitude_deg = self.latitude_deg + (y_m / north_m).to_degrees();
        let longitude_deg = self.longitude_deg + (x_m / east_m).to_degrees();
        // `as` holds a number that no message could carry at the largest one.
        (libm::round(latitude_deg * UNITS_PER_DEGREE) as i32, libm::round(longitude_deg * UNITS_PER_DEGREE) as i32)
    }

    /// The place of the plane with this latitude and longitude `[0.1 microdegree]`.
    pub fn to_plane(&self, latitude: i32, longitude: i32) -> (f64, f64) {
        self.to_plane_deg(f64::from(latitude) / UNITS_PER_DEGREE, f64::from(longitude) / UNITS_PER_DEGREE)
    }

    /// The place of the plane with this latitude and longitude `[degree]`.
    pub fn to_plane_deg(&self, latitude_deg: f64, longitude_deg: f64) -> (f64, f64) {
        let (north_m, east_m) = self.radii_m();
        let x_m = (longitude_deg - self.longitude_deg).to_radians() * east_m;
        let y_m = (latitude_deg - self.latitude_deg).to_radians() * north_m;
        (x_m, y_m)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ORIGIN: Origin = Origin { latitude_deg: 48.0, longitude_deg: 9.0 };

    #[test]
    fn a_degree_is_as_long_as_on_the_ellipsoid() {
        // Lengths of a degree at 48 degrees north on WGS 84: 111.19 km and 74.63 km (by the series of the Admiralty Manual of
        // Navigation: 111132.92 - 559.82 cos 2f + 1.175 cos 4f and 111412.84 cos f - 93.5 cos 3f).
        let f = 48f64.to_radians();
        let north_m = 111_132.92 - 559.82 * (2.0 * f).cos() + 1.175 * (4.0 * f).cos();
        let east_m = 111_412.84 * f.cos() - 93.5 * (3.0 * f).cos();
        let (x_m, y_m) = ORIGIN.to_plane(490_000_000, 100_000_000);
        assert!((y_m - north_m).abs() < 2.0, "{y_m} for {north_m}");
        assert!((x_m - east_m).abs() < 2.0, "{x_m} for {east_m}");
    }

    proptest! {
        #[test]
        fn there_and_back_is_within_a_unit(x_m in -50_000.0..50_000.0, y_m in -50_000.0..50_000.0) {
            let (latitude, longitude) = ORIGIN.to_wgs84(x_m, y_m);
            let (x_again_m, y_again_m) = ORIGIN.to_plane(latitude, longitude);
            // Half of a unit is 5.6 mm.
            prop_assert!((x_m - x_again_m).abs() < 0.006 && (y_m - y_again_m).abs() < 0.006);
        }
    }
}
