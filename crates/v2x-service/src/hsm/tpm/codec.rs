//! Structures of TPM 2.0 as bytes: big-endian numbers, and buffers behind a length of two bytes (`TPM2B`).
//! [TCG TPM 2.0 Library, Part 2]

use crate::hsm::HsmError;

/// Bytes of a command, front to back.
#[derive(Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(super) fn u8(mut self, value: u8) -> Self {
        self.bytes.push(value);
        self
    }

    pub(super) fn u16(mut self, value: u16) -> Self {
        self.bytes.extend(value.to_be_bytes());
        self
    }

    pub(super) fn u32(mut self, value: u32) -> Self {
        self.bytes.extend(value.to_be_bytes());
        self
    }

    pub(super) fn raw(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend(bytes);
        self
    }

    /// `TPM2B`. Nothing this crate sends is as long as 64 KiB: a longer buffer is cut and the TPM refuses it.
    pub(super) fn sized(self, bytes: &[u8]) -> Self {
        let len = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
        self.u16(len).raw(&bytes[..usize::from(len)])
    }

    /// A structure inside a `TPM2B`.
    pub(super) fn nested(self, inner: Writer) -> Self {
        self.sized(&inner.bytes)
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Bytes of a response, front to back.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8], HsmError> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or_else(short)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn u8(&mut self) -> Result<u8, HsmError> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16, HsmError> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or_else(short)?;
        self.rest = rest;
        Ok(u16::from_be_bytes(*bytes))
    }

    pub(super) fn u32(&mut self) -> Result<u32, HsmError> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or_else(short)?;
        self.rest = rest;
        Ok(u32::from_be_bytes(*bytes))
    }

    /// `TPM2B`.
    pub(super) fn sized(&mut self) -> Result<&'a [u8], HsmError> {
        let len = self.u16()?;
        self.take(usize::from(len))
    }
}

fn short() -> HsmError {
    HsmError::Protocol("a TPM response ends too early".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let bytes = Writer::default().u8(1).u16(2).u32(3).sized(b"four").nested(Writer::default().u16(5)).finish();
        let mut reader = Reader::new(&bytes);
        assert_eq!((reader.u8(), reader.u16(), reader.u32()), (Ok(1), Ok(2), Ok(3)));
        assert_eq!(reader.sized(), Ok(&b"four"[..]));
        assert_eq!(reader.sized(), Ok(&[0, 5][..]));
        assert!(reader.u8().is_err());
    }

    #[test]
    fn a_length_beyond_the_end_is_an_error() {
        assert!(Reader::new(&[0xFF, 0xFF, 1]).sized().is_err());
        assert!(Reader::new(&[1]).u16().is_err());
        assert!(Reader::new(&[1, 2, 3]).u32().is_err());
    }
}
