//! What builders ask while an artefact is built: other artefacts, names, and where to leave problems.

use std::any::Any;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::choice::Choice;
use super::element::{Element, Text};
use super::fetched::Fetched;
use super::library::Libraries;
use super::problem::{Place, Problem};
use super::registry::Registry;
use super::security::Ways;
use super::sources::Sources;
use super::stylesheets::Sheets;
use super::vocabulary;
use crate::bus::{EndpointSettings, SequenceRef, Settings};
use crate::content::{PlanBuilder, text_of};
use crate::database::DatabaseSettings;
use crate::endpoint::{Blueprint, EndpointId};
use crate::function::{FunctionId, Parameter};
use crate::heritage::Heirs;
use crate::mediators::{MEDIATORS, beside, connector};
use crate::property::{Fragment, Names};
use crate::security::SecuritySettings;
use crate::sequence::{Block, Node, Sequence, SequenceId};
use crate::stylesheet::Library;

/// One artefact of another, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reference {
    Sequence(SequenceId),
    Endpoint(EndpointId),
    Function(FunctionId),
    /// A proxy by the number it was declared with.
    Proxy(usize),
}

/// What stands in `config.properties` in the place of values.
const CONFIG_TYPES: &[&str] = &["string", "code", "cert", "int", "integer", "long", "float", "double", "boolean"];

/// What a local entry holds.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    Xml(Fragment),
    Text(String),
}

impl Entry {
    /// Its text: of XML what stands between the tags.
    pub(crate) fn text(self) -> String {
        match self {
            Entry::Text(text) => text,
            Entry::Xml(fragment) => fragment.document.string_value(fragment.node).into_owned(),
        }
    }
}

/// The state of loading.
#[derive(Default)]
pub(crate) struct Loader {
    pub(super) names: Names,
    plans: PlanBuilder,
    pub(super) sequences: HashMap<String, SequenceId>,
    pub(super) endpoints: HashMap<String, EndpointId>,
    /// The proxies, by the order in which they were declared.
    pub(super) proxies: HashMap<String, usize>,
    /// The names of the inbound endpoints.
    pub(super) inbounds: HashSet<String>,
    /// The templates of endpoints.
    pub(crate) blueprints: HashMap<String, Blueprint>,
    /// The sequence templates with what they declare.
    pub(super) functions: HashMap<String, (FunctionId, Arc<[Parameter]>)>,
    pub(super) entries: HashMap<String, Entry>,
    /// The connectors that came in archives.
    pub(super) libraries: Libraries,
    /// What stylesheets may read of the local entries.
    pub(super) library: Arc<Library>,
    pub(super) sources: Sources,
    pub(super) registry: Registry,
    heirs: Heirs,
    /// What keys may mean that are worked out while serving, by the extensions of its files.
    pub(super) keys: HashMap<&'static [&'static str], Arc<Choice<str>>>,
    /// What stands in `file.properties`.
    pub(super) properties: HashMap<String, String>,
    /// What stands in `config.properties`.
    pub(super) configs: HashMap<String, String>,
    /// What was found in the registry and waits to be built.
    pub(super) fetched: Vec<Fetched>,
    pub(super) sheets: Sheets,
    pub(super) ways: Ways,
    pub(crate) security: SecuritySettings,
    /// Who speaks with databases, and the data sources that have names.
    pub(crate) databases: DatabaseSettings,
    /// What holds for endpoints that say nothing else.
    pub(crate) endpoint_settings: EndpointSettings,
    /// How much memory the answers of all caches may take.
    pub(crate) cache_bytes: usize,
    /// Whether the flow sends its message again behind the mediator that is being built.
    sends_again: bool,
    /// Of the artefact that is being built.
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
    pub(super) references: Vec<(Reference, Place)>,
}

impl Loader {
    pub(super) fn new(settings: &Settings, sources: &Sources) -> Loader {
        let plans = PlanBuilder::new(settings.json_duplicate_keys);
        Loader {
            plans,
            security: settings.security.clone(),
            databases: settings.databases.clone(),
            endpoint_settings: settings.endpoints.clone(),
            cache_bytes: settings.cache_bytes,
            sources: sources.clone(),
            heirs: Heirs::of(&settings.heritage),
            ..Loader::default()
        }
    }

    /// What the part of a configuration with that definition has learnt in the bus before this one, if it was there and
    /// that `fits`; otherwise what `make` begins with.
    pub(crate) fn inherit<T: Any + Send + Sync>(
        &mut self,
        kind: &'static str,
        definition: String,
        fits: impl FnOnce(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        self.heirs.inherit(kind, definition, fits, make)
    }

    /// The same for what all parts with that definition have together.
    pub(crate) fn share<T: Any + Send + Sync>(
        &self,
        kind: &'static str,
        definition: String,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        self.heirs.share(kind, definition, make)
    }

    /// The property names seen so far.
    pub(crate) fn names(&mut self) -> &mut Names {
        &mut self.names
    }

    /// What compiling an expression needs: the names, and the expressions of the sequence it stands in.
    pub(crate) fn for_expressions(&mut self) -> (&mut Names, &mut PlanBuilder) {
        (&mut self.names, &mut self.plans)
    }

    /// The artefact that is being built cannot run.
    pub(crate) fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Something in the artefact that is being built has no effect.
    pub(crate) fn warning(&mut self, warning: Problem) {
        self.warnings.push(warning);
    }

    /// The number of the sequence that a fixed key names: one of the configuration, or of the registry.
    ///
    /// Errors: a [`Problem`] at the reference where there is none of that name.
    pub(crate) fn sequence_id(&mut self, key: Text<'_>) -> Result<SequenceId, Problem> {
        let id = match self.sequences.get(key.value.trim()) {
            Some(&id) => id,
            None => self.fetch(key, "sequence", Reference::Sequence)?,
        };
        self.references.push((Reference::Sequence(id), key.place(0)));
        Ok(id)
    }

    /// The number of the endpoint that a fixed key names: one of the configuration, or of the registry.
    ///
    /// Errors: a [`Problem`] at the reference where there is none of that name.
    pub(crate) fn endpoint_id(&mut self, key: Text<'_>) -> Result<EndpointId, Problem> {
        let id = match self.endpoints.get(key.value.trim()) {
            Some(&id) => id,
            None => self.fetch(key, "endpoint", Reference::Endpoint)?,
        };
        self.references.push((Reference::Endpoint(id), key.place(0)));
        Ok(id)
    }

    /// Notes that a proxy is needed.
    ///
    /// Errors: a [`Problem`] at the reference where there is none of that name.
    pub(crate) fn proxy(&mut self, name: Text<'_>) -> Result<(), Problem> {
        let found = self.proxies.get(name.value.trim()).copied();
        let id = found.ok_or_else(|| name.problem(format!("there is no proxy {:?}", name.value.trim())))?;
        self.references.push((Reference::Proxy(id), name.place(0)));
        Ok(())
    }

    /// Notes that the main sequence is needed.
    ///
    /// Errors: a [`Problem`] at the place that needs it where there is none.
    pub(crate) fn main(&mut self, place: Text<'_>) -> Result<(), Problem> {
        let id = *self.sequences.get("main").ok_or_else(|| place.problem("there is no sequence \"main\""))?;
        self.references.push((Reference::Sequence(id), place.place(0)));
        Ok(())
    }

    /// The number of the sequence template that a fixed name means, and its parameters.
    ///
    /// Errors: a [`Problem`] at the reference where there is none of that name.
    pub(crate) fn function(&mut self, name: Text<'_>) -> Result<(FunctionId, Arc<[Parameter]>), Problem> {
        let mut found = self.functions.get(name.value.trim()).cloned();
        if found.is_none() {
            self.declare_operation(name)?;
            found = self.functions.get(name.value.trim()).cloned();
        }
        let (id, parameters) = found.ok_or_else(|| name.problem(format!("there is no template {:?}", name.value)))?;
        self.references.push((Reference::Function(id), name.place(0)));
        Ok((id, parameters))
    }

    /// What the local entry or resource of the registry holds that a fixed key names.
    ///
    /// Errors: a [`Problem`] at the reference where there is none of that name.
    pub(crate) fn entry(&self, key: Text<'_>) -> Result<Entry, Problem> {
        match self.entries.get(key.value.trim()) {
            Some(entry) => Ok(entry.clone()),
            None => self.fetch_entry(key),
        }
    }

    /// The same, to be read as a part of the configuration.
    ///
    /// Errors: a [`Problem`] at the reference where there is none of that name, or where it holds no element.
    pub(crate) fn entry_element(&self, key: Text<'_>) -> Result<Element, Problem> {
        let name = key.value.trim();
        match self.entry(key)? {
            Entry::Xml(fragment) => Element::parse(&name.into(), text_of(&fragment.document, fragment.node)),
            Entry::Text(_) => Err(key.problem(format!("{name:?} holds no XML"))),
        }
    }

    /// The text that a value of the configuration is, or refers to as a secret.
    ///
    /// Errors: a sentence without the secret, where what is referred to is not there, or is no text.
    pub(crate) fn secret(&self, text: &str) -> Result<String, String> {
        let secret = self.security.secret(text)?;
        String::from_utf8(secret.as_ref().to_vec()).map_err(|_| "the secret is no text in UTF-8".to_owned())
    }

    /// The value of a name whose value is injected: of the environment, of `file.properties`, or of `config.properties`.
    ///
    /// Errors: a sentence, where none of them has it.
    pub(crate) fn injected(&self, name: &str) -> Result<String, String> {
        let found = std::env::var(name).ok().or_else(|| self.properties.get(name).cloned());
        // WSO2's tools write the type of each value there, which comes from elsewhere then.
        let own = || self.configs.get(name).filter(|value| !CONFIG_TYPES.contains(&value.as_str())).cloned();
        found.or_else(own).ok_or_else(|| {
            format!("{name:?} has no value: there is neither an environment variable nor a line in file.properties")
        })
    }

    /// A value of the configuration with what is injected into it in the places of `${configs.NAME}`.
    ///
    /// Errors: a [`Problem`] at a name without a value.
    pub(crate) fn configured<'t>(&self, text: Text<'t>) -> Result<Cow<'t, str>, Problem> {
        let (mut value, mut done) = (String::new(), 0);
        while let Some(at) = text.value[done..].find("${configs.").map(|at| done + at) {
            let name = &text.value[at + "${configs.".len()..];
            let Some((name, _)) = name.split_once('}') else { break };
            value.push_str(&text.value[done..at]);
            value.push_str(&self.injected(name).map_err(|message| Problem { place: text.place(at), message })?);
            done = at + "${configs.}".len() + name.len();
        }
        match done {
            0 => Ok(Cow::Borrowed(text.value)),
            _ => Ok(Cow::Owned(value + &text.value[done..])),
        }
    }

    /// The mediators that are an element's children.
    pub(crate) fn block(&mut self, parent: &Element) -> Block {
        self.nodes(parent.children.iter())
    }

    /// The mediators of some elements; those with problems are left out, the problems are kept.
    pub(crate) fn nodes<'a>(&mut self, elements: impl Iterator<Item = &'a Element>) -> Block {
        let mut nodes = Vec::new();
        let outer = self.sends_again;
        let elements: Vec<&Element> =
            elements.filter(|element| !element.is("description") && !element.is("comment")).collect();
        for (element, sends_again) in elements.iter().zip(sends_behind(&elements, outer)) {
            self.sends_again = sends_again;
            match self.node(element) {
                Ok(node) => nodes.push(node),
                Err(problem) => {
                    element.forgive();
                    self.problem(problem);
                }
            }
        }
        self.sends_again = outer;
        nodes.into()
    }

    /// Builds something whose flow goes on with other elements, besides what is behind it in its block.
    pub(crate) fn followed_by<T>(&mut self, behind: &[&Element], build: impl FnOnce(&mut Loader) -> T) -> T {
        let outer = self.sends_again;
        self.sends_again = outer || behind.iter().any(|element| sends(element));
        let built = build(self);
        self.sends_again = outer;
        built
    }

    fn node(&mut self, element: &Element) -> Result<Node, Problem> {
        if !element.is_synapse() {
            return Err(element.problem(format!("unknown mediator {}", element.tag())));
        }
        match MEDIATORS.iter().find(|spec| spec.element == element.name) {
            Some(spec) => {
                let (place, mediator) = (element.place.clone(), (spec.build)(element, self)?);
                let node = Node { element: spec.element, place: place.clone(), mediator };
                if spec.element != "send" || !self.sends_again {
                    return Ok(node);
                }
                // The message is needed again: a copy of it is sent, beside the flow.
                let block = vec![node].into();
                let sequence = Sequence { name: spec.element.into(), place: place.clone(), block, on_error: None };
                Ok(Node { element: spec.element, place, mediator: beside(sequence, self) })
            }
            None => match connector::operation(element, self) {
                Some((name, built)) => Ok(Node { element: name, place: element.place.clone(), mediator: built? }),
                None => Err(element.problem(vocabulary::mediator(element))),
            },
        }
    }

    /// A sequence from an element that holds mediators; `name` is what the trail calls it.
    pub(crate) fn sequence(&mut self, name: &str, element: &Element) -> Sequence {
        let on_error = element
            .attribute("onError")
            .filter(|key| !key.value.trim().is_empty())
            .and_then(|key| self.sequence_id(key).map_err(|problem| self.problem(problem)).ok());
        self.plans.begin();
        let block = self.block(element);
        self.plans.end();
        Sequence { name: name.into(), place: element.place.clone(), block, on_error }
    }

    /// A sequence named by an attribute, or one that stands inside as a child; the attribute wins.
    pub(crate) fn sequence_of(&mut self, parent: &Element, name: &str) -> Option<SequenceRef> {
        let child = parent.child(name);
        if let Some(key) = parent.attribute(name) {
            if let Some(child) = child {
                child.forgive();
                let message = format!("{} has no effect: the attribute {name:?} names a sequence", child.tag());
                self.warning(child.problem(message));
            }
            return match self.sequence_id(key) {
                Ok(id) => Some(SequenceRef::Named(id)),
                Err(problem) => {
                    self.problem(problem);
                    None
                }
            };
        }
        let child = child?;
        Some(SequenceRef::Inline(Box::new(self.sequence(name, child))))
    }
}

/// For each mediator of a block, whether the flow sends its message again behind it; `outer` says it of the block.
fn sends_behind(elements: &[&Element], outer: bool) -> Vec<bool> {
    // Requests and responses pass `in` and `out`, but no message passes both.
    let [mut requests, mut responses] = [outer; 2];
    let mut behind = Vec::with_capacity(elements.len());
    for element in elements.iter().rev() {
        let (is_in, is_out) = (element.is("in"), element.is("out"));
        behind.push((requests && !is_out) || (responses && !is_in));
        let sends = sends(element);
        let ends = ends(element);
        requests = !ends && (requests || (sends && !is_out));
        responses = !ends && (responses || (sends && !is_in));
    }
    behind.reverse();
    behind
}

/// Whether nothing behind a mediator runs.
fn ends(element: &Element) -> bool {
    match element.name.as_str() {
        "drop" | "respond" | "loopback" | "throwError" => true,
        "conditionalRouter" => {
            element.attribute("continueAfter").is_none_or(|text| !text.value.trim().eq_ignore_ascii_case("true"))
        }
        _ => false,
    }
}

/// Whether a mediator sends the message of its flow or copies of it, itself or inside.
fn sends(element: &Element) -> bool {
    let own = ["send", "call", "callout", "clone", "iterate"];
    own.iter().any(|known| element.is(known)) || connector::sends(element) || element.children.iter().any(sends)
}
