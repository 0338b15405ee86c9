//! What connections and operations say while they are loaded.

use myelin_config::report::Artefact;
use myelin_engine::load;
use myelin_flow::settings::Settings;

/// The problems and warnings of a connection and of operations over it.
fn said(connection: &str, operations: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("synapse.xml");
    let text = format!(
        "<definitions xmlns='http://ws.apache.org/ns/synapse'>\
         <localEntry key='C'><http.init>{connection}</http.init></localEntry>\
         <localEntry key='other'><a xmlns=''/></localEntry>\
         <sequence name='S'>{operations}</sequence></definitions>"
    );
    std::fs::write(&path, text).unwrap();
    let report = load(&[path], &Settings::default()).report;
    let all =
        |artefact: &Artefact| [&artefact.problems, &artefact.latent, &artefact.warnings].map(Clone::clone).concat();
    let all = report.artefacts.iter().flat_map(all);
    all.map(|problem| problem.message.clone()).collect()
}

const BASE: &str = "<baseUrl>http://back</baseUrl>";

#[test]
fn what_a_connection_says_is_checked_while_loading() {
    let check = |connection: &str, parts: &[&str]| {
        let said = said(connection, "");
        assert_eq!(said.len(), parts.len(), "{connection}: {said:?}");
        assert!(said.iter().zip(parts).all(|(message, part)| message.contains(part)), "{connection}: {said:?}");
    };
    let with = |more: &str| format!("{BASE}<name>C</name><connectionType>HTTP</connectionType>{more}");
    check(&with(""), &[]);
    check("<name>C</name>", &["needs <baseUrl>"]);
    check("<baseUrl>back</baseUrl>", &["not an absolute"]);
    check("<baseUrl>${configs.base}</baseUrl>", &[]);
    check(&with("<authType>None</authType><timeoutAction>Never</timeoutAction>"), &[]);
    check(&with("<authType>Basic Auth</authType>"), &["needs <username>"]);
    check(&with("<authType>Basic Auth</authType><username>u</username><password>p</password>"), &[]);
    check(&with("<authType>Digest</authType>"), &["\"Digest\" has no effect"]);
    let client = "<clientId>i</clientId><clientSecret>s</clientSecret><tokenUrl>http://token</tokenUrl>";
    let oauth = |grant: &str| with(&format!("<authType>OAuth</authType>{client}{grant}"));
    check(&oauth(""), &["needs an <oauthGrantType>"]);
    check(&oauth("<oauthGrantType>Implicit</oauthGrantType>"), &["no grant that is offered"]);
    check(
        &oauth(
            "<oauthGrantType>Client Credentials</oauthGrantType><oauthAuthorizationMode>Payload</oauthAuthorizationMode>\
             <additionalProperties>scope:read,audience:back</additionalProperties>",
        ),
        &[],
    );
    check(&oauth("<oauthGrantType>Authorization Code</oauthGrantType>"), &["needs <refreshToken>"]);
    check(&with("<suspendInitialDuration>soon</suspendInitialDuration>"), &["is no number"]);
    check(&with("<trustStoreCertificatePath>a.crt</trustStoreCertificatePath>"), &["said by --ca"]);
    check(&with("<proxy>back</proxy>"), &["<proxy> has no effect in <http.init>"]);
}

#[test]
fn what_an_operation_says_is_checked_while_loading() {
    let check = |operation: &str, parts: &[&str]| {
        let said = said(BASE, operation);
        assert_eq!(said.len(), parts.len(), "{operation}: {said:?}");
        assert!(said.iter().zip(parts).all(|(message, part)| message.contains(part)), "{operation}: {said:?}");
    };
    let post = |more: &str| format!("<http.post configKey='C'>{more}</http.post>");
    check(&post("<relativePath>/a/${vars.id}</relativePath><headers>[]</headers><noEntityBody/>"), &[]);
    check("<http.get/>", &["\"configKey\" is missing"]);
    check("<http.get configKey='none'/>", &["none"]);
    check("<http.get configKey='other'/>", &["is no connection: it holds <a>"]);
    check("<http.get configKey='{$ctx:c}'/>", &["cannot be worked out"]);
    check("<http.init/>", &["stands in a local entry"]);
    check("<email.send/>", &["connector operation <email.send>"]);
    check(&post("<headers>[[\"A\"]]</headers>"), &["a header is an array"]);
    check(&post("<relativePath>${vars.</relativePath>"), &["expression"]);
    check(&post("<requestBodyType>YAML</requestBodyType>"), &["JSON, XML and TEXT are known"]);
    check(&post("<requestBodyJson>{\"a\": 1}</requestBodyJson>"), &["without requestBodyType"]);
    check(&post("<responseVariable>${vars.v}</responseVariable>"), &["settled while loading"]);
    check(&post("<overwriteBody>maybe</overwriteBody>"), &["neither true nor false"]);
    check(&post("<restUrlPostfix>/x</restUrlPostfix>"), &["<restUrlPostfix> has no effect in <http.post>"]);
    check("<http.get configKey='C'><requestBodyType>JSON</requestBodyType></http.get>", &["no effect in <http.get>"]);
}

#[test]
fn a_faulty_connection_is_told_where_it_is_needed() {
    let said = said("<baseUrl>back</baseUrl>", "<http.get configKey='C'/>");
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[1].contains("needs localEntry \"C\", which is faulty"), "{said:?}");
}
