//! The layers of the house: which crate may know which, and which folder inside a crate.

use std::collections::BTreeSet;

use super::modules::Modules;
use crate::layers::LAYERS;
use crate::packages::packages;

/// Modules at the top of a crate, the lowest first: a folder or file uses those of lower rows only. What is not listed
/// is free.
const FOLDERS: &[(&str, &[&[&str]])] = &[
    (
        "xml",
        &[
            &["characters", "error", "options", "sink", "value"],
            &["encoding", "names"],
            &["event"],
            &["parser"],
            &["document"],
            &["writer"],
            &["c14n"],
        ],
    ),
    (
        "xslt",
        &[
            &["name", "numbering", "pattern", "place", "resolver", "stack"],
            &["output", "scope"],
            &["options"],
            &["error", "functions"],
            &["program"],
            &["compile", "explain", "stream"],
            &["run"],
            &["stylesheet"],
        ],
    ),
    ("json", &[&["error", "words"], &["text"], &["reader"], &["convert", "value"], &["path"], &["stream"]]),
    (
        "wss",
        &[
            &["algorithm", "limits", "side", "time", "vocabulary", "writing"],
            &["crypto", "error"],
            &["ids", "keys", "policy", "replay", "structure"],
            &["binary", "findings"],
            &["dsig", "guard", "token"],
            &["enc"],
            &["incoming", "outgoing"],
        ],
    ),
    (
        "wsdl",
        &[
            &["error", "options", "page", "qname"],
            &["described", "fragment", "node", "prefixes"],
            &["documents", "rpc"],
            &["policies", "wsdl11", "wsdl20"],
            &["piece", "read"],
            &["generate"],
            &["publish"],
        ],
    ),
    (
        "script",
        &[
            &["error", "lexer", "limits", "xpath"],
            &["facts"],
            &["convert", "refusal", "script"],
            &["machine"],
            &["compile", "engine"],
        ],
    ),
    (
        "sql",
        &[
            &["failure", "limits", "moment", "placeholders", "worker"],
            &["answer", "target"],
            &["connection"],
            &["pool"],
        ],
    ),
    (
        // `spec` and `loader` know each other: a mediator is built by the loader, and builds those inside it with it.
        "artefacts",
        &[
            &["message_edits", "message_parts", "placeholders", "splitting", "uri_parts", "vocabulary"],
            &["loader"],
            &[
                "cache",
                "conditions",
                "datasources",
                "descriptions",
                "dynamic_mediator",
                "guards",
                "inbound",
                "inner_sequence",
                "templates",
                "throttle",
                "values",
            ],
            &["aggregation", "databases", "endpoints", "stylesheets", "tasks"],
            &["apis", "branch_targets", "calls", "proxies", "schemas"],
            &["mediators"],
        ],
    ),
    (
        "bench",
        &[
            &["listening", "request", "security", "suite"],
            &["echo", "load", "relay", "stockquote"],
            &["convert", "report"],
            &["comparison"],
            &["command"],
        ],
    ),
];

fn row(rows: &[&[&str]], name: &str) -> Option<usize> {
    rows.iter().position(|row| row.contains(&name))
}

#[test]
fn crates_know_only_those_below_them() {
    let packages = packages().unwrap();
    let mut complaints = Vec::new();
    for package in &packages {
        let name = &package.name;
        let Some(own) = row(LAYERS, name) else {
            complaints.push(format!("{name} has no layer"));
            continue;
        };
        for other in &package.dependencies {
            if row(LAYERS, other).is_some_and(|other| other >= own) {
                complaints.push(format!("{name} depends on {other}, which is not below it"));
            }
        }
    }
    for name in LAYERS.iter().copied().flatten() {
        if !packages.iter().any(|package| package.name == *name) {
            complaints.push(format!("{name} has a layer, and is no crate"));
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn folders_know_only_those_below_them() {
    let packages = packages().unwrap();
    let mut complaints = Vec::new();
    for (name, rows) in FOLDERS {
        let package =
            packages.iter().find(|package| package.name == *name).unwrap_or_else(|| panic!("no crate {name}"));
        let modules = Modules::read(&package.source());
        let top = |file: usize| modules.names[file].split('/').next().unwrap_or_default();
        let present: BTreeSet<&str> = (0..modules.names.len()).map(top).collect();
        for listed in rows.iter().copied().flatten().filter(|listed| !present.contains(*listed)) {
            complaints.push(format!("{name}: there is no module {listed} at its top"));
        }
        for (file, uses) in modules.uses.iter().enumerate() {
            for (&other, names) in uses.iter().filter(|(other, _)| top(**other) != top(file)) {
                let (Some(from), Some(to)) = (row(rows, top(file)), row(rows, top(other))) else { continue };
                if to >= from {
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    let (file, other) = (&modules.names[file], &modules.names[other]);
                    complaints
                        .push(format!("{name}: {file} uses {} of {other}, which is not below it", names.join(", ")));
                }
            }
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}
