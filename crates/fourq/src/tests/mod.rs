//! Tests that look inside; those of the public interface are in `tests/`.

mod draft;
mod tables;
mod torsion;
