//! Real signatures for a fleet: a ticket of [`Office`] for every pseudonym.

use std::collections::BTreeMap;

use chronoseal_v2x::crypto::{Curve, SoftwareKey};
use chronoseal_v2x::message::{SignerCertificate, SignerForm, sign};
use chronoseal_v2x::types::{
    CertificateBuf, HeaderInfo, Psid, Received, SignedDataPayload, ThreeDLocation, Time64, ToBeSignedData,
};
use chronoseal_v2x::verify::{Context, Verdict, Verifier, VerifierConfig};

use crate::office::Office;
use crate::security::{SecureRequest, Security, SecurityError};

/// Signs with tickets of its own authority and checks against its root.
///
/// One verifier stands for all receivers: it knows every ticket that was sent whole before.
pub struct Tickets {
    office: Office,
    tickets: BTreeMap<u32, (SignerCertificate, SoftwareKey)>,
    verifier: Verifier,
}

/// More than a run takes up; a verifier that forgot one would refuse what is signed under its digest.
const TICKETS_MAX: usize = 100_000;

impl Tickets {
    /// An office of its own and an empty pool; see [`Office::new`].
    ///
    /// # Errors
    /// [`SecurityError`] if a certificate cannot be issued.
    pub fn new(curve: Curve, starts_at_us: u64, seed: u64) -> Result<Self, SecurityError> {
        let office = Office::new(curve, starts_at_us, seed)?;
        let mut verifier = Verifier::new(VerifierConfig { neighbours_max: TICKETS_MAX, ..VerifierConfig::default() });
        let failed = |error: chronoseal_v2x::verify::TrustError| SecurityError(error.to_string());
        verifier.trust_mut().insert_root(&office.root().view()).map_err(failed)?;
        verifier.trust_mut().insert_authority(&office.authority().view()).map_err(failed)?;
        Ok(Self { office, tickets: BTreeMap::new(), verifier })
    }

    /// The root's certificate.
    pub fn root(&self) -> &CertificateBuf {
        self.office.root()
    }

    /// The authority's certificate.
    pub fn authority(&self) -> &CertificateBuf {
        self.office.authority()
    }

    /// Tickets issued so far.
    pub fn issued(&self) -> usize {
        self.tickets.len()
    }

    /// Checks a secured packet; the verdict says what was checked.
    pub fn check<'a>(&mut self, secured: &'a [u8], now_us: u64) -> (Verdict, Option<&'a [u8]>) {
        let (verdict, message) = self.verifier.verify_untimed(secured, &Context::at(Time64(now_us)));
        let payload = message.as_ref().and_then(|message| message.signed_data()?.tbs_data.payload.unsecured_payload());
        (verdict, payload)
    }
}

impl Security for Tickets {
    fn secure(&mut self, request: &SecureRequest<'_>, out: &mut Vec<u8>) -> Result<(), SecurityError> {
        if !self.tickets.contains_key(&request.pseudonym) {
            let (certificate, key) = self.office.issue(request.pseudonym)?;
            let certificate = SignerCertificate::new(certificate).map_err(|error| SecurityError(error.to_string()))?;
            self.tickets.insert(request.pseudonym, (certificate, key));
        }
        let Some((certificate, key)) = self.tickets.get_mut(&request.pseudonym) else {
            return Err(SecurityError("a ticket just put in is gone".into()));
        };
        let mut header_info = HeaderInfo::new(if request.event.is_some() { Psid::DENM } else { Psid::CAM });
        header_info.generation_time = Some(Time64(request.generation_time_us));
        header_info.generation_location = request.event.map(|(latitude, longitude)| ThreeDLocation {
            latitude,
            longitude,
            // The highest value stands for an elevation that is not known.
            elevation: u16::MAX,
        });
        let payload = SignedDataPayload::unsecured(request.packet);
        let tbs = ToBeSignedData { payload, header_info, received: Received::default() };
        // [TS 103 097 §7.1.2] A DENM always has its certificate.
        let form = match request.with_certificate || request.event.is_some() {
            true => SignerForm::Certificate(certificate),
            false => SignerForm::Digest(certificate),
        };
        let signed = sign(&tbs, form, key).map_err(|error| SecurityError(error.to_string()))?;
        out.extend_from_slice(&signed);
        Ok(())
    }

    fn open<'a>(&mut self, secured: &'a [u8], now_us: u64) -> Result<&'a [u8], SecurityError> {
        match self.check(secured, now_us) {
            (verdict, Some(payload)) if verdict.is_accepted() => Ok(payload),
            (verdict, _) => Err(SecurityError(verdict.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_US: u64 = 722_000_000_000_000;

    fn tickets() -> Tickets {
        Tickets::new(Curve::NistP256, NOW_US, 1).expect("certificates")
    }

    fn request(pseudonym: u32, with_certificate: bool) -> SecureRequest<'static> {
        SecureRequest { pseudonym, generation_time_us: NOW_US, with_certificate, event: None, packet: b"a packet" }
    }

    fn secured(tickets: &mut Tickets, request: &SecureRequest<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        tickets.secure(request, &mut out).expect("a signature");
        out
    }

    #[test]
    fn what_was_signed_opens_and_nothing_else() {
        let mut tickets = tickets();
        let whole = secured(&mut tickets, &request(7, true));
        let digest = secured(&mut tickets, &SecureRequest { generation_time_us: NOW_US + 1, ..request(7, false) });
        assert!(whole.len() > digest.len() + 100);
        assert!(tickets.open(&digest, NOW_US).is_err(), "nobody has the certificate yet");
        assert_eq!(tickets.open(&whole, NOW_US), Ok(&b"a packet"[..]));
        assert_eq!(tickets.open(&digest, NOW_US), Ok(&b"a packet"[..]));
        assert!(tickets.open(&digest, NOW_US).is_err(), "a second time it is replayed");
        for at in [digest.len() - 1, digest.len() / 2, 20] {
            let mut changed =
                secured(&mut tickets, &SecureRequest { generation_time_us: NOW_US + 2, ..request(7, false) });
            changed[at] ^= 1;
            assert!(tickets.open(&changed, NOW_US).is_err(), "byte {at}");
        }
        assert_eq!(tickets.issued(), 1);
    }

    #[test]
    fn another_fleet_is_not_trusted() {
        let mut other = Tickets::new(Curve::NistP256, NOW_US, 2).expect("certificates");
        let foreign = secured(&mut other, &request(7, true));
        assert!(tickets().open(&foreign, NOW_US).is_err());
    }

    #[test]
    fn an_event_has_its_place_and_its_certificate() {
        let mut tickets = tickets();
        let event = SecureRequest { event: Some((487_758_459, 91_829_321)), ..request(7, false) };
        let denm = secured(&mut tickets, &event);
        let (verdict, payload) = tickets.check(&denm, NOW_US);
        assert!(verdict.is_accepted(), "{verdict}");
        assert_eq!((verdict.psid, payload), (Some(Psid::DENM), Some(&b"a packet"[..])));
    }
}
