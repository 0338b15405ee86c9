//! What a bus has learnt goes on in the one that takes its place.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{Scenario, post, response};
use myelin_engine::transport::SendErrorKind;
use myelin_engine::{Settings, load};

/// A bus with an endpoint behind a server of tokens, which gives out `token`.
fn scenario(endpoint: &str, token: &'static str, settings: &Settings) -> Scenario {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("synapse.xml");
    let proxy = format!(
        "<proxy name='P'><target><endpoint>{endpoint}</endpoint><outSequence><send/></outSequence></target></proxy>"
    );
    std::fs::write(&path, format!("<definitions>{proxy}</definitions>")).unwrap();
    let loaded = load(&[path], settings);
    assert_eq!(loaded.report.faulty(), 0, "{}", loaded.report.to_text());
    Scenario::of(loaded, move |_, sent| {
        if sent.uri.starts_with("http://tokens/") {
            let body = format!("{{\"access_token\": \"{token}\", \"expires_in\": 3600}}");
            return Ok(response(200, &[("Content-Type", "application/json")], &body));
        }
        Ok(response(200, &[("Content-Type", "text/plain")], sent.header("Authorization").unwrap()))
    })
}

fn endpoint(client: &str) -> String {
    format!(
        "<http uri-template='http://back/x'><authentication><oauth><clientCredentials><clientId>{client}</clientId>\
         <clientSecret>secret</clientSecret><tokenUrl>http://tokens/get</tokenUrl></clientCredentials></oauth>\
         </authentication></http>"
    )
}

#[test]
fn tokens_are_used_on_where_the_definition_is_the_same() {
    let settings = Settings::default();
    let ask = |scenario: &Scenario| scenario.serve(post("/services/P", &[], "<q/>")).body;
    let first = scenario(&endpoint("a"), "one", &settings);
    assert_eq!(ask(&first), "Bearer one");
    let same = scenario(&endpoint("a"), "two", &settings);
    assert_eq!(ask(&same), "Bearer one");
    assert_eq!(ask(&scenario(&endpoint("b"), "three", &settings)), "Bearer three");
    drop((first, same));
    // Nobody is there who knows it any more.
    assert_eq!(ask(&scenario(&endpoint("a"), "four", &settings)), "Bearer four");
}

#[test]
fn a_suspended_endpoint_stays_suspended_where_its_definition_is_the_same() {
    let settings = Settings::default();
    let failing = |name: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("synapse.xml");
        let endpoint = format!("<endpoint name='{name}'><address uri='http://back/'/></endpoint>");
        let proxy = format!("<proxy name='P'><target endpoint='{name}'/></proxy>");
        std::fs::write(&path, format!("<definitions>{endpoint}{proxy}</definitions>")).unwrap();
        Scenario::of(load(&[path], &settings), |_, _| Err(SendErrorKind::ConnectFailed))
    };
    let attempts = |scenario: &Scenario| {
        scenario.serve(post("/services/P", &[], "<q/>"));
        scenario.sent().len()
    };
    let first = failing("e");
    assert_eq!((attempts(&first), attempts(&first)), (1, 1));
    let same = failing("e");
    assert_eq!(attempts(&same), 0);
    assert_eq!(attempts(&failing("other")), 1);
}
