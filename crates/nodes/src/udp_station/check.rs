//! What a message says of itself: when it was due, and whether it is as it was sent.

use chronoseal_core::{Duration, LocalTime};
use chronoseal_wire::message_check::MessageCheck;

/// The checksum of a message does not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Altered;

/// Writes into a message when it was due, and its checksum, if it has room for them.
pub(super) fn write(message: &mut [u8], due: LocalTime) {
    let due_ns = due.as_ps().div_euclid(1_000);
    // The time is covered, so it is there before the checksum is.
    let without = MessageCheck { due_ns, crc: 0 };
    if without.emit(message) {
        let crc = crc_of(message).unwrap_or_default();
        MessageCheck { crc, ..without }.emit(message);
    }
}

/// When a message was due by its sender's clock; `None` if it is too short to say so.
///
/// # Errors
/// [`Altered`] if it is not what its sender made.
pub(super) fn due(message: &[u8]) -> Result<Option<LocalTime>, Altered> {
    let Some(MessageCheck { due_ns, crc }) = MessageCheck::read(message) else { return Ok(None) };
    if crc_of(message) != Some(crc) {
        return Err(Altered);
    }
    // A time that no clock shows is nobody's.
    Ok(Duration::from_ns(1).checked_mul(due_ns).map(|due| LocalTime::ZERO + due))
}

fn crc_of(message: &[u8]) -> Option<u32> {
    let (before, behind) = MessageCheck::covered(message)?;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(before);
    hasher.update(behind);
    Some(hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_checksum_is_that_of_ethernet() {
        // The check value of CRC catalogues, at the place of a message's data and of its time.
        assert_eq!(crc32fast::hash(b"123456789"), 0xcbf4_3926);
        let mut message = [0u8; 25];
        message[20..].copy_from_slice(b"chron");
        write(&mut message, LocalTime::from_ps(1_999));
        assert_eq!(message[8..16], 1i64.to_be_bytes());
        let covered = [&message[..16], &message[20..]].concat();
        assert_eq!(message[16..20], crc32fast::hash(&covered).to_be_bytes());
    }

    #[test]
    fn a_short_message_says_nothing_and_is_left_alone() {
        let mut message = [7; 19];
        write(&mut message, LocalTime::from_ps(5_000));
        assert_eq!((message, due(&message)), ([7; 19], Ok(None)));
    }

    proptest! {
        #[test]
        fn any_changed_bit_shows(len in 20usize..200, due_ns: i32, place: usize, bit in 0u8..8) {
            let mut message = vec![0x5a; len];
            let at = LocalTime::ZERO + Duration::from_ns(due_ns.into());
            write(&mut message, at);
            prop_assert_eq!(due(&message), Ok(Some(at)));
            message[place % len] ^= 1 << bit;
            prop_assert_eq!(due(&message), Err(Altered));
        }
    }
}
