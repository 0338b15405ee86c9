//! The elements of XSLT: where each may stand and which attributes it has (XSLT 3.0 appendix D).

use std::rc::Rc;

use super::compiler::Compiler;
use super::element::{Attribute, Element, XSLT};
use super::here::{Here, STANDARD, truth};
use super::instructions::{
    analyze, apply, branches, construct, copies, documents, errors, evaluate, groups, iterate, loops, merge, messages,
    numbers,
};
use super::problems::{Made, Problems};
use super::variables;
use crate::program::Kind;

/// An element of XSLT.
pub(super) struct Spec {
    pub(super) name: &'static str,
    /// The attributes it may have beside the standard ones, with spaces between.
    attributes: &'static str,
    pub(super) role: Role,
}

/// Where an element stands.
pub(super) enum Role {
    /// Below the stylesheet element.
    Declaration,
    /// In a sequence constructor.
    Instruction(Build),
    /// Only within certain others, which look for it.
    Part,
}

/// Compiles one instruction.
pub(super) type Build = for<'s> fn(&mut Compiler<'s>, Element<'s>, &Rc<Here>) -> Made<Kind>;

/// The element of that local name.
pub(super) fn find(local: &str) -> Option<&'static Spec> {
    SPECS.iter().find(|spec| spec.name == local)
}

/// Whether XSLT has an element of that local name, and this crate offers it.
pub(crate) fn offers(local: &str) -> bool {
    find(local).is_some_and(|spec| {
        !matches!(spec.name, "import-schema" | "use-package" | "package" | "expose" | "accept" | "override")
    })
}

/// Refuses attributes that an element of XSLT does not have, and what asks for schemas.
pub(super) fn check_attributes(element: Element<'_>, here: &Here, problems: &mut Problems) {
    let Some(spec) = element.xslt().and_then(find) else { return };
    for attribute in element.attributes() {
        let name = attribute.name();
        let known = match name.namespace {
            "" => spec.has_attribute(name.local) || STANDARD.contains(&name.local) || here.is_forwards(),
            namespace => namespace != XSLT,
        };
        if !known {
            let message = format!("<{}> has no attribute {}", element.written(), attribute.written());
            // Processors of 1.0 let it pass, and stylesheets that went through them have such attributes.
            if here.is_backwards() && name.namespace.is_empty() {
                problems.warning(attribute.at(), "XTSE0090", message);
            } else {
                problems.error(attribute.at(), "XTSE0090", message);
            }
        } else if name.namespace.is_empty() {
            check_value(&attribute, problems);
        }
    }
}

/// Refuses values of attributes that make no difference here.
pub(super) fn check_value(attribute: &Attribute<'_>, problems: &mut Problems) {
    let asks_for_schema = match attribute.name().local {
        "inherit-namespaces" => {
            // A wrong word is noted, and the right ones say the same.
            let _: Made<bool> = truth(attribute, problems);
            false
        }
        "type" => true,
        "validation" | "default-validation" => {
            let word = attribute.trimmed();
            if !matches!(word, "strict" | "lax" | "preserve" | "strip") {
                let message = format!("{}={word:?} is none of strict, lax, preserve and strip", attribute.written());
                problems.error(attribute.at(), "XTSE0020", message);
            }
            word == "strict"
        }
        _ => false,
    };
    if asks_for_schema {
        let message = format!("{} needs a schema: there are none here", attribute.written());
        problems.error(attribute.at(), "XTSE1660", message);
    }
}

/// Whether every element of XSLT may have an attribute of that name.
pub(super) fn is_standard(local: &str) -> bool {
    STANDARD.contains(&local)
}

/// Whether an element of XSLT may have an attribute of that name beside those.
pub(super) fn is_of(element: Element<'_>, local: &str) -> bool {
    element.xslt().and_then(find).is_some_and(|spec| spec.has_attribute(local))
}

impl Spec {
    /// Whether it may have that attribute beside the standard ones.
    pub(super) fn has_attribute(&self, local: &str) -> bool {
        self.attributes.split(' ').any(|known| known == local)
    }
}

const fn declaration(name: &'static str, attributes: &'static str) -> Spec {
    Spec { name, attributes, role: Role::Declaration }
}

const fn instruction(name: &'static str, attributes: &'static str, build: Build) -> Spec {
    Spec { name, attributes, role: Role::Instruction(build) }
}

const fn part(name: &'static str, attributes: &'static str) -> Spec {
    Spec { name, attributes, role: Role::Part }
}

const OUTPUT: &str = "name method allow-duplicate-names build-tree byte-order-mark cdata-section-elements \
                      doctype-public doctype-system encoding escape-uri-attributes html-version \
                      include-content-type indent item-separator json-node-output-method media-type \
                      normalization-form omit-xml-declaration parameter-document standalone \
                      suppress-indentation undeclare-prefixes use-character-maps version";

const SPECS: &[Spec] = &[
    instruction("analyze-string", "select regex flags", analyze::analyze_string),
    instruction("apply-imports", "", apply::apply_imports),
    instruction("apply-templates", "select mode", apply::apply_templates),
    instruction("assert", "test select error-code", messages::assert),
    instruction("attribute", "name namespace select separator type validation", construct::attribute),
    declaration("attribute-set", "name use-attribute-sets streamable visibility"),
    instruction("break", "select", iterate::break_),
    instruction("call-template", "name", apply::call_template),
    part("catch", "errors select"),
    declaration("character-map", "name use-character-maps"),
    instruction("choose", "", branches::choose),
    instruction("comment", "select", construct::comment),
    part("context-item", "as use"),
    instruction("copy", "select copy-namespaces inherit-namespaces use-attribute-sets type validation", copies::copy),
    instruction("copy-of", "select copy-accumulators copy-namespaces type validation", copies::copy_of),
    declaration(
        "decimal-format",
        "name decimal-separator grouping-separator infinity minus-sign exponent-separator NaN percent per-mille \
         zero-digit digit pattern-separator",
    ),
    instruction("document", "validation type", construct::document),
    instruction("element", "name namespace inherit-namespaces use-attribute-sets type validation", construct::element),
    part("fallback", ""),
    instruction("for-each", "select", loops::for_each),
    instruction(
        "for-each-group",
        "select group-by group-adjacent group-starting-with group-ending-with composite collation",
        groups::for_each_group,
    ),
    declaration(
        "function",
        "name as visibility streamability override-extension-function override identity-sensitive cache \
         new-each-time",
    ),
    declaration("global-context-item", "as use"),
    instruction("if", "test", branches::if_),
    declaration("import", "href"),
    declaration("import-schema", "namespace schema-location"),
    declaration("include", "href"),
    instruction("iterate", "select", iterate::iterate),
    declaration("key", "name match use composite collation"),
    instruction("map", "", copies::map),
    instruction("map-entry", "key select", copies::map_entry),
    part("matching-substring", ""),
    instruction("message", "select terminate error-code", messages::message),
    declaration(
        "mode",
        "name streamable use-accumulators on-no-match on-multiple-match warning-on-no-match \
         warning-on-multiple-match typed visibility",
    ),
    instruction("namespace", "name select", construct::namespace),
    declaration("namespace-alias", "stylesheet-prefix result-prefix"),
    instruction("next-iteration", "", iterate::next_iteration),
    instruction("next-match", "", apply::next_match),
    part("non-matching-substring", ""),
    instruction(
        "number",
        "value select level count from format lang letter-value ordinal start-at grouping-separator grouping-size",
        numbers::number,
    ),
    part("on-completion", "select"),
    part("on-empty", "select"),
    part("on-non-empty", "select"),
    part("otherwise", ""),
    declaration("output", OUTPUT),
    part("output-character", "character string"),
    declaration("param", "name select as required tunnel static"),
    instruction("perform-sort", "select", loops::perform_sort),
    declaration("preserve-space", "elements"),
    instruction("processing-instruction", "name select", construct::processing_instruction),
    instruction("sequence", "select", copies::sequence),
    part("sort", "select lang order collation stable case-order data-type"),
    declaration("strip-space", "elements"),
    part("stylesheet", "id version default-mode default-validation input-type-annotations extension-element-prefixes"),
    declaration("template", "match name priority mode as visibility"),
    instruction("text", "disable-output-escaping", construct::text),
    part("transform", "id version default-mode default-validation input-type-annotations extension-element-prefixes"),
    instruction("try", "select rollback-output", errors::try_),
    instruction("value-of", "select separator disable-output-escaping", construct::value_of),
    instruction("variable", "name select as static visibility", variables::variable),
    part("when", "test"),
    instruction("where-populated", "", branches::where_populated),
    part("with-param", "name select as tunnel"),
    instruction(
        "result-document",
        "format href type validation method allow-duplicate-names build-tree byte-order-mark cdata-section-elements \
         doctype-public doctype-system encoding escape-uri-attributes html-version include-content-type indent \
         item-separator json-node-output-method media-type normalization-form omit-xml-declaration \
         parameter-document standalone suppress-indentation undeclare-prefixes use-character-maps output-version",
        documents::result_document,
    ),
    instruction("source-document", "href streamable use-accumulators type validation", documents::source_document),
    instruction(
        "evaluate",
        "xpath as base-uri with-params context-item namespace-context schema-aware",
        evaluate::evaluate,
    ),
    instruction("fork", "", copies::fork),
    instruction("merge", "", merge::merge),
    part("merge-action", ""),
    part("merge-key", "select lang order collation case-order data-type"),
    part(
        "merge-source",
        "name for-each-item for-each-source select streamable use-accumulators sort-before-merge type validation",
    ),
    declaration("accumulator", "name initial-value as streamable"),
    part("accumulator-rule", "match phase select"),
    part("package", "id name package-version declared-modes input-type-annotations"),
    declaration("use-package", "name package-version"),
    declaration("expose", "component names visibility"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_is_in_the_table_once() {
        let mut names: Vec<_> = SPECS.iter().map(|spec| spec.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
