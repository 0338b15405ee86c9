//! Expressions as an automaton over the parser's events: several in one pass, which stops at the decision.
//!
//! What is asked of a message to route it, mostly needs no tree: which element stands where, what its text is, how many
//! there are. A [`Plan`] compiles such expressions to paths whose steps are bits of words, and a [`Run`] moves these
//! bits along with the parser. What cannot be answered that way is refused when it is compiled ([`NotStreamable`]), or
//! left to the tree when a document turns out to need it ([`Answer::NeedsTree`]); nothing is answered differently.

mod compile;
mod names;
mod plan;
mod run;

#[cfg(test)]
mod tests;

pub use compile::{NotStreamable, StartAt};
pub use plan::{Plan, QueryId, Wanted};
pub use run::{Answer, AnyHost, Beginning, Progress, Run};

/// How much text is kept for one expression, and how much for all together while it is incomplete.
pub const LIMIT_BYTES: usize = 1 << 20;
