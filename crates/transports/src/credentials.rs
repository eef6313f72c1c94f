//! Who a station is in one run: a certificate for its address, by an authority that is made for the run.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use chronoseal_testbed::{Credentials, TransportError};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use serde::{Deserialize, Serialize};
use webpki::EndEntityCert;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::refused;

/// Certificates are valid from so long before to so long after they are made: a day, the longest run and what a clock may be set by meanwhile.
const VALID: Duration = Duration::from_secs(86_400);

/// What is in [`Credentials`], all in DER.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
struct Written {
    authority: Vec<u8>,
    certificate: Vec<u8>,
    key: Vec<u8>,
}

/// A station's side of every handshake.
pub(crate) struct Identity {
    roots: Arc<RootCertStore>,
    written: Written,
}

/// An authority, and the credentials of stations at these addresses. Its key ends with this call.
pub(crate) fn enrol(addresses: &[[u8; 4]]) -> Result<Vec<Credentials>, TransportError> {
    let key = KeyPair::generate().map_err(refused)?;
    // A name that no other run's has, so that a refusal says that the authority is unknown, and not that a signature is wrong.
    let id: String = key.public_key_raw().iter().skip(1).take(8).map(|octet| format!("{octet:02x}")).collect();
    let mut params = certificate(&format!("chronoseal run {id}"))?;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let authority = params.self_signed(&key).map_err(refused)?;
    let issuer = Issuer::new(params, &key);
    let of = |address: &[u8; 4]| {
        let key = KeyPair::generate().map_err(refused)?;
        let mut params = certificate(&IpAddr::from(*address).to_string())?;
        params.subject_alt_names = vec![SanType::IpAddress(IpAddr::from(*address))];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let certificate = params.signed_by(&key, &issuer).map_err(refused)?;
        let written = Written {
            authority: authority.der().to_vec(),
            certificate: certificate.der().to_vec(),
            key: key.serialize_der(),
        };
        Ok(Credentials::new(Zeroizing::new(serde_json::to_vec(&written).map_err(refused)?)))
    };
    addresses.iter().map(of).collect()
}

fn certificate(name: &str) -> Result<CertificateParams, TransportError> {
    let mut params = CertificateParams::new(Vec::new()).map_err(refused)?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = (SystemTime::now() - VALID).into();
    params.not_after = (SystemTime::now() + VALID).into();
    Ok(params)
}

impl Identity {
    pub(crate) fn read(credentials: &Credentials) -> Result<Self, TransportError> {
        let written: Written = serde_json::from_slice(credentials.bytes()).map_err(refused)?;
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(written.authority.clone())).map_err(refused)?;
        Ok(Self { roots: Arc::new(roots), written })
    }

    /// For who dials.
    pub(crate) fn client(&self) -> Result<ClientConfig, TransportError> {
        let (chain, key) = self.own();
        let config = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&TLS13])
            .map_err(refused)?
            .with_root_certificates(self.roots.clone())
            .with_client_auth_cert(chain, key.into())
            .map_err(refused)?;
        Ok(config)
    }

    /// For who is dialled.
    pub(crate) fn server(&self) -> Result<ServerConfig, TransportError> {
        let clients = WebPkiClientVerifier::builder_with_provider(self.roots.clone(), provider());
        let (chain, key) = self.own();
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&TLS13])
            .map_err(refused)?
            .with_client_cert_verifier(clients.build().map_err(refused)?)
            .with_single_cert(chain, key.into())
            .map_err(refused)?;
        // A connection is made once in a run.
        config.send_tls13_tickets = 0;
        Ok(config)
    }

    fn own(&self) -> (Vec<CertificateDer<'static>>, PrivatePkcs8KeyDer<'static>) {
        let key = PrivatePkcs8KeyDer::from(self.written.key.clone());
        (vec![CertificateDer::from(self.written.certificate.clone())], key)
    }
}

/// The name in the certificate of a station at an address.
pub(crate) fn name_of(address: [u8; 4]) -> ServerName<'static> {
    ServerName::from(IpAddr::from(address))
}

/// Whether a certificate that the authority has signed is that of the station at an address. Who dials checks that by itself.
pub(crate) fn is_of(certificate: &CertificateDer<'_>, address: [u8; 4]) -> bool {
    let certificate = EndEntityCert::try_from(certificate);
    certificate.is_ok_and(|certificate| certificate.verify_is_valid_for_subject_name(&name_of(address)).is_ok())
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}
