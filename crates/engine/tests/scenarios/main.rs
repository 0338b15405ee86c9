//! Scenarios in memory: a bus from text serves messages that come from a pretended wire, and a scripted backend answers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;

mod acceptance;
mod addressing;
mod api;
mod authentication;
mod bounds;
mod branches;
mod cache;
mod call;
mod collections;
mod conditional_router;
mod connector_archives;
mod connectors;
mod content;
mod correlate_on;
mod databases;
mod described_endpoints;
mod description;
mod endpoints;
mod enrich;
mod faults;
mod flow;
mod loading;
mod log;
mod makefault;
mod missing;
mod misspellings;
mod monitors;
mod oauth;
mod observed;
mod payload_factory;
mod priorities;
mod properties;
mod recorded;
mod registry;
mod reload_state;
mod security;
mod stream_and_tree;
mod synapse_expressions;
mod tasks;
mod templates;
mod throttle;
mod traces;
mod xpath_functions;
mod xslt;
