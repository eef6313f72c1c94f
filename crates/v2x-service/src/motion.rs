//! What a CAM in a verified message says of motion.

use chronoseal_v2x::misbehaviour::Motion;
use chronoseal_v2x::types::{Time64, TwoDLocation};
use chronoseal_wire::its::geonetworking::Packet;
use chronoseal_wire::its::{BTP_PORT_CAM, Cam, ReferencePosition};

const SPEED_UNAVAILABLE: u16 = 16_383;
const ACCELERATION_UNAVAILABLE: i16 = 161;
const BACKWARD: u8 = 1;

/// Reads a CAM, with the headers of GeoNetworking and BTP before it or without; none if it is none.
pub(crate) fn motion_of_cam(payload: &[u8], time: Time64) -> Option<Motion> {
    let in_packet = Packet::parse(payload).ok().filter(|packet| packet.destination_port == BTP_PORT_CAM);
    let cam = in_packet.and_then(|packet| Cam::parse(packet.message).ok());
    let cam = cam.or_else(|| Cam::parse(payload).ok())?;
    let unknown = ReferencePosition::default();
    let ReferencePosition { latitude, longitude, .. } = cam.position;
    let is_known = latitude != unknown.latitude && longitude != unknown.longitude;
    Some(Motion {
        time,
        station_type: cam.station_type,
        position: is_known.then_some(TwoDLocation { latitude, longitude }),
        speed_cm_s: Some(cam.speed_cm_s).filter(|speed| *speed != SPEED_UNAVAILABLE),
        is_reverse: cam.drive_direction == BACKWARD,
        acceleration_dm_s2: Some(cam.acceleration).filter(|value| *value != ACCELERATION_UNAVAILABLE),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cam_is_read_alone_and_in_a_packet_and_what_it_does_not_say_is_not_made_up() {
        let cam = Cam {
            station_type: 5,
            position: ReferencePosition::at(487_758_459, 91_829_321),
            speed_cm_s: 3_000,
            drive_direction: 1,
            acceleration: -20,
            ..Cam::default()
        };
        let emit = |cam: &Cam| {
            let mut bytes = [0; Cam::LEN_MAX];
            let len = cam.emit(&mut bytes).unwrap();
            bytes[..len].to_vec()
        };
        let alone = emit(&cam);
        let motion = motion_of_cam(&alone, Time64(7)).unwrap();
        assert_eq!((motion.speed_cm_s, motion.is_reverse, motion.acceleration_dm_s2), (Some(3_000), true, Some(-20)));
        assert_eq!(motion.position, Some(TwoDLocation { latitude: 487_758_459, longitude: 91_829_321 }));
        let packet = Packet::single_hop(Default::default(), BTP_PORT_CAM, &alone);
        let mut bytes = [0; 512];
        let len = packet.emit(&mut bytes).unwrap();
        assert_eq!(motion_of_cam(&bytes[..len], Time64(7)), Some(motion));
        let other = Packet::single_hop(Default::default(), 2_002, &alone);
        let len = other.emit(&mut bytes).unwrap();
        assert_eq!(motion_of_cam(&bytes[..len], Time64(7)), None, "it is for another port");
        let unsaid = motion_of_cam(&emit(&Cam::default()), Time64(7)).unwrap();
        assert_eq!((unsaid.position, unsaid.speed_cm_s, unsaid.acceleration_dm_s2), (None, None, None));
        assert_eq!(motion_of_cam(b"here", Time64(7)), None);
    }
}
