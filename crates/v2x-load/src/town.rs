//! A root, an authority, stations that sign, and a receiver that trusts them.

use chronoseal_ecdsa_lanes as lanes;
use chronoseal_v2x::certificate::{Issuer, issue};
use chronoseal_v2x::crypto::{Curve, EcdsaSignature, SigningKey as _, SoftwareKey};
use chronoseal_v2x::message::{PreparedMessage, SignerCertificate, SignerForm, prepare};
use chronoseal_v2x::types::{
    BitmapSspRange, CertificateBuf, CertificateId, Duration, HeaderInfo, Psid, PsidGroupPermissions, PsidSsp,
    PsidSspRange, Received, ServiceSpecificPermissions, SignedDataPayload, SspRange, SubjectPermissions, Time32,
    Time64, ToBeSignedCertificate, ToBeSignedData, ValidityPeriod, VerificationKeyIndicator,
};
use chronoseal_v2x::verify::{Verifier, VerifierConfig};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use crate::LoadError;

/// The time all of it is about: late in 2026.
pub const NOW: Time64 = Time64(722_000_000_000_000);

/// A small world on one curve.
pub struct Town {
    /// The curve.
    pub curve: Curve,
    /// When its messages are made; may be set on.
    pub now: Time64,
    /// The root's certificate.
    pub root: CertificateBuf,
    /// Its key.
    pub root_key: SoftwareKey,
    /// The authorization authority's certificate.
    pub authority: CertificateBuf,
    /// Its signing key.
    pub authority_key: SoftwareKey,
    /// Its key of encryption.
    pub authority_encryption_key: SoftwareKey,
    /// Each station's ticket and key.
    pub stations: Vec<(SignerCertificate, SoftwareKey)>,
}

impl Town {
    /// With so many stations on P-256, keys drawn from the seed.
    ///
    /// # Errors
    /// [`LoadError::Certificate`] if one cannot be issued.
    pub fn new(stations: usize, seed: u64) -> Result<Self, LoadError> {
        Self::on(Curve::NistP256, stations, seed)
    }

    /// As [`Town::new`], on a curve of 256 bits.
    ///
    /// # Errors
    /// [`LoadError::Curve`], and as [`Town::new`].
    pub fn on(curve: Curve, stations: usize, seed: u64) -> Result<Self, LoadError> {
        Self::at(NOW, curve, stations, seed)
    }

    /// As [`Town::on`], at another time of this decade: tickets are valid for a week that began a day before.
    ///
    /// # Errors
    /// As [`Town::on`].
    pub fn at(now: Time64, curve: Curve, stations: usize, seed: u64) -> Result<Self, LoadError> {
        lanes_curve(curve)?;
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut key = || SoftwareKey::generate(curve, &mut rng);
        let (mut root_key, mut authority_key, authority_encryption_key) = (key(), key(), key());
        let years = |count| ValidityPeriod { start: Time32(700_000_000), duration: Duration::Years(count) };

        let mut tbs = ToBeSignedCertificate::new(CertificateId::Name("root"), years(10), indicator(&root_key));
        let mut permissions = issuing();
        permissions[0].min_chain_length = 2;
        tbs.cert_issue_permissions = Some(permissions);
        let of_lists = ServiceSpecificPermissions::Bitmap(&[1]);
        tbs.app_permissions = Some(vec![PsidSsp { psid: Psid::CRL, ssp: Some(of_lists) }]);
        let root = issue(tbs, Issuer::SelfSigned, &mut root_key)?;

        let mut tbs = ToBeSignedCertificate::new(CertificateId::Name("authority"), years(5), indicator(&authority_key));
        tbs.cert_issue_permissions = Some(issuing());
        tbs.encryption_key = Some(authority_encryption_key.public_point().to_encryption_key()?);
        let authority = issue(tbs, Issuer::Certificate(&root.view()), &mut root_key)?;

        let stations = (0..stations)
            .map(|_| {
                let key = key();
                let ticket =
                    issue(Self::ticket(&key, now), Issuer::Certificate(&authority.view()), &mut authority_key)?;
                Ok((SignerCertificate::new(ticket)?, key))
            })
            .collect::<Result<_, LoadError>>()?;
        Ok(Self { curve, now, root, root_key, authority, authority_key, authority_encryption_key, stations })
    }

    /// What a ticket for this key says: a week, CAM and DENM.
    #[must_use]
    pub fn ticket(key: &SoftwareKey, now: Time64) -> ToBeSignedCertificate<'static> {
        let validity = ValidityPeriod { start: Time32(now.time32().0 - 100_000), duration: Duration::Hours(168) };
        let mut tbs = ToBeSignedCertificate::new(CertificateId::None, validity, indicator(key));
        let bitmap = |bytes| Some(ServiceSpecificPermissions::Bitmap(bytes));
        tbs.app_permissions = Some(vec![
            PsidSsp { psid: Psid::CAM, ssp: bitmap(&[1, 0xFF, 0xFC]) },
            PsidSsp { psid: Psid::DENM, ssp: bitmap(&[1, 0xFF, 0xFF, 0xFF]) },
        ]);
        tbs
    }

    /// A receiver that trusts the root and knows the authority.
    ///
    /// # Errors
    /// [`LoadError::Trust`] if they are not taken.
    pub fn verifier(&self, config: VerifierConfig) -> Result<Verifier, LoadError> {
        let mut verifier = Verifier::new(config);
        verifier.trust_mut().insert_root(&self.root.view())?;
        verifier.trust_mut().insert_authority(&self.authority.view())?;
        Ok(verifier)
    }

    /// A CAM to be signed.
    #[must_use]
    pub fn cam(payload: &[u8], generation_time: Time64) -> ToBeSignedData<'_> {
        let mut header_info = HeaderInfo::new(Psid::CAM);
        header_info.generation_time = Some(generation_time);
        ToBeSignedData { payload: SignedDataPayload::unsecured(payload), header_info, received: Received::default() }
    }

    /// So many CAMs of 200 octets of payload, each another one, made at [`Town::now`], from one station after the other.
    ///
    /// # Errors
    /// [`LoadError::Sign`] if one cannot be made.
    pub fn cams(&self, count: usize, with_certificate: bool) -> Result<Vec<Vec<u8>>, LoadError> {
        let draft = |number| Draft {
            station: number % self.stations.len(),
            payload: Draft::payload(number),
            generation_time: self.now,
            with_certificate,
        };
        self.sign_all(&(0..count).map(draft).collect::<Vec<_>>())
    }

    /// Signs many messages at once, on the lanes where the processor has them, and else one by one, as a station does it.
    pub(crate) fn sign_all(&self, messages: &[Draft]) -> Result<Vec<Vec<u8>>, LoadError> {
        let curve = lanes_curve(self.curve)?;
        if lanes::engine() == lanes::Engine::Scalar {
            return messages.iter().map(|draft| self.sign_one(draft)).collect();
        }
        let mut signed = Vec::with_capacity(messages.len());
        for chunk in messages.chunks(256) {
            let prepared = chunk.iter().map(|draft| self.prepare(draft)).collect::<Result<Vec<_>, _>>()?;
            let digests: Vec<[u8; 32]> = prepared.iter().map(|one| fixed(one.digest().as_bytes())).collect();
            let secrets: Vec<[u8; 32]> =
                chunk.iter().map(|draft| fixed(self.stations[draft.station].1.scalar())).collect();
            let jobs: Vec<_> = digests
                .iter()
                .zip(&secrets)
                .map(|(digest, secret)| lanes::Signing { curve, digest, secret, entropy: &[] })
                .collect();
            let mut signatures = vec![None; jobs.len()];
            lanes::sign_batch(&jobs, &mut signatures);
            for (message, signature) in prepared.into_iter().zip(signatures) {
                let octets = signature.map(|both| [both.r, both.s].concat()).unwrap_or_default();
                signed.push(message.complete(&EcdsaSignature::from_octets(self.curve, &octets)?)?);
            }
        }
        Ok(signed)
    }

    fn sign_one(&self, draft: &Draft) -> Result<Vec<u8>, LoadError> {
        let message = self.prepare(draft)?;
        let mut key = self.stations[draft.station].1.clone();
        let signature = key.sign_digest(message.digest().as_bytes())?;
        Ok(message.complete(&signature)?)
    }

    fn prepare(&self, draft: &Draft) -> Result<PreparedMessage, LoadError> {
        let ticket = &self.stations[draft.station].0;
        let form = if draft.with_certificate { SignerForm::Certificate(ticket) } else { SignerForm::Digest(ticket) };
        Ok(prepare(&Self::cam(&draft.payload, draft.generation_time), None, form, self.curve)?)
    }
}

/// A message before its signature.
pub(crate) struct Draft {
    pub(crate) station: usize,
    pub(crate) payload: Vec<u8>,
    pub(crate) generation_time: Time64,
    pub(crate) with_certificate: bool,
}

impl Draft {
    /// Headers, a CAM, and what else it says: 200 octets that begin with a number.
    pub(crate) fn payload(number: usize) -> Vec<u8> {
        let mut payload = vec![0x5A; 200];
        payload[..8].copy_from_slice(&(number as u64).to_be_bytes());
        payload
    }
}

fn lanes_curve(curve: Curve) -> Result<lanes::Curve, LoadError> {
    match curve {
        Curve::NistP256 => Ok(lanes::Curve::NistP256),
        Curve::BrainpoolP256r1 => Ok(lanes::Curve::BrainpoolP256r1),
        Curve::NistP384 | Curve::BrainpoolP384r1 => Err(LoadError::Curve(curve)),
    }
}

/// 32 bytes, which digests and scalars of curves of 256 bits are.
pub(crate) fn fixed(bytes: &[u8]) -> [u8; 32] {
    bytes.try_into().expect("digests and scalars of curves of 256 bits have 32 bytes")
}

fn indicator(key: &SoftwareKey) -> VerificationKeyIndicator {
    VerificationKeyIndicator::VerificationKey(key.public_point().to_verification_key())
}

/// Leave to issue tickets for CAM and DENM.
fn issuing() -> Vec<PsidGroupPermissions<'static>> {
    let range = |psid, ssp_value, ssp_bitmask| PsidSspRange {
        psid,
        ssp_range: Some(SspRange::Bitmap(BitmapSspRange { ssp_value, ssp_bitmask })),
    };
    let ranges = vec![
        range(Psid::CAM, &[1, 0xFF, 0xFC], &[0xFF, 0, 3]),
        range(Psid::DENM, &[1, 0xFF, 0xFF, 0xFF], &[0xFF, 0, 0, 0]),
    ];
    vec![PsidGroupPermissions::new(SubjectPermissions::Explicit(ranges))]
}
