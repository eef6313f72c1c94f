//! The three checksums of CAN: ISO 11898-1:2015 §10.4.2.6.

/// Generator of classical frames: x^15 + x^14 + x^10 + x^8 + x^7 + x^4 + x^3 + 1, without its highest term.
const CRC_15: u32 = 0x4599;
/// Generator of FD frames with up to 16 bytes, without its highest term.
const CRC_17: u32 = 0x1685b;
/// Generator of longer FD frames, without its highest term.
const CRC_21: u32 = 0x10_2899;

/// A checksum in the making, one bit at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crc {
    generator: u32,
    width: u32,
    value: u32,
}

impl Crc {
    /// Of classical frames; covers SOF to data without stuff bits and begins with 0.
    pub const fn classical() -> Self {
        Self { generator: CRC_15, width: 15, value: 0 }
    }

    /// Of FD frames with up to 16 bytes; covers SOF to stuff count with dynamic, without fixed stuff bits. It begins
    /// with a one in front, so that leading zeros count.
    pub const fn fd_short() -> Self {
        Self { generator: CRC_17, width: 17, value: 1 << 16 }
    }

    /// Of FD frames with more than 16 bytes; otherwise as [`Self::fd_short`].
    pub const fn fd_long() -> Self {
        Self { generator: CRC_21, width: 21, value: 1 << 20 }
    }

    /// Of an FD frame with `data_len` bytes.
    pub const fn fd(data_len: usize) -> Self {
        if data_len <= 16 { Self::fd_short() } else { Self::fd_long() }
    }

    /// The next bit on the wire.
    pub const fn push(&mut self, bit: bool) {
        let top = self.value >> (self.width - 1) & 1 == 1;
        self.value = self.value << 1 & ((1 << self.width) - 1);
        if top != bit {
            self.value ^= self.generator;
        }
    }

    /// What it has come to.
    pub const fn value(&self) -> u32 {
        self.value
    }

    /// How many bits that has.
    pub const fn width(&self) -> u32 {
        self.width
    }
}

/// The classical checksum of each byte.
const CRC_15_OF_BYTE: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = Crc::classical();
        let mut bit = 8;
        while bit > 0 {
            bit -= 1;
            crc.push(byte >> bit & 1 == 1);
        }
        table[byte] = crc.value as u16;
        byte += 1;
    }
    table
};

/// The classical checksum after one more byte.
#[inline]
pub(super) fn crc_15_with_byte(crc: u16, byte: u8) -> u16 {
    let index = (crc >> 7) as u8 ^ byte;
    (crc << 8 & 0x7fff) ^ CRC_15_OF_BYTE[usize::from(index)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(mut crc: Crc, bytes: &[u8]) -> u32 {
        for byte in bytes {
            (0..8).rev().for_each(|bit| crc.push(byte >> bit & 1 == 1));
        }
        crc.value()
    }

    /// Source: catalogue of parametrised CRC algorithms (reveng), entries CRC-15/CAN, CRC-17/CAN-FD and CRC-21/CAN-FD.
    /// The catalogue's FD entries begin with 0; so do these, with our first bit taken away again.
    #[test]
    fn check_values_of_the_catalogue() {
        assert_eq!(of(Crc::classical(), b"123456789"), 0x059e);
        assert_eq!(of(Crc { value: 0, ..Crc::fd_short() }, b"123456789"), 0x04f03);
        assert_eq!(of(Crc { value: 0, ..Crc::fd_long() }, b"123456789"), 0x0e_d841);
    }

    proptest! {
        #[test]
        fn bytes_and_bits_agree(bytes in proptest::collection::vec(any::<u8>(), 0..12)) {
            let fast = bytes.iter().fold(0, |crc, byte| crc_15_with_byte(crc, *byte));
            prop_assert_eq!(u32::from(fast), of(Crc::classical(), &bytes));
        }
    }
}
