//! The WS-Addressing actions of messages: as they are written, or as the standard says they are.

use crate::described::{Description, Operation, Use};

/// The action of an operation's input: what is written at it, else SOAP's own, else the default.
pub(super) fn input(description: &Description, operation: &Operation, used: &Use) -> String {
    let soap = Some(operation.action.clone()).filter(|action| !action.is_empty());
    let default = || {
        let kind = if operation.output.is_some() { "Request" } else { "" };
        pattern(description, &[&named(used, operation, kind)])
    };
    used.action.clone().or(soap).unwrap_or_else(default)
}

/// The action of an operation's output.
pub(super) fn output(description: &Description, operation: &Operation, used: &Use) -> String {
    used.action.clone().unwrap_or_else(|| pattern(description, &[&named(used, operation, "Response")]))
}

/// The action of a fault.
pub(super) fn fault(description: &Description, operation: &Operation, used: &Use) -> String {
    used.action.clone().unwrap_or_else(|| pattern(description, &[&operation.name, "Fault", &used.name]))
}

fn named(used: &Use, operation: &Operation, kind: &str) -> String {
    if used.name.is_empty() { format!("{}{kind}", operation.name) } else { used.name.clone() }
}

/// Source: WS-Addressing 1.0 Metadata §4.4.4.
fn pattern(description: &Description, parts: &[&str]) -> String {
    let namespace = &description.interface.namespace;
    let delimiter = if namespace.starts_with("urn:") { ":" } else { "/" };
    let mut action = namespace.strip_suffix(delimiter).unwrap_or(namespace).to_owned();
    for part in std::iter::once(&description.interface.local.as_str()).chain(parts) {
        action.push_str(delimiter);
        action.push_str(part);
    }
    action
}
