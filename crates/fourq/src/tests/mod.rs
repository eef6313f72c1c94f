//! Tests that look inside; those of the public interface are in `tests/`.
//!
//! What is generic over the field is tested with every field this processor has.

mod differential;
mod draft;
mod fields;
mod tables;
mod torsion;

use crate::field::Field;
use crate::point::{Cached, Extended};

/// Twice a point.
fn doubled<F: Field>(point: &Extended, field: F) -> Extended {
    let mut point = *point;
    point.double(field);
    point
}

/// The sum of two points.
fn sum<F: Field>(point: &Extended, other: &Cached, field: F) -> Extended {
    let mut point = *point;
    point.add(other, field);
    point
}

/// Calls a generic function with every field this processor has.
macro_rules! with_each_field {
    ($run:ident) => {
        $run(crate::field::Portable);
        match chronoseal_fourq_mulx::Mulx::detect() {
            Some(mulx) => $run(mulx),
            None => println!("only portable: this processor lacks BMI2 or AVX2"),
        }
        match crate::field::Vectors::detect() {
            Some(vectors) => $run(vectors),
            None => println!("no vectors: this processor lacks AVX-512 IFMA"),
        }
    };
}
use with_each_field;
