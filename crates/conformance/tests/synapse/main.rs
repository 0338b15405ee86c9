//! Apache Synapse's samples: they do here what its user guide says, and what Apache Synapse 3.0.1 does.
//!
//! The samples and their resources are read where they lie, beside the repository; those of which the guide is enough to
//! write a configuration of our own stand in `own`.
//! Each is played to Myelin and, where a JDK and Maven are found, to Synapse: the same requests, the same backends.
//! What is different stands in `known/synapse.txt`, each with its reason, and in `docs/compatibility.md`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it sees")]

mod client;
mod observation;
mod replying;
mod samples;
mod stage;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use myelin_conformance::{Suite, data};
use observation::{Scene, differences, transcript};
use samples::{Configuration, NOT_PLAYED, SAMPLES, Sample, group};
use stage::{Player, Stage};

/// Where the samples are; `None`, and the test says so, where they are not.
fn folder() -> Option<PathBuf> {
    data("../acceptance/apache-synapse")
}

/// What a sample's play gave.
struct Played {
    scenes: Vec<Scene>,
    complaints: Vec<String>,
}

/// Plays a sample; `None`, where the player cannot run on this machine.
fn play(sample: &Sample, player: Player, folder: &Path) -> Option<Played> {
    let configuration = sample.configuration(folder);
    let mut stage = Stage::new(&configuration, &folder.join("resources"));
    if let Err(problems) = stage.start(player)? {
        stage.expect(false, &format!("it loads wholly: {problems}"));
    }
    (sample.play)(&mut stage);
    let (scenes, complaints) = stage.end();
    Some(Played { scenes, complaints })
}

fn chosen() -> impl Iterator<Item = &'static Sample> {
    let only: Option<Vec<u16>> =
        std::env::var("SAMPLES").ok().map(|list| list.split(',').filter_map(|number| number.parse().ok()).collect());
    SAMPLES
        .iter()
        .copied()
        .flatten()
        .filter(move |sample| only.as_ref().is_none_or(|only| only.contains(&sample.number)))
}

#[test]
fn each_sample_of_apache_is_played_or_has_a_reason() {
    let Some(folder) = folder() else { return };
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let number = name.strip_prefix("synapse_sample_").and_then(|rest| rest.strip_suffix(".xml"));
        numbers.extend(number.map(|number| number.parse::<u16>().unwrap()));
    }
    numbers.sort_unstable();
    let apache = |sample: &&Sample| matches!(sample.configuration, Configuration::Apache);
    let played = SAMPLES.iter().copied().flatten().filter(apache).map(|sample| sample.number);
    let mut known: Vec<u16> =
        played.chain(NOT_PLAYED.iter().flat_map(|(_, numbers)| numbers.iter().copied())).collect();
    known.sort_unstable();
    assert_eq!(known, numbers);
}

#[test]
fn samples_do_what_the_user_guide_says() {
    let Some(folder) = folder() else { return };
    let mut suite = Suite::new(
        "samples",
        "Apache Synapse's samples",
        "The samples of Apache Synapse that can be played over HTTP here, as its user guide says.\n\
         A sample passes when all that the guide says of clients and backends holds.",
    );
    for sample in chosen() {
        let played = play(sample, Player::Myelin, &folder).expect("Myelin runs everywhere");
        let result = if played.complaints.is_empty() { Ok(()) } else { Err(played.complaints.join("; ")) };
        suite.judge(sample.group(), &format!("{:03}", sample.number), result);
    }
    for (reason, numbers) in NOT_PLAYED {
        for number in *numbers {
            suite.skip(group(*number), reason);
        }
    }
    suite.finish();
}

#[test]
fn samples_do_what_synapse_does() {
    let Some(folder) = folder() else { return };
    let mut suite = Suite::new(
        "synapse",
        "Apache Synapse's samples, with Apache Synapse",
        "The same requests to Myelin and to Apache Synapse 3.0.1, scene by scene.\n\
         A part passes when it is the same: status, media type and canonical body of the answer, and the method, path, \
         action, media type and canonical body of each request that a backend gets.",
    );
    for sample in chosen() {
        if let Some(reason) = sample.unsteady {
            suite.skip(sample.group(), reason);
            continue;
        }
        let known = suite.known(&format!("{}/{:03}/", sample.group(), sample.number));
        let Some(mut compared) = compare(sample, &folder) else { return };
        for _ in 1..PLAYS {
            if compared.differences.keys().map(|case| format!("{}/{case}", sample.group())).eq(known.iter().cloned()) {
                break;
            }
            compared = compare(sample, &folder).expect("Synapse ran a moment ago");
        }
        (0..compared.same).for_each(|_| suite.pass(sample.group()));
        for (case, values) in &compared.differences {
            suite.fail(sample.group(), case, values);
        }
    }
    suite.finish();
}

/// How often a sample is played at most: on a busy machine Synapse now and then lets a client hang, or a backend is
/// late, which says nothing of what they do. What is different each time is.
const PLAYS: usize = 3;

/// What is the same and what is not in one play of a sample to both.
struct Compared {
    /// Scenes that are the same.
    same: usize,
    /// Parts that are not, by sample, scene and name, with both values.
    differences: BTreeMap<String, String>,
}

/// Plays a sample to Synapse and to Myelin; `None`, where Synapse cannot run on this machine.
fn compare(sample: &Sample, folder: &Path) -> Option<Compared> {
    let theirs = play(sample, Player::Synapse, folder)?;
    let ours = play(sample, Player::Myelin, folder).expect("Myelin runs everywhere");
    if let Some(notes) = std::env::var_os("TRANSCRIPTS").map(PathBuf::from) {
        let all = |played: &Played| played.scenes.iter().map(transcript).collect::<String>();
        let complaints = theirs.complaints.join("\n");
        let text = format!("SYNAPSE\n{}\nUNLIKE THE GUIDE\n{complaints}\n\nMYELIN\n{}", all(&theirs), all(&ours));
        std::fs::write(notes.join(format!("sample-{:03}.txt", sample.number)), text).unwrap();
    }
    let mut compared = Compared { same: 0, differences: BTreeMap::new() };
    for (ours, theirs) in ours.scenes.iter().zip(&theirs.scenes) {
        let found = differences(ours, theirs);
        compared.same += usize::from(found.is_empty());
        let named = |(part, values)| (format!("{:03}/{}/{part}", sample.number, ours.name), values);
        compared.differences.extend(found.into_iter().map(named));
    }
    Some(compared)
}
