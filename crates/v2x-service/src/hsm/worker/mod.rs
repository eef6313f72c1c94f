//! A back end in a process of its own.
//!
//! A PKCS#11 module is foreign code: it may crash, hang or be killed. [`Remote`] starts the program
//! `chronoseal-hsm-worker`, or `chronoseal-v2x` as one, which calls [`main`], and passes every call over a socket. When the worker goes, or does not
//! answer in time, the caller gets [`HsmError::DeviceLost`](super::HsmError::DeviceLost) and
//! [`Hsm::recover`](super::Hsm::recover) starts another.
//!
//! The socket is the worker's standard input, both ways. Its standard output is closed, so that a module that prints
//! spoils nothing. The PIN goes over the socket, never through arguments or the environment.

mod remote;
mod serve;
mod wire;

pub use remote::Remote;
pub use serve::{main, serve};

/// What a worker is started with: `chronoseal` has other commands, too.
const WORKER_ARGUMENT: &str = "hsm-worker";
