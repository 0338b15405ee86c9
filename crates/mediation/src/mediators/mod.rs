//! The mediators, one file each. To add one: its file, and one line in [`MEDIATORS`].

mod direction;
mod drop;
mod filter;
mod header;
mod log;
mod property;
mod property_group;
mod respond;
mod send;
mod sequence;
mod setting;
mod switch;

use std::fmt::Write;

use crate::mediator::Spec;

/// Every mediator this bus runs, in alphabetical order.
pub(crate) const MEDIATORS: &[Spec] = &[
    drop::SPEC,
    filter::SPEC,
    header::SPEC,
    direction::IN,
    log::SPEC,
    direction::OUT,
    property::SPEC,
    property_group::SPEC,
    respond::SPEC,
    send::SPEC,
    sequence::SPEC,
    switch::SPEC,
];

/// The reference of all mediators in Markdown: `docs/mediators.md`.
pub fn mediators_markdown() -> String {
    let mut out = String::from(
        "# Mediators\n\n\
         Generated from the code by `cargo xtask docs`; every example in it is loaded by a test.\n\
         All mediators take `description`, `trace` and `statistics`, which change nothing.\n",
    );
    for spec in MEDIATORS {
        // Writing into a string cannot fail.
        let _ = write!(out, "\n## `<{}>`\n\n{}\n", spec.element, spec.doc.trim());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::Settings;
    use crate::config::load;

    #[test]
    fn every_example_in_the_documentation_loads_without_a_word() {
        for spec in MEDIATORS {
            let examples: Vec<&str> = spec.doc.lines().filter_map(|line| line.strip_prefix("    ")).collect();
            assert!(!examples.is_empty(), "<{}> has no example", spec.element);
            let configuration = format!(
                "<definitions xmlns='{}'><sequence name='audit'/><endpoint name='quotes'><default/></endpoint>\
                 <sequence name='example'>{}</sequence></definitions>",
                crate::config::SYNAPSE,
                // Each blank-line group of a document is one example; sent messages must not meet in one sequence.
                spec.doc
                    .split("\n\n")
                    .filter(|part| part.starts_with("    "))
                    .map(|part| { format!("<sequence>{part}</sequence>") })
                    .collect::<String>(),
            );
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("example.xml");
            std::fs::write(&path, configuration).unwrap();
            let report = load(&[path], &Settings::default()).report;
            assert_eq!(report.faulty(), 0, "<{}>: {}", spec.element, report.to_text());
            assert!(report.artefacts.iter().all(|artefact| artefact.warnings.is_empty()), "{}", report.to_text());
        }
    }

    #[test]
    fn mediators_are_listed_once_and_in_order() {
        assert!(MEDIATORS.windows(2).all(|pair| pair[0].element < pair[1].element));
        assert!(mediators_markdown().contains("## `<switch>`"));
    }
}
