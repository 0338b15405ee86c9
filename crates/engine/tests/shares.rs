//! What share of real configurations loads wholly, and why the rest does not.
//!
//! The files stand alone, taken from the tests of WSO2 Micro Integrator: what one refers to, another one may hold, so a
//! file is loaded with those that it needs. What none of them holds stood beside them in their project, or, in a few
//! tests of WSO2's, nowhere; a stand-in of the right kind takes its place, and the files that need one are told apart.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it sees")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use myelin_engine::{Artefact, Problem, Settings, Summary, load};
use tempfile::TempDir;

/// Why a file does not load wholly, as far as that is no fault of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    /// It uses what is not offered yet.
    Later,
    /// It needs Java, or is wrong for Synapse, too.
    Never,
    /// None of these: it should load.
    Open,
}

fn reason(sentence: &str) -> Reason {
    let has = |all: &[&str]| all.iter().any(|part| sentence.contains(part));
    if has(LATER) {
        Reason::Later
    } else if has(NEVER) {
        Reason::Never
    } else {
        Reason::Open
    }
}

/// In sentences about what other parts of Myelin are for, or what it refuses by name for now.
const LATER: &[&str] = &[
    "<dataServiceCall>",
    "<datamapper>",
    "<messageProcessor>",
    "<messageStore>",
    "<store>",
    "<xquery>",
    "connector operation",
    "transport …",
];
/// In sentences about what needs Java, about configurations that are wrong, and about what stood beside them elsewhere.
const NEVER: &[&str] = &[
    "<equal>: attribute",
    "<property>: scope … is unknown",
    // All of these name H2.
    "<url> is empty",
    "nobody here speaks with databases",
    "is E4X",
    "is no known function",
    "mediator <transaction> is not offered",
    "runs on a JVM only",
    "stands for no namespace",
    "there is no data source",
    "there is no file",
    "there is no function … in the script",
    "unknown mediator <endpoint>",
    "unknown mediator <rule>",
];

/// What the index says of files that other parts of Myelin are for: brokers, files, mail, what is odd in WS-Security, Java.
const ELSEWHERE: &[&str] = &["hl7", "java", "jms", "mailto", "msmq", "rabbitmq", "smooks", "tcp", "vfs", "wssec"];

/// How many of the files load wholly, and how many of these without a stand-in; numbers that only grow.
const WHOLE: usize = 564;
const WITHOUT_STAND_INS: usize = 413;
/// How many of a hundred files that could load do so; a number that only grows.
const PERCENT: usize = 100;

/// Kind and name of an artefact.
type Key = (String, String);

/// The files, and which of them hold what.
struct Files {
    folder: PathBuf,
    /// Those that need nothing of [`ELSEWHERE`].
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
        let mut found = Vec::<(Artefact, PathBuf)>::new();
        for line in index.lines().skip(1) {
            let mut columns = line.split('\t');
            let (name, needs) = (columns.next().unwrap_or_default(), columns.next().unwrap_or_default());
            let path = files.folder.join(name);
            let artefacts = load(std::slice::from_ref(&path), &Settings::default()).report.artefacts;
            found.extend(artefacts.into_iter().map(|artefact| (artefact, path.clone())));
            if !needs.split(',').any(|need| ELSEWHERE.contains(&need)) {
                files.plain.push(name.to_owned());
            }
        }
        // Of several with one name, one that works is what the others were written for.
        found.sort_by_key(|(artefact, _)| !artefact.is_ok());
        for (artefact, path) in found {
            files.holders.entry((artefact.kind, artefact.name)).or_insert(path);
        }
        Some(files)
    }

    /// What there is to say of a file and of all that it refers to, and whether something had to stand in for that.
    fn summary(&self, name: &str) -> (Summary, bool) {
        let mut project = Project::of(&self.folder.join(name));
        let own = project.files[0].display().to_string();
        let mut pulled = BTreeSet::<Key>::new();
        loop {
            let mut report = load(&project.files, &Settings::default()).report;
            report.artefacts.retain(|artefact| {
                artefact.file == own || pulled.contains(&(artefact.kind.clone(), artefact.name.clone()))
            });
            let problems = report.artefacts.iter().flat_map(|artefact| &artefact.problems);
            let missing: Vec<Missing> = problems.filter_map(Missing::of).collect();
            let keys: BTreeSet<Key> = missing.iter().map(Missing::key).filter(|key| !pulled.contains(key)).collect();
            let holders: BTreeSet<&PathBuf> = keys.iter().filter_map(|key| self.holders.get(key)).collect();
            let size = project.size();
            holders.into_iter().for_each(|holder| project.add(holder));
            if project.size() == size {
                missing.iter().for_each(|missing| project.stand_in(missing));
            }
            if project.size() == size {
                return (Summary::of(&report), !project.stand_ins.is_empty());
            }
            pulled.extend(keys);
        }
    }
}

/// A folder with a file, those that it needs, and what stands in for the others.
struct Project {
    folder: TempDir,
    files: Vec<PathBuf>,
    stand_ins: BTreeSet<String>,
}

impl Project {
    fn of(file: &Path) -> Project {
        let mut project =
            Project { folder: tempfile::tempdir().unwrap(), files: Vec::new(), stand_ins: BTreeSet::new() };
        project.add(file);
        project
    }

    fn size(&self) -> usize {
        self.files.len() + self.stand_ins.len()
    }

    /// Adds a copy of a file, if it is not there.
    fn add(&mut self, file: &Path) {
        let copy = self.folder.path().join(file.file_name().unwrap());
        if !self.files.contains(&copy) {
            std::fs::copy(file, &copy).unwrap();
            self.files.push(copy);
        }
    }

    /// Makes something small of the right kind under the name that is missing, if it is not there.
    fn stand_in(&mut self, missing: &Missing) {
        if !self.stand_ins.insert(missing.name.clone()) {
            return;
        }
        let hive = ["conf:", "gov:"].iter().find_map(|hive| Some((hive, missing.name.strip_prefix(*hive)?)));
        let (path, is_artefact) = match hive {
            Some((hive, rest)) => {
                (format!("registry/{}/{}", hive.trim_end_matches(':'), rest.trim_matches('/')), false)
            }
            None if Path::new(&missing.name).starts_with(self.folder.path()) => (missing.name.clone(), false),
            None => (format!("stand-in-{}.xml", self.stand_ins.len()), true),
        };
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, missing.kind.stand_in(&missing.name, is_artefact)).unwrap();
        if is_artefact {
            self.files.push(path);
        }
    }
}

/// Something that a file refers to and that is not there.
struct Missing {
    kind: Kind,
    /// As it is referred to, or the path of a file.
    name: String,
}

/// What a reference wants to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sequence,
    Endpoint,
    SequenceTemplate,
    EndpointTemplate,
    Stylesheet,
    Description,
    JsonSchema,
    XmlSchema,
    Script,
    Entry,
}

impl Missing {
    fn of(problem: &Problem) -> Option<Missing> {
        let message = problem.message();
        let name = match message.strip_prefix("there is no ") {
            Some(rest) => rest.split('"').nth(1)?,
            None => message.split_once(": cannot be read: No such file")?.0,
        };
        // The element that refers to it says what it should be.
        let text = std::fs::read_to_string(problem.file()).ok()?;
        let before: usize = text.split_inclusive('\n').take(problem.line() as usize - 1).map(str::len).sum();
        let value = if message.starts_with("there") { name } else { Path::new(name).file_name()?.to_str()? };
        let mut places = text[before..].match_indices(value).map(|(at, _)| before + at);
        let at = places.find(|at| text[..*at].ends_with(['"', '\'', '/']))?;
        let tag = text[text[..at].rfind('<')? + 1..at].trim_end_matches(['"', '\'', ' ', '=']);
        let (element, attribute) = (tag.split_whitespace().next()?, tag.split_whitespace().next_back()?);
        let kind = match (element, attribute, Path::new(name).extension().and_then(|extension| extension.to_str())) {
            (_, _, Some("xslt" | "xsl")) | ("xslt", ..) => Kind::Stylesheet,
            (_, _, Some("wsdl")) => Kind::Description,
            ("script", ..) => Kind::Script,
            ("jsontransform", ..) | ("schema", _, Some("json")) => Kind::JsonSchema,
            ("schema", ..) => Kind::XmlSchema,
            ("call-template", ..) => Kind::SequenceTemplate,
            ("endpoint", "template", _) => Kind::EndpointTemplate,
            ("endpoint", ..) | (_, "endpoint" | "endpointKey", _) => Kind::Endpoint,
            ("sequence" | "proxy", ..) | ("send", "receive", _) => Kind::Sequence,
            (_, "sequence" | "inSequence" | "outSequence" | "faultSequence" | "onError", _) => Kind::Sequence,
            _ => Kind::Entry,
        };
        Some(Missing { kind, name: name.to_owned() })
    }

    /// Which artefact of another file it could be.
    fn key(&self) -> Key {
        let kind = match self.kind {
            Kind::Sequence => "sequence",
            Kind::Endpoint => "endpoint",
            Kind::SequenceTemplate | Kind::EndpointTemplate => "template",
            Kind::Stylesheet | Kind::Description | Kind::JsonSchema | Kind::XmlSchema | Kind::Script | Kind::Entry => {
                "localEntry"
            }
        };
        (kind.to_owned(), self.name.clone())
    }
}

impl Kind {
    /// The least that can be of this kind: an artefact, or the content of a file.
    fn stand_in(self, name: &str, is_artefact: bool) -> String {
        let synapse = "xmlns='http://ws.apache.org/ns/synapse'";
        let content = match self {
            Kind::Sequence => return format!("<sequence {synapse} name='{name}'/>"),
            Kind::Endpoint => return format!("<endpoint {synapse} name='{name}'><default/></endpoint>"),
            Kind::SequenceTemplate => return format!("<template {synapse} name='{name}'><sequence/></template>"),
            Kind::EndpointTemplate => {
                return format!("<template {synapse} name='{name}'><endpoint><default/></endpoint></template>");
            }
            Kind::Stylesheet => "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'/>",
            Kind::Description => "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'/>",
            Kind::JsonSchema => r#"{"type": "object"}"#,
            Kind::XmlSchema => "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'/>",
            // The functions that these scripts are called by; what calls another one is a test of that fault.
            Kind::Script => "function transformRequest(mc) {} function transformResponse(mc) {}",
            Kind::Entry => "<entry xmlns=''/>",
        };
        if is_artefact {
            format!("<localEntry {synapse} key='{name}'>{content}</localEntry>")
        } else {
            content.to_owned()
        }
    }
}

#[test]
fn configurations_that_need_no_broker_file_mail_or_java_load_wholly() {
    let Some(files) = Files::find() else { return };
    let (mut whole, mut with_stand_ins, mut why) = (0, 0, BTreeMap::<Reason, usize>::new());
    let mut sentences = BTreeMap::<(Reason, String), BTreeSet<&str>>::new();
    for name in &files.plain {
        let (summary, has_stand_ins) = files.summary(name);
        // Whatever needs a faulty artefact has its reasons there.
        let causes = || summary.reasons.iter().filter(|cause| !cause.sentence.ends_with("which is faulty"));
        // What is open weighs most: with the others solved, the file would still not load.
        let Some(worst) = causes().map(|cause| reason(&cause.sentence)).max() else {
            whole += 1;
            with_stand_ins += usize::from(has_stand_ins);
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
        let names: Vec<_> = files.iter().copied().collect();
        println!("{reason:?} {:>4} files: {sentence} ({})", files.len(), names.join(", "));
    }
    let open = why.get(&Reason::Open).copied().unwrap_or_default();
    let percent = 100 * whole / (whole + open);
    println!(
        "{whole} of {} load wholly, {percent} % of those that could, {with_stand_ins} of them with stand-ins for what no \
         file holds; of the others: {why:?}",
        files.plain.len()
    );
    let alone = whole - with_stand_ins;
    assert!(whole >= WHOLE, "{whole} files load wholly, and {WHOLE} did");
    assert!(alone >= WITHOUT_STAND_INS, "{alone} files load wholly without stand-ins, and {WITHOUT_STAND_INS} did");
    assert!(percent >= PERCENT, "{percent} % of the files that could load do so, and {PERCENT} % did");
}
