//! The content of templates.

use super::expression::{End, Scope, Type};
use super::{Chance, MODES, NAMES, WORDS};

/// Where content stands, and what it may do there.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) scope: Scope,
    /// Whether the context node surely is no attribute, so that it may be copied behind other nodes.
    pub(super) in_tree: bool,
    /// Whether templates may be applied: to what is below, and not too often.
    pub(super) may_apply: bool,
    /// The first named template that may be called.
    pub(super) callable: usize,
    pub(super) depth: usize,
}

/// How many named templates there are.
pub(super) const NAMED: usize = 3;

/// Some instructions, none of which makes an attribute; declares what they need on the way.
pub(super) fn content(chance: &mut Chance, place: &Place, out: &mut String) {
    let mut place = place.clone();
    for _ in 0..1 + chance.below(3) {
        if chance.one_in(5) {
            variable(chance, &mut place, out);
        }
        instruction(chance, &mut place, out);
    }
}

fn variable(chance: &mut Chance, place: &mut Place, out: &mut String) {
    // No name twice in a template, whatever is declared around: the length of the list goes into it.
    let name = format!("v{}", place.scope.variables.len());
    if chance.one_in(4) && place.depth > 0 {
        *out += &format!("<xsl:variable name=\"{name}\">");
        let mut inside = place.clone();
        inside.depth -= 1;
        content(chance, &inside, out);
        *out += "</xsl:variable>";
        place.scope.variables.push((name, Type::Fragment));
    } else {
        let (select, held) = place.scope.any(chance, 2);
        *out += &format!("<xsl:variable name=\"{name}\" select=\"{select}\"/>");
        place.scope.variables.push((name, held));
    }
}

fn instruction(chance: &mut Chance, place: &mut Place, out: &mut String) {
    let scope = &place.scope;
    if place.depth == 0 {
        return leaf(chance, scope, out);
    }
    let mut inside = place.clone();
    inside.depth -= 1;
    match chance.below(18) {
        0..3 => element(chance, &inside, out),
        3 => {
            *out += &format!("<xsl:if test=\"{}\">", scope.boolean(chance, 2));
            content(chance, &inside, out);
            *out += "</xsl:if>";
        }
        4 => {
            *out += "<xsl:choose>";
            for _ in 0..1 + chance.below(2) {
                *out += &format!("<xsl:when test=\"{}\">", scope.boolean(chance, 2));
                content(chance, &inside, out);
                *out += "</xsl:when>";
            }
            *out += "<xsl:otherwise>";
            content(chance, &inside, out);
            *out += "</xsl:otherwise></xsl:choose>";
        }
        5 | 6 => {
            let end = if chance.one_in(3) { End::Anywhere } else { End::InTree };
            *out += &format!("<xsl:for-each select=\"{}\">", scope.nodes(chance, 2, end));
            sort(chance, scope, out);
            (inside.in_tree, inside.may_apply) = (end == End::InTree, false);
            content(chance, &inside, out);
            *out += "</xsl:for-each>";
        }
        7..=9 if place.may_apply => {
            // Once in a template is enough: each further time multiplies what there is to do.
            place.may_apply = false;
            apply(chance, scope, out);
        }
        11 if place.callable < NAMED => {
            let name = place.callable + chance.below(NAMED - place.callable);
            *out += &format!("<xsl:call-template name=\"t{name}\">");
            if chance.one_in(2) {
                *out += &format!("<xsl:with-param name=\"v\" select=\"{}\"/>", scope.any(chance, 2).0);
            }
            *out += "</xsl:call-template>";
        }
        12 if place.in_tree => {
            let sets = if chance.one_in(3) { " use-attribute-sets=\"s\"" } else { "" };
            *out += &format!("<xsl:copy{sets}>");
            content(chance, &inside, out);
            *out += "</xsl:copy>";
        }
        13 => *out += &format!("<xsl:copy-of select=\"{}\"/>", scope.nodes(chance, 2, End::InTree)),
        _ => leaf(chance, scope, out),
    }
}

/// Instructions without content.
fn leaf(chance: &mut Chance, scope: &Scope, out: &mut String) {
    match chance.below(12) {
        0 => *out += &format!("<xsl:text>{}</xsl:text>", chance.pick(&[" ", "one", "&lt;&amp;", "\n"])),
        1 => *out += chance.pick(&WORDS),
        2 => *out += "<xsl:comment>said</xsl:comment>",
        3 => *out += "<xsl:processing-instruction name=\"made\">so</xsl:processing-instruction>",
        4 => number(chance, out),
        5 => {
            let fragment = scope.variables.iter().rfind(|(_, held)| *held == Type::Fragment);
            match fragment {
                Some((name, _)) => *out += &format!("<xsl:copy-of select=\"${name}\"/>"),
                None => *out += &format!("<xsl:copy-of select=\"{}\"/>", scope.number(chance, 2)),
            }
        }
        _ => *out += &format!("<xsl:value-of select=\"{}\"/>", scope.any(chance, 3).0),
    }
}

fn number(chance: &mut Chance, out: &mut String) {
    let format = chance.pick(&["1", "a", "A", "i", "I", "01", "1.a"]);
    *out += &match chance.below(4) {
        0 => format!("<xsl:number value=\"{}\" format=\"{format}\"/>", 1 + chance.below(60)),
        1 => "<xsl:for-each select=\"*\"><xsl:number/></xsl:for-each>".to_owned(),
        _ => {
            let level = chance.pick(&["single", "multiple", "any"]);
            let format = if level == "any" { "01" } else { format };
            let count = chance.pick(&["a", "b", "*", "a|b", "p:a|c", "*[@x]"]);
            format!("<xsl:number level=\"{level}\" count=\"{count}\" format=\"{format}\"/>")
        }
    };
}

/// An element with attributes first and content behind them.
fn element(chance: &mut Chance, place: &Place, out: &mut String) {
    let scope = &place.scope;
    let end = match chance.below(4) {
        0 => {
            let space = if chance.one_in(2) { " namespace=\"u:6\"" } else { "" };
            *out += &format!("<xsl:element name=\"e{{boolean({})}}\"{space}", scope.boolean(chance, 1));
            "</xsl:element>".to_owned()
        }
        _ => {
            let name = chance.pick(&NAMES);
            *out += &format!("<{name}");
            if chance.one_in(3) {
                *out += &format!(" x=\"{{{}}}\"", scope.text(chance, 2));
            }
            if chance.one_in(5) {
                *out += &format!(" q:y=\"{}-{{{}}}\"", chance.pick(&WORDS), scope.number(chance, 2));
            }
            if chance.one_in(8) {
                *out += " xsl:use-attribute-sets=\"s\"";
            }
            format!("</{name}>")
        }
    };
    out.push('>');
    if chance.one_in(5) {
        *out += "<xsl:copy-of select=\"@*\"/>";
    }
    if chance.one_in(4) {
        *out += &format!("<xsl:attribute name=\"{}\">", chance.pick(&["z", "x", "p:z"]));
        *out += &format!("<xsl:value-of select=\"{}\"/></xsl:attribute>", scope.any(chance, 2).0);
    }
    content(chance, place, out);
    *out += &end;
}

fn apply(chance: &mut Chance, scope: &Scope, out: &mut String) {
    let select = match chance.below(4) {
        0 => "@*".to_owned(),
        1 => scope.nodes(chance, 1, End::Below),
        _ => String::new(),
    };
    *out += "<xsl:apply-templates";
    if !select.is_empty() {
        *out += &format!(" select=\"{select}\"");
    }
    if chance.one_in(3) {
        *out += &format!(" mode=\"{}\"", chance.pick(&MODES));
    }
    out.push('>');
    sort(chance, scope, out);
    if chance.one_in(4) {
        *out += &format!("<xsl:with-param name=\"v\" select=\"{}\"/>", scope.any(chance, 2).0);
    }
    *out += "</xsl:apply-templates>";
}

fn sort(chance: &mut Chance, scope: &Scope, out: &mut String) {
    for _ in 0..chance.below(6).saturating_sub(3) {
        let kind = chance.pick(&["text", "number"]);
        let order = chance.pick(&["ascending", "descending"]);
        *out += &format!("<xsl:sort select=\"{}\" data-type=\"{kind}\" order=\"{order}\"/>", scope.text(chance, 1));
    }
}
