//! What is of the formats before IEEE 1609.2: ETSI TS 103 097 V1.1.1 and V1.2.1, told by how it begins.

/// `signer_info`, with which the header fields of a message begin (V1.2.1 clause 5.4).
const SIGNER_INFO: u8 = 128;
/// The most a `SubjectType` counts (V1.2.1 clause 6.3).
const SUBJECT_TYPE_MAX: u8 = 5;

/// What bytes seem to be that are of TS 103 097 before V1.3.1, which took the formats of IEEE 1609.2; `None` if they do not begin so.
///
/// A message begins with its version, 1 or 2, and the length of its header fields, of which the first is `signer_info`
/// (V1.2.1 clauses 5.1 and 5.4); a certificate with its version, its signer and its subject type (clauses 6.1 to 6.4).
pub fn of_old_standard(bytes: &[u8]) -> Option<&'static str> {
    let (version, rest) = bytes.split_first()?;
    let first_field = behind_length(rest).and_then(|rest| rest.first());
    match (version, rest) {
        (2, _) if first_field == Some(&SIGNER_INFO) => Some("a message of TS 103 097 V1.2.1"),
        (1, _) if first_field == Some(&SIGNER_INFO) => Some("a message of TS 103 097 V1.1.1"),
        // Signed by itself, or by one that is known by eight bytes of its digest.
        (2, [0, subject_type, ..]) if *subject_type <= SUBJECT_TYPE_MAX => Some("a certificate of TS 103 097 V1.2.1"),
        (2, [1, rest @ ..]) if rest.get(8).is_some_and(|subject_type| *subject_type <= SUBJECT_TYPE_MAX) => {
            Some("a certificate of TS 103 097 V1.2.1")
        }
        _ => None,
    }
}

/// What follows a length of variable size, whose first byte says by its leading ones how many bytes it has more (V1.2.1 clause 4.1).
fn behind_length(bytes: &[u8]) -> Option<&[u8]> {
    let more = bytes.first()?.leading_ones() as usize;
    bytes.get(1 + more..).filter(|_| more < 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_formats_are_told_by_their_beginnings() {
        for (bytes, expected) in [
            (&[2, 0x81, 0x10, 128, 2][..], Some("a message of TS 103 097 V1.2.1")),
            (&[2, 30, 128, 1], Some("a message of TS 103 097 V1.2.1")),
            (&[1, 30, 128, 1], Some("a message of TS 103 097 V1.1.1")),
            (&[2, 0, 4, 0], Some("a certificate of TS 103 097 V1.2.1")),
            (&[2, 1, 9, 9, 9, 9, 9, 9, 9, 9, 1, 0], Some("a certificate of TS 103 097 V1.2.1")),
            (&[2, 1, 9, 9], None),
            (&[3, 0x81, 0], None),
            (&[0x80, 3, 0], None),
            (&[2], None),
            (&[2, 0xff, 128], None),
            (&[], None),
        ] {
            assert_eq!(of_old_standard(bytes), expected, "{bytes:?}");
        }
    }
}
