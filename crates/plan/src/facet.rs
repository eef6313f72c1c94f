//! What only one kind of segment knows, kept where every kind is kept.

use std::any::Any;
use std::fmt::Debug;

/// A value of a type that one kind of segment has chosen: the segment itself, a hop on it. Whoever knows the type gets it
/// back; everybody else passes it on.
#[derive(Debug)]
pub struct Facet(Box<dyn Kept>);

/// A type that a [`Facet`] can hold.
trait Kept: Any + Debug + Send + Sync {
    fn copy(&self) -> Box<dyn Kept>;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

impl<T: Any + Clone + Debug + Send + Sync> Kept for T {
    fn copy(&self) -> Box<dyn Kept> {
        Box::new(self.clone())
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

impl Facet {
    /// Holds a value.
    pub fn new<T: Any + Clone + Debug + Send + Sync>(value: T) -> Self {
        Self(Box::new(value))
    }

    /// The value, if it is of this type.
    #[inline]
    pub fn get<T: Any>(&self) -> Option<&T> {
        (*self.0).as_any().downcast_ref()
    }

    /// The value, to be changed, if it is of this type.
    pub fn get_mut<T: Any>(&mut self) -> Option<&mut T> {
        (*self.0).as_any_mut().downcast_mut()
    }
}

impl Clone for Facet {
    fn clone(&self) -> Self {
        Self((*self.0).copy())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_facet_gives_its_value_back_to_who_knows_the_type() {
        let mut facet = Facet::new(7u32);
        assert_eq!((facet.get::<u32>(), facet.get::<u16>()), (Some(&7), None));
        let kept = facet.clone();
        *facet.get_mut::<u32>().unwrap() += 1;
        assert_eq!((facet.get(), kept.get()), (Some(&8u32), Some(&7u32)));
    }
}
