//! REST APIs through the real engine: who is asked, what mediators hear, and what nobody is for.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

use crate::common::{Reply, Scenario, get, load_text, load_with, report, request, response};
use base64::Engine;
use myelin_engine::transport::SendErrorKind;
use myelin_engine::{CorsSettings, Settings};

/// Answers with its name and what the properties say that are listed.
fn says(name: &str, properties: &[&str]) -> String {
    let values: String = properties.iter().map(|property| format!("'|',get-property('{property}'),")).collect();
    format!(
        "<inSequence><property name='X-Said' scope='transport' expression=\"concat('{name}',{values}'')\"/>\
         <property name='NO_ENTITY_BODY' value='true' scope='axis2'/><respond/></inSequence>"
    )
}

fn said(reply: &Reply) -> &str {
    reply.header("X-Said").unwrap_or_default()
}

#[test]
fn the_longest_context_and_the_version_decide_which_api_is_asked() {
    let api =
        |attributes: &str, name: &str| format!("<api {attributes}><resource>{}</resource></api>", says(name, &[]));
    let all = [
        api("name='root' context='/'", "root"),
        api("name='stock' context='/stock'", "stock"),
        api("name='stock' context='/stock' version='1' version-type='url'", "stock 1"),
        api("name='quote' context='/stock/quote/'", "quote"),
        api("name='in' context='/{version}/stock' version='2' version-type='context'", "stock 2"),
        api("name='host' context='/hosted' hostname='a.example' port='8280'", "host"),
        api("name='secret' context='/secret' transports='https'", "secret"),
    ];
    let scenario = Scenario::new(&all.concat());
    let check = |target: &str, expected: &str| {
        assert_eq!(said(&scenario.serve(get(target))), expected, "{target}");
    };
    check("/stock", "stock");
    check("/stock/x?y", "stock");
    check("/stock/1", "stock 1");
    check("/stock/1/x", "stock 1");
    check("/stock/12", "stock");
    check("/stock/quote/x", "quote");
    check("/2/stock", "stock 2");
    check("/stocks", "root");
    check("http://bus/stock/1", "stock 1");
    check("/hosted", "root");
    check("/secret", "root");
    let hosted = scenario.serve(request("GET", "/hosted", &[("Host", "a.example:8280")], ""));
    assert_eq!(said(&hosted), "host");
    assert_eq!(said(&scenario.serve_over(get("/secret"), true)), "secret");
}

#[test]
fn a_mapping_comes_before_a_template_and_that_before_the_resource_for_all_paths() {
    let resource =
        |attributes: &str, name: &str| format!("<resource {attributes}>{}</resource>", says(name, &["uri.var.id"]));
    let resources = [
        resource("", "any"),
        resource("uri-template='/{id}'", "by id"),
        resource("uri-template='/new'", "never"),
        resource("url-mapping='/order/*'", "prefix"),
        resource("url-mapping='/order/new/*'", "longer"),
        resource("url-mapping='/order/new'", "exact"),
        resource("url-mapping='*.jsp'", "page"),
    ];
    let scenario = Scenario::new(&format!("<api name='a' context='/a'>{}</api>", resources.concat()));
    let check = |target: &str, expected: &str| {
        assert_eq!(said(&scenario.serve(get(target))), expected, "{target}");
    };
    check("/a", "any|");
    check("/a/", "any|");
    check("/a?x=1", "any|");
    check("/a/new", "by id|new");
    check("/a/42?x=1", "by id|42");
    check("/a/order", "prefix|");
    check("/a/order/new", "exact|");
    check("/a/order/new/1", "longer|");
    check("/a/x.jsp", "page|");
    check("/a/x/y", "any|");
}

#[test]
fn mediators_hear_of_the_path_its_variables_and_the_parameters() {
    let properties = [
        "uri.var.symbol",
        "query.param.q",
        "query.param.none",
        "REST_FULL_REQUEST_PATH",
        "REST_SUB_REQUEST_PATH",
        "REST_API_CONTEXT",
        "REST_METHOD",
        "REST_URL_PREFIX",
        "SYNAPSE_REST_API",
        "SYNAPSE_REST_API_VERSION",
        "rest.url.pattern",
    ];
    let scenario = Scenario::new(&format!(
        "<api name='quotes' context='/quotes' version='1.0' version-type='url'>\
         <resource methods='GET' uri-template='/view/{{symbol}}'>{}</resource></api>",
        says("", &properties)
    ));
    let reply = scenario.serve(get("/quotes/1.0/view/I%20BM?q=a+b"));
    let path = "/quotes/1.0/view/I%20BM?q=a+b|/view/I%20BM?q=a+b";
    let expected = format!("|I BM|a b||{path}|/quotes|GET|http://bus|quotes:v1.0|1.0|/view/{{symbol}}");
    assert_eq!(said(&reply), expected);
}

#[test]
fn the_rest_of_the_path_goes_to_an_address_and_the_variables_into_a_template() {
    let scenario = Scenario::new(
        "<api name='a' context='/a'>\
         <resource methods='GET' url-mapping='/rest/*'><inSequence><send><endpoint><address uri='http://b/base'/></endpoint></send></inSequence>\
         <outSequence><property name='X-Out' value='yes' scope='transport'/><send/></outSequence></resource>\
         <resource methods='GET' uri-template='/t/{id}'><inSequence><send><endpoint>\
         <http method='get' uri-template='http://b/items/{uri.var.id}?q={query.param.q}'/></endpoint></send></inSequence></resource></api>",
    );
    let reply = scenario.serve(get("/a/rest/x/y?z=1"));
    assert_eq!((reply.status, reply.header("X-Out")), (200, Some("yes")));
    assert_eq!(scenario.serve(get("/a/t/4%2F2?q=a%20b")).header("X-Out"), None);
    let uris: Vec<String> = scenario.sent().iter().map(|sent| sent.uri.clone()).collect();
    assert_eq!(uris, ["http://b/base/rest/x/y?z=1", "http://b/items/4%2F2?q=a%20b"]);
}

#[test]
fn what_no_resource_is_for_is_answered_with_404_405_or_400() {
    let scenario = Scenario::new(&format!(
        "<api name='a' context='/a'><resource methods='GET POST' uri-template='/get'>{0}</resource></api>\
         <api name='b' context='/b'><resource methods='POST' uri-template='/p' content-type='text/xml' user-agent='curl.*'>{0}</resource></api>\
         <api name='c' context='/c'><resource methods='GET' uri-template='/g'>{0}</resource>\
         <resource methods='POST' uri-template='/p'>{0}</resource></api>",
        says("", &[])
    ));
    let check = |method: &str, target: &str, headers: &[(&str, &str)], expected: u16| {
        let reply = scenario.serve(request(method, target, headers, ""));
        assert_eq!(reply.status, expected, "{method} {target} {headers:?}");
        assert_eq!((reply.body.as_str(), reply.header("Allow")), ("", None));
    };
    check("GET", "/a/get", &[], 200);
    check("GET", "/a/none", &[], 404);
    check("DELETE", "/a/get", &[], 405);
    check("HEAD", "/a/get", &[], 405);
    check("DELETE", "/a/none", &[], 404);
    // As in Synapse: some other resource has the method, so that it is the path which is unknown.
    check("POST", "/c/g", &[], 404);
    let curl = ("User-Agent", "curl/8");
    check("POST", "/b/p", &[("Content-Type", "text/xml"), curl], 200);
    check("POST", "/b/p", &[("Content-Type", "text/xml; charset=UTF-8"), curl], 400);
    check("POST", "/b/p", &[("Content-Type", "text/xml"), ("User-Agent", "x")], 400);
    check("POST", "/b/p", &[("Content-Type", "text/xml")], 400);
}

#[test]
fn sequences_of_certain_names_answer_for_what_no_resource_is_for() {
    let sequence = |name: &str| {
        format!(
            "<sequence name='{name}'><property name='X-Said' scope='transport' \
             expression=\"concat('{name} ', get-property('SYNAPSE_REST_API'))\"/>\
             <property name='HTTP_SC' value='418' scope='axis2'/><respond/></sequence>"
        )
    };
    let scenario = Scenario::new(&format!(
        "<api name='a' context='/a'><resource methods='GET' uri-template='/g'>{}</resource></api>{}{}",
        says("", &[]),
        sequence("_resource_mismatch_handler_"),
        sequence("_method_not_allowed_handler_")
    ));
    let missing = scenario.serve(get("/a/none"));
    assert_eq!((missing.status, said(&missing)), (418, "_resource_mismatch_handler_ a"));
    let refused = scenario.serve(request("PUT", "/a/g", &[], ""));
    assert_eq!((refused.status, said(&refused)), (418, "_method_not_allowed_handler_ a"));
}

#[test]
fn options_are_answered_unless_a_resource_wants_to_do_that_itself() {
    let scenario = Scenario::new(&format!(
        "<api name='a' context='/a'><resource methods='GET POST' uri-template='/x'>{}</resource>\
         <resource methods='OPTIONS' uri-template='/*'>{}</resource></api>\
         <api name='b' context='/b'><resource methods='GET POST' uri-template='/x'>{}</resource><resource/></api>",
        says("x", &[]),
        says("options", &[]),
        says("x", &[])
    ));
    let options = |target: &str, forwards: &[(&str, &str)]| scenario.serve(request("OPTIONS", target, forwards, ""));
    assert_eq!(said(&options("/a/x", &[])), "options");
    let answered = options("/b/x", &[]);
    assert_eq!((answered.status, answered.header("Allow")), (200, Some("GET, POST")));
    assert_eq!(options("/b/y", &[]).header("Allow"), Some("GET, POST, PUT, DELETE"));
    assert_eq!(options("/a/x", &[("Max-Forwards", "0")]).header("Allow"), Some(""));
    assert_eq!(options("/a/x", &[("Max-Forwards", "3")]).header("Max-Forwards"), Some("2"));
}

#[test]
fn faults_go_to_the_sequence_of_the_resource_and_without_one_to_that_for_all() {
    let fault = |name: &str| {
        format!(
            "<property name='X-Said' value='{name}' scope='transport'/><property name='HTTP_SC' value='503' scope='axis2'/><respond/>"
        )
    };
    let sends = "<inSequence><send><endpoint><address uri='http://b/'/></endpoint></send></inSequence>";
    let artefacts = format!(
        "<api name='a' context='/a'><resource uri-template='/own'>{sends}<faultSequence>{}</faultSequence></resource>\
         <resource uri-template='/all'>{sends}</resource></api><sequence name='fault'>{}</sequence>",
        fault("own"),
        fault("all")
    );
    let scenario = Scenario::failing(&artefacts, SendErrorKind::ConnectFailed);
    assert_eq!(said(&scenario.serve(get("/a/own"))), "own");
    assert_eq!(said(&scenario.serve(get("/a/all"))), "all");
}

#[test]
fn browsers_are_told_who_may_call_from_where() {
    let handler = |properties: &str| {
        let class = "org.wso2.micro.integrator.security.handler.CORSRequestHandler";
        format!("<handlers><handler class='{class}'>{properties}</handler></handlers>")
    };
    let properties = "<property name='allowedOrigins' value='https://a.example,https://*.b.example'/>\
        <property name='allowedMethods' value='GET,PUT'/><property name='allowHeaders' value='X-One'/>\
        <property name='allowCredentials' value='true'/><property name='maxAge' value='60'/>";
    let resource = says("x", &[]);
    let scenario = Scenario::new(&format!(
        "<api name='a' context='/a'><resource methods='GET POST' uri-template='/x'>{resource}</resource>{}</api>\
         <api name='b' context='/b'><resource methods='GET' uri-template='/x'>{resource}</resource>{}</api>",
        handler(properties),
        handler("<property name='allowedOrigins' value='*'/><property name='allowHeaders' value='*'/>"),
    ));
    let preflight = |target: &str, origin: &str, method: &str| {
        let headers = [
            ("Origin", origin),
            ("Access-Control-Request-Method", method),
            ("Access-Control-Request-Headers", "X-Two"),
        ];
        scenario.serve(request("OPTIONS", target, &headers, ""))
    };
    let allowed = preflight("/a/x", "https://a.example", "POST");
    assert_eq!((allowed.status, said(&allowed)), (200, ""));
    let expected = [
        ("Access-Control-Allow-Origin", "https://a.example"),
        ("Access-Control-Allow-Methods", "GET"),
        ("Access-Control-Allow-Headers", "X-One"),
        ("Access-Control-Allow-Credentials", "true"),
        ("Access-Control-Max-Age", "60"),
        ("Vary", "Origin"),
    ];
    expected.iter().for_each(|(name, value)| assert_eq!(allowed.header(name), Some(*value), "{name}"));
    let refused = preflight("/a/x", "https://evil.example", "GET");
    assert_eq!((refused.status, refused.header("Access-Control-Allow-Origin")), (200, None));
    assert_eq!(preflight("/a/x", "https://a.example", "DELETE").status, 405);
    assert_eq!(preflight("/a/none", "https://a.example", "GET").status, 404);
    let any = preflight("/b/x", "https://evil.example", "GET");
    assert_eq!(any.header("Access-Control-Allow-Origin"), Some("*"));
    assert_eq!(any.header("Access-Control-Allow-Headers"), Some("X-Two"));
    let served = scenario.serve(request("GET", "/a/x", &[("Origin", "https://x.b.example")], ""));
    assert_eq!((said(&served), served.header("Access-Control-Allow-Origin")), ("x", Some("https://x.b.example")));
}

#[test]
fn the_operator_says_for_all_apis_who_may_call_from_where() {
    let class = "org.wso2.micro.integrator.security.handler.CORSRequestHandler";
    let api = format!(
        "<api name='a' context='/a'><resource methods='GET POST' uri-template='/x'>{0}</resource><resource>{0}</resource>\
         <handlers><handler class='{class}'><property name='allowedOrigins' value='https://b.example'/></handler>\
         </handlers></api>",
        says("x", &[])
    );
    let allowed_origins = vec!["https://a.example".to_owned()];
    let cors = CorsSettings { allowed_origins, allow_headers: Some("X-One".to_owned()) };
    let settings = Settings { cors: Some(cors), ..Settings::default() };
    let warnings = &load_with(&api, &settings).report.artefacts[0].warnings;
    assert!(warnings.len() == 1 && warnings[0].message().contains("sets CORS for all APIs"), "{warnings:?}");
    let scenario = Scenario::of(load_with(&api, &settings), |_, _| Ok(response(200, &[], "")));
    let ask =
        |method: &str, target: &str, origin: &str| scenario.serve(request(method, target, &[("Origin", origin)], ""));
    let allowed = ask("OPTIONS", "/a/x", "https://a.example");
    assert_eq!((allowed.status, allowed.header("Allow")), (200, Some("GET, POST")));
    assert_eq!(allowed.header("Access-Control-Allow-Origin"), Some("https://a.example"));
    assert_eq!(allowed.header("Access-Control-Allow-Methods"), Some("GET,POST"));
    assert_eq!(allowed.header("Access-Control-Allow-Headers"), Some("X-One"));
    let any = ask("OPTIONS", "/a/other", "https://a.example");
    assert_eq!(any.header("Access-Control-Allow-Methods"), Some("GET, POST, PUT, DELETE"));
    assert_eq!(ask("GET", "/a/x", "https://b.example").header("Access-Control-Allow-Origin"), None);
    assert_eq!(
        ask("GET", "/a/x", "https://a.example").header("Access-Control-Allow-Origin"),
        Some("https://a.example")
    );
}

#[test]
fn a_password_opens_an_api_and_cors_says_so_even_where_it_does_not() {
    let handlers = "<handlers><handler class='org.wso2.micro.integrator.security.handler.CORSRequestHandler'>\
         <property name='allowedOrigins' value='*'/></handler>\
         <handler class='org.wso2.micro.integrator.security.handler.RESTBasicAuthHandler'/></handlers>";
    let loaded =
        load_text(&format!("<api name='a' context='/a'>{handlers}<resource>{}</resource></api>", says("x", &[])));
    let warnings = &loaded.report.artefacts[0].warnings;
    assert!(warnings[0].message().contains("nobody can come in"), "{warnings:?}");
    let scenario =
        Scenario::new(&format!("<api name='a' context='/a'>{handlers}<resource>{}</resource></api>", says("x", &[])));
    let reply = scenario.serve(get("/a"));
    assert_eq!((reply.status, reply.header("Access-Control-Allow-Origin")), (401, Some("*")));
    assert!(reply.header("WWW-Authenticate").unwrap().starts_with("Basic "));
    let credentials = format!("Basic {}", base64::engine::general_purpose::STANDARD.encode("ann:x"));
    assert_eq!(scenario.serve(request("GET", "/a", &[("Authorization", &credentials)], "")).status, 403);
}

#[test]
fn the_definition_is_made_of_the_resources_or_written_by_somebody() {
    let scenario = Scenario::new(&format!(
        "<api name='made' context='/made' version='2' version-type='url'><resource methods='GET POST' uri-template='/x/{{+id}}?q={{q}}'>{0}</resource>\
         <resource methods='DELETE' url-mapping='/x/*'>{0}</resource><resource methods='PUT'>{0}</resource></api>\
         <api name='written' context='/written' publishSwagger='definition'><resource>{0}</resource></api>\
         <localEntry key='definition'>{{\"openapi\": \"3.0.0\", \"a\": [1, {{}}]}}</localEntry>",
        says("", &[])
    ));
    let made = scenario.serve(get("/made/2?swagger.json"));
    assert_eq!((made.status, made.header("Content-Type")), (200, Some("application/json")));
    let made: serde_json::Value = serde_json::from_str(&made.body).unwrap();
    assert_eq!(made["info"], serde_json::json!({ "title": "made:v2", "version": "2" }));
    assert_eq!(made["servers"][0]["url"], "/made/2");
    let names = |parameters: &serde_json::Value| -> Vec<String> {
        parameters
            .as_array()
            .unwrap()
            .iter()
            .map(|parameter| format!("{} {}", parameter["in"], parameter["name"]))
            .collect()
    };
    assert_eq!(names(&made["paths"]["/x/{id}"]["post"]["parameters"]), ["\"path\" \"id\"", "\"query\" \"q\""]);
    assert!(made["paths"]["/x/*"]["delete"].is_object() && made["paths"]["/"]["put"].is_object(), "{made:#}");
    assert!(made["paths"]["/x/*"]["get"].is_null(), "{made:#}");
    let yaml = scenario.serve(get("/made/2/?swagger.yaml"));
    assert_eq!(yaml.header("Content-Type"), Some("application/yaml"));
    assert!(yaml.body.contains("\"servers\":\n  -\n    \"url\": \"/made/2\"\n"), "{}", yaml.body);
    assert_eq!(scenario.serve(get("/written?swagger.json")).body, "{\"openapi\": \"3.0.0\", \"a\": [1, {}]}");
    assert_eq!(scenario.serve(get("/written?swagger.yaml")).body, "\"a\":\n  - 1\n  - {}\n\"openapi\": \"3.0.0\"\n");
}

#[test]
fn what_is_wrong_with_an_api_is_told_with_its_place() {
    let check = |api: &str, expected: &str| {
        let report = report(api);
        let text = report.to_text();
        assert!(report.faulty() == 1 && text.contains(expected), "{text}");
    };
    let resource = "<resource/>";
    check(&format!("<api name='a' context='a'>{resource}</api>"), "does not start with a slash");
    check(&format!("<api name='a'>{resource}</api>"), "attribute \"context\" is missing");
    check("<api name='a' context='/a'/>", "<resource> is missing");
    check(&format!("<api name='a' context='/a' version='1'>{resource}</api>"), "a version needs a version-type");
    check(
        &format!("<api name='a' context='/a' version='1' version-type='x'>{resource}</api>"),
        "neither context nor url",
    );
    check(&format!("<api name='a' context='/a' port='x'>{resource}</api>"), "is no port");
    check(&format!("<api name='a' context='/a' transports='jms'>{resource}</api>"), "neither http nor https");
    check(&format!("<api name='a' context='/a' binds-to='inbound'>{resource}</api>"), "there is no inboundEndpoint");
    check(&format!("<api name='a' context='/a' validateSchema='true'>{resource}</api>"), "validation");
    check(&format!("<api name='a' context='/a' publishSwagger='none'>{resource}</api>"), "no local entry");
    check("<api name='a' context='/a'><resource methods='GET,POST'/></api>", "blanks separate methods");
    check("<api name='a' context='/a'><resource/><resource/></api>", "only one resource");
    check("<api name='a' context='/a'><resource uri-template='/{a'/></api>", "the brace is not closed");
    let twice = "<resource methods='GET' uri-template='/x'/>";
    check(&format!("<api name='a' context='/a'>{twice}{twice}</api>"), "the same path and method");
    check(
        &format!("<api name='a' context='/a'>{resource}</api><api name='b' context='/a/'>{resource}</api>"),
        "that of api \"a\"",
    );
    check(
        &format!("<api name='a' context='/a'>{resource}<handlers><handler class='org.acme.Own'/></handlers></api>"),
        "names a JVM class",
    );
}

#[test]
fn a_faulty_api_keeps_its_paths() {
    let loaded = load_text(&format!(
        "<api name='wide' context='/'><resource>{}</resource></api><api name='a' context='/a'><resource methods='X'/></api>",
        says("wide", &[])
    ));
    let scenario = Scenario::of(loaded, |_, _| panic!("nothing is sent"));
    assert_eq!(said(&scenario.serve(get("/b"))), "wide");
    let reply = scenario.serve(get("/a/b"));
    assert_eq!((reply.status, &*reply.body), (503, "The api a is faulty, so that the bus does not serve it\n"));
}
