//! `<cache>`: requests that ask the same get the answer that was given before.

mod definition;

use std::borrow::Cow;
use std::sync::Arc;

use http::StatusCode;
use myelin_message::Body;

use crate::cache::{Awaited, Cache as Store, Found, Key, Rules};
use crate::inner_sequence::InnerSequence;
use crate::loader::Loader;
use crate::mediators::cache::definition::Definition;
use crate::spec::{Built, Spec};
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_content::Format;
use myelin_expression::Need;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::{Direction, Exchange};
use myelin_flow::extensions::Extension;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::forms::is_within;
use myelin_flow::mediator::{Effect, Flow, Mediator, Reads, Step};
use myelin_flow::property::{Scope, slot};
use myelin_flow::recorder::StepDecision;
use myelin_flow::tally::{self, Tally};

pub(super) const SPEC: Spec = Spec::new("cache", DOC, build);

const DOC: &str = r#"
Gives requests that ask the same the answer that was given before. Two stand in a flow: one where requests pass, which
looks for an answer, and one with `collector="true"` where responses pass, which keeps it; see [qos.md](qos.md).

- `collector`: which of the two it is (default: `false`).
- `id`: caches with the same `id` and definition are one.
- `timeout`: how many seconds an answer is given (default: 5000).
- `maxMessageSize`: how many bytes the body of an answer may have that is kept.
- `implementation`: `maxSize`, how many answers are kept at once; the least recently used go.
- `onCacheHit`: what runs with an answer that was found: mediators inside, or a `sequence`. Without it the client gets
  the answer at once. What stands behind the cache does not run.
- `protocol` with `type="HTTP"`: `methods` whose requests are answered, `responseCodes` (a regular expression) of the
  answers that are kept, `headersToIncludeInHash` or `headersToExcludeInHash` (`*` for all), `hashGenerator`;
  `enableCacheControl` heeds `Cache-Control` and `ETag`, `includeAgeHeader` adds `Age`.
- `hashGenerator`: what makes two requests the same: `HttpRequestHashGenerator` (default): method, address, header lines,
  and the body save for GET, HEAD and DELETE; `REQUESTHASHGenerator`: all of these; `DOMHASHGenerator`: the body.

    <cache collector="false" timeout="60" maxMessageSize="100000">
        <onCacheHit>
            <log level="custom"/>
            <respond/>
        </onCacheHit>
        <protocol type="HTTP">
            <methods>GET, POST</methods>
            <headersToExcludeInHash>*</headersToExcludeInHash>
            <responseCodes>2[0-9][0-9]</responseCodes>
            <enableCacheControl>true</enableCacheControl>
            <includeAgeHeader>true</includeAgeHeader>
            <hashGenerator>org.wso2.carbon.mediator.cache.digest.HttpRequestHashGenerator</hashGenerator>
        </protocol>
        <implementation maxSize="1000"/>
    </cache>

    <cache collector="true"/>

    <cache id="quotes" scope="per-host" collector="false" timeout="20"
           hashGenerator="org.wso2.caching.digest.DOMHASHGenerator">
        <implementation type="memory" maxSize="100"/>
    </cache>
"#;

/// Where requests pass.
struct Finder {
    cache: Arc<Store>,
    rules: Arc<Rules>,
    methods: Vec<String>,
    on_hit: Option<InnerSequence>,
    /// The body in its built form, or as it came where it has none.
    need: [Need; 2],
}

/// Where responses pass.
struct Collector;

fn build(element: &Element, loader: &mut Loader) -> Built {
    let known = ["onCacheHit", "protocol", "implementation", "description"];
    if let Some(child) = element.children.iter().find(|child| !known.iter().any(|known| child.is(known))) {
        return Err(child.problem(format!("<cache> does not hold {}", child.tag())));
    }
    if element.switch("collector", false)? {
        // An answer finds its cache by the request that it is for.
        element.attribute("id");
        element.attribute("scope");
        for child in element.children.iter().filter(|child| !child.is("description")) {
            child.forgive();
            loader.warning(child.problem(format!("{} has no effect where collector is true", child.tag())));
        }
        return Ok(Box::new(Collector));
    }
    let on_hit = on_hit(element, loader)?;
    let Definition { methods, rules, bounds } = Definition::read(element, loader)?;
    let id = element.attribute("id").map(|id| id.value.trim()).filter(|id| !id.is_empty());
    let name = id.map_or_else(|| element.place.to_string(), |id| format!("id {id}"));
    let identity = format!("{name} {}", element.source());
    let cache = Store::load(&identity, bounds, loader);
    let need = [Need::built(), Need::read()];
    Ok(Box::new(Finder { cache, rules: Arc::new(rules), methods, on_hit, need }))
}

fn on_hit(element: &Element, loader: &mut Loader) -> Result<Option<InnerSequence>, Problem> {
    let Some(on_hit) = element.child("onCacheHit") else { return Ok(None) };
    match on_hit.attribute("sequence") {
        Some(key) => loader.sequence_id(key).map(|id| Some(InnerSequence::Named(id))),
        None if on_hit.children.is_empty() => Ok(None),
        None => Ok(Some(InnerSequence::Inline(loader.block(on_hit)))),
    }
}

/// The cache that waits for the answer of an exchange, and of its copies.
struct Waiting(Arc<Awaited>);

impl Extension for Waiting {
    fn for_copy(&self) -> Option<Box<dyn Extension>> {
        Some(Box::new(Waiting(Arc::clone(&self.0))))
    }
}

impl Finder {
    /// Looks for an answer; what the exchange has then is the answer, if there is one.
    fn find(&self, exchange: &mut Exchange, context: &RequestContext<'_>, method: &str) -> Outcome<bool> {
        let rules = &self.rules;
        let key: Key = rules.generator.key(exchange, method, rules.control);
        let (now, monotonic) = (context.transport.now(), context.transport.monotonic());
        let if_none_match = exchange.message.head.first("If-None-Match").filter(|_| rules.control).map(Box::from);
        exchange.extensions.take::<Waiting>();
        let head = rules.control.then_some(&exchange.message.head);
        let found = self.cache.find(&key, head, now, monotonic);
        context.watch.decided(|| match &found {
            Found::Fresh(_) => StepDecision::chose("hit").because("a fresh answer to the same request is kept"),
            Found::Unwanted => StepDecision::chose("miss").because("the client wants no answer that was kept"),
            Found::Doubtful(_) => StepDecision::chose("miss").because("the answer that is kept is to be confirmed"),
            Found::Nothing => StepDecision::chose("miss").because("no answer to the same request is kept"),
        });
        let asked = match found {
            Found::Fresh(stored) => {
                // Whoever changes the answer wants to have it whole.
                let if_none_match = if_none_match.as_deref().filter(|_| self.on_hit.is_none());
                stored.serve(exchange, rules, now, if_none_match);
                return Ok(true);
            }
            Found::Unwanted => return Ok(false),
            Found::Doubtful(stored) => Some(stored),
            Found::Nothing => None,
        };
        let head = head.cloned();
        if let Some(tag) = asked.as_ref().and_then(|stored| stored.tag()) {
            exchange.message.head.set("If-None-Match", tag)?;
        }
        let (cache, rules) = (Arc::clone(&self.cache), Arc::clone(rules));
        let awaited = Awaited { cache, rules, key, head, asked, if_none_match };
        exchange.extensions.put(Waiting(Arc::new(awaited)));
        Ok(false)
    }

    /// What follows where it was looked for an answer.
    fn go_on<'a>(
        &'a self,
        found: Outcome<bool>,
        exchange: &'a mut Exchange,
        context: &'a RequestContext<'a>,
    ) -> Step<'a> {
        if let Ok(is_hit) = found {
            tally::count(if is_hit { Tally::CacheHit } else { Tally::CacheMiss });
        }
        match (found, &self.on_hit) {
            (Err(fault), _) => Step::Done(exchange, Err(fault)),
            (Ok(false), _) => Step::Done(exchange, Ok(Flow::Next)),
            (Ok(true), None) => Step::Done(exchange, Ok(Flow::Respond)),
            (Ok(true), Some(on_hit)) => match on_hit.run(exchange, context) {
                Step::Done(exchange, outcome) => Step::Done(exchange, outcome.map(end)),
                Step::Wait(future) => Step::Wait(Box::pin(async move {
                    let (exchange, outcome) = future.await;
                    (exchange, outcome.map(end))
                })),
            },
        }
    }
}

/// As in Synapse, nothing behind a cache runs where it had an answer.
fn end(flow: Flow) -> Flow {
    if flow == Flow::Next { Flow::Drop } else { flow }
}

/// By which method a request came, or is to be sent.
fn method(exchange: &Exchange) -> String {
    let own = exchange.properties.get(Scope::Axis2, slot::HTTP_METHOD);
    own.map_or(Cow::Borrowed(exchange.message.head.method()), |value| value.text()).into_owned()
}

impl Mediator for Finder {
    fn effect(&self) -> Effect<'_> {
        let by_head = !self.methods.is_empty() && self.methods.iter().all(|it| !self.rules.generator.looks_at_body(it));
        let effect = Effect::reading(if by_head { Reads::Nothing } else { Reads::Built });
        match &self.on_hit {
            Some(on_hit) => effect.with("hit", on_hit.steps()),
            None => effect,
        }
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        if exchange.is_response() {
            let fault = Fault::bus("Response messages cannot be handled in a non collector cache");
            return Step::Done(exchange, Err(fault));
        }
        let method = method(exchange);
        if !self.methods.is_empty() && !self.methods.contains(&method) {
            exchange.extensions.take::<Waiting>();
            return Step::Done(exchange, Ok(Flow::Next));
        }
        if !self.rules.generator.looks_at_body(&method) {
            let found = self.find(exchange, context, &method);
            return self.go_on(found, exchange, context);
        }
        Step::Wait(Box::pin(async move {
            // What is attached to a message counts, too, and stands in the bytes that came alone.
            let is_package = exchange.content.format == Format::Related;
            if is_package {
                exchange.settle();
            }
            for need in self.need.iter().skip(usize::from(is_package)) {
                if let Err(fault) = need.fulfil(exchange, context).await {
                    return (exchange, Err(fault));
                }
            }
            let found = self.find(exchange, context, &method);
            self.go_on(found, exchange, context).finish().await
        }))
    }
}

impl Mediator for Collector {
    fn effect(&self) -> Effect<'_> {
        Effect::reading(Reads::Whole)
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        if !exchange.is_response() {
            let fault = Fault::bus("Request messages cannot be handled in a collector cache");
            return Step::Done(exchange, Err(fault));
        }
        let Some(awaited) = exchange.extensions.get::<Waiting>().map(|waiting| Arc::clone(&waiting.0)) else {
            tracing::debug!("a response came to a cache whose request passed none: it is not kept");
            return Step::Done(exchange, Ok(Flow::Next));
        };
        Step::Wait(Box::pin(async move {
            let outcome = collect(&awaited, exchange, context).await;
            (exchange, outcome.map(|()| Flow::Next))
        }))
    }
}

/// Keeps a response, if it is one to be kept; one that says that what is there holds becomes that.
async fn collect(awaited: &Awaited, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<()> {
    let status = exchange.own_status()?.unwrap_or(exchange.message.status);
    let now = || (context.transport.now(), context.transport.monotonic());
    if status == StatusCode::NOT_MODIFIED {
        let (now, monotonic) = now();
        awaited.confirm(exchange, now, monotonic);
        return Ok(());
    }
    if !awaited.takes(exchange, status) || matches!(exchange.message.body, Body::Gone) {
        return Ok(());
    }
    exchange.settle();
    let (largest_bytes, is_response) = (awaited.cache.largest_bytes(), exchange.direction == Direction::Response);
    // What is larger passes as it comes, and what has come of it with it.
    if !is_within(&mut exchange.message.body, largest_bytes, is_response).await? {
        return Ok(());
    }
    let read = exchange.message.body.bytes(largest_bytes).await.map(drop);
    read.map_err(|error| Fault::body(&error, is_response))?;
    let (now, monotonic) = now();
    awaited.keep(exchange, status, now, monotonic);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::mediators::tests::{check, check_missing};

    #[test]
    fn what_a_cache_cannot_mean_is_a_problem_in_its_line() {
        check("<cache collector='maybe'/>", "neither true nor false");
        check("<cache><log/></cache>", "<cache> does not hold <log>");
        check("<cache timeout='-1'/>", "no negative number");
        check("<cache timeout='soon'/>", "\"soon\" is no number");
        check("<cache hashGenerator='com.example.Mine'/>", "com.example.Mine is a JVM class");
        check("<cache><protocol type='JMS'/></cache>", "the protocol of a cache is HTTP");
        check("<cache><protocol type='http'><codes/></protocol></cache>", "does not hold <codes>");
        check("<cache><protocol type='HTTP'><methods>GET POST</methods></protocol></cache>", "no method of HTTP");
        check("<cache><protocol type='HTTP'><responseCodes>(2</responseCodes></protocol></cache>", "unclosed group");
        check_missing("<cache><onCacheHit sequence='nobody'/></cache>", "there is no sequence \"nobody\"");
        check("<cache/>", "");
    }
}
