//! Apache Synapse with Rampart as the secured service of a plain client: what this bus sends is accepted there, and what
//! comes back is accepted here.

use std::fs;
use std::sync::Arc;

use crate::support::{definitions, settings};
use myelin_bench::echo;
use myelin_server::start;
use myelin_testkit::rampart::Rampart;
use myelin_testkit::raw;
use myelin_testkit::wss4j::Wss4j;

/// The gateway's side of the benchmark's legacy profile.
const POLICY: &str = include_str!("../../../bench/assets/legacy-policy.xml");

#[test]
fn a_plain_client_gets_the_answer_of_a_service_behind_rampart() {
    let Some(wss4j) = Wss4j::start() else { return };
    let echo = echo::start(([127, 0, 0, 1], 0).into(), echo::Options::default()).unwrap();
    let Some(rampart) = Rampart::start(wss4j.keys(), echo.address) else { return };
    let folder = tempfile::tempdir().unwrap();
    let policy = POLICY
        .replace("@KEYS@", &wss4j.keys().display().to_string())
        .replace(">bob-1024<", ">alice-1024<")
        .replace(">useReqSigCert<", ">bob-1024<")
        .replace("receivers.jks", "all.jks");
    fs::write(folder.path().join("policy.xml"), policy).unwrap();
    let configuration = definitions(&format!(
        r#"<localEntry key="policy" src="file:policy.xml"/>
        <proxy name="P"><target><endpoint><address uri="http://{}{}"><enableSec policy="policy"/></address></endpoint></target></proxy>"#,
        rampart.address(),
        Rampart::PATH
    ));
    let file = folder.path().join("synapse.xml");
    fs::write(&file, configuration).unwrap();
    let mut content = myelin_engine::Settings::default();
    content.security.rsa_bits_min = 1024;
    let loaded = myelin_engine::load(&[file], &content);
    assert_eq!(loaded.report.faulty(), 0, "{}", loaded.report.to_text());
    let bus = start(Arc::new(loaded.bus), settings()).unwrap();
    let address = bus.urls[0].split_once("://").unwrap().1.parse().unwrap();
    let order = "<soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\"><soapenv:Body>\
                 <m:buyStocks xmlns:m=\"http://services.samples/xsd\"><symbol>IBM</symbol></m:buyStocks>\
                 </soapenv:Body></soapenv:Envelope>";
    let request = format!(
        "POST /services/P HTTP/1.1\r\nHost: bus\r\nContent-Type: text/xml\r\nSOAPAction: \"urn:buyStocks\"\r\n\
         Content-Length: {}\r\n\r\n{order}",
        order.len()
    );
    let answer = raw::exchange(address, request.as_bytes()).unwrap();
    let text = answer.text();
    assert_eq!(answer.status, 200, "{text}");
    assert!(text.contains("<symbol>IBM</symbol>") && !text.contains("Security"), "{text}");
    bus.stop().unwrap();
    echo.stop();
}
