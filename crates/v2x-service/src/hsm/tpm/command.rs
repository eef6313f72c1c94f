//! The commands this crate needs, one function each. [TCG TPM 2.0 Library, Part 3]

use std::time::Duration;

use super::code::Code;
use super::codec::{Reader, Writer};
use super::link::Link;
use super::public::{Public, scheme_hash};
use crate::hsm::{Curve, HsmError};

/// A key that is loaded, a persistent one, or a hierarchy.
pub(super) type TpmHandle = u32;

pub(super) const OWNER: TpmHandle = 0x4000_0001;
pub(super) const NULL: TpmHandle = 0x4000_0007;
/// First handle of persistent keys.
pub(super) const PERSISTENT: TpmHandle = 0x8100_0000;
/// First handle of loaded keys.
pub(super) const TRANSIENT: TpmHandle = 0x8000_0000;

const NO_SESSIONS: u16 = 0x8001;
const SESSIONS: u16 = 0x8002;
/// The authorization that is a password.
const RS_PW: u32 = 0x4000_0009;
const ALG_ECDSA: u16 = 0x0018;
const ALG_NULL: u16 = 0x0010;
const CAP_HANDLES: u32 = 1;
const CAP_TPM_PROPERTIES: u32 = 6;
const CAP_ECC_CURVES: u32 = 8;
const PT_MANUFACTURER: u32 = 0x105;
const PT_FIRMWARE_VERSION_1: u32 = 0x10B;

/// How often a command is sent again when the TPM asks for it, and the pause before.
const RETRIES_MAX: u32 = 50;
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// Why a command brought nothing.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The way to the TPM is gone.
    Lost,
    /// The TPM refused.
    Refused(Code),
    /// The response is none.
    Garbled(HsmError),
}

impl From<HsmError> for Trouble {
    fn from(error: HsmError) -> Self {
        Self::Garbled(error)
    }
}

/// Both halves of a key as `TPM2_Create` gives them: the private one is sealed under its parent.
#[derive(Clone)]
pub(super) struct Blob {
    pub(super) private: Vec<u8>,
    pub(super) public: Vec<u8>,
}

impl Link {
    /// `TPM2_Startup(CLEAR)`; one that has started already says so and that is well.
    pub(super) fn startup(&mut self) -> Result<(), Trouble> {
        match self.run(0x144, &[], None, Writer::default().u16(0), 0) {
            Ok(_) | Err(Trouble::Refused(Code::INITIALIZE)) => Ok(()),
            Err(trouble) => Err(trouble),
        }
    }

    /// `TPM2_Shutdown(CLEAR)`: all that was done is written down, and a TPM that ends now ends in order. It goes on working.
    pub(super) fn shutdown(&mut self) -> Result<(), Trouble> {
        self.run(0x145, &[], None, Writer::default().u16(0), 0).map(drop)
    }

    /// Handles of one kind, from `first` on.
    pub(super) fn handles(&mut self, first: TpmHandle) -> Result<Vec<TpmHandle>, Trouble> {
        let mut handles: Vec<TpmHandle> = Vec::new();
        let mut next = first;
        loop {
            let (more, bytes) = self.capability(CAP_HANDLES, next)?;
            let mut reader = Reader::new(&bytes);
            let count = reader.u32()?;
            for _ in 0..count {
                handles.push(reader.u32()?);
            }
            match handles.last() {
                Some(last) if more && count > 0 => next = last + 1,
                _ => return Ok(handles.into_iter().filter(|handle| handle >> 24 == first >> 24).collect()),
            }
        }
    }

    /// Numbers of the curves the TPM knows.
    pub(super) fn curves(&mut self) -> Result<Vec<u16>, Trouble> {
        let (_, bytes) = self.capability(CAP_ECC_CURVES, 0)?;
        let mut reader = Reader::new(&bytes);
        let count = reader.u32()?;
        let mut curves = Vec::new();
        for _ in 0..count {
            curves.push(reader.u16()?);
        }
        Ok(curves)
    }

    /// Manufacturer and firmware.
    pub(super) fn name(&mut self) -> Result<String, Trouble> {
        let manufacturer = self.property(PT_MANUFACTURER)?.to_be_bytes();
        let firmware = self.property(PT_FIRMWARE_VERSION_1)?;
        let letters = String::from_utf8_lossy(&manufacturer);
        let letters = letters.trim_matches(['\0', ' ']);
        Ok(format!("TPM 2.0 of {letters}, firmware {firmware:08x}"))
    }

    fn property(&mut self, property: u32) -> Result<u32, Trouble> {
        let (_, bytes) = self.capability(CAP_TPM_PROPERTIES, property)?;
        let mut reader = Reader::new(&bytes);
        let (_count, _property) = (reader.u32()?, reader.u32()?);
        Ok(reader.u32()?)
    }

    /// `TPM2_GetCapability`: whether there is more, and the list.
    fn capability(&mut self, capability: u32, property: u32) -> Result<(bool, Vec<u8>), Trouble> {
        let response = self.run(0x17A, &[], None, Writer::default().u32(capability).u32(property).u32(64), 0)?;
        let mut reader = Reader::new(&response.parameters);
        let more = reader.u8()? != 0;
        if reader.u32()? != capability {
            return Err(HsmError::Protocol("another capability than the one asked for".into()).into());
        }
        Ok((more, response.parameters[5..].to_vec()))
    }

    /// `TPM2_CreatePrimary` of the storage key of a hierarchy whose authorization is empty.
    pub(super) fn create_primary(&mut self, hierarchy: TpmHandle) -> Result<TpmHandle, Trouble> {
        let parameters = creation(b"", &Public::storage());
        Ok(self.run(0x131, &[hierarchy], Some(b""), parameters, 1)?.handle)
    }

    /// `TPM2_Create` of a pair below a storage key.
    pub(super) fn create(&mut self, parent: TpmHandle, pin: &[u8], public: &Public) -> Result<Blob, Trouble> {
        let response = self.run(0x153, &[parent], Some(b""), creation(pin, public), 0)?;
        let mut reader = Reader::new(&response.parameters);
        Ok(Blob { private: reader.sized()?.to_vec(), public: reader.sized()?.to_vec() })
    }

    /// `TPM2_Import` of a pair in the clear below a storage key.
    pub(super) fn import(
        &mut self,
        parent: TpmHandle,
        pin: &[u8],
        public: &Public,
        scalar: &[u8],
    ) -> Result<Blob, Trouble> {
        // TPMT_SENSITIVE: type, authorization, seed, scalar.
        let sensitive = Writer::default().u16(0x0023).sized(pin).sized(b"").sized(scalar);
        let duplicate = Writer::default().nested(sensitive);
        let parameters = Writer::default().sized(b"").nested(public.write()).nested(duplicate).sized(b"").u16(ALG_NULL);
        let response = self.run(0x156, &[parent], Some(b""), parameters, 0)?;
        let private = Reader::new(&response.parameters).sized()?.to_vec();
        Ok(Blob { private, public: public.write().finish() })
    }

    /// `TPM2_Load`.
    pub(super) fn load(&mut self, parent: TpmHandle, blob: &Blob) -> Result<TpmHandle, Trouble> {
        let parameters = Writer::default().sized(&blob.private).sized(&blob.public);
        Ok(self.run(0x157, &[parent], Some(b""), parameters, 1)?.handle)
    }

    /// `TPM2_LoadExternal` of a public key.
    pub(super) fn load_public(&mut self, public: &Public) -> Result<TpmHandle, Trouble> {
        let parameters = Writer::default().sized(b"").nested(public.write()).u32(NULL);
        Ok(self.run(0x167, &[], None, parameters, 1)?.handle)
    }

    /// `TPM2_EvictControl`: makes a loaded key persistent, or ends a persistent one when both handles are the same.
    pub(super) fn evict(&mut self, key: TpmHandle, persistent: TpmHandle) -> Result<(), Trouble> {
        self.run(0x120, &[OWNER, key], Some(b""), Writer::default().u32(persistent), 0).map(drop)
    }

    /// `TPM2_FlushContext` of a loaded key.
    pub(super) fn flush(&mut self, key: TpmHandle) -> Result<(), Trouble> {
        self.run(0x165, &[key], None, Writer::default(), 0).map(drop)
    }

    /// `TPM2_ReadPublic`; `None` if there is no such key.
    pub(super) fn read_public(&mut self, key: TpmHandle) -> Result<Option<Public>, Trouble> {
        match self.run(0x173, &[key], None, Writer::default(), 0) {
            Ok(response) => Ok(Public::read(Reader::new(&response.parameters).sized()?)),
            Err(Trouble::Refused(Code::HANDLE)) => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    /// `TPM2_Sign` of a digest that was hashed outside: r and s.
    pub(super) fn sign(
        &mut self,
        key: TpmHandle,
        pin: &[u8],
        curve: Curve,
        digest: &[u8],
    ) -> Result<(Vec<u8>, Vec<u8>), Trouble> {
        // A key that is not restricted needs no proof that the TPM made the digest: a null ticket.
        let parameters =
            Writer::default().sized(digest).u16(ALG_ECDSA).u16(scheme_hash(curve)).u16(0x8024).u32(NULL).sized(b"");
        let response = self.run(0x15D, &[key], Some(pin), parameters, 0)?;
        let mut reader = Reader::new(&response.parameters);
        let (_algorithm, _hash) = (reader.u16()?, reader.u16()?);
        Ok((reader.sized()?.to_vec(), reader.sized()?.to_vec()))
    }

    /// `TPM2_VerifySignature` by a loaded key.
    pub(super) fn verify(
        &mut self,
        key: TpmHandle,
        curve: Curve,
        digest: &[u8],
        r: &[u8],
        s: &[u8],
    ) -> Result<bool, Trouble> {
        let parameters = Writer::default().sized(digest).u16(ALG_ECDSA).u16(scheme_hash(curve)).sized(r).sized(s);
        match self.run(0x177, &[key], None, parameters, 0) {
            Ok(_) => Ok(true),
            Err(Trouble::Refused(Code::SIGNATURE)) => Ok(false),
            Err(trouble) => Err(trouble),
        }
    }

    /// `TPM2_ECDH_ZGen`: the x coordinate of the private key times the point.
    pub(super) fn agree(&mut self, key: TpmHandle, pin: &[u8], x: &[u8], y: &[u8]) -> Result<Vec<u8>, Trouble> {
        let parameters = Writer::default().nested(Writer::default().sized(x).sized(y));
        let response = self.run(0x154, &[key], Some(pin), parameters, 0)?;
        let point = Reader::new(&response.parameters).sized()?;
        Ok(Reader::new(point).sized()?.to_vec())
    }

    /// Sends a command and takes its response apart.
    ///
    /// `password` authorizes the first handle. `handles_back` is 1 if the response names a handle.
    fn run(
        &mut self,
        code: u32,
        handles: &[TpmHandle],
        password: Option<&[u8]>,
        parameters: Writer,
        handles_back: usize,
    ) -> Result<Response, Trouble> {
        let tag = if password.is_some() { SESSIONS } else { NO_SESSIONS };
        let mut body = handles.iter().fold(Writer::default(), |body, handle| body.u32(*handle));
        if let Some(password) = password {
            // Session, empty nonce, "continue", password.
            let authorization = Writer::default().u32(RS_PW).sized(b"").u8(1).sized(password).finish();
            body = body.u32(authorization.len() as u32).raw(&authorization);
        }
        let body = body.raw(&parameters.finish()).finish();
        let len = 10 + body.len() as u32;
        let command = zeroize::Zeroizing::new(Writer::default().u16(tag).u32(len).u32(code).raw(&body).finish());
        drop(zeroize::Zeroizing::new(body));
        for _ in 0..RETRIES_MAX {
            let response = self.exchange(&command).map_err(|_| Trouble::Lost)?;
            match take_apart(&response, handles_back) {
                Err(Trouble::Refused(code)) if code.is_passing() => std::thread::sleep(RETRY_PAUSE),
                other => return other,
            }
        }
        Err(Trouble::Refused(Code::RETRY))
    }
}

struct Response {
    /// 0 if it names none.
    handle: TpmHandle,
    parameters: Vec<u8>,
}

fn take_apart(bytes: &[u8], handles: usize) -> Result<Response, Trouble> {
    let mut reader = Reader::new(bytes);
    let (tag, _len, code) = (reader.u16()?, reader.u32()?, reader.u32()?);
    if code != Code::SUCCESS {
        return Err(Trouble::Refused(Code::new(code)));
    }
    let handle = if handles > 0 { reader.u32()? } else { 0 };
    let parameters = match tag {
        SESSIONS => {
            let len = reader.u32()?;
            reader.take(len as usize)?
        }
        _ => bytes.get(10 + 4 * handles..).unwrap_or_default(),
    };
    Ok(Response { handle, parameters: parameters.to_vec() })
}

/// Parameters `TPM2_Create` and `TPM2_CreatePrimary` share: secret, template, no outside data, no PCRs.
fn creation(pin: &[u8], public: &Public) -> Writer {
    let sensitive = Writer::default().sized(pin).sized(b"");
    Writer::default().nested(sensitive).nested(public.write()).sized(b"").u32(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_a_response_with_and_without_sessions_apart() {
        let plain = [0x80, 1, 0, 0, 0, 16, 0, 0, 0, 0, 0x80, 0, 0, 1, 7, 8];
        let response = take_apart(&plain, 1).unwrap();
        assert_eq!((response.handle, &response.parameters[..]), (0x8000_0001, &[7, 8][..]));
        // The authorization after the parameters is left out.
        let session = [0x80, 2, 0, 0, 0, 21, 0, 0, 0, 0, 0, 0, 0, 2, 7, 8, 0, 0, 1, 0, 0];
        assert_eq!(take_apart(&session, 0).unwrap().parameters, [7, 8]);
    }

    #[test]
    fn any_cut_response_is_an_error_and_no_panic() {
        let session = [0x80, 2, 0, 0, 0, 21, 0, 0, 0, 0, 0, 0, 0, 9, 7, 8, 0, 0, 1, 0, 0];
        for len in 0..session.len() {
            assert!(take_apart(&session[..len], 0).is_err(), "{len}");
            assert!(take_apart(&session[..len], 1).is_err(), "{len}");
        }
    }
}
