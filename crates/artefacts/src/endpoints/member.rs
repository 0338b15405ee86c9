//! `<member>`: a host that takes the requests of a group, whatever their path.

use http::Uri;

use crate::endpoints::address::parse_uri;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};

/// A host with a port for each way that clients come.
pub struct Member {
    host: String,
    http: Option<u16>,
    https: Option<u16>,
}

impl Member {
    /// Reads a `<member>`.
    ///
    /// Errors: a [`Problem`] where it names no host, or something else than ports.
    pub(super) fn read(element: &Element) -> Result<Member, Problem> {
        let host = element.required("hostName")?;
        let (http, https) = (port(element.attribute("httpPort"))?, port(element.attribute("httpsPort"))?);
        if http.is_none() && https.is_none() {
            return Err(element.problem("<member> needs httpPort or httpsPort"));
        }
        let member = Member { host: host.value.trim().to_owned(), http, https };
        match format!("http://{}/", member.host).parse::<Uri>() {
            Ok(uri) if uri.host() == Some(&member.host) => Ok(member),
            _ => Err(host.problem(format!("{:?} is no host", host.value))),
        }
    }
}

impl Member {
    /// The host's name.
    pub(super) fn host(&self) -> &str {
        &self.host
    }
}

fn port(text: Option<Text<'_>>) -> Result<Option<u16>, Problem> {
    let Some(text) = text.filter(|text| !text.value.trim().is_empty()) else { return Ok(None) };
    match text.value.trim().parse() {
        Ok(port) if port > 0 => Ok(Some(port)),
        _ => Err(text.problem(format!("{:?} is no port", text.value))),
    }
}

/// Where a member gets a message: at the path it is addressed to, over HTTP or HTTPS as the client came.
///
/// Errors: the bus's, where the member has no port for that.
pub(super) fn uri(member: &Member, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Uri> {
    let (scheme, port) = match context.arrival.is_secure() {
        true => ("https", member.https),
        false => ("http", member.http),
    };
    let Some(port) = port else {
        let detail = format!("member {} has no port for {scheme}", member.host);
        return Err(Fault::bus("The address of the backend is not valid").with_detail(detail));
    };
    let to = exchange.to().unwrap_or_default();
    parse_uri(&format!("{scheme}://{}:{port}{}", member.host, path(&to)))
}

/// The path of an address, which of one that is whole is without its query, as in Synapse.
fn path(to: &str) -> &str {
    match to.split_once("://") {
        Some((_, rest)) => {
            let path = rest.find('/').map_or("", |start| &rest[start..]);
            path.split(['?', '#']).next().filter(|path| !path.is_empty()).unwrap_or("/")
        }
        None if to.starts_with('/') => to,
        None => "/",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_gets_the_path_that_the_message_is_addressed_to() {
        let check = |to: &str, expected: &str| assert_eq!(path(to), expected);
        check("/services/P?a=b", "/services/P?a=b");
        check("http://host:9000/services/P?a=b", "/services/P");
        check("http://host", "/");
        check("urn:somewhere", "/");
        check("", "/");
    }
}
