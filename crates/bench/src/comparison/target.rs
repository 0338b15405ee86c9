//! Who can take part in a comparison, and in what.

use std::str::FromStr;
use std::sync::Arc;

use anyhow::bail;
use serde::{Deserialize, Serialize};

use super::configuration::{API, API_CONTEXT};
use super::kit::Kit;
use super::scenario::{Besides, Likeness, Scenario};
use crate::suite::Service;

/// Who takes part.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name in reports.
    pub name: String,
    pub(super) source: Source,
}

/// Where a target comes from.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// `myelin run`.
    Myelin,
    /// `myelin run` again, which passes everything on unread: what mediation is compared with.
    Direct,
    /// `myelin relay`, which copies bytes only: what everything in between costs at least.
    Relay,
    /// Nobody: the client asks the backend itself.
    Backend,
    /// A server that a kit starts.
    Kit(Arc<Kit>),
    /// A server that runs already, with `@scenario@` in its URL where that makes a difference.
    Url(String),
}

/// What somebody writes for a target: `myelin`, `direct`, `relay`, `backend`, `kit:NAME`, `kit:./FOLDER` or `NAME=URL`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TargetName(String);

impl FromStr for TargetName {
    type Err = String;

    fn from_str(text: &str) -> Result<TargetName, String> {
        let sound = matches!(text, "myelin" | "direct" | "relay" | "backend")
            || text.strip_prefix("kit:").is_some_and(|name| !name.is_empty())
            || text.split_once('=').is_some_and(|(name, url)| !name.is_empty() && url.starts_with("http"));
        if sound {
            return Ok(TargetName(text.to_owned()));
        }
        Err(format!("`{text}` is no target; write myelin, direct, relay, backend, kit:NAME, kit:./FOLDER or NAME=URL"))
    }
}

impl TargetName {
    /// Finds who that is.
    ///
    /// Errors: there is no such kit; the user's.
    pub(super) fn target(&self) -> anyhow::Result<Target> {
        let source = match self.0.as_str() {
            "myelin" => Source::Myelin,
            "direct" => Source::Direct,
            "relay" => Source::Relay,
            "backend" => Source::Backend,
            text => match (text.strip_prefix("kit:"), text.split_once('=')) {
                (Some(name), _) => {
                    let kit = Kit::find(name)?;
                    return Ok(Target { name: kit.name.clone(), source: Source::Kit(Arc::new(kit)) });
                }
                (None, Some((name, url))) => {
                    return Ok(Target { name: name.to_owned(), source: Source::Url(url.to_owned()) });
                }
                (None, None) => bail!("`{text}` is no target"),
            },
        };
        Ok(Target { name: self.0.clone(), source })
    }
}

impl Target {
    /// Where it comes from, as results say it.
    pub(super) fn from(&self) -> String {
        match &self.source {
            Source::Kit(kit) => format!("kit {}", kit.checksum()),
            Source::Url(url) => url.clone(),
            Source::Myelin | Source::Direct | Source::Relay | Source::Backend => "this program".to_owned(),
        }
    }

    /// Whether it has a way to do this, and a point in doing it.
    pub(super) fn can(&self, scenario: Scenario, besides: Besides) -> bool {
        match &self.source {
            // The backend knows no TLS, and only its owner knows whether a server that runs does.
            Source::Relay | Source::Backend | Source::Url(_) if besides.tls => false,
            Source::Kit(kit) if !kit.can(besides) => false,
            // What is switched on then are settings of ours.
            Source::Kit(_) | Source::Url(_) if scenario == Scenario::Observed => false,
            Source::Myelin => true,
            Source::Direct => scenario.mediates(),
            // What the same bytes cost at least, where the echo gets about as many as the bus and the client.
            Source::Relay | Source::Backend => {
                !scenario.asks_for_quotes() && !scenario.is_secured() && scenario.service().is_none()
            }
            Source::Kit(kit) => kit.offer(scenario).is_some(),
            // Only its owner knows what one URL stands for.
            Source::Url(url) => url.contains(SCENARIO) || !scenario.mediates(),
        }
    }

    /// How like the expected body its answers have to be.
    pub(super) fn likeness(&self, scenario: Scenario) -> Likeness {
        match &self.source {
            Source::Myelin if scenario == Scenario::Built || scenario.transforms() => Likeness::Canonical,
            Source::Myelin if scenario.service().is_some_and(|service| !service.answers_json()) => Likeness::Canonical,
            Source::Kit(kit) => kit.offer(scenario).map(|offer| offer.answer).unwrap_or_default(),
            // Nobody said how it writes what it has read.
            Source::Url(_) if scenario.needs_content() => Likeness::Canonical,
            _ => Likeness::Bytes,
        }
    }

    /// Whether it does what the scenario says, and does not pass everything on.
    pub(super) fn mediates(&self) -> bool {
        !matches!(self.source, Source::Direct | Source::Relay | Source::Backend)
    }

    /// Whether it compiles its code while it runs, so that it has to be driven for a while before it is measured.
    pub(super) fn compiles(&self) -> bool {
        match &self.source {
            Source::Kit(kit) => kit.manifest.compiles,
            // Nobody said what it is.
            Source::Url(_) => true,
            _ => false,
        }
    }

    /// Files it needs open for so many clients.
    ///
    /// The relay has a backend connection for each, and ours keeps a third of its files for its backends; the others share
    /// theirs, which are no more than are used at once.
    pub(super) fn files(&self, clients: usize) -> u64 {
        let clients = clients as u64;
        match self.source {
            Source::Relay => 2 * clients + 1_400,
            Source::Myelin => clients + clients / 2 + 1_400,
            _ => clients + clients / 4 + 100,
        }
    }

    /// What it is sent and has to answer: passing on unread, only what the backend understands.
    pub(super) fn asked(&self, scenario: Scenario) -> Scenario {
        match (&self.source, scenario) {
            (Source::Direct, Scenario::QuoteXslt) => Scenario::QuoteCbr,
            (_, scenario) => scenario,
        }
    }

    /// The URL for this scenario, of a server at `address` if it was started here.
    pub(super) fn url(&self, scenario: Scenario, tls: bool, address: &str) -> String {
        let path = match &self.source {
            Source::Url(url) => return url.replace(SCENARIO, &scenario.done_as().name()),
            Source::Kit(kit) => kit.offer(scenario).map(|offer| offer.path.clone()).unwrap_or_default(),
            Source::Direct if scenario.asks_for_quotes() => "/services/quote-direct".to_owned(),
            Source::Direct | Source::Relay | Source::Backend => "/services/direct".to_owned(),
            Source::Myelin => match scenario.done_as() {
                Scenario::DirectApi => format!("{API_CONTEXT}/{API}"),
                scenario => {
                    format!("/services/{}", scenario.service().map_or_else(|| scenario.name(), Service::proxy))
                }
            },
        };
        let scheme = if tls { "https" } else { "http" };
        format!("{scheme}://{address}{path}")
    }

    /// The path of the service that leaves the answer as it is, where the scenario undoes on the way back what it did;
    /// `None` where nobody can look at what the backend gets.
    pub(super) fn path_there(&self, scenario: Scenario) -> Option<String> {
        match &self.source {
            Source::Myelin => Some(format!("/services/{}", scenario.proxy_there())),
            Source::Kit(kit) => kit.offer(scenario)?.there.clone(),
            _ => None,
        }
    }
}

/// The place of the scenario's name in a URL.
const SCENARIO: &str = "@scenario@";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read_and_what_is_none_is_refused() {
        let name = |text: &str| text.parse::<TargetName>().and_then(|name| name.target().map_err(|it| it.to_string()));
        for (text, expected) in
            [("myelin", "myelin"), ("kit:nginx", "nginx"), ("mine=http://127.0.0.1:8280/services/@scenario@", "mine")]
        {
            assert_eq!(name(text).unwrap().name, expected);
        }
        for (text, told) in [("nginx", "write myelin"), ("kit:ngnix", "did you mean nginx?"), ("a=b", "NAME=URL")] {
            assert!(name(text).unwrap_err().contains(told), "{text}");
        }
    }

    #[test]
    fn only_who_can_do_it_takes_part() {
        let names = [
            "myelin",
            "direct",
            "kit:nginx",
            "kit:haproxy",
            "relay",
            "kit:synapse",
            "a=http://a",
            "b=http://b/@scenario@",
        ];
        let targets: Vec<Target> =
            names.iter().map(|name| name.parse::<TargetName>().unwrap().target().unwrap()).collect();
        let able = |scenario| {
            let able = targets.iter().filter(|target| target.can(scenario, Besides::default()));
            able.map(|target| target.name.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(able(Scenario::Direct), ["myelin", "nginx", "haproxy", "relay", "synapse", "a", "b"]);
        assert_eq!(able(Scenario::Header), ["myelin", "direct", "nginx", "haproxy", "relay", "synapse", "b"]);
        assert_eq!(able(Scenario::Cbr), ["myelin", "direct", "relay", "synapse", "b"]);
        assert_eq!(able(Scenario::Observed), ["myelin", "relay"]);
        assert_eq!(able(Scenario::QuoteCbr), ["myelin", "direct", "synapse", "b"]);
        let (myelin, url) = (&targets[0], &targets[7]);
        assert_eq!(myelin.url(Scenario::Many, false, "h:1"), "http://h:1/services/direct");
        assert_eq!(myelin.url(Scenario::DirectApi, true, "h:1"), "https://h:1/apis/direct-api");
        assert_eq!(url.url(Scenario::Cbr, false, ""), "http://b/cbr");
    }
}
