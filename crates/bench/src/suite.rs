//! The part of WSO2's performance suite that is about content: what its services are sent, and what must come back.
//!
//! The services are those of the examples `json-to-soap`, `payload-factory`, `enrich` and `aggregate`.
//! What is expected is made of the request by replacing text, so that no processor of XML or JSON has to be believed.
//! Source: the proxy services and payloads of wso2/performance-ei; what differs stands in docs/benchmarks.md.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::payload::{self, Payload, SOAP_TYPE};

/// A service of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// JSON becomes the content of a SOAP 1.2 message, and that is what the client gets.
    JsonToSoap,
    /// The same, and the answer becomes JSON again.
    JsonToSoapAndBack,
    /// The body becomes one of so many orders, which is what the client gets.
    PayloadFactory(usize),
    /// The same with JSON, and a hundred orders.
    PayloadFactoryJson,
    /// The body is put aside, the backend is asked something else, and the body comes back.
    Enrich,
    /// The same with JSON.
    EnrichJson,
    /// Each order goes to the backend by itself; the answers become one.
    Iterate,
    /// The same with JSON.
    IterateJson,
    /// So many copies go to the backend at once; the answers become one.
    Clone(usize),
    /// The same with JSON, and eight copies.
    CloneJson,
}

/// The configurations of the services, and the files that they name.
const EXAMPLES: [(&str, &str); 4] = [
    ("json-to-soap.xml", include_str!("../../../examples/json-to-soap/synapse.xml")),
    ("payload-factory.xml", include_str!("../../../examples/payload-factory/synapse.xml")),
    ("enrich.xml", include_str!("../../../examples/enrich/synapse.xml")),
    ("aggregate.xml", include_str!("../../../examples/aggregate/synapse.xml")),
];
const TEMPLATES: [(&str, &str); 4] = [
    ("orders-20.xml", include_str!("../../../examples/payload-factory/orders-20.xml")),
    ("orders-50.xml", include_str!("../../../examples/payload-factory/orders-50.xml")),
    ("orders-100.xml", include_str!("../../../examples/payload-factory/orders-100.xml")),
    (JSON_TEMPLATE, include_str!("../../../examples/payload-factory/orders-100.json")),
];
const JSON_TEMPLATE: &str = "orders-100.json";

/// The backend of the examples.
const BACKEND: &str = "127.0.0.1:9000";

/// Writes the configurations of all services, with `backend` behind them; their files.
///
/// Errors: a file cannot be written.
pub fn write(folder: &Path, backend: &str) -> anyhow::Result<Vec<PathBuf>> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    };
    for (name, text) in TEMPLATES {
        write(name, text)?;
    }
    EXAMPLES.iter().map(|(name, text)| write(name, &text.replace(BACKEND, backend))).collect()
}

impl Service {
    /// The name of the proxy service.
    pub fn proxy(self) -> String {
        match self {
            Service::JsonToSoap => "JsonToSoap".to_owned(),
            Service::JsonToSoapAndBack => "JsonToSoapAndBack".to_owned(),
            Service::PayloadFactory(orders) => format!("PayloadFactory{orders}"),
            Service::PayloadFactoryJson => "PayloadFactoryJson".to_owned(),
            Service::Enrich => "EnrichBackAndForth".to_owned(),
            Service::EnrichJson => "EnrichBackAndForthJson".to_owned(),
            Service::Iterate => "IterateAndAggregate".to_owned(),
            Service::IterateJson => "IterateAndAggregateJson".to_owned(),
            Service::Clone(copies) => format!("CloneAndAggregate{copies}"),
            Service::CloneJson => "CloneAndAggregate8".to_owned(),
        }
    }

    /// The name of the proxy service that gives the client what the backend got, where `proxy` hides that.
    pub fn proxy_there(self) -> Option<&'static str> {
        match self {
            Service::JsonToSoapAndBack => Some("JsonToSoap"),
            Service::Enrich => Some("EnrichForth"),
            Service::EnrichJson => Some("EnrichForthJson"),
            _ => None,
        }
    }

    /// Whether requests are JSON.
    pub fn takes_json(self) -> bool {
        self.answers_json() || self == Service::JsonToSoap
    }

    /// Whether answers are JSON, which is compared byte for byte; XML may be written in other ways.
    pub fn answers_json(self) -> bool {
        match self {
            Service::JsonToSoapAndBack
            | Service::PayloadFactoryJson
            | Service::EnrichJson
            | Service::IterateJson
            | Service::CloneJson => true,
            Service::JsonToSoap
            | Service::PayloadFactory(_)
            | Service::Enrich
            | Service::Iterate
            | Service::Clone(_) => false,
        }
    }

    /// The content type of requests.
    pub fn media_type(self) -> &'static str {
        if self.takes_json() { "application/json" } else { SOAP_TYPE }
    }

    /// The body of a request, of so many bytes.
    ///
    /// Errors: there is no message as small as that; the caller's.
    pub fn request(self, size: u64) -> anyhow::Result<Payload> {
        if self.takes_json() { payload::json(size) } else { payload::soap(size) }
    }

    /// What must come back for a request of so many bytes.
    ///
    /// Errors: as [`Service::request`].
    pub fn answer(self, size: u64) -> anyhow::Result<Vec<u8>> {
        let sent = String::from_utf8(self.request(size)?.to_vec())?;
        Ok(match self {
            Service::JsonToSoap => as_soap(&sent),
            Service::JsonToSoapAndBack | Service::Enrich | Service::EnrichJson => sent,
            Service::PayloadFactory(orders) => with_content(&sent, &filled(&format!("orders-{orders}.xml"))),
            Service::PayloadFactoryJson => filled(JSON_TEMPLATE),
            Service::Iterate => {
                let (_, orders) = split(content(&sent), ">");
                let (orders, _) = split_at_last(orders, "</m:buyStocks>");
                with_content(&sent, &format!("<all>{orders}</all>"))
            }
            Service::IterateJson => {
                let (_, orders) = split(&sent, "[");
                format!(r#"{{"all":[{}]}}"#, split_at_last(orders, "]").0)
            }
            Service::Clone(copies) => with_content(&sent, &format!("<all>{}</all>", content(&sent).repeat(copies))),
            Service::CloneJson => format!(r#"{{"all":[{}]}}"#, [sent.as_str(); 8].join(",")),
        }
        .into_bytes())
    }

    /// What [`Service::proxy_there`] answers, where there is one.
    ///
    /// Errors: as [`Service::request`].
    pub fn passed_on(self, size: u64) -> anyhow::Result<Option<Vec<u8>>> {
        Ok(match self {
            Service::JsonToSoapAndBack => Some(Service::JsonToSoap.answer(size)?),
            Service::Enrich => {
                let sent = String::from_utf8(self.request(size)?.to_vec())?;
                Some(with_content(&sent, "<hello>world</hello>").into_bytes())
            }
            Service::EnrichJson => Some(br#"{"hello":"world"}"#.to_vec()),
            _ => None,
        })
    }
}

/// A template with the symbol that comes first in every request.
fn filled(template: &str) -> String {
    let text = TEMPLATES.iter().find(|(name, _)| *name == template).map_or("", |(_, text)| text);
    let text = text.replace("$1", "IBM");
    // White space between elements is indentation; between the values of JSON it stays.
    if template == JSON_TEMPLATE { text.trim_end().to_owned() } else { text.lines().map(str::trim_start).collect() }
}

/// The SOAP message that a JSON request becomes.
fn as_soap(sent: &str) -> String {
    let content = [
        (r#"{"buyStocks":{"order":["#, "<buyStocks>"),
        (r#"{"symbol":""#, "<order><symbol>"),
        (r#"","buyerID":""#, "</symbol><buyerID>"),
        (r#"","price":"#, "</buyerID><price>"),
        (r#","volume":"#, "</price><volume>"),
        ("]}}", "</buyStocks>"),
        ("},", "</volume></order>"),
        ("}", "</volume></order>"),
    ]
    .iter()
    .fold(sent.to_owned(), |text, (json, xml)| text.replace(json, xml));
    format!(
        r#"<soapenv:Envelope xmlns:soapenv="http://www.w3.org/2003/05/soap-envelope"><soapenv:Header/><soapenv:Body>{content}</soapenv:Body></soapenv:Envelope>"#
    )
}

/// What stands in the body of an envelope.
fn content(envelope: &str) -> &str {
    let (_, rest) = split(envelope, "<soapenv:Body>");
    split_at_last(rest, "</soapenv:Body>").0
}

/// An envelope with something else in its body.
fn with_content(envelope: &str, other: &str) -> String {
    envelope.replace(content(envelope), other)
}

fn split<'a>(text: &'a str, mark: &str) -> (&'a str, &'a str) {
    text.split_once(mark).unwrap_or((text, ""))
}

fn split_at_last<'a>(text: &'a str, mark: &str) -> (&'a str, &'a str) {
    text.rsplit_once(mark).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(service: Service, size: u64) -> String {
        String::from_utf8(service.answer(size).unwrap()).unwrap()
    }

    #[test]
    fn json_that_is_sent_is_expected_as_soap_and_as_it_was() {
        let soap = answer(Service::JsonToSoap, 500);
        let document = roxmltree::Document::parse(&soap).unwrap();
        let orders = document.descendants().filter(|node| node.has_tag_name("order")).count();
        let sent = Service::JsonToSoap.request(500).unwrap().to_vec();
        let json: serde_json::Value = serde_json::from_slice(&sent).unwrap();
        assert_eq!(json["buyStocks"]["order"].as_array().map(Vec::len), Some(orders));
        let first = document.descendants().find(|node| node.has_tag_name("order")).unwrap();
        let texts: Vec<_> = first.children().map(|node| (node.tag_name().name(), node.text().unwrap())).collect();
        assert_eq!(texts, [("symbol", "IBM"), ("buyerID", "myelin"), ("price", "140.34"), ("volume", "2000")]);
        assert_eq!(answer(Service::JsonToSoapAndBack, 500).as_bytes(), sent);
    }

    #[test]
    fn as_many_orders_and_copies_are_expected_as_the_name_of_the_service_says() {
        for orders in [20, 50, 100] {
            let text = answer(Service::PayloadFactory(orders), 500);
            assert_eq!(text.matches("<order><symbol>IBM</symbol>").count(), orders);
        }
        let json: serde_json::Value = serde_json::from_str(&answer(Service::PayloadFactoryJson, 500)).unwrap();
        assert_eq!(json["buyStocks"]["order"].as_array().map(Vec::len), Some(100));
        for copies in [2, 4, 8] {
            assert_eq!(answer(Service::Clone(copies), 500).matches("</m:buyStocks>").count(), copies);
        }
        let json: serde_json::Value = serde_json::from_str(&answer(Service::CloneJson, 500)).unwrap();
        assert_eq!(json["all"].as_array().map(Vec::len), Some(8));
    }

    #[test]
    fn the_parts_of_a_message_are_expected_in_their_order_around_nothing_else() {
        let text = answer(Service::Iterate, 600);
        let sent = String::from_utf8(Service::Iterate.request(600).unwrap().to_vec()).unwrap();
        let (_, orders) = sent.split_once(r#"xmlns:m="http://services.samples/xsd">"#).unwrap();
        let orders = orders.split_once("</m:buyStocks>").unwrap().0;
        assert!(text.ends_with(&format!("<all>{orders}</all></soapenv:Body></soapenv:Envelope>")), "{text}");
        let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let sent = String::from_utf8(Service::IterateJson.request(600).unwrap().to_vec()).unwrap();
        assert_eq!(json(&answer(Service::IterateJson, 600))["all"], json(&sent)["buyStocks"]["order"]);
    }
}
