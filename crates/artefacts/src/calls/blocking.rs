//! What `call blocking="true"` and `callout` share: what Synapse's blocking sender makes of a response.

use myelin_message::{Head, HeaderId};

use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::property::{Scope, Value, slot};

/// The statuses that are sound for one request besides those that always are.
pub(crate) struct AcceptedStatuses(Option<String>);

impl AcceptedStatuses {
    /// Those that the property `non.error.http.status.codes` lists, which belongs to the request.
    pub(crate) fn of(exchange: &Exchange) -> AcceptedStatuses {
        let listed = exchange.properties.get(Scope::Axis2, slot::NON_ERROR_STATUS_CODES);
        AcceptedStatuses(listed.map(|value| value.text().into_owned()))
    }

    /// Whether the response is one that the flow goes on with.
    ///
    /// Errors: the backend's, under that code, for other statuses.
    /// Source: Axis2 `HTTPSender.handleResponse`.
    pub(crate) fn check(&self, exchange: &Exchange, code: u32) -> Outcome<()> {
        let status = exchange.message.status;
        let is_listed = |listed: &String| listed.split(',').any(|word| word.trim() == status.as_str());
        if status.is_success() || matches!(status.as_u16(), 400 | 500) || self.0.as_ref().is_some_and(is_listed) {
            return Ok(());
        }
        let reason = exchange.message.reason.as_deref().or(status.canonical_reason()).unwrap_or_default();
        Err(Fault::status(code, format!("Transport error: {} Error: {reason}", status.as_str())))
    }
}

/// Leaves the status of another exchange's response in `HTTP_SC`.
pub(crate) fn tell_status(aside: &Exchange, exchange: &mut Exchange) {
    let status = Value::Integer(aside.message.status.as_u16().into());
    exchange.properties.put(Scope::Axis2, slot::HTTP_SC, Some(status));
}

/// Whether the request's header lines stay when the response comes.
pub(crate) fn keeps_headers(exchange: &Exchange) -> bool {
    let setting = exchange.properties.get(Scope::Default, slot::PRESERVE_REQUEST_HEADERS);
    setting.is_none_or(|value| value.text() != "false")
}

/// A request's header lines as those of a response whose body another head describes.
pub(crate) fn kept(mut head: Head, body: &Head) -> Head {
    // These would be untrue of a response.
    head.remove_if(|id, _| matches!(id, HeaderId::Host | HeaderId::Expect | HeaderId::UserAgent));
    described(head, body)
}

/// Gives an exchange the header lines of a response that another one got; whose body it has is said beside.
pub(crate) fn receive(exchange: &mut Exchange, aside: &mut Exchange, with_body: bool) {
    let response = std::mem::take(&mut aside.message.head);
    let own = std::mem::take(&mut exchange.message.head);
    exchange.message.head = match (keeps_headers(exchange), with_body) {
        (true, true) => described(own, &response),
        (true, false) => own,
        (false, true) => response,
        (false, false) => described(response, &own),
    };
}

/// The header lines of one message with those of another that say what the body is.
fn described(mut head: Head, body: &Head) -> Head {
    for name in ["Content-Type", "Content-Encoding"] {
        head.remove(name);
        if let Some(value) = body.first(name) {
            // What stood in one head can stand in another.
            let _ = head.set(name, value);
        }
    }
    head
}
