//! Which schemas are meant.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::loader::Loader;
use crate::schemas::{Gathering, Schemas, Source};
use crate::stylesheets::Named;
use crate::values::embedded_expression;
use myelin_config::choice::Choice;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::Expression;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::offload::offload;

/// How many schemas, or sets of them, are kept that were compiled for keys that are worked out.
const KEPT: usize = 64;

/// The keys of a mediator's schemas.
pub(super) enum Keys {
    /// Fixed ones, compiled while loading.
    Fixed(Schemas),
    /// Some of them are worked out for each message; what they mean is compiled when it is asked for first, and kept.
    WorkedOut(Box<WorkedOut>),
}

/// Keys that are worked out.
pub(super) struct WorkedOut {
    keys: Vec<Key>,
    choice: Choice<Source>,
    gathering: Arc<Gathering>,
    /// What was compiled.
    made: Mutex<HashMap<Vec<Source>, Schemas>>,
}

enum Key {
    Fixed(Source, String),
    WorkedOut(Expression),
}

impl Keys {
    /// Reads the attribute `key` of `schema` elements, of which there is one at least; `named` is what `resource` elements
    /// name.
    ///
    /// Errors: a [`Problem`] at a fixed key that names no schema, or a faulty one.
    pub(super) fn read(elements: &[&Element], named: &[Named<'_>], loader: &mut Loader) -> Result<Keys, Problem> {
        let mut gathering = Gathering::default();
        let mut keys = Vec::with_capacity(elements.len());
        let mut fixed = Vec::new();
        let mut any_worked_out = None;
        for element in elements {
            let key = element.required("key")?;
            keys.push(match embedded_expression(key, loader)? {
                Some(expression) => {
                    any_worked_out = any_worked_out.or(Some(key));
                    Key::WorkedOut(expression)
                }
                None => {
                    let source = loader.schema(key, named, &mut gathering)?;
                    fixed.push((source, key));
                    Key::Fixed(source, key.value.trim().to_owned())
                }
            });
        }
        let sources: Vec<Source> = fixed.iter().map(|(source, _)| *source).collect();
        let schemas = gathering.compile(&sources).map_err(|(at, message)| {
            fixed[at].1.problem(format!("schema {:?}: {message}", fixed[at].1.value.trim())).latent()
        })?;
        let Some(key) = any_worked_out else { return Ok(Keys::Fixed(schemas)) };
        let choice = loader.schemas(key, named, &mut gathering);
        let gathering = Arc::new(gathering);
        Ok(Keys::WorkedOut(Box::new(WorkedOut { keys, choice, gathering, made: Mutex::default() })))
    }

    /// The expressions that work keys out.
    pub(super) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let keys = match self {
            Keys::Fixed(_) => [].as_slice(),
            Keys::WorkedOut(worked_out) => &worked_out.keys,
        };
        keys.iter().filter_map(|key| match key {
            Key::Fixed(..) => None,
            Key::WorkedOut(expression) => Some(expression),
        })
    }
}

impl WorkedOut {
    /// What the keys mean for a message.
    ///
    /// Errors: the bus's, where there is no schema of one of the keys, or where it is faulty.
    pub(super) async fn schemas(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Schemas> {
        let (sources, names) = self.sources(exchange, context)?;
        let known = self.made.lock().unwrap_or_else(PoisonError::into_inner).get(&sources).cloned();
        if let Some(made) = known {
            return Ok(made);
        }
        let (gathering, wanted) = (Arc::clone(&self.gathering), sources.clone());
        let made = offload(context, move || gathering.compile(&wanted)).await?;
        // Why it could not be is not kept: it may have been the machine, which had no room for files.
        let made = made.map_err(|(at, message)| {
            Fault::bus(format!("The schema {:?} is faulty", names[at])).with_detail(message)
        })?;
        let mut kept = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        // One key alone means no more than was gathered; several can be put together in any number of ways.
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(sources, made.clone());
        Ok(made)
    }

    fn sources(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<(Vec<Source>, Vec<String>)> {
        let of = |key: &Key| match key {
            Key::Fixed(source, name) => Ok((*source, name.clone())),
            Key::WorkedOut(expression) => {
                let name = expression.text(exchange, context)?.unwrap_or_default().trim().to_owned();
                match self.choice.find(&name) {
                    Some(source) => Ok((**source, name)),
                    None => Err(Fault::bus(format!("There is no schema {name:?}"))),
                }
            }
        };
        self.keys.iter().map(of).collect()
    }
}
