//! The heart of the bus: messages, mediators, sequences, endpoints and configuration. Opens no socket.

pub mod transport;
