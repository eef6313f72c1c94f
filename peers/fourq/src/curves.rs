//! X25519, Ed25519 and P-256.

use crate::Operation;

/// All operations.
pub fn operations() -> Vec<Operation> {
    Vec::new()
}
