//! What a mediator needs of the body before it can do its work at once.

use std::future::poll_fn;
use std::task::{Context, Poll, Waker, ready};

use myelin_content::Format;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::forms::{NeededForms, Readiness, build_offloaded, poll_build, poll_read};
use myelin_flow::mediator::{Reads, Step};
use myelin_flow::property::{Slot, slot};

use crate::plan::Query;
use crate::questions::Questions;
use crate::{Expression, scan};

/// What a mediator looks at.
#[derive(Debug, Default)]
pub struct Need {
    /// Answers that one pass over the bytes may give.
    queries: Vec<Query>,
    /// Parts of WS-Addressing, which may stand in the header of a SOAP message.
    addressed: Vec<Slot>,
    whole: Whole,
    /// The forms in which the body is looked at, where these are known.
    looks: NeededForms,
    /// What may be asked of the built body before the mediator runs.
    questions: Questions,
    /// Whether parameters of templates are asked for, which may be expressions over the message.
    parameters: bool,
}

/// How much of the body is needed, apart from the answers of queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Whole {
    #[default]
    Nothing,
    /// All of it, in whatever form.
    Read,
    /// All of it, in its built form, where expressions may find something in it: not in binary content without an end.
    Seen,
    /// All of it, in its built form.
    Built,
}

impl Need {
    /// The whole body, built.
    pub fn built() -> Need {
        Need { whole: Whole::Built, ..Need::default() }
    }

    /// The whole body, as XML.
    pub fn tree() -> Need {
        Need { looks: NeededForms { xml: true, json: false }, ..Need::built() }
    }

    /// The whole body, understood or not.
    pub fn read() -> Need {
        Need { whole: Whole::Read, ..Need::default() }
    }

    /// Where the message is addressed, its header included.
    pub fn addressee() -> Need {
        Need { addressed: vec![slot::TO], ..Need::default() }
    }

    /// What these expressions look at.
    pub fn of<'a>(expressions: impl IntoIterator<Item = &'a Expression>) -> Need {
        expressions.into_iter().fold(Need::default(), Need::and)
    }

    /// The same, and what another expression looks at.
    pub fn and(mut self, expression: &Expression) -> Need {
        self.parameters |= expression.asks_for_parameters();
        self.addressed.extend(expression.addressed());
        self.looks.json |= expression.looks_at_json();
        self.looks.xml |= expression.xpath().is_some() && expression.looks_at_body();
        self.questions.add(expression);
        match expression.query() {
            Some(query) => self.queries.push(query.clone()),
            None if expression.looks_at_body() => self.whole = self.whole.max(Whole::Seen),
            None => {}
        }
        self
    }

    /// The same, and what another looks at.
    pub fn with(mut self, other: Need) -> Need {
        self.queries.extend(other.queries);
        self.questions.extend(other.questions);
        self.addressed.extend(other.addressed);
        self.whole = self.whole.max(other.whole);
        self.looks.xml |= other.looks.xml;
        self.looks.json |= other.looks.json;
        self.parameters |= other.parameters;
        self
    }

    /// How much of the body that is.
    pub fn reads(&self) -> Reads {
        match self.whole {
            Whole::Built | Whole::Seen => Reads::Built,
            Whole::Read => Reads::Whole,
            Whole::Nothing if self.queries.is_empty() && self.addressed.is_empty() && !self.parameters => {
                Reads::Nothing
            }
            Whole::Nothing => Reads::Passing,
        }
    }

    /// Whether the mediator can do its work wherever the body is.
    pub(super) fn is_nothing(&self) -> bool {
        let looks = self.looks.xml || self.looks.json || !self.questions.is_empty();
        self.reads() == Reads::Nothing && !looks
    }

    /// Brings the body so far, for whoever waits anyway.
    ///
    /// Errors: faults of whoever sent it.
    pub async fn fulfil(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<()> {
        self.begin(exchange);
        self.wait(exchange, context).await
    }

    /// Brings the body so far, for whoever has begun.
    async fn wait(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<()> {
        if poll_fn(|cx| self.poll(exchange, context, cx)).await? == Readiness::Unbuilt {
            Box::pin(build_offloaded(exchange, context)).await?;
        }
        if self.looks.take_long(exchange) {
            Box::pin(self.looks.make(exchange, context)).await?;
        }
        if !self.questions.are_answered(exchange, context) {
            Box::pin(self.questions.answer(exchange, context)).await?;
        }
        Ok(())
    }

    /// Whether nothing is left to do once the body is read so far.
    fn is_met(&self, exchange: &Exchange) -> bool {
        !self.looks.take_long(exchange)
    }

    /// A mediator is about to look: what properties and headers were when another looked does not count any more.
    fn begin(&self, exchange: &mut Exchange) {
        if !self.queries.is_empty() {
            scan::forget_volatile(&mut exchange.passes);
        }
        self.questions.forget(exchange);
    }

    /// Brings the body so far.
    ///
    /// Errors: faults of whoever sent it, as [`poll_build`] and the pass give them.
    fn poll(
        &self,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<Outcome<Readiness>> {
        let is_in_header = self.addressed.iter().any(|&part| exchange.may_be_in_header(part));
        if self.whole == Whole::Built {
            return poll_build(exchange, context, cx);
        }
        if !exchange.is_opaque() || is_small_binary(exchange, context) {
            if self.whole == Whole::Seen || is_in_header || (self.parameters && exchange.has_expressions()) {
                return poll_build(exchange, context, cx);
            }
            for query in &self.queries {
                if !ready!(scan::poll_answered(exchange, context, query, cx))? {
                    return poll_build(exchange, context, cx);
                }
            }
        }
        if self.whole == Whole::Read {
            ready!(poll_read(exchange, context, cx))?;
        }
        Poll::Ready(Ok(Readiness::Ready))
    }
}

/// Whether the body is binary and known to be small enough to be read; one that is not passes, and nothing is found.
fn is_small_binary(exchange: &Exchange, context: &RequestContext<'_>) -> bool {
    let limit = context.definitions.settings.body_limit_bytes;
    exchange.content.format == Format::Binary && exchange.message.body.length().is_some_and(|length| length <= limit)
}

/// Lets `then` run once the body is so far: at once wherever what is needed has come already.
pub fn when_ready<'a>(
    need: &'a Need,
    exchange: &'a mut Exchange,
    context: &'a RequestContext<'a>,
    then: impl FnOnce(&'a mut Exchange) -> Step<'a> + 'a,
) -> Step<'a> {
    need.begin(exchange);
    // Whoever waits polls again with a waker of its own.
    match need.poll(exchange, context, &mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(Readiness::Ready))
            if need.is_met(exchange) && need.questions.are_answered(exchange, context) =>
        {
            then(exchange)
        }
        Poll::Ready(Err(fault)) => Step::Done(exchange, Err(fault)),
        Poll::Ready(Ok(_)) | Poll::Pending => Step::Wait(Box::pin(async move {
            match need.wait(exchange, context).await {
                Ok(()) => then(exchange).finish().await,
                Err(fault) => (exchange, Err(fault)),
            }
        })),
    }
}
