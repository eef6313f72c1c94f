//! A station whose keys are in a PKCS#11 token, from the program alone.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

const BINARY: &str = env!("CARGO_BIN_EXE_chronoseal-v2x");

const MODULE: &str = "/usr/lib/softhsm/libsofthsm2.so";

/// A token that was just initialised, as the guide has it; `None` where SoftHSM is missing.
fn token(folder: &Path) -> Option<()> {
    if !Path::new(MODULE).exists() {
        println!("skipped: no SoftHSM: apt-get install softhsm2");
        assert_ne!(std::env::var("CHRONOSEAL_REQUIRE_LIVE").as_deref(), Ok("1"));
        return None;
    }
    std::fs::create_dir(folder.join("tokens")).unwrap();
    let configuration = folder.join("softhsm2.conf");
    std::fs::write(&configuration, format!("directories.tokendir = {}\n", folder.join("tokens").display())).unwrap();
    let made = Command::new("softhsm2-util")
        .args(["--init-token", "--free", "--label", "vehicle", "--pin", "4711", "--so-pin", "0815"])
        .env("SOFTHSM2_CONF", &configuration)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let hsm = format!(
        r#"{{ "kind": "pkcs11", "module": "{MODULE}", "token": "vehicle", "environment": {{ "SOFTHSM2_CONF": "{}" }} }}"#,
        configuration.display()
    );
    std::fs::write(folder.join("hsm.json"), hsm).unwrap();
    std::fs::write(folder.join("pin"), "4711\n").unwrap();
    Some(())
}

fn keygen(program: &Path, folder: &Path, pin: &str) -> (Option<i32>, String) {
    let mut command = Command::new(program);
    command.args(["pki", "keygen", "--dir", "car", "--hsm", "hsm.json", "--pin-file", pin]).current_dir(folder);
    let output = command.env_remove("CHRONOSEAL_HSM_WORKER").env_remove("SOFTHSM2_CONF").output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn keys_of_a_token_need_no_other_program_and_the_right_pin() {
    let folder = tempfile::tempdir().unwrap();
    if token(folder.path()).is_none() {
        return;
    }
    // Nothing else lies beside it, as after the build that the README names.
    let program = folder.path().join("chronoseal-v2x");
    std::fs::copy(BINARY, &program).unwrap();
    // Written as a shell does it by itself, the PIN is everybody's.
    let pin = folder.path().join("pin");
    std::fs::set_permissions(&pin, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (status, said) = keygen(&program, folder.path(), "pin");
    assert_eq!(status, Some(0), "{said}");
    assert!(said.starts_with("warning: pin: ") && said.contains("chmod 600 pin"), "{said}");
    std::fs::set_permissions(&pin, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(keygen(&program, folder.path(), "pin"), (Some(0), String::new()));
    assert!(folder.path().join("car/canonical.pub.pem").exists());
    std::fs::write(folder.path().join("wrong"), "0000\n").unwrap();
    let (status, said) = keygen(&program, folder.path(), "wrong");
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("PIN"), "{said}");
    // By another name it cannot be its own worker, and says what is missing and how to make it.
    let renamed = folder.path().join("renamed");
    std::fs::copy(BINARY, &renamed).unwrap();
    let (status, said) = keygen(&renamed, folder.path(), "pin");
    assert_eq!(status, Some(2), "{said}");
    let build = "cargo build --release -p chronoseal-v2x-service --bin chronoseal-hsm-worker";
    assert!(said.contains("chronoseal-hsm-worker beside this one") && said.contains(build), "{said}");
}
