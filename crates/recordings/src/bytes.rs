//! Numbers of the binary formats, low byte first; `None` beyond the end.

pub(crate) fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

pub(crate) fn u8_at(bytes: &[u8], at: usize) -> Option<u8> {
    bytes.get(at).copied()
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array(bytes, at).map(u16::from_le_bytes)
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_le_bytes)
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(u64::from_le_bytes)
}

/// What a zlib stream holds, if it is exactly `len` bytes.
pub(crate) fn inflate(deflated: &[u8], len: usize) -> Option<Vec<u8>> {
    let bytes = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(deflated, len).ok()?;
    (bytes.len() == len).then_some(bytes)
}
