//! The operations of the http connector: a request over a connection, and what becomes of its response.

use myelin_message::Body;

use crate::calls::response::{Answer, keep, of_response};
use crate::calls::{self, blocking};
use crate::endpoints::EndpointRef;
use crate::loader::Loader;
use crate::mediators::connector::connection;
use crate::mediators::connector::headers::Headers;
use crate::mediators::connector::parameter::{fixed, in_braces, setting, valued};
use crate::spec::{Built, Spec};
use crate::values::ConfiguredValue;
use crate::words::unknown_word;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_expression::Need;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::mediator::{Effect, Flow, Mediator, Reads, Receiver, Step, Steps};
use myelin_flow::property::{Scope, Slot, Value, slot};
use myelin_flow::sequence::Block;

/// The operations of the http connector.
pub(super) const OPERATIONS: &[Spec] = &[
    operation("http.delete", |element, loader| build("DELETE", true, element, loader)),
    operation("http.get", |element, loader| build("GET", false, element, loader)),
    operation("http.head", |element, loader| build("HEAD", false, element, loader)),
    operation("http.options", |element, loader| build("OPTIONS", true, element, loader)),
    operation("http.patch", |element, loader| build("PATCH", true, element, loader)),
    operation("http.post", |element, loader| build("POST", true, element, loader)),
    operation("http.put", |element, loader| build("PUT", true, element, loader)),
    Spec::new(connection::INIT, DOC, |element, _| {
        Err(element.problem("<http.init> stands in a local entry, which operations name as their configKey"))
    }),
];

const DOC: &str = "See docs/connectors.md.";

const fn operation(element: &'static str, build: fn(&Element, &mut Loader) -> Built) -> Spec {
    Spec::new(element, DOC, build).sends()
}

/// The parameters that are properties of scope `axis2`, and whether these are booleans.
const PROPERTIES: [(&str, &str, bool); 14] = [
    ("postToUri", "POST_TO_URI", false),
    ("forceScAccepted", "FORCE_SC_ACCEPTED", false),
    ("disableChunking", "DISABLE_CHUNKING", false),
    ("noEntityBody", "NO_ENTITY_BODY", true),
    ("forceHttp10", "FORCE_HTTP_1.0", false),
    ("httpSc", "HTTP_SC", false),
    ("nonErrorHttpStatusCodes", "non.error.http.status.codes", false),
    ("httpScDesc", "HTTP_SC_DESC", false),
    ("faultsAsHttp200", "FAULTS_AS_HTTP_200", false),
    ("noKeepAlive", "NO_KEEPALIVE", false),
    ("requestHostHeader", "REQUEST_HOST_HEADER", false),
    ("forcePostPutNobody", "FORCE_POST_PUT_NOBODY", true),
    ("forceHttpContentLength", "FORCE_HTTP_CONTENT_LENGTH", false),
    ("copyContentLengthFromIncoming", "COPY_CONTENT_LENGTH_FROM_INCOMING", false),
];

/// What a body is said to be, the parameter that holds it, and what `payloadFactory` calls it.
const BODIES: [(&str, &str, &str); 3] =
    [("JSON", "requestBodyJson", "json"), ("XML", "requestBodyXml", "xml"), ("TEXT", "requestBodyText", "text")];

/// An operation that was read.
struct Operation {
    method: &'static str,
    endpoint: EndpointRef,
    base: ConfiguredValue,
    path: Option<ConfiguredValue>,
    headers: Headers,
    /// What sets properties, and makes the body.
    prepare: Block,
    answer: Answer,
    need: Need,
    /// The names of the parts of the address in the template of the connection's endpoint.
    parts: [Slot; 2],
}

/// What was worked out for one message.
struct Request {
    base: String,
    path: String,
    headers: Vec<(String, String)>,
}

/// Builds an operation from its element; `has_body` says whether it has parameters for a body.
fn build(method: &'static str, has_body: bool, element: &Element, loader: &mut Loader) -> Built {
    let key = element.required("configKey")?;
    let (endpoint, base) = connect(key, loader)?;
    let mut path = None;
    let mut headers = Headers::Listed(Vec::new());
    let mut made = Vec::new();
    let own = ["relativePath", "headers", "responseVariable", "overwriteBody"];
    let of_bodies = ["requestBodyType", "requestBodyJson", "requestBodyXml", "requestBodyText"];
    let of_bodies = if has_body { &of_bodies[..] } else { &[] };
    let known: Vec<&str> =
        PROPERTIES.iter().map(|(known, ..)| *known).chain(own).chain(of_bodies.iter().copied()).collect();
    for child in &element.children {
        let name = child.name.as_str();
        let value = child.text().value;
        if let Some(&(_, property, is_boolean)) = PROPERTIES.iter().find(|(known, ..)| *known == name) {
            made.extend((!value.is_empty()).then(|| property_of(child, property, is_boolean)));
            continue;
        }
        match name {
            "relativePath" => path = Some(setting(child.text(), loader)?),
            "headers" => headers = Headers::read(child, loader)?,
            "responseVariable" | "overwriteBody" | "description" => {}
            "requestBodyType" | "requestBodyJson" | "requestBodyXml" | "requestBodyText" if has_body => {}
            _ if value.is_empty() && child.children.is_empty() => {}
            _ => loader.no_effect(child, &element.tag(), &known),
        }
    }
    if has_body {
        made.extend(body(element, loader)?);
    }
    let answer = answer(element, loader)?;
    let settings = [Some(&base), path.as_ref()].into_iter().flatten().filter_map(ConfiguredValue::expression);
    let need = Need::of(settings.chain(headers.expressions()));
    let parts = ["uri.var.base", "uri.var.path"].map(|name| loader.names().slot(name));
    let prepare = loader.nodes(made.iter());
    Ok(Box::new(Operation { method, endpoint, base, path, headers, prepare, answer, need, parts }))
}

/// The endpoint and the base of the connection that a local entry holds.
fn connect(key: Text<'_>, loader: &mut Loader) -> Result<(EndpointRef, ConfiguredValue), Problem> {
    if in_braces(key.value).is_some() {
        return Err(key.problem("a connection is named while loading: it cannot be worked out for each message"));
    }
    let init = loader.entry_element(key)?;
    let Some(name) = connection::endpoint_name(&init, key.value.trim()) else {
        return Err(key.problem(format!("{:?} is no connection: it holds {}", key.value.trim(), init.tag())));
    };
    let endpoint = EndpointRef::Named(loader.endpoint_id(key.standing_for(&name))?);
    // One without a base is faulty, which the one who needs it hears of.
    let base = connection::parameter(&init, "baseUrl").unwrap_or_default();
    Ok((endpoint, setting(key.standing_for(base), loader)?))
}

/// What sets a property as a parameter says.
fn property_of(child: &Element, property: &str, is_boolean: bool) -> Element {
    let made = child.made("property").with_attribute("name", property).with_attribute("scope", "axis2");
    let made = if is_boolean { made.with_attribute("type", "BOOLEAN") } else { made };
    valued(made, child.text().value)
}

/// What makes the body; `None` where the message is sent as it is.
fn body(element: &Element, loader: &mut Loader) -> Result<Option<Element>, Problem> {
    let kind = element.child("requestBodyType").map(|kind| fixed(kind).map(|name| (kind, name))).transpose()?;
    let wanted = kind.filter(|(_, name)| !name.is_empty());
    let known = wanted.and_then(|(_, wanted)| BODIES.iter().find(|(name, ..)| name.eq_ignore_ascii_case(wanted)));
    if let (Some((kind, name)), None) = (wanted, known) {
        return Err(kind.problem(unknown_word("requestBodyType", name, &["JSON", "XML", "TEXT"])));
    }
    let used = known.map_or("", |(_, parameter, _)| *parameter);
    for (_, parameter, _) in BODIES.iter().filter(|(_, parameter, _)| *parameter != used) {
        if let Some(child) = element.child(parameter).filter(|child| !child.text().value.is_empty()) {
            let message = match wanted {
                Some((_, name)) => format!("{} has no effect: requestBodyType is {name}", child.tag()),
                None => format!("{} has no effect without requestBodyType", child.tag()),
            };
            loader.warning(child.problem(message));
        }
    }
    let (Some((_, parameter, media)), Some((kind, _))) = (known, wanted) else { return Ok(None) };
    let given = element.child(parameter).unwrap_or(kind);
    let text = if given.name == *parameter { given.text().value } else { "" };
    Ok(Some(factory(given, text, media)))
}

/// The `payloadFactory` that makes a body of a parameter.
fn factory(given: &Element, text: &str, media: &str) -> Element {
    let made = given.made("payloadFactory").with_attribute("media-type", media);
    // WSO2's tools put quotes around JSON, which would be an expression otherwise.
    let quoted = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).filter(|_| media == "json");
    let text = quoted.unwrap_or(text);
    match in_braces(text).filter(|_| quoted.is_none()) {
        Some(inside) if inside.trim_start().starts_with("${") => {
            made.with_child(given.made("format").with_text(inside.trim()))
        }
        Some(inside) => {
            let argument = given.made("arg").with_attribute("expression", inside);
            let made = made.with_child(given.made("format").with_text("$1"));
            made.with_child(given.made("args").with_child(argument))
        }
        None => {
            let format = given.made("format").with_text(text);
            // XML may stand there as it is.
            let inside = given.children.iter().map(|child| child.filled(&|_| None));
            made.with_child(inside.fold(format, Element::with_child))
        }
    }
}

/// Where the response of an operation goes.
///
/// Errors: a [`Problem`] where that is not settled.
pub(super) fn answer(element: &Element, loader: &mut Loader) -> Result<Answer, Problem> {
    let overwrites = match element.child("overwriteBody") {
        None => false,
        Some(child) => match fixed(child)?.to_ascii_lowercase().as_str() {
            "true" => true,
            "false" | "" => false,
            other => return Err(child.problem(format!("overwriteBody {other:?} is neither true nor false"))),
        },
    };
    let name = element.child("responseVariable").map(fixed).transpose()?.unwrap_or_default();
    if name.is_empty() {
        return Ok(Answer::Message);
    }
    let slot = loader.names().slot(name);
    Ok(if overwrites { Answer::MessageAndVariable(slot) } else { Answer::Variable(slot) })
}

impl Mediator for Operation {
    fn effect(&self) -> Effect<'_> {
        let own = match self.answer {
            Answer::Message | Answer::MessageAndVariable(_) => Reads::Nothing,
            Answer::Variable(_) if self.leaves_body_alone() => Reads::Nothing,
            Answer::Variable(_) => Reads::Whole,
        };
        let effect = Effect {
            reads: own.max(self.need.reads()),
            changes: !matches!(self.answer, Answer::Variable(_)),
            ..Effect::sending(Receiver::Endpoint(&self.endpoint))
        };
        if self.prepare.nodes().is_empty() { effect } else { effect.with("request", Steps::Block(&self.prepare)) }
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        Step::Wait(Box::pin(async move {
            let outcome = self.run(exchange, context).await;
            (exchange, outcome.map(|()| Flow::Next))
        }))
    }
}

impl Operation {
    /// Whether the request has no body, and nothing that prepares it looks at one.
    fn leaves_body_alone(&self) -> bool {
        matches!(self.method, "GET" | "HEAD") && self.prepare.nodes().is_empty()
    }

    async fn run(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<()> {
        self.need.fulfil(exchange, context).await?;
        let request = self.work_out(exchange, context)?;
        match self.answer {
            Answer::Message => self.ask(request, exchange, context).await.map(drop),
            Answer::MessageAndVariable(slot) => {
                if self.ask(request, exchange, context).await? {
                    keep(slot, of_response(exchange, false)?, exchange)?;
                }
                Ok(())
            }
            Answer::Variable(slot) => {
                let mut aside = self.aside(exchange, context).await?;
                let answered = self.ask(request, &mut aside, context).await;
                if answered.is_err() && aside.called {
                    blocking::tell_status(&aside, exchange);
                }
                if answered? {
                    Need::built().fulfil(&mut aside, context).await?;
                    keep(slot, of_response(&aside, true)?, exchange)?;
                }
                Ok(())
            }
        }
    }

    /// Works out the address and the header lines, of the message as it came to the operation.
    fn work_out(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Request> {
        let text = |setting: &ConfiguredValue| -> Outcome<String> {
            Ok(setting.text(exchange, context)?.unwrap_or_default().trim().to_owned())
        };
        let (base, path) = (text(&self.base)?, self.path.as_ref().map(text).transpose()?.unwrap_or_default());
        let (base, path) = joined(base, path);
        Ok(Request { base, path, headers: self.headers.work_out(exchange, context)? })
    }

    /// A message to be sent beside the one that the flow goes on with.
    async fn aside(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Exchange> {
        if self.leaves_body_alone() {
            // What the client sends stays on the wire.
            return Ok(exchange.branch_with(Body::Empty));
        }
        Need::read().fulfil(exchange, context).await?;
        exchange.branch()
    }

    /// Sends the message, and puts the response in its place; says whether there is one.
    async fn ask(&self, request: Request, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<bool> {
        for (name, value) in &request.headers {
            exchange.message.head.set(name, value.as_bytes())?;
        }
        let (exchange, outcome) = self.prepare.run(exchange, context).finish().await;
        outcome?;
        for (slot, text) in self.parts.into_iter().zip([request.base, request.path]) {
            exchange.properties.put(Scope::Default, slot, Some(Value::Text(text.into())));
        }
        let method = Value::Text(self.method.into());
        exchange.properties.put(Scope::Axis2, slot::HTTP_METHOD, Some(method));
        let answered = calls::send(exchange, Some(&self.endpoint), context).await;
        for slot in self.parts {
            exchange.properties.put(Scope::Default, slot, None);
        }
        answered
    }
}

/// The base and the path with one slash between them, unless the path is a query alone.
///
/// Source: `RestURLBuilder` of WSO2's connector.
fn joined(mut base: String, mut path: String) -> (String, String) {
    match (base.ends_with('/'), path.chars().next()) {
        (true, Some('/')) => path.replace_range(..1, ""),
        (false, Some(first)) if !matches!(first, '/' | '?') && !base.is_empty() => base.push('/'),
        _ => {}
    }
    (base, path)
}
