//! How the bus is called in what it publishes.

use std::net::SocketAddr;

use myelin_message::Arrival;
use myelin_wsdl::Scheme;

/// Below which path proxies are offered.
const SERVICES: &str = "services/";

/// How the bus is called in what it publishes; what is not set here, requests tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublicAddresses {
    /// Its host name, without a port.
    pub host: Option<String>,
    /// What stands before the paths of services in addresses of plain HTTP, `http://host:8280` for one.
    ///
    /// Source: `WSDLEPRPrefix` of Synapse's transport.
    pub http_prefix: Option<String>,
    /// The same for HTTPS.
    pub https_prefix: Option<String>,
    /// The port of plain HTTP, where there is one: for what is asked for over HTTPS.
    pub http_port: Option<u16>,
    /// The port of HTTPS, where there is one: for what is asked for over plain HTTP.
    pub https_port: Option<u16>,
}

impl PublicAddresses {
    /// What stands before the name of a service, over plain HTTP and over HTTPS; `None` where it is not offered so.
    ///
    /// Shape: `http://host:port/services/`. What came in `host` counts as long as it can be a host and a port.
    pub fn bases(&self, host: Option<&[u8]>, arrival: &Arrival<'_>) -> [Option<String>; 2] {
        let asked = host.and_then(|host| std::str::from_utf8(host).ok()).filter(|host| is_authority(host));
        let own_port = arrival.local.map(|local| local.port());
        let (asked_host, asked_port) = match asked {
            Some(authority) => split(authority),
            None => (arrival.local.map_or_else(|| "localhost".to_owned(), local_host), own_port),
        };
        // A name that the operator gave has nothing to do with the port that a client's way ended at.
        let (host, own_port) = match &self.host {
            Some(host) => (host.clone(), own_port),
            None => (asked_host, asked_port),
        };
        [
            (Scheme::Http, "http", &self.http_prefix, self.http_port),
            (Scheme::Https, "https", &self.https_prefix, self.https_port),
        ]
        .map(|(scheme, name, prefix, other_port)| {
            if let Some(prefix) = prefix {
                return Some(format!("{}/{SERVICES}", prefix.trim_end_matches('/')));
            }
            let port = if (scheme == Scheme::Https) == arrival.is_secure() { own_port } else { Some(other_port?) };
            let port = port.map(|port| format!(":{port}")).unwrap_or_default();
            Some(format!("{name}://{host}{port}/{SERVICES}"))
        })
    }
}

/// Whether a text can be host and port: anything else does not go into what is published.
fn is_authority(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    !text.is_empty() && text.len() <= 261 && text.bytes().all(plain)
}

/// The host and the port of an authority; brackets around an address of IPv6 stay.
fn split(authority: &str) -> (String, Option<u16>) {
    let behind = authority.rfind(']').map_or(0, |end| end + 1);
    match authority[behind..].rfind(':') {
        Some(colon) => (authority[..behind + colon].to_owned(), authority[behind + colon + 1..].parse().ok()),
        None => (authority.to_owned(), None),
    }
}

fn local_host(local: SocketAddr) -> String {
    match local {
        SocketAddr::V4(local) => local.ip().to_string(),
        SocketAddr::V6(local) => format!("[{}]", local.ip()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(addresses: &PublicAddresses, host: Option<&str>, secure: bool, expected: [Option<&str>; 2]) {
        let arrival = Arrival {
            transport: if secure { "https" } else { "http" },
            peer: Some(SocketAddr::from(([192, 0, 2, 7], 1))),
            local: Some(SocketAddr::from(([192, 0, 2, 1], 8280))),
            inbound: None,
            correlation: myelin_message::CorrelationId::NONE,
        };
        let bases = addresses.bases(host.map(str::as_bytes), &arrival);
        assert_eq!(bases.each_ref().map(|base| base.as_deref()), expected, "{host:?}");
    }

    #[test]
    fn a_client_is_told_the_name_it_used() {
        let none = PublicAddresses::default();
        check(&none, Some("bus:80"), false, [Some("http://bus:80/services/"), None]);
        check(&none, Some("bus"), false, [Some("http://bus/services/"), None]);
        check(&none, Some("[::1]:8243"), true, [None, Some("https://[::1]:8243/services/")]);
        check(&none, None, false, [Some("http://192.0.2.1:8280/services/"), None]);
        check(&none, Some("a\"><x>"), false, [Some("http://192.0.2.1:8280/services/"), None]);
    }

    #[test]
    fn what_the_operator_set_comes_first() {
        let both = PublicAddresses { http_port: Some(8280), https_port: Some(8243), ..PublicAddresses::default() };
        check(&both, Some("bus:80"), false, [Some("http://bus:80/services/"), Some("https://bus:8243/services/")]);
        let named = PublicAddresses { host: Some("esb".to_owned()), ..both };
        check(&named, Some("bus:80"), false, [Some("http://esb:8280/services/"), Some("https://esb:8243/services/")]);
        let fronted = PublicAddresses { https_prefix: Some("https://front/".to_owned()), ..PublicAddresses::default() };
        check(&fronted, Some("bus"), false, [Some("http://bus/services/"), Some("https://front/services/")]);
    }
}
