//! How a message came to the bus.

use std::borrow::Cow;
use std::fmt;
use std::net::SocketAddr;
use std::sync::OnceLock;

use crate::{FieldValue, Head, HeaderId, Uuid};

/// What a channel knows of a message apart from the message.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// The transport that it came by, as a proxy's `transports` attribute names it: `http`, `https`, `local`, `vfs`.
    pub transport: &'static str,
    /// The sender's address; `None` where no connection brought it.
    pub peer: Option<SocketAddr>,
    /// The address that the sender connected to; `None` where no connection brought it.
    pub local: Option<SocketAddr>,
    /// The name of the inbound endpoint that received it, if one did.
    pub inbound: Option<&'a str>,
    /// What ties the log lines of this exchange together.
    pub correlation: &'a CorrelationId,
}

/// What ties the log lines of an exchange together; empty where nobody gave one.
#[derive(Debug)]
pub struct CorrelationId {
    text: Text,
    trace: OnceLock<TraceMark>,
}

/// Which trace an exchange belongs to, and which span of it is the exchange's own, for lines of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceMark {
    /// The trace.
    pub trace: [u8; 16],
    /// The span.
    pub span: [u8; 8],
    /// Whether it was to be recorded when it began.
    pub is_sampled: bool,
}

impl TraceMark {
    /// The trace, in hexadecimal digits.
    pub fn trace_id(&self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.trace))
    }

    /// The span, in hexadecimal digits.
    pub fn span_id(&self) -> String {
        format!("{:016x}", u64::from_be_bytes(self.span))
    }
}

#[derive(Debug)]
enum Text {
    Given(Cow<'static, str>),
    Uuid(Uuid),
    OnDemand { make: fn() -> String, made: OnceLock<Box<str>> },
}

static NOBODYS: CorrelationId = CorrelationId::fixed("");

impl CorrelationId {
    /// That of an exchange that nobody gave one.
    pub const NONE: &CorrelationId = &NOBODYS;

    /// One that is known when the program is built.
    pub const fn fixed(text: &'static str) -> CorrelationId {
        CorrelationId { text: Text::Given(Cow::Borrowed(text)), trace: OnceLock::new() }
    }

    /// One that is made when somebody asks for it, so that exchanges of which nothing is logged pay nothing.
    pub const fn on_demand(make: fn() -> String) -> CorrelationId {
        CorrelationId { text: Text::OnDemand { make, made: OnceLock::new() }, trace: OnceLock::new() }
    }

    /// The one that a request brings, as `activityid`.
    pub fn of(request: &Head) -> Option<CorrelationId> {
        let said = request.known(HeaderId::ActivityId)?;
        Some(CorrelationId::from(String::from_utf8_lossy(said).into_owned()))
    }

    /// The exchange belongs to a trace; the first that is said counts. What is nobody's belongs to none.
    pub fn set_trace(&self, mark: TraceMark) {
        if !std::ptr::eq(self, CorrelationId::NONE) {
            let _ = self.trace.set(mark);
        }
    }

    /// The trace that the exchange belongs to, where it is traced.
    pub fn trace(&self) -> Option<TraceMark> {
        self.trace.get().copied()
    }

    /// The same as the value of a header line; `None` where it cannot be one.
    #[inline]
    pub fn field_value(&self) -> Option<FieldValue<'_>> {
        match &self.text {
            Text::Uuid(uuid) => Some(uuid.into()),
            _ => FieldValue::new(self.as_str().as_bytes()),
        }
    }

    /// The text of it.
    pub fn as_str(&self) -> &str {
        match &self.text {
            Text::Given(text) => text,
            Text::Uuid(uuid) => uuid.as_str(),
            Text::OnDemand { make, made } => made.get_or_init(|| make().into()),
        }
    }
}

impl Clone for CorrelationId {
    /// The same text, which is made by now.
    fn clone(&self) -> CorrelationId {
        let text = match &self.text {
            Text::Given(text) => Text::Given(text.clone()),
            Text::Uuid(uuid) => Text::Uuid(*uuid),
            Text::OnDemand { .. } => Text::Given(self.as_str().to_owned().into()),
        };
        CorrelationId { text, trace: self.trace.clone() }
    }
}

impl From<String> for CorrelationId {
    fn from(text: String) -> CorrelationId {
        CorrelationId { text: Text::Given(Cow::Owned(text)), trace: OnceLock::new() }
    }
}

impl From<Uuid> for CorrelationId {
    fn from(uuid: Uuid) -> CorrelationId {
        CorrelationId { text: Text::Uuid(uuid), trace: OnceLock::new() }
    }
}

impl fmt::Display for CorrelationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Arrival<'_> {
    /// Whether it came over TLS.
    pub fn is_secure(&self) -> bool {
        self.transport == "https"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_on_demand_is_made_once_and_a_copy_has_it() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let id = CorrelationId::on_demand(|| format!("id-{}", MADE.fetch_add(1, Ordering::Relaxed)));
        assert_eq!(MADE.load(Ordering::Relaxed), 0);
        let copy = id.clone();
        assert_eq!((copy.as_str(), id.as_str(), &*id.to_string()), ("id-0", "id-0", "id-0"));
        assert_eq!(CorrelationId::NONE.as_str(), "");
    }

    #[test]
    fn an_id_can_stand_in_a_header_line_where_its_text_can() {
        let value = |id: &CorrelationId| id.field_value().map(|value| value.as_bytes().to_vec());
        let uuid = Uuid::of_random((1, 2));
        let id = CorrelationId::from(uuid);
        assert_eq!(value(&id.clone()), Some(uuid.as_bytes().to_vec()));
        assert_eq!(
            (id.as_str(), value(&CorrelationId::from("a b".to_owned()))),
            (uuid.as_str(), Some(b"a b".to_vec()))
        );
        assert_eq!(value(&CorrelationId::from("a\r\nb".to_owned())), None);
    }
}
