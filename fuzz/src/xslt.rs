//! What the fuzz targets of stylesheets share.

use myelin_xml::{DoctypePolicy, Document, WriteOptions};
use myelin_xslt::{Error, Limits, Method, Options, Resolver, Resource, Stylesheet, Wanted};

/// Small, so that many inputs are tried.
const LIMITS: Limits = Limits { depth: 60, instructions: 20_000, output_bytes: 100_000, memory_bytes: 400_000 };

/// Knows one document, one text, and one stylesheet by any name that ends in `.xsl`.
pub struct Shelf;

impl Resolver for Shelf {
    fn resolve(&self, href: &str, _: &str, wanted: Wanted) -> Result<Resource, String> {
        let text = match wanted {
            Wanted::Stylesheet if href.ends_with(".xsl") => {
                "<xsl:transform version='2.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\
                 <xsl:template match='b' name='t'><i><xsl:next-match/></i></xsl:template></xsl:transform>"
            }
            Wanted::Document if href == "d.xml" => "<d><e>1</e> <f/></d>",
            Wanted::Text if href == "t.txt" => "one\ntwo\r\n",
            _ => return Err("not there".to_owned()),
        };
        Ok(Resource { uri: href.to_owned(), bytes: text.as_bytes().to_vec() })
    }
}

/// Compiles a stylesheet; what is wrong with one has a place and a sentence.
pub fn compile(source: &[u8]) -> Option<Stylesheet> {
    let problems = match Stylesheet::compile(source, "fuzz.xsl", &Shelf) {
        Ok(stylesheet) => {
            stylesheet.warnings().iter().for_each(check_problem);
            return Some(stylesheet);
        }
        Err(problems) => problems,
    };
    assert!(!problems.is_empty(), "what is refused is refused for a reason");
    problems.iter().for_each(check_problem);
    None
}

fn check_problem(problem: &myelin_xslt::Problem) {
    let place = &problem.place;
    assert!(place.line > 0 && place.column > 0 && !place.file.is_empty(), "every problem has a place: {problem}");
    assert!(!problem.message.is_empty() && !problem.code.is_empty(), "every problem says what it is");
}

/// Reads a document as small as fuzzing wants them.
pub fn parse(source: &[u8]) -> Option<Document> {
    let options = myelin_xml::Options { doctype: DoctypePolicy::Skip, depth: 200, ..Default::default() };
    Document::parse(source.to_vec(), &options).ok()
}

/// Transforms a document twice: it is afterwards as it was, both give the same, and XML is XML.
///
/// `source` is the stylesheet's text, which may ask for what is no XML.
pub fn transform(source: &str, stylesheet: &Stylesheet, document: &mut Document) {
    let before = written(document);
    let first = run(stylesheet, document);
    assert_eq!(before, written(document), "a source is as it was");
    let second = run(stylesheet, document);
    assert_eq!(first, second, "a stylesheet gives the same each time");
    match first {
        Ok(result) => check_result(source, stylesheet, &result),
        Err(error) => assert!(!error.message.is_empty() && !error.code.is_empty(), "every error says what it is"),
    }
}

fn run(stylesheet: &Stylesheet, document: &mut Document) -> Result<Vec<u8>, Box<Error>> {
    let mut out = b"before".to_vec();
    let source = document.document_node();
    let options = Options { limits: LIMITS, resolver: &Shelf, other_results: true, ..Options::default() };
    let ended = stylesheet.transform(document, source, &options, &mut out);
    assert!(out.starts_with(b"before") && (ended.is_ok() || out.len() == 6), "only results are appended");
    ended.map(|_| out.split_off(6))
}

fn written(document: &Document) -> Vec<u8> {
    let mut out = Vec::new();
    myelin_xml::write(document, document.document_node(), &WriteOptions::default(), &mut out);
    out
}

/// Holds that a result is what can stand in an element, as far as the stylesheet does not ask for something else.
fn check_result(source: &str, stylesheet: &Stylesheet, result: &[u8]) {
    let asks = [
        "disable-output-escaping",
        "character-map",
        "doctype-",
        "1.1",
        "encoding",
        "normalization",
        "result-document",
        "parameter-document",
    ];
    if stylesheet.output().method != Some(Method::Xml) || asks.iter().any(|word| source.contains(word)) {
        return;
    }
    let text = std::str::from_utf8(result).expect("UTF-8 is what is written");
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let inside = match text.strip_prefix("<?xml ") {
        Some(rest) => rest.split_once("?>").map_or("", |(_, behind)| behind),
        None => text,
    };
    let options = myelin_xml::Options {
        depth: usize::MAX,
        attributes: usize::MAX,
        declarations: usize::MAX,
        ..Default::default()
    };
    if let Err(error) = Document::parse(format!("<x>{inside}</x>").into_bytes(), &options) {
        panic!("a result is well formed: {error} in {text}");
    }
}
