//! Tests that look inside; those of the public interface are in `tests/`.

mod differential;
mod draft;
mod tables;
mod torsion;
