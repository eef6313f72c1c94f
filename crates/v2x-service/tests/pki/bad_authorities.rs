//! Authorities that do not answer, or not as they should; requests that are none.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x_service::pki::{Client, Endpoint, HttpClient, REQUEST_TYPE, ServiceError};

use super::{Car, Pki};

/// Answers every connection with these bytes, or never if there are none.
fn answering(answer: Option<Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/ea", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            match &answer {
                Some(answer) => {
                    read_request(&mut stream);
                    stream.write_all(answer).unwrap();
                }
                None => kept.push(stream),
            }
        }
    });
    url
}

fn read_request(stream: &mut TcpStream) {
    let mut seen = Vec::new();
    let mut part = [0; 4096];
    loop {
        let count = stream.read(&mut part).unwrap();
        seen.extend_from_slice(&part[..count]);
        let head = seen.windows(4).position(|window| window == b"\r\n\r\n");
        let Some(head) = head else { continue };
        let text = String::from_utf8_lossy(&seen[..head]).to_lowercase();
        let length = text.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next()?.parse().ok());
        if count == 0 || seen.len() >= head + 4 + length.unwrap_or(0) {
            return;
        }
    }
}

pub(super) fn response(status: &str, content_type: &str, body: &[u8]) -> Option<Vec<u8>> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    Some([head.as_bytes(), body].concat())
}

#[test]
fn what_a_bad_authority_does_is_named_and_nothing_is_lost() {
    let pki = Pki::start();
    let car = Car::enrolled_at(&pki);
    let before = car.client.credential().unwrap().0.id();
    let its = "application/x-its-response";
    let cases: [(&str, Option<Vec<u8>>, &str); 7] = [
        ("500", response("500 Internal Server Error", "text/plain", b"no"), "status 500"),
        ("another type", response("200 OK", "text/html", b"<html>"), "content type text/html"),
        ("garbage", response("200 OK", its, &[0x5a; 300]), "protocolVersion"),
        ("nothing", response("200 OK", its, &[]), "byte 0"),
        ("an endless body", response("200 OK", its, &vec![0; (1 << 20) + 1]), "octets"),
        ("no HTTP", Some(b"SSH-2.0-OpenSSH_9\r\n".to_vec()), "http"),
        ("silence", None, "timeout"),
    ];
    for (what, answer, expected) in cases {
        let url = answering(answer);
        let client = car.client.clone().with_http(HttpClient::new(Duration::from_millis(700)));
        let start = Instant::now();
        let error = client.renew(Endpoint { certificate: pki.ea(), url: &url }, Curve::NistP256).unwrap_err();
        assert!(error.to_string().contains(expected), "{what}: {error}");
        assert!(start.elapsed() < Duration::from_secs(5), "{what}");
        assert_eq!(car.client.credential().unwrap().0.id(), before, "{what}");
    }
}

#[test]
fn the_answer_to_another_station_is_refused() {
    let pki = Pki::start();
    let (car, other) = (Car::enrolled_at(&pki), Car::enrolled_at(&pki));
    // What the other one asked is answered to this one: a request recorded on its way, sent again, the answer kept.
    let recorder = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/ea", recorder.local_addr().unwrap());
    let target = format!("{}/ea", pki.server.url());
    let relay = std::thread::spawn(move || {
        let mut first: Option<Vec<u8>> = None;
        for _ in 0..2 {
            let (mut stream, _) = recorder.accept().unwrap();
            let request = read_body(&mut stream);
            let answer = HttpClient::default().post(&target, &request).unwrap();
            let answer = first.get_or_insert(answer).clone();
            stream.write_all(&response("200 OK", "application/x-its-response", &answer).unwrap()).unwrap();
        }
    });
    let endpoint = Endpoint { certificate: pki.ea(), url: &url };
    other.client.renew(endpoint, Curve::NistP256).unwrap();
    let error = car.client.renew(endpoint, Curve::NistP256).unwrap_err();
    assert!(matches!(error, ServiceError::Pki(_)), "{error}");
    assert!(error.to_string().contains("no recipient"), "{error}");
    relay.join().unwrap();
}

pub(super) fn read_body(stream: &mut TcpStream) -> Vec<u8> {
    let mut seen = Vec::new();
    let mut part = [0; 4096];
    loop {
        let count = stream.read(&mut part).unwrap();
        assert_ne!(count, 0);
        seen.extend_from_slice(&part[..count]);
        if let Some(head) = seen.windows(4).position(|window| window == b"\r\n\r\n") {
            let text = String::from_utf8_lossy(&seen[..head]).to_lowercase();
            let length: usize =
                text.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap().parse().unwrap();
            if seen.len() >= head + 4 + length {
                return seen[head + 4..].to_vec();
            }
        }
    }
}

#[test]
fn a_station_whose_disk_is_full_keeps_its_credential() {
    let pki = Pki::start();
    let car = Car::enrolled_at(&pki);
    let before = car.client.credential().unwrap().0.id();
    // A file where the folder of new credentials would be: what cannot be written is an error with its name.
    let broken = tempfile::tempdir().unwrap();
    std::fs::write(broken.path().join("ec"), b"").unwrap();
    let device = super::key_files(broken.path());
    let client = Client::new(broken.path(), device);
    client.canonical_key(Curve::NistP256).unwrap();
    let url = format!("{}/ea", pki.server.url());
    let error = client.enrol(super::ID, Endpoint { certificate: pki.ea(), url: &url }, Curve::NistP256).unwrap_err();
    assert!(matches!(error, ServiceError::File { .. } | ServiceError::Pki(_)), "{error}");
    assert_eq!(car.client.credential().unwrap().0.id(), before);
}

#[test]
fn a_damaged_certificate_or_note_is_named() {
    let pki = Pki::start();
    let car = Car::enrolled_at(&pki);
    let id = car.client.credential().unwrap().0.id();
    let note = car.folder.path().join("ec").join(format!("{id}.meta"));
    std::fs::write(&note, b"{").unwrap();
    let error = car.client.credential().map(drop).unwrap_err();
    assert!(error.to_string().contains(&format!("{id}.meta")), "{error}");
}

#[test]
fn requests_that_are_none_are_answered_with_a_status() {
    let pki = Pki::start();
    let status = |path: &str, content_type: &str, body: &[u8]| {
        let mut stream = TcpStream::connect(pki.server.url().strip_prefix("http://").unwrap()).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        // The server may answer before it has read all.
        let _ = stream.write_all(body);
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer.split(' ').nth(1).unwrap_or("none").to_owned()
    };
    assert_eq!(status("/ea", REQUEST_TYPE, &[0x5a; 300]), "400");
    assert_eq!(status("/aa", REQUEST_TYPE, &[]), "400");
    assert_eq!(status("/aa", "text/plain", b"x"), "415");
    assert_eq!(status("/ea", REQUEST_TYPE, &vec![0; 65 * 1024]), "413");
    assert_eq!(status("/nowhere", REQUEST_TYPE, b""), "404");
    assert_eq!(status("/getectl", REQUEST_TYPE, b""), "405");
}
