//! Against rasn-its, an independent implementation of the same ASN.1: what one writes the other reads and writes again to the
//! same bytes.
//!
//! Where the two differ, X.696 says who is right, and the comparison goes round it:
//!
//! - rasn 0.30 writes `flags` of a certificate as a bit string of any size and `pduFunctionalType` as an integer of any size,
//!   each with a length of its own, where a fixed size and a small range have none (clauses 13.2 and 10.2). It is handed
//!   [its own form](in_their_form) of the octet, the rest being as it was.
//! - It writes an addition that itself holds something extended in the wrong order. A `requestedCertificate` is compared
//!   as read: encoded alone, and the message without it.
//! - rasn-its knows neither additions of later versions nor contributed extensions other than two; those are left out.

use chronoseal_v2x::coer::{Decode, DecodeErrorKind, Encode, Rules};
use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::message::{Recipient, SignerForm, encrypt, sign};
use chronoseal_v2x::types::*;
use proptest::prelude::*;
use rasn_its::ieee1609dot2 as theirs;

use crate::stations::{World, rng};

/// What rasn-its makes of `bytes`, encoded again.
fn their_data(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let value = rasn::coer::decode::<theirs::Ieee1609Dot2Data>(bytes).map_err(|error| error.to_string())?;
    rasn::coer::encode(&value).map_err(|error| error.to_string())
}

fn their_certificate(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let value = rasn::coer::decode::<theirs::Certificate>(bytes).map_err(|error| error.to_string())?;
    rasn::coer::encode(&value).map_err(|error| error.to_string())
}

#[test]
fn agrees_on_signed_and_encrypted_messages_of_every_curve() {
    for curve in Curve::ALL {
        let mut world = World::new(curve);
        for with_certificate in [false, true] {
            let message = world.signed_cam(with_certificate);
            assert_eq!(their_data(&message).unwrap(), message);
        }
        for certificate in [&world.root, &world.authority, world.ticket.certificate()] {
            assert_eq!(their_certificate(certificate.as_bytes()).unwrap(), certificate.as_bytes());
        }
        let authority = world.authority.view();
        let recipients = [Recipient::Certificate(&authority), Recipient::PreSharedKey];
        let (message, _) = encrypt(b"text", &recipients, &mut rng(1)).unwrap();
        assert_eq!(their_data(&message).unwrap(), message);
    }
}

/// Lists live as long as the test: values borrow from them.
fn leaked(octets: Vec<u8>) -> &'static [u8] {
    octets.leak()
}

fn octets(size: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = &'static [u8]> {
    proptest::collection::vec(any::<u8>(), size).prop_map(leaked)
}

fn public_point<const N: usize>() -> impl Strategy<Value = CurvePoint<N>> {
    (any::<bool>(), proptest::array::uniform(any::<u8>()))
        .prop_map(|(odd, x)| if odd { CurvePoint::CompressedY1(x) } else { CurvePoint::CompressedY0(x) })
}

fn verification_key() -> impl Strategy<Value = PublicVerificationKey> {
    prop_oneof![
        public_point().prop_map(PublicVerificationKey::EcdsaNistP256),
        public_point().prop_map(PublicVerificationKey::EcdsaBrainpoolP256r1),
        public_point().prop_map(PublicVerificationKey::EcdsaBrainpoolP384r1),
        public_point().prop_map(PublicVerificationKey::EcdsaNistP384),
        public_point().prop_map(PublicVerificationKey::EcsigSm2),
    ]
}

fn encryption_key() -> impl Strategy<Value = PublicEncryptionKey> {
    let key = prop_oneof![
        public_point().prop_map(BasePublicEncryptionKey::EciesNistP256),
        public_point().prop_map(BasePublicEncryptionKey::EciesBrainpoolP256r1),
        public_point().prop_map(BasePublicEncryptionKey::EcencSm2),
    ];
    let cipher = prop_oneof![Just(SymmAlgorithm::Aes128Ccm), Just(SymmAlgorithm::Sm4Ccm)];
    (cipher, key).prop_map(|(supported_symm_alg, public_key)| PublicEncryptionKey { supported_symm_alg, public_key })
}

fn signature_value<const N: usize>() -> impl Strategy<Value = EcdsaSignatureValue<N>> {
    (proptest::array::uniform(any::<u8>()), proptest::array::uniform(any::<u8>()))
        .prop_map(|(r, s_sig)| EcdsaSignatureValue { r_sig: CurvePoint::XOnly(r), s_sig })
}

fn signature() -> impl Strategy<Value = Signature> {
    prop_oneof![
        signature_value().prop_map(Signature::EcdsaNistP256),
        signature_value().prop_map(Signature::EcdsaBrainpoolP256r1),
        signature_value().prop_map(Signature::EcdsaBrainpoolP384r1),
        signature_value().prop_map(Signature::EcdsaNistP384),
        (any::<[u8; 32]>(), any::<[u8; 32]>()).prop_map(|(r_sig, s_sig)| Signature::Sm2 { r_sig, s_sig }),
    ]
}

fn place() -> impl Strategy<Value = TwoDLocation> {
    (-900_000_000..=900_000_001, -1_799_999_999..=1_800_000_001)
        .prop_map(|(latitude, longitude)| TwoDLocation { latitude, longitude })
}

fn identified_region() -> impl Strategy<Value = IdentifiedRegion> {
    let subregions = (any::<u8>(), proptest::collection::vec(any::<u16>(), 0..4))
        .prop_map(|(region, subregions)| RegionAndSubregions { region, subregions });
    prop_oneof![
        any::<u16>().prop_map(IdentifiedRegion::CountryOnly),
        (any::<u16>(), proptest::collection::vec(any::<u8>(), 0..4))
            .prop_map(|(country, regions)| IdentifiedRegion::CountryAndRegions { country, regions }),
        (any::<u16>(), proptest::collection::vec(subregions, 0..3)).prop_map(|(country, region_and_subregions)| {
            IdentifiedRegion::CountryAndSubregions { country, region_and_subregions }
        }),
    ]
}

fn region() -> impl Strategy<Value = GeographicRegion> {
    let rectangle =
        (place(), place()).prop_map(|(north_west, south_east)| RectangularRegion { north_west, south_east });
    prop_oneof![
        (place(), any::<u16>())
            .prop_map(|(center, radius)| GeographicRegion::Circular(CircularRegion { center, radius })),
        proptest::collection::vec(rectangle, 0..4).prop_map(GeographicRegion::Rectangular),
        proptest::collection::vec(place(), 3..6).prop_map(GeographicRegion::Polygonal),
        proptest::collection::vec(identified_region(), 0..4).prop_map(GeographicRegion::Identified),
    ]
}

fn psid() -> impl Strategy<Value = Psid> {
    prop_oneof![0..300_u64, any::<u64>()].prop_map(Psid)
}

fn psid_ssp() -> impl Strategy<Value = PsidSsp<'static>> {
    let ssp = prop_oneof![
        octets(0..=200).prop_map(ServiceSpecificPermissions::Opaque),
        octets(0..=31).prop_map(ServiceSpecificPermissions::Bitmap),
    ];
    (psid(), proptest::option::of(ssp)).prop_map(|(psid, ssp)| PsidSsp { psid, ssp })
}

fn group() -> impl Strategy<Value = PsidGroupPermissions<'static>> {
    let range = prop_oneof![
        proptest::collection::vec(octets(0..=5), 0..3).prop_map(SspRange::Opaque),
        Just(SspRange::All),
        (octets(1..=32), octets(1..=32))
            .prop_map(|(ssp_value, ssp_bitmask)| SspRange::Bitmap(BitmapSspRange { ssp_value, ssp_bitmask })),
    ];
    let range = (psid(), proptest::option::of(range)).prop_map(|(psid, ssp_range)| PsidSspRange { psid, ssp_range });
    let subject = prop_oneof![
        Just(SubjectPermissions::All),
        proptest::collection::vec(range, 0..4).prop_map(SubjectPermissions::Explicit),
    ];
    let lengths = (prop_oneof![-3..5_i64, any::<i64>()], prop_oneof![-3..5_i64, any::<i64>()]);
    (subject, lengths, 1..=255_u8).prop_map(|(subject_permissions, (min_chain_length, chain_length_range), kinds)| {
        PsidGroupPermissions {
            subject_permissions,
            min_chain_length,
            chain_length_range,
            ee_type: EndEntityType(kinds),
        }
    })
}

fn certificate_id() -> impl Strategy<Value = CertificateId<'static>> {
    let linkage =
        (any::<u16>(), any::<[u8; 9]>(), proptest::option::of((any::<[u8; 4]>(), any::<[u8; 9]>()))).prop_map(
            |(i_cert, linkage_value, group_linkage_value)| LinkageData { i_cert, linkage_value, group_linkage_value },
        );
    prop_oneof![
        linkage.prop_map(CertificateId::LinkageData),
        "[a-zA-Z0-9_.äöü-]{0,60}".prop_map(|name| CertificateId::Name(name.leak())),
        octets(1..=64).prop_map(CertificateId::BinaryId),
        Just(CertificateId::None),
    ]
}

fn duration() -> impl Strategy<Value = Duration> {
    (0..7, any::<u16>()).prop_map(|(unit, count)| match unit {
        0 => Duration::Microseconds(count),
        1 => Duration::Milliseconds(count),
        2 => Duration::Seconds(count),
        3 => Duration::Minutes(count),
        4 => Duration::Hours(count),
        5 => Duration::SixtyHours(count),
        _ => Duration::Years(count),
    })
}

fn to_be_signed() -> impl Strategy<Value = ToBeSignedCertificate<'static>> {
    let validity =
        (any::<u32>(), duration()).prop_map(|(start, duration)| ValidityPeriod { start: Time32(start), duration });
    let groups = || proptest::option::of(proptest::collection::vec(group(), 0..3));
    let key = verification_key().prop_map(VerificationKeyIndicator::VerificationKey);
    let optional = (
        proptest::option::of(region()),
        proptest::option::of(any::<u8>()),
        proptest::option::of(proptest::collection::vec(psid_ssp(), 0..4)),
        groups(),
        groups(),
        any::<bool>(),
        proptest::option::of(encryption_key()),
    );
    (certificate_id(), any::<[u8; 3]>(), any::<u16>(), validity, key, optional).prop_map(
        |(id, craca_id, crl_series, validity, key, optional)| {
            let mut tbs = ToBeSignedCertificate::new(id, validity, key);
            tbs.craca_id = HashedId3(craca_id);
            tbs.crl_series = crl_series;
            (
                tbs.region,
                tbs.assurance_level,
                tbs.app_permissions,
                tbs.cert_issue_permissions,
                tbs.cert_request_permissions,
                tbs.can_request_rollover,
                tbs.encryption_key,
            ) = optional;
            tbs
        },
    )
}

fn certificate() -> impl Strategy<Value = Certificate<'static>> {
    let issuer = (0..5, any::<[u8; 8]>()).prop_map(|(kind, id)| match kind {
        0 => IssuerIdentifier::Sha256AndDigest(HashedId8(id)),
        1 => IssuerIdentifier::Sha384AndDigest(HashedId8(id)),
        2 => IssuerIdentifier::Sm3AndDigest(HashedId8(id)),
        3 => IssuerIdentifier::SelfSigned(HashAlgorithm::Sha256),
        _ => IssuerIdentifier::SelfSigned(HashAlgorithm::Sha384),
    });
    let kind = prop_oneof![
        signature().prop_map(|signature| (None, Some(signature))),
        public_point().prop_map(|point| (Some(VerificationKeyIndicator::ReconstructionValue(point)), None)),
    ];
    (issuer, to_be_signed(), kind).prop_map(|(issuer, mut to_be_signed, (point, signature))| {
        let r#type = if signature.is_some() { CertificateType::Explicit } else { CertificateType::Implicit };
        if let Some(point) = point {
            to_be_signed.verify_key_indicator = point;
        }
        Certificate { r#type, issuer, to_be_signed, signature, received: Received::default() }
    })
}

fn header() -> impl Strategy<Value = HeaderInfo<'static>> {
    let location = (place(), any::<u16>()).prop_map(|(place, elevation)| ThreeDLocation {
        latitude: place.latitude,
        longitude: place.longitude,
        elevation,
    });
    let key = prop_oneof![
        encryption_key().prop_map(EncryptionKey::Public),
        any::<[u8; 16]>().prop_map(|key| EncryptionKey::Symmetric(SymmetricEncryptionKey::Aes128Ccm(key))),
        any::<[u8; 16]>().prop_map(|key| EncryptionKey::Symmetric(SymmetricEncryptionKey::Sm4Ccm(key))),
    ];
    let missing = (any::<[u8; 3]>(), any::<u16>()).prop_map(|(id, crl_series)| MissingCrlIdentifier {
        craca_id: HashedId3(id),
        crl_series,
        extensions: chronoseal_v2x::coer::ExtensionAdditions::default(),
    });
    let request = proptest::collection::vec(any::<[u8; 3]>(), 0..5)
        .prop_map(|list| HashedId3List::new(leaked(list.concat())).unwrap());
    let times = (proptest::option::of(any::<u64>()), proptest::option::of(any::<u64>()));
    let additions = (proptest::option::of(request), proptest::option::of(certificate()));
    let others = (proptest::option::of(missing), proptest::option::of(key), proptest::option::of(any::<[u8; 3]>()));
    (psid(), times, proptest::option::of(location), others, additions).prop_map(
        |(psid, (generation, expiry), location, (missing, key, learning), (request, certificate))| {
            let mut header = HeaderInfo::new(psid);
            header.generation_time = generation.map(Time64);
            header.expiry_time = expiry.map(Time64);
            header.generation_location = location;
            header.missing_crl_identifier = missing;
            header.encryption_key = key;
            // The two ways of asking exclude each other.
            header.p2pcd_learning_request = learning.filter(|_| request.is_none()).map(HashedId3);
            header.inline_p2pcd_request = request;
            header.requested_certificate = certificate.map(Box::new);
            header
        },
    )
}

fn payload() -> impl Strategy<Value = SignedDataPayload<'static>> {
    let hash = prop_oneof![
        any::<[u8; 32]>().prop_map(|hash| HashedData::Sha256(HashedId32(hash))),
        any::<[u8; 32]>().prop_map(|hash| HashedData::Sm3(HashedId32(hash))),
        proptest::array::uniform(any::<u8>()).prop_map(|hash| HashedData::Sha384(HashedId48(hash))),
    ];
    (octets(0..=300), proptest::option::of(hash), any::<bool>(), any::<bool>()).prop_map(
        |(data, ext_data_hash, has_data, omitted)| {
            let data = (has_data || (ext_data_hash.is_none() && !omitted)).then_some(InnerData::Unsecured(data));
            SignedDataPayload { data, ext_data_hash, omitted, ..SignedDataPayload::default() }
        },
    )
}

fn signed() -> impl Strategy<Value = Ieee1609Dot2Data<'static>> {
    let signer = prop_oneof![
        any::<[u8; 8]>().prop_map(|id| SignerIdentifier::Digest(HashedId8(id))),
        proptest::collection::vec(certificate(), 1..3).prop_map(SignerIdentifier::Certificate),
        Just(SignerIdentifier::SelfSigned),
    ];
    let hash = prop_oneof![Just(HashAlgorithm::Sha256), Just(HashAlgorithm::Sha384), Just(HashAlgorithm::Sm3)];
    (hash, payload(), header(), signer, signature()).prop_map(|(hash_id, payload, header_info, signer, signature)| {
        let tbs_data = ToBeSignedData { payload, header_info, received: Received::default() };
        let signed = SignedData { hash_id, tbs_data, signer, signature };
        Ieee1609Dot2Data { content: Ieee1609Dot2Content::SignedData(signed) }
    })
}

fn message() -> impl Strategy<Value = Ieee1609Dot2Data<'static>> {
    let content = prop_oneof![
        1 => octets(0..=300).prop_map(Ieee1609Dot2Content::UnsecuredData),
        1 => octets(0..=300).prop_map(Ieee1609Dot2Content::SignedCertificateRequest),
        1 => octets(0..=300).prop_map(Ieee1609Dot2Content::SignedX509CertificateRequest),
    ];
    prop_oneof![4 => signed(), 3 => content.prop_map(|content| Ieee1609Dot2Data { content })]
}

/// `PROPTEST_CASES` of them, if that is set.
fn config() -> ProptestConfig {
    let config = ProptestConfig::default();
    match (std::env::var_os("PROPTEST_CASES"), cfg!(debug_assertions)) {
        (Some(_), _) => config,
        (None, true) => ProptestConfig { cases: 200, ..config },
        (None, false) => ProptestConfig { cases: 5_000, ..config },
    }
}

/// An encoding that holds one octet as an addition, with what rasn writes instead of the octet. `encode` encodes with any octet.
fn in_their_form(octet: u8, form: &[u8], encode: impl Fn(u8) -> Vec<u8>) -> Vec<u8> {
    let (zeros, ones, mut bytes) = (encode(0), encode(0xff), encode(octet));
    let differing: Vec<usize> = (0..bytes.len()).filter(|at| zeros[*at] != ones[*at]).collect();
    let [at] = differing[..] else { panic!("one octet of {bytes:02x?}") };
    assert_eq!(bytes[at - 1..=at], [1, octet], "an open type of one octet");
    bytes.splice(at - 1..=at, form.iter().copied());
    bytes
}

fn header_of<'m, 'a>(message: &'m mut Ieee1609Dot2Data<'a>) -> Option<&'m mut HeaderInfo<'a>> {
    match &mut message.content {
        Ieee1609Dot2Content::SignedData(signed) => Some(&mut signed.tbs_data.header_info),
        _ => None,
    }
}

/// Whether rasn-its reads and writes the same, a requested certificate apart from its message.
fn assert_they_agree(message: &Ieee1609Dot2Data<'_>) -> Result<(), TestCaseError> {
    let bytes = message.to_coer().unwrap();
    let mut without = message.clone();
    let requested = header_of(&mut without).and_then(|header| header.requested_certificate.take());
    if let Some(requested) = requested {
        let mut read = rasn::coer::decode::<theirs::Ieee1609Dot2Data>(&bytes).map_err(|error| fail(&error, &bytes))?;
        let theirs::Ieee1609Dot2Content::SignedData(signed) = &mut read.content else { panic!("it has a header") };
        let found = signed.tbs_data.header_info.requested_certificate.take();
        let found = found.map(|certificate| rasn::coer::encode(&certificate).unwrap());
        prop_assert_eq!(found, Some(requested.to_coer().unwrap()));
        prop_assert_eq!(rasn::coer::encode(&read).unwrap(), without.to_coer().unwrap());
    } else {
        let written = their_data(&bytes).map_err(|error| fail(&error, &bytes))?;
        prop_assert_eq!(written, bytes);
    }
    Ok(())
}

fn fail(error: &impl std::fmt::Display, bytes: &[u8]) -> TestCaseError {
    TestCaseError::fail(format!("they say {error} of {bytes:02x?}"))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_is_built_decodes_to_itself_and_they_agree(message in message()) {
        let bytes = message.to_coer().unwrap();
        prop_assert_eq!(&Ieee1609Dot2Data::from_coer(&bytes).unwrap(), &message);
        assert_they_agree(&message)?;
    }

    #[test]
    fn a_functional_type_is_read_as_what_it_is(mut message in signed(), functional_type in any::<u8>()) {
        header_of(&mut message).unwrap().requested_certificate = None;
        let encode = |octet| {
            let mut message = message.clone();
            header_of(&mut message).unwrap().pdu_functional_type = Some(octet);
            let bytes = message.to_coer().unwrap();
            assert_eq!(Ieee1609Dot2Data::from_coer(&bytes).unwrap(), message);
            bytes
        };
        // A signed number in as few octets as it takes, and their count.
        let form = if functional_type < 0x80 { &[2, 1, functional_type][..] } else { &[3, 2, 0, functional_type] };
        let bytes = in_their_form(functional_type, form, encode);
        let read = rasn::coer::decode::<theirs::Ieee1609Dot2Data>(&bytes).map_err(|error| fail(&error, &bytes))?;
        let theirs::Ieee1609Dot2Content::SignedData(signed) = &read.content else { panic!("it has a header") };
        let found = &signed.tbs_data.header_info.pdu_functional_type;
        prop_assert_eq!(found, &Some(theirs::PduFunctionalType(functional_type)));
        prop_assert_eq!(their_data(&bytes), Ok(bytes));
    }

    #[test]
    fn flags_are_read_as_what_they_are(certificate in certificate(), flags in any::<u8>()) {
        let encode = |octet| {
            let mut certificate = certificate.clone();
            certificate.to_be_signed.flags = Some(octet);
            let bytes = certificate.to_coer().unwrap();
            assert_eq!(Certificate::from_coer(&bytes).unwrap(), certificate);
            bytes
        };
        let bytes = in_their_form(flags, &[3, 2, 0, flags], encode);
        let read = rasn::coer::decode::<theirs::Certificate>(&bytes).map_err(|error| fail(&error, &bytes))?;
        let found = read.to_be_signed.flags.map(|bits| bits.as_raw_slice()[0]);
        prop_assert_eq!(found, Some(flags));
        prop_assert_eq!(their_certificate(&bytes), Ok(bytes));
    }

    #[test]
    fn certificates_decode_to_themselves_and_they_agree(certificate in certificate()) {
        let bytes = certificate.to_coer().unwrap();
        prop_assert_eq!(&Certificate::from_coer(&bytes).unwrap(), &certificate);
        prop_assert_eq!(their_certificate(&bytes), Ok(bytes));
    }

    /// Bytes changed at random: what the strict rules accept is canonical, hence encodes to the same bytes here; and there
    /// too, unless it holds something newer than they know. What they accept and write again the same, the lenient rules
    /// accept.
    #[test]
    fn on_changed_bytes_too(message in message(), at in any::<prop::sample::Index>(), value in any::<u8>()) {
        let mut bytes = message.to_coer().unwrap();
        let at = at.index(bytes.len());
        bytes[at] = value;
        match Ieee1609Dot2Data::from_coer_with(&bytes, Rules::LENIENT) {
            Ok((message, deviations)) if deviations.is_empty() => {
                prop_assert_eq!(&Ieee1609Dot2Data::from_coer(&bytes), &Ok(message.clone()));
                prop_assert_eq!(&message.to_coer().unwrap(), &bytes);
                if !holds_unknown(&message) {
                    assert_they_agree(&message)?;
                }
            }
            Ok(_) => prop_assert!(Ieee1609Dot2Data::from_coer(&bytes).is_err()),
            // They check neither that a certificate has what its type demands, nor what excludes what.
            Err(error) if is_stricter(&error.kind) => {}
            Err(error) => prop_assert_ne!(their_data(&bytes), Ok(bytes), "byte {}: {}", at, error),
        }
    }
}

/// Whether it is a matter of constraints or limits that they do not have. Nor can all of it be shown to them: they make room for
/// as many elements as a list says to have, and a list of 2^50 ends the process.
fn is_stricter(kind: &DecodeErrorKind) -> bool {
    matches!(
        kind,
        DecodeErrorKind::Constraint(_)
            | DecodeErrorKind::NumberTooLarge
            | DecodeErrorKind::OutOfRange { .. }
            | DecodeErrorKind::TooManyElements { .. }
    )
}

/// What rasn does where the guide to peers says that it is wrong: should it do so no longer, the ways round it can go.
#[test]
fn they_still_write_lengths_where_there_are_none() {
    let mut world = World::new(Curve::NistP256);
    let mut tbs = World::cam(b"");
    tbs.header_info.pdu_functional_type = Some(2);
    let message = sign(&tbs, SignerForm::Digest(&world.ticket), &mut world.ticket_key).unwrap();
    // One addition, the third of four; an open type of one octet; INTEGER (0..255) is that octet.
    assert!(message.windows(5).any(|octets| octets == [2, 4, 0x20, 1, 2]));
    assert!(their_data(&message).unwrap_err().contains("pdu_functional_type"));
    let mut certificate = world.ticket.certificate().view();
    certificate.to_be_signed.flags = Some(0x80);
    let bytes = certificate.to_coer().unwrap();
    assert!(bytes.windows(5).any(|octets| octets == [2, 4, 0x80, 1, 0x80]));
    assert!(their_certificate(&bytes).unwrap_err().contains("flags"));
    tbs.header_info.pdu_functional_type = None;
    tbs.header_info.requested_certificate = Some(Box::new(world.authority.view()));
    let message = sign(&tbs, SignerForm::Digest(&world.ticket), &mut world.ticket_key).unwrap();
    let written = their_data(&message).unwrap();
    assert_ne!(written[..2], message[..2], "a message begins with its version");
    assert!(their_data(&written).is_err(), "what they write they do not read");
}

/// Whether a message holds an alternative or addition of a later version.
fn holds_unknown(message: &Ieee1609Dot2Data<'_>) -> bool {
    let text = format!("{message:?}");
    text.contains("Unknown(") || text.contains("unknown: [(") || text.contains("_extension")
}
