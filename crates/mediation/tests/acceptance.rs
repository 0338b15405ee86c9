//! Real configurations of other projects load: nothing panics, every artefact is accounted for, every problem has a place.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use common::{Scenario, post, response};
use myelin_mediation::{Settings, Summary, load};

fn folder(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/acceptance").join(name);
    if !path.is_dir() {
        println!("skipped: {} is not there", path.display());
        return None;
    }
    Some(path)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|file| file.extension().is_some_and(|name| name == "xml")).collect();
    files.sort();
    files
}

#[test]
fn real_configurations_load_and_every_problem_has_a_place() {
    for name in ["apache-synapse", "micro-integrator"] {
        let Some(folder) = folder(name) else { continue };
        let (mut ok, mut faulty) = (0, 0);
        let mut sound_files = 0;
        for file in files(&folder) {
            let loaded = load(std::slice::from_ref(&file), &Settings::default());
            let report = loaded.report;
            assert_eq!(report.files, 1);
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            let declared =
                ["proxy", "sequence", "endpoint", "localEntry"].iter().any(|kind| text.contains(&format!("<{kind} ")));
            assert!(!declared || !report.artefacts.is_empty(), "{}: nothing was found", file.display());
            for artefact in &report.artefacts {
                for problem in artefact.problems.iter().chain(&artefact.warnings) {
                    assert!(problem.line() > 0 && problem.column() > 0, "{problem}");
                    assert!(problem.line() as usize <= text.lines().count().max(1), "{problem}");
                    assert!(!problem.message().is_empty());
                }
            }
            ok += report.ok();
            faulty += report.faulty();
            sound_files += usize::from(report.faulty() == 0);
            if std::env::var_os("SHOW").is_some() {
                println!("{}", report.to_text());
            }
        }
        println!("{name}: {sound_files} files without a problem, {ok} artefacts ok, {faulty} faulty");
    }
}

#[test]
fn all_of_a_folder_loads_at_once() {
    let Some(folder) = folder("micro-integrator") else { return };
    let count = files(&folder).len();
    let loaded = load(&[folder], &Settings::default());
    assert_eq!(loaded.report.files, count);
    assert_eq!(
        loaded.bus.proxies().len(),
        loaded
            .report
            .artefacts
            .iter()
            .filter(|artefact| {
                artefact.kind == "proxy"
                    && artefact.is_ok()
                    && !artefact.warnings.iter().any(|warning| warning.message().contains("startOnLoad"))
            })
            .count()
    );
}

#[test]
fn every_sound_service_answers_a_request_whatever_it_does() {
    for name in ["apache-synapse", "micro-integrator"] {
        let Some(folder) = folder(name) else { continue };
        let (mut served, mut statuses) = (0, BTreeMap::<u16, usize>::new());
        for file in files(&folder) {
            let loaded = load(std::slice::from_ref(&file), &Settings::default());
            let mut targets: Vec<String> =
                loaded.bus.proxies().iter().map(|proxy| format!("/services/{proxy}")).collect();
            if loaded.bus.has_main() {
                targets.push("http://back:9000/services/SimpleStockQuoteService".to_owned());
            }
            let scenario = Scenario::of(loaded, |_, _| Ok(response(200, &[("Content-Type", "text/xml")], "<r/>")));
            for target in targets {
                let reply = scenario.serve(post(&target, &[("SOAPAction", "urn:getQuote")], "<a/>"));
                assert!(!reply.body.contains("The bus failed"), "{}: {target}", file.display());
                served += 1;
                *statuses.entry(reply.status).or_default() += 1;
            }
        }
        println!("{name}: {served} services asked, answers by status: {statuses:?}");
        assert!(served > 0);
    }
}

/// Why a file does not load wholly, as far as that is no fault of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    /// It uses what belongs to the second half of the language.
    Later,
    /// It refers to an artefact of another file, or to a file that is not there.
    Elsewhere,
    /// It needs Java, or is wrong for Synapse, too.
    Never,
    /// None of these: it should load.
    Open,
}

fn reason(sentence: &str) -> Reason {
    let has = |all: &[&str]| all.iter().any(|part| sentence.contains(part));
    if has(LATER) {
        Reason::Later
    } else if has(ELSEWHERE) {
        Reason::Elsewhere
    } else if has(NEVER) {
        Reason::Never
    } else {
        Reason::Open
    }
}

/// In sentences about the second half of the language.
const LATER: &[&str] = &[
    "<cache>",
    "<dataServiceCall>",
    "<dblookup>",
    "<dbreport>",
    "<inboundEndpoint>",
    "<jsontransform>",
    "<messageProcessor>",
    "<messageStore>",
    "<payloadFactory>",
    "<rewrite>",
    "<script>",
    "<store>",
    "<task>",
    "<throttle>",
    "<validate>",
    "<variable>",
    "<xquery>",
    "Synapse expressions",
    "messageType: converting",
];
/// In sentences about what other files hold.
const ELSEWHERE: &[&str] = &[
    "there is no sequence",
    "there is no endpoint",
    "there is no template",
    "there is no local entry",
    "there is no template",
    "there is no such file in the registry",
    "cannot be read: No such file",
];
/// In sentences about Java, and about configurations that are wrong.
const NEVER: &[&str] = &[
    "<equal>: attribute",
    "unknown mediator <rule>",
    "unknown mediator <endpoint>",
    "is no known function",
    "stands for no namespace",
];

/// How many of the files load wholly; a number that only grows.
const WHOLE: usize = 190;

#[test]
fn configurations_that_need_only_http_load_wholly() {
    let Some(folder) = folder("micro-integrator") else { return };
    let index = std::fs::read_to_string(folder.join("INDEX.tsv")).unwrap();
    let plain = index.lines().skip(1).filter_map(|line| {
        let mut columns = line.split('\t');
        Some((columns.next()?, columns.next()?)).filter(|(_, needs)| needs.is_empty()).map(|(file, _)| file)
    });
    let (mut whole, mut why) = (0, BTreeMap::<Reason, usize>::new());
    let mut sentences = BTreeMap::<(Reason, String), BTreeSet<&str>>::new();
    for name in plain {
        let summary = Summary::of(&load(&[folder.join(name)], &Settings::default()).report);
        // Whatever needs a faulty artefact has its reasons there.
        let causes = || summary.reasons.iter().filter(|cause| !cause.sentence.ends_with("which is faulty"));
        // What is open weighs most: with the others solved, the file would still not load.
        let Some(worst) = causes().map(|cause| reason(&cause.sentence)).max() else {
            whole += 1;
            continue;
        };
        *why.entry(worst).or_default() += 1;
        for cause in causes() {
            sentences.entry((reason(&cause.sentence), cause.sentence.clone())).or_default().insert(name);
        }
    }
    let mut sentences: Vec<_> = sentences.into_iter().collect();
    sentences.sort_by_key(|((reason, _), files)| (*reason, std::cmp::Reverse(files.len())));
    for ((reason, sentence), files) in &sentences {
        println!("{reason:?} {:>4} files: {sentence} ({})", files.len(), files.first().unwrap());
    }
    println!("{whole} load wholly; of the others: {why:?}");
    assert!(whole >= WHOLE, "{whole} files load wholly, and {WHOLE} did");
}
