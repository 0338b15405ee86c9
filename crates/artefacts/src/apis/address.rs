//! Where an API is offered: path, version, host, port, protocols and inbound endpoints.

use myelin_message::{Head, HeaderId};

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
    /// The port that a request must have asked for, where one is demanded.
    pub port: Option<u16>,
    /// Whether requests over plain HTTP are served.
    pub http: bool,
    /// Whether requests over TLS are served.
    pub https: bool,
    /// The inbound endpoints that it is reached through, if not at the ports of the server alone.
    pub bound: Option<Bound>,
}

/// What `binds-to` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Whether the ports of the server are among it.
    pub server: bool,
    /// The inbound endpoints that it is bound to; empty where it is bound to none.
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

impl Address {
    /// Whether a path starts with it and ends there, or goes on with another segment or a query.
    pub(super) fn is_for(&self, path: &str) -> bool {
        path.strip_prefix(self.prefix.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
    }

    pub(super) fn is_offered_to(&self, caller: Caller<'_>) -> bool {
        match (caller, &self.bound) {
            (Caller::Server, bound) => bound.as_ref().is_none_or(|bound| bound.server),
            (Caller::Inbound(name), Some(bound)) => bound.inbounds.iter().any(|known| known == name),
            (Caller::Inbound(_), None) => false,
        }
    }

    /// Whether it is for the host, the port and the protocol of a request.
    pub(super) fn admits(&self, head: &Head, secure: bool) -> bool {
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

    #[test]
    fn an_api_may_be_for_one_host_port_and_protocol() {
        let check = |host: &str, secure: bool, expected: bool| {
            let restricted = Address {
                context: String::new(),
                version: String::new(),
                prefix: String::new(),
                host: Some("Shop.example".to_owned()),
                port: Some(8280),
                http: false,
                https: true,
                bound: None,
            };
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
