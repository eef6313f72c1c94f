//! AES-CCM made of a token's AES-CBC and AES-ECB, for tokens without CKM_AES_CCM: the key stays in the token, the host
//! puts the blocks together. [NIST SP 800-38C §6, appendix A; parameters of IEEE 1609.2-2022 §5.3.8]

use subtle::ConstantTimeEq as _;

use crate::hsm::{NONCE_LEN, TAG_LEN};

const BLOCK_LEN: usize = 16;

/// What is fed to CBC-MAC: B0, then the plaintext filled up with zeros. The last block of its AES-CBC with a zero
/// initial vector is the tag, not yet encrypted.
pub(super) fn mac_blocks(nonce: &[u8; NONCE_LEN], plaintext: &[u8]) -> Vec<u8> {
    // Flags: no associated data, tag of 16 bytes ((16 - 2) / 2 in bits 3 to 5), length field of 3 bytes (3 - 1).
    let mut blocks = vec![7 << 3 | 2];
    blocks.extend(nonce);
    blocks.extend(&(plaintext.len() as u32).to_be_bytes()[1..]);
    blocks.extend(plaintext);
    blocks.resize(blocks.len().next_multiple_of(BLOCK_LEN), 0);
    blocks
}

/// A0, which encrypts the tag, and the counters of all blocks of `len` bytes after it.
pub(super) fn counter_blocks(nonce: &[u8; NONCE_LEN], len: usize) -> Vec<u8> {
    let mut blocks = Vec::with_capacity(len + 2 * BLOCK_LEN);
    for counter in 0..=len.div_ceil(BLOCK_LEN) as u32 {
        blocks.push(2);
        blocks.extend(nonce);
        blocks.extend(&counter.to_be_bytes()[1..]);
    }
    blocks
}

/// Ciphertext and encrypted tag. `mac` is the last block of the MAC, `stream` the encrypted counters.
pub(super) fn seal(plaintext: &[u8], mac: &[u8], stream: &[u8]) -> Option<Vec<u8>> {
    let (first, rest) = stream.split_at_checked(BLOCK_LEN)?;
    if mac.len() != BLOCK_LEN || rest.len() < plaintext.len() {
        return None;
    }
    let mut sealed = xor(plaintext, rest);
    sealed.extend(xor(mac, first));
    Some(sealed)
}

/// Plaintext before its tag is checked, and the tag as the sender computed it.
pub(super) fn unmask(ciphertext: &[u8], stream: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let (body, tag) = ciphertext.split_at_checked(ciphertext.len().checked_sub(TAG_LEN)?)?;
    let (first, rest) = stream.split_at_checked(BLOCK_LEN)?;
    (rest.len() >= body.len()).then(|| (xor(body, rest), xor(tag, first)))
}

/// Whether two tags are the same, in the same time either way.
pub(super) fn same_tag(one: &[u8], other: &[u8]) -> bool {
    one.ct_eq(other).into()
}

fn xor(one: &[u8], other: &[u8]) -> Vec<u8> {
    one.iter().zip(other).map(|(a, b)| a ^ b).collect()
}

#[cfg(test)]
mod tests {
    use aes::Aes128;
    use aes::cipher::{BlockCipherEncrypt as _, KeyInit as _};

    use super::*;
    use chronoseal_v2x::crypto::ccm_seal;

    /// What a token does.
    fn ecb(key: [u8; 16], blocks: &[u8]) -> Vec<u8> {
        let cipher = Aes128::new(&key.into());
        let encrypted = blocks.chunks(BLOCK_LEN).flat_map(|block| {
            let mut block = <[u8; BLOCK_LEN]>::try_from(block).unwrap().into();
            cipher.encrypt_block(&mut block);
            block
        });
        encrypted.collect()
    }

    fn cbc_last(key: [u8; 16], blocks: &[u8]) -> Vec<u8> {
        let step = |state: Vec<u8>, block: &[u8]| ecb(key, &xor(&state, block));
        blocks.chunks(BLOCK_LEN).fold(vec![0; BLOCK_LEN], step)
    }

    #[test]
    fn composed_of_blocks_it_is_the_ccm_of_the_crate() {
        let (key, nonce) = ([0x42; 16], [0x17; NONCE_LEN]);
        for len in [0, 1, 15, 16, 17, 31, 32, 33, 255, 256, 4096, 65535] {
            let plaintext: Vec<u8> = (0..len).map(|at: usize| at.to_le_bytes()[0]).collect();
            let mac = cbc_last(key, &mac_blocks(&nonce, &plaintext));
            let stream = ecb(key, &counter_blocks(&nonce, len));
            let sealed = seal(&plaintext, &mac, &stream).unwrap();
            assert_eq!(sealed, ccm_seal(&key, &nonce, &plaintext).unwrap(), "{len} bytes");
            let (back, tag) = unmask(&sealed, &stream).unwrap();
            assert_eq!(back, plaintext);
            assert!(same_tag(&tag, &mac));
        }
    }

    #[test]
    fn short_answers_of_a_token_are_no_result() {
        assert_eq!(seal(b"four", &[0; 16], &[0; 16]), None);
        assert_eq!(seal(b"four", &[0; 15], &[0; 32]), None);
        assert_eq!(unmask(&[0; 15], &[0; 32]), None);
        assert_eq!(unmask(&[0; 40], &[0; 32]), None);
    }
}
