//! Tables of multiples of the base point. `tests/tables.rs` computes them anew and compares, and writes them.

#[path = "../tables/comb.rs"]
pub(crate) mod comb;
#[path = "../tables/windows.rs"]
pub(crate) mod windows;
