//! Tasks: messages that a bus gives to itself when it is time. The injector is a source like any other.

mod build;
mod injection;
mod injector;
mod trigger;

pub use build::task;
pub use injection::{Injection, Kind};
pub use injector::{Injector, TaskSource};
pub use trigger::{Progress, Trigger};
