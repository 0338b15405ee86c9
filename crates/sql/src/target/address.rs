//! The parts of a JDBC URL.

use myelin_java_text::percent::{Plus, decoded_bytes, is_broken};

/// Where a server is, which database of it, and who asks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) database: String,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
}

impl Address {
    /// Reads `//user:password@host:port/database`, of which all but the slashes can be left out, or `database`.
    ///
    /// Errors: a sentence where it names several servers or a port that is none.
    pub(super) fn parse(text: &str, port: u16) -> Result<Address, String> {
        let Some(rest) = text.strip_prefix("//") else {
            return Ok(Address { host: LOCAL.into(), port, database: decoded(text)?, user: None, password: None });
        };
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (who, server) = match authority.rsplit_once('@') {
            Some((who, server)) => (Some(who), server),
            None => (None, authority),
        };
        let (user, password) = match who.map(|who| who.split_once(':').unwrap_or((who, ""))) {
            Some((user, password)) => (Some(decoded(user)?), Some(decoded(password)?)),
            None => (None, None),
        };
        if server.contains(',') {
            return Err("several servers in one URL are not supported; name one".into());
        }
        // An address of IPv6 has colons of its own, in brackets.
        let (host, port) = match server.rsplit_once(':').filter(|(_, port)| !port.contains(']')) {
            // What stands there may be a part of a password.
            Some((host, text)) => (host, text.parse().map_err(|_| "the port is none; 5432 is one")?),
            None => (server, port),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let host = if host.is_empty() { LOCAL } else { host };
        Ok(Address { host: host.to_owned(), port, database: decoded(database)?, user, password })
    }
}

/// The server where a URL names none.
const LOCAL: &str = "localhost";

/// The parameters of a URL, of which each is to be taken by somebody.
#[derive(Debug, Default)]
pub(super) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Reads `name=value` pairs.
    ///
    /// Errors: a sentence where an escape is none.
    pub(super) fn parse(text: &str, separator: char) -> Result<Parameters, String> {
        let pairs = text.split(separator).filter(|pair| !pair.is_empty());
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decoded(name)?, decoded(value)?))
        };
        pairs.map(pair).collect::<Result<_, String>>().map(Parameters)
    }

    /// The value of that name, which then counts as read.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(at).1)
    }

    pub(super) fn flag(&mut self, name: &str) -> Result<Option<bool>, String> {
        let Some(value) = self.take(name) else { return Ok(None) };
        match value.to_ascii_lowercase().as_str() {
            "true" | "on" | "1" | "yes" => Ok(Some(true)),
            "false" | "off" | "0" | "no" => Ok(Some(false)),
            _ => Err(format!("{name} {value:?} is neither true nor false")),
        }
    }

    pub(super) fn number(&mut self, name: &str) -> Result<Option<u64>, String> {
        let value = self.take(name);
        value.map(|value| value.parse().map_err(|_| format!("{name} {value:?} is no number"))).transpose()
    }

    /// The names nobody took.
    pub(super) fn unread(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

/// A part of a URL with its escapes resolved (RFC 3986 §2.1).
fn decoded(text: &str) -> Result<String, String> {
    if is_broken(text) {
        return Err("a percent sign in the URL is not followed by two hexadecimal digits".to_owned());
    }
    String::from_utf8(decoded_bytes(text, Plus::Itself).into_owned())
        .map_err(|_| "the URL is no text in UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_needs_none_of_its_parts() {
        let check = |text: &str, host: &str, port: u16, database: &str| {
            let address = Address::parse(text, 5432).unwrap();
            assert_eq!(
                (address.host.as_str(), address.port, address.database.as_str()),
                (host, port, database),
                "{text}"
            );
        };
        check("orders", "localhost", 5432, "orders");
        check("//db/orders", "db", 5432, "orders");
        check("//db:1/or%20ders", "db", 1, "or ders");
        check("//[::1]:1/orders", "::1", 1, "orders");
        check("//[::1]/orders", "::1", 5432, "orders");
        check("//:1/", "localhost", 1, "");
        let address = Address::parse("//bus:hu%40sh@db/orders", 1).unwrap();
        assert_eq!((address.user.as_deref(), address.password.as_deref()), (Some("bus"), Some("hu@sh")));
        assert!(Address::parse("//a,b/orders", 1).unwrap_err().contains("several"));
        assert!(Address::parse("//a:b/orders", 1).unwrap_err().contains("port"));
        assert!(Address::parse("//a/%zz", 1).unwrap_err().contains("percent"));
    }
}
