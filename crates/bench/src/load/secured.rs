//! Requests that are secured anew each time, and answers that are verified before they count.

use std::time::SystemTime;

use memchr::memmem;
use myelin_soap::Envelope;
use myelin_wss::Replays;
use myelin_wss::guard::{Arrival, Conversation, Departure};
use myelin_xml::c14n::{Canonical, Method, Subset, canonicalize};
use myelin_xml::{Document, Options, WriteOptions, write};

use super::client::Client;
use super::failure::Failure;
use super::plan::{Plan, Verify};
use crate::payload::Payload;

/// Answers within ten minutes; an answer that comes twice is none.
const ANSWERS: usize = 1_000_000;

/// What the connections of one thread share for secured messages.
pub(super) struct Sealing {
    client: Client,
    plan: Plan,
    /// The envelope in clear.
    envelope: Document,
    wanted: Wanted,
    replays: Replays,
}

/// What the answer has to be, once it is in clear.
enum Wanted {
    /// Well secured is well.
    Anything,
    /// The first element in its body, in its canonical form.
    Payload(Vec<u8>),
    Text(String),
}

impl Sealing {
    /// Nothing where the plan has no policy.
    ///
    /// Errors: the body is no SOAP envelope; the caller's.
    pub(super) fn new(plan: &Plan) -> anyhow::Result<Option<Sealing>> {
        let Some(client) = plan.security.clone() else { return Ok(None) };
        let envelope = envelope(plan.body.to_vec()).map_err(anyhow::Error::msg)?;
        let wanted = match &plan.verify {
            Verify::Status => Wanted::Anything,
            Verify::Contains(text) => Wanted::Text(text.clone()),
            Verify::Echo | Verify::Xml => Wanted::Payload(payload(&envelope)),
            Verify::Body(body) | Verify::Alike(body) => {
                Wanted::Payload(payload(&self::envelope(body.to_vec()).map_err(anyhow::Error::msg)?))
            }
        };
        let replays = Replays::in_memory(ANSWERS, SystemTime::UNIX_EPOCH);
        Ok(Some(Sealing { client, plan: plan.clone(), envelope, wanted, replays }))
    }

    /// The next request, head and body, and what its answer refers to.
    pub(super) fn seal(&self) -> Result<(Payload, Conversation), Failure> {
        let departure = Departure { now: SystemTime::now(), conversation: None };
        let secured = self.client.guard().secure(self.envelope.clone(), &departure);
        let secured = secured.map_err(|error| Failure::Security(error.to_string()))?;
        Ok((self.plan.request_with(&Payload::from(secured.bytes)), secured.conversation))
    }

    /// Verifies an answer and compares what is in it.
    pub(super) fn open(&self, body: &[u8], conversation: &Conversation) -> Result<(), Failure> {
        let document = Document::parse(body.to_vec(), &Options::default());
        let document = document.map_err(|error| Failure::Security(format!("the answer is no XML: {error}")))?;
        let arrival = Arrival {
            now: SystemTime::now(),
            tls: self.plan.target.secure,
            client_certificate: false,
            replays: &self.replays,
            conversation: Some(conversation),
            xml: &Options::default(),
        };
        let verified = self.client.guard().verify(document, &arrival);
        let document = verified.map_err(|refusal| Failure::Security(refusal.to_string()))?.document;
        match &self.wanted {
            Wanted::Anything => Ok(()),
            Wanted::Payload(wanted) if *wanted == payload(&document) => Ok(()),
            Wanted::Payload(_) => Err(Failure::Mismatch("another body than was expected".to_owned())),
            Wanted::Text(text) => {
                let mut written = Vec::new();
                write(&document, document.document_node(), &WriteOptions::default(), &mut written);
                match memmem::find(&written, text.as_bytes()) {
                    Some(_) => Ok(()),
                    None => Err(Failure::Mismatch("the text is not in the answer".to_owned())),
                }
            }
        }
    }
}

fn envelope(bytes: Vec<u8>) -> Result<Document, String> {
    let document = Document::parse(bytes, &Options::default()).map_err(|error| format!("this is no XML: {error}"))?;
    match Envelope::of(&document) {
        Some(_) => Ok(document),
        None => Err("only SOAP envelopes can be secured".to_owned()),
    }
}

/// The canonical form of the first element in the body; empty where there is none.
fn payload(document: &Document) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(apex) = Envelope::of(document).and_then(|envelope| envelope.payload(document)) {
        // What stands around it, such as declarations of the envelope, is no part of the comparison.
        let canonical = Canonical::new(Method::Exclusive);
        if canonicalize(document, Subset { apex, excluded: &[] }, &canonical, &mut bytes).is_err() {
            bytes.clear();
        }
    }
    bytes
}
