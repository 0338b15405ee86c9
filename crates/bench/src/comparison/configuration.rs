//! What the contenders are told, for the same work on the same number of threads.

use std::net::SocketAddr;

use super::scenario::{NOBODY, ROUTING};
use crate::payload::BLOCK_NAMESPACE;

/// Myelin's and Synapse's: a proxy service for each scenario, before one endpoint.
pub(super) fn synapse(backend: SocketAddr) -> String {
    let (name, value) = ROUTING;
    let pattern = value.replace('.', "\\.");
    let route = format!(r#"<case regex="{pattern}">{SEND}</case>"#);
    let proxies: String = [
        proxy("direct", SEND, ""),
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
    ]
    .concat();
    format!(
        r#"<definitions xmlns="http://ws.apache.org/ns/synapse">
    <endpoint name="echo">
        <address uri="http://{backend}/"/>
    </endpoint>{proxies}
</definitions>
"#
    )
}

const SEND: &str = r#"<send><endpoint key="echo"/></send>"#;
const REFUSE: &str = concat!(
    r#"<makefault version="soap11">"#,
    r#"<code xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" value="s:Client"/>"#,
    r#"<reason value="nobody trades this here"/></makefault><respond/>"#
);
/// A length can be told only of what has come to its end.
const READ_WHOLE: &str = r#"<property name="DISABLE_CHUNKING" scope="axis2" value="true"/>"#;

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

    use super::super::Scenario;
    use super::*;

    #[test]
    fn the_configuration_of_a_bus_is_well_formed_and_matches_the_header_it_is_sent() {
        let text = synapse("127.0.0.1:9000".parse().unwrap());
        let document = roxmltree::Document::parse(&text).unwrap();
        let case = document.descendants().find(|node| node.has_tag_name(("http://ws.apache.org/ns/synapse", "case")));
        assert_eq!(case.unwrap().attribute("regex"), Some(r"xadmin;server1;community#1\.0##"));
        for scenario in Scenario::value_variants().iter().filter(|scenario| scenario.mediates()) {
            assert!(text.contains(&format!(r#"<proxy name="{scenario}""#)), "{scenario} has no proxy");
        }
    }
}
