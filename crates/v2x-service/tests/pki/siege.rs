//! Authorities whose port somebody tries to block, and what other users of the host can read of them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, bind, connect, socket};

use super::{Car, Pki};
use chronoseal_v2x::pki::{Permissions, Role};
use chronoseal_v2x_service::pki::{CTL_TYPE, Endpoint, HttpClient, TicketOptions};

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

/// A connection from 127.0.0.`last`; none if it is refused.
fn connect_from(last: u8, server: SocketAddr) -> Option<TcpStream> {
    let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None).ok()?;
    bind(socket.as_raw_fd(), &SockaddrIn::new(127, 0, 0, last, 0)).ok()?;
    let SocketAddr::V4(server) = server else { panic!("{server}") };
    connect(socket.as_raw_fd(), &SockaddrIn::from(server)).ok()?;
    Some(TcpStream::from(socket))
}

/// Asks from 127.0.0.2 and waits for the answer.
fn ask_from_another_address(server: SocketAddr) -> String {
    let mut stream = connect_from(2, server).unwrap();
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
    // Somebody else is served at once, and so is whoever shares the address.
    let other = ask_from_another_address(served.address);
    assert_eq!(other, "HTTP/1.1 200 OK", "1,100 idle connections stop the service for others");
    let answered = served.ask(Duration::from_secs(5));
    assert_eq!(answered.as_deref(), Some("HTTP/1.1 200 OK"), "1,100 idle connections stop the service");
}

/// Eight addresses hold as many places as there are, and take each one again that they lose.
#[test]
fn stations_get_tickets_while_eight_addresses_hold_all_places() {
    many_descriptors();
    let pki = Pki::start();
    let car = Car::enrolled_at(&pki);
    let server: SocketAddr = pki.server.url().strip_prefix("http://").unwrap().parse().unwrap();
    let stop = AtomicBool::new(false);
    let opened = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for last in 2..10 {
            let (stop, opened) = (&stop, &opened);
            scope.spawn(move || {
                let mut held: Vec<TcpStream> = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    held.retain(|stream| {
                        stream.set_nonblocking(true).unwrap();
                        let mut stream = stream;
                        matches!(stream.read(&mut [0]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
                    });
                    while held.len() < 64
                        && let Some(stream) = connect_from(last, server)
                    {
                        held.push(stream);
                        opened.fetch_add(1, Ordering::Relaxed);
                    }
                    std::thread::sleep(Duration::from_millis(50));
                }
            });
        }
        let _stop = Stop(&stop);
        while opened.load(Ordering::Relaxed) < 512 {
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut waits: Vec<Duration> = (0..40)
            .map(|_| {
                // A station that has no connection yet.
                let client = car.client.clone().with_http(HttpClient::default());
                let (began, url) = (Instant::now(), format!("{}/aa", pki.server.url()));
                let aa = Endpoint { certificate: pki.aa(), url: &url };
                client.authorize(aa, pki.ea(), &TicketOptions::default()).expect("idle connections stop stations");
                began.elapsed()
            })
            .collect();
        waits.sort();
        let others = opened.load(Ordering::Relaxed);
        println!(
            "{others} connections of the others; of 40 waits half {:?} or less, the longest {:?}",
            waits[19], waits[39]
        );
        assert!(waits[39] < Duration::from_secs(2), "{waits:?}");
    });
}

/// Ends the siege, also when the test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A partner's distribution centre takes connections and never answers, and stations that nobody knows have it asked.
#[test]
fn a_hanging_distribution_centre_holds_up_nobody_but_its_own_stations() {
    let (ours, partner, hanging, strangers) = (Pki::start(), Pki::start(), Pki::start(), Pki::start());
    let centre = TcpListener::bind("127.0.0.1:0").unwrap();
    let hangs_at = format!("http://{}", centre.local_addr().unwrap());
    ours.server.trust().add(hanging.server.certificate(Role::Root), &hangs_at).unwrap();
    ours.server.trust().add(partner.server.certificate(Role::Root), partner.server.url()).unwrap();
    partner.server.trust().add(ours.server.certificate(Role::Root), ours.server.url()).unwrap();
    // At the partner, our authorization authority is found though a centre hangs there, too.
    partner.server.trust().add(hanging.server.certificate(Role::Root), &hangs_at).unwrap();
    let (own, foreign) = (Car::enrolled_at(&ours), Car::enrolled_at(&partner));
    let stranger = Car::enrolled_at(&strangers);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..40 {
            let (stop, ours, strangers) = (&stop, &ours, &strangers);
            let client = stranger.client.clone().with_http(HttpClient::new(Duration::from_secs(10)));
            scope.spawn(move || {
                let url = format!("{}/aa", ours.server.url());
                while !stop.load(Ordering::Relaxed) {
                    let aa = Endpoint { certificate: ours.aa(), url: &url };
                    assert!(client.authorize(aa, strangers.ea(), &TicketOptions::default()).is_err());
                }
            });
        }
        let _stop = Stop(&stop);
        std::thread::sleep(Duration::from_secs(1));
        let timed = |what: &str, act: &dyn Fn()| {
            let began = Instant::now();
            act();
            println!("{what}: {:?}", began.elapsed());
            assert!(began.elapsed() < Duration::from_secs(2), "{what}: {:?}", began.elapsed());
        };
        for _ in 0..5 {
            timed("a ticket for a station of our own", &|| {
                ours.authorize(&own, &Default::default()).unwrap();
            });
            let list = format!("{}/getectl", ours.server.url());
            timed("the trust list", &|| drop(HttpClient::default().get(&list, CTL_TYPE).unwrap()));
            timed("a renewal", &|| {
                ours.renew(&own).unwrap();
            });
        }
        // Its answer was waited for once; from then on it costs those of other partners nothing either.
        std::thread::sleep(Duration::from_secs(5));
        for _ in 0..3 {
            timed("a ticket for a partner's station", &|| {
                ours.authorize_with(&foreign, partner.ea(), &Default::default()).unwrap();
            });
        }
    });
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
