//! The metrics as Prometheus reads them: its own server, its linter, and the rules and the dashboard that we ship.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use myelin_testkit::raw::exchange;
use myelin_testkit::{eventually, port, skip};
use serde_json::Value;

use crate::admin::{ask, observed};
use crate::support::{Bus, answering, definitions};

const DEPLOY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy");

/// Stops the server that it holds.
struct Stopped(Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether Prometheus is here; says visibly what is not tested without it.
fn is_here() -> bool {
    let found = Command::new("promtool").arg("--version").output().is_ok();
    if !found {
        skip("prometheus is not installed");
    }
    found
}

/// A bus that has served a message, and failed one.
fn served() -> Bus {
    let good = answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let gone = port::free().unwrap();
    let configuration = definitions(&format!(
        r#"<endpoint name="Good"><address uri="http://{}/"/></endpoint>
        <endpoint name="Gone"><address uri="http://{gone}/"/></endpoint>
        <proxy name="Works"><target><inSequence><call><endpoint key="Good"/></call><respond/></inSequence></target></proxy>
        <proxy name="Fails"><target><inSequence><call><endpoint key="Gone"/></call><respond/></inSequence></target></proxy>
        <proxy name="Missing"><target><inSequence><switch source="1">
            <case regex="2"><send><endpoint key="nowhere"/></send></case>
            <default><send><endpoint key="neither"/></send></default>
        </switch></inSequence></target></proxy>
        <api name="A" context="/a"><resource methods="GET"><inSequence><respond/></inSequence></resource></api>
        <sequence name="main"><respond/></sequence>
        <inboundEndpoint name="I" protocol="http" sequence="main">
            <parameters><parameter name="inbound.http.port">{}</parameter></parameters>
        </inboundEndpoint>"#,
        good.address(),
        port::free().unwrap().port()
    ));
    let bus = Bus::with(&configuration, observed());
    for path in ["/services/Works", "/services/Fails", "/a", "/main"] {
        exchange(bus.address, format!("GET {path} HTTP/1.1\r\nHost: h\r\n\r\n").as_bytes()).unwrap();
    }
    bus
}

#[test]
fn the_linter_of_prometheus_has_nothing_to_say() {
    if !is_here() {
        return;
    }
    let page = ask(&served(), "/metrics", "").text();
    let mut linter = Command::new("promtool");
    let linter = linter.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut linter = linter.spawn().unwrap();
    linter.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
    let output = linter.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && told.trim().is_empty(), "{told}\n{page}");
    // Of what comes twice it says nothing, and the server drops it.
    let mut series = BTreeSet::new();
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let name = line.rsplit_once(' ').map_or(line, |(name, _)| name);
        assert!(series.insert(name.to_owned()), "{name} comes twice in {page}");
    }
}

#[test]
fn prometheus_scrapes_the_bus_and_loads_the_rules() {
    if !is_here() {
        return;
    }
    let bus = served();
    let folder = tempfile::tempdir().unwrap();
    let (target, web) = (bus.admin().unwrap(), port::free().unwrap());
    let configuration = folder.path().join("prometheus.yml");
    let text = format!(
        "global: {{ scrape_interval: 200ms, evaluation_interval: 200ms }}\nrule_files: [\"{DEPLOY}/prometheus/alerts.yml\"]\n\
         scrape_configs:\n  - job_name: myelin\n    static_configs:\n      - targets: [\"{target}\"]\n"
    );
    fs::write(&configuration, text).unwrap();
    let mut server = Command::new("prometheus");
    server.arg(format!("--config.file={}", configuration.display())).arg(format!("--web.listen-address={web}"));
    server.arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()));
    let _server = Stopped(server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());

    let asked = |query: &str| ask_prometheus(web, &format!("/api/v1/query?query={query}"));
    let value = |query: &str| asked(query)?["data"]["result"][0]["value"][1].as_str().map(str::to_owned);
    eventually("Prometheus has a request of the proxy", || {
        value("wso2_integration_proxy_request_count_total%7Bservice_name%3D%22Works%22%7D").as_deref() == Some("1")
    });
    eventually("the bus is up", || value("up").as_deref() == Some("1"));
    let rules = ask_prometheus(web, "/api/v1/rules").unwrap();
    let rules = rules["data"]["groups"][0]["rules"].as_array().unwrap();
    assert!(rules.len() >= 8, "{rules:?}");
    eventually("all rules can be evaluated", || {
        let rules = ask_prometheus(web, "/api/v1/rules").unwrap_or_default();
        let rules = rules["data"]["groups"][0]["rules"].as_array().cloned().unwrap_or_default();
        !rules.is_empty() && rules.iter().all(|rule| rule["health"] == "ok")
    });
}

fn ask_prometheus(web: SocketAddr, path: &str) -> Option<Value> {
    let request = format!("GET {path} HTTP/1.1\r\nHost: p\r\nConnection: close\r\n\r\n");
    let answer = exchange(web, request.as_bytes()).ok()?;
    serde_json::from_str(&answer.text()).ok()
}

/// The names that begin as ours do, without what a histogram adds.
fn metrics_of(text: &str) -> BTreeSet<String> {
    let is_of_a_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = text.split(|letter| !is_of_a_name(letter));
    let ours = words.filter(|word| ["myelin_", "wso2_", "process_"].iter().any(|start| word.starts_with(start)));
    ours.map(|word| word.trim_end_matches("_bucket").trim_end_matches("_sum").to_owned()).collect()
}

#[test]
fn rules_and_dashboard_ask_for_metrics_that_there_are() {
    let page = ask(&served(), "/metrics", "").text();
    let there: BTreeSet<String> =
        page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next().map(str::to_owned)).collect();
    assert!(there.contains("myelin_exchanges_total") && there.len() > 20, "{there:?}");
    // `myelin run` sets the limit, and the test has none.
    let there: BTreeSet<String> = there.into_iter().chain(["myelin_memory_budget_limit_bytes".to_owned()]).collect();
    for file in ["prometheus/alerts.yml", "grafana/myelin.json"] {
        let text = fs::read_to_string(Path::new(DEPLOY).join(file)).unwrap();
        // Several services at once are asked for by an expression, of which each case has to be there.
        let mut names = BTreeSet::new();
        for kind in ["proxy", "api", "inbound_endpoint"] {
            names.extend(metrics_of(&text.replace("(proxy|api|inbound_endpoint)", kind)));
        }
        let missing: Vec<&String> = names.difference(&there).collect();
        assert!(missing.is_empty() && names.len() > 5, "{file} asks for {missing:?}");
    }
    let dashboard = fs::read_to_string(Path::new(DEPLOY).join("grafana/myelin.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&dashboard).unwrap();
    assert!(dashboard["panels"].as_array().is_some_and(|panels| panels.len() > 10));
}
