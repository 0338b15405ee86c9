#![no_main]
//! A parser that has read other documents reads the next one as a new parser does, also behind a beginning that it noted.

use libfuzzer_sys::fuzz_target;
use myelin_fuzz::split;
use myelin_xml::{DoctypePolicy, Error, Event, Options, Parser, Step};

/// What no document in UTF-8 has stands between two documents.
const SEPARATOR: u8 = 0xFF;

fuzz_target!(|data: &[u8]| {
    let (piece, rest) = split(data);
    let (noted, documents) = split(rest);
    let options = Options {
        depth: 8,
        attributes: 4,
        token_bytes: 64,
        total_bytes: 512,
        doctype: DoctypePolicy::Skip,
        ..Options::default()
    };
    let mut reused = Parser::new(options.clone());
    for document in documents.split(|&byte| byte == SEPARATOR) {
        let mut fresh = Parser::new(options.clone());
        let whole = read(&mut fresh, document, 0, piece, 0);
        reused.reset();
        let come = (4 * piece).min(document.len());
        if reused.begin_behind(&document[..come]) {
            let (position, depth) = (reused.position(), reused.depth());
            let behind = read(&mut reused, document, come, piece, 0);
            let before = whole.0.len() - behind.0.len();
            assert_eq!(behind.0, whole.0[before..]);
            assert_eq!(behind.1, whole.1);
            // As much as was left out lies before.
            let mut again = Parser::new(options.clone());
            for _ in 0..before {
                assert!(matches!(again.next(document, true), Ok(Step::Event(_))));
            }
            assert_eq!((again.position(), again.depth()), (position, depth));
            reused.reset();
        }
        assert_eq!(read(&mut reused, document, 0, piece, noted), whole);
    }
});

/// What is left of a document that has come so far and comes on in pieces: a line for each event, and how it ended. The
/// beginning of the document is noted behind so many events.
fn read(
    parser: &mut Parser,
    document: &[u8],
    mut come: usize,
    piece: usize,
    noted: usize,
) -> (Vec<String>, Result<(), Error>) {
    let mut lines = Vec::new();
    loop {
        let input = &document[..come];
        match parser.next(input, come == document.len()) {
            Ok(Step::Event(event)) => {
                lines.push(line(&event));
                if lines.len() == noted {
                    parser.note_beginning(input);
                }
            }
            Ok(Step::More) => come = (come + piece).min(document.len()),
            Ok(Step::End) => return (lines, Ok(())),
            Err(error) => return (lines, Err(error)),
        }
    }
}

/// An event with its names as texts: each parser numbers them by itself.
fn line(event: &Event<'_>) -> String {
    match event {
        Event::Start(it) => {
            let attributes: Vec<_> =
                it.attributes().map(|of| (it.names().get(of.name), of.range.clone(), of.value())).collect();
            let declarations: Vec<_> = it.declarations().map(|it| (it.prefix(), it.namespace(), it.range)).collect();
            format!("{:?} {:?} {} {attributes:?} {declarations:?}", it.names().get(it.name), it.range, it.empty)
        }
        Event::End(it) => format!("end {:?}", it.range),
        // The other events show all they are.
        other => format!("{other:?}"),
    }
}
