//! A loaded configuration, ready to serve. It never changes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use myelin_json::Duplicates as DuplicateKeys;
pub use myelin_json::convert::Switches as JsonSwitches;

use crate::api::Apis;
use crate::config::{Kept, Place};
use crate::database::DatabaseSettings;
use crate::description::{ProxyDescription, PublicAddresses};
use crate::endpoint::{Endpoint, EndpointId, EndpointRef, MonitorSettings};
use crate::entrance::{Inbound, Port};
use crate::exchange::ContentTypes;
use crate::function::{Function, FunctionId};
use crate::heritage::Heritage;
use crate::pattern;
use crate::priority::Priorities;
use crate::property::{Names, Outside, Slot};
use crate::replies::Replies;
use crate::security::{ProxySecurity, SecuritySettings};
use crate::sequence::{Sequence, SequenceId};
use crate::task::Task;

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
    /// How much a script may do with one message.
    pub scripts: ScriptLimits,
    /// How many branches of one request run at once (`clone`, `iterate`); the others wait.
    pub branches: usize,
    /// Where relative `file:` references of the configuration start; the referring file's own folder where unset.
    pub home: Option<PathBuf>,
    /// What is known for WS-Security besides its policies.
    pub security: SecuritySettings,
    /// What buses before this one have learnt, in a process that reloads.
    pub heritage: Heritage,
    /// Who speaks with databases, and the data sources that have names.
    pub databases: DatabaseSettings,
    /// How the bus is called in what it publishes.
    pub addresses: PublicAddresses,
    /// What holds for endpoints that say nothing else.
    pub endpoints: EndpointSettings,
    /// Who waits for answers that come in on their own; one for all buses of a process.
    pub replies: Replies,
    /// How many requests are served at once, and who first; without it all are.
    pub priorities: Option<Priorities>,
    /// Which endpoints are checked beside the messages that go to them; see [`Bus::monitors`].
    pub monitors: Vec<MonitorSettings>,
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
            scripts: ScriptLimits::default(),
            branches: 64,
            home: None,
            security: SecuritySettings::default(),
            heritage: Heritage::default(),
            databases: DatabaseSettings::default(),
            addresses: PublicAddresses::default(),
            endpoints: EndpointSettings::default(),
            replies: Replies::default(),
            priorities: None,
            monitors: Vec::new(),
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

/// A loaded configuration: what is sound of it, with every fixed reference resolved.
pub struct Bus {
    pub(crate) settings: Settings,
    pub(crate) names: Names,
    pub(crate) proxies: HashMap<String, Arc<Proxy>>,
    pub(crate) apis: Apis,
    /// The names of proxies that are faulty: they are offered by nobody, `main` included.
    pub(crate) faulty: HashSet<String>,
    // Faulty ones leave a hole; nothing sound refers to a hole.
    pub(crate) sequences: Vec<Option<Sequence>>,
    pub(crate) endpoints: Vec<Option<Arc<Endpoint>>>,
    pub(crate) endpoint_ids: HashMap<String, EndpointId>,
    pub(crate) sequence_ids: HashMap<String, SequenceId>,
    /// The sequence templates.
    pub(crate) functions: Vec<Option<Function>>,
    pub(crate) function_ids: HashMap<String, FunctionId>,
    /// The texts of local entries, by the slots of their keys: `get-property` finds them where no property is set.
    pub(crate) entries: HashMap<Slot, String>,
    /// The texts outside the messages that expressions read: of the registry, and of `file.properties`.
    pub(crate) outside: HashMap<(Outside, Slot), String>,
    /// All of those texts, where expressions work out their names.
    pub(crate) kept: Kept,
    /// The inbound endpoints, by their ports.
    pub(crate) inbounds: HashMap<u16, Arc<Inbound>>,
    pub(crate) tasks: Vec<Arc<Task>>,
    pub(crate) main: Option<SequenceId>,
    pub(crate) fault: Option<SequenceId>,
}

/// A proxy service.
pub(crate) struct Proxy {
    pub(crate) name: Arc<str>,
    pub(crate) place: Place,
    /// Whether it is reached over plain HTTP, and over HTTPS.
    pub(crate) http: bool,
    pub(crate) https: bool,
    pub(crate) in_sequence: Option<SequenceRef>,
    pub(crate) out_sequence: Option<SequenceRef>,
    pub(crate) fault_sequence: Option<SequenceRef>,
    pub(crate) endpoint: Option<EndpointRef>,
    /// What protects its messages.
    pub(crate) security: Option<ProxySecurity>,
    /// What it says about itself.
    pub(crate) description: ProxyDescription,
}

/// A sequence of the bus, or one that belongs to a proxy alone.
pub(crate) enum SequenceRef {
    Named(SequenceId),
    Inline(Box<Sequence>),
}

impl SequenceRef {
    /// The sequence meant.
    pub(crate) fn find<'a>(&'a self, bus: &'a Bus) -> Option<&'a Sequence> {
        match self {
            SequenceRef::Named(id) => bus.sequence(*id),
            SequenceRef::Inline(sequence) => Some(sequence),
        }
    }
}

impl Bus {
    /// The sequence with that number.
    pub(crate) fn sequence(&self, id: SequenceId) -> Option<&Sequence> {
        self.sequences.get(id)?.as_ref()
    }

    /// The sequence template with that number.
    pub(crate) fn function(&self, id: FunctionId) -> Option<&Function> {
        self.functions.get(id)?.as_ref()
    }

    /// The endpoint with that number.
    pub(crate) fn endpoint(&self, id: EndpointId) -> Option<&Arc<Endpoint>> {
        self.endpoints.get(id)?.as_ref()
    }

    /// The names of the proxies it serves, in alphabetical order.
    pub fn proxies(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.proxies.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    /// The names of the APIs it serves, in the order in which they are asked, and the paths they start at.
    pub fn apis(&self) -> Vec<(&str, &str)> {
        self.apis.offers.iter().map(|(api, address)| (&*api.name, address.prefix.as_str())).collect()
    }

    /// The ports of inbound endpoints, on which the bus is to be reached, too.
    pub fn ports(&self) -> BTreeMap<u16, Port<'_>> {
        let ports = self.inbounds.iter();
        ports.map(|(port, inbound)| (*port, Port { name: &inbound.entrance.name, tls: inbound.tls.as_ref() })).collect()
    }

    /// Whether requests to no proxy are mediated by a `main` sequence.
    pub fn has_main(&self) -> bool {
        self.main.is_some()
    }
}
