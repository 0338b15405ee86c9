//! What a layer above keeps beside a document, found by its type, so that no layer has to name one above.

use std::any::Any;
use std::fmt;

/// At most one value, of whatever type the layer above chose.
#[derive(Default)]
pub struct Annotation(Option<Box<dyn Any + Send + Sync>>);

impl Annotation {
    /// The value, if it is of that type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.as_ref()?.downcast_ref()
    }

    /// The value of that type, to be changed; a new one where there was none.
    pub fn get_or_default<T: Any + Default + Send + Sync>(&mut self) -> &mut T {
        if self.get::<T>().is_none() {
            self.0 = Some(Box::<T>::default());
        }
        let value = self.0.as_mut().and_then(|value| value.downcast_mut());
        value.expect("it was put there by the lines above")
    }

    /// Drops the value.
    pub fn clear(&mut self) {
        self.0 = None;
    }
}

impl fmt::Debug for Annotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Annotation(full)" } else { "Annotation(empty)" })
    }
}
