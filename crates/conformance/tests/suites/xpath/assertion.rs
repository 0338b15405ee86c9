//! What QT3 says of a result.

use std::path::Path;

use myelin_xml::c14n::{Canonical, Method, Subset, canonicalize};
use myelin_xml::{Document, Kind, NodeId, Options, WriteOptions, write};
use myelin_xpath::{Item, NodeRef, Value, Version};

use crate::xpath::environment::{Failure, Scope};

/// How a case ended.
pub(crate) type Outcome = Result<Value<'static>, Failure>;

/// A case that only other processors can be judged by.
pub(crate) const UNJUDGED: &str = "judged by how a result is serialised";

/// Whether a result is as an assertion wants it; `Err`: why not.
pub(crate) fn holds(
    set: &Document,
    assertion: NodeId,
    outcome: &Outcome,
    scope: &Scope,
    folder: &Path,
) -> Result<(), String> {
    let name = set.qname(assertion).local;
    let parts = || set.children(assertion).filter(|child| set.kind(*child) == Kind::Element);
    match name {
        "all-of" => return parts().try_for_each(|part| holds(set, part, outcome, scope, folder)),
        "any-of" => {
            let reasons: Vec<String> =
                parts().map_while(|part| holds(set, part, outcome, scope, folder).err()).collect();
            return if reasons.len() < parts().count() { Ok(()) } else { Err(reasons.join("; or ")) };
        }
        "not" => {
            let inside = parts().all(|part| holds(set, part, outcome, scope, folder).is_err());
            return if inside { Ok(()) } else { Err("what must not hold holds".to_owned()) };
        }
        "error" => {
            let wanted = set.attribute(assertion, "", "code").unwrap_or_default();
            return match outcome {
                Err(failure) if wanted == "*" || failure.code() == wanted => Ok(()),
                Err(failure) => Err(format!("the error should be {wanted}, and is {failure}")),
                Ok(value) => Err(format!("the error {wanted} should be raised, and there is {}", shown(value))),
            };
        }
        _ => {}
    }
    let value = match outcome {
        Ok(value) => value,
        Err(failure) => return Err(failure.to_string()),
    };
    let text = set.string_value(assertion);
    let wrong = |what: &str| Err(format!("{what}: there is {}", shown(value)));
    match name {
        "assert-true" if matches!(value, Value::Item(Item::Atomic(_))) && value.boolean() => Ok(()),
        "assert-false" if matches!(value, Value::Item(Item::Atomic(_))) && !value.boolean() => Ok(()),
        "assert-true" | "assert-false" => wrong(name),
        "assert-empty" if value.is_empty() => Ok(()),
        "assert-empty" => wrong("nothing is expected"),
        "assert-count" if text.trim().parse() == Ok(value.len()) => Ok(()),
        "assert-count" => wrong(&format!("{text} items are expected")),
        "assert-string-value" => {
            let words: Vec<_> = value.items().map(|item| item.text(Version::V3).into_owned()).collect();
            let found = words.join(" ");
            let normal = |text: &str| text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
            let loose = set.attribute(assertion, "", "normalize-space").is_some_and(|value| value == "true");
            match if loose { normal(&found) == normal(&text) } else { found == *text } {
                true => Ok(()),
                false => wrong(&format!("{text:?} is expected")),
            }
        }
        "assert" => asked(scope, value, &text),
        "assert-eq" => asked(scope, value, &format!("$result eq ({text})")),
        "assert-deep-eq" => asked(scope, value, &format!("deep-equal($result, ({text}))")),
        "assert-type" => asked(scope, value, &format!("$result instance of {text}")),
        "assert-permutation" => {
            let matches = "every $x in ($result, $wanted) satisfies \
                           count($result[deep-equal(., $x)]) = count($wanted[deep-equal(., $x)])";
            asked(
                scope,
                value,
                &format!("let $wanted := ({text}) return count($result) = count($wanted) and ({matches})"),
            )
        }
        "assert-xml" => {
            let text = match set.attribute(assertion, "", "file") {
                Some(file) => std::fs::read_to_string(folder.join(&*file)).map_err(|error| error.to_string())?,
                None => text.into_owned(),
            };
            match same_xml(value, &text) {
                true => Ok(()),
                false => wrong(&format!("{text:?} is expected")),
            }
        }
        _ => Err(UNJUDGED.to_owned()),
    }
}

/// Whether an expression is true of the result.
fn asked(scope: &Scope, value: &Value<'static>, expression: &str) -> Result<(), String> {
    let mut scope = scope.clone();
    scope.variables.push(("result".to_owned(), value.clone()));
    match scope.run(expression) {
        Ok(answer) if answer.boolean() => Ok(()),
        Ok(_) => Err(format!("{expression:?} is false: there is {}", shown(value))),
        Err(failure) => Err(format!("{expression:?}: {failure}")),
    }
}

/// Whether the nodes of a result are the ones that a text describes.
fn same_xml(value: &Value<'_>, expected: &str) -> bool {
    let mut found = Vec::new();
    for item in value.items() {
        match &item {
            Item::Node(NodeRef { document, node }) => match node.tree() {
                // The XML declaration is not compared.
                Some(tree) if document.kind(tree) == Kind::Document => document
                    .children(tree)
                    .for_each(|child| write(document, child, &WriteOptions::default(), &mut found)),
                Some(tree) => write(document, tree, &WriteOptions::default(), &mut found),
                None => return false,
            },
            other => found.extend_from_slice(other.text(Version::V3).as_bytes()),
        }
    }
    let read = |inside: &str| {
        let body = match inside.trim_start().strip_prefix("<?xml") {
            Some(behind) => behind.split_once("?>").map_or("", |(_, body)| body),
            None => inside,
        };
        Document::parse(format!("<result>{}</result>", body.trim()).into_bytes(), &Options::default()).ok()
    };
    let (Some(one), Some(other)) = (read(&String::from_utf8_lossy(&found)), read(expected)) else { return false };
    let canonical = |document: &Document| {
        let mut out = Vec::new();
        let subset = Subset { apex: document.document_node(), excluded: &[] };
        canonicalize(document, subset, &Canonical::new(Method::Exclusive), &mut out).map(|()| out).ok()
    };
    canonical(&one) == canonical(&other)
}

fn shown(value: &Value<'_>) -> String {
    let items: Vec<_> =
        value.items().take(5).map(|item| item.text(Version::V3).chars().take(40).collect::<String>()).collect();
    format!("{} items, {items:?}", value.len())
}
