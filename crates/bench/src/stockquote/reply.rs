//! The answer to a request.

use myelin_soap::Version;

/// An answer; without a body, it needs no media type.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) media_type: &'static str,
    pub(super) body: String,
}

impl Reply {
    /// An answer in an envelope of that version, or without one; 202 where there is none.
    pub(super) fn of(version: Option<Version>, response: Option<String>) -> Reply {
        let Some(response) = response else {
            return Reply { status: 202, media_type: "", body: String::new() };
        };
        let Some(version) = version else {
            return Reply { status: 200, media_type: "application/xml", body: response };
        };
        let namespace = version.namespace();
        let start = format!("<soapenv:Envelope xmlns:soapenv=\"{namespace}\"><soapenv:Body>");
        let body = [&start, &response, "</soapenv:Body></soapenv:Envelope>"].concat();
        Reply { status: 200, media_type: version.media_type(), body }
    }
}
