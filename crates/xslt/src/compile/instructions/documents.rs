//! Instructions about whole documents: `xsl:result-document` and `xsl:source-document` (XSLT 3.0 §25.1 and §18.1), and
//! EXSLT's `exsl:document`.

use std::rc::Rc;

use super::super::element::Element;
use super::super::here::Here;
use super::super::problems::Made;
use super::super::specs;
use crate::compile::compiler::Compiler;
use crate::program::{Avt, Kind, ResultDocument, SourceDocument, Writer};

/// The attributes of `exsl:document` that those of `xsl:output` have the names and values of.
const OUTPUT_OF_EXSLT: [&str; 10] = [
    "method",
    "version",
    "encoding",
    "omit-xml-declaration",
    "standalone",
    "doctype-public",
    "doctype-system",
    "cdata-section-elements",
    "indent",
    "media-type",
];

pub(in crate::compile) fn result_document<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    let href = compiler.template(element, "href", here);
    let format = compiler.template(element, "format", here);
    let parameter_document = compiler.template(element, "parameter-document", here);
    let mut attributes = Vec::new();
    let mut characters = Vec::new();
    for attribute in element.attributes().filter(|attribute| attribute.name().namespace.is_empty()) {
        let local = attribute.name().local;
        match local {
            "href" | "format" | "parameter-document" | "type" | "validation" => {}
            "use-character-maps" => {
                let at = attribute.at();
                for name in compiler.qnames(&attribute, here)? {
                    characters.extend(compiler.characters_of(&name, at));
                }
            }
            _ if specs::is_standard(local) || !specs::is_of(element, local) => {}
            _ => {
                let name = if local == "output-version" { "version" } else { local };
                attributes.push(compiler.avt(&attribute, here).map(|value| (name.into(), value)));
            }
        }
    }
    let attributes: Vec<(Box<str>, Avt)> = attributes.into_iter().collect::<Made<_>>()?;
    for (name, value) in &attributes {
        compiler.check_output(element, name, value, here)?;
    }
    let scope = compiler.scope(here);
    let body = compiler.block(element, here);
    Ok(Kind::ResultDocument(Box::new(ResultDocument {
        href: href?,
        format: format?,
        attributes,
        characters,
        parameter_document: parameter_document?,
        scope,
        body,
        writer: Writer::Standard,
    })))
}

/// `exsl:document`, and `saxon:output` with an `href`
///
/// Source: <http://exslt.org/exsl/elements/document/>; as in libxslt, other attributes are left out of account.
pub(in crate::compile) fn exslt_document<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    let href = compiler.required_template(element, "href", here);
    let mut attributes = Vec::new();
    for attribute in element.attributes().filter(|attribute| attribute.name().namespace.is_empty()) {
        let local = attribute.name().local;
        if OUTPUT_OF_EXSLT.contains(&local) {
            attributes.push(compiler.avt(&attribute, here).map(|value| (local.into(), value)));
        }
    }
    let scope = compiler.scope(here);
    let body = compiler.block(element, here);
    Ok(Kind::ResultDocument(Box::new(ResultDocument {
        href: Some(href?),
        format: None,
        attributes: attributes.into_iter().collect::<Made<_>>()?,
        characters: Vec::new(),
        parameter_document: None,
        scope,
        body,
        writer: Writer::Exslt,
    })))
}

pub(in crate::compile) fn source_document<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    let href = compiler.required_template(element, "href", here);
    compiler.flag(element, "streamable")?;
    let accumulators = compiler.used_accumulators(element, here);
    let scope = compiler.scope(here);
    let body = compiler.block(element, here);
    Ok(Kind::SourceDocument(Box::new(SourceDocument { href: href?, scope, accumulators: accumulators?, body })))
}
