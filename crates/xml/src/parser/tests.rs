//! Tests of the parser through its public face.

mod bounds;
mod differential;
mod documents;

use super::window::FIRST_BLOCK;
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
fn a_parser_reads_a_document_as_a_new_one_does_whatever_it_has_read_before() {
    let read = |parser: &mut Parser, document: &str| {
        let mut lines = Vec::new();
        for come in 0..=document.len() {
            loop {
                match parser.next(&document.as_bytes()[..come], come == document.len()) {
                    // Two parsers may number names differently.
                    Ok(Step::Event(Event::Start(start))) => {
                        let attributes = start.attributes().map(|it| (start.names().get(it.name), it.value()));
                        lines.push(format!("{:?} {:?}", start.names().get(start.name), attributes.collect::<Vec<_>>()));
                    }
                    Ok(Step::Event(Event::End(end))) => lines.push(format!("{:?}", end.range)),
                    Ok(Step::Event(event)) => lines.push(line(&event)),
                    Ok(Step::More | Step::End) => break,
                    Err(error) => {
                        lines.push(error.to_string());
                        break;
                    }
                }
            }
        }
        lines
    };
    let documents = [
        "<a><b x='1' y='2'>t</b></a>",
        "<a><b y='2' x='1'/></a>",
        "<a><b x='1' x='2'/></a>",
        "<a><bb x='1'/></a>",
        "<a><b:b xmlns:b='u' b:x='1'/></a>",
        "<a><b xmlns='u'/><b/></a>",
        "<ab/>",
        "<a/>",
        "<a",
        "<a><b></a>",
        "<a>< b/></a>",
        "<a><b\u{e9}/></a>",
        "<a><b<c/></a>",
        "<?xml version='1.0'?><a xmlns='u' xmlns:p='v'><p:b/></a>",
        "<?xml version='1.0' encoding='UTF-8'?><a xmlns='uu' xmlns:p='v&amp;'><p:b/></a>",
        "\u{feff}<?xml version='1.0' encoding='UTF-8'?><a xmlns='' xmlns:p='&#118;'><p:b/></a>",
        "<?xml version='1.0'?>\n<a xmlns=\"u'\" xmlns:p=\"v\" p:c='1'/>",
        "<a xmlns='u\" b='/>",
        "<a xmlns=\"u\" b=\"c\"/>",
        "<a xmlns=\"it's\"/>",
        "<a xmlns='it's'/>",
    ];
    for before in documents {
        for document in documents {
            let mut parser = Parser::new(Options::default());
            read(&mut parser, before);
            parser.reset();
            let again = read(&mut parser, document);
            assert_eq!(again, read(&mut Parser::new(Options::default()), document), "{document} after {before}");
        }
    }
}

#[test]
fn a_declaration_that_was_right_before_is_judged_anew_with_the_encoding_that_is_expected_now() {
    let document = b"<?xml version='1.0' encoding='UTF-8'?><a/>";
    let mut parser = Parser::new(Options::default());
    assert!(matches!(parser.next(document, true), Ok(Step::Event(Event::Declaration(_)))));
    parser.reset();
    parser.set_declared_encoding(DeclaredEncoding::Utf16);
    let error = parser.next(document, true).unwrap_err();
    assert_eq!(error.kind, ErrorKind::WrongEncoding("UTF-8".to_owned()));
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
    assert!(parser.seen <= "<a><b/>".len() + FIRST_BLOCK, "{}", parser.seen);
}
