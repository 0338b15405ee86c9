//! From elements to artefacts: who is declared, who builds, who needs whom.

use std::any::Any;
use std::collections::{HashMap, HashSet, hash_map};
use std::sync::Arc;

use crate::bus::Bus;
use crate::load::Loaded;
use crate::load::loops;
use myelin_artefacts::apis::build as api;
use myelin_artefacts::apis::{Apis, Offer};
use myelin_artefacts::datasources as datasource;
use myelin_artefacts::endpoints::{self, Endpoint, Endpoints};
use myelin_artefacts::inbound::inbound;
use myelin_artefacts::inbound::{Inbound, InboundEndpoint, Receiving, ReceivingService};
use myelin_artefacts::loader::{self, Entry, Fetched, Loader, Reference, injected};
use myelin_artefacts::mediators::{self, connector};
use myelin_artefacts::proxies::Proxy;
use myelin_artefacts::proxies::proxy;
use myelin_artefacts::tasks::task;
use myelin_artefacts::templates::template;
use myelin_artefacts::vocabulary::{self, Standing};
use myelin_config::element::Element;
use myelin_config::files::File;
use myelin_config::included::{Content, Included};
use myelin_config::layout::Found;
use myelin_config::problem::{Place, Problem};
use myelin_config::registry::Registry;
use myelin_config::report::{Artefact, Report};
use myelin_config::resource::{ENTRY, Resource};
use myelin_config::sources::Sources;
use myelin_flow::definitions::Definitions;
use myelin_flow::property::Properties;
use myelin_flow::sequence::Sequence;
use myelin_flow::settings::Settings;
use myelin_flow::template::SequenceTemplate;

/// One artefact on its way to the bus.
struct Item {
    kind: String,
    name: String,
    place: Place,
    /// None where the file itself is broken.
    element: Option<Element>,
    /// What a local entry holds from another file.
    included: Option<Included>,
    /// The number it has as a sequence or endpoint.
    id: Option<Reference>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    references: Vec<(Reference, Place)>,
    product: Option<Product>,
}

enum Product {
    Sequence(Sequence),
    Endpoint(Endpoint),
    Proxy(Proxy),
    Template(SequenceTemplate),
    Api(Offer),
    Receiving(Receiving),
    Inbound(Inbound),
    Text(String),
}

/// Builds the bus and the report from what was found.
pub(super) fn assemble(found: Found, settings: &Settings, sources: Sources) -> Loaded {
    let Found { files, roots, resources, properties, configs, libraries, .. } = found;
    let count = files.len();
    let mut loader = Loader::new(settings, &sources, &mediators::ALL);
    let mut items: Vec<Item> = files.into_iter().flat_map(items).collect();
    declare(&mut items, &mut loader, settings);
    loader.registry.deploy(resources, roots);
    loader.properties = properties;
    loader.configs = configs;
    loader.libraries = libraries;
    items.iter().filter_map(Item::switched_off).for_each(|name| drop(loader.libraries.remove(name)));
    items.iter_mut().for_each(|item| item.inject(&loader));
    for item in items.iter_mut().filter(|item| item.kind == "datasource" && item.problems.is_empty()) {
        item.declare_source(&mut loader);
    }
    items.iter_mut().for_each(|item| item.build(&mut loader));
    // Each may need another of the registry; as each key is fetched once, this ends.
    while let Some(Fetched { key, element, id }) = loader.fetched.pop() {
        let mut item = Item { name: key, id: Some(id), ..Item::new(element) };
        item.build(&mut loader);
        items.push(item);
    }
    distinguish(&mut items);
    part(&mut items);
    refuse_loops(&mut items);
    spread(&mut items);
    let report = Report { files: count, artefacts: items.iter().map(Item::report).collect() };
    Loaded { bus: bus(items, loader, settings), report, sources }
}

/// The artefacts of one file.
fn items(file: File) -> Vec<Item> {
    let problem = match file.root {
        Ok(Some(mut root)) if root.is("definitions") => {
            let children = std::mem::take(&mut root.children).into_iter();
            return children.filter(|child| !child.is("description")).map(Item::new).collect();
        }
        Ok(Some(root)) => return vec![Item::new(root)],
        Ok(None) => None,
        Err(problem) => Some(problem),
    };
    vec![Item {
        kind: file.kind.to_owned(),
        name: file.name.to_string(),
        place: problem.as_ref().map_or(file.place, |problem| problem.place.clone()),
        element: None,
        included: None,
        id: None,
        problems: problem.into_iter().collect(),
        warnings: file.warnings,
        references: Vec::new(),
        product: None,
    }]
}

/// As a reader meets them in the file.
fn in_order(problems: &[Problem]) -> Vec<Problem> {
    let mut problems = problems.to_vec();
    problems.sort_by_key(|problem| (problem.line(), problem.column()));
    problems
}

/// Gives names and numbers, so that artefacts may refer to each other in any order.
fn declare(items: &mut [Item], loader: &mut Loader, settings: &Settings) {
    let mut taken: HashMap<(String, String), Place> = HashMap::new();
    for item in items.iter_mut().filter(|item| item.element.is_some()) {
        if item.name.is_empty() {
            continue;
        }
        let key = (item.kind.clone(), item.name.clone());
        if let Some(first) = taken.get(&key) {
            let message = format!("there is another {} named {:?} before this one ({first})", item.kind, item.name);
            item.problems.push(Problem { place: item.place.clone(), message });
            continue;
        }
        taken.insert(key, item.place.clone());
        match item.kind.as_str() {
            "sequence" => item.id = Some(number(&mut loader.sequences, &item.name, Reference::Sequence)),
            "endpoint" => item.id = Some(number(&mut loader.endpoints, &item.name, Reference::Endpoint)),
            "proxy" => item.id = Some(number(&mut loader.proxies, &item.name, Reference::Proxy)),
            "inboundEndpoint" => {
                loader.inbounds.insert(item.name.clone());
            }
            "template" => item.id = declare_template(item, loader),
            "localEntry" => item.include(settings, &loader.sources),
            _ => {}
        }
    }
    declare_registry(items, loader, settings);
    let sound = |item: &&Item| item.kind == "localEntry" && item.problems.is_empty();
    let resources = items.iter().filter(sound).filter_map(|item| Some((item.name.clone(), item.resource()?)));
    loader.entry_resources = Arc::new(resources.collect());
    // A local entry that holds a sequence or endpoint serves under its key, unless one is named so.
    for item in items.iter_mut().filter(|item| item.kind == "localEntry" && item.problems.is_empty()) {
        let Some(held) = item.held() else {
            let text = match item.included.as_ref().map(|included| &included.content) {
                Some(Content::Text(text)) => text.clone(),
                _ => item.element.as_ref().map_or_else(String::new, |element| element.text().value.to_owned()),
            };
            loader.entries.insert(item.name.clone(), Entry::Text(text));
            continue;
        };
        let (is_sequence, is_endpoint) = (held.is("sequence"), held.is("endpoint"));
        let connection = connector::endpoint_name(held, &item.name).map(|name| (name, held.place.clone()));
        if is_sequence && !loader.sequences.contains_key(&item.name) {
            item.id = Some(number(&mut loader.sequences, &item.name, Reference::Sequence));
        } else if is_endpoint && !loader.endpoints.contains_key(&item.name) {
            item.id = Some(number(&mut loader.endpoints, &item.name, Reference::Endpoint));
        } else if !is_sequence && !is_endpoint {
            loader.entries.insert(item.name.clone(), Entry::Xml(held.fragment()));
        }
        match connection {
            Some((name, place)) if loader.endpoints.contains_key(&name) => {
                let message = format!("there is another endpoint of the name {name:?}");
                item.problems.push(Problem { place, message });
            }
            Some((name, _)) => item.id = Some(number(&mut loader.endpoints, &name, Reference::Endpoint)),
            None => {}
        }
    }
}

/// Gives a sequence template its number.
fn declare_template(item: &Item, loader: &mut Loader) -> Option<Reference> {
    let element = item.element.as_ref()?;
    if !loader::is_of_sequence(element) {
        endpoints::declare_template(&item.name, element, loader);
        return None;
    }
    let id = loader.templates.len();
    let parameters = loader::parameters(element, &mut loader.names);
    loader.templates.insert(item.name.clone(), (id, parameters));
    Some(Reference::Template(id))
}

/// Finds out where the registry is.
fn declare_registry(items: &mut [Item], loader: &mut Loader, settings: &Settings) {
    loader.registry =
        Registry::new(settings.home.as_deref(), items.first().map_or("", |item| &item.place.file), &loader.sources);
    for item in items.iter_mut().filter(|item| item.kind == "registry") {
        let declared = item.element.as_ref().map(|element| loader.registry.declare(element, settings.home.as_deref()));
        item.problems.extend(declared.and_then(Result::err));
    }
}

fn number(ids: &mut HashMap<String, usize>, name: &str, reference: fn(usize) -> Reference) -> Reference {
    let id = ids.len();
    ids.insert(name.to_owned(), id);
    reference(id)
}

/// Complains of APIs at the address of another.
fn distinguish(items: &mut [Item]) {
    let mut taken: HashMap<(String, String), (String, Place)> = HashMap::new();
    for item in items {
        let Some(Product::Api(Offer { address, .. })) = &item.product else { continue };
        match taken.entry((address.context.clone(), address.version.clone())) {
            hash_map::Entry::Vacant(entry) => {
                entry.insert((item.name.clone(), item.place.clone()));
            }
            hash_map::Entry::Occupied(entry) => {
                let (name, place) = entry.get();
                let message = format!("the context is that of api {name:?} ({place}), which serves it");
                item.problems.push(Problem { place: item.place.clone(), message });
            }
        }
    }
}

/// Complains of inbound endpoints at the port of another.
fn part(items: &mut [Item]) {
    let mut taken: HashMap<u16, (String, Place)> = HashMap::new();
    for item in items {
        let Some(Product::Inbound(Inbound { port, .. })) = &item.product else { continue };
        match taken.entry(*port) {
            hash_map::Entry::Vacant(entry) => {
                entry.insert((item.name.clone(), item.place.clone()));
            }
            hash_map::Entry::Occupied(entry) => {
                let (name, place) = entry.get();
                let message = format!("port {port} is that of inboundEndpoint {name:?} ({place})");
                item.problems.push(Problem { place: item.place.clone(), message });
            }
        }
    }
}

/// Marks endpoints that lead to themselves as faulty.
fn refuse_loops(items: &mut [Item]) {
    let endpoint = |reference: Reference| if let Reference::Endpoint(id) = reference { Some(id) } else { None };
    let mut names = Vec::new();
    for item in items.iter() {
        let Some(id) = item.id.and_then(endpoint) else { continue };
        names.extend(item.references.iter().filter_map(|(reference, _)| Some((id, endpoint(*reference)?))));
    }
    let endless: HashSet<usize> = loops::endless(&names).into_iter().collect();
    for item in items.iter_mut().filter(|item| item.id.and_then(endpoint).is_some_and(|id| endless.contains(&id))) {
        let to_one =
            |(reference, _): &&(Reference, Place)| endpoint(*reference).is_some_and(|id| endless.contains(&id));
        if let Some((_, place)) = item.references.iter().find(to_one) {
            let message = "this leads back to an endpoint that it comes from, and to no backend".to_owned();
            item.problems.push(Problem { place: place.clone(), message });
        }
    }
}

/// Marks what needs a faulty artefact as faulty, until nothing changes.
fn spread(items: &mut [Item]) {
    let owners: HashMap<Reference, usize> =
        items.iter().enumerate().filter_map(|(index, item)| Some((item.id?, index))).collect();
    loop {
        let mut changed = false;
        for index in 0..items.len() {
            for (reference, place) in std::mem::take(&mut items[index].references) {
                let Some(&owner) = owners.get(&reference) else { continue };
                if items[owner].problems.is_empty() {
                    // It may turn faulty in a later round.
                    items[index].references.push((reference, place));
                } else if owner != index {
                    let message = format!("needs {} {:?}, which is faulty", items[owner].kind, items[owner].name);
                    items[index].problems.push(Problem { place, message });
                    changed = true;
                }
            }
        }
        if !changed {
            return;
        }
    }
}

fn bus(items: Vec<Item>, mut loader: Loader, settings: &Settings) -> Bus {
    let mut sequences: Vec<Option<Sequence>> = Vec::new();
    sequences.resize_with(loader.sequences.len(), || None);
    let mut endpoints: Vec<Option<Arc<Endpoint>>> = Vec::new();
    endpoints.resize_with(loader.endpoints.len(), || None);
    let mut templates: Vec<Option<SequenceTemplate>> = Vec::new();
    templates.resize_with(loader.templates.len(), || None);
    let mut proxies = HashMap::new();
    let mut entries = HashMap::new();
    let mut faulty = HashSet::new();
    let mut offers = Vec::new();
    let mut receivings = Vec::new();
    let mut inbounds: HashMap<_, Arc<Inbound>> = HashMap::new();
    for item in items {
        if !item.problems.is_empty() {
            match item.kind.as_str() {
                "proxy" => {
                    faulty.insert(item.name);
                }
                "api" => {
                    let address = item.element.as_ref().and_then(|element| api::address(element).ok());
                    offers.extend(address.map(|address| Offer { address, api: None }));
                }
                _ => {}
            }
            continue;
        }
        match (item.product, item.id) {
            (Some(Product::Sequence(sequence)), Some(Reference::Sequence(id))) => sequences[id] = Some(sequence),
            (Some(Product::Endpoint(endpoint)), Some(Reference::Endpoint(id))) => {
                endpoints[id] = Some(Arc::new(endpoint));
            }
            (Some(Product::Template(template)), Some(Reference::Template(id))) => templates[id] = Some(template),
            (Some(Product::Text(text)), _) => {
                entries.insert(loader.names.slot(&item.name), text);
            }
            (Some(Product::Proxy(proxy)), _) => {
                receivings.extend(proxy.sources.iter().map(|source| {
                    let (source, receiver) = (Arc::clone(source), ReceivingService::Proxy(Arc::clone(&proxy.name)));
                    Arc::new(Receiving { source, receiver, properties: Properties::default() })
                }));
                proxies.insert(item.name, Arc::new(proxy));
            }
            (Some(Product::Api(offer)), _) => offers.push(offer),
            (Some(Product::Receiving(receiving)), _) => receivings.push(Arc::new(receiving)),
            (Some(Product::Inbound(inbound)), _) => {
                // Of two that want one port, the later one has it.
                inbounds.retain(|_, known| known.port != inbound.port);
                inbounds.insert(Arc::clone(&inbound.entrance.name), Arc::new(inbound));
            }
            _ => {}
        }
    }
    let sound = |name: &str| loader.sequences.get(name).copied().filter(|&id| sequences[id].is_some());
    let asked = loader.names.asked_external();
    let external = asked.filter_map(|(asked, name)| Some((asked, loader.external_text(asked.0, name)?))).collect();
    let (main, fault) = (sound("main"), sound("fault"));
    let apis = Apis::new(offers, &loader.names, sound);
    let external_texts = loader.external_texts();
    let names = std::mem::take(&mut loader.names);
    let endpoints = Arc::new(Endpoints::new(endpoints, loader.endpoints));
    let definitions = Definitions {
        settings: settings.clone(),
        external,
        external_texts,
        names,
        entries,
        sequence_ids: loader.sequences,
        sequences,
        templates,
        template_ids: loader.templates.into_iter().map(|(name, (id, _))| (name, id)).collect(),
        tables: vec![Arc::clone(&endpoints) as Arc<dyn Any + Send + Sync>],
    };
    Bus {
        definitions,
        endpoints,
        inbounds,
        receivings,
        main,
        fault,
        apis,
        // The later of two with one name is faulty, the first serves.
        faulty: faulty.into_iter().filter(|name| !proxies.contains_key(name)).collect(),
        proxies,
    }
}

impl Item {
    fn new(element: Element) -> Item {
        let attribute = |key| element.attribute(key).map_or("", |name| name.value.trim()).to_owned();
        let name = match element.name.as_str() {
            "localEntry" => attribute("key"),
            "api" => api::name(&element),
            "datasource" => element.child("name").map_or("", |name| name.text().value).to_owned(),
            _ => attribute("name"),
        };
        Item {
            kind: element.name.clone(),
            name,
            place: element.place.clone(),
            element: Some(element),
            included: None,
            id: None,
            problems: Vec::new(),
            warnings: Vec::new(),
            references: Vec::new(),
            product: None,
        }
    }

    fn report(&self) -> Artefact {
        Artefact {
            kind: self.kind.clone(),
            name: self.name.clone(),
            file: self.place.file.to_string(),
            line: self.place.line,
            problems: in_order(&self.problems),
            warnings: in_order(&self.warnings),
            source: self.element.as_ref().map_or_else(String::new, |element| element.source().to_owned()),
        }
    }

    /// The name of the connector that an `<import>` says is not to be used.
    fn switched_off(&self) -> Option<&str> {
        let element = self.element.as_ref().filter(|_| self.kind == "import")?;
        let is_off = element.attribute("status").is_some_and(|status| status.value.trim() == "disabled");
        is_off.then_some(self.name.as_str())
    }

    /// The element that a local entry holds, from its own file or another.
    fn held(&self) -> Option<&Element> {
        match &self.included {
            Some(included) => included.element(),
            None => self.element.as_ref()?.children.iter().find(|child| !child.is("description")),
        }
    }

    /// What stylesheets read where they name a local entry.
    fn resource(&self) -> Option<Resource> {
        Some(match (&self.included, self.held()) {
            (Some(included), _) => Resource { uri: Arc::clone(&included.file), bytes: Arc::clone(&included.bytes) },
            (None, Some(held)) => Resource::new(&self.uri(), held.standalone().into_bytes()),
            (None, None) => Resource::new(&self.uri(), self.element.as_ref()?.standalone_text().into_bytes()),
        })
    }

    /// What tells a local entry from the others of its file.
    fn uri(&self) -> String {
        format!("{}{ENTRY}{}", self.place.file, self.name)
    }

    /// Reads what a local entry takes from another file.
    fn include(&mut self, settings: &Settings, sources: &Sources) {
        let Some(src) = self.element.as_ref().and_then(|element| element.attribute("src")) else { return };
        match Included::read(src.value, &self.place.file, settings.home.as_deref(), sources) {
            Ok(included) => self.included = Some(included),
            Err(message) => {
                let problem = src.problem(message);
                self.problems.push(problem);
            }
        }
    }

    /// Puts values of the environment into their places.
    fn inject(&mut self, loader: &Loader) {
        match self.element.as_ref().and_then(|element| injected(element, loader)) {
            Some(Ok(element)) => self.element = Some(element),
            Some(Err(mut problems)) => self.problems.append(&mut problems),
            None => {}
        }
    }

    /// Makes a data source known to those who ask it.
    fn declare_source(&mut self, loader: &mut Loader) {
        let declared = self.element.as_ref().map(|element| datasource::declare(element, loader));
        self.problems.extend(declared.and_then(Result::err));
        self.warnings.append(&mut loader.warnings);
    }

    fn build(&mut self, loader: &mut Loader) {
        let Some(element) = &self.element else { return };
        let built = match (self.included.as_ref().map(|included| &included.content), self.kind.as_str()) {
            (Some(Content::Text(text)), "localEntry") => Ok(Some(Product::Text(text.clone()))),
            _ => build(element, self.held(), &self.kind, &self.name, self.id.is_some(), loader),
        };
        match built {
            Ok(product) => self.product = product,
            Err(problem) => {
                element.forgive();
                loader.problems.push(problem);
            }
        }
        element.unread(&mut loader.warnings);
        if let Some(included) = self.included.as_ref().and_then(Included::element) {
            included.unread(&mut loader.warnings);
        }
        self.problems.append(&mut loader.problems);
        self.warnings.append(&mut loader.warnings);
        self.references.append(&mut loader.references);
    }
}

/// Asks for a name, which nothing but what a key of the registry names can do without.
fn named(element: &Element, name: &str) -> Result<(), Problem> {
    match element.attribute("name") {
        None if !name.is_empty() => Ok(()),
        _ => element.required("name").map(drop),
    }
}

fn build(
    element: &Element,
    held: Option<&Element>,
    kind: &str,
    name: &str,
    has_number: bool,
    loader: &mut Loader,
) -> Result<Option<Product>, Problem> {
    if !element.is_synapse() {
        return Err(element.problem(format!("{} is no artefact of Synapse", element.tag())));
    }
    match kind {
        "sequence" => {
            named(element, name)?;
            Ok(Some(Product::Sequence(loader.sequence(name, element))))
        }
        "endpoint" => {
            named(element, name)?;
            endpoints::endpoint(element, loader).map(|endpoint| Some(Product::Endpoint(endpoint)))
        }
        "template" if has_number => template(name, element, loader).map(|template| Some(Product::Template(template))),
        "template" if element.child("endpoint").is_some() => {
            element.required("name")?;
            // What it holds is read, and complained of, where it is filled.
            element.forgive();
            Ok(None)
        }
        "template" => Err(element.problem("<template> needs a <sequence> or an <endpoint>")),
        "proxy" => proxy(element, loader).map(|proxy| proxy.map(Product::Proxy)),
        "api" => api::api(element, loader).map(|offer| Some(Product::Api(offer))),
        "task" => task(element, loader).map(|task| Some(Product::Receiving(task))),
        "inboundEndpoint" => inbound(element, loader).map(|inbound| {
            inbound.map(|inbound| match inbound {
                InboundEndpoint::Listener(listener) => Product::Inbound(listener),
                InboundEndpoint::Source(receiving) => Product::Receiving(receiving),
            })
        }),
        // Both were read before anything that needs them.
        "registry" | "datasource" => {
            element.forgive();
            Ok(None)
        }
        "import" => {
            let name = element.required("name")?;
            element.forgive();
            if !loader.has_library(name.value.trim()) {
                let message = format!("there is no archive of a connector {:?}", name.value.trim());
                loader.warning(name.problem(message));
            }
            Ok(None)
        }
        "localEntry" => {
            element.required("key")?;
            match held {
                Some(held) if has_number && held.is("sequence") => {
                    held.attribute("name");
                    Ok(Some(Product::Sequence(loader.sequence(name, held))))
                }
                Some(held) if has_number && connector::endpoint_name(held, name).is_some() => {
                    connector::endpoint(held, name, loader).map(|endpoint| Some(Product::Endpoint(endpoint)))
                }
                Some(held) if has_number => {
                    endpoints::endpoint(held, loader).map(|endpoint| Some(Product::Endpoint(endpoint)))
                }
                Some(_) => Ok(None),
                None => Ok(Some(Product::Text(element.text().value.to_owned()))),
            }
        }
        _ => match vocabulary::artefact(kind) {
            Standing::Problem(message) => Err(element.problem(message)),
            Standing::Warning(message) => {
                element.forgive();
                loader.warning(element.problem(message));
                Ok(None)
            }
        },
    }
}
