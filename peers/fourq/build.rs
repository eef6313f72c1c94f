//! Builds FourQlib from the folder `FOURQLIB` names, the way it computes right: clang, and assembly without AVX2.
//!
//! gcc 12 miscompiles it (strict aliasing), and the AVX2 assembly squares some elements wrong.

use std::path::{Path, PathBuf};
use std::process::Command;

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}

/// What `compiler` calls itself.
fn version(compiler: &str) -> String {
    let output = Command::new(compiler).arg("--version").output().unwrap_or_else(|error| panic!("{compiler}: {error}"));
    String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned()
}

fn main() {
    let rustc = version(&std::env::var("RUSTC").expect("cargo sets it"));
    println!("cargo::rustc-env=COMPILERS={rustc}");
    println!("cargo::rerun-if-env-changed=FOURQLIB");
    println!("cargo::rerun-if-env-changed=FOURQLIB_CC");
    println!("cargo::rustc-check-cfg=cfg(fourqlib)");
    let Some(fourqlib) = std::env::var_os("FOURQLIB").map(PathBuf::from) else {
        println!("cargo::warning=FOURQLIB is not set: no FourQlib in the table");
        return;
    };
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let compiler = std::env::var("FOURQLIB_CC").unwrap_or_else(|_| "clang".into());
    println!("cargo::rustc-env=COMPILERS={rustc}; FourQlib by {}", version(&compiler));
    let flags = ["-O3", "-fwrapv", "-fomit-frame-pointer", "-march=native", "-fno-strict-aliasing", "-w"];
    let defines = ["-D_AMD64_", "-D__LINUX__", "-D_ASM_", "-DUSE_ENDO"];
    let folder = fourqlib.join("FourQ_64bit_and_portable");
    let mut sources: Vec<PathBuf> =
        ["eccp2.c", "eccp2_core.c", "crypto_util.c", "schnorrq.c", "kex.c", "AMD64/fp2_1271.S"]
            .map(|name| folder.join(name))
            .into();
    sources.extend(["sha512/sha512.c", "random/random.c"].map(|name| fourqlib.join(name)));
    let mut archive = Command::new("ar");
    archive.arg("crs").arg(out.join("libfourqlib.a"));
    for source in sources {
        let object = out.join(Path::new(source.file_name().expect("a file"))).with_extension("o");
        run(Command::new(&compiler).args(flags).args(defines).arg("-c").arg(&source).arg("-o").arg(&object));
        archive.arg(object);
    }
    run(&mut archive);
    println!("cargo::rustc-link-search=native={}", out.display());
    println!("cargo::rustc-link-lib=static=fourqlib");
    println!("cargo::rustc-cfg=fourqlib");
}
