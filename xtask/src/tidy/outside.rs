//! The world around the bus: formats and mediation open no file and no socket, and read neither environment nor clock.
//!
//! What they need of it comes in through `Settings`, `Transport` and `Databases`, so that every scenario runs in memory.

use std::collections::BTreeSet;
use std::fs;

use super::modules::Modules;
use super::source::{Token, tokens};
use crate::packages::packages;

/// The crates that know nothing of the world.
const INSIDE: &[&str] = &[
    "java-text",
    "xml",
    "json",
    "soap",
    "wsdl",
    "xpath",
    "xslt",
    "freemarker",
    "script",
    "wss",
    "message",
    "content",
    "channel",
    "flow",
    "expression",
    "artefacts",
    "engine",
];

/// A file that touches something of the world nevertheless.
struct Exception {
    package: &'static str,
    file: &'static str,
    #[expect(dead_code, reason = "for those who read the list")]
    reason: &'static str,
}

const EXCEPTIONS: &[Exception] = &[
    Exception {
        package: "artefacts",
        file: "schemas/gathering",
        reason: "the library for W3C XML Schema finds what a schema includes in a folder only: schemas are laid into a \
                 temporary one, which is gone when they are compiled",
    },
    Exception { package: "artefacts", file: "schemas/xml", reason: "reads that folder" },
    Exception {
        package: "wss",
        file: "replay/journal",
        reason: "keeps what was accepted in a folder that the operator names; the server opens it",
    },
];

/// Modules of the standard library that lead outside.
const MODULES: &[&str] = &["env", "fs", "process"];

/// Names that lead outside, wherever they come from.
const NAMES: &[&str] = &["TcpListener", "TcpStream", "ToSocketAddrs", "UdpSocket", "UnixStream", "tempfile"];

/// Types whose `now` is the clock.
const CLOCKS: &[&str] = &["Instant", "SystemTime"];

#[test]
fn formats_and_mediation_touch_nothing_of_the_world() {
    let mut complaints = Vec::new();
    let packages = packages().unwrap();
    for name in INSIDE {
        let package = packages.iter().find(|package| package.name == *name);
        let package = package.unwrap_or_else(|| panic!("no crate {name}"));
        for file in Modules::read(&package.source()).names {
            let text = fs::read_to_string(package.sources().join(&file).with_extension("rs")).unwrap();
            let found: Vec<String> = touched(&tokens(&text)).into_iter().collect();
            let excepted = EXCEPTIONS.iter().any(|it| it.package == *name && it.file == file);
            if !found.is_empty() && !excepted {
                complaints.push(format!("{name}: {file} uses {}: take it from the settings", found.join(", ")));
            }
            if found.is_empty() && excepted {
                complaints.push(format!("{name}: {file} touches nothing any more: take it off the list"));
            }
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// What of the world some source uses.
fn touched(tokens: &[Token]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, token) in tokens.iter().enumerate() {
        let Some(word) = token.word() else { continue };
        // The name behind two colons.
        let next = || match tokens.get(at + 1..at + 3) {
            Some([Token::PathSeparator, next]) => Some(next),
            _ => None,
        };
        if NAMES.contains(&word) {
            found.insert(word.to_owned());
        }
        if CLOCKS.contains(&word) && next().and_then(Token::word) == Some("now") {
            found.insert(format!("{word}::now"));
        }
        if word == "std"
            && let Some(next) = next()
        {
            let modules = if next.is('{') { heads(&tokens[at + 3..]) } else { next.word().into_iter().collect() };
            let outside = modules.into_iter().filter(|module| MODULES.contains(module));
            found.extend(outside.map(|module| format!("std::{module}")));
        }
    }
    found
}

/// The words with which the parts of a group in braces begin, whose opening brace is left out.
fn heads(group: &[Token]) -> Vec<&str> {
    let mut heads = Vec::new();
    let (mut depth, mut begins) = (1_usize, true);
    for token in group {
        if depth == 1 && begins {
            heads.extend(token.word());
        }
        match token {
            Token::Mark('{') => depth += 1,
            Token::Mark('}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        begins = token.is(',');
    }
    heads
}

#[test]
fn what_leads_outside_is_found() {
    let check = |text: &str, expected: &[&str]| {
        let found: Vec<String> = touched(&tokens(text)).into_iter().collect();
        assert_eq!(found, expected, "{text}");
    };
    check("use std::fs::File; fn f() { std::env::var(\"A\") }", &["std::env", "std::fs"]);
    check("use std::{collections::{HashMap, fs}, env, io::Read};", &["std::env"]);
    check("use std::io; use std::net::SocketAddr; use crate::environment;", &[]);
    check("fn f() { SystemTime::now(); clock.now(); tempfile::tempdir() }", &["SystemTime::now", "tempfile"]);
    check("#[cfg(test)] mod tests { use std::fs; }", &[]);
}
