//! Where and how a run was measured, and who took part.

use std::fmt::Write;

use super::escaped;
use crate::report::figures::{RunFigures, is_busy};

/// Writes the tables of the machine and of the targets.
pub(super) fn write(page: &mut String, run: &RunFigures) {
    let (run, machine) = (&run.run, &run.run.machine);
    let rows: [(&str, String); 10] = [
        ("Began", run.began.clone()),
        ("Machine", machine.name.clone()),
        ("Processor", format!("{}, {} processors", machine.processor, machine.processors)),
        ("Memory", format!("{:.1} GB", machine.memory_kilobytes as f64 * 1024.0 / 1e9)),
        ("Kernel", machine.kernel.clone()),
        ("Load when it began", format!("{:.2}", machine.load)),
        ("Open files allowed", machine.open_files_limit.to_string()),
        ("Rounds, threads of each target", format!("{}, {}", run.rounds, run.threads)),
        ("Measured by", machine.measured_by.clone()),
        ("Command line", run.command_line.join(" ")),
    ];
    page.push_str("<div class=scroll><table><tbody>");
    for (name, value) in rows {
        // Writing into a string cannot fail, here and below.
        let _ = write!(page, "<tr><th scope=row>{name}<td class=words>{}", escaped(&value));
    }
    page.push_str("</table></div>\n");
    if is_busy(machine) {
        page.push_str(
            "<p class=bad>The machine was busy when the run began. Targets took turns, so their ratios hold; the figures \
             themselves would be better on a quiet machine.\n",
        );
    }
    if run.targets.is_empty() {
        return;
    }
    page.push_str(
        "<div class=scroll><table><thead><tr><th class=words>target<th class=words>from<th class=words>version\
         <th class=words>configuration (SHA-256)<tbody>",
    );
    for target in &run.targets {
        let files: Vec<String> = target
            .files
            .iter()
            .map(|file| format!("{} <code>{}</code>", escaped(&file.name), escaped(&file.sha256)))
            .collect();
        let _ = write!(
            page,
            "<tr><th scope=row>{}<td class=words>{}<td class=words>{}<td class=words>{}",
            escaped(&target.name),
            escaped(&target.from),
            escaped(&target.version),
            files.join("<br>")
        );
    }
    page.push_str("</table></div>\n");
}
