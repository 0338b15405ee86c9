//! A unit test as WSO2's tools write it: `<unit-test>`, which names files, or `<synapse-unit-test>`, which holds them.
//!
//! Source: the files that the WSO2 Integration Studio and the Micro Integrator extension of VS Code write; the engine's
//! own reader of them.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use myelin_engine::TestInput;
use myelin_spelling::nearest;
use myelin_xml::{Document, Kind, NodeId, Options};

use super::mock::{Resource, Service};
use super::same::without_cdata;

/// Nobody's test is larger.
const FILE_LIMIT_BYTES: u64 = 16 << 20;

/// Where a project keeps archives of connectors.
const CONNECTORS: &str = "src/main/wso2mi/resources/connectors";

/// From a test up to the folder of its project.
const LEVELS: usize = 8;

/// The elements of a test, each with those that may stand in it. What is in others, such as a payload, is free.
const ELEMENTS: &[(&str, &[&str])] = &[
    ("unit-test", &["artifacts", "test-cases", "mock-services"]),
    ("synapse-unit-test", &["artifacts", "test-cases", "mock-services"]),
    ("artifacts", &["test-artifact", "supportive-artifacts", "registry-resources", "connector-resources"]),
    ("test-artifact", &["artifact"]),
    ("registry-resources", &["registry-resource"]),
    ("registry-resource", &["file-name", "artifact", "registry-path", "media-type"]),
    ("test-cases", &["test-case"]),
    ("test-case", &["input", "assertions"]),
    ("input", &["payload", "request-path", "request-method", "request-protocol", "properties"]),
    ("properties", &["property"]),
    ("assertions", &["assertEquals", "assertNotNull"]),
    ("assertEquals", &["actual", "expected", "message"]),
    ("assertNotNull", &["actual", "message"]),
    ("mock-services", &["mock-service"]),
    ("mock-service", &["service-name", "port", "context", "resources"]),
    ("resources", &["resource"]),
    ("resource", &["sub-context", "method", "request", "response"]),
    ("request", &["headers", "payload"]),
    ("response", &["headers", "status-code", "payload"]),
    ("headers", &["header"]),
];

/// One file of tests.
#[derive(Debug)]
pub(super) struct Suite {
    pub(super) subject: Source,
    pub(super) supporting: Vec<Source>,
    pub(super) resources: Vec<Registered>,
    pub(super) connectors: Vec<Connector>,
    pub(super) cases: Vec<Case>,
    pub(super) services: Vec<Service>,
}

/// An artefact: a file of the project, or text that stands in the test.
#[derive(Clone, Debug)]
pub(super) enum Source {
    File(PathBuf),
    Text(String),
}

/// The archive of a connector.
#[derive(Debug)]
pub(super) enum Connector {
    File(PathBuf),
    Bytes(Vec<u8>),
}

/// Where the files of a test are.
#[derive(Clone, Copy)]
enum Files<'a> {
    /// In the project that this test stands in.
    Project(&'a Path),
    /// In the test itself, which came from elsewhere.
    Inside,
}

/// A file of the registry.
#[derive(Debug)]
pub(super) struct Registered {
    /// As `/_system/governance/mi-resources`.
    pub(super) path: String,
    pub(super) name: String,
    pub(super) content: Source,
}

/// What goes in and what must come out.
#[derive(Debug, Default)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) payload: Option<String>,
    pub(super) path: Option<String>,
    pub(super) method: Option<String>,
    pub(super) https: bool,
    pub(super) given: Vec<TestInput>,
    pub(super) assertions: Vec<Assertion>,
}

/// What must hold afterwards.
#[derive(Debug)]
pub(super) struct Assertion {
    /// `$body`, `$ctx:name` …
    pub(super) actual: String,
    /// `None`: anything but nothing.
    pub(super) expected: Option<String>,
    /// What the test's author says when it does not hold.
    pub(super) message: String,
}

/// An element while a test is read.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    document: &'a Document,
    node: NodeId,
}

impl<'a> Node<'a> {
    pub(super) fn root(document: &'a Document) -> Option<Node<'a>> {
        let node = document.children(document.document_node()).find(|&node| document.kind(node) == Kind::Element)?;
        Some(Node { document, node })
    }

    pub(super) fn name(self) -> &'a str {
        self.document.qname(self.node).local
    }

    pub(super) fn elements(self) -> impl Iterator<Item = Node<'a>> {
        let document = self.document;
        let elements = document.children(self.node).filter(|&node| document.kind(node) == Kind::Element);
        elements.map(move |node| Node { document, node })
    }

    pub(super) fn descendants(self) -> impl Iterator<Item = Node<'a>> {
        let document = self.document;
        let elements = document.descendants(self.node).filter(|&node| document.kind(node) == Kind::Element);
        elements.map(move |node| Node { document, node })
    }

    pub(super) fn child(self, name: &str) -> Option<Node<'a>> {
        self.elements().find(|child| child.name() == name)
    }

    pub(super) fn attribute(self, name: &str) -> Option<String> {
        self.document.attribute(self.node, "", name).map(|value| value.trim().to_owned())
    }

    /// The text, without the space around it.
    pub(super) fn text(self) -> String {
        self.document.string_value(self.node).trim().to_owned()
    }

    fn text_of(self, name: &str) -> Option<String> {
        self.child(name).map(Node::text).filter(|text| !text.is_empty())
    }

    /// As it stands in the file.
    fn source(self) -> String {
        self.document.as_read(self.node).unwrap_or_default().to_owned()
    }

    fn required(self, name: &str) -> Result<String, String> {
        self.text_of(name).ok_or_else(|| format!("{}<{}> needs a <{name}> with text", self.line(), self.name()))
    }

    /// Where it stands, as a sentence begins.
    fn line(self) -> String {
        self.document.location(self.node).map(|(line, _)| format!("line {line}: ")).unwrap_or_default()
    }

    /// Complains of an element here or below that has almost the name of one that may stand there: what it holds would
    /// be left out without a word.
    fn refuse_misspellings(self) -> Result<(), String> {
        let Some((_, names)) = ELEMENTS.iter().find(|(name, _)| *name == self.name()) else { return Ok(()) };
        self.elements().try_for_each(|child| match nearest(child.name(), names.iter().copied()) {
            Some(meant) if meant == child.name() => child.refuse_misspellings(),
            Some(meant) => Err(format!(
                "{}<{}> is unknown in <{}>; did you mean <{meant}>?",
                child.line(),
                child.name(),
                self.name()
            )),
            None => Ok(()),
        })
    }
}

/// Whether a file is a unit test.
pub(super) fn is_one(path: &Path) -> bool {
    let is_small_xml = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xml"))
        && std::fs::metadata(path).is_ok_and(|data| data.len() <= FILE_LIMIT_BYTES);
    is_small_xml
        && parse(path)
            .is_ok_and(|document| Node::root(&document).is_some_and(|root| root.name().ends_with("unit-test")))
}

/// Reads an XML file.
///
/// Errors: a sentence that names it.
pub(super) fn parse(path: &Path) -> Result<Document, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Document::parse(bytes, &Options::default()).map_err(|error| format!("{}: {error}", path.display()))
}

/// Reads a unit test.
///
/// Errors: a sentence that names the file and what is missing.
pub(super) fn read(path: &Path) -> Result<Suite, String> {
    let document = parse(path)?;
    let place = |message: String| format!("{}: {message}", path.display());
    let root = Node::root(&document).ok_or_else(|| place("there is no element".to_owned()))?;
    suite(root, Files::Project(path)).map_err(place)
}

/// Reads a unit test that holds its files.
///
/// Errors: a sentence that says what is missing.
pub(super) fn read_message(text: &[u8]) -> Result<Suite, String> {
    let document = Document::parse(text.to_vec(), &Options::default()).map_err(|error| error.to_string())?;
    let root = Node::root(&document).filter(|root| root.name().ends_with("unit-test"));
    suite(root.ok_or("this is no unit test: <synapse-unit-test> and <unit-test> are")?, Files::Inside)
}

fn suite(root: Node<'_>, files: Files<'_>) -> Result<Suite, String> {
    root.refuse_misspellings()?;
    let artifacts = root.child("artifacts").ok_or("<artifacts> is missing")?;
    let subject = artifacts.child("test-artifact").and_then(|subject| subject.child("artifact"));
    let subject = source(subject.ok_or("<test-artifact> with an <artifact> is missing")?, files)?;
    let all = |name: &str| artifacts.child(name).into_iter().flat_map(Node::elements);
    let connectors =
        all("connector-resources").filter_map(|connector| self::connector(&connector.text(), files).transpose());
    let supporting = all("supportive-artifacts").map(|artifact| source(artifact, files)).collect::<Result<_, _>>()?;
    let resources = all("registry-resources").map(|resource| registered(resource, files)).collect::<Result<_, _>>()?;
    let cases = root.child("test-cases").into_iter().flat_map(Node::elements);
    let services = root.child("mock-services").into_iter().flat_map(Node::elements);
    Ok(Suite {
        subject,
        supporting,
        resources,
        connectors: connectors.collect::<Result<_, _>>()?,
        cases: cases.enumerate().map(|(index, node)| case(node, index)).collect::<Result<_, _>>()?,
        services: services.map(|node| mocked(node, files)).collect::<Result<_, _>>()?,
    })
}

fn source(artifact: Node<'_>, files: Files<'_>) -> Result<Source, String> {
    match artifact.elements().next() {
        Some(held) => Ok(Source::Text(held.source())),
        None => file(&artifact.text(), files).map(Source::File),
    }
}

/// A file of the project that a test belongs to: its path starts at a folder above the test.
fn file(name: &str, files: Files<'_>) -> Result<PathBuf, String> {
    let Files::Project(test) = files else {
        return Err(format!("the test names the file {name:?} and does not hold it"));
    };
    let inside = name.trim().trim_start_matches(['/', '\\']);
    let test = test.canonicalize().map_err(|error| format!("{}: {error}", test.display()))?;
    let above = test.ancestors().skip(1).take(LEVELS);
    let found = above.map(|folder| folder.join(inside)).find(|path| path.is_file());
    found.ok_or_else(|| format!("there is no file {name:?} in the project that this test stands in"))
}

/// The archive of a connector, by its path or, as the tools write what a project only depends on, by its name and version;
/// `None` for the connector that is built in. In a test that holds its files it is the archive in base64.
fn connector(text: &str, files: Files<'_>) -> Result<Option<Connector>, String> {
    if matches!(files, Files::Inside) {
        let packed: String = text.split_ascii_whitespace().collect();
        let bytes = BASE64.decode(packed).map_err(|error| format!("<connector-resources>: {error}"))?;
        return Ok(Some(Connector::Bytes(bytes)));
    }
    let archive = if text.ends_with(".zip") { text.to_owned() } else { format!("{CONNECTORS}/{text}.zip") };
    match file(&archive, files) {
        Ok(path) => Ok(Some(Connector::File(path))),
        Err(_) if text.starts_with("mi-connector-http-") => Ok(None),
        Err(error) => Err(error),
    }
}

fn registered(node: Node<'_>, files: Files<'_>) -> Result<Registered, String> {
    let artifact = node.child("artifact").ok_or("<registry-resource> needs an <artifact>")?;
    let content = match artifact.elements().next() {
        Some(held) => Source::Text(held.source()),
        None => match file(&artifact.text(), files) {
            Ok(path) => Source::File(path),
            Err(_) => Source::Text(artifact.text()),
        },
    };
    let name = node.required("file-name")?;
    if name.contains(['/', '\\']) {
        return Err(format!("{name:?} is no name of a file"));
    }
    Ok(Registered { path: node.required("registry-path")?, name, content })
}

fn case(node: Node<'_>, index: usize) -> Result<Case, String> {
    let name = node.attribute("name").unwrap_or_else(|| format!("test case {}", index + 1));
    let mut case = Case { name, ..Case::default() };
    if let Some(input) = node.child("input") {
        case.payload = input.text_of("payload").map(|payload| without_cdata(&payload).to_owned());
        case.path = input.text_of("request-path");
        case.method = input.text_of("request-method");
        case.https = input.text_of("request-protocol").is_some_and(|name| name.eq_ignore_ascii_case("https"));
        for property in input.child("properties").into_iter().flat_map(Node::elements) {
            let given = |name: &str| property.attribute(name);
            case.given.push(TestInput {
                scope: given("scope").unwrap_or_else(|| "default".to_owned()),
                name: given("name").ok_or_else(|| format!("{}: a property has no name", case.name))?,
                value: given("value").unwrap_or_default(),
            });
        }
    }
    for assertion in node.child("assertions").into_iter().flat_map(Node::elements) {
        let expected = match assertion.name() {
            "assertEquals" => Some(assertion.text_of("expected").unwrap_or_default()),
            "assertNotNull" => None,
            other => return Err(format!("{}: <{other}> is neither assertEquals nor assertNotNull", case.name)),
        };
        case.assertions.push(Assertion {
            actual: assertion.required("actual")?,
            expected,
            message: assertion.text_of("message").unwrap_or_default(),
        });
    }
    if case.assertions.is_empty() {
        return Err(format!("{}: there is no assertion, so that nothing could fail", case.name));
    }
    Ok(case)
}

fn mocked(node: Node<'_>, files: Files<'_>) -> Result<Service, String> {
    if node.elements().next().is_some() {
        return service(node);
    }
    let path = file(&node.text(), files)?;
    let document = parse(&path)?;
    let root = Node::root(&document).ok_or_else(|| format!("{}: there is no element", path.display()))?;
    root.refuse_misspellings().map_err(|message| format!("{}: {message}", path.display()))?;
    service(root).map_err(|message| format!("{}: {message}", path.display()))
}

fn service(node: Node<'_>) -> Result<Service, String> {
    let port = node.required("port")?;
    let resources = node.child("resources").into_iter().flat_map(Node::elements);
    Ok(Service {
        name: node.required("service-name")?,
        port: port.parse().map_err(|_| format!("{port:?} is no port"))?,
        context: node.text_of("context").unwrap_or_default(),
        resources: resources.map(resource).collect::<Result<_, _>>()?,
    })
}

fn resource(node: Node<'_>) -> Result<Resource, String> {
    let headers = |side: Option<Node<'_>>| {
        let headers = side.and_then(|side| side.child("headers")).into_iter().flat_map(Node::elements);
        headers.filter_map(|header| Some((header.attribute("name")?, header.attribute("value")?))).collect::<Vec<_>>()
    };
    let payload = |side: Option<Node<'_>>| {
        side.and_then(|side| side.text_of("payload")).map(|payload| without_cdata(&payload).to_owned())
    };
    let (request, response) = (node.child("request"), node.child("response"));
    let status = response.and_then(|response| response.text_of("status-code"));
    Ok(Resource {
        method: node.required("method")?.to_ascii_uppercase(),
        path: node.text_of("sub-context").unwrap_or_default(),
        expected_payload: payload(request),
        expected_headers: headers(request),
        status: match &status {
            Some(text) => text.parse().map_err(|_| format!("{text:?} is no status code"))?,
            None => 200,
        },
        payload: payload(response),
        headers: headers(response),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_element_is_refused_with_its_line_and_the_name_that_was_meant() {
        let sound = "<synapse-unit-test>\n<artifacts><test-artifact><artifact><sequence name='s'><lgo/></sequence>\
                     </artifact></test-artifact></artifacts>\n<test-cases><test-case name='one'>\n<input><payload><inptu/>\
                     </payload></input>\n<assertions><assertEquals><actual>$body</actual><expected>x</expected>\
                     </assertEquals></assertions></test-case></test-cases>\n<mock-services/></synapse-unit-test>";
        read_message(sound.as_bytes()).unwrap();
        for (right, wrong, expected) in [
            ("assertions>", "asertions>", "line 5: <asertions> is unknown in <test-case>; did you mean <assertions>?"),
            ("payload>", "paylod>", "line 4: <paylod> is unknown in <input>; did you mean <payload>?"),
            ("expected>", "expcted>", "line 5: <expcted> is unknown in <assertEquals>; did you mean <expected>?"),
            ("assertEquals>", "asertEquals>", "<asertEquals> is unknown in <assertions>; did you mean <assertEquals>?"),
            ("<mock-services/>", "<mock-servces/>", "line 6: <mock-servces> is unknown in <synapse-unit-test>"),
            ("test-artifact>", "test-artefact>", "line 2: <test-artefact> is unknown in <artifacts>"),
        ] {
            let error = read_message(sound.replace(right, wrong).as_bytes()).unwrap_err();
            assert!(error.contains(expected), "{expected:?} is not in {error:?}");
        }
    }
}
