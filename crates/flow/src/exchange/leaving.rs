//! The current message as it leaves: to a backend, or as the answer.

use std::borrow::Cow;

use http::StatusCode;
use myelin_content::{Charset, Content, Enclosure, Format, Json, OutputForm, Tree, charset, write_charset};
use myelin_message::{Body, HeaderId, Message};
use myelin_soap::Version;

use crate::exchange::{Direction, Exchange, action_of, to_response};
use crate::fault::{Fault, Outcome};
use crate::property::{Scope, Value, slot};
use crate::transport::Manner;

impl Exchange {
    /// The current message, to be sent: moved if nothing looks at it afterwards, else its head is copied.
    pub fn take_message(&mut self, for_good: bool) -> Message {
        self.settle_encoding();
        // Nobody asks about a body that has left, and while a backend is waited for the next message can use the memory.
        self.passes.clear();
        let head = if for_good { std::mem::take(&mut self.message.head) } else { self.message.head.clone() };
        let reason = if for_good { self.message.reason.take() } else { self.message.reason.clone() };
        Message { head, status: self.message.status, reason, body: self.message.body.take(), close: false }
    }

    /// Takes the message out to be sent later; its head stays to be looked at.
    pub fn set_aside(&mut self) -> Message {
        self.take_message(false)
    }

    /// Brings back a message that was set aside, or a copy of one, with what its body is.
    pub fn put_back(&mut self, message: Message, content: Content) {
        self.message = message;
        self.content = content;
        self.passes.clear();
    }

    /// Yielding a built body into the bytes that are sent of it.
    pub fn settle(&mut self) {
        if self.message.body.built::<Tree>().is_some_and(Tree::is_recoded) {
            self.settle_encoding();
            self.content.detail = Some(Cow::Borrowed("UTF-8"));
        }
        let way = match self.content.format {
            Format::Json => Some(OutputForm::Json(self.switches())),
            Format::Form => Some(OutputForm::Form),
            Format::Text | Format::Binary => Some(OutputForm::Text),
            _ => None,
        };
        if let (Some(tree), Some(way)) = (self.message.body.built_mut::<Tree>(), way) {
            tree.restore_output_form(way);
        }
        self.message.body.settle();
        self.passes.clear();
    }

    /// The same for a body that copies are made of: XML that a mediator made in the place of JSON, a form or text stays
    /// XML, for an endpoint may want it as that; `messageType` says what it is to be otherwise, as in Synapse.
    pub fn settle_for_copies(&mut self) {
        let format = self.content.format;
        let stands_for_other = matches!(format, Format::Json | Format::Form | Format::Text);
        let made = self.message.body.built::<Tree>().filter(|tree| tree.is_to_be_converted(false) && stands_for_other);
        if let Some(version) = made.map(|tree| (!tree.is_plain()).then(|| tree.envelope().version)) {
            if self.properties.get(Scope::Axis2, slot::MESSAGE_TYPE).is_none() {
                let value = self.message.head.known(HeaderId::ContentType).map(String::from_utf8_lossy);
                let media_type = |value: Cow<'_, str>| value.split(';').next().unwrap_or_default().trim().into();
                let value = value.map(|value| Value::Text(media_type(value)));
                self.properties.put(Scope::Axis2, slot::MESSAGE_TYPE, value);
            }
            if let Some(tree) = self.message.body.built_mut::<Tree>() {
                tree.write_as_xml();
            }
            let format = match version {
                Some(Version::Soap11) => Format::Soap11,
                Some(Version::Soap12) => Format::Soap12,
                None => Format::Pox,
            };
            self.content = Content { format, detail: None, codings: None };
        }
        self.settle();
    }

    /// A changed body leaves in UTF-8: a content type that says another encoding says that then.
    fn settle_encoding(&mut self) {
        if self.message.body.built::<Tree>().is_some_and(Tree::is_recoded) {
            write_charset(&mut self.message.head, "UTF-8");
        }
    }

    /// The body is in that character set now.
    pub fn set_charset(&mut self, charset: &str) {
        if !self.content.charset().unwrap_or("UTF-8").eq_ignore_ascii_case(charset) {
            write_charset(&mut self.message.head, charset);
            self.content.detail = Some(Cow::Owned(charset.to_owned()));
        }
    }

    /// The message is sent: where `FORCE_SC_ACCEPTED` asks for it, the client gets 202 whatever comes of it.
    pub fn note_forced_accept(&mut self) {
        self.accepted |= self.properties.is_true(Scope::Axis2, slot::FORCE_SC_ACCEPTED);
    }

    /// The current message as the client's answer, with what the properties say about status and body.
    pub fn answer(&mut self, for_good: bool) -> Outcome<Message> {
        // Settled first: a message that cannot be the answer is still there for the fault sequence.
        let own_status = self.own_status()?;
        let mut message = self.take_message(for_good);
        if self.direction == Direction::Request {
            to_response(&mut message);
        }
        if let Some(status) = own_status {
            message.status = status;
            message.reason = None;
        }
        let phrase = [slot::HTTP_SC_DESC, slot::HTTP_REASON_PHRASE]
            .into_iter()
            .find_map(|slot| self.properties.get(Scope::Axis2, slot));
        if let Some(phrase) = phrase {
            message.reason = Some(phrase.text().into_owned());
        }
        message.close = self.properties.is_true(Scope::Axis2, slot::NO_KEEPALIVE);
        self.shape(&mut message)?;
        Ok(message)
    }

    /// The status that `HTTP_SC` asks for, or one of the switches that say one; `SC_ACCEPTED` comes first.
    pub fn own_status(&self) -> Outcome<Option<StatusCode>> {
        if self.properties.is_true(Scope::Axis2, slot::SC_ACCEPTED) {
            return Ok(Some(StatusCode::ACCEPTED));
        }
        let Some(code) = self.properties.get(Scope::Axis2, slot::HTTP_SC) else {
            let is_hidden = self.is_fault() && self.properties.is_true(Scope::Axis2, slot::FAULTS_AS_HTTP_200);
            return Ok(is_hidden.then_some(StatusCode::OK));
        };
        let text = code.text();
        let number = text.trim().parse::<u16>().ok().filter(|code| *code >= 200);
        match number.and_then(|code| StatusCode::from_u16(code).ok()) {
            Some(status) => Ok(Some(status)),
            None => Err(Fault::bus("HTTP_SC is no status code from 200 to 999").with_detail(format!("it is {text:?}"))),
        }
    }

    /// Whether the message is a fault: one that was made here, or SOAP with the status that SOAP 1.1 has for it (§6.2).
    fn is_fault(&self) -> bool {
        let is_soap = matches!(self.content.format, Format::Soap11 | Format::Soap12);
        let is_response = self.direction == Direction::Response;
        self.faulted.is_some() || (is_response && is_soap && self.message.status == StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// What the body is to be when it leaves: what `messageType` names, else what it came as; XML in a package, where
    /// that is wanted.
    pub fn wanted_format(&self) -> Format {
        if !self.properties.has_any(Scope::Axis2, &[slot::MESSAGE_TYPE, slot::ENABLE_MTOM, slot::ENABLE_SWA]) {
            return self.content.format;
        }
        let format = match self.properties.get(Scope::Axis2, slot::MESSAGE_TYPE) {
            Some(message_type) => Format::with_types(Some(message_type.text().as_bytes()), self.types.as_deref()),
            None => self.content.format,
        };
        if format.is_xml() && self.enclosure().is_some() { Format::Related } else { format }
    }

    /// The package that XML is to leave in.
    pub fn enclosure(&self) -> Option<Enclosure> {
        let is_set = |slot| self.properties.is_true(Scope::Axis2, slot);
        if is_set(slot::ENABLE_MTOM) {
            return Some(Enclosure::Mtom);
        }
        is_set(slot::ENABLE_SWA).then_some(Enclosure::SwA)
    }

    /// Whether the body can leave as it is: it is what it is to be, and needs no conversion to be written so.
    pub fn has_its_form(&self) -> bool {
        let is_converted = match &self.message.body {
            Body::Empty | Body::Gone => return true,
            Body::Built(_) => self.is_to_be_converted(),
            _ => false,
        };
        !is_converted
            && self.wanted_format() == self.content.format
            && self.names_its_boundary()
            && self.names_its_charset()
    }

    /// Whether the built body was changed, and is something else than what is sent of it.
    fn is_to_be_converted(&self) -> bool {
        let is_xml = matches!(self.content.format, Format::None | Format::Other) || self.content.format.is_xml();
        self.message.body.built().is_some_and(|tree: &Tree| tree.is_to_be_converted(is_xml))
            || self.message.body.built().is_some_and(Json::is_to_be_converted)
    }

    /// Whether the content type that the configuration wants names the character set that text or XML came in, as far
    /// as that one is known.
    fn names_its_charset(&self) -> bool {
        let is_text = self.content.format == Format::Text || self.content.format.is_xml();
        if !is_text || self.properties.get(Scope::Axis2, slot::MESSAGE_TYPE).is_none() {
            return true;
        }
        let came = Charset::of(self.content.charset().unwrap_or("UTF-8"));
        came.is_none_or(|came| came.is(charset(&self.message.head).as_deref()))
    }

    /// Whether the content type says where the parts of a body in parts end, as far as it has any.
    fn names_its_boundary(&self) -> bool {
        let whole = self.content.whole_type();
        whole.is_empty() || self.message.head.known(HeaderId::ContentType) == Some(whole.as_bytes())
    }

    /// The body is other bytes now, in that form and in UTF-8; `whole_type` where that is one in parts.
    ///
    /// Errors: the bus's, where no header line can hold the type.
    pub fn set_rendered(&mut self, bytes: Vec<u8>, format: Format, whole_type: Option<String>) -> Outcome<()> {
        self.set_body(if bytes.is_empty() { Body::Empty } else { Body::Bytes(bytes) });
        match &whole_type {
            Some(whole_type) => self.message.head.set("Content-Type", whole_type.as_bytes())?,
            None if charset(&self.message.head).is_some() => write_charset(&mut self.message.head, "UTF-8"),
            None => {}
        }
        if self.properties.get(Scope::Axis2, slot::CONTENT_TYPE).is_some()
            && let Some(value) = self.message.head.known(HeaderId::ContentType)
        {
            let value = Value::Text(String::from_utf8_lossy(value).into());
            self.properties.put(Scope::Axis2, slot::CONTENT_TYPE, Some(value));
        }
        self.content = Content { format, detail: whole_type.map(Cow::Owned), codings: None };
        // What was said about the old bytes does not hold for these.
        self.message.head.remove("Content-Encoding");
        Ok(())
    }

    /// Says what the message is to be when it leaves, and what its content type is from now on.
    ///
    /// The header line is that from now on, too, and what stood in it alone is kept: the action of SOAP 1.2.
    /// Source: WSO2's `MediatorPropertyUtils.handleSpecialProperties`.
    ///
    /// Errors: the bus's, where no header line can hold the value.
    pub fn set_message_type(&mut self, value: Value) -> Outcome<()> {
        let action = action_of(&self.properties, &self.message.head).filter(|action| !action.is_empty());
        if let Some(action) = action
            && self.properties.is_untouched(Scope::Addressing, slot::ACTION)
        {
            let action = Value::Text(action.into());
            self.properties.put(Scope::Addressing, slot::ACTION, Some(action));
        }
        self.message.head.set("Content-Type", value.text().as_bytes())?;
        self.properties.put(Scope::Axis2, slot::CONTENT_TYPE, Some(value.clone()));
        self.properties.put(Scope::Axis2, slot::MESSAGE_TYPE, Some(value));
        Ok(())
    }

    /// Makes bytes of another type the body, whatever the message was to be before.
    ///
    /// Errors: the bus's, where no header line can hold the content type.
    pub fn replace_body(&mut self, bytes: Vec<u8>, content_type: &str) -> Outcome<()> {
        self.message.head.set("Content-Type", content_type.as_bytes())?;
        self.message.head.remove("Content-Encoding");
        for slot in [slot::MESSAGE_TYPE, slot::CONTENT_TYPE, slot::NO_ENTITY_BODY] {
            self.properties.forget(Scope::Axis2, slot);
        }
        self.set_body(if bytes.is_empty() { Body::Empty } else { Body::Bytes(bytes) });
        Ok(())
    }

    /// What the properties say about the header lines and the body of a message that leaves, either way.
    pub fn shape(&self, message: &mut Message) -> Outcome<()> {
        if let Some(content_type) = self.properties.get(Scope::Axis2, slot::CONTENT_TYPE) {
            message.head.set("Content-Type", content_type.text().as_bytes())?;
        }
        if self.properties.is_true(Scope::Axis2, slot::NO_ENTITY_BODY) {
            message.body = Body::Empty;
        }
        Ok(())
    }

    /// Whether the body is to be read before it leaves, so that its length can be told.
    pub fn wants_length(&self) -> bool {
        // HTTP/1.0 knows no other way to say where a body ends without ending the connection.
        [slot::DISABLE_CHUNKING, slot::FORCE_HTTP_CONTENT_LENGTH, slot::FORCE_HTTP_1_0]
            .into_iter()
            .any(|slot| self.properties.is_true(Scope::Axis2, slot))
    }

    /// What the properties say of how a request is sent.
    pub fn manner(&self) -> Manner {
        let is_set = |slot| self.properties.is_true(Scope::Axis2, slot);
        Manner {
            close: is_set(slot::NO_KEEPALIVE),
            http10: is_set(slot::FORCE_HTTP_1_0),
            absolute: is_set(slot::POST_TO_URI) || is_set(slot::FULL_URI),
        }
    }
}
