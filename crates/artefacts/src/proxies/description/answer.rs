//! The answers to questions about a service.

use std::sync::Arc;

use myelin_message::{HeaderId, Message, StatusCode};
use myelin_wsdl::{Addresses, Documents, Page, Scheme};

use crate::proxies::Proxy;
use crate::proxies::description::{DescriptionSource, MetadataQuery, PublishedDescription};
use myelin_flow::answer::{plain, with_body};
use myelin_flow::definitions::Definitions;
use myelin_flow::transport::Transport;
use myelin_message::Arrival;

const XML: &str = "text/xml; charset=UTF-8";

/// Answers the question about a proxy that starts there in the request's target; the answer to HEAD is that to GET, which the transport knows.
///
/// Errors: none; what is not there is answered with 404, what cannot be fetched with 502.
pub async fn answer(
    proxy: &Proxy,
    question_start: usize,
    request: &Message,
    definitions: &Definitions,
    transport: &dyn Transport,
    arrival: &Arrival<'_>,
) -> Message {
    let asked = request.head.target().get(question_start..).and_then(MetadataQuery::of);
    let Some(question) = asked.filter(|question| *question != MetadataQuery::Policy) else {
        // A policy file often names key stores with their passwords: it is nobody's but the operator's.
        return plain(StatusCode::NOT_FOUND, "Policies are not published");
    };
    let interface = match &proxy.description.source {
        DescriptionSource::Ready(interface) => Arc::clone(interface),
        DescriptionSource::Remote(location, remote) => {
            let options = &proxy.description.options;
            let make = |documents: &Documents| PublishedDescription::of(documents, options);
            let made = match location.uri(definitions) {
                Some(uri) => remote.get(&uri, transport, make).await,
                None => Err("the endpoint has no fixed address to which ?wsdl could be added".to_owned()),
            };
            match made {
                Ok(interface) => interface,
                Err(message) => {
                    tracing::warn!(target: "myelin::description", "{message}");
                    return plain(StatusCode::BAD_GATEWAY, "The description of this service cannot be had at present");
                }
            }
        }
        DescriptionSource::Unreadable => {
            return plain(StatusCode::NOT_FOUND, "The description of this service could not be read");
        }
    };
    let published = &interface.published;
    let page = match &question {
        MetadataQuery::Wsdl(name) if name.is_empty() => Some(&published.wsdl),
        MetadataQuery::Wsdl(name) => published.descriptions.get(&**name),
        MetadataQuery::Wsdl2 => Some(&published.wsdl2),
        MetadataQuery::Schema(name) if name.is_empty() => published.schema.as_ref(),
        MetadataQuery::Schema(name) => published.schema(name),
        MetadataQuery::Info => return with_body("text/html; charset=UTF-8", info(proxy, &interface)),
        MetadataQuery::Policy => None,
    };
    match page {
        Some(page) => with_body(XML, filled(page, request, definitions, arrival)),
        None => plain(StatusCode::NOT_FOUND, "This service has no document of that name"),
    }
}

fn filled(page: &Page, request: &Message, definitions: &Definitions, arrival: &Arrival<'_>) -> Vec<u8> {
    let [http, https] = definitions.settings.addresses.bases(request.head.known(HeaderId::Host), arrival);
    let asked = if arrival.is_secure() { Scheme::Https } else { Scheme::Http };
    page.fill(&Addresses { asked, http: http.as_deref(), https: https.as_deref() })
}

/// What a service offers, for people.
fn info(proxy: &Proxy, interface: &PublishedDescription) -> String {
    let name = myelin_soap::escaped(&proxy.identity.name);
    let described = &interface.described;
    let says = proxy.description.options.documentation.as_ref().or(described.documentation.as_ref());
    let says = says.map(|says| format!("<p>{}</p>\n", myelin_soap::escaped(says))).unwrap_or_default();
    let operation = |name: &str| format!("<li>{}</li>\n", myelin_soap::escaped(name));
    let operations: String = described.operations.iter().map(|it| operation(&it.name)).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><title>{name}</title></head>\n<body>\n<h1>{name}</h1>\n{says}\
         <p><a href=\"{name}?wsdl\">WSDL 1.1</a>, <a href=\"{name}?wsdl2\">WSDL 2.0</a></p>\n\
         <h2>Operations</h2>\n<ul>\n{operations}</ul>\n</body>\n</html>\n"
    )
}
