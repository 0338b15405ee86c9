//! Caches: what is answered from them, what is kept, and for how long.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use crate::common::{Reply, Scenario, get, load_with, post, request, response, wire};
use myelin_engine::Settings;
use myelin_message::Message;

/// A finder with these attributes and this protocol.
fn finder(attributes: &str, protocol: &str) -> String {
    let protocol = format!("<protocol type='HTTP'>{protocol}</protocol>");
    format!("<cache collector='false' {attributes}>{protocol}</cache>")
}

const CONTROL: &str = "<enableCacheControl>true</enableCacheControl><includeAgeHeader>true</includeAgeHeader>";

/// An API that sends what `finder` has no answer for, and keeps what comes back.
fn api(finder: &str) -> String {
    format!(
        "<api name='A' context='/a'><resource methods='GET POST PUT' url-mapping='/*'><inSequence>{finder}\
         <send><endpoint><address uri='http://back'/></endpoint></send></inSequence>\
         <outSequence><cache collector='true'/><send/></outSequence></resource></api>"
    )
}

/// With a backend that says how often it was asked, in answers with these header lines.
fn scenario(finder: &str, headers: &'static [(&str, &str)]) -> Scenario {
    Scenario::with(&api(finder), move |count, _| {
        let mut all = vec![("Content-Type", "text/plain")];
        all.extend(headers);
        let mut answer = response(200, &all, "");
        answer.body = wire(&format!("answer {count}"));
        Ok(answer)
    })
}

fn pass(scenario: &Scenario, seconds: u64) {
    let clock = scenario.clock();
    clock.run(clock.sleep(Duration::from_secs(seconds))).unwrap();
}

fn body(scenario: &Scenario, request: Message) -> String {
    scenario.serve(request).body
}

fn get_with(headers: &[(&str, &str)]) -> Message {
    let mut request = request("GET", "/a/x", headers, "");
    request.body = myelin_message::Body::Empty;
    request
}

#[test]
fn a_request_that_asks_the_same_gets_the_very_answer_until_it_expires() {
    let scenario = scenario(&finder("timeout='20'", ""), &[("X-Back", "1"), ("x-back", "2")]);
    let ask = || scenario.serve(get("/a/x?y=1"));
    let first = ask();
    let again = ask();
    let told = |reply: &Reply| (reply.status, reply.body.clone(), reply.headers.clone());
    assert_eq!(told(&first), told(&again));
    assert_eq!(first.body, "answer 0");
    assert_eq!(body(&scenario, get("/a/x?y=2")), "answer 1");
    pass(&scenario, 19);
    assert_eq!(ask().body, "answer 0");
    pass(&scenario, 1);
    assert_eq!(ask().body, "answer 2");
}

#[test]
fn bodies_that_say_the_same_are_the_same_and_others_are_not() {
    let scenario = scenario(&finder("", ""), &[]);
    let ask = |text: &str| body(&scenario, post("/a/x", &[], text));
    assert_eq!(ask("<q a='1' b='2'/>"), "answer 0");
    assert_eq!(ask("<q b=\"2\" a=\"1\"></q>"), "answer 0");
    assert_eq!(ask("<q a='1' b='3'/>"), "answer 1");
    let json = |text: &str| body(&scenario, request("POST", "/a/x", &[("Content-Type", "application/json")], text));
    assert_eq!((json("{\"a\": 1}"), json("{ \"a\":1 }")), ("answer 2".to_owned(), "answer 2".to_owned()));
    let text = |text: &str| body(&scenario, request("POST", "/a/x", &[("Content-Type", "text/plain")], text));
    assert_eq!((text("a"), text("a"), text("b")), ("answer 3".into(), "answer 3".into(), "answer 4".into()));
    assert_eq!(body(&scenario, request("PUT", "/a/x", &[("Content-Type", "text/plain")], "a")), "answer 5");
    // What was looked at went on as it came.
    assert_eq!(scenario.sent()[0].body, "<q a='1' b='2'/>");
}

#[test]
fn what_is_attached_to_a_message_counts() {
    let scenario = scenario(&finder("", ""), &[]);
    let ask = |file: &str| {
        let body = format!(
            "--b\r\nContent-Type: text/xml\r\nContent-ID: <x>\r\n\r\n<q/>\r\n\
             --b\r\nContent-Type: text/plain\r\nContent-ID: <y>\r\n\r\n{file}\r\n--b--\r\n"
        );
        let content_type = "multipart/related; boundary=b; type=\"text/xml\"; start=\"<x>\"";
        self::body(&scenario, request("POST", "/a/x", &[("Content-Type", content_type)], &body))
    };
    assert_eq!((ask("one"), ask("two"), ask("one")), ("answer 0".into(), "answer 1".into(), "answer 0".into()));
    assert!(scenario.sent()[1].body.contains("two"));
}

#[test]
fn requests_without_a_body_are_known_by_their_address_whatever_counts() {
    let by_body = "<cache hashGenerator='org.wso2.caching.digest.DOMHASHGenerator'/>";
    let scenario = scenario(by_body, &[]);
    let asked = ["/a/x", "/a/y", "/a/x"].map(|target| body(&scenario, get(target)));
    assert_eq!(asked, ["answer 0", "answer 1", "answer 0"]);
    let posted = ["/a/x", "/a/y"].map(|target| body(&scenario, post(target, &[], "<q/>")));
    assert_eq!(posted, ["answer 2", "answer 2"]);
}

#[test]
fn header_lines_make_requests_different_unless_they_are_left_out() {
    let asked = |protocol: &str| {
        let scenario = scenario(&finder("", protocol), &[]);
        let users = [("a", "1"), ("b", "1"), ("b", "2")];
        users.map(|(user, time)| body(&scenario, get_with(&[("X-User", user), ("Date", time)])))
    };
    assert_eq!(asked(""), ["answer 0", "answer 1", "answer 1"]);
    assert_eq!(asked("<headersToExcludeInHash>Accept, x-user</headersToExcludeInHash>"), ["answer 0"; 3]);
    assert_eq!(asked("<headersToExcludeInHash>*</headersToExcludeInHash>"), ["answer 0"; 3]);
    assert_eq!(asked("<headersToIncludeInHash>Accept</headersToIncludeInHash>"), ["answer 0"; 3]);
    assert_eq!(asked("<headersToIncludeInHash>*</headersToIncludeInHash>"), ["answer 0", "answer 1", "answer 1"]);
}

#[test]
fn answers_are_kept_by_method_status_and_size() {
    let get_only = scenario(&finder("", "<methods>GET</methods>"), &[]);
    assert_eq!(body(&get_only, post("/a/x", &[], "<q/>")), "answer 0");
    assert_eq!(body(&get_only, post("/a/x", &[], "<q/>")), "answer 1");
    // Nobody had a reason to read what came.
    assert!(get_only.sent().iter().all(|sent| sent.on_the_wire));
    let created = scenario(&finder("", "<responseCodes>201|4..</responseCodes>"), &[]);
    assert_eq!((body(&created, get("/a/x")), body(&created, get("/a/x"))), ("answer 0".into(), "answer 1".into()));
    let small = scenario(&finder("maxMessageSize='7'", ""), &[]);
    let replies = [small.serve(get("/a/x")), small.serve(get("/a/x"))];
    assert_eq!(
        replies.each_ref().map(|reply| (&*reply.body, reply.on_the_wire)),
        [("answer 0", true), ("answer 1", true)]
    );
    let few = "<cache><protocol type='HTTP'/><implementation maxSize='1'/></cache>";
    let few = scenario(few, &[]);
    let asked = ["/a/x", "/a/y", "/a/y", "/a/x"].map(|target| body(&few, get(target)));
    assert_eq!(asked, ["answer 0", "answer 1", "answer 1", "answer 2"]);
}

#[test]
fn what_is_not_to_be_stored_is_not_where_cache_control_is_heeded() {
    for said in ["no-store", "private, max-age=60"] {
        let headers: &'static [(&str, &str)] = Box::leak(Box::new([("Cache-Control", said)]));
        let heeding = scenario(&finder("", CONTROL), headers);
        assert_eq!((body(&heeding, get("/a/x")), body(&heeding, get("/a/x"))), ("answer 0".into(), "answer 1".into()));
        let blind = scenario(&finder("", ""), headers);
        assert_eq!((body(&blind, get("/a/x")), body(&blind, get("/a/x"))), ("answer 0".into(), "answer 0".into()));
    }
}

#[test]
fn an_answer_says_its_age_and_is_given_no_longer_than_its_sender_allows() {
    let scenario = scenario(&finder("", CONTROL), &[("Cache-Control", "max-age=30")]);
    assert_eq!(scenario.serve(get("/a/x")).header("Age"), None);
    pass(&scenario, 30);
    let reply = scenario.serve(get("/a/x"));
    assert_eq!((&*reply.body, reply.header("Age")), ("answer 0", Some("30")));
    pass(&scenario, 1);
    assert_eq!(body(&scenario, get("/a/x")), "answer 1");
}

#[test]
fn a_client_that_has_the_answer_is_told_so() {
    let scenario = scenario(&finder("", CONTROL), &[("ETag", "\"v1\"")]);
    assert_eq!(body(&scenario, get_with(&[])), "answer 0");
    let known = scenario.serve(get_with(&[("If-None-Match", "\"v0\", W/\"v1\"")]));
    assert_eq!((known.status, &*known.body, known.header("ETag")), (304, "", Some("\"v1\"")));
    let other = scenario.serve(get_with(&[("If-None-Match", "\"v2\"")]));
    assert_eq!((other.status, &*other.body), (200, "answer 0"));
}

#[test]
fn an_answer_that_is_to_be_confirmed_is_asked_about_by_its_tag() {
    let scenario = Scenario::with(&api(&finder("", CONTROL)), |count, sent| {
        Ok(match sent.header("If-None-Match") {
            Some("\"v1\"") if count != 3 => response(304, &[], ""),
            _ => response(200, &[("Cache-Control", "no-cache"), ("ETag", "\"v1\"")], &format!("answer {count}")),
        })
    });
    let replies: Vec<_> = (0..4).map(|_| scenario.serve(get_with(&[]))).collect();
    let told: Vec<_> = replies.iter().map(|reply| (reply.status, &*reply.body)).collect();
    assert_eq!(told, [(200, "answer 0"), (200, "answer 0"), (200, "answer 0"), (200, "answer 3")]);
    // Who has it already gets 304, whoever said so first.
    let known = scenario.serve(get_with(&[("If-None-Match", "\"v1\"")]));
    assert_eq!((known.status, scenario.sent().len()), (304, 5));
}

#[test]
fn what_is_found_runs_its_own_sequence_and_nothing_behind_the_cache() {
    let finder = "<cache><onCacheHit><header name='X-Hit' value='yes' scope='transport'/><respond/></onCacheHit></cache>\
                  <header name='X-Missed' value='yes' scope='transport'/>";
    let scenario = scenario(finder, &[]);
    assert_eq!(scenario.serve(get("/a/x")).header("X-Hit"), None);
    let hit = scenario.serve(get("/a/x"));
    assert_eq!((&*hit.body, hit.header("X-Hit")), ("answer 0", Some("yes")));
    assert_eq!(scenario.sent()[0].header("X-Missed"), Some("yes"));
    assert_eq!(scenario.sent().len(), 1);
}

#[test]
fn a_call_between_finder_and_collector_is_cached() {
    let artefacts = "<proxy name='P'><target><inSequence><cache timeout='60'/>\
         <call><endpoint><address uri='http://back/'/></endpoint></call><cache collector='true'/><respond/>\
         </inSequence></target></proxy>";
    let scenario = Scenario::new(artefacts);
    let ask = || body(&scenario, post("/services/P", &[], "<q/>"));
    assert_eq!((ask(), ask()), ("backend says <q/>".to_owned(), "backend says <q/>".to_owned()));
    assert_eq!(scenario.sent().len(), 1);
}

#[test]
fn a_cache_in_the_wrong_place_is_a_fault() {
    let ask = |inside: &str| {
        let proxy = format!("<proxy name='P'><target><inSequence>{inside}<respond/></inSequence></target></proxy>");
        Scenario::new(&proxy).serve(post("/services/P", &[], "<q/>"))
    };
    let reply = ask("<cache collector='true'/>");
    assert_eq!(reply.status, 500);
    assert!(reply.body.contains("Request messages cannot be handled in a collector cache"));
    let reply = ask("<call><endpoint><address uri='http://back/'/></endpoint></call><cache/>");
    assert!(reply.body.contains("Response messages cannot be handled in a non collector cache"));
}

#[test]
fn requests_that_miss_together_are_all_answered() {
    let scenario = scenario(&finder("", ""), &[]);
    let replies = scenario.serve_together((0..5).map(|_| get("/a/x")).collect());
    assert!(replies.iter().all(|reply| reply.status == 200));
    assert_eq!(scenario.sent().len(), 5);
    body(&scenario, get("/a/x"));
    assert_eq!(scenario.sent().len(), 5);
}

#[test]
fn what_is_kept_goes_on_over_a_reload_where_the_definition_is_the_same() {
    let settings = Settings::default();
    let asked = |finder: &str| {
        let loaded = load_with(&api(finder), &settings);
        assert_eq!(loaded.report.faulty(), 0, "{}", loaded.report.to_text());
        let scenario = Scenario::of(loaded, |_, _| Ok(response(200, &[], "")));
        scenario.serve(get("/a/x"));
        let count = scenario.sent().len();
        (count, scenario)
    };
    let first = asked(&finder("id='q' timeout='60'", ""));
    assert_eq!(first.0, 1);
    let same = asked(&finder("id='q' timeout='60'", ""));
    assert_eq!(same.0, 0);
    assert_eq!(asked(&finder("id='q' timeout='61'", "")).0, 1);
    drop((first, same));
    assert_eq!(asked(&finder("id='q' timeout='60'", "")).0, 1);
}

#[test]
fn a_flood_of_requests_takes_no_more_memory_than_is_set_aside() {
    let settings = Settings { cache_bytes: 64 * 1024, ..Settings::default() };
    let scenario = Scenario::of(load_with(&api(&finder("", "")), &settings), |count, _| {
        let mut answer = response(200, &[], "");
        answer.body = wire(&"x".repeat(1000 + count % 10 * 1000));
        Ok(answer)
    });
    // What is kept is dropped with the bus; until then the last answers are there, and the first are not.
    (0..500).for_each(|number| drop(scenario.serve(get(&format!("/a/{number}")))));
    assert_eq!(scenario.sent().len(), 500);
    scenario.serve(get("/a/490"));
    assert_eq!(scenario.sent().len(), 500);
    scenario.serve(get("/a/0"));
    assert_eq!(scenario.sent().len(), 501);
    // Of an answer of more than an eighth of the memory nothing is kept.
    scenario.serve(get("/a/499"));
    assert_eq!(scenario.sent().len(), 502);
}

/// What requests with these header lines get, one after the other.
fn asked(scenario: &Scenario, requests: &[&[(&str, &str)]]) -> Vec<String> {
    requests.iter().map(|headers| body(scenario, get_with(headers))).collect()
}

#[test]
fn a_request_that_wants_no_kept_answer_gets_none_where_cache_control_is_heeded() {
    let heeding = scenario(&finder("", CONTROL), &[]);
    let plain: &[(&str, &str)] = &[];
    let [anew, old, none] =
        [[("Cache-Control", "no-cache")], [("Pragma", "no-cache")], [("Cache-Control", "no-store")]];
    // What came of the one that must not be kept is given to nobody else.
    let told = asked(&heeding, &[plain, &anew, plain, &old, plain, &none, plain]);
    assert_eq!(told, ["answer 0", "answer 1", "answer 1", "answer 2", "answer 2", "answer 3", "answer 2"]);
    pass(&heeding, 10);
    let [young, old] = [[("Cache-Control", "max-age=9")], [("Cache-Control", "max-age=10")]];
    assert_eq!(asked(&heeding, &[&old, &young]), ["answer 2", "answer 4"]);
    let blind = scenario(&finder("", ""), &[]);
    assert_eq!(asked(&blind, &[&anew, &anew]), ["answer 0", "answer 0"]);
}

#[test]
fn an_answer_that_hangs_on_header_lines_is_given_to_those_who_say_the_same() {
    let blind = format!("{CONTROL}<headersToExcludeInHash>*</headersToExcludeInHash>");
    let languages: [&[(&str, &str)]; 4] =
        [&[("Accept-Language", "de")], &[("accept-language", "de"), ("X-A", "1")], &[], &[("Accept-Language", "de")]];
    let varying = scenario(&finder("", &blind), &[("Vary", "Origin, Accept-Language")]);
    assert_eq!(asked(&varying, &languages), ["answer 0", "answer 0", "answer 1", "answer 2"]);
    let always = scenario(&finder("", &blind), &[("Vary", "*")]);
    assert_eq!(asked(&always, &[&[], &[]]), ["answer 0", "answer 1"]);
    // This one never counts by itself.
    let agents = scenario(&finder("", CONTROL), &[("Vary", "User-Agent")]);
    assert_eq!(asked(&agents, &[&[("User-Agent", "a")], &[("User-Agent", "b")]]), ["answer 0", "answer 1"]);
}

#[test]
fn what_is_for_one_caller_is_not_given_to_another_where_cache_control_is_heeded() {
    let blind = format!("{CONTROL}<headersToExcludeInHash>Authorization</headersToExcludeInHash>");
    let callers: [&[(&str, &str)]; 3] = [&[("Authorization", "a")], &[("Authorization", "b")], &[]];
    assert_eq!(asked(&scenario(&finder("", &blind), &[]), &callers), ["answer 0", "answer 1", "answer 2"]);
    let public = scenario(&finder("", &blind), &[("Cache-Control", "public")]);
    assert_eq!(asked(&public, &callers), ["answer 0"; 3]);
    let counting = scenario(&finder("", CONTROL), &[]);
    assert_eq!(asked(&counting, &[callers[0], callers[1], callers[0]]), ["answer 0", "answer 1", "answer 0"]);
}

#[test]
fn nobody_gets_the_session_of_another() {
    let scenario = scenario(&finder("", ""), &[("Set-Cookie", "session=1"), ("X-Back", "1")]);
    let cookies = || {
        let reply = scenario.serve(get("/a/x"));
        (reply.header("Set-Cookie").map(str::to_owned), reply.header("X-Back").map(str::to_owned))
    };
    assert_eq!(cookies(), (Some("session=1".to_owned()), Some("1".to_owned())));
    assert_eq!(cookies(), (None, Some("1".to_owned())));
}

#[test]
fn a_part_of_an_answer_is_given_to_those_who_want_that_part_alone() {
    let blind = "<headersToExcludeInHash>*</headersToExcludeInHash>";
    let parts: [&[(&str, &str)]; 3] = [&[("Range", "bytes=0-1")], &[], &[("Range", "bytes=0-1")]];
    assert_eq!(asked(&scenario(&finder("", blind), &[]), &parts), ["answer 0", "answer 1", "answer 0"]);
}

#[test]
fn each_version_of_soap_has_answers_of_its_own() {
    let by_body = "<cache hashGenerator='org.wso2.caching.digest.DOMHASHGenerator'/>";
    let scenario = scenario(by_body, &[]);
    let ask = |namespace: &str, content_type: &str| {
        let text = format!("<e:Envelope xmlns:e='{namespace}'><e:Body><q/></e:Body></e:Envelope>");
        body(&scenario, request("POST", "/a/x", &[("Content-Type", content_type)], &text))
    };
    let old = || ask("http://schemas.xmlsoap.org/soap/envelope/", "text/xml");
    let new = || ask("http://www.w3.org/2003/05/soap-envelope", "application/soap+xml");
    assert_eq!([old(), new(), old(), new()], ["answer 0", "answer 1", "answer 0", "answer 1"]);
}

#[test]
fn an_answer_that_another_cache_has_had_is_as_old_as_that_one_says() {
    let scenario = scenario(&finder("", CONTROL), &[("Cache-Control", "max-age=30"), ("Age", "20")]);
    assert_eq!(body(&scenario, get("/a/x")), "answer 0");
    pass(&scenario, 10);
    assert_eq!(scenario.serve(get("/a/x")).header("Age"), Some("30"));
    pass(&scenario, 1);
    assert_eq!(body(&scenario, get("/a/x")), "answer 1");
}
