//! `<foreach collection>`: a sequence runs for each in a copy of the flow, all beside each other.

use std::cell::RefCell;

use myelin_message::Body;

use super::held::Held;
use super::in_message;
use crate::branch::{Piece, Splitter, Target, Together, gathered_limit_bytes};
use crate::config::{Element, Loader, Text};
use crate::content::{Need, when_ready};
use crate::effect::Effect;
use crate::exchange::{Exchange, Scene};
use crate::expression::{Expression, Wanted};
use crate::fault::{Fault, Outcome};
use crate::mediator::{Built, Flow, Mediator, Step};
use crate::mediators::aggregate::{self, Kept};
use crate::mediators::collection::Collection;
use crate::mediators::gathered::{self, Form};
use crate::mediators::parts::{Parts, Rest};
use crate::property::{Scope, Slot, Value};
use crate::turns::Turns;

/// Beside each other, in copies that the flow waits for.
struct Parallel {
    collection: Expression,
    target: Target,
    /// How many at once.
    limit: Option<usize>,
    /// Holds the number of each.
    counter: Option<Slot>,
    /// The variable for what they make; without one each result goes where the copy came from.
    results: Option<(Slot, Form)>,
    need: Need,
    built: Need,
}

/// Beside each other, in branches that nobody waits for.
struct Beside {
    collection: Expression,
    splitter: Splitter,
    need: Need,
}

pub(super) fn build(element: &Element, text: Text<'_>, loader: &mut Loader) -> Built {
    let collection = Expression::compile(text, Wanted::Nodes, loader)?;
    let collection = if collection.variable().is_some() { collection } else { in_message(collection, text)? };
    let parallel = element.switch("parallel-execution", true)?;
    let results = match element.switch("update-original", true)? {
        true => None,
        false => Some((gathered::variable(element, loader)?, Form::read(element)?)),
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
    let target = Target::of_sequence(sequence, loader);
    let need = if collection.variable().is_some() { Need::read() } else { Need::built() };
    if element.switch("continue-without-aggregation", false)? {
        for name in ["target-variable", "result-content-type", "result-enclosing-element"] {
            element.attribute(name);
        }
        let splitter = Splitter::beside(target, !parallel, loader);
        return Ok(Box::new(Beside { collection, splitter, need }));
    }
    let limit = if parallel { None } else { Some(1) };
    Ok(Box::new(Parallel { collection, target, limit, counter, results, need, built: Need::built() }))
}

impl Parallel {
    async fn run(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Flow> {
        self.need.bring(exchange, scene).await?;
        let ended = match (&self.results, self.collection.variable()) {
            (Some((variable, form)), slot) => self.gathered_in(*variable, form, slot, exchange, scene).await?,
            (None, Some(slot)) => {
                let Some(held) = Held::find(slot, &self.collection, exchange, scene)? else { return Ok(Flow::Next) };
                let (count, held) = (held.count(), RefCell::new(held));
                let copy = |number| Ok(held.borrow().copy(number, exchange)?.0);
                let ended = self.each(count, copy, |number, made| held.borrow_mut().put(number, made), scene).await?;
                if ended.is_none() {
                    held.into_inner().keep(exchange)?;
                }
                ended
            }
            (None, None) => {
                let collection = Collection::take(&self.collection, exchange, scene)?;
                let Some(collection) = collection else { return Ok(Flow::Next) };
                let (count, collection) = (collection.count(), RefCell::new(collection));
                let copy = |number| Ok(exchange.branch_with(collection.borrow().body(number)?));
                let put = |number, made: &mut Exchange| collection.borrow_mut().put(number, made);
                let ended = self.each(count, copy, put, scene).await;
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
        form: &Form,
        of: Option<Slot>,
        exchange: &mut Exchange,
        scene: &Scene<'_>,
    ) -> Outcome<Option<(Box<Exchange>, Flow)>> {
        let (count, mut copies) = copies(&self.collection, of, exchange, scene)?;
        if count == 0 {
            return Ok(None);
        }
        let mut pieces: Vec<Option<Piece>> = (0..count).map(|_| None).collect();
        let keep = |number: usize, made: &mut Exchange| {
            pieces[number] = Some(form.of(aggregate::last_piece(None, Kept::Root, made, scene)?)?);
            Ok(())
        };
        let ended = self.each(count, |number| Ok(copies(number)?.0), keep, scene).await?;
        if ended.is_none() {
            // What ended in a drop has made nothing; its place stays empty.
            let nothing = || matches!(form, Form::Json).then(|| Piece::Json("null".to_owned()));
            let pieces = pieces.into_iter().filter_map(|piece| piece.or_else(nothing)).collect();
            form.keep(pieces, variable, gathered_limit_bytes(scene.bus), exchange)?;
        }
        Ok(ended)
    }

    /// Runs the sequence for each copy, and hands over what it makes; a copy that ends the flow ends all others.
    async fn each(
        &self,
        count: usize,
        mut copy: impl FnMut(usize) -> Outcome<Exchange>,
        mut keep: impl FnMut(usize, &mut Exchange) -> Outcome<()>,
        scene: &Scene<'_>,
    ) -> Outcome<Option<(Box<Exchange>, Flow)>> {
        let limit = self.limit.unwrap_or(scene.bus.settings.branches);
        let (mut made_bytes, limit_bytes) = (0, gathered_limit_bytes(scene.bus));
        let mut together = Together::new(count, limit, |number| {
            let mut copy = copy(number)?;
            if let Some(counter) = self.counter {
                copy.properties.put(Scope::Variable, counter, Some(Value::Integer(number as i64)));
            }
            Ok(Box::pin(each(&self.target, &self.built, copy, scene)))
        });
        let mut turns = Turns::new(scene.transport);
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
    scene: &Scene<'_>,
) -> Outcome<(usize, Box<dyn FnMut(usize) -> Outcome<(Exchange, usize)>>)> {
    let Some(slot) = variable else {
        let parts = Parts::find(collection, &Rest::Left, exchange, scene)?;
        return Ok((parts.count(), Box::new(parts.into_copies_of(exchange))));
    };
    let Some(held) = Held::find(slot, collection, exchange, scene)? else {
        return Ok((0, Box::new(|_| Err(Fault::bus("There is nothing to be gone through")))));
    };
    let original = exchange.branch_with(Body::Empty);
    Ok((held.count(), Box::new(move |number| held.copy(number, &original))))
}

/// Runs a target for a copy of the flow, to the end of its sequence; what it made is built then.
///
/// Errors: the target's; the bus's, where it sends, or goes on in branches.
pub(in crate::mediators) async fn each(
    target: &Target,
    need: &Need,
    exchange: Exchange,
    scene: &Scene<'_>,
) -> Outcome<(Box<Exchange>, Flow)> {
    let mut exchange = Box::new(exchange);
    let flow = target.run(&mut exchange, scene).await?;
    if flow == Flow::Split || exchange.decision.is_some() {
        return Err(Fault::bus("What is waited for here can call, but neither send nor go on in branches"));
    }
    if flow == Flow::Next {
        need.bring(&mut exchange, scene).await?;
    }
    Ok((exchange, flow))
}

impl Mediator for Parallel {
    fn effect(&self) -> Effect<'_> {
        let changes = self.results.is_none() && self.collection.variable().is_none();
        Effect { changes, ..Target::effect(std::slice::from_ref(&self.target), self.need.reads()) }
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        Step::Wait(Box::pin(async move {
            let outcome = self.run(exchange, scene).await;
            (exchange, outcome)
        }))
    }
}

impl Mediator for Beside {
    fn effect(&self) -> Effect<'_> {
        Target::effect(self.splitter.targets(), self.need.reads())
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, scene, |exchange| {
            let copies = copies(&self.collection, self.collection.variable(), exchange, scene);
            let outcome = copies.and_then(|(count, copies)| self.splitter.split(exchange, scene, count, copies));
            Step::Done(exchange, outcome)
        })
    }
}
