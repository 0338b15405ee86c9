//! Scripts in JavaScript that work on a message: compiled when the configuration is loaded, run within limits.
//!
//! A [`Script`] sees the message as the object `mc`, whose methods are those of Synapse's `ScriptMessageContext`.
//! What it may read crosses once, as [`Facts`]; what it did comes back as a list of [`Effect`]s.
//! Nothing happens while it runs, so a run can be given up at any point, and be begun again on another thread.
//! Of one run nothing is left for the next: what the language itself brings is frozen, and what a script puts beside it
//! is taken away again.

mod compile;
mod convert;
mod engine;
mod error;
mod facts;
mod lexer;
mod limits;
mod machine;
mod refusal;
mod script;
mod xpath;

pub use engine::run;
pub use error::{Error, Place, Problem};
pub use facts::{Effect, Facts, Header, Known, Outcome, Scope, Value};
pub use limits::{Limits, Terms};
pub use script::{Call, Script, Source};
