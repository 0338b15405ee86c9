//! The rules of XML 1.0 and Namespaces in XML 1.0, one table for each; and documents in pieces.

use proptest::prelude::*;

use super::*;

#[test]
fn an_ordinary_document_becomes_its_events() {
    let document = br#"<?xml version="1.0" encoding="UTF-8"?>
<!-- c --><s:a xmlns:s="urn:s" xmlns='urn:d' x="1 &lt; &#x32;" s:y='"'><b/>t&amp;u<![CDATA[<&]]></s:a >
<?pi  data ?>"#;
    assert_eq!(
        events(document, &Options::default()),
        [
            "declaration 1.0 Some(\"UTF-8\") None",
            "comment \" c \"",
            "start 0 49..110 xmlns:s=urn:s xmlns:=urn:d {}x=\"1 < 2\" {urn:s}y=\"\\\"\"",
            "start 3 110..114",
            "end 3 114..114",
            "text \"t&u\" 114..121",
            "text \"<&\" 121..135",
            "end 0 135..142",
            "instruction pi \"data \"",
        ]
    );
}

#[test]
fn line_ends_become_line_feeds_and_white_space_in_attributes_becomes_spaces() {
    let document = b"<a b='1\r\n2\r3\t4&#9;&#13;'>1\r\n2\r3\r\r\n&#13;<![CDATA[\r\n&#13;]]><!--\r--><?p \r\n\r?></a>";
    let got = events(document, &Options::default());
    assert!(got[0].ends_with("{}b=\"1 2 3 4\\t\\r\""), "{}", got[0]);
    assert!(got[1].starts_with("text \"1\\n2\\n3\\n\\n\\r\""), "{}", got[1]);
    assert!(got[2].starts_with("text \"\\n&#13;\""), "{}", got[2]);
    assert_eq!(got[3..5], ["comment \"\\n\"", "instruction p \"\""]);
}

#[test]
fn tags_are_refused_where_they_go_wrong() {
    check_errors(
        &Options::default(),
        &[
            ("<a><b></a>", "line 1, column 9: expected </b>, found </a>"),
            ("<a><b></bc>", "line 1, column 9: expected </b>, found </bc>"),
            ("<a></a", "line 1, column 7: the document ends here, expected '>'"),
            ("<a></a b>", "line 1, column 8: expected '>', found 'b'"),
            ("<a></a/>", "line 1, column 7: expected '>', found '/'"),
            ("<a></ a>", "line 1, column 6: expected the name of the open element, found ' '"),
            ("<a", "line 1, column 3: the document ends here, expected the name of an element"),
            ("<a>\n\r\n text", "line 3, column 6: the document ends here, expected </a>"),
            ("<a/><b/>", "line 1, column 5: a second root element"),
            ("</a>", "line 1, column 1: an end tag without an open element"),
            ("<a/></a>", "line 1, column 5: an end tag without an open element"),
            ("<a/>x", "line 1, column 5: expected the end of the document, a comment or an instruction, found 'x'"),
            ("x<a/>", "line 1, column 1: expected '<', found 'x'"),
            ("", "line 1, column 1: the document ends here, expected the root element"),
            (" <!---->", "line 1, column 9: the document ends here, expected the root element"),
            ("< a/>", "line 1, column 2: expected the name of an element, found ' '"),
            ("<1/>", "line 1, column 2: expected the name of an element, found '1'"),
            ("<a\u{D7}/>", "line 1, column 3: expected the name of an element, found '×'"),
            ("<a/ >", "line 1, column 4: expected '>' behind '/', found ' '"),
            ("<a b/>", "line 1, column 5: expected '=', found '/'"),
            ("<a b=c/>", "line 1, column 6: expected a quote, found 'c'"),
            ("<a b='<'/>", "line 1, column 7: '<' in an attribute's value, expected &lt;"),
            ("<a b=''c=''/>", "line 1, column 8: expected white space, '/' or '>', found 'c'"),
            ("<a b='' b=''/>", "line 1, column 9: attribute b stands twice, expected once"),
            ("<a b='", "line 1, column 7: the document ends here, expected a closing quote"),
            ("<a><</a>", "line 1, column 5: expected the name of an element, found '<'"),
        ],
    );
}

#[test]
fn characters_and_references_are_checked_everywhere() {
    check_errors(
        &Options::default(),
        &[
            ("<a>\u{1}</a>", "line 1, column 4: character U+0001 is not allowed, expected one of XML 1.0"),
            ("<a>\u{FFFE}</a>", "line 1, column 4: character U+FFFE is not allowed, expected one of XML 1.0"),
            ("<a b='\u{FFFF}'/>", "line 1, column 7: character U+FFFF is not allowed, expected one of XML 1.0"),
            ("<a><!--\u{B}--></a>", "line 1, column 8: character U+000B is not allowed, expected one of XML 1.0"),
            ("<a><?p \u{C}?></a>", "line 1, column 8: character U+000C is not allowed, expected one of XML 1.0"),
            ("<a><![CDATA[\0]]></a>", "line 1, column 13: character U+0000 is not allowed, expected one of XML 1.0"),
            ("<a>&#0;</a>", "line 1, column 4: character U+0000 is not allowed, expected one of XML 1.0"),
            ("<a>&#xD800;</a>", "line 1, column 4: character U+D800 is not allowed, expected one of XML 1.0"),
            ("<a>&#99999999999;</a>", "line 1, column 4: character U+FFFFFFFF is not allowed, expected one of XML 1.0"),
            ("<a>&#;</a>", "line 1, column 6: expected a digit, found ';'"),
            ("<a>&#xg;</a>", "line 1, column 7: expected a hexadecimal digit, found 'g'"),
            ("<a>&#65</a>", "line 1, column 8: expected ';' behind a character reference, found '<'"),
            ("<a>&amp</a>", "line 1, column 8: expected ';' behind a reference, found '<'"),
            ("<a>& </a>", "line 1, column 5: expected the name of an entity, found ' '"),
            ("<a>&1;</a>", "line 1, column 5: expected the name of an entity, found '1'"),
            (
                "<a>&nbsp;</a>",
                "line 1, column 4: entity &nbsp; is not defined, expected amp, lt, gt, quot, apos or a number",
            ),
            ("<a>a]]>b</a>", "line 1, column 5: ]]> in text, expected ]]&gt;"),
            ("<a>é\n&x", "line 2, column 3: the document ends here, expected </a>"),
        ],
    );
    let got = events("<a>]] ]>\u{FFFD}\u{FEFF}\u{10FFFF}&#x10FFFF;&#x00041;</a>".as_bytes(), &Options::default());
    assert!(got[1].starts_with("text \"]] ]>\u{FFFD}\\u{feff}\\u{10ffff}\\u{10ffff}A\""), "{}", got[1]);
}

#[test]
fn comments_instructions_and_declarations_have_their_rules() {
    check_errors(
        &Options::default(),
        &[
            ("<a><!-- -- --></a>", "line 1, column 9: -- in a comment, expected -->"),
            ("<a><!-- ---></a>", "line 1, column 9: -- in a comment, expected -->"),
            ("<a><!--></a>", "line 1, column 13: the document ends here, expected -->"),
            ("<a><!-></a>", "line 1, column 5: expected a tag, a comment or an instruction, found '!'"),
            ("<![CDATA[]]><a/>", "line 1, column 2: expected a tag, a comment or an instruction, found '!'"),
            ("<a><![CDATA[]></a>", "line 1, column 19: the document ends here, expected ]]>"),
            ("<a><?xml?></a>", "line 1, column 4: an XML declaration that is not at the very start"),
            (" <?xml version='1.0'?><a/>", "line 1, column 2: an XML declaration that is not at the very start"),
            ("<?XML?><a/>", "line 1, column 1: an XML declaration that is not at the very start"),
            ("<a><? x?></a>", "line 1, column 6: expected the name of an instruction, found ' '"),
            ("<a><?a:b?></a>", "line 1, column 7: expected the name of an instruction, found ':'"),
            ("<?xml?><a/>", "line 1, column 6: expected version=\"1.0\", found '?'"),
            ("<?xml version='2.0'?><a/>", "line 1, column 16: a version other than 1.0 and its like"),
            ("<?xml version='1.0'encoding='UTF-8'?><a/>", "line 1, column 20: expected ?>, found 'e'"),
            (
                "<?xml version='1.0' encoding='UTF-16'?><a/>",
                "line 1, column 31: the declared encoding UTF-16 is not the one the document is in",
            ),
            (
                "<?xml version='1.0' standalone='maybe'?><a/>",
                "line 1, column 33: a value of standalone other than yes and no",
            ),
            ("<!DOCTYPE a><a/>", "line 1, column 1: a document type declaration is refused, expected the root element"),
            ("<!DOCTYP a><a/>", "line 1, column 2: expected a tag, a comment or an instruction, found '!'"),
        ],
    );
    assert_eq!(events(b"<?xml version='1.7'?><a/>", &Options::default())[0], "declaration 1.7 None None");
}

#[test]
fn namespaces_have_their_rules() {
    check_errors(
        &Options::default(),
        &[
            ("<p:a/>", "line 1, column 1: prefix p is not bound, expected a declaration xmlns:p"),
            ("<a p:b=''/>", "line 1, column 4: prefix p is not bound, expected a declaration xmlns:p"),
            (
                "<a><b xmlns:p='u'/><p:c/></a>",
                "line 1, column 20: prefix p is not bound, expected a declaration xmlns:p",
            ),
            ("<a xmlns:p=''/>", "line 1, column 4: a prefix bound to no namespace"),
            ("<a xmlns:xml='u'/>", "line 1, column 4: the prefix xml bound to another namespace"),
            ("<a xmlns:xmlns='u'/>", "line 1, column 4: a declaration of the prefix xmlns"),
            (
                "<a xmlns:p='http://www.w3.org/XML/1998/namespace'/>",
                "line 1, column 4: the namespace of xml bound to another prefix",
            ),
            (
                "<a xmlns='http://www.w3.org/2000/xmlns/'/>",
                "line 1, column 4: the namespace of xmlns bound to a prefix",
            ),
            ("<xmlns:a/>", "line 1, column 1: an element with the prefix xmlns"),
            ("<a xmlns:p='u' xmlns:p='u'/>", "line 1, column 16: attribute xmlns:p stands twice, expected once"),
            ("<a xmlns='u' xmlns=''/>", "line 1, column 14: attribute xmlns stands twice, expected once"),
            (
                "<a xmlns:p='u' xmlns:q='&#117;' p:b='' q:b=''/>",
                "line 1, column 40: attribute q:b stands twice, expected once",
            ),
            ("<a:b:c/>", "line 1, column 5: expected the name of an element, found ':'"),
            ("<:a/>", "line 1, column 2: expected the name of an element, found ':'"),
            ("<a:/>", "line 1, column 4: expected the name of an element, found '/'"),
            ("<a:1/>", "line 1, column 4: expected the name of an element, found '1'"),
        ],
    );
    for document in [
        "<a xmlns='u'><b xmlns=''><c/></b><xml:d xml:lang=''/></a>",
        "<a xmlns:xml='http://www.w3.org/XML/1998/namespace'/>",
        "<p:a xmlns:p='u' b='' p:b='' xmlns:q='v' q:b=''><p:a xmlns:p='w'/><p:a/></p:a>",
    ] {
        assert!(error(document.as_bytes(), &Options::default()).starts_with("no error"), "{document}");
    }
    let plain = Options { namespaces: false, ..Options::default() };
    assert!(error(b"<:a p:b='' xmlns:p='' p:c:d=''/>", &plain).starts_with("no error"));
}

#[test]
fn a_document_type_is_skipped_as_a_whole() {
    let options = Options { doctype: DoctypePolicy::Skip, ..Options::default() };
    let doctype = r#"<!DOCTYPE a PUBLIC "]>" '[<' [
        <!-- ' ]> " --> <?p ]> " ?> %e; <!ENTITY x "]>'"> <!ATTLIST a b CDATA '">'>
    ] >"#;
    let got = events(format!("{doctype}<a/>").as_bytes(), &options);
    assert_eq!(got[0], format!("doctype {doctype}"));
    assert_eq!(got.len(), 3);
    check_errors(
        &options,
        &[
            ("<!DOCTYPE a [", "line 1, column 14: the document ends here, expected the end of the document type"),
            ("<!DOCTYPE a><!DOCTYPE a><a/>", "line 1, column 13: a second document type declaration"),
            ("<a/><!DOCTYPE a>", "line 1, column 5: a document type declaration behind the root element"),
            ("<!DOCTYPE a [\u{1}]><a/>", "line 1, column 14: character U+0001 is not allowed, expected one of XML 1.0"),
            (
                "<!DOCTYPE a><a>&x;</a>",
                "line 1, column 16: entity &x; is not expanded: the document type is skipped; \
                 expected amp, lt, gt, quot, apos or a number",
            ),
        ],
    );
}

#[test]
fn bytes_that_are_no_text_are_reported_where_they_stand_and_after_earlier_errors() {
    for (document, expected) in [
        (&b"<a>\n\xC3\xA9\xFF</a>"[..], "line 2, column 2: bytes that are no text in the document's encoding"),
        (b"<a b='\xC3'/>", "line 1, column 7: bytes that are no text in the document's encoding"),
        (b"<a></b>\xFF", "line 1, column 6: expected </a>, found </b>"),
        (b"<a/>\xE2\x82", "line 1, column 5: bytes that are no text in the document's encoding"),
        (b"\xEF\xBB\xBF\xEF\xBB\xBF<a/>", "line 1, column 1: expected '<', found '\\u{feff}'"),
    ] {
        assert_eq!(error(document, &Options::default()), expected);
    }
    assert_eq!(events(b"\xEF\xBB\xBF<?xml version='1.0'?><a/>", &Options::default()).len(), 3);
}

/// Text that is often nearly a document.
fn documents() -> impl Strategy<Value = Vec<u8>> {
    let parts = prop::sample::select(vec![
        "<?xml version='1.0'?>",
        "<!DOCTYPE a [<!-- ]> -->']>'",
        "]>",
        "<a>",
        "<a>",
        "</a>",
        "</a>",
        "<b/>",
        "<p:b xmlns:p='u' p:c='",
        "\"",
        "'",
        "'/>",
        ">",
        "/>",
        " x='1'",
        " x=\"'&lt;>\"",
        "<!--",
        "-->",
        "--",
        "<![CDATA[",
        "]]>",
        "<?p ",
        "?>",
        "&amp;",
        "&#x41;",
        "&",
        "text",
        "é€\u{10000}",
        "\r\n",
        "\r",
        "\u{FEFF}",
        "\u{FFFE}",
        " ",
        "\u{1}",
    ]);
    let part = prop_oneof![
        20 => parts.prop_map(|part| part.as_bytes().to_vec()),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(part, 0..24).prop_map(|parts| [b"<a>".as_slice(), &parts.concat(), b"</a>"].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_split_gives_the_same_events_and_errors(
        whole in documents(),
        wrapped: bool,
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        token_bytes in prop_oneof![Just(1_000usize), 1..60usize],
        total_bytes in prop_oneof![Just(1_000usize), 1..80usize],
        forget: bool,
    ) {
        // The first part opens the root element; without it, things stand outside of it.
        let document = if wrapped { &whole[..] } else { &whole[3..] };
        let doctype = DoctypePolicy::Skip;
        let options = Options { token_bytes, total_bytes, depth: 5, doctype, ..Options::default() };
        let expected = events(document, &options);
        let mut ends: Vec<_> = cuts.iter().map(|cut| cut.index(document.len() + 1)).collect();
        ends.sort_unstable();
        prop_assert_eq!(&pieces(document, &options, &ends, forget), &expected);
        let each: Vec<_> = (0..document.len()).collect();
        prop_assert_eq!(&pieces(document, &options, &each, forget), &expected);
    }
}
