//! Writes the seeds of the corpora of vehicles' messages: `cargo run --example v2x_seeds` in this folder.

use std::path::Path;

use chronoseal_core::random::{ChaCha8Rng, Purpose, stream};
use chronoseal_fuzz::{V2xWorld, v2x_pki_seeds};
use chronoseal_v2x::coer::Encode;
use chronoseal_v2x::message::{Recipient, SessionKey, encrypt_with_session_key};
use chronoseal_v2x::types::{Ieee1609Dot2Data, InnerData};

fn write(target: &str, name: &str, bytes: &[u8]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    std::fs::create_dir_all(&folder).expect("the corpus folder can be made");
    std::fs::write(folder.join(format!("{name}.bin")), bytes).expect("the seed can be written");
}

fn main() {
    let world = V2xWorld::shared();
    for (name, message) in ["by_certificate", "by_digest"].iter().zip(&world.messages) {
        write("v2x_message", name, message);
        write("v2x_verify", name, message);
    }
    for (name, certificate) in ["root", "authority", "ticket"].iter().zip(&world.certificates) {
        write("v2x_certificate", name, certificate.as_bytes());
    }
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/v2x/tests/data/");
    let read = |name: &str| std::fs::read(format!("{data}{name}")).expect("the real samples are there");
    write("v2x_certificate", "trust_list_manager", &read("E7A4B2B045E7ACF9.oer"));
    let list = read("CE4CF6C19BFED720.oer");
    write("v2x_message", "trust_list", &list);
    let message = <Ieee1609Dot2Data<'_> as chronoseal_v2x::coer::Decode>::from_coer(&list).expect("it decodes");
    let signed = message.signed_data().expect("it is signed");
    if let Some(InnerData::Unsecured(payload)) = &signed.tbs_data.payload.data {
        write("v2x_pki", "trust_list", payload);
    }
    let mut rng: ChaCha8Rng = stream(1, Purpose::Payload, 1);
    let plain = Ieee1609Dot2Data::unsecured(b"text").to_coer().expect("it is short");
    let encrypted = encrypt_with_session_key(&plain, &[Recipient::PreSharedKey], &SessionKey([1; 16]), &mut rng);
    write("v2x_message", "encrypted", &encrypted.expect("it is short"));
    for (target, name, bytes) in v2x_pki_seeds() {
        write(target, &name, &bytes);
    }
}
