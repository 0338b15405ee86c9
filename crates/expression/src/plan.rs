//! Which expressions share a pass over a message, and what they are compiled to.

use std::sync::{Arc, OnceLock};

use myelin_json::{self as json, Duplicates, Path};
use myelin_soap::Version;
use myelin_xpath::Expression;
use myelin_xpath::stream::{self, QueryId, StartAt, Wanted};

use crate::bindings::Bindings;
use crate::places::path_of_part;

/// Expressions that are answered in one pass.
#[derive(Debug)]
pub(crate) enum Plan {
    /// Those of one sequence that ask nothing but the message; compiled once the sequence is complete.
    Shared(OnceLock<Compiled>),
    /// One that asks for properties and headers, too: what they are now counts each time.
    Alone(Compiled, Arc<Bindings>),
    /// One path into JSON.
    Json(Arc<json::Plan>),
}

/// What expressions became: one plan for each version of SOAP, whose envelopes have parts of the same names.
#[derive(Debug)]
pub(crate) struct Compiled([(stream::Plan, Vec<Option<QueryId>>); 2]);

impl Compiled {
    /// The plan for messages of that version.
    pub(super) fn plan(&self, version: Version) -> &stream::Plan {
        &self.0[version as usize].0
    }

    /// The number of an expression in the plan for that version; none for one that needs a tree.
    fn query(&self, index: usize, version: Version) -> Option<QueryId> {
        self.0[version as usize].1.get(index).copied().flatten()
    }
}

/// One expression of a plan.
#[derive(Clone, Debug)]
pub struct Query {
    pub(super) plan: Arc<Plan>,
    index: usize,
}

impl Query {
    /// The number in the plan for messages of that version; `None` where the expression needs a tree.
    pub(super) fn id(&self, version: Version) -> Option<QueryId> {
        self.plan.compiled()?.query(self.index, version)
    }
}

impl Plan {
    /// What it was compiled to, if it is for XML.
    pub(super) fn compiled(&self) -> Option<&Compiled> {
        match self {
            Plan::Shared(compiled) => compiled.get(),
            Plan::Alone(compiled, _) => Some(compiled),
            Plan::Json(_) => None,
        }
    }

    /// Whether its answers hold only as long as nobody sets a property.
    pub(super) fn is_volatile(&self) -> bool {
        matches!(self, Plan::Alone(..))
    }
}

/// Gathers the expressions of sequences while they are built.
#[derive(Debug, Default)]
pub struct PlanBuilder {
    /// The sequences that are being built, the innermost last.
    open: Vec<Gathered>,
    /// What is said of JSON.
    duplicates: Duplicates,
}

#[derive(Debug)]
struct Gathered {
    plan: Arc<Plan>,
    expressions: Vec<(Arc<Expression>, Wanted)>,
}

impl PlanBuilder {
    /// One that has gathered nothing; `duplicates` says which of two equal keys of JSON counts.
    pub fn new(duplicates: Duplicates) -> PlanBuilder {
        PlanBuilder { open: Vec::new(), duplicates }
    }

    /// Which of two equal keys counts.
    pub fn duplicates(&self) -> Duplicates {
        self.duplicates
    }

    /// A sequence begins.
    pub fn begin(&mut self) {
        self.open.push(Gathered { plan: Arc::new(Plan::Shared(OnceLock::new())), expressions: Vec::new() });
    }

    /// The innermost sequence is complete: its expressions are compiled together.
    pub fn end(&mut self) {
        let Some(Gathered { plan, expressions }) = self.open.pop() else { return };
        if let Plan::Shared(cell) = &*plan {
            // Nobody else sets it.
            let _ = cell.set(compile(&expressions));
        }
    }

    /// An expression joins the sequence that is being built; one with `bindings` of its own gets a pass of its own.
    pub fn add(&mut self, expression: &Arc<Expression>, wanted: Wanted, bindings: Option<&Arc<Bindings>>) -> Query {
        match (self.open.last_mut(), bindings) {
            (Some(gathered), None) => {
                gathered.expressions.push((Arc::clone(expression), wanted));
                Query { plan: Arc::clone(&gathered.plan), index: gathered.expressions.len() - 1 }
            }
            (_, bindings) => {
                let compiled = compile(&[(Arc::clone(expression), wanted)]);
                let bindings = bindings.map(Arc::clone).unwrap_or_default();
                Query { plan: Arc::new(Plan::Alone(compiled, bindings)), index: 0 }
            }
        }
    }

    /// A path into JSON; `None` where it needs the tree.
    pub fn add_json(&mut self, path: &Path) -> Option<Query> {
        let plan = json::Plan::new(&[path], self.duplicates).ok()?;
        Some(Query { plan: Arc::new(Plan::Json(Arc::new(plan))), index: 0 })
    }
}

fn compile(expressions: &[(Arc<Expression>, Wanted)]) -> Compiled {
    let expressions: Vec<(&Expression, Wanted)> =
        expressions.iter().map(|(expression, wanted)| (&**expression, *wanted)).collect();
    Compiled([Version::Soap11, Version::Soap12].map(|version| {
        let (plan, queries) = stream::Plan::compile(&expressions, &|slot| path_of_part(slot, version), StartAt::Root);
        (plan, queries.into_iter().map(Result::ok).collect())
    }))
}
