//! How the bus says to endpoints who it is.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::Cell;
use std::time::Duration;

use crate::common::{Scenario, Sent, post, report, response};
use myelin_engine::transport::SendErrorKind;
use myelin_message::Message;

const CLIENT_CREDENTIALS: &str = "<oauth><clientCredentials><clientId>id</clientId><clientSecret>se:cret</clientSecret>\
     <tokenUrl>http://tokens/get</tokenUrl></clientCredentials></oauth>";

fn proxy(authentication: &str) -> String {
    format!(
        "<proxy name='P'><target><inSequence><send><endpoint><http uri-template='http://back/x'>\
         <authentication>{authentication}</authentication></http></endpoint></send></inSequence></target></proxy>"
    )
}

/// A backend for which `good` tells the tokens that are good, and a server that gives the tokens `t1`, `t2` … out.
fn scenario(authentication: &str, good: impl Fn(&str) -> bool + 'static) -> Scenario {
    let given = Cell::new(0);
    Scenario::with(&proxy(authentication), move |_, sent| {
        if sent.uri.starts_with("http://tokens/") {
            given.set(given.get() + 1);
            return Ok(json(&format!("{{\"access_token\": \"t{}\", \"expires_in\": 3600}}", given.get())));
        }
        let token = sent.header("Authorization").unwrap().strip_prefix("Bearer ").unwrap();
        Ok(response(if good(token) { 200 } else { 401 }, &[("Content-Type", "text/plain")], token))
    })
}

fn json(body: &str) -> Message {
    response(200, &[("Content-Type", "application/json")], body)
}

fn ask(scenario: &Scenario) -> (u16, String) {
    let reply = scenario.serve(post("/services/P", &[], "<q/>"));
    (reply.status, reply.body)
}

/// The forms that the token server got.
fn forms(scenario: &Scenario) -> Vec<String> {
    let is_token = |sent: &&Sent| sent.uri.starts_with("http://tokens/");
    scenario.sent().iter().filter(is_token).map(|sent| sent.body.clone()).collect()
}

fn pass(scenario: &Scenario, seconds: u64) {
    scenario.clock().run(scenario.clock().sleep(Duration::from_secs(seconds)));
}

#[test]
fn a_password_is_said_with_each_request() {
    let scenario =
        Scenario::new(&proxy("<basicAuth><username>{$trp:X-User}</username><password>pa:ss</password></basicAuth>"));
    scenario.serve(post("/services/P", &[("X-User", "alice"), ("Authorization", "theirs")], "<q/>"));
    let sent = scenario.into_sent();
    // alice:pa:ss
    assert_eq!(sent.header("Authorization"), Some("Basic YWxpY2U6cGE6c3M="));
    assert!(sent.on_the_wire);
}

#[test]
fn a_token_is_asked_for_once_and_used_until_it_ends() {
    let scenario = scenario(CLIENT_CREDENTIALS, |_| true);
    assert_eq!(ask(&scenario), (200, "t1".to_owned()));
    assert_eq!(ask(&scenario), (200, "t1".to_owned()));
    assert_eq!(forms(&scenario), ["grant_type=client_credentials"]);
    let first =
        scenario.sent().first().map(|sent| (sent.method.clone(), sent.header("Authorization").map(str::to_owned)));
    // id:se:cret
    assert_eq!(first, Some(("POST".to_owned(), Some("Basic aWQ6c2U6Y3JldA==".to_owned()))));
    pass(&scenario, 3595);
    assert_eq!(ask(&scenario), (200, "t2".to_owned()));
}

#[test]
fn however_many_wait_for_a_token_it_is_asked_for_once() {
    let scenario = scenario(CLIENT_CREDENTIALS, |_| true);
    let requests = (0..20).map(|_| post("/services/P", &[], "<q/>")).collect();
    let replies = scenario.serve_together(requests);
    assert!(replies.iter().all(|reply| reply.body == "t1"), "{replies:?}");
    assert_eq!(forms(&scenario).len(), 1);
}

#[test]
fn all_who_wait_for_a_token_hear_that_there_is_none() {
    let scenario = Scenario::with(&proxy(CLIENT_CREDENTIALS), |_, _| Ok(response(503, &[], "not now")));
    let requests = (0..5).map(|_| post("/services/P", &[], "<q/>")).collect();
    let replies = scenario.serve_together(requests);
    assert!(replies.iter().all(|reply| reply.status == 502), "{replies:?}");
    assert_eq!(scenario.sent().len(), 1);
}

#[test]
fn a_token_that_is_not_good_any_more_is_renewed_and_the_request_sent_again() {
    let scenario = scenario(CLIENT_CREDENTIALS, |token| token != "t1");
    assert_eq!(ask(&scenario), (200, "t2".to_owned()));
    let bodies: Vec<String> = scenario
        .sent()
        .iter()
        .filter(|sent| sent.uri.starts_with("http://back"))
        .map(|sent| sent.body.clone())
        .collect();
    assert_eq!(bodies, ["<q/>", "<q/>"]);
    assert_eq!(ask(&scenario), (200, "t2".to_owned()));
}

#[test]
fn a_request_is_sent_again_once_only() {
    let scenario = scenario(CLIENT_CREDENTIALS, |_| false);
    assert_eq!(ask(&scenario), (401, "t2".to_owned()));
    assert_eq!(scenario.sent().len(), 4);
}

#[test]
fn a_grant_says_what_it_is_in_the_form() {
    let check = |grant: &str, expected: &str| {
        let common =
            "<clientId>i d</clientId><clientSecret>s&amp;t</clientSecret><tokenUrl>http://tokens/get</tokenUrl>";
        let (name, _) = grant.split_once('>').unwrap();
        let scenario = scenario(&format!("<oauth>{grant}{common}</{}></oauth>", &name[1..]), |_| true);
        ask(&scenario);
        assert_eq!(forms(&scenario), [expected]);
    };
    check(
        "<clientCredentials><authMode>Payload</authMode><requestParameters><parameter name='scope'>a b</parameter>\
         </requestParameters>",
        "grant_type=client_credentials&client_id=i%20d&client_secret=s%26t&scope=a%20b",
    );
    check(
        "<passwordCredentials><username>u</username><password>p</password>",
        "grant_type=password&username=u&password=p",
    );
    check("<authorizationCode><refreshToken>r</refreshToken>", "grant_type=refresh_token&refresh_token=r");
}

#[test]
fn a_token_for_getting_others_is_replaced_by_the_newer_one() {
    let grant = "<oauth><authorizationCode><refreshToken>r0</refreshToken><clientId>i</clientId><clientSecret>s\
                 </clientSecret><tokenUrl>http://tokens/get</tokenUrl></authorizationCode></oauth>";
    let scenario = Scenario::with(&proxy(grant), |count, sent| {
        let body = format!("{{\"access_token\": \"t\", \"expires_in\": \"60\", \"refresh_token\": \"r{count}1\"}}");
        Ok(if sent.uri.starts_with("http://tokens/") { json(&body) } else { response(200, &[], "") })
    });
    ask(&scenario);
    pass(&scenario, 60);
    ask(&scenario);
    let ends: Vec<String> = forms(&scenario).iter().map(|form| form.rsplit('=').next().unwrap().to_owned()).collect();
    assert_eq!(ends, ["r0", "r01"]);
}

#[test]
fn without_a_token_the_client_is_told_and_the_log_knows_why() {
    let check = |answer: fn() -> Result<Message, SendErrorKind>| {
        let artefacts = proxy(CLIENT_CREDENTIALS).replace(
            "</inSequence>",
            "</inSequence><faultSequence><property name='code' expression=\"get-property('ERROR_CODE')\" \
             scope='transport'/><respond/></faultSequence>",
        );
        let scenario = Scenario::with(&artefacts, move |_, _| answer());
        let reply = scenario.serve(post("/services/P", &[], "<q/>"));
        assert_eq!((reply.status, reply.header("code")), (502, Some("303003")), "{}", reply.body);
        assert_eq!(scenario.sent().len(), 1);
    };
    check(|| Ok(response(400, &[], "{\"error\": \"invalid_client\"}")));
    check(|| Ok(response(200, &[], "{}")));
    check(|| Ok(response(200, &[], "no JSON")));
    check(|| Err(SendErrorKind::ConnectFailed));
}

#[test]
fn what_cannot_authenticate_is_refused_with_its_place() {
    let check = |authentication: &str, part: &str| {
        let text = report(&proxy(authentication)).to_text();
        assert!(text.contains(part), "{text}");
    };
    check("", "holds either <basicAuth> or <oauth>");
    check("<basicAuth><username>u</username></basicAuth>", "needs <password>");
    check("<digest/>", "<digest> is no way to authenticate");
    check("<oauth><implicit/></oauth>", "<implicit> is no grant");
    check(&CLIENT_CREDENTIALS.replace("http://tokens/get", "tokens"), "is not an absolute http or https URI");
    check(&CLIENT_CREDENTIALS.replace("se:cret", "$secret{none}"), "has no \"none\"");
    check(&CLIENT_CREDENTIALS.replace("se:cret", "{//secret}"), "cannot be taken from the body");
}
