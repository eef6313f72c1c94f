//! Behaviour of the scenario format, one module each.

mod shipped;
