//! What the contenders do: what is sent, what must come back, and what must not get through.

use std::fmt;

use clap::ValueEnum;
use serde::Serialize;

use crate::payload::{self, Payload};

/// What the contenders do.
///
/// Source: BENCHMARK.md §1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Scenario {
    /// Request and answer are passed on unread.
    Direct,
    /// The same, after routing on a transport header.
    Header,
    /// `direct` with 1 KB over 2,560 connections.
    Many,
    /// `direct` with 1 KB over 500 connections while 9,500 others are open and silent.
    Idle,
    /// Both bodies are read whole, and passed on as they came.
    Relay,
    /// Both bodies become trees that nobody changes, and are passed on as they came.
    BuiltUnchanged,
    /// Both bodies become trees, are changed in their SOAP header, and written again.
    Built,
    /// Routing on a block of the SOAP header.
    SoapHeader,
    /// Routing on the first order of the body; what is not for IBM gets a SOAP fault.
    Cbr,
    /// Routing on an expression that only the end of the body decides.
    CbrScan,
}

/// The header that `header` routes on, and the value that leads to the backend.
pub(crate) const ROUTING: (&str, &str) = ("routing", "xadmin;server1;community#1.0##");

/// How like the body that was expected an answer has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    /// Byte for byte.
    Bytes,
    /// The same canonical form.
    Canonical,
}

impl Scenario {
    /// The name on the command line, in reports and in URLs.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Whether a mediator has to look at something: then what counts is how much more that costs than `direct`.
    pub(super) fn mediates(self) -> bool {
        !matches!(self, Scenario::Direct | Scenario::Many | Scenario::Idle)
    }

    /// Whether the content of the body matters, which a proxy for HTTP knows nothing of.
    pub(super) fn needs_content(self) -> bool {
        self.mediates() && self != Scenario::Header
    }

    /// The body of every request.
    pub(super) fn payload(self, size: u64) -> anyhow::Result<Payload> {
        match self {
            Scenario::SoapHeader => payload::soap_with_block(size, ROUTING),
            _ => payload::soap(size),
        }
    }

    /// Header lines that every request has besides those of SOAP over HTTP.
    pub(super) fn headers(self) -> Vec<(String, String)> {
        match self {
            Scenario::Header => vec![(ROUTING.0.to_owned(), ROUTING.1.to_owned())],
            _ => Vec::new(),
        }
    }

    /// The body of a good answer to [`Scenario::payload`] from a bus that leaves alone what it was not told to change.
    ///
    /// Shape: the payload itself; after `built`, with the empty SOAP header that taking out the only block leaves.
    pub(super) fn answer(self, size: u64) -> anyhow::Result<Vec<u8>> {
        let sent = self.payload(size)?.to_vec();
        if self != Scenario::Built {
            return Ok(sent);
        }
        let body = b"<soapenv:Body>";
        let start = sent.windows(body.len()).position(|window| window == body).unwrap_or(0);
        Ok([&sent[..start], b"<soapenv:Header></soapenv:Header>", &sent[start..]].concat())
    }

    /// The body of a request without [`Scenario::headers`] that must not reach the backend; `None` where everything does.
    pub(super) fn stray(self) -> anyhow::Result<Option<Payload>> {
        const SIZE: u64 = 1024;
        Ok(match self {
            Scenario::Header => Some(payload::soap(SIZE)?),
            Scenario::SoapHeader => Some(payload::soap_with_block(SIZE, (ROUTING.0, "xadmin;server1;community"))?),
            Scenario::Cbr => Some(payload::soap_for("SUNW", SIZE)?),
            Scenario::CbrScan => Some(payload::soap_for(NOBODY, SIZE)?),
            _ => None,
        })
    }
}

/// The symbol that `cbr-scan` looks for and no payload has.
pub(super) const NOBODY: &str = "NOBODY";

impl fmt::Display for Scenario {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_what_was_sent_but_for_an_empty_header_where_the_message_is_written_again() {
        let sent = Scenario::Cbr.payload(600).unwrap().to_vec();
        assert_eq!(Scenario::Cbr.answer(600).unwrap(), sent);
        let written = String::from_utf8(Scenario::Built.answer(600).unwrap()).unwrap();
        assert_eq!(written.replace("<soapenv:Header></soapenv:Header>", "").as_bytes(), sent);
        assert!(written.contains("><soapenv:Header></soapenv:Header><soapenv:Body>"), "{written}");
    }

    #[test]
    fn strays_differ_from_what_is_routed_only_in_what_is_routed_on() {
        for scenario in Scenario::value_variants() {
            let Some(stray) = scenario.stray().unwrap() else { continue };
            let routed = scenario.payload(stray.length()).unwrap();
            assert_eq!(stray.to_vec() == routed.to_vec(), !scenario.headers().is_empty(), "{scenario}");
        }
        assert_eq!(Scenario::CbrScan.name(), "cbr-scan");
    }
}
