//! A frame of the toy: a mark, the number of its stream, and what it carries.

/// The first byte of every frame.
const MARK: u8 = 0x70;
/// Mark and number `[byte]`.
pub(crate) const HEADER_LEN: usize = 2;
/// The most that a frame carries `[byte]`.
pub(crate) const PDU_LEN_MAX: usize = 100;

/// Number and content of a frame; `None` if it is none of ours.
pub(crate) fn parse(bytes: &[u8]) -> Option<(u8, &[u8])> {
    match bytes {
        [MARK, number, pdu @ ..] if (1..=PDU_LEN_MAX).contains(&pdu.len()) => Some((*number, pdu)),
        _ => None,
    }
}

/// Writes a frame to the front of `buffer`; returns its length `[byte]`.
pub(crate) fn emit(number: u8, pdu: &[u8], buffer: &mut [u8]) -> usize {
    let len = HEADER_LEN + pdu.len();
    buffer[..HEADER_LEN].copy_from_slice(&[MARK, number]);
    buffer[HEADER_LEN..len].copy_from_slice(pdu);
    len
}
