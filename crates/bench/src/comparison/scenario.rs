//! What the contenders do: what is sent, what must come back, and what must not get through.

use std::fmt;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::quotes;
use crate::payload::{self, Payload, SOAP_TYPE};
use crate::suite::Service;

/// What the contenders do.
///
/// Source: BENCHMARK.md §1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Scenario {
    /// Request and answer are passed on unread.
    Direct,
    /// The same through a resource of an API.
    DirectApi,
    /// `direct` over four backends that take turns.
    Pool,
    /// `direct`, after routing on a transport header.
    Header,
    /// `direct` with all that an operator switches on: access log, metrics, probes, correlation ids.
    Observed,
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
    /// Names are written backwards for the backend, and forwards again in its answer; a template for each name.
    Xslt,
    /// The same by the identity and six templates that rename.
    XsltIdentity,
    /// The same, character by character in a recursive template.
    XsltRecursive,
    /// The stock-quote service is asked for a quote, if it is for IBM.
    QuoteCbr,
    /// A question and an answer that the stock-quote service does not know become its own, and back.
    QuoteXslt,
    /// JSON becomes the content of a SOAP message.
    JsonToSoap,
    /// The same, and the answer becomes JSON again.
    JsonToSoapAndBack,
    /// The body becomes one of 20 orders, with a text of the request in each.
    #[value(name = "payload-20")]
    #[serde(rename = "payload-20")]
    Payload20,
    /// The same with 50 orders.
    #[value(name = "payload-50")]
    #[serde(rename = "payload-50")]
    Payload50,
    /// The same with 100 orders.
    #[value(name = "payload-100")]
    #[serde(rename = "payload-100")]
    Payload100,
    /// The same from JSON to JSON, with 100 orders.
    PayloadJson,
    /// The body is put aside while the backend is asked something else, and comes back.
    Enrich,
    /// The same with JSON.
    EnrichJson,
    /// Each order goes to the backend by itself; the answers become one.
    Iterate,
    /// The same with JSON.
    IterateJson,
    /// Two copies go to the backend at once; the answers become one.
    #[value(name = "clone-2")]
    #[serde(rename = "clone-2")]
    Clone2,
    /// The same with four copies.
    #[value(name = "clone-4")]
    #[serde(rename = "clone-4")]
    Clone4,
    /// The same with eight copies.
    #[value(name = "clone-8")]
    #[serde(rename = "clone-8")]
    Clone8,
    /// The same with eight copies of JSON.
    CloneJson,
    /// Requests that are timestamped, signed and encrypted are verified and decrypted, and answers secured likewise:
    /// RSA with 2048 bits, SHA-256, AES-128-GCM.
    Secure,
    /// The same as the public rounds had it: RSA with 1024 bits, RSA 1.5, SHA-1, AES-128-CBC.
    SecureLegacy,
}

/// The header that `header` routes on, and the value that leads to the backend.
pub(crate) const ROUTING: (&str, &str) = ("routing", "xadmin;server1;community#1.0##");

/// What servers are told to do besides the scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Besides {
    /// Clients come by HTTPS.
    pub(super) tls: bool,
    /// Every request gets a line in an access log.
    pub(super) access_log: bool,
}

/// How like the body that was expected an answer has to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Likeness {
    /// Byte for byte.
    #[default]
    Bytes,
    /// The same canonical form.
    Canonical,
}

impl Scenario {
    /// The name on the command line, in reports and in URLs.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// The scenario of that name.
    pub(super) fn of(name: &str) -> Option<Scenario> {
        Scenario::value_variants().iter().copied().find(|scenario| scenario.name() == name)
    }

    /// The scenario that a server does here: thousands of connections are no other work for it, nor is who watches it.
    pub(super) fn done_as(self) -> Scenario {
        match self {
            Scenario::Many | Scenario::Idle | Scenario::Observed => Scenario::Direct,
            scenario => scenario,
        }
    }

    /// Whether a bus has to do more than pass on: then what counts is how much more that costs than `direct`.
    pub(super) fn mediates(self) -> bool {
        self.done_as() != Scenario::Direct
    }

    /// Whether the content of the body matters, which a proxy for HTTP knows nothing of.
    pub(super) fn needs_content(self) -> bool {
        self.mediates() && !matches!(self, Scenario::Header | Scenario::DirectApi | Scenario::Pool)
    }

    /// Whether a stylesheet makes other elements of the body.
    pub(super) fn transforms(self) -> bool {
        matches!(self, Scenario::Xslt | Scenario::XsltIdentity | Scenario::XsltRecursive | Scenario::QuoteXslt)
    }

    /// Whether the client secures its requests, and verifies the answers.
    pub(super) fn is_secured(self) -> bool {
        matches!(self, Scenario::Secure | Scenario::SecureLegacy)
    }

    /// The service of WSO2's suite that does this.
    pub(super) fn service(self) -> Option<Service> {
        Some(match self {
            Scenario::JsonToSoap => Service::JsonToSoap,
            Scenario::JsonToSoapAndBack => Service::JsonToSoapAndBack,
            Scenario::Payload20 => Service::PayloadFactory(20),
            Scenario::Payload50 => Service::PayloadFactory(50),
            Scenario::Payload100 => Service::PayloadFactory(100),
            Scenario::PayloadJson => Service::PayloadFactoryJson,
            Scenario::Enrich => Service::Enrich,
            Scenario::EnrichJson => Service::EnrichJson,
            Scenario::Iterate => Service::Iterate,
            Scenario::IterateJson => Service::IterateJson,
            Scenario::Clone2 => Service::Clone(2),
            Scenario::Clone4 => Service::Clone(4),
            Scenario::Clone8 => Service::Clone(8),
            Scenario::CloneJson => Service::CloneJson,
            _ => return None,
        })
    }

    /// Whether the backend is the stock-quote service, and the size of the message what it is.
    pub(super) fn asks_for_quotes(self) -> bool {
        matches!(self, Scenario::QuoteCbr | Scenario::QuoteXslt)
    }

    /// The body of every request.
    pub(super) fn payload(self, size: u64) -> anyhow::Result<Payload> {
        if let Some(service) = self.service() {
            return service.request(size);
        }
        match self {
            Scenario::SoapHeader => payload::soap_with_block(size, ROUTING),
            Scenario::QuoteCbr => Ok(quotes::standard("IBM").into_bytes().into()),
            Scenario::QuoteXslt => Ok(quotes::custom("IBM").into_bytes().into()),
            _ => payload::soap(size),
        }
    }

    /// The content type of every request.
    pub(super) fn media_type(self) -> &'static str {
        self.service().map_or(SOAP_TYPE, Service::media_type)
    }

    /// The operation in `SOAPAction`.
    pub(super) fn action(self) -> &'static str {
        if self.asks_for_quotes() { "\"urn:getQuote\"" } else { "\"urn:buyStocks\"" }
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
    /// Shape: the payload itself, where no service of the suite makes something else of it; after `built`, with the empty SOAP header that taking out the only block leaves.
    pub(super) fn answer(self, size: u64) -> anyhow::Result<Vec<u8>> {
        if let Some(service) = self.service() {
            return service.answer(size);
        }
        let sent = self.payload(size)?.to_vec();
        match self {
            Scenario::Built => {
                let body = b"<soapenv:Body>";
                let start = sent.windows(body.len()).position(|window| window == body).unwrap_or(0);
                Ok([&sent[..start], b"<soapenv:Header></soapenv:Header>", &sent[start..]].concat())
            }
            Scenario::QuoteCbr => Ok(quotes::standard_answer("IBM").into_bytes()),
            Scenario::QuoteXslt => Ok(quotes::custom_answer("IBM").into_bytes()),
            _ => Ok(sent),
        }
    }

    /// What the echo gets, where it is not what the bus is sent; the proxy that leaves the answer as it is shows it.
    ///
    /// A bus that transformed nothing, there and back, would otherwise pass for one that does.
    pub(super) fn passed_on(self, size: u64) -> anyhow::Result<Option<Vec<u8>>> {
        if let Some(service) = self.service() {
            return service.passed_on(size);
        }
        let turned = self.transforms() && !self.asks_for_quotes();
        Ok(if turned { Some(payload::backwards(&self.payload(size)?.to_vec())) } else { None })
    }

    /// The body of a request without [`Scenario::headers`] that must not reach the backend; `None` where everything does.
    pub(super) fn stray(self) -> anyhow::Result<Option<Payload>> {
        const SIZE: u64 = 1024;
        Ok(match self {
            Scenario::Header => Some(payload::soap(SIZE)?),
            Scenario::SoapHeader => Some(payload::soap_with_block(SIZE, (ROUTING.0, "xadmin;server1;community"))?),
            Scenario::Cbr => Some(payload::soap_for("SUNW", SIZE)?),
            Scenario::CbrScan => Some(payload::soap_for(NOBODY, SIZE)?),
            Scenario::QuoteCbr => Some(quotes::standard("SUNW").into_bytes().into()),
            _ => None,
        })
    }

    /// The proxy service that leaves the answer as it is, where [`Scenario::passed_on`] says what that is.
    pub(super) fn proxy_there(self) -> String {
        match self.service().and_then(Service::proxy_there) {
            Some(proxy) => proxy.to_owned(),
            None => format!("{self}{ONLY_THERE}"),
        }
    }

    /// What only the backend's answers hold.
    pub(super) fn mark(self) -> &'static str {
        if self.asks_for_quotes() { "getQuoteResponse" } else { "buyStocks" }
    }
}

/// What the names of proxies end in that leave the answer as it is, after a stylesheet.
pub(super) const ONLY_THERE: &str = "-there";

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
    fn what_is_transformed_arrives_with_other_names_and_is_answered_with_those_that_were_sent() {
        for scenario in [Scenario::Xslt, Scenario::XsltIdentity, Scenario::XsltRecursive] {
            let passed_on = String::from_utf8(scenario.passed_on(600).unwrap().unwrap()).unwrap();
            assert!(passed_on.contains("<redro>") && !passed_on.contains("<order>"), "{passed_on}");
            assert_eq!(scenario.answer(600).unwrap(), scenario.payload(600).unwrap().to_vec());
        }
        assert_eq!(Scenario::Cbr.passed_on(600).unwrap(), None);
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
