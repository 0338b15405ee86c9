//! What a level is for: everything, the lines of a module, or those about an artefact.

use std::fmt::{self, Display};

use anyhow::bail;
use myelin_spelling::suggestion;

/// The kinds of artefacts that may have a level, each with the words of a configuration that are the same.
const KINDS: [(&str, &[&str]); 6] = [
    ("proxy", &["proxy"]),
    ("api", &["api"]),
    ("sequence", &["sequence"]),
    ("endpoint", &["endpoint"]),
    ("inbound", &["inboundEndpoint", "inbound-endpoint", "inbound_endpoint"]),
    ("task", &["task"]),
];

/// What a level is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Selector {
    /// Everything that nothing else is said of.
    Root,
    /// The lines whose target begins with this: a module, such as `myelin_http`, or a topic, such as `myelin::wire`.
    Target(String),
    /// The lines about an artefact.
    Artefact(ArtefactName),
}

/// An artefact, as `proxy:Orders` names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArtefactName {
    /// `proxy`, `api`, `sequence`, `endpoint`, `inbound` or `task`.
    pub kind: &'static str,
    /// Its name in the configuration.
    pub name: String,
}

impl ArtefactName {
    /// Whether an element of a configuration with a name is this artefact.
    ///
    /// An API's version may stand behind its name (`Stock:v1.0`), and need not.
    pub(crate) fn is(&self, element: &str, name: &str) -> bool {
        let same_name = name == self.name
            || self.kind == "api" && name.strip_prefix(&self.name).is_some_and(|version| version.starts_with(":v"));
        same_name && kind(element) == Some(self.kind)
    }
}

/// Our word for the kind of an element.
fn kind(word: &str) -> Option<&'static str> {
    KINDS.iter().find(|(kind, elements)| *kind == word || elements.contains(&word)).map(|(kind, _)| *kind)
}

/// The selector that a text is: `root`, `KIND:NAME` or a target.
///
/// Errors: a kind that there is not, a name that is empty, letters that no target has.
pub fn selector(text: &str) -> anyhow::Result<Selector> {
    let text = text.trim();
    if text.is_empty() || text.eq_ignore_ascii_case("root") || text == "rootLogger" {
        return Ok(Selector::Root);
    }
    let word = text.split(':').next().unwrap_or_default();
    let is_path = text[word.len()..].starts_with("::");
    if !is_path && let Some((word, name)) = text.split_once(':') {
        let Some(kind) = kind(word) else {
            let hint = suggestion(word, KINDS.map(|(kind, _)| kind));
            bail!("{word:?} is no kind of artefact: proxy, api, sequence, endpoint, inbound and task are{hint}");
        };
        if name.is_empty() {
            bail!("{text:?} names no artefact: write {kind}:NAME");
        }
        return Ok(Selector::Artefact(ArtefactName { kind, name: name.to_owned() }));
    }
    if !text.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | ':' | '-' | '.')) {
        bail!("{text:?} names no part of the bus: write a module such as myelin_http, or proxy:NAME");
    }
    Ok(Selector::Target(text.to_owned()))
}

impl Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selector::Root => f.write_str("rootLogger"),
            Selector::Target(target) => f.write_str(target),
            Selector::Artefact(artefact) => artefact.fmt(f),
        }
    }
}

impl Display for ArtefactName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_selects_everything_a_module_or_an_artefact() {
        let check = |text: &str, expected: &str| {
            let got = selector(text).map_or_else(|error| error.to_string(), |selector| format!("{selector:?}"));
            assert_eq!(got, expected, "{text}");
        };
        check("root", "Root");
        check("myelin::wire", "Target(\"myelin::wire\")");
        check("proxy:Orders", "Artefact(ArtefactName { kind: \"proxy\", name: \"Orders\" })");
        check("inboundEndpoint:In", "Artefact(ArtefactName { kind: \"inbound\", name: \"In\" })");
        check(
            "prxy:Orders",
            "\"prxy\" is no kind of artefact: proxy, api, sequence, endpoint, inbound and task are; did you mean proxy?",
        );
        check("api:", "\"api:\" names no artefact: write api:NAME");
        check("[span]", "\"[span]\" names no part of the bus: write a module such as myelin_http, or proxy:NAME");
    }

    #[test]
    fn an_api_is_meant_with_each_of_its_versions_or_with_one() {
        let api = |name: &str| ArtefactName { kind: "api", name: name.to_owned() };
        assert!(api("Stock").is("api", "Stock") && api("Stock").is("api", "Stock:v1.0"));
        assert!(api("Stock:v1.0").is("api", "Stock:v1.0"));
        assert!(!api("Stock").is("api", "Stocks") && !api("Stock").is("proxy", "Stock"));
    }
}
