//! `<makefault>`: a fault takes the place of the message and is the answer.

mod code;

use std::borrow::Cow;

use myelin_message::{Body, HeaderId};
use myelin_soap::{self as soap, Version, Who, escaped};
use myelin_xml::Kind;

use crate::loader::Loader;
use crate::mediators::makefault::code::Code;
use crate::spec::{Built, Spec};
use crate::values::ConfiguredValue;
use crate::words::unknown_word;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_content::Format;
use myelin_content::Fragment;
use myelin_content::{Tree, text_of};
use myelin_expression::{Expression, ResultType};
use myelin_expression::{Need, when_ready};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::{Direction, Exchange};
use myelin_flow::fault::Outcome;
use myelin_flow::mediator::{Effect, Flow, Mediator, Step};
use myelin_flow::property::{Scope, Value, slot};

pub(super) const SPEC: Spec = Spec::new("makefault", DOC, build);

const DOC: &str = r#"
Puts a fault in the place of the message, whatever state that is in.
From then on it is the current message; `send` and `respond` answer the client with it, and so does the end of the flow
where no endpoint follows.
The status is 500, unless `HTTP_SC` of scope `axis2` says another.

- `version`: `soap11`, `soap12` or `pox`; without it that of the message.
  Plain XML is answered by an `<Exception>` in any version.
- `response`: whether the message counts as a response from then on (default), for `log`, `in` and `out`.
- `code`: `value`, a name whose prefix is declared, or `expression`; needed for `soap11` and `soap12`.
- `reason`: `value` or `expression`; needed for the same.
- `node` (not in SOAP 1.1) and `role`: URIs.
- `detail`: XML, text, or `expression`. With `version="pox"` its text is what the Exception says.

Header blocks of a SOAP message stay, save those of WS-Addressing.

    <makefault version="soap11">
        <code xmlns:soap11="http://schemas.xmlsoap.org/soap/envelope/" value="soap11:Server"/>
        <reason expression="get-property('ERROR_MESSAGE')"/>
    </makefault>
    <property name="HTTP_SC" value="503" scope="axis2"/>
    <respond/>

    <makefault version="soap12" response="true">
        <code xmlns:soap12="http://www.w3.org/2003/05/soap-envelope" value="soap12:Sender"/>
        <reason value="There is no such order"/>
        <role>http://example.org/orders</role>
        <detail><order xmlns="urn:orders" id="7"/></detail>
    </makefault>
    <send/>

    <makefault version="pox">
        <reason value="There is no such order"/>
    </makefault>
    <respond/>
"#;

/// What WS-Addressing calls itself: its blocks say where the old message went.
const ADDRESSING: [&str; 2] =
    ["http://www.w3.org/2005/08/addressing", "http://schemas.xmlsoap.org/ws/2004/08/addressing"];

struct Makefault {
    /// `None`: that of the message.
    form: Option<Form>,
    response: bool,
    code: Option<Code>,
    reason: Option<ConfiguredValue>,
    node: Option<String>,
    role: Option<String>,
    detail: Option<Detail>,
    /// What the expressions look at.
    need: Need,
    /// For a message whose header blocks stay.
    whole: Need,
}

/// What a fault looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Soap(Version),
    /// `<Exception>`.
    Plain,
}

enum Detail {
    Text(String),
    /// Elements as they are written.
    Xml(String),
    Computed(Expression),
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let form = match element.attribute("version").map(|version| (version.value, version)) {
        None => None,
        Some(("soap11", _)) => Some(Form::Soap(Version::Soap11)),
        Some(("soap12", _)) => Some(Form::Soap(Version::Soap12)),
        Some(("pox", _)) => Some(Form::Plain),
        Some((other, text)) => return Err(text.problem(unknown_word("version", other, &["soap11", "soap12", "pox"]))),
    };
    let response = match element.attribute("response").map(|response| (response.value, response)) {
        None | Some(("true", _)) => true,
        Some(("false", _)) => false,
        Some((other, text)) => return Err(text.problem(format!("response {other:?} is neither true nor false"))),
    };
    let mut fault = Makefault {
        form,
        response,
        code: None,
        reason: None,
        node: None,
        role: None,
        detail: None,
        need: Need::default(),
        whole: Need::built(),
    };
    for child in element.children.iter().filter(|child| !child.is("description")) {
        fault.part(child, loader)?;
    }
    if let Some(Form::Soap(_)) = form
        && (fault.code.is_none() || fault.reason.is_none())
    {
        let missing = if fault.code.is_none() { "code" } else { "reason" };
        return Err(element.problem(format!("<makefault>: a SOAP fault needs a <{missing}>")));
    }
    fault.need = Need::of(fault.expressions());
    Ok(Box::new(fault))
}

impl Makefault {
    /// Reads one of the elements inside.
    fn part(&mut self, child: &Element, loader: &mut Loader) -> Result<(), Problem> {
        let text = || Some(child.text().value.to_owned()).filter(|text| !text.is_empty());
        match child.name.as_str() {
            "code" if child.is_synapse() => self.code = Some(Code::read(child, self.form, loader)?),
            "reason" if child.is_synapse() => match ConfiguredValue::read(child, loader)? {
                Some(reason) => self.reason = Some(reason),
                None => return Err(child.lacks("<reason> needs value or expression")),
            },
            "node" if child.is_synapse() && self.form == Some(Form::Soap(Version::Soap11)) => {
                return Err(child.problem("a SOAP 1.1 fault has no place for <node>"));
            }
            "node" if child.is_synapse() => self.node = text(),
            "role" if child.is_synapse() => self.role = text(),
            "detail" if child.is_synapse() => self.detail = Detail::read(child, loader)?,
            _ => {
                let what = child.tag();
                let message = format!("<makefault> holds code, reason, node, role and detail, not {what}");
                return Err(child.misnamed(message, &["code", "reason", "node", "role", "detail"]));
            }
        }
        Ok(())
    }

    fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let detail = match &self.detail {
            Some(Detail::Computed(expression)) => Some(expression),
            _ => None,
        };
        let code = self.code.as_ref().and_then(Code::expression);
        code.into_iter().chain(self.reason.as_ref().and_then(ConfiguredValue::expression)).chain(detail)
    }
}

impl Detail {
    fn read(element: &Element, loader: &mut Loader) -> Result<Option<Detail>, Problem> {
        if let Some(expression) = element.attribute("expression") {
            return Expression::compile(expression, ResultType::Text, loader).map(|it| Some(Detail::Computed(it)));
        }
        if element.children.is_empty() {
            let text = element.text().value;
            return Ok(Some(Detail::Text(text.to_owned())).filter(|_| !text.is_empty()));
        }
        let fragments = element.children.iter().map(Element::fragment);
        Ok(Some(Detail::Xml(fragments.map(|fragment| text_of(&fragment.document, fragment.node)).collect())))
    }
}

impl Mediator for Makefault {
    fn effect(&self) -> Effect<'_> {
        Effect::changing(self.need.reads().max(self.whole.reads()))
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        let is_soap = matches!(spoken(exchange), Format::Soap11 | Format::Soap12);
        let need = if is_soap { &self.whole } else { &self.need };
        // A message that cannot be read is what many a fault is about: it must not prevent the fault.
        match when_ready(need, exchange, context, |exchange| Step::Done(exchange, Ok(Flow::Next))) {
            Step::Done(exchange, _) => {
                let outcome = self.make(exchange, context);
                Step::Done(exchange, outcome)
            }
            Step::Wait(reading) => Step::Wait(Box::pin(async move {
                let (exchange, _) = reading.await;
                let outcome = self.make(exchange, context);
                (exchange, outcome)
            })),
        }
    }
}

impl Makefault {
    fn make(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Flow> {
        let reason = match &self.reason {
            Some(reason) => readable(reason.text(exchange, context)).into_owned(),
            None => String::new(),
        };
        let detail = match &self.detail {
            Some(Detail::Computed(expression)) => Some(readable(expression.text(exchange, context)).into_owned()),
            Some(Detail::Text(text)) => Some(text.clone()),
            Some(Detail::Xml(_)) | None => None,
        };
        match self.form_for(exchange) {
            Form::Soap(version) => {
                let name = self.code.as_ref().map(|code| code.name(version, self.form.is_none(), exchange, context));
                let written = match &self.detail {
                    Some(Detail::Xml(xml)) => Some(xml.clone()),
                    _ => detail.filter(|text| !text.is_empty()).map(|text| escaped(&text)),
                };
                let fault = soap::Fault {
                    version,
                    code: name.as_ref().map_or(soap::Code::standard(version, Who::Receiver), code::Name::as_code),
                    subcode: None,
                    reason: &reason,
                    node: self.node.as_deref(),
                    role: self.role.as_deref(),
                    detail: written.as_deref(),
                    header: Some(&kept_blocks(exchange)),
                };
                put(exchange, fault.write(), version.media_type())?;
            }
            Form::Plain => {
                let text = if self.form == Some(Form::Plain) { detail.unwrap_or(reason) } else { reason };
                exception(exchange, &text)?;
            }
        }
        let properties = &mut exchange.properties;
        if properties.get(Scope::Axis2, slot::HTTP_SC).is_none() {
            properties.put(Scope::Axis2, slot::HTTP_SC, Some(Value::Integer(500)));
        }
        // What was said about the old body does not hold for this one.
        properties.put(Scope::Axis2, slot::CONTENT_TYPE, None);
        properties.put(Scope::Axis2, slot::NO_ENTITY_BODY, None);
        exchange.message.head.remove("Content-Encoding");
        properties.put(Scope::Addressing, slot::TO, None);
        exchange.faulted = Some(if self.response { Direction::Response } else { exchange.direction });
        Ok(Flow::Next)
    }

    /// What the fault looks like in this message's place.
    fn form_for(&self, exchange: &Exchange) -> Form {
        let version = soap_tree(exchange).map(|tree| tree.envelope().version);
        match (spoken(exchange), self.form) {
            (Format::Pox, _) => Form::Plain,
            (_, Some(form)) => form,
            (Format::Soap12, None) => Form::Soap(version.unwrap_or(Version::Soap12)),
            (_, None) => Form::Soap(version.unwrap_or(Version::Soap11)),
        }
    }
}

/// The language of the message; that of the request, where the message has none of XML.
fn spoken(exchange: &Exchange) -> Format {
    match exchange.content.format {
        format if format.is_xml() => format,
        _ => exchange.format,
    }
}

/// What an expression gave; nothing where the message it asks cannot be read.
fn readable(text: Outcome<Option<Cow<'_, str>>>) -> Cow<'_, str> {
    match text {
        Ok(text) => text.unwrap_or_default(),
        Err(fault) => {
            let cause = fault.detail.as_deref().unwrap_or_default();
            tracing::warn!(target: "myelin::makefault", "a part of the fault stays empty: {fault}: {cause}");
            Cow::Borrowed("")
        }
    }
}

/// The message, where it was read and is a SOAP envelope.
fn soap_tree(exchange: &Exchange) -> Option<&Tree> {
    exchange.message.body.built::<Tree>().filter(|tree| !tree.is_plain())
}

/// The header blocks that stay, as XML.
fn kept_blocks(exchange: &Exchange) -> String {
    let Some((tree, header)) = soap_tree(exchange).and_then(|tree| Some((tree, tree.envelope().header?))) else {
        return String::new();
    };
    let document = tree.document();
    let blocks = document.children(header).filter(|&node| document.kind(node) == Kind::Element);
    let kept = blocks.filter(|&block| !ADDRESSING.contains(&document.qname(block).namespace));
    kept.map(|block| text_of(document, block)).collect()
}

/// Puts a body in UTF-8 in the place of the message's, with its media type where the present one does not fit.
fn put(exchange: &mut Exchange, body: String, media_type: &str) -> Outcome<()> {
    let present = Format::of(exchange.message.head.known(HeaderId::ContentType));
    let is_utf8 = exchange.content.charset().is_none_or(|charset| charset.eq_ignore_ascii_case("utf-8"));
    let wanted = Format::of(Some(media_type.as_bytes()));
    // `text/xml` is a name for any XML.
    let fits = present == wanted || (present, wanted) == (Format::Soap11, Format::Pox);
    if !fits || !is_utf8 {
        exchange.message.head.set("Content-Type", format!("{media_type}; charset=UTF-8").as_bytes())?;
    }
    exchange.set_body(Body::Bytes(body.into_bytes()));
    Ok(())
}

/// Puts an `<Exception>` in the body of the envelope, where the message is one, else in the place of the message.
fn exception(exchange: &mut Exchange, text: &str) -> Outcome<()> {
    let written = match text {
        "" => "<Exception/>".to_owned(),
        text => format!("<Exception>{}</Exception>", escaped(text)),
    };
    let Some(body) = soap_tree(exchange).and_then(|tree| tree.envelope().body) else {
        return put(exchange, written, "application/xml");
    };
    let exception = Fragment::parse(&written).expect("an element with escaped text is XML");
    exchange.tree_mut()?.change(|document, _| {
        document.set_value(body, "")?;
        let exception = document.import(&exception.document, exception.node)?;
        document.append(body, exception)
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::mediators::tests::check;

    #[test]
    fn a_fault_that_could_not_be_written_is_a_problem_at_its_place() {
        let soap11 = "xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'";
        let whole = |attributes: &str, inside: &str| format!("<makefault {soap11} {attributes}>{inside}</makefault>");
        let code = "<code value='s:Server'/>";
        let reason = "<reason value='r'/>";
        check(&whole("version='soap11'", &format!("{code}{reason}")), "");
        check(&whole("", &format!("{code}{reason}")), "");
        check(&whole("version='pox'", &format!("{code}{reason}")), "");
        check("<makefault/>", "");
        check(&whole("version='soap13'", ""), "unknown: soap11");
        check(&whole("response='maybe'", ""), "neither true nor false");
        check(&whole("version='soap11'", reason), "needs a <code>");
        check(&whole("version='soap11'", code), "needs a <reason>");
        check(&whole("version='soap11'", &format!("{code}{reason}<node>n</node>")), "no place for <node>");
        check(&whole("version='soap12'", &format!("{code}{reason}")), "no fault code of SOAP 1.2");
        check(&whole("", "<code value='t:Server'/>"), "stands for no namespace");
        check(&whole("", "<code/>"), "<code> needs value or expression");
        check(&whole("", "<reason>why</reason>"), "<reason> needs value or expression");
        check(&whole("", "<cause/>"), "not <cause>");
    }
}
