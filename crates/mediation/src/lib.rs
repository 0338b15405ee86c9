//! The heart of the bus: messages, mediators, sequences, endpoints and configuration. Opens no socket.
//!
//! [`load`] turns Synapse configuration into a [`Bus`] that never changes and a [`Report`] of what was found;
//! an [`Engine`] takes one request at a time through that bus and always gives an answer.
//! The only way out is [`transport::Transport`], so every scenario runs in memory.

mod answer;
mod apart;
mod api;
mod branch;
mod bus;
mod cache;
mod config;
mod content;
pub mod database;
mod date;
mod description;
mod dispatch;
mod effect;
mod endpoint;
mod engine;
mod entrance;
mod exchange;
mod explain;
mod expression;
mod fault;
mod function;
mod heritage;
mod identity;
mod mediator;
mod mediators;
mod number;
mod pattern;
mod percent;
mod priority;
mod property;
mod replies;
mod schema;
mod security;
mod sequence;
mod service;
mod stylesheet;
mod task;
mod throttle;
pub mod transport;
mod trial;
mod turns;

pub use bus::{Bus, DuplicateKeys, EndpointSettings, JsonSwitches, ScriptLimits, Settings, StylesheetLimits};
pub use config::{Artefact, Cause, Loaded, Problem, Report, Share, Sources, Stamp, State, Summary, load};
pub use description::PublicAddresses;
pub use endpoint::{EndpointStatus, Monitor, MonitorSettings, State as EndpointState};
pub use engine::{Arrival, Counts, Engine};
pub use entrance::{ClientCertificates, Port, PortTls};
pub use exchange::ContentTypes;
pub use explain::Explanation;
pub use heritage::Heritage;
pub use mediators::mediators_markdown;
pub use priority::{Priorities, PriorityRule};
pub use property::properties_markdown;
pub use replies::Replies;
pub use security::{REPLAY_ENTRIES, SecuritySettings, User};
pub use task::Task;
pub use trial::{Given, Trial, Tried};
