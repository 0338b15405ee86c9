//! What layers above keep with an exchange, each found by its type.

use std::any::Any;

/// A value that a layer above keeps with an exchange.
pub trait Extension: Any {
    /// What a copy of the exchange gets; nothing unless the value says otherwise.
    fn for_copy(&self) -> Option<Box<dyn Extension>> {
        None
    }
}

/// At most one value of each type. Most exchanges have none, which costs nothing.
#[derive(Default)]
pub struct Extensions(Vec<Box<dyn Extension>>);

impl Extensions {
    /// The value of that type.
    pub fn get<T: Extension>(&self) -> Option<&T> {
        self.0.iter().find_map(|value| (&**value as &dyn Any).downcast_ref())
    }

    /// The value of that type, to be changed.
    pub fn get_mut<T: Extension>(&mut self) -> Option<&mut T> {
        self.0.iter_mut().find_map(|value| (&mut **value as &mut dyn Any).downcast_mut())
    }

    /// The value of that type, to be changed; a new one where there was none.
    pub fn get_or_default<T: Extension + Default>(&mut self) -> &mut T {
        let is_it = |value: &dyn Extension| (value as &dyn Any).is::<T>();
        let index = self.0.iter().position(|value| is_it(&**value)).unwrap_or_else(|| {
            self.0.push(Box::<T>::default());
            self.0.len() - 1
        });
        let value = (&mut *self.0[index] as &mut dyn Any).downcast_mut();
        value.expect("the value at this index is of this type")
    }

    /// Puts a value in the place of the one of its type.
    pub fn put<T: Extension>(&mut self, value: T) {
        self.take::<T>();
        self.0.push(Box::new(value));
    }

    /// Takes the value of that type out.
    pub fn take<T: Extension>(&mut self) -> Option<Box<T>> {
        let index = self.0.iter().position(|value| (&**value as &dyn Any).is::<T>())?;
        (self.0.swap_remove(index) as Box<dyn Any>).downcast().ok()
    }

    /// What a copy of the exchange begins with.
    pub fn for_copy(&self) -> Extensions {
        Extensions(self.0.iter().filter_map(|value| value.for_copy()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq)]
    struct ExternalTexts(u32);
    struct Left;

    impl Extension for ExternalTexts {
        fn for_copy(&self) -> Option<Box<dyn Extension>> {
            Some(Box::new(ExternalTexts(self.0)))
        }
    }

    impl Extension for Left {}

    #[test]
    fn values_are_found_by_type_and_copies_get_what_is_for_them() {
        let mut extensions = Extensions::default();
        assert!(extensions.get::<ExternalTexts>().is_none());
        extensions.put(Left);
        extensions.put(ExternalTexts(1));
        extensions.get_or_default::<ExternalTexts>().0 += 1;
        let copy = extensions.for_copy();
        assert_eq!(copy.get::<ExternalTexts>(), Some(&ExternalTexts(2)));
        assert!(
            copy.get::<Left>().is_none() && extensions.take::<Left>().is_some() && extensions.get::<Left>().is_none()
        );
    }
}
