//! Enough stack for what nests: expressions in each other, and macros that call themselves.

/// How much must be left for one step of a recursion.
const LEFT_BYTES: usize = 192 * 1024;

/// How much is made elsewhere where less is left.
const MORE_BYTES: usize = 2 * 1024 * 1024;

/// Runs one step of a recursion, which has a bound of its own, with enough stack for it.
#[inline]
pub(crate) fn with_enough<T>(step: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(LEFT_BYTES, MORE_BYTES, step)
}
