//! Ctrl-C as a flag.

use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn on_interrupt(_: libc::c_int) {
    STOP.store(true, Ordering::Relaxed);
}

/// A flag that the first SIGINT or SIGTERM raises. The handler resets itself, so a second one ends the program.
pub(crate) fn interrupt_flag() -> &'static AtomicBool {
    let action = SigAction::new(SigHandler::Handler(on_interrupt), SaFlags::SA_RESETHAND, SigSet::empty());
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        // SAFETY: the handler only stores to a static atomic, which is safe at any time. If the kernel refuses, the
        // signal keeps ending the program, as it would without a handler.
        let _ = unsafe { sigaction(signal, &action) };
    }
    &STOP
}
