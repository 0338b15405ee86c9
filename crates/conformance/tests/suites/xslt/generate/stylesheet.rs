//! A stylesheet and the one that it imports.

use super::expression::{End, Scope, Type};
use super::instruction::{NAMED, Place, content};
use super::{Chance, MODES, NAMESPACES};

/// Where a template stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Module {
    Main,
    Imported,
}

/// The text of both: the stylesheet, and the one it imports as `imported.xsl`.
pub(super) fn stylesheets(chance: &mut Chance) -> (String, String) {
    let mut out = open(chance);
    out += "<xsl:import href=\"imported.xsl\"/>\n";
    let mut scope = Scope::default();
    declarations(chance, &mut scope, &mut out);
    // Everything begins at the root, so that a pair is about more than built-in templates.
    rule(chance, &scope, Module::Main, "/", true, &mut out);
    for _ in 0..2 + chance.below(5) {
        some_rule(chance, &scope, Module::Main, &mut out);
    }
    for number in 0..NAMED {
        named(chance, &scope, number, &mut out);
    }
    out += "</xsl:stylesheet>\n";

    let mut imported = open(chance);
    for _ in 0..1 + chance.below(3) {
        // Nothing global: only the importing stylesheet surely declares it.
        some_rule(chance, &Scope::default(), Module::Imported, &mut imported);
    }
    imported += "</xsl:stylesheet>\n";
    (out, imported)
}

fn open(chance: &mut Chance) -> String {
    let excluded = chance.pick(&["", "", " exclude-result-prefixes=\"p q\"", " exclude-result-prefixes=\"q\""]);
    format!(
        "<xsl:stylesheet version=\"1.0\" xmlns:xsl=\"http://www.w3.org/1999/XSL/Transform\" {NAMESPACES}{excluded}>\n"
    )
}

/// Output, white space, keys, attribute sets and global variables.
fn declarations(chance: &mut Chance, scope: &mut Scope, out: &mut String) {
    *out += match chance.below(12) {
        0 => "<xsl:output method=\"text\"/>\n",
        1 => "<xsl:output method=\"html\"/>\n",
        2 => "<xsl:output omit-xml-declaration=\"yes\"/>\n",
        3 => "<xsl:output cdata-section-elements=\"a p:a\"/>\n",
        4 => "<xsl:output encoding=\"ISO-8859-1\"/>\n",
        _ => "",
    };
    *out += match chance.below(6) {
        0 => "<xsl:strip-space elements=\"*\"/>\n",
        1 => "<xsl:strip-space elements=\"a p:*\"/>\n",
        2 => "<xsl:strip-space elements=\"*\"/>\n<xsl:preserve-space elements=\"b\"/>\n",
        _ => "",
    };
    if chance.one_in(2) {
        let inside = Scope { no_current: true, ..Scope::default() };
        let attributes = chance.one_in(6);
        let matched = inside.pattern(chance, attributes);
        *out += &format!(
            "<xsl:key name=\"k\" match=\"{matched}\" use=\"{}\"/>\n",
            chance.pick(&["@x", ".", "@*", "name()"])
        );
        scope.key = true;
    }
    *out += "<xsl:attribute-set name=\"s\"><xsl:attribute name=\"y\">set</xsl:attribute>";
    if chance.one_in(2) {
        *out += &format!(
            "<xsl:attribute name=\"x\"><xsl:value-of select=\"{}\"/></xsl:attribute>",
            scope.number(chance, 1)
        );
    }
    *out += "</xsl:attribute-set>\n";
    for number in 0..chance.below(3) {
        let (select, held) = scope.any(chance, 2);
        let kind = chance.pick(&["variable", "param"]);
        *out += &format!("<xsl:{kind} name=\"g{number}\" select=\"{select}\"/>\n");
        scope.variables.push((format!("g{number}"), held));
    }
}

/// A template for something, of some priority in some mode.
fn some_rule(chance: &mut Chance, scope: &Scope, module: Module, out: &mut String) {
    let attributes = chance.one_in(6);
    let pattern = scope.pattern(chance, attributes);
    rule(chance, scope, module, &pattern, !attributes, out);
}

fn rule(chance: &mut Chance, scope: &Scope, module: Module, pattern: &str, in_tree: bool, out: &mut String) {
    *out += &format!("<xsl:template match=\"{pattern}\"");
    if pattern != "/" {
        if chance.one_in(3) {
            *out += &format!(" mode=\"{}\"", chance.pick(&MODES));
        }
        if chance.one_in(4) {
            *out += &format!(" priority=\"{}\"", chance.pick(&["-1", "0", "0.5", "2"]));
        }
    }
    *out += ">\n";
    let mut scope = scope.clone();
    if chance.one_in(3) {
        parameter(chance, &mut scope, out);
    }
    let place = Place { scope, in_tree, may_apply: in_tree, callable: 0, depth: 3 };
    if pattern == "/" {
        *out += "<out>";
        content(chance, &place, out);
        *out += "<xsl:apply-templates/></out>";
    } else {
        content(chance, &place, out);
        if in_tree && chance.one_in(2) {
            *out += "<xsl:apply-templates/>";
        }
    }
    if module == Module::Main && chance.one_in(4) {
        *out += "<xsl:apply-imports/>";
    }
    *out += "\n</xsl:template>\n";
}

fn named(chance: &mut Chance, scope: &Scope, number: usize, out: &mut String) {
    *out += &format!("<xsl:template name=\"t{number}\">\n");
    let mut scope = scope.clone();
    parameter(chance, &mut scope, out);
    // The caller's context node may be an attribute.
    let place = Place { scope, in_tree: false, may_apply: false, callable: number + 1, depth: 2 };
    content(chance, &place, out);
    *out += "\n</xsl:template>\n";
}

/// A parameter that is used as a text, as what is passed may be of any type.
fn parameter(chance: &mut Chance, scope: &mut Scope, out: &mut String) {
    *out += &format!("<xsl:param name=\"v\" select=\"{}\"/>", scope.nodes(chance, 1, End::Anywhere));
    scope.variables.push(("v".to_owned(), Type::Text));
}
