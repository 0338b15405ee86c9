//! Holds the tables against the types that read them.

use std::collections::BTreeSet;

use myelin_http::{ClientOptions, ServerOptions};

use super::*;
use crate::deployment::{Deployment, parse, telemetry::all_options};

/// What serde says is there, where a key is unknown; nothing where every key is taken.
fn known(path: &str) -> BTreeSet<String> {
    let header =
        if path.ends_with("rules") || path.ends_with("monitors") { format!("[[{path}]]") } else { format!("[{path}]") };
    let before = if path.ends_with("rules") { "[myelin.priorities]\nat_once = 1\n" } else { "" };
    let text = format!("{before}{header}\nno-such-key = 1");
    let Err(error) = parse(&text) else { return BTreeSet::new() };
    let message = format!("{error:#}");
    let (_, expected) = message.split_once("expected").unwrap();
    // What follows in other lines is where it stands.
    expected.lines().next().unwrap_or_default().split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_key_of_ours_is_there_and_no_other() {
    for Section { path, keys, .. } in OWN {
        let listed: BTreeSet<String> = keys.iter().map(|(key, _)| (*key).to_owned()).collect();
        assert_eq!(listed, known(path), "[{path}]");
    }
    let sections: BTreeSet<String> = OWN.iter().filter_map(|it| it.path.split('.').nth(1)).map(str::to_owned).collect();
    assert_eq!(sections, known("myelin"));
}

/// A value as TOML.
fn toml(value: &str) -> String {
    let bare = value.parse::<f64>().is_ok() || value == "true" || value == "false";
    if bare { value.to_owned() } else { format!("{value:?}") }
}

/// All that a file makes of the options.
fn effect(deployment: &Deployment) -> String {
    let (mut server, mut client) = (ServerOptions::default(), ClientOptions::default());
    deployment.apply(&mut server, &mut client);
    let mut settings = myelin_engine::Settings::default();
    deployment.apply_mediation(&mut settings).unwrap();
    let more = (deployment.work(), deployment.watch(), &settings.priorities, &settings.endpoints, deployment.trace());
    let security = (&settings.security.limits, settings.security.rsa_bits_min, settings.security.sha1_signatures);
    let content = (settings.body_limit_bytes, settings.cache_bytes, settings.json_duplicate_keys, settings.branches);
    let work = (settings.stylesheets, settings.scripts, settings.memory_wait, settings.costly_from);
    let Deployment { own, wso2_telemetry, .. } = deployment;
    let telemetry = all_options(&own.opentelemetry, wso2_telemetry, &|_| None, &|text| Ok(text.to_owned()));
    format!("{server:?} {client:?} {more:?} {security:?} {content:?} {work:?} {telemetry:?}")
}

#[test]
fn the_defaults_of_ours_are_those_that_count() {
    let default = effect(&parse("").unwrap());
    let mut checked = 0;
    for Section { path, keys, .. } in OWN.iter().filter(|it| it.keys.iter().all(|(_, heed)| heed.default != REQUIRED)) {
        for (key, heed) in keys.iter().filter(|(_, heed)| !heed.default.is_empty()) {
            let text = format!("[{path}]\n{key} = {}", toml(heed.default));
            assert_eq!(effect(&parse(&text).unwrap()), default, "{text}");
            checked += 1;
        }
    }
    assert!(checked > 60, "{checked}");
}

#[test]
fn what_waits_for_a_start_is_what_a_reload_cannot_change() {
    let default = parse("").unwrap();
    let other = |heed: &Heed| match heed.value {
        "bytes" | "number" => Some("77"),
        "time" => Some("\"77ms\""),
        "true, false" if heed.default == "true" => Some("false"),
        "true, false" => Some("true"),
        "folder" => Some("\"replays\""),
        _ => None,
    };
    let own = OWN.iter().flat_map(|it| it.keys.iter().map(move |(key, heed)| (format!("[{}]\n{key}", it.path), heed)));
    let wso2 = KEYS.iter().filter_map(|(key, standing)| match standing {
        Standing::Heeded(heed) => Some(((*key).to_owned(), heed)),
        _ => None,
    });
    let mut checked = 0;
    for (key, heed) in own.chain(wso2) {
        // Lists, and switches that need a key store or another key beside them, are not changed alone.
        let alone = !["priorities", "monitors", "https", "message_size", "file_user_store"]
            .iter()
            .any(|part| key.contains(part));
        let Some(value) = other(heed).filter(|_| alone) else { continue };
        let changed = parse(&format!("{key} = {value}")).unwrap();
        assert_eq!(!default.differs_for_good(&changed).is_empty(), heed.needs_restart, "{key}");
        checked += 1;
    }
    assert!(checked > 60, "{checked}");
}

#[test]
fn a_key_that_is_unknown_is_told_with_its_place_and_what_was_meant() {
    let text = "[myelin]\nserver.via = true\nservr.via = true\n[myelin.server]\n[myelin.client]\nretri = 1\n\
                [myelin.system]\nany = 1\n[myelin.security]\nusers = { ann = 'x' }\n[myelin.security.limits]\n\
                tokns = 1\n[[myelin.priorities.rules]]\nlevl = 1\n[[myelin.monitors]]\nnonsense = 1\n";
    let expected = [
        "d.toml:3:1: [myelin] has no key servr; did you mean server?",
        "d.toml:6:1: [myelin.client] has no key retri; did you mean retry?",
        "d.toml:12:1: [myelin.security.limits] has no key tokns; did you mean tokens?",
        "d.toml:14:1: [myelin.priorities.rules] has no key levl; did you mean level?",
        "d.toml:16:1: [myelin.monitors] has no key nonsense; `myelin settings` lists what it has",
    ];
    let text = text.replace("[myelin.server]\n", "\n");
    let told: Vec<String> = unknown(&FileText::new("d.toml", &text)).iter().map(ToString::to_string).collect();
    assert_eq!(told, expected);
}

#[test]
fn what_is_the_same_as_another_key_names_one() {
    let keys: BTreeSet<&str> = KEYS.iter().map(|(key, _)| *key).collect();
    for (key, standing) in KEYS {
        if let Standing::Heeded(heed) = standing
            && heed.value.is_empty()
        {
            assert!(keys.contains(heed.meaning), "{key}: {}", heed.meaning);
        }
    }
}
