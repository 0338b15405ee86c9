//! What two runs differ in besides their figures, and whether that forbids to compare them.

use serde::Serialize;

use crate::report::figures::is_busy;
use crate::results::{Run, Target};

/// Something that two runs differ in.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Difference {
    /// Whether figures may differ because of it alone. A new version of a target may be what one wants to see.
    pub(super) forbids: bool,
    pub(super) text: String,
}

/// What two runs differ in; empty where everything that is recorded is the same.
pub(super) fn differences(before: &Run, after: &Run) -> Vec<Difference> {
    let (left, right) = (&before.machine, &after.machine);
    // What the kernel keeps of the memory for itself differs from one start of a machine to the next.
    let memory = |kilobytes: u64| format!("{:.1} GB", kilobytes as f64 * 1024.0 / 1e9);
    let both = |value: fn(&Run) -> String| (value(before), value(after));
    let mut found: Vec<Difference> = [
        ("The name of the machine", true, both(|run| run.machine.name.clone())),
        ("The processor", true, both(|run| run.machine.processor.clone())),
        ("The number of processors", true, both(|run| run.machine.processors.to_string())),
        ("The kernel", true, both(|run| run.machine.kernel.clone())),
        ("The memory", true, (memory(left.memory_kilobytes), memory(right.memory_kilobytes))),
        ("The number of rounds", true, both(|run| run.rounds.to_string())),
        ("The number of threads of each target", true, both(|run| run.threads.to_string())),
        ("The limit of open files", false, both(|run| run.machine.open_files_limit.to_string())),
        ("The program that measured", false, both(|run| run.machine.measured_by.clone())),
    ]
    .into_iter()
    .filter_map(|(what, forbids, values)| difference(what, forbids, values))
    .collect();
    for (when, run) in [("first", before), ("second", after)] {
        found.extend(busy(when, run));
    }
    for target in &before.targets {
        if let Some(other) = after.targets.iter().find(|other| other.name == target.name) {
            found.extend(of_target(target, other));
        }
    }
    found
}

fn difference(what: &str, forbids: bool, (before, after): (String, String)) -> Option<Difference> {
    let shown = |value: &str| if value.is_empty() { "unknown".to_owned() } else { value.to_owned() };
    let text = || format!("{what} differs: {} before, {} after.", shown(&before), shown(&after));
    (before != after).then(|| Difference { forbids, text: text() })
}

fn busy(when: &str, run: &Run) -> Option<Difference> {
    let (load, processors) = (run.machine.load, run.machine.processors);
    is_busy(&run.machine).then(|| Difference {
        forbids: true,
        text: format!(
            "The machine was busy when the {when} run began: a load of {load:.2} on {processors} processors."
        ),
    })
}

/// What a target was told, and which version of it was measured.
fn of_target(before: &Target, after: &Target) -> Vec<Difference> {
    let name = &before.name;
    let versions = (before.version.clone(), after.version.clone());
    let mut found: Vec<Difference> =
        difference(&format!("The version of {name}"), false, versions).into_iter().collect();
    let checksum = |target: &Target, name: &str| {
        target.files.iter().find(|file| file.name == name).map(|file| file.sha256.clone())
    };
    for file in before.files.iter().map(|file| &file.name) {
        let text = match checksum(after, file) {
            Some(other) if Some(&other) == checksum(before, file).as_ref() => continue,
            Some(_) => format!("The configuration {file} of {name} is another one."),
            None => format!("The configuration {file} of {name} is missing in the second run."),
        };
        found.push(Difference { forbids: true, text });
    }
    for file in after.files.iter().map(|file| &file.name) {
        if checksum(before, file).is_none() {
            let text = format!("The configuration {file} of {name} is missing in the first run.");
            found.push(Difference { forbids: true, text });
        }
    }
    found
}
