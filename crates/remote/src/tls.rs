//! TLS 1.3 with certificates on both sides, and what its refusals mean to a person.
//!
//! A certificate says in its extended key usage what its owner may do, and the check of it is TLS's own: a server has to be an
//! agent, and a client a controller.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use rustls::version::TLS13;
use rustls::{AlertDescription, CertificateError, ClientConfig, Error, PeerIncompatible, RootCertStore, ServerConfig};

use crate::identity::Identity;

/// Why the certificate and key of an identity cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("this identity cannot be used: {0}; enroll again with `chronoseal ca enroll`")]
pub struct Unusable(String);

impl From<Error> for Unusable {
    fn from(error: Error) -> Self {
        Self(error.to_string())
    }
}

impl From<VerifierBuilderError> for Unusable {
    fn from(error: VerifierBuilderError) -> Self {
        Self(error.to_string())
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn roots(identity: &Identity) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    roots.add(identity.authority.clone())?;
    Ok(roots)
}

fn own(identity: &Identity) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
    (vec![identity.certificate.clone()], identity.key.clone_key())
}

/// An agent's side.
pub(crate) fn server(identity: &Identity) -> Result<Arc<ServerConfig>, Unusable> {
    let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots(identity)?), provider()).build()?;
    let (chain, key) = own(identity);
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(clients)
        .with_single_cert(chain, key)?;
    // Each connection shows its certificate.
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// A controller's side.
pub(crate) fn client(identity: &Identity) -> Result<Arc<ClientConfig>, Unusable> {
    let (chain, key) = own(identity);
    let config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])?
        .with_root_certificates(roots(identity)?)
        .with_client_auth_cert(chain, key)?;
    Ok(Arc::new(config))
}

/// Why there is no connection, in words. `peer` is what the other side should be: "an agent" or "a controller".
pub(crate) fn reason(error: &Error, peer: &str) -> String {
    match error {
        Error::NoCertificatesPresented => {
            format!("it shows no certificate, and only {peer} of this test bed may connect")
        }
        Error::InvalidCertificate(error) => certificate_reason(error, peer),
        Error::AlertReceived(alert) => alert_reason(*alert),
        Error::InvalidMessage(_) => "what it says is no TLS".into(),
        Error::PeerIncompatible(
            PeerIncompatible::SupportedVersionsExtensionRequired | PeerIncompatible::ServerDoesNotSupportTls12Or13,
        ) => "it does not offer TLS 1.3, and nothing older is spoken here".into(),
        other => format!("TLS: {other}"),
    }
}

fn certificate_reason(error: &CertificateError, peer: &str) -> String {
    match error {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "its certificate is of another authority".into()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate has expired; enroll it again".into()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet: is the clock of a host wrong?".into()
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            format!("its certificate is not that of {peer}")
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            let presented: Vec<&str> = presented.iter().map(|name| name_in(name)).collect();
            format!("its certificate is of `{}`, and `{}` is expected there", presented.join(", "), expected.to_str())
        }
        other => format!("its certificate is refused: {other}"),
    }
}

/// What the verifier calls `DnsName("bench")`.
fn name_in(name: &str) -> &str {
    name.split('"').nth(1).unwrap_or(name)
}

/// Why the other side ended it.
fn alert_reason(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::UnknownCA | AlertDescription::DecryptError => {
            "it refuses our certificate, which is of another authority than its own".into()
        }
        AlertDescription::CertificateExpired => {
            "it refuses our certificate, which has expired by its clock; enroll again".into()
        }
        AlertDescription::UnsupportedCertificate => {
            "it refuses our certificate, which is not that of a controller; enroll one with `chronoseal ca enroll FOLDER NAME --controller`".into()
        }
        AlertDescription::CertificateRequired => "it refuses us, since we show no certificate".into(),
        AlertDescription::ProtocolVersion => "it does not speak TLS 1.3".into(),
        other => format!("it ended the connection (TLS alert {other:?})"),
    }
}
