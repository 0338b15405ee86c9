//! Document types, from declarations to what they make of a text.

use std::collections::HashMap;

use super::*;
use crate::document::NodeId;

/// Files by their names.
struct Shelf(HashMap<&'static str, String>);

impl Externals for Shelf {
    fn find(&self, _: Option<&str>, system: &str, _: &str) -> Result<ExternalEntity, String> {
        match self.0.get(system) {
            Some(text) => Ok(ExternalEntity { uri: system.to_owned(), bytes: text.clone().into_bytes() }),
            None => Err(format!("{system:?} is not on the shelf")),
        }
    }
}

fn shelf(files: &[(&'static str, &str)]) -> Shelf {
    Shelf(files.iter().map(|(name, text)| (*name, (*text).to_owned())).collect())
}

/// What stands behind the document type, once it was applied.
fn applied(declarations: &str, body: &str, files: &[(&'static str, &str)]) -> Result<String, String> {
    let source = format!("<!DOCTYPE a {declarations}>\n{body}");
    let applied = apply(&source, "doc.xml", &shelf(files), &DoctypeOptions::default());
    let text = applied.map_err(|error| error.kind.to_string())?.expect("there is a document type").text;
    let text = text.unwrap_or_else(|| source.clone());
    let whole = &text[source.len() - body.len()..];
    Ok(whole.to_owned())
}

fn check(declarations: &str, body: &str, expected: &str) {
    assert_eq!(applied(&format!("[{declarations}]"), body, &[]).as_deref(), Ok(expected), "{declarations} {body}");
}

fn refused(declarations: &str, body: &str, files: &[(&'static str, &str)], expected: &str) {
    let sentence = applied(declarations, body, files).expect_err(declarations);
    assert!(sentence.contains(expected), "{declarations}: {sentence}");
}

#[test]
fn references_to_declared_entities_are_replaced_in_content_and_values() {
    check("<!ENTITY n '&#160;'>", "<a b='&n;'>&n;&amp;</a>", "<a b='\u{a0}'>\u{a0}&amp;</a>");
    check("<!ENTITY n \"a\"><!ENTITY n 'b'>", "<a>&n;</a>", "<a>a</a>");
    check("<!ENTITY n '<b/>&m;'><!ENTITY m '&#x41;'>", "<a>&n;</a>", "<a><b/>A</a>");
    check("<!ENTITY n 'it&#39;s'>", "<a b='&n;'/>", "<a b='it&#39;s'/>");
    check(
        "<!ENTITY n 'x'>",
        "<a><!-- &n; --><![CDATA[&n;]]><?p &n;?>&n;</a>",
        "<a><!-- &n; --><![CDATA[&n;]]><?p &n;?>x</a>",
    );
    check("<!ELEMENT a (#PCDATA)><!-- ]> --><!ENTITY % p '<!ENTITY n \"x\">'> %p;", "<a>&n;</a>", "<a>x</a>");
    check("<!ENTITY l '&#38;#60;'>", "<a>&l;</a>", "<a>&#60;</a>");
    check("<!ENTITY l '&#60;b/>'>", "<a>&l;</a>", "<a><b/></a>");
    check("<!ENTITY r 'a&#13;&#10;b'>", "<a b='&r;'>&r;</a>", "<a b='a  b'>a&#13;\nb</a>");
}

#[test]
fn default_values_are_written_out_and_tokens_lose_their_spaces() {
    let declared = "<!ENTITY n '\"y'><!ATTLIST a b CDATA 'x&n;' c NMTOKENS #IMPLIED d CDATA #FIXED \"'\">";
    check(declared, "<a/>", "<a b=\"x&#34;y\" d=\"'\"/>");
    check(declared, "<a b=' 1 ' c=' 2  3&#32;'>t</a>", "<a b=' 1 ' c='2 3' d=\"'\">t</a>");
    check("<!ATTLIST a b (x|y) 'x'><!ATTLIST a b CDATA 'z' c CDATA 'z'>", "<a ></a>", "<a  b=\"x\" c=\"z\"></a>");
    check("<!ATTLIST p:a xmlns:p CDATA #FIXED 'u'>", "<p:a/>", "<p:a xmlns:p=\"u\"/>");
}

#[test]
fn external_files_are_read_where_they_can_be_had() {
    let files = [
        ("x.ent", "<?xml version='1.0' encoding='UTF-8'?><!ENTITY n 'x'>\r\n<!ENTITY % m 'INCLUDE'>"),
        ("c.xml", "<?xml encoding='UTF-8'?><c>&n;</c>"),
        (
            "a.dtd",
            "<!ENTITY % k 'IGNORE'><!ENTITY % e SYSTEM 'x.ent'>%e;<![%m;[<!ENTITY % at 'b CDATA \"%m;\"'>]]>
             <![ %k; [ <!ENTITY n 'z'> <![ ]]> ]]><!ATTLIST a %at;><!ENTITY p '%k;|&n;'><!ELEMENT a (%k;, (b|c)*)?>",
        ),
    ];
    let with = |declarations: &str, body: &str| applied(declarations, body, &files);
    assert_eq!(with("[<!ENTITY % e SYSTEM 'x.ent'> %e;]", "<a>&n;</a>").as_deref(), Ok("<a>x</a>"));
    assert_eq!(with("[<!ENTITY n 'y'><!ENTITY c SYSTEM 'c.xml'>]", "<a>&c;</a>").as_deref(), Ok("<a><c>y</c></a>"));
    assert_eq!(with("SYSTEM 'a.dtd'", "<a>&p;</a>").as_deref(), Ok("<a b=\"INCLUDE\">IGNORE|x</a>"));
    assert_eq!(with("PUBLIC 'P' 'a.dtd' [<!ENTITY n 'y'>]", "<a>&n;</a>").as_deref(), Ok("<a b=\"INCLUDE\">y</a>"));
    // The document's own declarations may be out of reach.
    assert_eq!(with("SYSTEM 'none.dtd'", "<a/>").as_deref(), Ok("<a/>"));
    refused("SYSTEM 'none.dtd'", "<a>&n;</a>", &files, "\"none.dtd\" is not on the shelf");
    refused("[<!ENTITY % e SYSTEM 'none'> %e;]", "<a/>", &files, "%e; is not read: \"none\"");
    refused("[<!ENTITY e SYSTEM 'none'>]", "<a>&e;</a>", &files, "&e; is not read: \"none\"");
    refused("[<!ENTITY e SYSTEM 'c.xml'>]", "<a b='&e;'/>", &files, "cannot stand in the value");
    refused("[<!ENTITY f ''>]", "<a b='&e;'>&e;</a>", &[], "not declared");
}

#[test]
fn what_is_no_declaration_is_refused_with_its_place() {
    refused("[<!ENTITY n>]", "<a/>", &[], "expected");
    refused("[<!ENTITY % p 'x'><!ENTITY n '%p;'>]", "<a/>", &[], "not allowed");
    refused("[<!ATTLIST a b FOO #IMPLIED>]", "<a/>", &[], "no type");
    refused("[<!ELEMENT a (b|c,d)>]", "<a/>", &[], "both");
    refused("[<!ENTITY n '<b>'>]", "<a>&n;</b></a>", &[], "does not end in it");
    refused("[<!ENTITY n '</a>'>]", "<a>&n;", &[], "does not begin in it");
    refused("[<!ENTITY n '<'>]", "<a b='&n;'/>", &[], "<");
    refused("SYSTEM 'x'", "<a/>", &[("x", "\n<!ENTITY n>")], "x:2: expected");
    let error =
        apply("<!DOCTYPE a [\n <!FOO>]><a/>", "d", &NoExternals, &DoctypeOptions::default()).expect_err("refused");
    assert_eq!((error.line, error.column), (2, 2));
}

#[test]
fn bombs_and_circles_are_refused_soon() {
    let laughs: String =
        (0..30).map(|level| format!("<!ENTITY e{level} '{}'>", format!("&e{};", level + 1).repeat(10))).collect();
    refused(&format!("[{laughs}<!ENTITY e30 'x'>]"), "<a>&e0;</a>", &[], "one too many");
    refused(&format!("[{laughs}<!ENTITY e30 'x'>]"), "<a b='&e0;'/>", &[], "one too many");
    let long = "x".repeat(100_000);
    refused(&format!("[<!ENTITY n '{long}'>]"), &format!("<a>{}</a>", "&n;".repeat(10_000)), &[], "one too many");
    refused(&format!("[<!ATTLIST a b CDATA '{long}'>]"), &"<a></a>".repeat(10_000), &[], "one too many");
    let parameters: String =
        (1..40).map(|level| format!("<!ENTITY % p{level} '%p{};%p{};'>", level - 1, level - 1)).collect();
    refused("SYSTEM 'x'", "<a/>", &[("x", &format!("<!ENTITY % p0 '  '>{parameters}%p39;"))], "one too many");
    refused("[<!ENTITY n '&n;'>]", "<a>&n;</a>", &[], "itself");
    refused("[<!ENTITY n '&m;'><!ENTITY m '&n;'>]", "<a b='&n;'/>", &[], "itself");
    refused("SYSTEM 'x'", "<a/>", &[("x", "<!ENTITY % p '&#37;p;'>%p;")], "itself");
    refused("SYSTEM 'x'", "<a/>", &[("x", "<!ENTITY % p SYSTEM 'x'>%p;")], "");
    let many = format!("[{}]", "<!ENTITY n ''>".repeat(200_001));
    refused(&many, "<a/>", &[], "more than 200000 declarations");
}

#[test]
fn places_are_those_of_the_document() {
    let source = "<!DOCTYPE a [<!ENTITY n 'long text'><!ATTLIST b c CDATA 'd'>]>\n<a>&n;<b/>\n<c></a>";
    let error = Document::parse_with_doctype(
        source.as_bytes().to_vec(),
        "d",
        &Options::default(),
        &NoExternals,
        &DoctypeOptions::default(),
    );
    let error = error.expect_err("<c> has no end");
    assert_eq!((error.line, error.column), (3, 6));
    let error = apply("<!DOCTYPE a [<!ENTITY e '<']>\n<a>&x;</a>", "d", &NoExternals, &DoctypeOptions::default());
    assert_eq!(error.expect_err("no entity").line, 1);
}

#[test]
fn ids_unparsed_entities_and_bases_are_known() {
    let source = "<!DOCTYPE a [<!ATTLIST a i ID #IMPLIED r IDREFS #IMPLIED><!NOTATION png SYSTEM 'v'>
        <!ENTITY p PUBLIC 'P  Q' 'p.png' NDATA png><!ENTITY c SYSTEM 'c/c.xml'><!ELEMENT a (b, c)>]>\n<a i=' 1 ' r='1'>&c;</a>";
    let document = Document::parse_with_doctype(
        source.as_bytes().to_vec(),
        "d/doc.xml",
        &Options::default(),
        &shelf(&[("c/c.xml", "<c/>")]),
        &DoctypeOptions::default(),
    );
    let document = document.expect("a document");
    let root = document.root_element().expect("a root");
    let attributes: Vec<NodeId> = document.attributes(root).collect();
    assert!(document.is_id(attributes[0]) && !document.is_id(attributes[1]) && document.is_id_reference(attributes[1]));
    assert_eq!(document.value(attributes[0]), "1");
    let declared = document.doctype().expect("a document type");
    let picture = declared.unparsed("p").expect("an unparsed entity");
    assert_eq!((picture.public.as_deref(), &*picture.system, &*picture.base), (Some("P Q"), "p.png", "d/doc.xml"));
    assert!(declared.has_element_content("a") && !declared.has_element_content("b"));
    let inner = document.first_child(root).expect("the entity's element");
    assert_eq!((document.entity_base(inner), document.entity_base(root)), (Some("c/c.xml"), None));
}

#[test]
fn white_space_between_elements_is_left_out_where_that_is_asked_for() {
    let source =
        "<!DOCTYPE a [<!ELEMENT a (b)*><!ELEMENT b ANY><!ENTITY e ' '>]>\n<a> <b> <a/> </b>\n<!-- --> &e; </a>";
    let options = DoctypeOptions { element_space: ElementSpace::Drop, ..DoctypeOptions::default() };
    let applied = apply(source, "d", &NoExternals, &options).expect("sound").expect("a document type");
    assert!(applied.text.expect("changed").ends_with(">\n<a><b> <a/> </b><!-- -->   </a>"));
}
