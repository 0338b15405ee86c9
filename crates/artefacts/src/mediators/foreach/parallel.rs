//! `<foreach collection>`: a sequence runs for each in a copy of the flow, all beside each other.

use std::cell::RefCell;

use myelin_message::Body;

use crate::aggregation::{MergeMode, extract_last};
use crate::aggregation::{ResultFormat, target_variable};
use crate::branch_targets::{BranchTarget, BranchTargetList, splitter_beside};
use crate::loader::Loader;
use crate::mediators::foreach::in_message;
use crate::mediators::foreach::variable_collection::VariableCollection;
use crate::message_parts::BodyCollection;
use crate::message_parts::{MessageParts, Remainder};
use crate::spec::Built;
use crate::splitting::Splitter;
use myelin_config::element::{Element, Text};
use myelin_expression::{Expression, ResultType};
use myelin_expression::{Need, when_ready};
use myelin_flow::branches::{Contribution, JoinSet, gathered_limit_bytes};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::{Effect, Flow, Mediator, Step};
use myelin_flow::property::{Scope, Slot, Value};
use myelin_flow::yielding::Yielding;

/// Beside each other, in copies that the flow waits for.
struct Parallel {
    collection: Expression,
    target: BranchTarget,
    /// How many at once.
    limit: Option<usize>,
    /// Holds the number of each.
    counter: Option<Slot>,
    /// The variable for what they make; without one each result goes where the copy came from.
    results: Option<(Slot, ResultFormat)>,
    need: Need,
    built: Need,
}

/// Beside each other, in branches that nobody waits for.
struct Beside {
    collection: Expression,
    splitter: Splitter<BranchTargetList>,
    need: Need,
}

pub(super) fn build(element: &Element, text: Text<'_>, loader: &mut Loader) -> Built {
    let collection = Expression::compile(text, ResultType::Nodes, loader)?;
    let collection = if collection.variable().is_some() { collection } else { in_message(collection, text)? };
    let parallel = element.switch("parallel-execution", true)?;
    let results = match element.switch("update-original", true)? {
        true => None,
        false => Some((target_variable(element, loader)?, ResultFormat::read(element)?)),
    };
    let counter = match element.attribute("counter-variable").filter(|text| !text.value.is_empty()) {
        Some(counter) if parallel => {
            loader.warning(counter.problem("counter-variable has no effect: parallel-execution is not false"));
            None
        }
        counter => counter.map(|counter| loader.names().slot(counter.value)),
    };
    let Some(sequence) = element.child("sequence") else {
        return Err(element.problem("<foreach collection> needs a sequence inside"));
    };
    let target = BranchTarget::of_sequence(sequence, loader);
    let need = if collection.variable().is_some() { Need::read() } else { Need::built() };
    if element.switch("continue-without-aggregation", false)? {
        for name in ["target-variable", "result-content-type", "result-enclosing-element"] {
            element.attribute(name);
        }
        let splitter = splitter_beside(target, !parallel, loader);
        return Ok(Box::new(Beside { collection, splitter, need }));
    }
    let limit = if parallel { None } else { Some(1) };
    Ok(Box::new(Parallel { collection, target, limit, counter, results, need, built: Need::built() }))
}

impl Parallel {
    async fn run(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Flow> {
        self.need.fulfil(exchange, context).await?;
        let ended = match (&self.results, self.collection.variable()) {
            (Some((variable, form)), slot) => self.gathered_in(*variable, form, slot, exchange, context).await?,
            (None, Some(slot)) => {
                let Some(held) = VariableCollection::find(slot, &self.collection, exchange, context)? else {
                    return Ok(Flow::Next);
                };
                let (count, held) = (held.count(), RefCell::new(held));
                let copy = |number| Ok(held.borrow().copy(number, exchange)?.0);
                let ended = self.each(count, copy, |number, made| held.borrow_mut().put(number, made), context).await?;
                if ended.is_none() {
                    held.into_inner().keep(exchange)?;
                }
                ended
            }
            (None, None) => {
                let collection = BodyCollection::take(&self.collection, exchange, context)?;
                let Some(collection) = collection else { return Ok(Flow::Next) };
                let (count, collection) = (collection.count(), RefCell::new(collection));
                let copy = |number| Ok(exchange.branch_with(collection.borrow().body(number)?));
                let put = |number, made: &mut Exchange| collection.borrow_mut().put(number, made);
                let ended = self.each(count, copy, put, context).await;
                exchange.set_body(collection.into_inner().into_body());
                ended?
            }
        };
        Ok(match ended {
            Some((answer, flow)) => {
                *exchange = *answer;
                flow
            }
            None => Flow::Next,
        })
    }

    /// Runs the sequence for each, and puts all that is made into a variable, in the order of the collection.
    async fn gathered_in(
        &self,
        variable: Slot,
        form: &ResultFormat,
        of: Option<Slot>,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<Option<(Box<Exchange>, Flow)>> {
        let (count, mut copies) = copies(&self.collection, of, exchange, context)?;
        if count == 0 {
            return Ok(None);
        }
        let mut pieces: Vec<Option<Contribution>> = (0..count).map(|_| None).collect();
        let keep = |number: usize, made: &mut Exchange| {
            pieces[number] = Some(form.of(extract_last(None, MergeMode::Root, made, context)?)?);
            Ok(())
        };
        let ended = self.each(count, |number| Ok(copies(number)?.0), keep, context).await?;
        if ended.is_none() {
            // What ended in a drop has made nothing; its place stays empty.
            let nothing = || matches!(form, ResultFormat::Json).then(|| Contribution::Json("null".to_owned()));
            let pieces = pieces.into_iter().filter_map(|piece| piece.or_else(nothing)).collect();
            form.keep(pieces, variable, gathered_limit_bytes(&context.definitions.settings), exchange)?;
        }
        Ok(ended)
    }

    /// Runs the sequence for each copy, and hands over what it makes; a copy that ends the flow ends all others.
    async fn each(
        &self,
        count: usize,
        mut copy: impl FnMut(usize) -> Outcome<Exchange>,
        mut keep: impl FnMut(usize, &mut Exchange) -> Outcome<()>,
        context: &RequestContext<'_>,
    ) -> Outcome<Option<(Box<Exchange>, Flow)>> {
        let limit = self.limit.unwrap_or(context.definitions.settings.branches);
        let (mut made_bytes, limit_bytes) = (0, gathered_limit_bytes(&context.definitions.settings));
        let mut together = JoinSet::new(count, limit, |number| {
            let mut copy = copy(number)?;
            if let Some(counter) = self.counter {
                copy.properties.put(Scope::Variable, counter, Some(Value::Integer(number as i64)));
            }
            Ok(Box::pin(self.target.run_to_end(number, &self.built, copy, context)))
        });
        let mut turns = Yielding::new(context.transport);
        while let Some((number, outcome)) = together.next().await? {
            turns.pass().await;
            match outcome? {
                (mut result, Flow::Next) => {
                    made_bytes += result.built_bytes();
                    if made_bytes > limit_bytes {
                        let detail = format!("more than {limit_bytes} bytes");
                        return Err(Fault::bus("What foreach makes is too large together").with_detail(detail));
                    }
                    keep(number, &mut result)?;
                }
                // It is left as it was.
                (_, Flow::Drop) => {}
                ended => return Ok(Some(ended)),
            }
        }
        Ok(None)
    }
}

/// How many a collection has, and what makes a copy of the flow for each, with about how many bytes it takes; what is
/// gone through stays as it is.
#[allow(clippy::type_complexity, reason = "a name for it would say no more")]
fn copies(
    collection: &Expression,
    variable: Option<Slot>,
    exchange: &Exchange,
    context: &RequestContext<'_>,
) -> Outcome<(usize, Box<dyn FnMut(usize) -> Outcome<(Exchange, usize)>>)> {
    let Some(slot) = variable else {
        let parts = MessageParts::find(collection, &Remainder::Dropped, exchange, context)?;
        return Ok((parts.count(), Box::new(parts.into_copies_of(exchange))));
    };
    let Some(held) = VariableCollection::find(slot, collection, exchange, context)? else {
        return Ok((0, Box::new(|_| Err(Fault::bus("There is nothing to be gone through")))));
    };
    let original = exchange.branch_with(Body::Empty);
    Ok((held.count(), Box::new(move |number| held.copy(number, &original))))
}

impl Mediator for Parallel {
    fn effect(&self) -> Effect<'_> {
        let changes = self.results.is_none() && self.collection.variable().is_none();
        Effect { changes, ..BranchTarget::effect(std::slice::from_ref(&self.target), self.need.reads()) }
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        Step::Wait(Box::pin(async move {
            let outcome = self.run(exchange, context).await;
            (exchange, outcome)
        }))
    }
}

impl Mediator for Beside {
    fn effect(&self) -> Effect<'_> {
        self.splitter.targets.effect(self.need.reads())
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, context, |exchange| {
            let copies = copies(&self.collection, self.collection.variable(), exchange, context);
            let outcome = copies.and_then(|(count, copies)| self.splitter.split(exchange, context, count, copies));
            Step::Done(exchange, outcome)
        })
    }
}
