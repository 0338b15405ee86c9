#![no_main]
//! XML in pieces gives the same events and the same error as XML at once, whatever is forgotten on the way.

use libfuzzer_sys::fuzz_target;
use myelin_fuzz::split;
use myelin_xml::{DoctypePolicy, Error, Event, Options, Parser, Step};

fuzz_target!(|data: &[u8]| {
    let (piece, bytes) = split(data);
    let (bound, document) = split(bytes);
    // Bounds that are sometimes passed: where, must not depend on the pieces either.
    let token_bytes = if bound < 128 { bound } else { usize::MAX };
    let total_bytes = if bound % 2 == 0 { 600 } else { usize::MAX };
    let doctype = DoctypePolicy::Skip;
    let options = Options { depth: 8, attributes: 4, token_bytes, total_bytes, doctype, ..Options::default() };
    let whole = read(document, &options, document.len().max(1), false);
    assert_eq!(whole, read(document, &options, piece, false));
    assert_eq!(whole, read(document, &options, 1, true));
});

/// What a document gives when it comes in pieces: a line for each event, and how it ended.
fn read(document: &[u8], options: &Options, piece: usize, forget: bool) -> (Vec<String>, Result<(), Error>) {
    let mut parser = Parser::new(options.clone());
    let mut lines = Vec::new();
    let (mut forgotten, mut come) = (0, piece.min(document.len()));
    loop {
        match parser.next(&document[forgotten..come], come == document.len()) {
            Ok(Step::Event(event)) => lines.push(line(&event)),
            Ok(Step::More) => {
                assert!(come < document.len(), "more is asked for only where more can come");
                if forget {
                    parser.forget(&document[forgotten..parser.position()]);
                    forgotten = parser.position();
                }
                come = (come + piece).min(document.len());
            }
            Ok(Step::End) => return (lines, Ok(())),
            Err(error) => return (lines, Err(error)),
        }
    }
}

fn line(event: &Event<'_>) -> String {
    match event {
        Event::Start(it) => {
            let attributes: Vec<_> = it.attributes().map(|it| (it.name, it.range.clone(), it.value())).collect();
            let declarations: Vec<_> = it.declarations().map(|it| (it.prefix(), it.namespace(), it.range)).collect();
            format!("{:?} {:?} {} {attributes:?} {declarations:?}", it.name, it.range, it.empty)
        }
        // The other events show all they are.
        other => format!("{other:?}"),
    }
}
