//! The operators, for values and references alike.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use super::{Form, Rational};

#[inline(never)]
fn sum(a: &Rational, b: &Rational) -> Rational {
    if let (Form::Small(a), Form::Small(b)) = (&a.0, &b.0)
        && let Some(sum) = a.plus(b)
    {
        return Rational::of_small(sum);
    }
    Rational::of_big(a.to_big() + b.to_big())
}

#[inline(never)]
fn difference(a: &Rational, b: &Rational) -> Rational {
    if let (Form::Small(a), Form::Small(b)) = (&a.0, &b.0)
        && let Some(difference) = a.plus(&b.negated())
    {
        return Rational::of_small(difference);
    }
    Rational::of_big(a.to_big() - b.to_big())
}

#[inline(never)]
fn product(a: &Rational, b: &Rational) -> Rational {
    if let (Form::Small(a), Form::Small(b)) = (&a.0, &b.0)
        && let Some(product) = a.times(b)
    {
        return Rational::of_small(product);
    }
    Rational::of_big(a.to_big() * b.to_big())
}

#[inline(never)]
fn quotient(a: &Rational, b: &Rational) -> Rational {
    assert!(!b.is_zero(), "nothing is divided by zero");
    if let (Form::Small(a), Form::Small(b)) = (&a.0, &b.0)
        && let Some(quotient) = b.inverted().and_then(|inverted| a.times(&inverted))
    {
        return Rational::of_small(quotient);
    }
    Rational::of_big(a.to_big() / b.to_big())
}

#[inline(never)]
fn negative(a: &Rational) -> Rational {
    match &a.0 {
        Form::Small(small) => Rational::of_small(small.negated()),
        Form::Large(_) => Rational::of_big(-a.to_big()),
    }
}

macro_rules! operator {
    ($operator:ident, $method:ident, $assign:ident, $assign_method:ident, $function:ident) => {
        impl $operator<&Rational> for &Rational {
            type Output = Rational;
            fn $method(self, other: &Rational) -> Rational {
                $function(self, other)
            }
        }
        impl $operator<Rational> for &Rational {
            type Output = Rational;
            fn $method(self, other: Rational) -> Rational {
                $function(self, &other)
            }
        }
        impl $operator<&Rational> for Rational {
            type Output = Rational;
            fn $method(self, other: &Rational) -> Rational {
                $function(&self, other)
            }
        }
        impl $operator<Rational> for Rational {
            type Output = Rational;
            fn $method(self, other: Rational) -> Rational {
                $function(&self, &other)
            }
        }
        impl $assign<&Rational> for Rational {
            fn $assign_method(&mut self, other: &Rational) {
                *self = $function(self, other);
            }
        }
        impl $assign<Rational> for Rational {
            fn $assign_method(&mut self, other: Rational) {
                *self = $function(self, &other);
            }
        }
    };
}

operator!(Add, add, AddAssign, add_assign, sum);
operator!(Sub, sub, SubAssign, sub_assign, difference);
operator!(Mul, mul, MulAssign, mul_assign, product);
operator!(Div, div, DivAssign, div_assign, quotient);

impl Neg for &Rational {
    type Output = Rational;
    fn neg(self) -> Rational {
        negative(self)
    }
}

impl Neg for Rational {
    type Output = Rational;
    fn neg(self) -> Rational {
        negative(&self)
    }
}

impl Sum for Rational {
    fn sum<I: Iterator<Item = Self>>(numbers: I) -> Self {
        numbers.fold(Self::ZERO, |total, number| sum(&total, &number))
    }
}

impl<'a> Sum<&'a Self> for Rational {
    fn sum<I: Iterator<Item = &'a Self>>(numbers: I) -> Self {
        numbers.fold(Self::ZERO, |total, number| sum(&total, number))
    }
}
