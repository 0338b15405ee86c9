//! The management API of the process: its listener, on a thread of its own, and what it may do to files and process.

mod archives;
mod listener;
mod options;
mod registry;
mod served;
mod service;
pub(crate) mod users;

pub(crate) use listener::{answer, listen};
pub use options::ManagementOptions;
pub(crate) use served::{Served, ServedParts};
pub(crate) use service::{ApiService, runtime};
