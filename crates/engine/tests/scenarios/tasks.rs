//! Tasks, while time passes as fast as it can, and ports of inbound endpoints.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use crate::common::{Scenario, load_text, load_with, post, report, response};
use myelin_engine::{Loaded, ReloadState, Settings};

const MESSAGE: &str = r#"<property name="message"><q xmlns="urn:q">IBM</q></property>"#;

/// A task of that trigger and with these properties, and a sequence that sends what it gets.
fn task(trigger: &str, properties: &str) -> String {
    format!(
        r#"<task name="t" class="org.apache.synapse.startup.tasks.MessageInjector">{properties}{trigger}</task>
        <sequence name="s"><property name="X-Task" expression="$ctx:task.name" scope="transport"/>
          <call><endpoint><address uri="http://back/x"/></endpoint></call></sequence>
        <proxy name="P"><target><endpoint><address uri="http://back/p"/></endpoint></target></proxy>"#
    )
}

const INTO_SEQUENCE: &str = r#"<property name="injectTo" value="sequence"/><property name="sequenceName" value="s"/>"#;

fn sequence(trigger: &str, more: &str) -> String {
    task(trigger, &format!("{INTO_SEQUENCE}{MESSAGE}{more}"))
}

fn begun(artefacts: &str) -> Scenario {
    let scenario = Scenario::new(artefacts);
    scenario.begin_tasks();
    scenario
}

fn pass(scenario: &Scenario, time: Duration) {
    let clock = scenario.clock();
    clock.run(clock.sleep(time)).unwrap();
}

#[test]
fn a_task_runs_at_once_and_after_each_interval() {
    let scenario = begun(&sequence(r#"<trigger interval="5"/>"#, ""));
    pass(&scenario, Duration::from_secs(1));
    assert_eq!(scenario.sent().len(), 1);
    pass(&scenario, Duration::from_secs(100));
    assert_eq!(scenario.sent().len(), 21);
    let sent = &scenario.sent()[20];
    assert_eq!((&*sent.uri, sent.header("X-Task")), ("http://back/x", Some("t")));
    assert_eq!(scenario.under_way().1, 0);
}

#[test]
fn a_task_ends_after_so_many_runs() {
    for (trigger, expected) in [
        (r#"<trigger interval="1" count="3"/>"#, 3),
        (r#"<trigger once="true"/>"#, 1),
        (r#"<trigger count="1"/>"#, 1),
        (r#"<trigger interval="1" count="-1"/>"#, 61),
    ] {
        let scenario = begun(&sequence(trigger, ""));
        pass(&scenario, Duration::from_millis(60_100));
        assert_eq!(scenario.sent().len(), expected, "{trigger}");
    }
}

#[test]
fn a_task_runs_when_its_expression_says() {
    let scenario = begun(&sequence(r#"<trigger cron="0 0 * * * ?"/>"#, ""));
    pass(&scenario, Duration::from_secs(3 * 3600));
    assert_eq!(scenario.sent().len(), 3);
}

#[test]
fn a_task_never_overlaps_itself() {
    let artefacts = sequence(r#"<trigger interval="2"/>"#, "");
    let scenario = Scenario::timed(&artefacts, |_| (Duration::from_secs(5), Ok(response(200, &[], ""))));
    scenario.begin_tasks();
    pass(&scenario, Duration::from_millis(17_900));
    // It is due at 0, 2, 4, 6 …, and runs from 0 to 5, 6 to 11, and 12 to 17.
    assert_eq!(scenario.sent().len(), 3);
    assert_eq!(scenario.under_way().1, 0);
}

#[test]
fn the_format_says_what_the_message_is() {
    let check = |properties: &str, content_type: &str, body: &str| {
        let scenario = begun(&task(r#"<trigger once="true"/>"#, &format!("{INTO_SEQUENCE}{properties}")));
        pass(&scenario, Duration::from_secs(1));
        let sent = &scenario.sent()[0];
        assert_eq!((sent.header("Content-Type"), &*sent.body), (Some(content_type), body), "{properties}");
    };
    let envelope = |namespace: &str| {
        format!(
            "<soapenv:Envelope xmlns:soapenv=\"{namespace}\"><soapenv:Body><q xmlns=\"urn:q\">IBM</q></soapenv:Body></soapenv:Envelope>"
        )
    };
    let soap11 = envelope("http://schemas.xmlsoap.org/soap/envelope/");
    let soap12 = envelope("http://www.w3.org/2003/05/soap-envelope");
    let with = |property: &str| format!("{MESSAGE}{property}");
    check(&with(""), "application/soap+xml; charset=UTF-8", &soap12);
    check(&with(r#"<property name="format" value="soap11"/>"#), "text/xml; charset=UTF-8", &soap11);
    check(
        &with(r#"<property name="soapAction" value="urn:a"/>"#),
        "application/soap+xml; charset=UTF-8; action=\"urn:a\"",
        &soap12,
    );
    check(
        &with(r#"<property name="format" value="pox"/>"#),
        "application/xml; charset=UTF-8",
        "<q xmlns=\"urn:q\">IBM</q>",
    );
    check(r#"<property name="message" value='{"a": 1}'/>"#, "application/json; charset=UTF-8", r#"{"a": 1}"#);
}

#[test]
fn messages_go_to_main_and_to_proxies_as_well() {
    let main = r#"<sequence name="main"><in><send/></in><out><drop/></out></sequence>"#;
    let to = r#"<property name="to" value="http://back/to"/>"#;
    for (properties, uri) in [
        (format!("{MESSAGE}{to}"), "http://back/to"),
        (
            format!(r#"{MESSAGE}<property name="injectTo" value="proxy"/><property name="proxyName" value="P"/>"#),
            "http://back/p",
        ),
    ] {
        let scenario = begun(&format!("{main}{}", task(r#"<trigger once="true"/>"#, &properties)));
        pass(&scenario, Duration::from_secs(1));
        assert_eq!(scenario.sent()[0].uri, uri);
    }
}

#[test]
fn a_message_may_stand_in_a_local_entry() {
    let properties = format!(r#"{INTO_SEQUENCE}<property name="registryKey" value="e"/>"#);
    let entry = r#"<localEntry key="e"><q xmlns="urn:q">IBM</q></localEntry>"#;
    let scenario = begun(&format!("{entry}{}", task(r#"<trigger once="true"/>"#, &properties)));
    pass(&scenario, Duration::from_secs(1));
    assert!(scenario.sent()[0].body.contains("IBM"));
}

#[test]
fn a_reload_leaves_a_task_that_did_not_change_where_it_was() {
    let settings = Settings { reload_state: ReloadState::default(), ..Settings::default() };
    let load = |interval: u32| -> Loaded {
        load_with(&sequence(&format!("<trigger interval=\"{interval}\" count=\"4\"/>"), ""), &settings)
    };
    let answer = |_: &crate::common::Sent| (Duration::ZERO, Ok(response(200, &[], "")));
    let first = Scenario::timed_of(load(5), answer);
    first.begin_tasks();
    pass(&first, Duration::from_secs(12));
    assert_eq!(first.sent().len(), 3);
    let (same, other) = (load(5), load(6));
    for (loaded, expected) in [(same, 1), (other, 4)] {
        let next = Scenario::timed_of(loaded, answer);
        pass(&next, Duration::from_secs(12));
        next.begin_tasks();
        pass(&next, Duration::from_secs(60));
        assert_eq!(next.sent().len(), expected);
    }
}

#[test]
fn what_is_wrong_with_a_task_is_said_at_its_place() {
    let check = |text: &str, part: &str| {
        let report = report(text).to_text();
        assert!(report.contains(part), "{part:?} is not in {report}");
    };
    check(
        r#"<task name="t" class="com.example.Task"><trigger once="true"/></task>"#,
        "com.example.Task is a JVM class",
    );
    check(&task("", MESSAGE), "<trigger> is missing");
    check(&task("<trigger/>", MESSAGE), "says nothing of when");
    check(&task(r#"<trigger interval="0"/>"#, MESSAGE), "interval 0");
    check(&task(r#"<trigger cron="0 0 25 * * ?"/>"#, MESSAGE), "cron");
    check(&task(r#"<trigger cron="0 0 5 * * ?" interval="5"/>"#, MESSAGE), "no meaning beside cron");
    check(&task(r#"<trigger once="true"/>"#, INTO_SEQUENCE), "message or registryKey is missing");
    let proxy = r#"<property name="injectTo" value="proxy"/>"#;
    check(&task(r#"<trigger once="true"/>"#, &format!("{MESSAGE}{proxy}")), "the property proxyName is missing");
    let missing = format!(r#"{MESSAGE}{proxy}<property name="proxyName" value="None"/>"#);
    check(&task(r#"<trigger once="true"/>"#, &missing), "there is no proxy \"None\"");
    check(&sequence(r#"<trigger once="true"/>"#, r#"<property name="format" value="soap"/>"#), "soap11, soap12, pox");
}

fn inbound(parameters: &str) -> String {
    format!(
        r#"<inboundEndpoint name="in" protocol="http" sequence="s" onError="f" suspend="false"><parameters>
            <parameter name="inbound.http.port">8085</parameter>{parameters}</parameters></inboundEndpoint>
        <sequence name="s"><property name="X-In" expression="$ctx:inbound.endpoint.name" scope="transport"/>
            <property name="X-Rest" expression="$axis2:REST_URL_POSTFIX" scope="transport"/><respond/></sequence>
        <sequence name="f"><property name="HTTP_SC" value="555" scope="axis2"/><respond/></sequence>
        <sequence name="main"><property name="HTTP_SC" value="404" scope="axis2"/><respond/></sequence>
        <proxy name="P"><target><inSequence><property name="X-P" value="p" scope="transport"/><respond/></inSequence></target></proxy>
        <api name="A" context="/a"><resource methods="POST"><inSequence><property name="X-A" value="a" scope="transport"/><respond/></inSequence></resource></api>
        <api name="B" context="/b" binds-to="in"><resource methods="POST"><inSequence><property name="X-B" value="b" scope="transport"/><respond/></inSequence></resource></api>"#
    )
}

#[test]
fn a_port_of_its_own_leads_to_its_sequence() {
    let scenario = Scenario::new(&inbound(""));
    for path in ["/any/path", "/services/P", "/a"] {
        let reply = scenario.serve_at(8085, post(path, &[], "<a/>"));
        assert_eq!((reply.status, reply.header("X-In")), (200, Some("in")), "{path}");
    }
    assert_eq!(scenario.serve_at(8085, post("/b", &[], "<a/>")).header("X-B"), Some("b"));
    // What is bound to the inbound endpoint alone is not public.
    assert_eq!(scenario.serve(post("/b", &[], "<a/>")).status, 404);
    assert_eq!(scenario.serve(post("/a", &[], "<a/>")).header("X-A"), Some("a"));
}

#[test]
fn a_filter_says_which_services_are_reached_at_a_port() {
    let scenario =
        Scenario::new(&inbound(r#"<parameter name="dispatch.filter.pattern">(/services/P|/a).*</parameter>"#));
    let serve = |path: &str| scenario.serve_at(8085, post(path, &[], "<a/>"));
    assert_eq!(serve("/services/P").header("X-P"), Some("p"));
    assert_eq!(serve("/a").header("X-A"), Some("a"));
    assert_eq!(serve("/b").header("X-B"), Some("b"));
    assert_eq!(serve("/other").status, 404);
    assert_eq!(serve("/services/Other").status, 404);
}

#[test]
fn a_connection_that_outlives_its_inbound_endpoint_leads_nowhere() {
    let scenario = Scenario::new(&inbound(""));
    let reply = scenario.serve_at(8086, post("/services/P", &[], "<a/>"));
    assert_eq!((reply.status, reply.header("X-P")), (404, None));
}

#[test]
fn faults_run_through_the_sequence_for_them() {
    let artefacts = inbound("").replace(
        "<respond/></sequence>\n        <sequence name=\"f\"",
        "<throwError type=\"E\" errorMessage=\"x\"/></sequence>\n        <sequence name=\"f\"",
    );
    let loaded = load_text(&artefacts);
    assert_eq!(loaded.report.faulty(), 0, "{}", loaded.report.to_text());
    let scenario = Scenario::of(loaded, |_, _| Ok(response(200, &[], "")));
    assert_eq!(scenario.serve_at(8085, post("/", &[], "<a/>")).status, 555);
}

#[test]
fn what_is_wrong_with_an_inbound_endpoint_is_said_at_its_place() {
    let check = |text: &str, part: &str| {
        let report = report(text).to_text();
        assert!(report.contains(part), "{part:?} is not in {report}");
    };
    let of = |attributes: &str, parameters: &str| {
        format!(
            "<inboundEndpoint name='i' {attributes}><parameters>{parameters}</parameters></inboundEndpoint><sequence name='main'/>"
        )
    };
    let port = "<parameter name='inbound.http.port'>8085</parameter>";
    check(&of("class='com.example.In'", port), "JVM class");
    check(&of("protocol='jms'", port), "protocol \"jms\" is not offered yet: http and https are");
    check(&of("protocol='http'", ""), "inbound.http.port is missing");
    check(&of("protocol='http'", "<parameter name='inbound.http.port'>0</parameter>"), "is no port");
    check(&of("protocol='http' sequence='none'", port), "none");
    let two = format!("{}{}", inbound(""), of("protocol='http' sequence='s'", port).split("<sequence").next().unwrap());
    check(&two, "port 8085 is that of inboundEndpoint \"in\"");
    let of_tls = |parameters: &str| of("protocol='https'", &format!("{port}{parameters}"));
    check(&of_tls(""), "the parameter keystore is missing");
    check(&of_tls("<parameter name='keystore'/>"), "Location, Type and Password");
    let store = |inside: &str| of_tls(&format!("<parameter name='keystore'><KeyStore>{inside}</KeyStore></parameter>"));
    check(&store(""), "<Location> of the key store is missing");
    check(&store("<Location>a.jks</Location><Type>JKS</Type><Password>p</Password>"), "a.jks: no such file");
    check(
        &store("<Location>a.jks</Location><Password>$secret{a}</Password>"),
        "[myelin.security.secrets] has no \"a\"",
    );
    check(
        &store(
            "<Location>a.jks</Location><Password xmlns:s='http://org.wso2.securevault/configuration' s:secretAlias='b'/>",
        ),
        "[myelin.security.secrets] has no \"b\"",
    );
    let verify = |how: &str| {
        let verify = format!("<parameter name='SSLVerifyClient'>{how}</parameter>");
        of_tls(&format!(
            "<parameter name='keystore'><KeyStore><Location>a.jks</Location></KeyStore></parameter>{verify}"
        ))
    };
    check(&verify("required"), "SSLVerifyClient \"required\" is neither require nor optional");
    check(&verify("require"), "the parameter truststore is missing");
    check(&verify("none"), "a.jks: no such file");
    let revocation =
        |inside: &str| of_tls(&format!("<parameter name='CertificateRevocationVerifier'>{inside}</parameter>"));
    check(&revocation("<CertificateRevocationVerifier enable='true'/>"), "whether certificates of clients are revoked");
    check(&revocation("<CertificateRevocationVerifier enable='false'/>"), "the parameter keystore is missing");
    check("<api name='a' context='/a' binds-to='x'><resource/></api>", "there is no inboundEndpoint \"x\"");
}

#[test]
fn the_pools_of_threads_of_an_inbound_endpoint_are_told_in_one_line_and_only_if_somebody_sized_them() {
    let warnings = |core: &str, max: &str| -> Vec<String> {
        let parameters = [
            ("inbound.http.port", "8290"),
            ("inbound.worker.pool.size.core", core),
            ("inbound.worker.pool.size.max", max),
            ("inbound.worker.thread.keep.alive.sec", "60"),
            ("inbound.worker.pool.queue.length", "-1"),
            ("inbound.thread.group.id", ""),
            ("inbound.thread.id", "PassThroughInboundWorkerPool"),
        ];
        let parameters =
            parameters.map(|(name, value)| format!("<parameter name='{name}'>{value}</parameter>")).concat();
        let report = report(&format!(
            "<inboundEndpoint name='i' protocol='http' sequence='s'><parameters>{parameters}</parameters>\
             </inboundEndpoint><sequence name='s'><respond/></sequence>"
        ));
        report.artefacts.iter().flat_map(|artefact| &artefact.warnings).map(|it| it.message().to_owned()).collect()
    };
    assert_eq!(warnings("400", "500"), [""; 0]);
    let expected = "no effect: inbound.worker.pool.size.core and inbound.worker.pool.size.max; \
                    there are no pools of threads to size";
    assert_eq!(warnings("20", "30"), [expected]);
}
