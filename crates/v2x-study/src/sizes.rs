//! What security adds to each kind of message, in bytes and on the air; every one of them really encoded and signed.

use chronoseal_media::radio::{OfdmRate, psdu_len};
use chronoseal_report::{Axis, Cell, Chart, Evidence, Series, SeriesKind, Table};
use chronoseal_v2x::certificate::{CertificateForm, certificate_hash, implicit_private_key, issue_implicit};
use chronoseal_v2x::crypto::{Curve, SoftwareKey};
use chronoseal_v2x::message::{Recipient, SignerCertificate, SignerForm, encrypt, sign};
use chronoseal_v2x::types::{Psid, ThreeDLocation, ToBeSignedData};
use chronoseal_v2x_load::{NOW, Town};
use chronoseal_wire::ethernet::HEADER_LEN;
use chronoseal_wire::its::geonetworking::{Area, BasicHeader, ExtendedHeader, GnAddress, LongPosition, Packet};
use chronoseal_wire::its::{
    BTP_PORT_CAM, BTP_PORT_DENM, Cam, Denm, LowFrequency, PathHistory, PathPoint, ReferencePosition, Situation,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;

use chronoseal_study::StudyError;

const LATITUDE: i32 = 481_351_253;
const LONGITUDE: i32 = 115_819_806;

/// A kind of message.
pub(super) struct Kind {
    name: &'static str,
    /// GeoNetworking, BTP and what is told `[byte]`.
    packet_len: usize,
    /// The same, secured `[byte]`.
    secured_len: usize,
}

impl Kind {
    /// From the first octet of the MAC header to the checksum `[byte]`.
    fn psdu_len(&self, len: usize) -> u64 {
        psdu_len((HEADER_LEN + BasicHeader::LEN + len) as u64)
    }

    fn airtime_us(&self, len: usize) -> f64 {
        OfdmRate::Mbps6.airtime(self.psdu_len(len)).as_ns() as f64 / 1e3
    }
}

/// Encodes and signs every kind.
pub(super) fn kinds(seed: u64) -> Result<Vec<Kind>, StudyError> {
    let mut town = Town::new(1, seed).map_err(|error| failed(&error))?;
    let [cam, full_cam, denm] = [cam(false)?, cam(true)?, denm()?];
    let mut rng = ChaCha20Rng::seed_from_u64(seed);

    // An implicit certificate of the same contents, and the key that belongs to it.
    let authority = town.authority.view();
    let hash = certificate_hash(&authority, CertificateForm::Canonical).map_err(|error| failed(&error))?;
    let request = SoftwareKey::generate(Curve::NistP256, &mut rng);
    let (implicit, value) =
        issue_implicit(Town::ticket(&request, NOW), &authority, &town.authority_key, &request.public_point(), &mut rng)
            .map_err(|error| failed(&error))?;
    let issuer = town.authority_key.public_point();
    let mut implicit_key =
        implicit_private_key(&implicit.view(), &hash, &issuer, &request, &value).map_err(|error| failed(&error))?;
    let implicit = SignerCertificate::new(implicit).map_err(|error| failed(&error))?;

    let (ticket, key) = &mut town.stations[0];
    let mut signed = |tbs: &ToBeSignedData<'_>, form| sign(tbs, form, key).map_err(|error| failed(&error));
    let by_digest = signed(&Town::cam(&cam, NOW), SignerForm::Digest(ticket))?;
    let by_certificate = signed(&Town::cam(&cam, NOW), SignerForm::Certificate(ticket))?;
    let full_by_digest = signed(&Town::cam(&full_cam, NOW), SignerForm::Digest(ticket))?;
    let full_by_certificate = signed(&Town::cam(&full_cam, NOW), SignerForm::Certificate(ticket))?;
    let mut tbs = Town::cam(&denm, NOW);
    tbs.header_info.psid = Psid::DENM;
    tbs.header_info.generation_location =
        Some(ThreeDLocation { latitude: LATITUDE, longitude: LONGITUDE, elevation: 9_000 });
    let warning = signed(&tbs, SignerForm::Certificate(ticket))?;
    let under_implicit = sign(&Town::cam(&cam, NOW), SignerForm::Certificate(&implicit), &mut implicit_key)
        .map_err(|error| failed(&error))?;
    let (encrypted, _) =
        encrypt(&by_digest, &[Recipient::Certificate(&authority)], &mut rng).map_err(|error| failed(&error))?;

    let kind =
        |name, packet: &[u8], secured: &[u8]| Kind { name, packet_len: packet.len(), secured_len: secured.len() };
    Ok(vec![
        kind("CAM, by digest", &cam, &by_digest),
        kind("CAM, with certificate", &cam, &by_certificate),
        kind("CAM, with implicit certificate", &cam, &under_implicit),
        kind("CAM with path of 10, by digest", &full_cam, &full_by_digest),
        kind("CAM with path of 10, with certificate", &full_cam, &full_by_certificate),
        kind("DENM, with certificate", &denm, &warning),
        kind("CAM, by digest, encrypted to one", &cam, &encrypted),
    ])
}

fn failed(error: &dyn std::fmt::Display) -> StudyError {
    StudyError::Scenario(format!("a message of the study cannot be made: {error}"))
}

fn cam(with_path: bool) -> Result<Vec<u8>, StudyError> {
    let position = ReferencePosition::at(LATITUDE, LONGITUDE);
    let mut cam = Cam { station_id: 7, position, speed_cm_s: 3_300, ..Cam::default() };
    if with_path {
        let point =
            PathPoint { delta_latitude: -850, delta_longitude: 1_200, delta_altitude_cm: 0, delta_time: Some(20) };
        let path_history = PathHistory::new(&[point; 10]);
        cam.low_frequency = Some(LowFrequency { path_history, ..LowFrequency::default() });
    }
    let mut buf = [0; Cam::LEN_MAX];
    let len = cam.emit(&mut buf).map_err(|error| failed(&error))?;
    packet(&Packet::single_hop(source(), BTP_PORT_CAM, &buf[..len]))
}

fn denm() -> Result<Vec<u8>, StudyError> {
    let situation = Some(Situation { information_quality: 5, cause_code: 94, sub_cause_code: 2 });
    let denm = Denm {
        station_id: 7,
        originating_station_id: 7,
        sequence_number: 3,
        detection_time_ms: NOW.0 / 1_000,
        reference_time_ms: NOW.0 / 1_000,
        event_position: ReferencePosition::at(LATITUDE, LONGITUDE),
        validity_duration_s: 120,
        situation,
        ..Denm::default()
    };
    let mut buf = [0; Denm::LEN_MAX];
    let len = denm.emit(&mut buf).map_err(|error| failed(&error))?;
    let area =
        Area { shape: 0, latitude: LATITUDE, longitude: LONGITUDE, distance_a_m: 500, distance_b_m: 0, angle_deg: 0 };
    let single_hop = Packet::single_hop(source(), BTP_PORT_DENM, &buf[..len]);
    packet(&Packet {
        traffic_class: 0,
        maximum_hop_limit: 5,
        extended: ExtendedHeader::GeoBroadcast { sequence: 1, source: source(), area },
        ..single_hop
    })
}

fn source() -> LongPosition {
    let address = GnAddress::passenger_car([2, 0, 0, 0, 0, 7]);
    LongPosition { address, latitude: LATITUDE, longitude: LONGITUDE, is_accurate: true, ..LongPosition::default() }
}

fn packet(packet: &Packet<'_>) -> Result<Vec<u8>, StudyError> {
    let mut bytes = vec![0; packet.len()];
    packet.emit(&mut bytes).map_err(|error| failed(&error))?;
    Ok(bytes)
}

/// Sizes and airtime.
pub(super) fn table(kinds: &[Kind]) -> Table {
    let mut table = Table::new("One message of each kind: GeoNetworking packet before security, secured, and on the air at 6 Mbit/s")
        .words("message")
        .numbers("packet", "B")
        .numbers("secured", "B")
        .numbers("added", "B")
        .numbers("PSDU", "B")
        .numbers("airtime", "us")
        .numbers("airtime added", "us")
        .numbers("fill the channel", "1/s")
        .footnote("Packet: common header, extended header, BTP-B and the message, which is what is signed. Encoded and signed by the code under test.")
        .footnote("PSDU: with basic header, 802.11 QoS header, LLC and checksum. Airtime: preamble 32 us, SIGNAL 8 us, symbols of 8 us (IEEE 802.11-2020 clause 17, 10 MHz).")
        .footnote("Fill the channel: airtime alone, no gaps between frames; a bound nobody reaches.");
    for kind in kinds {
        let bytes = |len: usize| Cell::count(len as u64).from(Evidence::Simulated);
        let airtime_us = kind.airtime_us(kind.secured_len);
        table.push(vec![
            Cell::text(kind.name),
            bytes(kind.packet_len),
            bytes(kind.secured_len),
            bytes(kind.secured_len - kind.packet_len),
            Cell::count(kind.psdu_len(kind.secured_len)).from(Evidence::Simulated),
            Cell::number(airtime_us, 0).from(Evidence::Recomputed),
            Cell::number(airtime_us - kind.airtime_us(kind.packet_len), 0).from(Evidence::Recomputed),
            Cell::number(1e6 / airtime_us, 0).from(Evidence::Recomputed),
        ]);
    }
    table
}

/// Airtime of each kind at each rate.
pub(super) fn chart(kinds: &[Kind]) -> Chart {
    let series = |kind: &Kind| Series {
        name: kind.name.into(),
        kind: SeriesKind::Line,
        points: OfdmRate::ALL
            .iter()
            .map(|rate| {
                let us = rate.airtime(kind.psdu_len(kind.secured_len)).as_ns() as f64 / 1e3;
                (rate.rate().0 as f64 / 1e6, us)
            })
            .collect(),
    };
    Chart {
        caption: "Airtime over the rate of the channel".into(),
        x: Axis::linear("rate", "Mbit/s"),
        y: Axis::linear("airtime", "us"),
        series: kinds.iter().map(series).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_costs_more_than_a_digest_and_an_implicit_one_less() {
        let kinds = kinds(1).unwrap();
        let added = |name| kinds.iter().find(|kind| kind.name == name).map(|kind| kind.secured_len - kind.packet_len);
        let digest = added("CAM, by digest").unwrap();
        let implicit = added("CAM, with implicit certificate").unwrap();
        let explicit = added("CAM, with certificate").unwrap();
        assert!((90..100).contains(&digest), "{digest}");
        assert!(digest < implicit && implicit + 60 < explicit, "{digest} {implicit} {explicit}");
    }
}
