use super::*;
use proptest::prelude::*;
use std::vec::Vec;

const CLOCK: ClockIdentity = ClockIdentity([1, 2, 3, 0xff, 0xfe, 4, 5, 6]);
const PORT: PortIdentity = PortIdentity { clock: CLOCK, port: 0x0708 };

fn header() -> Header {
    Header { domain: 9, source: PORT, sequence: 0x1122, correction: Duration::from_ns(1), log_interval: -3 }
}

fn emitted(body: Body<'_>) -> Vec<u8> {
    let mut buf = [0xaa; MESSAGE_LEN_MAX];
    let len = Message { header: header(), body }.emit(&mut buf);
    buf[..len].to_vec()
}

fn follow_up() -> FollowUp {
    FollowUp {
        precise_origin: PtpTime::from_ps(0x0102_0304 * 1_000_000_000_000 + 5_000),
        cumulative_scaled_rate_offset: -2,
        gm_time_base_indicator: 0x0a0b,
        last_gm_phase_change: -1,
        scaled_last_gm_freq_change: 0x0c0d_0e0f,
    }
}

fn announce<'a>(trace: &'a [[u8; 8]]) -> Announce<'a> {
    let quality = ClockQuality { class: 6, accuracy: 0x21, variance: 0x4e5d };
    Announce {
        time_flags: 0x2d,
        current_utc_offset: 37,
        grandmaster: SystemIdentity { priority1: 246, quality, priority2: 248, clock: CLOCK },
        steps_removed: 3,
        time_source: 0xa0,
        path_trace: PathTrace::new(trace),
    }
}

#[test]
fn every_field_of_a_follow_up_is_at_its_offset() {
    let mut expected = vec![0x18, 0x12, 0, 76, 9, 0, 0, 8];
    expected.extend([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    expected.extend([1, 2, 3, 0xff, 0xfe, 4, 5, 6, 7, 8, 0x11, 0x22, 0, 0xfd]);
    expected.extend([0, 0, 1, 2, 3, 4, 0, 0, 0, 5]);
    expected.extend([0, 3, 0, 28, 0, 0x80, 0xc2, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe, 0x0a, 0x0b]);
    expected.extend([0xff; 12]);
    expected.extend([0x0c, 0x0d, 0x0e, 0x0f]);
    assert_eq!(emitted(Body::FollowUp(follow_up())), expected);
}

#[test]
fn every_field_of_an_announce_is_at_its_offset() {
    let bytes = emitted(Body::Announce(announce(&[[7; 8], [8; 8]])));
    assert_eq!(bytes[..8], [0x1b, 0x12, 0, 84, 9, 0, 0, 0x2d]);
    let mut expected = vec![0; 10];
    expected.extend([0, 37, 0, 246, 6, 0x21, 0x4e, 0x5d, 248, 1, 2, 3, 0xff, 0xfe, 4, 5, 6, 0, 3, 0xa0]);
    expected.extend([0, 8, 0, 16]);
    expected.extend([7; 8]);
    expected.extend([8; 8]);
    assert_eq!(bytes[HEADER_LEN..], expected);
}

#[test]
fn a_message_is_refused_for_what_is_wrong_with_it() {
    let good = emitted(Body::Sync);
    let changed = |offset: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[offset] = value;
        Message::parse(&bytes).map(|_| ()).unwrap_err()
    };
    assert!(Message::parse(&good).is_ok());
    assert_eq!(changed(0, 0x00), GptpError::Profile(0));
    assert_eq!(changed(0, 0x1c), GptpError::UnknownType(0xc));
    assert_eq!(changed(1, 0x11), GptpError::Version(1));
    assert_eq!(changed(3, 43), GptpError::WrongLength { stated: 43, needed: 44 });
    assert_eq!(changed(3, 45), GptpError::TooShort { len: 44, needed: 45 });
    assert_eq!(changed(6, 0), GptpError::OneStep);
    assert_eq!(Message::parse(&good[..33]), Err(GptpError::TooShort { len: 33, needed: 34 }));
    assert_eq!(DiscardReason::from(GptpError::TooShort { len: 33, needed: 34 }), DiscardReason::TooShort);
    assert_eq!(DiscardReason::from(GptpError::OneStep), DiscardReason::Malformed);
}

#[test]
fn a_time_has_less_than_a_second_of_nanoseconds() {
    let mut bytes = emitted(Body::FollowUp(follow_up()));
    bytes[40..44].copy_from_slice(&999_999_999u32.to_be_bytes());
    assert!(Message::parse(&bytes).is_ok());
    bytes[40..44].copy_from_slice(&1_000_000_000u32.to_be_bytes());
    assert_eq!(Message::parse(&bytes), Err(GptpError::Nanoseconds(1_000_000_000)));
}

#[test]
fn other_tlvs_are_skipped_and_the_information_is_needed() {
    let mut bytes = emitted(Body::FollowUp(follow_up()));
    // Another organization's in front.
    let other = [0, 3, 0, 6, 1, 1, 1, 1, 1, 1];
    bytes.splice(44..44, other);
    bytes[3] = 86;
    assert_eq!(Message::parse(&bytes).unwrap().body, Body::FollowUp(follow_up()));
    bytes[3] = 54;
    assert_eq!(Message::parse(&bytes), Err(GptpError::NoInformation));
    bytes[47] = 250;
    assert_eq!(Message::parse(&bytes), Err(GptpError::Tlv { kind: 3, stated: 250 }));
}

#[test]
fn a_path_trace_is_of_whole_identities_and_left_out_when_it_is_too_long() {
    let mut bytes = emitted(Body::Announce(announce(&[[7; 8]])));
    bytes[67] = 7;
    bytes[3] -= 1;
    assert_eq!(Message::parse(&bytes), Err(GptpError::Tlv { kind: 8, stated: 7 }));

    let longest = vec![[7; 8]; PATH_TRACE_MAX];
    assert_eq!(emitted(Body::Announce(announce(&longest))).len(), 64 + 4 + 8 * 179);
    let beyond = vec![[7; 8]; PATH_TRACE_MAX + 1];
    assert_eq!(emitted(Body::Announce(announce(&beyond))).len(), 64);
}

#[test]
fn a_better_clock_is_a_smaller_one() {
    let clock = announce(&[]).grandmaster;
    let worse = |change: fn(&mut SystemIdentity)| {
        let mut other = clock;
        change(&mut other);
        other
    };
    assert!(clock < worse(|c| c.clock.0[7] += 1));
    // Each field outweighs all that come after it.
    assert!(worse(|c| c.clock.0[7] += 1) < worse(|c| c.priority2 += 1));
    assert!(worse(|c| c.priority2 += 1) < worse(|c| c.quality.variance += 1));
    assert!(worse(|c| c.quality.variance += 1) < worse(|c| c.quality.accuracy += 1));
    assert!(worse(|c| c.quality.accuracy += 1) < worse(|c| c.quality.class += 1));
    assert!(worse(|c| c.quality.class += 1) < worse(|c| c.priority1 += 1));
}

#[test]
fn a_time_splits_into_nanoseconds_and_a_fraction() {
    let time = PtpTime::from_ps(1_234_567);
    assert_eq!(time.split(), (PtpTime::from_ps(1_234_000), Duration::from_ps(567)));
    // The wire knows no time before its epoch.
    assert_eq!(PtpTime::from_ps(-1).split(), (PtpTime::EPOCH, Duration::ZERO));
}

fn bodies() -> impl Strategy<Value = u8> {
    0u8..6
}

proptest! {
    #[test]
    fn an_emitted_message_reads_back(
        which in bodies(),
        (domain, sequence, log_interval) in any::<(u8, u16, i8)>(),
        clock: [u8; 8],
        port: u16,
        correction_ps in -140_737_488_355_327_000i64..=140_737_488_355_327_000,
        seconds in 0u64..1 << 48,
        nanoseconds in 0u32..1_000_000_000,
        (rate, indicator, freq) in any::<(i32, u16, i32)>(),
        phase in -(1i128 << 95)..1i128 << 95,
        trace in proptest::collection::vec(any::<[u8; 8]>(), 0..=PATH_TRACE_MAX),
    ) {
        let source = PortIdentity { clock: ClockIdentity(clock), port };
        let time = PtpTime::from_wire(seconds, nanoseconds);
        let body = match which {
            0 => Body::Sync,
            1 => Body::PdelayReq,
            2 => Body::PdelayResp { received: time, requesting: source },
            3 => Body::PdelayRespFollowUp { sent: time, requesting: source },
            4 => Body::FollowUp(FollowUp {
                precise_origin: time,
                cumulative_scaled_rate_offset: rate,
                gm_time_base_indicator: indicator,
                last_gm_phase_change: phase,
                scaled_last_gm_freq_change: freq,
            }),
            _ => Body::Announce(announce(&trace)),
        };
        let correction = Duration::from_ps(correction_ps);
        let message = Message { header: Header { domain, source, sequence, correction, log_interval }, body };
        let mut buf = [0xaa; MESSAGE_LEN_MAX];
        let len = message.emit(&mut buf);
        prop_assert_eq!(Message::parse(&buf[..len]), Ok(message));
        // Padding behind it changes nothing.
        prop_assert_eq!(Message::parse(&buf), Ok(message));
    }

    #[test]
    fn never_panics(mut bytes in proptest::collection::vec(any::<u8>(), 0..120), kind: u8, len in 0u8..120) {
        let _ = Message::parse(&bytes);
        if bytes.len() > 6 {
            bytes[..4].copy_from_slice(&[0x10 | kind & 0xf, 2, 0, len]);
            bytes[6] |= 2;
            let _ = Message::parse(&bytes);
        }
    }
}
