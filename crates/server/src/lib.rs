//! The server: commands, start and stop, settings, logs. It joins the engine to the channels.

mod access_log;
mod bus_service;
mod channels;
mod check;
mod clock;
mod command;
mod correlation;
mod demo;
mod deployment;
mod engine_transport;
mod explain;
mod file_limit;
mod inbound;
mod listeners;
mod logging;
mod monitor;
mod reading;
mod reload;
mod run;
mod runtime;
mod server;
mod swap;
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
pub use listeners::Listen;
pub use server::{Running, Settings, UnderWay, start};
pub use swap::Swap;
pub use worker::WorkOptions;
