//! A key server: it shares a key with each node from the factory on, and hands out the group's key under it.
//!
//! Four messages for each node `i`, each in one frame of CAN-FD. `K` is the key of `i`, from which one for tags and one
//! for encryption are drawn; a tag is CMAC over the step, `i` and what is written behind it:
//!
//! | step | from, to | content | length `[byte]` |
//! |---|---|---|---:|
//! | 1 hello | server, i | nonce `s` | 16 |
//! | 2 answer | i, server | nonce `n`, tag over `s`, `n` | 32 |
//! | 3 proof | server, i | tag over `s`, `n` | 16 |
//! | 4 key | server, i | epoch, encrypted key, tag over `s`, `n`, epoch and that | 36 |
//!
//! A removal is one more key for each node that stays. The server knows every key, for ever; nothing is forward secret.
//! Real AES and CMAC; no stations that fail, no time-outs: it shows what a run without losses takes.

use std::collections::BTreeSet;

use chronoseal_core::random::{self, Purpose, Rng};
use chronoseal_core::{AbortReason, Command, HandleError, Input, LocalTime, Node, Output, Queued, Work};
use chronoseal_crypto::symmetric::{Aes128Ctr, BlockMac, CmacAes128, Key128};
use chronoseal_wire::can::CanFrameView;

use super::Removal;
use super::agenda::{Base, address, frame, installed, refused, send};

/// Number of the server.
pub const SERVER: u8 = 0;
const NONCE_LEN: usize = 16;
const TAG_LEN: usize = 16;
/// Epoch, encrypted key and tag.
const KEY_MESSAGE_LEN: usize = 4 + 16 + TAG_LEN;

const HELLO: u8 = 1;
const ANSWER: u8 = 2;
const PROOF: u8 = 3;
const KEY: u8 = 4;

/// What server and node `number` share, and say to each other.
struct Session {
    number: u8,
    mac: CmacAes128,
    cipher: Aes128Ctr,
    /// Of the server and of the node.
    nonces: [[u8; NONCE_LEN]; 2],
}

impl Session {
    fn new(number: u8, seed: u64) -> Self {
        let key = |which: u64| Key128::from_array(drawn(seed, u64::from(number) << 8 | which));
        let [mac, cipher] = [0, 1].map(key);
        Self { number, mac: CmacAes128::new(&mac), cipher: Aes128Ctr::new(&cipher), nonces: [[0; NONCE_LEN]; 2] }
    }

    fn tag(&self, step: u8, parts: &[u8]) -> [u8; TAG_LEN] {
        self.mac.tag(&[&[step, self.number], &self.nonces[0], &self.nonces[1], parts])
    }

    fn is_tag(&self, step: u8, parts: &[u8], tag: &[u8]) -> bool {
        let message: [&[u8]; 4] = [&[step, self.number], &self.nonces[0], &self.nonces[1], parts];
        tag.first_chunk().is_some_and(|tag| self.mac.verify(&message, tag))
    }

    /// What one tag over `parts_len` bytes costs.
    fn tag_work(parts_len: usize) -> Work {
        Work::of(CmacAes128::OPERATION, (2 + 2 * NONCE_LEN + parts_len) as u32)
    }

    /// Encrypts or decrypts the key of an epoch. Each epoch has a counter block of its own.
    fn apply(&self, epoch: u32, key: &mut [u8]) {
        let mut counter = [0; 16];
        counter[..4].copy_from_slice(&epoch.to_be_bytes());
        self.cipher.apply_keystream(&counter, key);
    }

    fn key_message(&self, epoch: u32, key: &[u8; 16]) -> [u8; KEY_MESSAGE_LEN] {
        let mut message = [0; KEY_MESSAGE_LEN];
        message[..4].copy_from_slice(&epoch.to_be_bytes());
        message[4..20].copy_from_slice(key);
        self.apply(epoch, &mut message[4..20]);
        let tag = self.tag(KEY, &message[..20]);
        message[20..].copy_from_slice(&tag);
        message
    }
}

/// Bytes from the seed: keys of the factory, nonces, the group's keys.
fn drawn(seed: u64, index: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    random::stream(seed, Purpose::Key, index).fill_bytes(&mut bytes);
    bytes
}

/// Where the draws of nonces and of the group's keys begin.
const NONCES: u64 = 1 << 32;
const GROUP_KEYS: u64 = 2 << 32;

/// The node that shares a key with each other, and draws and hands out the group's.
pub struct Server {
    seed: u64,
    sessions: Vec<Session>,
    /// Who proved itself and has the key.
    members: BTreeSet<u8>,
    epoch: u32,
    removal: Option<Removal>,
    is_running: bool,
    base: Base,
}

impl Server {
    /// A server of the nodes 1 to `clients`, which throws one of them out if there is a `removal`. `seed` is that of the
    /// clients.
    pub fn new(clients: u8, removal: Option<Removal>, seed: u64) -> Self {
        let sessions = (1..=clients).map(|number| Session::new(number, seed)).collect();
        Self { seed, sessions, members: BTreeSet::new(), epoch: 0, removal, is_running: false, base: Base::new(0..1) }
    }

    fn group_key(&self) -> [u8; 16] {
        drawn(self.seed, GROUP_KEYS + u64::from(self.epoch))
    }

    fn give_key(&mut self, number: u8) {
        let Some(session) = self.sessions.iter().find(|session| session.number == number) else { return };
        let message = session.key_message(self.epoch, &self.group_key());
        self.base.push(Queued::Work(Work::of(Aes128Ctr::OPERATION, 16)));
        self.base.push(Queued::Work(Session::tag_work(20)));
        self.base.push(send(frame(KEY, SERVER, number, &message)));
    }

    fn answered(&mut self, number: u8, data: &[u8]) {
        let Some(session) = self.sessions.iter_mut().find(|session| session.number == number) else { return };
        let Some((nonce, tag)) = data.split_first_chunk() else { return };
        session.nonces[1] = *nonce;
        self.base.push(Queued::Work(Session::tag_work(0)));
        if !session.is_tag(ANSWER, &[], tag) {
            self.base.push(refused(AbortReason::ConfirmationRefused));
            return;
        }
        self.base.push(Queued::Work(Session::tag_work(0)));
        self.base.push(send(frame(PROOF, SERVER, number, &session.tag(PROOF, &[]))));
        self.members.insert(number);
        self.give_key(number);
    }
}

impl Node for Server {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.base.admit(now, &input)?;
        match input {
            Input::Command(Command::Start) => {
                self.is_running = true;
                self.epoch = 1;
                self.base.push(installed(1));
                for session in &mut self.sessions {
                    session.nonces[0] = drawn(self.seed, NONCES + u64::from(session.number));
                    self.base.push(send(frame(HELLO, SERVER, session.number, &session.nonces[0])));
                }
            }
            Input::Command(Command::Stop) => self.is_running = false,
            Input::Frame { bytes, .. } if self.is_running => {
                if let Ok(view) = CanFrameView::new_checked(bytes)
                    && let [ANSWER, from, SERVER] = address(&view)
                {
                    self.answered(from, view.data());
                }
            }
            Input::Timeout if self.is_running => {
                if let Some(removal) = self.removal.take_if(|removal| removal.at <= now) {
                    self.members.remove(&removal.member);
                    self.epoch += 1;
                    self.base.push(installed(u64::from(self.epoch)));
                    self.members.clone().into_iter().for_each(|member| self.give_key(member));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, buffer: &mut [u8]) -> Output {
        let wakes_at = self.removal.filter(|_| self.is_running).map(|removal| removal.at);
        self.base.next(now, buffer).unwrap_or(Output::Timeout(wakes_at))
    }
}

/// A node that shares a key with the server.
pub struct Client {
    seed: u64,
    session: Session,
    is_proven: bool,
    epoch: u32,
    key: Option<[u8; 16]>,
    is_running: bool,
    base: Base,
}

impl Client {
    /// The node `number`, 1 or greater. `seed` is the server's.
    pub fn new(number: u8, seed: u64) -> Self {
        let session = Session::new(number, seed);
        Self { seed, session, is_proven: false, epoch: 0, key: None, is_running: false, base: Base::new(0..1) }
    }

    /// The group's key, once the server has sent it.
    pub const fn group_key(&self) -> Option<&[u8; 16]> {
        self.key.as_ref()
    }

    fn received(&mut self, step: u8, data: &[u8]) {
        match step {
            HELLO => {
                let Some(nonce) = data.first_chunk() else { return };
                let own = drawn(self.seed, NONCES + (1 << 8) + u64::from(self.session.number));
                self.session.nonces = [*nonce, own];
                let mut answer = [0; NONCE_LEN + TAG_LEN];
                answer[..NONCE_LEN].copy_from_slice(&self.session.nonces[1]);
                answer[NONCE_LEN..].copy_from_slice(&self.session.tag(ANSWER, &[]));
                self.base.push(Queued::Work(Session::tag_work(0)));
                self.base.push(send(frame(ANSWER, self.session.number, SERVER, &answer)));
            }
            PROOF => {
                self.base.push(Queued::Work(Session::tag_work(0)));
                self.is_proven = self.session.is_tag(PROOF, &[], data);
                if !self.is_proven {
                    self.base.push(refused(AbortReason::ConfirmationRefused));
                }
            }
            KEY => self.take_key(data),
            _ => {}
        }
    }

    fn take_key(&mut self, data: &[u8]) {
        // Behind it come the zeros that fill up the frame.
        let Some((signed, tag)) = data.get(..KEY_MESSAGE_LEN).map(|message| message.split_at(20)) else { return };
        self.base.push(Queued::Work(Session::tag_work(20)));
        let epoch = signed.first_chunk().map_or(0, |epoch| u32::from_be_bytes(*epoch));
        if !self.is_proven || epoch <= self.epoch || !self.session.is_tag(KEY, signed, tag) {
            self.base.push(refused(AbortReason::DistributionRefused));
            return;
        }
        self.base.push(Queued::Work(Work::of(Aes128Ctr::OPERATION, 16)));
        let mut key = [0; 16];
        key.copy_from_slice(&signed[4..]);
        self.session.apply(epoch, &mut key);
        (self.epoch, self.key) = (epoch, Some(key));
        self.base.push(installed(u64::from(epoch)));
    }
}

impl Node for Client {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.base.admit(now, &input)?;
        match input {
            Input::Command(command) => self.is_running = command == Command::Start,
            Input::Frame { bytes, .. } if self.is_running => {
                if let Ok(view) = CanFrameView::new_checked(bytes)
                    && let [step, SERVER, to] = address(&view)
                    && to == self.session.number
                {
                    self.received(step, view.data());
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, buffer: &mut [u8]) -> Output {
        self.base.next(now, buffer).unwrap_or(Output::Timeout(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::testing::{check, run};
    use chronoseal_core::EventKind;

    const REMOVED_AT: LocalTime = LocalTime::from_ps(1_000_000_000_000);
    const END: LocalTime = LocalTime::from_ps(2_000_000_000_000);

    fn network(clients: u8) -> Vec<Box<dyn Node>> {
        let removal = (clients > 1).then_some(Removal { member: 1, at: REMOVED_AT });
        let mut nodes: Vec<Box<dyn Node>> = vec![Box::new(Server::new(clients, removal, 1))];
        nodes.extend((1..=clients).map(|number| Box::new(Client::new(number, 1)) as Box<dyn Node>));
        nodes
    }

    #[test]
    fn server_and_clients_keep_the_contract_of_nodes() {
        // A client that has checked the server's proof only knows more than before.
        check(|| network(3), END, &[CmacAes128::OPERATION]);
    }

    #[test]
    fn everybody_gets_the_key_and_all_but_the_removed_the_next() {
        for clients in [1, 2, 7, 63] {
            let (events, frames) = run(&mut network(clients), END);
            let holders = |epoch| {
                let of_epoch = events.iter().filter(|(_, event)| event.sequence == epoch);
                of_epoch.map(|(node, _)| *node).collect::<BTreeSet<_>>()
            };
            assert!(events.iter().all(|(_, event)| event.kind == EventKind::KeyInstalled), "{events:?}");
            let everybody: BTreeSet<_> = (0..=usize::from(clients)).collect();
            assert_eq!(holders(1), everybody);
            let (others, stay) = (u64::from(clients), u64::from(clients) - 1);
            if clients > 1 {
                assert_eq!(holders(2), everybody.into_iter().filter(|node| *node != 1).collect());
                assert_eq!(frames, 4 * others + stay);
            } else {
                assert_eq!((holders(2).len() as u64, frames), (0, 4 * others));
            }
        }
    }

    #[test]
    fn no_two_nonces_of_server_and_clients_are_equal() {
        let mut server = Server::new(u8::MAX, None, 1);
        server.handle_input(LocalTime::ZERO, Input::Command(Command::Start)).expect("it starts at once");
        let mut nonces: BTreeSet<_> = server.sessions.iter().map(|session| session.nonces[0]).collect();
        for number in 1..=u8::MAX {
            let mut client = Client::new(number, 1);
            client.received(HELLO, &[0; 16]);
            nonces.insert(client.session.nonces[1]);
        }
        assert_eq!(nonces.len(), 2 * 255);
    }

    #[test]
    fn another_seed_draws_another_key() {
        let key = |seed| {
            let mut server = Server::new(1, None, seed);
            server.epoch = 1;
            server.group_key()
        };
        assert_eq!(key(1), key(1));
        assert_ne!(key(1), key(2));
    }

    #[test]
    fn a_client_refuses_what_the_server_did_not_make() {
        let (mut client, mut server) = (Client::new(1, 1), Session::new(1, 1));
        server.nonces[0] = [7; 16];
        client.received(HELLO, &[7; 16]);
        server.nonces[1] = client.session.nonces[1];
        let message = server.key_message(1, &[9; 16]);
        client.received(KEY, &message);
        assert_eq!(client.group_key(), None, "before the server has proven itself");
        client.received(PROOF, &server.tag(PROOF, &[]));
        for index in 0..message.len() {
            let mut changed = message;
            changed[index] ^= 1;
            client.received(KEY, &changed);
            assert_eq!(client.group_key(), None, "byte {index}");
        }
        client.received(KEY, &message);
        assert_eq!(client.group_key(), Some(&[9; 16]));
        client.received(KEY, &message);
        assert_eq!(client.epoch, 1, "the same epoch is not taken twice");
    }

    #[test]
    fn the_key_of_another_node_is_of_no_use() {
        let (mut removed, other) = (Client::new(1, 1), Session::new(2, 1));
        removed.is_proven = true;
        removed.received(KEY, &other.key_message(2, &[9; 16]));
        assert_eq!(removed.group_key(), None);
    }
}
