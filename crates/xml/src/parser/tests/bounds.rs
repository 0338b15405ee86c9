//! Each bound has its error, and nothing hostile takes long.

use std::time::Duration;

use super::*;
use crate::processor_time::processor_time;

#[test]
fn each_bound_has_an_error_of_its_own() {
    let options = Options {
        depth: 3,
        attributes: 2,
        declarations: 1,
        open_declarations: 2,
        name_bytes: 7,
        names: 12,
        names_bytes: 1_000,
        token_bytes: 42,
        total_bytes: 200,
        ..Options::default()
    };
    check_errors(
        &options,
        &[
            ("<a><a><a><a/></a></a></a>", "line 1, column 10: more than 3 elements inside each other"),
            ("<a b='' c='' d=''/>", "line 1, column 14: more than 2 attributes on one element"),
            ("<a xmlns:a='a' xmlns:b='b'/>", "line 1, column 16: more than 1 namespace declarations on one element"),
            (
                "<a xmlns:a='a'><b xmlns:a='a'/><b xmlns:b='b'><c xmlns:c='c'/></b></a>",
                "line 1, column 50: more than 2 namespace declarations on elements inside each other",
            ),
            ("<abcdefgh/>", "line 1, column 2: a name or namespace of more than 7 bytes"),
            ("<a>&abcdefgh;</a>", "line 1, column 5: a name or namespace of more than 7 bytes"),
            (
                "<?xml version='1.0' encoding='abcdefgh'?>",
                "line 1, column 31: a name or namespace of more than 7 bytes",
            ),
            ("<a xmlns='abcdefgh'/>", "line 1, column 11: a name or namespace of more than 7 bytes"),
            ("<a><b/><c/><d/><e/><f/><g/><h/></a>", "line 1, column 28: more than 12 different names"),
            (
                "<a>1234567890123456789012345678901234567890123</a>",
                "line 1, column 46: a tag, text, comment or instruction of more than 42 bytes",
            ),
        ],
    );
    let long = format!("<a>{}</a>", "<!---->".repeat(40));
    assert_eq!(error(long.as_bytes(), &options), "line 1, column 201: a document of more than 200 bytes");
    let tiny = Options { total_bytes: 2, ..Options::default() };
    assert_eq!(error("\u{FEFF}<a/>".as_bytes(), &tiny), "line 1, column 1: expected '<', found '\u{fffd}'");
    let few = Options { names_bytes: 100, ..Options::default() };
    let document = format!("<a><{}/></a>", "b".repeat(101));
    assert_eq!(error(document.as_bytes(), &few), "line 1, column 4: different names of more than 100 bytes together");
}

/// Every bound so wide that the document fits.
fn wide() -> Options {
    let all = usize::MAX;
    Options {
        depth: all,
        attributes: all,
        declarations: all,
        open_declarations: all,
        names: all,
        names_bytes: all,
        token_bytes: all,
        ..Options::default()
    }
}

/// Counts the events of a document that comes in pieces, and the time they take.
fn timed(document: &[u8], options: &Options, piece: usize) -> (Result<usize, Limit>, Duration) {
    let start = processor_time();
    let mut parser = Parser::new(options.clone());
    let (mut count, mut come) = (0, piece.min(document.len()));
    let result = loop {
        match parser.next(&document[..come], come == document.len()) {
            Ok(Step::Event(_)) => count += 1,
            Ok(Step::More) => come = (come + piece).min(document.len()),
            Ok(Step::End) => break Ok(count),
            Err(Error { kind: ErrorKind::Limit(limit), .. }) => break Err(limit),
            Err(error) => panic!("{error}"),
        }
    };
    (result, processor_time() - start)
}

/// On a processor; generous for a build without optimisation. A quadratic step takes minutes.
const SOON: Duration = Duration::from_secs(10);

fn check(document: &str, expected_default: Result<usize, Limit>, expected_wide: usize) {
    let bytes = document.as_bytes();
    for (options, expected) in [(Options::default(), expected_default), (wide(), Ok(expected_wide))] {
        let (result, time) = timed(bytes, &options, bytes.len());
        assert_eq!(result, expected);
        assert!(time < SOON, "{time:?}");
    }
}

#[test]
fn many_attributes_are_no_quadratic_step() {
    let attributes: String = (0..20_000).map(|number| format!(" a{number}=''")).collect();
    check(&format!("<a{attributes}/>"), Err(Limit::Attributes(256)), 2);
    let declarations: String = (0..20_000).map(|number| format!(" xmlns:p{number}='u{number}'")).collect();
    check(&format!("<a{declarations}/>"), Err(Limit::Declarations(64)), 2);
}

#[test]
fn many_children_and_many_levels_are_no_quadratic_step() {
    check(&format!("<a>{}</a>", "<b/>".repeat(100_000)), Ok(200_002), 200_002);
    let deep = format!("{}{}", "<a xmlns='u'>".repeat(100_000), "</a>".repeat(100_000));
    check(&deep, Err(Limit::Depth(1_000)), 200_000);
}

#[test]
fn many_names_are_bounded() {
    let children: String = (0..150_000).map(|number| format!("<a{number}/>")).collect();
    check(&format!("<a>{children}</a>"), Err(Limit::Names(100_000)), 300_002);
}

#[test]
fn few_texts_that_make_many_names_are_bounded_too() {
    let children: String =
        (0..400).flat_map(|local| (0..400).map(move |uri| format!("<a{local} xmlns='{uri}'/>"))).collect();
    check(&format!("<a>{children}</a>"), Err(Limit::Names(100_000)), 320_002);
}

#[test]
fn twenty_megabytes_of_text_end_soon() {
    let text = "text &amp; text ]] \u{FF00} ".repeat(1 << 20);
    check(&format!("<a>{text}</a>"), Err(Limit::TokenBytes(16 << 20)), 3);
    check(&format!("<a b='{text}'/>"), Err(Limit::TokenBytes(16 << 20)), 2);
}

#[test]
fn a_large_token_in_small_pieces_is_read_a_bounded_number_of_times() {
    for (before, inside, behind) in [
        ("<a>", "]>&amp;--", "</a>"),
        ("<a b='", "]>\"--?", "'/>"),
        ("<a><!--", "]>- <>'", "--></a>"),
        ("<a><![CDATA[", "]]>"[..2].trim(), "></a>"),
        ("<a><?p ", "]>\"-? <", "?></a>"),
        ("<!DOCTYPE a [", "<!-- ]> --> <?p ]>?> <!E '>'>", "]><a/>"),
    ] {
        // Most of a megabyte and more in pieces of one byte: looking again from the start each time would take minutes.
        let document = format!("{before}{}{behind}", inside.repeat(80_000));
        let options = Options { doctype: DoctypePolicy::Skip, ..wide() };
        let (result, time) = timed(document.as_bytes(), &options, 1);
        assert!(result.is_ok(), "{result:?}");
        assert!(time < SOON, "{before}: {time:?}");
    }
}
