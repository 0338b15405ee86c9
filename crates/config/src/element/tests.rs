//! What elements give, and what is told of what nobody read in them.

use super::*;

fn parse(text: &str) -> Result<Element, Problem> {
    Element::parse(&"a.xml".into(), text.to_owned())
}

#[test]
fn an_element_knows_the_place_of_its_attributes_to_the_character() {
    let root = parse("<a>\n  <b é=\"1\" x=\"12345\"/>\n</a>").unwrap();
    let text = root.children[0].attribute("x").unwrap();
    assert_eq!((text.place(0).line, text.place(0).column), (2, 15));
    assert_eq!(text.place(3).column, 18);
    assert_eq!(text.part(2..4).place(0).column, 17);
    assert_eq!(root.children[0].source(), "<b é=\"1\" x=\"12345\"/>");
}

#[test]
fn a_standalone_document_declares_what_holds_around_it_and_keeps_every_place() {
    let check = |text: &str, expected: &str| assert_eq!(parse(text).unwrap().children[0].standalone(), expected);
    check(
        "<a xmlns='urn:a' xmlns:p='urn:p' xmlns:q='urn:q&amp;'>\n é<b x='>' p:y=\"/>\"><q:c/></b></a>",
        "\n  <b x='>' p:y=\"/>\" xmlns=\"urn:a\" xmlns:p=\"urn:p\" xmlns:q=\"urn:q&amp;\"><q:c/></b>",
    );
    check("<a xmlns='urn:a'>\n<b xmlns=''/></a>", "\n<b xmlns=''/>");
    let check = |text: &str, expected: &str| assert_eq!(parse(text).unwrap().standalone_text(), expected);
    check("<a>\n<![CDATA[<?xml version='1.0'?><b/>]]></a>", &format!("\n{}<b/>", " ".repeat(9 + 21)));
    check("<a>&lt;b/></a>", "<b/>");
    let place = parse("<a b='c'>\n\n  c</a>").unwrap().text_place();
    assert_eq!((place.line, place.column), (3, 3));
}

#[test]
fn a_document_type_is_refused_and_broken_text_has_a_place() {
    assert!(parse("<!DOCTYPE a []><a/>").unwrap_err().message.contains("DTD"));
    let problem = parse("<a>\n<b></a>").unwrap_err();
    assert_eq!(problem.place.line, 2);
    assert!(!problem.message.contains("at 2"), "{}", problem.message);
}

#[test]
fn elements_that_nest_without_end_are_refused() {
    let text = format!("{}{}", "<a>".repeat(100), "</a>".repeat(100));
    assert!(parse(&text).unwrap_err().message.contains("nest"));
}

#[test]
fn only_attributes_nobody_read_are_warned_of() {
    let root = parse("<a x='1' y='2' description='d'><b z='3'/></a>").unwrap();
    root.attribute("x");
    let mut unread = Unread::default();
    root.unread(&Structure::default(), &mut unread);
    let Unread { problems, warnings } = unread;
    assert_eq!((problems.len(), warnings.len()), (0, 1));
    assert!(warnings[0].message.contains("\"y\""));
}

#[test]
fn a_misspelt_attribute_is_told_with_its_name_and_is_a_problem_where_it_holds_structure() {
    let root = parse("<resource method='GET' uri-templat='/a' protocoll='http' far='1'/>").unwrap();
    for name in ["methods", "uri-template", "protocol"] {
        assert!(root.attribute(name).is_none());
    }
    let mut unread = Unread::default();
    let structure = Structure { attributes: &["methods", "uri-template"], synonyms: &[] };
    root.unread(&structure, &mut unread);
    let Unread { problems, warnings } = unread;
    let said = |all: &[Problem]| all.iter().map(|it| it.message.clone()).collect::<Vec<_>>();
    assert_eq!(
        said(&problems),
        [
            "<resource>: attribute \"method\" is unknown; did you mean methods?",
            "<resource>: attribute \"uri-templat\" is unknown; did you mean uri-template?",
        ],
    );
    assert_eq!(
        said(&warnings),
        [
            "<resource>: attribute \"protocoll\" has no effect here; did you mean protocol?",
            "<resource>: attribute \"far\" has no effect here",
        ],
    );
    let missing = root.required("fear").unwrap_err();
    assert_eq!(missing.message, "<resource>: attribute \"fear\" is missing; did you mean \"fear\" by \"far\"?");
    assert_eq!((missing.column(), missing.suggestion()), (58, Some("fear")));
}

#[test]
fn an_element_that_nobody_knows_and_that_looks_like_one_that_was_expected_is_a_problem() {
    let text = "<switch><csae/><case/><far/><Case/><case xmlns='urn:a'/></switch>";
    let root = parse(text).unwrap();
    assert_eq!(root.children.iter().filter(|child| child.is("case") || child.is("default")).count(), 1);
    root.attribute("source");
    let mut unread = Unread::default();
    root.unread(&Structure::default(), &mut unread);
    let said: Vec<_> = unread.problems.iter().map(|it| (it.column(), it.message(), it.suggestion())).collect();
    assert_eq!(
        said,
        [
            (9, "<csae> is unknown in <switch>; did you mean <case>?", Some("case")),
            (29, "<Case> is unknown in <switch>; did you mean <case>?", Some("case")),
            (
                36,
                "<case> of urn:a is unknown in <switch>; did you mean <case xmlns=\"http://ws.apache.org/ns/synapse\">?",
                Some("case")
            ),
        ]
    );
    assert!(unread.warnings.is_empty());
}

#[test]
fn an_attribute_of_another_element_that_means_the_same_is_told() {
    let root = parse("<sequence name='a' faultSequence='f'/>").unwrap();
    root.attribute("name");
    root.attribute("onError");
    let structure = Structure { attributes: &["onError"], synonyms: &[("faultSequence", &["onError"])] };
    let mut unread = Unread::default();
    root.unread(&structure, &mut unread);
    assert_eq!(unread.problems[0].message, "<sequence>: attribute \"faultSequence\" is unknown; did you mean onError?");
}

#[test]
fn what_is_not_well_formed_is_told_with_its_line() {
    let problem = parse("<a>\n  <b></a>").unwrap_err();
    assert_eq!(problem.excerpt.unwrap().text, "  <b></a>");
}
