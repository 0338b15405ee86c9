//! Where APIs are offered: which of them a request is for, by path, version, host and protocol.

use std::sync::Arc;

use myelin_message::{Head, HeaderId};

use crate::apis::Api;

/// Where an API is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The context without a slash at its end; empty for `/`.
    pub context: String,
    /// Empty where there is none.
    pub version: String,
    /// What paths start with: the context, and the version where it stands behind that.
    pub prefix: String,
    /// Only for that host, and that port.
    pub host: Option<String>,
    pub port: Option<u16>,
    /// Whether it is reached over plain HTTP, and over HTTPS.
    pub http: bool,
    pub https: bool,
    /// The inbound endpoints that it is reached through, if not at the ports of the server alone.
    pub bound: Option<Bound>,
}

/// What `binds-to` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Whether the ports of the server are among it.
    pub server: bool,
    pub inbounds: Vec<String>,
}

/// Who asks for an API.
#[derive(Clone, Copy, Debug)]
pub enum Caller<'a> {
    /// The server, at its own ports.
    Server,
    /// The inbound endpoint of that name.
    Inbound(&'a str),
}

/// An API at its address; a faulty one keeps its paths, so that nobody else answers in its place.
pub struct Offer {
    pub address: Address,
    pub api: Option<Arc<Api>>,
}

/// All APIs of a bus.
#[derive(Default)]
pub struct Offers(Vec<Offer>);

impl Offers {
    /// Puts offers into the order in which they are asked: those with a version first, and the longest context first.
    ///
    /// Source: `AbstractApiHandler` of WSO2's Synapse; Apache's asks in the order of the configuration.
    pub fn new(mut offers: Vec<Offer>) -> Offers {
        // Among equals, sound ones first: of two with one address, the second is the faulty one.
        offers.sort_by_key(|Offer { address, api }| {
            (address.version.is_empty(), usize::MAX - address.context.len(), api.is_none())
        });
        Offers(offers)
    }

    /// The offer for a request, by the path of its target with the query.
    pub fn find(&self, path: &str, head: &Head, secure: bool, caller: Caller<'_>) -> Option<&Offer> {
        let is_meant =
            |address: &Address| address.is_for(path) && address.is_offered_to(caller) && address.admits(head, secure);
        self.0.iter().find(|offer| is_meant(&offer.address))
    }

    /// The APIs that are served, in the order in which they are asked.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<Api>, &Address)> {
        self.0.iter().filter_map(|offer| Some((offer.api.as_ref()?, &offer.address)))
    }
}

impl Address {
    /// Whether a path starts with it and ends there, or goes on with another segment or a query.
    fn is_for(&self, path: &str) -> bool {
        path.strip_prefix(self.prefix.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
    }

    fn is_offered_to(&self, caller: Caller<'_>) -> bool {
        match (caller, &self.bound) {
            (Caller::Server, bound) => bound.as_ref().is_none_or(|bound| bound.server),
            (Caller::Inbound(name), Some(bound)) => bound.inbounds.iter().any(|known| known == name),
            (Caller::Inbound(_), None) => false,
        }
    }

    /// Whether it is for the host, the port and the protocol of a request.
    fn admits(&self, head: &Head, secure: bool) -> bool {
        if !(if secure { self.https } else { self.http }) {
            return false;
        }
        if self.host.is_none() && self.port.is_none() {
            return true;
        }
        let Some(host) = head.known(HeaderId::Host).and_then(|host| std::str::from_utf8(host).ok()) else {
            return false;
        };
        let (name, port) = split(host);
        let port = port.unwrap_or(if secure { "443" } else { "80" });
        self.host.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(name))
            && self.port.is_none_or(|wanted| port.parse() == Ok(wanted))
    }
}

/// A host and its port, where one is named; an IPv6 address has colons of its own (RFC 3986 §3.2.2).
fn split(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(context: &str, version: &str, prefix: &str) -> Address {
        Address {
            context: context.to_owned(),
            version: version.to_owned(),
            prefix: prefix.to_owned(),
            host: None,
            port: None,
            http: true,
            https: true,
            bound: None,
        }
    }

    #[test]
    fn the_longest_context_is_asked_first_and_a_version_before_none() {
        let addresses = [
            address("", "", ""),
            address("/a", "", "/a"),
            address("/a", "1", "/a/1"),
            address("/a/b", "", "/a/b"),
            address("/2/a", "2", "/2/a"),
        ];
        let offers = Offers::new(addresses.map(|address| Offer { address, api: None }).into());
        let check = |path: &str, expected: &str| {
            let found =
                offers.find(path, &Head::default(), false, Caller::Server).map(|offer| offer.address.prefix.as_str());
            assert_eq!(found, Some(expected), "{path}");
        };
        check("/a", "/a");
        check("/a?x", "/a");
        check("/a/1/x", "/a/1");
        check("/a/1?x", "/a/1");
        check("/a/12", "/a");
        check("/a/b/c", "/a/b");
        check("/ab", "");
        check("/2/a/x", "/2/a");
        check("?x", "");
    }

    #[test]
    fn an_api_may_be_for_one_host_port_and_protocol() {
        let check = |host: &str, secure: bool, expected: bool| {
            let restricted =
                Address { host: Some("Shop.example".to_owned()), port: Some(8280), http: false, ..address("", "", "") };
            let mut head = Head::default();
            head.set("Host", host.as_bytes()).unwrap();
            assert_eq!(restricted.admits(&head, secure), expected, "{host}");
        };
        check("shop.example:8280", true, true);
        check("shop.example:8280", false, false);
        check("shop.example", true, false);
        check("other.example:8280", true, false);
        assert_eq!(split("[::1]:80"), ("[::1]", Some("80")));
        assert_eq!(split("[::1]"), ("[::1]", None));
    }
}
