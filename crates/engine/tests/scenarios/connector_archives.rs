//! Connectors that come in archives: their operations are templates, which run with what a message gives them.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::common::{Scenario, post, request, response};
use myelin_engine::{Loaded, Settings, load};

const CONNECTOR: &str = "<connector><component name='orders' package='org.example.connector'>\
    <dependency component='config'/><dependency component='functions'/></component></connector>";
const CONFIG: &str = "<component name='config' type='synapse/template'><subComponents>\
    <component name='init'><file>init.xml</file></component></subComponents></component>";
const INIT: &str = "<template xmlns='http://ws.apache.org/ns/synapse' name='init'>\
    <parameter name='host' description='where'/><parameter name='tenant'/><sequence>\
    <property name='uri.var.host' expression='$func:host'/>\
    <property name='orders.tenant' expression='$func:tenant'/></sequence></template>";
const FUNCTIONS: &str = "<component name='functions' type='synapse/template'><subComponents>\
    <component name='place'><file>place.xml</file><description>Places an order</description></component>\
    <component name='again'><file>again.xml</file></component><component name='placeTwo'><file>placeTwo.xml</file></component>\
    <component name='sign'><file>sign.xml</file></component>\
    <component name='broken'><file>broken.xml</file></component></subComponents></component>";
const PLACE: &str = r#"<template xmlns="http://ws.apache.org/ns/synapse" name="place">
    <parameter name="symbol"/><parameter name="note" defaultValue="none"/>
    <parameter name="responseVariable"/><parameter name="overwriteBody"/>
    <sequence>
        <property name="uri.var.symbol" expression="$func:symbol"/>
        <filter xpath="string-length(get-property('orders.tenant')) &gt; 0">
            <then><property name="X-Tenant" expression="get-property('orders.tenant')" scope="transport"/></then>
        </filter>
        <script language="js"><![CDATA[mc.setProperty('orders.upper', 'script-' + mc.getProperty('uri.var.symbol'));]]></script>
        <payloadFactory media-type="json">
            <format>{"symbol": "$1", "note": "$2", "upper": "$3"}</format>
            <args>
                <arg expression="get-property('uri.var.symbol')"/>
                <arg expression="$func:note"/>
                <arg expression="get-property('orders.upper')"/>
            </args>
        </payloadFactory>
        <call><endpoint><http method="post" uri-template="{+uri.var.host}/orders/{uri.var.symbol}"/></endpoint></call>
        <property name="orders.placed" value="yes"/>
    </sequence>
</template>"#;
const PLACE_TWO: &str = "<template xmlns='http://ws.apache.org/ns/synapse' name='placeTwo'><parameter name='symbol'/>\
    <sequence><orders.place><symbol>{$func:symbol}</symbol></orders.place>\
    <call-template target='org.example.connector.orders.place'><with-param name='symbol' value='second'/></call-template>\
    </sequence></template>";
const SIGN: &str = "<template xmlns='http://ws.apache.org/ns/synapse' name='sign'><sequence>\
    <class name='org.example.Signer'/></sequence></template>";

/// Calls itself without end.
const AGAIN: &str = "<template xmlns='http://ws.apache.org/ns/synapse' name='again'><sequence><orders.again/></sequence>\
    </template>";

/// Packs files without making them smaller.
fn pack(files: &[(&str, &str)]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut archive = rawzip::ZipArchiveWriter::new(&mut packed);
    for (name, data) in files {
        let new = archive.new_file(name).compression_method(rawzip::CompressionMethod::STORE);
        let (mut entry, config) = new.start().unwrap();
        let mut writer = config.wrap(&mut entry);
        writer.write_all(data.as_bytes()).unwrap();
        let (_, descriptor) = writer.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    packed
}

fn connector() -> Vec<u8> {
    pack(&[
        ("connector.xml", CONNECTOR),
        ("config/component.xml", CONFIG),
        ("config/init.xml", INIT),
        ("functions/component.xml", FUNCTIONS),
        ("functions/place.xml", PLACE),
        ("functions/placeTwo.xml", PLACE_TWO),
        ("functions/sign.xml", SIGN),
        ("functions/again.xml", AGAIN),
        ("functions/broken.xml", "<template>"),
        ("lib/connector.jar", "Java"),
    ])
}

fn write(folder: &Path, name: &str, data: impl AsRef<[u8]>) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, data).unwrap();
}

/// Loads a project with the connector, a connection and a proxy that runs mediators.
fn loaded(mediators: &str) -> Loaded {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("src/main/wso2mi");
    write(&inside, "resources/connectors/orders-1.0.0.zip", connector());
    let artefact = |name: &str, text: &str| {
        let text = text.replacen('>', " xmlns='http://ws.apache.org/ns/synapse'>", 1);
        write(&inside, &format!("artifacts/{name}"), text);
    };
    artefact(
        "local-entries/c.xml",
        "<localEntry key='C'><orders.init><name>C</name><host>http://back</host><tenant>gold</tenant></orders.init>\
         </localEntry>",
    );
    artefact(
        "proxy-services/p.xml",
        &format!("<proxy name='P'><target><inSequence>{mediators}<respond/></inSequence></target></proxy>"),
    );
    load(&[folder.path().to_owned()], &Settings::default())
}

fn scenario(mediators: &str) -> Scenario {
    let loaded = loaded(mediators);
    assert_eq!(loaded.report.faulty(), 0, "{}", loaded.report.to_text());
    Scenario::of(loaded, |_, _| Ok(response(201, &[("Content-Type", "application/json")], r#"{"id": 7}"#)))
}

#[test]
fn an_operation_runs_its_template_behind_that_of_its_connection() {
    let scenario = scenario("<orders.place configKey='C'><symbol>{$trp:X-Symbol}</symbol></orders.place>");
    let reply = scenario.serve(post("/services/P", &[("X-Symbol", "IBM")], "<a/>"));
    assert_eq!((reply.status, reply.body.as_str()), (201, r#"{"id": 7}"#));
    let sent = scenario.into_sent();
    assert_eq!((sent.method.as_str(), sent.uri.as_str()), ("POST", "http://back/orders/IBM"));
    assert_eq!(sent.header("X-Tenant"), Some("gold"));
    assert_eq!(sent.body, r#"{"symbol": "IBM", "note": "none", "upper": "script-IBM"}"#);
}

#[test]
fn parameters_may_be_synapse_expressions_and_json() {
    let parameters = "<symbol>${payload.symbol}</symbol><note>{\"a\": [1]}</note>";
    let scenario = scenario(&format!("<orders.place configKey='C'>{parameters}</orders.place>"));
    let json = [("Content-Type", "application/json")];
    scenario.serve(request("POST", "/services/P", &json, r#"{"symbol": "SUN"}"#));
    let sent = scenario.into_sent();
    assert_eq!(sent.uri, "http://back/orders/SUN");
    assert!(sent.body.contains(r#""symbol": "SUN""#), "{}", sent.body);
}

#[test]
fn a_response_in_a_variable_leaves_the_message_and_keeps_the_properties() {
    let parameters = "<symbol>IBM</symbol><responseVariable>r</responseVariable>";
    let scenario = scenario(&format!(
        "<orders.place configKey='C'>{parameters}</orders.place>\
         <property name='X-Id' scope='transport' expression='${{vars.r.payload.id}}'/>\
         <property name='X-Placed' scope='transport' expression=\"get-property('orders.placed')\"/>"
    ));
    let reply = scenario.serve(post("/services/P", &[], "<order/>"));
    assert_eq!(reply.body, "<order/>");
    assert_eq!((reply.header("X-Id"), reply.header("X-Placed")), (Some("7"), Some("yes")));
}

#[test]
fn operations_call_each_other() {
    let scenario = scenario(
        "<orders.init><host>http://other</host></orders.init><orders.placeTwo><symbol>first</symbol></orders.placeTwo>",
    );
    scenario.serve(post("/services/P", &[], "<a/>"));
    let uris: Vec<String> = scenario.sent().iter().map(|sent| sent.uri.clone()).collect();
    assert_eq!(uris, ["http://other/orders/first", "http://other/orders/second"]);
}

#[test]
fn what_an_archive_cannot_do_is_told_of_the_operation_that_needs_it() {
    let check = |mediator: &str, part: &str| {
        let report = loaded(mediator).report;
        let text = report.to_text();
        assert!(report.faulty() > 0 && text.contains(part), "{part:?} is not in {text}");
    };
    check("<orders.sign configKey='C'/>", "it names a JVM class");
    check("<orders.broken/>", "the operation is faulty");
    check("<orders.cancel/>", "connector \"orders\" has no operation \"cancel\"");
    check("<other.place/>", "there is no archive of a connector");
    check("<orders.place configKey='{$ctx:c}'/>", "cannot be worked out");
    check("<orders.place><symbol><a/></symbol></orders.place>", "for Java classes alone");
}

#[test]
fn an_import_may_switch_a_connector_off_and_a_damaged_archive_is_told_of() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "synapse-configs/default/synapse.xml", "<definitions/>");
    write(folder.path(), "synapse-configs/default/sequences/s.xml", "<sequence name='s'><orders.place/></sequence>");
    write(folder.path(), "synapse-libs/orders.zip", connector());
    write(folder.path(), "synapse-libs/torn.zip", &connector()[..100]);
    let faulty = || load(&[folder.path().to_owned()], &Settings::default()).report;
    let report = faulty();
    assert_eq!(report.faulty(), 0, "{}", report.to_text());
    assert!(report.to_text().contains("this connector cannot be used: no sound archive"), "{}", report.to_text());
    let import = "<import name='orders' package='org.example.connector' status='disabled'/>";
    write(folder.path(), "synapse-configs/default/imports/orders.xml", import);
    assert!(faulty().to_text().contains("there is no archive of a connector"), "{}", faulty().to_text());
}

#[test]
fn an_operation_that_calls_itself_is_a_fault() {
    let reply = scenario("<orders.again/>").serve(post("/services/P", &[], "<a/>"));
    assert_eq!(reply.status, 500, "{}", reply.body);
}
