//! Prints secured PDUs of all three profiles, for another implementation to check: `tests/vectors/secoc_peers.py`.
//!
//! Each line: profile, key, data identifier, complete freshness value (`-`: none) and PDU, in hexadecimal.
#![allow(clippy::print_stdout, reason = "an example shows what it made")]

use chronoseal_crypto::symmetric::Key128;
use chronoseal_frameauth::{
    Sealer,
    secoc::{self, FreshnessFormat},
};

/// Lengths a CAN FD frame can have, from the longest trailer on: no frame needs padding, which scapy takes for the tag.
const LENS: [usize; 12] = [4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut random = Random(1);
    for index in 0..3000 {
        let (name, profile) = match index % 3 {
            0 => ("profile-1", secoc::profile_1(FreshnessFormat::Counter { bits: 8 + random.below(8) as u8 })?),
            1 => ("profile-2", secoc::profile_2()),
            _ => ("profile-3", secoc::profile_3()),
        };
        let key: [u8; 16] = std::array::from_fn(|_| random.below(256) as u8);
        let data_id = random.below(1 << 16) as u16;
        let freshness_len = profile.freshness().complete_len();
        let freshness = random.next() << 32 | random.next();
        let freshness = freshness.checked_shr(64 - 8 * freshness_len as u32).unwrap_or(0);
        let mut pdu = vec![0; LENS[random.below(LENS.len() as u64) as usize]];
        let payload_len = pdu.len() - profile.overhead();
        pdu[..payload_len].fill_with(|| random.below(256) as u8);
        Sealer::new(profile, &Key128::from_array(key), data_id)?.seal(&mut pdu, payload_len, freshness)?;
        let shown = match freshness_len {
            0 => "-".to_owned(),
            len => hex(&freshness.to_be_bytes()[8 - len..]),
        };
        println!("{name} {} {data_id:04x} {shown} {}", hex(&key), hex(&pdu));
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The generator of Knuth's MMIX, its upper half: good enough to spread test cases.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 32
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}
