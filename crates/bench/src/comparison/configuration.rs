//! What the contenders are told, for the same work on the same number of threads.

use std::net::SocketAddr;
use std::path::Path;

use super::scenario::{NOBODY, ONLY_THERE, ROUTING};
use crate::payload::BLOCK_NAMESPACE;
use crate::stockquote;

/// Where what the contenders stand in front of is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backends {
    pub(super) echo: SocketAddr,
    pub(super) quotes: SocketAddr,
    /// Echoes that take turns.
    pub(super) pool: [SocketAddr; POOL],
}

/// How many backends take turns in `pool`.
pub(super) const POOL: usize = 4;

/// The stylesheets by their names, which are files beside the configuration.
const STYLESHEETS: [(&str, &str); 7] = [
    ("reversed", include_str!("../../../../examples/xslt/reversed.xsl")),
    ("restored", include_str!("../../../../examples/xslt/restored.xsl")),
    ("identity-reversed", include_str!("../../assets/identity-reversed.xsl")),
    ("identity-restored", include_str!("../../assets/identity-restored.xsl")),
    ("recursive", include_str!("../../assets/recursive.xsl")),
    ("quote-request", include_str!("../../../../examples/custom-quote/request.xsl")),
    ("quote-response", include_str!("../../../../examples/custom-quote/response.xsl")),
];

/// Writes Myelin's or Synapse's configuration, with some artefacts more and its stylesheets beside it; its text.
///
/// Errors: a file cannot be written.
pub(super) fn write_synapse(file: &Path, backends: Backends, more: &str) -> anyhow::Result<String> {
    let folder = file.parent().unwrap_or(Path::new("."));
    write_stylesheets(folder)?;
    let Backends { echo, quotes, pool } = backends;
    let pool = pool.map(|backend| backend.to_string());
    let text = synapse(&echo.to_string(), &quotes.to_string(), &pool, &folder.display().to_string());
    let text = with(&text, more);
    std::fs::write(file, &text)?;
    Ok(text)
}

/// Writes the stylesheets of the scenarios into a folder.
///
/// Errors: a file cannot be written.
pub(super) fn write_stylesheets(folder: &Path) -> anyhow::Result<()> {
    for (name, text) in STYLESHEETS {
        std::fs::write(folder.join(format!("{name}.xsl")), text)?;
    }
    Ok(())
}

/// A configuration with some artefacts more.
fn with(definitions: &str, more: &str) -> String {
    definitions.replace("\n</definitions>", &format!("{more}\n</definitions>"))
}

/// Myelin's and Synapse's, without the places of a run: two runs can be compared if these are the same.
pub(super) fn template() -> String {
    let stylesheets = STYLESHEETS.iter().flat_map(|(_, text)| ["\n", text]);
    synapse("@backend@", "@quotes@", &["@pool@".to_owned()], "@folder@") + &stylesheets.collect::<String>()
}

/// Myelin's and Synapse's: a proxy service for each scenario, before one endpoint or the other.
fn synapse(echo: &str, quotes: &str, pool: &[String], folder: &str) -> String {
    let (name, value) = ROUTING;
    let pattern = value.replace('.', "\\.");
    let route = format!(r#"<case regex="{pattern}">{SEND}</case>"#);
    let proxies: String = [
        proxy("direct", SEND, ""),
        api(API_CONTEXT, API),
        proxy("pool", r#"<send><endpoint key="pool"/></send>"#, ""),
        proxy("header", &format!(r#"<switch source="$trp:{name}">{route}<default><drop/></default></switch>"#), ""),
        proxy("relay", &format!("{READ_WHOLE}{SEND}"), ""),
        proxy("built-unchanged", &format!("<builder/>{SEND}"), "<builder/>"),
        proxy(
            "built",
            &format!(r#"<header xmlns:r="{BLOCK_NAMESPACE}" name="r:checked" value="yes"/>{SEND}"#),
            &format!(r#"<header xmlns:r="{BLOCK_NAMESPACE}" name="r:checked" action="remove"/>"#),
        ),
        proxy(
            "soap-header",
            &format!(
                r#"<switch xmlns:r="{BLOCK_NAMESPACE}" source="$header/r:{name}">{route}<default>{REFUSE}</default></switch>"#
            ),
            "",
        ),
        proxy(
            "cbr",
            &format!(r#"<filter xpath="//order[1]/symbol = 'IBM'"><then>{SEND}</then><else>{REFUSE}</else></filter>"#),
            "",
        ),
        // What is not there is certain only at the end.
        proxy(
            "cbr-scan",
            &format!(r#"<filter xpath="//order/symbol = '{NOBODY}'"><then>{REFUSE}</then><else>{SEND}</else></filter>"#),
            "",
        ),
        transforming("xslt", "reversed", "restored"),
        transforming("xslt-identity", "identity-reversed", "identity-restored"),
        transforming("xslt-recursive", "recursive", "recursive"),
        proxy("quote-direct", ASK, ""),
        proxy(
            "quote-cbr",
            &format!(
                r#"<switch xmlns:m="http://services.samples" source="//m:getQuote/m:request/m:symbol"><case regex="IBM">{ASK}</case><default>{REFUSE}</default></switch>"#
            ),
            "",
        ),
        proxy("quote-xslt", &format!(r#"<xslt key="quote-request"/>{ASK}"#), r#"<xslt key="quote-response"/>"#),
    ]
    .concat();
    let stylesheets = STYLESHEETS.map(|(name, _)| {
        format!(
            r#"
    <localEntry key="{name}" src="file:{folder}/{name}.xsl"/>"#
        )
    });
    let pool: String = pool
        .iter()
        .map(|backend| {
            format!(
                r#"
            <endpoint><address uri="http://{backend}/"/></endpoint>"#
            )
        })
        .collect();
    let path = stockquote::PATH;
    format!(
        r#"<definitions xmlns="http://ws.apache.org/ns/synapse">{}
    <endpoint name="echo">
        <address uri="http://{echo}/"/>
    </endpoint>
    <endpoint name="quotes">
        <address uri="http://{quotes}{path}"/>
    </endpoint>
    <endpoint name="pool">
        <loadbalance failover="false">{pool}
        </loadbalance>
    </endpoint>{proxies}
</definitions>
"#,
        stylesheets.concat()
    )
}

/// A stylesheet for the request and one for the answer; and the request's alone, to see what the backend gets.
fn transforming(name: &str, request: &str, answer: &str) -> String {
    let there = format!(r#"<xslt key="{request}"/>{SEND}"#);
    let back = format!(r#"<xslt key="{answer}"/>"#);
    proxy(name, &there, &back) + &proxy(&format!("{name}{ONLY_THERE}"), &there, "")
}

const SEND: &str = r#"<send><endpoint key="echo"/></send>"#;
const ASK: &str = r#"<send><endpoint key="quotes"/></send>"#;
const REFUSE: &str = concat!(
    r#"<makefault version="soap11">"#,
    r#"<code xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" value="s:Client"/>"#,
    r#"<reason value="nobody trades this here"/></makefault><respond/>"#
);
/// A length can be told only of what has come to its end.
const READ_WHOLE: &str = r#"<property name="DISABLE_CHUNKING" scope="axis2" value="true"/>"#;

/// The context of the API that does what `direct` does, and the path of its resource, which is the scenario's name.
pub(super) const API_CONTEXT: &str = "/apis";
pub(super) const API: &str = "direct-api";

fn api(context: &str, name: &str) -> String {
    format!(
        r#"
    <api name="{name}" context="{context}">
        <resource methods="POST" url-mapping="/{name}">
            <inSequence>{SEND}</inSequence>
            <outSequence><send/></outSequence>
        </resource>
    </api>"#
    )
}

fn proxy(name: &str, request: &str, answer: &str) -> String {
    format!(
        r#"
    <proxy name="{name}">
        <target>
            <inSequence>{request}</inSequence>
            <outSequence>{answer}<send/></outSequence>
        </target>
    </proxy>"#
    )
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::super::{Scenario, secured};
    use super::*;

    #[test]
    fn the_configuration_of_a_bus_is_well_formed_and_matches_the_header_it_is_sent() {
        let mut text = synapse("127.0.0.1:9000", "127.0.0.1:9003", &["127.0.0.1:9004".to_owned()], "/folder");
        for scenario in Scenario::value_variants().iter().filter(|scenario| scenario.is_secured()) {
            text = with(&text, &secured::proxy(*scenario, Path::new("/policy.xml")));
        }
        let document = roxmltree::Document::parse(&text).unwrap();
        let case = document.descendants().find(|node| node.has_tag_name(("http://ws.apache.org/ns/synapse", "case")));
        assert_eq!(case.unwrap().attribute("regex"), Some(r"xadmin;server1;community#1\.0##"));
        let own = |scenario: &&Scenario| scenario.mediates() && scenario.service().is_none();
        for scenario in Scenario::value_variants().iter().filter(own) {
            assert!(text.contains(&format!(r#" name="{scenario}""#)), "{scenario} has no service");
        }
    }
}
