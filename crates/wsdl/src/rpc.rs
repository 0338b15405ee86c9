//! Messages of the RPC style as elements.
//!
//! What travels is the same: the body of an RPC message is one element, named for its operation, with one unqualified
//! child for each part. Saying so by a schema makes every operation one of the document style, as Axis2 does.

use crate::SCHEMA;
use crate::described::{Content, Description, Part, Use};
use crate::page::escaped;
use crate::prefixes::Prefixes;
use crate::qname::QName;

/// Turns each operation of the RPC style into one of the document style.
pub(crate) fn wrap(description: &mut Description) {
    let mut schemas: Vec<(String, Prefixes, String)> = Vec::new();
    for operation in &mut description.operations {
        let Some(namespace) = operation.rpc.take() else { continue };
        let index = schemas.iter().position(|(it, ..)| *it == namespace).unwrap_or_else(|| {
            let mut prefixes = Prefixes::new([]);
            prefixes.of(SCHEMA, "xs");
            schemas.push((namespace.clone(), prefixes, String::new()));
            schemas.len() - 1
        });
        let (_, prefixes, elements) = &mut schemas[index];
        if let Some(input) = &mut operation.input {
            let name = QName { namespace: namespace.clone(), local: operation.name.clone() };
            element(input, &name, prefixes, elements);
            operation.element = Some(name);
        }
        if let Some(output) = &mut operation.output {
            let name = QName { namespace, local: format!("{}Response", operation.name) };
            element(output, &name, prefixes, elements);
        }
    }
    let made = schemas.into_iter().map(|(namespace, prefixes, elements)| {
        let mut declarations = String::new();
        for (prefix, bound) in prefixes.used() {
            declarations.push_str(&format!(" xmlns:{prefix}=\"{}\"", escaped(bound)));
        }
        if !namespace.is_empty() {
            declarations.push_str(&format!(" targetNamespace=\"{}\"", escaped(&namespace)));
        }
        format!("<xs:schema{declarations}>\n{elements}</xs:schema>")
    });
    description.made_schemas = made.collect();
}

/// Says in a schema what a message holds, and that it is this element.
fn element(used: &mut Use, name: &QName, prefixes: &mut Prefixes, schema: &mut String) {
    let in_body = |part: &&Part| match &used.body_parts {
        Some(parts) => parts.split_ascii_whitespace().any(|it| it == part.name),
        None => true,
    };
    schema.push_str(&format!(
        "  <xs:element name=\"{}\">\n    <xs:complexType>\n      <xs:sequence>\n",
        escaped(&name.local)
    ));
    for part in used.message.parts.iter().filter(in_body) {
        let line = match &part.content {
            Content::Type(it) => {
                let kind = prefixes.name(&it.namespace, &it.local);
                format!(
                    "<xs:element form=\"unqualified\" name=\"{}\" nillable=\"true\" type=\"{kind}\"/>",
                    escaped(&part.name)
                )
            }
            Content::Element(it) => format!("<xs:element ref=\"{}\"/>", prefixes.name(&it.namespace, &it.local)),
            Content::Any => "<xs:any processContents=\"skip\"/>".to_owned(),
        };
        schema.push_str(&format!("        {line}\n"));
    }
    schema.push_str("      </xs:sequence>\n    </xs:complexType>\n  </xs:element>\n");
    used.body_parts = None;
    used.message.parts = vec![Part { name: "parameters".to_owned(), content: Content::Element(name.clone()) }];
}
