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
}

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
    for (name, text) in STYLESHEETS {
        std::fs::write(folder.join(format!("{name}.xsl")), text)?;
    }
    let text = with(&synapse(backends, folder), more);
    std::fs::write(file, &text)?;
    Ok(text)
}

/// A configuration with some artefacts more.
fn with(definitions: &str, more: &str) -> String {
    definitions.replace("\n</definitions>", &format!("{more}\n</definitions>"))
}

/// Myelin's and Synapse's: a proxy service for each scenario, before one endpoint or the other.
fn synapse(backends: Backends, folder: &Path) -> String {
    let (name, value) = ROUTING;
    let pattern = value.replace('.', "\\.");
    let route = format!(r#"<case regex="{pattern}">{SEND}</case>"#);
    let proxies: String = [
        proxy("direct", SEND, ""),
        api(API_CONTEXT, API),
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
    let folder = folder.display();
    let stylesheets = STYLESHEETS.map(|(name, _)| {
        format!(
            r#"
    <localEntry key="{name}" src="file:{folder}/{name}.xsl"/>"#
        )
    });
    let (Backends { echo, quotes }, path) = (backends, stockquote::PATH);
    format!(
        r#"<definitions xmlns="http://ws.apache.org/ns/synapse">{}
    <endpoint name="echo">
        <address uri="http://{echo}/"/>
    </endpoint>
    <endpoint name="quotes">
        <address uri="http://{quotes}{path}"/>
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
    <proxy name="{name}" transports="http">
        <target>
            <inSequence>{request}</inSequence>
            <outSequence>{answer}<send/></outSequence>
        </target>
    </proxy>"#
    )
}

/// nginx's: unbuffered both ways, backend connections kept, nothing logged.
///
/// Large messages have a location of their own, because the buffer that is best for them costs small ones an
/// allocation from the system.
pub(super) fn nginx(listen: SocketAddr, backend: SocketAddr, workers: usize, folder: &str) -> String {
    let (name, value) = ROUTING;
    let variable = name.replace('-', "_");
    let locations: String = [("", "16k"), ("-large", "128k")]
        .iter()
        .map(|(suffix, buffer)| {
            format!(
                r#"
        location /services/direct{suffix} {{
            proxy_pass http://echo;
            proxy_buffer_size {buffer};
            proxy_buffers 8 {buffer};
        }}
        location /services/header{suffix} {{
            if ($http_{variable} != "{value}") {{
                return 404;
            }}
            proxy_pass http://echo;
            proxy_buffer_size {buffer};
            proxy_buffers 8 {buffer};
        }}"#
            )
        })
        .collect();
    format!(
        r#"daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log crit;
worker_processes {workers};
events {{
    worker_connections 32768;
}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    tcp_nodelay on;
    keepalive_timeout 600s;
    keepalive_requests 1000000000;
    client_max_body_size 0;
    client_body_buffer_size 2m;
    upstream echo {{
        server {backend};
        keepalive 4096;
        keepalive_requests 1000000000;
        keepalive_timeout 600s;
    }}
    server {{
        listen {listen} reuseport backlog=4096;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_request_buffering off;
        proxy_buffering off;{locations}
    }}
}}
"#
    )
}

/// HAProxy's, in HTTP mode: backend connections kept and shared, nothing logged.
pub(super) fn haproxy(listen: SocketAddr, backend: SocketAddr, threads: usize) -> String {
    let (name, value) = ROUTING;
    // Where fewer files are allowed than twice `maxconn` needs it shall start all the same: kept connections are shared,
    // so the backend's are far fewer than the clients'.
    // Strong quotes, because `#` would begin a comment; `req.fhdr`, because a comma must not divide the value.
    format!(
        r#"global
    nbthread {threads}
    maxconn 30000
    no strict-limits
defaults
    mode http
    http-reuse always
    option http-keep-alive
    timeout connect 10s
    timeout client 600s
    timeout server 600s
    timeout http-keep-alive 600s
frontend bus
    bind {listen} backlog 4096
    maxconn 30000
    acl wants_routing path_beg /services/header
    acl routed req.fhdr({name}) -m str '{value}'
    http-request deny deny_status 404 if wants_routing !routed
    default_backend echo
backend echo
    fullconn 30000
    server echo {backend} pool-max-conn -1
"#
    )
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::super::{Scenario, secured};
    use super::*;

    #[test]
    fn the_configuration_of_a_bus_is_well_formed_and_matches_the_header_it_is_sent() {
        let [echo, quotes] = ["127.0.0.1:9000", "127.0.0.1:9003"].map(|address| address.parse().unwrap());
        let mut text = synapse(Backends { echo, quotes }, Path::new("/folder"));
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
