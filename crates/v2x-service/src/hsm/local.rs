//! Devices that need no hardware: for tests, benches, studies and who wants to look.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{BackEnd, HsmError, RtlConfig, RtlLink, TpmEndpoint};

/// Label of the token [`softhsm`] makes.
const TOKEN: &str = "vehicle";
/// Where Debian puts the module.
const MODULES: [&str; 2] = ["/usr/lib/softhsm/libsofthsm2.so", "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so"];

/// Makes a SoftHSM token in `folder`, which must hold none yet. The module is `CHRONOSEAL_PKCS11_MODULE` or Debian's.
///
/// # Errors
/// [`HsmError::NoDevice`] with what to install; [`HsmError::Io`] if the folder cannot be written.
pub fn softhsm(folder: &Path, pin: &str) -> Result<BackEnd, HsmError> {
    let install = || HsmError::NoDevice("no SoftHSM: apt-get install softhsm2".into());
    let named = std::env::var_os("CHRONOSEAL_PKCS11_MODULE").map(PathBuf::from);
    let module = named.or_else(|| MODULES.iter().map(PathBuf::from).find(|path| path.exists())).ok_or_else(install)?;
    let (tokens, configuration) = (folder.join("tokens"), folder.join("softhsm2.conf"));
    std::fs::create_dir_all(&tokens).map_err(|e| HsmError::file(&tokens, &e))?;
    let text = format!("directories.tokendir = {}\nobjectstore.backend = file\nlog.level = ERROR\n", tokens.display());
    std::fs::write(&configuration, text).map_err(|e| HsmError::file(&configuration, &e))?;
    let made = Command::new("softhsm2-util")
        .args(["--init-token", "--free", "--label", TOKEN, "--pin", pin, "--so-pin", pin])
        .env("SOFTHSM2_CONF", &configuration)
        .output()
        .map_err(|_| install())?;
    if !made.status.success() {
        return Err(HsmError::NoDevice(format!("softhsm2-util: {}", String::from_utf8_lossy(&made.stderr).trim())));
    }
    let environment = BTreeMap::from([("SOFTHSM2_CONF".into(), configuration.display().to_string())]);
    Ok(BackEnd::Pkcs11 { module, token: TOKEN.into(), predefined: None, environment, sessions_max: 4 })
}

/// A software TPM that keeps its state in `folder`.
///
/// # Errors
/// [`HsmError::NoDevice`] with what to install.
pub fn swtpm(folder: &Path) -> Result<BackEnd, HsmError> {
    match Command::new("swtpm").arg("--version").output() {
        Ok(_) => Ok(BackEnd::Tpm { endpoint: TpmEndpoint::Swtpm(folder.to_owned()), predefined: None }),
        Err(_) => Err(HsmError::NoDevice("no software TPM: apt-get install swtpm".into())),
    }
}

/// The simulated accelerator at 100 MHz on USB high speed. The simulator is `CHRONOSEAL_RTL`, or lies in `rtl/` of the folder
/// this program was built into.
///
/// # Errors
/// [`HsmError::NoDevice`] with how to build it.
pub fn rtl(flash: Option<&Path>) -> Result<BackEnd, HsmError> {
    let named = std::env::var_os("CHRONOSEAL_RTL").map(PathBuf::from);
    let engine = named.or_else(|| beside(Path::new("rtl/p256_engine"))).ok_or_else(|| {
        HsmError::NoDevice("no simulator: apt-get install verilator g++ make; cargo xtask rtl build".into())
    })?;
    let (flash, link) = (flash.map(Path::to_owned), RtlLink::UsbHigh);
    Ok(BackEnd::Rtl(RtlConfig { engine, link, clock_hz: 100_000_000, flash, predefined: None }))
}

/// The program that holds foreign modules: `CHRONOSEAL_HSM_WORKER`, `chronoseal-hsm-worker` beside this one, or this one itself
/// if it is `chronoseal-v2x`.
///
/// # Errors
/// [`HsmError::NoDevice`] if it is nowhere, with the command that makes it.
pub fn worker() -> Result<PathBuf, HsmError> {
    let named = std::env::var_os("CHRONOSEAL_HSM_WORKER").map(PathBuf::from);
    let found = named.or_else(|| beside(Path::new("chronoseal-hsm-worker"))).or_else(|| {
        let own = std::env::current_exe().ok();
        own.filter(|program| program.file_name().is_some_and(|name| name == "chronoseal-v2x"))
    });
    found.ok_or_else(|| {
        let build = "cargo build --release -p chronoseal-v2x-service --bin chronoseal-hsm-worker";
        HsmError::NoDevice(format!("a PKCS#11 module needs the program chronoseal-hsm-worker beside this one: {build}"))
    })
}

/// A file in the folder of this program or one of the three above: tests and benches lie in `deps/` of theirs.
fn beside(path: &Path) -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    program.ancestors().skip(1).take(4).map(|folder| folder.join(path)).find(|path| path.exists())
}
