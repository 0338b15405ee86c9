//! From files to a bus: who is declared, who is built, who needs whom.

use std::any::Any;
use std::collections::{BTreeSet, HashMap, HashSet, hash_map};
use std::sync::Arc;

use crate::bus::Bus;
use crate::load::Loaded;
use crate::load::circles;
use crate::load::item::Item;
use crate::load::kind::Parts;
use crate::load::kinds;
use crate::load::loops;
use myelin_artefacts::apis::Apis;
use myelin_artefacts::endpoints::Endpoints;
use myelin_artefacts::loader::{BUILT_IN, Fetched, Loader, Reference, is_traced};
use myelin_artefacts::{mediators, vocabulary};
use myelin_config::element::Element;
use myelin_config::files::File;
use myelin_config::layout::Found;
use myelin_config::problem::{Place, Problem};
use myelin_config::registry::Registry;
use myelin_config::report::Report;
use myelin_config::sources::Sources;
use myelin_config::texts::Texts;
use myelin_flow::cost::ServiceCost;
use myelin_flow::counters::ServiceCounters;
use myelin_flow::definitions::Definitions;
use myelin_flow::position::ServiceIdentity;
use myelin_flow::settings::Settings;

/// Builds the bus and the report from what was found.
pub(super) fn assemble(found: Found, settings: &Settings, sources: Sources) -> Loaded {
    let Found { files, roots, resources, properties, configs, environment, libraries, .. } = found;
    let settings = &Settings { environment: settings.environment.with(environment), ..settings.clone() };
    let mut read: BTreeSet<Arc<str>> = files.iter().map(|file| Arc::clone(&file.place.file)).collect();
    let mut loader = Loader::new(settings, &sources, &mediators::ALL);
    loader.artefacts = kinds::elements();
    let mut items: Vec<Item> = files.into_iter().flat_map(items).collect();
    let first_file = items.first().map_or("", |item| &item.place.file);
    loader.registry = Registry::new(settings.home.as_deref(), first_file, &sources);
    loader.libraries = libraries;
    declare(&mut items, &mut loader, settings);
    loader.registry.deploy(resources, roots);
    loader.properties = properties;
    loader.configs = configs;
    items.iter_mut().for_each(|item| item.inject(&loader));
    let is_first = |item: &Item| item.kind.is_some_and(|kind| kind.is_built_first);
    items.iter_mut().filter(|item| is_first(item)).for_each(|item| item.build(&mut loader));
    items.iter_mut().filter(|item| !is_first(item)).for_each(|item| item.build(&mut loader));
    // Each may need another of the registry; as each key is fetched once, this ends.
    while let Some(Fetched { key, element, id }) = loader.fetched.pop() {
        let mut item = Item { name: key, id: Some(id), ..item(element) };
        item.build(&mut loader);
        items.push(item);
    }
    refuse_shared_addresses(&mut items);
    refuse_loops(&mut items);
    circles::warn_of_circles(&mut items);
    if settings.is_strict {
        items.iter_mut().for_each(Item::refuse_misspellings);
    }
    spread(&mut items, settings.is_strict);
    add_excerpts(&mut items, &sources);
    let own = || items.iter().filter(|item| &*item.place.file != BUILT_IN);
    read.extend(own().map(|item| Arc::clone(&item.place.file)));
    let report = Report { files: read.len(), artefacts: own().map(Item::report).collect() };
    Loaded { bus: bus(items, loader, settings), report, sources }
}

/// The artefacts of one file.
fn items(mut file: File) -> Vec<Item> {
    let kind = kinds::find(file.kind);
    match std::mem::replace(&mut file.root, Ok(None)) {
        Ok(Some(mut root)) if root.is("definitions") => {
            let children = std::mem::take(&mut root.children).into_iter();
            children.filter(|child| !child.is("description")).map(item).collect()
        }
        Ok(Some(root)) if file.is_found_by_chance && !vocabulary::may_be_artefact(&root, &kinds::elements()) => {
            let message = format!("{} is no artefact: the file has no effect", root.tag());
            file.warnings.push(root.problem(message));
            vec![Item::broken(file, None, kind)]
        }
        Ok(Some(root)) => vec![item(root)],
        Ok(None) => vec![Item::broken(file, None, kind)],
        Err(problem) if is_of_others(&file) => {
            let message =
                format!("the file is no artefact and has no effect; as XML it could not be read: {}", problem.message);
            file.warnings.push(Problem { message, ..problem });
            vec![Item::broken(file, None, kind)]
        }
        Err(problem) => vec![Item::broken(file, Some(problem), kind)],
    }
}

/// Whether a file that cannot be read lies in the configuration by chance: its root element has the name of no artefact.
fn is_of_others(file: &File) -> bool {
    let may_be = |name: &String| vocabulary::may_be_name(name, &kinds::elements());
    file.is_found_by_chance && file.broken_root.as_ref().is_some_and(|name| !may_be(name))
}

fn item(element: Element) -> Item {
    let kind = kinds::find(&element.name);
    Item::new(element, kind)
}

/// Gives names and numbers, so that artefacts may refer to each other in any order.
fn declare(items: &mut [Item], loader: &mut Loader, settings: &Settings) {
    let mut taken: HashMap<(String, String), Place> = HashMap::new();
    for item in items.iter_mut().filter(|item| item.element.is_some()) {
        let key = (item.element_name.clone(), item.name.clone());
        if let Some(first) = taken.get(&key).filter(|_| !item.name.is_empty()) {
            let message =
                format!("there is another {} named {:?} before this one ({first})", item.element_name, item.name);
            item.problems.push(Problem::new(item.place.clone(), message));
            continue;
        }
        taken.insert(key, item.place.clone());
        if let Some(kind) = item.kind {
            (kind.declare)(item, loader, settings);
        }
    }
    for item in items.iter_mut().filter(|item| item.element.is_some()) {
        if let Some(kind) = item.kind {
            (kind.declare_held)(item, loader);
        }
    }
}

/// Complains of artefacts at an address that another of their kind has; one that does not run takes none.
fn refuse_shared_addresses(items: &mut [Item]) {
    let mut taken: HashMap<(String, String), (String, Place)> = HashMap::new();
    for item in items.iter_mut().filter(|item| item.problems.is_empty()) {
        let Some(address) = item.product.as_ref().and_then(|product| product.address.as_ref()) else { continue };
        match taken.entry((item.element_name.clone(), address.key.clone())) {
            hash_map::Entry::Vacant(entry) => {
                entry.insert((item.name.clone(), item.place.clone()));
            }
            hash_map::Entry::Occupied(entry) => {
                let (name, place) = entry.get();
                let (shown, effect) = (&address.shown, address.effect);
                let message = format!("{shown} is that of {} {name:?} ({place}){effect}", item.element_name);
                item.problems.push(Problem::new(item.place.clone(), message));
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
            item.problems.push(Problem::new(place.clone(), message));
        }
    }
}

/// Tells what needs a faulty artefact: it will fail there; where that is to be a problem, it is faulty, too, until nothing
/// changes.
fn spread(items: &mut [Item], is_strict: bool) {
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
                    let message =
                        format!("needs {} {:?}, which is faulty", items[owner].element_name, items[owner].name);
                    let problem = Problem::new(place, message);
                    if is_strict { &mut items[index].problems } else { &mut items[index].latent }.push(problem);
                    changed |= is_strict;
                }
            }
        }
        if !changed {
            return;
        }
    }
}

/// Adds the lines of their files to all that is told.
fn add_excerpts(items: &mut [Item], sources: &Sources) {
    let mut texts = Texts::default();
    items.iter().for_each(|item| item.add_texts(&mut texts));
    items.iter_mut().flat_map(Item::complaints).for_each(|problem| texts.explain(problem, sources));
}

/// Puts together what is sound.
fn bus(items: Vec<Item>, mut loader: Loader, settings: &Settings) -> Bus {
    let mut parts = Parts::of(&loader);
    let sound_ones = items.iter().filter(|item| item.problems.is_empty() && !item.name.is_empty());
    let states = sound_ones.map(|item| {
        let state = loader.service_state(&item.element_name, &item.name);
        // Synapse has the attribute of an endpoint at `<address>` and its like.
        let of_endpoint = |element: &Element| item.element_name == "endpoint" && element.children.iter().any(is_traced);
        state.define_traced(item.element.as_ref().is_some_and(|element| is_traced(element) || of_endpoint(element)));
        ((item.element_name.clone(), item.name.clone()), state)
    });
    let states = states.collect();
    let mut connectors: Vec<String> = loader.libraries.keys().cloned().collect();
    connectors.sort_unstable();
    let mut holes: Vec<(Reference, Problem)> = loader.holes.drain().collect();
    for mut item in items {
        match (item.problems.is_empty(), item.product.take(), item.kind) {
            (true, Some(product), _) => (product.put)(&mut parts),
            (false, _, Some(kind)) => {
                holes.extend(item.id.zip(item.problems.first().cloned()));
                (kind.remain)(item, &mut parts);
            }
            _ => {}
        }
    }
    // Names that are worked out while serving find what is sound.
    loader.sequences.retain(|_, id| parts.sequences[*id].is_some());
    loader.endpoints.retain(|_, id| parts.endpoints[*id].is_some());
    loader.templates.retain(|_, (id, _)| parts.templates[*id].is_some());
    holes.iter().for_each(|(reference, problem)| parts.fill(*reference, problem));
    let Parts {
        sequences,
        endpoints,
        templates,
        entries,
        proxies,
        mut faulty,
        faulty_main,
        offers,
        receivings,
        inbounds,
    } = parts;
    // The later of two with one name is faulty, the first serves.
    faulty.retain(|name, _| !proxies.contains_key(name));
    let sound = |name: &str| loader.sequences.get(name).copied();
    let asked = loader.names.asked_external();
    let external = asked.filter_map(|(asked, name)| Some((asked, loader.external_text(asked.0, name)?))).collect();
    let (main, fault) = (sound("main"), sound("fault"));
    let apis = Apis::new(offers, &loader.names, sound);
    let external_texts = loader.external_texts();
    let mut names = std::mem::take(&mut loader.names);
    let entries = entries.into_iter().map(|(key, text)| (names.slot(&key), text)).collect();
    let place = main.and_then(|id| sequences.get(id)?.as_ref()).map(|main| main.place.clone());
    let main_identity = ServiceIdentity::new("sequence", "main", place);
    let main_counters = loader.service_counters(&main_identity, "");
    let unserved = loader.share("service counters", "".to_owned(), ServiceCounters::default);
    // Addresses that messages bring with them count as endpoints without a name.
    loader.endpoint_counters("");
    let endpoints = Arc::new(Endpoints::new(endpoints, loader.endpoints, loader.endpoint_counters));
    let definitions = Definitions {
        settings: settings.clone(),
        external,
        external_texts,
        names,
        entries,
        is_traced: loader.is_traced,
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
        main_identity,
        main_cost: ServiceCost::default(),
        main_counters,
        unserved,
        fault,
        apis,
        faulty,
        faulty_main,
        proxies,
        states,
        connectors,
    }
}
