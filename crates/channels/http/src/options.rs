//! Limits and deadlines, with their defaults. Everything that can grow or wait is here.

use std::time::Duration;

use crate::h1::HeadLimits;

/// What a listener allows its clients.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Size of request heads.
    pub head: HeadLimits,
    /// How long a client may take from the first byte of a head to its last. Default 15 s.
    pub head_timeout: Duration,
    /// How long a connection may stay open between two requests. Default 75 s.
    pub keep_alive: Duration,
    /// How long nothing may move while a message is under way. Default 180 s, Synapse's socket timeout.
    pub idle: Duration,
    /// How slow a client may be.
    pub pace: Pace,
    /// The largest request body. Default: no limit, for a body that is relayed takes no memory.
    pub body_bytes: Option<u64>,
    /// Open client connections of the whole process; beyond them a client gets 503. Default 20,000.
    pub connections: usize,
    /// Memory for heads that have come in part, per thread; above it the slowest clients get 503. Default 64 MiB.
    pub heads_bytes: usize,
    /// Memory for bodies that were read or are waiting for a slow peer, per thread. Default 256 MiB.
    pub memory_bytes: usize,
    /// Who answers `Expect: 100-continue`.
    pub expect: Expect,
    /// What requests tell of their way here. Default: nothing.
    pub forwarded: Forwarded,
    /// Whether an answer that is the client's own request shows it the credentials it sent, and TRACE takes them on.
    /// Default: no.
    pub echo_credentials: bool,
    /// How long requests under way may take after a stop was asked for. Default 30 s.
    pub drain: Duration,
}

/// What a client must send of a body, or take of a response, on average while the bus waits for it.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Default 250; 0 sets no limit.
    pub least_bytes_per_second: u64,
    /// The span over which the average is taken. Default 20 s.
    pub window: Duration,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { least_bytes_per_second: 250, window: Duration::from_secs(20) }
    }
}

/// Who answers `Expect: 100-continue`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// The backend, whose interim answer is relayed; the bus only where it reads the body itself.
    Relay,
    /// The bus, as soon as the request is sent on.
    Answer,
}

impl Default for ServerOptions {
    fn default() -> ServerOptions {
        ServerOptions {
            head: HeadLimits::default(),
            head_timeout: Duration::from_secs(15),
            keep_alive: Duration::from_secs(75),
            idle: Duration::from_secs(180),
            pace: Pace::default(),
            body_bytes: None,
            connections: 20_000,
            heads_bytes: 64 * 1024 * 1024,
            memory_bytes: 256 * 1024 * 1024,
            expect: Expect::Relay,
            forwarded: Forwarded::default(),
            echo_credentials: false,
            drain: Duration::from_secs(30),
        }
    }
}

/// How backends are called.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// Size of response heads.
    pub head: HeadLimits,
    /// Name resolution, TCP and TLS together, and the wait for a free connection. Default 10 s.
    pub connect_timeout: Duration,
    /// From the last byte of the request to the response's head. Default 120 s, Synapse's global timeout.
    pub response_timeout: Duration,
    /// How long nothing may move while a message is under way. Default 180 s.
    pub idle: Duration,
    /// How long an unused connection is kept. Default 30 s: shorter than most servers keep theirs.
    pub keep_alive: Duration,
    /// How long a connection is used at all; new ones see new addresses and new load balancers. Default 10 min.
    pub life: Duration,
    /// Connections to one backend, per thread. Default 16,384.
    pub connections: usize,
    /// Requests waiting for a connection to one backend, per thread. Default 1,024.
    pub waiting: usize,
    /// How long resolved addresses are used. Default 30 s.
    pub resolve: Duration,
    /// When a request is sent again because a reused connection died under it.
    pub retry: Retry,
    /// Whether backends get the client's `Host` instead of the one their address names. Default: no, as in Synapse.
    pub preserve_host: bool,
}

/// When a request whose connection died is sent once more.
///
/// Only ever on a fresh connection, only when the first one was a *reused* one that died at once without a byte of a
/// response, and only when the whole request is still at hand: see docs/decisions/0003.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Whatever the method.
    Always,
    /// Methods that may be repeated without harm (RFC 9110 §9.2.2).
    Idempotent,
    /// Never.
    Never,
}

/// What requests tell of their way here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Forwarded {
    /// Adds `Via: 1.1 myelin`.
    pub via: bool,
    /// Whether the client's address, scheme and host are told.
    pub x_forwarded: XForwarded,
}

/// What `X-Forwarded-For`, `-Proto` and `-Host` tell of a request's way here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum XForwarded {
    /// What the client said of it, if anything.
    #[default]
    AsCame,
    /// What the bus itself sees; whatever the client said in `X-Forwarded-…` or `Forwarded` (RFC 7239) goes.
    Replace,
    /// The client is a proxy that is believed: its address is added to its list, and its scheme and host stay.
    Append,
}

impl Default for ClientOptions {
    fn default() -> ClientOptions {
        ClientOptions {
            head: HeadLimits::default(),
            connect_timeout: Duration::from_secs(10),
            response_timeout: Duration::from_secs(120),
            idle: Duration::from_secs(180),
            keep_alive: Duration::from_secs(30),
            life: Duration::from_secs(600),
            connections: 16_384,
            waiting: 1024,
            resolve: Duration::from_secs(30),
            retry: Retry::Always,
            preserve_host: false,
        }
    }
}
