//! What the W3C's suite says of a result.

use std::path::Path;

use myelin_xml::{Document, Kind, NodeId};
use myelin_xpath::{Argument, Context, Declared, Environment, Expression, NoHost, NodeRef, Version};

use super::environment::attribute;
use crate::xslt::compare::{self, Space, clipped, decoded, same, same_tree};
use crate::xslt::engine::{Failure, Made};

/// How a case ended.
pub(super) type Outcome = Result<Made, Failure>;

/// How far a result is from what is asserted.
pub(crate) enum Verdict {
    Holds,
    /// An error was expected, and it is this one.
    SameCode,
    /// An error was expected, and it is another one.
    OtherCode,
    Fails(String),
    /// Nothing that can be judged here, with the reason.
    Unjudged(&'static str),
}

impl From<Result<(), String>> for Verdict {
    fn from(result: Result<(), String>) -> Verdict {
        result.map_or_else(Verdict::Fails, |()| Verdict::Holds)
    }
}

/// Whether the result is as an assertion wants it.
pub(super) fn judge(set: &Document, assertion: NodeId, outcome: &Outcome, folder: &Path) -> Verdict {
    let parts = || set.children(assertion).filter(|&part| set.kind(part) == Kind::Element);
    let name = set.qname(assertion).local;
    if let Err(failure @ Failure::Error { message, .. }) = outcome
        && message.contains("is not offered")
    {
        // Nothing was done, so nothing that is expected came of it: no error either.
        return Verdict::Fails(failure.to_string());
    }
    match name {
        "all-of" => {
            let mut judged = Verdict::Holds;
            for part in parts() {
                match judge(set, part, outcome, folder) {
                    Verdict::Holds => {}
                    error @ (Verdict::SameCode | Verdict::OtherCode) => judged = error,
                    other => return other,
                }
            }
            return judged;
        }
        "any-of" => return any_of(parts().map(|part| judge(set, part, outcome, folder))),
        "not" => {
            return match parts().next().map(|part| judge(set, part, outcome, folder)) {
                Some(Verdict::Fails(_)) => Verdict::Holds,
                Some(Verdict::Unjudged(reason)) => Verdict::Unjudged(reason),
                _ => Verdict::Fails("what must not hold holds".to_owned()),
            };
        }
        "error" | "assert-serialization-error" => {
            let wanted = attribute(set, assertion, "code").unwrap_or_default();
            return match outcome {
                Err(Failure::Error { code, .. }) if wanted == "*" || *code == wanted => Verdict::SameCode,
                // What ends by a limit did not see the error.
                Err(Failure::Error { code, .. }) if code != "LIMIT" => Verdict::OtherCode,
                Err(failure) => Verdict::Fails(failure.to_string()),
                Ok(made) => Verdict::Fails(format!("{wanted} is expected, and there is {}", shown(made))),
            };
        }
        _ => {}
    }
    let made = match outcome {
        Ok(made) => made,
        Err(failure) => return Verdict::Fails(failure.to_string()),
    };
    let text = set.string_value(assertion).into_owned();
    let expected = || match attribute(set, assertion, "file") {
        Some(file) => std::fs::read(folder.join(file)).map_err(|error| error.to_string()),
        None => Ok(text.clone().into_bytes()),
    };
    // White space between tags is what most makers of cases did not care for.
    let space = made.space;
    match name {
        "assert" => asked(set, assertion, made, &text).into(),
        "assert-xml" => expected().and_then(|expected| same_tree(&expected, &made.output, space)).into(),
        "assert-serialization" => expected().and_then(|expected| same(&expected, &made.output, Space::Indents)).into(),
        "assert-string-value" => string_value(set, assertion, made, &text).into(),
        "serialization-matches" => {
            let flags = attribute(set, assertion, "flags").unwrap_or_default();
            matches(&compare::decoded_with_mark(&made.output), &text, &flags).into()
        }
        "assert-message" => {
            let heard = made.messages.iter().any(|message| {
                let outcome = Ok(Made::alone(message.clone().into_bytes(), Space::Counts));
                parts().all(|part| matches!(judge(set, part, &outcome, folder), Verdict::Holds))
            });
            if heard {
                Verdict::Holds
            } else {
                Verdict::Fails(format!("no message is as expected: {:?}", made.messages))
            }
        }
        "assert-result-document" => {
            let uri = attribute(set, assertion, "uri").unwrap_or_default();
            let ending = format!("/{}", uri.trim_start_matches("./"));
            let Some((_, other)) = made.others.iter().find(|(known, _)| known.ends_with(&ending) || *known == uri)
            else {
                let known: Vec<_> = made.others.iter().map(|(known, _)| known).collect();
                return Verdict::Fails(format!("{uri} is not written, only {known:?}"));
            };
            let other = Ok(Made::alone(other.output.clone(), other.space));
            let judged = parts().map(|part| judge(set, part, &other, folder));
            judged.into_iter().find(|verdict| !matches!(verdict, Verdict::Holds)).unwrap_or(Verdict::Holds)
        }
        "assert-empty" if made.output.is_empty() => Verdict::Holds,
        "assert-empty" => Verdict::Fails(format!("nothing is expected, and there is {}", shown(made))),
        _ => Verdict::Unjudged("is judged by an assertion that is not known here"),
    }
}

fn any_of(judged: impl Iterator<Item = Verdict>) -> Verdict {
    let mut reasons = Vec::new();
    let mut nearly = None;
    for verdict in judged {
        match verdict {
            holds @ (Verdict::Holds | Verdict::SameCode) => return holds,
            Verdict::Fails(reason) => reasons.push(reason),
            other => nearly = Some(other),
        }
    }
    nearly.unwrap_or_else(|| Verdict::Fails(reasons.join("; or ")))
}

fn shown(made: &Made) -> String {
    format!("{:?}", clipped(&decoded(&made.output)))
}

fn string_value(set: &Document, assertion: NodeId, made: &Made, text: &str) -> Result<(), String> {
    let output = decoded(&made.output);
    let found = match compare::xml::result_tree(&output) {
        Some(tree) => tree.string_value(tree.document_node()).into_owned(),
        None => output,
    };
    // White space does not count unless the suite says so.
    let normal = |text: &str| text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    let loose = attribute(set, assertion, "normalize-space").is_none_or(|value| value == "true");
    match if loose { normal(&found) == normal(text) } else { found == text } {
        true => Ok(()),
        false => Err(format!("{:?} is expected, and there is {:?}", clipped(text), clipped(&found))),
    }
}

/// Whether a pattern of XPath's fits somewhere: `regex` knows all that the suite uses of it.
fn matches(text: &str, pattern: &str, flags: &str) -> Result<(), String> {
    let with_flags = if flags.is_empty() { pattern.to_owned() } else { format!("(?{flags}){pattern}") };
    let compiled = regex::Regex::new(&with_flags).map_err(|error| error.to_string())?;
    match compiled.is_match(text) {
        true => Ok(()),
        false => Err(format!("{:?} does not match {:?}", clipped(text), clipped(pattern))),
    }
}

/// Whether an expression is true at the root of the result.
fn asked(set: &Document, assertion: NodeId, made: &Made, expression: &str) -> Result<(), String> {
    let output = decoded(&made.output);
    let tree = compare::xml::result_tree(&output).ok_or_else(|| format!("the result is no XML: {}", shown(made)))?;
    let mut scope = Scope { set, element: assertion };
    let compiled = Expression::compile(expression, &mut scope).map_err(|error| format!("{expression:?}: {error}"))?;
    let context = Context::new(&NoHost).at(NodeRef::new(&tree, tree.document_node()));
    match compiled.evaluate(&context) {
        Ok(value) if value.boolean() => Ok(()),
        Ok(_) => Err(format!("{:?} is false: there is {}", clipped(expression), shown(made))),
        Err(error) => Err(format!("{:?}: {error}", clipped(expression))),
    }
}

/// The prefixes at an assertion.
struct Scope<'s> {
    set: &'s Document,
    element: NodeId,
}

impl Environment for Scope<'_> {
    fn namespace(&self, prefix: &str) -> Option<String> {
        self.set.lookup_namespace(self.element, prefix).map(str::to_owned)
    }

    fn variable(&mut self, _: Option<&str>, local: &str) -> Result<u32, String> {
        Err(format!("${local} is not known"))
    }

    fn function(&mut self, _: &str, _: Option<&str>, _: &[Argument<'_>]) -> Result<Option<Declared>, String> {
        Ok(None)
    }

    fn version(&self) -> Version {
        Version::V3
    }
}
