//! Enrolment: a station's long-term certificate, TS 102 941 clause 6.2.3.2.

use super::subject::{later, write_later};
use super::{CertificateFormat, CertificateSubjectAttributes, EnrolmentResponseCode, PublicKeys, RequestHash};
use crate::coer::{Decode, DecodeError, DecodeErrorKind, Encode, ExtensionAdditions, Reader, Writer};
use crate::types::Certificate;

/// What a station asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerEcRequest<'a> {
    /// Its canonical identifier, or, to renew a credential, the `HashedId8` of that.
    pub its_id: &'a [u8],
    /// Profile of the certificate.
    pub certificate_format: CertificateFormat,
    /// Keys to be certified.
    pub public_keys: PublicKeys,
    /// What the certificate should say.
    pub requested_subject_attributes: CertificateSubjectAttributes<'a>,
    /// Additions from later versions.
    pub extensions: ExtensionAdditions<'a>,
}

impl<'a> Decode<'a> for InnerEcRequest<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let preamble = reader.preamble(true, 0)?;
        Ok(Self {
            its_id: reader.field("itsId", Reader::octets)?,
            certificate_format: reader.component("certificateFormat")?,
            public_keys: reader.component("publicKeys")?,
            requested_subject_attributes: reader.component("requestedSubjectAttributes")?,
            extensions: later(reader, preamble.is_extended)?,
        })
    }
}

impl Encode for InnerEcRequest<'_> {
    fn encode(&self, writer: &mut Writer) {
        writer.preamble(&[self.extensions.is_extended(&[])]);
        writer.octets(self.its_id);
        self.certificate_format.encode(writer);
        self.public_keys.encode(writer);
        self.requested_subject_attributes.encode(writer);
        write_later(writer, &self.extensions);
    }
}

/// What the authority answers: a certificate, or why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerEcResponse<'a> {
    /// Of the request.
    pub request_hash: RequestHash,
    /// Granted, or why not.
    pub response_code: EnrolmentResponseCode,
    /// The enrolment credential, if granted.
    pub certificate: Option<Certificate<'a>>,
    /// Additions from later versions.
    pub extensions: ExtensionAdditions<'a>,
}

impl<'a> Decode<'a> for InnerEcResponse<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let (request_hash, response_code, certificate, extensions) =
            read_response(reader, EnrolmentResponseCode::is_ok, "certificate")?;
        Ok(Self { request_hash, response_code, certificate, extensions })
    }
}

impl Encode for InnerEcResponse<'_> {
    fn encode(&self, writer: &mut Writer) {
        write_response(writer, &self.request_hash, &self.response_code, &self.certificate, &self.extensions);
    }
}

/// All three responses are alike: hash of the request, code, what is granted (the component `granted`), additions. What is
/// granted comes with code 0, and nothing comes with any other.
pub(super) fn read_response<'a, C: Decode<'a> + Copy, T: Decode<'a>>(
    reader: &mut Reader<'a>,
    is_ok: impl FnOnce(C) -> bool,
    granted: &'static str,
) -> Result<(RequestHash, C, Option<T>, ExtensionAdditions<'a>), DecodeError> {
    let mut preamble = reader.preamble(true, 1)?;
    let request_hash = reader.field("requestHash", Reader::array)?;
    let code = reader.component("responseCode")?;
    let granted = reader.optional(&mut preamble, granted)?;
    let extensions = later(reader, preamble.is_extended)?;
    match (is_ok(code), granted.is_some()) {
        (true, false) => Err(reader.error(DecodeErrorKind::Constraint("code ok, and nothing granted"))),
        (false, true) => Err(reader.error(DecodeErrorKind::Constraint("a refusal that grants something"))),
        (true, true) | (false, false) => Ok((request_hash, code, granted, extensions)),
    }
}

/// The opposite of [`read_response`].
pub(super) fn write_response(
    writer: &mut Writer,
    request_hash: &RequestHash,
    code: &impl Encode,
    granted: &Option<impl Encode>,
    extensions: &ExtensionAdditions<'_>,
) {
    writer.preamble(&[extensions.is_extended(&[]), granted.is_some()]);
    writer.raw(request_hash);
    code.encode(writer);
    writer.optional(granted);
    write_later(writer, extensions);
}
