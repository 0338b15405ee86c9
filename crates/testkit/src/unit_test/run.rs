//! One file of unit tests: its artefacts are loaded, each test is sent through the engine, and its assertions are asked.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::SystemTime;

use myelin_engine::transport::Transport;
use myelin_engine::{Arrival, Engine, ProcessEnvironment, SequenceTest, Settings, load};
use myelin_message::{Body, CorrelationId, Head, Message};

use super::descriptor::{self, Assertion, Connector, Node, Registered, Source, parse};
use super::mock::{Mocks, Stood, content_type};
use super::same::comparable;
use super::{Case, FailedAssertion, Failure, Suite};
use crate::scripted::ScriptedTransport;

/// What is tested.
enum Subject {
    Sequence(String),
    Proxy(String),
    Api(String),
}

/// Runs the tests of a file.
pub(super) fn suite(file: &Path) -> Suite {
    tested(file.to_owned(), descriptor::read(file))
}

/// Runs the tests of a message that holds their files.
pub(super) fn message_suite(name: &str, text: &[u8]) -> Suite {
    tested(PathBuf::from(name), descriptor::read_message(text))
}

fn tested(file: PathBuf, suite: Result<descriptor::Suite, String>) -> Suite {
    let (error, cases) = match suite.and_then(Stage::new) {
        Ok((stage, cases)) => (None, cases.iter().map(|case| stage.run(case)).collect()),
        Err(error) => (Some(error), Vec::new()),
    };
    Suite { file, error, cases }
}

/// A loaded configuration with its pretended services.
struct Stage {
    engine: Engine,
    transport: Rc<ScriptedTransport<Mocks>>,
    subject: Subject,
}

impl Stage {
    fn new(suite: descriptor::Suite) -> Result<(Stage, Vec<descriptor::Case>), String> {
        let descriptor::Suite { subject, supporting, resources, connectors, cases, services } = suite;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut paths = Vec::new();
        for (index, source) in std::iter::once(&subject).chain(&supporting).enumerate() {
            paths.push(placed(source, &folder.path().join(format!("artefact-{index}.xml")))?);
        }
        let mut settings = Settings { environment: ProcessEnvironment::read(), ..Settings::default() };
        if !resources.is_empty() {
            settings.home = Some(folder.path().to_owned());
            resources.iter().try_for_each(|resource| register(resource, folder.path()))?;
        }
        let mut configuration = paths.clone();
        if !connectors.is_empty() {
            configuration.push(server_with(&connectors, folder.path())?);
        }
        let loaded = load(&configuration, &settings);
        if loaded.report.faulty() > 0 {
            return Err(loaded.report.to_text());
        }
        let stood = paths.iter().flat_map(|path| stood(path, &services)).collect();
        let mocks = Mocks { services, stood, strays: RefCell::default() };
        let transport = Rc::new(ScriptedTransport::new(mocks, SystemTime::now()));
        let engine = Engine::new(Arc::new(loaded.bus), Rc::clone(&transport) as Rc<dyn Transport>);
        Ok((Stage { engine, transport, subject: subject_of(&paths[0])? }, cases))
    }

    fn run(&self, case: &descriptor::Case) -> Case {
        let failures = match &self.subject {
            Subject::Sequence(name) => self.sequence(name, case),
            Subject::Proxy(name) => self.service(&format!("/services/{name}"), "POST", case),
            Subject::Api(context) => {
                let rest = case.path.as_deref().unwrap_or_default();
                let slash = if rest.is_empty() || rest.starts_with(['/', '?']) { "" } else { "/" };
                let target = format!("{}{slash}{rest}", context.trim_end_matches('/'));
                self.service(&target, case.method.as_deref().unwrap_or("GET"), case)
            }
        };
        let is_mediated = failures.is_ok();
        let mut failures = failures.unwrap_or_else(|error| vec![error.into()]);
        let strays = self.transport.backend.strays.take();
        if !failures.is_empty() {
            // What nobody answered explains most of what does not hold.
            failures.extend(strays.into_iter().map(Failure::from));
        }
        Case { name: case.name.clone(), is_mediated, failures }
    }

    fn sequence(&self, name: &str, case: &descriptor::Case) -> Result<Vec<Failure>, String> {
        let asked: Vec<&str> = case.assertions.iter().map(|assertion| assertion.actual.as_str()).collect();
        let trial = SequenceTest { sequence: name, given: &case.given, asked: &asked };
        let message = message("POST", "/", case, &[])?;
        let tried = self.transport.clock.run(self.engine.test_sequence(&trial, message, arrival(case.https)));
        let tried = tried.ok_or("the sequence waits for what never comes")??;
        let answers = case.assertions.iter().zip(tried.answers);
        let mut failures: Vec<Failure> = answers.filter_map(|(assertion, got)| assertion.failure(got)).collect();
        if let Some(fault) = tried.fault.filter(|_| !failures.is_empty()) {
            failures.push(format!("the sequence ended with a fault: {fault}").into());
        }
        Ok(failures)
    }

    fn service(&self, target: &str, method: &str, case: &descriptor::Case) -> Result<Vec<Failure>, String> {
        let headers: Vec<_> = case.given.iter().filter(|given| given.scope == "transport").collect();
        let headers: Vec<_> = headers.iter().map(|given| (given.name.as_str(), given.value.as_str())).collect();
        let message = message(&method.to_ascii_uppercase(), target, case, &headers)?;
        let served = self.transport.clock.run(async {
            let mut answer = self.engine.serve(message, arrival(case.https)).await;
            let body = answer.body.bytes(u64::MAX).await.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            (answer, body)
        });
        let (answer, body) = served.ok_or("there is no answer, however long one waits")?;
        let body = body.map_err(|error| format!("the answer's body cannot be read: {error}"))?;
        let mut failures = Vec::new();
        let asks_for_status = case.assertions.iter().any(|assertion| assertion.actual.trim() == STATUS);
        if !answer.status.is_success() && !asks_for_status {
            let assertion = FailedAssertion {
                expression: STATUS.to_owned(),
                expected: Some("a status from 200 to 299".to_owned()),
                actual: Some(answer.status.as_str().to_owned()),
                message: String::new(),
            };
            failures
                .push(Failure { text: format!("the answer is {}: {body}", answer.status), assertion: Some(assertion) });
        }
        for assertion in &case.assertions {
            let got = match assertion.actual.trim() {
                "$body" => Some(body.clone()).filter(|body| !body.is_empty()),
                STATUS => Some(answer.status.as_str().to_owned()),
                other => match other.split_once(':') {
                    Some(("$trp", name)) => {
                        answer.head.first(name).map(|value| String::from_utf8_lossy(value).into_owned())
                    }
                    _ => {
                        return Err(format!("{other:?} cannot be asked of an answer: $body, $trp:… and {STATUS} can"));
                    }
                },
            };
            failures.extend(assertion.failure(got));
        }
        Ok(failures)
    }
}

const STATUS: &str = "$statusCode";

impl Assertion {
    /// What does not hold, if it does not.
    fn failure(&self, got: Option<String>) -> Option<Failure> {
        let said = if self.message.is_empty() { String::new() } else { format!("{}: ", self.message) };
        let text = match (&self.expected, &got) {
            (None, Some(got)) if !got.trim().is_empty() => return None,
            (None, _) => format!("{said}{} is not there", self.actual),
            (Some(expected), Some(got)) if comparable(expected) == comparable(got) => return None,
            (Some(expected), got) => {
                let got = got.as_deref().unwrap_or("nothing");
                format!("{said}{} is not as expected\n- {expected}\n+ {got}", self.actual)
            }
        };
        let assertion = FailedAssertion {
            expression: self.actual.clone(),
            expected: self.expected.clone(),
            actual: got,
            message: self.message.clone(),
        };
        Some(Failure { text, assertion: Some(assertion) })
    }
}

/// An artefact as a file.
fn placed(source: &Source, place: &Path) -> Result<PathBuf, String> {
    match source {
        Source::File(path) => Ok(path.clone()),
        Source::Text(text) => {
            std::fs::write(place, text).map_err(|error| error.to_string())?;
            Ok(place.to_owned())
        }
    }
}

/// Puts a file into a registry below a folder.
fn register(resource: &Registered, folder: &Path) -> Result<(), String> {
    let hives = [
        ("_system/governance", "governance"),
        ("_system/config", "config"),
        ("gov:", "governance"),
        ("conf:", "config"),
        ("resources:", "governance/mi-resources"),
    ];
    let path = resource.path.trim_start_matches('/');
    let found = hives.iter().find_map(|(start, hive)| Some((hive, path.strip_prefix(start)?)));
    let (hive, rest) = found.ok_or_else(|| format!("{:?} is no path of a registry", resource.path))?;
    if rest.split('/').any(|part| part == "..") {
        return Err(format!("{:?} leads out of the registry", resource.path));
    }
    let place = folder.join("registry").join(hive).join(rest.trim_matches('/'));
    let written = std::fs::create_dir_all(&place).and_then(|()| match &resource.content {
        Source::File(path) => std::fs::copy(path, place.join(&resource.name)).map(drop),
        Source::Text(text) => std::fs::write(place.join(&resource.name), text),
    });
    written.map_err(|error| format!("{}: {error}", resource.name))
}

/// A folder that has these archives of connectors where a server has them.
fn server_with(connectors: &[Connector], folder: &Path) -> Result<PathBuf, String> {
    let server = folder.join("server");
    let libraries = server.join("synapse-libs");
    let copied = std::fs::create_dir_all(&libraries).and_then(|()| {
        // Two of one name would be one connector twice, which loading tells of.
        let place = |index: usize| libraries.join(format!("{index}.zip"));
        connectors.iter().enumerate().try_for_each(|(index, archive)| match archive {
            Connector::File(path) => std::fs::copy(path, place(index)).map(drop),
            Connector::Bytes(bytes) => std::fs::write(place(index), bytes),
        })
    });
    copied.map_err(|error| format!("<connector-resources>: {error}"))?;
    Ok(server)
}

/// What a file defines, as a test calls it.
fn subject_of(path: &Path) -> Result<Subject, String> {
    let document = parse(path)?;
    let root = Node::root(&document).ok_or_else(|| format!("{}: there is no element", path.display()))?;
    let attribute =
        |name: &str| root.attribute(name).ok_or_else(|| format!("{}: <{}> has no {name}", path.display(), root.name()));
    match root.name() {
        "sequence" => attribute("name").map(Subject::Sequence),
        "proxy" => attribute("name").map(Subject::Proxy),
        "api" => {
            let context = attribute("context")?;
            let version = root.attribute("version").unwrap_or_default();
            Ok(Subject::Api(match root.attribute("version-type").as_deref() {
                Some("url") => format!("{}/{version}", context.trim_end_matches('/')),
                Some("context") => context.replace("{version}", &version),
                _ => context,
            }))
        }
        other => Err(format!("a unit test is about a sequence, a proxy or an api, not <{other}>")),
    }
}

/// The endpoints of a file that services stand in for.
fn stood(path: &Path, services: &[super::mock::Service]) -> Vec<Stood> {
    let Ok(document) = parse(path) else { return Vec::new() };
    let Some(root) = Node::root(&document) else { return Vec::new() };
    let mut found = Vec::new();
    for endpoint in std::iter::once(root).chain(root.descendants()).filter(|node| node.name() == "endpoint") {
        let name = endpoint.attribute("name");
        let Some(service) = services.iter().position(|service| Some(&service.name) == name.as_ref()) else { continue };
        let address = endpoint.elements().find_map(|kind| kind.attribute("uri").or(kind.attribute("uri-template")));
        let Some(address) = address else { continue };
        // What is worked out cannot be known here.
        let fixed = address.split(['{', '$']).next().unwrap_or_default();
        found.push(Stood { address: fixed.trim_end_matches('/').to_owned(), service });
    }
    found
}

/// What a test sends.
fn message(method: &str, target: &str, case: &descriptor::Case, headers: &[(&str, &str)]) -> Result<Message, String> {
    let mut head = Head::request(method, target);
    let mut set = |name: &str, value: &str| {
        head.set(name, value.as_bytes()).map_err(|error| format!("the header {name:?}: {error}"))
    };
    set("Host", "localhost")?;
    let payload = case.payload.clone().unwrap_or_default();
    if !payload.is_empty() {
        set("Content-Type", content_type(&payload))?;
    }
    headers.iter().try_for_each(|(name, value)| set(name, value))?;
    let body = if payload.is_empty() { Body::Empty } else { Body::Bytes(payload.into_bytes()) };
    Ok(Message::new(head, body))
}

fn arrival(secure: bool) -> Arrival<'static> {
    static CORRELATION: CorrelationId = CorrelationId::fixed("unit-test");
    Arrival {
        transport: if secure { "https" } else { "http" },
        peer: Some(SocketAddr::from(([127, 0, 0, 1], 50000))),
        local: Some(SocketAddr::from(([127, 0, 0, 1], if secure { 8243 } else { 8280 }))),
        inbound: None,
        correlation: &CORRELATION,
    }
}
