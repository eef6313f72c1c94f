//! What is printed in published works, and what holds for every network.

mod calculus;
mod can_bus;
mod curve;
