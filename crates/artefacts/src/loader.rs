//! What builders ask while an artefact is built: other artefacts, names, and where to leave problems.

mod entry;
mod external_texts;
mod injected;
mod latent;
mod operations;
mod parameters;
mod reference;
mod registry;
mod states;
pub use entry::{Entry, EntryResources};
pub use injected::injected;
pub use latent::failing_sequence;
pub use parameters::{is_of_sequence, parameters};
pub use reference::{EndpointId, Fetched, Reference};
pub use registry::BUILT_IN;
pub(crate) use states::States;

use std::any::Any;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::spec::Mediators;
use crate::vocabulary;
use myelin_config::choice::Choice;
use myelin_config::element::{Element, Text};
use myelin_config::library::Libraries;
use myelin_config::problem::{Place, Problem};
use myelin_config::sources::Sources;
use myelin_content::text_of;
use myelin_expression::Compiler;
use myelin_flow::counters::{EndpointCounters, ServiceCounters};
use myelin_flow::exchange::Direction;
use myelin_flow::position::{ServiceIdentity, StepPlace};
use myelin_flow::reload::InheritedState;
use myelin_flow::sequence::SequenceRef;
use myelin_flow::sequence::{Block, Node, Sequence, SequenceId};
use myelin_flow::service_state::ServiceState;
use myelin_flow::settings::Settings;
use myelin_flow::template::{Parameter, TemplateId};
use myelin_spelling::nearest;

/// Whether an artefact says that its exchanges are to be traced: `trace="enable"`.
pub fn is_traced(element: &Element) -> bool {
    element.attribute("trace").is_some_and(|trace| trace.value.trim() == "enable")
}

/// The state of loading.
pub struct Loader {
    /// What expressions are compiled with.
    compiler: Compiler,
    /// The mediators that the configuration may use.
    pub(crate) mediators: &'static Mediators,
    /// The names of the elements of all artefacts that can be built.
    pub artefacts: Vec<&'static str>,
    /// The numbers of the sequences, by their names.
    pub sequences: HashMap<String, SequenceId>,
    /// The numbers of the endpoints, by their names.
    pub endpoints: HashMap<String, EndpointId>,
    /// What is counted of endpoints, by their names.
    pub endpoint_counters: BTreeMap<String, Arc<EndpointCounters>>,
    /// The switches of what is off until an operator switches it on, by kind and name.
    switched_off: HashMap<String, Arc<ServiceState>>,
    /// The proxies, by the order in which they were declared.
    pub proxies: HashMap<String, usize>,
    /// The names of the inbound endpoints.
    pub inbounds: HashSet<String>,
    /// The sequence templates with what they declare.
    pub templates: HashMap<String, (TemplateId, Arc<[Parameter]>)>,
    /// The local entries, by their keys.
    pub entries: HashMap<String, Entry>,
    /// The connectors that came in archives.
    pub libraries: Libraries,
    /// The local entries as stylesheets, schemas and descriptions read them.
    pub entry_resources: Arc<EntryResources>,
    /// The files that the configuration was read from.
    pub sources: Sources,
    inherited: InheritedState,
    /// What keys may mean that are worked out while serving, by the extensions of its files.
    pub keys: HashMap<&'static [&'static str], Arc<Choice<str>>>,
    /// Whether a sequence or an endpoint is to be traced.
    pub is_traced: bool,
    /// What was found in the registry and waits to be built.
    pub fetched: Vec<Fetched>,
    /// The settings of the bus; data sources that the configuration declares are added to them.
    pub settings: Settings,
    /// What each feature keeps while the configuration is loaded.
    states: States,
    /// Whether the flow sends its message again behind the mediator that is being built.
    sends_again: bool,
    /// What the artefact that is being built refers to.
    pub references: Vec<(Reference, Place)>,
    /// Where the artefact that is being built wants values of the environment that it has not: what is built around such
    /// a place takes it from here.
    pub unresolved: Vec<Problem>,
    /// The numbers that were given to what is not there, and what the first who referred to it was told.
    pub holes: HashMap<Reference, Problem>,
}

impl Deref for Loader {
    type Target = Compiler;

    fn deref(&self) -> &Compiler {
        &self.compiler
    }
}

impl DerefMut for Loader {
    fn deref_mut(&mut self) -> &mut Compiler {
        &mut self.compiler
    }
}

impl Loader {
    /// One that has seen nothing yet, and builds these mediators.
    pub fn new(settings: &Settings, sources: &Sources, mediators: &'static Mediators) -> Loader {
        Loader {
            compiler: Compiler::new(settings),
            mediators,
            settings: settings.clone(),
            states: States::default(),
            artefacts: Vec::new(),
            sequences: HashMap::new(),
            endpoints: HashMap::new(),
            endpoint_counters: BTreeMap::new(),
            switched_off: HashMap::new(),
            proxies: HashMap::new(),
            inbounds: HashSet::new(),
            templates: HashMap::new(),
            entries: HashMap::new(),
            libraries: Libraries::default(),
            entry_resources: Arc::default(),
            keys: HashMap::new(),
            is_traced: false,
            fetched: Vec::new(),
            sends_again: false,
            references: Vec::new(),
            unresolved: Vec::new(),
            holes: HashMap::new(),
            sources: sources.clone(),
            inherited: InheritedState::of(&settings.reload_state),
        }
    }

    /// What a feature keeps while the configuration is loaded, found by its type; its default when it is asked for first.
    pub(crate) fn state<T: Any + Default>(&mut self) -> &mut T {
        self.states.get_or_default()
    }

    /// What the part of a configuration with that definition has learnt in the bus before this one, if it was there and
    /// that `fits`; otherwise what `make` begins with.
    pub fn inherit<T: Any + Send + Sync>(
        &mut self,
        kind: &'static str,
        definition: String,
        fits: impl FnOnce(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        self.inherited.inherit(kind, definition, fits, make)
    }

    /// The same for what all parts with that definition have together.
    pub fn share<T: Any + Send + Sync>(
        &self,
        kind: &'static str,
        definition: String,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        self.inherited.share(kind, definition, make)
    }

    /// What is counted of a part of the service of that kind and name, whatever bus serves it.
    pub fn service_counters(&self, identity: &ServiceIdentity, part: &str) -> Arc<ServiceCounters> {
        let definition = format!("{} {} {part}", identity.kind, identity.name);
        let bounds = self.settings.latency_bounds.get(identity.kind).cloned().unwrap_or_default();
        let make = || ServiceCounters::of(identity.kind, Arc::clone(&identity.name), bounds);
        self.share("service counters", definition, make)
    }

    /// The switches of the artefact with that kind and name, which an operator sets.
    pub fn service_state(&self, kind: &str, name: &str) -> Arc<ServiceState> {
        let definition = format!("{kind} {name}");
        let begins_off = self.switched_off.get(&definition).map(Arc::clone);
        begins_off.unwrap_or_else(|| self.share("service state", definition, ServiceState::default))
    }

    /// The same of an artefact that may be off until an operator switches it on. A reload that changes whether it is
    /// begins again.
    pub fn service_state_from(&mut self, kind: &str, name: &str, begins_off: bool) -> Arc<ServiceState> {
        if !begins_off {
            return self.service_state(kind, name);
        }
        let definition = format!("{kind} {name}");
        let state = self.share("service state, off", definition.clone(), || {
            let state = ServiceState::default();
            state.switch(false);
            state
        });
        Arc::clone(self.switched_off.entry(definition).or_insert(state))
    }

    /// What is counted of the endpoints of that name, wherever they stand; those without a name have counters together.
    pub fn endpoint_counters(&mut self, name: &str) -> Arc<EndpointCounters> {
        let counters = self.share("endpoint counters", name.to_owned(), || EndpointCounters::of(name));
        Arc::clone(self.endpoint_counters.entry(name.to_owned()).or_insert(counters))
    }

    /// The number of the sequence that a fixed key names: one of the configuration, or of the registry. One that is not
    /// there is told, and whoever runs it gets a fault.
    ///
    /// Errors: a [`Problem`] at a key that can name none.
    pub fn sequence_id(&mut self, key: Text<'_>) -> Result<SequenceId, Problem> {
        self.number_of(key, &latent::SEQUENCES)
    }

    /// The same of an endpoint.
    ///
    /// Errors: a [`Problem`] at a key that can name none.
    pub fn endpoint_id(&mut self, key: Text<'_>) -> Result<EndpointId, Problem> {
        self.number_of(key, &latent::ENDPOINTS)
    }

    /// Notes that a proxy is needed; that it is not there is told.
    pub fn proxy(&mut self, name: Text<'_>) {
        let wanted = name.value.trim();
        match self.proxies.get(wanted) {
            Some(&id) => self.references.push((Reference::Proxy(id), name.place(0))),
            None => {
                let problem = name.problem(format!("there is no proxy {wanted:?}"));
                let problem = problem.suggesting(nearest(wanted, self.proxies.keys().map(String::as_str)));
                self.latent(problem);
            }
        }
    }

    /// Notes that the main sequence is needed.
    ///
    /// Errors: none where the configuration has none, as it is built in then.
    pub fn main(&mut self, place: Text<'_>) -> Result<(), Problem> {
        self.sequence_id(place.standing_for("main")).map(drop)
    }

    /// The number of the sequence template that a fixed name means, and its parameters.
    ///
    /// Errors: a [`Problem`] at the reference where there is none of that name.
    pub fn template(&mut self, name: Text<'_>) -> Result<(TemplateId, Arc<[Parameter]>), Problem> {
        let mut found = self.templates.get(name.value.trim()).cloned();
        if found.is_none() {
            self.declare_operation(name)?;
            found = self.templates.get(name.value.trim()).cloned();
        }
        let missing = || {
            let meant = nearest(name.value.trim(), self.templates.keys().map(String::as_str));
            name.problem(format!("there is no template {:?}", name.value)).suggesting(meant).latent()
        };
        let (id, parameters) = found.ok_or_else(missing)?;
        self.references.push((Reference::Template(id), name.place(0)));
        Ok((id, parameters))
    }

    /// What the local entry or resource of the registry holds that a fixed key names.
    ///
    /// Errors: a [`Problem`] at the reference where there is none of that name.
    pub fn entry(&self, key: Text<'_>) -> Result<Entry, Problem> {
        match self.entries.get(key.value.trim()) {
            Some(entry) => Ok(entry.clone()),
            None => self.fetch_entry(key),
        }
    }

    /// The same, to be read as a part of the configuration.
    ///
    /// Errors: a [`Problem`] at the reference where there is none of that name, or where it holds no element.
    pub fn entry_element(&self, key: Text<'_>) -> Result<Element, Problem> {
        let name = key.value.trim();
        match self.entry(key)? {
            Entry::Xml(fragment) => Element::parse(&name.into(), text_of(&fragment.document, fragment.node)),
            Entry::Text(_) => Err(key.problem(format!("{name:?} holds no XML"))),
        }
    }

    /// Tells of a child that nobody reads, where only `known` ones are read: as a problem where it looks like a
    /// misspelling of one of them, or holds a part of the flow that belongs somewhere else, as what was meant would be
    /// lost without a word, and otherwise as a warning.
    pub(crate) fn no_effect(&mut self, child: &Element, whole: &str, known: &[&str]) {
        child.forgive();
        let meant = nearest(&child.name, known.iter().copied());
        // One that is there already may be known and come twice.
        let is_second = child.is_synapse() && meant == Some(child.name.as_str());
        match meant.filter(|_| !is_second) {
            Some(meant) => self.problem(child.unknown_in(whole, meant)),
            None if child.is_synapse() && !is_second && vocabulary::FLOW_ELEMENTS.contains(&child.name.as_str()) => {
                let message = format!("{} does not belong in {whole}: what it holds would never run", child.tag());
                self.problem(child.problem(message));
            }
            None => self.warning(child.problem(format!("{} has no effect in {whole}", child.tag()))),
        }
    }

    /// The mediators that are an element's children.
    pub fn block(&mut self, parent: &Element) -> Block {
        self.nodes(parent.children.iter())
    }

    /// The mediators of some elements; those with problems are left out, the problems are kept.
    pub fn nodes<'a>(&mut self, elements: impl Iterator<Item = &'a Element>) -> Block {
        let mut nodes = Vec::new();
        let outer = self.sends_again;
        let elements: Vec<&Element> =
            elements.filter(|element| !element.is("description") && !element.is("comment")).collect();
        self.warn_of_unreachable(&elements);
        for (element, sends_again) in elements.iter().zip(sends_behind(&elements, outer, self.mediators)) {
            self.sends_again = sends_again;
            let failing = |problem: &Problem, loader: &mut Loader| {
                element.forgive_all_but_misspelt();
                let name = loader.mediators.find(element).map_or("mediator", |spec| spec.element);
                latent::failing_node(name, element.place.clone(), problem)
            };
            match self.build_or_failing(element, |loader| loader.node(element), failing) {
                Ok(node) => nodes.push(node),
                Err(problem) => {
                    element.forgive_all_but_misspelt();
                    self.problem(problem);
                }
            }
        }
        self.sends_again = outer;
        nodes.into()
    }

    /// Warns of the first mediator of a block that no message reaches, as one before it ends the flow.
    fn warn_of_unreachable(&mut self, elements: &[&Element]) {
        let mediators = self.mediators;
        let ends = |element: &&Element| mediators.find(element).is_some_and(|spec| (spec.ends)(element));
        let Some(at) = elements.iter().position(ends) else { return };
        if let Some(next) = elements.get(at + 1) {
            let (end, line) = (elements[at].tag(), elements[at].place.line);
            let message = format!("{} never runs: {end} before it (line {line}) ends the flow", next.tag());
            self.warning(Problem::new(next.place.clone(), message));
        }
    }

    /// Builds something whose flow goes on with other elements, besides what is behind it in its block.
    pub fn followed_by<T>(&mut self, behind: &[&Element], build: impl FnOnce(&mut Loader) -> T) -> T {
        let outer = self.sends_again;
        let mediators = self.mediators;
        self.sends_again = outer || behind.iter().any(|element| sends(element, mediators));
        let built = build(self);
        self.sends_again = outer;
        built
    }

    fn node(&mut self, element: &Element) -> Result<Node, Problem> {
        if !element.is_synapse() {
            return Err(element.problem(format!("unknown mediator {}", element.tag())));
        }
        let mediators = self.mediators;
        let Some(spec) = mediators.find(element) else {
            return Err(vocabulary::mediator(element, mediators.elements().chain(mediators.operations_named())));
        };
        element.heed();
        let mediator = (spec.build)(element, self)?;
        let step = StepPlace { element: spec.element, place: element.place.clone() };
        let expression = element.shown_expression();
        let node = Node { step: step.clone(), expression: expression.clone(), mediator };
        match spec.beside {
            Some(beside) if self.sends_again => {
                // The message is needed again: a copy of it is sent, beside the flow.
                let block = vec![node].into();
                let place = step.place.clone();
                let sequence = Sequence { name: spec.element.into(), place, block, on_error: None, is_traced: false };
                Ok(Node { step, expression, mediator: beside(sequence, self) })
            }
            _ => Ok(node),
        }
    }

    /// A sequence from an element that holds mediators; `name` is what the trail calls it.
    pub fn sequence(&mut self, name: &str, element: &Element) -> Sequence {
        let on_error = element.attribute("onError").filter(|key| !key.value.trim().is_empty()).and_then(|key| {
            self.handler_id(key).unwrap_or_else(|problem| {
                self.problem(problem);
                None
            })
        });
        self.plans.begin();
        let block = self.block(element);
        self.plans.end();
        let is_traced = self.traces(element);
        Sequence { name: name.into(), place: element.place.clone(), block, on_error, is_traced }
    }

    /// Whether a sequence or an endpoint says that exchanges on their way through it are to be traced.
    pub(crate) fn traces(&mut self, element: &Element) -> bool {
        let is_traced = is_traced(element);
        self.is_traced |= is_traced;
        is_traced
    }

    /// A sequence named by an attribute, or one that stands inside as a child; the attribute wins.
    pub fn sequence_of(&mut self, parent: &Element, name: &str) -> Option<SequenceRef> {
        let child = parent.child(name);
        if let Some(key) = parent.attribute(name) {
            if let Some(child) = child {
                child.forgive();
                let message = format!("{} has no effect: the attribute {name:?} names a sequence", child.tag());
                self.warning(child.problem(message));
            }
            let id = if name == "faultSequence" { self.handler_id(key) } else { self.sequence_id(key).map(Some) };
            return match id {
                Ok(id) => id.map(SequenceRef::Named),
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
fn sends_behind(elements: &[&Element], outer: bool, mediators: &Mediators) -> Vec<bool> {
    // Requests and responses pass `in` and `out`, but no message passes both.
    let [mut requests, mut responses] = [outer; 2];
    let mut behind = Vec::with_capacity(elements.len());
    for element in elements.iter().rev() {
        let spec = mediators.find(element);
        let only = spec.and_then(|spec| spec.only);
        let (for_requests, for_responses) = (only != Some(Direction::Response), only != Some(Direction::Request));
        behind.push((requests && for_requests) || (responses && for_responses));
        let sends = sends(element, mediators);
        let ends = spec.is_some_and(|spec| (spec.ends)(element));
        requests = !ends && (requests || (sends && for_requests));
        responses = !ends && (responses || (sends && for_responses));
    }
    behind.reverse();
    behind
}

/// Whether a mediator sends the message of its flow or copies of it, itself or inside.
fn sends(element: &Element, mediators: &Mediators) -> bool {
    mediators.find(element).is_some_and(|spec| spec.sends)
        || element.children.iter().any(|child| sends(child, mediators))
}
