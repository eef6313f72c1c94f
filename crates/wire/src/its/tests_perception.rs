//! CPMs and VAMs as bytes.

use proptest::prelude::*;

use super::tests::{cam, emitted};
use super::*;

fn object(id: u16) -> PerceivedObject {
    PerceivedObject {
        id,
        measurement_delta_ms: -40,
        x_cm: Estimate { value: -12_345, confidence: 120 },
        y_cm: Estimate { value: 678, confidence: 130 },
        velocity_cm_s: Some([Estimate { value: -1500, confidence: 30 }, Estimate { value: 20, confidence: 127 }]),
        angle: Some(Estimate { value: 1795, confidence: 25 }),
        length_dm: Some(Estimate { value: 45, confidence: 2 }),
        width_dm: Some(Estimate { value: 18, confidence: 2 }),
        age_ms: Some(2047),
        quality: Some(9),
        class: Some((ObjectClass::Vehicle(5), 95)),
    }
}

fn cpm(objects: usize) -> Cpm {
    let objects: Vec<PerceivedObject> = (0..objects as u16).map(object).collect();
    let sensor = Sensor { id: 1, kind: 12, region: Some((800, [0, 3600])), confidence: Some(90), is_shadowed: true };
    Cpm {
        station_id: 77,
        reference_time_ms: 723_000_000_123,
        position: cam().position,
        origin: CpmOrigin::Vehicle(Estimate { value: 900, confidence: 10 }),
        sensors: List::new(&[sensor]),
        perceived: Some(Perceived { total: 40, objects: List::new(&objects) }),
    }
}

fn cpm_bytes(cpm: &Cpm) -> Vec<u8> {
    let mut buf = [0xaa; Cpm::LEN_MAX];
    let len = cpm.emit(&mut buf).unwrap();
    buf[..len].to_vec()
}

fn vam() -> Vam {
    Vam {
        station_id: 9,
        generation_delta_time_ms: 1234,
        station_type: 2,
        position: cam().position,
        heading: 2700,
        heading_confidence: 20,
        speed_cm_s: 550,
        speed_confidence: 30,
        acceleration: -3,
        acceleration_confidence: 102,
        low_frequency: Some(VruLowFrequency { profile: VruProfile::Bicyclist(1), size_class: Some(2) }),
    }
}

fn vam_bytes(vam: &Vam) -> Vec<u8> {
    let mut buf = [0xaa; Vam::LEN_MAX];
    let len = vam.emit(&mut buf).unwrap();
    buf[..len].to_vec()
}

#[test]
fn what_is_perceived_reads_back() {
    let roadside = Cpm { origin: CpmOrigin::Roadside, sensors: List::default(), perceived: None, ..cpm(0) };
    for cpm in [roadside, cpm(0), cpm(1), cpm(5), cpm(32)] {
        assert_eq!(Cpm::parse(&cpm_bytes(&cpm)), Ok(cpm));
    }
    assert_eq!(cpm(40).perceived.unwrap().objects.as_slice().len(), Cpm::OBJECTS_MAX);
    let alone = Vam { low_frequency: None, ..vam() };
    for vam in [Vam::default(), alone, vam()] {
        assert_eq!(Vam::parse(&vam_bytes(&vam)), Ok(vam));
    }
}

#[test]
fn a_container_that_is_not_known_is_read_over() {
    // Container 3 becomes 4, a perception region: its number is behind 48 + 1 + 3 + 42 + 123 bits, the counts of 1 + 3, and
    // the first container of 4 + 8 + 24 bits.
    let mut bytes = cpm_bytes(&cpm(2));
    let at = 48 + 4 + 42 + 123 + 4 + 36;
    let put = |bytes: &mut [u8], at: usize, bit: u8| {
        let mask = 1 << (7 - at % 8);
        bytes[at / 8] = bytes[at / 8] & !mask | if bit == 1 { mask } else { 0 };
    };
    // 3 and 4 are 2 and 3 in four bits from 1 on.
    put(&mut bytes, at + 3, 1);
    assert_eq!(Cpm::parse(&bytes), Ok(Cpm { sensors: List::default(), ..cpm(2) }));
}

#[test]
fn refuses_cut_off_cpms_and_vams_and_values_out_of_range() {
    let bytes = cpm_bytes(&cpm(3));
    for len in 0..bytes.len() {
        assert!(matches!(Cpm::parse(&bytes[..len]), Err(UperError::TooShort { .. })), "{len} bytes");
        assert!(matches!(cpm(3).emit(&mut vec![0; len]), Err(UperError::TooShort { .. })), "{len} bytes");
    }
    assert_eq!(Cpm::parse(&[&bytes[..], &[0]].concat()), Err(UperError::Trailing(1)));
    let bytes = vam_bytes(&vam());
    for len in 0..bytes.len() {
        assert!(matches!(Vam::parse(&bytes[..len]), Err(UperError::TooShort { .. })), "{len} bytes");
    }
    assert!(matches!(Vam::parse(&emitted(&cam())), Err(UperError::Unknown { field: "header" })));
    let far = PerceivedObject { x_cm: Estimate { value: 131_072, confidence: 1 }, ..object(1) };
    let perceived = Some(Perceived { total: 1, objects: List::new(&[far]) });
    let error = Cpm { perceived, ..cpm(0) }.emit(&mut [0; Cpm::LEN_MAX]);
    assert!(matches!(error, Err(UperError::OutOfRange { field: "coordinate", value: 131_072, .. })));
}

#[test]
fn the_longest_cpm_fits() {
    let objects = [PerceivedObject { class: Some((ObjectClass::Other(255), 1)), ..object(1) }; Cpm::OBJECTS_MAX];
    let perceived = Some(Perceived { total: 255, objects: List::new(&objects) });
    let sensors = List::new(&[cpm(0).sensors.as_slice()[0]; Cpm::SENSORS_MAX]);
    let cpm = Cpm { perceived, sensors, ..cpm(0) };
    assert_eq!(Cpm::parse(&cpm_bytes(&cpm)), Ok(cpm));
}

proptest! {
    #[test]
    fn every_object_reads_back(
        id: u16, delta in -2048i16..=2047, x in -131_072i32..=131_071, x_confidence in 1u16..=4096,
        velocity in proptest::option::of((-16_383i16..=16_383, 1u16..=127)), angle in proptest::option::of(0u16..=3601),
        size in proptest::option::of((1u16..=256, 1u16..=32)), age in proptest::option::of(0u16..=2047),
        quality in proptest::option::of(0u8..=15), class in proptest::option::of((0u8..4, 0u8..15, 1u8..=101)),
    ) {
        let object = PerceivedObject {
            id,
            measurement_delta_ms: delta,
            x_cm: Estimate { value: x, confidence: x_confidence },
            y_cm: Estimate { value: x / 2, confidence: 4096 },
            velocity_cm_s: velocity.map(|(value, confidence)| [Estimate { value, confidence }; 2]),
            angle: angle.map(|value| Estimate { value, confidence: 127 }),
            length_dm: size.map(|(value, confidence)| Estimate { value, confidence }),
            width_dm: size.filter(|(value, _)| value % 2 == 0).map(|(value, confidence)| Estimate { value, confidence }),
            age_ms: age,
            quality,
            class: class.map(|(kind, number, confidence)| {
                let class = match kind {
                    0 => ObjectClass::Vehicle(number),
                    1 => ObjectClass::Vru(VruProfile::Pedestrian(number)),
                    2 => ObjectClass::Vru(VruProfile::Motorcyclist(number)),
                    _ => ObjectClass::Other(number),
                };
                (class, confidence)
            }),
        };
        let perceived = Some(Perceived { total: 1, objects: List::new(&[object]) });
        let cpm = Cpm { perceived, ..cpm(0) };
        prop_assert_eq!(Cpm::parse(&cpm_bytes(&cpm)), Ok(cpm));
    }

    #[test]
    fn every_vam_reads_back(
        station_id: u32, heading in 0u16..=3601, speed_cm_s in 0u16..=16_383, acceleration in -160i16..=161,
        low in proptest::option::of((0u8..4, 0u8..=15, proptest::option::of(0u8..=15))),
    ) {
        let low_frequency = low.map(|(kind, sub, size_class)| {
            let profile = match kind {
                0 => VruProfile::Pedestrian(sub),
                1 => VruProfile::Bicyclist(sub),
                2 => VruProfile::Motorcyclist(sub),
                _ => VruProfile::Animal(sub),
            };
            VruLowFrequency { profile, size_class }
        });
        let vam = Vam { station_id, heading, speed_cm_s, acceleration, low_frequency, ..vam() };
        prop_assert_eq!(Vam::parse(&vam_bytes(&vam)), Ok(vam));
    }

    #[test]
    fn whatever_the_bytes_behind_a_header_reading_them_ends(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for header in [[2_u8, 14, 0, 0, 0, 7], [3, 16, 0, 0, 0, 7]] {
            let message = [&header[..], &bytes].concat();
            let _ = (Cpm::parse(&message), Vam::parse(&message));
        }
    }
}
