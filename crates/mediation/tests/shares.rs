//! What share of real configurations loads wholly, and why the rest does not.
//!
//! The files stand alone, taken from the tests of WSO2 Micro Integrator: what one refers to, another one may hold, so a
//! file is loaded with those that it needs.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it sees")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use myelin_mediation::{Artefact, Report, Settings, Summary, load};

/// Why a file does not load wholly, as far as that is no fault of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    /// It uses what belongs to the second half of the language.
    Later,
    /// It refers to an artefact or a file that none of the files holds.
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
    "<script>",
    "<store>",
    "<task>",
    "<throttle>",
    "<validate>",
    "<variable>",
    "<xquery>",
    "Synapse expressions",
    "messageType: converting",
    "transport …",
];
/// In sentences about what is not among the files.
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
const WHOLE: usize = 352;
/// How many of a hundred files that could load do so; a number that only grows.
const PERCENT: usize = 97;

/// Kind and name of an artefact.
type Key = (String, String);

/// The files, and which of them hold what.
struct Files {
    folder: PathBuf,
    /// Those that need nothing but HTTP.
    plain: Vec<String>,
    holders: HashMap<Key, PathBuf>,
}

impl Files {
    fn find() -> Option<Files> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/acceptance/micro-integrator");
        if !folder.is_dir() {
            println!("skipped: {} is not there", folder.display());
            return None;
        }
        let index = std::fs::read_to_string(folder.join("INDEX.tsv")).unwrap();
        let mut files = Files { folder, plain: Vec::new(), holders: HashMap::new() };
        for line in index.lines().skip(1) {
            let mut columns = line.split('\t');
            let (name, needs) = (columns.next().unwrap_or_default(), columns.next().unwrap_or_default());
            let path = files.folder.join(name);
            for Artefact { kind, name, .. } in load(std::slice::from_ref(&path), &Settings::default()).report.artefacts
            {
                files.holders.entry((kind, name)).or_insert_with(|| path.clone());
            }
            if needs.is_empty() {
                files.plain.push(name.to_owned());
            }
        }
        Some(files)
    }

    /// What there is to say of a file and of all that it refers to.
    fn summary(&self, name: &str) -> Summary {
        let own = self.folder.join(name);
        let (mut paths, mut pulled) = (vec![own.clone()], BTreeSet::<Key>::new());
        loop {
            let mut report = load(&paths, &Settings::default()).report;
            let own = own.to_string_lossy();
            report.artefacts.retain(|artefact| {
                artefact.file == own || pulled.contains(&(artefact.kind.clone(), artefact.name.clone()))
            });
            let missing: Vec<Key> = missing(&report).into_iter().filter(|key| !pulled.contains(key)).collect();
            let holders = missing.iter().filter_map(|key| self.holders.get(key)).filter(|path| !paths.contains(path));
            let holders: BTreeSet<PathBuf> = holders.cloned().collect();
            if holders.is_empty() {
                return Summary::of(&report);
            }
            paths.extend(holders);
            pulled.extend(missing);
        }
    }
}

/// What a report says is not there.
fn missing(report: &Report) -> Vec<Key> {
    let problems = report.artefacts.iter().flat_map(|artefact| &artefact.problems);
    let named = problems.filter_map(|problem| {
        let (kind, rest) = problem.message().strip_prefix("there is no ")?.split_once(" \"")?;
        let kind = if kind == "local entry" { "localEntry" } else { kind };
        Some((kind.to_owned(), rest.split('"').next()?.to_owned()))
    });
    named.collect()
}

#[test]
fn configurations_that_need_only_http_load_wholly() {
    let Some(files) = Files::find() else { return };
    let (mut whole, mut why) = (0, BTreeMap::<Reason, usize>::new());
    let mut sentences = BTreeMap::<(Reason, String), BTreeSet<&str>>::new();
    for name in &files.plain {
        let summary = files.summary(name);
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
    let open = why.get(&Reason::Open).copied().unwrap_or_default();
    let percent = 100 * whole / (whole + open);
    println!("{whole} of {} load wholly, {percent} % of those that could; of the others: {why:?}", files.plain.len());
    assert!(whole >= WHOLE, "{whole} files load wholly, and {WHOLE} did");
    assert!(percent >= PERCENT, "{percent} % of the files that could load do so, and {PERCENT} % did");
}
