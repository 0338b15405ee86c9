//! HTTPS on both sides; names, dates and issuers of backends are always checked.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

mod support;

use std::path::PathBuf;

use myelin_server::Settings;
use myelin_testkit::{raw, rude::whole};
use support::authority::Authority;
use support::{Bus, answering, definitions, post, proxy, settings};

/// The status a plain client gets through a bus that calls an HTTPS backend with those roots.
fn through_tls(backend: &str, roots: Vec<PathBuf>) -> (u16, String) {
    // It is tried each time, however it ended before.
    let configuration = definitions(&format!(
        r#"<proxy name="P"><target><endpoint><address uri="https://{backend}/services/P">
           <suspendOnFailure><errorCodes>-1</errorCodes></suspendOnFailure></address></endpoint></target></proxy>"#
    ));
    let bus = Bus::with(&configuration, Settings { roots, ..settings() });
    let mut last = (0, String::new());
    for _ in 0..2 {
        let answer = raw::exchange(bus.address, &post("<secret/>")).unwrap();
        last = (answer.status, answer.text());
    }
    last
}

#[test]
fn a_message_goes_through_an_https_endpoint_to_an_https_listener() {
    let authority = Authority::new();
    let backend = answering(whole());
    let secure = Bus::with(&proxy(backend.address()), authority.server("localhost", 2090));
    let (status, _) = through_tls(&format!("localhost:{}", secure.address.port()), vec![authority.root()]);
    assert_eq!(status, 200);
    assert!(backend.connections()[0].text().ends_with("<secret/>"));
}

#[test]
fn a_large_message_goes_through_tls_whole() {
    let authority = Authority::new();
    let echo = definitions(r#"<proxy name="P"><target><inSequence><respond/></inSequence></target></proxy>"#);
    let secure = Bus::with(&echo, authority.server("localhost", 2090));
    let configuration = definitions(&format!(
        r#"<proxy name="P"><target><endpoint><address uri="https://localhost:{}/services/P"/></endpoint></target></proxy>"#,
        secure.address.port()
    ));
    let bus = Bus::with(&configuration, Settings { roots: vec![authority.root()], ..settings() });
    let body = "0123456789abcdef".repeat(20_000);
    let answer = raw::exchange(bus.address, &post(&body)).unwrap();
    assert_eq!(answer.status, 200);
    assert!(answer.text() == body, "the body came back changed");
}

#[test]
fn a_certificate_that_is_for_another_name_too_old_or_by_a_stranger_is_refused() {
    let authority = Authority::new();
    let stranger = Authority::new();
    let backend = answering(whole());
    for (name, last_year, root) in [
        ("elsewhere.example", 2090, authority.root()),
        ("localhost", 2021, authority.root()),
        ("localhost", 2090, stranger.root()),
    ] {
        let secure = Bus::with(&proxy(backend.address()), authority.server(name, last_year));
        let (status, text) = through_tls(&format!("localhost:{}", secure.address.port()), vec![root]);
        assert_eq!(status, 502, "{name} until {last_year}");
        assert!(text.contains("101503"), "{text}");
    }
    assert_eq!(backend.connections().len(), 0);
}
