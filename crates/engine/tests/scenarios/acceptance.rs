//! Real configurations of other projects load: nothing panics, every artefact is accounted for, every problem has a place.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

use std::path::{Path, PathBuf};

use crate::common::{Scenario, post, response};
use myelin_engine::{Settings, load};

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
                let told = report.artefacts.iter().flat_map(|it| {
                    let marked = [("problem", &it.problems), ("latent", &it.latent), ("warning", &it.warnings)];
                    marked.into_iter().flat_map(|(word, all)| all.iter().map(move |one| format!("{word}\t{one}")))
                });
                told.for_each(|line| println!("{line}"));
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
        loaded.report.artefacts.iter().filter(|artefact| artefact.kind == "proxy" && artefact.is_ok()).count()
    );
}

#[test]
fn every_sound_service_answers_a_request_whatever_it_does() {
    for name in ["apache-synapse", "micro-integrator"] {
        let Some(folder) = folder(name) else { continue };
        let (mut served, mut statuses) = (0, std::collections::BTreeMap::<u16, usize>::new());
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
