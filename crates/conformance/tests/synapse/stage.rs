//! Where a sample is played: its folder, its backends on free ports, and the bus that is asked.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use myelin_bench::stockquote;
use myelin_engine::database::{DataSource, DatabaseSettings};
use myelin_sql::{Limits, Sql};
use myelin_testkit::service::{Request as Received, Response, Service};
use myelin_testkit::{port, raw, synapse};

use crate::client::Request;
use crate::observation::{Scene, Seen};
use crate::replying::answered;

/// Which bus plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Player {
    Myelin,
    Synapse,
}

/// How long a client waits; Synapse lets some of them hang.
const PATIENCE: Duration = Duration::from_secs(8);
/// How long what runs on behind an answer may take to reach its backend.
const BEHIND: Duration = Duration::from_millis(2500);
/// The ports of backends in samples, nobody at the last one.
const PORTS: std::ops::RangeInclusive<u16> = 9000..=9009;
const NOBODY: u16 = 9009;
/// What makes quotes the same for everyone.
const SEED: u64 = 6;

/// A bus with the backends of one sample.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
    bus: Option<Bus>,
    ports: BTreeMap<u16, SocketAddr>,
    services: BTreeMap<u16, Service>,
    /// Behind all of them.
    quotes: myelin_bench::Handle,
    /// Seen so far of the backends' requests.
    counts: BTreeMap<u16, usize>,
    scenes: Vec<Scene>,
    complaints: Vec<String>,
}

enum Bus {
    Myelin(myelin_server::Running),
    Synapse(synapse::Synapse),
}

impl Bus {
    fn address(&self) -> SocketAddr {
        match self {
            Bus::Myelin(running) => {
                let url = running.urls[0].split_once("://").expect("it names URLs").1;
                url.parse().expect("it listens at an address")
            }
            Bus::Synapse(synapse) => synapse.address(),
        }
    }
}

impl Stage {
    /// Builds the folder that Synapse's home is for a sample, backends included; the bus is not started yet.
    ///
    /// Shape: `resources` are the samples' resources.
    pub(crate) fn new(configuration: &str, resources: &Path) -> Stage {
        let folder = tempfile::tempdir().expect("a folder for the sample");
        let options = stockquote::Options { seed: Some(SEED), ..Default::default() };
        let quotes = stockquote::start(([127, 0, 0, 1], 0).into(), &options).expect("the stock quote service");
        let address = quotes.address;
        let mut stage = Stage {
            folder,
            quotes,
            bus: None,
            ports: BTreeMap::new(),
            services: BTreeMap::new(),
            counts: BTreeMap::new(),
            scenes: Vec::new(),
            complaints: Vec::new(),
        };
        for number in PORTS {
            // Stopped backends refuse, too, so that their ports may be nobody else's.
            let own = port::free().expect("a free port");
            stage.ports.insert(number, own);
            if number != NOBODY {
                let service = Service::listen(own, move |request| serve(number, address, request));
                stage.services.insert(number, service.expect("a backend on loopback"));
            }
        }
        let home = stage.folder.path().to_owned();
        let configuration = stage.with_ports(configuration).replace("HOME", &home.display().to_string());
        fs::write(home.join("synapse.xml"), configuration).expect("a file in the folder");
        // One sample has them in a folder of WSO2's.
        for folder in ["repository/conf/sample/resources", "repository/samples/resources"] {
            stage.copy(resources, &home.join(folder));
        }
        stage
    }

    /// Starts a bus on it; what is wrong where it does not load wholly. `None`: it cannot run on this machine.
    pub(crate) fn start(&mut self, player: Player) -> Option<Result<(), String>> {
        match player {
            Player::Synapse => {
                self.bus = Some(Bus::Synapse(synapse::Synapse::start(self.folder.path())?));
                Some(Ok(()))
            }
            Player::Myelin => {
                let home = self.folder.path().to_owned();
                let databases = databases(&home);
                let content = myelin_engine::Settings { home: Some(home.clone()), databases, ..Default::default() };
                let loaded = myelin_engine::load(&[home.join("synapse.xml")], &content);
                let problems = (loaded.report.faulty() > 0).then(|| loaded.report.to_text());
                let settings = myelin_server::Settings {
                    listen: vec![myelin_server::Listen::Http(([127, 0, 0, 1], 0).into())],
                    threads: 1,
                    ..Default::default()
                };
                match myelin_server::start(Arc::new(loaded.bus), settings) {
                    Ok(running) => self.bus = Some(Bus::Myelin(running)),
                    Err(error) => return Some(Err(error.to_string())),
                }
                Some(problems.map_or(Ok(()), Err))
            }
        }
    }

    /// Sends a request, and keeps what its client and the backends saw.
    pub(crate) fn ask(&mut self, name: &str, request: &Request) -> Scene {
        self.ask_for(name, request, 0)
    }

    /// As [`Stage::ask`] where so many requests reach backends, some of them after the client has its answer.
    pub(crate) fn ask_for(&mut self, name: &str, request: &Request, requests: usize) -> Scene {
        let bus = self.bus.as_ref().expect("the bus was started").address();
        let request = Request {
            body: self.with_ports(&request.body),
            target: self.with_ports(&request.target),
            ..request.clone()
        };
        let answer = raw::Client::connect(bus).map_err(|error| raw::Error::Io(error, Vec::new()));
        let answer = answer.and_then(|mut client| {
            client.deadline(PATIENCE);
            client.exchange(&request.bytes(&bus.to_string()))
        });
        let until = Instant::now() + BEHIND;
        let mut received = self.received();
        while received.values().map(Vec::len).sum::<usize>() < requests && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
            received = self.received();
        }
        for (port, all) in &received {
            *self.counts.entry(*port).or_default() += all.len();
        }
        let mut answer = Seen::answer(&answer);
        self.without_ports(&mut answer);
        let scene = Scene { name: name.to_owned(), answer, received };
        let mut kept = scene.clone();
        if requests > 1 {
            // What goes on at the same time ends in any order.
            kept.answer.forget_order();
            kept.received.values_mut().for_each(|all| all.sort());
        }
        self.scenes.push(kept);
        scene
    }

    /// What backends received that no scene has.
    fn received(&self) -> BTreeMap<u16, Vec<Seen>> {
        let mut all = BTreeMap::new();
        for (port, service) in &self.services {
            let new = self.counts.get(port).copied().unwrap_or_default();
            let seen: Vec<_> = service
                .requests()
                .iter()
                .skip(new)
                .map(|request| {
                    let mut seen = Seen::request(request);
                    self.without_ports(&mut seen);
                    seen
                })
                .collect();
            if !seen.is_empty() {
                all.insert(*port, seen);
            }
        }
        all
    }

    /// Stops a backend: its port refuses from now on.
    pub(crate) fn stop(&mut self, port: u16) {
        self.services.remove(&port);
        self.counts.remove(&port);
    }

    /// Says what should hold of what was seen.
    pub(crate) fn expect(&mut self, holds: bool, sentence: &str) {
        if !holds {
            let last = self.scenes.last().map(crate::observation::transcript).unwrap_or_default();
            self.complaints.push(format!("{sentence}; seen: {last}"));
        }
    }

    /// The client has a quote for the symbol.
    pub(crate) fn expect_quote(&mut self, scene: &Scene, symbol: &str) {
        let body = scene.answer.part("body");
        let quoted = body.contains(&format!("symbol>{symbol}</")) && body.contains("getQuoteResponse");
        self.expect(scene.answer.part("status") == "200" && quoted, &format!("the client gets a quote for {symbol}"));
    }

    /// The client asks in its own words, and the service in its own: each gets what it understands.
    pub(crate) fn expect_custom_quote(&mut self, scene: &Scene) {
        let body = scene.answer.part("body");
        let priced = body.contains("CheckPriceResponse") && body.contains("Code>IBM<");
        self.expect(scene.answer.part("status") == "200" && priced, "the client gets its own kind of answer");
        let got = scene.received.get(&9000).and_then(|all| all.first()).map_or("", |seen| seen.part("body"));
        self.expect(
            got.contains("getQuote") && got.contains("symbol>IBM<"),
            "the service gets its own kind of request",
        );
    }

    /// The backend at a port got so many requests.
    pub(crate) fn expect_received(&mut self, scene: &Scene, port: u16, count: usize) {
        let got = scene.received.get(&port).map_or(0, Vec::len);
        self.expect(got == count, &format!("{count} requests reach {port}, not {got}"));
    }

    /// What happened, and what of it should not have.
    pub(crate) fn end(mut self) -> (Vec<Scene>, Vec<String>) {
        if let Some(Bus::Myelin(running)) = self.bus.take()
            && let Err(error) = running.stop()
        {
            self.complaints.push(format!("the bus does not stop well: {error}"));
        }
        self.quotes.stop();
        (self.scenes, self.complaints)
    }

    /// The text with real ports in the place of the samples'.
    fn with_ports(&self, text: &str) -> String {
        self.ports.iter().fold(text.to_owned(), |text, (port, address)| {
            let real = address.port();
            text.replace(&format!(":{port}"), &format!(":{real}"))
                .replace(&format!("httpPort=\"{port}\""), &format!("httpPort=\"{real}\""))
        })
    }

    /// The reverse, so that what was seen does not depend on free ports; nor on where the bus listens.
    fn without_ports(&self, seen: &mut Seen) {
        let bus = self.bus.as_ref().map(|bus| bus.address().port());
        for value in seen.0.values_mut() {
            for (port, address) in
                self.ports.iter().map(|(port, address)| (*port, address.port())).chain(bus.map(|bus| (8280, bus)))
            {
                *value = value.replace(&format!(":{address}"), &format!(":{port}"));
            }
        }
    }

    /// Copies a folder, with real ports where it is text.
    fn copy(&self, from: &Path, to: &Path) {
        fs::create_dir_all(to).expect("a folder");
        for entry in fs::read_dir(from).expect("the samples' resources") {
            let path = entry.expect("a resource").path();
            let target = to.join(path.file_name().expect("it has a name"));
            if path.is_dir() {
                self.copy(&path, &target);
                continue;
            }
            let bytes = fs::read(&path).expect("a resource");
            let bytes = match String::from_utf8(bytes) {
                Ok(text) => self.with_ports(&text).into_bytes(),
                Err(error) => error.into_bytes(),
            };
            fs::write(target, bytes).expect("a file in the folder");
        }
    }
}

/// The pools that have names: one database, in a file of the sample's folder.
fn databases(home: &Path) -> DatabaseSettings {
    let url = format!("jdbc:sqlite:{}", home.join("company.db").display());
    let named = |name: &str| (name.to_owned(), DataSource { url: url.clone(), ..DataSource::default() });
    let sources = ["lookupdb", "reportdb"].map(named).into();
    DatabaseSettings { databases: Some(Arc::new(Sql::new(Limits::default()))), sources }
}

/// What all backends of the samples are: the stock quote service, and one that says which server it is.
fn serve(port: u16, quotes: SocketAddr, request: &Received) -> Response {
    if let Some(rest) = request.target.strip_prefix(stockquote::PATH) {
        // As in Axis2, a service's ports have addresses of their own: `.PORT` behind its name.
        let rest = if rest.starts_with('.') { "" } else { rest };
        return quote(quotes, request, &[stockquote::PATH, rest].concat());
    }
    let body = format!(
        r#"<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><ns:sampleOperationResponse xmlns:ns="http://services.samples"><ns:return>MyServer{}</ns:return></ns:sampleOperationResponse></soapenv:Body></soapenv:Envelope>"#,
        port - 9000
    );
    let headers = vec![("Content-Type".to_owned(), "text/xml; charset=UTF-8".to_owned())];
    Response { status: 200, headers, body: body.into_bytes() }
}

/// Lets the stock quote service answer.
fn quote(quotes: SocketAddr, request: &Received, target: &str) -> Response {
    let media_type = request.header("content-type").unwrap_or_default();
    let (method, length) = (&request.method, request.body.len());
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: {quotes}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n"
    );
    let answer = raw::exchange(quotes, &[head.as_bytes(), &request.body].concat()).expect("the service answers all");
    let headers = answer.header("content-type").map(|value| ("Content-Type".to_owned(), value.to_owned()));
    let answer = Response { status: answer.status, headers: headers.into_iter().collect(), body: answer.body };
    answered(&request.body, answer)
}
