//! Where requests go.

use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

/// A URL taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Whether the connection is TLS (`https`).
    pub secure: bool,
    /// The host without brackets.
    pub host: String,
    /// The port; 80 or 443 where the URL says none.
    pub port: u16,
    /// Host and port as the URL has them: the value of the `Host` header.
    pub authority: String,
    /// Path and query, at least `/`.
    pub path: String,
}

impl Target {
    /// Whether a connection to the one leads to the other.
    pub(super) fn is_same_host(&self, other: &Target) -> bool {
        (self.secure, &self.host, self.port) == (other.secure, &other.host, other.port)
    }

    /// The addresses the host resolves to, at least one, in the order in which they are to be tried.
    ///
    /// Errors: the name does not resolve; the caller's or the network's.
    pub fn addresses(&self) -> anyhow::Result<Vec<SocketAddr>> {
        let addresses: Vec<SocketAddr> = (self.host.as_str(), self.port)
            .to_socket_addrs()
            .with_context(|| format!("cannot resolve {}", self.host))?
            .collect();
        if addresses.is_empty() {
            bail!("{} has no address", self.host);
        }
        Ok(addresses)
    }
}

impl FromStr for Target {
    type Err = anyhow::Error;

    fn from_str(url: &str) -> anyhow::Result<Target> {
        let (secure, rest) = match url.split_once("://") {
            Some(("http", rest)) => (false, rest),
            Some(("https", rest)) => (true, rest),
            _ => bail!("`{url}` does not begin with http:// or https://"),
        };
        if !url.bytes().all(|byte| byte.is_ascii_graphic()) {
            bail!("`{url}` holds characters a URL has to escape");
        }
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => {
                (host, port.parse().with_context(|| format!("`{port}` is no port"))?)
            }
            _ => (authority, if secure { 443 } else { 80 }),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() || host.contains('@') {
            bail!("`{url}` names no host, or a user, which is not supported");
        }
        Ok(Target {
            secure,
            host: host.to_owned(),
            port,
            authority: authority.to_owned(),
            path: if path.starts_with('/') { path.to_owned() } else { format!("/{path}") },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart() {
        let check = |url: &str, secure, host: &str, port, path: &str| {
            let target: Target = url.parse().unwrap();
            assert_eq!((target.secure, &*target.host, target.port, &*target.path), (secure, host, port, path), "{url}");
        };
        check("http://localhost", false, "localhost", 80, "/");
        check("http://127.0.0.1:8280/services/a?b=c#d", false, "127.0.0.1", 8280, "/services/a?b=c");
        check("https://[::1]:8243?x", true, "::1", 8243, "/?x");
        check("https://[::1]/x", true, "::1", 443, "/x");
    }

    #[test]
    fn what_is_no_url_is_refused_with_a_sentence() {
        for url in ["localhost", "ftp://a/", "http://", "http://a:b/", "http://u@a/", "http://a/ b", "http://a:99999/"]
        {
            assert!(url.parse::<Target>().is_err(), "{url}");
        }
    }
}
