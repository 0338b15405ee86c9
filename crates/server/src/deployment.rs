//! `deployment.toml`: the keys of WSO2's that mean something here, and a `[myelin]` table of our own.

mod security;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use myelin_mediation::DuplicateKeys;
use myelin_transport::{ClientOptions, Expect, Retry, ServerOptions};
use myelin_wss::Replays;
use myelin_wss::policy::Crypto;
use security::OwnSecurity;
use serde::{Deserialize, Deserializer};
use toml::{Table, Value};

/// Synapse's port for plain HTTP, before any offset.
pub(crate) const HTTP_PORT: u16 = 8280;
/// The offset Micro Integrator adds where its file names none.
const DEFAULT_OFFSET: i64 = 10;
/// How often to look whether the configuration was changed.
const WATCH: Duration = Duration::from_secs(1);

/// What a `deployment.toml` says, as far as this bus heeds it.
#[derive(Debug)]
pub(crate) struct Deployment {
    /// `[server] hostname`: how the bus is called in what it publishes.
    pub(crate) hostname: Option<String>,
    /// The HTTP port, its offset added.
    pub(crate) http_port: u16,
    /// `[transport.http] socket_timeout`, in milliseconds.
    pub(crate) socket_timeout: Option<Duration>,
    /// `[transport.http] max_message_size_bytes`, where `enable_message_size_validation` is true.
    pub(crate) message_bytes: Option<u64>,
    /// `[keystore.primary]` and `[truststore]`, as WSO2's policies name them.
    server_store: Option<Crypto>,
    /// `[server] hot_deployment`: whether changes of the configuration are looked for.
    hot: bool,
    pub(crate) own: Own,
}

impl Default for Deployment {
    /// What an empty file says.
    fn default() -> Deployment {
        parse("").expect("an empty file says nothing wrong")
    }
}

/// The `[myelin]` table: every limit and deadline by name.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Own {
    server: OwnServer,
    client: OwnClient,
    content: OwnContent,
    xslt: OwnXslt,
    security: OwnSecurity,
    reload: OwnReload,
}

/// `[myelin.reload]`.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OwnReload {
    #[serde(deserialize_with = "duration")]
    interval: Option<Duration>,
}

/// `[myelin.content]`: see [`myelin_mediation::Settings`].
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OwnContent {
    body_bytes: Option<u64>,
    json_duplicate_keys: Option<OwnDuplicateKeys>,
}

/// `[myelin.xslt]`: see [`myelin_mediation::StylesheetLimits`].
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

/// `[myelin.server]`: see [`ServerOptions`].
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OwnServer {
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
    body_bytes: Option<u64>,
    connections: Option<usize>,
    memory_bytes: Option<usize>,
    expect: Option<OwnExpect>,
    via: Option<bool>,
    x_forwarded: Option<bool>,
    #[serde(deserialize_with = "duration")]
    drain: Option<Duration>,
}

/// `[myelin.client]`: see [`ClientOptions`].
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OwnClient {
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

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(deserializer)?;
    humantime::parse_duration(&text).map(Some).map_err(serde::de::Error::custom)
}

/// Reads a `deployment.toml`; keys of WSO2's that mean nothing here are passed over.
///
/// Errors: the file cannot be read, is no TOML, or a key that is heeded holds what it cannot.
pub(crate) fn read(path: &Path) -> anyhow::Result<Deployment> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    parse(&text).with_context(|| path.display().to_string())
}

fn parse(text: &str) -> anyhow::Result<Deployment> {
    let table: Table = text.parse()?;
    let own = match table.get("myelin") {
        Some(own) => Own::deserialize(own.clone()).context("[myelin]")?,
        None => Own::default(),
    };
    let offset = integer(&table, "server.offset")?.unwrap_or(DEFAULT_OFFSET);
    // The short form is Micro Integrator 4's, the long one its predecessors'.
    let base = match integer(&table, "transport.http.listener.port")? {
        Some(port) => Some(port),
        None => integer(&table, "transport.passthru.http.listener.port")?,
    };
    let port = base.unwrap_or(i64::from(HTTP_PORT)).checked_add(offset).and_then(|port| u16::try_from(port).ok());
    let Some(http_port) = port else {
        bail!("the HTTP port with the offset of {offset} is not between 0 and 65535");
    };
    let validated = find(&table, "transport.http.enable_message_size_validation").and_then(Value::as_bool);
    let message_bytes = match integer(&table, "transport.http.max_message_size_bytes")? {
        Some(bytes) if validated == Some(true) => Some(u64::try_from(bytes)?),
        _ => None,
    };
    let socket_timeout = match integer(&table, "transport.http.socket_timeout")? {
        Some(millis) => Some(Duration::from_millis(u64::try_from(millis)?)),
        None => None,
    };
    let hostname = find(&table, "server.hostname").and_then(Value::as_str).map(str::to_owned);
    let server_store = security::server_store(&table);
    let hot = find(&table, "server.hot_deployment").and_then(Value::as_bool) != Some(false);
    Ok(Deployment { hostname, http_port, socket_timeout, message_bytes, server_store, hot, own })
}

/// The value under a path of table names; a key that itself holds the dots counts as well, as WSO2's files have them.
fn find<'a>(table: &'a Table, path: &str) -> Option<&'a Value> {
    if let Some(value) = table.get(path) {
        return Some(value);
    }
    path.match_indices('.').find_map(|(dot, _)| match table.get(&path[..dot]) {
        Some(Value::Table(inner)) => find(inner, &path[dot + 1..]),
        _ => None,
    })
}

fn integer(table: &Table, path: &str) -> anyhow::Result<Option<i64>> {
    match find(table, path) {
        None => Ok(None),
        Some(Value::Integer(number)) => Ok(Some(*number)),
        // Many files quote their numbers.
        Some(Value::String(text)) => match text.trim().parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => bail!("{path} = {text:?}: a number is needed"),
        },
        Some(other) => bail!("{path} = {other}: a number is needed"),
    }
}

impl Deployment {
    /// Puts what the file says about content and stylesheets into the settings of mediation.
    pub(crate) fn apply_content(&self, settings: &mut myelin_mediation::Settings) {
        let OwnContent { body_bytes, json_duplicate_keys } = &self.own.content;
        set(&mut settings.body_limit_bytes, *body_bytes);
        // What is refused where it comes in need not be read.
        if let Some(largest) = self.own.server.body_bytes.or(self.message_bytes) {
            settings.body_limit_bytes = settings.body_limit_bytes.min(largest);
        }
        let keys = json_duplicate_keys.map(|keys| match keys {
            OwnDuplicateKeys::First => DuplicateKeys::First,
            OwnDuplicateKeys::Last => DuplicateKeys::Last,
            OwnDuplicateKeys::Refuse => DuplicateKeys::Refuse,
        });
        set(&mut settings.json_duplicate_keys, keys);
        let OwnXslt { time, depth, instructions, output_bytes, memory_bytes } = &self.own.xslt;
        let limits = &mut settings.stylesheets;
        set(&mut limits.time, *time);
        set(&mut limits.work.depth, *depth);
        set(&mut limits.work.instructions, *instructions);
        set(&mut limits.work.output_bytes, *output_bytes);
        set(&mut limits.work.memory_bytes, *memory_bytes);
    }

    /// Puts what the file says about WS-Security into the settings of mediation.
    ///
    /// Errors: a secret that is referred to is not there, a file cannot be read.
    pub(crate) fn apply_security(&self, settings: &mut myelin_mediation::Settings) -> anyhow::Result<()> {
        settings.security.server_store.clone_from(&self.server_store);
        self.own.security.apply(&mut settings.security)
    }

    /// What remembers the secured messages that were accepted, for a process that serves.
    ///
    /// Errors: its folder cannot be used, or another process uses it.
    pub(crate) fn replays(&self) -> anyhow::Result<Replays> {
        self.own.security.replays()
    }

    /// What differs from what another file says and cannot change while the bus serves.
    pub(crate) fn differs_for_good(&self, other: &Deployment) -> Vec<&'static str> {
        let (own, others) = (&self.own, &other.own);
        let differences = [
            ("the HTTP port", self.http_port != other.http_port),
            ("[transport.http] socket_timeout", self.socket_timeout != other.socket_timeout),
            ("[transport.http] max_message_size_bytes", self.message_bytes != other.message_bytes),
            ("[myelin.server]", own.server != others.server),
            ("[myelin.client]", own.client != others.client),
            ("what [myelin.security] says of replays", own.security.replays_differ(&others.security)),
            ("[server] hot_deployment", self.hot != other.hot),
            ("[myelin.reload]", own.reload != others.reload),
        ];
        differences.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key).collect()
    }

    /// How often to look whether the configuration was changed; `None` where nobody wants that.
    pub(crate) fn watch(&self) -> Option<Duration> {
        self.hot.then(|| self.own.reload.interval.unwrap_or(WATCH))
    }

    /// Puts what the file says into the options.
    pub(crate) fn apply(&self, server: &mut ServerOptions, client: &mut ClientOptions) {
        if let Some(idle) = self.socket_timeout {
            (server.idle, client.idle) = (idle, idle);
        }
        server.body_bytes = self.message_bytes;
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
            memory_bytes,
            expect,
            via,
            x_forwarded,
            drain,
        } = &self.own.server;
        set(&mut server.head.bytes, *head_bytes);
        set(&mut server.head.lines, *head_lines);
        set(&mut server.head_timeout, *head_timeout);
        set(&mut server.keep_alive, *keep_alive);
        set(&mut server.idle, *idle);
        set(&mut server.pace.least_bytes_per_second, *least_bytes_per_second);
        set(&mut server.pace.window, *pace_window);
        server.body_bytes = body_bytes.or(server.body_bytes);
        set(&mut server.connections, *connections);
        set(&mut server.memory_bytes, *memory_bytes);
        let expect = expect.map(|expect| match expect {
            OwnExpect::Relay => Expect::Relay,
            OwnExpect::Answer => Expect::Answer,
        });
        set(&mut server.expect, expect);
        set(&mut server.forwarded.via, *via);
        set(&mut server.forwarded.x_forwarded, *x_forwarded);
        set(&mut server.drain, *drain);
        let own = &self.own.client;
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

fn set<T>(option: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *option = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_follow_the_offset_as_in_micro_integrator() {
        let port = |text: &str| parse(text).unwrap().http_port;
        assert_eq!(port(""), 8290);
        assert_eq!(port("[server]\noffset = 0"), 8280);
        assert_eq!(port("[server]\noffset = \"5\"\n[transport.http]\nlistener.port = 9000"), 9005);
        assert_eq!(port("[transport.passthru.http.listener]\nport = 8000"), 8010);
        assert!(parse("[server]\noffset = 70000").is_err());
        assert!(parse("[server]\noffset = \"many\"").is_err());
    }

    #[test]
    fn limits_come_from_wso2s_keys_and_from_ours() {
        let text = "[transport.http]\nsocket_timeout = 60000\nmax_message_size_bytes = 1000\n\
                    enable_message_size_validation = true\n[myelin.server]\nhead_timeout = \"3s\"\nexpect = \"answer\"\n\
                    [myelin.client]\nretry = \"never\"";
        let (mut server, mut client) = (ServerOptions::default(), ClientOptions::default());
        parse(text).unwrap().apply(&mut server, &mut client);
        assert_eq!((server.idle, client.idle), (Duration::from_secs(60), Duration::from_secs(60)));
        assert_eq!(server.body_bytes, Some(1000));
        assert_eq!(server.head_timeout, Duration::from_secs(3));
        assert_eq!((server.expect, client.retry), (Expect::Answer, Retry::Never));
    }

    #[test]
    fn content_has_limits_and_choices_of_its_own() {
        let text = "[myelin.content]\nbody_bytes = 1000\njson_duplicate_keys = \"refuse\"";
        let mut settings = myelin_mediation::Settings::default();
        parse(text).unwrap().apply_content(&mut settings);
        assert_eq!((settings.body_limit_bytes, settings.json_duplicate_keys), (1000, DuplicateKeys::Refuse));
        assert!(parse("[myelin.content]\njson_duplicate_keys = \"any\"").is_err());
    }

    #[test]
    fn stylesheets_have_limits_of_their_own() {
        let text =
            "[myelin.xslt]\ntime = \"500ms\"\ndepth = 100\ninstructions = 1000\noutput_bytes = 10\nmemory_bytes = 20";
        let mut settings = myelin_mediation::Settings::default();
        parse(text).unwrap().apply_content(&mut settings);
        let work = settings.stylesheets.work;
        assert_eq!(settings.stylesheets.time, Duration::from_millis(500));
        assert_eq!((work.depth, work.instructions, work.output_bytes, work.memory_bytes), (100, 1000, 10, 20));
    }

    #[test]
    fn passwords_come_from_the_environment_and_stay_out_of_sight() {
        let text = "[keystore.primary]\nfile_name = \"wso2carbon.jks\"\nalias = \"bus\"\npassword = \"hush\"\n\
                    [myelin.security]\nrsa_bits = 3072\n[myelin.security.limits]\ntokens = 3\n\
                    [myelin.security.secrets]\nstore = \"$env{CARGO_PKG_NAME}\"\n\
                    [myelin.security.key_passwords]\ngateway = \"$secret{store}\"\n\
                    [myelin.security.users]\nalice = \"$secret{store}\"\n\
                    bob = { password = \"hush\", roles = [\"admin\"] }";
        let mut settings = myelin_mediation::Settings::default();
        let deployment = parse(text).unwrap();
        deployment.apply_security(&mut settings).unwrap();
        let security = &settings.security;
        assert_eq!(security.users["alice"].password.as_ref(), b"myelin-server");
        assert_eq!(security.key_passwords["gateway"].as_ref(), b"myelin-server");
        assert!(!security.users.contains_key("gateway"), "the password of a key lets nobody in");
        assert_eq!((security.rsa_bits_min, security.limits.tokens), (3072, 3));
        assert_eq!(security.users["bob"].roles, ["admin"]);
        assert_eq!(security.server_store.as_ref().unwrap().alias.as_deref(), Some("bus"));
        assert!(!format!("{deployment:?} {security:?}").contains("hush"));
        let missing = parse("[myelin.security.users]\nalice = \"$secret{none}\"").unwrap();
        assert!(missing.apply_security(&mut settings).unwrap_err().to_string().contains("alice"));
    }

    #[test]
    fn a_misspelt_key_of_ours_is_an_error_that_names_it() {
        let error = format!("{:#}", parse("[myelin.server]\nhead_timout = \"3s\"").unwrap_err());
        assert!(error.contains("head_timout"), "{error}");
    }
}
