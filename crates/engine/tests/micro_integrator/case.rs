//! A case as it is written: lines of a word and what belongs to it.

use std::collections::BTreeMap;
use std::path::Path;

/// What one configuration must do.
#[derive(Debug)]
pub(crate) struct Case {
    /// The name of the configuration's file.
    pub(crate) file: String,
    /// What it promises, as a sentence.
    pub(crate) promise: String,
    /// Where the case stands: file and line.
    pub(crate) place: (String, usize),
    /// What must be there besides the configuration.
    pub(crate) beside: Vec<Beside>,
    /// What its backends answer, one after the other; the last one counts for all that follow.
    pub(crate) answers: Vec<Answer>,
    pub(crate) steps: Vec<Step>,
}

/// What a configuration finds beside it.
#[derive(Debug)]
pub(crate) enum Beside {
    /// Another configuration of the same folder.
    File(String),
    /// An artefact, written out.
    Artefact(String),
    /// A resource of the registry: its key, and what it holds.
    Resource(String, String),
}

/// What a backend does.
#[derive(Debug)]
pub(crate) struct Answer {
    /// `None` where nobody listens.
    pub(crate) status: Option<u16>,
    pub(crate) message: Message,
}

/// Header lines and a body.
#[derive(Debug, Default)]
pub(crate) struct Message {
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

/// What happens, in this order.
#[derive(Debug)]
pub(crate) enum Step {
    /// A client sends this to a method and a target.
    Send(String, Message),
    /// A backend got this method and address.
    Sent(String, Vec<Check>),
    /// The client gets this status.
    Gets(String, Vec<Check>),
}

/// What must hold of a message, and in which line that stands.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) line: usize,
    pub(crate) must: Must,
}

/// What must hold of a message; white space between tags and in JSON does not count.
#[derive(Debug)]
pub(crate) enum Must {
    /// The whole body.
    Is(String),
    Has(String),
    Lack(String),
    /// A header line.
    Head(String, String),
    /// That there is no header line of this name.
    NoHead(String),
}

const SOAP11: (&str, &str) = ("text/xml", "http://schemas.xmlsoap.org/soap/envelope/");
const SOAP12: (&str, &str) = ("application/soap+xml", "http://www.w3.org/2003/05/soap-envelope");

impl Case {
    /// The cases of a file. What is wrong in it ends the test: it is ours.
    pub(crate) fn all_of(path: &Path) -> Vec<Case> {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).unwrap();
        let (mut cases, mut names) = (Vec::<Case>::new(), BTreeMap::<String, String>::new());
        for (line, written) in (1..).zip(text.lines()) {
            let written = written.trim();
            if written.is_empty() || written.starts_with('#') {
                continue;
            }
            let (word, rest) = written.split_once(' ').unwrap_or((written, ""));
            let mut rest = rest.trim().to_owned();
            // Longer names first: one may begin like another.
            for (name, value) in names.iter().rev() {
                rest = rest.replace(&format!("@{name}"), value);
            }
            if word == "let" {
                let (name, value) = rest.split_once(" = ").unwrap_or_else(|| panic!("{name}:{line}: let NAME = TEXT"));
                names.insert(name.to_owned(), value.to_owned());
                continue;
            }
            if word == "case" {
                let (file, promise) = rest.split_once(".xml ").unwrap_or_else(|| panic!("{name}:{line}: no promise"));
                cases.push(Case {
                    file: format!("{file}.xml"),
                    promise: promise.trim().to_owned(),
                    place: (name.clone(), line),
                    beside: Vec::new(),
                    answers: Vec::new(),
                    steps: Vec::new(),
                });
                continue;
            }
            let understood = cases.last_mut().and_then(|case| case.add(line, word, &rest));
            assert!(understood.is_some(), "{name}:{line}: {written:?} is not understood");
        }
        cases
    }

    /// Adds what a line says; `None` where that means nothing here.
    fn add(&mut self, line: usize, word: &str, rest: &str) -> Option<()> {
        let must = match word {
            "is" => Some(Must::Is(rest.to_owned())),
            "has" => Some(Must::Has(rest.to_owned())),
            "lacks" => Some(Must::Lack(rest.to_owned())),
            "header" => rest.split_once(": ").map(|(name, value)| Must::Head(name.to_owned(), value.to_owned())),
            "without" => Some(Must::NoHead(rest.to_owned())),
            _ => None,
        };
        if let Some(must) = must {
            let (Step::Sent(_, checks) | Step::Gets(_, checks)) = self.steps.last_mut()? else { return None };
            checks.push(Check { line, must });
            return Some(());
        }
        match word {
            "beside" => self.beside.push(Beside::File(rest.to_owned())),
            "artefact" => self.beside.push(Beside::Artefact(rest.to_owned())),
            "resource" => {
                let (key, content) = rest.split_once(' ')?;
                self.beside.push(Beside::Resource(key.to_owned(), content.to_owned()));
            }
            "answer" => {
                let status = if rest == "refused" { None } else { Some(rest.parse().ok()?) };
                self.answers.push(Answer { status, message: Message::default() });
                self.steps.is_empty().then_some(())?;
            }
            "send" => self.steps.push(Step::Send(rest.to_owned(), Message::default())),
            "sent" => self.steps.push(Step::Sent(rest.to_owned(), Vec::new())),
            "gets" => self.steps.push(Step::Gets(rest.to_owned(), Vec::new())),
            _ => self.message()?.add(word, rest)?,
        }
        Some(())
    }

    /// The message that is being written: answers stand before what is sent.
    fn message(&mut self) -> Option<&mut Message> {
        match self.steps.last_mut() {
            Some(Step::Send(_, message)) => Some(message),
            Some(_) => None,
            None => self.answers.last_mut().map(|answer| &mut answer.message),
        }
    }
}

impl Message {
    fn add(&mut self, word: &str, rest: &str) -> Option<()> {
        match word {
            "with" => {
                let (name, value) = rest.split_once(": ")?;
                self.headers.push((name.to_owned(), value.to_owned()));
            }
            "xml" => self.carry("application/xml", rest.to_owned()),
            "json" => self.carry("application/json", rest.to_owned()),
            "text" => self.carry("text/plain", rest.to_owned()),
            "body" => rest.clone_into(&mut self.body),
            "soap11" => self.envelope(SOAP11, "", rest),
            "soap12" => self.envelope(SOAP12, "", rest),
            // As clients that speak WS-Addressing do: the address stands in the envelope.
            "addressed" => {
                let (to, body) = rest.split_once(' ')?;
                let block = format!("<a:To xmlns:a=\"http://www.w3.org/2005/08/addressing\">{to}</a:To>");
                self.envelope(SOAP11, &block, body);
            }
            _ => return None,
        }
        Some(())
    }

    fn envelope(&mut self, (content_type, namespace): (&str, &str), block: &str, body: &str) {
        if content_type == SOAP11.0 {
            self.headers.push(("SOAPAction".to_owned(), "\"urn:getQuote\"".to_owned()));
        }
        let header = if block.is_empty() { String::new() } else { format!("<s:Header>{block}</s:Header>") };
        let envelope = format!("<s:Envelope xmlns:s=\"{namespace}\">{header}<s:Body>{body}</s:Body></s:Envelope>");
        self.carry(content_type, envelope);
    }

    /// A body, with its type if no line has said another.
    fn carry(&mut self, content_type: &str, body: String) {
        self.body = body;
        if !self.headers.iter().any(|(name, _)| name == "Content-Type") {
            self.headers.push(("Content-Type".to_owned(), content_type.to_owned()));
        }
    }
}
