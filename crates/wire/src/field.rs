//! Fixed-length fields of a byte string.

/// The `N` bytes at `offset`, or `None` if the string ends before.
pub(crate) fn read<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}
