//! `myelin demo`: backends, bus and real messages in one process, every answer checked.

mod answers;

use std::fs;
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, ensure};
use myelin_bench::load::{self, Outcome, Plan, Verify};
use myelin_bench::payload::{self, Payload};
use myelin_bench::security::{self, KeyArguments};
use myelin_bench::suite::Service;
use myelin_bench::{echo, procfs, stockquote};
use myelin_engine::{ProcessEnvironment, REPLAY_ENTRIES};
use myelin_testkit::{faulty, port};
use myelin_wss::guard::{Side, Uses};
use myelin_wss::{Guard, Replays};

use crate::deployment::Deployment;
use crate::file_limit::raise_file_limit;
use crate::listeners::Listen;
use crate::server::{Running, Settings, start};

/// How long each row of the table is measured.
const SPAN: Duration = Duration::from_millis(550);
const CONNECTIONS: usize = 20;

/// The examples, as they stand in the repository; their backends' addresses are replaced by those of this run.
const EXAMPLES: &[(&str, &str)] = &[
    ("direct", include_str!("../../../examples/direct/synapse.xml")),
    ("header-routing", include_str!("../../../examples/header-routing/synapse.xml")),
    ("cbr", include_str!("../../../examples/cbr/synapse.xml")),
    ("soap-header-routing", include_str!("../../../examples/soap-header-routing/synapse.xml")),
    ("json-routing", include_str!("../../../examples/json-routing/synapse.xml")),
    ("json-to-soap", include_str!("../../../examples/json-to-soap/synapse.xml")),
    ("payload-factory", include_str!("../../../examples/payload-factory/synapse.xml")),
    ("enrich", include_str!("../../../examples/enrich/synapse.xml")),
    ("xslt", include_str!("../../../examples/xslt/synapse.xml")),
    ("custom-quote", include_str!("../../../examples/custom-quote/synapse.xml")),
    ("api", include_str!("../../../examples/api/synapse.xml")),
    ("failover", include_str!("../../../examples/failover/synapse.xml")),
    ("split", include_str!("../../../examples/split/synapse.xml")),
    ("aggregate", include_str!("../../../examples/aggregate/synapse.xml")),
    #[cfg(feature = "sql")]
    ("database", include_str!("../../../examples/database/synapse.xml")),
    ("failure", include_str!("../../../examples/failure/synapse.xml")),
    ("secure-gateway", include_str!("../../../examples/secure-gateway/synapse.xml")),
    ("secure-client", include_str!("../../../examples/secure-client/synapse.xml")),
];

/// Files that the examples name.
const FILES: [(&str, &str); 10] = [
    ("orders-20.xml", include_str!("../../../examples/payload-factory/orders-20.xml")),
    ("orders-50.xml", include_str!("../../../examples/payload-factory/orders-50.xml")),
    ("orders-100.xml", include_str!("../../../examples/payload-factory/orders-100.xml")),
    ("orders-100.json", include_str!("../../../examples/payload-factory/orders-100.json")),
    ("reversed.xsl", include_str!("../../../examples/xslt/reversed.xsl")),
    ("restored.xsl", include_str!("../../../examples/xslt/restored.xsl")),
    ("request.xsl", include_str!("../../../examples/custom-quote/request.xsl")),
    ("response.xsl", include_str!("../../../examples/custom-quote/response.xsl")),
    (GATEWAY_POLICY, include_str!("../../../examples/secure-gateway/gateway-policy.xml")),
    (CLIENT_POLICY, include_str!("../../../examples/secure-client/client-policy.xml")),
];

/// The example that is the secured service of another.
const SERVICE: &str = "secure-gateway";

/// The policies of the secured examples.
const GATEWAY_POLICY: &str = "gateway-policy.xml";
const CLIENT_POLICY: &str = "client-policy.xml";

/// The question of the example `custom-quote`.
const CHECK_PRICE: &str = include_str!("../../../examples/custom-quote/request.xml");
/// Makes the service's quotes those of every run.
const SEED: u64 = 2014;

/// Everything that runs, on free ports of 127.0.0.1.
struct Stage {
    echo: myelin_bench::Handle,
    slow: myelin_bench::Handle,
    half: faulty::Backend,
    quotes: myelin_bench::Handle,
    /// The secured service behind the bus: the example `secure-gateway` on a bus of its own.
    service: Running,
    bus: Running,
    address: SocketAddr,
    /// Where the examples are, and the keys that were made for this run.
    folder: tempfile::TempDir,
}

/// One row of the table.
struct Scenario {
    name: &'static str,
    proxy: &'static str,
    header: Option<(&'static str, &'static str)>,
    message: Message,
}

/// What is sent, and with it what has to come back.
enum Message {
    /// The benchmark's message of so many bytes, and that again.
    Order(u64),
    /// A question for a price, and a price.
    CheckPrice,
    /// The benchmark's message of so many bytes, signed and encrypted, each time anew; and its content, likewise.
    Secured(u64),
    /// The benchmark's message of so many bytes, and its content.
    Content(u64),
    /// A message of so many bytes to a service of WSO2's performance suite, and what that makes of it.
    Suite(Service, u64),
}

const SCENARIOS: [Scenario; 21] = [
    Scenario::of("direct, 500 B", "Direct", Message::Order(500)),
    Scenario::of("direct, 10 KB", "Direct", Message::Order(10_000)),
    Scenario::of("direct, 100 KB", "Direct", Message::Order(100_000)),
    Scenario {
        header: Some(("X-Customer-Class", "gold")),
        ..Scenario::of("header routing, 500 B", "Orders", Message::Order(500))
    },
    Scenario::of("content routing, 500 B", "StockOrders", Message::Order(500)),
    Scenario::of("content routing, 100 KB", "StockOrders", Message::Order(100_000)),
    Scenario::of("XSLT both ways, 500 B", "ReversedOrders", Message::Order(500)),
    Scenario::of("XSLT both ways, 10 KB", "ReversedOrders", Message::Order(10_000)),
    Scenario::of("custom stock quote", "CheckPrice", Message::CheckPrice),
    Scenario::of("JSON to SOAP, 500 B", "JsonToSoap", Message::Suite(Service::JsonToSoap, 500)),
    Scenario::of("JSON to SOAP and back", "JsonToSoapAndBack", Message::Suite(Service::JsonToSoapAndBack, 500)),
    Scenario::of("payload of 20 orders", "PayloadFactory20", Message::Suite(Service::PayloadFactory(20), 500)),
    Scenario::of("payload of 100 orders", "PayloadFactory100", Message::Suite(Service::PayloadFactory(100), 500)),
    Scenario::of("enrich back and forth", "EnrichBackAndForth", Message::Suite(Service::Enrich, 500)),
    Scenario::of("iterate and aggregate", "IterateAndAggregate", Message::Suite(Service::Iterate, 500)),
    Scenario::of("clone to 2, aggregate", "CloneAndAggregate2", Message::Suite(Service::Clone(2), 500)),
    Scenario::of("clone to 4, aggregate", "CloneAndAggregate4", Message::Suite(Service::Clone(4), 500)),
    Scenario::of("clone to 8, aggregate", "CloneAndAggregate8", Message::Suite(Service::Clone(8), 500)),
    Scenario::of("WS-Security, 500 B", "SecureOrders", Message::Secured(500)),
    Scenario::of("WS-Security, 10 KB", "SecureOrders", Message::Secured(10_000)),
    Scenario::of("to a secured service", "PlainOrders", Message::Content(500)),
];

impl Scenario {
    const fn of(name: &'static str, proxy: &'static str, message: Message) -> Scenario {
        Scenario { name, proxy, header: None, message }
    }
}

/// Runs the demo; success only if every answer was right.
pub(crate) fn run(out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    raise_file_limit();
    let begun = Instant::now();
    let stage = Stage::set()?;
    writeln!(out, "Bus on http://{}, backends on loopback, all in this process.\n", stage.address)?;
    writeln!(
        out,
        "{:<24}{:>12}{:>10}{:>10}{:>14}{:>12}",
        "scenario", "requests/s", "p50", "p99", "bus CPU/req", "memory"
    )?;
    let mut wrong = 0;
    for scenario in &SCENARIOS {
        let before = bus_cpu()?;
        let outcome = stage.load(scenario)?;
        let cpu = bus_cpu()?.saturating_sub(before);
        wrong += outcome.failures;
        writeln!(out, "{}", row(scenario.name, &outcome, cpu)?)?;
        for (kind, failure) in &outcome.failures_by_kind {
            writeln!(out, "    {} × {kind}: {}", failure.count, failure.example)?;
        }
        out.flush()?;
    }
    writeln!(out)?;
    for (what, result) in stage.single_answers() {
        match result {
            Ok(answer) => writeln!(out, "ok      {what}: {answer}")?,
            Err(error) => {
                wrong += 1;
                writeln!(out, "WRONG   {what}: {error:#}")?;
            }
        }
    }
    stage.strike()?;
    let seconds = begun.elapsed().as_secs_f64();
    if wrong > 0 {
        writeln!(out, "\n{wrong} answers were wrong ({seconds:.1} s).")?;
        return Ok(ExitCode::FAILURE);
    }
    writeln!(out, "\nEvery answer was checked, and right ({seconds:.1} s).")?;
    writeln!(out, "Load, backends and bus share this machine's cores: `cargo xtask bench direct` compares properly.")?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn row(name: &str, outcome: &Outcome, cpu: Duration) -> anyhow::Result<String> {
    let micros = |seconds: f64| format!("{:.0} µs", seconds * 1e6);
    let per_request = cpu.as_secs_f64() / outcome.requests.max(1) as f64;
    let memory = procfs::usage(std::process::id())?.memory_bytes as f64 / 1e6;
    Ok(format!(
        "{name:<24}{:>12.0}{:>10}{:>10}{:>14}{:>12}",
        outcome.requests_per_second,
        micros(outcome.latency.p50),
        micros(outcome.latency.p99),
        format!("{:.1} µs", per_request * 1e6),
        format!("{memory:.0} MB"),
    ))
}

impl Stage {
    fn set() -> anyhow::Result<Stage> {
        let anywhere: SocketAddr = "127.0.0.1:0".parse()?;
        let echo = echo::start(anywhere, echo::Options::default())?;
        let slow = echo::start(anywhere, echo::Options { delay: Duration::from_secs(5), ..echo::Options::default() })?;
        let defect = faulty::named("half-answer").context("the half answer is one of the faulty backends")?;
        let half = faulty::Backend::start([(defect.script)()])?;
        let nobody = port::free()?;
        let quotes = stockquote::start(anywhere, &stockquote::Options { seed: Some(SEED), threads: 1 })?;
        let folder = tempfile::tempdir()?;
        for (name, text) in FILES {
            fs::write(folder.path().join(name), text)?;
        }
        security::make_stores(folder.path())?;
        let known = [(9000, echo.address), (9001, slow.address), (9002, half.address()), (9003, quotes.address)];
        let place = |text: &str, more: &[(u16, SocketAddr)]| {
            known.iter().chain(more).fold(text.to_owned(), |text, (port, address)| {
                text.replace(&format!("127.0.0.1:{port}"), &address.to_string())
            })
        };
        let path = |name: &str| folder.path().join(name).with_extension("xml");
        fs::write(path(SERVICE), place(example(SERVICE), &[]))?;
        let (service, service_address) = start_bus(&[path(SERVICE)], anywhere)?;
        for (name, text) in EXAMPLES {
            fs::write(path(name), place(text, &[(9009, nobody), (8281, service_address)]))?;
        }
        let files: Vec<PathBuf> = EXAMPLES.iter().map(|(name, _)| path(name)).collect();
        let (bus, address) = start_bus(&files, anywhere)?;
        Ok(Stage { echo, slow, half, quotes, service, bus, address, folder })
    }

    fn load(&self, scenario: &Scenario) -> anyhow::Result<Outcome> {
        let mut plan = Plan::new(&format!("http://{}/services/{}", self.address, scenario.proxy))?;
        plan.method = "POST".into();
        plan.media_type = Some(payload::SOAP_TYPE.into());
        (plan.body, plan.verify) = match scenario.message {
            Message::Order(bytes) => (payload::soap(bytes)?, Verify::Echo),
            Message::CheckPrice => {
                let wanted = "<x:CheckPriceResponse ".to_owned();
                (Payload::from(CHECK_PRICE.as_bytes().to_vec()), Verify::Contains(wanted))
            }
            Message::Secured(bytes) => (payload::soap(bytes)?, Verify::Xml),
            Message::Content(bytes) => {
                let body = payload::soap(bytes)?;
                let content = content(&String::from_utf8(body.to_vec())?).to_owned();
                (body, Verify::Contains(content))
            }
            Message::Suite(service, bytes) => {
                plan.media_type = Some(service.media_type().into());
                let answer = Payload::from(service.answer(bytes)?);
                let verify = if service.answers_json() { Verify::Body(answer) } else { Verify::Alike(answer) };
                (service.request(bytes)?, verify)
            }
        };
        if let Message::Secured(_) = scenario.message {
            plan.security = Some(load::Client::new(self.client()?));
        }
        plan.headers = scenario.header.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        plan.connections = CONNECTIONS;
        plan.requests = None;
        plan.duration = Some(SPAN);
        plan.run()
    }

    /// The keys of a client of the gateway.
    fn client(&self) -> anyhow::Result<Guard> {
        let policy = self.folder.path().join(CLIENT_POLICY);
        Ok(KeyArguments::default().guard(&policy, Side::Initiator, Uses::Both)?.0)
    }

    fn strike(self) -> anyhow::Result<()> {
        self.bus.stop()?;
        self.service.stop()?;
        self.echo.stop();
        self.slow.stop();
        self.quotes.stop();
        drop(self.half);
        Ok(())
    }
}

/// The text of an example.
fn example(name: &str) -> &'static str {
    EXAMPLES.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text)
}

/// What stands in the body of an envelope, as it is written there.
fn content(envelope: &str) -> &str {
    let start = envelope.split_once("<soapenv:Body>").map_or("", |(_, rest)| rest);
    start.rsplit_once("</soapenv:Body>").map_or(start, |(content, _)| content).trim()
}

fn start_bus(files: &[PathBuf], address: SocketAddr) -> anyhow::Result<(Running, SocketAddr)> {
    let environment = ProcessEnvironment::read();
    let mut settings = myelin_engine::Settings { environment, ..Default::default() };
    // What was not sent in this run is no message of this run.
    settings.security.replays = Arc::new(Replays::in_memory(REPLAY_ENTRIES, SystemTime::now()));
    settings.databases.databases = Deployment::default().databases();
    let loaded = myelin_engine::load(files, &settings);
    ensure!(loaded.report.faulty() == 0, "the examples do not load:\n{}", loaded.report.to_text());
    let bus = start(Arc::new(loaded.bus), Settings { listen: vec![Listen::Http(address)], ..Settings::default() })?;
    let address = bus.urls[0].trim_start_matches("http://").parse()?;
    Ok((bus, address))
}

/// CPU time of the serving threads alone: load and backends run in this process too.
fn bus_cpu() -> anyhow::Result<Duration> {
    let mut total = Duration::ZERO;
    for task in fs::read_dir("/proc/self/task")? {
        let task = task?.path();
        // A thread may end while we look.
        let (Ok(name), Ok(schedule)) =
            (fs::read_to_string(task.join("comm")), fs::read_to_string(task.join("schedstat")))
        else {
            continue;
        };
        if name.starts_with("bus-") {
            let nanos = schedule.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0);
            total += Duration::from_nanos(nanos);
        }
    }
    Ok(total)
}
