//! The passes that layers above make over the bytes of a body which is still on the wire.

use std::any::Any;
use std::fmt;

/// One pass over a body: what it has found, and where it stands.
pub trait Pass: Any + fmt::Debug {
    /// The body is another one, or has left: the pass is over, and its buffers can serve others.
    fn retire(self: Box<Self>);
}

/// The passes that were begun over the current body.
#[derive(Debug, Default)]
pub struct Passes {
    /// Most bodies have one, which takes no memory of its own.
    first: Option<Box<dyn Pass>>,
    others: Vec<Box<dyn Pass>>,
}

impl Passes {
    /// The passes of that type.
    pub fn iter<P: Pass>(&self) -> impl Iterator<Item = &P> {
        self.first.iter().chain(&self.others).filter_map(|pass| (&**pass as &dyn Any).downcast_ref())
    }

    /// Takes out the first pass of that type for which `is_it` holds.
    pub fn take<P: Pass>(&mut self, mut is_it: impl FnMut(&P) -> bool) -> Option<Box<P>> {
        let mut fits = |pass: &dyn Pass| (pass as &dyn Any).downcast_ref().is_some_and(&mut is_it);
        let found = if self.first.as_deref().is_some_and(&mut fits) {
            self.first.take()
        } else {
            let at = self.others.iter().position(|pass| fits(&**pass))?;
            Some(self.others.swap_remove(at))
        };
        (found? as Box<dyn Any>).downcast().ok()
    }

    /// Keeps a pass.
    pub fn put(&mut self, pass: Box<dyn Pass>) {
        match self.first {
            None => self.first = Some(pass),
            Some(_) => self.others.push(pass),
        }
    }

    /// All passes are over.
    pub fn clear(&mut self) {
        if let Some(first) = self.first.take() {
            first.retire();
        }
        if !self.others.is_empty() {
            self.others.drain(..).for_each(Pass::retire);
        }
    }
}

impl Drop for Passes {
    fn drop(&mut self) {
        self.clear();
    }
}
