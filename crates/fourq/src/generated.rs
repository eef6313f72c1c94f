//! Tables. `tests/tables.rs` computes them anew and compares, and writes them.

#[path = "../tables/comb.rs"]
pub(crate) mod comb;
#[path = "../tables/small_order.rs"]
pub(crate) mod small_order;
#[path = "../tables/windows.rs"]
pub(crate) mod windows;
