//! Secrets marked undefined: Valgrind's memcheck then reports every branch and every address that depends on them.
//!
//! Run under Valgrind on x86-64. Prints the reports per operation, of the portable code and of the
//! assembly, and exits with 1 if there is one where none may be, or
//! if the deliberate leak at the end goes unnoticed.
//!
//! Valgrind knows no AVX-512: sums in vectors are timed, and not seen here.
//!
//! The idea: Adam Langley, "ctgrind", 2010.

use std::arch::asm;
use std::hint::black_box;
use std::process::ExitCode;

use chronoseal_fourq::internals::{Field, Mulx, Portable};
use chronoseal_fourq::{ecdh, internals, schnorrq};

// Client requests, from valgrind.h and memcheck.h: names of tools are in the upper bytes.
const RUNNING_ON_VALGRIND: usize = 0x1001;
const COUNT_ERRORS: usize = 0x1201;
const MAKE_MEM_UNDEFINED: usize = 0x4d43_0001;
const MAKE_MEM_DEFINED: usize = 0x4d43_0002;

/// Asks Valgrind; outside Valgrind the answer is 0.
fn request(code: usize, address: usize, len: usize) -> usize {
    let arguments = [code, address, len, 0, 0, 0];
    let mut answer = 0;
    // SAFETY: the rotations add up to 128 and the exchange is of a register with itself, so that nothing changes but what
    // Valgrind writes to rdx; it reads the arguments.
    unsafe {
        asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") arguments.as_ptr(), inout("rdx") answer,
        );
    }
    answer
}

fn secret<T>(value: &T) {
    request(MAKE_MEM_UNDEFINED, std::ptr::from_ref(value) as usize, size_of::<T>());
}

fn public<T>(value: &T) {
    request(MAKE_MEM_DEFINED, std::ptr::from_ref(value) as usize, size_of::<T>());
}

/// Reports while `run` runs.
fn reports(run: impl FnOnce()) -> usize {
    let before = request(COUNT_ERRORS, 0, 0);
    run();
    request(COUNT_ERRORS, 0, 0) - before
}

/// The operations on secrets, computed in `field`; how many reports there are.
fn leaks<F: Field>(name: &str, field: F) -> usize {
    let peer = ecdh::SecretKey::from_bytes([9; 32]).public();
    let peer = ecdh::PublicKey::from_bytes(&peer).expect("a key");
    let of_each = |operation: &str, run: &dyn Fn([u8; 32])| {
        let reports = reports(|| SECRETS.into_iter().for_each(run));
        println!("{name}, {operation}: {reports} errors");
        reports
    };
    of_each("key generation", &|bytes| {
        secret(&bytes);
        public(&black_box(ecdh::SecretKey::from_bytes(bytes).public_by(field)));
    }) + of_each("agreement", &|bytes| {
        secret(&bytes);
        public(&black_box(ecdh::SecretKey::from_bytes(bytes).agree_by(&peer, field)));
    }) + of_each("signing key", &|bytes| {
        secret(&bytes);
        public(&black_box(schnorrq::SigningKey::from_seed_by(bytes, field)));
    }) + of_each("signing", &|bytes| {
        secret(&bytes);
        let key = schnorrq::SigningKey::from_seed_by(bytes, field);
        public(&black_box(key.sign_by(b"share of node 7", field)));
        public(&key);
    })
}

const SECRETS: [[u8; 32]; 4] = [[7; 32], [0xff; 32], [1; 32], {
    let (mut bytes, mut i) = ([0; 32], 0);
    while i < 32 {
        bytes[i] = i as u8;
        i += 1;
    }
    bytes
}];

fn main() -> ExitCode {
    if request(RUNNING_ON_VALGRIND, 0, 0) == 0 {
        eprintln!("not under Valgrind: nothing would be seen");
        return ExitCode::from(2);
    }
    let mut leaks_seen = leaks("portable", Portable);
    match Mulx::detect() {
        Some(mulx) => leaks_seen += leaks("assembly", mulx),
        None => println!("assembly: not run, this processor lacks BMI2 or AVX2"),
    }

    // What must be seen: verification of a secret point runs in variable time.
    let scalar = internals::Scalar::from_bytes_mod_order(&SECRETS[0]);
    let control = reports(|| {
        let hidden = scalar;
        secret(&hidden);
        let generator = internals::Affine::GENERATOR.to_extended();
        let sum = black_box(internals::double_multiply_vartime(&hidden, &scalar, &generator, Portable));
        public(&sum);
    });
    println!("control, variable time: {control} errors (some are expected)");
    ExitCode::from(u8::from(leaks_seen != 0 || control == 0))
}
