//! What the bus knows of HTTP while it loads a configuration.

use myelin_channel::{HTTP, Spec};
use myelin_message::{Address, Uri};

use crate::address::BackendAddress;

/// HTTP and HTTPS: `http://host:port/path`.
pub const SPEC: Spec = Spec { doc: DOC, check_address: check, ..HTTP };

const DOC: &str = r#"
Serves clients over HTTP/1.1 and HTTP/1.0, with TLS or without, and sends to backends over HTTP/1.1.

**Proxies and APIs** are reached by the path of a request at the addresses that the server listens on: `--http` and
`--https` of `myelin run`, or the ports of `deployment.toml`. A proxy whose `transports` attribute names `http` or
`https` is reached over that one only.

    <proxy name="Orders" transports="https">
        <target>
            <endpoint>
                <address uri="https://orders.example:8443/v1"/>
            </endpoint>
        </target>
    </proxy>

**Inbound endpoints** with the protocol `http` or `https` open a port of their own; docs/tasks.md has their parameters.

**Endpoints**: an address begins with `http://` or `https://` and names a host, but no user. The path and the query are
the target of the request. Connections are kept and used again; a certificate is always checked against the name of the
host.

A body is relayed as it comes: the bus does not keep it, whatever its size, unless a mediator reads it. A body whose
length its source knows leaves with `Content-Length`, any other in chunks.
"#;

/// Whether a message can be sent to an address.
///
/// Errors: a sentence that says what would be right.
fn check(address: &str) -> Result<(), String> {
    let uri: Uri = address.parse().map_err(|reason| format!("{address:?} is not a URI: {reason}"))?;
    BackendAddress::of(&Address::Uri(uri)).map(drop).map_err(|error| error.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_host_and_no_user() {
        for address in ["http://a", "https://a:8443/b?c=d", "http://[::1]:80/"] {
            assert_eq!(check(address), Ok(()), "{address}");
        }
        for (address, reason) in [
            ("ftp://a/", "ftp://a/: not an address to send to: it starts with http:// or https://"),
            ("/a", "/a: not an address to send to: it starts with http:// or https://"),
            ("http://u:p@a/", "http://u:p@a/: not an address to send to: it names a host, and no user"),
        ] {
            assert_eq!(check(address), Err(reason.to_owned()));
        }
        assert!(check("http://a b/").is_err());
    }
}
