//! Packets of cooperative ITS and traces of traffic.

use chronoseal_v2x_fleet::road::sumo::{Coordinates, read};
use chronoseal_wire::its::geonetworking::{BasicHeader, Packet};
use chronoseal_wire::its::{Cam, Cpm, Denm, UperError, Vam};

/// What stands behind a basic header, or a message alone: what is accepted is emitted with the same meaning.
pub fn its_packet(data: &[u8]) {
    let mut buf = [0; 2048];
    if let Ok(basic) = BasicHeader::parse(data) {
        basic.emit(&mut buf);
        assert_eq!(BasicHeader::parse(&buf), Ok(basic));
    }
    let message = match Packet::parse(data) {
        Ok(packet) if packet.len() <= buf.len() => {
            let len = packet.emit(&mut buf).expect("it fits");
            assert_eq!(Packet::parse(&buf[..len]), Ok(packet));
            packet.message
        }
        _ => data,
    };
    if let Ok(cam) = Cam::parse(message) {
        let len = cam.emit(&mut buf).expect("its values are in range");
        assert!(len <= Cam::LEN_MAX);
        assert_eq!(Cam::parse(&buf[..len]), Ok(cam));
    }
    if let Ok(denm) = Denm::parse(message) {
        let len = denm.emit(&mut buf).expect("its values are in range");
        assert!(len <= Denm::LEN_MAX);
        assert_eq!(Denm::parse(&buf[..len]), Ok(denm));
    }
    if let Ok(cpm) = Cpm::parse(message) {
        let len = cpm.emit(&mut buf).expect("its values are in range");
        assert!(len <= Cpm::LEN_MAX);
        assert_eq!(Cpm::parse(&buf[..len]), Ok(cpm));
    }
    if let Ok(vam) = Vam::parse(message) {
        let len = vam.emit(&mut buf).expect("its values are in range");
        assert!(len <= Vam::LEN_MAX);
        assert_eq!(Vam::parse(&buf[..len]), Ok(vam));
    }
    // A message is accepted or too short, never both for more of the same bytes.
    if let Err(UperError::TooShort { len, .. }) = Cam::parse(message) {
        assert_eq!(len, message.len());
    }
}

/// A trace of SUMO: refused with a line of the text, or trips whose states are all numbers.
pub fn sumo_trace(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match read(text, Coordinates::Plane) {
        Ok(trips) => {
            assert!(!trips.trips.is_empty());
            for trip in &trips.trips {
                assert!(!trip.states().is_empty() && trip.ends_at(trips.step) <= trips.ends_at);
                for state in trip.states() {
                    assert!(state.x_m.is_finite() && state.y_m.is_finite() && state.speed_m_s >= 0.0);
                    assert!((0.0..360.0).contains(&state.heading_deg));
                }
            }
        }
        Err(error) => {
            assert!((1..=text.lines().count().max(1) + 1).contains(&error.line));
            assert!(!error.to_string().is_empty());
        }
    }
}
