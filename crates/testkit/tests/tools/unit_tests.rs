//! Unit tests as WSO2's tools write them, run on a project as they lay it out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;
use std::path::Path;

use myelin_testkit::unit_test::{Report, run};

const SYNAPSE: &str = "xmlns=\"http://ws.apache.org/ns/synapse\"";

/// A project of files, and what its unit tests give.
fn project(files: &[(&str, &str)]) -> Report {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text.replace("XMLNS", SYNAPSE)).unwrap();
    }
    run(Path::new(folder.path())).unwrap()
}

const SEQUENCE: &str = r#"<sequence XMLNS name="quote">
    <property name="symbol" expression="//symbol"/>
    <property name="X-Seen" expression="$axis2:mark" scope="transport"/>
    <call><endpoint key="quotes"/></call>
</sequence>"#;

const ENDPOINT: &str =
    r#"<endpoint XMLNS name="quotes"><address uri="http://far.example.org:9000/services/quotes"/></endpoint>"#;

const SERVICE: &str = r#"<mock-service>
    <service-name>quotes</service-name><port>9190</port><context>/services/quotes</context>
    <resources><resource>
        <sub-context>/</sub-context><method>POST</method>
        <request><payload><![CDATA[<ask><symbol>IBM</symbol></ask>]]></payload></request>
        <response><status-code>200</status-code><headers><header name="X-Back" value="yes"/></headers>
            <payload><![CDATA[<price>42</price>]]></payload></response>
    </resource></resources>
</mock-service>"#;

fn test(expected: &str) -> String {
    format!(
        r#"<unit-test>
    <artifacts>
        <test-artifact><artifact>/src/main/wso2mi/artifacts/sequences/quote.xml</artifact></test-artifact>
        <supportive-artifacts><artifact>/src/main/wso2mi/artifacts/endpoints/quotes.xml</artifact></supportive-artifacts>
        <registry-resources/><connector-resources/>
    </artifacts>
    <test-cases>
        <test-case name="asks">
            <input>
                <payload><![CDATA[<ask><symbol>IBM</symbol></ask>]]></payload>
                <properties><property name="mark" scope="axis2" value="m"/></properties>
            </input>
            <assertions>
                <assertEquals><actual>$body</actual><expected><![CDATA[{expected}]]></expected><message>price</message></assertEquals>
                <assertEquals><actual>$ctx:symbol</actual><expected>IBM</expected><message>symbol</message></assertEquals>
                <assertEquals><actual>$trp:X-Back</actual><expected>yes</expected><message>back</message></assertEquals>
                <assertNotNull><actual>$body</actual><message>there</message></assertNotNull>
            </assertions>
        </test-case>
    </test-cases>
    <mock-services><mock-service>/src/test/resources/mock-services/quotes.xml</mock-service></mock-services>
</unit-test>"#
    )
}

fn quotes(test: &str) -> Report {
    project(&[
        ("src/main/wso2mi/artifacts/sequences/quote.xml", SEQUENCE),
        ("src/main/wso2mi/artifacts/endpoints/quotes.xml", ENDPOINT),
        ("src/test/resources/mock-services/quotes.xml", SERVICE),
        ("src/test/wso2mi/quote-test.xml", test),
    ])
}

#[test]
fn a_sequence_is_run_with_files_of_its_project_and_a_pretended_service() {
    let report = quotes(&test("<price>42</price>"));
    assert_eq!((report.passed(), report.failed()), (1, 0), "{report}");
}

#[test]
fn what_does_not_hold_is_told_in_the_words_of_the_test_with_both_texts() {
    let report = quotes(&test("<price>43</price>"));
    assert_eq!((report.passed(), report.failed()), (0, 1), "{report}");
    let text = report.to_string();
    assert!(text.contains("price: $body is not as expected"), "{text}");
    assert!(text.contains("- <price>43</price>") && text.contains("+ <price>42</price>"), "{text}");
    let junit = report.to_junit();
    assert!(junit.contains("<testsuites tests=\"1\" failures=\"1\">"), "{junit}");
    assert!(myelin_xml::Document::parse(junit.into_bytes(), &myelin_xml::Options::default()).is_ok());
}

#[test]
fn what_nobody_pretends_to_answer_is_named() {
    let report = quotes(
        &test("<price>42</price>").replace("<payload><![CDATA[<ask><symbol>IBM", "<payload><![CDATA[<ask><symbol>SUN"),
    );
    let text = report.to_string();
    assert!(text.contains("mock service \"quotes\" has no resource for POST"), "{text}");
}

#[test]
fn a_proxy_is_asked_over_its_path_and_must_answer_well() {
    let proxy = r#"<proxy XMLNS name="Echo" transports="http https"><target><inSequence>
        <filter xpath="$trp:X-Fail"><then><property name="HTTP_SC" value="500" scope="axis2"/></then></filter>
        <respond/></inSequence></target></proxy>"#;
    let case = |name: &str, header: &str| {
        format!(
            "<test-case name='{name}'><input><payload>{{\"a\": 1}}</payload>\
             <properties><property name='{header}' scope='transport' value='yes'/></properties></input>\
             <assertions><assertEquals><actual>$body</actual><expected>{{ \"a\":1 }}</expected><message>m</message>\
             </assertEquals></assertions></test-case>"
        )
    };
    let test = format!(
        "<synapse-unit-test><artifacts><test-artifact><artifact>{proxy}</artifact></test-artifact></artifacts>\
         <test-cases>{}{}</test-cases></synapse-unit-test>",
        case("well", "X-Other"),
        case("badly", "X-Fail"),
    );
    let report = project(&[("test.xml", &test)]);
    assert_eq!((report.passed(), report.failed()), (1, 1), "{report}");
    assert!(report.to_string().contains("the answer is 500"), "{report}");
}

#[test]
fn a_test_that_cannot_run_fails_and_says_why() {
    let check = |test: &str, part: &str| {
        let report = project(&[("test.xml", test)]);
        assert_eq!((report.passed(), report.failed()), (0, 1), "{report}");
        assert!(report.to_string().contains(part), "{report}, not {part:?}");
    };
    let held = |artifact: &str, rest: &str| {
        format!(
            "<unit-test><artifacts><test-artifact><artifact>{artifact}</artifact></test-artifact>{rest}</artifacts></unit-test>"
        )
    };
    check("<unit-test/>", "<artifacts> is missing");
    check(&held("/no/such.xml", ""), "there is no file \"/no/such.xml\"");
    check(&held("<sequence XMLNS name='s'><nonsense/></sequence>", ""), "unknown mediator <nonsense>");
    let connectors = |name: &str| {
        format!("<connector-resources><connector-resource>{name}</connector-resource></connector-resources>")
    };
    check(&held("<sequence XMLNS name='s'/>", &connectors("x.zip")), "there is no file \"x.zip\"");
    check(&held("<sequence XMLNS name='s'/>", &connectors("mi-connector-email-2.0.0")), "mi-connector-email-2.0.0.zip");
    let empty = "<unit-test><artifacts><test-artifact><artifact><sequence XMLNS name='s'/></artifact></test-artifact>\
                 </artifacts><test-cases><test-case name='t'/></test-cases></unit-test>";
    check(empty, "there is no assertion");
}

/// An archive with a connector that has one operation, which greets.
fn greeter() -> Vec<u8> {
    let template = "<template xmlns='http://ws.apache.org/ns/synapse' name='greet'><parameter name='name'/><sequence>\
        <property name='greeting' expression=\"concat('Hello ', $func:name)\"/></sequence></template>";
    let files = [
        (
            "connector.xml",
            "<connector><component name='greeter' package='org.example'><dependency component='all'/></component></connector>",
        ),
        (
            "all/component.xml",
            "<component name='all' type='synapse/template'><subComponents><component name='greet'><file>greet.xml</file>\
             </component></subComponents></component>",
        ),
        ("all/greet.xml", template),
    ];
    let mut packed = Vec::new();
    let mut archive = rawzip::ZipArchiveWriter::new(&mut packed);
    for (name, text) in files {
        let new = archive.new_file(name).compression_method(rawzip::CompressionMethod::STORE);
        let (mut entry, config) = new.start().unwrap();
        let mut writer = config.wrap(&mut entry);
        writer.write_all(text.as_bytes()).unwrap();
        let (_, descriptor) = writer.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    packed
}

#[test]
fn connectors_of_the_project_are_there_for_a_test() {
    let test = |connector: &str| {
        format!(
            "<unit-test><artifacts><test-artifact><artifact><sequence xmlns='http://ws.apache.org/ns/synapse' name='s'>\
             <greeter.greet><name>{{$ctx:who}}</name></greeter.greet></sequence></artifact></test-artifact>\
             <connector-resources><connector-resource>mi-connector-http-0.1.11</connector-resource>\
             <connector-resource>{connector}</connector-resource></connector-resources></artifacts>\
             <test-cases><test-case name='greets'><input><properties><property name='who' value='Ada'/></properties></input>\
             <assertions><assertEquals><actual>$ctx:greeting</actual><expected>Hello Ada</expected><message>m</message>\
             </assertEquals></assertions></test-case></test-cases></unit-test>"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    std::fs::write(place("src/main/wso2mi/resources/connectors/greeter-1.0.0.zip"), greeter()).unwrap();
    std::fs::write(place("src/test/wso2mi/by-name.xml"), test("greeter-1.0.0")).unwrap();
    let path = "/src/main/wso2mi/resources/connectors/greeter-1.0.0.zip";
    std::fs::write(place("src/test/wso2mi/by-path.xml"), test(path)).unwrap();
    let report = run(folder.path()).unwrap();
    assert_eq!((report.passed(), report.failed()), (2, 0), "{report}");
}
