//! What a kind of artefact is to the loader; `kinds.rs` holds the table of all of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::load::item::Item;
use myelin_artefacts::apis::Offer;
use myelin_artefacts::endpoints::Endpoint;
use myelin_artefacts::inbound::{Inbound, Receiving};
use myelin_artefacts::left_out::LeftOut;
use myelin_artefacts::loader::{Loader, Reference, failing_sequence};
use myelin_artefacts::proxies::Proxy;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_flow::sequence::Sequence;
use myelin_flow::settings::Settings;
use myelin_flow::template::SequenceTemplate;

/// A kind of artefact: its element, and what each step of loading does with it. The steps come in the order of the
/// fields, each for all artefacts before the next.
pub(super) struct Kind {
    /// The name of its element.
    pub(super) element: &'static str,
    /// What an artefact of this kind is called; empty where it has no name.
    pub(super) name: fn(&Element) -> String,
    /// Makes its name known, so that artefacts may refer to each other in any order.
    pub(super) declare: fn(&mut Item, &mut Loader, &Settings),
    /// Makes known what it holds, unless another artefact declared the same name.
    pub(super) declare_held: fn(&mut Item, &mut Loader),
    /// Whether it is built before the other kinds, as builders ask for what it says.
    pub(super) is_built_first: bool,
    /// Builds it; `None` where nothing of it gets into the bus.
    pub(super) build: fn(&Item, &Element, &mut Loader) -> Result<Option<Product>, Problem>,
    /// Puts what remains of a faulty one into the bus.
    pub(super) remain: fn(Item, &mut Parts),
}

impl Kind {
    /// One that is called by its attribute `name`, that nothing refers to, and of which nothing gets into the bus.
    pub(super) const PLAIN: Kind = Kind {
        element: "",
        name: |element| attribute(element, "name"),
        declare: |_, _, _| {},
        declare_held: |_, _| {},
        is_built_first: false,
        build: |_, element, _| {
            element.forgive();
            Ok(None)
        },
        remain: |_, _| {},
    };
}

/// What an attribute says, empty where there is none.
pub(super) fn attribute(element: &Element, key: &str) -> String {
    element.attribute(key).map_or("", |value| value.value.trim()).to_owned()
}

/// What an artefact became.
pub(super) struct Product {
    /// The address that it has for itself.
    pub(super) address: Option<Address>,
    /// Puts it into its place in the bus.
    pub(super) put: Box<dyn FnOnce(&mut Parts)>,
}

impl Product {
    /// One that shares its address, or has none.
    pub(super) fn new(put: impl FnOnce(&mut Parts) + 'static) -> Product {
        Product { address: None, put: Box::new(put) }
    }
}

/// An address that only one artefact of a kind may have.
pub(super) struct Address {
    /// What tells it from others.
    pub(super) key: String,
    /// What it is called in a complaint: `port 8290`.
    pub(super) shown: String,
    /// The end of a complaint: what becomes of requests to it.
    pub(super) effect: &'static str,
}

/// What a bus is put together from.
#[derive(Default)]
pub(super) struct Parts {
    /// The sequences by their numbers; `None` where one is faulty, as everywhere here.
    pub(super) sequences: Vec<Option<Sequence>>,
    pub(super) endpoints: Vec<Option<Arc<Endpoint>>>,
    pub(super) templates: Vec<Option<SequenceTemplate>>,
    /// The texts of local entries, by their keys.
    pub(super) entries: HashMap<String, String>,
    pub(super) proxies: BTreeMap<String, Arc<Proxy>>,
    /// The faulty proxies, by their names.
    pub(super) faulty: BTreeMap<String, LeftOut>,
    /// The sequence `main`, where it is faulty.
    pub(super) faulty_main: Option<LeftOut>,
    pub(super) offers: Vec<Offer>,
    pub(super) receivings: Vec<Arc<Receiving>>,
    pub(super) inbounds: HashMap<Arc<str>, Arc<Inbound>>,
}

impl Parts {
    /// With places for what has a number.
    pub(super) fn of(loader: &Loader) -> Parts {
        let mut parts = Parts::default();
        parts.sequences.resize_with(loader.sequences.len(), || None);
        parts.endpoints.resize_with(loader.endpoints.len(), || None);
        parts.templates.resize_with(loader.templates.len(), || None);
        parts
    }

    /// Puts what faults into a hole: the place of a faulty artefact, or of one that others refer to and is not there.
    pub(super) fn fill(&mut self, hole: Reference, problem: &Problem) {
        match hole {
            Reference::Sequence(id) => self.sequences[id] = Some(failing_sequence(problem)),
            Reference::Endpoint(id) => self.endpoints[id] = Some(Arc::new(Endpoint::missing(problem))),
            Reference::Template(id) => {
                let template = SequenceTemplate { parameters: Arc::default(), sequence: failing_sequence(problem) };
                self.templates[id] = Some(template);
            }
            Reference::Proxy(_) => {}
        }
    }
}
