//! Ctrl-C: the first one ends a run with what there is, the second one ends the program.

use std::sync::atomic::AtomicBool;

/// A flag that the first Ctrl-C (or SIGTERM) raises. The handler resets itself, so a second one ends the program.
pub fn flag() -> &'static AtomicBool {
    crate::sys::interrupt_flag()
}
