//! Two hundred messages signed and verified, each call of one kind in the same number of cycles, and what that comes to.

use p256::ecdsa::signature::hazmat::PrehashVerifier;
use p256::ecdsa::{Signature, VerifyingKey};
use sha2::{Digest, Sha256};

use crate::device::{Answer, Device, Number, request, status};
use crate::reference::{any_number, inverse, public_key, random};

const CALLS: u32 = 200;
const SLOT: [u8; 1] = [8];
const CLOCK_HZ: u64 = 100_000_000;

/// Cycles of all calls of a kind, and their time on the link.
struct Calls {
    name: &'static str,
    cycles: Vec<u64>,
    link_ns: Vec<u64>,
}

impl Calls {
    fn new(name: &'static str) -> Self {
        Self { name, cycles: vec![], link_ns: vec![] }
    }

    fn add(&mut self, answer: &Answer) {
        assert_eq!(answer.status, status::OK, "{}", self.name);
        self.cycles.push(answer.cycles);
        self.link_ns.push(answer.link_ns);
    }

    fn print(&self, link: &str) {
        let (min, max) = (self.cycles.iter().min().unwrap(), self.cycles.iter().max().unwrap());
        let mean_ns = |values: &[u64]| values.iter().sum::<u64>() / u64::from(CALLS);
        let engine_ns = mean_ns(&self.cycles) * 1_000_000_000 / CLOCK_HZ;
        let link_ns = mean_ns(&self.link_ns);
        println!(
            "simulated: {CALLS} x {:6} {min} to {max} cycles, {:.3} ms at 100 MHz, + {:.3} ms {link} = {:.1}/s one by one",
            self.name,
            engine_ns as f64 / 1e6,
            link_ns as f64 / 1e6,
            1e9 / (engine_ns + link_ns) as f64,
        );
    }
}

/// Signs and verifies everything over one link.
fn run(link: &str) -> [Calls; 2] {
    let (mut device, mut random) = (Device::start_with(&["--link", link]), random(40));
    let key = any_number(&mut random);
    device.result(request::IMPORT, &[&SLOT, &key]);
    let point = device.result(request::PUBLIC, &[&SLOT]);
    let (mut signed, mut verified) = (Calls::new("sign"), Calls::new("verify"));
    for call in 0..CALLS {
        let digest: Number = Sha256::digest(call.to_be_bytes()).into();
        let nonce = any_number(&mut random);
        let answer = device.ask(request::SIGN, &[&SLOT, &digest, &nonce, &inverse(&nonce)]);
        signed.add(&answer);
        let signature = Signature::from_slice(&answer.result).unwrap();
        VerifyingKey::from(public_key(&key)).verify_prehash(&digest, &signature).unwrap();
        let (r, s) = answer.result.split_at(32);
        verified.add(&device.ask(request::VERIFY, &[&digest, r, &inverse(s.try_into().unwrap()), &point]));
    }
    [signed, verified]
}

#[test]
#[ignore = "needs the simulator"]
fn two_hundred_signed_and_verified() {
    for calls in run("usb-high") {
        calls.print("on USB high speed");
    }
}
