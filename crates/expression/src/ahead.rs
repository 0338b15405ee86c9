//! Answers to expressions over a body that was built, found before the mediator runs that asks: what takes long is
//! found on another thread.
//!
//! It is so for expressions that ask nothing but the message; what asks for properties as well is found where it is asked.

use std::borrow::Cow;
use std::sync::Arc;

use myelin_content::Tree;
use myelin_flow::context::RequestContext;
use myelin_xpath::{Atomic, Context, Error, Expression, Host, Item, Limits, Moment, Node, NodeRef, Value};

use crate::places::MessagePart;
use crate::result_type::ResultType;
use crate::text;

/// How large a tree is, in bytes of memory, that is worth the trouble.
const LARGE_BYTES: usize = 16 * 1024;

/// What may be done for one expression on the thread that serves: about a millisecond.
const SHORT: Limits = Limits { steps: 20_000, bytes: 256 * 1024 };

/// An expression that asks nothing but the message.
#[derive(Clone, Debug)]
pub struct Question {
    pub(super) compiled: Arc<Expression>,
    /// As what it is asked: for a condition less may have to be looked at.
    pub(super) wanted: ResultType,
}

/// What an expression was found to give.
#[derive(Debug)]
pub(crate) enum Precomputed {
    Condition(bool),
    /// The text of nodes; `None` where it is too long.
    Text(Option<String>),
    Atomic(Atomic<'static>),
    Nodes(Vec<Node>),
    /// Something else, which whoever asks finds anew.
    Other,
}

/// What was found in a tree, as it is now.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    known: Vec<(Question, Result<Precomputed, Error>)>,
    /// Whether one was tried already that takes long.
    take_long: bool,
}

impl Answers {
    /// The answer to a question, where it was asked ahead.
    pub(super) fn find<'t>(tree: &'t Tree, compiled: &Arc<Expression>) -> Option<Result<&'t Precomputed, &'t Error>> {
        let is_it = |known: &Question| Arc::ptr_eq(&known.compiled, compiled);
        tree.annotation()
            .get::<Answers>()?
            .known
            .iter()
            .find(|(known, _)| is_it(known))
            .map(|(_, found)| found.as_ref())
    }
}

impl Precomputed {
    /// The value that it stands for; `None` where it has to be found anew.
    pub(super) fn value<'a>(&'a self, tree: &'a Tree) -> Option<Value<'a>> {
        match self {
            Precomputed::Atomic(atomic) => Some(Value::Item(Item::Atomic(atomic.clone()))),
            Precomputed::Nodes(nodes) if nodes.is_empty() => Some(Value::EMPTY),
            Precomputed::Nodes(nodes) => Some(Value::nodes(tree.document(), nodes.clone())),
            Precomputed::Condition(_) | Precomputed::Text(_) | Precomputed::Other => None,
        }
    }
}

/// Answers questions as far as that takes no time; says whether all of them are answered, or need not be.
pub(crate) fn answer_here(tree: &mut Tree, questions: &[Question], context: &RequestContext<'_>) -> bool {
    if tree.document().size_bytes() < LARGE_BYTES {
        return true;
    }
    let (mut take_long, now) =
        (tree.annotation().get::<Answers>().is_some_and(|known| known.take_long), context.moment());
    answer(tree, questions, |question, tree| {
        let found = (!take_long).then(|| question.ask(tree, SHORT, now));
        take_long |= matches!(found, Some(Err(Error::Steps(_) | Error::Bytes(_))));
        found.filter(|_| !take_long)
    });
    tree.annotation_mut().get_or_default::<Answers>().take_long = take_long;
    !take_long
}

/// Answers all questions, however long that takes.
pub(crate) fn answer_all(tree: &mut Tree, questions: &[Question], now: Option<Moment>) {
    answer(tree, questions, |question, tree| Some(question.ask(tree, Limits::default(), now)));
}

/// Answers those questions that are not answered.
fn answer(
    tree: &mut Tree,
    questions: &[Question],
    mut find: impl FnMut(&Question, &Tree) -> Option<Result<Precomputed, Error>>,
) {
    for question in questions {
        if Answers::find(tree, &question.compiled).is_none()
            && let Some(found) = find(question, tree)
        {
            tree.annotation_mut().get_or_default::<Answers>().known.push((question.clone(), found));
        }
    }
}

impl Question {
    fn ask(&self, tree: &Tree, limits: Limits, now: Option<Moment>) -> Result<Precomputed, Error> {
        let host = Places(tree);
        let at = Context::new(&host).at(NodeRef::new(tree.document(), tree.envelope().element));
        let at = Context { limits, now, ..at };
        if self.wanted == ResultType::Boolean {
            return self.compiled.condition(&at).map(Precomputed::Condition);
        }
        Ok(match self.compiled.evaluate(&at)? {
            Value::Item(Item::Atomic(atomic)) => Precomputed::Atomic(atomic.into_owned()),
            nodes if self.wanted == ResultType::Text => Precomputed::Text(text::of(nodes).map(Cow::into_owned)),
            // An expression that asks the message alone leads to no other document.
            other => match other.as_nodes() {
                Some(nodes) => Precomputed::Nodes(nodes.into_iter().map(|node| node.node).collect()),
                None => Precomputed::Other,
            },
        })
    }
}

/// The places in a message, for expressions that ask for nothing else.
struct Places<'t>(&'t Tree);

impl<'a> Host<'a> for Places<'_> {
    fn variable(&'a self, slot: u32) -> Result<Value<'a>, Error> {
        let node = MessagePart::of_slot(slot).and_then(|place| place.find(self.0));
        Ok(node.map_or(Value::EMPTY, |node| Value::node(self.0.document(), node)))
    }

    fn call(&'a self, _: u32, _: &[Value<'a>], _: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        Ok(Value::EMPTY)
    }
}
