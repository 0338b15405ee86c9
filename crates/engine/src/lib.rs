//! Loads configurations and runs messages through them. Opens no socket.
//!
//! [`load`] turns Synapse configuration into a [`Bus`] that never changes and a [`Report`] of what was found;
//! an [`Engine`] takes one request at a time through that bus and always gives an answer.
//! The only way out is [`transport::Transport`], so every scenario runs in memory.

mod branch;
mod bus;
mod dispatch;
mod engine;
mod explain;
mod load;
mod sequence_test;
mod service;

pub use bus::{Bus, ServiceKind, ServiceView};
pub use engine::{Arrival, Engine, receive};
pub use explain::Explanation;
pub use load::{Loaded, load};
pub use myelin_artefacts::endpoints::{EndpointStatus, Monitor, State as EndpointState};
pub use myelin_artefacts::inbound::Receiving;
pub use myelin_artefacts::inbound::{ClientCertificates, Port, PortTls};
pub use myelin_artefacts::mediators::mediators_markdown;
pub use myelin_config::archive::text as archive_text;
pub use myelin_config::environment::ProcessEnvironment;
pub use myelin_config::excerpt::Excerpt;
pub use myelin_config::problem::Problem;
pub use myelin_config::report::{Artefact, Report};
pub use myelin_config::sources::{Sources, Stamp, State};
pub use myelin_config::summary::{Cause, Share, Summary};
pub use myelin_content::ContentTypes;
pub use myelin_flow::context::Counts;
pub use myelin_flow::position::{self, Position};
pub use myelin_flow::property::properties_markdown;
pub use myelin_flow::reload::ReloadState;
pub use myelin_flow::replies::Replies;
pub use myelin_flow::service_state::ServiceState;
pub use myelin_flow::settings::{
    CorsSettings, DuplicateKeys, EndpointSettings, JsonSwitches, MonitorSettings, Priorities, PriorityRule,
    PublicAddresses, REPLAY_ENTRIES, ScriptLimits, SecuritySettings, Settings, StylesheetLimits, User,
};
pub use myelin_flow::{database, identity, transport};

/// Who hears of what happens to messages, and what is counted of it.
pub mod observer {
    pub use myelin_flow::counters::{
        Attempt, Bounds, CallFailure, EndpointCounters, EndpointTotals, ExchangeEnd, Part, ServiceCounters,
        ServiceTotals, TimeCounters, TimeTotals,
    };
    pub use myelin_flow::fault::{Fault, Origin};
    pub use myelin_flow::observer::Observer;
    pub use myelin_flow::tally::{Tally, total};
}

/// What hears of each step of an exchange that is recorded, and what it is told of.
pub mod recorder {
    pub use myelin_flow::context::RequestContext;
    pub use myelin_flow::definitions::{Definitions, Node, Sequence};
    pub use myelin_flow::exchange::{Direction, Exchange};
    pub use myelin_flow::fault::Outcome;
    pub use myelin_flow::mediator::Flow;
    pub use myelin_flow::position::{ServiceIdentity, StepPlace};
    pub use myelin_flow::recorder::{
        BranchStart, CalledEndpoint, ExchangeStart, Recorder, RecorderSource, Recorders, StepDecision,
    };
}

pub use sequence_test::{SequenceTest, TestInput, TestOutcome};
