//! Enough stack, however deep stylesheets nest and templates call each other.

/// How much must be left for one instruction with its expressions, which nest to a bound of their own.
const LEFT_BYTES: usize = 512 * 1024;

/// How much is made elsewhere where less is left.
pub(crate) const MORE_BYTES: usize = 4 * 1024 * 1024;

/// The address below which the stack must not grow before more of it is made; 0 where nobody knows its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Floor(usize);

impl Floor {
    /// Of the part of the stack that is in use.
    pub(crate) fn here() -> Floor {
        let left = stacker::remaining_stack();
        Floor(left.map_or(0, |left| (address() + LEFT_BYTES).saturating_sub(left)))
    }

    /// Whether enough is left for one step of a recursion.
    #[inline]
    pub(crate) fn suffices(self) -> bool {
        address() >= self.0
    }
}

/// An address near the end of the stack as it is now.
#[inline]
fn address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(&here).addr()
}

/// Runs something on stack that is made for it.
pub(crate) fn on_more<T>(step: impl FnOnce() -> T) -> T {
    stacker::grow(MORE_BYTES, step)
}

/// Runs one step of a recursion, which has a bound of its own, with enough stack for it.
pub(crate) fn with_enough<T>(step: impl FnOnce() -> T) -> T {
    if Floor::here().suffices() { step() } else { on_more(step) }
}
