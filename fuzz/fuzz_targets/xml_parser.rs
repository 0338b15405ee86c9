#![no_main]
//! Reading XML ends in a document or in an error with its place, never in a panic, and events are what stands there.

use std::ops::Range;

use libfuzzer_sys::fuzz_target;
use myelin_xml::{DoctypePolicy, Event, Options, Parser, Step, encoding};

fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let charset = [None, Some("utf-8"), Some("utf-16"), Some("iso-8859-1"), Some("us-ascii")][usize::from(choice) % 5];
    let Ok((document, declared_encoding)) = encoding::decode(charset, bytes) else { return };
    let doctype = if choice & 0x80 == 0 { DoctypePolicy::Refuse } else { DoctypePolicy::Skip };
    let namespaces = choice & 0x40 == 0;
    let mut parser = Parser::new(Options { doctype, declared_encoding, namespaces, ..Options::default() });
    let mut open = Vec::new();
    let mut end = 0;
    loop {
        let event = match parser.next(&document, true) {
            Ok(Step::Event(event)) => event,
            Ok(Step::More) => unreachable!("nothing more can come"),
            Ok(Step::End) => {
                assert!(open.is_empty());
                return;
            }
            Err(error) => {
                assert!(error.line > 0 && error.column > 0 && error.offset <= document.len());
                return;
            }
        };
        let range = check(&event, &document);
        assert!(range.start >= end, "events come in their order");
        end = range.end;
        match event {
            Event::Start(start) => open.push(start.name),
            Event::End(close) => assert_eq!(open.pop(), Some(close.name)),
            _ => {}
        }
        assert_eq!((parser.position(), parser.depth()), (end, open.len()));
    }
});

/// Holds that an event says what stands in the document; gives its range.
fn check(event: &Event<'_>, document: &[u8]) -> Range<usize> {
    let stands = |range: &Range<usize>, text: &str| assert_eq!(&document[range.clone()], text.as_bytes());
    match event {
        Event::Declaration(it) => it.range.clone(),
        Event::Doctype(it) => {
            stands(&it.range, it.raw);
            it.range.clone()
        }
        Event::Start(it) => {
            stands(&it.range, it.raw());
            for attribute in it.attributes() {
                stands(&attribute.value_range, attribute.raw());
                assert!(!it.names().get(attribute.name).local.is_empty());
                assert!(!attribute.verbatim || attribute.value() == attribute.raw());
            }
            for declaration in it.declarations() {
                assert!(declaration.prefix().is_empty() || !declaration.namespace().is_empty());
            }
            it.range.clone()
        }
        Event::End(it) => it.range.clone(),
        Event::Text(it) => {
            stands(&it.value_range(), it.raw());
            let value = it.value();
            assert!(!it.verbatim || value == it.raw());
            assert!(it.verbatim || !value.contains('\r') || it.raw().contains("&#"));
            it.range.clone()
        }
        Event::Comment(it) => {
            assert!(!it.value().contains("--"));
            it.range.clone()
        }
        Event::Instruction(it) => {
            assert!(!it.value().contains("?>") && !it.target.eq_ignore_ascii_case("xml"));
            it.range.clone()
        }
    }
}
