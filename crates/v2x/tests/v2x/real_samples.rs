//! Files of the European trust domain decode, and encode to the same bytes.

use chronoseal_v2x::coer::{Decode, Encode, Rules};
use chronoseal_v2x::types::{Certificate, Ieee1609Dot2Data};

const TLM: &[u8] = include_bytes!("../data/E7A4B2B045E7ACF9.oer");
const ECTL: &[u8] = include_bytes!("../data/CE4CF6C19BFED720.oer");

#[test]
fn reads_and_writes_the_trust_list_managers_certificate() {
    let (certificate, deviations) = Certificate::from_coer_with(TLM, Rules::LENIENT).unwrap();
    assert_eq!(deviations, []);
    assert_eq!(certificate.to_coer().unwrap(), TLM);
}

#[test]
fn reads_and_writes_the_european_trust_list() {
    let (data, deviations) = Ieee1609Dot2Data::from_coer_with(ECTL, Rules::LENIENT).unwrap();
    assert_eq!(deviations, []);
    assert_eq!(data.to_coer().unwrap(), ECTL);
}
