//! `deployment.toml`: the keys of WSO2's that mean something here, and a `[myelin]` table of our own.

mod content;
mod databases;
mod file_text;
mod findings;
mod https;
mod keys;
mod management;
mod own;
mod placeholders;
mod reference;
mod security;
mod telemetry;
mod values;
mod wso2;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use file_text::{FileText, KeyProblem};
pub(crate) use file_text::{InvalidDeployment, with_excerpt};
use findings::Findings;
use https::Https;
pub use https::KeyStoreTls;
use myelin_bench::units::address;
use myelin_engine::database::Databases;
use myelin_engine::observer::Bounds;
use myelin_engine::{CorsSettings, EndpointSettings, Problem, ProcessEnvironment, SecuritySettings};
use myelin_http::{ClientOptions, ServerOptions};
use myelin_observe::messages::{TraceLimits, Wish};
use myelin_telemetry::TelemetryOptions;
use myelin_wss::Replays;
use myelin_wss::policy::Crypto;
use own::Own;
pub(crate) use own::XForwardedMode;
pub(crate) use reference::markdown;
use serde::Deserialize;
use telemetry::Wso2Telemetry;
use toml::Table;
use values::set;
pub(crate) use wso2::MANAGEMENT_PORT;
use wso2::{File, HTTP_PORT, Limits, Wso2AccessLog};

use crate::access_log::{AccessLogOptions, Destination};
use crate::admin_options::{self, AdminOptions};
use crate::certificates::Source;
use crate::channels::CHANNELS;
use crate::logging::LogOptions;
use crate::management::ManagementOptions;
use crate::worker::WorkOptions;

/// How often to look whether the configuration was changed.
const WATCH: Duration = Duration::from_secs(1);

/// What a `deployment.toml` says, as far as this bus heeds it.
#[derive(Debug)]
pub(crate) struct Deployment {
    /// What in the file has no effect, each with its place and its line.
    pub(crate) remarks: Vec<Problem>,
    /// The same of what is told with a key.
    key_remarks: Vec<KeyProblem>,
    /// `[server] hostname`: how the bus is called in what it publishes.
    hostname: Option<String>,
    /// `wsdl_epr_prefix` of `[transport.http.listener]` and `[transport.http.secured_listener]`: what stands before the
    /// paths of services in descriptions.
    prefixes: [Option<String>; 2],
    /// Where plain HTTP is served, the offset added to the port; `None` where it is switched off.
    pub(crate) http: Option<SocketAddr>,
    /// Where HTTPS is served and with which key, where the file says so.
    https: Option<Https>,
    /// The folder of the file.
    folder: PathBuf,
    wso2: Limits,
    /// What `[mediation]` and `[synapse_properties]` say of endpoints.
    endpoints: EndpointSettings,
    /// What `[synapse_properties]` says of calls from other origins.
    cors: Option<CorsSettings>,
    /// What they say of content.
    content: content::Content,
    /// `[keystore.primary]` and `[truststore]`, as WSO2's policies name them.
    server_store: Option<Crypto>,
    /// `[[datasource]]`: the databases that have names.
    sources: Vec<databases::Named>,
    /// `[metric_handler]`: bounds of latencies, by the element of services.
    latency_bounds: BTreeMap<&'static str, Vec<f64>>,
    /// `[http_access_log]`.
    wso2_access_log: Wso2AccessLog,
    /// `[server] hot_deployment`: whether changes of the configuration are looked for.
    hot: bool,
    /// The port where metrics and probes are answered, where the file names no address for them.
    admin_port: u16,
    /// What WSO2's keys say of the management API.
    management: management::Management,
    /// `[opentelemetry]`: where traces go.
    wso2_telemetry: Wso2Telemetry,
    own: Own,
}

impl Default for Deployment {
    /// Where there is no file: Synapse's port, without the offset of Micro Integrator.
    fn default() -> Deployment {
        let (remarks, wso2, own) = (Vec::new(), Limits::default(), Own::default());
        let http = Some(SocketAddr::from((Ipv4Addr::UNSPECIFIED, HTTP_PORT)));
        let endpoints = EndpointSettings::default();
        Deployment {
            remarks,
            key_remarks: Vec::new(),
            hostname: None,
            prefixes: [None, None],
            http,
            https: None,
            folder: PathBuf::new(),
            wso2,
            endpoints,
            cors: None,
            content: content::Content::default(),
            server_store: None,
            sources: Vec::new(),
            latency_bounds: BTreeMap::new(),
            wso2_access_log: Wso2AccessLog::default(),
            hot: true,
            admin_port: admin_options::PORT,
            management: management::Management::default(),
            wso2_telemetry: Wso2Telemetry::default(),
            own,
        }
    }
}

/// How a `deployment.toml` is read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadOptions {
    /// What takes the place of its `[server] offset`.
    pub(crate) port_offset: Option<u16>,
    /// Whether the file cannot be used where a key is misspelt.
    pub(crate) is_strict: bool,
}

/// Reads a `deployment.toml`.
///
/// Errors: the file cannot be read; an [`InvalidDeployment`], where it is no TOML, or a key that is heeded holds what it
/// cannot.
pub(crate) fn read(path: &Path, options: ReadOptions) -> anyhow::Result<Deployment> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
    let source = FileText::new(&name, &text);
    let Findings { mut problems, warnings } = findings::examine(&source);
    let (misspelt, mut remarks): (Vec<_>, Vec<_>) =
        warnings.into_iter().partition(|warning| options.is_strict && warning.suggestion().is_some());
    problems.extend(misspelt);
    let unknown = reference::unknown(&source);
    let has_unknown = !unknown.is_empty();
    problems.extend(unknown);
    let parsed = parse_all(&text, options.port_offset).map_err(|errors| {
        // Our own keys are read by what stops at the first that is unknown.
        let is_told = |error: &anyhow::Error| has_unknown && error.is::<toml::de::Error>();
        let errors = errors.iter().filter(|error| !is_told(error));
        problems.extend(errors.map(|error| source.problem_of(error)));
    });
    let Some(deployment) = parsed.ok().filter(|_| problems.is_empty()) else {
        return Err(InvalidDeployment::of(problems).into());
    };
    remarks.extend(deployment.key_remarks.iter().map(|remark| source.remark(remark)));
    remarks.sort_by_key(|remark| (remark.line(), remark.column()));
    // Folders above it are looked at, too, which a relative path does not have.
    let folder = std::path::absolute(path)?.parent().map(Path::to_owned).unwrap_or_default();
    Ok(Deployment { remarks, folder, ..deployment })
}

/// The file as far as its own table goes; from its text, so that errors have their places.
#[derive(Deserialize)]
struct WithOwn {
    #[serde(default)]
    myelin: Own,
}

/// What is wrong with the parts of a file.
#[derive(Default)]
struct Errors(Vec<anyhow::Error>);

impl Errors {
    /// What was read of a part; what is wrong with it is kept, so that the other parts are looked at as well.
    fn keep<T: Default>(&mut self, read: anyhow::Result<T>) -> T {
        read.unwrap_or_else(|error| {
            self.0.push(error);
            T::default()
        })
    }
}

#[cfg(test)]
fn parse(text: &str) -> anyhow::Result<Deployment> {
    parse_with_offset(text, None)
}

#[cfg(test)]
fn parse_with_offset(text: &str, port_offset: Option<u16>) -> anyhow::Result<Deployment> {
    parse_all(text, port_offset).map_err(|errors| errors.into_iter().next().expect("it fails for a reason"))
}

/// Reads the text of a file.
///
/// Errors: those of all its parts.
fn parse_all(text: &str, port_offset: Option<u16>) -> Result<Deployment, Vec<anyhow::Error>> {
    let mut table: Table = text.parse().map_err(|error: toml::de::Error| vec![error.into()])?;
    if let Some(offset) = port_offset {
        let server = table.entry("server").or_insert_with(|| Table::new().into());
        // What is no table is an error of the file, which is told of below.
        if let Some(server) = server.as_table_mut() {
            server.insert("offset".to_owned(), i64::from(offset).into());
        }
    }
    let mut errors = Errors::default();
    let own = errors.keep(toml::from_str(text).map(|WithOwn { myelin }| myelin).map_err(Into::into));
    let file = File::new(table, &|name| std::env::var(name).ok());
    let sources = errors.keep(databases::read(&file));
    let content = errors.keep(file.content());
    let cors = errors.keep(file.cors());
    let wso2_telemetry = errors.keep(Wso2Telemetry::read(&file));
    let management = errors.keep(management::Management::read(&file));
    let open_to_nobody = cors.as_ref().filter(|cors| cors.allowed_origins.is_empty()).map(|_| {
        KeyProblem::new(
            "synapse_properties.synapse.rest.CORSConfig.enabled",
            "[synapse_properties] 'synapse.rest.CORSConfig.enabled' is true, and 'synapse.rest.CORSConfig.\
             Access-Control-Allow-Origin' names no origin: no other origin may call an API",
        )
    });
    let key_remarks = sources
        .iter()
        .flat_map(|source| &source.remarks)
        .chain(&content.remarks)
        .chain(&open_to_nobody)
        .chain(&wso2_telemetry.refused)
        .cloned()
        .chain(management.remarks())
        .collect();
    let prefix_of = |path: &str| file.text(&format!("{path}.wsdl_epr_prefix"));
    let prefixes = [
        errors.keep(prefix_of("transport.http.listener")),
        match errors.keep(prefix_of("transport.https.listener")) {
            Some(prefix) => Some(prefix),
            None => errors.keep(prefix_of("transport.http.secured_listener")),
        },
    ];
    let offset = errors.keep(file.offset());
    let deployment = Deployment {
        remarks: Vec::new(),
        key_remarks,
        hostname: errors.keep(file.text("server.hostname")),
        prefixes,
        http: errors.keep(file.http()),
        https: errors.keep(Https::read(&file, offset)),
        folder: PathBuf::new(),
        wso2: errors.keep(file.limits()),
        endpoints: errors.keep(file.endpoints()),
        cors,
        content,
        server_store: errors.keep(security::server_store(&file)),
        sources,
        latency_bounds: errors.keep(file.latency_bounds()),
        wso2_access_log: errors.keep(file.access_log()),
        hot: errors.keep(file.flag("server.hot_deployment")).unwrap_or(true),
        admin_port: errors.keep(file.admin_port()),
        management,
        wso2_telemetry,
        own,
    };
    if errors.0.is_empty() { Ok(deployment) } else { Err(errors.0) }
}

impl Deployment {
    /// Puts what the file says about mediation into its settings, and what the process around the bus says.
    ///
    /// Errors: a secret that is referred to is not there, a file cannot be read.
    pub(crate) fn apply_mediation(&self, settings: &mut myelin_engine::Settings) -> anyhow::Result<()> {
        settings.channels = CHANNELS;
        settings.environment = ProcessEnvironment::read();
        self.own.apply_content(settings);
        // What is refused where it comes in need not be read.
        if let Some(largest) = self.own.server.body_bytes.or(self.wso2.message_bytes) {
            settings.body_limit_bytes = settings.body_limit_bytes.min(largest);
        }
        // What every file of WSO2's says by default is a name that no other machine can use.
        settings.addresses.host = self.hostname.clone().filter(|host| host != "localhost");
        [settings.addresses.http_prefix, settings.addresses.https_prefix] =
            self.prefixes.clone().map(|it| it.and_then(prefix));
        settings.endpoints = self.endpoints.clone();
        settings.cors.clone_from(&self.cors);
        self.content.apply(settings)?;
        settings.security.server_store.clone_from(&self.server_store);
        self.own.security.apply(&mut settings.security, &settings.environment)?;
        let bounds = self.latency_bounds.iter().filter_map(|(element, bounds)| Some((*element, Bounds::new(bounds)?)));
        settings.latency_bounds = bounds.collect();
        let sources = self.sources.iter().map(|source| source.resolved(settings));
        settings.databases.sources = sources.collect::<anyhow::Result<_>>()?;
        Ok(())
    }

    /// Where HTTPS is served and with which key; `None` where the file has none.
    ///
    /// Errors: a file that is not there, a password that refers to what is not there.
    pub(crate) fn https(&self) -> anyhow::Result<Option<(SocketAddr, Arc<KeyStoreTls>)>> {
        let Some(https) = &self.https else { return Ok(None) };
        let (environment, security) = self.secrets()?;
        let tls = https.resolved(&self.folder, &security, &environment).context("HTTPS of deployment.toml")?;
        Ok(Some((https.address, Arc::new(tls))))
    }

    /// The environment, and what the file says of security: what passwords may refer to.
    ///
    /// Errors: a secret that is referred to is not there.
    fn secrets(&self) -> anyhow::Result<(ProcessEnvironment, SecuritySettings)> {
        let (environment, mut security) = (ProcessEnvironment::read(), SecuritySettings::default());
        self.own.security.apply(&mut security, &environment)?;
        Ok((environment, security))
    }

    /// The port of HTTPS that the file names.
    pub(crate) fn https_port(&self) -> Option<u16> {
        self.https.as_ref().map(|https| https.address.port())
    }

    /// What remembers the secured messages that were accepted, for a process that serves.
    ///
    /// Errors: its folder cannot be used, or another process uses it.
    pub(crate) fn replays(&self) -> anyhow::Result<Replays> {
        self.own.security.replays()
    }

    /// Who speaks with databases, for a whole process; `None` in a build without them.
    pub(crate) fn databases(&self) -> Option<Arc<dyn Databases>> {
        self.own.sql.databases()
    }

    /// Where an operator asks; `None` where the file says `off`. A file of Micro Integrator's moves the port by its offset.
    ///
    /// Errors: the file names no address.
    pub(crate) fn admin(&self) -> anyhow::Result<Option<AdminOptions>> {
        let options = |address, is_wanted| Some(AdminOptions { address, is_wanted });
        match self.own.admin.listen.as_deref() {
            None => Ok(options(SocketAddr::from((Ipv4Addr::LOCALHOST, self.admin_port)), false)),
            Some("off") => Ok(None),
            Some(text) => {
                let address = address(text).map_err(anyhow::Error::msg).context("[myelin.admin] listen")?;
                Ok(options(address, true))
            }
        }
    }

    /// How a line is written for each request, if one is; the file and the format of the command line go first.
    ///
    /// Errors: the format is none.
    pub(crate) fn access_log(
        &self,
        file: Option<&str>,
        format: Option<&str>,
    ) -> anyhow::Result<Option<AccessLogOptions>> {
        let own = &self.own.access_log;
        let destination = match (file, &own.file) {
            (Some(file), _) => Destination::from(file),
            (None, Some(file)) if file == "-" => Destination::Standard,
            (None, Some(file)) => Destination::File(self.folder.join(file)),
            (None, None) => match &self.wso2_access_log.file {
                Some(file) => Destination::File(self.folder.join(file)),
                None => return Ok(None),
            },
        };
        let format = format.or(own.format.as_deref()).or(self.wso2_access_log.pattern.as_deref()).unwrap_or_default();
        let options = AccessLogOptions::to(destination).in_format(format, own.mask_queries.unwrap_or(true));
        options.context("the format of the access log").map(Some)
    }

    /// What the file says of the log.
    pub(crate) fn log(&self) -> LogOptions {
        self.own.log.options(&self.folder)
    }

    /// The file of the users of the management API: where the file says, beside it, or in `conf` of the first of some
    /// paths that has such a folder.
    pub(crate) fn users_file(&self, paths: &[PathBuf]) -> PathBuf {
        let has_file = !self.folder.as_os_str().is_empty();
        match (&self.own.management.users, has_file) {
            (Some(users), _) => self.folder.join(users),
            (None, true) => self.folder.join("users.toml"),
            (None, false) => {
                let homes = paths.iter().map(|path| path.join("conf")).filter(|folder| folder.is_dir());
                homes.chain([PathBuf::from("conf")]).map(|folder| folder.join("users.toml")).next().unwrap_or_default()
            }
        }
    }

    /// Where the management API is; `None` where the file says `off`.
    ///
    /// Errors: the file names no address, only one of certificate and key, or a key store that is not there; a user of it is
    /// none.
    pub(crate) fn management(&self, paths: &[PathBuf]) -> anyhow::Result<Option<ManagementOptions>> {
        let own = &self.own.management;
        let named = match own.listen.as_deref() {
            Some("off") => return Ok(None),
            Some(text) => Some(address(text).map_err(anyhow::Error::msg).context("[myelin.management] listen")?),
            None => None,
        };
        let files = match (&own.certificate, &own.key) {
            (Some(chain), Some(key)) => {
                Some(Source::Files { chain: self.folder.join(chain), key: self.folder.join(key) })
            }
            (None, None) => None,
            _ => bail!("[myelin.management]: certificate and key are needed together"),
        };
        let key_store = self.management_key_store().context("[myelin.management.keystore]")?.map(Source::Store);
        if files.is_some() && key_store.is_some() {
            bail!("[myelin.management]: either certificate and key, or keystore is needed");
        }
        let mut options = ManagementOptions {
            address: named.unwrap_or(SocketAddr::from((Ipv4Addr::LOCALHOST, self.management.port))),
            is_wanted: named.is_some(),
            certificate: files.or(key_store),
            users: self.users_file(paths),
            fixed_users: self.management.users()?,
            ..ManagementOptions::default()
        };
        set(&mut options.connections, own.connections);
        set(&mut options.api.token_expiry, own.token_expiry.or(self.management.token_expiry));
        set(&mut options.api.tokens, own.tokens.or(self.management.tokens));
        set(&mut options.api.requests_per_minute, own.requests_per_minute);
        set(&mut options.api.failures, own.failures);
        set(&mut options.api.upload_bytes, own.upload_bytes);
        Ok(Some(options))
    }

    /// The key store of the management API, where the file names one.
    fn management_key_store(&self) -> anyhow::Result<Option<Arc<KeyStoreTls>>> {
        let Some(own) = &self.own.management.keystore else { return Ok(None) };
        let store = own.store().context("file_name is missing")?;
        let (environment, security) = self.secrets()?;
        Ok(Some(Arc::new(store.tls(&self.folder, &security, &environment)?)))
    }

    /// Where traces and lines of the log go; `None` where neither file nor environment asks for it.
    ///
    /// Errors: something is not what it has to be, or a secret that is referred to is not there.
    pub(crate) fn telemetry(&self) -> anyhow::Result<Option<TelemetryOptions>> {
        let (environment, security) = self.secrets()?;
        let secret = |text: &str| -> Result<String, String> {
            let secret = security.secret(text, &environment)?;
            String::from_utf8(secret.as_ref().to_vec()).map_err(|_| "the secret is no text in UTF-8".to_owned())
        };
        let variable = |name: &str| std::env::var(name).ok();
        telemetry::options(&self.own.opentelemetry.beside(&self.folder), &self.wso2_telemetry, &variable, &secret)
    }

    /// How long probes say that the bus stops before its listeners close.
    pub(crate) fn drain_delay(&self) -> Duration {
        self.own.admin.drain_delay.unwrap_or_default()
    }

    /// How much message traces record, and which exchanges are traced from the start.
    pub(crate) fn trace(&self) -> (TraceLimits, Vec<Wish>) {
        (self.own.trace.limits(), self.own.trace.wishes())
    }

    /// How often to look whether the configuration was changed; `None` where nobody wants that.
    pub(crate) fn watch(&self) -> Option<Duration> {
        self.hot.then(|| self.own.reload.interval.unwrap_or(WATCH))
    }

    /// Puts what the file says into the options; our own keys go before those of WSO2.
    pub(crate) fn apply(&self, server: &mut ServerOptions, client: &mut ClientOptions) {
        let Limits { socket_timeout, connection_timeout, .. } = self.wso2;
        set(&mut server.idle, socket_timeout);
        set(&mut client.idle, socket_timeout);
        set(&mut client.connect_timeout, connection_timeout);
        server.body_bytes = self.wso2.message_bytes;
        set(&mut server.connections, self.wso2.connections);
        set(&mut client.connections, self.wso2.backend_connections);
        self.own.apply(server, client);
    }

    /// How much long work may wait for its turn.
    pub(crate) fn work(&self) -> WorkOptions {
        self.own.work()
    }

    /// How much memory all messages together may take, where the file says it.
    pub(crate) fn memory_bytes(&self) -> Option<usize> {
        self.own.memory.bytes
    }

    /// What differs from what another file says and cannot change while the bus serves.
    pub(crate) fn differs_for_good(&self, other: &Deployment) -> Vec<&'static str> {
        let (own, others) = (&self.own, &other.own);
        let differences = [
            ("the address of HTTP", self.http != other.http),
            (
                "the address of HTTPS",
                self.https.as_ref().map(|it| it.address) != other.https.as_ref().map(|it| it.address),
            ),
            ("[transport.http]", self.wso2 != other.wso2),
            ("[myelin.server]", own.server != others.server),
            ("[myelin.client]", own.client != others.client),
            ("waiting or wait in [myelin.work]", own.work() != others.work()),
            ("bytes in [myelin.memory]", own.memory.bytes != others.memory.bytes),
            ("replay_entries or replay_folder in [myelin.security]", own.security.replays_differ(&others.security)),
            ("[myelin.sql]", own.sql != others.sql),
            ("[server] hot_deployment", self.hot != other.hot),
            ("[myelin.reload]", own.reload != others.reload),
            ("[myelin.admin]", own.admin != others.admin),
            ("[myelin.management]", own.management != others.management),
            ("the management API", self.management != other.management),
            ("[myelin.opentelemetry]", own.opentelemetry != others.opentelemetry),
            ("[opentelemetry]", self.wso2_telemetry != other.wso2_telemetry),
            ("[myelin.access_log]", own.access_log != others.access_log),
            ("[metric_handler]", self.latency_bounds != other.latency_bounds),
            ("[http_access_log]", self.wso2_access_log != other.wso2_access_log),
            ("[myelin.trace]", own.trace != others.trace),
        ];
        differences.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key).collect()
    }
}

/// A prefix with its scheme; one of a host name alone, as WSO2's documentation has it, says no more than the host name.
fn prefix(text: String) -> Option<String> {
    text.contains("://").then_some(text)
}

#[cfg(test)]
mod tests;
