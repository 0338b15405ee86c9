//! The server: commands, start and stop, settings, logs. It joins mediation to transport.

mod access_log;
mod check;
mod clock;
mod command;
mod correlation;
mod demo;
mod deployment;
mod explain;
mod glue;
mod inbound;
mod local;
mod logging;
mod monitor;
mod reading;
mod reload;
mod run;
mod server;
mod tasks;
mod test;
mod unserved;
mod worker;
mod wss;
mod xml;
mod xpath;
mod xslt;

pub use access_log::Destination;
pub use command::Command;
pub use server::{Listen, Running, Settings, Swap, UnderWay, start};
pub use worker::WorkOptions;
