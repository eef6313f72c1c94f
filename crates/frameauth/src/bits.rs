//! A trailer of bits: some of a number, some of a tag, zeros up to a whole byte.

/// Zeros behind `head_bits` and `tag_bits`, up to a whole byte `[bit]`.
pub(crate) const fn padding_bits(head_bits: u32, tag_bits: u32) -> u32 {
    (head_bits + tag_bits).next_multiple_of(8) - head_bits - tag_bits
}

/// Sets all but the highest `bits` bits of a tag of `bits.div_ceil(8)` bytes to zero.
pub(crate) fn cut(tag: &mut [u8], bits: u32) {
    if let ([.., last], surplus @ 1..) = (tag, padding_bits(0, bits)) {
        *last &= 0xff << surplus;
    }
}

/// Writes the low `head_bits` bits of `head`, 0..=64 of them, and behind them `tag`, which has been cut to its bits.
/// `out` is as long as both of them in whole bytes.
pub(crate) fn pack(head: u64, head_bits: u32, tag: &[u8], out: &mut [u8]) {
    out.fill(0);
    // Left-aligned; the bits above the low ones are shifted out.
    let head = head.checked_shl(64 - head_bits).unwrap_or(0);
    for (byte, bits) in out.iter_mut().zip(head.to_be_bytes()) {
        *byte = bits;
    }
    let (first, shift) = ((head_bits / 8) as usize, head_bits % 8);
    for (index, byte) in tag.iter().enumerate() {
        out[first + index] |= byte >> shift;
        // What is left of a cut tag's last byte may be no more than zeros behind the end.
        if let (1.., Some(next)) = (shift, out.get_mut(first + index + 1)) {
            *next |= byte << (8 - shift);
        }
    }
}

/// What [`pack`] writes, as the highest bits of a number, for the first 1..=64 bits of a tag.
///
/// It spares profiles whose trailer is only some bytes, as SecOC's are, the way over the general one.
pub(crate) const fn pack_short(head: u64, head_bits: u32, tag: u64, tag_bits: u32) -> u128 {
    // Left-aligned, the bits above the low ones shifted out; what is no number of bits to shift by leaves nothing.
    let head = match head.checked_shl(64 - head_bits) {
        Some(head) => head,
        None => 0,
    };
    let tag = tag >> (64 - tag_bits) << (64 - tag_bits);
    ((head as u128) << 64) | (((tag as u128) << 64) >> head_bits)
}

/// The first `head_bits` bits, 0..=64, right-aligned. `trailer` has at least so many.
pub(crate) fn head(trailer: &[u8], head_bits: u32) -> u64 {
    let bytes = &trailer[..head_bits.div_ceil(8) as usize];
    let bits = bytes.iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    bits >> padding_bits(0, head_bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `bits` bits of a number, highest first, as a text of zeros and ones.
    fn text(number: u128, bits: u32) -> String {
        (0..bits).rev().map(|bit| if number >> bit & 1 == 1 { '1' } else { '0' }).collect()
    }

    proptest! {
        #[test]
        fn bits_are_where_a_text_of_them_has_them(
            number in any::<u64>(),
            head_bits in 0u32..=64,
            tag in any::<u128>(),
            tag_bits in 1u32..=128,
        ) {
            let expected = text(number.into(), head_bits) + &text(tag >> (128 - tag_bits), tag_bits);
            let padding = padding_bits(head_bits, tag_bits);
            let padded = expected + &text(0, padding);
            let mut bytes = tag.to_be_bytes()[..tag_bits.div_ceil(8) as usize].to_vec();
            cut(&mut bytes, tag_bits);
            let mut out = vec![0xee; padded.len() / 8];
            pack(number, head_bits, &bytes, &mut out);
            let found: String = out.iter().map(|byte| text((*byte).into(), 8)).collect();
            prop_assert_eq!(found, padded);
            if tag_bits <= 64 {
                let short = pack_short(number, head_bits, (tag >> 64) as u64, tag_bits).to_be_bytes();
                prop_assert_eq!(&short[..out.len()], &out[..]);
                prop_assert!(short[out.len()..].iter().all(|byte| *byte == 0));
            }
            let low = if head_bits == 64 { number } else { number & ((1 << head_bits) - 1) };
            prop_assert_eq!(head(&out, head_bits), low);
        }
    }
}
