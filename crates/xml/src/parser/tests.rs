//! Tests of the parser through its public face.

mod bounds;
mod differential;
mod documents;

use super::window::{AHEAD, BLOCK};
use super::*;
use crate::error::{ErrorKind, Limit};
use crate::event::Event;
use crate::names::Name;
use crate::options::DoctypePolicy;

/// What a document gives, one event a line; an error is the last line.
fn events(document: &[u8], options: &Options) -> Vec<String> {
    pieces(document, options, &[], false)
}

/// The same for a document that comes in pieces: up to each of `ends`, then the rest at once.
/// With `forget`, the parser is told to forget what it has decided, each time more comes.
fn pieces(document: &[u8], options: &Options, ends: &[usize], forget: bool) -> Vec<String> {
    let mut parser = Parser::new(options.clone());
    let mut lines = Vec::new();
    let (mut forgotten, mut ends) = (0, ends.iter().copied());
    let mut come = ends.next().unwrap_or(document.len());
    loop {
        let input = &document[forgotten..come];
        match parser.next(input, come == document.len()) {
            Ok(Step::Event(event)) => lines.push(line(&event)),
            Ok(Step::More) => {
                if forget {
                    parser.forget(&document[forgotten..parser.position()]);
                    forgotten = parser.position();
                }
                come = ends.next().unwrap_or(document.len());
            }
            Ok(Step::End) => {
                assert!(parser.depth() == 0 && parser.position() == document.len());
                return lines;
            }
            Err(error) => {
                assert_eq!(parser.next(input, true).unwrap_err(), error, "an error stays");
                lines.push(format!("{error} [{}]", error.offset));
                return lines;
            }
        }
    }
}

/// The error of a document, as people read it.
fn error(document: &[u8], options: &Options) -> String {
    let error = events(document, options).pop().unwrap_or_default();
    error.rsplit_once(" [").map_or(format!("no error: {error}"), |(error, _)| error.to_owned())
}

/// Checks the error of each document.
fn check_errors(options: &Options, table: &[(&str, &str)]) {
    for (document, expected) in table {
        assert_eq!(error(document.as_bytes(), options), *expected, "{document}");
    }
}

fn line(event: &Event<'_>) -> String {
    match event {
        Event::Declaration(it) => format!("declaration {} {:?} {:?}", it.version, it.encoding, it.standalone),
        Event::Doctype(it) => format!("doctype {}", it.raw),
        Event::Start(it) => {
            let mut line = format!("start {} {:?}", it.name.index(), it.range);
            for declaration in it.declarations() {
                line += &format!(" xmlns:{}={}", declaration.prefix(), declaration.namespace());
            }
            for attribute in it.attributes() {
                let name = it.names().get(attribute.name);
                line += &format!(" {{{}}}{}={:?}", name.namespace, name.local, attribute.value());
            }
            line
        }
        Event::End(it) => format!("end {} {:?}", it.name.index(), it.range),
        Event::Text(it) => format!("text {:?} {:?}", it.value(), it.range),
        Event::Comment(it) => format!("comment {:?}", it.value()),
        Event::Instruction(it) => format!("instruction {} {:?}", it.target, it.value()),
    }
}

#[test]
fn a_parser_reads_one_document_after_the_other() {
    let mut parser = Parser::new(Options::default());
    for document in ["<a xmlns:p='u'><p:b", "<a><p:b/></a>", "<p:b xmlns:p='v'/>", "<p:b xmlns:p='u'/>"] {
        let mut last = String::new();
        loop {
            match parser.next(document.as_bytes(), true) {
                Ok(Step::Event(event)) => last = line(&event),
                Ok(Step::More) => unreachable!("nothing more can come"),
                Ok(Step::End) => break,
                Err(error) => {
                    last = error.to_string();
                    break;
                }
            }
        }
        match document {
            "<a><p:b/></a>" => assert!(last.contains("prefix p is not bound"), "{last}"),
            _ => assert!(!last.contains("not bound"), "{last}"),
        }
        parser.reset();
    }
    let names = parser.names();
    assert!(names.find("u", "b").is_some() && names.find("u", "b") != names.find("v", "b"));
}

#[test]
fn names_taken_from_a_parser_stay_valid_and_the_parser_goes_on() {
    let mut parser = Parser::new(Options::default());
    let read = |parser: &mut Parser, document: &str| {
        let mut name = None;
        while let Step::Event(event) = parser.next(document.as_bytes(), true).unwrap() {
            if let Event::Start(start) = event {
                name = Some(start.name);
            }
        }
        name.unwrap()
    };
    let first = read(&mut parser, "<a xmlns='u' x='1'/>");
    let names = parser.take_names();
    assert_eq!(names.get(first), Name { prefix: "", local: "a", namespace: "u" });
    let second = read(&mut parser, "<p:b xmlns:p='v' p:y='1'/>");
    assert_eq!(parser.names().get(second), Name { prefix: "p", local: "b", namespace: "v" });
    assert_eq!(parser.names().find("u", "a"), None);
}

#[test]
fn who_stops_early_does_not_pay_for_what_stands_behind() {
    let document = format!("<a><b/>{}", "text".repeat(1 << 20));
    let mut parser = Parser::new(Options::default());
    for _ in 0..3 {
        assert!(matches!(parser.next(document.as_bytes(), false), Ok(Step::Event(_))));
    }
    assert!(parser.seen <= "<a><b/>".len() + AHEAD + BLOCK, "{}", parser.seen);
}
