//! What the bus knows of HTTP while it loads a configuration.

use myelin_channel::{HTTP, Spec};
use myelin_message::Uri;

use crate::address::Origin;

/// HTTP and HTTPS: `http://host:port/path`.
pub const SPEC: Spec = Spec { check_address: check, ..HTTP };

/// Whether a message can be sent to an address.
///
/// Errors: a sentence that says what would be right.
fn check(address: &str) -> Result<(), String> {
    let uri: Uri = address.parse().map_err(|reason| format!("{address:?} is not a URI: {reason}"))?;
    Origin::of(&uri).map(drop).map_err(|error| error.message)
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
