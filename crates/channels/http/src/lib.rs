//! HTTP on the wire: listeners, the HTTP/1.1 engine, TLS, connection pools and timers.
//!
//! Nothing here has heard of a mediator. `Content-Length`, `Transfer-Encoding` and hop-by-hop headers live here and
//! nowhere else.

mod address;
mod ahead;
mod answer;
mod buffer;
mod client;
mod connection;
mod conversation;
mod dates;
mod dial;
pub mod h1;
mod listener;
mod options;
mod pacer;
mod partial_heads;
mod pool;
mod refusals;
mod relay;
mod server;
mod service;
mod spec;
mod splice;
mod state;
mod stream;
mod timer;
mod tls;
pub mod wire_log;

pub use buffer::kept_bytes;
pub use client::{Client, resent_requests};
pub use listener::{Listener, ListenerCommand, bind, clients_within};
pub use options::{ClientOptions, Expect, Forwarded, Pace, Retry, ServerOptions, XForwarded};
pub use pool::PoolUsage;
pub use refusals::{refusals, refused_requests};
pub use rustls::ServerConfig;
pub use server::{Stop, serve};
pub use service::{Record, Recorded, Service, TlsSession};
pub use spec::SPEC;
pub use state::{ConnectionCount, ListenerTotals};
pub use tls::{TlsError, Trust, server_config, server_config_of};
