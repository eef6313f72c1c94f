//! Whole networks of clocks.

mod as6802;
mod gptp;
