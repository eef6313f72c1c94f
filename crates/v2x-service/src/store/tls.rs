//! TLS to PostgreSQL, by the words libpq has for it.

use std::path::PathBuf;
use std::sync::Arc;

use postgres::config::SslMode;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::StoreError;

/// How the connection is protected.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Protection {
    /// Not at all.
    None,
    /// By TLS if the server has it, with any certificate.
    IfOffered,
    /// By TLS, with any certificate: nobody can listen who does not stand between both.
    Encrypted,
    /// By TLS, with a certificate for the server's name by one of the roots in this file.
    Verified(PathBuf),
}

impl Protection {
    /// What `sslmode` and `sslrootcert` in an address say, and the address without them.
    pub(super) fn of(url: &str) -> Result<(String, Self), StoreError> {
        let (place, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut roots, mut others) = (None, None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", value)) => mode = Some(value),
                Some(("sslrootcert", value)) => roots = Some(PathBuf::from(decoded(value))),
                _ => others.push(pair),
            }
        }
        let refused = |found: String, expected| Err(StoreError::Protection { found, expected });
        let protection = match (mode, roots) {
            (Some("verify-full"), Some(roots)) => Self::Verified(roots),
            (Some("verify-full"), None) => {
                let expected = "name the file of root certificates, sslmode=verify-full&sslrootcert=FILE";
                return refused("sslmode=verify-full without sslrootcert".to_owned(), expected);
            }
            (_, Some(_)) => {
                let expected =
                    "root certificates are looked at with sslmode=verify-full; write that, or leave them out";
                return refused("sslrootcert".to_owned(), expected);
            }
            (None | Some("disable"), None) => Self::None,
            (Some("prefer"), None) => Self::IfOffered,
            (Some("require"), None) => Self::Encrypted,
            (Some(other), None) => {
                return refused(format!("sslmode={other}"), "write disable, prefer, require or verify-full");
            }
        };
        let query = if others.is_empty() { String::new() } else { format!("?{}", others.join("&")) };
        Ok((format!("{place}{query}"), protection))
    }

    pub(super) fn mode(&self) -> SslMode {
        match self {
            Self::None => SslMode::Disable,
            Self::IfOffered => SslMode::Prefer,
            Self::Encrypted | Self::Verified(_) => SslMode::Require,
        }
    }

    /// What does TLS; none if there is none to be done.
    pub(super) fn connector(&self) -> Result<Option<MakeRustlsConnect>, StoreError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| StoreError::Postgres(error.to_string()))?;
        let config = match self {
            Self::None => return Ok(None),
            Self::IfOffered | Self::Encrypted => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
                .with_no_client_auth(),
            Self::Verified(path) => builder.with_root_certificates(roots(path.clone())?).with_no_client_auth(),
        };
        Ok(Some(MakeRustlsConnect::new(config)))
    }
}

fn roots(path: PathBuf) -> Result<RootCertStore, StoreError> {
    let mut roots = RootCertStore::empty();
    let read = (|| {
        for certificate in CertificateDer::pem_file_iter(&path).map_err(|error| error.to_string())? {
            let certificate = certificate.map_err(|error| error.to_string())?;
            roots.add(certificate).map_err(|error| error.to_string())?;
        }
        if roots.is_empty() { Err("there is no certificate in it".to_owned()) } else { Ok(()) }
    })();
    match read {
        Ok(()) => Ok(roots),
        Err(reason) => Err(StoreError::Roots { path, reason }),
    }
}

/// A value of an address with its `%2F` and the like resolved; what is no such escape stays.
fn decoded(value: &str) -> String {
    let bytes = value.as_bytes();
    let (mut decoded, mut at) = (Vec::new(), 0);
    while let Some(byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.filter(|_| *byte == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(escaped.unwrap_or(*byte));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Takes any certificate, as libpq does with `sslmode=require`; that the server has its key is checked.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
