//! Authorities whose port somebody tries to block, and what other users of the host can read of them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, bind, connect, socket};

use super::{Car, Pki};
use chronoseal_v2x::pki::Permissions;

/// Serves with as many descriptors as its parent left it, until its standard input ends.
#[test]
#[ignore = "started by other tests, with a limit on the number of descriptors"]
fn serves_until_its_input_ends() {
    let pki = Pki::start();
    println!("listening {}", pki.server.url());
    let _ = std::io::stdin().read(&mut [0]);
}

struct Served {
    child: Child,
    address: SocketAddr,
}

impl Served {
    fn start() -> Self {
        let script =
            "ulimit -n 1024; exec \"$0\" --exact pki::siege::serves_until_its_input_ends --ignored --nocapture";
        let mut child = Command::new("sh")
            .args(["-c", script, std::env::current_exe().unwrap().to_str().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let url = lines.find_map(|line| Some(line.split_once("listening http://")?.1.to_owned()));
        // What it says at its end is read, too: a test that cannot write fails.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address: url.unwrap().parse().unwrap() }
    }

    /// Asks for a certificate and waits for the answer; none if there is none in time.
    fn ask(&self, wait: Duration) -> Option<String> {
        let mut stream = TcpStream::connect_timeout(&self.address, wait).ok()?;
        stream.set_read_timeout(Some(wait)).unwrap();
        stream.write_all(QUESTION).ok()?;
        let mut answer = [0; 15];
        stream.read_exact(&mut answer).ok()?;
        Some(String::from_utf8_lossy(&answer).into_owned())
    }
}

const QUESTION: &[u8] = b"GET /certificates/ea.oer HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

/// Asks from 127.0.0.2 and waits for the answer.
fn ask_from_another_address(server: SocketAddr) -> String {
    let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None).unwrap();
    bind(socket.as_raw_fd(), &SockaddrIn::new(127, 0, 0, 2, 0)).unwrap();
    let SocketAddr::V4(server) = server else { panic!("{server}") };
    connect(socket.as_raw_fd(), &SockaddrIn::from(server)).unwrap();
    let mut stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.write_all(QUESTION).unwrap();
    let mut answer = [0; 15];
    stream.read_exact(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

/// This process may have 4,096 descriptors; what it starts says how many that has.
fn many_descriptors() {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard.min(4096), hard).unwrap();
}

#[test]
fn idle_connections_do_not_stop_the_service() {
    many_descriptors();
    let served = Served::start();
    assert_eq!(served.ask(Duration::from_secs(10)).as_deref(), Some("HTTP/1.1 200 OK"));
    let idle: Vec<Option<TcpStream>> =
        (0..1100).map(|_| TcpStream::connect_timeout(&served.address, Duration::from_millis(200)).ok()).collect();
    assert!(idle.iter().flatten().count() > 100);
    // Somebody else is served at once; whoever shares the address as soon as the others had their time.
    let other = ask_from_another_address(served.address);
    assert_eq!(other, "HTTP/1.1 200 OK", "1,100 idle connections stop the service for others");
    let began = Instant::now();
    let answered = loop {
        match served.ask(Duration::from_secs(5)) {
            None if began.elapsed() < Duration::from_secs(20) => std::thread::sleep(Duration::from_millis(200)),
            answered => break answered,
        }
    };
    assert_eq!(answered.as_deref(), Some("HTTP/1.1 200 OK"), "1,100 idle connections stop the service");
}

#[test]
fn half_a_header_is_given_up() {
    let served = Served::start();
    let mut slow = TcpStream::connect(served.address).unwrap();
    slow.write_all(b"GET /certificates/ea.oer HTTP/1.1\r\nHost:").unwrap();
    slow.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let began = Instant::now();
    // Closed, with or without an answer that says why.
    let ended = slow.read_to_end(&mut Vec::new());
    assert!(ended.is_ok(), "still open after {:?}: {ended:?}", began.elapsed());
}

/// Whether others than the owner can read it.
fn is_readable_by_others(path: &Path) -> bool {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o077 != 0
}

#[test]
fn stores_and_keys_are_readable_by_their_owner_alone() {
    let pki = Pki::start();
    let car = Car::enrolled_at(&pki);
    pki.authorize(&car, &Default::default()).unwrap();
    for name in ["store.sqlite", "store.sqlite-wal", "store.sqlite-shm", "pin", "keys"] {
        assert!(!is_readable_by_others(&pki.folder.path().join(name)), "{name}");
    }
    for name in ["pin", "keys", "ec", "at"] {
        assert!(!is_readable_by_others(&car.folder.path().join(name)), "{name}");
    }
}

#[test]
fn a_registered_key_is_not_replaced_by_the_way() {
    let pki = Pki::start();
    let (car, thief) = (Car::new(), Car::new());
    pki.register(&car, Permissions::tickets());
    let stolen = super::station_of(&thief);
    let registered = pki.server.store().lock().unwrap().register(&stolen);
    assert!(registered.is_err(), "the key of a registered station was replaced");
    pki.enrol(&car).unwrap();
}
