//! Loading: what is found, what is refused and where, and that the rest runs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use crate::common::{Scenario, fails_when_reached, get, load_text, load_with, refused, report, response};
use myelin_engine::{Problem, Report, Settings, load};
use proptest::prelude::*;

fn in_sequence(mediators: &str) -> String {
    format!("<sequence name='s'>{mediators}</sequence>")
}

#[test]
fn misspelt_structure_is_a_problem_that_names_what_was_meant() {
    let proxy = |target: &str| format!("<proxy name='p'><target>{target}</target></proxy>");
    refused(&proxy("<inSequnce/>"), "<inSequnce> is unknown in a target; did you mean <inSequence>?");
    refused(&proxy("<endpiont/>"), "did you mean <endpoint>?");
    refused(
        "<proxy name='p'><target faultSequnce='f'/></proxy>",
        "\"faultSequnce\" is unknown; did you mean faultSequence?",
    );
    refused("<proxy name='p'><taget/><target/></proxy>", "<taget> is unknown in a proxy; did you mean <target>?");
    let api = |inside: &str| format!("<api name='a' context='/a'><resource/>{inside}</api>");
    refused(&api("<resource method='GET'/>"), "\"method\" is unknown; did you mean methods?");
    refused(&api("<resource uri-tmplate='/x'/>"), "did you mean uri-template?");
    refused(&api("<resorce/>"), "<resorce> is unknown in an API; did you mean <resource>?");
    refused(&api("<resource url-mapping='/x'><outSequense/></resource>"), "did you mean <outSequence>?");
    refused("<sequence name='s' onErorr='f'/>", "did you mean onError?");
    refused("<sequence name='s'><sequence kye='f'/></sequence>", "\"kye\" is unknown; did you mean key?");
    refused("<sequence name='s'><lgo/></sequence>", "unknown mediator <lgo>; did you mean log?");
    refused("<sequnce name='s'/>", "unknown artefact <sequnce>; did you mean sequence?");
    refused(
        "<endpoint name='e'><adress uri='http://a/'/></endpoint>",
        "unknown endpoint <adress>; did you mean address?",
    );
    refused("<endpoint name='e'><address uri='http://a/'><timeuot/></address></endpoint>", "; did you mean timeout?");
    refused("<endpoint name='e'><http uri-template='http://a/' methd='get'/></endpoint>", "did you mean method?");
    refused("<inboundEndpoint name='i' protocol='http'><paramters/></inboundEndpoint>", "did you mean <parameters>?");
    let step = |step: &str, part: &str| refused(&in_sequence(step), part);
    step("<property name='x' expresion='1'/>", "did you mean \"expression\" by \"expresion\"?");
    step("<log><property name='x' vlaue='1'/></log>", "did you mean \"value\" by \"vlaue\"?");
    step("<switch source='1'><case regexp='x'/></switch>", "did you mean \"regex\" by \"regexp\"?");
    step("<filter xpth='1'/>", "did you mean \"xpath\" by \"xpth\"?");
    step("<filter soruce='1' regex='x'/>", "did you mean \"source\" by \"soruce\"?");
    refused("<sequence name='s' faultSequence='f'/>", "\"faultSequence\" is unknown; did you mean onError?");
    refused("<proxy name='p'><target onError='f'/></proxy>", "\"onError\" is unknown; did you mean faultSequence?");
    refused("<proxy name='p'><target><insequence/></target></proxy>", "did you mean <inSequence>?");
    refused(
        "<proxy name='p'><target><inSequence xmlns='urn:a'/></target></proxy>",
        "<inSequence> of urn:a is unknown in a target; did you mean <inSequence xmlns=\"http://ws.apache.org/ns/synapse\">?",
    );
    refused("<proxy name='p'><inSequence/><target/></proxy>", "<inSequence> does not belong in a proxy");
    refused(&api("<inSequence/>"), "<inSequence> does not belong in an API");
    step("<filter xpath='1'><thn/></filter>", "unknown mediator <thn>; did you mean");
    step("<switch source='1'><cse regex='x'/></switch>", "did you mean case?");
    step("<switch source='1'><defualt/></switch>", "did you mean default?");
    step("<header name='To' valu='1'/>", "did you mean \"value\" by \"valu\"?");
    refused("<task name='t' clas='x'/>", "\"class\" is missing; did you mean \"class\" by \"clas\"?");
}

#[test]
fn what_is_far_from_every_name_and_a_misspelt_setting_are_warnings() {
    let check = |artefact: &str, part: &str| {
        let report = report(artefact);
        let artefact = &report.artefacts[0];
        assert!(artefact.problems.is_empty(), "{:?}", artefact.problems);
        assert!(artefact.warnings.iter().any(|it| it.to_string().contains(part)), "{:?}", artefact.warnings);
    };
    check("<proxy name='p'><target><log/></target></proxy>", "<log> has no effect in a target");
    check("<proxy name='p'><registry/><target/></proxy>", "<registry> has no effect in a proxy");
    check("<api name='a' context='/a'><resource url-pattern='/x'/></api>", "\"url-pattern\" has no effect here");
    check("<sequence name='s'><log levl='full'/></sequence>", "\"levl\" has no effect here; did you mean level?");
}

/// Asserts that everything runs, with a warning that says `part`; without one where it is empty.
fn warned(artefacts: &str, part: &str) {
    let report = report(artefacts);
    assert_eq!(report.faulty(), 0, "{}", report.to_text());
    let mut warnings = report.artefacts.iter().flat_map(|it| &it.warnings);
    match part {
        "" => assert_eq!(warnings.count(), 0, "{}", report.to_text()),
        part => assert!(warnings.any(|it| it.to_string().contains(part)), "{part:?}: {}", report.to_text()),
    }
}

#[test]
fn what_no_message_reaches_is_a_warning() {
    let steps = |steps: &str, part: &str| warned(&in_sequence(steps), part);
    steps("<respond/>\n<log/>", "2:1: <log> never runs: <respond> before it (line 1) ends the flow");
    steps("<drop/><description>d</description>", "");
    steps("<filter xpath='1'><drop/></filter><log/>", "");
    steps("<filter xpath='1'/>", "<filter> has no effect: nothing stands in its branches");
    steps("<filter xpath='1'><then/><else/></filter>", "<filter> has no effect");
    steps("<filter xpath='1'><then/><else><drop/></else></filter>", "");
    let switch = |cases: &str| format!("<switch source='$trp:a'>{cases}</switch>");
    let case = |regex: &str| format!("<case regex='{regex}'><drop/></case>");
    steps(&switch(&(case("a") + &case("a"))), "this case never runs: \"a\" in line 1 takes what it matches");
    steps(&switch(&(case(".*") + &case("a"))), "this case never runs: \".*\" in line 1");
    steps(&switch(&case("a$b")), "^ or $ stands inside the pattern");
    steps(&switch(&(case("^a$") + &case("a.*") + &case("(^a|b)$"))), "");
}

#[test]
fn a_resource_that_others_hide_is_a_warning() {
    let api = |resources: &[&str]| {
        let resources: Vec<String> = resources
            .iter()
            .map(|it| format!("<resource {it}><inSequence><respond/></inSequence></resource>"))
            .collect();
        format!("<api name='a' context='/a'>{}</api>", resources.concat())
    };
    let hidden = "no request gets to this resource";
    warned(&api(&["methods='GET' uri-template='/*'", "methods='GET' uri-template='/b/{c}'"]), hidden);
    warned(&api(&["methods='GET' uri-template='/b/{c}'", "methods='GET' uri-template='/b/{d}'"]), hidden);
    warned(&api(&["methods='GET' uri-template='/b'", "url-mapping='/*'"]), hidden);
    warned(&api(&["methods='GET' uri-template='/b/{c}'", "methods='GET' uri-template='/*'"]), "");
    warned(&api(&["methods='GET' uri-template='/*'", "methods='POST' uri-template='/b'"]), "");
    warned(&api(&["methods='GET' uri-template='/b/{c}'", "methods='GET' uri-template='/b/{c}/d'"]), "");
    warned(&api(&["methods='GET' url-mapping='/*'", "methods='GET' url-mapping='/b'"]), "");
}

#[test]
fn sequences_that_lead_back_to_themselves_are_told_with_the_whole_way() {
    let sequence = |name: &str, key: &str| format!("<sequence name='{name}'><sequence key='{key}'/></sequence>\n");
    let way = "sequence \"a\" leads back to itself, so that a message may run in it without end: sequence \"a\" → \
               sequence \"b\" (";
    let circle = sequence("a", "b") + &sequence("b", "c") + &sequence("c", "a");
    warned(&circle, way);
    let report = report(&(circle + &sequence("d", "a")));
    assert_eq!(report.artefacts.iter().map(|it| it.warnings.len()).sum::<usize>(), 1, "{}", report.to_text());
    warned(&(sequence("a", "a")), "sequence \"a\" leads back to itself");
    warned(&(sequence("a", "b") + "<sequence name='b'><drop/></sequence>"), "");
}

#[test]
fn a_payload_that_is_neither_json_nor_xml_is_a_warning_and_a_path_in_the_wrong_language_names_the_other() {
    let payload = |media: &str, format: &str| {
        in_sequence(&format!(
            "<payloadFactory media-type='{media}'><format>{format}</format>\
             <args><arg value='1'/><arg value='2'/></args></payloadFactory>"
        ))
    };
    let json = |format: &str, part: &str| warned(&payload("json", format), part);
    json(r#"{"a": $1, "b": "x$2"}"#, "");
    json("[$1, $2]", "");
    json("{ $1 }", "");
    json(r#"{"a": $1 "b": $2}"#, "the format seems to make no JSON");
    json(r#"{"a": $1, "b": [$2}"#, "the format seems to make no JSON");
    warned(&payload("xml", "<![CDATA[<a>$1</a><b/>]]>"), "");
    warned(&payload("xml", "<![CDATA[<a>$1</b>]]>"), "the format seems to make no XML");
    let refused = |step: &str, part: &str| refused(&in_sequence(step), part);
    refused("<property name='p' expression='$.a'/>", "did you mean json-eval($.a)?");
    refused("<filter xpath='$.a'/>", "did you mean json-eval($.a)?");
}

#[test]
fn what_is_misspelt_is_a_problem_where_the_operator_is_strict() {
    let strict = Settings { is_strict: true, ..Settings::default() };
    let text = "<sequence name='s'><log levl='full' nonsense='1'/></sequence>";
    let report = load_with(text, &strict).report;
    let artefact = &report.artefacts[0];
    assert_eq!(artefact.problems[0].suggestion(), Some("level"));
    assert_eq!((artefact.problems.len(), artefact.warnings.len()), (1, 1), "{}", report.to_text());
}

#[test]
fn a_secret_stands_in_no_excerpt_and_no_message() {
    let canary = "can4ry-hush";
    let endpoint =
        |inside: &str| format!("<endpoint name='e'><http uri-template='http://a/' {inside}</http></endpoint>");
    let login = |inside: &str| endpoint(&format!("><authentication><basicAuth>{inside}</basicAuth></authentication>"));
    for text in [
        format!(
            "<proxy name='p' transportz='http'><target/><parameter name='transport.vfs.Password'>{canary}</parameter></proxy>"
        ),
        login(&format!("<username>u</username><pasword>{canary}</pasword>")),
        login(&format!("<usrname>u</usrname><password>{canary}</password>")),
        endpoint(&format!("methd='get' password='{canary}'>")),
        format!("<sequence name='s'><property name='password' vlaue='{canary}'/></sequence>"),
        format!(
            "<sequence name='s'><header name='Authorization' valeu='Basic {canary}' scope='transport'/></sequence>"
        ),
        format!("<sequence name='s' onErorr='f'><property name='token' value='{canary}'/></sequence>"),
        format!("<endpoint name='e'><address url='http://me:{canary}@host/'/></endpoint>"),
        format!("<sequence name='s'><property name='password' value='{canary}'></sequence>"),
    ] {
        let report = report(&text);
        assert!(report.faulty() > 0 || report.artefacts.iter().any(|it| !it.warnings.is_empty()), "{text}");
        let told = report.to_text() + &report.to_json().to_string();
        assert!(!told.contains(canary), "{text}\n{told}");
    }
}

#[test]
fn what_is_not_offered_is_named_and_what_is_unknown_is_said_to_be() {
    let check = |mediators: &str, part: &str| refused(&in_sequence(mediators), part);
    let missing = |mediators: &str, part: &str| fails_when_reached(&in_sequence(mediators), part);
    check("<smooks/>", "<smooks> is not offered yet");
    check("<class name='a.B'/>", "JVM class");
    check("<spring bean='a'/>", "JVM class");
    check("<email.send/>", "connector operation");
    check("<frobnicate/>", "unknown mediator <frobnicate>");
    check("<log xmlns='urn:other'/>", "unknown mediator");
    missing("<send receive='nobody'/>", "there is no sequence \"nobody\"");
    check("<header name='wsse:Security' value='x'/>", "stands for no namespace");
    for scope in ["registry", "env", "file"] {
        check(&format!("<property name='p' value='1' scope='{scope}'/>"), "can be read and not be written");
    }
    check("<property name='p' value='1' scope='func'/>", "set by <call-template>");
    check("<property name='p' value='1' scope='andun'/>", "\"andun\" is unknown");
    check("<property name='{1 +}' value='1'/>", "expression");
    check("<property name='p' value='a&#10;b' scope='transport'/>", "no HTTP header can hold");
    check("<NTLM/>", "basicAuth");
    check("<transaction action='new'/>", "JTA");
    check("<router/>", "<conditionalRouter> does the same");
    check("<property name='p' value='x' type='INTEGER'/>", "no INTEGER");
    check("<property name='p' value='1' type='OM'/>", "no XML");
    check("<property name='HTTP_SC' value='99' scope='axis2'/>", "HTTP_SC cannot be");
    check("<property name='a b' value='1' scope='transport'/>", "name of an HTTP header");
    check("<property value='1'/>", "\"name\" is missing");
    check("<property name='x'/>", "value, expression");
    check("<filter source='$trp:a' regex='(?=a)'/>", "look-ahead");
    check("<switch source='$trp:a'><case regex='(a'/></switch>", "not a regular expression");
    missing("<sequence key='nobody'/>", "there is no sequence \"nobody\"");
    missing("<sequence key='gov:/x'/>", "no such file in the registry");
    missing("<send><endpoint key='nobody'/></send>", "there is no endpoint \"nobody\"");
    let endpoint = |inside: &str| format!("<endpoint name='e'>{inside}</endpoint>");
    let check = |inside: &str, part: &str| refused(&endpoint(inside), part);
    let missing = |inside: &str, part: &str| fails_when_reached(&endpoint(inside), part);
    missing("<address uri='http://me:hush@host/'/>", "an address with a user in it is not offered");
    check("<address uri='jms:/queue'/>", "transport \"jms\"");
    missing("<address uri='nonsense'/>", "not an absolute");
    missing("<address uri='http://'/>", "not a URI");
    check("<address uri='http://h/' format='binary'/>", "format");
    check("<loadbalance/>", "<loadbalance> needs at least one <endpoint>");
    check("<wsdl service='s'/>", "attribute \"port\" is missing");
    check("<http uri-template='http://h/{?x}'/>", "not offered");
    check("<http uri-template='http://h/{uri.var.x'/>", "not closed");
    check(
        "<http method='get'><uri-template>http://h/</uri-template></http>",
        "<uri-template> is an attribute of <http>, and no element: uri-template=\"…\"",
    );
    check("<class name='a.B'/>", "JVM class");
    check("", "needs a key");
    refused("<proxy name='p'/>", "<target> is missing");
    refused("<proxy name='p' transports='jms'><target/></proxy>", "\"jms\" is not offered");
    refused("<proxy name='p'><target/><enableRM/></proxy>", "<enableRM> is not offered");
    refused("<eventSource name='t'/>", "<eventSource> is not offered yet");
    refused("<surprise/>", "unknown artefact");
    refused("<localEntry key='k' src='http://h/x'/>", "is not fetched");
    refused("<localEntry key='k' src='file:nowhere.xml'/>", "cannot be read");
}

#[test]
fn expressions_that_are_wrong_are_told_at_their_column() {
    let at = |problems: &[Problem], expression: &str, column: u32, part: &str| {
        let [problem] = problems else { panic!("{expression}: {problems:?}") };
        assert!(problem.message().contains(part), "{problem}");
        let start = "<definitions xmlns=\"http://ws.apache.org/ns/synapse\"><sequence name='s'><filter xpath=\"".len();
        assert_eq!(problem.column() as usize - start, column as usize, "{problem}");
    };
    let artefact = |expression: &str| {
        let report = report(&in_sequence(&format!("<filter xpath=\"{expression}\"/>")));
        report.artefacts.into_iter().next().unwrap()
    };
    let check =
        |expression: &str, column: u32, part: &str| at(&artefact(expression).problems, expression, column, part);
    let fails = |expression: &str, column: u32, part: &str| {
        let artefact = artefact(expression);
        assert!(artefact.is_ok(), "{:?}", artefact.problems);
        at(&artefact.latent, expression, column, part);
    };
    fails("$nobody:x", 1, "no known kind");
    fails("$nobody", 1, "known are $body");
    fails("frob(1)", 1, "frob");
    fails("//a = nobody:a", 7, "nobody");
    fails("concat('a')", 1, "argument");
    check("1 +", 4, "a value is missing");
    check("(1", 3, "");
    check("1 2", 3, "");
    check("'a", 1, "");
    check("a ? b", 3, "");
    fails("get-property(//a, 'b')", 1, "literal");
    fails("base64Encode('a', 'KOI8-R')", 1, "UTF-8");
    check("1 + json-eval($.a)", 5, "alone");
    check("json-eval($.a[)", 15, "JSONPath");
    check("json-eval($.a.{$ctx:b})", 15, "nothing is worked out in braces");
}

#[test]
fn all_problems_of_an_artefact_are_told_with_their_lines() {
    let report = report(
        "<sequence name='s'>\n<class name='x'/>\n<log bogus='1'/>\n<xslt key='k'/>\n</sequence>\n<sequence name='t'/>",
    );
    assert_eq!((report.ok(), report.faulty()), (1, 1));
    let lines = |problems: &[Problem]| problems.iter().map(Problem::line).collect();
    let [problems, latent]: [Vec<u32>; 2] = [lines(&report.artefacts[0].problems), lines(&report.artefacts[0].latent)];
    assert_eq!((problems, latent), (vec![2], vec![4]));
    let warning = &report.artefacts[0].warnings[0];
    assert_eq!((warning.line(), warning.column()), (3, 6));
    assert!(warning.message().contains("\"bogus\""));
}

#[test]
fn what_needs_a_faulty_artefact_is_told_and_runs_unless_that_is_to_be_a_problem() {
    let load = |is_strict| {
        load_with(
            "<sequence name='a'><sequence key='b'/></sequence>\
         <sequence name='b'><filter xpath='true()'><then sequence='c'/></filter></sequence>\
         <sequence name='c'><sequence key='a'/><validate/></sequence>\
         <sequence name='self'><sequence key='self'/></sequence>\
         <endpoint name='e'><wsdl/></endpoint>\
         <proxy name='p'><target endpoint='e'/></proxy>\
         <proxy name='q'><target inSequence='self'/></proxy>",
            &Settings { is_strict, ..Settings::default() },
        )
        .report
    };
    let faulty = |report: &Report| -> Vec<String> {
        report.artefacts.iter().filter(|artefact| !artefact.is_ok()).map(|artefact| artefact.name.clone()).collect()
    };
    let [lenient, strict] = [load(false), load(true)];
    assert_eq!(faulty(&strict), ["a", "b", "c", "e", "p"]);
    assert_eq!(strict.artefacts[0].problems[0].message(), "needs sequence \"b\", which is faulty");
    assert_eq!(faulty(&lenient), ["c", "e"]);
    let latent = &lenient.artefacts[1].latent[0];
    assert_eq!(latent.message(), "needs sequence \"c\", which is faulty");
    assert!(latent.column() > 60);
}

#[test]
fn the_later_of_two_with_one_name_is_faulty() {
    let report =
        report("<sequence name='a'/>\n<sequence name='a'><drop/></sequence>\n<endpoint name='a'><default/></endpoint>");
    let states: Vec<bool> = report.artefacts.iter().map(myelin_engine::Artefact::is_ok).collect();
    assert_eq!(states, [true, false, true]);
    assert!(report.artefacts[1].problems[0].message().contains("before this one"));
    assert_eq!(report.artefacts[1].problems[0].line(), 2);
}

#[test]
fn a_proxy_that_publishes_a_wsdl_runs_with_a_warning() {
    let report = report(
        "<proxy name='p' transports='http jms'><target><inSequence><drop/></inSequence></target><publishWSDL uri='file:x'/></proxy>",
    );
    assert!(report.artefacts[0].is_ok());
    assert_eq!(report.artefacts[0].warnings.len(), 2);
}

#[test]
fn a_report_is_text_and_json() {
    let report = report("<sequence name='a'/><sequence name='b'><xslt/></sequence>");
    let text = report.to_text();
    assert!(
        text.contains("ok     sequence a (") && text.contains("faulty sequence b (") && text.contains("1 ok, 1 faulty")
            || text.contains("artefacts that run: 1, faulty: 1"),
        "{text}"
    );
    let json = report.to_json();
    assert_eq!((json["files"].as_u64(), json["ok"].as_u64(), json["faulty"].as_u64()), (Some(1), Some(1), Some(1)));
    assert_eq!(json["artefacts"][1]["status"], "faulty");
    assert!(json["artefacts"][1]["problems"][0]["column"].as_u64().unwrap() > 0);
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn load_folder(folder: &Path) -> Report {
    load(&[folder.to_owned()], &Settings::default()).report
}

#[test]
fn a_folder_layout_is_found_from_above_and_from_inside() {
    let folder = tempfile::tempdir().unwrap();
    let xmlns = "xmlns='http://ws.apache.org/ns/synapse'";
    let base = "synapse-configs/default";
    write(folder.path(), &format!("{base}/synapse.xml"), &format!("<definitions {xmlns}/>"));
    write(folder.path(), &format!("{base}/registry.xml"), &format!("<registry {xmlns} provider='x'/>"));
    write(
        folder.path(),
        &format!("{base}/sequences/main.xml"),
        &format!("<sequence {xmlns} name='main'><send/></sequence>"),
    );
    write(
        folder.path(),
        &format!("{base}/proxy-services/P.xml"),
        "<proxy name='P'><target inSequence='main'/></proxy>",
    );
    write(folder.path(), &format!("{base}/endpoints/E.txt"), "not loaded");
    write(folder.path(), &format!("{base}/endpoints/broken.xml"), "<endpoint");
    for path in [folder.path().to_owned(), folder.path().join("synapse-configs"), folder.path().join(base)] {
        let report = load_folder(&path);
        assert_eq!((report.files, report.ok(), report.faulty()), (5, 3, 1), "{}", report.to_text());
        assert_eq!(report.artefacts.iter().find(|artefact| artefact.kind == "file").unwrap().problems.len(), 1);
    }
}

#[test]
fn a_file_that_cannot_be_used_is_a_faulty_file_and_the_rest_loads() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.xml", "<sequence name='a'/>");
    write(folder.path(), "b.xml", "<!DOCTYPE x [<!ENTITY a 'b'>]><sequence name='b'/>");
    write(folder.path(), "c.xml", "<sequence name='c'>\n  <log>\n</sequence>");
    let mut paths = vec![folder.path().to_owned(), folder.path().join("nowhere.xml")];
    let report = load(&paths, &Settings::default()).report;
    assert_eq!((report.files, report.ok(), report.faulty()), (4, 1, 3), "{}", report.to_text());
    assert!(report.artefacts.iter().any(|artefact| artefact.problems.iter().any(|problem| problem.line() == 3)));
    paths.clear();
    assert_eq!(load(&paths, &Settings::default()).report.files, 0);
}

#[test]
fn a_local_entry_may_take_a_sequence_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "parts/seq.xml", "<sequence name='x'><drop/></sequence>");
    write(
        folder.path(),
        "a.xml",
        "<definitions><localEntry key='k' src='file:parts/seq.xml'/><sequence name='a'><sequence key='k'/></sequence></definitions>",
    );
    let report = load(&[folder.path().join("a.xml")], &Settings::default()).report;
    assert_eq!(report.faulty(), 0, "{}", report.to_text());
}

#[test]
fn hostile_nesting_is_a_problem_and_not_a_crash() {
    let deep = format!("{}{}", "<filter xpath='true()'>".repeat(100_000), "</filter>".repeat(100_000));
    refused(&in_sequence(&deep), "inside each other");
    let chain = format!("<filter xpath='{}1'/>", "1+".repeat(20_000));
    refused(&in_sequence(&chain), "operators");
    let deep = format!("<filter xpath='{}1{}'/>", "(".repeat(20_000), ")".repeat(20_000));
    refused(&in_sequence(&deep), "nests deeper");
    let minus = format!("<filter xpath='{}1'/>", "-".repeat(20_000));
    refused(&in_sequence(&minus), "operators");
}

const WORDS: &[&str] = &[
    "$trp:a",
    "get-property",
    "(",
    ")",
    "'x'",
    ",",
    "and",
    "or",
    "*",
    "div",
    "-",
    "1",
    ".5",
    "=",
    "!=",
    "<=",
    "//",
    "[",
    "]",
    "$",
    ":",
    "é",
    "\"",
    " ",
    "concat",
    "$ctx:",
    "..",
    "@",
    "mod",
    "matches",
    "{",
    "}",
    "'transport'",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_expression_makes_loading_or_serving_panic(words in proptest::collection::vec(proptest::sample::select(WORDS), 0..40)) {
        let text = words.concat().replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        let mediators = format!("<property name='a' expression=\"{text}\"/><filter xpath=\"{text}\"/><respond/>");
        let loaded = load_text(&format!("<sequence name='main'>{mediators}</sequence>"));
        for artefact in &loaded.report.artefacts {
            prop_assert!(artefact.problems.iter().all(|problem| problem.line() > 0 && problem.column() > 0));
        }
        let expected = if loaded.bus.has_main() { 200 } else { 503 };
        let scenario = Scenario::of(loaded, |_, _| Ok(response(200, &[], "")));
        let reply = scenario.serve(get("/x?a=1"));
        // An expression may ask for what its values have not: `1//a` is a fault, and no panic.
        let is_fault = reply.status == 500
            && ["could not be evaluated", "needs something that is not there"].iter().any(|part| reply.body.contains(part));
        prop_assert!(reply.status == expected || is_fault, "{:?}", reply);
    }

    #[test]
    fn no_request_target_makes_serving_panic(target in "(/services/P|http://h|/|)[\\PC]{0,12}(\\?\\PC{0,8})?") {
        let loaded = load_text(
            "<proxy name='P'><target><inSequence><property name='a' expression=\"concat($url:a, $axis2:REST_URL_POSTFIX, \
             $axis2:SERVICE_PREFIX, get-property('To'))\"/></inSequence><endpoint><address uri='http://b/'/></endpoint>\
             </target></proxy><sequence name='main'><send><endpoint><address uri='http://b'/></endpoint></send></sequence>",
        );
        let scenario = Scenario::of(loaded, |_, _| Ok(response(200, &[], "")));
        let reply = scenario.serve(get(&target));
        prop_assert!(!reply.body.contains("The bus failed"), "{:?}", reply);
    }

    #[test]
    fn no_mutation_of_a_configuration_makes_loading_panic(at in 0usize..2000, length in 0usize..30, by in "\\PC{0,6}") {
        let sound = "<proxy name='p' transports='http'><target><inSequence><log level='custom' separator='x'>\
            <property name='a' expression='$trp:x'/></log><switch source='$url:a'><case regex='[a-z]+'>\
            <header name='To' value='http://x/'/></case><default><drop/></default></switch><filter xpath='1=1'><then>\
            <send><endpoint><http method='get' uri-template='http://h/{uri.var.x}'><timeout><duration>5</duration>\
            </timeout></http></endpoint></send></then><else sequence='s'/></filter></inSequence></target></proxy>\
            <sequence name='s' onError='s'><sequence key=\"{get-property('x')}\"/></sequence>";
        let mut letters: Vec<char> = sound.chars().collect();
        let start = at % letters.len();
        let end = (start + length).min(letters.len());
        letters.splice(start..end, by.chars());
        let report = report(&letters.into_iter().collect::<String>());
        prop_assert!(!report.to_text().is_empty());
    }
}
