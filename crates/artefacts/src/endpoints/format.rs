//! What form an endpoint wants its messages in: `format`, `encoding` and `optimize`.
//!
//! A message that has the form already leaves as the bytes that came. What is turned into another form is read as
//! XML for it, and so is an answer that does not have the form of what was sent.

use std::borrow::Cow;

use http::StatusCode;
use myelin_message::{Body, Built, Head, HeaderId};
use myelin_soap::Version;
use myelin_wsdl::Binding;
use myelin_xml::Kind;

use crate::endpoints::address::{escape, parse_uri};
use crate::loader::Loader;
use crate::words::unknown_word;
use myelin_config::element::Element;
use myelin_content::Charset;
use myelin_content::{Enclosure, Json, Tree};
use myelin_content::{Format, charset, coding, write_charset};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::{Direction, Exchange, action_of};
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::forms::{build_body, take_tree};
use myelin_flow::identity;
use myelin_flow::transport::{Address, Method, Outgoing};

/// What form messages are to leave in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    form: Option<Form>,
    charset: Option<Charset>,
    package: Option<Enclosure>,
}

/// The values of `format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Envelope(Version),
    /// What stands in the SOAP body, without any envelope.
    Plain,
    /// No body at all: the texts in the SOAP body become parameters of a GET.
    Query,
    /// As it is, save that an envelope is taken off.
    Rest,
}

/// What is known of a message when it was sent, for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Before {
    /// `None` for plain XML.
    version: Option<Version>,
}

impl Shape {
    /// What a port of a description takes; `None` where it says nothing that is known here.
    ///
    /// Source: Synapse's `WSDL11EndpointBuilder`.
    pub(super) fn spoken(binding: &Binding) -> Option<Shape> {
        let form = match binding {
            Binding::Soap11 => Form::Envelope(Version::Soap11),
            Binding::Soap12 => Form::Envelope(Version::Soap12),
            Binding::Http(method) if method.eq_ignore_ascii_case("GET") => Form::Query,
            Binding::Http(_) => Form::Rest,
            Binding::Other => return None,
        };
        Some(Shape { form: Some(form), charset: None, package: None })
    }

    /// The same, with the form of another where this one has none.
    pub(super) fn or(self, other: Option<Shape>) -> Shape {
        Shape { form: self.form.or(other.and_then(|other| other.form)), ..self }
    }

    /// What the attributes of an endpoint's kind ask for; `None` where they ask for nothing.
    pub(super) fn read(kind: &Element, loader: &mut Loader) -> Option<Shape> {
        let mut shape = Shape { form: None, charset: None, package: None };
        if let Some(text) = kind.attribute("format") {
            shape.form = match text.value.trim().to_ascii_lowercase().as_str() {
                "soap11" => Some(Form::Envelope(Version::Soap11)),
                "soap12" => Some(Form::Envelope(Version::Soap12)),
                "pox" => Some(Form::Plain),
                "get" => Some(Form::Query),
                "rest" => Some(Form::Rest),
                "leave-as-is" | "" => None,
                other => {
                    let known = ["soap11", "soap12", "pox", "get", "rest", "leave-as-is"];
                    loader.problem(text.problem(unknown_word("format", other, &known)));
                    None
                }
            };
        }
        if let Some(text) = kind.attribute("encoding").filter(|text| !text.value.trim().is_empty()) {
            shape.charset = Charset::of(text.value);
            if shape.charset.is_none() {
                let message =
                    format!("encoding={:?} is not offered: UTF-8, UTF-16, ISO-8859-1 and US-ASCII are", text.value);
                loader.problem(text.problem(message));
            }
        }
        if let Some(text) = kind.attribute("optimize") {
            shape.package = match text.value.trim().to_ascii_lowercase().as_str() {
                "mtom" => Some(Enclosure::Mtom),
                "swa" => Some(Enclosure::SwA),
                "" => None,
                other => {
                    loader.problem(text.problem(unknown_word("optimize", other, &["mtom", "swa"])));
                    None
                }
            };
        }
        (shape != Shape { form: None, charset: None, package: None }).then_some(shape)
    }

    /// Whether a message is made anew of its XML, whatever it was to be.
    pub(super) fn gives_form(&self) -> bool {
        matches!(self.form, Some(Form::Envelope(_) | Form::Plain | Form::Query))
    }

    /// Whether the rest of a REST request's path has no place behind the address: SOAP's address is the endpoint alone.
    pub(super) fn is_soap(&self) -> bool {
        matches!(self.form, Some(Form::Envelope(_)))
    }

    /// Gives a request its form; what it was is told for its answer, where that is to be turned back.
    ///
    /// Errors: the sender's, where what it sent is not what it says; ours, where a body is no XML, or holds letters
    /// that the encoding has not.
    pub(super) async fn apply(
        &self,
        outgoing: &mut Outgoing,
        exchange: &Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<Option<Before>> {
        let is_response = exchange.direction == Direction::Response;
        let came = Came::of(&outgoing.body, exchange.content.format);
        let before = self.form.and(match came {
            Came::Envelope(version) => Some(Before { version: Some(version) }),
            Came::Plain | Came::Nothing => Some(Before { version: None }),
            Came::Foreign | Came::Other => None,
        });
        if let Some(form) = self.form {
            form.set_method(outgoing);
        }
        let form = match (self.form, came) {
            (Some(Form::Envelope(wanted)), Came::Envelope(version)) if wanted == version => None,
            (Some(Form::Plain), Came::Plain | Came::Nothing) => None,
            (Some(Form::Query), Came::Nothing) => None,
            (Some(Form::Rest), Came::Envelope(_)) => Some(Form::Plain),
            (Some(Form::Rest), _) => None,
            (form, _) => form,
        };
        let charset = self.charset.filter(|wanted| !wanted.is(charset(&outgoing.head).as_deref()) && came.is_xml());
        if form.is_some() || charset.is_some() {
            let mut tree = read(outgoing, came, exchange, context).await?;
            match form {
                Some(Form::Envelope(version)) => tree.reshape(Some(version))?,
                Some(Form::Plain) => tree.reshape(None)?,
                Some(Form::Query) => return query(&tree, outgoing).map(|()| before),
                Some(Form::Rest) | None => {}
            }
            let action = action_of(&exchange.properties, &outgoing.head).map(Cow::into_owned);
            self.put(tree, outgoing, form, action.as_deref())?;
        }
        if let (Some(package), true) = (self.package, came.is_xml() || self.gives_form()) {
            let limit_bytes = context.definitions.settings.body_limit_bytes;
            coding::decode_message(&mut outgoing.head, &mut outgoing.body, limit_bytes);
            let bytes = outgoing.body.bytes(limit_bytes).await.map(<[u8]>::to_vec);
            let bytes = bytes.map_err(|error| Fault::body(&error, is_response))?;
            // A new identifier is in no message that was written before it.
            let boundary = format!("MIMEBoundary_{}", identity::new());
            let content_type = outgoing.head.known(HeaderId::ContentType).map(String::from_utf8_lossy);
            let content_type = content_type.unwrap_or_default().into_owned();
            outgoing.body = Body::Bytes(package.enclose(&bytes, &content_type, &boundary));
            outgoing.head.set("Content-Type", package.content_type(&boundary, &content_type).as_bytes())?;
        }
        Ok(before)
    }

    /// Puts a body into its message as bytes, with the content type that says what it is.
    fn put(&self, tree: Tree, outgoing: &mut Outgoing, form: Option<Form>, action: Option<&str>) -> Outcome<()> {
        let charset = self.charset.unwrap_or(Charset::Utf8);
        let bytes = if charset == Charset::Utf8 && form.is_some() {
            Box::new(tree).into_bytes()
        } else {
            charset.encode(&tree.text())?
        };
        outgoing.body = if bytes.is_empty() { Body::Empty } else { Body::Bytes(bytes) };
        describe(&mut outgoing.head, form, charset, action)
    }

    /// Yielding an answer back into the form of what was sent, where it has another.
    ///
    /// Errors: the backend's, where its answer is not what it says.
    pub(super) async fn returned(
        &self,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
        before: Before,
    ) -> Outcome<()> {
        let came = match exchange.content.format {
            Format::Soap11 => Some(Version::Soap11),
            Format::Soap12 => Some(Version::Soap12),
            Format::Pox => None,
            _ => return Ok(()),
        };
        let is_without_content = matches!(exchange.message.body, Body::Empty)
            || matches!(exchange.message.status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT);
        if came == before.version || is_without_content {
            return Ok(());
        }
        build_body(exchange, context).await?;
        let tree = exchange.tree_mut()?;
        if tree.is_empty() {
            return Ok(());
        }
        tree.reshape(before.version)?;
        let form = before.version.map_or(Form::Plain, Form::Envelope);
        describe(&mut exchange.message.head, Some(form), Charset::Utf8, None)
    }
}

/// What a message is before anything is done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    Envelope(Version),
    Plain,
    Nothing,
    /// What stands for XML: JSON, a form, text …
    Foreign,
    /// What nobody understands.
    Other,
}

impl Came {
    fn of(body: &Body, format: Format) -> Came {
        if let Some(tree) = body.built::<Tree>() {
            return match tree.is_plain() {
                true if tree.is_empty() => Came::Nothing,
                // XML that stands for JSON or a form is written as that, unless somebody asks otherwise.
                true if !tree.output_form().is_xml() => Came::Foreign,
                true => Came::Plain,
                false => Came::Envelope(tree.envelope().version),
            };
        }
        match (format, body) {
            (_, Body::Empty) => Came::Nothing,
            (_, body) if body.built::<Json>().is_some() => Came::Foreign,
            (Format::Soap11, _) => Came::Envelope(Version::Soap11),
            (Format::Soap12, _) => Came::Envelope(Version::Soap12),
            (Format::Pox, _) => Came::Plain,
            (Format::None | Format::Other, _) => Came::Other,
            _ => Came::Foreign,
        }
    }

    fn is_xml(self) -> bool {
        matches!(self, Came::Envelope(_) | Came::Plain)
    }
}

impl Form {
    /// SOAP is posted and a query is got, whatever method the client used.
    fn set_method(self, outgoing: &mut Outgoing) {
        let method = match self {
            Form::Envelope(_) => "POST",
            Form::Query => "GET",
            Form::Plain | Form::Rest => return,
        };
        outgoing.method = match outgoing.head.has_method(method) {
            true => Method::AsCame,
            false => Method::Named(method.to_owned()),
        };
    }
}

/// Takes the body out of a message as XML.
async fn read(outgoing: &mut Outgoing, came: Came, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Tree> {
    if came == Came::Other {
        let content_type = outgoing.head.known(HeaderId::ContentType).map(String::from_utf8_lossy);
        let detail = format!("its content type is {:?}", content_type.unwrap_or_default());
        return Err(Fault::bus("The endpoint wants XML, and the message is none").with_detail(detail));
    }
    let is_response = exchange.direction == Direction::Response;
    take_tree(&mut outgoing.head, &mut outgoing.body, &exchange.content, context, is_response).await
}

/// Says in a head what the body is now.
fn describe(head: &mut Head, form: Option<Form>, charset: Charset, action: Option<&str>) -> Outcome<()> {
    let charset = charset.name();
    let action = action.filter(|action| !action.contains(['"', '\\']));
    let value = match form {
        Some(Form::Envelope(version)) => {
            let media_type = version.media_type();
            match action.filter(|action| version == Version::Soap12 && !action.is_empty()) {
                Some(action) => format!("{media_type}; charset={charset}; action=\"{action}\""),
                None => format!("{media_type}; charset={charset}"),
            }
        }
        Some(Form::Plain) => format!("application/xml; charset={charset}"),
        Some(Form::Query | Form::Rest) | None => {
            write_charset(head, charset);
            return Ok(());
        }
    };
    head.set("Content-Type", value.as_bytes())?;
    if form == Some(Form::Envelope(Version::Soap11)) && !head.method().is_empty() {
        // SOAP 1.1 §6.1.1: a client must say it, be it empty.
        head.set("SOAPAction", format!("\"{}\"", action.unwrap_or_default()).as_bytes())?;
    }
    Ok(())
}

/// Yielding a message into a question: each element in its payload is a parameter, whose value is the text directly in it.
fn query(tree: &Tree, outgoing: &mut Outgoing) -> Outcome<()> {
    let document = tree.document();
    let payload = tree.envelope().payload(document);
    let mut text = outgoing.address.to_string();
    let mut separator = if text.contains('?') { '&' } else { '?' };
    for element in payload.into_iter().flat_map(|payload| document.children(payload)) {
        if document.kind(element) != Kind::Element {
            continue;
        }
        text.push(separator);
        escape(document.qname(element).local, &mut text);
        text.push('=');
        for node in document.children(element).filter(|&node| document.kind(node) == Kind::Text) {
            escape(&document.value(node), &mut text);
        }
        separator = '&';
    }
    outgoing.address = Address::Uri(parse_uri(&text)?);
    outgoing.body = Body::Empty;
    outgoing.head.remove("Content-Type");
    Ok(())
}
