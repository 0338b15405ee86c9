//! Which exchanges are wanted.

use std::time::{Duration, Instant};

use myelin_config::element::Element;
use myelin_expression::{Compiler, Expression, Need, ResultType};
use myelin_flow::definitions::Definitions;
use myelin_spelling::suggestion;

/// So many selections there may be: each is looked at for each exchange.
const LIMIT: usize = 32;

/// What somebody wants to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// The service, by its name, with or without its kind: `Orders`, `proxy Orders`; all of them where unset.
    pub service: Option<String>,
    /// The sequence or endpoint that an exchange must come to, with its kind: `sequence Audit`, `endpoint Backend`.
    pub through: Option<String>,
    /// A Synapse expression over the request, which must be true.
    pub when: Option<String>,
    /// Whether only exchanges with a fault are wanted.
    pub faulted: bool,
    /// So many traces are wanted; all of them where unset.
    pub next: Option<u32>,
    /// How long they are wanted; for good where unset.
    pub lasts: Option<Duration>,
}

/// A selection as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectionView {
    /// Its number.
    pub id: u64,
    /// What it wants; of `next`, how many are still to come.
    pub wish: Wish,
    /// When it ends by itself.
    pub(super) ends: Option<Instant>,
}

/// A selection, as one thread sees it.
pub type Selection = SelectionView;

impl SelectionView {
    /// Whether its time is over.
    pub(super) fn is_over(&self) -> bool {
        self.ends.is_some_and(|ends| Instant::now() >= ends)
    }
}

#[derive(Debug, Default)]
pub(super) struct Selections {
    selections: Vec<Selection>,
    last_id: u64,
}

impl Selections {
    pub(super) fn add(&mut self, wish: Wish) -> Result<u64, String> {
        self.selections.retain(|selection| !selection.is_over());
        if self.selections.len() >= LIMIT {
            return Err(format!("there are {LIMIT} selections already; take one back first"));
        }
        if wish.next == Some(0) {
            return Err("\"next\" is 0: at least 1 trace must be wanted".to_owned());
        }
        self.last_id += 1;
        let ends = wish.lasts.and_then(|lasts| Instant::now().checked_add(lasts));
        self.selections.push(Selection { id: self.last_id, wish, ends });
        Ok(self.last_id)
    }

    pub(super) fn remove(&mut self, id: Option<u64>) -> usize {
        let before = self.selections.len();
        self.selections.retain(|selection| id.is_some_and(|id| id != selection.id));
        before - self.selections.len()
    }

    /// Whether a selection takes one more trace, and whether it is spent with it.
    pub(super) fn take(&mut self, id: u64) -> (bool, bool) {
        let Some(at) = self.selections.iter().position(|selection| selection.id == id) else { return (false, false) };
        let Some(next) = &mut self.selections[at].wish.next else { return (true, false) };
        *next = next.saturating_sub(1);
        let is_spent = *next == 0;
        if is_spent {
            self.selections.remove(at);
        }
        (true, is_spent)
    }

    /// Takes back those that want this; how many there were.
    pub(super) fn remove_wish(&mut self, wish: &Wish) -> usize {
        let before = self.selections.len();
        self.selections.retain(|selection| selection.wish != *wish);
        before - self.selections.len()
    }

    pub(super) fn views(&self) -> Vec<SelectionView> {
        self.selections.iter().filter(|selection| !selection.is_over()).cloned().collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.selections.is_empty()
    }
}

/// Whether a service is the one that is meant: by its name, by the name of an API without its version, or with the kind.
pub fn is_named(kind: &str, name: &str, wanted: &str) -> bool {
    let wanted = wanted.strip_prefix(kind).and_then(|rest| rest.strip_prefix(' ')).unwrap_or(wanted).trim();
    wanted == name || name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with(':'))
}

/// What is wrong with the service that a selection names, of those that run, by kind and name; `None` where it is one.
pub fn unknown_service<'a>(wanted: &str, known: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Option<String> {
    let mut services = known.clone();
    if services.any(|(kind, name)| is_named(kind, name, wanted)) {
        return None;
    }
    let name = wanted.rsplit(' ').next().unwrap_or(wanted);
    let hint = suggestion(name, known.map(|(_, name)| name));
    Some(format!("no service that runs is called {wanted:?}{hint}"))
}

/// Says whether an expression can be that of a selection.
///
/// Errors: a sentence, where it is none, or asks for a property that nothing in the configuration names.
pub fn check_expression(text: &str, definitions: &Definitions) -> Result<(), String> {
    compile(text, definitions).map(drop)
}

/// Compiles the expression of a selection for a bus.
///
/// Errors: a sentence, where it is none, or asks for a property that nothing in the configuration names.
pub(super) fn compile(text: &str, definitions: &Definitions) -> Result<(Expression, Need), String> {
    let bare =
        ["payload.", "vars.", "headers.", "params.", "props.", "$."].iter().find_map(|root| text.strip_prefix(root));
    if let Some(rest) = bare {
        let root = if text.starts_with("$.") { "payload." } else { text.strip_suffix(rest).unwrap_or_default() };
        return Err(format!("{text:?}: a Synapse expression stands in braces, as ${{{root}{rest}}}"));
    }
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let element = Element::parse(&"expression".into(), format!("<when xpath=\"{escaped}\"/>"));
    let element = element.map_err(|problem| problem.message)?;
    let expression = element.required("xpath").map_err(|problem| problem.message)?;
    let mut compiler = Compiler::new(&definitions.settings);
    compiler.names = definitions.names.clone();
    let compiled = Expression::compile(expression, ResultType::Boolean, &mut compiler);
    let compiled = compiled.map_err(|problem| format!("{text:?}: {}", problem.message))?;
    // A name that the bus does not know has no slot there.
    if compiler.names.count() != definitions.names.count() {
        return Err(format!("{text:?} asks for a property that nothing in the configuration sets or reads"));
    }
    let need = Need::of([&compiled]);
    Ok((compiled, need))
}
