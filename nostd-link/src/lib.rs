//! A static library of core, wire, crypto, fourq, frameauth and groupkey without std, without alloc, with a panic
//! handler of its own.
//!
//! What it computes is of no interest; that it links is. `main.c` calls every function with values the compiler of
//! this library cannot know, so that none of it is folded away. How std or alloc would break the link: `README.md`.
#![no_std]

use chronoseal_core::{Command, Duration, Input, LocalTime, Node, NodeId, Output, PortId};
use chronoseal_crypto::suite::{FourQ, Suite, SuiteName, SuiteVisitor};
use chronoseal_crypto::symmetric::{Aes128Ctr, Key128};
use chronoseal_crypto::{KeyBytes, Label, MacAlgorithm, MacKey};
use chronoseal_fourq::{ecdh, schnorrq};
use chronoseal_frameauth::secoc::{self, FreshnessFormat};
use chronoseal_frameauth::{Freshness, Moment, Opener, Profile, Sealer};
use chronoseal_groupkey::{
    Address, Member, NodeConfig, Orchestrator, Roster, Scheme, Settings, SpareNode, Transport, Tree,
};
use chronoseal_wire::ethernet::Frame;
use chronoseal_wire::protocol_control_frame::{self, PcfType, ProtocolControlFrame};
use chronoseal_wire::virtual_link::{self, DEFAULT_CT_MARKER};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

const DATA_ID: u16 = 100;

fn hmac(number: u32) -> Option<MacAlgorithm> {
    match number {
        0 => Some(MacAlgorithm::HmacSha1),
        1 => Some(MacAlgorithm::HmacSha256),
        2 => Some(MacAlgorithm::HmacSha3_256),
        _ => None,
    }
}

fn key() -> KeyBytes {
    KeyBytes::from_array(core::array::from_fn(|i| i as u8))
}

/// Seals the payload `payload` (four bytes, big-endian) with the `number`th hash, opens it again, checks that a changed
/// bit and a replay are refused, and returns the first eight bytes of the tag; 0 if anything went otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn chronoseal_seal_and_open(number: u32, payload: u32, freshness: u64) -> u64 {
    seal_and_open(number, payload, freshness).unwrap_or(0)
}

fn seal_and_open(number: u32, payload: u32, freshness: u64) -> Option<u64> {
    let profile = Profile::new(hmac(number)?, 128, Freshness::Full, 16).ok()?;
    let mut pdu = [0; 4 + 8 + 16];
    pdu[..4].copy_from_slice(&payload.to_be_bytes());
    let len = Sealer::new(profile, &key(), DATA_ID).ok()?.seal(&mut pdu, 4, freshness).ok()?;

    let mut opener = Opener::new(profile, &key(), DATA_ID).ok()?;
    let mut tampered = pdu;
    tampered[0] ^= 1;
    let refuses_tampering = opener.open(&tampered[..len], Moment::Unknown).is_err();
    let opens = opener.open(&pdu[..len], Moment::Unknown).is_ok_and(|opened| opened.payload == payload.to_be_bytes());
    let refuses_replay = opener.open(&pdu[..len], Moment::Unknown).is_err();
    let tag = pdu[12..20].try_into().ok()?;
    (refuses_tampering && opens && refuses_replay).then_some(u64::from_be_bytes(tag))
}

/// The first eight bytes of the HMAC over `message` (big-endian) alone, 0 if there is no such hash.
#[unsafe(no_mangle)]
pub extern "C" fn chronoseal_hmac(number: u32, message: u64) -> u64 {
    let mut tag = [0; 8];
    let keyed = hmac(number).and_then(|mac| MacKey::new(mac, key().expose()).ok());
    match keyed.map(|keyed| keyed.compute(0, &[&message.to_be_bytes()], &mut tag)) {
        Some(Ok(())) => u64::from_be_bytes(tag),
        _ => 0,
    }
}

/// Writes a control frame, lets a device delay it, reads it back; returns its transparent clock [ps], or -1.
#[unsafe(no_mangle)]
pub extern "C" fn chronoseal_control_frame(cycle: u32, sent_ps: i64, delay_ps: i64) -> i64 {
    let mut buf = [0; protocol_control_frame::FRAME_LEN];
    let beacon = ProtocolControlFrame {
        integration_cycle: cycle,
        membership_new: 1,
        sync_priority: 1,
        sync_domain: 1,
        kind: PcfType::Integration,
        transparent_clock: Duration::from_ps(sent_ps),
    };
    let destination = virtual_link::critical_traffic_address(DEFAULT_CT_MARKER, 4043);
    let len = beacon.emit_frame(destination, virtual_link::station_address(NodeId(1)), &mut buf);
    protocol_control_frame::add_transparent_clock(&mut buf[..len], Duration::from_ps(delay_ps));
    match Frame::new_checked(&buf[..len]).map(|frame| ProtocolControlFrame::parse(frame.payload())) {
        Ok(Ok(read)) if read.integration_cycle == cycle => read.transparent_clock.as_ps(),
        _ => -1,
    }
}

/// The first eight bytes (big-endian) of the FourQ public key of the secret number `secret`.
#[unsafe(no_mangle)]
pub extern "C" fn chronoseal_fourq_public(secret: u64) -> u64 {
    let [b0, b1, b2, b3, b4, b5, b6, b7, ..] = fourq_secret(secret).public();
    u64::from_be_bytes([b0, b1, b2, b3, b4, b5, b6, b7])
}

/// Two parties agree, one signs what they share, the other verifies it, and a changed message is refused: 1, else 0.
#[unsafe(no_mangle)]
pub extern "C" fn chronoseal_fourq_exchange(one: u64, other: u64) -> u32 {
    u32::from(fourq_exchange(one, other).is_ok_and(|as_it_should| as_it_should))
}

fn fourq_exchange(one: u64, other: u64) -> Result<bool, chronoseal_fourq::Error> {
    let (one, other) = (fourq_secret(one), fourq_secret(other));
    let shared = one.agree(&ecdh::PublicKey::from_bytes(&other.public())?)?;
    let same = *shared.as_bytes() == *other.agree(&ecdh::PublicKey::from_bytes(&one.public())?)?.as_bytes();
    let key = schnorrq::SigningKey::from_seed(*shared.as_bytes());
    let signature = key.sign(shared.as_bytes());
    let verifying = schnorrq::VerifyingKey::from_bytes(&key.public())?;
    verifying.verify(shared.as_bytes(), &signature)?;
    Ok(same && verifying.verify(&[], &signature).is_err())
}

fn fourq_secret(number: u64) -> ecdh::SecretKey {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    ecdh::SecretKey::from_bytes(bytes)
}

/// Two parties of the `number`th suite agree; keys derived from what they share encrypt a message and decrypt it; one
/// party signs it, the other verifies it and refuses another. Returns the first eight bytes of the agreed secret, 0 if
/// anything went otherwise or there is no such suite.
#[unsafe(no_mangle)]
pub extern "C" fn chronoseal_suite_exchange(number: u32, one: u8, other: u8) -> u64 {
    let suite = SuiteName::ALL.get(number as usize);
    suite.and_then(|suite| suite.dispatch(Exchange { one, other })).unwrap_or(0)
}

struct Exchange {
    one: u8,
    other: u8,
}

impl SuiteVisitor for Exchange {
    type Output = Option<u64>;

    fn visit<S: Suite>(self) -> Option<u64> {
        let (one, other) = (S::secret(&[self.one; 32]), S::secret(&[self.other; 32]));
        let at_one = S::agree(&one, S::share(&other).as_bytes()).ok()?;
        let at_other = S::agree(&other, S::share(&one).as_bytes()).ok()?;

        const LABEL: Label = Label::new("link test");
        let encrypt = Aes128Ctr::new(&Key128::derive(at_one.expose(), b"", &LABEL, &[]));
        let decrypt = Aes128Ctr::new(&Key128::derive(at_other.expose(), b"", &LABEL, &[]));
        let mut message = [self.one; 40];
        encrypt.apply_keystream(&[0; 16], &mut message);
        let hidden = message != [self.one; 40];
        decrypt.apply_keystream(&[0; 16], &mut message);

        let key = S::signing_key(&[self.one; 32]);
        let verifying = S::verifying_key(S::public_key(&key).as_bytes()).ok()?;
        let signature = S::sign(&key, &message);
        S::verify(&verifying, &[self.one; 40], &signature).ok()?;
        let refuses = S::verify(&verifying, &[self.other; 40], &signature).is_err();
        let first = at_one.expose().first_chunk()?;
        (hidden && refuses).then_some(u64::from_be_bytes(*first))
    }
}

/// Secures the payload `payload` (four bytes, big-endian) by SecOC profile 1 as its first PDU, opens it, checks that a
/// replay is refused, and returns what was put behind the payload; 0 if anything went otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn chronoseal_secoc(payload: u32) -> u32 {
    secoc(payload).unwrap_or(0)
}

fn secoc(payload: u32) -> Option<u32> {
    let profile = secoc::profile_1(FreshnessFormat::Counter { bits: 32 }).ok()?;
    let key = Key128::from_array(core::array::from_fn(|i| i as u8));
    let mut pdu = [0; 8];
    pdu[..4].copy_from_slice(&payload.to_be_bytes());
    Sealer::new(profile, &key, DATA_ID).ok()?.seal_next(&mut pdu, 4, Moment::Unknown).ok()?;
    let mut receiver = Opener::new(profile, &key, DATA_ID).ok()?;
    let opens = receiver.open(&pdu, Moment::Unknown).is_ok_and(|opened| opened.payload == payload.to_be_bytes());
    let refuses_replay = receiver.open(&pdu, Moment::Unknown).is_err();
    (opens && refuses_replay).then_some(u32::from_be_bytes(*pdu.last_chunk()?))
}

/// An orchestrator and two members come to a group key over CAN FD with the `number`th scheme, every private key drawn
/// from `seed`; 1 if all three hold the same one, 0 otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn chronoseal_group_key(number: u32, seed: u8) -> u32 {
    group_key(number, seed).is_some_and(|all_equal| all_equal).into()
}

const ORCHESTRATOR: Address = Address(250);

fn group_key(number: u32, seed: u8) -> Option<bool> {
    let scheme = *Scheme::ALL.get(number as usize)?;
    let signing_key = |address: Address| FourQ::signing_key(&[address.0; 32]);
    let public = |address: Address| FourQ::public_key(&signing_key(address));
    let mut roster = Roster::<FourQ>::new(ORCHESTRATOR, 300, Some(public(ORCHESTRATOR).as_bytes())).ok()?;
    for address in [1, 2].map(Address) {
        roster.add(address, 133, Some(public(address).as_bytes())).ok()?;
    }
    let tree = Tree::new(&roster, scheme, SpareNode::JoinsHigherLevel).ok()?;
    let settings = Settings::new(chronoseal_groupkey::Profile::Hardened, Transport::Fd);
    let config = |address: Address| NodeConfig {
        settings,
        address,
        signing_key: signing_key(address),
        roster: roster.clone(),
        tree: tree.clone(),
        seed: [seed ^ address.0; 32],
    };
    let mut orchestrator = Orchestrator::new(config(ORCHESTRATOR)).ok()?;
    let mut first = Member::new(config(Address(1))).ok()?;
    let mut second = Member::new(config(Address(2))).ok()?;
    run([&mut orchestrator, &mut first, &mut second])?;
    let keys = [orchestrator.group_key()?, first.group_key()?, second.group_key()?];
    Some(keys[0].key == keys[1].key && keys[1].key == keys[2].key)
}

/// Passes frames between nodes until none has anything to say.
fn run(mut nodes: [&mut dyn Node; 3]) -> Option<()> {
    let now = LocalTime::ZERO;
    for node in &mut nodes {
        node.handle_input(now, Input::Command(Command::Start)).ok()?;
    }
    let mut bytes = [0; chronoseal_core::node::FRAME_LEN_MAX];
    let mut is_quiet = false;
    while !is_quiet {
        is_quiet = true;
        for sender in 0..nodes.len() {
            loop {
                match nodes[sender].poll_output(now, &mut bytes) {
                    Output::Timeout(_) => break,
                    Output::Transmit(transmit) => {
                        is_quiet = false;
                        let frame = bytes.get(..transmit.len)?;
                        for receiver in (0..nodes.len()).filter(|receiver| *receiver != sender) {
                            let input = Input::Frame { port: PortId(0), rx_at: now, bytes: frame };
                            nodes[receiver].handle_input(now, input).ok()?;
                        }
                        if let Some(token) = transmit.token {
                            nodes[sender].handle_input(now, Input::Transmitted { token, tx_at: now }).ok()?;
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    Some(())
}
