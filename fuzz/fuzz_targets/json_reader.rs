#![no_main]
//! JSON reads the same however it is split, is written as it came, and is taken and refused as another reader does.

use libfuzzer_sys::fuzz_target;
use myelin_fuzz::split;
use myelin_json::{Error, Kind, Options, Reader, Step, Value};

type Events = Vec<(Kind, usize, usize)>;

/// Reads in pieces, and lets the reader forget what it has decided.
fn read(text: &[u8], piece: usize) -> (Events, Option<Error>) {
    let mut reader = Reader::new(Options::default());
    let (mut events, mut gone, mut end) = (Vec::new(), 0, 0);
    loop {
        end = (end + piece).min(text.len());
        loop {
            match reader.next(&text[gone..end], end == text.len()) {
                Ok(Step::Event(event)) => events.push((event.kind, gone + event.start, event.raw.len())),
                Ok(Step::More) => break,
                Ok(Step::End) => return (events, None),
                Err(error) => return (events, Some(error)),
            }
        }
        let decided = gone + reader.position();
        reader.forget(&text[gone..decided]);
        gone = decided;
    }
}

fuzz_target!(|data: &[u8]| {
    let (piece, text) = split(data);
    let whole = read(text, text.len().max(1));
    assert_eq!(whole, read(text, piece));
    match Value::parse(text.to_vec(), &Options::default()) {
        Ok(value) => {
            assert_eq!(whole.1, None);
            let mut out = Vec::new();
            value.write_document(&mut out);
            assert_eq!(out, text);
            // Without white space it is the same value still.
            out.clear();
            value.write_compact(value.root(), &mut out);
            let again = Value::parse(out.clone(), &Options::default()).expect("what we write, we read");
            let mut same = Vec::new();
            again.write(again.root(), &mut same);
            assert_eq!(out, same);
        }
        Err(error) => assert_eq!(whole.1, Some(error)),
    }
});
