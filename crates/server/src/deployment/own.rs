//! The `[myelin]` table: every limit and deadline by name.

mod log;
mod monitors;
pub(super) mod opentelemetry;
mod trace;

use std::collections::BTreeMap;
use std::time::Duration;

pub(super) use log::OwnLog;
use monitors::OwnMonitor;
use myelin_engine::{DuplicateKeys, Priorities, PriorityRule};
use myelin_http::{ClientOptions, Expect, Retry, ServerOptions, XForwarded};
use opentelemetry::OwnOpenTelemetry;
use serde::Deserialize;
pub(super) use trace::OwnTrace;

use super::databases::OwnSql;
use super::https::Store;
use super::security::OwnSecurity;
use super::values::{duration, set};
use crate::worker::WorkOptions;

/// The `[myelin]` table: every limit and deadline by name.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Own {
    pub(super) server: OwnServer,
    pub(super) client: OwnClient,
    pub(super) work: OwnWork,
    pub(super) memory: OwnMemory,
    flow: OwnFlow,
    content: OwnContent,
    xslt: OwnXslt,
    scripts: OwnScripts,
    pub(super) security: OwnSecurity,
    pub(super) sql: OwnSql,
    pub(super) reload: OwnReload,
    pub(super) admin: OwnAdmin,
    pub(super) log: OwnLog,
    pub(super) management: OwnManagement,
    pub(super) opentelemetry: OwnOpenTelemetry,
    pub(super) access_log: OwnAccessLog,
    pub(super) trace: OwnTrace,
    priorities: Option<OwnPriorities>,
    monitors: Vec<OwnMonitor>,
    /// `[myelin.system]`: what `$sys{NAME}` means; other keys of the file refer to it.
    system: BTreeMap<String, toml::Value>,
}

/// `[myelin.reload]`.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OwnReload {
    #[serde(deserialize_with = "duration")]
    pub(super) interval: Option<Duration>,
}

/// `[myelin.admin]`.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OwnAdmin {
    /// An address, or `off`.
    pub(super) listen: Option<String>,
    #[serde(deserialize_with = "duration")]
    pub(super) drain_delay: Option<Duration>,
}

/// `[myelin.management]`: see [`crate::ManagementOptions`].
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OwnManagement {
    /// An address, or `off`.
    pub(super) listen: Option<String>,
    pub(super) certificate: Option<String>,
    pub(super) key: Option<String>,
    pub(super) keystore: Option<OwnKeyStore>,
    pub(super) users: Option<String>,
    #[serde(deserialize_with = "duration")]
    pub(super) token_expiry: Option<Duration>,
    pub(super) tokens: Option<usize>,
    pub(super) connections: Option<usize>,
    pub(super) requests_per_minute: Option<u32>,
    pub(super) failures: Option<u32>,
    pub(super) upload_bytes: Option<u64>,
}

/// `[myelin.management.keystore]`, with the keys of WSO2's `[keystore.tls]`.
#[derive(Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OwnKeyStore {
    file_name: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    password: Option<String>,
    alias: Option<String>,
    key_password: Option<String>,
}

/// Without passwords.
impl std::fmt::Debug for OwnKeyStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnKeyStore").field("file_name", &self.file_name).finish_non_exhaustive()
    }
}

impl OwnKeyStore {
    /// The key store that is meant; `None` where no file is named.
    pub(super) fn store(&self) -> Option<Store> {
        Some(Store {
            file: self.file_name.clone()?,
            kind: self.kind.clone(),
            password: self.password.clone(),
            alias: self.alias.clone().filter(|alias| !alias.is_empty()),
            key_password: self.key_password.clone(),
        })
    }
}

/// `[myelin.access_log]`.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OwnAccessLog {
    /// A path, or `-` for standard output.
    pub(super) file: Option<String>,
    pub(super) format: Option<String>,
    pub(super) mask_queries: Option<bool>,
}

/// `[myelin.priorities]`: see [`Priorities`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnPriorities {
    at_once: usize,
    #[serde(default)]
    waiting: Option<usize>,
    #[serde(default, deserialize_with = "duration")]
    wait: Option<Duration>,
    #[serde(default)]
    rules: Vec<OwnPriorityRule>,
}

/// `[[myelin.priorities.rules]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnPriorityRule {
    service: Option<String>,
    header: Option<String>,
    value: Option<String>,
    level: i32,
}

/// How many requests wait for their turn where nothing says it, and how long.
const WAITING: (usize, Duration) = (1_000, Duration::from_secs(5));

impl OwnPriorities {
    fn priorities(&self) -> Priorities {
        let rule = |rule: &OwnPriorityRule| {
            let OwnPriorityRule { service, header, value, level } = rule;
            PriorityRule { service: service.clone(), header: header.clone(), value: value.clone(), level: *level }
        };
        let (waiting, wait) = (self.waiting.unwrap_or(WAITING.0), self.wait.unwrap_or(WAITING.1));
        Priorities::new(self.at_once, waiting, wait, self.rules.iter().map(rule).collect())
    }
}

/// `[myelin.flow]`: see [`myelin_engine::Settings`].
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OwnFlow {
    branches: Option<usize>,
}

/// `[myelin.work]`: see [`WorkOptions`] and [`myelin_engine::Settings`].
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OwnWork {
    waiting: Option<usize>,
    #[serde(deserialize_with = "duration")]
    wait: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    costly_from: Option<Duration>,
}

/// `[myelin.memory]`: see [`myelin_message::budget`].
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OwnMemory {
    pub(super) bytes: Option<usize>,
    #[serde(deserialize_with = "duration")]
    wait: Option<Duration>,
}

/// `[myelin.content]`: see [`myelin_engine::Settings`].
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OwnContent {
    body_bytes: Option<u64>,
    cache_bytes: Option<usize>,
    json_duplicate_keys: Option<OwnDuplicateKeys>,
}

/// `[myelin.xslt]`: see [`myelin_engine::StylesheetLimits`].
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OwnXslt {
    #[serde(deserialize_with = "duration")]
    time: Option<Duration>,
    depth: Option<u32>,
    instructions: Option<u64>,
    output_bytes: Option<usize>,
    memory_bytes: Option<u64>,
}

/// `[myelin.scripts]`: see [`myelin_engine::ScriptLimits`].
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OwnScripts {
    #[serde(deserialize_with = "duration")]
    time: Option<Duration>,
    memory_bytes: Option<usize>,
    stack_bytes: Option<usize>,
}

/// `[myelin.server]`: see [`ServerOptions`].
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OwnServer {
    head_bytes: Option<usize>,
    head_lines: Option<usize>,
    #[serde(deserialize_with = "duration")]
    head_timeout: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    keep_alive: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    idle: Option<Duration>,
    least_bytes_per_second: Option<u64>,
    #[serde(deserialize_with = "duration")]
    pace_window: Option<Duration>,
    pub(super) body_bytes: Option<u64>,
    connections: Option<usize>,
    heads_bytes: Option<usize>,
    memory_bytes: Option<usize>,
    expect: Option<OwnExpect>,
    via: Option<bool>,
    x_forwarded: Option<OwnXForwarded>,
    echo_credentials: Option<bool>,
    #[serde(deserialize_with = "duration")]
    drain: Option<Duration>,
}

/// `[myelin.client]`: see [`ClientOptions`].
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OwnClient {
    head_bytes: Option<usize>,
    head_lines: Option<usize>,
    #[serde(deserialize_with = "duration")]
    connect_timeout: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    response_timeout: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    idle: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    keep_alive: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    life: Option<Duration>,
    connections: Option<usize>,
    waiting: Option<usize>,
    #[serde(deserialize_with = "duration")]
    resolve: Option<Duration>,
    retry: Option<OwnRetry>,
    preserve_host: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OwnExpect {
    Relay,
    Answer,
}

/// `true` and `false`, or how.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "x_forwarded is true, false, \"replace\" or \"append\"")]
enum OwnXForwarded {
    Told(bool),
    How(XForwardedMode),
}

/// How the client's `X-Forwarded-…` are taken.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum XForwardedMode {
    /// Drop what the client said: nobody stands before the bus
    Replace,
    /// Believe what the client said: it is a proxy of yours
    Append,
}

impl From<XForwardedMode> for XForwarded {
    fn from(mode: XForwardedMode) -> XForwarded {
        match mode {
            XForwardedMode::Replace => XForwarded::Replace,
            XForwardedMode::Append => XForwarded::Append,
        }
    }
}

impl From<OwnXForwarded> for XForwarded {
    fn from(own: OwnXForwarded) -> XForwarded {
        match own {
            OwnXForwarded::Told(true) => XForwarded::Replace,
            OwnXForwarded::Told(false) => XForwarded::AsCame,
            OwnXForwarded::How(mode) => mode.into(),
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OwnDuplicateKeys {
    First,
    Last,
    Refuse,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OwnRetry {
    Always,
    Idempotent,
    Never,
}

impl Own {
    /// Puts what it says about content and stylesheets into the settings of mediation.
    pub(super) fn apply_content(&self, settings: &mut myelin_engine::Settings) {
        let OwnContent { body_bytes, cache_bytes, json_duplicate_keys } = &self.content;
        set(&mut settings.branches, self.flow.branches.map(|branches| branches.max(1)));
        settings.monitors = self.monitors.iter().map(OwnMonitor::settings).collect();
        settings.priorities = self.priorities.as_ref().map(OwnPriorities::priorities);
        set(&mut settings.body_limit_bytes, *body_bytes);
        set(&mut settings.cache_bytes, *cache_bytes);
        set(&mut settings.memory_wait, self.memory.wait);
        set(&mut settings.costly_from, self.work.costly_from);
        let keys = json_duplicate_keys.map(|keys| match keys {
            OwnDuplicateKeys::First => DuplicateKeys::First,
            OwnDuplicateKeys::Last => DuplicateKeys::Last,
            OwnDuplicateKeys::Refuse => DuplicateKeys::Refuse,
        });
        set(&mut settings.json_duplicate_keys, keys);
        let OwnXslt { time, depth, instructions, output_bytes, memory_bytes } = &self.xslt;
        let limits = &mut settings.stylesheets;
        set(&mut limits.time, *time);
        set(&mut limits.work.depth, *depth);
        set(&mut limits.work.instructions, *instructions);
        set(&mut limits.work.output_bytes, *output_bytes);
        set(&mut limits.work.memory_bytes, *memory_bytes);
        let OwnScripts { time, memory_bytes, stack_bytes } = &self.scripts;
        set(&mut settings.scripts.time, *time);
        set(&mut settings.scripts.work.memory_bytes, *memory_bytes);
        set(&mut settings.scripts.work.stack_bytes, *stack_bytes);
    }

    /// How much long work may wait for its turn.
    pub(super) fn work(&self) -> WorkOptions {
        let OwnWork { waiting, wait, costly_from: _ } = self.work;
        let mut options = WorkOptions::default();
        set(&mut options.waiting, waiting);
        set(&mut options.wait, wait);
        options
    }

    /// Puts what it says into the options.
    pub(super) fn apply(&self, server: &mut ServerOptions, client: &mut ClientOptions) {
        let OwnServer {
            head_bytes,
            head_lines,
            head_timeout,
            keep_alive,
            idle,
            least_bytes_per_second,
            pace_window,
            body_bytes,
            connections,
            heads_bytes,
            memory_bytes,
            expect,
            via,
            x_forwarded,
            echo_credentials,
            drain,
        } = &self.server;
        set(&mut server.head.bytes, *head_bytes);
        set(&mut server.head.lines, *head_lines);
        set(&mut server.head_timeout, *head_timeout);
        set(&mut server.keep_alive, *keep_alive);
        set(&mut server.idle, *idle);
        set(&mut server.pace.least_bytes_per_second, *least_bytes_per_second);
        set(&mut server.pace.window, *pace_window);
        server.body_bytes = body_bytes.or(server.body_bytes);
        set(&mut server.connections, *connections);
        set(&mut server.heads_bytes, *heads_bytes);
        set(&mut server.memory_bytes, *memory_bytes);
        let expect = expect.map(|expect| match expect {
            OwnExpect::Relay => Expect::Relay,
            OwnExpect::Answer => Expect::Answer,
        });
        set(&mut server.expect, expect);
        set(&mut server.forwarded.via, *via);
        set(&mut server.forwarded.x_forwarded, x_forwarded.map(XForwarded::from));
        set(&mut server.echo_credentials, *echo_credentials);
        set(&mut server.drain, *drain);
        let own = &self.client;
        set(&mut client.head.bytes, own.head_bytes);
        set(&mut client.head.lines, own.head_lines);
        set(&mut client.connect_timeout, own.connect_timeout);
        set(&mut client.response_timeout, own.response_timeout);
        set(&mut client.idle, own.idle);
        set(&mut client.keep_alive, own.keep_alive);
        set(&mut client.life, own.life);
        set(&mut client.connections, own.connections);
        set(&mut client.waiting, own.waiting);
        set(&mut client.resolve, own.resolve);
        let retry = own.retry.map(|retry| match retry {
            OwnRetry::Always => Retry::Always,
            OwnRetry::Idempotent => Retry::Idempotent,
            OwnRetry::Never => Retry::Never,
        });
        set(&mut client.retry, retry);
        set(&mut client.preserve_host, own.preserve_host);
    }
}
