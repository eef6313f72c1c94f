//! Links Intel's crypto_mb from the folder `CRYPTO_MB` names, if it does: the one with `libcrypto_mb.a`, of
//! <https://github.com/intel/cryptography-primitives>, `sources/ippcp/crypto_mb`.

fn main() {
    println!("cargo::rerun-if-env-changed=CRYPTO_MB");
    println!("cargo::rustc-check-cfg=cfg(crypto_mb)");
    let Some(folder) = std::env::var_os("CRYPTO_MB") else {
        println!("cargo::warning=CRYPTO_MB is not set: no crypto_mb in the table");
        return;
    };
    println!("cargo::rustc-link-search=native={}", folder.display());
    println!("cargo::rustc-link-lib=static=crypto_mb");
    println!("cargo::rustc-link-lib=dylib=crypto");
    println!("cargo::rustc-cfg=crypto_mb");
}
