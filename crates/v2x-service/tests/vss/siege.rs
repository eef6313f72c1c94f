//! A daemon whose socket somebody tries to block, and what others learn of the station.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chronoseal_v2x::types::Psid;
use chronoseal_v2x_service::vss::{Server, Socket, now};

use crate::vss::daemon::{Client, Daemon};
use crate::vss::world::World;

#[test]
fn half_sent_frames_leave_the_socket_to_others() {
    let daemon = Daemon::start(1);
    let _half: Vec<_> = (0..64)
        .map(|_| {
            let mut client = daemon.connect();
            client.stream.write_all(&[0, 0, 0, 9, 1]).unwrap();
            client
        })
        .collect();
    let mut client = daemon.connect();
    client.stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    client.sign(b"x").unwrap();
}

#[test]
fn silent_clients_make_room_for_others() {
    let daemon = Daemon::start(1);
    let _silent: Vec<_> = (0..64).map(|_| daemon.connect()).collect();
    let mut client = daemon.connect();
    client.stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    client.sign(b"x").unwrap();
}

#[test]
fn a_file_where_the_socket_is_to_be_stays() {
    let world = World::new();
    let (vss, _) = world.open();
    let place = world.path("vss.toml");
    std::fs::write(&place, "folder = \"car\"\n").unwrap();
    let refused = Server::bind(&place, vss).map(drop).unwrap_err().to_string();
    assert!(refused.contains("vss.toml") && refused.contains("no socket"), "{refused}");
    assert_eq!(std::fs::read_to_string(&place).unwrap(), "folder = \"car\"\n", "it was deleted");
    // Through a link, too.
    let link = world.path("link");
    std::os::unix::fs::symlink(&place, &link).unwrap();
    let (vss, _) = world.open();
    assert!(Server::bind(&link, vss).is_err());
    assert!(place.exists() && std::fs::symlink_metadata(&link).is_ok());
    // A socket nobody listens at is taken over.
    let socket = world.path("socket");
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    let (vss, _) = world.open();
    Server::bind(&socket, vss).unwrap();
}

/// Serves with few descriptors until its standard input ends; started by the next test.
#[test]
#[ignore = "started by another test, with a limit on the number of descriptors"]
fn serves_with_few_descriptors() {
    let daemon = Daemon::start(1);
    println!("listening {}", daemon.socket().display());
    let _ = std::io::stdin().read(&mut [0]);
}

#[test]
fn the_daemon_survives_having_no_descriptor_left() {
    let script = "ulimit -n 32; exec \"$0\" --exact vss::siege::serves_with_few_descriptors --ignored --nocapture";
    let mut child = std::process::Command::new("sh")
        .args(["-c", script, std::env::current_exe().unwrap().to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let socket = lines.find_map(|line| Some(line.split_once("listening ")?.1.to_owned())).unwrap();
    std::thread::spawn(move || lines.for_each(drop));
    // As many as a daemon with descriptors has places for, and each of them says nothing.
    let silent: Vec<_> = (0..60).filter_map(|_| UnixStream::connect(&socket).ok()).collect();
    assert_eq!(silent.len(), 60);
    let mut client = Client::connect(Path::new(&socket));
    client.stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    client.sign(b"x").unwrap();
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success(), "the daemon ended before it was told to");
}

/// What a user of the host is answered who asks for statistics; needs the rights to become that user.
fn asked_by(uid: u32, socket: &Path) -> Option<Vec<u8>> {
    let script = "import socket, sys\n\
                  s = socket.socket(socket.AF_UNIX); s.settimeout(10); s.connect(sys.argv[1])\n\
                  try: s.sendall(bytes([0, 0, 0, 6, 1, 12, 0, 0, 0, 1])); sys.stdout.buffer.write(s.recv(9))\n\
                  except (BrokenPipeError, ConnectionResetError): pass";
    let mut python = std::process::Command::new("python3");
    match python.args(["-c", script]).arg(socket).current_dir("/").uid(uid).output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(output.stdout)
        }
        Err(error) => {
            println!("skipped: python3 as user {uid}: {error}");
            None
        }
    }
}

#[test]
fn only_permitted_users_are_served() {
    let mut world = World::new();
    let (mut vss, _) = world.open();
    world.give_tickets(&mut vss, 1);
    std::fs::set_permissions(world.folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let socket = world.path("socket");
    let users = Socket { users: vec!["60001".into()] }.user_ids().unwrap();
    let server = Server::bind(&socket, vss).unwrap().permit(&users).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| server.run(None, &stop).unwrap());
        let (permitted, other) = (asked_by(60_001, &socket), asked_by(60_002, &socket));
        stop.store(true, Ordering::Relaxed);
        if let (Some(permitted), Some(other)) = (permitted, other) {
            assert_eq!(permitted.get(4..), Some(&[0, 0, 0, 0, 1][..]), "done, request 1");
            assert!(other.is_empty(), "a user who is not permitted was answered");
        }
    });
    let unknown = Socket { users: vec!["no such user".into()] }.user_ids().unwrap_err().to_string();
    assert!(unknown.contains("no such user"), "{unknown}");
}

#[test]
fn the_log_names_pseudonyms_when_it_is_asked_to() {
    let mut world = World::new();
    world.config.logging.pseudonyms = true;
    let (mut vss, _) = world.open();
    world.give_tickets(&mut vss, 1);
    let log = std::fs::read_to_string(world.path("log")).unwrap();
    assert!(log.contains(&format!("pseudonym changed ({})", vss.certificate().unwrap())), "{log}");
}

#[test]
fn a_log_that_was_open_to_others_is_closed() {
    let world = World::new();
    std::fs::write(world.path("log"), "before\n").unwrap();
    std::fs::set_permissions(world.path("log"), std::fs::Permissions::from_mode(0o644)).unwrap();
    drop(world.open());
    let mode = std::fs::metadata(world.path("log")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(std::fs::read_to_string(world.path("log")).unwrap().starts_with("before\n"));
}

#[test]
fn the_log_is_the_owners_and_names_no_pseudonym_unasked() {
    let mut world = World::new();
    let (mut vss, _) = world.open();
    world.give_tickets(&mut vss, 3);
    let mut used = vec![vss.certificate().unwrap()];
    vss.register_request_network_id_change();
    vss.create_signature(now(), Psid::CAM, b"x", None).unwrap();
    used.extend(vss.certificate());
    let mode = std::fs::metadata(world.path("log")).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "others can read the log");
    let mode = std::fs::metadata(world.path("station/at")).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "others can list the tickets");
    let log = std::fs::read_to_string(world.path("log")).unwrap();
    for id in used {
        assert!(!log.contains(&id.to_string()), "the log names a pseudonym of the station:\n{log}");
    }
}
