//! A PostgreSQL server of the test's own, ended with it.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server on a socket in its own folder.
pub(crate) struct PostgresServer {
    process: Child,
    folder: tempfile::TempDir,
}

impl PostgresServer {
    /// None, said on standard output, if PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(|_| Vec::new())
    }

    /// As [`PostgresServer::start`], with more options, after `prepare` wrote what it likes into the server's folder. What it
    /// wrote becomes the server's own.
    pub(crate) fn start_with(prepare: impl FnOnce(&Path) -> Vec<String>) -> Option<Self> {
        let Some(programs) = programs() else {
            crate::pki::skip("no PostgreSQL in /usr/lib/postgresql: apt-get install postgresql");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        // PostgreSQL refuses to run as root.
        let user = is_root(folder.path()).then(unprivileged);
        if let Some((uid, gid)) = user {
            chown(folder.path(), Some(uid), Some(gid)).unwrap();
        }
        let home = folder.path().to_owned();
        let command = |program: &str| {
            let mut command = Command::new(programs.join(program));
            command.current_dir(&home).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            if let Some((uid, gid)) = user {
                command.uid(uid).gid(gid);
            }
            command
        };
        let arguments = ["--username=chronoseal", "--auth=trust", "--no-sync", "--pgdata"];
        assert!(command("initdb").args(arguments).arg(&data).status().unwrap().success(), "initdb");
        let options = prepare(folder.path());
        for entry in std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()) {
            if let Some((uid, gid)) = user {
                chown(entry, Some(uid), Some(gid)).unwrap();
            }
        }
        let port = options.iter().find_map(|option| option.strip_prefix("port=")).unwrap_or("5432").to_owned();
        let process = command("postgres")
            .arg("-D")
            .arg(&data)
            .args(["-c", "listen_addresses=", "-c", "fsync=off", "-k"])
            .arg(folder.path())
            .args(options)
            .spawn()
            .unwrap();
        let server = Self { process, folder };
        for _ in 0..150 {
            let ready = command("pg_isready").args(["-p", &port, "-h"]).arg(&home).status();
            if ready.is_ok_and(|status| status.success()) {
                return Some(server);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("PostgreSQL does not start");
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        let folder = self.folder.path().to_str().unwrap().replace('/', "%2F");
        format!("postgresql://chronoseal@{folder}/postgres")
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        // Its own process, by its number. It has nothing to save.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut folders: Vec<PathBuf> = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect();
    folders.retain(|folder| folder.join("initdb").exists());
    folders.sort();
    folders.pop()
}

fn is_root(own: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(own).unwrap().uid() == 0
}

/// User and group to run as instead of root.
fn unprivileged() -> (u32, u32) {
    let users = std::fs::read_to_string("/etc/passwd").unwrap();
    let find = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2).map(|field| field.parse().ok());
        Some((fields.next()??, fields.next()??))
    };
    find("postgres").or_else(|| find("nobody")).unwrap()
}
