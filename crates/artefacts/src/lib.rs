//! What a configuration defines: mediators, endpoints, APIs, proxies, tasks, inbound endpoints, templates, stylesheets,
//! schemas and guards. Each is built from its element by a loader.

mod aggregation;
pub mod apis;
mod branch_targets;
mod cache;
mod calls;
mod conditions;
mod credentials;
mod databases;
pub mod datasources;
mod descriptions;
mod dynamic_mediator;
pub mod endpoints;
pub mod guards;
pub mod inbound;
mod inner_sequence;
pub mod left_out;
pub mod loader;
pub mod mediators;
mod message_edits;
mod message_parts;
mod placeholders;
pub mod proxies;
mod schemas;
pub mod spec;
mod splitting;
mod stylesheets;
pub mod tasks;
pub mod templates;
mod throttle;
mod uri_parts;
mod values;
pub mod vocabulary;
mod words;
