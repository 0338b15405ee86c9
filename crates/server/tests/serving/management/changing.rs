//! What admins change, and that it takes effect.

use std::fs;

use myelin_testkit::{eventually, pack};
use serde_json::{Value, json};

use super::{HELLO, Managed, PASSWORD};
use crate::support::answering;
use crate::support::process::write;

const SERVICES: &str = r#"<definitions xmlns="http://ws.apache.org/ns/synapse">
  <endpoint name="Backend"><address uri="http://127.0.0.1:1/"/></endpoint>
  <sequence name="log-it"><log level="full"/><drop/></sequence>
  <api name="Orders" context="/orders" version="1.0" version-type="url">
    <resource methods="GET POST" uri-template="/{id}"><inSequence><respond/></inSequence></resource>
  </api>
  <task name="Often" class="org.apache.synapse.startup.tasks.MessageInjector">
    <trigger interval="3600"/>
    <property xmlns:task="http://www.wso2.org/products/wso2commons/tasks" name="injectTo" value="sequence"/>
    <property name="sequenceName" value="log-it"/><property name="message"><m/></property>
  </task>
</definitions>"#;

#[test]
fn what_is_off_from_the_start_can_be_switched_on() {
    let port = myelin_testkit::port::free().unwrap().port();
    let late = HELLO.replace("name=\"Hello\"", "name=\"Late\" startOnLoad=\"false\"");
    let inbound = format!(
        r#"<inboundEndpoint xmlns="http://ws.apache.org/ns/synapse" name="Door" protocol="http" suspend="true"
             sequence="answer" onError="answer"><parameters>
             <parameter name="inbound.http.port">{port}</parameter></parameters></inboundEndpoint>"#
    );
    let answer = r#"<sequence xmlns="http://ws.apache.org/ns/synapse" name="answer"><respond/></sequence>"#;
    let files = [("Late.xml", late.as_str()), ("Door.xml", &inbound), ("answer.xml", answer)];
    let managed = Managed::run(&files, "", &[]);
    let ann = managed.token("ann");
    assert_eq!(managed.status("/services/Late"), 503);
    assert_eq!(managed.get(&ann, "/proxy-services?proxyServiceName=Late")["isRunning"], false);
    assert_eq!(managed.get(&ann, "/inbound-endpoints?inboundEndpointName=Door")["status"], "inactive");
    let door = std::net::SocketAddr::from(([127, 0, 0, 1], port));
    assert!(std::net::TcpStream::connect(door).is_err());
    for (path, name) in [("/proxy-services", "Late"), ("/inbound-endpoints", "Door")] {
        let answer = managed.ask(&ann, "POST", path, Some(&json!({ "name": name, "status": "active" })));
        assert_eq!(answer.status, 200, "{path}");
    }
    assert_eq!(managed.status("/services/Late"), 200);
    eventually("the port is open", || std::net::TcpStream::connect(door).is_ok());
    managed.process.hang_up();
    managed.process.logged("reloaded");
    assert_eq!(managed.status("/services/Late"), 200);
}

#[test]
fn services_are_switched_and_stay_so_over_a_reload() {
    let managed = Managed::run(&[("Hello.xml", HELLO), ("services.xml", SERVICES)], "", &[]);
    let ann = managed.token("ann");
    let change = |path: &str, body: Value| {
        let answer = managed.ask(&ann, "POST", path, Some(&body));
        (answer.status, super::json(&answer))
    };
    assert_eq!(managed.status("/services/Hello"), 200);
    let (status, told) = change("/proxy-services", json!({ "name": "Hello", "status": "inactive" }));
    assert_eq!((status, &told["Message"]), (200, &"Proxy service Hello stopped successfully".into()));
    assert_eq!(managed.status("/services/Hello"), 503);
    write(&managed.process.path("Hello.xml"), &HELLO.replace("<respond/>", "<log/><respond/>"));
    managed.process.hang_up();
    managed.process.logged("reloaded");
    assert_eq!(managed.status("/services/Hello"), 503);
    assert_eq!(managed.get(&ann, "/proxy-services?proxyServiceName=Hello")["isRunning"], false);
    change("/proxy-services", json!({ "name": "Hello", "status": "active" }));
    assert_eq!(managed.status("/services/Hello"), 200);

    let (_, told) = change("/endpoints", json!({ "name": "Backend", "status": "inactive" }));
    assert_eq!(told["Message"], "Backend is switched Off");
    assert_eq!(managed.get(&ann, "/endpoints?endpointName=Backend")["state"], "off");
    for (path, name) in [("/apis", "Orders:v1.0"), ("/sequences", "log-it"), ("/proxy-services", "Hello")] {
        let (status, told) = change(path, json!({ "name": name, "trace": "enable" }));
        assert_eq!((status, &told["message"]), (200, &format!("Enabled tracing for ('{name}')").into()), "{path}");
    }
    assert_eq!(managed.get(&ann, "/sequences?sequenceName=log-it")["tracing"], "enabled");

    let (_, told) = change("/tasks", json!({ "name": "Often", "status": "trigger" }));
    assert_eq!(told["Message"], "Often is triggered", "{told}");
    managed.process.logged("task Often runs now");
    change("/tasks", json!({ "name": "Often", "status": "inactive" }));
    assert_eq!(change("/tasks", json!({ "name": "Often", "status": "trigger" })).0, 409);
    assert_eq!(managed.get(&ann, "/tasks?taskName=Often")["status"], "inactive");

    for (path, body, status) in [
        ("/proxy-services", json!({ "name": "Nobody", "status": "active" }), 404),
        ("/proxy-services", json!({ "name": "Hello", "status": "sleeping" }), 400),
        ("/proxy-services", json!({ "status": "active" }), 400),
        ("/endpoints", json!({ "name": "Nobody", "status": "active" }), 404),
        ("/message-processors", json!({ "name": "Nobody", "status": "active" }), 404),
        ("/apis", json!({ "name": "Orders:v1.0", "status": "inactive" }), 400),
        ("/tasks", json!([]), 400),
    ] {
        assert_eq!(change(path, body).0, status, "{path}");
    }
    let reloads = managed.get(&ann, "/myelin/reloads");
    assert_eq!(
        (&reloads["list"][0]["outcome"], &reloads["list"][0]["changed"]),
        (&"served".into(), &json!(["proxy Hello"]))
    );
    let services = managed.get(&ann, "/myelin/services");
    let ids: Vec<&str> = services["services"].as_array().unwrap().iter().filter_map(|it| it["id"].as_str()).collect();
    assert!(ids.contains(&"proxy Hello") && ids.contains(&"task Often"), "{ids:?}");
    let rates = managed.get(&ann, "/myelin/rates");
    let counters: Vec<&str> = rates["services"].as_array().unwrap().iter().filter_map(|it| it["id"].as_str()).collect();
    for service in services["services"].as_array().unwrap() {
        assert!(
            counters.contains(&service["counters"].as_str().unwrap()),
            "{} is not in {counters:?}",
            service["counters"]
        );
    }
}

/// An artefact of each kind whose tracing is switched: its path in the API, its name, and a service that comes to it.
const TRACED: [(&str, &str, &str); 5] = [
    ("/proxy-services", "Hello", "/services/Hello"),
    ("/apis", "Orders:v1.0", "/orders/1.0/7"),
    ("/sequences", "answer", "/services/ByName"),
    ("/endpoints", "Loop", "/services/Calls"),
    ("/templates", "answering", "/services/ByTemplate"),
];

const MARKED: &str = r#"<definitions xmlns="http://ws.apache.org/ns/synapse">
  <sequence name="answer"><respond/></sequence>
  <sequence name="marked" trace="enable"><respond/></sequence>
  <template name="answering"><sequence><respond/></sequence></template>
  <endpoint name="Loop"><address uri="http://127.0.0.1:1/"/></endpoint>
  <endpoint name="Marked"><address uri="http://127.0.0.1:1/" trace="enable"/></endpoint>
  <api name="Orders" context="/orders" version="1.0" version-type="url">
    <resource methods="GET" uri-template="/{id}"><inSequence><respond/></inSequence></resource>
  </api>
  <proxy name="ByName"><target><inSequence><sequence key="answer"/></inSequence></target></proxy>
  <proxy name="ByTemplate"><target><inSequence><call-template target="answering"/></inSequence></target></proxy>
  <proxy name="Calls"><target><inSequence><call><endpoint key="Loop"/></call></inSequence></target></proxy>
  <proxy name="Sentinel" trace="enable"><target><inSequence><respond/></inSequence></target></proxy>
  <proxy name="MarkedProxy" trace="enable"><target><inSequence><respond/></inSequence></target></proxy>
  <proxy name="MarkedSequence"><target><inSequence><sequence key="marked"/></inSequence></target></proxy>
  <proxy name="MarkedEndpoint"><target><inSequence><call><endpoint key="Marked"/></call></inSequence></target></proxy>
</definitions>"#;

#[test]
fn the_trace_switch_records_messages_until_it_is_switched_back() {
    let backend = answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    let marked = MARKED.replace("127.0.0.1:1", &backend.address().to_string());
    let managed = Managed::run(&[("Hello.xml", HELLO), ("marked.xml", &marked)], "", &["--threads", "1"]);
    let ann = managed.token("ann");
    let switch = |path: &str, name: &str, to: &str| {
        let body = match path {
            "/templates" => json!({ "name": name, "type": "sequence", "trace": to }),
            _ => json!({ "name": name, "trace": to }),
        };
        let answer = managed.ask(&ann, "POST", path, Some(&body));
        assert_eq!(answer.status, 200, "{path} {name}: {}", answer.text());
    };
    let traces = |query: &str| {
        let listed = managed.get(&ann, &format!("/myelin/traces?limit=1000{query}"));
        listed["list"].as_array().unwrap().len()
    };
    let (mut before, mut sentinels) = (0, 0);
    // The one thread has done with a message when the next one, which is always recorded, has its trace.
    let mut recorded = |service: &str| {
        managed.status(service);
        managed.status("/services/Sentinel");
        sentinels += 1;
        eventually("the next message is recorded", || traces("&service=Sentinel") == sentinels);
        let all = traces("") - sentinels;
        std::mem::replace(&mut before, all) < all
    };
    for (path, name, service) in TRACED {
        assert!(!recorded(service), "{name}");
        for _ in 0..2 {
            switch(path, name, "enable");
            assert!(recorded(service), "{name}");
            switch(path, name, "disable");
            assert!(!recorded(service), "{name}");
        }
    }
    // What is taken back elsewhere can be switched on again.
    switch("/proxy-services", "Hello", "enable");
    managed.ask(&ann, "DELETE", "/myelin/traces/selection", None);
    assert!(!recorded("/services/Hello"));
    switch("/proxy-services", "Hello", "enable");
    assert!(recorded("/services/Hello"));
    // Another service is none of its business.
    assert!(!recorded("/services/ByName"));
    switch("/proxy-services", "Hello", "disable");
    // The definition counts until somebody says otherwise, over a reload, too.
    let marked = [
        ("/proxy-services?proxyServiceName=MarkedProxy", "MarkedProxy", "/services/MarkedProxy"),
        ("/sequences?sequenceName=marked", "marked", "/services/MarkedSequence"),
        ("/endpoints?endpointName=Marked", "Marked", "/services/MarkedEndpoint"),
    ];
    for (item, name, service) in marked {
        let path = item.split('?').next().unwrap();
        let is_told = || managed.get(&ann, item)["tracing"].clone();
        assert_eq!(is_told(), "enabled", "{name}");
        assert!(recorded(service), "{name}");
        switch(path, name, "disable");
        assert_eq!(is_told(), "disabled", "{name}");
        assert!(!recorded(service), "{name}");
    }
    managed.process.hang_up();
    managed.process.logged("reloaded");
    for (item, name, service) in marked {
        assert!(!recorded(service), "{name}");
        switch(item.split('?').next().unwrap(), name, "enable");
        assert!(recorded(service), "{name}");
    }
}

#[test]
fn steps_of_a_service_are_counted_while_somebody_asks() {
    let sequence = "<filter source=\"get-property('axis2', 'HTTP_METHOD')\" regex=\"POST\"><then/><else><log/></else></filter><respond/>";
    let managed = Managed::run(&[("Hello.xml", &HELLO.replace("<respond/>", sequence))], "", &[]);
    let bob = managed.token("bob");
    let ask = || managed.get(&bob, "/myelin/steps?service=proxy%20Hello");
    assert_eq!(managed.status("/services/Hello"), 200);
    assert_eq!(ask()["steps"], json!([]));
    for _ in 0..3 {
        assert_eq!(managed.status("/services/Hello"), 200);
    }
    let filter = || ask()["steps"].as_array()?.iter().find(|step| step["element"] == "filter").cloned();
    eventually("three messages are counted", || filter().is_some_and(|filter| filter["messages"] == 3));
    let filter = filter().unwrap();
    assert_eq!(
        (&filter["messages"], &filter["faults"], &filter["chosen"]),
        (&3.into(), &0.into(), &json!({ "else": 3 }))
    );
    // It is the step that the flow of the service has at that place.
    let services = managed.get(&bob, "/myelin/services");
    let step = &services["services"][0]["flows"][0]["steps"][0];
    assert_eq!((&step["place"], &step["column"]), (&filter["place"], &filter["column"]));
    for service in ["proxy%20Nobody", "Hello"] {
        let answer = managed.ask(&bob, "GET", &format!("/myelin/steps?service={service}"), None);
        assert_eq!(answer.status, 404, "{service}");
    }
    assert_eq!(managed.ask(&bob, "GET", "/myelin/steps", None).status, 400);
}

#[test]
fn a_port_of_an_inbound_endpoint_closes_and_opens_again() {
    let port = myelin_testkit::port::free().unwrap().port();
    let inbound = format!(
        r#"<definitions xmlns="http://ws.apache.org/ns/synapse"><sequence name="s"><respond/></sequence>
        <inboundEndpoint name="In" protocol="http" sequence="s" onError="s"><parameters>
        <parameter name="inbound.http.port">{port}</parameter></parameters></inboundEndpoint></definitions>"#
    );
    let managed = Managed::run(&[("in.xml", &inbound)], "", &[]);
    let ann = managed.token("ann");
    let is_open = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
    eventually("the port is open", is_open);
    for (status, open) in [("inactive", false), ("active", true)] {
        let body = json!({ "name": "In", "status": status });
        assert_eq!(managed.ask(&ann, "POST", "/inbound-endpoints", Some(&body)).status, 200);
        eventually("the port follows", || is_open() == open);
        assert_eq!(managed.get(&ann, "/inbound-endpoints?inboundEndpointName=In")["status"], status);
    }
}

fn application(name: &str, proxy: &str) -> Vec<u8> {
    let artifacts = format!(
        r#"<artifacts><artifact name="{name}" version="1.0.0" type="carbon/application">
        <dependency artifact="{name}P" version="1.0.0" include="true" serverRole="EnterpriseServiceBus"/></artifact></artifacts>"#
    );
    let artifact = format!(
        r#"<artifact name="{name}P" version="1.0.0" type="synapse/proxy-service" serverRole="EnterpriseServiceBus"><file>p.xml</file></artifact>"#
    );
    let folder = format!("{name}P_1.0.0");
    pack(&[
        ("artifacts.xml", artifacts.as_bytes()),
        (&format!("{folder}/artifact.xml"), artifact.as_bytes()),
        (&format!("{folder}/p.xml"), proxy.as_bytes()),
    ])
}

#[test]
fn an_archive_is_checked_whole_serves_and_goes() {
    let managed = Managed::run(&[("Hello.xml", HELLO)], "", &[]);
    let ann = managed.token("ann");
    let upload = |name: &str, bytes: &[u8]| {
        let head = format!("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
        let body = [head.as_bytes(), bytes, b"\r\n--b--\r\n"].concat();
        managed.send(&ann, "POST", "/applications", "Content-Type: multipart/form-data; boundary=b\r\n", &body)
    };
    let good = HELLO.replace("\"Hello\"", "\"Added\"");
    let answer = upload("Shop_1.0.0.car", &application("Shop", &good));
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(super::json(&answer)["Message"], "Successfully added Carbon Application Shop_1.0.0.car");
    assert_eq!(managed.status("/services/Added"), 200);
    let listed = managed.get(&ann, "/applications");
    assert_eq!((&listed["activeCount"], &listed["activeList"][0]["name"]), (&1.into(), &"Shop".into()));
    assert_eq!(listed["activeList"][0]["version"], "1.0.0");

    // What is faulty changes nothing.
    let bad = good.replace("<respond/>", "<respnd/>");
    for (name, bytes) in [
        ("Shop_1.0.0.car", application("Shop", &bad)),
        ("Other_1.0.0.car", application("Other", &bad)),
        ("Broken_1.0.0.car", b"PK and so on".to_vec()),
        ("../Out_1.0.0.car", b"PK".to_vec()),
        ("Other.zip", application("Other", &good)),
        // The proxy is there already.
        ("Second_1.0.0.car", application("Second", &good)),
    ] {
        let answer = upload(name, &bytes);
        assert_eq!(answer.status, 400, "{name}: {}", answer.text());
        assert_eq!(managed.status("/services/Added"), 200, "{name}");
        // The place where it was checked tells nobody anything.
        let apart = std::env::temp_dir().join(".tmp").display().to_string();
        assert!(!(name.starts_with("Broken") && answer.text().contains(&apart)), "{}", answer.text());
    }
    let files =
        fs::read_dir(managed.process.path("")).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<String> = files.collect();
    files.sort();
    assert_eq!(files, ["Hello.xml", "Shop_1.0.0.car", "users.toml"]);

    let answer = managed.ask(&ann, "DELETE", "/applications/Shop", None);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(managed.status("/services/Added"), 404);
    assert_eq!(managed.ask(&ann, "DELETE", "/applications/Shop", None).status, 404);
}

#[test]
fn users_roles_levels_and_resources_are_kept() {
    let managed = Managed::run(&[("Hello.xml", HELLO)], "", &[]);
    fs::create_dir_all(managed.process.path("registry/config")).unwrap();
    let ann = managed.token("ann");
    let ask = |method: &str, path: &str, body: Value| {
        let answer = managed.ask(&ann, method, path, Some(&body));
        (answer.status, super::json(&answer))
    };
    // The `mi` client sends a text for isAdmin.
    let cid = json!({ "userId": "cid", "password": PASSWORD, "isAdmin": "false", "domain": "" });
    assert_eq!(ask("POST", "/users", cid.clone()), (200, json!({ "userId": "cid", "status": "Added" })));
    assert_eq!(ask("POST", "/users", cid).0, 409);
    assert_eq!(ask("POST", "/roles", json!({ "role": "readers" })).0, 200);
    let roles = json!({ "userId": "cid", "addedRoles": ["readers"], "removedRoles": [] });
    assert_eq!(ask("PUT", "/roles", roles).1["status"], "Added/removed the roles");
    assert_eq!(managed.get(&ann, "/users/cid")["roles"], json!(["readers"]));
    let cid = managed.token("cid");
    let password = json!({ "newPassword": "another", "confirmPassword": "another", "oldPassword": PASSWORD });
    assert_eq!(managed.ask(&cid, "PATCH", "/users/cid", Some(&password)).status, 200);
    assert_eq!(managed.ask(&cid, "GET", "/apis", None).status, 401, "the token ended with the password");
    assert_eq!(managed.login("cid", "another").status, 200);
    let take = json!({ "userId": "ann", "removedRoles": ["admin"] });
    assert_eq!(ask("PUT", "/roles", take).0, 409, "nobody would be left who can change something");
    assert_eq!(managed.ask(&ann, "DELETE", "/users/cid", None).status, 200);
    assert_eq!(
        ask("DELETE", "/users/cid", json!({})).1["Error"],
        "Requested resource not found. User: cid cannot be found."
    );

    let level = json!({ "loggerName": "rootLogger", "loggingLevel": "DEBUG" });
    assert_eq!(ask("PATCH", "/logging", level).0, 200);
    assert_eq!(managed.get(&ann, "/logging?loggerName=rootLogger")["level"], "DEBUG");
    assert_eq!(ask("PATCH", "/logging", json!({ "loggerName": "rootLogger", "loggingLevel": "LOUD" })).0, 400);
    let correlation = json!({ "configName": "correlation", "configs": { "enabled": true } });
    assert_eq!(ask("PUT", "/configs", correlation).0, 200);
    let request = b"GET /services/Hello HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
    let answer = myelin_testkit::raw::exchange(managed.process.address, request).unwrap();
    assert!(answer.header("activityid").is_some());

    let path = "/registry-resources/content?path=registry/config/a.txt";
    let write =
        |method: &str| managed.send(&ann, method, path, "Content-Type: application/octet-stream\r\n", b"text").status;
    assert_eq!([write("PUT"), write("POST"), write("POST"), write("PUT")], [404, 200, 409, 200]);
    assert_eq!(managed.ask(&ann, "GET", path, None).text(), "text");
    let properties = json!([{ "name": "p", "value": "v" }]);
    assert_eq!(ask("POST", "/registry-resources/properties?path=registry/config/a.txt", properties).0, 200);
    let listed = managed.get(&ann, "/registry-resources?path=registry/config");
    assert_eq!(
        listed["list"],
        json!([{ "name": "a.txt", "mediaType": "text/plain", "properties": [{ "name": "p", "value": "v" }] }])
    );
    assert_eq!(managed.ask(&ann, "DELETE", path, None).status, 200);
    assert_eq!(managed.ask(&ann, "GET", path, None).status, 404);
    for path in ["registry/../users.toml", "registry/config/../../users.toml"] {
        let path = format!("/registry-resources/content?path={path}");
        assert_eq!(managed.ask(&ann, "GET", &path, None).status, 400, "{path}");
    }
}

#[test]
fn the_bus_restarts_and_shuts_down_when_it_is_told_so() {
    let mut managed = Managed::run(&[("Hello.xml", HELLO)], "", &[]);
    let ann = managed.token("ann");
    let id = managed.process.id();
    let leave = |managed: &Managed, token: &str, status: &str| {
        managed.ask(token, "PATCH", "/server", Some(&json!({ "status": status }))).status
    };
    assert_eq!(leave(&managed, &ann, "dance"), 400);
    assert_eq!(leave(&managed, &ann, "restartGracefully"), 200);
    managed.process.logged("restarting");
    let line = managed.process.logged("metrics and probes are on http://");
    managed.admin = line.rsplit_once("http://").unwrap().1.trim().parse().unwrap();
    assert_eq!(managed.ask(&ann, "GET", "/apis", None).status, 401, "the new process has another key");
    let ann = managed.token("ann");
    assert_eq!(managed.get(&ann, "/server")["processId"], id);
    assert_eq!(leave(&managed, &ann, "shutdown"), 200);
    assert_eq!(managed.process.ended(), Some(0));
}
