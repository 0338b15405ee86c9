//! Steps and endpoints that need something that is not there: they fault when a message reaches them, as in Synapse.

use std::collections::HashMap;
use std::sync::Arc;

use crate::loader::{Loader, Reference};
use myelin_config::element::{Element, Text};
use myelin_config::problem::{Place, Problem};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Fault;
use myelin_flow::mediator::{Effect, Mediator, Step};
use myelin_flow::position::StepPlace;
use myelin_flow::sequence::{Node, Sequence, SequenceId};

/// A step that cannot do what its element says.
struct FailingStep {
    /// What is missing, with its place.
    detail: Arc<str>,
}

impl Mediator for FailingStep {
    fn effect(&self) -> Effect<'_> {
        Effect { fails: Some(&self.detail), ..Effect::default() }
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, _: &'a RequestContext<'a>) -> Step<'a> {
        let fault = Fault::bus("A step of the configuration needs something that is not there");
        Step::Done(exchange, Err(fault.with_detail(&*self.detail)))
    }
}

impl Loader {
    /// Builds the part that an element stands for; where it needs something that is not there, it is `failing`, which is
    /// told of the first that is missing.
    ///
    /// Errors: the part's own, where it cannot be built at all.
    pub(crate) fn build_or_failing<T>(
        &mut self,
        element: &Element,
        build: impl FnOnce(&mut Loader) -> Result<T, Problem>,
        failing: impl FnOnce(&Problem, &mut Loader) -> T,
    ) -> Result<T, Problem> {
        let before = self.problems.len();
        let built = build(self);
        if self.is_strict {
            return built;
        }
        let (mut missing, own): (Vec<_>, Vec<_>) =
            self.problems.split_off(before).into_iter().partition(|problem| problem.is_latent);
        self.problems.extend(own);
        missing.extend(self.unresolved.extract_if(.., |problem| element.covers(&problem.place)));
        let part = match (built, missing.first()) {
            (Err(problem), _) if problem.is_latent => {
                missing.push(problem);
                Ok(failing(&missing[0], self))
            }
            (Ok(_), Some(first)) => Ok(failing(first, self)),
            (built, _) => built,
        };
        self.latent.append(&mut missing);
        part
    }

    /// The number of what a fixed key names; of a hole, which is told, where there is nothing of that name.
    ///
    /// Errors: a [`Problem`] at the key where it can never name anything, or where what is missing is a problem.
    pub(super) fn number_of(&mut self, key: Text<'_>, kind: &Numbered) -> Result<usize, Problem> {
        let id = match self.found(key, kind) {
            Err(problem) if problem.is_latent && !self.is_strict => {
                let ids = (kind.ids_mut)(self);
                let id = ids.len();
                ids.insert(key.value.trim().to_owned(), id);
                self.holes.insert((kind.number)(id), problem);
                id
            }
            found => found?,
        };
        if let Some(hole) = self.holes.get(&(kind.number)(id)) {
            let problem = key.problem(hole.message.clone());
            self.latent(problem);
        }
        Ok(id)
    }

    /// The sequence that handles faults; `None` where there is none of that name, which is told: then the handlers
    /// around it handle them, as in Synapse.
    ///
    /// Errors: as [`Loader::sequence_id`].
    pub(crate) fn handler_id(&mut self, key: Text<'_>) -> Result<Option<SequenceId>, Problem> {
        match self.found(key, &SEQUENCES) {
            Ok(id) if !self.holes.contains_key(&Reference::Sequence(id)) => Ok(Some(id)),
            Err(problem) if !problem.is_latent || self.is_strict => Err(problem),
            Ok(_) | Err(_) => {
                let message =
                    format!("there is no sequence {:?}: faults go to the handlers around it", key.value.trim());
                self.latent(key.problem(message));
                Ok(None)
            }
        }
    }

    /// The number of what a fixed key names in the configuration or in the registry.
    fn found(&mut self, key: Text<'_>, kind: &Numbered) -> Result<usize, Problem> {
        let id = match (kind.ids)(self).get(key.value.trim()) {
            Some(&id) => id,
            None => self.fetch(key, kind)?,
        };
        self.references.push(((kind.number)(id), key.place(0)));
        Ok(id)
    }
}

/// A mediator that faults, in the place of one that needs something that is not there.
pub(super) fn failing_node(element: &'static str, place: Place, problem: &Problem) -> Node {
    Node {
        step: StepPlace { element, place },
        expression: None,
        mediator: Box::new(FailingStep { detail: problem.to_string().into() }),
    }
}

/// A sequence that faults, in the place of one that is faulty or not there.
pub fn failing_sequence(problem: &Problem) -> Sequence {
    let place = problem.place.clone();
    let block = vec![failing_node("sequence", place.clone(), problem)].into();
    Sequence { name: "missing".into(), place, block, on_error: None, is_traced: false }
}

/// A kind of artefact that has numbers, and may stand in the registry.
pub(super) struct Numbered {
    /// The name of its element.
    pub(super) element: &'static str,
    /// The numbers, by the names.
    pub(super) ids: fn(&Loader) -> &HashMap<String, usize>,
    /// The same, to add one.
    pub(super) ids_mut: fn(&mut Loader) -> &mut HashMap<String, usize>,
    /// One of the numbers as a reference.
    pub(super) number: fn(usize) -> Reference,
}

pub(super) const SEQUENCES: Numbered = Numbered {
    element: "sequence",
    ids: |loader| &loader.sequences,
    ids_mut: |loader| &mut loader.sequences,
    number: Reference::Sequence,
};

pub(super) const ENDPOINTS: Numbered = Numbered {
    element: "endpoint",
    ids: |loader| &loader.endpoints,
    ids_mut: |loader| &mut loader.endpoints,
    number: Reference::Endpoint,
};
