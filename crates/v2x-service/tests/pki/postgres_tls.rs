//! PostgreSQL over TLS.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use chronoseal_v2x_service::store::{Store, StoreError};

use super::postgres_server::PostgresServer;

fn openssl(folder: &Path, arguments: &str) -> bool {
    let made = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output();
    made.is_ok_and(|output| output.status.success())
}

/// A root, a certificate by it for `localhost`, and another root; false without OpenSSL.
fn certificates(folder: &Path) -> bool {
    std::fs::write(folder.join("san"), "subjectAltName = DNS:localhost\nbasicConstraints = CA:FALSE\n").unwrap();
    let new = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2";
    openssl(folder, &format!("req -x509 {new} -subj /CN=root -keyout root.key -out root.pem"))
        && openssl(folder, &format!("req -x509 {new} -subj /CN=other -keyout other.key -out other.pem"))
        && openssl(folder, &format!("req {new} -subj /CN=localhost -keyout server.key -out server.csr"))
        && openssl(
            folder,
            "x509 -req -in server.csr -CA root.pem -CAkey root.key -CAcreateserial -days 2 -extfile san -out server.pem",
        )
}

/// A server that takes nobody over TCP without TLS, and its port.
fn start() -> Option<(PostgresServer, u16)> {
    let probe = tempfile::tempdir().unwrap();
    if !certificates(probe.path()) {
        super::skip("no openssl: apt-get install openssl");
        return None;
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = PostgresServer::start_with(|folder| {
        assert!(certificates(folder));
        let rules = "local all all trust\nhostssl all all 127.0.0.1/32 trust\nhostssl all all ::1/128 trust\n";
        std::fs::write(folder.join("data/pg_hba.conf"), rules).unwrap();
        let place = |name: &str| folder.join(name).display().to_string();
        let (certificate, key) = (place("server.pem"), place("server.key"));
        let options = [
            "listen_addresses=localhost".to_owned(),
            format!("port={port}"),
            "ssl=on".to_owned(),
            format!("ssl_cert_file={certificate}"),
            format!("ssl_key_file={key}"),
        ];
        options.into_iter().flat_map(|option| ["-c".to_owned(), option]).collect()
    })?;
    Some((server, port))
}

#[test]
fn postgresql_is_reached_over_tls_and_verified_if_that_is_asked_for() {
    let Some((server, port)) = start() else { return };
    let open = |host: &str, query: &str| Store::open(&format!("postgresql://chronoseal@{host}:{port}/postgres{query}"));
    let root = |name: &str| server.folder().join(name).display().to_string().replace('/', "%2F");
    let verified = |name: &str| format!("?sslmode=verify-full&sslrootcert={}", root(name));

    open("localhost", "?sslmode=require").unwrap().revoked_authorities().unwrap();
    open("127.0.0.1", "?connect_timeout=5&sslmode=require").unwrap();
    open("localhost", "?sslmode=prefer").unwrap();
    open("localhost", &verified("root.pem")).unwrap().revoked_authorities().unwrap();

    let refused = |host: &str, query: &str| open(host, query).map(drop).unwrap_err().to_string();
    for plain in ["", "?sslmode=disable"] {
        let refused = refused("localhost", plain);
        assert!(refused.contains("no encryption"), "{plain}: {refused}");
    }
    let refused_as = refused("localhost", &verified("other.pem"));
    assert!(refused_as.contains("UnknownIssuer") || refused_as.contains("certificate"), "another root: {refused_as}");
    let refused_as = refused("127.0.0.1", &verified("root.pem"));
    assert!(refused_as.contains("not valid for"), "another name: {refused_as}");
}

#[test]
fn what_cannot_be_had_of_tls_is_named_with_what_to_write() {
    let folder = tempfile::tempdir().unwrap();
    let open =
        |query: &str| Store::open(&format!("postgresql://u:secret@127.0.0.1:1/x?{query}")).map(drop).unwrap_err();
    for (query, expected) in [
        ("sslmode=verify-full", "sslrootcert=FILE"),
        ("sslmode=verify-ca", "disable, prefer, require or verify-full"),
        ("sslmode=require&sslrootcert=x", "sslmode=verify-full"),
    ] {
        let error = open(query);
        let text = error.to_string();
        assert!(matches!(error, StoreError::Protection { .. }) && text.contains(expected), "{query}: {text}");
        assert!(!text.contains("secret"), "{text}");
    }
    let path = folder.path().join("roots.pem");
    for content in [None, Some(""), Some("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")] {
        if let Some(content) = content {
            std::fs::write(&path, content).unwrap();
        }
        let error = open(&format!("sslmode=verify-full&sslrootcert={}", path.display()));
        assert!(matches!(error, StoreError::Roots { .. }), "{content:?}: {error}");
        assert!(error.to_string().contains("roots.pem"), "{error}");
    }
}
