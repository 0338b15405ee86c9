//! An address whose parts change.
//!
//! Source: `java.net.URI`, which Synapse takes addresses apart and together with. Parts that nobody touches stay as
//! they came, where Java writes all of them anew and so takes `%26` for `&`.

use std::borrow::Cow;

use crate::uri_parts::{UriPart, is_protocol, parts};
use myelin_java_text::percent::{self, Plus, decoded};

/// An address that is rewritten must not be longer.
pub(super) const LIMIT_BYTES: usize = 16 * 1024;

/// An address as its parts, encoded; by [`UriPart`].
#[derive(Default)]
pub(super) struct Uri {
    parts: [Option<String>; 7],
}

impl Uri {
    /// Takes an address apart; one that is empty has no parts.
    ///
    /// Errors: a sentence that says why it is none.
    pub(super) fn read(address: &str) -> Result<Uri, String> {
        if address.len() > LIMIT_BYTES {
            return Err(format!("an address is longer than {LIMIT_BYTES} bytes"));
        }
        if address.bytes().any(|byte| byte <= b' ' || byte == 0x7F) {
            return Err(format!("{address:?} holds a character that no address can hold"));
        }
        let mut parts = parts(address);
        let path = &mut parts[UriPart::Path as usize];
        *path = path.filter(|path| !path.is_empty());
        let uri = Uri { parts: parts.map(|part| part.map(str::to_owned)) };
        if let Some(port) = uri.raw(UriPart::Port) {
            check_port(port)?;
        }
        // What has a protocol and no slash behind it, such as `urn:a`, is none, and a fault in Synapse, too.
        uri.write().map(|_| uri)
    }

    fn raw(&self, part: UriPart) -> Option<&str> {
        self.parts[part as usize].as_deref()
    }

    /// A part as it reads, empty where there is none.
    pub(super) fn text(&self, part: UriPart) -> String {
        decoded(self.raw(part).unwrap_or_default(), Plus::Itself).into_owned()
    }

    /// Puts a text in the place of a part; an empty one takes it away.
    ///
    /// Errors: a sentence that says why it cannot be that part.
    pub(super) fn set(&mut self, part: UriPart, text: &str) -> Result<(), String> {
        self.put(part, encoded(part, text).into_owned())
    }

    /// Puts a text before a part, and one behind it.
    ///
    /// Errors: as [`Uri::set`].
    pub(super) fn extend(&mut self, part: UriPart, before: &str, behind: &str) -> Result<(), String> {
        let now = self.raw(part).unwrap_or_default();
        self.put(part, [&encoded(part, before), now, &encoded(part, behind)].concat())
    }

    fn put(&mut self, part: UriPart, written: String) -> Result<(), String> {
        if written.len() > LIMIT_BYTES {
            return Err(format!("a part of an address is longer than {LIMIT_BYTES} bytes"));
        }
        self.parts[part as usize] = match part {
            _ if written.is_empty() => None,
            UriPart::Protocol if !is_protocol(&written) => {
                return Err(format!("{written:?} cannot be the protocol of an address"));
            }
            UriPart::Host => Some(host(written)?),
            // What Java says for a port that is not there.
            UriPart::Port if written == "-1" => None,
            UriPart::Port => Some(check_port(&written).map(|()| written)?),
            _ => Some(written),
        };
        Ok(())
    }

    /// Puts the parts together; without a host, there is neither a user nor a port, as in Synapse.
    ///
    /// Errors: a sentence that says why they are no address.
    pub(super) fn write(&self) -> Result<String, String> {
        let mut out = String::new();
        let (protocol, host) = (self.raw(UriPart::Protocol), self.raw(UriPart::Host));
        let path = self.raw(UriPart::Path).unwrap_or_default();
        if (protocol.is_some() || host.is_some()) && !path.is_empty() && !path.starts_with('/') {
            return Err(format!("the path {path:?} of an address does not begin with a slash"));
        }
        // A path that begins so would be read as a host.
        if host.is_none() && path.starts_with("//") {
            return Err(format!("the path {path:?} of an address begins with two slashes, and there is no host"));
        }
        if let Some(protocol) = protocol {
            if host.is_none() && path.is_empty() {
                return Err(format!("an address of the protocol {protocol:?} has neither a host nor a path"));
            }
            out.extend([protocol, ":"]);
        }
        if let Some(host) = host {
            out.push_str("//");
            if let Some(user) = self.raw(UriPart::User) {
                out.extend([user, "@"]);
            }
            out.push_str(host);
            if let Some(port) = self.raw(UriPart::Port) {
                out.extend([":", port]);
            }
        }
        out.push_str(path);
        if let Some(query) = self.raw(UriPart::Query) {
            out.extend(["?", query]);
        }
        if let Some(reference) = self.raw(UriPart::Reference) {
            out.extend(["#", reference]);
        }
        Ok(out)
    }
}

fn check_port(text: &str) -> Result<(), String> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<u16>() {
        Ok(_) if is_number => Ok(()),
        _ => Err(format!("{text:?} cannot be the port of an address")),
    }
}

/// A host, with brackets around an IPv6 address.
fn host(text: String) -> Result<String, String> {
    let is_ipv6 = |text: &str| text.parse::<std::net::Ipv6Addr>().is_ok();
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    if is_ipv6(&text) {
        return Ok(format!("[{text}]"));
    }
    // A name may hold more than a domain name does: underscores are common inside of clusters.
    let is_name = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte));
    if is_name || bracketed.is_some_and(is_ipv6) {
        return Ok(text);
    }
    Err(format!("{text:?} cannot be the host of an address"))
}

/// A text as it is written in a part: all encoded that cannot stand there as it is, the percent sign always.
///
/// Source: RFC 2396 §2.3 names the marks that need not be encoded, §3 what else may stand in each part.
fn encoded(part: UriPart, text: &str) -> Cow<'_, str> {
    let allowed = match part {
        UriPart::Protocol | UriPart::Host | UriPart::Port => return Cow::Borrowed(text),
        UriPart::User => ";:&=+$,",
        UriPart::Path => "/;:@&=+$,",
        UriPart::Query | UriPart::Reference => ";/?:@&=+$,[]",
    };
    percent::encoded(text, |byte| {
        byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) || allowed.as_bytes().contains(&byte)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_touches_stays_as_it_came() {
        let check = |address: &str| assert_eq!(Uri::read(address).unwrap().write().unwrap(), address);
        check("http://u:p@h:81/a%2Fb%20c?x=1%262&y=a+b#r%20s");
        check("http://my_host/a|b?{c}");
        check("https://[::1]:8443");
        check("/services/X?wsdl");
        check("http://h?");
        check("//h/a");
        check("b");
        check("");
    }

    #[test]
    fn a_part_is_replaced_and_encoded() {
        let check = |address: &str, part: UriPart, text: &str, expected: &str| {
            let mut uri = Uri::read(address).unwrap();
            assert_eq!(uri.set(part, text).and_then(|()| uri.write()).unwrap(), expected, "{address} {part:?} {text}");
        };
        check("http://h/a", UriPart::Protocol, "https", "https://h/a");
        check("http://h/a", UriPart::User, "u:p@", "http://u:p%40@h/a");
        check("http://[::1]:80/a", UriPart::Host, "::2", "http://[::2]:80/a");
        check("http://h/a", UriPart::Host, "", "http:/a");
        check("http://h:80/a", UriPart::Port, "-1", "http://h/a");
        check("/a", UriPart::Port, "80", "/a");
        check("http://h", UriPart::Path, "/x y%20ü[z]", "http://h/x%20y%2520%C3%BC%5Bz%5D");
        check("http://h", UriPart::Query, "a=b c&d=|", "http://h?a=b%20c&d=%7C");
        check("http://h/a#b", UriPart::Reference, "", "http://h/a");
        check("/a", UriPart::Path, "b", "b");
    }

    #[test]
    fn what_a_text_is_added_to_stays_as_it_came() {
        let mut uri = Uri::read("http://h/a%2Fb?x=1%262").unwrap();
        uri.extend(UriPart::Path, "/%", "").unwrap();
        uri.extend(UriPart::Query, "", "&y=2 3").unwrap();
        uri.extend(UriPart::Host, "back", "end").unwrap();
        uri.extend(UriPart::Reference, "", "r").unwrap();
        assert_eq!(uri.write().unwrap(), "http://backhend/%25/a%2Fb?x=1%262&y=2%203#r");
    }

    #[test]
    fn what_is_no_address_is_told() {
        let refused = |address: &str, part: &str| {
            let message = Uri::read(address).err().unwrap();
            assert!(message.contains(part), "{address}: {message}");
        };
        refused("http://h/a b", "no address can hold");
        refused("http://h\r\n/", "no address can hold");
        refused("urn:a:b", "does not begin with a slash");
        refused("http:", "neither a host nor a path");
        refused("http://h:8x", "port");
        refused("http:////h", "two slashes");
        refused(&"a".repeat(LIMIT_BYTES + 1), "longer than");
        let refused = |part: UriPart, text: &str| {
            let mut uri = Uri::read("http://h/a").unwrap();
            assert!(uri.set(part, text).and_then(|()| uri.write()).is_err(), "{part:?} {text}");
        };
        refused(UriPart::Protocol, "1http");
        refused(UriPart::Host, "a b");
        refused(UriPart::Host, "[a]");
        refused(UriPart::Port, "abc");
        refused(UriPart::Port, "+80");
        refused(UriPart::Port, "65536");
        refused(UriPart::Path, "b");
        refused(UriPart::Query, &"a".repeat(LIMIT_BYTES + 1));
    }
}
