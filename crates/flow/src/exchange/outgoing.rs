//! What properties of scope `axis2` say of a message that leaves and that takes more than its head to do.

use myelin_content::{Charset, Content, Format, charset, remove_charset, write_charset};
use myelin_message::{Body, Head, HeaderId, Message};
use myelin_wss::algorithm::DigestMethod;
use myelin_wss::crypto;

use crate::context::RequestContext;
use crate::exchange::{Direction, Exchange};
use crate::fault::{Fault, Outcome};
use crate::forms::take_tree;
use crate::ids::SequenceId;
use crate::property::{Scope, Slot, slot};

/// The properties that the functions here heed.
const OUTGOING: [Slot; 3] = [slot::CHARACTER_SET_ENCODING, slot::SET_CHARACTER_ENCODING, slot::HTTP_ETAG];

impl Exchange {
    /// Whether anything is left to be done to a message that leaves.
    pub fn has_outgoing_properties(&self) -> bool {
        self.properties.has_any(Scope::Axis2, &OUTGOING)
    }

    /// Whether the configuration wants no character set in content types.
    fn names_no_charset(&self) -> bool {
        let setting = self.properties.get(Scope::Axis2, slot::SET_CHARACTER_ENCODING);
        setting.is_some_and(|value| value.text().trim().eq_ignore_ascii_case("false"))
    }

    /// Writes XML in the encoding of `CHARACTER_SET_ENCODING`.
    ///
    /// Errors: the bus's, where there is no such encoding or the message cannot be written in it; whoever's body it is.
    pub async fn recode(&self, head: &mut Head, body: &mut Body, context: &RequestContext<'_>) -> Outcome<()> {
        let Some(wanted) = self.properties.get(Scope::Axis2, slot::CHARACTER_SET_ENCODING) else { return Ok(()) };
        let wanted = wanted.text();
        let Some(wanted) = Charset::of(&wanted) else {
            return Err(Fault::bus("CHARACTER_SET_ENCODING is not offered").with_detail(format!("it is {wanted:?}")));
        };
        let is_xml =
            matches!(Format::of(head.known(HeaderId::ContentType)), Format::Soap11 | Format::Soap12 | Format::Pox);
        if !is_xml || self.names_no_charset() || wanted.is(charset(head).as_deref()) || matches!(body, Body::Empty) {
            return Ok(());
        }
        let is_response = self.direction == Direction::Response;
        let content = Content::of(head);
        let tree = take_tree(head, body, &content, context, is_response).await?;
        *body = Body::Bytes(wanted.encode(&tree.text())?);
        write_charset(head, wanted.name());
        Ok(())
    }

    /// Leaves the character set out of a content type, where the configuration wants that.
    pub fn bare_content_type(&self, head: &mut Head) {
        if self.names_no_charset() {
            remove_charset(head);
        }
    }

    /// Makes an answer what these properties say.
    ///
    /// Errors: as [`Exchange::recode`].
    pub async fn apply_outgoing_properties(&self, message: &mut Message, context: &RequestContext<'_>) -> Outcome<()> {
        self.recode(&mut message.head, &mut message.body, context).await?;
        self.bare_content_type(&mut message.head);
        self.tag(&mut message.head, &mut message.body, context).await
    }

    /// Gives an answer its `ETag` (RFC 9110 §8.8.3), which tells bodies apart.
    ///
    /// Errors: whoever's body it is.
    async fn tag(&self, head: &mut Head, body: &mut Body, context: &RequestContext<'_>) -> Outcome<()> {
        if !self.properties.is_true(Scope::Axis2, slot::HTTP_ETAG) {
            return Ok(());
        }
        let is_response = self.direction == Direction::Response;
        let read = body.bytes(context.definitions.settings.body_limit_bytes).await;
        let bytes = read.map_err(|error| Fault::body(&error, is_response))?;
        let digest = crypto::digest(DigestMethod::Sha256, bytes);
        // Half of it tells more bodies apart than anybody will ever send.
        let hex: String = digest.as_ref()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        head.set("ETag", format!("\"{hex}\"").as_bytes())?;
        Ok(())
    }

    /// The sequence that `RECEIVING_SEQUENCE` names for the next response, which is forgotten then.
    ///
    /// Errors: the bus's, where there is no such sequence.
    pub fn take_receiver(&mut self, context: &RequestContext<'_>) -> Outcome<Option<SequenceId>> {
        let Some(name) = self.properties.get(Scope::Default, slot::RECEIVING_SEQUENCE) else { return Ok(None) };
        let name = name.text().into_owned();
        self.properties.put(Scope::Default, slot::RECEIVING_SEQUENCE, None);
        crate::sequence::named(&name, context).map(|(id, _)| Some(id))
    }
}
