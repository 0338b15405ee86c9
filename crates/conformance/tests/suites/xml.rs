//! The W3C XML conformance suite against the parser.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use myelin_conformance::{Suite, data};
use myelin_xml::{
    DoctypePolicy, Error, ErrorKind, Event, Name, NameId, Names, Options, Parser, Step, doctype, encoding,
};

const NOTE: &str = "Cases of `xml-w3c/xmlconf.xml`.
A case that is not well-formed passes when it is refused, at whatever place.
A valid or invalid case passes when it is read and its canonical form (James Clark's) is the one the suite has, if it has one.
A case with a document type passes when the parser refuses it for that; these cases are counted in rows of their own.
If it is not marked as not well-formed, it must also be read in the mode that skips document types, or be refused for a reference to one of its entities; its canonical form counts where the document type declares no attributes and no notations and has no external part.
Each document is also read byte by byte, with the same result.";

#[test]
fn xml() {
    let Some(folder) = data("xml-w3c") else { return };
    let mut suite = Suite::new("xml", "XML 1.0 and Namespaces in XML 1.0", NOTE);
    let main = fs::read_to_string(folder.join("xmlconf.xml")).expect("the suite has its main file");
    for declaration in main.split("<!ENTITY ").skip(1) {
        let set = declaration.split_whitespace().next().expect("an entity has a name");
        let file = declaration.split('"').nth(1).expect("an entity has a file");
        let file = folder.join(file);
        for case in cases(&fs::read_to_string(&file).expect("a listed file is there")) {
            let base = file.parent().expect("a file is in a folder");
            match out_of_scope(&case) {
                Some(reason) => suite.skip(set, reason),
                None => judge(&mut suite, set, base, &case),
            }
        }
    }
    suite.finish();
}

const DOCTYPE_NOTE: &str = "The cases of the same suite that have a document type, which is read with all that it names.
A case that is not well-formed passes when it is refused, at whatever place; one that is passes when its canonical form is the one the suite has, if it has one.
Documents are not validated: invalid ones are read.";

/// The documents with a document type, once more, with what it says applied.
#[test]
fn doctype() {
    let Some(folder) = data("xml-w3c") else { return };
    let mut suite = Suite::new("xml-doctype", "XML 1.0 with document types that are read", DOCTYPE_NOTE);
    let main = fs::read_to_string(folder.join("xmlconf.xml")).expect("the suite has its main file");
    for declaration in main.split("<!ENTITY ").skip(1) {
        let set = declaration.split_whitespace().next().expect("an entity has a name");
        let file = folder.join(declaration.split('"').nth(1).expect("an entity has a file"));
        let base = file.parent().expect("a file is in a folder");
        for case in cases(&fs::read_to_string(&file).expect("a listed file is there")) {
            let path = base.join(&case["URI"]);
            let document = fs::read(&path).expect("a listed document is there");
            let Ok((text, declared)) = encoding::decode(None, &document) else { continue };
            if !String::from_utf8_lossy(&text).contains("<!DOCTYPE") {
                continue;
            }
            match out_of_scope(&case) {
                Some(reason) => suite.skip(set, reason),
                None => {
                    let output = case.get("OUTPUT").map(|output| fs::read(base.join(output)).expect("it is there"));
                    let namespaces = case.get("NAMESPACE").is_none_or(|value| value != "no");
                    let options = Options { namespaces, declared_encoding: declared, ..Options::default() };
                    let result = match (case["TYPE"].as_str(), applied(&text, &path, &options)) {
                        ("not-wf", Ok(form)) => Err(format!("read as {form}")),
                        ("not-wf", Err(_)) => Ok(()),
                        (_, Err(error)) => Err(error),
                        (_, Ok(form)) => compare(&form, output.as_deref().map(without_notations).as_deref()),
                    };
                    suite.judge(set, &case["ID"], result);
                }
            }
        }
    }
    suite.finish();
}

/// The suite's outputs list notations before the element; whoever does not validate need not know them.
fn without_notations(output: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(output);
    match text.starts_with("<!DOCTYPE").then(|| text.split_once("]>\n")).flatten() {
        Some((_, behind)) => behind.as_bytes().to_vec(),
        None => output.to_vec(),
    }
}

/// The canonical form with the document type applied.
fn applied(text: &[u8], path: &Path, options: &Options) -> Result<String, String> {
    let options = Options { doctype: DoctypePolicy::Skip, ..options.clone() };
    let Ok(source) = std::str::from_utf8(text) else { return Err("no text".to_owned()) };
    let read = doctype::apply(source, &path.to_string_lossy(), &Beside, &doctype::DoctypeOptions::default());
    let read = read.map_err(|error| error.to_string())?;
    let new = read.and_then(|applied| applied.text);
    let text = new.as_deref().unwrap_or(source).as_bytes();
    write(text, &options, text.len()).map_err(|error| error.to_string())
}

/// Files by paths beside those that name them.
pub(crate) struct Beside;

impl doctype::Externals for Beside {
    fn find(&self, _: Option<&str>, system: &str, base: &str) -> Result<doctype::ExternalEntity, String> {
        let path = Path::new(base).parent().unwrap_or(Path::new("")).join(system);
        let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(doctype::ExternalEntity { uri: path.to_string_lossy().into_owned(), bytes })
    }
}

type Case = BTreeMap<String, String>;

/// The attributes of each `TEST` element in a list, which may have several roots.
fn cases(list: &str) -> Vec<Case> {
    let body = match list.strip_prefix("<?xml") {
        Some(rest) => rest.split_once("?>").expect("a declaration ends").1,
        None => list,
    };
    let list = format!("<list>{body}</list>");
    let mut parser = Parser::new(Options::default());
    let mut cases = Vec::new();
    while let Step::Event(event) = parser.next(list.as_bytes(), true).expect("the lists are well-formed") {
        if let Event::Start(start) = event
            && start.names().get(start.name).local == "TEST"
        {
            let pair =
                |it: myelin_xml::Attribute<'_>| (start.names().get(it.name).local.to_owned(), it.value().into_owned());
            cases.push(start.attributes().map(pair).collect());
        }
    }
    cases
}

/// Why a case says nothing about this parser, if so.
fn out_of_scope(case: &Case) -> Option<&'static str> {
    let get = |name: &str| case.get(name).map_or("", String::as_str);
    if get("VERSION") == "1.1" || matches!(get("RECOMMENDATION"), "XML1.1" | "NS1.1") {
        Some("XML 1.1 or Namespaces 1.1, which are not read")
    } else if !get("EDITION").is_empty() && !get("EDITION").split(' ').any(|edition| edition == "5") {
        Some("of editions of XML 1.0 before the fifth, which allows more names")
    } else if get("TYPE") == "error" {
        Some("errors that a processor may report or not")
    } else {
        None
    }
}

fn judge(suite: &mut Suite, set: &str, base: &Path, case: &Case) {
    let (id, kind) = (&case["ID"], case["TYPE"].as_str());
    let document = fs::read(base.join(&case["URI"])).expect("a listed document is there");
    let namespaces = case.get("NAMESPACE").is_none_or(|value| value != "no");
    let options = Options { namespaces, ..Options::default() };
    let refused = canonical(&document, &options);
    let doctype = matches!(&refused, Err(error) if error.kind == ErrorKind::DoctypeRefused);
    let set = if doctype { format!("{set}, document type") } else { set.to_owned() };
    let output = case.get("OUTPUT").map(|output| fs::read(base.join(output)).expect("a listed output is there"));
    let result = match (kind, refused) {
        ("not-wf", Ok(form)) => Err(format!("read as {form}")),
        ("not-wf", Err(_)) => Ok(()),
        (_, Err(_)) if doctype => skip_doctype(&document, &options, output.as_deref()),
        (_, Err(error)) => Err(error.to_string()),
        (_, Ok(form)) => compare(&form, output.as_deref()),
    };
    suite.judge(&set, id, result);
}

fn skip_doctype(document: &[u8], options: &Options, output: Option<&[u8]>) -> Result<(), String> {
    match canonical(document, &Options { doctype: DoctypePolicy::Skip, ..options.clone() }) {
        Ok(form) => {
            // Default values, types of attributes and notations show in the output; nobody can know external ones.
            let shows = ["<!ATTLIST", "<!NOTATION", "SYSTEM", "PUBLIC"];
            let (utf8, _) = encoding::decode(None, document).expect("it was read just now");
            let text = String::from_utf8_lossy(&utf8);
            compare(&form, output.filter(|_| !shows.iter().any(|mark| text.contains(mark))))
        }
        Err(Error { kind: ErrorKind::EntityNotExpanded(_), .. }) => Ok(()),
        Err(error) => Err(format!("with its document type skipped: {error}")),
    }
}

/// Compares with the output that the suite has for a case, if it has one.
fn compare(form: &str, output: Option<&[u8]>) -> Result<(), String> {
    let Some(output) = output.map(String::from_utf8_lossy) else { return Ok(()) };
    if form == output { Ok(()) } else { Err(format!("expected {output:?}, got {form:?}")) }
}

/// The first canonical form of James Clark's `xmltest`, read at once and byte by byte.
fn canonical(document: &[u8], options: &Options) -> Result<String, Error> {
    let (utf8, declared_encoding) = encoding::decode(None, document)?;
    let options = Options { declared_encoding, ..options.clone() };
    let whole = write(&utf8, &options, utf8.len());
    assert_eq!(whole, write(&utf8, &options, 1), "any split is the same");
    whole
}

fn write(document: &[u8], options: &Options, piece: usize) -> Result<String, Error> {
    let mut parser = Parser::new(options.clone());
    let mut form = Form::default();
    let mut come = 0;
    loop {
        match parser.next(&document[..come], come == document.len())? {
            Step::Event(event) => form.add(&event),
            Step::More => come = (come + piece).min(document.len()),
            Step::End => return Ok(form.text),
        }
    }
}

/// A canonical form in the making.
#[derive(Default)]
struct Form {
    text: String,
    open: Vec<String>,
}

impl Form {
    fn add(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(start) => {
                let name = qualified(start.names(), start.name);
                self.text += &format!("<{name}");
                let mut attributes: Vec<_> =
                    start.attributes().map(|it| (qualified(start.names(), it.name), it.value().into_owned())).collect();
                attributes.extend(start.declarations().map(|it| match it.prefix() {
                    "" => ("xmlns".to_owned(), it.namespace().to_owned()),
                    prefix => (format!("xmlns:{prefix}"), it.namespace().to_owned()),
                }));
                attributes.sort();
                for (name, value) in attributes {
                    self.text += &format!(" {name}=\"{}\"", escaped(&value));
                }
                self.text.push('>');
                self.open.push(name);
            }
            Event::End(_) => self.text += &format!("</{}>", self.open.pop().expect("each end has a start")),
            Event::Text(text) => self.text += &escaped(&text.value()),
            Event::Instruction(it) => self.text += &format!("<?{} {}?>", it.target, it.value()),
            Event::Declaration(_) | Event::Doctype(_) | Event::Comment(_) => {}
        }
    }
}

fn qualified(names: &Names, id: NameId) -> String {
    match names.get(id) {
        Name { prefix: "", local, .. } => local.to_owned(),
        Name { prefix, local, .. } => format!("{prefix}:{local}"),
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\t' => escaped += "&#9;",
            '\n' => escaped += "&#10;",
            '\r' => escaped += "&#13;",
            _ => escaped.push(c),
        }
    }
    escaped
}
