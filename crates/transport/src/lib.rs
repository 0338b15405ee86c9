//! HTTP on the wire: listeners, the HTTP/1.1 engine, TLS, connection pools and timers.
//!
//! Nothing here has heard of a mediator. `Content-Length`, `Transfer-Encoding` and hop-by-hop headers live here and
//! nowhere else.

mod ahead;
mod answer;
mod buffer;
mod client;
mod connection;
mod conversation;
mod dial;
mod error;
pub mod h1;
mod options;
mod pacer;
mod pool;
mod relay;
mod server;
mod splice;
mod stream;
mod timer;
mod tls;

pub use buffer::kept_bytes;
pub use client::{Client, Manner, Request};
pub use error::{Error, ErrorKind};
pub use options::{ClientOptions, Expect, Forwarded, Pace, Retry, ServerOptions};
pub use rustls::ServerConfig;
pub use server::{Arrival, Door, Gate, Listener, Record, Service, Stop, bind, serve};
pub use tls::{Clients, Presented, TlsError, Trust, server_config, server_config_of};
