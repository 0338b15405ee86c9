//! What compiles to what, and what is said of what does not.

use super::*;
use crate::program::{Avt, Binding, Block, Content, Kind, ModeUse};
use crate::resolver::{NoResolver, Resource, Wanted};

/// Stylesheet documents by their URIs.
struct Shelf(&'static [(&'static str, &'static str)]);

impl Resolver for Shelf {
    fn resolve(&self, href: &str, base: &str, _: Wanted) -> Result<Resource, String> {
        let uri = crate::functions::resolve(href, base);
        let found = self.0.iter().find(|(known, _)| *known == uri);
        found.map(|(_, text)| Resource { uri, bytes: text.as_bytes().to_vec() }).ok_or_else(|| format!("no {href}"))
    }
}

/// A stylesheet with these declarations.
fn sheet(version: &str, declarations: &str) -> String {
    format!(
        "<xsl:stylesheet version='{version}' xmlns:xsl='http://www.w3.org/1999/XSL/Transform' xmlns:p='urn:p' \
         xmlns:func='http://exslt.org/functions'>\n{declarations}</xsl:stylesheet>"
    )
}

fn compiled(version: &str, declarations: &str) -> Program {
    match compile(sheet(version, declarations).as_bytes(), "main.xsl", &NoResolver, &[]) {
        Ok((program, _)) => program,
        Err(problems) => panic!("{declarations}: {problems:?}"),
    }
}

/// The problems as `line:column code`.
fn problems(version: &str, declarations: &str) -> Vec<String> {
    let Err(problems) = compile(sheet(version, declarations).as_bytes(), "main.xsl", &NoResolver, &[]) else {
        panic!("{declarations} compiles");
    };
    problems.iter().map(|it| format!("{}:{} {}", it.place.line, it.place.column, it.code)).collect()
}

fn body(program: &Program) -> &Block {
    &program.templates[0].body
}

#[test]
fn texts_beside_each_other_are_one_and_white_space_alone_is_none() {
    let template = "<xsl:template match='/'> <a> <!-- c --> b<xsl:text> </xsl:text>c </a> </xsl:template>";
    let program = compiled("1.0", template);
    let [only] = &**body(&program) else { panic!("one element") };
    let Kind::Literal(literal) = &only.kind else { panic!("a literal result element") };
    let [inside] = &*literal.body else { panic!("one text") };
    assert!(matches!(&inside.kind, Kind::Text(text, false) if &**text == " b c "));
}

#[test]
fn xml_space_keeps_white_space() {
    let program = compiled("1.0", "<xsl:template match='/' xml:space='preserve'> <a/></xsl:template>");
    assert_eq!(body(&program).len(), 2);
}

#[test]
fn value_templates_that_are_constant_are_texts() {
    let check = |value: &str, parts: usize| {
        let program = compiled("1.0", &format!("<xsl:template match='/'><a b=\"{value}\"/></xsl:template>"));
        let Kind::Literal(literal) = &body(&program)[0].kind else { panic!("a literal result element") };
        match &literal.attributes[0].value {
            Avt::Constant(_) => assert_eq!(parts, 0, "{value}"),
            Avt::Parts(found) => assert_eq!(found.len(), parts, "{value}"),
        }
    };
    check("a{{b}}", 0);
    check("{'a}'}", 0);
    check("{a}", 1);
    check("a{b}c{d}", 4);
}

#[test]
fn literal_elements_bring_what_is_in_scope_without_what_is_excluded() {
    let template = "<xsl:template match='/' xmlns:q='urn:q' exclude-result-prefixes='func'>\
                    <q:a xsl:exclude-result-prefixes='q'/></xsl:template>";
    let program = compiled("1.0", template);
    let Kind::Literal(literal) = &body(&program)[0].kind else { panic!("a literal result element") };
    let own = ("q".to_owned(), "urn:q".to_owned());
    assert_eq!(literal.start.namespaces().bindings(), [own, ("p".to_owned(), "urn:p".to_owned())]);
    assert_eq!(literal.start.name().namespace, "urn:q");
}

#[test]
fn an_alias_writes_stylesheets() {
    let program = compiled(
        "1.0",
        "<xsl:namespace-alias stylesheet-prefix='p' result-prefix='xsl'/>\
         <xsl:template match='/'><p:a p:b=''/></xsl:template>",
    );
    let Kind::Literal(literal) = &body(&program)[0].kind else { panic!("a literal result element") };
    let name = literal.start.name();
    assert_eq!((name.prefix.as_str(), name.namespace.as_str()), ("xsl", XSLT));
    assert_eq!(literal.attributes[0].name.namespace, XSLT);
    let aliased = ("xsl".to_owned(), XSLT.to_owned());
    assert!(literal.start.namespaces().bindings().contains(&aliased));
}

#[test]
fn a_variable_is_known_behind_its_declaration_and_its_slot_is_used_again() {
    let program = compiled(
        "1.0",
        "<xsl:template match='/'><xsl:if test='1'><xsl:variable name='a' select='1'/></xsl:if>\
         <xsl:variable name='b' select='2'/><xsl:variable name='c' select='$b'/></xsl:template>",
    );
    assert_eq!(program.templates[0].frame, 2);
    let outside = "<xsl:template match='/'><xsl:if test='1'><xsl:variable name='a'/></xsl:if>\
                   <xsl:value-of select='$a'/></xsl:template>";
    assert_eq!(problems("1.0", outside), ["2:97 XPST0008"]);
}

#[test]
fn calls_are_marked_where_nothing_is_left_to_do_behind_them() {
    let tail = |inside: &str| {
        let template = format!(
            "<xsl:template name='a'><xsl:choose><xsl:when test='1'>{inside}</xsl:when></xsl:choose></xsl:template>"
        );
        let program = compiled("1.0", &template);
        let Kind::Choose(choose) = &body(&program)[0].kind else { panic!("a choice") };
        choose.branches[0].1.iter().any(|one| matches!(&one.kind, Kind::CallTemplate(call) if call.tail))
    };
    assert!(tail("<xsl:call-template name='a'/>"));
    assert!(!tail("<xsl:call-template name='a'/>b"));
}

#[test]
fn an_attribute_set_that_is_nowhere_is_no_error_in_1_0() {
    let template = "<xsl:template match='/'><a xsl:use-attribute-sets='b'/></xsl:template>";
    assert_eq!(problems("2.0", template), ["2:28 XTSE0710"]);
    assert_eq!(compiled("1.0", template).attribute_sets.len(), 0);
}

#[test]
fn all_problems_are_told_each_with_its_place() {
    let check =
        |declarations: &str, expected: &[&str]| assert_eq!(problems("1.0", declarations), expected, "{declarations}");
    check(
        "<xsl:template match='a[' name='x' wrong=''/>\n<xsl:template name='x'><xsl:value-of/><xsl:foo/></xsl:template>",
        &["2:24 XTSE0340", "3:1 XTSE0660", "3:24 XTSE0010", "3:39 XTSE0010"],
    );
    check("<xsl:template/>", &["2:1 XTSE0500"]);
    check("<xsl:template match='a' priority='x'/>", &["2:25 XTSE0530"]);
    check("<xsl:template match='/'><a b='{'/></xsl:template>", &["2:31 XTSE0350"]);
    check("<xsl:template match='/'><a b='}'/></xsl:template>", &["2:31 XTSE0370"]);
    check("<xsl:template match='/'><a b='{1 &lt;}'/></xsl:template>", &["2:38 XPST0003"]);
    check("<xsl:template match='/'><xsl:call-template name='b'/></xsl:template>", &["2:44 XTSE0650"]);
    check(
        "<xsl:attribute-set name='a' use-attribute-sets='b'/><xsl:attribute-set name='b' use-attribute-sets='a'/>",
        &["2:1 XTSE0720"],
    );
    check("<xsl:variable name='a'/><xsl:variable name='a'/>", &["2:25 XTSE0630"]);
    check("<xsl:variable name='a' select='1'>b</xsl:variable>", &["2:1 XTSE0620"]);
    check("<a/>", &["2:1 XTSE0130"]);
    check("a", &["2:1 XTSE0120"]);
    check("<p:a/><xsl:import href='b'/>", &["2:19 XTSE0165"]);
    check("<xsl:key name='a' match='b'/>", &["2:1 XTSE1205"]);
    check("<xsl:decimal-format percent='%%'/>", &["2:21 XTSE0020"]);
    check("<xsl:output indent='maybe'/>", &["2:13 XTSE0020"]);
    check("<xsl:strip-space elements='q:*'/>", &["2:18 XTSE0280"]);
    check("<xsl:namespace-alias stylesheet-prefix='q' result-prefix='p'/>", &["2:22 XTSE0812"]);
    check("<xsl:template match='/'><xsl:choose/></xsl:template>", &["2:25 XTSE0010"]);
    check("<xsl:template match='/'><xsl:break/></xsl:template>", &["2:25 XTSE3120"]);
}

#[test]
fn the_rules_of_2_0_hold_from_that_version_on() {
    let unknown = "<xsl:template match='/' wrong=''/><xsl:template name='a' priority='1'/>";
    compiled("1.0", unknown);
    assert_eq!(problems("2.0", unknown), ["2:25 XTSE0090", "2:58 XTSE0500"]);
    let passes = "<xsl:template name='a'/><xsl:template match='/'><xsl:call-template name='a'>\
                  <xsl:with-param name='b'/></xsl:call-template></xsl:template>";
    compiled("1.0", passes);
    assert_eq!(problems("2.0", passes), ["2:49 XTSE0680"]);
    let unknown = "<xsl:template match='/'><xsl:value-of select='p:f()'/></xsl:template>";
    compiled("1.0", unknown);
    compiled("2.0", unknown);
    let declared = format!("{unknown}<xsl:function name='p:g'/>");
    assert_eq!(problems("2.0", &declared), ["2:47 XPST0017"]);
    let shown = "<xsl:import-schema namespace='urn:s'/>";
    assert_eq!(problems("2.0", shown), ["2:1 XTSE1650"]);
}

#[test]
fn later_versions_may_say_what_is_not_known() {
    let program = compiled(
        "4.0",
        "<xsl:new/><xsl:template match='/'><xsl:new><xsl:fallback>a</xsl:fallback></xsl:new><xsl:if test='new('/>\
         <xsl:if test='1' new=''/></xsl:template>",
    );
    let kinds: Vec<&Kind> = body(&program).iter().map(|one| &one.kind).collect();
    assert!(matches!(kinds.as_slice(), [Kind::Text(..), Kind::Fail("XPST0003", _), Kind::If(..)]));
}

#[test]
fn extension_elements_fall_back_or_fail_when_they_are_come_to() {
    let program = compiled(
        "1.0",
        "<xsl:template match='/' extension-element-prefixes='p'><p:a><xsl:fallback>b</xsl:fallback></p:a><p:c/></xsl:template>",
    );
    let kinds: Vec<&Kind> = body(&program).iter().map(|one| &one.kind).collect();
    assert!(matches!(kinds.as_slice(), [Kind::Text(..), Kind::Fail("XTDE1450", _)]));
}

#[test]
fn modes_are_numbered_and_all_means_those_named_further_down_too() {
    let program = compiled(
        "2.0",
        "<xsl:template match='a' mode='#all'/><xsl:template match='/' mode='m #default'>\
         <xsl:apply-templates mode='n'/><xsl:apply-templates mode='#current'/></xsl:template>",
    );
    let names: Vec<_> = program.modes.iter().map(|mode| mode.name.as_ref().map(ToString::to_string)).collect();
    assert_eq!(names, [None, Some("m".to_owned()), Some("n".to_owned())]);
    let modes = program.templates[1].body.iter().map(|one| match &one.kind {
        Kind::ApplyTemplates(apply) => apply.mode,
        _ => panic!("only xsl:apply-templates stands there"),
    });
    assert_eq!(modes.collect::<Vec<_>>(), [ModeUse::Mode(2), ModeUse::Current]);
}

#[test]
fn functions_are_known_by_name_and_number_of_arguments() {
    let program = compiled(
        "2.0",
        "<xsl:function name='p:f' as='xs:string' xmlns:xs='http://www.w3.org/2001/XMLSchema'>\
         <xsl:param name='a'/><xsl:sequence select='$a'/></xsl:function>\
         <func:function name='p:g'><xsl:param name='a' select='2'/><func:result select='$a'/></func:function>\
         <xsl:variable name='v' select='p:f(1), p:g()'/>",
    );
    assert_eq!(program.functions.len(), 2);
    assert_eq!(program.calls.len(), 2);
    let wrong = "<xsl:function name='p:f'/><xsl:variable name='v' select='p:f(1)'/>";
    assert_eq!(problems("2.0", wrong), ["2:58 XPST0017"]);
}

#[test]
fn what_variables_are_bound_to_follows_type_and_content() {
    let check = |inside: &str, expected: fn(&Binding) -> bool| {
        let program = compiled("2.0", inside);
        assert!(expected(&program.globals[0].value), "{inside}");
    };
    check("<xsl:variable name='a'/>", |it| matches!(it, Binding::EmptyText));
    check("<xsl:variable name='a'>b</xsl:variable>", |it| matches!(it, Binding::Tree(_)));
    check("<xsl:variable name='a' as='item()*'>b</xsl:variable>", |it| matches!(it, Binding::Sequence(_)));
    check("<xsl:variable name='a' as='item()*'/>", |it| matches!(it, Binding::EmptySequence));
    check("<xsl:variable name='a' select='1'/>", |it| matches!(it, Binding::Select(_)));
}

#[test]
fn use_when_decides_what_is_there() {
    let program = compiled(
        "3.0",
        "<xsl:param name='s' static='yes' select=\"'b'\"/>\
         <xsl:template match='/'><xsl:if test='1' use-when=\"$s = 'a'\"/>\
         <a xsl:use-when=\"system-property('xsl:version') = '3.0'\"/></xsl:template>\
         <xsl:foo use-when='false()'/>",
    );
    assert!(matches!(&**body(&program), [one] if matches!(one.kind, Kind::Literal(_))));
    assert!(!program.globals[0].parameter);
    // A name with its namespace in braces, as XSpec writes it.
    let program = compiled(
        "3.0",
        "<xsl:variable name='Q{urn:v}s' static='yes' select='false()'/>\
         <xsl:template match='/'><a/><xsl:text use-when='$Q{ urn:v }s'>b</xsl:text></xsl:template>",
    );
    assert!(matches!(&**body(&program), [one] if matches!(one.kind, Kind::Literal(_))));
}

#[test]
fn shadow_attributes_say_what_static_variables_decide() {
    let program = compiled(
        "3.0",
        "<xsl:variable name='s' static='yes' select=\"'b'\"/>\
         <xsl:template match='/' xmlns:e='urn:e'><xsl:value-of select='a' _select='{$s}/c'/></xsl:template>",
    );
    let Kind::ValueOf(Content::Select(source, None), false) = &body(&program)[0].kind else { panic!("a value") };
    assert_eq!(&*source.expr.text, "b/c");
}

#[test]
fn texts_may_hold_expressions() {
    let program = compiled(
        "3.0",
        "<xsl:template match='/' expand-text='yes'>a{b}c<xsl:text expand-text='no'>{d}</xsl:text></xsl:template>",
    );
    let kinds: Vec<&Kind> = body(&program).iter().map(|one| &one.kind).collect();
    assert!(matches!(kinds.as_slice(), [Kind::ValueOf(..), Kind::Text(text, _)] if &**text == "{d}"));
    let program = compiled("3.0", "<xsl:template match='/' expand-text='yes'><x>a{b}c</x></xsl:template>");
    let Kind::Literal(literal) = &body(&program)[0].kind else { panic!("a literal result element") };
    let kinds: Vec<&Kind> = literal.body.iter().map(|one| &one.kind).collect();
    assert!(matches!(kinds.as_slice(), [Kind::Text(..), Kind::ValueOf(..), Kind::Text(..)]));
}

#[test]
fn a_literal_element_may_be_the_whole_stylesheet() {
    let source = format!("<a xsl:version='1.0' xmlns:xsl='{XSLT}'><xsl:value-of select='b'/></a>");
    let (program, _) = compile(source.as_bytes(), "a", &NoResolver, &[]).expect("a stylesheet");
    assert!(matches!(&body(&program)[0].kind, Kind::Literal(literal) if literal.body.len() == 1));
    let Err(problems) = compile(b"<a/>", "a", &NoResolver, &[]) else { panic!("no stylesheet") };
    assert_eq!(problems[0].code, "XTSE0150");
    let Err(problems) = compile(b"<a>", "a", &NoResolver, &[]) else { panic!("no document") };
    assert_eq!((problems[0].code, problems[0].place.line, problems[0].place.column), ("XML", 1, 4));
}

#[test]
fn modules_are_found_and_the_importing_one_wins() {
    const MODULES: &[(&str, &str)] = &[
        (
            "d/b.xsl",
            "<xsl:transform version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'><xsl:import href='c.xsl'/>\
             <xsl:template name='t'>b</xsl:template></xsl:transform>",
        ),
        (
            "d/c.xsl",
            "<xsl:transform version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\
             <xsl:template name='t'>c</xsl:template><xsl:template name='u'>c</xsl:template></xsl:transform>",
        ),
        (
            "loop.xsl",
            "<xsl:transform version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\
             <xsl:include href='loop.xsl'/></xsl:transform>",
        ),
    ];
    let main = sheet(
        "1.0",
        "<xsl:import href='d/b.xsl'/><xsl:include href='d/c.xsl'/><xsl:template match='/'>\
         <xsl:call-template name='t'/><xsl:call-template name='u'/></xsl:template>",
    );
    let (program, _) = compile(main.as_bytes(), "main.xsl", &Shelf(MODULES), &[]).expect("a stylesheet");
    let root = program.templates.iter().find(|template| template.name.is_none()).expect("the template of /");
    let called = root.body.iter().map(|one| match &one.kind {
        Kind::CallTemplate(call) => program.files[program.templates[call.template as usize].at.file as usize].as_str(),
        _ => panic!("only xsl:call-template stands there"),
    });
    assert_eq!(called.collect::<Vec<_>>(), ["d/c.xsl", "d/c.xsl"]);
    assert_eq!((root.precedence, root.imports_from), (2, 0));
    let circle = sheet("1.0", "<xsl:include href='loop.xsl'/>");
    let Err(problems) = compile(circle.as_bytes(), "main.xsl", &Shelf(MODULES), &[]) else { panic!("a circle") };
    assert_eq!((problems[0].code, problems[0].place.file.as_str()), ("XTSE0180", "loop.xsl"));
}

#[test]
fn deep_stylesheets_are_refused_before_they_fill_the_stack() {
    let deep = |open: &str, close: &str, depth: usize| {
        let body = format!("{}{}", open.repeat(depth), close.repeat(depth));
        sheet("3.0", &format!("<xsl:template match='/'>{body}</xsl:template>"))
    };
    let check = |open: &str, close: &str, levels: usize| {
        let allowed = deep(open, close, 190 / levels);
        assert!(compile(allowed.as_bytes(), "a", &NoResolver, &[]).is_ok(), "{open}");
        let Err(problems) = compile(deep(open, close, 10_000).as_bytes(), "a", &NoResolver, &[]) else {
            panic!("{open}")
        };
        assert_eq!(problems[0].code, "XML");
    };
    check("<a>", "</a>", 1);
    check("<xsl:for-each select='a'>", "</xsl:for-each>", 1);
    check("<xsl:variable name='a' as='item()'>", "</xsl:variable>", 1);
    check("<xsl:choose><xsl:when test='a'>", "</xsl:when></xsl:choose>", 2);
    check("<xsl:try><xsl:catch>", "</xsl:catch></xsl:try>", 2);
    check("<xsl:iterate select='a'><xsl:param name='b'>", "</xsl:param></xsl:iterate>", 2);
    check("<xsl:next-match><xsl:with-param name='b'>", "</xsl:with-param></xsl:next-match>", 2);
    check("<xsl:for-each select='a'><xsl:sort>", "</xsl:sort></xsl:for-each>", 2);
}

#[test]
fn names_are_numbered_over_all_expressions() {
    let program = compiled("1.0", "<xsl:template match='a|b'><xsl:value-of select='a/p:c'/></xsl:template>");
    let names: Vec<String> = program.names.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["a", "b", "{urn:p}c"]);
}
