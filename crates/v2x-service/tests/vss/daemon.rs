//! The services over the socket.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use chronoseal_v2x_service::vss::Server;

use crate::vss::world::World;

pub(crate) struct Daemon {
    socket: PathBuf,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    world: World,
}

impl Daemon {
    pub(crate) fn start(tickets: usize) -> Self {
        Self::of(World::new(), tickets)
    }

    pub(crate) fn of(mut world: World, tickets: usize) -> Self {
        let (mut vss, _) = world.open();
        world.give_tickets(&mut vss, tickets);
        let socket = world.path("socket");
        let server = Server::bind(&socket, vss).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = Some(std::thread::spawn(move || server.run(None, &flag).unwrap()));
        Self { socket, stop, thread, world }
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(&self.socket)
    }

    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
        assert!(!Path::new(&self.socket).exists());
    }
}

pub(crate) struct Client {
    pub(crate) stream: UnixStream,
    id: u32,
}

impl Client {
    pub(crate) fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self { stream, id: 0 }
    }

    /// A request as it travels.
    pub(crate) fn request(&mut self, operation: u8, body: &[u8]) -> Vec<u8> {
        self.id += 1;
        let mut request = Vec::new();
        request.extend((body.len() as u32 + 6).to_be_bytes());
        request.extend([1, operation]);
        request.extend(self.id.to_be_bytes());
        request.extend(body);
        request
    }

    fn send(&mut self, operation: u8, body: &[u8]) {
        let request = self.request(operation, body);
        self.stream.write_all(&request).unwrap();
    }

    /// Status, id and body of what comes next.
    pub(crate) fn receive(&mut self) -> (u8, u32, Vec<u8>) {
        let mut len = [0; 4];
        self.stream.read_exact(&mut len).unwrap();
        let mut frame = vec![0; u32::from_be_bytes(len) as usize];
        self.stream.read_exact(&mut frame).unwrap();
        (frame[0], u32::from_be_bytes(frame[1..5].try_into().unwrap()), frame[5..].to_vec())
    }

    pub(crate) fn call(&mut self, operation: u8, body: &[u8]) -> Result<Vec<u8>, (u8, String)> {
        self.send(operation, body);
        let (status, id, body) = self.receive();
        assert_eq!(id, self.id);
        if status == 0 { Ok(body) } else { Err((status, String::from_utf8(body).unwrap())) }
    }

    pub(crate) fn sign(&mut self, payload: &[u8]) -> Result<Vec<u8>, (u8, String)> {
        self.call(1, &[&36_u32.to_be_bytes()[..], &[0], payload].concat())
    }

    /// 0 accepted, 1 refused, 2 not verified.
    fn verify(&mut self, message: &[u8]) -> u8 {
        self.call(2, &[&[0][..], &[0xff; 8], message].concat()).unwrap()[0]
    }
}

#[test]
fn signs_and_verifies_for_two_clients() {
    let daemon = Daemon::start(2);
    let mode = std::fs::metadata(&daemon.socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "this user alone");
    let (mut one, mut other) = (daemon.connect(), daemon.connect());
    let message = one.sign(b"hello").unwrap();
    assert_eq!(other.verify(&message), 0);
    assert_eq!(one.verify(&message), 1, "for the second time");
    let statistics = String::from_utf8(one.call(12, &[]).unwrap()).unwrap();
    assert!(statistics.contains("chronoseal_vss_signatures_total{kind=\"made\"} 1\n"), "{statistics}");
    assert!(statistics.contains("spduRelevanceReplayedSpdu"), "{statistics}");
    let audit = String::from_utf8(one.call(13, &[]).unwrap()).unwrap();
    assert!(audit.starts_with("total 0 chain 0000"), "{audit}");
}

#[test]
fn a_change_asks_the_layer_that_registered() {
    let daemon = Daemon::start(3);
    let (mut layer, mut customer) = (daemon.connect(), daemon.connect());
    let number = layer.call(8, &[]).unwrap();
    let before = customer.sign(b"x").unwrap();
    customer.call(5, &[]).unwrap();
    let (status, _, asked) = layer.receive();
    assert_eq!((status, &asked[..3]), (0x80, &[1, number[0], number[1]][..]));
    assert_eq!(asked.len(), 1 + 2 + 8 + 4 + 6);
    let (status, text) = customer.sign(b"x").unwrap_err();
    assert_eq!(status, 1);
    assert!(text.contains("a change of pseudonym is under way"), "{text}");
    assert_eq!(customer.call(9, &[number[0], number[1], 1]).unwrap_err().0, 2, "not its layer");
    layer.send(9, &[number[0], number[1], 1]);
    let (_, _, answered) = layer.receive();
    assert_eq!(answered, [1], "all are ready");
    let (status, _, changed) = layer.receive();
    assert_eq!((status, changed[0], &changed[1..]), (0x80, 2, &asked[3..]));
    let after = customer.sign(b"x").unwrap();
    assert_ne!(before[before.len().min(20)..], after[after.len().min(20)..]);
    customer.call(6, &[255]).unwrap();
    assert!(customer.call(5, &[]).unwrap_err().1.contains("blocked"));
    customer.call(7, &[]).unwrap();
    assert!(customer.call(5, &[]).is_ok());
}

#[test]
fn a_layer_that_goes_away_does_not_hold_a_change_up() {
    let daemon = Daemon::start(3);
    let mut customer = daemon.connect();
    {
        let mut layer = daemon.connect();
        layer.call(8, &[]).unwrap();
        customer.call(5, &[]).unwrap();
        layer.receive();
    }
    let until = std::time::Instant::now() + Duration::from_secs(5);
    while customer.sign(b"x").is_err() {
        assert!(std::time::Instant::now() < until, "still changing");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(customer.call(5, &[]).unwrap_err().1.contains("no layer takes part"));
}

#[test]
fn refuses_what_is_no_request_and_serves_on() {
    let daemon = Daemon::start(1);
    let mut client = daemon.connect();
    assert_eq!(client.call(99, &[]).unwrap_err(), (2, "no such operation".into()));
    for operation in 1..=11 {
        // Bodies that are too short are told so; those without a body are served.
        let _ = client.call(operation, &[1]);
    }
    assert!(client.call(4, b"rubbish").unwrap_err().1.starts_with("byte "));
    let mut absurd = daemon.connect();
    absurd.stream.write_all(&u32::MAX.to_be_bytes()).unwrap();
    assert_eq!(absurd.stream.read(&mut [0; 1]).unwrap(), 0, "cut off");
    let mut torn = daemon.connect();
    torn.stream.write_all(&[0, 0, 0, 9, 1]).unwrap();
    drop(torn);
    let mut wrong = daemon.connect();
    wrong.stream.write_all(&[0, 0, 0, 6, 9, 1, 0, 0, 0, 1]).unwrap();
    assert_eq!(wrong.receive().0, 2);
    assert!(client.sign(b"x").is_ok());
}

/// What a command printed, if it is on this host.
fn run(command: &mut std::process::Command) -> Option<String> {
    match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            println!("skipped: {} is missing", command.get_program().display());
            None
        }
        Err(error) => panic!("{error}"),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
            Some(text)
        }
    }
}

#[test]
fn the_clients_in_c_and_python_are_served() {
    let daemon = Daemon::start(3);
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/vss");
    let program = daemon.world.path("client");
    let mut compiler = std::process::Command::new("cc");
    compiler.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program).arg(examples.join("client.c"));
    if run(&mut compiler).is_some() {
        let text = run(std::process::Command::new(&program).arg(&daemon.socket)).unwrap();
        assert!(text.contains("accepted") && text.contains("signature        passed"), "{text}");
    }
    let mut python = std::process::Command::new("python3");
    if let Some(text) = run(python.arg(examples.join("client.py")).arg(&daemon.socket)) {
        assert!(text.contains("is asked for station id"), "{text}");
        assert!(text.contains("20 messages signed and verified, 1 change of pseudonym"), "{text}");
    }
}
