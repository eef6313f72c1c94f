//! Against rasn-its, an independent implementation of the same ASN.1: what one writes the other reads and writes again to the
//! same bytes.
//!
//! rasn-its knows neither additions of later versions nor contributed extensions other than two, and takes the flags of a
//! certificate for a bit string of any size, where the standard says 8, and reads no pduFunctionalType as an addition; those
//! are left out. rasn 0.30 also writes an addition that itself holds something extended in the wrong order; where a header carries a
//! certificate, only its reading is compared.

use chronoseal_v2x::coer::{Decode, DecodeErrorKind, Encode, Rules};
use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::message::{Recipient, encrypt};
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

fn message() -> impl Strategy<Value = Ieee1609Dot2Data<'static>> {
    let signer = prop_oneof![
        any::<[u8; 8]>().prop_map(|id| SignerIdentifier::Digest(HashedId8(id))),
        proptest::collection::vec(certificate(), 1..3).prop_map(SignerIdentifier::Certificate),
        Just(SignerIdentifier::SelfSigned),
    ];
    let hash = prop_oneof![Just(HashAlgorithm::Sha256), Just(HashAlgorithm::Sha384), Just(HashAlgorithm::Sm3)];
    let signed = (hash, payload(), header(), signer, signature()).prop_map(
        |(hash_id, payload, header_info, signer, signature)| {
            let tbs_data = ToBeSignedData { payload, header_info, received: Received::default() };
            Ieee1609Dot2Content::SignedData(SignedData { hash_id, tbs_data, signer, signature })
        },
    );
    let content = prop_oneof![
        4 => signed,
        1 => octets(0..=300).prop_map(Ieee1609Dot2Content::UnsecuredData),
        1 => octets(0..=300).prop_map(Ieee1609Dot2Content::SignedCertificateRequest),
        1 => octets(0..=300).prop_map(Ieee1609Dot2Content::SignedX509CertificateRequest),
    ];
    content.prop_map(|content| Ieee1609Dot2Data { content })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(debug_assertions) { 200 } else { 5_000 }, ..ProptestConfig::default() })]

    #[test]
    fn what_is_built_decodes_to_itself_and_they_agree(message in message()) {
        let bytes = message.to_coer().unwrap();
        prop_assert_eq!(&Ieee1609Dot2Data::from_coer(&bytes).unwrap(), &message);
        let theirs = their_data(&bytes);
        prop_assert!(theirs.is_ok(), "{:?}\nBYTES {:02x?}", theirs, bytes);
        prop_assert!(carries_certificate(&message) || theirs.as_ref() == Ok(&bytes), "{:02x?}\n{:02x?}", theirs, bytes);
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
        let ours = Ieee1609Dot2Data::from_coer(&bytes);
        let theirs = their_data(&bytes);
        match &ours {
            Ok(message) => {
                prop_assert_eq!(&message.to_coer().unwrap(), &bytes);
                if let Ok(theirs) = &theirs {
                    prop_assert!(carries_certificate(message) || theirs == &bytes, "{:02x?}\n{:02x?}", theirs, bytes);
                } else {
                    prop_assert!(holds_unknown(message), "byte {}: they say {:?}", at, theirs);
                }
            }
            Err(_) => {
                if theirs.as_ref() == Ok(&bytes) {
                    let lenient = Ieee1609Dot2Data::from_coer_with(&bytes, Rules::LENIENT);
                    // They check neither that a certificate has what its type demands, nor what excludes what.
                    let is_stricter = matches!(&lenient, Err(error) if matches!(
                        error.kind,
                        DecodeErrorKind::Constraint(_) | DecodeErrorKind::NumberTooLarge | DecodeErrorKind::OutOfRange { .. }
                    ));
                    prop_assert!(lenient.is_ok() || is_stricter, "byte {}: {:?}", at, lenient);
                }
            }
        }
    }
}

/// Whether the header carries a certificate that was asked for.
fn carries_certificate(message: &Ieee1609Dot2Data<'_>) -> bool {
    message.signed_data().is_some_and(|signed| signed.tbs_data.header_info.requested_certificate.is_some())
}

/// Whether a message holds an alternative or addition of a later version.
fn holds_unknown(message: &Ieee1609Dot2Data<'_>) -> bool {
    let text = format!("{message:?}");
    text.contains("Unknown(") || text.contains("unknown: [(") || text.contains("_extension")
}
