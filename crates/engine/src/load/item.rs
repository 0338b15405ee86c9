//! One artefact on its way to the bus.

use std::collections::HashMap;

use crate::load::kind::{Kind, Product};
use myelin_artefacts::loader::{Loader, Reference, injected};
use myelin_artefacts::vocabulary::{self, Standing};
use myelin_config::element::{Element, Unread};
use myelin_config::files::File;
use myelin_config::included::Included;
use myelin_config::problem::{Place, Problem};
use myelin_config::report::Artefact;
use myelin_config::texts::Texts;

/// One artefact on its way to the bus.
pub(super) struct Item {
    /// The name of its element; of a file that is broken, what it should have held.
    pub(super) element_name: String,
    /// `None` where there is no such kind of artefact.
    pub(super) kind: Option<&'static Kind>,
    pub(super) name: String,
    pub(super) place: Place,
    /// `None` where the file itself is broken.
    pub(super) element: Option<Element>,
    /// What it takes from another file.
    pub(super) included: Option<Included>,
    /// The number by which others refer to it.
    pub(super) id: Option<Reference>,
    /// Where values of the environment are wanted that it has not.
    pub(super) unresolved: Vec<Problem>,
    pub(super) problems: Vec<Problem>,
    /// What makes a step of it fail when a message reaches it.
    pub(super) latent: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
    /// The artefacts that it refers to, and where.
    pub(super) references: Vec<(Reference, Place)>,
    pub(super) product: Option<Product>,
}

impl Item {
    /// Of an element.
    pub(super) fn new(element: Element, kind: Option<&'static Kind>) -> Item {
        Item {
            element_name: element.name.clone(),
            kind,
            name: (kind.unwrap_or(&Kind::PLAIN).name)(&element),
            place: element.place.clone(),
            element: Some(element),
            included: None,
            id: None,
            unresolved: Vec::new(),
            problems: Vec::new(),
            latent: Vec::new(),
            warnings: Vec::new(),
            references: Vec::new(),
            product: None,
        }
    }

    /// Of a file that holds nothing, or nothing that can be read: then with the problem.
    pub(super) fn broken(file: File, problem: Option<Problem>, kind: Option<&'static Kind>) -> Item {
        Item {
            element_name: file.kind.to_owned(),
            kind,
            name: file.name.to_string(),
            place: problem.as_ref().map_or(file.place, |problem| problem.place.clone()),
            element: None,
            included: None,
            id: None,
            unresolved: Vec::new(),
            problems: problem.into_iter().collect(),
            latent: Vec::new(),
            warnings: file.warnings,
            references: Vec::new(),
            product: None,
        }
    }

    /// What is told of it.
    pub(super) fn report(&self) -> Artefact {
        Artefact {
            kind: self.element_name.clone(),
            name: self.name.clone(),
            file: self.place.file.to_string(),
            line: self.place.line,
            problems: in_order(&self.problems),
            latent: in_order(&self.latent),
            warnings: in_order(&self.warnings),
            source: self.element.as_ref().map_or_else(String::new, |element| element.source().to_owned()),
        }
    }

    /// Puts values of the environment into their places.
    pub(super) fn inject(&mut self, loader: &Loader) {
        if let Some((element, unresolved)) = self.element.as_ref().and_then(|element| injected(element, loader)) {
            self.element = Some(element);
            self.unresolved = unresolved;
        }
    }

    /// Builds it, and takes what the loader learnt meanwhile.
    pub(super) fn build(&mut self, loader: &mut Loader) {
        loader.unresolved = std::mem::take(&mut self.unresolved);
        let Some(element) = &self.element else { return };
        match self.built(element, loader) {
            Ok(product) => self.product = product,
            Err(problem) => {
                element.forgive_all_but_misspelt();
                loader.problems.push(problem);
            }
        }
        let mut unread = Unread::default();
        for element in [Some(element), self.included.as_ref().and_then(Included::element)].into_iter().flatten() {
            element.unread(&vocabulary::STRUCTURE, &mut unread);
        }
        // Some of it may have been told together with what is missing.
        let is_told = |found: &Problem| {
            let told = loader.problems.iter().chain(&loader.latent);
            told.filter(|it| it.suggestion.is_some()).any(|it| it.place == found.place)
        };
        self.problems.extend(unread.problems.into_iter().filter(|found| !is_told(found)));
        let warnings: Vec<Problem> = unread.warnings.into_iter().filter(|found| !is_told(found)).collect();
        loader.warnings.extend(warnings);
        self.problems.append(&mut loader.problems);
        self.problems.append(&mut loader.unresolved);
        self.latent.append(&mut loader.latent);
        self.warnings.append(&mut loader.warnings);
        self.references.append(&mut loader.references);
    }

    /// Makes problems of the warnings about what is misspelt.
    pub(super) fn refuse_misspellings(&mut self) {
        let (misspelt, others) = std::mem::take(&mut self.warnings).into_iter().partition(|it| it.suggestion.is_some());
        self.warnings = others;
        self.problems.extend::<Vec<Problem>>(misspelt);
    }

    /// Makes its texts known, for excerpts.
    pub(super) fn add_texts(&self, texts: &mut Texts) {
        let included = self.included.as_ref().and_then(Included::element);
        [self.element.as_ref(), included].into_iter().flatten().for_each(|element| texts.add(element));
    }

    /// All that is told of it.
    pub(super) fn complaints(&mut self) -> impl Iterator<Item = &mut Problem> {
        self.problems.iter_mut().chain(&mut self.latent).chain(&mut self.warnings)
    }

    fn built(&self, element: &Element, loader: &mut Loader) -> Result<Option<Product>, Problem> {
        if !element.is_synapse() {
            return Err(element.problem(format!("{} is no artefact of Synapse", element.tag())));
        }
        match (self.kind, vocabulary::artefact(&self.element_name, &loader.artefacts)) {
            (Some(kind), _) => (kind.build)(self, element, loader),
            (None, Standing::Problem(message, meant)) => Err(element.problem(message).suggesting(meant)),
            (None, Standing::Warning(message)) => {
                element.forgive();
                loader.warning(element.problem(message));
                Ok(None)
            }
        }
    }
}

/// The number of an artefact that others refer to by its name; none without a name.
pub(super) fn number(
    ids: &mut HashMap<String, usize>,
    name: &str,
    reference: fn(usize) -> Reference,
) -> Option<Reference> {
    if name.is_empty() {
        return None;
    }
    let id = ids.len();
    ids.insert(name.to_owned(), id);
    Some(reference(id))
}

/// As a reader meets them in the file.
fn in_order(problems: &[Problem]) -> Vec<Problem> {
    let mut problems = problems.to_vec();
    problems.sort_by_key(|problem| (problem.line(), problem.column()));
    problems
}
