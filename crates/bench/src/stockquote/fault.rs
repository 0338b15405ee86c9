//! What is said to a request that cannot be answered.

use myelin_soap::{Code, Fault, Version, Who};

use super::reply::Reply;

/// Why a request is refused.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) who: Who,
    /// The status where no SOAP is spoken.
    status: u16,
    pub(super) reason: String,
}

impl Refusal {
    /// The request is wrong.
    pub(super) fn wrong(reason: impl Into<String>) -> Refusal {
        Refusal { who: Who::Sender, status: 400, reason: reason.into() }
    }

    /// What is asked for does not exist.
    pub(super) fn unknown(reason: impl Into<String>) -> Refusal {
        Refusal { who: Who::Sender, status: 404, reason: reason.into() }
    }

    /// The service fails, as it does for the symbol `ERR`.
    pub(super) fn failure(reason: impl Into<String>) -> Refusal {
        Refusal { who: Who::Receiver, status: 500, reason: reason.into() }
    }

    /// The answer: a SOAP fault, or a line of text where no SOAP is spoken.
    ///
    /// Source: the statuses are those of SOAP 1.1 §6.2 and SOAP 1.2 part 2 §7.5.2.2.
    pub(super) fn reply(&self, version: Option<Version>) -> Reply {
        let Some(version) = version else {
            return Reply { status: self.status, media_type: "text/plain", body: format!("{}\n", self.reason) };
        };
        let status = match (version, self.who) {
            (Version::Soap12, Who::Sender) => 400,
            _ => 500,
        };
        let code = Code::standard(version, self.who);
        let fault = Fault {
            version,
            code,
            subcode: None,
            reason: &self.reason,
            node: None,
            role: None,
            detail: None,
            header: None,
        };
        Reply { status, media_type: version.media_type(), body: fault.write() }
    }
}
