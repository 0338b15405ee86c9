//! What features keep while a configuration is loaded, such as what they compiled already.

use std::any::{Any, TypeId};
use std::collections::HashMap;

/// At most one value of each type, so that the loader need not know the features whose values it holds.
#[derive(Default)]
pub(crate) struct States(HashMap<TypeId, Box<dyn Any>>);

impl States {
    /// The value of that type; a new one where there was none.
    pub(crate) fn get_or_default<T: Any + Default>(&mut self) -> &mut T {
        let state = self.0.entry(TypeId::of::<T>()).or_insert_with(|| Box::<T>::default());
        state.downcast_mut().expect("the value is filed under its own type")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_found_by_its_type() {
        let mut states = States::default();
        states.get_or_default::<Vec<u8>>().push(1);
        states.get_or_default::<Vec<u16>>().push(2);
        assert_eq!((states.get_or_default::<Vec<u8>>(), &*vec![1u8]), (&mut vec![1u8], &[1u8][..]));
    }
}
