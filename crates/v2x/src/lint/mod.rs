//! What is wrong with bytes that should be a certificate, a message or a trust list, and by which clause.
//!
//! [`lint`] decodes leniently, so that one fault does not hide the next, and reports every deviation with its place.
//! It checks form and profile (IEEE 1609.2-2022, ETSI TS 103 097 V2.1.1, TS 102 941 V2.2.1), and the signatures it has
//! keys for: those of self-signed certificates, of messages that carry their signer's certificate, and of what was signed with one
//! of the certificates that [`lint_among`] is given. Of every other signature the report says that it was not checked. Whether
//! anybody should be trusted is [`crate::verify`]'s business, not asked here.
//!
//! ```
//! use chronoseal_v2x::lint::{Kind, lint};
//!
//! let report = lint(b"\x03\x80\x81\x05hello").unwrap();
//! assert_eq!(report.kind, Kind::Message);
//! assert_eq!(
//!     report.findings[0].to_string(),
//!     "byte 2, content.unsecuredData: length in more octets than it needs (X.696 8.6.5)"
//! );
//! ```

mod capture;
mod certificate;
mod linking;
mod message;
mod old;
mod trust_list;

use core::fmt;

pub use capture::{LINKS, Other, SecuredPacket, secured_packet};
pub use linking::{BatchTicket, linking};
pub use old::of_old_standard;

use crate::certificate::{CertificateForm, CertificateHash, certificate_hash};
use crate::coer::{Decode, DecodeError, Deviation, Reader, Rules};
use crate::pki::EtsiTs102941Data;
use crate::types::{Certificate, HashedId8, Ieee1609Dot2Data, Time64};

/// What bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A certificate.
    Certificate,
    /// A message, signed, encrypted or neither.
    Message,
    /// A message that holds a trust list or revocation list.
    TrustList,
    /// Tickets of one vehicle, looked at together.
    Batch,
}

impl Kind {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Certificate => "certificate",
            Self::Message => "message",
            Self::TrustList => "trust list",
            Self::Batch => "batch of tickets",
        }
    }
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Not checked, and why: nobody knows whether it is right.
    NotChecked,
    /// Against the standard, so that a receiver may refuse it; or, of a batch of tickets, against what tickets are for.
    Violation,
}

/// One thing that is not as the standard has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// Of the byte concerned, from the beginning; none if it is about a whole field.
    pub offset: Option<usize>,
    /// The field, by the names of the ASN.1.
    pub path: String,
    /// What is wrong, and the clause that says so.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(offset) = self.offset {
            write!(f, "byte {offset}, ")?;
        }
        let path = if self.path.is_empty() { "the whole" } else { &self.path };
        write!(f, "{path}: {}", self.what)
    }
}

/// All there is to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What the bytes are.
    pub kind: Kind,
    /// What is in them: names and values, in order.
    pub facts: Vec<(String, String)>,
    /// What is wrong, in the order of the bytes as far as that is known.
    pub findings: Vec<Finding>,
}

impl Report {
    /// True if nothing is against the standard.
    pub fn is_clean(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity < Severity::Violation)
    }

    /// True if everything was checked that can be.
    pub fn is_checked(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity != Severity::NotChecked)
    }
}

/// Collects facts and findings below one field.
pub(crate) struct Lint<'r> {
    report: &'r mut Report,
    prefix: String,
    /// The time, if it is known.
    now: Option<Time64>,
    /// Certificates that others may be signed with.
    known: &'r [Certificate<'r>],
}

impl Lint<'_> {
    fn below(&mut self, field: &str) -> Lint<'_> {
        let prefix = join(&self.prefix, field);
        Lint { report: self.report, prefix, now: self.now, known: self.known }
    }

    fn fact(&mut self, name: &str, value: impl fmt::Display) {
        let name = join(&self.prefix, name);
        self.report.facts.push((name, value.to_string()));
    }

    fn violation(&mut self, field: &str, what: impl Into<String>) {
        self.add(Severity::Violation, field, what.into());
    }

    fn note(&mut self, field: &str, what: impl Into<String>) {
        self.add(Severity::Note, field, what.into());
    }

    fn not_checked(&mut self, field: &str, because: &str) {
        self.add(Severity::NotChecked, field, format!("not checked, because {because}"));
    }

    fn add(&mut self, severity: Severity, field: &str, what: String) {
        let path = join(&self.prefix, field);
        self.report.findings.push(Finding { severity, offset: None, path, what });
    }

    /// Deviations of a value that begins at byte `offset` of the whole.
    fn deviations(&mut self, offset: usize, deviations: Vec<Deviation>) {
        for deviation in deviations {
            let path = join(&self.prefix, &deviation.path.to_string());
            let (offset, what) = (Some(offset + deviation.offset), deviation.kind.to_string());
            self.report.findings.push(Finding { severity: Severity::Violation, offset, path, what });
        }
    }

    /// What made the rest of a value unreadable.
    fn unreadable(&mut self, offset: usize, error: &DecodeError) {
        let path = join(&self.prefix, &error.path.to_string());
        let (offset, what) = (Some(offset + error.offset), format!("{}; the rest of it was not read", error.kind));
        self.report.findings.push(Finding { severity: Severity::Violation, offset, path, what });
    }
}

/// The certificates that are referred to by this, each with its hash.
fn known_as<'k>(known: &'k [Certificate<'k>], id: HashedId8) -> Vec<(&'k Certificate<'k>, CertificateHash)> {
    let hashed = known.iter().filter_map(|one| Some((one, certificate_hash(one, FORM).ok()?)));
    hashed.filter(|(_, hash)| hash.id() == id).collect()
}

fn join(prefix: &str, field: &str) -> String {
    match (prefix, field) {
        ("", field) => field.to_owned(),
        (prefix, "") => prefix.to_owned(),
        (prefix, field) => format!("{prefix}.{field}"),
    }
}

/// Looks at `bytes`, whatever they are.
///
/// # Errors
/// If they decode neither as a certificate nor as a message: the error of whichever got further.
pub fn lint(bytes: &[u8]) -> Result<Report, DecodeError> {
    lint_with(bytes, None, &[])
}

/// As [`lint`], by somebody who knows the time: a certificate of the far future is said to be one.
///
/// # Errors
/// As [`lint`].
pub fn lint_at(bytes: &[u8], now: Time64) -> Result<Report, DecodeError> {
    lint_with(bytes, Some(now), &[])
}

/// As [`lint_at`], by somebody who has these certificates: what is signed with one of them is verified.
///
/// # Errors
/// As [`lint`].
pub fn lint_among(bytes: &[u8], now: Time64, known: &[Certificate<'_>]) -> Result<Report, DecodeError> {
    lint_with(bytes, Some(now), known)
}

fn lint_with(bytes: &[u8], now: Option<Time64>, known: &[Certificate<'_>]) -> Result<Report, DecodeError> {
    let as_message = read::<Ieee1609Dot2Data<'_>>(bytes);
    let as_certificate = read::<Certificate<'_>>(bytes);
    match (as_message, as_certificate) {
        (Ok((message, deviations)), _) => Ok(of_message(bytes, &message, deviations, (now, known))),
        (Err(_), Ok((found, deviations))) => {
            let mut report = Report { kind: Kind::Certificate, facts: Vec::new(), findings: Vec::new() };
            let mut lint = Lint { report: &mut report, prefix: String::new(), now, known };
            lint.deviations(0, deviations);
            certificate::certificate(&mut lint, &found);
            Ok(in_order(report))
        }
        (Err(message), Err(certificate)) => {
            Err(if certificate.offset > message.offset { certificate } else { message })
        }
    }
}

/// Looks at the message at the beginning of `bytes`, which come from a captured frame: behind the message may be padding
/// or a check sequence, and that is worth a note only. What is signed with one of the `known` certificates is verified.
///
/// # Errors
/// If they do not begin with a message.
pub fn lint_packet(bytes: &[u8], known: &[Certificate<'_>]) -> Result<Report, DecodeError> {
    let mut reader = Reader::new(bytes, Rules::LENIENT);
    let message = Ieee1609Dot2Data::decode(&mut reader)?;
    let (own, behind) = bytes.split_at(reader.position());
    let mut report = of_message(own, &message, reader.into_deviations(), (None, known));
    if !behind.is_empty() {
        let mut lint = Lint { report: &mut report, prefix: String::new(), now: None, known };
        lint.note("", format!("{} bytes of the frame follow, padding or a check sequence", behind.len()));
    }
    Ok(report)
}

fn of_message(
    bytes: &[u8],
    message: &Ieee1609Dot2Data<'_>,
    deviations: Vec<Deviation>,
    (now, known): (Option<Time64>, &[Certificate<'_>]),
) -> Report {
    let kind = if message::list_of(message).is_some() { Kind::TrustList } else { Kind::Message };
    let mut report = Report { kind, facts: Vec::new(), findings: Vec::new() };
    let mut lint = Lint { report: &mut report, prefix: String::new(), now, known };
    lint.deviations(0, deviations);
    message::message(&mut lint, bytes, message);
    in_order(report)
}

fn in_order(mut report: Report) -> Report {
    report.findings.sort_by_key(|finding| finding.offset.unwrap_or(usize::MAX));
    report
}

/// Decodes leniently; bytes behind the value are an error.
fn read<'a, T: Decode<'a>>(bytes: &'a [u8]) -> Result<(T, Vec<Deviation>), DecodeError> {
    let mut reader = Reader::new(bytes, Rules::LENIENT);
    let value = T::decode(&mut reader)?;
    reader.finish()?;
    Ok((value, reader.into_deviations()))
}

/// A message of the PKI inside a signed one.
fn read_pki(payload: &[u8]) -> Result<(EtsiTs102941Data<'_>, Vec<Deviation>), DecodeError> {
    read(payload)
}

/// Hashes are compared over what the standard hashes.
const FORM: CertificateForm = CertificateForm::Canonical;
