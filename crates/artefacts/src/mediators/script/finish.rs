//! What a script did, done to the message.

use std::time::Duration;

use myelin_script::{Effect, Header, Known, Outcome as Told, Place, Value as Said};
use myelin_soap::Version;

use crate::mediators::script::Scripting;
use crate::mediators::script::begin::scope;
use crate::message_edits::put_body;
use myelin_content::Fragment;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::Flow;
use myelin_flow::position::inside_step;
use myelin_flow::property::{Scope, Slot, Value, slot};

/// The longest pause that all `java.lang.Thread.sleep` of one script make together.
const LONGEST_PAUSE: Duration = Duration::from_secs(120);

impl Scripting {
    /// Does to the message what the script did; gives how the flow goes on, and how much later.
    pub(super) fn finish(
        &self,
        told: Told,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<(Flow, Duration)> {
        let mut pause = Duration::ZERO;
        for effect in told.effects {
            match effect {
                Effect::Property(known, value) => self.put(&known, value, exchange, context)?,
                Effect::Xml(text) => put_body(exchange, self.fragment(&text)?, context)?,
                Effect::Json(text) => exchange.replace_body(text.into_bytes(), "application/json")?,
                Effect::Block { xml, must_understand } => self.add_block(&xml, must_understand, exchange)?,
                Effect::Header(header, text) => {
                    exchange.properties.put(Scope::Addressing, part(header), Some(Value::Text(text.into())));
                }
                Effect::Log { level, text, place } => log(&level, &text, place.as_ref()),
                Effect::Pause(milliseconds) => pause = pause.saturating_add(Duration::from_millis(milliseconds)),
            }
        }
        Ok((if told.goes_on { Flow::Next } else { Flow::Drop }, pause.min(LONGEST_PAUSE)))
    }

    fn put(
        &self,
        known: &Known,
        value: Option<Said>,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<()> {
        let value = value.map(|value| self.value(value));
        match (scope(known.scope), value) {
            (None, Some(value)) => exchange.message.head.set(&known.name, value.text().as_bytes())?,
            (None, None) => {
                exchange.message.head.remove(&known.name);
            }
            (Some(scope), value) => {
                if let Some(value) = &value {
                    exchange.properties.check_room(value)?;
                }
                let slot = exchange.properties.slot_to_set(&known.name, &context.definitions.names)?;
                exchange.properties.put(scope, slot, value);
            }
        }
        Ok(())
    }

    /// A value as a property holds it. As in Synapse, a text that is XML is held as such, save for Rhino.
    fn value(&self, value: Said) -> Value {
        match value {
            Said::Text(text) => {
                let may_be_xml = !self.keeps_texts && text.trim_start().starts_with('<');
                let fragment = may_be_xml.then(|| Fragment::parse(&text)).flatten();
                fragment.map_or_else(|| Value::Text(text.into()), Value::Xml)
            }
            Said::Xml(text) => Fragment::parse(&text).map_or_else(|| Value::Text(text.into()), Value::Xml),
            Said::Json(text) => Value::json(&text).unwrap_or_else(|| Value::Text(text.into())),
            Said::Boolean(boolean) => Value::Boolean(boolean),
            Said::Integer(number) => Value::Integer(number),
            Said::Double(number) => Value::Double(number),
        }
    }

    fn fragment(&self, text: &str) -> Outcome<Fragment> {
        let wrong = || Fault::bus(self.failure.as_str()).with_detail("what it gave as XML is not well-formed");
        Fragment::parse(text).ok_or_else(wrong)
    }

    fn add_block(&self, xml: &str, must_understand: bool, exchange: &mut Exchange) -> Outcome<()> {
        let fragment = self.fragment(xml)?;
        exchange.tree_mut()?.change_header(|document, envelope| {
            let block = document.import(&fragment.document, fragment.node)?;
            let header = envelope.header_or_new(document)?;
            document.append(header, block)?;
            let word = match (envelope.version, must_understand) {
                (Version::Soap11, true) => "1",
                (Version::Soap11, false) => "0",
                (Version::Soap12, true) => "true",
                (Version::Soap12, false) => "false",
            };
            let namespace = envelope.version.namespace();
            document.set_attribute(block, "soapenv", "mustUnderstand", namespace, word)
        })?;
        Ok(())
    }
}

fn part(header: Header) -> Slot {
    match header {
        Header::To => slot::TO,
        Header::From => slot::FROM,
        Header::ReplyTo => slot::REPLY_TO,
        Header::FaultTo => slot::FAULT_TO,
        Header::Action => slot::ACTION,
        Header::MessageId => slot::MESSAGE_ID,
    }
}

fn log(level: &str, text: &str, place: Option<&Place>) {
    let say = || match level {
        "trace" => tracing::trace!(target: "myelin::script", "{text}"),
        "debug" => tracing::debug!(target: "myelin::script", "{text}"),
        "warn" => tracing::warn!(target: "myelin::script", "{text}"),
        "error" | "fatal" => tracing::error!(target: "myelin::script", "{text}"),
        _ => tracing::info!(target: "myelin::script", "{text}"),
    };
    match place {
        Some(place) => inside_step(format_args!("script ({}:{})", place.file, place.line), say),
        None => say(),
    }
}
