//! Container I-PDUs.

use chronoseal_wire::container::{ContainedPdu, Container, HeaderType};

/// The kind of header, then a container: what is accepted is emitted to the same bytes, filled up with zeros; what is refused
/// has a length that leads beyond its end, or something else than zeros behind its last PDU.
pub fn container_pdu(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    let header = if choice & 1 == 0 { HeaderType::Short } else { HeaderType::Long };
    let read = Container::new_checked(header, bytes);
    let pdus: Vec<ContainedPdu<'_>> = read.iter().flat_map(Container::pdus).collect();
    let mut written = vec![0; bytes.len()];
    let mut len = 0;
    for pdu in pdus {
        len += header.emit(pdu, &mut written[len..]).expect("what was read has a place where it was");
    }
    match read {
        Ok(container) => {
            assert_eq!(container.len(), len, "its PDUs are all there is");
            assert_eq!(written, bytes, "filled up with zeros");
        }
        Err(error) => assert!(!error.to_string().is_empty() && bytes.iter().any(|byte| *byte != 0)),
    }
}
