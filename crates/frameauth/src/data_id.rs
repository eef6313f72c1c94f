//! What a stream is called under its tag.

use core::fmt;

/// The longest name of a stream `[byte]`.
pub const NAME_LEN_MAX: usize = 64;

/// Two bytes that no number but 65535 begins with, and two for the length of the name.
const NAME_HEADER_LEN: usize = 4;

/// The identity of a stream, which the tag covers and which is not sent: both ends know it.
///
/// It has nothing to do with the wire a PDU is on. Two wires with a gateway between them carry one stream with one
/// identity, and what was sealed on the first is opened behind the last.
///
/// | identity | what the tag covers | length `[byte]` |
/// |---|---|---|
/// | number | the number, big-endian | 2 |
/// | name | `ff ff`, the length of the name in two bytes, big-endian, the name | 4 and the name |
///
/// No two names begin alike, and none begins as a number does, except for number 65535: it is not used under a key that
/// is also used with names.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DataId {
    covered: [u8; NAME_HEADER_LEN + NAME_LEN_MAX],
    len: u8,
}

impl DataId {
    /// The stream with this number, such as that of its virtual link.
    pub const fn number(number: u16) -> Self {
        let mut covered = [0; NAME_HEADER_LEN + NAME_LEN_MAX];
        [covered[0], covered[1]] = number.to_be_bytes();
        Self { covered, len: 2 }
    }

    /// The stream with this name.
    ///
    /// # Errors
    /// [`NameLenError`] unless the name has 1..=[`NAME_LEN_MAX`] bytes.
    pub fn name(name: &[u8]) -> Result<Self, NameLenError> {
        if name.is_empty() || name.len() > NAME_LEN_MAX {
            return Err(NameLenError { found: name.len() });
        }
        let mut covered = [0; NAME_HEADER_LEN + NAME_LEN_MAX];
        covered[..2].fill(0xff);
        covered[2..NAME_HEADER_LEN].copy_from_slice(&(name.len() as u16).to_be_bytes());
        covered[NAME_HEADER_LEN..NAME_HEADER_LEN + name.len()].copy_from_slice(name);
        Ok(Self { covered, len: (NAME_HEADER_LEN + name.len()) as u8 })
    }

    /// The bytes at the front of what a tag covers.
    #[inline]
    pub fn covered(&self) -> &[u8] {
        &self.covered[..usize::from(self.len)]
    }

    /// How many bytes of it a tag covers `[byte]`.
    pub const fn covered_len(&self) -> usize {
        self.len as usize
    }
}

impl From<u16> for DataId {
    fn from(number: u16) -> Self {
        Self::number(number)
    }
}

impl fmt::Debug for DataId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.covered() {
            [high, low] => write!(f, "DataId({})", u16::from_be_bytes([*high, *low])),
            named => write!(f, "DataId(\"{}\")", named[NAME_HEADER_LEN..].escape_ascii()),
        }
    }
}

/// A name of no length a stream can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a stream's name has 1 to {NAME_LEN_MAX} bytes, not {found}")]
pub struct NameLenError {
    /// Its length `[byte]`.
    pub found: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_its_two_bytes() {
        assert_eq!(DataId::number(0x0123).covered(), [0x01, 0x23]);
        assert_eq!(format!("{:?}", DataId::from(291)), "DataId(291)");
    }

    #[test]
    fn a_name_has_its_length_before_it() {
        let id = DataId::name(b"brake").expect("five bytes");
        assert_eq!(id.covered(), *b"\xff\xff\x00\x05brake");
        assert_eq!(id.covered_len(), 9);
        assert_eq!(format!("{id:?}"), "DataId(\"brake\")");
    }

    #[test]
    fn refuses_names_on_both_sides_of_the_limits() {
        for len in 0..100 {
            let made = DataId::name(&vec![b'x'; len]);
            assert_eq!(made.err(), (!(1..=64).contains(&len)).then_some(NameLenError { found: len }));
        }
    }
}
