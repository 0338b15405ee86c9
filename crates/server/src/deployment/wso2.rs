//! Reading WSO2's keys as what they have to be.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Error;
use myelin_engine::observer::Bounds;
use myelin_engine::{CorsSettings, EndpointSettings};
use myelin_message::is_value;
use toml::{Table, Value};

use super::file_text::KeyProblem;
use super::placeholders::{self, Environment};
use super::values::{find, set};
use crate::admin_options;

/// Synapse's port for plain HTTP, before any offset.
pub(super) const HTTP_PORT: u16 = 8280;
/// Where Micro Integrator has its management API, its offset included.
pub(crate) const MANAGEMENT_PORT: u16 = 9164;
/// The offset Micro Integrator adds where its file names none.
const DEFAULT_OFFSET: i64 = 10;
/// How long an endpoint is suspended after too many failures in a row, where the file says how many but not how long.
const PAUSE: Duration = Duration::from_secs(30);

/// Limits and deadlines by the names of WSO2.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Limits {
    /// `[transport.http] socket_timeout`.
    pub(super) socket_timeout: Option<Duration>,
    /// `[transport.http] connection_timeout`.
    pub(super) connection_timeout: Option<Duration>,
    /// `[transport.http] max_message_size_bytes`, where `enable_message_size_validation` is true.
    pub(super) message_bytes: Option<u64>,
    /// `[transport.http] max_open_connections`, of clients.
    pub(super) connections: Option<usize>,
    /// `[transport.http] max_http_connection_per_host_port`, to a backend.
    pub(super) backend_connections: Option<usize>,
}

/// `[http_access_log]`: the access log by the names of WSO2's servers.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Wso2AccessLog {
    /// Its file; `None` where it is not switched on.
    pub(super) file: Option<PathBuf>,
    /// What a line holds.
    pub(super) pattern: Option<String>,
}

/// Where those servers write it, and the beginning and the end of its name.
const ACCESS_LOG_FILE: [&str; 3] = ["repository/logs", "http_access", ".log"];

/// The keys of `[metric_handler]` that name bounds of latencies, and the element of the services that they are for.
const LATENCY_BUCKETS: [(&str, &str); 3] = [
    ("proxy_latency_buckets", "proxy"),
    ("api_latency_buckets", "api"),
    ("inbound_endpoint_latency_buckets", "inboundEndpoint"),
];

/// A file whose texts hold what they refer to.
pub(super) struct File {
    table: Table,
    /// What is wrong with a text that refers to something, by its key.
    unknown: HashMap<String, String>,
}

/// What is wrong with the value of a key.
pub(super) fn wrong(key: &str, message: String) -> Error {
    Error::new(KeyProblem::new(key, message))
}

impl File {
    pub(super) fn new(mut table: Table, environment: Environment<'_>) -> File {
        let unknown = placeholders::replace(&mut table, environment);
        File { table, unknown }
    }

    /// All of it.
    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    /// Where plain HTTP is served.
    ///
    /// Errors: the port, its offset or the address is none.
    pub(super) fn http(&self) -> anyhow::Result<Option<SocketAddr>> {
        let offset = self.offset()?;
        // The short form is Micro Integrator 4's, the long one its predecessors'.
        let port = self.port(
            &["transport.http.listener.port", "transport.passthru.http.listener.port"],
            i64::from(HTTP_PORT),
            offset,
            "the HTTP port",
        )?;
        let address = self.host(&["transport.http.listener.bind_address"])?;
        let address = address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        let enabled = self.flag("transport.http.listener.enable")?.unwrap_or(true);
        Ok(enabled.then(|| SocketAddr::new(address, port)))
    }

    /// The port where metrics and probes are answered: Micro Integrator's 9191 and the offset.
    ///
    /// Errors: the offset is no number, or takes it out of the range of ports.
    pub(super) fn admin_port(&self) -> anyhow::Result<u16> {
        let offset = self.offset()?;
        self.port(&[], i64::from(admin_options::PORT) - DEFAULT_OFFSET, offset, "the port of probes")
    }

    /// The port of the management API: Micro Integrator's 9154, or another that the file names, and the offset.
    ///
    /// Errors: the port or the offset is no number, or out of the range of ports.
    pub(super) fn management_port(&self) -> anyhow::Result<u16> {
        let offset = self.offset()?;
        let paths = [
            "mediation.internal_https_api_port",
            "mediation.synapse.internal_https_api_port",
            "synapse_properties.internal_https_api_port",
            "synapse_properties.synapse.internal_https_api_port",
        ];
        self.port(&paths, i64::from(MANAGEMENT_PORT) - DEFAULT_OFFSET, offset, "the port of the management API")
    }

    /// The first of some paths that the file has.
    pub(super) fn named<'p>(&self, paths: &[&'p str]) -> Option<&'p str> {
        paths.iter().copied().find(|path| find(&self.table, path).is_some())
    }

    /// The port that the first of some paths says that is there, or another one, with the offset.
    ///
    /// Errors: it is no number, or out of the range of ports.
    pub(super) fn port(&self, paths: &[&str], default: i64, offset: i64, what: &str) -> anyhow::Result<u16> {
        let named = self.named(paths);
        let base = match named {
            Some(path) => self.integer(path)?.unwrap_or(default),
            None => default,
        };
        base.checked_add(offset).and_then(|port| u16::try_from(port).ok()).ok_or_else(|| {
            // Of two that are too large together, it is the one that is too large alone.
            let key = named.filter(|_| !(0..=65535).contains(&base)).unwrap_or("server.offset");
            wrong(key, format!("{what}, {base} with the offset of {offset}, is not between 0 and 65535"))
        })
    }

    /// The access log.
    ///
    /// Errors: something is not what it has to be.
    pub(super) fn access_log(&self) -> anyhow::Result<Wso2AccessLog> {
        let text = |key: &str| self.text(&format!("http_access_log.{key}"));
        let [directory, prefix, suffix] = ACCESS_LOG_FILE;
        let directory = text("directory")?.unwrap_or_else(|| directory.to_owned());
        let prefix = text("prefix")?.unwrap_or_else(|| prefix.to_owned());
        let suffix = text("suffix")?.unwrap_or_else(|| suffix.to_owned());
        let is_on = self.flag("http_access_log.enabled")?.unwrap_or(false);
        let file = is_on.then(|| PathBuf::from(directory).join(format!("{prefix}{suffix}")));
        Ok(Wso2AccessLog { file, pattern: text("pattern")? })
    }

    /// The bounds of latencies, by the element that defines a service; those that are not named have the usual ones.
    ///
    /// Errors: they are no numbers that rise.
    pub(super) fn latency_bounds(&self) -> anyhow::Result<BTreeMap<&'static str, Vec<f64>>> {
        let mut found = BTreeMap::new();
        for (key, element) in LATENCY_BUCKETS {
            let path = format!("metric_handler.{key}");
            let Some(value) = find(&self.table, &path) else { continue };
            let number = |value: &Value| match value {
                Value::Integer(number) => Some(*number as f64),
                Value::Float(number) => Some(*number),
                Value::String(text) => text.trim().parse().ok(),
                _ => None,
            };
            let bounds: Option<Vec<f64>> = match value {
                Value::Array(values) => values.iter().map(number).collect(),
                Value::String(text) => {
                    let inside = text.trim().trim_start_matches(['[', '{']).trim_end_matches([']', '}']);
                    inside.split(',').map(|part| part.trim().parse().ok()).collect()
                }
                _ => None,
            };
            let sound = bounds.filter(|bounds| Bounds::new(bounds).is_some());
            let most = Bounds::MOST;
            let message =
                || format!("{path}: 1 to {most} numbers of seconds are needed, each larger than the one before");
            found.insert(element, sound.ok_or_else(|| wrong(&path, message()))?);
        }
        Ok(found)
    }

    /// What is added to ports.
    ///
    /// Errors: it is no number.
    pub(super) fn offset(&self) -> anyhow::Result<i64> {
        Ok(self.integer("server.offset")?.unwrap_or(DEFAULT_OFFSET))
    }

    /// The address of a network interface, which the first of these paths holds that is there; a name is looked up, and
    /// of several addresses the first of IPv4 counts.
    ///
    /// Errors: it is none, and no name that is known.
    pub(super) fn host(&self, paths: &[&str]) -> anyhow::Result<Option<IpAddr>> {
        for path in paths {
            let Some(text) = self.text(path)? else { continue };
            if let Ok(address) = text.trim_matches(['[', ']']).parse() {
                return Ok(Some(address));
            }
            let found: Vec<SocketAddr> = match (text.as_str(), 0).to_socket_addrs() {
                Ok(found) => found.collect(),
                Err(_) => {
                    let message = format!("{path} = {text:?}: an IP address is needed, or a name that is known here");
                    return Err(wrong(path, message));
                }
            };
            let chosen = found.iter().find(|address| address.is_ipv4()).or(found.first());
            return Ok(chosen.map(SocketAddr::ip));
        }
        Ok(None)
    }

    /// Limits and deadlines.
    ///
    /// Errors: one is no number.
    pub(super) fn limits(&self) -> anyhow::Result<Limits> {
        let validated = self.flag("transport.http.enable_message_size_validation")? == Some(true);
        let message_bytes = self.integer("transport.http.max_message_size_bytes")?.filter(|_| validated);
        // -1 says that there is no limit, which is what the bus has where nothing is said.
        let count = |path| Ok(self.integer(path)?.and_then(|count| usize::try_from(count).ok())) as anyhow::Result<_>;
        Ok(Limits {
            socket_timeout: self.duration("transport.http.socket_timeout")?,
            connection_timeout: self.duration("transport.http.connection_timeout")?,
            message_bytes: message_bytes.map(u64::try_from).transpose()?,
            connections: count("transport.http.max_open_connections")?,
            backend_connections: count("transport.http.max_http_connection_per_host_port")?,
        })
    }

    /// What holds for endpoints that say nothing else.
    ///
    /// Errors: something is not what it has to be.
    pub(super) fn endpoints(&self) -> anyhow::Result<EndpointSettings> {
        let timeout = self.synapse(&["synapse.global_timeout_interval"], File::duration)?;
        let mut settings = EndpointSettings { timeout, ..EndpointSettings::default() };
        let suspension = self.synapse(&["synapse.global_endpoint_suspend_duration"], File::integer)?;
        set(&mut settings.suspension_ms, suspension);
        let factor = self.synapse(&["synapse.global_endpoint_suspend_progression_factor"], File::float)?;
        set(&mut settings.progression_factor, factor);
        let named = ["synapse.override_endpoint_suspend_config_with_global_values"];
        set(&mut settings.override_suspension, self.synapse(&named, File::flag)?);
        // The first name is that of Micro Integrator's file, the second that of the property it makes of it.
        let named = ["synapse.maximum_failover_retries", "maximum.failover.retries"];
        if let Some(retries) = self.synapse(&named, File::integer)?.and_then(|retries| u32::try_from(retries).ok()) {
            let named = ["synapse.suspend_duration_on_maximum_failover", "suspend.duration.on.maximum.failover"];
            let pause = self.synapse(&named, File::duration)?.unwrap_or(PAUSE);
            settings.failure_limit = Some((retries, pause));
        }
        let sessions = self.synapse(&["synapse.sal.endpoints.sesssion.timeout.default"], File::duration)?;
        set(&mut settings.session_timeout, sessions);
        Ok(settings)
    }

    /// Who may call all APIs from other origins, where the file says so.
    ///
    /// Errors: a switch is neither true nor false, or no header line can hold a value.
    /// Source: `SynapseCORSConfiguration` of WSO2's Synapse; here it is off where the file names no origin.
    pub(super) fn cors(&self) -> anyhow::Result<Option<CorsSettings>> {
        let path = |name: &str| format!("synapse_properties.synapse.rest.CORSConfig.{name}");
        let header = |name: &str| match self.text(&path(name))? {
            Some(text) if !is_value(text.as_bytes()) => {
                let path = path(name);
                Err(wrong(&path, format!("{path} = {text:?}: no header line can hold this")))
            }
            text => Ok(text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())),
        };
        let origins = header("Access-Control-Allow-Origin")?;
        let allow_headers = header("Access-Control-Allow-Headers")?;
        let is_on = self.flag(&path("enabled"))?.unwrap_or(origins.is_some());
        let origins = origins.as_deref().unwrap_or_default().split(',').map(str::trim);
        let allowed_origins = origins.filter(|origin| !origin.is_empty()).map(str::to_owned).collect();
        Ok(is_on.then_some(CorsSettings { allowed_origins, allow_headers }))
    }

    /// A property of Synapse's under one of its names, which `[mediation]` and `[synapse_properties]` hold.
    fn synapse<T>(
        &self,
        names: &[&str],
        read: impl Fn(&File, &str) -> anyhow::Result<Option<T>>,
    ) -> anyhow::Result<Option<T>> {
        for table in ["mediation", "synapse_properties"] {
            for name in names {
                if let Some(value) = read(self, &format!("{table}.{name}"))? {
                    return Ok(Some(value));
                }
            }
        }
        Ok(None)
    }

    /// The value under a path.
    ///
    /// Errors: it is a text that refers to what is not there.
    pub(super) fn value(&self, path: &str) -> anyhow::Result<Option<&Value>> {
        match self.unknown.get(path) {
            Some(message) => Err(wrong(path, format!("{path}: {message}"))),
            None => Ok(find(&self.table, path)),
        }
    }

    /// The tables of a list, `[[path]]`.
    ///
    /// Errors: it is something else.
    pub(super) fn tables(&self, path: &str) -> anyhow::Result<Vec<&Table>> {
        let Some(value) = find(&self.table, path) else { return Ok(Vec::new()) };
        let tables = value.as_array().and_then(|items| items.iter().map(Value::as_table).collect());
        tables.ok_or_else(|| wrong(path, format!("{path} has to be a list of tables, [[{path}]]")))
    }

    /// What is wrong with a text in a list of tables, where it still refers to something.
    pub(super) fn unknown_in(&self, path: &str, value: Option<&Value>) -> Option<&str> {
        let refers = value.and_then(Value::as_str).is_some_and(|text| text.contains('$'));
        self.unknown.get(path).filter(|_| refers).map(String::as_str)
    }

    pub(super) fn text(&self, path: &str) -> anyhow::Result<Option<String>> {
        match self.value(path)? {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(wrong(path, format!("{path} = {other}: a text is needed"))),
        }
    }

    /// A text that may refer to what only `[myelin.security]` knows.
    ///
    /// Errors: it is something else, which is not told, as it may be the password itself.
    pub(super) fn secret(&self, path: &str) -> anyhow::Result<Option<String>> {
        match find(&self.table, path) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(wrong(path, format!("{path}: a text is needed, in quotes"))),
        }
    }

    pub(super) fn flag(&self, path: &str) -> anyhow::Result<Option<bool>> {
        match self.value(path)? {
            None => Ok(None),
            Some(Value::Boolean(flag)) => Ok(Some(*flag)),
            // Many files quote what needs no quotes.
            Some(Value::String(text)) => match text.trim().parse() {
                Ok(flag) => Ok(Some(flag)),
                Err(_) => Err(wrong(path, format!("{path} = {text:?}: true or false is needed"))),
            },
            Some(other) => Err(wrong(path, format!("{path} = {other}: true or false is needed"))),
        }
    }

    pub(super) fn integer(&self, path: &str) -> anyhow::Result<Option<i64>> {
        match self.value(path)? {
            None => Ok(None),
            Some(Value::Integer(number)) => Ok(Some(*number)),
            Some(Value::String(text)) => match text.trim().parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(wrong(path, format!("{path} = {text:?}: a number is needed"))),
            },
            Some(other) => Err(wrong(path, format!("{path} = {other}: a number is needed"))),
        }
    }

    fn float(&self, path: &str) -> anyhow::Result<Option<f32>> {
        let number = match self.value(path)? {
            None => return Ok(None),
            Some(Value::Float(number)) => Some(*number as f32),
            Some(Value::Integer(number)) => Some(*number as f32),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(_) => None,
        };
        number.map(Some).ok_or_else(|| wrong(path, format!("{path}: a number is needed")))
    }

    /// A number of milliseconds, or a text such as `3m`.
    fn duration(&self, path: &str) -> anyhow::Result<Option<Duration>> {
        if let Some(Value::String(text)) = self.value(path)?
            && let Ok(duration) = humantime::parse_duration(text)
        {
            return Ok(Some(duration));
        }
        let Some(millis) = self.integer(path)? else { return Ok(None) };
        let duration = u64::try_from(millis).ok().filter(|millis| *millis > 0).map(Duration::from_millis);
        duration.map(Some).ok_or_else(|| wrong(path, format!("{path} = {millis}: more than 0 ms are needed")))
    }
}
