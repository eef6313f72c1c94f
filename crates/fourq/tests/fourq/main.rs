//! The public interface: published values, what is accepted, what is refused.

mod batches;
mod known_answers;
mod refusals;

/// Bytes from hexadecimal digits.
fn unhex<const LEN: usize>(text: &str) -> [u8; LEN] {
    unhex_vec(text).try_into().expect("as many bytes as wanted")
}

fn unhex_vec(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2));
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).expect("two digits")).collect()
}
