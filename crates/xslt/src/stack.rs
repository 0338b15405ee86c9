//! Enough stack, however deep stylesheets nest and templates call each other.

/// How much must be left for one instruction with its expressions, which nest to a bound of their own.
const LEFT_BYTES: usize = 512 * 1024;

/// How much is made elsewhere where less is left.
pub(crate) const MORE_BYTES: usize = 4 * 1024 * 1024;

/// Whether enough is left for one step of a recursion.
#[inline]
pub(crate) fn suffices() -> bool {
    stacker::remaining_stack().is_none_or(|left| left >= LEFT_BYTES)
}

/// Runs something on stack that is made for it.
pub(crate) fn on_more<T>(step: impl FnOnce() -> T) -> T {
    stacker::grow(MORE_BYTES, step)
}

/// Runs one step of a recursion, which has a bound of its own, with enough stack for it.
pub(crate) fn with_enough<T>(step: impl FnOnce() -> T) -> T {
    if suffices() { step() } else { on_more(step) }
}
