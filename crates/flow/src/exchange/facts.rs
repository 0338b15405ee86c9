//! What is known of the current message without anybody having set it: where it goes, what it asks for, who it is.

use std::borrow::Cow;

use myelin_content::{Format, Tree, is_parameter, split_parameters};
use myelin_message::{Body, Head, HeaderId};
use myelin_soap::{Addressing, Headers};

use crate::context::RequestContext;
use crate::exchange::{Direction, Exchange};
use crate::identity;
use crate::property::{Lookup, Properties, Scope, Slot, slot};

impl Exchange {
    /// The rest of the request's path behind the service, with the query; set, or as it came.
    pub fn postfix(&self) -> Option<Cow<'_, str>> {
        match self.properties.find(Scope::Axis2, slot::REST_URL_POSTFIX) {
            Lookup::Set(value) => Some(value.text()),
            Lookup::Removed => None,
            Lookup::Untouched => {
                self.message.head.target().get(self.postfix_start..).filter(|rest| !rest.is_empty()).map(Cow::Borrowed)
            }
        }
    }

    /// Where the message is addressed: what `header name="To"` set, or the request target as it came.
    pub fn to(&self) -> Option<Cow<'_, str>> {
        match self.properties.find(Scope::Addressing, slot::TO) {
            Lookup::Set(value) => Some(value.text()),
            Lookup::Removed => None,
            Lookup::Untouched if self.direction == Direction::Response => Some(Cow::Borrowed(ANONYMOUS)),
            Lookup::Untouched => match self.header_part(slot::TO).filter(|to| !is_anonymous(to)) {
                Some(to) => Some(Cow::Owned(to)),
                None => Some(Cow::Borrowed(self.message.head.target())).filter(|target| !target.is_empty()),
            },
        }
    }

    /// Whether a part of WS-Addressing could stand in the header of a SOAP message that nobody has read.
    pub fn may_be_in_header(&self, part: Slot) -> bool {
        let is_unread =
            matches!(self.message.body, Body::Wire(_) | Body::Reading(..) | Body::Bytes(_) | Body::Shared(_));
        let is_soap = matches!(self.content.format, Format::Soap11 | Format::Soap12);
        is_unread
            && is_soap
            && self.properties.is_untouched(Scope::Addressing, part)
            && match part {
                slot::TO => !self.is_response(),
                // HTTP says it as well, and nobody reads a body for what its head tells.
                slot::ACTION => self.action().is_none_or(|action| action.is_empty()),
                _ => true,
            }
    }

    /// A part of WS-Addressing in the header of a message that was read.
    pub fn header_part(&self, part: Slot) -> Option<String> {
        let tree = self.message.body.built::<Tree>()?;
        let (_, headers) = Headers::read(tree.document(), &tree.envelope())?;
        match part {
            slot::TO => headers.to,
            slot::ACTION => headers.action,
            slot::MESSAGE_ID => headers.message_id,
            slot::REPLY_TO => headers.reply_to,
            slot::FAULT_TO => headers.fault_to,
            slot::FROM => headers.from,
            slot::RELATES_TO => headers.relates_to.into_iter().next().map(|relation| relation.message_id),
            _ => None,
        }
    }

    /// The message's action: what was set, else SOAP's own header line or parameter, else what its header says.
    pub fn action(&self) -> Option<Cow<'_, str>> {
        let action = action_of(&self.properties, &self.message.head);
        let is_said = action.as_ref().is_some_and(|action| !action.is_empty());
        if is_said || !self.properties.is_untouched(Scope::Addressing, slot::ACTION) {
            return action;
        }
        self.header_part(slot::ACTION).map(Cow::Owned).or(action)
    }

    /// An identifier of the current message: its own, else one that is made when it is first asked for.
    pub fn message_id(&self) -> &str {
        self.message_id.get_or_init(|| {
            let own = self.header_part(slot::MESSAGE_ID).filter(|id| !id.is_empty());
            own.unwrap_or_else(|| format!("urn:uuid:{}", identity::new()))
        })
    }

    /// A property of the message that the transport knows without anybody having set it.
    pub fn transport_property(&self, slot: Slot, context: &RequestContext<'_>) -> Option<Cow<'_, str>> {
        let is_request = self.direction == Direction::Request;
        match slot {
            slot::HTTP_METHOD if is_request => Some(Cow::Borrowed(self.message.head.method())),
            slot::TRANSPORT_IN_URL if is_request => Some(Cow::Borrowed(self.message.head.target())),
            slot::REST_URL_POSTFIX => self.postfix(),
            slot::REMOTE_ADDR | slot::REMOTE_HOST if is_request => {
                context.arrival.peer.map(|peer| Cow::Owned(peer.ip().to_string()))
            }
            slot::HTTP_SC | slot::ORIGINAL_STATUS_CODE if !is_request => {
                Some(Cow::Owned(self.message.status.as_str().to_owned()))
            }
            slot::HTTP_SC_DESC | slot::HTTP_REASON_PHRASE if !is_request => {
                let reason = self.message.reason.as_deref().or(self.message.status.canonical_reason());
                reason.map(Cow::Borrowed)
            }
            slot::CONTENT_TYPE | slot::MESSAGE_TYPE => {
                let value = String::from_utf8_lossy(self.message.head.known(HeaderId::ContentType)?);
                if slot == slot::CONTENT_TYPE {
                    return Some(value);
                }
                // The message type is the content type without its parameters.
                Some(match value {
                    Cow::Borrowed(text) => Cow::Borrowed(text.split(';').next().unwrap_or_default().trim()),
                    Cow::Owned(text) => Cow::Owned(text.split(';').next().unwrap_or_default().trim().to_owned()),
                })
            }
            slot::CHARACTER_SET_ENCODING => self.content.charset().map(|charset| Cow::Owned(charset.to_owned())),
            slot::TRANSPORT_HEADERS => Some(Cow::Owned(header_map(&self.message.head))),
            slot::RAW_PAYLOAD => match &self.message.body {
                Body::Bytes(bytes) if self.not_understood => Some(String::from_utf8_lossy(bytes)),
                _ => None,
            },
            slot::SERVICE_PREFIX => {
                let local = context.arrival.local.filter(|_| is_request)?;
                let scheme = context.arrival.transport;
                let end = self.postfix_start.min(self.message.head.target().len());
                let path = self.message.head.target().get(..end).unwrap_or_default();
                Some(Cow::Owned(format!("{scheme}://{local}{path}")))
            }
            _ => None,
        }
    }
}

/// Header lines as Java prints a map of them: by name, of each the first.
fn header_map(head: &Head) -> String {
    let mut lines: Vec<(String, &[u8])> = head.iter().map(|(name, value)| (name.to_owned(), value)).collect();
    lines.sort_by_cached_key(|(name, _)| name.to_ascii_lowercase());
    lines.dedup_by(|later, first| later.0.eq_ignore_ascii_case(&first.0));
    let pairs: Vec<String> =
        lines.iter().map(|(name, value)| format!("{name}={}", String::from_utf8_lossy(value))).collect();
    format!("{{{}}}", pairs.join(", "))
}

/// The action of a message with that head: what was set, else SOAP's own header line or parameter.
pub fn action_of<'a>(properties: &'a Properties, head: &'a Head) -> Option<Cow<'a, str>> {
    match properties.find(Scope::Addressing, slot::ACTION) {
        Lookup::Set(value) => return Some(value.text()),
        Lookup::Removed => return None,
        Lookup::Untouched => {}
    }
    if let Some(action) = head.first("SOAPAction") {
        let action = String::from_utf8_lossy(action);
        return Some(match action {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim_matches('"')),
            Cow::Owned(text) => Cow::Owned(text.trim_matches('"').to_owned()),
        });
    }
    let content_type = std::str::from_utf8(head.known(HeaderId::ContentType)?).ok()?;
    let action = split_parameters(content_type).skip(1).find(|piece| is_parameter(piece, "action"))?;
    action.split_once('=').map(|(_, value)| Cow::Borrowed(value.trim().trim_matches('"')))
}

/// Whether an address says "back on the way this came".
fn is_anonymous(address: &str) -> bool {
    [Addressing::Final, Addressing::Submission].iter().any(|version| version.anonymous() == address)
}

/// What WS-Addressing says for "whoever asked"; a response is addressed so (WS-Addressing 1.0 SOAP Binding §5.1).
pub(super) const ANONYMOUS: &str = "http://www.w3.org/2005/08/addressing/anonymous";
