//! Messages of cooperative ITS with values drawn from a seed, for an independent codec to read: `its_messages COUNT SEED`.
//!
//! A line a message, as JSON: its type, its octets, and what was written by the path of each element in the ASN.1 module.
//! `peers/v2x/messages.py` compares them.

use std::fmt::Write as _;
use std::io::Write as _;

use chronoseal_core::random::{self, ChaCha8Rng, Purpose, uniform_i64};
use chronoseal_wire::its::*;

/// Draws values and writes down what they are called.
struct Draw {
    rng: ChaCha8Rng,
    values: String,
}

impl Draw {
    fn number(&mut self, low: i64, high: i64) -> i64 {
        // The ends of a range matter most.
        match uniform_i64(&mut self.rng, 0, 7) {
            0 => low,
            1 => high,
            _ => uniform_i64(&mut self.rng, low, high),
        }
    }

    fn flag(&mut self) -> bool {
        uniform_i64(&mut self.rng, 0, 1) == 1
    }

    fn says(&mut self, path: &str, value: i64) {
        let comma = if self.values.is_empty() { "" } else { "," };
        let _ = write!(self.values, "{comma}\"{path}\":{value}");
    }

    fn value(&mut self, path: &str, low: i64, high: i64) -> i64 {
        let value = self.number(low, high);
        self.says(path, value);
        value
    }
}

/// ReferencePosition: `path` leads to it, and names of its parts differ between versions of the dictionary.
fn position(draw: &mut Draw, path: &str, ellipse: [&str; 3]) -> ReferencePosition {
    let [major, minor, orientation] = ellipse.map(|name| format!("{path}.positionConfidenceEllipse.{name}"));
    ReferencePosition {
        latitude: draw.value(&format!("{path}.latitude"), -900_000_000, 900_000_001) as i32,
        longitude: draw.value(&format!("{path}.longitude"), -1_800_000_000, 1_800_000_001) as i32,
        semi_axes_cm: [draw.value(&major, 0, 4095) as u16, draw.value(&minor, 0, 4095) as u16],
        orientation: draw.value(&orientation, 0, 3601) as u16,
        altitude_cm: draw.value(&format!("{path}.altitude.altitudeValue"), -100_000, 800_001) as i32,
        altitude_confidence: draw.number(0, 15) as u8,
    }
}

const ELLIPSE_1: [&str; 3] = ["semiMajorConfidence", "semiMinorConfidence", "semiMajorOrientation"];
const ELLIPSE_2: [&str; 3] = ["semiMajorAxisLength", "semiMinorAxisLength", "semiMajorAxisOrientation"];

fn cam(draw: &mut Draw) -> Result<Vec<u8>, UperError> {
    let basic = "cam.camParameters.basicContainer";
    let high = "cam.camParameters.highFrequencyContainer.basicVehicleContainerHighFrequency";
    let low = "cam.camParameters.lowFrequencyContainer.basicVehicleContainerLowFrequency";
    let mut cam = Cam {
        station_id: draw.value("header.stationID", 0, u32::MAX.into()) as u32,
        generation_delta_time_ms: draw.value("cam.generationDeltaTime", 0, 65_535) as u16,
        station_type: draw.value(&format!("{basic}.stationType"), 0, 255) as u8,
        position: position(draw, &format!("{basic}.referencePosition"), ELLIPSE_1),
        heading: draw.value(&format!("{high}.heading.headingValue"), 0, 3601) as u16,
        heading_confidence: draw.value(&format!("{high}.heading.headingConfidence"), 1, 127) as u8,
        speed_cm_s: draw.value(&format!("{high}.speed.speedValue"), 0, 16_383) as u16,
        speed_confidence: draw.value(&format!("{high}.speed.speedConfidence"), 1, 127) as u8,
        drive_direction: draw.number(0, 2) as u8,
        length_dm: draw.value(&format!("{high}.vehicleLength.vehicleLengthValue"), 1, 1023) as u16,
        width_dm: draw.value(&format!("{high}.vehicleWidth"), 1, 62) as u8,
        acceleration: draw.value(&format!("{high}.longitudinalAcceleration.longitudinalAccelerationValue"), -160, 161)
            as i16,
        curvature: draw.value(&format!("{high}.curvature.curvatureValue"), -1023, 1023) as i16,
        yaw_rate: draw.value(&format!("{high}.yawRate.yawRateValue"), -32_766, 32_767) as i16,
        low_frequency: None,
    };
    if draw.flag() {
        let points: Vec<PathPoint> = (0..draw.number(0, 40))
            .map(|index| {
                let point = format!("{low}.pathHistory.{index}");
                PathPoint {
                    delta_latitude: draw.value(&format!("{point}.pathPosition.deltaLatitude"), -131_071, 131_072)
                        as i32,
                    delta_longitude: draw.value(&format!("{point}.pathPosition.deltaLongitude"), -131_071, 131_072)
                        as i32,
                    delta_altitude_cm: draw.value(&format!("{point}.pathPosition.deltaAltitude"), -12_700, 12_800)
                        as i16,
                    delta_time: draw.flag().then(|| draw.value(&format!("{point}.pathDeltaTime"), 1, 65_535) as u16),
                }
            })
            .collect();
        cam.low_frequency = Some(LowFrequency {
            vehicle_role: draw.number(0, 15) as u8,
            exterior_lights: draw.number(0, 255) as u8,
            path_history: PathHistory::new(&points),
        });
    }
    let mut buf = [0; Cam::LEN_MAX];
    let len = cam.emit(&mut buf)?;
    Ok(buf[..len].to_vec())
}

fn denm(draw: &mut Draw) -> Result<Vec<u8>, UperError> {
    let management = "denm.management";
    let denm = Denm {
        station_id: draw.value("header.stationID", 0, u32::MAX.into()) as u32,
        originating_station_id: draw.value(&format!("{management}.actionID.originatingStationID"), 0, u32::MAX.into())
            as u32,
        sequence_number: draw.value(&format!("{management}.actionID.sequenceNumber"), 0, 65_535) as u16,
        detection_time_ms: draw.value(&format!("{management}.detectionTime"), 0, 4_398_046_511_103) as u64,
        reference_time_ms: draw.value(&format!("{management}.referenceTime"), 0, 4_398_046_511_103) as u64,
        termination: draw.flag().then(|| draw.flag()),
        event_position: position(draw, &format!("{management}.eventPosition"), ELLIPSE_1),
        relevance_distance: draw.flag().then(|| draw.number(0, 7) as u8),
        relevance_traffic_direction: draw.flag().then(|| draw.number(0, 3) as u8),
        validity_duration_s: draw.value(&format!("{management}.validityDuration"), 0, 86_400) as u32,
        transmission_interval_ms: draw
            .flag()
            .then(|| draw.value(&format!("{management}.transmissionInterval"), 1, 10_000) as u16),
        station_type: draw.value(&format!("{management}.stationType"), 0, 255) as u8,
        situation: draw.flag().then(|| Situation {
            information_quality: draw.value("denm.situation.informationQuality", 0, 7) as u8,
            cause_code: draw.value("denm.situation.eventType.causeCode", 0, 255) as u8,
            sub_cause_code: draw.value("denm.situation.eventType.subCauseCode", 0, 255) as u8,
        }),
    };
    let mut buf = [0; Denm::LEN_MAX];
    let len = denm.emit(&mut buf)?;
    Ok(buf[..len].to_vec())
}

fn profile(draw: &mut Draw, path: &str) -> VruProfile {
    let kind = draw.number(0, 3);
    let name = ["pedestrian", "bicyclistAndLightVruVehicle", "motorcyclist", "animal"][kind as usize];
    let sub = draw.value(&format!("{path}.{name}"), 0, 15) as u8;
    match kind {
        0 => VruProfile::Pedestrian(sub),
        1 => VruProfile::Bicyclist(sub),
        2 => VruProfile::Motorcyclist(sub),
        _ => VruProfile::Animal(sub),
    }
}

fn vam(draw: &mut Draw) -> Result<Vec<u8>, UperError> {
    let (basic, high, low) = (
        "vam.vamParameters.basicContainer",
        "vam.vamParameters.vruHighFrequencyContainer",
        "vam.vamParameters.vruLowFrequencyContainer",
    );
    let acceleration = format!("{high}.longitudinalAcceleration");
    let vam = Vam {
        station_id: draw.value("header.stationId", 0, u32::MAX.into()) as u32,
        generation_delta_time_ms: draw.value("vam.generationDeltaTime", 0, 65_535) as u16,
        station_type: draw.value(&format!("{basic}.stationType"), 0, 255) as u8,
        position: position(draw, &format!("{basic}.referencePosition"), ELLIPSE_2),
        heading: draw.value(&format!("{high}.heading.value"), 0, 3601) as u16,
        heading_confidence: draw.value(&format!("{high}.heading.confidence"), 1, 127) as u8,
        speed_cm_s: draw.value(&format!("{high}.speed.speedValue"), 0, 16_383) as u16,
        speed_confidence: draw.value(&format!("{high}.speed.speedConfidence"), 1, 127) as u8,
        acceleration: draw.value(&format!("{acceleration}.longitudinalAccelerationValue"), -160, 161) as i16,
        acceleration_confidence: draw.value(&format!("{acceleration}.longitudinalAccelerationConfidence"), 0, 102)
            as u8,
        low_frequency: draw.flag().then(|| VruLowFrequency {
            profile: profile(draw, &format!("{low}.profileAndSubprofile")),
            size_class: draw.flag().then(|| draw.value(&format!("{low}.sizeClass"), 0, 15) as u8),
        }),
    };
    let mut buf = [0; Vam::LEN_MAX];
    let len = vam.emit(&mut buf)?;
    Ok(buf[..len].to_vec())
}

fn object(draw: &mut Draw, path: &str) -> PerceivedObject {
    let large = |draw: &mut Draw, axis: &str| Estimate {
        value: draw.value(&format!("{path}.position.{axis}.value"), -131_072, 131_071) as i32,
        confidence: draw.value(&format!("{path}.position.{axis}.confidence"), 1, 4096) as u16,
    };
    let speed = |draw: &mut Draw, axis: &str| Estimate {
        value: draw.value(&format!("{path}.velocity.cartesianVelocity.{axis}.value"), -16_383, 16_383) as i16,
        confidence: draw.value(&format!("{path}.velocity.cartesianVelocity.{axis}.confidence"), 1, 127) as u16,
    };
    let size = |draw: &mut Draw, axis: &str| Estimate {
        value: draw.value(&format!("{path}.{axis}.value"), 1, 256) as u16,
        confidence: draw.value(&format!("{path}.{axis}.confidence"), 1, 32) as u16,
    };
    PerceivedObject {
        id: draw.value(&format!("{path}.objectId"), 0, 65_535) as u16,
        measurement_delta_ms: draw.value(&format!("{path}.measurementDeltaTime"), -2048, 2047) as i16,
        x_cm: large(draw, "xCoordinate"),
        y_cm: large(draw, "yCoordinate"),
        velocity_cm_s: draw.flag().then(|| [speed(draw, "xVelocity"), speed(draw, "yVelocity")]),
        angle: draw.flag().then(|| Estimate {
            value: draw.value(&format!("{path}.angles.zAngle.value"), 0, 3601) as u16,
            confidence: draw.value(&format!("{path}.angles.zAngle.confidence"), 1, 127) as u16,
        }),
        length_dm: draw.flag().then(|| size(draw, "objectDimensionX")),
        width_dm: draw.flag().then(|| size(draw, "objectDimensionY")),
        age_ms: draw.flag().then(|| draw.value(&format!("{path}.objectAge"), 0, 2047) as u16),
        quality: draw.flag().then(|| draw.value(&format!("{path}.objectPerceptionQuality"), 0, 15) as u8),
        class: draw.flag().then(|| {
            let path = format!("{path}.classification.0");
            let class = match draw.number(0, 2) {
                0 => ObjectClass::Vehicle(draw.value(&format!("{path}.objectClass.vehicleSubClass"), 0, 14) as u8),
                1 => ObjectClass::Vru(profile(draw, &format!("{path}.objectClass.vruSubClass"))),
                _ => ObjectClass::Other(draw.value(&format!("{path}.objectClass.otherSubClass"), 0, 255) as u8),
            };
            (class, draw.value(&format!("{path}.confidence"), 1, 101) as u8)
        }),
    }
}

fn cpm(draw: &mut Draw) -> Result<Vec<u8>, UperError> {
    let management = "payload.managementContainer";
    let container = |index: usize| format!("payload.cpmContainers.{index}.containerData");
    let station_id = draw.value("header.stationId", 0, u32::MAX.into()) as u32;
    let reference_time_ms = draw.value(&format!("{management}.referenceTime"), 0, 4_398_046_511_103) as u64;
    let position = position(draw, &format!("{management}.referencePosition"), ELLIPSE_1);
    let origin = if draw.flag() {
        let angle = container(0) + ".OriginatingVehicleContainer.orientationAngle";
        CpmOrigin::Vehicle(Estimate {
            value: draw.value(&format!("{angle}.value"), 0, 3601) as u16,
            confidence: draw.value(&format!("{angle}.confidence"), 1, 127) as u16,
        })
    } else {
        CpmOrigin::Roadside
    };
    let mut index = 1;
    let mut sensors = Vec::new();
    if draw.flag() {
        for number in 0..draw.number(1, Cpm::SENSORS_MAX as i64) {
            let path = format!("{}.SensorInformationContainer.{number}", container(index));
            let shape = format!("{path}.perceptionRegionShape.radial");
            sensors.push(Sensor {
                id: draw.value(&format!("{path}.sensorId"), 0, 255) as u8,
                kind: draw.value(&format!("{path}.sensorType"), 0, 31) as u8,
                region: draw.flag().then(|| {
                    let range = draw.value(&format!("{shape}.range"), 0, 4095) as u16;
                    let angles = ["horizontalOpeningAngleStart", "horizontalOpeningAngleEnd"];
                    (range, angles.map(|angle| draw.value(&format!("{shape}.{angle}"), 0, 3601) as u16))
                }),
                confidence: draw
                    .flag()
                    .then(|| draw.value(&format!("{path}.perceptionRegionConfidence"), 1, 101) as u8),
                is_shadowed: draw.flag(),
            });
        }
        index += 1;
    }
    let perceived = draw.flag().then(|| {
        let path = container(index) + ".PerceivedObjectContainer";
        let total = draw.value(&format!("{path}.numberOfPerceivedObjects"), 0, 255) as u8;
        let count = draw.number(0, Cpm::OBJECTS_MAX as i64);
        let objects: Vec<PerceivedObject> =
            (0..count).map(|number| object(draw, &format!("{path}.perceivedObjects.{number}"))).collect();
        Perceived { total, objects: List::new(&objects) }
    });
    let cpm = Cpm { station_id, reference_time_ms, position, origin, sensors: List::new(&sensors), perceived };
    let mut buf = [0; Cpm::LEN_MAX];
    let len = cpm.emit(&mut buf)?;
    Ok(buf[..len].to_vec())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    let mut arguments = std::env::args().skip(1);
    let count: u64 = arguments.next().ok_or("its_messages COUNT SEED")?.parse()?;
    let seed: u64 = arguments.next().ok_or("its_messages COUNT SEED")?.parse()?;
    type Make = fn(&mut Draw) -> Result<Vec<u8>, UperError>;
    let kinds: [(&str, Make); 4] = [("CAM", cam), ("DENM", denm), ("CPM", cpm), ("VAM", vam)];
    for (number, (kind, make)) in kinds.into_iter().enumerate() {
        let mut draw = Draw { rng: random::stream(seed, Purpose::Phase, number as u64), values: String::new() };
        for _ in 0..count {
            draw.values.clear();
            let hex: String = make(&mut draw)?.iter().map(|octet| format!("{octet:02x}")).collect();
            writeln!(out, "{{\"type\":\"{kind}\",\"hex\":\"{hex}\",\"values\":{{{}}}}}", draw.values)?;
        }
    }
    Ok(())
}
