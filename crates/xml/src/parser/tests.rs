//! Tests of the parser through its public face.

mod bounds;
mod differential;
mod documents;

use std::ops::ControlFlow;

use super::window::FIRST_BLOCK;
use super::*;
use crate::error::{ErrorKind, Limit};
use crate::event::{End, Event, Start, Text};
use crate::names::Name;
use crate::options::DoctypePolicy;

/// What a document gives, one event a line; an error is the last line.
fn events(document: &[u8], options: &Options) -> Vec<String> {
    pieces(document, options, &[], false)
}

/// The same for a document that comes in pieces: up to each of `ends`, then the rest at once.
/// With `forget`, the parser is told to forget what it has decided, each time more comes.
///
/// A handler that takes all events, and one that takes one at a time, get the same.
fn pieces(document: &[u8], options: &Options, ends: &[usize], forget: bool) -> Vec<String> {
    let lines = pieces_for(document, options, ends, forget, |parser, input, complete, lines| {
        Ok(match parser.next(input, complete)? {
            Step::Event(event) => {
                lines.push(line(&event));
                Reached::Enough
            }
            Step::More => Reached::More,
            Step::End => Reached::End,
        })
    });
    for one_by_one in [false, true] {
        let handed = pieces_for(document, options, ends, forget, |parser, input, complete, lines| {
            parser.read(input, complete, &mut Lines { lines, one_by_one })
        });
        assert_eq!(handed, lines, "one by one: {one_by_one}");
    }
    lines
}

/// Notes the events that it takes.
struct Lines<'l> {
    lines: &'l mut Vec<String>,
    one_by_one: bool,
}

impl Handler for Lines<'_> {
    fn start(&mut self, start: Start<'_>) -> ControlFlow<()> {
        self.other(Event::Start(start))
    }

    fn end(&mut self, end: End) -> ControlFlow<()> {
        self.other(Event::End(end))
    }

    fn text(&mut self, text: Text<'_>) -> ControlFlow<()> {
        self.other(Event::Text(text))
    }

    fn other(&mut self, event: Event<'_>) -> ControlFlow<()> {
        self.lines.push(line(&event));
        if self.one_by_one { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// The events of a document that comes in pieces; `read` reads as far as each piece goes.
fn pieces_for(
    document: &[u8],
    options: &Options,
    ends: &[usize],
    forget: bool,
    read: impl Fn(&mut Parser, &[u8], bool, &mut Vec<String>) -> Result<Reached, Error>,
) -> Vec<String> {
    let mut parser = Parser::new(options.clone());
    let mut lines = Vec::new();
    let (mut forgotten, mut ends) = (0, ends.iter().copied());
    let mut come = ends.next().unwrap_or(document.len());
    loop {
        let input = &document[forgotten..come];
        match read(&mut parser, input, come == document.len(), &mut lines) {
            Ok(Reached::Enough) => {}
            Ok(Reached::More) => {
                if forget {
                    parser.forget(&document[forgotten..parser.position()]);
                    forgotten = parser.position();
                }
                come = ends.next().unwrap_or(document.len());
            }
            Ok(Reached::End) => {
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

/// What is left of a document, one event a line, with names as texts: two parsers may number them differently.
fn rest(parser: &mut Parser, document: &str) -> Vec<String> {
    let mut lines = Vec::new();
    loop {
        match parser.next(document.as_bytes(), true) {
            Ok(Step::Event(Event::Start(start))) => {
                lines.push(format!("{:?} {:?}", start.names().get(start.name), start.range));
                let attributes =
                    start.attributes().map(|it| format!("{:?} {}", start.names().get(it.name), it.value()));
                lines.extend(attributes);
            }
            Ok(Step::Event(Event::End(end))) => lines.push(format!("{:?}", end.range)),
            Ok(Step::Event(event)) => lines.push(line(&event)),
            Ok(Step::More) => unreachable!("nothing more can come"),
            Ok(Step::End) => return lines,
            Err(error) => {
                lines.push(format!("{error} [{}]", error.offset));
                return lines;
            }
        }
    }
}

#[test]
fn a_document_is_read_on_behind_its_beginning_as_if_all_of_it_had_been_read() {
    let documents = [
        "<a xmlns='u' xmlns:p='v'><p:b xmlns:p='w'><p:c xmlns='' d='1'/><c/>t</p:b><p:d/><d p:e='2'/></a>",
        "<a xmlns='u' xmlns:p='v'><p:b xmlns:p='w'><p:c xmlns='' d='1'/><c/>t\r\n</p:b><q:d/></a>",
        "<a xmlns='u' xmlns:p='v'><p:b xmlns:p='w'><p:c xmlns='' d='1' d='2'/><c/>",
        "<a xmlns='u' xmlns:p='v'>\n<p:b xmlns:p='w'></a></p:b>",
        "<?xml version='1.0' encoding='UTF-8'?>\r\n<a><b>\u{e9}</b>\u{1}</a>",
        "<?xml version='1.0' encoding='UTF-8'?>\r\n<a><b>\u{e9}</b><b/></a><!-- c -->",
        "<?xml version='1.0' encoding='UTF-8'?>\r\n<a><b>\u{e9}</b></a>t",
        "<!DOCTYPE a><a><b/></a>",
    ];
    let options = Options { doctype: DoctypePolicy::Skip, ..Options::default() };
    let (mut noted, mut begun) = (0, 0);
    for (first, events) in documents.iter().flat_map(|it| (1..16).map(move |events| (it, events))) {
        let mut parser = Parser::new(options.clone());
        let is_read = (0..events).all(|_| matches!(parser.next(first.as_bytes(), true), Ok(Step::Event(_))));
        if !is_read || !parser.note_beginning(first.as_bytes()) {
            continue;
        }
        noted += 1;
        for document in documents {
            parser.reset();
            if parser.begin_behind(document.as_bytes()) {
                begun += 1;
                let place = (parser.position(), parser.depth());
                let behind = rest(&mut parser, document);
                let mut fresh = Parser::new(options.clone());
                while (fresh.position(), fresh.depth()) != place {
                    assert!(matches!(fresh.next(document.as_bytes(), true), Ok(Step::Event(_))));
                }
                assert_eq!(behind, rest(&mut fresh, document), "{document} behind {} bytes", place.0);
            } else {
                assert_eq!(rest(&mut parser, document), rest(&mut Parser::new(options.clone()), document));
            }
        }
    }
    // Else nothing would have been compared.
    assert!(noted > 30 && begun > noted + 20, "{noted} {begun}");
}

#[test]
fn a_beginning_is_none_for_other_names_or_another_encoding() {
    let document = b"<a><b/></a>";
    let mut parser = Parser::new(Options::default());
    assert!(matches!(parser.next(document, true), Ok(Step::Event(_))));
    assert!(parser.note_beginning(document));
    assert!(!parser.begin_behind(document), "the document has begun");
    parser.reset();
    assert!(parser.begin_behind(document));
    parser.reset();
    assert!(!parser.begin_behind(b"<a"), "it has not come whole");
    parser.set_declared_encoding(DeclaredEncoding::Any);
    assert!(!parser.begin_behind(document));
    parser.set_declared_encoding(DeclaredEncoding::Utf8);
    let names = parser.replace_names(Names::new());
    assert!(!parser.begin_behind(document));
    parser.replace_names(names);
    assert!(!parser.begin_behind(document));
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
