//! Files as messages: folders that are polled, and files that are written.
//!
//! A proxy with `transports="vfs"` or an inbound endpoint with the protocol `file` takes files from a folder
//! ([`SPEC`]); an endpoint whose address begins with `vfs:` writes them ([`FileSender`]). Each file is a message. It
//! stays where it is until its exchange has ended, so a bus that is killed takes it again: at least once, never none.
//!
//! The way of a file: `list` finds it, `claim` keeps others out, `body` reads it as far as somebody asks,
//! `deliver` hands it over and hears how the exchange ended, `after` removes or moves it, and `records` remembers
//! those for which that failed.

mod advice;
mod after;
mod beside;
mod body;
mod claim;
mod deliver;
mod list;
mod lock;
mod names;
mod part;
mod poll;
mod records;
mod relocate;
mod retry;
mod schedule;
mod send;
mod settings;
mod source;
mod target;
mod times;
mod uri;
mod write;

pub use send::FileSender;

use myelin_channel::{Receive, Spec};

/// Files of this machine: `vfs:file:///folder`.
pub const SPEC: Spec = Spec {
    name: "file",
    schemes: &["vfs"],
    transports: &["vfs"],
    protocols: &["file"],
    check_address: send::check,
    sender: Some(send::sender),
    receive: Receive::BySource(source::receive),
};
