//! What the operator sets, apart from the configuration itself.

mod addresses;
mod monitors;
mod priority;
mod security;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use myelin_config::environment::ProcessEnvironment;
use myelin_content::ContentTypes;
use myelin_java_text::pattern;

pub use addresses::PublicAddresses;
pub use monitors::MonitorSettings;
pub use myelin_json::Duplicates as DuplicateKeys;
pub use myelin_json::convert::Switches as JsonSwitches;
pub use priority::{Priorities, PriorityRule};
pub use security::{REPLAY_ENTRIES, SecuritySettings, User};

use crate::cost;
use crate::counters::Bounds;
use crate::database::DatabaseSettings;
use crate::reload::ReloadState;
use crate::replies::Replies;

/// What the operator sets, apart from the configuration itself.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The largest body a mediator may read, in bytes; larger ones can still be passed on unread.
    pub body_limit_bytes: u64,
    /// Which of two equal keys of a JSON object counts (`docs/decisions/0004-json-duplicate-keys.md`).
    pub json_duplicate_keys: DuplicateKeys,
    /// How JSON and XML stand for each other.
    pub json: Arc<JsonSwitches>,
    /// What bodies of further content types are read and written like.
    pub content_types: Option<Arc<ContentTypes>>,
    /// How much a stylesheet may do with one message.
    pub stylesheets: StylesheetLimits,
    /// How much memory the answers may take that `cache` keeps, in bytes: those of all caches together.
    pub cache_bytes: usize,
    /// How long a message may wait for memory that others have.
    pub memory_wait: Duration,
    /// How much a script may do with one message.
    pub scripts: ScriptLimits,
    /// From this mean of processor time on the exchanges of a service take turns.
    pub costly_from: Duration,
    /// How many branches of one request run at once (`clone`, `iterate`); the others wait.
    pub branches: usize,
    /// The channels of the program around the bus: what addresses, transports and protocols it knows.
    pub channels: &'static [myelin_channel::Spec],
    /// Whether a reference to what is not there keeps its artefact from running; else only the step that needs it fails.
    pub is_strict: bool,
    /// Where relative `file:` references of the configuration start; the referring file's own folder where unset.
    pub home: Option<PathBuf>,
    /// The process around the bus: its environment variables, and the machine that it runs on.
    pub environment: ProcessEnvironment,
    /// What is known for WS-Security besides its policies.
    pub security: SecuritySettings,
    /// What buses before this one have learnt, in a process that reloads.
    pub reload_state: ReloadState,
    /// Who speaks with databases, and the data sources that have names.
    pub databases: DatabaseSettings,
    /// How the bus is called in what it publishes.
    pub addresses: PublicAddresses,
    /// What holds for endpoints that say nothing else.
    pub endpoints: EndpointSettings,
    /// Who may call every API from other origins; `None` leaves it to the handlers of each API.
    pub cors: Option<CorsSettings>,
    /// Who waits for answers that come in on their own; one for all buses of a process.
    pub replies: Replies,
    /// How many requests are served at once, and who first; without it all are.
    pub priorities: Option<Priorities>,
    /// Which endpoints are checked beside the messages that go to them.
    pub monitors: Vec<MonitorSettings>,
    /// The bounds of latencies of services, by the element that defines them; those that are not here have the usual ones.
    pub latency_bounds: HashMap<&'static str, Bounds>,
}

impl Settings {
    /// Bounds the memory that a stylesheet or a script may take, in bytes, where it may take more.
    pub fn bound_work(&mut self, bytes: usize) {
        let stylesheets = &mut self.stylesheets.work;
        stylesheets.memory_bytes = stylesheets.memory_bytes.min(bytes as u64);
        stylesheets.output_bytes = stylesheets.output_bytes.min(bytes);
        self.scripts.work.memory_bytes = self.scripts.work.memory_bytes.min(bytes);
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            body_limit_bytes: 16 * 1024 * 1024,
            json_duplicate_keys: DuplicateKeys::default(),
            json: Arc::default(),
            content_types: None,
            stylesheets: StylesheetLimits::default(),
            cache_bytes: 64 << 20,
            memory_wait: Duration::from_secs(10),
            scripts: ScriptLimits::default(),
            costly_from: cost::HIGH,
            branches: 64,
            channels: myelin_channel::BUILT_IN,
            is_strict: false,
            home: None,
            environment: ProcessEnvironment::default(),
            security: SecuritySettings::default(),
            reload_state: ReloadState::default(),
            databases: DatabaseSettings::default(),
            addresses: PublicAddresses::default(),
            endpoints: EndpointSettings::default(),
            cors: None,
            replies: Replies::default(),
            priorities: None,
            monitors: Vec::new(),
            latency_bounds: HashMap::new(),
        }
    }
}

impl Settings {
    /// Sets one thing of how JSON and XML stand for each other, by the name of Synapse's property; says whether there is
    /// such a property.
    ///
    /// Errors: a sentence about a value that is no regular expression.
    pub fn set_json(&mut self, name: &str, value: &str) -> Result<bool, String> {
        Arc::make_mut(&mut self.json).set(name, value, pattern::translated)
    }
}

/// Who may call every API from other origins; by name, the properties of WSO2's Synapse that begin with
/// `synapse.rest.CORSConfig`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorsSettings {
    /// `Access-Control-Allow-Origin`: `*`, whole origins, and such with stars in them.
    pub allowed_origins: Vec<String>,
    /// `Access-Control-Allow-Headers`: the list as it is sent.
    pub allow_headers: Option<String>,
}

/// What holds for endpoints that say nothing else; by name, the properties of Synapse's `synapse.properties`.
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointSettings {
    /// `synapse.global_timeout_interval`: how long a response's head may take; `None` leaves it to the transport.
    pub timeout: Option<Duration>,
    /// `synapse.global_endpoint_suspend_duration`: the first suspension, in milliseconds; a negative one stands for
    /// thirty seconds.
    pub suspension_ms: i64,
    /// `synapse.global_endpoint_suspend_progression_factor`: by how much each suspension is longer than the last.
    pub progression_factor: f32,
    /// `synapse.override_endpoint_suspend_config_with_global_values`: whether these two count for all endpoints.
    pub override_suspension: bool,
    /// `maximum.failover.retries` and `suspend.duration.on.maximum.failover`: after so many failures in a row each
    /// further one suspends for that long, whatever the endpoint says.
    pub failure_limit: Option<(u32, Duration)>,
    /// `synapse.sal.endpoints.sesssion.timeout.default`: how long sessions with members of a group are remembered.
    pub session_timeout: Duration,
}

impl Default for EndpointSettings {
    fn default() -> EndpointSettings {
        EndpointSettings {
            timeout: None,
            suspension_ms: -1,
            progression_factor: 1.0,
            override_suspension: false,
            failure_limit: None,
            session_timeout: Duration::from_secs(120),
        }
    }
}

/// How much a stylesheet may do with one message; what does more ends in a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StylesheetLimits {
    /// How long it may take, the wait for a thread that runs it included.
    pub time: Duration,
    /// How much it may do, whatever the time.
    pub work: myelin_xslt::Limits,
}

impl Default for StylesheetLimits {
    /// Two seconds, and half of what the library allows by default in results and memory.
    fn default() -> StylesheetLimits {
        let work = myelin_xslt::Limits { output_bytes: 32 << 20, memory_bytes: 128 << 20, ..Default::default() };
        StylesheetLimits { time: Duration::from_secs(2), work }
    }
}

/// How much a script may do with one message; what does more ends in a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptLimits {
    /// How long it may take, the wait for a thread that runs it included.
    pub time: Duration,
    /// How much it may ask for, whatever the time.
    pub work: myelin_script::Limits,
}

impl Default for ScriptLimits {
    /// Two seconds, and what the library allows by default.
    fn default() -> ScriptLimits {
        ScriptLimits { time: Duration::from_secs(2), work: myelin_script::Limits::default() }
    }
}
