//! Properties of an exchange: named values in scopes, found by slot instead of by name.
//!
//! Names are known when the configuration is loaded, so each becomes a number once;
//! an exchange then holds only the few entries that were set, and a reader compares numbers.

mod known;
mod value;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use myelin_content::Fragment;
use myelin_message::budget::{Reservation, SMALL_BYTES, has_room};
use myelin_xml::Document;

pub use known::remark;
pub use value::Value;

use crate::fault::{Fault, Outcome};

/// The number a property name was given when the configuration was loaded.
pub type Slot = u32;

/// Slots of the names the bus itself acts on; the same in every bus.
#[expect(missing_docs, reason = "each is called as its property, which docs/properties.md explains")]
pub mod slot {
    use crate::property::Slot;

    pub const HTTP_METHOD: Slot = 0;
    pub const HTTP_SC: Slot = 1;
    pub const HTTP_SC_DESC: Slot = 2;
    pub const HTTP_REASON_PHRASE: Slot = 3;
    pub const REST_URL_POSTFIX: Slot = 4;
    pub const NO_ENTITY_BODY: Slot = 5;
    pub const FORCE_SC_ACCEPTED: Slot = 6;
    pub const OUT_ONLY: Slot = 7;
    pub const RESPONSE: Slot = 8;
    pub const REQUEST_HOST_HEADER: Slot = 9;
    pub const TRANSPORT_HEADERS: Slot = 10;
    pub const TRANSPORT_IN_URL: Slot = 11;
    pub const REMOTE_ADDR: Slot = 12;
    pub const REMOTE_HOST: Slot = 13;
    pub const MESSAGE_TYPE: Slot = 14;
    pub const CONTENT_TYPE: Slot = 15;
    pub const ERROR_CODE: Slot = 16;
    pub const ERROR_MESSAGE: Slot = 17;
    pub const ERROR_DETAIL: Slot = 18;
    pub const ERROR_EXCEPTION: Slot = 19;
    pub const PROXY_NAME: Slot = 20;
    pub const DISABLE_CHUNKING: Slot = 21;
    pub const FORCE_HTTP_CONTENT_LENGTH: Slot = 22;
    pub const SERVICE_PREFIX: Slot = 23;
    pub const SERVER_IP: Slot = 24;
    pub const TO: Slot = 25;
    pub const FROM: Slot = 26;
    pub const ACTION: Slot = 27;
    pub const FAULT_TO: Slot = 28;
    pub const REPLY_TO: Slot = 29;
    pub const RELATES_TO: Slot = 30;
    pub const USERNAME: Slot = 31;
    pub const SECURITY_USER: Slot = 32;
    pub const SECURITY_SUBJECT: Slot = 33;
    pub const SECURITY_ISSUER: Slot = 34;
    pub const SECURITY_SERIAL: Slot = 35;
    pub const SECURITY_SAML_SUBJECT: Slot = 36;
    pub const SECURITY_SAML_ISSUER: Slot = 37;
    pub const MESSAGE_ID: Slot = 38;
    pub const PRESERVE_WS_ADDRESSING: Slot = 39;
    pub const OPERATION_NAME: Slot = 40;
    pub const OPERATION_NAMESPACE: Slot = 41;
    pub const FORCE_ERROR_ON_SOAP_FAULT: Slot = 42;
    pub const NO_KEEPALIVE: Slot = 43;
    pub const FORCE_HTTP_1_0: Slot = 44;
    pub const POST_TO_URI: Slot = 45;
    pub const FULL_URI: Slot = 46;
    pub const SC_ACCEPTED: Slot = 47;
    pub const FAULTS_AS_HTTP_200: Slot = 48;
    pub const ORIGINAL_STATUS_CODE: Slot = 49;
    pub const TRANSPORT_IN_NAME: Slot = 50;
    pub const SERVER_HOST: Slot = 51;
    pub const CHARACTER_SET_ENCODING: Slot = 52;
    pub const SET_CHARACTER_ENCODING: Slot = 53;
    pub const FORCE_POST_PUT_NOBODY: Slot = 54;
    pub const EXCESS_TRANSPORT_HEADERS: Slot = 55;
    pub const HTTP_ETAG: Slot = 56;
    pub const IGNORE_SC_ACCEPTED: Slot = 57;
    pub const RAW_PAYLOAD: Slot = 58;
    pub const NON_ERROR_STATUS_CODES: Slot = 59;
    pub const BLOCKING_SENDER_ERROR: Slot = 60;
    pub const LB_COOKIE_HEADER: Slot = 61;
    pub const LAST_ENDPOINT: Slot = 62;
    pub const ENDPOINT_PREFIX: Slot = 63;
    pub const RECEIVING_SEQUENCE: Slot = 64;
    pub const BASE_ERROR_CODE: Slot = 65;
    pub const PROTOCOL_STATE_ON_FAILURE: Slot = 66;
    pub const DISABLE_ADDRESSING: Slot = 67;
    pub const PRESERVE_REQUEST_HEADERS: Slot = 68;
    pub const ENABLE_MTOM: Slot = 69;
    pub const ENABLE_SWA: Slot = 70;
    pub const SET_ROLLBACK_ONLY: Slot = 71;
}

/// The names behind [`slot`], in its order.
const KNOWN: &[&str] = &[
    "HTTP_METHOD",
    "HTTP_SC",
    "HTTP_SC_DESC",
    "HTTP_REASON_PHRASE",
    "REST_URL_POSTFIX",
    "NO_ENTITY_BODY",
    "FORCE_SC_ACCEPTED",
    "OUT_ONLY",
    "RESPONSE",
    "REQUEST_HOST_HEADER",
    "TRANSPORT_HEADERS",
    "TransportInURL",
    "REMOTE_ADDR",
    "REMOTE_HOST",
    "messageType",
    "ContentType",
    "ERROR_CODE",
    "ERROR_MESSAGE",
    "ERROR_DETAIL",
    "ERROR_EXCEPTION",
    "proxy.name",
    "DISABLE_CHUNKING",
    "FORCE_HTTP_CONTENT_LENGTH",
    "SERVICE_PREFIX",
    "SERVER_IP",
    "To",
    "From",
    "Action",
    "FaultTo",
    "ReplyTo",
    "RelatesTo",
    "username",
    "security.user",
    "security.subject",
    "security.issuer",
    "security.serial",
    "security.saml.subject",
    "security.saml.issuer",
    "MessageID",
    "PRESERVE_WS_ADDRESSING",
    "OperationName",
    "OperationNamespace",
    "FORCE_ERROR_ON_SOAP_FAULT",
    "NO_KEEPALIVE",
    "FORCE_HTTP_1.0",
    "POST_TO_URI",
    "FULL_URI",
    "SC_ACCEPTED",
    "FAULTS_AS_HTTP_200",
    "ORIGINAL_STATUS_CODE",
    "TRANSPORT_IN_NAME",
    "SERVER_HOST",
    "CHARACTER_SET_ENCODING",
    "setCharacterEncoding",
    "FORCE_POST_PUT_NOBODY",
    "EXCESS_TRANSPORT_HEADERS",
    "HTTP_ETAG",
    "IGNORE_SC_ACCEPTED",
    "RAW_PAYLOAD",
    "non.error.http.status.codes",
    "blocking.sender.error",
    "LB_COOKIE_HEADER",
    "last_endpoint",
    "ENDPOINT_PREFIX",
    "RECEIVING_SEQUENCE",
    "BASE_ERROR_CODE",
    "PROTOCOL_STATE_ON_FAILURE",
    "disableAddressingForOutMessages",
    "BLOCKING_SENDER_PRESERVE_REQ_HEADERS",
    "enableMTOM",
    "enableSwA",
    "SET_ROLLBACK_ONLY",
];

/// The property names of one configuration.
#[derive(Clone, Debug)]
pub struct Names {
    slots: HashMap<Arc<str>, Slot>,
    /// The names that expressions read from outside the message.
    external: BTreeMap<(ExternalSource, Slot), Arc<str>>,
    /// What of outside the message they work out names of.
    any_external: BTreeSet<ExternalSource>,
}

/// Where properties stand that were there before any message; they are read while the configuration is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ExternalSource {
    /// The resources of the registry, by their keys.
    Registry,
    /// The file `file.properties`.
    File,
}

impl Default for Names {
    fn default() -> Names {
        let mut names = Names { slots: HashMap::new(), external: BTreeMap::new(), any_external: BTreeSet::new() };
        KNOWN.iter().for_each(|name| {
            names.slot(name);
        });
        names
    }
}

impl Names {
    /// The slot of a name, given to it now if it had none.
    pub fn slot(&mut self, name: &str) -> Slot {
        if let Some(&slot) = self.slots.get(name) {
            return slot;
        }
        let slot = self.slots.len() as Slot;
        self.slots.insert(name.into(), slot);
        slot
    }

    /// How many names have a slot.
    pub fn count(&self) -> usize {
        self.slots.len()
    }

    /// The slot of a name that something outside the message has.
    pub fn external(&mut self, source: ExternalSource, name: &str) -> Slot {
        let slot = self.slot(name);
        self.external.insert((source, slot), name.into());
        slot
    }

    /// Notes that an expression works out names of something outside the message.
    pub fn any_external(&mut self, source: ExternalSource) {
        self.any_external.insert(source);
    }

    /// Whether an expression does so.
    pub fn asks_any_external(&self, source: ExternalSource) -> bool {
        self.any_external.contains(&source)
    }

    /// The names that [`Names::external`] was asked for.
    pub fn asked_external(&self) -> impl Iterator<Item = ((ExternalSource, Slot), &str)> {
        self.external.iter().map(|(asked, name)| (*asked, &**name))
    }

    /// The slot of a name that came up while serving; `None` where the configuration does not know it.
    pub fn find(&self, name: &str) -> Option<Slot> {
        self.slots.get(name).copied()
    }

    /// The names that begin so, without that beginning, and their slots.
    pub fn below(&self, beginning: &str) -> impl Iterator<Item = (&str, Slot)> {
        self.slots.iter().filter_map(move |(name, &slot)| Some((name.strip_prefix(beginning)?, slot)))
    }
}

/// Where a property lives and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// With the exchange, request and response.
    Default,
    /// With the current message; gone when the response takes its place.
    Axis2,
    /// Options of the current message.
    Axis2Client,
    /// With the exchange, apart from the default ones.
    Operation,
    /// With the exchange, as `<variable>` sets them.
    Variable,
    /// `To`, `Action` and the like, which are no properties to `get-property` with a scope.
    Addressing,
}

impl Scope {
    /// The word of the attribute `scope`; empty where no such attribute means it.
    pub fn word(self) -> &'static str {
        match self {
            Scope::Default => "default",
            Scope::Axis2 => "axis2",
            Scope::Axis2Client => "axis2-client",
            Scope::Operation => "operation",
            Scope::Variable | Scope::Addressing => "",
        }
    }
}

/// The reference of the properties that mean something to the bus, in Markdown: `docs/properties.md`.
pub fn properties_markdown() -> String {
    known::markdown()
}

/// What the properties of one exchange may hold.
const LIMIT_BYTES: usize = 128 << 20;

/// How many names an exchange may make up that the configuration does not know.
const NAME_LIMIT: usize = 1_000;

/// The properties set on one exchange.
#[derive(Clone, Debug, Default)]
pub struct Properties {
    // A handful at most, so a scan beats any map, and an exchange that sets none allocates nothing.
    entries: Vec<Entry>,
    /// Names that came up while serving; their slots follow those of the configuration.
    names: Vec<Arc<str>>,
}

#[derive(Clone, Debug)]
struct Entry {
    scope: Scope,
    slot: Slot,
    // `None` was removed: what the bus would otherwise work out must then not be found either.
    value: Option<Value>,
    /// The memory of a large value, which copies of the properties share; given back with the last of them.
    memory: Option<Arc<Reservation>>,
}

/// The memory of a value; none of what is small.
fn counted(value: Option<&Value>) -> Option<Arc<Reservation>> {
    let bytes = value.map_or(0, Value::memory_bytes);
    (bytes > SMALL_BYTES).then(|| Arc::new(Reservation::of(bytes)))
}

impl Entry {
    /// Whether it belongs to the exchange, and not to the current message.
    fn stays(&self) -> bool {
        matches!(self.scope, Scope::Default | Scope::Operation | Scope::Variable)
    }
}

/// What is known of a property.
#[derive(Debug)]
pub enum Lookup<'a> {
    /// It has this value.
    Set(&'a Value),
    /// Somebody removed it.
    Removed,
    /// Nobody set or removed it.
    Untouched,
}

impl Properties {
    /// The slot of a name that came up while serving; `None` where nobody can have set it.
    pub fn slot(&self, name: &str, names: &Names) -> Option<Slot> {
        let own = || self.names.iter().position(|known| &**known == name);
        names.find(name).or_else(|| own().map(|at| (names.slots.len() + at) as Slot))
    }

    /// The slot of a name that came up while serving and is to be set, given to it now if it had none.
    ///
    /// Errors: the bus's, where an exchange makes up more than `NAME_LIMIT` names.
    pub fn slot_to_set(&mut self, name: &str, names: &Names) -> Outcome<Slot> {
        if let Some(slot) = self.slot(name, names) {
            return Ok(slot);
        }
        if self.names.len() >= NAME_LIMIT {
            let detail = format!("more than {NAME_LIMIT} that the configuration does not know");
            return Err(Fault::bus("A message has too many names of properties").with_detail(detail));
        }
        self.names.push(name.into());
        Ok((names.slots.len() + self.names.len() - 1) as Slot)
    }

    /// What is set in a scope, with the names.
    pub fn named<'a>(&'a self, scope: Scope, names: &'a Names) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let name = move |slot: Slot| match (slot as usize).checked_sub(names.slots.len()) {
            Some(own) => self.names.get(own).map(|name| &**name),
            None => names.slots.iter().find(|(_, known)| **known == slot).map(|(name, _)| &**name),
        };
        let entries = self.entries.iter().filter(move |entry| entry.scope == scope);
        entries.filter_map(move |entry| Some((name(entry.slot)?, entry.value.as_ref()?)))
    }

    /// What was done to a property on this exchange.
    pub fn find(&self, scope: Scope, slot: Slot) -> Lookup<'_> {
        match self.entries.iter().find(|entry| entry.slot == slot && entry.scope == scope) {
            Some(Entry { value: Some(value), .. }) => Lookup::Set(value),
            Some(_) => Lookup::Removed,
            None => Lookup::Untouched,
        }
    }

    /// Whether nobody set or removed it.
    pub fn is_untouched(&self, scope: Scope, slot: Slot) -> bool {
        matches!(self.find(scope, slot), Lookup::Untouched)
    }

    /// The value that was set, if one was.
    pub fn get(&self, scope: Scope, slot: Slot) -> Option<&Value> {
        match self.find(scope, slot) {
            Lookup::Set(value) => Some(value),
            _ => None,
        }
    }

    /// Whether one of these was set.
    pub fn has_any(&self, scope: Scope, slots: &[Slot]) -> bool {
        let is_set = |entry: &Entry| entry.scope == scope && entry.value.is_some() && slots.contains(&entry.slot);
        self.entries.iter().any(is_set)
    }

    /// Whether a switch was set to true.
    pub fn is_true(&self, scope: Scope, slot: Slot) -> bool {
        self.get(scope, slot).is_some_and(Value::is_true)
    }

    /// Whether one more value may be held beside the others: XML takes many times the memory it came in.
    ///
    /// Errors: the bus's, where it would be more than `LIMIT_BYTES`, and 503 where all messages have no memory left.
    pub fn check_room(&self, value: &Value) -> Outcome<()> {
        let held: usize = self.entries.iter().filter_map(|entry| entry.value.as_ref()).map(Value::memory_bytes).sum();
        if !has_room(value.memory_bytes()) {
            return Err(Fault::overloaded("no memory is left for a property of a message"));
        }
        if held + value.memory_bytes() <= LIMIT_BYTES {
            return Ok(());
        }
        let detail = format!("more than {LIMIT_BYTES} bytes");
        Err(Fault::bus("The properties of a message hold too much").with_detail(detail))
    }

    /// Sets a property, or removes it with `None`.
    pub fn put(&mut self, scope: Scope, slot: Slot, value: Option<Value>) {
        let memory = counted(value.as_ref());
        match self.entries.iter_mut().find(|entry| entry.slot == slot && entry.scope == scope) {
            Some(entry) => (entry.value, entry.memory) = (value, memory),
            None => self.entries.push(Entry { scope, slot, value, memory }),
        }
    }

    /// Forgets that a property was set or removed: what the bus works out is found again.
    pub fn forget(&mut self, scope: Scope, slot: Slot) {
        self.entries.retain(|entry| entry.slot != slot || entry.scope != scope);
    }

    /// The piece of XML with that document, wherever it is held, to be changed.
    pub fn fragment_mut(&mut self, document: *const Document) -> Option<&mut Fragment> {
        let fragments = self.entries.iter_mut().flat_map(|entry| match &mut entry.value {
            Some(Value::Xml(fragment)) => std::slice::from_mut(fragment),
            Some(Value::List(list)) => Arc::make_mut(list),
            _ => &mut [],
        });
        fragments.into_iter().find(|fragment| std::ptr::eq(Arc::as_ptr(&fragment.document), document))
    }

    /// Takes over what another flow of the same exchange left with it; what belongs to the current message stays.
    pub fn adopt(&mut self, other: Properties) {
        self.names = other.names;
        self.entries.retain(|entry| !entry.stays());
        self.entries.extend(other.entries.into_iter().filter(Entry::stays));
    }

    /// Forgets what belonged to the message that was replaced by its response.
    pub fn next_message(&mut self) {
        self.entries.retain(Entry::stays);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_have_the_slots_the_code_uses() {
        let names = Names::default();
        assert_eq!(names.find("HTTP_METHOD"), Some(slot::HTTP_METHOD));
        assert_eq!(names.find("TransportInURL"), Some(slot::TRANSPORT_IN_URL));
        assert_eq!(names.find("proxy.name"), Some(slot::PROXY_NAME));
        assert_eq!(names.find("RelatesTo"), Some(slot::RELATES_TO));
        assert_eq!(names.find("security.saml.issuer"), Some(slot::SECURITY_SAML_ISSUER));
        assert_eq!(names.find("BLOCKING_SENDER_PRESERVE_REQ_HEADERS"), Some(slot::PRESERVE_REQUEST_HEADERS));
        assert_eq!(names.slots.len(), KNOWN.len());
    }

    #[test]
    fn a_name_that_came_up_while_serving_has_a_slot_of_its_own() {
        let names = Names::default();
        let mut properties = Properties::default();
        assert_eq!(properties.slot("new", &names), None);
        let slot = properties.slot_to_set("new", &names).unwrap();
        assert_eq!(slot as usize, KNOWN.len());
        assert_eq!(properties.slot_to_set("new", &names).unwrap(), slot);
        assert_eq!(properties.slot("new", &names), Some(slot));
        assert_eq!(properties.slot_to_set("HTTP_SC", &names).unwrap(), slot::HTTP_SC);
        let outcome = (0..=NAME_LIMIT).map(|at| properties.slot_to_set(&at.to_string(), &names)).last().unwrap();
        assert!(outcome.unwrap_err().message.contains("too many names"));
    }

    #[test]
    fn a_response_keeps_variables_and_default_and_operation_properties_only() {
        let mut properties = Properties::default();
        for scope in [Scope::Default, Scope::Axis2, Scope::Operation, Scope::Axis2Client, Scope::Variable] {
            properties.put(scope, 7, Some(Value::Boolean(true)));
        }
        properties.next_message();
        let kept = [Scope::Default, Scope::Operation, Scope::Variable];
        assert!(kept.into_iter().all(|scope| properties.is_true(scope, 7)));
        assert!(properties.is_untouched(Scope::Axis2, 7) && properties.is_untouched(Scope::Axis2Client, 7));
        properties.put(Scope::Default, 7, None);
        assert!(matches!(properties.find(Scope::Default, 7), Lookup::Removed));
    }
}
