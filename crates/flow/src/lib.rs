//! A message on its way through a configuration: the exchange with its properties, faults, sequences of mediators, and
//! what of the layers above a flow has to know, as traits and extensions.
//!
//! Nothing here opens a socket, reads a file or a clock: the ways out are [`transport::Transport`] and
//! [`database::Databases`]. What the process around the bus knows is in [`settings::Settings`].

pub mod answer;
pub mod branches;
pub mod context;
pub mod cost;
pub mod counters;
pub mod database;
pub mod definitions;
pub mod exchange;
pub mod extensions;
pub mod fault;
pub mod forms;
pub mod identity;
pub mod ids;
pub mod mediator;
pub mod memory;
pub mod observer;
pub mod offload;
pub mod passes;
pub mod position;
pub mod property;
pub mod recorder;
pub mod reference;
pub mod reload;
pub mod replies;
pub mod sequence;
pub mod service_state;
pub mod settings;
pub mod tally;
pub mod template;
pub mod transport;
pub mod yielding;
