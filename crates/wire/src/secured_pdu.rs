//! The secured PDU: payload, freshness value, authentication tag, in this order and without separators.
//!
//! Names and order are those of AUTOSAR secure on-board communication (SecOC). The lengths are agreed beforehand, so
//! the bytes carry none; what the tag covers and whether it fits is not this module's business.

use chronoseal_core::DiscardReason;

/// Lengths both ends have agreed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SecuredPduLayout {
    /// Of the freshness value as sent, 0 if it is not sent `[byte]`.
    pub freshness_len: usize,
    /// Of the tag as sent, 0 without authentication `[byte]`.
    pub tag_len: usize,
}

/// The three parts of a secured PDU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SecuredPdu<'a> {
    /// What the PDU is about; may be empty.
    pub payload: &'a [u8],
    /// Freshness value as sent.
    pub freshness: &'a [u8],
    /// Tag as sent.
    pub tag: &'a [u8],
}

/// The bytes cannot hold a freshness value and a tag of the agreed lengths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a secured PDU of {len} bytes cannot hold {overhead_len} bytes of freshness value and tag")]
pub struct TooShort {
    /// Of what came `[byte]`.
    pub len: usize,
    /// Freshness value and tag `[byte]`.
    pub overhead_len: usize,
}

impl From<TooShort> for DiscardReason {
    fn from(_: TooShort) -> Self {
        Self::TooShort
    }
}

impl SecuredPduLayout {
    /// What security adds to the payload `[byte]`.
    pub const fn overhead_len(&self) -> usize {
        self.freshness_len.saturating_add(self.tag_len)
    }

    /// Takes `pdu` apart from its end. The payload may be empty.
    ///
    /// # Errors
    /// [`TooShort`] if `pdu` is shorter than freshness value and tag.
    pub fn split<'a>(&self, pdu: &'a [u8]) -> Result<SecuredPdu<'a>, TooShort> {
        let too_short = TooShort { len: pdu.len(), overhead_len: self.overhead_len() };
        let (rest, tag) = pdu.len().checked_sub(self.tag_len).map(|at| pdu.split_at(at)).ok_or(too_short)?;
        let at = rest.len().checked_sub(self.freshness_len).ok_or(too_short)?;
        let (payload, freshness) = rest.split_at(at);
        Ok(SecuredPdu { payload, freshness, tag })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_tag_is_last() {
        let layout = SecuredPduLayout { freshness_len: 2, tag_len: 3 };
        let pdu = layout.split(&[1, 2, 3, 4, 5, 6]).unwrap();
        assert_eq!(pdu, SecuredPdu { payload: &[1], freshness: &[2, 3], tag: &[4, 5, 6] });
    }

    #[test]
    fn refuses_one_byte_too_few() {
        let layout = SecuredPduLayout { freshness_len: 2, tag_len: 3 };
        assert!(layout.split(&[0; 5]).unwrap().payload.is_empty());
        let error = TooShort { len: 4, overhead_len: 5 };
        assert_eq!(layout.split(&[0; 4]), Err(error));
        assert_eq!(DiscardReason::from(error), DiscardReason::TooShort);
    }

    proptest! {
        #[test]
        fn the_parts_are_the_whole(
            bytes in proptest::collection::vec(any::<u8>(), 0..100),
            freshness_len in 0usize..12,
            tag_len in 0usize..40,
        ) {
            let layout = SecuredPduLayout { freshness_len, tag_len };
            match layout.split(&bytes) {
                Ok(pdu) => {
                    prop_assert_eq!((pdu.freshness.len(), pdu.tag.len()), (freshness_len, tag_len));
                    prop_assert_eq!([pdu.payload, pdu.freshness, pdu.tag].concat(), bytes);
                }
                Err(_) => prop_assert!(bytes.len() < layout.overhead_len()),
            }
        }

        #[test]
        fn absurd_lengths_are_refused(freshness_len: usize, tag_len in 101usize..) {
            let layout = SecuredPduLayout { freshness_len, tag_len };
            prop_assert!(layout.split(&[0; 100]).is_err());
        }
    }
}
