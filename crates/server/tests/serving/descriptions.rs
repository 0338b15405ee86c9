//! `?wsdl` over real sockets: of files, of another server, by HEAD.

use std::fs;

use crate::support::{Bus, definitions, settings};
use myelin_testkit::raw;

const DESCRIPTION: &str = r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" targetNamespace="urn:a">
  <message name="in"/><portType name="P"><operation name="ask"><input xmlns:a="urn:a" message="a:in"/></operation></portType>
</definitions>"#;

fn ask(bus: &Bus, method: &str, name: &str) -> raw::Answer {
    let request = format!("{method} /services/{name}?wsdl HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n");
    raw::exchange(bus.address, request.as_bytes()).unwrap()
}

#[test]
fn a_bus_describes_itself_by_what_another_one_says_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.wsdl");
    fs::write(&file, DESCRIPTION).unwrap();
    let proxy = |name: &str, uri: &str| {
        let target = "<target><inSequence><respond/></inSequence></target>";
        definitions(&format!("<proxy name='{name}'>{target}<publishWSDL uri='{uri}'/></proxy>"))
    };
    let back = Bus::with(&proxy("Back", &format!("file:{}", file.display())), settings());
    let front = Bus::with(&proxy("Front", &format!("http://{}/services/Back?wsdl", back.address)), settings());
    let first = ask(&front, "GET", "Front");
    assert_eq!(first.status, 200, "{}", first.text());
    assert!(first.text().contains("http://here/services/Front.FrontHttpSoap11Endpoint"), "{}", first.text());
    assert!(first.text().contains("operation name=\"ask\"") && !first.text().contains("Back"), "{}", first.text());
    let head = ask(&front, "HEAD", "Front");
    assert_eq!((head.status, head.text().as_str()), (200, ""));
    assert_eq!(head.header("content-length"), first.header("content-length"));
    // What was fetched is kept: the server that said it may go.
    assert!(back.stop());
    assert_eq!(ask(&front, "GET", "Front").status, 200);
    let late = Bus::with(&proxy("Late", &format!("http://{}/services/Back?wsdl", front.address)), settings());
    assert_eq!(ask(&late, "GET", "Late").status, 502);
}
