//! What the reader gives, and that it gives the same however the text is split.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::error::Limit;
use crate::processor_time::processor_time;

type Owned = (Kind, usize, Vec<u8>, bool);

/// Reads `text` in pieces that end at `cuts`; forgets what is decided after each piece.
fn read(text: &[u8], cuts: &[usize], options: &Options) -> (Vec<Owned>, Result<(), Error>) {
    let mut reader = Reader::new(options.clone());
    let (mut events, mut gone) = (Vec::new(), 0);
    let ends: Vec<usize> = cuts.iter().copied().chain([text.len()]).collect();
    for (index, &end) in ends.iter().enumerate() {
        let complete = index + 1 == ends.len();
        loop {
            match reader.next(&text[gone..end], complete) {
                Ok(Step::Event(event)) => {
                    assert_eq!(&text[gone..end][event.range()], event.raw);
                    events.push((event.kind, gone + event.start, event.raw.to_vec(), event.escaped));
                }
                Ok(Step::More) => break,
                Ok(Step::End) => return (events, Ok(())),
                Err(error) => {
                    assert_eq!(reader.next(&text[gone..end], complete), Err(error.clone()), "an error stays");
                    return (events, Err(error));
                }
            }
        }
        let decided = gone + reader.position();
        reader.forget(&text[gone..decided]);
        gone = decided;
    }
    panic!("a complete text ends or fails");
}

/// All ways of cutting a short text in two, and byte by byte, give the same as the whole.
fn same_in_all_splits(text: &[u8], options: &Options) -> (Vec<Owned>, Result<(), Error>) {
    let whole = read(text, &[], options);
    let bytes: Vec<usize> = (0..=text.len()).collect();
    assert_eq!(read(text, &bytes, options), whole, "byte by byte: {}", String::from_utf8_lossy(text));
    for cut in 0..=text.len().min(300) {
        assert_eq!(read(text, &[cut], options), whole, "cut at {cut}: {}", String::from_utf8_lossy(text));
    }
    whole
}

fn check(text: &[u8], expected: &str) {
    let (events, end) =
        same_in_all_splits(text, &Options { depth: 4, key_bytes: 6, number_bytes: 8, ..Options::default() });
    let mut shown: Vec<String> =
        events.iter().map(|(kind, at, raw, _)| format!("{kind:?}@{at}={}", String::from_utf8_lossy(raw))).collect();
    if let Err(error) = end {
        shown.push(error.to_string());
    }
    assert_eq!(shown.join(" "), expected, "{}", String::from_utf8_lossy(text));
}

#[test]
fn tokens_come_with_their_place_and_text() {
    check(
        br#" {"a": [1, -0.5e+3 , true,false ,null], "\u0062":"x\"y"} "#,
        "ObjectStart@1={ Key@2=\"a\" ArrayStart@7=[ Number@8=1 Number@11=-0.5e+3 True@21=true False@26=false \
         Null@33=null ArrayEnd@37=] Key@40=\"\\u0062\" String@49=\"x\\\"y\" ObjectEnd@55=}",
    );
    check(b"[]", "ArrayStart@0=[ ArrayEnd@1=]");
    check(b"{}", "ObjectStart@0={ ObjectEnd@1=}");
    check(b"7", "Number@0=7");
    check("\u{feff}\"ß\"".as_bytes(), "String@3=\"ß\"");
}

#[test]
fn errors_say_where_and_what_was_expected() {
    check(b"", "line 1, column 1: expected a value, found the end");
    check(b"\xEF\xBB", "line 1, column 1: expected a value, found byte 0xEF");
    check(b"[1,]", "ArrayStart@0=[ Number@1=1 line 1, column 4: expected a value, found `]`");
    check(b"[\n 1 2]", "ArrayStart@0=[ Number@3=1 line 2, column 4: expected `,` or `]`, found `2`");
    check(b"{a}", "ObjectStart@0={ line 1, column 2: expected a key in double quotes or `}`, found `a`");
    check(b"{\"a\" 1}", "ObjectStart@0={ Key@1=\"a\" line 1, column 6: expected `:`, found `1`");
    check(b"1 2", "Number@0=1 line 1, column 3: expected nothing behind the value, found `2`");
    check(b"01", "Number@0=0 line 1, column 2: expected nothing behind the value, found `1`");
    check(b"-", "line 1, column 2: expected a digit of a number, found the end");
    check(b"1.x", "line 1, column 3: expected a digit behind the decimal point, found `x`");
    check(b"2e+", "line 1, column 4: expected a digit of the exponent, found the end");
    check(b"trux", "line 1, column 4: expected `true`, `false` or `null`, found `x`");
    check(b"nul", "line 1, column 4: expected `true`, `false` or `null`, found the end");
    check(b"\"a\nb\"", "line 1, column 3: expected no control character in a string, found byte 0x0A");
    check(b"\"a\\x\"", "line 1, column 4: expected one of `\"\\/bfnrtu` behind a backslash, found `x`");
    check(b"\"\\u12G4\"", "line 1, column 6: expected four hexadecimal digits behind `\\u`, found `G`");
    check(b"\"abc", "line 1, column 5: expected the closing quote of a string, found the end");
    check(b"\"ab\xFFcdefghi\n\"", "line 1, column 4: not UTF-8");
    check(b"\"ab\xE2\x82\"", "line 1, column 4: not UTF-8");
    check(b"[\"\xE2\x82\x01\"]", "ArrayStart@0=[ line 1, column 3: not UTF-8");
    check(b"\"\xE2\x82", "line 1, column 2: not UTF-8");
    check(b"\xFF", "line 1, column 1: expected a value, found byte 0xFF");
}

#[test]
fn limits_have_errors_of_their_own() {
    check(
        b"[[[[1]]]]",
        "ArrayStart@0=[ ArrayStart@1=[ ArrayStart@2=[ ArrayStart@3=[ Number@4=1 ArrayEnd@5=] ArrayEnd@6=] ArrayEnd@7=] ArrayEnd@8=]",
    );
    check(
        b"[[[[[",
        "ArrayStart@0=[ ArrayStart@1=[ ArrayStart@2=[ ArrayStart@3=[ line 1, column 5: arrays and objects nested deeper than 4",
    );
    check(b"{\"123456\":0}", "ObjectStart@0={ Key@1=\"123456\" Number@10=0 ObjectEnd@11=}");
    check(b"{\"1234567\":0}", "ObjectStart@0={ line 1, column 2: a key longer than 6 bytes");
    check(b"{\"1234567\n", "ObjectStart@0={ line 1, column 2: a key longer than 6 bytes");
    check(b"{\"123\\n67\":0}", "ObjectStart@0={ line 1, column 2: a key longer than 6 bytes");
    check("{\"12345ß\":0}".as_bytes(), "ObjectStart@0={ line 1, column 2: a key longer than 6 bytes");
    check(b"12345678", "Number@0=12345678");
    check(b"[12345678]", "ArrayStart@0=[ Number@1=12345678 ArrayEnd@9=]");
    check(b"[123456789]", "ArrayStart@0=[ line 1, column 2: a number longer than 8 bytes");
}

proptest! {
    #[test]
    fn any_bytes_give_the_same_in_any_split(
        text in "[\\[\\]{}:,\"\\\\\\x01-9eE.+ \ntrufalsn\u{df}\u{20ac}]{0,40}",
        broken in proptest::collection::vec((0usize..40, any::<u8>()), 0..2),
        cuts in proptest::collection::vec(0usize..40, 0..6),
    ) {
        let mut text = text.into_bytes();
        for (at, byte) in broken {
            if let Some(place) = text.get_mut(at) {
                *place = byte;
            }
        }
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        cuts.sort_unstable();
        let options = Options { depth: 5, key_bytes: 6, number_bytes: 5, ..Options::default() };
        prop_assert_eq!(read(&text, &cuts, &options), read(&text, &[], &options));
    }

    #[test]
    fn what_another_reader_takes_is_taken_and_what_it_refuses_is_refused(
        text in "(\\{\"[a-c]{1,2}\":|\\[|\\]|\\}|,|:|\"[a\\\\u0c8n]{0,6}\"|-?[0-9]{1,3}(\\.[0-9])?([eE][+-]?[0-9])?|true|null| ){0,12}",
    ) {
        let ours = read(text.as_bytes(), &[], &Options::default()).1.is_ok();
        let others = match serde_json::from_str::<serde_json::Value>(&text) {
            // It keeps numbers as doubles and refuses what is too large for one; the grammar has no such bound.
            Err(error) if error.to_string().starts_with("number out of range") => return Ok(()),
            read => read.is_ok(),
        };
        prop_assert_eq!(ours, others, "{}", text);
    }
}

/// Reads in pieces of `piece` bytes, and gives the number of events.
fn count(text: &[u8], piece: usize, options: Options) -> Result<usize, Error> {
    let mut reader = Reader::new(options);
    let (mut end, mut events) = (0, 0);
    loop {
        end = (end + piece).min(text.len());
        loop {
            match reader.next(&text[..end], end == text.len())? {
                Step::Event(_) => events += 1,
                Step::More => break,
                Step::End => return Ok(events),
            }
        }
    }
}

#[test]
fn hostile_texts_end_soon() {
    let started = processor_time();
    let deep = "[".repeat(5_000_000);
    assert!(matches!(
        count(deep.as_bytes(), 1 << 16, Options::default()),
        Err(Error::TooLarge(Limit::Depth(1_000), _))
    ));
    let deeper = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    let limitless = Options { depth: usize::MAX, ..Options::default() };
    assert_eq!(count(deeper.as_bytes(), 1 << 16, limitless), Ok(2_000_000));
    // Long tokens, a byte at a time: each byte is looked at once.
    for long in [
        format!("\"{}\"", "\\n".repeat(1_000_000)),
        format!("\"{}\"", "ß".repeat(1_000_000)),
        " ".repeat(2_000_000) + "1",
    ] {
        assert_eq!(count(long.as_bytes(), 1, Options::default()), Ok(1));
    }
    let number = Options { number_bytes: usize::MAX, ..Options::default() };
    assert_eq!(count("7".repeat(2_000_000).as_bytes(), 1, number), Ok(1));
    let took = processor_time() - started;
    assert!(took < Duration::from_secs(20), "{took:?}");
}
